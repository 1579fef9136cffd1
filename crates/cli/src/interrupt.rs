//! Ctrl-C: exit code 130 at once, but never in the middle of writing a file.
//!
//! Files are written beside and renamed, so stopping anywhere leaves the old file or none. Waiting for a write that has
//! begun only avoids leaving its temporary file behind. A second Ctrl-C does not wait.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::talk;

static WRITERS: AtomicUsize = AtomicUsize::new(0);
static ASKED: AtomicBool = AtomicBool::new(false);

/// Takes over Ctrl-C.
pub fn install() {
    // Where there can be no handler, the system's default ends the program just as well.
    let _ = ctrlc::set_handler(|| {
        let again = ASKED.swap(true, Ordering::SeqCst);
        if again || WRITERS.load(Ordering::SeqCst) == 0 {
            stop();
        }
    });
}

/// Runs `write` to its end before an interruption counts.
pub fn hold<R>(write: impl FnOnce() -> R) -> R {
    WRITERS.fetch_add(1, Ordering::SeqCst);
    let done = write();
    WRITERS.fetch_sub(1, Ordering::SeqCst);
    if ASKED.load(Ordering::SeqCst) {
        stop();
    }
    done
}

fn stop() -> ! {
    talk::line("\ninterrupted");
    std::process::exit(130)
}
