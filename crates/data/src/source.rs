//! Where bytes come from: a file (mapped), standard input, memory; decompressed on the way.

use std::fs;
use std::io::{self, BufReader, Read};
use std::ops::Deref;
use std::path::{Path, PathBuf};

use lineal_linalg::MappedFile;

use crate::archive::{Reader, is_packed};
use crate::blocks::Input;
use crate::error::{Error, ErrorKind};
use crate::format;
use crate::once::Once;

/// Where to read from.
#[derive(Clone, Debug)]
pub enum Source {
    /// A file.
    Path(PathBuf),
    /// Standard input, to its end.
    Stdin,
    /// Bytes at hand, with a name for messages and for guessing the format.
    Memory {
        /// As a file's name would be.
        name: String,
        /// What the file would hold.
        bytes: Vec<u8>,
    },
    /// A source that can be read only once, of which the first bytes are looked at: see [`Source::kept`].
    Once(Once),
}

impl From<&Path> for Source {
    fn from(path: &Path) -> Self {
        if path == Path::new("-") { Source::Stdin } else { Source::Path(path.to_owned()) }
    }
}

impl From<PathBuf> for Source {
    fn from(path: PathBuf) -> Self {
        path.as_path().into()
    }
}

impl From<&PathBuf> for Source {
    fn from(path: &PathBuf) -> Self {
        path.as_path().into()
    }
}

impl From<&str> for Source {
    fn from(path: &str) -> Self {
        Path::new(path).into()
    }
}

impl From<&Source> for Source {
    fn from(source: &Source) -> Self {
        source.clone()
    }
}

impl Source {
    /// The name that messages use.
    pub fn name(&self) -> String {
        match self {
            Source::Path(path) => path.display().to_string(),
            Source::Stdin => "<stdin>".to_owned(),
            Source::Memory { name, .. } => name.clone(),
            Source::Once(once) => once.name().to_owned(),
        }
    }

    /// Whether it can be walked only once: standard input, and what is not a regular file.
    pub fn comes_once(&self) -> bool {
        !matches!(self, Source::Memory { .. }) && !self.is_file()
    }

    /// What comes once as a source that keeps what is read of it, so that [`learn_schema`](crate::learn_schema) can look at the first rows
    /// before a [`stream`](crate::stream) walks all of them; what can be read again is left as it is. [`seal`](Self::seal) it after the look.
    pub fn kept(self) -> Result<Self, Error> {
        let name = self.name();
        let rest = match &self {
            Source::Stdin => Reader::new(BufReader::new(io::stdin()), &name)?,
            // A path that is not there is told so by whoever reads it.
            Source::Path(path) if path.exists() && !self.is_file() => open_reader(path, &name)?,
            _ => return Ok(self),
        };
        Ok(Source::Once(Once::new(rest, &name)))
    }

    /// Keeps no more of what comes once: the next walk is the last.
    pub fn seal(&self) {
        if let Source::Once(once) = self {
            once.seal();
        }
    }

    /// All bytes, decompressed.
    pub(crate) fn open(self) -> Result<Bytes, Error> {
        let name = self.name();
        let refuse = |e: io::Error| Error::new(ErrorKind::Io, &name, explain(&e));
        let raw = match self {
            Source::Path(path) => open_file(&path).map_err(refuse)?,
            Source::Stdin => {
                let mut bytes = Vec::new();
                io::stdin().lock().read_to_end(&mut bytes).map_err(refuse)?;
                Bytes::Owned(bytes)
            }
            Source::Memory { bytes, .. } => Bytes::Owned(bytes),
            Source::Once(once) => {
                let mut bytes = Vec::new();
                once.reader().read_to_end(&mut bytes).map_err(refuse)?;
                return Ok(Bytes::Owned(bytes));
            }
        };
        if !is_packed(&raw, &name)? {
            return Ok(raw);
        }
        let mut content = Vec::new();
        Reader::new(&raw[..], &name)?.fill(&mut content, usize::MAX)?;
        Ok(Bytes::Owned(content))
    }

    /// The first bytes of a file. `None` for what may come once, such as a pipe.
    pub(crate) fn peek(&self, n: usize) -> Result<Option<Vec<u8>>, Error> {
        if !self.is_file() {
            return Ok(None);
        }
        let mut head = Vec::new();
        self.reader()?.fill(&mut head, n)?;
        Ok(Some(head))
    }

    fn is_file(&self) -> bool {
        match self {
            Source::Path(path) => fs::metadata(path).is_ok_and(|meta| meta.is_file()),
            Source::Stdin | Source::Memory { .. } | Source::Once(_) => false,
        }
    }

    /// For walks that shall not hold what is large: a file is read anew by each.
    pub(crate) fn input(self) -> Result<Input, Error> {
        if !self.is_file() {
            return self.open().map(Input::Whole);
        }
        // A large archive holds more yet; of a small one only its content tells.
        let is_large = matches!(&self, Source::Path(path) if fs::metadata(path).is_ok_and(|m| m.len() > SMALL as u64));
        let mut content = Vec::new();
        if !is_large && self.reader()?.fill(&mut content, SMALL + 1)? <= SMALL {
            return Ok(Input::Whole(Bytes::Owned(content)));
        }
        Ok(Input::Replay(self))
    }

    /// For a walk that holds nothing. What is not a file comes once.
    pub(crate) fn streamed(self) -> Result<Input, Error> {
        let name = self.name();
        match self {
            Source::Stdin => Ok(Input::once(Reader::new(BufReader::new(io::stdin()), &name)?)),
            Source::Memory { .. } => self.open().map(Input::Whole),
            Source::Once(_) => Ok(Input::Replay(self)),
            Source::Path(_) if self.is_file() => Ok(Input::Replay(self)),
            Source::Path(path) => Ok(Input::once(open_reader(&path, &name)?)),
        }
    }

    /// The bytes one after the other, decompressed. Standard input comes once.
    pub(crate) fn reader(&self) -> Result<Reader<'_>, Error> {
        let name = self.name();
        match self {
            Source::Path(path) => open_reader(path, &name),
            Source::Stdin => Reader::new(BufReader::new(io::stdin()), &name),
            Source::Memory { bytes, .. } => Reader::new(&bytes[..], &name),
            Source::Once(once) => Ok(Reader::plain(once.reader(), &name)),
        }
    }
}

/// Content up to here is kept rather than read or unpacked for each walk.
const SMALL: usize = 8 << 20;

/// Bytes that are mapped or owned.
#[derive(Debug)]
pub(crate) enum Bytes {
    Mapped(MappedFile),
    Owned(Vec<u8>),
}

impl Deref for Bytes {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Mapped(map) => map,
            Bytes::Owned(bytes) => bytes,
        }
    }
}

fn open_reader(path: &Path, name: &str) -> Result<Reader<'static>, Error> {
    let refuse = |e: io::Error| Error::new(ErrorKind::Io, name, explain(&e));
    if fs::metadata(path).map_err(refuse)?.is_dir() {
        return Err(refuse(io::ErrorKind::IsADirectory.into()));
    }
    if format::is_parquet(name) && fs::metadata(path).is_ok_and(|m| m.is_file() && m.len() > 0) {
        let file = MappedFile::open(path).map_err(refuse)?;
        if file.starts_with(b"PAR1") {
            return Reader::of_parquet(file, name);
        }
    }
    let file = fs::File::open(path).map_err(refuse)?;
    Reader::new(BufReader::with_capacity(1 << 17, file), name)
}

fn open_file(path: &Path) -> io::Result<Bytes> {
    let meta = fs::metadata(path)?;
    if meta.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    // Pipes and /proc files have no length to map.
    if meta.is_file() && meta.len() > 0 {
        MappedFile::open(path).map(Bytes::Mapped)
    } else {
        fs::read(path).map(Bytes::Owned)
    }
}

/// Why the operating system did not give bytes.
pub(crate) fn explain(e: &io::Error) -> String {
    match e.kind() {
        io::ErrorKind::NotFound => "there is no such file; check the path".to_owned(),
        io::ErrorKind::IsADirectory => "this is a folder; name a file in it".to_owned(),
        io::ErrorKind::PermissionDenied => "no permission to read the file".to_owned(),
        _ => format!("cannot be read: {e}"),
    }
}

/// The text without a byte order mark, which some spreadsheets put first.
pub(crate) fn without_bom(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// The text as UTF-8, or where it is not: of formats that have no other encoding.
pub(crate) fn utf8<'a>(bytes: &'a [u8], file: &str) -> Result<&'a str, Error> {
    text(bytes, file, |likely| format!(" ({likely}): convert it (iconv -f ENCODING -t UTF-8)"))
}

/// The same of rows, whose encoding can be said.
pub(crate) fn utf8_of_rows<'a>(bytes: &'a [u8], file: &str) -> Result<&'a str, Error> {
    text(bytes, file, |likely| {
        format!(": say options.encoding = {likely}, or convert it (iconv -t UTF-8)")
    })
}

fn text<'a>(
    bytes: &'a [u8],
    file: &str,
    remedy: impl Fn(&str) -> String,
) -> Result<&'a str, Error> {
    std::str::from_utf8(bytes).map_err(|e| {
        let at = e.valid_up_to();
        let message = format!(
            "byte 0x{:02x} is not valid UTF-8; the file seems to be in another encoding{}",
            bytes.get(at).copied().unwrap_or_default(),
            remedy(crate::encoding::likely(bytes))
        );
        Error::at(ErrorKind::Encoding, file, bytes, at, message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn memory(name: &str, bytes: &[u8]) -> Source {
        Source::Memory { name: name.to_owned(), bytes: bytes.to_owned() }
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn archives_are_known_by_their_magic() {
        let text = b"1 1:2\n".repeat(100);
        let mut two = gzip(&text);
        two.extend(gzip(b"end"));
        assert_eq!(&memory("x", &two).open().unwrap()[..600], &text[..]);
        assert!(memory("x", &two).open().unwrap().ends_with(b"end"));
        let zst = zstd::encode_all(&text[..], 1).unwrap();
        assert_eq!(&memory("x", &zst).open().unwrap()[..], &text[..]);
    }

    #[test]
    fn damaged_archives_are_errors() {
        let text = b"1 1:2 3:4.5678\n".repeat(100);
        let (gz, zst) = (gzip(&text), zstd::encode_all(&text[..], 1).unwrap());
        for archive in [&gz, &zst] {
            for cut in [5, archive.len() / 2, archive.len() - 1] {
                let error = memory("a.svm.gz", &archive[..cut]).open().unwrap_err();
                assert_eq!(error.kind, ErrorKind::Archive, "{error}");
                assert!(error.to_string().starts_with("a.svm.gz: "), "{error}");
            }
        }
        let error = memory("a.svm.gz", b"1 1:2").open().unwrap_err();
        assert!(error.message.contains("not gzip data"), "{error}");
    }

    #[test]
    fn files_that_cannot_be_read_say_why() {
        let folder = tempfile::tempdir().unwrap();
        let error = Source::from(folder.path()).open().unwrap_err();
        assert!(error.message.contains("folder"), "{error}");
        let error = Source::from(folder.path().join("none")).open().unwrap_err();
        assert!(error.message.contains("no such file"), "{error}");
        let empty = folder.path().join("empty");
        fs::write(&empty, b"").unwrap();
        assert!(Source::from(&empty).open().unwrap().is_empty());
    }
}
