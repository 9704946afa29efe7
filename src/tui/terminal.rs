//! The terminal while it is ours. Whatever ends us (return, error, panic, signal), it is given back.

use std::io::{self, Stdout, Write, stdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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
use ratatui::layout::{Position, Rect};

/// Raw mode and the alternate screen, given back on drop.
#[derive(Debug)]
pub struct Terminal {
    inner: ratatui::Terminal<CrosstermBackend<Stdout>>,
    taken: Taken,
}

/// Whether the terminal is ours now; shared with the panic hook, so that it is given back once.
type Taken = Arc<AtomicBool>;

impl Terminal {
    /// Takes the terminal, and sees to it that a panic gives it back before it speaks.
    pub fn take() -> io::Result<Self> {
        let taken = Taken::default();
        restore_on_panic(Arc::clone(&taken));
        let inner = ratatui::Terminal::new(CrosstermBackend::new(stdout()))?;
        // Made before it is entered: should entering fail halfway, drop gives back what was taken.
        let terminal = Self { inner, taken };
        enter(&terminal.taken)?;
        Ok(terminal)
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
        // `clear` would ask the terminal for its cursor, and the answer would come among the keys.
        let size = self.inner.size()?;
        self.inner.resize(Rect::from((Position::ORIGIN, size)))
    }

    /// Lends the terminal to something else meanwhile, and takes it back whole.
    pub fn lend<T>(&mut self, meanwhile: impl FnOnce() -> T) -> io::Result<T> {
        restore(&self.taken);
        let result = meanwhile();
        enter(&self.taken)?;
        self.repaint()?;
        Ok(result)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        restore(&self.taken);
    }
}

fn enter(taken: &Taken) -> io::Result<()> {
    taken.store(true, Ordering::SeqCst);
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
fn restore(taken: &Taken) {
    if !taken.swap(false, Ordering::SeqCst) {
        return;
    }
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
fn restore_on_panic(taken: Taken) {
    let ours = std::thread::current().id();
    let told_by = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().id() == ours {
            restore(&taken);
            told_by(panic);
        } else {
            tracing::error!("{panic}");
        }
    }));
}
