//! How many bytes of bodies and answers are held at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes that may be held.
#[derive(Debug)]
pub(crate) struct Budget {
    most: usize,
    held: AtomicUsize,
}

impl Budget {
    pub(crate) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, held: AtomicUsize::new(0) })
    }

    /// Bytes that are held now.
    pub(crate) fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    /// An empty part of the budget.
    pub(crate) fn part(self: &Arc<Self>) -> Part {
        Part { budget: self.clone(), bytes: 0 }
    }
}

/// Bytes that somebody holds, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Part {
    budget: Arc<Budget>,
    bytes: usize,
}

impl Part {
    /// Takes more; whether there was room.
    #[must_use]
    pub(crate) fn grow(&mut self, bytes: usize) -> bool {
        let most = self.budget.most;
        let fits = |held: usize| held.checked_add(bytes).filter(|sum| *sum <= most);
        let grown = self.budget.held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits);
        if grown.is_ok() {
            self.bytes += bytes;
        }
        grown.is_ok()
    }

    /// Takes more even where there is no room: the bytes are there already.
    pub(crate) fn force(&mut self, bytes: usize) {
        self.budget.held.fetch_add(bytes, Ordering::Relaxed);
        self.bytes += bytes;
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        self.budget.held.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_given_back_and_never_exceed_the_whole() {
        let budget = Budget::new(10);
        let (mut a, mut b) = (budget.part(), budget.part());
        assert!(a.grow(6) && !b.grow(5) && b.grow(4) && !b.grow(usize::MAX));
        assert_eq!(budget.held(), 10);
        drop(a);
        assert_eq!(budget.held(), 4);
        b.force(20);
        assert!(!budget.part().grow(1));
        drop(b);
        assert_eq!(budget.held(), 0);
    }
}
