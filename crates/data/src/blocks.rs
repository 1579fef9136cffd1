//! Text in blocks of whole rows, so that a walk over a file needs a buffer and not the file.
//!
//! Where blocks end depends on the text alone: after the first row that ends [`BLOCK`] bytes or more from
//! the block's start. So a file, its archive and the same bytes in memory are cut alike.

use std::cell::RefCell;
use std::ops::{ControlFlow, Range};

use memchr::{memchr, memchr2};

use crate::archive::Reader;
use crate::error::{Error, ErrorKind};
use crate::source::{Bytes, Source, without_bom};

/// Bytes a block, about.
pub(crate) const BLOCK: usize = 1 << 20;

/// A row may be so long where the file is not in memory as a whole.
const LONGEST_ROW: usize = 1 << 30;

/// What a callback of a walk wants: more, or an end.
pub(crate) type Step = Result<ControlFlow<()>, Error>;

/// Text that can be walked again and again.
pub(crate) enum Input {
    /// All of it is at hand.
    Whole(Bytes),
    /// Read anew by each walk.
    Replay(Source),
    /// Comes once. A look at the first block is not a walk.
    Once(RefCell<Peeked>),
}

/// What has been looked at, and the rest.
pub(crate) struct Peeked {
    start: Vec<u8>,
    rest: Reader<'static>,
}

/// Some whole rows.
pub(crate) struct Block<'a> {
    pub(crate) text: &'a [u8],
    /// How many lines of the file come before.
    pub(crate) n_lines_before: usize,
}

/// What ends a row.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RowEnd {
    /// Each newline.
    Newline,
    /// A line with nothing on it.
    BlankLine,
    /// A newline that is not in quotes. A quote opens at the start of a field only.
    Unquoted {
        /// What separates fields.
        delimiter: u8,
    },
}

impl Input {
    /// Calls `f` with each block, in order, until it says to stop.
    pub(crate) fn for_each_block(
        &self,
        file: &str,
        ends: RowEnd,
        f: &mut dyn FnMut(Block<'_>) -> Step,
    ) -> Result<(), Error> {
        match self {
            Input::Whole(bytes) => {
                let mut rest = without_bom(bytes);
                let mut n_lines_before = 0;
                while !rest.is_empty() {
                    let end = block_end(rest, ends).unwrap_or(rest.len());
                    let (text, after) = rest.split_at(end);
                    if give(text, &mut n_lines_before, f)?.is_break() {
                        break;
                    }
                    rest = after;
                }
                Ok(())
            }
            Input::Replay(source) => walk_reader(Vec::new(), &mut source.reader()?, file, ends, f),
            Input::Once(coming) => {
                let coming = &mut *coming.borrow_mut();
                let start = std::mem::take(&mut coming.start);
                walk_reader(start, &mut coming.rest, file, ends, f)
            }
        }
    }

    /// As [`for_each_block`](Self::for_each_block), but what comes once is given as it arrives: all whole rows that are there, however few, before
    /// waiting for more. For answers that somebody waits for; where blocks end then depends on who writes into the pipe.
    pub(crate) fn for_each_arrival(
        &self,
        file: &str,
        ends: RowEnd,
        f: &mut dyn FnMut(Block<'_>) -> Step,
    ) -> Result<(), Error> {
        match self {
            Input::Once(coming) => {
                let coming = &mut *coming.borrow_mut();
                let start = std::mem::take(&mut coming.start);
                walk_arrivals(start, &mut coming.rest, file, ends, f)
            }
            _ => self.for_each_block(file, ends, f),
        }
    }

    /// What comes once.
    pub(crate) fn once(rest: Reader<'static>) -> Self {
        Input::Once(RefCell::new(Peeked { start: Vec::new(), rest }))
    }

    /// A copy of the first block.
    pub(crate) fn first_block(&self, file: &str, ends: RowEnd) -> Result<Vec<u8>, Error> {
        if let Input::Once(coming) = self {
            let coming = &mut *coming.borrow_mut();
            coming.rest.fill(&mut coming.start, 2 * BLOCK)?;
            let start = without_bom(&coming.start);
            let last_line = || memchr::memrchr(b'\n', start).map(|n| n + 1);
            // What is after the last whole line may be a row's half, unless there is no more.
            let whole = if start.len() < 2 * BLOCK { Some(start.len()) } else { last_line() };
            let end = block_end(start, ends).or(whole).unwrap_or(start.len());
            return Ok(start[..end].to_vec());
        }
        let mut first = Vec::new();
        self.for_each_block(file, ends, &mut |block| {
            first = block.text.to_vec();
            Ok(ControlFlow::Break(()))
        })?;
        Ok(first)
    }

    /// The first bytes, `n` of them or all if there are fewer.
    pub(crate) fn head(&self, n: usize) -> Result<Vec<u8>, Error> {
        let mut head = Vec::new();
        match self {
            Input::Whole(bytes) => head.extend_from_slice(&bytes[..n.min(bytes.len())]),
            Input::Replay(source) => {
                source.reader()?.fill(&mut head, n)?;
            }
            Input::Once(coming) => {
                let coming = &mut *coming.borrow_mut();
                let missing = n.saturating_sub(coming.start.len());
                coming.rest.fill(&mut coming.start, missing)?;
                head.extend_from_slice(&coming.start[..n.min(coming.start.len())]);
            }
        }
        Ok(head)
    }

    /// As [`head`](Self::head), but of what comes once no more than has arrived when the first line is whole that is neither blank nor a comment.
    pub(crate) fn arrived_head(&self, n: usize) -> Result<Vec<u8>, Error> {
        let Input::Once(coming) = self else { return self.head(n) };
        let coming = &mut *coming.borrow_mut();
        let says_something = |text: &[u8]| {
            let mut lines = without_bom(text).split_inclusive(|&b| b == b'\n');
            lines.any(|line| {
                line.ends_with(b"\n") && !line.starts_with(b"#") && !line.trim_ascii().is_empty()
            })
        };
        while coming.start.len() < n && !says_something(&coming.start) {
            let before = coming.start.len();
            coming.start.resize(before + ARRIVAL, 0);
            let more = coming.rest.read_some(&mut coming.start[before..])?;
            coming.start.truncate(before + more);
            if more == 0 {
                break;
            }
        }
        Ok(coming.start.clone())
    }
}

/// Bytes that are read of a pipe at a time before anything is known of it.
const ARRIVAL: usize = 1 << 16;

/// Over bytes that somebody else writes: whole rows are given as soon as they are there.
fn walk_arrivals(
    mut buffer: Vec<u8>,
    reader: &mut Reader<'_>,
    file: &str,
    ends: RowEnd,
    f: &mut dyn FnMut(Block<'_>) -> Step,
) -> Result<(), Error> {
    let mut n_lines_before = 0;
    let mut n_filled = buffer.len();
    let mut at_start = true;
    // Up to here there is no end of a row.
    let mut looked_at = 0;
    let mut more = true;
    while more || n_filled > 0 {
        let mut start = 0;
        // The mark is at the start only, and may come in pieces.
        if at_start && (n_filled >= 3 || !more) {
            start = n_filled - without_bom(&buffer[..n_filled]).len();
            at_start = false;
        }
        let end = match more {
            true => last_row_end(&buffer[..n_filled], looked_at, ends),
            false => Some(n_filled),
        };
        if let Some(end) = end.filter(|&end| end > start && !at_start) {
            if give(&buffer[start..end], &mut n_lines_before, f)?.is_break() {
                return Ok(());
            }
            start = end;
        }
        n_filled = keep_rest(&mut buffer, start..n_filled);
        // A blank line may have begun: its newline is looked at again.
        looked_at = memchr::memrchr(b'\n', &buffer[..n_filled]).unwrap_or(0);
        if n_filled > LONGEST_ROW {
            return Err(too_long(file, n_lines_before));
        }
        if !more {
            break;
        }
        let full = if n_filled < BLOCK { BLOCK + BLOCK / 16 } else { 2 * n_filled };
        buffer.resize(full.max(buffer.len()), 0);
        let n = reader.read_some(&mut buffer[n_filled..full])?;
        n_filled += n;
        more = n > 0;
    }
    Ok(())
}

/// Where the last row of a text ends, if one does after `from`.
fn last_row_end(text: &[u8], from: usize, ends: RowEnd) -> Option<usize> {
    match ends {
        RowEnd::BlankLine => {
            let (mut at, mut last) = (from, None);
            while let Some(n) = blank_line(&text[at..]) {
                at += n - 1;
                last = Some(at + 1);
            }
            last
        }
        // Quotes are not followed here: nothing that has them is read as it arrives.
        RowEnd::Newline | RowEnd::Unquoted { .. } => {
            memchr::memrchr(b'\n', &text[from..]).map(|n| from + n + 1)
        }
    }
}

fn too_long(file: &str, n_lines_before: usize) -> Error {
    let message = "a row of more than a gigabyte starts here; is a quote left open, or is this not \
                   a text file?";
    Error::in_line(ErrorKind::Syntax, file, n_lines_before + 1, Some(1), message)
}

/// Bytes that are read first: most files are small, and to fill the buffer of a block with zeros takes longer than to read them.
const FIRST: usize = 1 << 17;

/// As [`Input::for_each_block`], over bytes that come one after the other; `buffer` has the first of them.
fn walk_reader(
    mut buffer: Vec<u8>,
    reader: &mut Reader<'_>,
    file: &str,
    ends: RowEnd,
    f: &mut dyn FnMut(Block<'_>) -> Step,
) -> Result<(), Error> {
    let mut n_lines_before = 0;
    let mut at_start = true;
    let mut more = true;
    // The buffer is not cut where text ends: to lengthen it again would be to fill it with zeros again.
    let mut n_filled = buffer.len();
    while more || n_filled > 0 {
        // Enough for a block and the rest of its last row, mostly, so that little is left to move. A row that is longer than the buffer
        // doubles it, so that looking for its end again costs little.
        let full = match n_filled {
            n if n < FIRST && buffer.len() <= FIRST => FIRST,
            n if n < BLOCK => BLOCK + BLOCK / 16,
            n => 2 * n,
        };
        if more {
            buffer.resize(full.max(buffer.len()), 0);
            n_filled += reader.fill_slice(&mut buffer[n_filled..full])?;
            more = n_filled == full;
        }
        // Blocks are given while their end is in the buffer; what is left moves to its start.
        let mut start = 0;
        if std::mem::take(&mut at_start) {
            start = n_filled - without_bom(&buffer[..n_filled]).len();
        }
        while start < n_filled {
            let rest = &buffer[start..n_filled];
            let end = match block_end(rest, ends) {
                Some(end) => end,
                None if more => break,
                None => rest.len(),
            };
            if give(&rest[..end], &mut n_lines_before, f)?.is_break() {
                return Ok(());
            }
            start += end;
        }
        n_filled = keep_rest(&mut buffer, start..n_filled);
        if n_filled > LONGEST_ROW {
            return Err(too_long(file, n_lines_before));
        }
    }
    Ok(())
}

/// Gives a block, and counts its lines.
fn give(text: &[u8], n_lines_before: &mut usize, f: &mut dyn FnMut(Block<'_>) -> Step) -> Step {
    let step = f(Block { text, n_lines_before: *n_lines_before })?;
    *n_lines_before += count_lines(text);
    Ok(step)
}

/// Moves what has not been given to the start of the buffer, and says how much it is.
fn keep_rest(buffer: &mut [u8], rest: Range<usize>) -> usize {
    let n = rest.len();
    buffer.copy_within(rest, 0);
    n
}

fn count_lines(text: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', text).count()
}

/// Where the block that starts `text` ends; `None` if that is not in `text`.
fn block_end(text: &[u8], ends: RowEnd) -> Option<usize> {
    let near = BLOCK - 1;
    let tail = text.get(near..)?;
    match ends {
        RowEnd::Newline => memchr(b'\n', tail).map(|n| near + n + 1),
        RowEnd::BlankLine => blank_line(tail).map(|n| near + n),
        RowEnd::Unquoted { delimiter } => unquoted_newline(text, near, delimiter).map(|n| n + 1),
    }
}

/// Where the first blank line ends that follows a newline.
fn blank_line(text: &[u8]) -> Option<usize> {
    let mut start = memchr(b'\n', text)? + 1;
    loop {
        let line = &text[start..];
        let end = start + memchr(b'\n', line)? + 1;
        if text[start..end].trim_ascii().is_empty() {
            return Some(end);
        }
        start = end;
    }
}

/// The first newline from `near` on that is not in quotes. `text` starts with a row.
fn unquoted_newline(text: &[u8], near: usize, delimiter: u8) -> Option<usize> {
    // Up to the first quote there is nothing to keep track of.
    let mut p = memchr(b'"', &text[..near]).unwrap_or(near);
    loop {
        p += memchr2(b'"', b'\n', text.get(p..)?)?;
        if text[p] == b'\n' {
            if p >= near {
                return Some(p);
            }
            p += 1;
            continue;
        }
        let opens = p == 0 || [delimiter, b'\n', b'\r'].contains(&text[p - 1]);
        p += 1;
        if opens {
            p = after_quotes(text, p)?;
        }
    }
}

/// The place after the quote that closes what was opened before `p`. Two quotes stand for one.
fn after_quotes(text: &[u8], mut p: usize) -> Option<usize> {
    loop {
        p += memchr(b'"', text.get(p..)?)? + 1;
        if text.get(p) != Some(&b'"') {
            return Some(p);
        }
        p += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(input: &Input, ends: RowEnd) -> Vec<(Vec<u8>, usize)> {
        let mut all = Vec::new();
        let walk = input.for_each_block("t", ends, &mut |block| {
            all.push((block.text.to_vec(), block.n_lines_before));
            Ok(ControlFlow::Continue(()))
        });
        assert_eq!(walk, Ok(()));
        all
    }

    #[test]
    fn a_file_and_its_bytes_are_cut_alike() {
        let folder = tempfile::tempdir().unwrap();
        let line = b"1,\"a \"\"b\"\"\n, c\",d\" e\r\n";
        let mut text = b"\xef\xbb\xbfx,y,z\n".to_vec();
        text.extend(line.repeat(3 * BLOCK / line.len()));
        text.extend(b"\"");
        text.extend(b"long\n".repeat(BLOCK / 2));
        text.extend(b"\",1,2\n3,4,5");
        let path = folder.path().join("t.csv");
        std::fs::write(&path, &text).unwrap();
        let ends = RowEnd::Unquoted { delimiter: b',' };
        let whole = blocks(&Input::Whole(Bytes::Owned(text.clone())), ends);
        assert_eq!(whole, blocks(&Input::Replay(Source::Path(path)), ends));
        assert_eq!(whole.len(), 4);
        assert_eq!(whole.iter().flat_map(|(t, _)| t.clone()).collect::<Vec<u8>>(), text[3..]);
        assert!(whole[..2].iter().all(|(t, _)| t.ends_with(b"d\" e\r\n")));
        assert_eq!(whole[3], (b"3,4,5".to_vec(), text.iter().filter(|&&b| b == b'\n').count()));
    }

    #[test]
    fn what_comes_once_can_be_looked_at_before() {
        let text: &'static [u8] = b"\xef\xbb\xbfab\n".repeat(BLOCK).leak();
        for n in [7, text.len()] {
            let input = Input::once(Reader::new(&text[..n], "t").unwrap());
            let whole = Input::Whole(Bytes::Owned(text[..n].to_vec()));
            let first = whole.first_block("t", RowEnd::Newline).unwrap();
            assert_eq!(input.head(5).unwrap(), text[..5]);
            assert_eq!(input.first_block("t", RowEnd::Newline).unwrap(), first);
            assert_eq!(blocks(&input, RowEnd::Newline), blocks(&whole, RowEnd::Newline));
            assert!(blocks(&input, RowEnd::Newline).is_empty());
        }
    }

    /// Gives some bytes at a time, as a pipe does.
    struct Pieces(Vec<&'static [u8]>);

    impl std::io::Read for Pieces {
        fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
            let Some(piece) = self.0.first_mut() else { return Ok(0) };
            let n = piece.len().min(out.len());
            out[..n].copy_from_slice(&piece[..n]);
            *piece = &piece[n..];
            if piece.is_empty() {
                self.0.remove(0);
            }
            Ok(n)
        }
    }

    #[test]
    fn whole_rows_are_given_as_they_arrive() {
        let pieces: Vec<&[u8]> = vec![
            b"\xef\xbb",
            b"\xbf# c\n",
            b"a\n",
            b"b\n",
            b"\n",
            b"c\n\n\nd",
            b"\n \r\n",
            b"\n",
            b"e",
        ];
        let input = Input::once(Reader::plain(Pieces(pieces.clone()), "t"));
        // No more is waited for than a line that says something.
        assert_eq!(input.arrived_head(100).unwrap(), b"\xef\xbb\xbf# c\na\n");
        let mut all = Vec::new();
        let walk = input.for_each_arrival("t", RowEnd::BlankLine, &mut |block| {
            all.push((String::from_utf8(block.text.to_vec()).unwrap(), block.n_lines_before));
            Ok(ControlFlow::Continue(()))
        });
        assert_eq!(walk, Ok(()));
        let given: Vec<(&str, usize)> = all.iter().map(|(text, n)| (text.as_str(), *n)).collect();
        let want = [("# c\na\nb\n\n", 0), ("c\n\n\n", 4), ("d\n \r\n", 7), ("\ne", 9)];
        assert_eq!(given, want);

        // Lines, and a file all of which is at hand: as in blocks.
        let input = Input::once(Reader::plain(Pieces(vec![b"a\nb", b"c\nd\n"]), "t"));
        let mut all = Vec::new();
        let walk = input.for_each_arrival("t", RowEnd::Newline, &mut |block| {
            all.push(block.text.to_vec());
            Ok(ControlFlow::Continue(()))
        });
        assert_eq!((walk, all), (Ok(()), vec![b"a\n".to_vec(), b"bc\nd\n".to_vec()]));
    }

    #[test]
    fn a_walk_can_stop() {
        let input = Input::Whole(Bytes::Owned(b"ab\n".repeat(BLOCK)));
        let mut n = 0;
        let walk = input.for_each_block("t", RowEnd::Newline, &mut |_| {
            n += 1;
            Ok(ControlFlow::Break(()))
        });
        assert_eq!((walk, n), (Ok(()), 1));
        assert_eq!(input.head(4).unwrap(), b"ab\na");
        assert_eq!(input.head(usize::MAX).unwrap().len(), 3 * BLOCK);
    }

    #[test]
    fn quotes_inside_fields_open_nothing() {
        for (text, near, end) in [
            ("a\"b\nc\n", 0, Some(3)),
            ("\"a\nb\"\nc\n", 0, Some(5)),
            ("\"a\"\"\nb\",\"\n\"\nc\n", 0, Some(11)),
            ("a\r\"b\nc\"\nd\n", 3, Some(7)),
            ("a,\"b\nc", 0, None),
            ("a\nb\n", 2, Some(3)),
        ] {
            assert_eq!(unquoted_newline(text.as_bytes(), near, b','), end, "{text:?}");
        }
    }
}
