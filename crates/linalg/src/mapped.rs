//! Bytes that hold numbers: a mapped file, an aligned buffer, and the casts from both to slices.
//!
//! The casts check length and alignment and copy nothing. They read the machine's own byte order; whoever
//! fixes a file format decides which machines that suits.

use std::fs::File;
use std::io;
use std::ops::Deref;
use std::path::Path;

use crate::process::{self, Registered};

/// A read-only view of a file's bytes without reading them: the operating system pages them in.
///
/// The usual caveat of mapping holds: a file that another process truncates while it is mapped ends
/// this process, with a message if it asked for that ([`process::prepare`](crate::process::prepare)). Lineal's own writers rename a finished file into
/// place and never write into an old one.
#[derive(Debug)]
pub struct MappedFile {
    map: memmap2::Mmap,
    _registered: Registered,
}

impl MappedFile {
    /// Maps the whole file.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::of(&File::open(path)?, path)
    }

    /// Maps the whole of a file that is open; messages call it by its path.
    pub fn of(file: &File, path: &Path) -> io::Result<Self> {
        // SAFETY: the map is read-only and private to this value; see the caveat above on truncation.
        let map = unsafe { memmap2::Mmap::map(file)? };
        let registered = process::register(&map, &path.display().to_string());
        Ok(Self { map, _registered: registered })
    }
}

impl Deref for MappedFile {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.map
    }
}

/// Owned bytes that start at a multiple of 64, as a mapped file's do, so that the casts below succeed on both.
#[derive(Clone, Debug)]
pub struct AlignedBytes {
    lines: Vec<Line>,
    len: usize,
}

#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Line([u8; 64]);

impl AlignedBytes {
    /// Copies the bytes into an aligned buffer.
    pub fn copy_of(bytes: &[u8]) -> Self {
        let lines = bytes
            .chunks(64)
            .map(|chunk| {
                let mut line = Line([0; 64]);
                line.0[..chunk.len()].copy_from_slice(chunk);
                line
            })
            .collect();
        Self { lines, len: bytes.len() }
    }
}

impl Deref for AlignedBytes {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        // SAFETY: a `Line` is 64 initialised bytes without padding (size = alignment = 64), lines of a `Vec` are
        // contiguous, and `copy_of` made ⌈len / 64⌉ of them; the borrow of `self` keeps them in place.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast::<u8>(), self.len) }
    }
}

/// The bytes as `f32`, or `None` if their length or address does not fit.
pub fn cast_f32(bytes: &[u8]) -> Option<&[f32]> {
    cast(bytes)
}

/// The bytes as `f64`, or `None` if their length or address does not fit.
pub fn cast_f64(bytes: &[u8]) -> Option<&[f64]> {
    cast(bytes)
}

/// The bytes as `u32`, or `None` if their length or address does not fit.
pub fn cast_u32(bytes: &[u8]) -> Option<&[u32]> {
    cast(bytes)
}

/// Numbers for which every pattern of bits is a value.
///
/// # Safety
/// The type must have no padding and no invalid bit pattern.
unsafe trait Plain: Copy {}
// SAFETY: every 4 bytes are an f32 (some are NaN), without padding.
unsafe impl Plain for f32 {}
// SAFETY: every 8 bytes are an f64 (some are NaN), without padding.
unsafe impl Plain for f64 {}
// SAFETY: every 4 bytes are a u32, without padding.
unsafe impl Plain for u32 {}

fn cast<T: Plain>(bytes: &[u8]) -> Option<&[T]> {
    if bytes.is_empty() {
        return Some(&[]);
    }
    // SAFETY: `Plain` promises that any bytes are values of T; `align_to` takes care of address and length.
    let (before, numbers, after) = unsafe { bytes.align_to::<T>() };
    (before.is_empty() && after.is_empty()).then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The safe twin: decode number by number.
        #[test]
        fn casts_agree_with_decoding(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let whole = AlignedBytes::copy_of(&bytes);
            prop_assert_eq!(&*whole, &bytes[..]);
            prop_assert_eq!(whole.as_ptr() as usize % 64, 0);
            let aligned = &whole[..bytes.len() / 8 * 8];
            let quads = || aligned.chunks(4).map(|c| <[u8; 4]>::try_from(c).unwrap());
            let f32s: Vec<u32> = cast_f32(aligned).unwrap().iter().map(|v| v.to_bits()).collect();
            prop_assert_eq!(f32s, quads().map(|q| f32::from_ne_bytes(q).to_bits()).collect::<Vec<_>>());
            prop_assert_eq!(cast_u32(aligned).unwrap(), quads().map(u32::from_ne_bytes).collect::<Vec<_>>());
            let f64s: Vec<u64> = cast_f64(aligned).unwrap().iter().map(|v| v.to_bits()).collect();
            let eights = aligned.chunks(8).map(|c| u64::from_ne_bytes(c.try_into().unwrap()));
            prop_assert_eq!(f64s, eights.collect::<Vec<_>>());
        }
    }

    #[test]
    fn casts_refuse_a_wrong_length_or_address() {
        let bytes = AlignedBytes::copy_of(&[0; 32]);
        assert!(cast_f32(&bytes[..6]).is_none());
        assert!(cast_f64(&bytes[..12]).is_none());
        assert!(cast_f32(&bytes[1..5]).is_none());
        assert!(cast_u32(&bytes[2..10]).is_none());
        assert!(cast_f64(&bytes[4..12]).is_none());
        assert_eq!(cast_f64(&bytes[4..4]).unwrap().len(), 0);
    }

    #[test]
    fn a_mapped_file_has_the_file_s_bytes() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        assert_eq!(&*MappedFile::open(&path).unwrap(), std::fs::read(&path).unwrap());
        assert!(MappedFile::open(Path::new("/nonexistent")).is_err());
    }
}
