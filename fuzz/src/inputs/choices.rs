//! Options from bytes: the first bytes of an input choose, the rest is data.

/// Takes one choice after the other from bytes; 0 where they have ended.
#[derive(Clone, Copy, Debug)]
pub struct Choices<'a> {
    bytes: &'a [u8],
}

impl<'a> Choices<'a> {
    /// The first `n` bytes of an input as choices, and the rest.
    pub fn split(input: &'a [u8], n: usize) -> (Self, &'a [u8]) {
        let (bytes, rest) = input.split_at(n.min(input.len()));
        (Self { bytes }, rest)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        let (&byte, rest) = self.bytes.split_first().unwrap_or((&0, &[]));
        self.bytes = rest;
        usize::from(byte) % n.max(1)
    }

    /// Yes or no; no for 0.
    pub fn flag(&mut self) -> bool {
        self.below(2) == 1
    }

    /// One of several.
    pub fn one<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }
}

/// The parts of a text between lines of `=====`; those that are missing are empty.
pub fn parts<const N: usize>(text: &[u8]) -> [&[u8]; N] {
    const LINE: &[u8] = b"\n=====\n";
    let mut parts = [&text[text.len()..]; N];
    let mut rest = text;
    for part in &mut parts[..N - 1] {
        match rest.windows(LINE.len()).position(|w| w == LINE) {
            Some(at) => {
                *part = &rest[..at + 1];
                rest = &rest[at + LINE.len()..];
            }
            None => {
                *part = rest;
                return parts;
            }
        }
    }
    parts[N - 1] = rest;
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_choose_and_text_is_cut() {
        let (mut choices, rest) = Choices::split(&[7, 1, b'x'], 2);
        assert_eq!((choices.below(5), choices.flag(), choices.one(&["a", "b"])), (2, true, "a"));
        assert_eq!(rest, b"x");
        assert_eq!(parts::<3>(b"a\n=====\nb\n"), [&b"a\n"[..], b"b\n", b""]);
        assert_eq!(parts::<2>(b"a\n=====\nb\n=====\nc"), [&b"a\n"[..], b"b\n=====\nc"]);
    }
}
