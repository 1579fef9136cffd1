//! The exponential and the logarithm of many numbers at once: without branches, so that loops are compiled to vectors.

macro_rules! exp {
    ($name:ident, $slice:ident, $t:ident, $bits:ident, $int:ident, $magic:expr, $mantissa:expr, $exp_bias:expr, $low:expr, $high:expr,
     $ln2_hi:expr, $ln2_lo:expr, $factorials:expr) => {
        /// eˣ.
        #[inline(always)]
        pub(crate) fn $name(x: $t) -> $t {
            let clamped = if x > $low { x } else { $low };
            let clamped = if clamped < $high { clamped } else { $high };
            // Adding and taking away 1.5·2^mantissa rounds to an integer, left in the sum's low bits.
            let shifted = clamped * std::$t::consts::LOG2_E + $magic;
            let k = shifted - $magic;
            let r = (clamped - k * $ln2_hi) - k * $ln2_lo;
            let mut series: $t = 0.0;
            for factorial in $factorials {
                series = series * r + 1.0 / factorial;
            }
            let power = (shifted.to_bits() as $int)
                .wrapping_sub(($magic as $t).to_bits() as $int)
                .wrapping_add($exp_bias)
                << $mantissa;
            let value = series * $t::from_bits(power as $bits);
            if x < $low { 0.0 } else { value }
        }

        /// eˣ in place.
        pub(crate) fn $slice(x: &mut [$t]) {
            crate::vectors::vectorised(
                #[inline(always)]
                || x.iter_mut().for_each(|x| *x = $name(*x)),
            );
        }
    };
}

// n! from the highest power down: with |r| ≤ 0.35 the first term left out is below half an ulp.
exp!(
    exp_f32,
    exp_slice_f32,
    f32,
    u32,
    i32,
    12582912.0,
    23,
    127,
    -87.0,
    88.0,
    0.693_359_4,
    -2.121_944_4e-4,
    [5040.0, 720.0, 120.0, 24.0, 6.0, 2.0, 1.0, 1.0]
);
exp!(
    exp_f64,
    exp_slice_f64,
    f64,
    u64,
    i64,
    6755399441055744.0,
    52,
    1023,
    -708.0,
    709.0,
    6.931_471_803_691_238e-1,
    1.908_214_929_270_587_7e-10,
    [
        6227020800.0,
        479001600.0,
        39916800.0,
        3628800.0,
        362880.0,
        40320.0,
        5040.0,
        720.0,
        120.0,
        24.0,
        6.0,
        2.0,
        1.0,
        1.0
    ]
);

/// 1/21, 1/19, … 1/3: with f² < 0.0295 the first term of artanh f that is left out is below 3·10⁻¹⁷ of the first.
const ODD: [f64; 10] = [21.0, 19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0];
/// ln 2 in two parts. The last bits of the first are 0, so that its products with exponents are exact.
const LN_2: [f64; 2] = [6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10];

/// 2 artanh f − 2f for |f| ≤ 0.1716.
#[inline(always)]
fn rest_of_artanh(f: f64) -> f64 {
    let square = f * f;
    let mut series = 0.0;
    for odd in ODD {
        series = series * square + 1.0 / odd;
    }
    (f + f) * (square * series)
}

/// ln x of a normal number above 0, to within two roundings: k ln 2 + ln m with m between √½ and √2, and ln m = 2 artanh((m − 1)/(m + 1)).
#[inline(always)]
pub(crate) fn ln_fast(x: f64) -> f64 {
    const ROOT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
    // 1.5·2⁵²: an integer added to its bits is added to its value.
    const MAGIC: f64 = 6_755_399_441_055_744.0;
    let k = (x.to_bits().wrapping_sub(ROOT_HALF) as i64) >> 52;
    let m = f64::from_bits(x.to_bits().wrapping_sub((k << 52) as u64));
    let k = f64::from_bits(MAGIC.to_bits().wrapping_add(k as u64)) - MAGIC;
    let f = (m - 1.0) / (m + 1.0);
    k * LN_2[0] + ((f + f) + (rest_of_artanh(f) + k * LN_2[1]))
}

/// ln(1 + x) for x from 0 to 1, to within two roundings.
#[inline(always)]
pub(crate) fn ln_1p_fast(x: f64) -> f64 {
    // Above √2 − 1 it is ln 2 + ln((1 + x)/2).
    let is_large = x > 0.414;
    let (above, below) = if is_large { (x - 1.0, x + 3.0) } else { (x, x + 2.0) };
    let f = above / below;
    let [high, low] = if is_large { LN_2 } else { [0.0; 2] };
    high + ((f + f) + (rest_of_artanh(f) + low))
}
