//! Classes of bytes, 64 at a time.

/// One bit for each of 64 bytes, the first lowest: whether it is in one of some ranges of ASCII, both ends of which are in.
///
/// Other bytes are in none. With ranges that are constants this is a few instructions for 16 bytes.
#[inline(always)]
pub fn within<const N: usize>(block: &[u8; 64], ranges: [(u8, u8); N]) -> u64 {
    // SAFETY: every x86-64 has SSE2.
    #[cfg(target_arch = "x86_64")]
    return unsafe { sixteens(block, ranges) };
    #[cfg(not(target_arch = "x86_64"))]
    eights(block, ranges)
}

/// By the vectors that every x86-64 has.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse2")]
#[inline]
fn sixteens<const N: usize>(block: &[u8; 64], ranges: [(u8, u8); N]) -> u64 {
    use std::arch::x86_64::*;
    let (parts, _) = block.as_chunks::<16>();
    parts.iter().enumerate().fold(0, |mask, (i, part)| {
        let part = u128::from_le_bytes(*part);
        let bytes = _mm_set_epi64x((part >> 64) as i64, part as i64);
        let inside = ranges.iter().fold(_mm_setzero_si128(), |inside, &(low, high)| {
            // From `low` on, a byte is at most `high - low` if it is the smaller of the two.
            let from_low = _mm_sub_epi8(bytes, _mm_set1_epi8(low as i8));
            let smaller = _mm_min_epu8(from_low, _mm_set1_epi8((high - low) as i8));
            _mm_or_si128(inside, _mm_cmpeq_epi8(smaller, from_low))
        });
        mask | u64::from(_mm_movemask_epi8(inside) as u16) << (16 * i)
    })
}

/// By arithmetic on eight bytes in one number.
#[cfg_attr(target_arch = "x86_64", cfg(test))]
#[inline(always)]
fn eights<const N: usize>(block: &[u8; 64], ranges: [(u8, u8); N]) -> u64 {
    const fn eight(byte: u8) -> u64 {
        0x0101_0101_0101_0101 * byte as u64
    }
    let (parts, _) = block.as_chunks::<8>();
    parts.iter().enumerate().fold(0, |mask, (i, part)| {
        let bytes = u64::from_le_bytes(*part);
        let low_bits = bytes & eight(0x7f);
        let inside = ranges.iter().fold(0, |inside, &(low, high)| {
            inside | (low_bits + eight(0x80 - low)) & !(low_bits + eight(0x7f - high))
        });
        let tops = inside & !bytes & eight(0x80);
        // The multiplication moves the eight top bits next to each other, into the top byte.
        let bits = (tops >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        mask | bits << (8 * i)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_where_it_belongs() {
        let ranges = [(0, 31), (b'"', b'"'), (b'a', b'z'), (127, 127)];
        for at in 0..64 {
            for byte in 0..=255u8 {
                let mut block = [b' '; 64];
                block[at] = byte;
                let is_in = ranges.iter().any(|&(low, high)| (low..=high).contains(&byte));
                assert_eq!(within(&block, ranges), u64::from(is_in) << at, "{byte}");
                assert_eq!(eights(&block, ranges), u64::from(is_in) << at, "{byte}");
            }
        }
    }
}
