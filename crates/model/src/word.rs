//! What parsers read of a word besides its text: lower case, shape, beginning and end. Models are stored by hashes of these, so none of them may change.

/// The word in lower case. `buffer` is empty.
pub fn lower<'a>(word: &'a str, buffer: &'a mut String) -> &'a str {
    if !word.bytes().any(|b| b.is_ascii_uppercase() || !b.is_ascii()) {
        return word;
    }
    buffer.extend(word.chars().flat_map(char::to_lowercase));
    buffer
}

/// X for upper case, x for lower case, d for digits, other characters as they are; runs of more than two are cut to two. `buffer` is empty.
pub fn shape<'a>(word: &str, buffer: &'a mut String) -> &'a str {
    let (mut last, mut run) = (None, 0);
    for c in word.chars() {
        let c = match c {
            c if c.is_uppercase() => 'X',
            c if c.is_numeric() => 'd',
            c if c.is_alphabetic() => 'x',
            c => c,
        };
        run = if last == Some(c) { run + 1 } else { 1 };
        last = Some(c);
        if run <= 2 {
            buffer.push(c);
        }
    }
    buffer
}

/// The first `n` characters, or all of them.
pub fn prefix(word: &str, n: u8) -> &str {
    let end = word.char_indices().nth(n.into()).map_or(word.len(), |(at, _)| at);
    &word[..end]
}

/// The last `n` characters (at least one), or all of them.
pub fn suffix(word: &str, n: u8) -> &str {
    let from_end = usize::from(n).saturating_sub(1);
    let start = word.char_indices().rev().nth(from_end).map_or(0, |(at, _)| at);
    &word[start..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_of_words() {
        let words = ["Été", "McDonald-12345", "a", ""];
        assert_eq!(
            words.map(|word| lower(word, &mut String::new()).to_string()),
            ["été", "mcdonald-12345", "a", ""]
        );
        assert_eq!(
            words.map(|word| shape(word, &mut String::new()).to_string()),
            ["Xxx", "XxXxx-dd", "x", ""]
        );
        assert_eq!(words.map(|word| prefix(word, 2)), ["Ét", "Mc", "a", ""]);
        assert_eq!(words.map(|word| suffix(word, 2)), ["té", "45", "a", ""]);
    }
}
