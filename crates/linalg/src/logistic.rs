//! Logistic losses of several margins at once, and steps of their dual variables.
//!
//! Like the kernels of rows they are written once, compiled for each width of vectors, and give the same bits in all of them.

use crate::Scalar;
use crate::entropy::{higher, x_ln_x};
use crate::exp::{ln_1p_fast, ln_fast};
use crate::vectors::vectorised;

/// Moves dual variables `a`, each between 0 and 1, to the minimisers `to` of a' ln a' + (1 − a') ln(1 − a') + m a' + (q/2)(a' − a)², for q > 0. `gap` is overwritten with about ℓ(m) + ℓ*(−a) + m a of each.
///
/// With a' = σ(t): t + q σ(t) = −m + q a, increasing in t with a slope of at least 1. Newton's method on all of them together.
///
/// # Panics
/// If the lengths differ.
#[inline]
pub fn steps<F: Scalar>(m: &[F], q: &[F], a: &[F], to: &mut [F], gap: &mut [F]) {
    F::kernel_logistic(m, q, a, to, gap);
}

/// [`steps_in`] in the build of the machine.
pub(crate) fn steps_generic<F: Scalar>(m: &[F], q: &[F], a: &[F], to: &mut [F], gap: &mut [F]) {
    vectorised(
        #[inline(always)]
        || steps_inline(m, q, a, to, gap),
    );
}

#[inline(always)]
fn steps_inline<F: Scalar>(m: &[F], q: &[F], a: &[F], to: &mut [F], gap: &mut [F]) {
    let n = m.len();
    assert!(
        [q.len(), a.len(), to.len(), gap.len()] == [n; 4],
        "as many curvatures and dual variables as margins"
    );
    let mut at = 0;
    macro_rules! together {
        ($T:literal) => {
            while n - at >= $T {
                let own = at..at + $T;
                if let (Ok(m), Ok(q), Ok(a), Ok(to), Ok(gap)) = (
                    m[own.clone()].try_into(),
                    q[own.clone()].try_into(),
                    a[own.clone()].try_into(),
                    (&mut to[own.clone()]).try_into(),
                    (&mut gap[own]).try_into(),
                ) {
                    steps_in::<F, $T>(m, q, a, to, gap);
                }
                at += $T;
            }
        };
    }
    together!(16);
    together!(8);
    together!(4);
    together!(1);
}

#[inline(always)]
fn steps_in<F: Scalar, const T: usize>(
    m: [F; T],
    q: [F; T],
    a: [F; T],
    to: &mut [F; T],
    gap: &mut [F; T],
) {
    let (tiny, far) = (F::EPSILON, F::from_f32(4.0));
    let close = F::EPSILON.sqrt() * F::from_f32(0.1);
    let half = F::from_f32(0.5);
    let (mut t, mut goal) = ([F::ZERO; T], [F::ZERO; T]);
    let mut is_stiff = false;
    for l in 0..T {
        t[l] = -m[l];
        goal[l] = q[l] * a[l] - m[l];
        is_stiff |= q[l] >= F::ONE;
    }
    for l in 0..T {
        let p = sigmoid(t[l]);
        let off = a[l] - p;
        gap[l] = half * off * off / (p * (F::ONE - p) + tiny);
        to[l] = p;
    }
    if is_stiff {
        // Small curvatures barely hold a back: start at its goal. Large ones: start where it is.
        for l in 0..T {
            let inside = lower(higher(a[l], tiny), F::ONE - tiny).to_f64();
            let logit = F::from_f64(ln_fast(inside / (1.0 - inside)));
            let most = goal[l].abs();
            let start = lower(higher(logit, -most), most);
            t[l] = if q[l] >= F::ONE { start } else { t[l] };
            to[l] = sigmoid(t[l]);
        }
    }
    for _ in 0..50 {
        let mut worst = [F::ZERO; T];
        for l in 0..T {
            let p = to[l];
            let step = (goal[l] - t[l] - q[l] * p) / (F::ONE + q[l] * p * (F::ONE - p));
            t[l] += lower(higher(step, -far), far);
            worst[l] = step.abs();
            to[l] = sigmoid(t[l]);
        }
        let mut goes_on = false;
        for worst in worst {
            goes_on |= worst > close;
        }
        if !goes_on {
            break;
        }
    }
}

/// 1 / (1 + e⁻ᵗ).
#[inline(always)]
fn sigmoid<F: Scalar>(t: F) -> F {
    let e = (-t.abs()).exp_fast();
    let p = F::ONE / (F::ONE + e);
    if t >= F::ZERO { p } else { e * p }
}

#[inline(always)]
fn lower<F: Scalar>(a: F, b: F) -> F {
    if b < a { b } else { a }
}

/// ln(1 + e⁻ᵐ) of each margin and minus its slope, 1/(1 + eᵐ); and a ln a + (1 − a) ln(1 − a) of each dual variable from 0 to 1. Each to within a few roundings.
///
/// # Panics
/// If the lengths differ.
pub fn terms(m: &[f64], a: &[f64], [value, slope, conjugate]: [&mut [f64]; 3]) {
    let n = m.len();
    assert!(
        [a.len(), value.len(), slope.len(), conjugate.len()] == [n; 4],
        "as many dual variables as margins"
    );
    vectorised(
        #[inline(always)]
        || {
            let mut at = 0;
            macro_rules! together {
                ($T:literal) => {
                    while n - at >= $T {
                        let [mut lanes, mut duals] = [[0.0; $T]; 2];
                        lanes.copy_from_slice(&m[at..at + $T]);
                        duals.copy_from_slice(&a[at..at + $T]);
                        let own = terms_in::<$T>(&lanes, &duals);
                        value[at..at + $T].copy_from_slice(&own[0]);
                        slope[at..at + $T].copy_from_slice(&own[1]);
                        conjugate[at..at + $T].copy_from_slice(&own[2]);
                        at += $T;
                    }
                };
            }
            together!(8);
            together!(4);
            together!(1);
        },
    );
}

#[inline(always)]
fn terms_in<const T: usize>(m: &[f64; T], a: &[f64; T]) -> [[f64; T]; 3] {
    let [mut e, mut value, mut slope, mut conjugate] = [[0.0; T]; 4];
    for l in 0..T {
        e[l] = (-m[l].abs()).exp_fast();
    }
    for l in 0..T {
        let s = 1.0 / (1.0 + e[l]);
        slope[l] = if m[l] > 0.0 { e[l] * s } else { s };
    }
    for l in 0..T {
        value[l] = if m[l] < 0.0 { -m[l] } else { 0.0 } + ln_1p_fast(e[l]);
    }
    for l in 0..T {
        conjugate[l] = x_ln_x(a[l]) + x_ln_x(1.0 - a[l]);
    }
    [value, slope, conjugate]
}

/// ln(1 + e⁻ᵐ) of each margin and minus its slope, 1/(1 + eᵐ).
///
/// # Panics
/// If the lengths differ.
pub fn values<F: Scalar>(m: &[F], value: &mut [F], slope: &mut [F]) {
    assert!([value.len(), slope.len()] == [m.len(); 2], "two numbers for each margin");
    vectorised(
        #[inline(always)]
        || {
            for ((&m, value), slope) in m.iter().zip(value).zip(slope) {
                let e = (-m.abs()).exp_fast();
                let s = F::ONE / (F::ONE + e);
                let below = if m < F::ZERO { -m } else { F::ZERO };
                *value = below + F::from_f64(ln_1p_fast(e.to_f64()));
                *slope = if m > F::ZERO { e * s } else { s };
            }
        },
    );
}

/// Minus the slope of ln(1 + e⁻ᵐ) at each margin, and its curvature.
///
/// # Panics
/// If the lengths differ.
pub fn slopes<F: Scalar>(m: &[F], slope: &mut [F], curvature: &mut [F]) {
    assert!([slope.len(), curvature.len()] == [m.len(); 2], "two numbers for each margin");
    vectorised(
        #[inline(always)]
        || {
            for ((&m, slope), curvature) in m.iter().zip(slope).zip(curvature) {
                let e = (-m.abs()).exp_fast();
                let s = F::ONE / (F::ONE + e);
                *slope = if m > F::ZERO { e * s } else { s };
                *curvature = e * s * s;
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::special;
    use proptest::prelude::*;

    fn checked<F: Scalar>(
        m: f64,
        q: f64,
        a: f64,
        n: usize,
        within: f64,
    ) -> Result<(), TestCaseError> {
        let [m, q, a] = [m, q, a].map(|v| vec![F::from_f64(v); n]);
        let [mut to, mut gap, mut to_portable, mut gap_portable] =
            [(); 4].map(|()| vec![F::ZERO; n]);
        steps(&m, &q, &a, &mut to, &mut gap);
        steps_inline(&m, &q, &a, &mut to_portable, &mut gap_portable);
        prop_assert!(to == to_portable && gap == gap_portable, "the two builds differ");
        let [m, q, a] = [m[0], q[0], a[0]].map(F::to_f64);
        let (mut low, mut high) = (-1e4f64, 1e4f64);
        for _ in 0..64 {
            let t = 0.5 * (low + high);
            if t + q * special::sigmoid(t) < q * a - m { low = t } else { high = t }
        }
        for to in to {
            prop_assert!(
                (to.to_f64() - special::sigmoid(low)).abs() <= within,
                "{to} {}",
                special::sigmoid(low)
            );
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn a_step_solves_its_equation_and_is_the_same_in_every_build(
            m in prop_oneof![-3.0f64..3.0, -80.0f64..80.0],
            q in prop_oneof![0.001f64..1.0, 1.0f64..10.0, 10.0f64..3000.0],
            a in prop_oneof![Just(0.0), Just(1.0), 0.0f64..1.0],
            n in 1usize..60,
        ) {
            checked::<f64>(m, q, a, n, 1e-9)?;
            checked::<f32>(m, q, a, n, 2e-4)?;
        }

        #[test]
        fn terms_are_those_of_the_standard_library(
            m in prop::collection::vec(prop_oneof![-3.0f64..3.0, -800.0f64..800.0, -1e-9f64..1e-9, Just(0.0)], 1..40),
            a in prop_oneof![Just(0.0), Just(1.0), 0.0f64..1.0, 0.0f64..1e-12],
        ) {
            let n = m.len();
            let [mut value, mut slope, mut conjugate] = [(); 3].map(|()| vec![0.0; n]);
            terms(&m, &vec![a; n], [&mut value, &mut slope, &mut conjugate]);
            let [mut values_alone, mut slopes_alone, mut slopes_again, mut curvature] = [(); 4].map(|()| vec![0.0; n]);
            super::values(&m, &mut values_alone, &mut slopes_alone);
            super::slopes(&m, &mut slopes_again, &mut curvature);
            prop_assert_eq!((&values_alone, &slopes_alone, &slopes_again), (&value, &slope, &slope));
            for at in 0..n {
                let want = special::sigmoid(m[at]) * special::sigmoid(-m[at]);
                prop_assert!((curvature[at] - want).abs() <= 8.0 * f64::EPSILON * want + 1e-300, "{}: {} {want}", m[at], curvature[at]);
                prop_assert_eq!(terms_in(&[m[at]], &[a]), [[value[at]], [slope[at]], [conjugate[at]]]);
                let (want_slope, want) = special::sigmoid_log1p_exp(-m[at]);
                let close = |got: f64, want: f64| (got - want).abs() <= 8.0 * f64::EPSILON * want.abs() + 1e-300;
                prop_assert!(close(value[at], want), "{}: {} {want}", m[at], value[at]);
                prop_assert!(close(slope[at], want_slope), "{}: {} {want_slope}", m[at], slope[at]);
                let want = special::x_ln_x(a) + special::x_ln_x(1.0 - a);
                prop_assert!((conjugate[at] - want).abs() <= 8.0 * f64::EPSILON * want.abs() + 1e-300, "{a}: {} {want}", conjugate[at]);
            }
        }
    }
}
