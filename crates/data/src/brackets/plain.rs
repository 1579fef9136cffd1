//! Plain sentences: one per line, words separated by blanks.

use super::parse::Fault;
use super::table::{BracketTreebank, NO_TAG, NewSentence};
use super::tree::escape_into;

/// Appends the sentences of a block, which consists of whole lines. Blank lines are not sentences.
pub(super) fn read(
    block: &str,
    n_lines_before: usize,
    data: &mut BracketTreebank,
) -> Result<(), Fault> {
    if let Some(offset) = memchr::memchr(0, block.as_bytes()) {
        return Fault::syntax(offset, "a NUL byte; is this a text file?");
    }
    let mut sentence = NewSentence::default();
    let mut escaped = String::new();
    for (line, text) in (n_lines_before + 1..).zip(block.lines()) {
        sentence.begin(line);
        for word in text.split(|c: char| c.is_ascii_whitespace() || c == '\x0b') {
            if !word.is_empty() {
                escaped.clear();
                escape_into(word, &mut escaped);
                sentence.push_word(&escaped, NO_TAG);
            }
        }
        if sentence.n_words() > 0 {
            data.append(&sentence);
        }
    }
    Ok(())
}
