//! Threads that predict, apart from those that wait for clients.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tokio::sync::oneshot;

/// A pool of threads. What runs in it may use all of them.
pub(crate) struct Pool(rayon::ThreadPool);

/// The work ended in a panic.
#[derive(Debug)]
pub(crate) struct Panicked;

impl Pool {
    pub(crate) fn new(threads: Option<usize>) -> Result<Self, String> {
        let builder = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0));
        let named = builder.thread_name(|i| format!("predict-{i}"));
        named.build().map(Self).map_err(|e| format!("no threads to predict with: {e}"))
    }

    /// Runs `work`, first come, first served. If nobody waits for it any more when its turn comes, it is left out.
    pub(crate) async fn run<R: Send + 'static>(
        &self,
        work: impl FnOnce() -> R + Send + 'static,
    ) -> Result<R, Panicked> {
        let (give, take) = oneshot::channel();
        self.0.spawn_fifo(move || {
            if give.is_closed() {
                return;
            }
            let done = catch_unwind(AssertUnwindSafe(work)).map_err(|_| Panicked);
            // Whoever asked may have gone.
            let _ = give.send(done);
        });
        take.await.unwrap_or(Err(Panicked))
    }
}
