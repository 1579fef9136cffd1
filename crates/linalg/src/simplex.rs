//! A step on the simplex: the inner loop of the dual of Crammer and Singer's loss.
//!
//! Like the kernels of rows it is written once, compiled for each width of vectors, and gives the same bits in all of them.

use crate::Scalar;
use crate::vectors::vectorised;

/// How many sums or maxima run side by side.
const LANES: usize = 8;

/// Moves `p`, a point of the simplex, to the one that maximises ⟨scores, p'⟩ − (q/2)‖p' − p‖², and leaves the difference in `delta`. Returns max scores − ⟨p, scores⟩,
/// the gap before the step; if that is 0, nothing moves. `scores` are overwritten; q > 0.
///
/// The new point is max(u − T, 0) with u = scores/q + p, and T the level that makes the sum 1: of the entries that are still above a level that is too low, the
/// level is less so (Michelot 1986). It begins with that of the entries of `p` that are not 0, which is nearly right after some passes.
///
/// # Panics
/// If the lengths differ.
#[inline]
pub fn step<F: Scalar>(scores: &mut [F], q: F, p: &mut [F], delta: &mut [F]) -> F {
    F::kernel_simplex(scores, q, p, delta)
}

/// [`step`] for a handful of entries, which vectors would only delay.
///
/// # Panics
/// If the lengths differ.
#[inline]
pub fn step_of_few<F: Scalar>(scores: &mut [F], q: F, p: &mut [F], delta: &mut [F]) -> F {
    let n = p.len();
    assert!(scores.len() == n && delta.len() == n, "one score for each entry");
    let top = scores.iter().fold(-F::INFINITY, |top, &score| higher(top, score));
    let gap = scores.iter().zip(p.iter()).fold(F::ZERO, |gap, (&s, &p)| gap + p * (top - s));
    if gap <= F::ZERO {
        delta.fill(F::ZERO);
        return F::ZERO;
    }
    let inv_q = F::ONE / q;
    let (mut sum, mut count) = (F::ZERO, n);
    for (u, &p) in scores.iter_mut().zip(p.iter()) {
        *u = (*u - top) * inv_q + p;
        sum += *u;
    }
    // From below: the entries that are above a level that is too low.
    let mut level = (sum - F::ONE) / F::from_f64(n as f64);
    loop {
        let (mut above, mut n_above) = (F::ZERO, 0);
        for &u in scores.iter() {
            above += if u > level { u } else { F::ZERO };
            n_above += usize::from(u > level);
        }
        // Fewer each time, or rounding goes to and fro for ever.
        if n_above >= count || n_above == 0 {
            break;
        }
        count = n_above;
        level = (above - F::ONE) / F::from_f64(n_above as f64);
    }
    let sum = scores.iter().fold(F::ZERO, |sum, &u| sum + above(u, level));
    if sum <= F::ZERO {
        // Rounding alone: all is at the top.
        delta.fill(F::ZERO);
        return F::ZERO;
    }
    let norm = F::ONE / sum;
    for ((p, &u), d) in p.iter_mut().zip(scores.iter()).zip(delta.iter_mut()) {
        let to = above(u, level) * norm;
        *d = to - *p;
        *p = to;
    }
    gap
}

/// [`step_inline`] in the build of the machine.
pub(crate) fn step_generic<F: Scalar>(scores: &mut [F], q: F, p: &mut [F], delta: &mut [F]) -> F {
    assert!(scores.len() == p.len() && p.len() == delta.len(), "one score for each entry");
    vectorised(
        #[inline(always)]
        || step_inline(scores, q, p, delta),
    )
}

#[inline(always)]
fn step_inline<F: Scalar>(scores: &mut [F], q: F, p: &mut [F], delta: &mut [F]) -> F {
    // Differences from the top: the level lies within 1 of it, and scores of 10⁴ over a small q must not drown it.
    let top = highest(scores);
    // One loop for each sum: the compiler keeps one row of lanes in a register, and spilled five.
    let gap = sum(scores, p, |score, p| p * (top - score));
    if gap <= F::ZERO {
        delta.fill(F::ZERO);
        return F::ZERO;
    }
    let inv_q = F::ONE / q;
    for (u, &p) in scores.iter_mut().zip(p.iter()) {
        *u = (*u - top) * inv_q + p;
    }
    let (u, kept) = (&*scores, delta);
    let of_support = sum(u, p, |u, p| if p > F::ZERO { u } else { F::ZERO });
    let support = sum(u, p, |_, p| if p > F::ZERO { F::ONE } else { F::ZERO });
    let highest_u = highest(u);
    let mut level = higher((of_support - F::ONE) / support, highest_u - F::ONE);
    // Few entries are above it: eight are looked at together.
    let mut n = 0;
    let eights = u.chunks_exact(LANES);
    let rest = eights.remainder();
    for u in eights {
        let mut lanes = [F::ZERO; LANES];
        lanes.copy_from_slice(u);
        if highest_of_lanes(lanes) >= level {
            for &u in u {
                // Written first and kept or not: a branch would be mispredicted often.
                kept[n] = u;
                n += usize::from(u >= level);
            }
        }
    }
    for &u in rest {
        kept[n] = u;
        n += usize::from(u >= level);
    }
    while n > 0 {
        let sum = kept[..n].iter().fold(F::ZERO, |sum, &u| sum + u);
        level = (sum - F::ONE) / F::from_f64(n as f64);
        let before = n;
        n = 0;
        for at in 0..before {
            let u = kept[at];
            kept[n] = u;
            n += usize::from(u > level);
        }
        if n == before {
            break;
        }
    }
    let mut sum = kept[..n].iter().fold(F::ZERO, |sum, &u| sum + above(u, level));
    if n == 0 {
        // Rounding alone: all is at the top.
        level = highest_u - F::ONE;
        sum = u.iter().fold(F::ZERO, |sum, &u| sum + above(u, level));
    }
    // Rounding may leave the sum off 1 by a few ulps; the dual bound needs p in the simplex.
    let norm = F::ONE / sum;
    for ((p, &u), d) in p.iter_mut().zip(u).zip(kept.iter_mut()) {
        let to = above(u, level) * norm;
        *d = to - *p;
        *p = to;
    }
    gap
}

/// Σ of two entries each, in lanes.
#[inline(always)]
fn sum<F: Scalar>(a: &[F], b: &[F], of: impl Fn(F, F) -> F) -> F {
    let mut lanes = [F::ZERO; LANES];
    let (a, b) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let (a_rest, b_rest) = (a.remainder(), b.remainder());
    for (a, b) in a.zip(b) {
        for l in 0..LANES {
            lanes[l] += of(a[l], b[l]);
        }
    }
    for (lane, (&a, &b)) in lanes.iter_mut().zip(a_rest.iter().zip(b_rest)) {
        *lane += of(a, b);
    }
    let [a, b, c, d, e, f, g, h] = lanes;
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

/// Overwrites the first lanes. Of so few entries a copy of unknown length, which is a call, takes longer than tests.
#[inline(always)]
fn load<F: Scalar>(lanes: &mut [F; LANES], from: &[F]) {
    for l in 0..LANES {
        if l < from.len() {
            lanes[l] = from[l];
        }
    }
}

/// v − level, or 0 below it. A comparison, unlike `max`, is one instruction for several entries.
#[inline(always)]
fn above<F: Scalar>(v: F, level: F) -> F {
    let height = v - level;
    if height > F::ZERO { height } else { F::ZERO }
}

#[inline(always)]
fn higher<F: Scalar>(a: F, b: F) -> F {
    if b > a { b } else { a }
}

/// The highest of some numbers.
#[inline(always)]
fn highest<F: Scalar>(v: &[F]) -> F {
    let mut lanes = [-F::INFINITY; LANES];
    let eights = v.chunks_exact(LANES);
    let mut rest = [-F::INFINITY; LANES];
    load(&mut rest, eights.remainder());
    for v in eights {
        for l in 0..LANES {
            lanes[l] = higher(lanes[l], v[l]);
        }
    }
    for l in 0..LANES {
        lanes[l] = higher(lanes[l], rest[l]);
    }
    highest_of_lanes(lanes)
}

#[inline(always)]
fn highest_of_lanes<F: Scalar>([a, b, c, d, e, f, g, h]: [F; LANES]) -> F {
    higher(higher(higher(a, e), higher(c, g)), higher(higher(b, f), higher(d, h)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The level by sorting.
    fn level(u: &[f64]) -> f64 {
        let mut sorted = u.to_vec();
        sorted.sort_by(|a, b| b.total_cmp(a));
        let (mut sum, mut level) = (-1.0, f64::NEG_INFINITY);
        for (n, &u) in sorted.iter().enumerate() {
            if u <= level {
                break;
            }
            sum += u;
            level = sum / (n + 1) as f64;
        }
        level
    }

    fn checked<F: Scalar>(
        scores: &[f64],
        weights: &[f64],
        q: f64,
        within: f64,
    ) -> Result<(), TestCaseError> {
        let total: f64 = weights.iter().sum();
        let p: Vec<F> = weights.iter().map(|w| F::from_f64(w / total)).collect();
        let s: Vec<F> = scores.iter().map(|&s| F::from_f64(s)).collect();
        let (mut to, mut u, mut delta) = (p.clone(), s.clone(), vec![F::ONE; s.len()]);
        let gap = step(&mut u, F::from_f64(q), &mut to, &mut delta);
        let (mut portable, mut u, mut delta_portable) = (p.clone(), s.clone(), delta.clone());
        let gap_portable = step_inline(&mut u, F::from_f64(q), &mut portable, &mut delta_portable);
        prop_assert!(
            gap == gap_portable && to == portable && delta == delta_portable,
            "the two builds differ"
        );

        let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let of =
            |p: &[F]| -> f64 { p.iter().zip(scores).map(|(p, s)| p.to_f64() * (top - s)).sum() };
        prop_assert!((gap.to_f64() - of(&p)).abs() <= within * (1.0 + of(&p)), "{gap} {}", of(&p));
        let u: Vec<f64> = scores.iter().zip(&p).map(|(s, p)| (s - top) / q + p.to_f64()).collect();
        let level = level(&u);
        for ((&to, &p), (&d, &u)) in to.iter().zip(&p).zip(delta.iter().zip(&u)) {
            let right = if gap > F::ZERO { (u - level).max(0.0) } else { p.to_f64() };
            prop_assert!((to.to_f64() - right).abs() <= within * (1.0 + 1.0 / q), "{to} {right}");
            prop_assert!(d == to - p || gap == F::ZERO && d == F::ZERO);
        }
        let sum: f64 = to.iter().map(|p| p.to_f64()).sum();
        prop_assert!((sum - 1.0).abs() < within, "{sum}");
        let (mut of_few, mut u) = (p.clone(), s);
        let gap_of_few = step_of_few(&mut u, F::from_f64(q), &mut of_few, &mut delta);
        prop_assert!(
            (gap_of_few - gap).to_f64().abs() <= within * (1.0 + gap.to_f64()),
            "{gap} {gap_of_few}"
        );
        for (&of_few, &to) in of_few.iter().zip(&to) {
            prop_assert!((of_few - to).to_f64().abs() <= within * (1.0 + 1.0 / q), "{of_few} {to}");
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn a_step_is_a_projection_and_the_same_in_every_build(
            entries in prop::collection::vec((prop_oneof![-3.0f64..3.0, -0.1f64..0.1, -1e4f64..1e4], prop_oneof![Just(0.0), 0.01f64..1.0]), 1..70),
            gold in 0usize..70,
            q in prop_oneof![0.001f64..0.1, 0.1f64..10.0],
        ) {
            let scores: Vec<f64> = entries.iter().map(|e| f64::from(e.0 as f32)).collect();
            let mut weights: Vec<f64> = entries.iter().map(|e| e.1).collect();
            weights[gold % entries.len()] += 1.0;
            checked::<f64>(&scores, &weights, q, 1e-9)?;
            checked::<f32>(&scores, &weights, q, 3e-3)?;
        }
    }

    /// An entry within a rounding of the level was above one level and below the next, and neither set was the last: the step never ended.
    #[test]
    fn an_entry_at_the_level_does_not_go_to_and_fro() {
        let (mut scores, mut delta) = ([-0.1949486f32, -0.06154439, 0.0], [0.0; 3]);
        let mut p = [0.109450944, 0.4676652, 0.42288384];
        let gap = step_of_few(&mut scores, 1.0, &mut p, &mut delta);
        assert!(gap > 0.0 && p[0] < 1e-6, "{gap} {p:?}");
        assert!((p.iter().sum::<f32>() - 1.0).abs() < 1e-6, "{p:?}");
    }

    #[test]
    fn a_vertex_at_the_top_stays() {
        let (mut p, mut delta) = ([0.0f32, 1.0, 0.0], [9.0; 3]);
        assert_eq!(step(&mut [0.5, 2.0, -1.0], 0.1, &mut p, &mut delta), 0.0);
        assert_eq!((p, delta), ([0.0, 1.0, 0.0], [0.0; 3]));
    }
}
