//! Ends runs from outside, in the middle of a pass.
//!
//! A monitor is asked after a pass, and a pass over millions of rows takes seconds. An [`Interrupt`] is looked at between rows. A run that it ends falls through with numbers that mean
//! nothing, which nobody sees: whoever started it returns an error.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

thread_local! {
    /// What runs of this thread listen to, innermost last.
    static HEARD: RefCell<Vec<Interrupt>> = const { RefCell::new(Vec::new()) };
}

/// A switch that other threads may throw. Copies are the same switch.
///
/// ```
/// use lineal_solver::Interrupt;
///
/// let interrupt = Interrupt::new();
/// let button = interrupt.clone();
/// std::thread::spawn(move || button.stop());
/// // Whatever learns in here ends as soon as the button is pressed.
/// interrupt.scope(|| while !Interrupt::current().is_stopped() {});
/// assert!(interrupt.is_stopped());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// A switch that has not been thrown.
    pub fn new() -> Self {
        Self::default()
    }

    /// The switch that is thrown when somebody else's flag becomes true.
    pub fn of(flag: Arc<AtomicBool>) -> Self {
        Self(flag)
    }

    /// Ends all runs that listen, within milliseconds, and all that will.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was thrown.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Runs `f`; every run that this thread starts in it, and whatever that does on other threads, listens to this switch.
    pub fn scope<R>(&self, f: impl FnOnce() -> R) -> R {
        struct Leave;
        impl Drop for Leave {
            fn drop(&mut self) {
                HEARD.with_borrow_mut(Vec::pop);
            }
        }
        HEARD.with_borrow_mut(|heard| heard.push(self.clone()));
        let _leave = Leave;
        f()
    }

    /// What this thread listens to: the innermost scope's switch, or one that nobody throws. A run asks once, where it starts, and gives it to its threads.
    pub fn current() -> Self {
        Self::heard().unwrap_or_default()
    }

    /// The innermost scope's switch, if this thread is in one.
    pub fn heard() -> Option<Self> {
        HEARD.with_borrow(|heard| heard.last().cloned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_nest_and_end_with_a_panic() {
        let (outer, inner) = (Interrupt::new(), Interrupt::new());
        outer.stop();
        assert!(!Interrupt::current().is_stopped() && Interrupt::heard().is_none());
        outer.scope(|| {
            assert!(Interrupt::current().is_stopped());
            inner.scope(|| assert!(!Interrupt::current().is_stopped()));
            let caught = std::panic::catch_unwind(|| Interrupt::new().scope(|| panic!("inside")));
            assert!(caught.is_err());
            assert!(Interrupt::current().is_stopped());
        });
        assert!(!Interrupt::current().is_stopped());
    }
}
