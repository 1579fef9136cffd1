//! What a run did, in 64 bits: the cheap stand-in for coverage. An input with a signature that was not seen before is kept.

use std::fmt::Display;

/// A hash of what happened: which errors, how many of what. Numbers count by their order of magnitude, so that a file with 17 rows is not news after one with 16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature(u64);

impl Default for Signature {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Signature {
    /// The 64 bits.
    pub fn bits(self) -> u64 {
        self.0
    }

    /// Takes bytes in as they are (FNV-1a).
    pub fn bytes(&mut self, bytes: &[u8]) {
        for &b in bytes {
            self.0 = (self.0 ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// Takes in a step that was reached.
    pub fn step(&mut self, name: &str) {
        self.bytes(name.as_bytes());
    }

    /// Takes in a count by its order of magnitude.
    pub fn count(&mut self, n: usize) {
        let small = n.min(4) as u8;
        self.bytes(&[small, (usize::BITS - n.leading_zeros()) as u8]);
    }

    /// Takes in a message without what it quotes, counts and lists: the first letters before the first quotation mark and after the last.
    pub fn message(&mut self, message: impl Display) {
        const MARKS: [char; 2] = ['`', '"'];
        let message = message.to_string();
        let before = message.split(MARKS).next().unwrap_or_default();
        let after = message[before.len()..].rsplit(MARKS).next().unwrap_or_default();
        for (own, n) in [(before, 24), (after, 12)] {
            let letters = own.bytes().filter(u8::is_ascii_alphabetic).take(n);
            letters.for_each(|letter| self.bytes(&[letter]));
        }
    }

    /// Takes in a result, and passes on its value.
    pub fn result<T, E: Display>(&mut self, result: Result<T, E>) -> Option<T> {
        match result {
            Ok(value) => {
                self.step("ok");
                Some(value)
            }
            Err(error) => {
                self.message(error);
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_quoted_and_counted_does_not_matter() {
        let of = |message: &str| {
            let mut signature = Signature::default();
            signature.message(message);
            signature
        };
        assert_eq!(of("a.svm:17: `x` is not a number"), of("a.svm:3: `yy` is not a number"));
        assert_ne!(of("`x` is not a number"), of("`x` is not a label"));
        assert_eq!(of("the label is `long and never seen`"), of("the label is `another one`"));
        let listed = |names: &str| of(&format!("no column `x`; the columns are {names}"));
        assert_eq!(listed("a, b"), listed("weight, colour"));
    }
}
