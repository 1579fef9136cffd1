//! A column of a row group: its pages one after the other, and in them levels and values.

use crate::compression::Codec;
use crate::levels::{Hybrid, little_endian};
use crate::schema::Leaf;
use crate::thrift::Struct;
use crate::values::{Dictionary, Raw, Values};
use crate::{Error, most_in};

/// Where a column of a row group is in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunk {
    start: usize,
    end: usize,
    codec: i64,
}

impl Chunk {
    pub(crate) fn read(chunk: &Struct<'_>, n_bytes: usize) -> Result<Self, Error> {
        if chunk.has(1) {
            return Err(Error::unread("has columns in other files; write it as one file"));
        }
        if chunk.has(8) || chunk.has(9) {
            return Err(Error::unread("is encrypted; write it without encryption"));
        }
        let bad = || Error::damaged("a column is not where the file says");
        let meta = chunk.structure(3).ok_or_else(bad)?;
        let place = |id| meta.int(id).and_then(|at| usize::try_from(at).ok());
        let data = place(9).ok_or_else(bad)?;
        // Some writers say 0 where there is no dictionary.
        let start = place(11).filter(|at| *at > 0 && *at < data).unwrap_or(data);
        let end = place(7).and_then(|n| start.checked_add(n)).filter(|end| *end <= n_bytes);
        Ok(Self { start, end: end.ok_or_else(bad)?, codec: meta.int(4).unwrap_or(0) })
    }
}

/// A walk over a column.
#[derive(Debug)]
pub(crate) struct Column {
    leaf: Leaf,
    codec: Codec,
    at: usize,
    end: usize,
    dictionary: Option<Dictionary>,
    page: Vec<u8>,
    /// Entries of this page that are left.
    left: u64,
    repetitions: Hybrid,
    definitions: Hybrid,
    values: Values,
    /// The levels of the next entry, if they were looked at.
    next: Option<Levels>,
    buffer: [u8; 16],
}

/// How deep an entry of a column goes on with the lists of the one before, and how much of it is there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Levels {
    pub(crate) repetition: u32,
    pub(crate) definition: u32,
}

impl Column {
    pub(crate) fn new(chunk: Chunk, leaf: Leaf) -> Result<Self, Error> {
        Ok(Self {
            leaf,
            codec: Codec::new(chunk.codec)?,
            at: chunk.start,
            end: chunk.end,
            dictionary: None,
            page: Vec::new(),
            left: 0,
            repetitions: Hybrid::default(),
            definitions: Hybrid::default(),
            values: Values::Plain { at: 0 },
            next: None,
            buffer: [0; 16],
        })
    }

    pub(crate) fn leaf(&self) -> Leaf {
        self.leaf
    }

    /// The levels of the next entry; `None` at the end.
    pub(crate) fn peek(&mut self, file: &[u8]) -> Result<Option<Levels>, Error> {
        if self.next.is_some() {
            return Ok(self.next);
        }
        while self.left == 0 {
            if self.at >= self.end {
                return Ok(None);
            }
            self.next_page(file)?;
        }
        self.left -= 1;
        let Leaf { max_repetition, max_definition, .. } = self.leaf;
        let repetition = if max_repetition > 0 { self.repetitions.next(&self.page)? } else { 0 };
        let definition = if max_definition > 0 { self.definitions.next(&self.page)? } else { 0 };
        if repetition > max_repetition || definition > max_definition {
            return Err(Error::damaged("a page has a level that its column does not have"));
        }
        self.next = Some(Levels { repetition, definition });
        Ok(self.next)
    }

    /// Takes the next entry: its value, or `None` where it has none.
    pub(crate) fn take(&mut self, file: &[u8]) -> Result<Option<Raw<'_>>, Error> {
        let short = || Error::damaged("a column has fewer entries than the others");
        let levels = self.peek(file)?.ok_or_else(short)?;
        self.next = None;
        if levels.definition < self.leaf.max_definition {
            return Ok(None);
        }
        let (values, dictionary) = (&mut self.values, self.dictionary.as_ref());
        values.next(&self.page, dictionary, self.leaf.physical, &mut self.buffer).map(Some)
    }

    fn next_page(&mut self, file: &[u8]) -> Result<(), Error> {
        let bad = || Error::damaged("a page is cut short");
        let rest = file.get(self.at..self.end).ok_or_else(bad)?;
        let (header, n) = Struct::read(rest)?;
        let size = |id| header.int(id).and_then(|n| usize::try_from(n).ok()).ok_or_else(bad);
        let (unpacked, packed) = (size(2)?, size(3)?);
        let body = n.checked_add(packed).and_then(|end| rest.get(n..end)).ok_or_else(bad)?;
        self.at += n + packed;
        match header.int(1) {
            Some(0) => self.data_page(header.structure(5).ok_or_else(bad)?, body, unpacked),
            Some(2) => {
                let about = header.structure(7).ok_or_else(bad)?;
                let mut bytes = Vec::new();
                self.codec.unpack(body, unpacked, &mut bytes)?;
                let n = about.int(1).and_then(|n| usize::try_from(n).ok()).ok_or_else(bad)?;
                self.dictionary = Some(Dictionary::new(bytes, self.leaf.physical, n)?);
                Ok(())
            }
            Some(3) => self.data_page_v2(header.structure(8).ok_or_else(bad)?, body, unpacked),
            // Indices of pages.
            _ => Ok(()),
        }?;
        if self.left > most_in(file) {
            return Err(Error::damaged("a page claims more values than the file can hold"));
        }
        Ok(())
    }

    fn data_page(&mut self, about: &Struct<'_>, body: &[u8], unpacked: usize) -> Result<(), Error> {
        self.page.clear();
        self.codec.unpack(body, unpacked, &mut self.page)?;
        let mut at = 0;
        let mut levels = |most: u32, encoding: Option<i64>| {
            if most == 0 {
                return Ok(Hybrid::default());
            }
            if encoding.is_some_and(|encoding| encoding != 3) {
                return Err(Error::unread(
                    "has levels in an encoding that no writer uses any more",
                ));
            }
            let bad = || Error::damaged("a page is cut short");
            let n = little_endian(self.page.get(at..at + 4).ok_or_else(bad)?) as usize;
            let end = (at + 4).checked_add(n).filter(|end| *end <= self.page.len());
            let found = Hybrid::new(at + 4, end.ok_or_else(bad)?, width(most))?;
            at += 4 + n;
            Ok(found)
        };
        let repetitions = levels(self.leaf.max_repetition, about.int(4))?;
        let definitions = levels(self.leaf.max_definition, about.int(3))?;
        (self.repetitions, self.definitions) = (repetitions, definitions);
        self.begin(about.int(1), about.int(2), at)
    }

    fn data_page_v2(
        &mut self,
        about: &Struct<'_>,
        body: &[u8],
        unpacked: usize,
    ) -> Result<(), Error> {
        let bad = || Error::damaged("a page is cut short");
        let length = |id| usize::try_from(about.int(id).unwrap_or(0)).map_err(|_| bad());
        let (definitions, repetitions) = (length(5)?, length(6)?);
        let at = definitions.checked_add(repetitions).ok_or_else(bad)?;
        let (levels, values) = body.split_at_checked(at).ok_or_else(bad)?;
        let unpacked = unpacked.checked_sub(at).ok_or_else(bad)?;
        self.page.clear();
        self.page.extend_from_slice(levels);
        let is_packed = about.bool(7).unwrap_or(true) && !values.is_empty();
        let codec = if is_packed { self.codec } else { Codec::None };
        codec.unpack(values, unpacked, &mut self.page)?;
        let Leaf { max_repetition, max_definition, .. } = self.leaf;
        self.repetitions = Hybrid::new(0, repetitions, width(max_repetition))?;
        self.definitions = Hybrid::new(repetitions, at, width(max_definition))?;
        self.begin(about.int(1), about.int(4), at)
    }

    fn begin(&mut self, n: Option<i64>, encoding: Option<i64>, at: usize) -> Result<(), Error> {
        self.left = n.and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
        // A page without values may have no byte that says how they are encoded.
        self.values = if at < self.page.len() {
            Values::new(encoding.unwrap_or(0), &self.page, at, self.leaf.physical)?
        } else {
            Values::Plain { at }
        };
        Ok(())
    }
}

/// Bits of a level of at most `most`.
fn width(most: u32) -> u32 {
    u32::BITS - most.leading_zeros()
}
