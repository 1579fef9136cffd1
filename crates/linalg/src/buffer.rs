//! Numbers that lie in memory of our own, or in somebody else's that is kept alive: an array of another library, a mapped file.

use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::Arc;

/// A slice that is owned or shared. Reading costs the same either way; who wants to change a shared one gets a copy of his own.
pub struct Buffer<T>(Kind<T>);

enum Kind<T> {
    Owned(Vec<T>),
    Shared(Shared<T>),
}

/// `first` and `len` are a slice that is there, and is not written to, as long as `owner` is held.
struct Shared<T> {
    first: NonNull<T>,
    len: usize,
    owner: Arc<dyn Any + Send + Sync>,
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

    /// Keeps the first `len` numbers only. Nothing is copied.
    pub fn truncate(&mut self, len: usize) {
        match &mut self.0 {
            Kind::Owned(own) => own.truncate(len),
            Kind::Shared(shared) => shared.len = shared.len.min(len),
        }
    }
}

impl Buffer<i32> {
    /// The same numbers without a sign, or the first that is below 0 and its place. Nothing is copied.
    pub fn into_unsigned(self) -> Result<Buffer<u32>, (usize, i32)> {
        // Without an early exit: the loop vectorises.
        if self.iter().fold(0, |signs, v| signs | v) < 0
            && let Some((at, &below)) = self.iter().enumerate().find(|(_, v)| **v < 0)
        {
            return Err((at, below));
        }
        Ok(Buffer(match self.0 {
            // In place: the standard library collects into the memory that it came from.
            Kind::Owned(own) => Kind::Owned(own.into_iter().map(i32::cast_unsigned).collect()),
            Kind::Shared(Shared { first, len, owner }) => {
                Kind::Shared(Shared { first: first.cast(), len, owner })
            }
        }))
    }
}

/// Slices that are lent as [buffers](Buffer) for the time of a call: see [`lend`].
pub struct Loan<'env> {
    owner: Arc<()>,
    /// Invariant: what is lent must live as long as the call that lends, not as some shorter time.
    lent: PhantomData<&'env mut &'env ()>,
}

impl<'env> Loan<'env> {
    /// A buffer over a slice, without a copy.
    pub fn buffer<T: Sync + 'static>(&self, slice: &'env [T]) -> Buffer<T> {
        let (first, len) = (NonNull::from(slice).cast(), slice.len());
        let owner: Arc<dyn Any + Send + Sync> = self.owner.clone();
        Buffer(Kind::Shared(Shared { first, len, owner }))
    }
}

impl Drop for Loan<'_> {
    fn drop(&mut self) {
        // `get_mut` sees one reference only after what other threads read through theirs has happened.
        if Arc::get_mut(&mut self.owner).is_none() {
            // The slices may be gone after this call, so it must not return.
            outlived();
        }
    }
}

/// Ends the process: a panic cannot leave a function with the ABI of C.
extern "C" fn outlived() {
    panic!("a buffer of a slice that was lent for a call has outlived the call");
}

/// Runs `f` with borrowed slices as buffers, so that a matrix of them is made without a copy. All such buffers, and what holds them, must be gone when `f` returns.
///
/// ```
/// use lineal_linalg::{Csr, lend};
///
/// let (indptr, indices, values) = ([0i64, 2, 3], [0i32, 2, 1], [1.0f32, 2.0, 5.0]);
/// let sum = lend(|loan| {
///     let x = Csr::from_arrays(3, loan.buffer(&indptr), loan.buffer(&indices), loan.buffer(&values))?;
///     Ok::<f32, lineal_linalg::ArrayError>((0..x.n_rows()).flat_map(|i| x.row(i).values()).sum())
/// });
/// assert_eq!(sum, Ok(8.0));
/// ```
///
/// # Aborts
/// The process ends if a buffer is still held somewhere when `f` has returned, since it would read memory that is no longer there.
pub fn lend<'env, R>(f: impl FnOnce(&Loan<'env>) -> R) -> R {
    // Dropped at the end, and when `f` panics.
    let loan = Loan { owner: Arc::new(()), lent: PhantomData };
    f(&loan)
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
            // SAFETY: of `shared`: the owner gave this slice for a shared borrow of itself. It is in an `Arc`, so it has not moved; the `Arc` is still held, so it was not dropped, and nobody has had
            // it by `&mut` since, which takes the only reference. That borrow may therefore be as long as this one. Of `lend`: the slice is borrowed for longer than the call of `lend`, which does
            // not return while the `Arc` is held here. A prefix of such a slice is one, too, and every pattern of bits of an `i32` is an `u32`.
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
        let mut prefix = Buffer::shared(Arc::new(vec![1.0f32, 2.0]));
        prefix.truncate(1);
        assert_eq!((&*prefix, prefix.is_shared()), (&[1.0][..], true));
        let empty = Buffer::shared(Arc::new(Vec::<f32>::new()));
        assert!(empty.is_empty());
        std::thread::spawn(move || assert_eq!(twin.len(), 4)).join().unwrap();
    }

    #[test]
    fn what_is_lent_is_not_copied() {
        let numbers = vec![3i32, 0, 7];
        let unsigned = lend(|loan| {
            let buffer = loan.buffer(&numbers).into_unsigned().unwrap();
            assert_eq!(buffer.as_ptr().cast(), numbers.as_ptr());
            buffer.to_vec()
        });
        assert_eq!(unsigned, [3, 0, 7]);
        assert_eq!(Buffer::from(vec![4, -1, -2]).into_unsigned(), Err((1, -1)));
        assert_eq!(Buffer::from(vec![4]).into_unsigned(), Ok(vec![4].into()));
        let caught = std::panic::catch_unwind(|| {
            lend(|loan| {
                let _buffer = loan.buffer(&numbers);
                panic!("in the call");
            })
        });
        assert!(caught.is_err());
    }
}
