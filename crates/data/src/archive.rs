//! Bytes out of gzip and zstd, JSON lines out of Parquet, or bytes as they are, as they are asked for.

use std::io::{self, BufRead, Read};

use crate::error::{Error, ErrorKind, thousands};
use crate::format;
use crate::source::explain;

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
const PARQUET: &[u8] = b"PAR1";

/// How bytes are packed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Packing {
    Plain,
    Gzip,
    Zstd,
    /// Rows become JSON lines.
    Parquet,
}

impl Packing {
    /// Magic bytes decide; a name that promises an archive which is not there is an error.
    fn of(start: &[u8], name: &str) -> Result<Self, Error> {
        if start.starts_with(GZIP) {
            return Ok(Packing::Gzip);
        }
        if start.starts_with(ZSTD) {
            return Ok(Packing::Zstd);
        }
        // Another name may be that of another format: then it is told what the file is.
        if start.starts_with(PARQUET) && format::is_parquet(name) {
            return Ok(Packing::Parquet);
        }
        let promised = [(".gz", "gzip"), (".zst", "zstd"), (".parquet", "Parquet")];
        match promised.iter().find(|(suffix, _)| name.ends_with(suffix)) {
            None => Ok(Packing::Plain),
            Some(_) if start.is_empty() => {
                Err(Error::new(ErrorKind::Empty, name, "the file is empty"))
            }
            Some((suffix, what)) => {
                let message = format!(
                    "the name ends in {suffix} but the content is not {what} data; \
                     rename the file if it is something else"
                );
                Err(Error::new(ErrorKind::Archive, name, message))
            }
        }
    }
}

/// Whether the bytes are an archive.
pub(crate) fn is_packed(bytes: &[u8], name: &str) -> Result<bool, Error> {
    Ok(Packing::of(bytes, name)? != Packing::Plain)
}

#[cfg(feature = "zstd")]
fn unzstd<'a>(
    raw: impl BufRead + Send + 'a,
    name: &str,
) -> Result<Box<dyn Read + Send + 'a>, Error> {
    match zstd::stream::read::Decoder::with_buffer(raw) {
        Ok(decoder) => Ok(Box::new(decoder)),
        Err(e) => Err(Error::new(ErrorKind::Archive, name, explain(&e))),
    }
}

#[cfg(not(feature = "zstd"))]
fn unzstd<'a>(
    _raw: impl BufRead + Send + 'a,
    name: &str,
) -> Result<Box<dyn Read + Send + 'a>, Error> {
    let message = "the file is compressed by zstd, and this program was built without the feature `zstd`; decompress it first (zstd -d)";
    Err(Error::new(ErrorKind::Archive, name, message))
}

#[cfg(feature = "parquet")]
fn rows_of_parquet<'a>(
    bytes: impl std::ops::Deref<Target = [u8]> + Send + 'a,
    name: &str,
) -> Result<Box<dyn Read + Send + 'a>, Error> {
    match lineal_parquet::JsonLines::new(bytes) {
        Ok(lines) => Ok(Box::new(lines)),
        Err(e) => Err(Error::new(ErrorKind::Archive, name, e.to_string())),
    }
}

#[cfg(not(feature = "parquet"))]
fn rows_of_parquet<'a>(
    _bytes: impl std::ops::Deref<Target = [u8]> + Send + 'a,
    name: &str,
) -> Result<Box<dyn Read + Send + 'a>, Error> {
    let message = "the file is Parquet, and this program was built without the feature `parquet`; write it as CSV, for instance by pandas (to_csv with index=False)";
    Err(Error::new(ErrorKind::Archive, name, message))
}

/// The content of a source, decompressed on the way.
pub(crate) struct Reader<'a> {
    name: String,
    packing: Packing,
    from: Box<dyn Read + Send + 'a>,
    n_read: usize,
}

impl<'a> Reader<'a> {
    /// Looks at the first bytes to tell how they are packed.
    pub(crate) fn new(mut raw: impl BufRead + Send + 'a, name: &str) -> Result<Self, Error> {
        let start = raw.fill_buf().map_err(|e| Error::new(ErrorKind::Io, name, explain(&e)))?;
        let packing = Packing::of(start, name)?;
        let from: Box<dyn Read + Send + 'a> = match packing {
            Packing::Plain => Box::new(raw),
            Packing::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(raw)),
            Packing::Zstd => unzstd(raw, name)?,
            Packing::Parquet => {
                // Its end says what is where.
                let mut bytes = Vec::new();
                raw.read_to_end(&mut bytes)
                    .map_err(|e| Error::new(ErrorKind::Io, name, explain(&e)))?;
                rows_of_parquet(bytes, name)?
            }
        };
        Ok(Self { name: name.to_owned(), packing, from, n_read: 0 })
    }

    /// A file that was mapped, if it is Parquet: what is not looked at is not read then.
    pub(crate) fn of_parquet(
        file: impl std::ops::Deref<Target = [u8]> + Send + 'a,
        name: &str,
    ) -> Result<Self, Error> {
        let from = rows_of_parquet(file, name)?;
        Ok(Self { name: name.to_owned(), packing: Packing::Parquet, from, n_read: 0 })
    }

    /// Bytes that are as they are, whatever the name or they themselves look like.
    pub(crate) fn plain(raw: impl Read + Send + 'a, name: &str) -> Self {
        let name = name.to_owned();
        Self { name, packing: Packing::Plain, from: Box::new(raw), n_read: 0 }
    }

    /// Appends up to `most` bytes, fewer only at the end, and says how many.
    pub(crate) fn fill(&mut self, buffer: &mut Vec<u8>, most: usize) -> Result<usize, Error> {
        let before = buffer.len();
        let read = (&mut self.from).take(most as u64).read_to_end(buffer);
        let n = buffer.len() - before;
        self.n_read += n;
        read.map(|_| n).map_err(|e| self.failed(&e))
    }

    /// What there is at the moment, up to the length of the buffer; 0 at the end only. Waits if there is nothing.
    pub(crate) fn read_some(&mut self, buffer: &mut [u8]) -> Result<usize, Error> {
        loop {
            match self.from.read(buffer) {
                Ok(n) => {
                    self.n_read += n;
                    return Ok(n);
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(self.failed(&e)),
            }
        }
    }

    /// Fills a buffer, up to fewer bytes only at the end, and says how many.
    pub(crate) fn fill_slice(&mut self, buffer: &mut [u8]) -> Result<usize, Error> {
        let mut n = 0;
        while n < buffer.len() {
            match self.from.read(&mut buffer[n..]) {
                Ok(0) => break,
                Ok(more) => n += more,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => {
                    self.n_read += n;
                    return Err(self.failed(&e));
                }
            }
        }
        self.n_read += n;
        Ok(n)
    }

    #[cold]
    fn failed(&self, e: &io::Error) -> Error {
        let what = match self.packing {
            Packing::Plain => return Error::new(ErrorKind::Io, &self.name, explain(e)),
            // It says itself what is wrong, and what to do.
            Packing::Parquet => return Error::new(ErrorKind::Archive, &self.name, e.to_string()),
            Packing::Gzip => "gzip",
            Packing::Zstd => "zstd",
        };
        let message = format!(
            "the {what} data is damaged or cut short after {} bytes of content ({e}); \
             fetch or compress the file again",
            thousands(self.n_read)
        );
        Error::new(ErrorKind::Archive, &self.name, message)
    }
}
