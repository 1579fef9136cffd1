//! Ctrl-C, `kill` and hangups: exit code 130 at once, but never in the middle of writing a file.
//!
//! A run that can be taken up again asks for the chance to keep what it has ([`defer`]).
//!
//! Files are written beside and renamed, so stopping anywhere leaves the old file or none. A write that has begun is waited for, because what it writes may have
//! taken hours to learn. A second Ctrl-C does not wait, and removes the temporary file.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::talk;

static WRITERS: AtomicUsize = AtomicUsize::new(0);
static ASKED: AtomicBool = AtomicBool::new(false);
static DEFERRED: AtomicBool = AtomicBool::new(false);

/// Takes over the signals, but for those that are ignored already.
pub fn install() {
    // Where there can be no handler, the system's default ends the program just as well.
    let _ = lineal::linalg::process::keeping_ignored_signals(|| {
        ctrlc::set_handler(|| {
            let again = ASKED.swap(true, Ordering::SeqCst);
            let busy = WRITERS.load(Ordering::SeqCst) > 0 || DEFERRED.load(Ordering::SeqCst);
            if again || !busy {
                stop();
            }
        })
    });
}

/// Runs `write` to its end before an interruption counts.
pub fn hold<R>(write: impl FnOnce() -> R) -> R {
    WRITERS.fetch_add(1, Ordering::SeqCst);
    let done = write();
    WRITERS.fetch_sub(1, Ordering::SeqCst);
    if ASKED.load(Ordering::SeqCst) && !DEFERRED.load(Ordering::SeqCst) {
        stop();
    }
    done
}

/// From here on the first interruption only makes [`asked`] true.
pub fn defer() {
    DEFERRED.store(true, Ordering::SeqCst);
}

/// Whether somebody wants the program to end.
pub fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}

fn stop() -> ! {
    lineal::remove_temporaries();
    talk::line("\ninterrupted");
    std::process::exit(130)
}
