//! The terminal while it is ours. Whatever ends us (return, error, panic, signal), it is given back.

use std::io::{self, Stdout, Write, stdout};

use crossterm::cursor::Show;
use crossterm::event::{
    DisableBracketedPaste, EnableBracketedPaste, KeyboardEnhancementFlags,
    PopKeyboardEnhancementFlags, PushKeyboardEnhancementFlags,
};
use crossterm::terminal::{
    BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen,
    disable_raw_mode, enable_raw_mode,
};
use crossterm::{execute, queue};
use ratatui::Frame;
use ratatui::backend::CrosstermBackend;

/// Raw mode and the alternate screen, given back on drop.
#[derive(Debug)]
pub struct Terminal {
    inner: ratatui::Terminal<CrosstermBackend<Stdout>>,
}

impl Terminal {
    /// Takes the terminal, and sees to it that a panic gives it back before it speaks.
    pub fn take() -> io::Result<Self> {
        restore_on_panic();
        enter()?;
        match ratatui::Terminal::new(CrosstermBackend::new(stdout())) {
            Ok(inner) => Ok(Self { inner }),
            Err(error) => {
                restore();
                Err(error)
            }
        }
    }

    /// Returns width and height in cells.
    pub fn size(&self) -> io::Result<(u16, u16)> {
        let size = self.inner.size()?;
        Ok((size.width, size.height))
    }

    /// Draws one frame as one update, so that no half-drawn screen is ever seen.
    pub fn draw(&mut self, render: impl FnOnce(&mut Frame)) -> io::Result<()> {
        queue!(stdout(), BeginSynchronizedUpdate)?;
        self.inner.draw(render)?;
        execute!(stdout(), EndSynchronizedUpdate)
    }

    /// Forgets what is on the screen: the next frame draws every cell.
    pub fn repaint(&mut self) -> io::Result<()> {
        self.inner.clear()
    }

    /// Lends the terminal to something else meanwhile, and takes it back whole.
    pub fn lend<T>(&mut self, meanwhile: impl FnOnce() -> T) -> io::Result<T> {
        restore();
        let result = meanwhile();
        enter()?;
        self.repaint()?;
        Ok(result)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        restore();
    }
}

fn enter() -> io::Result<()> {
    enable_raw_mode()?;
    // The flags are pushed unasked: asking can block for seconds, and terminals without them ignore it.
    execute!(
        stdout(),
        EnterAlternateScreen,
        EnableBracketedPaste,
        PushKeyboardEnhancementFlags(KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES),
    )
}

/// Gives back everything that [`enter`] took. An error here has nobody left to be told to.
fn restore() {
    let _ = execute!(
        stdout(),
        EndSynchronizedUpdate,
        PopKeyboardEnhancementFlags,
        DisableBracketedPaste,
        LeaveAlternateScreen,
        Show,
    );
    let _ = disable_raw_mode();
    let _ = stdout().flush();
}

/// A panic of the thread that draws ends us and speaks on the restored screen; one of another thread
/// goes to the log, and its owner notices that it is gone.
fn restore_on_panic() {
    let ours = std::thread::current().id();
    let told_by = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().id() == ours {
            restore();
            told_by(panic);
        } else {
            tracing::error!("{panic}");
        }
    }));
}
