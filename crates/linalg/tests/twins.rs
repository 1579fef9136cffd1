//! The kernels against safe twins, bit for bit: rows that are empty, odd and long, slices that begin anywhere, numbers that are not finite.
//!
//! The twins are plain loops in the documented order of additions. The machine chooses the build that is compared: AVX2 where it has it, the portable one elsewhere and under
//! Miri, which also looks for undefined behaviour (see `fuzz/README.md`).

use lineal_linalg::dense::{block_add, block_scores};
use lineal_linalg::{AlignedBytes, Row, Scalar, adapt, cast_f32, cast_f64, cast_u32, kernels};
use proptest::prelude::*;

/// The widths of the tiles that cover `k` outputs.
fn tiles(k: usize) -> Vec<usize> {
    let mut tiles = vec![32; k / 32];
    let mut left = k % 32;
    for width in [24, 20, 16, 12, 10, 8, 6, 4, 3, 2, 1] {
        if left >= width {
            tiles.push(width);
            left -= width;
        }
    }
    tiles
}

fn entries(x: Row<'_>) -> Vec<(usize, f32)> {
    let mut all = Vec::new();
    x.for_each(|j, v| all.push((j, v)));
    all
}

/// Sums of products in the order of the kernels: four sums side by side for narrow tiles, two for wide ones.
fn scores_twin<F: Scalar, G: Scalar>(x: Row<'_>, w: &[F], k: usize, of: fn(F) -> G) -> Vec<G> {
    let entries = entries(x);
    let mut out = Vec::new();
    for width in tiles(k) {
        let n_sums = if width < 16 { 4 } else { 2 };
        let whole = entries.len() / n_sums * n_sums;
        for c in out.len()..out.len() + width {
            let mut sums = [G::ZERO; 4];
            for (p, &(j, v)) in entries.iter().enumerate() {
                let l = if p < whole { p % n_sums } else { 0 };
                sums[l] += G::from_f32(v) * of(w[j * k + c]);
            }
            out.push(match n_sums {
                4 => (sums[0] + sums[1]) + (sums[2] + sums[3]),
                _ => sums[0] + sums[1],
            });
        }
    }
    out
}

fn dot_twin<F: Scalar>(x: Row<'_>, w: &[F]) -> F {
    let entries = entries(x);
    let product = |&(j, v): &(usize, f32)| F::from_f32(v) * w[j];
    match x {
        Row::Sparse(_) => {
            let mut sums = [F::ZERO; 4];
            entries.iter().enumerate().for_each(|(p, entry)| sums[p % 4] += product(entry));
            (sums[0] + sums[1]) + (sums[2] + sums[3])
        }
        Row::Dense(_) => {
            // The tail first, then the sixteens.
            let mut sums = [F::ZERO; 16];
            let (whole, tail) = entries.split_at(entries.len() / 16 * 16);
            for part in [tail, whole] {
                part.iter().enumerate().for_each(|(p, entry)| sums[p % 16] += product(entry));
            }
            for width in [8, 4, 2, 1] {
                (0..width).for_each(|l| sums[l] += sums[l + width]);
            }
            sums[0]
        }
    }
}

fn add_twin<F: Scalar>(x: Row<'_>, g: &[F], w: &mut [F]) {
    let (k, entries) = (g.len(), entries(x));
    let mut at = 0;
    for width in tiles(k) {
        // A tile of zeros is passed over, also where a row has numbers that are not finite.
        let tile = &g[at..at + width];
        if k == 1 || tile.iter().any(|&g| g != F::ZERO) {
            for &(j, v) in &entries {
                for c in 0..width {
                    w[j * k + at + c] += F::from_f32(v) * tile[c];
                }
            }
        }
        at += width;
    }
}

fn adapt_twin(
    x: Row<'_>,
    g: &[f32],
    factor: f32,
    units: Option<&[f32]>,
    w: &mut [f32],
    squares: &mut [f32],
) {
    for (j, v) in entries(x).into_iter().filter(|(_, v)| *v != 0.0) {
        let factor = units.map_or(factor, |units| factor / units[j].max(f32::MIN_POSITIVE));
        for (c, &g_c) in g.iter().enumerate() {
            let (at, gradient) = (j * g.len() + c, v * g_c);
            squares[at] += gradient * gradient;
            w[at] += factor * gradient / squares[at].max(f32::MIN_POSITIVE).sqrt();
        }
    }
}

/// The bits of numbers. Which NaN comes out of an operation on two of them is up to the machine.
fn bits<F: Scalar>(values: &[F]) -> Vec<u64> {
    let bits = |v: &F| if v.to_f64().is_nan() { u64::MAX } else { v.to_f64().to_bits() };
    values.iter().map(bits).collect()
}

fn weights<F: Scalar>(n: usize) -> Vec<F> {
    (0..n).map(|i| F::from_f64(((i * 37 + 11) % 1009) as f64 / 500.0 - 1.0)).collect()
}

/// Every kernel on one row, with weights that begin `skip` numbers into a buffer.
fn compare<F: Scalar>(x: Row<'_>, n_cols: usize, k: usize, skip: usize) {
    let buffer = weights::<F>(skip + n_cols * k);
    let w = &buffer[skip..];
    let mut out = vec![F::ONE; skip + k];
    let out = &mut out[skip..];
    kernels::scores(x, w, out);
    let twin = if k == 1 { vec![dot_twin(x, w)] } else { scores_twin(x, w, k, |w| w) };
    assert_eq!(bits(out), bits(&twin), "scores of {k}");

    let mut wide = vec![1.0; k];
    kernels::scores64(x, w, &mut wide);
    assert_eq!(bits(&wide), bits(&scores_twin(x, w, k, |w: F| w.to_f64())), "scores64 of {k}");

    let mut squares = vec![1.0; k];
    kernels::squares(w, &mut squares);
    let square = |c: usize| w.chunks_exact(k).map(move |w| w[c].to_f64() * w[c].to_f64());
    let twin: Vec<f64> = (0..k).map(|c| square(c).fold(0.0, |sum, s| sum + s)).collect();
    assert_eq!(bits(&squares), bits(&twin), "squares of {k}");

    let mut g = out.to_vec();
    if k > 4 {
        // A whole tile of zeros.
        g[..4].fill(F::ZERO);
    }
    let (mut grown, mut twin) = (buffer.clone(), buffer.clone());
    kernels::add_outer(x, &g, &mut grown[skip..]);
    add_twin(x, &g, &mut twin[skip..]);
    assert_eq!(bits(&grown), bits(&twin), "sums of {k}");
}

fn compare_adapt(x: Row<'_>, n_cols: usize, k: usize, skip: usize, with_units: bool) {
    let (w, g) = (weights::<f32>(skip + n_cols * k), weights::<f32>(k));
    let squares: Vec<f32> = w.iter().map(|w| w.abs()).collect();
    let units = weights::<f32>(n_cols);
    let units = with_units.then_some(&units[..]);
    let (mut w2, mut squares2) = (w.clone(), squares.clone());
    adapt(x, &g, 0.5, units, &mut w2[skip..], &mut squares2[skip..]);
    let (mut w3, mut squares3) = (w, squares);
    adapt_twin(x, &g, 0.5, units, &mut w3[skip..], &mut squares3[skip..]);
    assert_eq!((bits(&w2), bits(&squares2)), (bits(&w3), bits(&squares3)), "steps of {k}");
}

/// Miri is slow: fewer and smaller problems.
const CASES: u32 = if cfg!(miri) { 6 } else { 400 };
const MOST_OUTPUTS: usize = if cfg!(miri) { 40 } else { 140 };

fn value() -> impl Strategy<Value = f32> {
    prop_oneof![
        8 => -2.0f32..2.0,
        1 => Just(0.0f32),
        1 => prop_oneof![Just(f32::INFINITY), Just(f32::NAN), Just(1e-45), Just(-3e38), Just(-0.0)],
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: CASES,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn kernels_and_twins_have_the_same_bits(
        entries in prop::collection::btree_map(0u32..90, value(), 0..60),
        k in 1..MOST_OUTPUTS,
        skip in 0usize..8,
        from in 0usize..4,
        with_units: bool,
    ) {
        let (mut idx, mut val): (Vec<u32>, Vec<f32>) = entries.into_iter().unzip();
        // Rows, too, begin anywhere in their buffers.
        let from = from.min(idx.len());
        let (idx, val) = (idx.split_off(from), val.split_off(from));
        for x in [Row::sparse(&idx, &val).unwrap(), Row::Dense(&val)] {
            compare::<f32>(x, 90, k, skip);
            compare::<f64>(x, 90, k, skip);
            compare_adapt(x, 90, k, skip, with_units);
        }
    }

    #[test]
    fn casts_of_any_place_agree_with_decoding(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        from in 0usize..70,
        until in 0usize..200,
    ) {
        let whole = AlignedBytes::copy_of(&bytes);
        let from = from.min(bytes.len());
        let part = &whole[from..until.clamp(from, bytes.len())];
        let fits = |width: usize| part.is_empty() || from.is_multiple_of(width) && part.len().is_multiple_of(width);
        let four = part.chunks_exact(4).map(|c| u32::from_ne_bytes(c.try_into().unwrap()));
        let four: Vec<u32> = four.collect();
        let eight = part.chunks_exact(8).map(|c| u64::from_ne_bytes(c.try_into().unwrap()));
        let eight: Vec<u64> = eight.collect();
        prop_assert_eq!(cast_u32(part).map(<[u32]>::to_vec), fits(4).then(|| four.clone()));
        let f32s = cast_f32(part).map(|v| v.iter().map(|v| v.to_bits()).collect::<Vec<_>>());
        prop_assert_eq!(f32s, fits(4).then_some(four));
        let f64s = cast_f64(part).map(|v| v.iter().map(|v| v.to_bits()).collect::<Vec<_>>());
        prop_assert_eq!(f64s, fits(8).then_some(eight));
    }
}

/// Blocks of dense rows: sums in the order of the columns, and rows added one after the other.
fn compare_blocks<F: Scalar>(n_rows: usize, n_cols: usize, k: usize, skip: usize) {
    let number = |i: usize| (i * 37 % 101) as f32 / 8.0 - 6.0;
    let values: Vec<f32> = (0..skip + n_rows * n_cols).map(number).collect();
    let x: Vec<&[f32]> = (0..n_rows).map(|r| &values[skip + r * n_cols..][..n_cols]).collect();
    let of =
        |len: usize| -> Vec<F> { (0..skip + len).map(|i| F::from_f32(number(i + 5))).collect() };
    let (w, g) = (of(n_cols * k), of(n_rows * k));
    let mut scores = vec![F::ONE; n_rows * k];
    block_scores(&x, &w[skip..], &mut scores);
    let mut sums = w.clone();
    block_add(&x, &g[skip..], &mut sums[skip..]);
    for c in 0..k {
        for (r, x) in x.iter().enumerate() {
            let mut sum = F::ZERO;
            x.iter().enumerate().for_each(|(j, &v)| sum += F::from_f32(v) * w[skip + j * k + c]);
            assert_eq!(scores[r * k + c], sum, "{n_rows} × {n_cols}, output {c} of {k}");
        }
        for j in 0..n_cols {
            let mut sum = w[skip + j * k + c];
            x.iter().enumerate().for_each(|(r, x)| sum += F::from_f32(x[j]) * g[skip + r * k + c]);
            assert_eq!(sums[skip + j * k + c], sum, "{n_rows} × {n_cols}, output {c} of {k}");
        }
    }
}

#[test]
fn blocks_of_dense_rows() {
    for n_rows in 0..=4 {
        for n_cols in [0, 1, 7, 40] {
            for k in [0, 1, 3, 4, 10, 16, 28, 61] {
                compare_blocks::<f32>(n_rows, n_cols, k, 1);
                compare_blocks::<f64>(n_rows, n_cols, k, 3);
            }
        }
    }
}

#[test]
#[should_panic(expected = "dense rows of different lengths")]
fn a_block_of_unequal_rows_is_refused() {
    block_scores(&[&[1.0], &[1.0, 2.0], &[1.0], &[1.0]], &[1.0f32; 8], &mut [0.0; 8]);
}

#[test]
#[should_panic(expected = "dense rows with more columns than weights")]
fn a_block_beyond_the_weights_is_refused() {
    block_add(&[&[1.0; 9][..]; 4], &[1.0f32; 8], &mut [0.0; 17]);
}

#[test]
fn empty_rows_have_scores_of_zero_whatever_the_weights() {
    for k in [1, 2, 3, 5, 16, 33, 70] {
        for n_cols in [0, 1] {
            for x in [Row::sparse(&[], &[]).unwrap(), Row::Dense(&[])] {
                compare::<f32>(x, n_cols, k, 0);
                compare::<f64>(x, n_cols, k, 0);
                compare_adapt(x, n_cols, k, 0, true);
            }
        }
    }
    kernels::scores::<f32>(Row::Dense(&[1.0]), &[], &mut []);
    kernels::add_outer::<f32>(Row::Dense(&[1.0]), &[], &mut []);
    kernels::squares::<f32>(&[], &mut []);
}

#[test]
fn large_rows() {
    let n: u32 = if cfg!(miri) { 300 } else { 200_001 };
    let idx: Vec<u32> = (0..n).map(|j| 3 * j + j % 2).collect();
    let val: Vec<f32> = (0..n).map(|j| (j % 13) as f32 - 6.0).collect();
    let x = Row::sparse(&idx, &val).unwrap();
    let n_cols = 3 * n as usize + 1;
    for k in [1, 4, 17] {
        compare::<f32>(x, n_cols, k, 3);
        compare::<f64>(Row::Dense(&val), n as usize, k, 1);
    }
    compare_adapt(x, n_cols, 5, 3, true);
}

#[test]
fn rows_beyond_the_weights_are_refused_by_every_kernel() {
    let sparse = Row::sparse(&[0, u32::MAX], &[1.0, 1.0]).unwrap();
    for x in [sparse, Row::Dense(&[1.0; 9])] {
        for k in [1, 3, 40] {
            let refuse = |f: &mut dyn FnMut()| {
                let f = std::panic::AssertUnwindSafe(f);
                assert!(
                    std::panic::catch_unwind(|| {
                        let f = f;
                        (f.0)()
                    })
                    .is_err(),
                    "{k}"
                );
            };
            let (w, g) = (vec![1.0f32; 8 * k], vec![1.0f32; k]);
            refuse(&mut || kernels::scores(x, &w, &mut vec![0.0; k]));
            refuse(&mut || kernels::scores64(x, &w, &mut vec![0.0; k]));
            refuse(&mut || kernels::add_outer(x, &g, &mut w.clone()));
            refuse(&mut || adapt(x, &g, 1.0, None, &mut w.clone(), &mut w.clone()));
        }
    }
}
