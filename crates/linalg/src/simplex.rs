//! One step of ascent on the probability simplex, for as many numbers as there are lanes in a vector or thousands.
//!
//! Given p in the simplex, scores v and q > 0, the point p′ of the simplex that maximises ⟨p′, v⟩ − (q/2)‖p′ − p‖² is the projection of p + v/q:
//!
//! ```text
//! p′ = max(u − T, 0),      u = p + (v − max v)/q,      T such that Σ p′ = 1
//! ```
//!
//! T is found by Newton's method on the convex function Σ max(u − T, 0) from max u − 1, which is left of the root, so that it rises to it (Michelot 1986). Every round goes over all numbers, without a branch:
//! for up to some hundreds that is cheaper than to collect those that are still above.
//!
//! Sums have 16 lanes, whatever the width of the machine's vectors, and are added up in one order: all builds give the same bits.

use crate::Scalar;
use crate::vectors::vectorised;

const LANES: usize = 16;

/// Moves `p` to the best point near it, leaves the change in `delta` and returns the gap max v − ⟨p, v⟩ before it. `v` is overwritten. Without a gap nothing moves.
///
/// # Panics
/// If the lengths differ.
#[inline]
pub fn simplex_step<F: Scalar>(v: &mut [F], inv_q: F, p: &mut [F], delta: &mut [F]) -> F {
    F::kernel_simplex_step(v, inv_q, p, delta)
}

/// [`step`] in the build of the machine.
pub(crate) fn step_fast<F: Scalar>(v: &mut [F], inv_q: F, p: &mut [F], delta: &mut [F]) -> F {
    assert!(v.len() == p.len() && v.len() == delta.len(), "numbers of unlike length");
    if v.len() <= LANES {
        return vectorised(
            #[inline(always)]
            || few(v, inv_q, p, delta),
        );
    }
    vectorised(
        #[inline(always)]
        || step(v, inv_q, p, delta),
    )
}

/// Up to 16 numbers: copied to where they fill a vector, with entries that take no part.
#[inline(always)]
fn few<F: Scalar>(v: &mut [F], inv_q: F, p: &mut [F], delta: &mut [F]) -> F {
    let n = v.len();
    let (mut all_v, mut all_p, mut change) =
        ([-F::INFINITY; LANES], [F::ZERO; LANES], [F::ZERO; LANES]);
    for c in 0..n {
        all_v[c] = v[c];
        all_p[c] = p[c];
    }
    let top = highest(&all_v);
    // An entry that takes no part must not make ∞ · 0.
    for v in &mut all_v {
        let below = *v - top;
        *v = if below > -F::INFINITY { below } else { F::ZERO };
    }
    let gap = -dot(&all_v, &all_p);
    if gap <= F::ZERO {
        delta.fill(F::ZERO);
        return F::ZERO;
    }
    for c in 0..LANES {
        let u = all_v[c] * inv_q + all_p[c];
        all_v[c] = if c < n { u } else { -F::INFINITY };
    }
    project(&all_v, &mut all_p, &mut change);
    for c in 0..n {
        p[c] = all_p[c];
        delta[c] = change[c];
    }
    gap
}

#[inline(always)]
fn step<F: Scalar>(v: &mut [F], inv_q: F, p: &mut [F], delta: &mut [F]) -> F {
    let top = highest(v);
    v.iter_mut().for_each(|v| *v -= top);
    let gap = -dot(v, p);
    if gap <= F::ZERO {
        delta.fill(F::ZERO);
        return F::ZERO;
    }
    for (v, &p) in v.iter_mut().zip(&*p) {
        *v = *v * inv_q + p;
    }
    project(v, p, delta);
    gap
}

/// Replaces `p` by the projection of `u`, and leaves the change in `delta`.
#[inline(always)]
fn project<F: Scalar>(u: &[F], p: &mut [F], delta: &mut [F]) {
    let mut level = highest(u) - F::ONE;
    let mut n = F::INFINITY;
    loop {
        let (sum, n_above) = sum_above(u, level);
        // Each round has fewer numbers above the level, or is the last.
        if n_above >= n || n_above == F::ZERO {
            break;
        }
        n = n_above;
        level = (sum - F::ONE) / n;
    }
    // Rounding may leave the sum off 1 by a few ulps.
    let norm = F::ONE / heights(u, level);
    for ((p, &u), d) in p.iter_mut().zip(u).zip(delta) {
        let to = above(u, level) * norm;
        *d = to - *p;
        *p = to;
    }
}

#[inline(always)]
fn above<F: Scalar>(u: F, level: F) -> F {
    let height = u - level;
    if height > F::ZERO { height } else { F::ZERO }
}

#[inline(always)]
fn higher<F: Scalar>(a: F, b: F) -> F {
    if b > a { b } else { a }
}

/// Folds chunks of numbers lane by lane. What is left goes to the first lanes.
#[inline(always)]
fn lanes<F: Scalar, const N: usize>(
    v: &[F],
    first: [F; N],
    fold: impl Fn([F; N], F) -> [F; N],
) -> [[F; N]; LANES] {
    let mut lanes = [first; LANES];
    let whole = v.chunks_exact(LANES);
    let rest = whole.remainder();
    for v in whole {
        for l in 0..LANES {
            lanes[l] = fold(lanes[l], v[l]);
        }
    }
    for (lane, &v) in lanes.iter_mut().zip(rest) {
        *lane = fold(*lane, v);
    }
    lanes
}

/// Halves the lanes until one is left.
#[inline(always)]
fn merge<F: Scalar>(mut lanes: [F; LANES], join: impl Fn(F, F) -> F) -> F {
    let mut width = LANES / 2;
    while width > 0 {
        for l in 0..width {
            lanes[l] = join(lanes[l], lanes[l + width]);
        }
        width /= 2;
    }
    lanes[0]
}

#[inline(always)]
fn highest<F: Scalar>(v: &[F]) -> F {
    let lanes = lanes(v, [-F::INFINITY], |[top], v| [higher(top, v)]);
    merge(lanes.map(|[top]| top), higher)
}

#[inline(always)]
fn dot<F: Scalar>(a: &[F], b: &[F]) -> F {
    let mut lanes = [F::ZERO; LANES];
    let (a, b) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest = a.remainder().iter().zip(b.remainder());
    for (lane, (&a, &b)) in lanes.iter_mut().zip(rest) {
        *lane += a * b;
    }
    for (a, b) in a.zip(b) {
        for l in 0..LANES {
            lanes[l] += a[l] * b[l];
        }
    }
    merge(lanes, |a, b| a + b)
}

/// The sum of the numbers above a level, and how many there are.
#[inline(always)]
fn sum_above<F: Scalar>(u: &[F], level: F) -> (F, F) {
    let (mut sums, mut counts) = ([F::ZERO; LANES], [F::ZERO; LANES]);
    let whole = u.chunks_exact(LANES);
    let rest = whole.remainder();
    let mut take = |l: usize, u: F| {
        let is_above = u > level;
        sums[l] += if is_above { u } else { F::ZERO };
        counts[l] += if is_above { F::ONE } else { F::ZERO };
    };
    for u in whole {
        for l in 0..LANES {
            take(l, u[l]);
        }
    }
    for (l, &u) in rest.iter().enumerate() {
        take(l, u);
    }
    (merge(sums, |a, b| a + b), merge(counts, |a, b| a + b))
}

/// Σ max(u − level, 0).
#[inline(always)]
fn heights<F: Scalar>(u: &[F], level: F) -> F {
    let lanes = lanes(u, [F::ZERO], |[sum], u| [sum + above(u, level)]);
    merge(lanes.map(|[sum]| sum), |a, b| a + b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The projection by sorting.
    fn by_sorting(u: &[f64]) -> Vec<f64> {
        let mut sorted = u.to_vec();
        sorted.sort_by(|a, b| b.total_cmp(a));
        let (mut sum, mut level) = (-1.0, f64::INFINITY);
        for (n, &u) in (1..).zip(&sorted) {
            sum += u;
            let next = sum / f64::from(n);
            if n > 1 && u <= level {
                break;
            }
            level = next;
        }
        u.iter().map(|u| (u - level).max(0.0)).collect()
    }

    fn problem() -> impl Strategy<Value = (Vec<f64>, Vec<f64>, f64)> {
        let entry = || prop_oneof![-50.0f64..50.0, -0.3f64..0.3, Just(0.0)];
        (1usize..70).prop_flat_map(move |n| {
            let weights = prop::collection::vec(prop_oneof![Just(0.0), 0.0f64..1.0], n);
            (prop::collection::vec(entry(), n), weights, 0.01f64..100.0)
        })
    }

    fn normalised(weights: &[f64]) -> Vec<f64> {
        let sum: f64 = weights.iter().sum();
        let mut p: Vec<f64> = weights.iter().map(|w| w / sum.max(1e-300)).collect();
        if sum < 1e-9 {
            p.fill(0.0);
            p[0] = 1.0;
        }
        p
    }

    proptest! {
        #[test]
        fn a_step_is_the_projection((v, weights, q) in problem()) {
            let p = normalised(&weights);
            let top = v.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let u: Vec<f64> = p.iter().zip(&v).map(|(p, v)| p + (v - top) / q).collect();
            let gap: f64 = p.iter().zip(&v).map(|(p, v)| p * (top - v)).sum();
            let (mut moved, mut delta) = (p.clone(), vec![f64::NAN; p.len()]);
            let seen = simplex_step(&mut v.clone(), 1.0 / q, &mut moved, &mut delta);
            prop_assert!((seen - gap).abs() <= 1e-12 * (1.0 + gap.abs()));
            let scale = 1.0 + 1.0 / q;
            for ((((to, want), d), p), _) in moved.iter().zip(by_sorting(&u)).zip(&delta).zip(&p).zip(&v) {
                let want = if seen > 0.0 { want } else { *p };
                prop_assert!((to - want).abs() < 1e-12 * scale * 50.0, "{to} {want}");
                prop_assert_eq!(*d, to - p);
            }
            prop_assert!((moved.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        }

        #[test]
        fn all_builds_give_the_same_bits((v, weights, q) in problem()) {
            let v: Vec<f32> = v.iter().map(|&v| v as f32).collect();
            let p: Vec<f32> = normalised(&weights).iter().map(|&p| p as f32).collect();
            let run = |by: &dyn Fn(&mut [f32], &mut [f32], &mut [f32]) -> f32| {
                let (mut p, mut delta) = (p.clone(), vec![0.0f32; p.len()]);
                let gap = by(&mut v.clone(), &mut p, &mut delta);
                (gap.to_bits(), p, delta)
            };
            let inv_q = 1.0 / q as f32;
            let machine = run(&|v, p, delta| step_fast(v, inv_q, p, delta));
            let portable = run(&|v, p, delta| match v.len() <= LANES {
                true => few(v, inv_q, p, delta),
                false => step(v, inv_q, p, delta),
            });
            prop_assert_eq!(machine, portable);
        }

        /// Padding changes no sum: what takes no part adds zeros.
        #[test]
        fn few_numbers_are_like_many((v, weights, q) in problem()) {
            let n = v.len().min(LANES);
            let p = normalised(&weights[..n]);
            let (mut a, mut b) = (p.clone(), p);
            let (mut delta_a, mut delta_b) = (vec![0.0; n], vec![0.0; n]);
            let gap_a = few(&mut v[..n].to_vec(), 1.0 / q, &mut a, &mut delta_a);
            let gap_b = step(&mut v[..n].to_vec(), 1.0 / q, &mut b, &mut delta_b);
            prop_assert_eq!((gap_a, a, delta_a), (gap_b, b, delta_b));
        }
    }

    #[test]
    fn a_single_number_stays() {
        let (mut p, mut delta) = ([1.0f64], [9.0]);
        assert_eq!(simplex_step(&mut [3.0], 0.5, &mut p, &mut delta), 0.0);
        assert_eq!((p, delta), ([1.0], [0.0]));
    }
}
