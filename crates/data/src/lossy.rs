//! Bytes that are not UTF-8, in files with running text: read as � and counted.

use std::borrow::Cow;
use std::cell::Cell;

use crate::blocks::Block;
use crate::error::{Error, count};
use crate::source::utf8_of_rows;

/// How often a walk replaced bytes, and where first.
#[derive(Debug, Default)]
pub(crate) struct Replaced {
    allowed: Cell<bool>,
    n: Cell<usize>,
    first_line: Cell<usize>,
}

impl Replaced {
    /// Whether bytes may be replaced at all: where they may not, they are an error.
    pub(crate) fn new(allowed: bool) -> Self {
        Self { allowed: Cell::new(allowed), ..Self::default() }
    }

    /// Whether the walk has replaced any.
    pub(crate) fn any(&self) -> bool {
        self.n.get() > 0
    }

    /// From here on such bytes are an error: the file turned out to have no text.
    pub(crate) fn forbid(&self) {
        self.allowed.set(false);
    }

    /// Forgets what the last walk did.
    pub(crate) fn reset(&self) {
        self.n.set(0);
    }

    /// The text of a block.
    pub(crate) fn decode<'t>(&self, block: &Block<'t>, file: &str) -> Result<Cow<'t, str>, Error> {
        match utf8_of_rows(block.text, file) {
            Ok(text) => Ok(Cow::Borrowed(text)),
            Err(error) if !self.allowed.get() => Err(error.below(block.n_lines_before)),
            Err(_) => Ok(Cow::Owned(self.replace(block))),
        }
    }

    #[cold]
    fn replace(&self, block: &Block<'_>) -> String {
        let mut text = String::with_capacity(block.text.len() + 16);
        for chunk in block.text.utf8_chunks() {
            text.push_str(chunk.valid());
            if !chunk.invalid().is_empty() {
                if !self.any() {
                    let before = memchr::memchr_iter(b'\n', text.as_bytes()).count();
                    self.first_line.set(block.n_lines_before + before + 1);
                }
                self.n.set(self.n.get() + 1);
                text.push(char::REPLACEMENT_CHARACTER);
            }
        }
        text
    }

    /// Warnings for the user.
    pub(crate) fn warning(&self, file: &str) -> Option<String> {
        self.any().then(|| {
            format!(
                "{file}: {} of bytes that are not valid UTF-8 (the first in line {}), each read as �; convert the file (iconv -t \
                 UTF-8), or say options.strict to stop there",
                count(self.n.get(), "run"),
                self.first_line.get()
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_replaced_and_counted_where_that_is_allowed() {
        let block = Block { text: b"ok\nca\xe9f\xff\xfe\n", n_lines_before: 7 };
        let refused = Replaced::new(false).decode(&block, "f").unwrap_err();
        assert_eq!((refused.line, refused.column), (Some(9), Some(3)));
        let replaced = Replaced::new(true);
        assert_eq!(replaced.decode(&block, "f").unwrap(), "ok\nca�f��\n");
        let said = replaced.warning("f").unwrap();
        assert!(said.contains("3 runs") && said.contains("line 9"), "{said}");
        replaced.reset();
        assert_eq!(replaced.warning("f"), None);
    }
}
