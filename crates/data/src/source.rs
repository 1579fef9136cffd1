//! Where bytes come from: a file (mapped), standard input, memory; decompressed on the way.

use std::fs;
use std::io::{self, Read};
use std::ops::Deref;
use std::path::{Path, PathBuf};

use lineal_linalg::MappedFile;

use crate::error::{Error, ErrorKind, thousands};

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
        }
    }

    /// All bytes, decompressed.
    pub(crate) fn open(self) -> Result<Bytes, Error> {
        let name = self.name();
        let raw = match self {
            Source::Path(path) => {
                open_file(&path).map_err(|e| Error::new(ErrorKind::Io, &name, explain(&e)))?
            }
            Source::Stdin => {
                let mut bytes = Vec::new();
                let read = io::stdin().lock().read_to_end(&mut bytes);
                read.map_err(|e| Error::new(ErrorKind::Io, &name, explain(&e)))?;
                Bytes::Owned(bytes)
            }
            Source::Memory { bytes, .. } => Bytes::Owned(bytes),
        };
        decompress(raw, &name)
    }
}

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

fn explain(e: &io::Error) -> String {
    match e.kind() {
        io::ErrorKind::NotFound => "there is no such file; check the path".to_owned(),
        io::ErrorKind::IsADirectory => "this is a folder; name a file in it".to_owned(),
        io::ErrorKind::PermissionDenied => "no permission to read the file".to_owned(),
        _ => format!("cannot be read: {e}"),
    }
}

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// Magic bytes decide; a name that promises an archive which is not there is an error.
fn decompress(raw: Bytes, name: &str) -> Result<Bytes, Error> {
    let mut out = Vec::new();
    let (what, read) = if raw.starts_with(GZIP) {
        ("gzip", flate2::bufread::MultiGzDecoder::new(&raw[..]).read_to_end(&mut out))
    } else if raw.starts_with(ZSTD) {
        ("zstd", zstd::stream::copy_decode(&raw[..], &mut out).map(|()| 0))
    } else {
        let promised = [(".gz", "gzip"), (".zst", "zstd")];
        return match promised.iter().find(|(suffix, _)| name.ends_with(suffix)) {
            None => Ok(raw),
            Some(_) if raw.is_empty() => {
                Err(Error::new(ErrorKind::Empty, name, "the file is empty"))
            }
            Some((suffix, what)) => {
                let message = format!(
                    "the name ends in {suffix} but the content is not {what} data; \
                     rename the file if it is not compressed"
                );
                Err(Error::new(ErrorKind::Archive, name, message))
            }
        };
    };
    match read {
        Ok(_) => Ok(Bytes::Owned(out)),
        Err(e) => {
            let message = format!(
                "the {what} data is damaged or cut short after {} bytes of content ({e}); \
                 fetch or compress the file again",
                thousands(out.len())
            );
            Err(Error::new(ErrorKind::Archive, name, message))
        }
    }
}

/// The text without a byte order mark, which some spreadsheets put first.
pub(crate) fn without_bom(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// The text as UTF-8, or where it is not.
pub(crate) fn utf8<'a>(bytes: &'a [u8], file: &str) -> Result<&'a str, Error> {
    std::str::from_utf8(bytes).map_err(|e| {
        let at = e.valid_up_to();
        let message = format!(
            "byte 0x{:02x} is not valid UTF-8; convert the file (iconv -t UTF-8)",
            bytes.get(at).copied().unwrap_or_default()
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
