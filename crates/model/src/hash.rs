//! Hashes of texts and of features made of them: 64 bits, the same on every machine. Models are stored by these numbers.

/// An odd multiplier with well-spread bits (2⁶⁴ divided by the golden ratio).
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Spreads every bit of `x` over all bits (the finaliser of SplitMix64).
#[inline]
pub fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The hash of a text, eight bytes at a time. The length is part of it, so that padding cannot be mistaken for text.
#[inline]
pub fn text(bytes: &[u8]) -> u64 {
    let mut hash = mix(SPREAD ^ bytes.len() as u64);
    let mut words = bytes.chunks_exact(8);
    for word in &mut words {
        hash = push(hash, word.iter().rev().fold(0, |acc, &byte| acc << 8 | u64::from(byte)));
    }
    push(hash, words.remainder().iter().rev().fold(0, |acc, &byte| acc << 8 | u64::from(byte)))
}

/// The hash of what `hash` stands for, followed by `next`.
#[inline]
pub fn push(hash: u64, next: u64) -> u64 {
    let x = (hash ^ next).wrapping_mul(SPREAD);
    // The high bits of a product depend on all bits of its factors, the low ones on few: bring the high ones down.
    (x ^ (x >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn texts_differ() {
        let texts = [
            "",
            "a",
            "b",
            "ab",
            "ba",
            "a\0",
            "\0a",
            "abcdefgh",
            "abcdefgh\0",
            "abcdefghi",
            "Abcdefgh",
        ];
        let hashes: HashSet<u64> = texts.iter().map(|t| text(t.as_bytes())).collect();
        assert_eq!(hashes.len(), texts.len());
    }

    #[test]
    fn low_and_high_halves_spread() {
        let hashes: Vec<u64> = (0..60_000u32).map(|n| text(n.to_string().as_bytes())).collect();
        for shift in [0, 16, 32, 48] {
            let cells: HashSet<u64> = hashes.iter().map(|h| h >> shift & 0xffff).collect();
            // 60,000 balls thrown into 65,536 cells leave 60 % of them taken.
            assert!((39_000..40_000).contains(&cells.len()), "{} at {shift}", cells.len());
        }
    }

    #[test]
    fn a_hash_stays_what_it_was() {
        // Models are stored by these numbers. They were computed from the definitions above by Python's integers modulo 2⁶⁴.
        assert_eq!(text(b"dog"), 0x2a44_56a7_1ff3_5d48);
        assert_eq!(text(b"constituency"), 0x5ab4_f0c9_3088_8653);
        assert_eq!(push(push(1, 2), 3), 0x84cd_2671_2d0c_dd8c);
    }
}
