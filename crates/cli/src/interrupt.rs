//! Ctrl-C: exit code 130 at once, whatever is under way.
//!
//! A run that can be taken up again asks for the chance to keep what it has ([`defer`]); a second Ctrl-C does not wait for that.
//!
//! Files are written beside and renamed, so stopping anywhere leaves the old file or none. The temporary ones are removed on the way out.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::talk;

static ASKED: AtomicBool = AtomicBool::new(false);
static DEFERRED: AtomicBool = AtomicBool::new(false);

/// Takes over Ctrl-C.
pub fn install() {
    // Where there can be no handler, the system's default ends the program just as well.
    let _ = ctrlc::set_handler(|| {
        let again = ASKED.swap(true, Ordering::SeqCst);
        if again || !DEFERRED.load(Ordering::SeqCst) {
            stop();
        }
    });
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
    let _none_after = lineal::discard_temporaries();
    talk::line("\ninterrupted");
    std::process::exit(130)
}
