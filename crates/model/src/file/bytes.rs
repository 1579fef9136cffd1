//! Where the bytes of a model file are: mapped, or in memory.

use lineal_linalg::{AlignedBytes, MappedFile};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::{Deref, Range};
use std::path::Path;
use std::sync::Mutex;

/// What is read at a time for a checksum.
const PIECE: usize = 256 << 10;

#[derive(Debug)]
pub(super) enum Bytes {
    /// The map, and the file that it is of.
    Mapped(MappedFile, Mutex<File>),
    Owned(AlignedBytes),
}

impl Bytes {
    pub(super) fn map(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        Ok(Self::Mapped(MappedFile::of(&file, path)?, Mutex::new(file)))
    }

    /// The checksum of some of the bytes. Of a mapped file they are read piece by piece, so that the pages of the map are left to those who use the numbers.
    pub(super) fn crc(&self, range: Range<usize>) -> io::Result<u32> {
        let Self::Mapped(_, file) = self else { return Ok(crc32fast::hash(&self[range])) };
        let mut file = file.lock().map_err(|_| io::Error::other("another thread panicked"))?;
        file.seek(SeekFrom::Start(range.start as u64))?;
        let mut crc = crc32fast::Hasher::new();
        let mut piece = vec![0; PIECE.min(range.len())];
        let mut left = range.len();
        while left > 0 {
            let n = left.min(PIECE);
            file.read_exact(&mut piece[..n])?;
            crc.update(&piece[..n]);
            left -= n;
        }
        Ok(crc.finalize())
    }

    /// How many bytes there are by now, if another program has changed the file.
    pub(super) fn len_now(&self) -> u64 {
        match self {
            Self::Mapped(map, file) => {
                let len = file.lock().ok().and_then(|file| Some(file.metadata().ok()?.len()));
                len.unwrap_or(map.len() as u64)
            }
            Self::Owned(bytes) => bytes.len() as u64,
        }
    }
}

impl Deref for Bytes {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        match self {
            Self::Mapped(map, _) => map,
            Self::Owned(bytes) => bytes,
        }
    }
}
