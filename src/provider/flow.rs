//! A reply as an async function that sends deltas and returns the whole.

use std::future::Future;

use futures::channel::mpsc;
use futures::stream::BoxStream;
use futures::{SinkExt, StreamExt, stream};

use super::{Completion, Delta, ProviderError};

/// Where a reply's deltas go while it arrives.
#[derive(Debug, Clone)]
pub struct Deltas(mpsc::Sender<Result<Delta, ProviderError>>);

impl Deltas {
    /// Sends one delta and waits until there is room for the next.
    pub async fn send(&mut self, delta: Delta) {
        self.put(Ok(delta)).await;
    }

    async fn put(&mut self, item: Result<Delta, ProviderError>) {
        // The receiver is polled together with the work that sends: while one lives, both do.
        let _ = self.0.send(item).await;
    }
}

/// Makes a stream of the work. The work is polled by the stream itself, so dropping it cancels the work.
pub fn stream<W, F>(work: W) -> BoxStream<'static, Result<Delta, ProviderError>>
where
    W: FnOnce(Deltas) -> F + Send + 'static,
    F: Future<Output = Result<Completion, ProviderError>> + Send,
{
    let (sender, receiver) = mpsc::channel(0);
    let mut end = Deltas(sender);
    let work = async move {
        let result = work(end.clone()).await;
        end.put(result.map(Delta::Done)).await;
    };
    let silent = stream::once(work).filter_map(async |()| None);
    stream::select(receiver, silent).boxed()
}
