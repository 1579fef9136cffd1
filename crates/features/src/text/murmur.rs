//! MurmurHash3, 32 bits, x86 variant (Austin Appleby, public domain): the hash of scikit-learn's `FeatureHasher`.

/// The hash of `bytes`.
#[inline]
pub(crate) fn murmur3_32(bytes: &[u8], seed: u32) -> u32 {
    const C1: u32 = 0xcc9e_2d51;
    const C2: u32 = 0x1b87_3593;
    let mix = |k: u32| k.wrapping_mul(C1).rotate_left(15).wrapping_mul(C2);
    let (blocks, tail) = bytes.as_chunks::<4>();
    let mut h = seed;
    for block in blocks {
        h ^= mix(u32::from_le_bytes(*block));
        h = h.rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
    }
    let last = tail.iter().rev().fold(0u32, |k, &b| k << 8 | u32::from(b));
    h ^= mix(last); // of 0 it is 0, so an empty tail changes nothing
    h ^= bytes.len() as u32;
    h ^= h >> 16;
    h = h.wrapping_mul(0x85eb_ca6b);
    h ^= h >> 13;
    h = h.wrapping_mul(0xc2b2_ae35);
    h ^ h >> 16
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
            assert_eq!(murmur3_32(key.as_bytes(), seed), hash, "{key}");
        }
    }
}
