//! Decimal numbers from bytes, eight digits at a time.
//!
//! A file of features is mostly short numbers like `1037` and `0.0403446`. A load of eight bytes tells by
//! arithmetic how many digits it starts with and what they are worth (SWAR), without a branch per digit.
//! Longer numbers and exponents go to `fast-float2`. Every result has the bits of `str::parse`.

/// 10⁰ … 10⁸, padded so that an index below 16 needs no check.
const POW10: [f64; 16] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
const POW10_INT: [u64; 16] =
    [1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1, 1, 1, 1, 1, 1, 1];

/// Byte `p`; past the end a newline, which ends every token.
#[inline(always)]
pub(crate) fn byte(text: &[u8], p: usize) -> u8 {
    text.get(p).copied().unwrap_or(b'\n')
}

/// Whether a number may end before this byte.
#[inline(always)]
pub(crate) fn is_delimiter(b: u8) -> bool {
    matches!(b, b' ' | b'\n' | b'\r' | b'\t' | b'#')
}

/// The value and the number (0 to 8) of the digits that start at `p`.
#[inline(always)]
pub(crate) fn digits8(text: &[u8], p: usize) -> (u64, usize) {
    match text.get(p..).and_then(<[u8]>::first_chunk::<8>) {
        Some(bytes) => digits(u64::from_le_bytes(*bytes)),
        None => digits(load_tail(text, p)),
    }
}

/// The value and the number of the digits that eight bytes start with.
#[inline(always)]
fn digits(word: u64) -> (u64, usize) {
    let nibbles = word ^ 0x3030_3030_3030_3030;
    // A byte over 9 gets its high bit set. A carry can only spoil bytes after the first such one.
    let not_digit = (nibbles.wrapping_add(0x7676_7676_7676_7676) | nibbles) & 0x8080_8080_8080_8080;
    let n = not_digit.trailing_zeros() / 8;
    // Right-align the digits: zeros come in as leading digits. A shift by 64 in two steps gives none.
    let d = nibbles << (32 - 4 * n) << (32 - 4 * n);
    // Neighbours to pairs, pairs to fours, fours to eight: each product's upper half is high + 10ᵏ·low.
    let d = d.wrapping_mul(1 + (10 << 8)) >> 8 & 0x00ff_00ff_00ff_00ff;
    let d = d.wrapping_mul(1 + (100 << 16)) >> 16 & 0x0000_ffff_0000_ffff;
    let d = d.wrapping_mul(1 + (10_000 << 32)) >> 32;
    (d, n as usize)
}

/// How far [`scan_feature`] may look: seven digits, colon, sign, seven digits, point, and two loads of eight.
pub(crate) const WINDOW: usize = 40;

/// `1037:0.0403446` and its delimiter at the start of a window: index, value and the place of the delimiter.
///
/// One check of the window's length stands for those of all bytes in it. `None` says that the feature is
/// longer or not of this common form, not that it is wrong.
#[inline(always)]
pub(crate) fn scan_feature(window: &[u8; WINDOW]) -> Option<(u32, f32, usize)> {
    let (index, n) = scan_index(window)?;
    let (value, end) = scan_value(window, n + 1)?;
    Some((index as u32, value, end))
}

/// The index at the start of a window and the place of its colon.
#[inline(always)]
fn scan_index(window: &[u8; WINDOW]) -> Option<(u64, usize)> {
    // Files of few features have short indices, which are cheaper digit by digit.
    let [a, b] = [at(window, 0), at(window, 1)].map(|b| u64::from(b.wrapping_sub(b'0')));
    if at(window, 1) == b':' && a < 10 {
        return Some((a, 1));
    }
    if at(window, 2) == b':' && a < 10 && b < 10 {
        return Some((10 * a + b, 2));
    }
    let (index, n) = digits(load(window, 0));
    (at(window, n) == b':' && n <= 7).then_some((index, n))
}

/// How many programs write 0: a third to a half of the values of LETOR's files.
const ZERO: u64 = u64::from_le_bytes(*b"0.000000");

/// The number from `p` (at most 8) to a delimiter, if it is of a common form.
#[inline(always)]
fn scan_value(window: &[u8; WINDOW], mut p: usize) -> Option<(f32, usize)> {
    // Binary features are the most common of all.
    if at(window, p) == b'1' && is_delimiter(at(window, p + 1)) {
        return Some((1.0, p + 1));
    }
    if load(window, p) == ZERO && is_delimiter(at(window, p + 8)) {
        return Some((0.0, p + 8));
    }
    let negative = at(window, p) == b'-';
    p += usize::from(negative);
    // Most fractions start so, and a branch that is foreseen need not wait for the digits to be counted: 16 % faster on tf–idf.
    let fraction = at(window, p) == b'0' && at(window, p + 1) == b'.';
    let (int, n_int) = if fraction { (0, 1) } else { digits(load(window, p)) };
    p += n_int;
    let mut magnitude = int as f32;
    let mut n_digits = n_int;
    if at(window, p) == b'.' && n_int < 8 {
        let (frac, n_frac) = digits(load(window, p + 1));
        p += 1 + n_frac;
        n_digits += n_frac;
        magnitude = decimal(int, frac, n_frac)?;
    }
    let whole = n_digits > 0 && n_int < 8 && is_delimiter(at(window, p));
    whole.then_some((if negative { -magnitude } else { magnitude }, p))
}

// Masks that change nothing here tell the compiler that all places are inside the window.
#[inline(always)]
fn at(window: &[u8; WINDOW], p: usize) -> u8 {
    window[p & 31]
}

#[inline(always)]
fn load(window: &[u8; WINDOW], p: usize) -> u64 {
    u64::from_le_bytes(*window[p & 31..].first_chunk::<8>().unwrap_or(&[0; 8]))
}

/// `int.frac` with at most 7 and 8 digits, rounded once; `None` where that is not certain.
#[inline(always)]
fn decimal(int: u64, frac: u64, n_frac: usize) -> Option<f32> {
    // At most 15 digits, so the integer and the power are exact and the quotient is rounded to f64 once.
    let value = (int * POW10_INT[n_frac & 15] + frac) as f64 / POW10[n_frac & 15];
    // Rounding again to f32 is right unless the quotient sits on a tie that rounding made.
    (value.to_bits() & 0x1fff_ffff != 0x1000_0000).then_some(value as f32)
}

#[cold]
fn load_tail(text: &[u8], p: usize) -> u64 {
    let tail = text.get(p..).unwrap_or_default();
    let mut bytes = [0; 8];
    bytes[..tail.len()].copy_from_slice(tail);
    u64::from_le_bytes(bytes)
}

/// The number that starts at `p` and the place after it, or `None` if the token there is not one.
/// It may be infinite or NaN where the text says so or is too large.
#[inline(always)]
pub(crate) fn scan_f32(text: &[u8], p: usize) -> Option<(f32, usize)> {
    let sign = byte(text, p);
    let start = p + usize::from(sign == b'-' || sign == b'+');
    let (int, n_int) = digits8(text, start);
    let mut q = start + n_int;
    let mut magnitude = int as f32;
    let mut n_digits = n_int;
    if n_int < 8 && byte(text, q) == b'.' {
        let (frac, n_frac) = digits8(text, q + 1);
        q += 1 + n_frac;
        n_digits += n_frac;
        match decimal(int, frac, n_frac) {
            Some(value) => magnitude = value,
            None => return scan_f32_slow(text, p),
        }
    }
    if n_digits == 0 || n_int == 8 || !is_delimiter(byte(text, q)) {
        return scan_f32_slow(text, p);
    }
    Some((if sign == b'-' { -magnitude } else { magnitude }, q))
}

#[inline(never)]
fn scan_f32_slow(text: &[u8], p: usize) -> Option<(f32, usize)> {
    let token = token(text, p);
    fast_float2::parse::<f32, _>(token).ok().map(|v| (v, p + token.len()))
}

/// The bytes from `p` to the next blank, comment or line end.
pub(crate) fn token(text: &[u8], p: usize) -> &[u8] {
    let rest = text.get(p..).unwrap_or_default();
    let len = rest.iter().position(|&b| is_delimiter(b)).unwrap_or(rest.len());
    &rest[..len]
}

/// The whole text as a finite or infinite number; `None` if it is not one.
pub(crate) fn parse_f32(text: &str) -> Option<f32> {
    let bytes = text.as_bytes();
    // A copy with room behind it is cheaper than loads that stop at the end of a short text.
    let mut window = [b'\n'; WINDOW];
    if let Some(start) = window.get_mut(..bytes.len()).filter(|start| start.len() < 32) {
        start.copy_from_slice(bytes);
        if let Some((value, end)) = scan_value(&window, 0)
            && end == bytes.len()
        {
            return Some(value);
        }
    }
    fast_float2::parse(bytes).ok()
}

/// As [`parse_f32`], in double precision.
pub(crate) fn parse_f64(text: impl AsRef<[u8]>) -> Option<f64> {
    fast_float2::parse(text).ok()
}

/// A number as people write it: also `12%`, `$1,234.50`, `1 234 €`, `(12)` for −12; with `comma`, `1.234,5` is 1234.5. The sign of a unit
/// does not change the value.
pub(crate) fn parse_number(text: &str, comma: bool) -> Option<f64> {
    parse_f64(text).or_else(|| parse_decorated(text, comma))
}

/// What [`parse_f64`] refuses.
#[cold]
fn parse_decorated(text: &str, comma: bool) -> Option<f64> {
    const LONGEST: usize = 40;
    let (first, last) = (text.chars().next()?, text.chars().next_back()?);
    let is_currency = |c: char| "$€£¥₹₽₩₺₪₫₴₦฿".contains(c);
    let opens = first.is_ascii_digit() || "+-(.".contains(first) || is_currency(first);
    let ends = last.is_ascii_digit() || ")%".contains(last) || is_currency(last);
    if !opens || !ends || text.len() > LONGEST {
        return None;
    }
    let (negative, rest) = match text.strip_prefix('(').and_then(|t| t.strip_suffix(')')) {
        Some(inside) => (true, inside),
        None => match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        },
    };
    // The sign may come before that of a currency or after it.
    let (negative, rest) = match rest.strip_prefix(is_currency).map(str::trim_start) {
        Some(rest) if !negative => {
            rest.strip_prefix('-').map_or((false, rest), |rest| (true, rest))
        }
        Some(rest) => (negative, rest),
        None => (negative, rest),
    };
    let rest = rest.strip_suffix(|c| is_currency(c) || c == '%').unwrap_or(rest).trim_end();
    let (group, point) = if comma { ('.', ',') } else { (',', '.') };
    let (whole, fraction) = rest.split_once(point).unwrap_or((rest, ""));
    let is_digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    let group =
        [group, ' ', '\u{a0}', '\u{202f}', '\'', '’'].into_iter().find(|&g| whole.contains(g));
    let digits = match group {
        None => whole.to_owned(),
        Some(group) => {
            let mut parts = whole.split(group);
            let leads = parts.next().is_some_and(|part| (1..=3).contains(&part.len()));
            if !leads || !parts.all(|part| part.len() == 3) {
                return None;
            }
            whole.replace(group, "")
        }
    };
    if digits.len() + fraction.len() == 0 || !is_digits(&digits) || !is_digits(fraction) {
        return None;
    }
    let value = parse_f64(format!("{digits}.{fraction}"))?;
    Some(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn agrees(text: &str) {
        let ours = parse_f32(text).map(f32::to_bits);
        if !text.contains(|c| is_delimiter(c as u8)) {
            let scanned = scan_f32(text.as_bytes(), 0).map(|(v, end)| (v.to_bits(), end));
            assert_eq!(scanned, ours.map(|v| (v, text.len())), "{text}");
        }
        let std = text.parse::<f32>().ok().map(f32::to_bits);
        // NaN has many bits; only that it is one matters.
        if !text.to_ascii_lowercase().contains("nan") {
            assert_eq!(ours, std, "{text}");
        }
    }

    #[test]
    fn odd_spellings() {
        for text in [
            "",
            ".",
            "-",
            "+",
            "-.",
            "1.",
            ".5",
            "+.5e3",
            "1e",
            "1e5",
            "1e-46",
            "1E+3",
            "--1",
            "1..2",
            "0x1",
            "inf",
            "-Infinity",
            "1_000",
            "00012",
            "12345678",
            "123456789",
            "0.000000",
            "-0.000000",
            "0.0000001",
            "0.000000.",
            "0.12345678",
            "0.123456789",
            "1234567.12345678",
            "16777217",
            "0.1",
            "-0",
            "-0.0",
            "1e39",
            "3.4028236e38",
            "8388608.5",
            "8388609.5",
            "1.00000005960464477539",
            "0.000000000000000000000000000000000000001",
            "5e-324",
            "1 ",
            " 1",
        ] {
            agrees(text);
        }
        assert!(parse_f32("nan").is_some_and(f32::is_nan));
    }

    #[test]
    fn digits_are_counted_and_summed() {
        assert_eq!(digits8(b"1037:0.04", 0), (1037, 4));
        assert_eq!(digits8(b"12345678901", 0), (12_345_678, 8));
        assert_eq!(digits8(b"7", 0), (7, 1));
        assert_eq!(digits8(b"\xff1234567", 0), (0, 0));
        assert_eq!(digits8(b"1\xff\xff\xff\xff\xff\xff\xff", 0), (1, 1));
        assert_eq!(digits8(b"", 5), (0, 0));
    }

    #[test]
    fn numbers_as_people_write_them() {
        for (text, value) in [
            ("12%", 12.0),
            ("$1,234.50", 1234.5),
            ("-$3", -3.0),
            ("$-1,250.5", -1250.5),
            ("1,234,567", 1_234_567.0),
            ("1 234 €", 1234.0),
            ("1\u{a0}234", 1234.0),
            ("(12.5)", -12.5),
            ("£.5", 0.5),
            ("+7%", 7.0),
            ("1’000", 1000.0),
            ("2.5e3", 2500.0),
        ] {
            assert_eq!(parse_number(text, false), Some(value), "{text}");
        }
        for text in [
            "1,23",
            "12,3456",
            "1,,234",
            "$",
            "%",
            "12 34",
            "1-2",
            "3kg",
            "(",
            "1,234.5.6",
            "--1",
            "é%",
            "1234,567",
        ] {
            assert_eq!(parse_number(text, false), None, "{text}");
        }
        assert_eq!(parse_number("1.234,5", true), Some(1234.5));
        assert_eq!(parse_number("12,5%", true), Some(12.5));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn same_bits_as_std(text in "[-+]?[0-9]{0,20}(\\.[0-9]{0,20})?([eE][-+]?[0-9]{1,3})?") {
            agrees(&text);
        }

        #[test]
        fn same_bits_as_std_for_short_ones(text in "-?[0-9]{1,7}\\.[0-9]{0,8}") {
            agrees(&text);
        }

        #[test]
        fn same_bits_as_std_for_every_float(bits in any::<u32>()) {
            let value = f32::from_bits(bits);
            prop_assume!(value.is_finite());
            for text in [format!("{value}"), format!("{value:e}"), format!("{:.7}", value % 8.0)] {
                agrees(&text);
                prop_assert!(parse_f32(&text).is_some());
            }
        }

        /// Halfway between two neighbours, where a second rounding would go wrong.
        #[test]
        fn ties_go_as_in_std(mantissa in (1u32 << 23)..(1 << 24), exponent in 1i32..24, nudge in "[0-9]{0,4}") {
            let tie = (f64::from(mantissa) + 0.5) / f64::powi(2.0, exponent);
            agrees(&format!("{tie}"));
            agrees(&format!("{tie}{nudge}"));
        }

        #[test]
        fn a_feature_in_a_window(index in 0u32..10_000_000, text in "-?[0-9]{0,8}(\\.[0-9]{0,9})?[ #x]") {
            let mut window = [b' '; WINDOW];
            let feature = format!("{index}:{text}");
            window[..feature.len()].copy_from_slice(feature.as_bytes());
            if let Some((i, v, end)) = scan_feature(&window) {
                let number = text.trim_end_matches([' ', '#']);
                prop_assert_eq!((i, end), (index, feature.len() - 1));
                prop_assert_eq!(Some(v.to_bits()), number.parse::<f32>().ok().map(f32::to_bits));
            }
        }

        #[test]
        fn windows_never_panic(bytes in proptest::collection::vec("[0-9:.]|[^0-9]", WINDOW)) {
            let mut window = [0; WINDOW];
            bytes.concat().bytes().zip(&mut window).for_each(|(b, w)| *w = b);
            scan_feature(&window);
        }

        #[test]
        fn bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..40), p in 0usize..50) {
            scan_f32(&bytes, p);
            digits8(&bytes, p);
        }
    }
}
