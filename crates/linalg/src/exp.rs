//! The exponential of many numbers at once.

macro_rules! exp {
    ($name:ident, $t:ident, $bits:ident, $int:ident, $magic:expr, $mantissa:expr, $exp_bias:expr, $low:expr, $high:expr,
     $ln2_hi:expr, $ln2_lo:expr, $factorials:expr) => {
        /// eˣ in place.
        pub(crate) fn $name(x: &mut [$t]) {
            #[inline(always)]
            fn body(x: &mut [$t]) {
                for x in x {
                    let clamped = if *x > $low { *x } else { $low };
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
                    *x = if *x < $low { 0.0 } else { value };
                }
            }
            crate::vectors::vectorised(
                #[inline(always)]
                || body(x),
            );
        }
    };
}

// n! from the highest power down: with |r| ≤ 0.35 the first term left out is below half an ulp.
exp!(
    exp_f32,
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
