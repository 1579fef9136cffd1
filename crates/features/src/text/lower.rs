//! Lower-casing, equal to Python's `str.lower`.

use super::unicode::cased;

/// Appends `text` in lower case.
pub(crate) fn lower_into(text: &str, out: &mut String) {
    let start = out.len();
    out.push_str(text);
    if text.is_ascii() {
        out[start..].make_ascii_lowercase();
        return;
    }
    out.truncate(start);
    let mut rest = text;
    while !rest.is_empty() {
        let ascii = rest.bytes().position(|b| !b.is_ascii()).unwrap_or(rest.len());
        let from = out.len();
        out.push_str(&rest[..ascii]);
        out[from..].make_ascii_lowercase();
        rest = &rest[ascii..];
        let Some(c) = rest.chars().next() else { break };
        if c == 'Σ' {
            let at = text.len() - rest.len();
            out.push(if ends_word(&text[..at], &text[at + c.len_utf8()..]) { 'ς' } else { 'σ' });
        } else {
            out.extend(c.to_lowercase());
        }
        rest = &rest[c.len_utf8()..];
    }
}

/// Unicode's Final_Sigma: a cased letter before and none after, over characters that case ignores.
///
/// Both walks stop at the next cased letter, so a text full of sigmas still takes linear time.
fn ends_word(before: &str, after: &str) -> bool {
    let (cased, ignorable) = cased();
    let mut before = before.chars().rev().skip_while(|&c| ignorable.has(c));
    let mut after = after.chars().skip_while(|&c| ignorable.has(c));
    before.next().is_some_and(|c| cased.has(c)) && !after.next().is_some_and(|c| cased.has(c))
}

/// For each byte of the lower-cased text, and for its end, where the character that it came from starts in `text`.
pub(crate) fn origins(text: &str, lowercase: bool) -> Vec<usize> {
    let mut origins = Vec::with_capacity(text.len() + 1);
    for (at, c) in text.char_indices() {
        let len = if lowercase {
            c.to_lowercase().map(char::len_utf8).sum() // a sigma is as long in either form
        } else {
            c.len_utf8()
        };
        origins.extend(std::iter::repeat_n(at, len));
    }
    origins.push(text.len());
    origins
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lower(text: &str) -> String {
        let mut out = String::new();
        lower_into(text, &mut out);
        out
    }

    #[test]
    fn equal_to_python() {
        // python3: each right side is left.lower()
        for (text, want) in [
            ("HeLLo, WORLD_9", "hello, world_9"),
            ("ΟΔΥΣΣΕΥΣ ΣΑΣ. Σ", "οδυσσευς σας. σ"),
            ("ΑΣ'Α ΑΣ' Σ' ΑΣ", "ασ'α ας' σ' ας"),
            ("İstanbul ẞ K É", "i\u{307}stanbul ß k é"),
        ] {
            assert_eq!(lower(text), want);
        }
    }

    #[test]
    fn origins_point_back() {
        let text = "aİb É";
        let mut lowered = String::new();
        lower_into(text, &mut lowered);
        let origins = origins(text, true);
        assert_eq!(origins.len(), lowered.len() + 1);
        let at = lowered.find('b').unwrap();
        assert_eq!(&text[origins[at]..origins[at + 1]], "b");
    }
}
