//! The one-dimensional problem inside every block of flows, and loops over the outputs of a block that the compiler turns into vectors.

use lineal_linalg::Scalar;

/// The level T at which Σ_r clamp(s·(v_r − T), 0, hi) = a·T + b, for s > 0, a ≥ 0.
///
/// Pour until what stands above the level equals the line: the left side falls with T, the right side does not, both
/// are piecewise linear, so Newton's method ends after finitely many active sets (Michelot 1986 for the simplex: s = 1,
/// hi = ∞, a = 0, b = 1). A bracket with bisection guards the case of finite `hi`, where the left side is not
/// convex. Entries of −∞ take no part. With a = 0, b must be positive.
pub(crate) fn flow_level<F: Scalar>(v: &[F], s: F, hi: F, a: F, b: F) -> F {
    let mut top = -F::INFINITY;
    for &v in v {
        top = top.max(v);
    }
    // Right of `upper` the left side is 0 and below the line; Newton starts left of the root, where it cannot overshoot
    // a convex left side. If even v_max gives nothing above the line the level is on the line's own root.
    let mut upper = top;
    if a > F::ZERO && a * top + b <= F::ZERO {
        return -b / a;
    }
    let mut lower = -F::INFINITY;
    let mut t = start(v, s, hi, a, b, top);
    for _ in 0..128 {
        let (mut sum, mut slope) = (F::ZERO, F::ZERO);
        for &v in v {
            let h = s * (v - t);
            sum += h.max(F::ZERO).min(hi);
            slope += if h > F::ZERO && h < hi { s } else { F::ZERO };
        }
        let excess = sum - a * t - b;
        if excess == F::ZERO {
            return t;
        }
        if excess > F::ZERO {
            lower = lower.max(t);
        } else {
            upper = upper.min(t);
        }
        // Strictly inside: two flat pieces can otherwise send Newton to and fro between the ends.
        let newton = t + excess / (slope + a);
        if (newton - t).abs() <= F::EPSILON * (F::ONE + t.abs()) {
            return newton;
        }
        let inside = newton > lower && newton < upper;
        t = if inside || lower == -F::INFINITY {
            newton
        } else {
            F::from_f32(0.5) * (lower + upper)
        };
    }
    t
}

/// A level left of the root.
fn start<F: Scalar>(v: &[F], s: F, hi: F, a: F, b: F, top: F) -> F {
    if hi < F::INFINITY {
        // Where the highest entry is full and alone the sum is at least hi: not left enough in general, but the bracket
        // needs a finite lower end: all entries full and the line below them.
        let mut low = top;
        for &v in v {
            if v > -F::INFINITY {
                low = low.min(v);
            }
        }
        let full = low - hi / s;
        return if a > F::ZERO { full.min(-b / a) } else { full };
    }
    // The level if every entry were above it; clamping at 0 can only raise the left side.
    let (mut sum, mut n) = (F::ZERO, F::ZERO);
    for &v in v {
        if v > -F::INFINITY {
            sum += v;
            n += F::ONE;
        }
    }
    (s * sum - b) / (s * n + a)
}

/// The level T at which Σ_r max(v_r − T, 0) = 1, and that sum as it comes out in `F`. `kept` is working memory, as long as `v`.
///
/// The active-set method of Michelot (1986): the level of all entries together is too low, entries below it have no part in the solution, and so on
/// with the others. Any few entries have a level that is too low, so that it begins with that of the highest ones of each lane: few others are above it.
pub(crate) fn simplex_level<F: Scalar>(v: &[F], kept: &mut [F]) -> (F, F) {
    let mut level = level_of_few(highest_of_lanes(v));
    let mut n = 0;
    for &v in v {
        // Written first and kept or not: a branch would be mispredicted often.
        kept[n] = v;
        n += usize::from(v >= level);
    }
    loop {
        let sum = kept[..n].iter().fold(F::ZERO, |sum, &v| sum + v);
        level = (sum - F::ONE) / F::from_f64(n as f64);
        let before = n;
        n = 0;
        for at in 0..before {
            let v = kept[at];
            kept[n] = v;
            n += usize::from(v > level);
        }
        if n == before || n == 0 {
            break;
        }
    }
    (level, kept[..n].iter().fold(F::ZERO, |sum, &v| sum + above(v, level)))
}

/// The highest level of one, two, … of the highest entries.
#[inline(always)]
fn level_of_few<F: Scalar>(mut v: [F; LANES]) -> F {
    for end in 1..LANES {
        let mut at = end;
        while at > 0 && v[at] > v[at - 1] {
            v.swap(at, at - 1);
            at -= 1;
        }
    }
    let (mut level, mut sum, mut n) = (-F::INFINITY, -F::ONE, F::ZERO);
    for v in v {
        // An entry below the level of those before it makes theirs lower.
        if v <= level {
            break;
        }
        sum += v;
        n += F::ONE;
        level = sum / n;
    }
    level
}

/// v − level, or 0 below it. A comparison, unlike `max`, is one instruction for several outputs.
#[inline(always)]
pub(crate) fn above<F: Scalar>(v: F, level: F) -> F {
    let height = v - level;
    if height > F::ZERO { height } else { F::ZERO }
}

/// How many sums or maxima run side by side.
const LANES: usize = 8;

/// The highest of some numbers.
#[inline(always)]
pub(crate) fn highest<F: Scalar>(v: &[F]) -> F {
    highest_of_lanes(v).into_iter().fold(-F::INFINITY, higher)
}

#[inline(always)]
fn higher<F: Scalar>(a: F, b: F) -> F {
    if b > a { b } else { a }
}

#[inline(always)]
fn highest_of_lanes<F: Scalar>(v: &[F]) -> [F; LANES] {
    let mut lanes = [-F::INFINITY; LANES];
    let whole = v.chunks_exact(LANES);
    for (lane, &v) in lanes.iter_mut().zip(whole.remainder()) {
        *lane = higher(*lane, v);
    }
    for v in whole {
        for l in 0..LANES {
            lanes[l] = higher(lanes[l], v[l]);
        }
    }
    lanes
}

/// Σ aᵢbᵢ.
#[inline(always)]
pub(crate) fn dot<F: Scalar>(a: &[F], b: &[F]) -> F {
    let mut lanes = [F::ZERO; LANES];
    let (a, b) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    for (lane, (&a, &b)) in lanes.iter_mut().zip(a.remainder().iter().zip(b.remainder())) {
        *lane += a * b;
    }
    for (a, b) in a.zip(b) {
        for l in 0..LANES {
            lanes[l] += a[l] * b[l];
        }
    }
    let [a, b, c, d, e, f, g, h] = lanes;
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_level_of_a_simplex_is_that_of_flows(
            v in prop::collection::vec(prop_oneof![-50.0f64..50.0, -0.3f64..0.3], 1..40),
        ) {
            let (level, sum) = simplex_level(&v, &mut vec![0.0; v.len()]);
            let flow = flow_level(&v, 1.0, f64::INFINITY, 0.0, 1.0);
            prop_assert!((level - flow).abs() < 1e-12 * (1.0 + flow.abs()), "{level} {flow}");
            prop_assert!((sum - 1.0).abs() < 1e-12, "{sum}");
        }

        #[test]
        fn the_level_solves_its_equation(
            v in prop::collection::vec(-5.0f64..5.0, 1..12),
            s in 0.1f64..3.0,
            hi in prop_oneof![Just(f64::INFINITY), 0.2f64..2.0],
            a in 0.0f64..2.0,
            b in 0.1f64..3.0,
        ) {
            // With a = 0 the entries must be able to reach b.
            prop_assume!(a > 1e-3 || hi * v.len() as f64 > b * 1.01);
            let t = flow_level(&v, s, hi, a, b);
            let sum: f64 = v.iter().map(|v| (s * (v - t)).clamp(0.0, hi)).sum();
            prop_assert!((sum - a * t - b).abs() < 1e-9, "{sum} {} at {t}", a * t + b);
        }
    }
}
