//! Work without the interpreter's lock, on a pool of its own, while the caller's thread waits for signals.

use crate::errors::{exception, fault};
use lineal::{CurvePoint, Error, Interrupt};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::num::NonZero;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How often signals are looked for while a long call runs.
const POLL: Duration = Duration::from_millis(20);

/// Whether a run is to end at once: because of a signal, or because what is called after every pass raised an exception.
#[derive(Default)]
pub(crate) struct Stop {
    interrupt: Interrupt,
    raised: Mutex<Option<PyErr>>,
}

impl Stop {
    pub(crate) fn is_set(&self) -> bool {
        self.interrupt.is_stopped()
    }

    /// Ends the run with an exception; the first one counts.
    fn raise(&self, exception: PyErr) {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(exception);
        self.interrupt.stop();
    }

    /// What a monitor does after every pass: calls `on_pass(pass, objective, gap)`.
    pub(crate) fn after_pass(
        &self,
        on_pass: Option<&Py<PyAny>>,
        point: &CurvePoint,
    ) -> ControlFlow<()> {
        if let Some(on_pass) = on_pass.filter(|_| !self.is_set()) {
            let seen = (point.pass, point.objective, point.gap.or(point.gap_estimate));
            if let Err(exception) = Python::attach(|py| on_pass.call1(py, seen)) {
                self.raise(exception);
            }
        }
        if self.is_set() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// The pools that there are, by process and number of threads. A child process has none of its parent's threads, and so needs its own.
static POOLS: Mutex<Vec<(u32, usize, Arc<ThreadPool>)>> = Mutex::new(Vec::new());

/// More threads than four for each core only take memory: whoever asks for a million gets these, and the same result.
const PER_CORE: usize = 4;

fn pool(n_threads: usize) -> Option<Arc<ThreadPool>> {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let n_threads = n_threads.min(PER_CORE * cores);
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

/// A call so short that a pool and the lock would take longer than what it does: it runs here. `f` must not use more than one thread.
pub(crate) fn instant<R>(f: impl FnOnce() -> Result<R, Error>) -> PyResult<R> {
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(done) => done.map_err(exception),
        Err(panic) => Err(fault(&*panic)),
    }
}

/// A long call: without the lock, in a thread of its own, so that this one can answer signals. `f` looks at the flag and ends when it is set; the exception that a signal
/// raised is then raised here.
pub(crate) fn long<R: Send>(
    py: Python<'_>,
    n_threads: usize,
    f: impl FnOnce(&Stop) -> Result<R, Error> + Send,
) -> PyResult<R> {
    let stop = &Stop::default();
    py.detach(|| {
        std::thread::scope(|scope| {
            let (done, waiting) = channel();
            scope.spawn(move || {
                // Nobody waits only if the caller is gone.
                let _ = done.send(guarded(n_threads, || stop.interrupt.scope(|| f(stop))));
            });
            wait(&waiting, stop, WhenStopped::Wait)
        })
    })
}

/// A [`long`] call that borrows nothing: a signal is answered at once, and `f` ends by itself when it next looks at the flag.
pub(crate) fn long_owned<R: Send + 'static>(
    py: Python<'_>,
    n_threads: usize,
    f: impl FnOnce(&Stop) -> Result<R, Error> + Send + 'static,
) -> PyResult<R> {
    let stop = Arc::new(Stop::default());
    py.detach(|| {
        let (done, waiting) = channel();
        let own = Arc::clone(&stop);
        std::thread::spawn(move || {
            // Nobody waits once a signal was answered.
            let _ = done.send(guarded(n_threads, || own.interrupt.scope(|| f(&own))));
        });
        wait(&waiting, &stop, WhenStopped::Leave)
    })
}

/// What becomes of a thread that a signal stopped.
#[derive(Clone, Copy, PartialEq)]
enum WhenStopped {
    Wait,
    Leave,
}

/// Waits for the result of a thread, and looks for signals meanwhile.
fn wait<R>(waiting: &Receiver<PyResult<R>>, stop: &Stop, then: WhenStopped) -> PyResult<R> {
    loop {
        let result = match waiting.recv_timeout(POLL) {
            Ok(result) => result,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(fault(&"its thread ended without a result"));
            }
            Err(RecvTimeoutError::Timeout) => {
                match Python::attach(|py| py.check_signals()) {
                    Err(signal) => stop.raise(signal),
                    Ok(()) => continue,
                }
                match then {
                    WhenStopped::Wait => continue,
                    WhenStopped::Leave => Err(exception(Error::Interrupted)),
                }
            }
        };
        let mut raised = stop.raised.lock().unwrap_or_else(PoisonError::into_inner);
        return raised.take().map_or(result, Err);
    }
}
