//! Raw text to words, with the places that they have in it.

use std::ops::Range;

/// The words of a text, as ranges of bytes: runs of letters and digits (with the marks that belong to them), and every other character that is not
/// a space by itself. Characters of scripts that do not part words (Han, kana) stand alone.
pub fn words(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut chars = text.char_indices().peekable();
    std::iter::from_fn(move || {
        let (start, first) = chars.find(|(_, c)| !c.is_whitespace() && !c.is_control())?;
        let mut end = start + first.len_utf8();
        if joins(first) {
            while let Some((at, c)) = chars.next_if(|&(_, c)| joins(c)) {
                end = at + c.len_utf8();
            }
        }
        Some(start..end)
    })
}

/// Whether a character is part of a longer word.
fn joins(c: char) -> bool {
    let combines = matches!(c, '\u{300}'..='\u{36f}' | '\u{200c}' | '\u{200d}');
    (c.is_alphanumeric() || combines) && !stands_alone(c)
}

fn stands_alone(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{323af}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_marks_with_their_places() {
        let of = |text: &'static str| words(text).map(|at| &text[at]).collect::<Vec<_>>();
        assert_eq!(
            of("Mr. O'Neil paid 5.20€!"),
            ["Mr", ".", "O", "'", "Neil", "paid", "5", ".", "20", "€", "!"]
        );
        assert_eq!(of(" naïve cafe\u{301}\tx\n"), ["naïve", "cafe\u{301}", "x"]);
        assert_eq!(of("東京 is"), ["東", "京", "is"]);
        assert_eq!(of(" \u{7} "), [""; 0]);
    }
}
