//! What an input must not do, and how it is caught: panics by unwinding, hangs by a second thread, memory by the allocator's cap (see [`MEMORY`]), a full stack by the process that started
//! this one.

use super::{Signature, Target};
use std::panic::{self, AssertUnwindSafe};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// Bytes that may be allocated at a time. A binary that runs targets sets its allocator to this; more makes it abort.
pub const MEMORY: usize = 1 << 30;

/// The exit code of a process in which an input took too long.
pub const HANG: i32 = 102;

/// Inputs begun so far: the second thread sees whether it moves.
static BEGUN: AtomicU64 = AtomicU64::new(0);

/// Whether an input is being run.
static RUNNING: AtomicU64 = AtomicU64::new(0);

/// The last panic of any thread: a target's own threads panic for it.
static LAST: std::sync::Mutex<Option<String>> = std::sync::Mutex::new(None);

/// Keeps panics of inputs from being printed, and remembers where they were.
pub fn hear_panics() {
    let print = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if RUNNING.load(Ordering::SeqCst) == 0 {
            return print(info);
        }
        let place = info.location();
        let place = place.map_or_else(String::new, |at| format!("{}:{}", at.file(), at.line()));
        let payload = info.payload();
        let text = payload.downcast_ref::<&str>().map(|s| (*s).to_owned());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default();
        if let Ok(mut last) = LAST.lock() {
            *last = Some(format!("{place}: {text}"));
        }
    }));
}

/// Runs a target on an input; the error is where it panicked, and why.
pub fn run(target: &Target, input: &[u8]) -> Result<Signature, String> {
    BEGUN.fetch_add(1, Ordering::SeqCst);
    RUNNING.store(1, Ordering::SeqCst);
    let done = panic::catch_unwind(AssertUnwindSafe(|| (target.run)(input)));
    RUNNING.store(0, Ordering::SeqCst);
    done.map_err(|_| {
        let last = LAST.lock().ok().and_then(|mut last| last.take());
        last.unwrap_or_else(|| "it panicked".to_owned())
    })
}

/// Ends the process with [`HANG`] once an input has taken more than so many CPU seconds, or has waited for twenty times as long.
///
/// Time is counted in the looks of the watching thread, not by the clock: a process that is stopped, or gets no CPU on a busy machine, does not hang.
pub fn watch(seconds: u64) {
    const EVERY: Duration = Duration::from_millis(100);
    thread::spawn(move || {
        let (mut begun, mut cpu, mut looks) = (0, cpu_time(), 0);
        loop {
            thread::sleep(EVERY);
            let now = BEGUN.load(Ordering::SeqCst);
            if now != begun || RUNNING.load(Ordering::SeqCst) == 0 {
                (begun, cpu, looks) = (now, cpu_time(), 0);
                continue;
            }
            looks += 1;
            let waited = EVERY * looks;
            let spent = match (cpu_time(), cpu) {
                (Some(now), Some(cpu)) => now.saturating_sub(cpu),
                _ => waited,
            };
            if spent.as_secs() >= seconds || waited.as_secs() >= 20 * seconds {
                process::exit(HANG);
            }
        }
    });
}

/// CPU time of this process, where the system tells (Linux).
pub fn cpu_time() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name, in parentheses, may have blanks in it.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut ticks = || fields.next().and_then(|field| field.parse::<u64>().ok());
    let (user, system) = (ticks()?, ticks()?);
    // Linux counts 100 ticks per second for programs, whatever the kernel does.
    Some(Duration::from_millis((user + system) * 10))
}
