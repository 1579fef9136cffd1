//! The one-dimensional problem inside every block of flows.

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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
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
