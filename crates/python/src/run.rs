//! Work without the interpreter's lock, on a pool of its own, while the caller's thread waits for signals.

use crate::errors::{exception, fault};
use lineal::{Error, Interrupt};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How often signals are looked for while a long call runs.
const POLL: Duration = Duration::from_millis(20);

/// Whether a run is to end: after a pass, with what it has, or at once, because of a signal.
#[derive(Default)]
pub(crate) struct Stop {
    after_pass: AtomicBool,
    at_once: Interrupt,
}

impl Stop {
    pub(crate) fn is_set(&self) -> bool {
        self.after_pass.load(Ordering::Relaxed) || self.at_once.is_stopped()
    }

    pub(crate) fn set(&self) {
        self.after_pass.store(true, Ordering::Relaxed);
    }
}

/// The pools that there are, by process and number of threads. A child process has none of its parent's threads, and so needs its own.
static POOLS: Mutex<Vec<(u32, usize, Arc<ThreadPool>)>> = Mutex::new(Vec::new());

fn pool(n_threads: usize) -> Option<Arc<ThreadPool>> {
    let process = std::process::id();
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((.., pool)) = pools.iter().find(|(p, n, _)| (*p, *n) == (process, n_threads)) {
        return Some(Arc::clone(pool));
    }
    let pool = Arc::new(ThreadPoolBuilder::new().num_threads(n_threads).build().ok()?);
    pools.push((process, n_threads, Arc::clone(&pool)));
    Some(pool)
}

/// Runs `f` on so many threads (0 for all cores), and turns errors and panics into exceptions.
fn guarded<R: Send>(
    n_threads: usize,
    f: impl FnOnce() -> Result<R, Error> + Send,
) -> Result<R, PyErr> {
    let work = move || match pool(n_threads) {
        Some(pool) => pool.install(f),
        None => f(),
    };
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(done) => done.map_err(exception),
        Err(panic) => Err(fault(&*panic)),
    }
}

/// A short call: without the lock.
pub(crate) fn brief<R: Send>(
    py: Python<'_>,
    n_threads: usize,
    f: impl FnOnce() -> Result<R, Error> + Send,
) -> PyResult<R> {
    py.detach(move || guarded(n_threads, f))
}

/// A long call: without the lock, in a thread of its own, so that this one can answer signals. `f` looks at the flag and ends when it is set; the exception that a signal
/// raised is then raised here.
pub(crate) fn long<R: Send>(
    py: Python<'_>,
    n_threads: usize,
    f: impl FnOnce(&Stop) -> Result<R, Error> + Send,
) -> PyResult<R> {
    let stop = Stop::default();
    py.detach(|| {
        std::thread::scope(|scope| {
            let (done, waiting) = channel();
            let stop = &stop;
            scope.spawn(move || {
                // Nobody waits only if the caller is gone.
                let _ = done.send(guarded(n_threads, || stop.at_once.scope(|| f(stop))));
            });
            let mut interrupted = None;
            loop {
                match waiting.recv_timeout(POLL) {
                    Ok(result) => return interrupted.map_or(result, Err),
                    Err(RecvTimeoutError::Disconnected) => {
                        return Err(PyKeyboardInterrupt::new_err("the run ended unexpectedly"));
                    }
                    Err(RecvTimeoutError::Timeout) => {
                        if let Err(signal) = Python::attach(|py| py.check_signals()) {
                            stop.at_once.stop();
                            interrupted = Some(signal);
                        }
                    }
                }
            }
        })
    })
}
