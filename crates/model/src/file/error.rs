//! What can be wrong with a model file, in words that say what to do.

use std::io;

/// Why a model file could not be read or written. `file` is its path, or says that it came as bytes.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Something else than a model of Lineal.
    #[error("{file} is not a Lineal model: {why}; give a file that `lineal train -o` wrote")]
    NotLineal {
        /// The file.
        file: String,
        /// What was found instead.
        why: String,
    },
    /// A later Lineal wrote it.
    #[error(
        "{file} has model format {version}, and this Lineal reads formats up to {}; \
         update Lineal, or train the model again with this one",
        super::layout::VERSION
    )]
    Newer {
        /// The file.
        file: String,
        /// The version that it gives.
        version: u64,
    },
    /// The file has fewer or more bytes than its header says.
    #[error(
        "{file} {}: it should have {}{expected} bytes and has {found}; \
         copy it again from where it was made, or train it again",
        if found < expected { "is incomplete" } else { "has more than was written" },
        if *at_least { "at least " } else { "" }
    )]
    Truncated {
        /// The file.
        file: String,
        /// The length that the header asks for.
        expected: u64,
        /// The header itself is cut, and what comes after it is not known.
        at_least: bool,
        /// The length that is there.
        found: u64,
    },
    /// The bytes are not those that were written.
    #[error(
        "{file} is damaged: its checksum is {found} and should be {expected}; \
         copy it again from where it was made, or train it again"
    )]
    Checksum {
        /// The file.
        file: String,
        /// The checksum that the file gives.
        expected: String,
        /// The checksum of its bytes.
        found: String,
    },
    /// The description of the model is not what is wanted, or does not fit the rest.
    #[error("{file} cannot be used: {why}")]
    Model {
        /// The file.
        file: String,
        /// What is wrong with it.
        why: String,
    },
    /// The header is not one that Lineal writes, though the checksum fits.
    #[error("{file} has a header that Lineal does not write: {why}; train the model again")]
    Header {
        /// The file.
        file: String,
        /// What is wrong with it.
        why: String,
    },
    /// A tensor that is not what it should be.
    #[error("{file}: tensor {name:?} {why}; train the model again")]
    Tensor {
        /// The file.
        file: String,
        /// The tensor's name.
        name: String,
        /// What is wrong with it.
        why: String,
    },
    /// The operating system could not open the file.
    #[error("{file}: {}", explain(.why))]
    Read {
        /// The file.
        file: String,
        /// What it said.
        why: io::Error,
    },
    /// The file could not be written; the message of [`write_atomically`](super::write_atomically) names it.
    #[error(transparent)]
    Write(io::Error),
}

/// Why the operating system did not give bytes, in the words of the readers of data.
fn explain(why: &io::Error) -> String {
    match why.kind() {
        io::ErrorKind::NotFound => "there is no such file; check the path".to_owned(),
        io::ErrorKind::IsADirectory => "this is a folder; name a model file in it".to_owned(),
        io::ErrorKind::PermissionDenied => "no permission to read the file".to_owned(),
        _ => format!("cannot be read: {why}"),
    }
}
