//! Rows of Parquet files as JSON lines.
//!
//! [`JsonLines`] reads the bytes of a file and gives one JSON object per row, a page at a time: what is in memory is one page of each column and the dictionaries of a row group. Numbers,
//! truths, text, dates and times, decimals, lists and groups are read, in the encodings that Arrow, pandas, polars, DuckDB and Spark write, and compressed by snappy, gzip, zstd, LZ4 or not at all.
//!
//! The bytes may be hostile. Every length is a claim that ends with the bytes, nothing panics, and what is not understood is an [`Error`] in plain words. The crate knows neither what
//! rows are used for nor where bytes come from.
//!
//! ```
//! use std::io::Read;
//!
//! let file: &[u8] = include_bytes!("../tests/data/snappy.parquet");
//! let mut lines = String::new();
//! lineal_parquet::JsonLines::new(file)?.read_to_string(&mut lines)?;
//! assert_eq!(lines.lines().count(), 40);
//! assert!(lines.starts_with(r#"{"whole":-7,"small":-1,"#));
//! # Ok::<(), std::io::Error>(())
//! ```

mod column;
mod compression;
mod json;
mod levels;
mod schema;
mod thrift;
mod values;

use column::{Chunk, Column};
use schema::{Leaf, Node};
use std::io::{self, Read};
use std::ops::Deref;
use thrift::Struct;

/// What a file begins and ends with.
pub const MAGIC: &[u8] = b"PAR1";

/// What a file says of itself may have so many bytes.
const LONGEST_FOOTER: usize = 64 << 20;

/// Runs of one value take hardly any bytes. A file may claim so many rows, and a page so many entries, for each byte of the file: a table of constants has fewer.
const MOST_PER_BYTE: u64 = 4096;

/// Lines are made in portions of about so many bytes.
const PORTION: usize = 1 << 16;

/// A row may have so many bytes of JSON. A list that repeats one value takes hardly any bytes in the file, and many columns may share theirs.
const LONGEST_ROW: usize = 64 << 20;

/// Why a file is not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(String);

impl Error {
    fn damaged(why: impl std::fmt::Display) -> Self {
        Self(format!("the Parquet file is damaged: {why}; write it again"))
    }

    fn unread(what: impl std::fmt::Display) -> Self {
        Self(format!("the Parquet file {what}"))
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        io::Error::new(io::ErrorKind::InvalidData, error)
    }
}

/// The rows of a file, one JSON object per line.
#[derive(Debug)]
pub struct JsonLines<B> {
    file: B,
    nodes: Vec<Node>,
    leaves: Vec<Leaf>,
    /// Row groups that are not begun, the next one last.
    groups: Vec<Group>,
    /// The columns of the row group that is read, and its rows that are left.
    columns: Vec<Column>,
    left: u64,
    lines: Vec<u8>,
    at: usize,
}

#[derive(Debug)]
struct Group {
    n_rows: u64,
    chunks: Vec<Chunk>,
}

impl<B: Deref<Target = [u8]>> JsonLines<B> {
    /// Of all bytes of a file.
    pub fn new(file: B) -> Result<Self, Error> {
        let Described { nodes, leaves, mut groups } = describe(&file)?;
        groups.reverse();
        Ok(Self {
            file,
            nodes,
            leaves,
            groups,
            columns: Vec::new(),
            left: 0,
            lines: Vec::new(),
            at: 0,
        })
    }

    /// Makes the next lines. Returns whether there are any.
    fn fill(&mut self) -> Result<bool, Error> {
        self.lines.clear();
        self.at = 0;
        while self.lines.len() < PORTION {
            if self.left == 0 {
                let Some(group) = self.groups.pop() else { break };
                let columns = group.chunks.iter().zip(&self.leaves);
                self.columns = columns
                    .map(|(chunk, leaf)| Column::new(*chunk, *leaf))
                    .collect::<Result<_, _>>()?;
                self.left = group.n_rows;
                continue;
            }
            self.left -= 1;
            json::row(&self.nodes, &mut self.columns, &self.file, &mut self.lines)?;
        }
        Ok(!self.lines.is_empty())
    }
}

impl<B: Deref<Target = [u8]>> Read for JsonLines<B> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.lines.len() && !self.fill()? {
            return Ok(0);
        }
        let rest = &self.lines[self.at..];
        let n = rest.len().min(buffer.len());
        buffer[..n].copy_from_slice(&rest[..n]);
        self.at += n;
        Ok(n)
    }
}

/// What a file says of itself: columns, and where each row group has them.
struct Described {
    nodes: Vec<Node>,
    leaves: Vec<Leaf>,
    groups: Vec<Group>,
}

/// Reads the description at the end of the file.
fn describe(file: &[u8]) -> Result<Described, Error> {
    let short = || Error::damaged("it is cut short");
    let (rest, end) = file.split_last_chunk::<4>().ok_or_else(short)?;
    if end == b"PARE" {
        return Err(Error::unread("is encrypted; write it without encryption"));
    }
    if end != MAGIC || !file.starts_with(MAGIC) {
        return Err(short());
    }
    let (rest, length) = rest.split_last_chunk::<4>().ok_or_else(short)?;
    let length = u32::from_le_bytes(*length) as usize;
    if length > LONGEST_FOOTER {
        return Err(Error::unread("describes itself in more than 64 MB"));
    }
    let footer = rest.len().checked_sub(length).map(|at| &rest[at..]).ok_or_else(short)?;
    let (meta, _) = Struct::read(footer)?;
    let (nodes, leaves) = schema::read(&meta)?;
    let mut groups = Vec::new();
    let mut left = most_in(file);
    for group in meta.structures(4) {
        let chunks = group.structures(1).map(|chunk| Chunk::read(chunk, file.len()));
        let chunks: Vec<Chunk> = chunks.collect::<Result<_, _>>()?;
        if chunks.len() != leaves.len() {
            return Err(Error::damaged("a row group lacks columns"));
        }
        let n_rows = group.int(3).and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
        left = left
            .checked_sub(n_rows)
            .ok_or_else(|| Error::damaged("it claims more rows than its bytes can hold"))?;
        groups.push(Group { n_rows, chunks });
    }
    Ok(Described { nodes, leaves, groups })
}

/// The most rows of a file, or entries of one of its pages.
fn most_in(file: &[u8]) -> u64 {
    MOST_PER_BYTE.saturating_mul(file.len() as u64)
}
