//! A step inside of the simplex, the inner loop of the dual of softmax, and the entropy of its points.
//!
//! Like the kernels of rows it is written once, compiled for each width of vectors, and gives the same bits in all of them.

use crate::Scalar;
use crate::exp::ln_fast;
use crate::vectors::vectorised;

/// How many numbers are taken together. Buffers are whole vectors, since what is left of one costs as much as many of them.
const LANES: usize = 16;
/// Buffers of up to that many vectors lie on the stack.
const ON_STACK: usize = 16;
/// Steps of Newton's method in all entries together, at most.
const TOGETHER: usize = 12;

type Lanes<F> = [F; LANES];

/// What a step writes to: constants, logarithms, entries, old entries, slopes.
type Buffers<'b, F> = [&'b mut [Lanes<F>]; 5];

/// Moves `p`, a point of the simplex, to the one that maximises ⟨scores, p'⟩ − Σ p' ln p' − (q/2)‖p' − p‖², and leaves the difference in `delta`. Returns about the gap before the step: a
/// χ²-like distance of `p` from the softmax, without logarithms. q > 0.
///
/// The new point solves u + q eᵘ = c + ν, Σ eᵘ = 1 for u = ln p', with c = ln softmax(scores) + q p. Newton's method on all u and ν together begins at the softmax, where ν = 0. It takes one exponential an
/// entry and iteration, and two to eight iterations with q from 0.2 to 2000. Where it does not arrive, [`from_the_right`] does.
///
/// # Panics
/// If the lengths differ.
#[inline]
pub fn step<F: Scalar>(scores: &[F], q: F, p: &mut [F], delta: &mut [F]) -> F {
    F::kernel_entropy(scores, q, p, delta)
}

/// [`step_in`] in the build of the machine, with as much working memory as it needs.
pub(crate) fn step_generic<F: Scalar>(scores: &[F], q: F, p: &mut [F], delta: &mut [F]) -> F {
    vectorised(
        #[inline(always)]
        || step_inline(scores, q, p, delta),
    )
}

#[inline(always)]
fn step_inline<F: Scalar>(scores: &[F], q: F, p: &mut [F], delta: &mut [F]) -> F {
    assert!(scores.len() == p.len() && p.len() == delta.len(), "one score for each entry");
    let zeros = [F::ZERO; LANES];
    match p.len().div_ceil(LANES) {
        // The same code with constant lengths, whose vectors stay in registers.
        ..=1 => step_in(scores, q, p, delta, [[zeros; 1]; 5].each_mut().map(|b| &mut b[..])),
        2 => step_in(scores, q, p, delta, [[zeros; 2]; 5].each_mut().map(|b| &mut b[..])),
        n @ ..=ON_STACK => {
            let mut buffers = [[zeros; ON_STACK]; 5];
            step_in(scores, q, p, delta, buffers.each_mut().map(|b| &mut b[..n]))
        }
        n => {
            let mut buffers: [Vec<Lanes<F>>; 5] = std::array::from_fn(|_| vec![zeros; n]);
            step_in(scores, q, p, delta, buffers.each_mut().map(|b| &mut b[..]))
        }
    }
}

#[inline(always)]
fn step_in<F: Scalar>(
    scores: &[F],
    q: F,
    p: &mut [F],
    delta: &mut [F],
    [c, u, to, old, slope]: Buffers<'_, F>,
) -> F {
    let n = scores.len();
    // What is beyond the entries has a score of −∞ and stays 0.
    if let Some(last) = u.last_mut() {
        *last = [-F::INFINITY; LANES];
    }
    u.as_flattened_mut()[..n].copy_from_slice(scores);
    old.as_flattened_mut()[..n].copy_from_slice(p);
    let mut top = [-F::INFINITY; LANES];
    for u in u.iter() {
        for l in 0..LANES {
            top[l] = higher(top[l], u[l]);
        }
    }
    let top = fold(top, higher);
    let mut sum = [F::ZERO; LANES];
    for (to, u) in to.iter_mut().zip(u.iter_mut()) {
        for l in 0..LANES {
            u[l] -= top;
            to[l] = u[l].exp_fast();
        }
        for l in 0..LANES {
            sum[l] += to[l];
        }
    }
    let sum = fold(sum, F::add);
    let (log, scale) = (sum.ln(), F::ONE / sum);
    // A finite number whose exponential is 0, so that differences are numbers.
    let least = F::from_f32(-1e30);
    let [mut gap, mut lhs, mut rhs] = [[F::ZERO; LANES]; 3];
    let pairs = to.iter_mut().zip(u.iter_mut());
    for ((to, u), ((c, old), slope)) in
        pairs.zip(c.iter_mut().zip(old.iter()).zip(slope.iter_mut()))
    {
        for l in 0..LANES {
            let softmax = to[l] * scale;
            let off = old[l] - softmax;
            u[l] = higher(least, u[l] - log);
            c[l] = u[l] + q * old[l];
            to[l] = softmax;
            gap[l] += off * off / (old[l] + softmax + F::EPSILON);
            slope[l] = F::ONE / (F::ONE + q * softmax);
            let share = softmax * slope[l];
            lhs[l] += share;
            rhs[l] += softmax + share * (q * off);
        }
    }
    // Newton's method is quadratic: after a step of √ε what is left is of the size of ε.
    let small = F::EPSILON.sqrt();
    let negligible = small.ln();
    let (mut nu, mut arrived) = (F::ZERO, false);
    for _ in 0..TOGETHER {
        // δu = (c + ν + δν − u − q p)/(1 + q p), Σ p(1 + δu) = 1.
        nu += (F::ONE - fold(rhs, F::add)) / fold(lhs, F::add);
        let mut worst = [F::ZERO; LANES];
        [lhs, rhs] = [[F::ZERO; LANES]; 2];
        let pairs = to.iter_mut().zip(u.iter_mut());
        for ((to, u), (c, slope)) in pairs.zip(c.iter().zip(slope.iter_mut())) {
            for l in 0..LANES {
                // p ≤ 1, so u ≤ 0: without that a long first step overflows.
                let next = u[l] + (c[l] + nu - u[l] - q * to[l]) * slope[l];
                let next = if next < F::ZERO { next } else { F::ZERO };
                // A leap up from next to nothing is judged by where it lands: p says nothing about it.
                let step = next - u[l];
                let leaps = step > F::ONE && next > negligible;
                let size = if leaps { F::ONE } else { step.abs() * to[l] };
                worst[l] = higher(worst[l], size);
                u[l] = next;
                to[l] = next.exp_fast();
                slope[l] = F::ONE / (F::ONE + q * to[l]);
                let share = to[l] * slope[l];
                lhs[l] += share;
                rhs[l] += to[l] + share * (c[l] + nu - next - q * to[l]);
            }
        }
        if fold(worst, higher) <= small {
            arrived = true;
            break;
        }
    }
    if !arrived {
        let [c, u, to] = [c, u, to].map(|of| &mut of.as_flattened_mut()[..n]);
        from_the_right(c, q, u, to);
    }
    let mut sum = [F::ZERO; LANES];
    for to in to.iter() {
        for l in 0..LANES {
            sum[l] += to[l];
        }
    }
    let norm = F::ONE / fold(sum, F::add);
    for (to, old) in to.iter_mut().zip(old.iter_mut()) {
        for l in 0..LANES {
            to[l] *= norm;
            old[l] = to[l] - old[l];
        }
    }
    p.copy_from_slice(&to.as_flattened()[..n]);
    delta.copy_from_slice(&old.as_flattened()[..n]);
    fold(gap, F::add)
}

/// The same from anywhere, for any q: Σ p(ν) is convex and rises, so Newton's method on ν alone cannot fail; each p(ν) is found
/// from the right, where u + q eᵘ is convex too. Twenty to fifty exponentials an entry.
#[inline(never)]
fn from_the_right<F: Scalar>(c: &mut [F], q: F, u: &mut [F], p: &mut [F]) {
    let small = F::EPSILON * F::from_f32(16.0);
    let top = c.iter().fold(-F::INFINITY, |m, &c| m.max(c));
    c.iter_mut().for_each(|c| *c -= top);
    // Here the largest c has p = 1 and the others can only add: Σ p ≥ 1.
    let mut nu = q;
    for _ in 0..60 {
        for (u, &c) in u.iter_mut().zip(c.iter()) {
            *u = (c + nu).min(F::ZERO);
        }
        for _ in 0..60 {
            p.copy_from_slice(u);
            F::exp_in_place(p);
            let mut worst = F::ZERO;
            for ((u, &c), &p) in u.iter_mut().zip(c.iter()).zip(p.iter()) {
                let step = (c + nu - *u - q * p) / (F::ONE + q * p);
                worst = worst.max(step.abs() * p);
                *u = (*u + step).min(F::ZERO);
            }
            if worst <= small {
                break;
            }
        }
        let (mut excess, mut slope) = (-F::ONE, F::ZERO);
        for &p in p.iter() {
            excess += p;
            slope += p / (F::ONE + q * p);
        }
        nu -= excess / slope;
        if excess.abs() <= small {
            return;
        }
    }
}

/// Σ p ln p over the entries that are above 0, each logarithm to within two roundings.
pub fn sum_x_ln_x<F: Scalar>(p: &[F]) -> f64 {
    vectorised(
        #[inline(always)]
        || sum_x_ln_x_inline(p),
    )
}

#[inline(always)]
fn sum_x_ln_x_inline<F: Scalar>(p: &[F]) -> f64 {
    let mut sum = [0.0f64; LANES];
    for p in p.chunks(LANES) {
        let mut x = [0.0f64; LANES];
        for (x, &p) in x.iter_mut().zip(p) {
            *x = p.to_f64();
        }
        for l in 0..LANES {
            sum[l] += x_ln_x(x[l]);
        }
    }
    fold(sum, |a, b| a + b)
}

/// x ln x without a branch; 0 below the smallest normal number.
#[inline(always)]
pub(crate) fn x_ln_x(x: f64) -> f64 {
    let product = x * ln_fast(x);
    if x >= f64::MIN_POSITIVE { product } else { 0.0 }
}

/// All lanes as one, in a fixed order.
#[inline(always)]
fn fold<F: Scalar>(mut lanes: Lanes<F>, of: impl Fn(F, F) -> F) -> F {
    let mut n = LANES / 2;
    while n > 0 {
        for l in 0..n {
            lanes[l] = of(lanes[l], lanes[l + n]);
        }
        n /= 2;
    }
    lanes[0]
}

/// A comparison, unlike `max`, is one instruction for several entries.
#[inline(always)]
pub(crate) fn higher<F: Scalar>(a: F, b: F) -> F {
    if b > a { b } else { a }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The point of the simplex that solves ln p' + q (p' − p) = scores + ν, by bisection twice.
    fn solved(scores: &[f64], q: f64, p: &[f64]) -> Vec<f64> {
        let root = |goal: f64| {
            let (mut low, mut high) = (-800.0f64, 0.0f64);
            for _ in 0..64 {
                let u = 0.5 * (low + high);
                if u + q * u.exp() < goal { low = u } else { high = u }
            }
            low.exp()
        };
        let at = |nu: f64| -> Vec<f64> {
            scores.iter().zip(p).map(|(s, p)| root(s + q * p + nu)).collect()
        };
        let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (mut low, mut high) = (-top - 2.0 * q - 20.0, -top + 2.0 * q + 20.0);
        for _ in 0..64 {
            let nu = 0.5 * (low + high);
            if at(nu).iter().sum::<f64>() < 1.0 { low = nu } else { high = nu }
        }
        at(low)
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
        let (mut to, mut delta) = (p.clone(), vec![F::ONE; s.len()]);
        let gap = step(&s, F::from_f64(q), &mut to, &mut delta);
        let (mut portable, mut delta_portable) = (p.clone(), delta.clone());
        let gap_portable = step_inline(&s, F::from_f64(q), &mut portable, &mut delta_portable);
        prop_assert!(
            gap == gap_portable && to == portable && delta == delta_portable,
            "the two builds differ"
        );
        let [old, stored]: [Vec<f64>; 2] =
            [&p, &s].map(|of| of.iter().map(|v| v.to_f64()).collect());
        for (((&to, want), &p), &d) in to.iter().zip(solved(&stored, q, &old)).zip(&p).zip(&delta) {
            prop_assert!((to.to_f64() - want).abs() <= within, "{to} {want}");
            prop_assert!(d == to - p);
        }
        let sum: f64 = to.iter().map(|p| p.to_f64()).sum();
        prop_assert!((sum - 1.0).abs() < 1e-5, "{sum}");
        Ok(())
    }

    proptest! {
        #[test]
        fn a_step_solves_its_equations_and_is_the_same_in_every_build(
            entries in prop::collection::vec(
                (prop_oneof![-3.0f64..3.0, -0.1f64..0.1, -200.0f64..200.0], prop_oneof![Just(0.0), 0.01f64..1.0]),
                1..50,
            ),
            gold in 0usize..50,
            q in prop_oneof![0.001f64..0.1, 0.1f64..10.0, 10.0f64..3000.0],
        ) {
            let scores: Vec<f64> = entries.iter().map(|e| f64::from(e.0 as f32)).collect();
            let mut weights: Vec<f64> = entries.iter().map(|e| e.1).collect();
            weights[gold % entries.len()] += 1.0;
            checked::<f64>(&scores, &weights, q, 1e-6)?;
            checked::<f32>(&scores, &weights, q, 1e-3)?;
        }

        #[test]
        fn sums_of_x_ln_x_are_those_of_the_standard_library(
            p in prop::collection::vec(prop_oneof![Just(0.0), -1.0f64..0.0, 0.0f64..1.0, 0.999f64..1.001, (-700.0f64..0.0).prop_map(f64::exp), 1.0f64..1e300], 0..40),
        ) {
            let want: f64 = p.iter().map(|&p| crate::special::x_ln_x(p)).sum();
            let size: f64 = p.iter().map(|&p| crate::special::x_ln_x(p).abs()).sum();
            let got = sum_x_ln_x(&p);
            prop_assert!((got - want).abs() <= 1e-14 * size, "{got} {want}");
            prop_assert_eq!(got, sum_x_ln_x_inline(&p));
            for &p in &p {
                let (got, want) = (x_ln_x(p), crate::special::x_ln_x(p));
                prop_assert!((got - want).abs() <= 4.0 * f64::EPSILON * want.abs(), "{p}: {got} {want}");
            }
        }
    }

    #[test]
    fn entries_of_any_number_have_room() {
        for n in [1, 15, 16, 17, 32, 33, 256, 257, 1000] {
            let scores: Vec<f32> = (0..n).map(|i| (i % 7) as f32).collect();
            let (mut p, mut delta) = (vec![1.0 / n as f32; n], vec![0.0; n]);
            step(&scores, 0.5, &mut p, &mut delta);
            let sum: f32 = p.iter().sum();
            assert!((sum - 1.0).abs() < 1e-4, "{n}: {sum}");
            // Equal scores have equal entries.
            assert!(n < 8 || p[0] == p[7], "{n}");
        }
    }

    #[test]
    fn scores_that_are_far_apart_leave_numbers() {
        let (mut p, mut delta) = ([0.5f32, 0.0, 0.5], [0.0; 3]);
        step(&[1e35, -1e35, 1e35], 20.0, &mut p, &mut delta);
        assert!((p[0] - 0.5).abs() < 1e-6 && p[1] == 0.0 && (p[2] - 0.5).abs() < 1e-6, "{p:?}");
        step(&[-1e30, 1e5, -f32::INFINITY], 1e5, &mut p, &mut delta);
        assert!(p.iter().all(|p| (0.0..=1.0).contains(p)), "{p:?}");
        assert!(p[1] > 0.3, "{p:?}");
    }
}
