//! Threads that predict, apart from those that wait for clients.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::oneshot;

/// A pool of threads. What runs in it may use all of them.
pub(crate) struct Pool(rayon::ThreadPool);

/// The work ended in a panic.
#[derive(Debug)]
pub(crate) struct Panicked;

/// True from the moment when nobody waits for the work any more: its time is over, or its client has gone.
pub(crate) type Unwanted = Arc<AtomicBool>;

/// Tells the work when whoever waits for it is dropped.
struct Waiting(Unwanted);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Does `work` in this thread.
pub(crate) fn here<R>(work: impl FnOnce(&Unwanted) -> R) -> Result<R, Panicked> {
    catch_unwind(AssertUnwindSafe(|| work(&Unwanted::default()))).map_err(|_| Panicked)
}

impl Pool {
    pub(crate) fn new(threads: Option<usize>) -> Result<Self, String> {
        let builder = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0));
        let named = builder.thread_name(|i| format!("predict-{i}"));
        named.build().map(Self).map_err(|e| format!("no threads to predict with: {e}"))
    }

    /// Runs `work`, first come, first served. If nobody waits for it any more when its turn comes, it is left out.
    pub(crate) async fn run<R: Send + 'static>(
        &self,
        work: impl FnOnce(&Unwanted) -> R + Send + 'static,
    ) -> Result<R, Panicked> {
        let (give, take) = oneshot::channel();
        let waiting = Waiting(Unwanted::default());
        let unwanted = waiting.0.clone();
        self.0.spawn_fifo(move || {
            if unwanted.load(Ordering::Relaxed) {
                return;
            }
            let done = catch_unwind(AssertUnwindSafe(|| work(&unwanted))).map_err(|_| Panicked);
            // Whoever asked may have gone.
            let _ = give.send(done);
        });
        take.await.unwrap_or(Err(Panicked))
    }
}
