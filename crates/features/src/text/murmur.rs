//! MurmurHash3, 32 bits, x86 variant (Austin Appleby, public domain): the hash of scikit-learn's `FeatureHasher`.

use super::tables::PAD;

/// The hash of the bytes at `start..end` of a padded buffer.
#[inline]
pub(crate) fn murmur3_32(buffer: &[u8], start: usize, end: usize, seed: u32) -> u32 {
    const C1: u32 = 0xcc9e_2d51;
    const C2: u32 = 0x1b87_3593;
    let mix = |k: u32| k.wrapping_mul(C1).rotate_left(15).wrapping_mul(C2);
    let (blocks, _) = buffer[start..end].as_chunks::<4>();
    let mut h = seed;
    for block in blocks {
        h ^= mix(u32::from_le_bytes(*block));
        h = h.rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
    }
    // What is left of the bytes, by a read into the pad; of nothing it is 0, and so is its mix.
    let len = end - start;
    let at = end - len % 4;
    let last: [u8; 4] = buffer[at..at + 4].try_into().expect("a pad follows");
    h ^= mix(u32::from_le_bytes(last) & !(u32::MAX << (8 * (len % 4))));
    finish(h ^ len as u32)
}

#[inline]
fn finish(mut h: u32) -> u32 {
    h ^= h >> 16;
    h = h.wrapping_mul(0x85eb_ca6b);
    h ^= h >> 13;
    h = h.wrapping_mul(0xc2b2_ae35);
    h ^ h >> 16
}

/// The hash of a string by itself.
pub(crate) fn murmur3_32_str(string: &str, seed: u32) -> u32 {
    let buffer = [string.as_bytes(), &[0; PAD]].concat();
    murmur3_32(&buffer, 0, string.len(), seed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_to_scikit_learn() {
        // sklearn.utils.murmurhash3_32(key, seed), as unsigned numbers
        let table: [(&str, u32, u32); 6] = [
            ("", 0, 0),
            ("a", 0, 1009084850),
            ("foo", 0, 4138058784),
            ("hello", 0, 613153351),
            ("hello world", 42, 3926694905),
            ("naïve", 7, 2096607923),
        ];
        for (key, seed, hash) in table {
            assert_eq!(murmur3_32_str(key, seed), hash, "{key}");
        }
    }
}
