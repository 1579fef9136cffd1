//! Numbers that lie in memory of our own, or in somebody else's that is kept alive: an array of another library, a mapped file.

use std::fmt;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::Arc;

/// A slice that is owned or shared. Reading costs the same either way; who wants to change a shared one gets a copy of his own.
pub struct Buffer<T>(Kind<T>);

enum Kind<T> {
    Owned(Vec<T>),
    Shared(Shared<T>),
}

/// `first` and `len` are the slice that `owner` gave when it was asked.
struct Shared<T> {
    first: NonNull<T>,
    len: usize,
    owner: Arc<dyn AsRef<[T]> + Send + Sync>,
}

// SAFETY: the slice is only ever read, and its owner may be used from every thread.
unsafe impl<T: Sync> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Shared<T> {}

impl<T> Buffer<T> {
    /// The slice of an owner, which lives as long as this does. Nothing is copied.
    pub fn shared<O: AsRef<[T]> + Send + Sync + 'static>(owner: Arc<O>) -> Self
    where
        T: 'static,
    {
        let slice = (*owner).as_ref();
        let (first, len) = (NonNull::from(slice).cast(), slice.len());
        Self(Kind::Shared(Shared { first, len, owner }))
    }

    /// Whether the numbers are somebody else's.
    pub fn is_shared(&self) -> bool {
        matches!(self.0, Kind::Shared(_))
    }
}

impl<T: Clone> Buffer<T> {
    /// The numbers to change, after a copy if they are somebody else's.
    pub fn to_mut(&mut self) -> &mut Vec<T> {
        if let Kind::Shared(_) = self.0 {
            self.0 = Kind::Owned(self.to_vec());
        }
        match &mut self.0 {
            Kind::Owned(own) => own,
            Kind::Shared(_) => unreachable!("it was copied above"),
        }
    }
}

impl<T> Deref for Buffer<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        match &self.0 {
            Kind::Owned(own) => own,
            // SAFETY: `owner` gave this slice for a shared borrow of itself. It is in an `Arc`, so it has not moved; the `Arc` is still held, so it was not dropped, and nobody has had it by
            // `&mut` since, which takes the only reference. That borrow may therefore be as long as this one.
            Kind::Shared(shared) => unsafe {
                std::slice::from_raw_parts(shared.first.as_ptr(), shared.len)
            },
        }
    }
}

impl<T> From<Vec<T>> for Buffer<T> {
    fn from(own: Vec<T>) -> Self {
        Self(Kind::Owned(own))
    }
}

impl<T: Clone> Clone for Buffer<T> {
    fn clone(&self) -> Self {
        Self(match &self.0 {
            Kind::Owned(own) => Kind::Owned(own.clone()),
            Kind::Shared(Shared { first, len, owner }) => {
                Kind::Shared(Shared { first: *first, len: *len, owner: Arc::clone(owner) })
            }
        })
    }
}

impl<T: fmt::Debug> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: PartialEq> PartialEq for Buffer<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    static DROPPED: AtomicUsize = AtomicUsize::new(0);

    struct Array(Vec<u32>);

    impl AsRef<[u32]> for Array {
        fn as_ref(&self) -> &[u32] {
            &self.0
        }
    }

    impl Drop for Array {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_shared_slice_is_not_copied_and_lives_as_long_as_its_last_buffer() {
        let array = Arc::new(Array(vec![1, 2, 3]));
        let first = array.0.as_ptr();
        let shared = Buffer::shared(array);
        let mut twin = shared.clone();
        drop(shared);
        assert_eq!((&*twin, twin.as_ptr(), twin.is_shared()), (&[1, 2, 3][..], first, true));
        assert_eq!(DROPPED.load(Ordering::Relaxed), 0);
        twin.to_mut().push(4);
        assert_eq!((&*twin, twin.is_shared()), (&[1, 2, 3, 4][..], false));
        assert_eq!(DROPPED.load(Ordering::Relaxed), 1);
        assert_eq!(twin, Buffer::from(vec![1, 2, 3, 4]));
        let empty = Buffer::shared(Arc::new(Vec::<f32>::new()));
        assert!(empty.is_empty());
        std::thread::spawn(move || assert_eq!(twin.len(), 4)).join().unwrap();
    }
}
