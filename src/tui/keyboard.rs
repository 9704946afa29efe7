//! The keyboard, on a thread of its own that sleeps until a key comes.
//!
//! It looks whether the terminal has hung up before it reads: crossterm reads an end of file for ever.

use std::io::{self, PipeReader, PipeWriter};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crossterm::event::{Event, poll as has_event, read};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use tokio::sync::mpsc;

/// What the terminal sent in one go.
type Batch = io::Result<Vec<Event>>;

/// A listening keyboard.
pub struct Keyboard {
    batches: mpsc::UnboundedReceiver<Batch>,
    /// Closing it ends the thread.
    open: PipeWriter,
    thread: JoinHandle<()>,
}

impl Keyboard {
    /// Begins to listen.
    pub fn listen() -> io::Result<Self> {
        let (closed, open) = io::pipe()?;
        let (tell, batches) = mpsc::unbounded_channel();
        let thread =
            thread::Builder::new().name("keyboard".into()).spawn(move || listen(&closed, &tell))?;
        Ok(Self { batches, open, thread })
    }

    /// Waits for the next batch; an error says that the terminal is gone.
    pub async fn next(&mut self) -> Batch {
        self.batches.recv().await.unwrap_or_else(|| Err(gone()))
    }

    /// Returns what came meanwhile.
    pub fn ready(&mut self) -> Batch {
        let mut events = Vec::new();
        while let Ok(batch) = self.batches.try_recv() {
            events.extend(batch?);
        }
        Ok(events)
    }

    /// Stops listening, so that somebody else gets the keys.
    pub fn stop(self) {
        drop(self.open);
        // A thread that broke has stopped as well.
        self.thread.join().ok();
    }
}

fn listen(closed: &PipeReader, tell: &mpsc::UnboundedSender<Batch>) {
    let stdin = io::stdin();
    loop {
        let mut watched = [PollFd::new(&stdin, PollFlags::IN), PollFd::new(closed, PollFlags::IN)];
        match poll(&mut watched, None) {
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(error) => return drop(tell.send(Err(error.into()))),
        }
        if !watched[1].revents().is_empty() {
            return;
        }
        let is_gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
        if watched[0].revents().intersects(is_gone) {
            return drop(tell.send(Err(gone())));
        }
        let batch = batch();
        let is_over = batch.is_err();
        if tell.send(batch).is_err() || is_over {
            return;
        }
    }
}

fn batch() -> Batch {
    let mut events = Vec::new();
    while has_event(Duration::ZERO)? {
        events.push(read()?);
    }
    Ok(events)
}

fn gone() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "it was closed")
}
