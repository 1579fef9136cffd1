//! Dual blocks that respect a free bias.
//!
//! A weight that no penalty covers demands Σᵢ shareᵢ gᵢ = 0 of the dual: without it the dual bound is −∞. Blocks on the
//! way there miss it by a little, and a sum of rounded numbers is never exactly 0. So the certificate is about blocks that meet the constraint
//! *in exact arithmetic*: they are defined by a formula in real numbers (a quotient of two sums, a mean, a circulation), what is computed differs from them by a known part, [`Balance::error`],
//! and the dual bound is lowered by what that part can cost. Scaling a block down never leaves the domain.

use lineal_linalg::Scalar;
use lineal_loss::Domain;

use crate::rounding::{Compensated, compensated, gamma};

/// How to change blocks so that their weighted sum is zero.
pub(crate) struct Balance {
    how: How,
    /// ε: each entry c of a changed block differs by at most ε·off_c from a block for which the sum is exactly zero, with `off` as [`Balance::apply`] gives it.
    pub(crate) error: f64,
}

enum How {
    /// Nothing to do.
    Keep,
    /// Subtract the mean; the mean of the absolute values goes with it.
    Centre(Vec<[f64; 2]>),
    /// For each part, a factor for its positive and one for its negative entries.
    Sides(Vec<[f64; 2]>),
    /// Flows between classes: the factor of the flow from gold q to r is `factor[q·K + r]`.
    Flows { n: usize, factor: Vec<f64> },
}

impl Balance {
    /// Without a free bias.
    pub(crate) fn none() -> Self {
        Self { how: How::Keep, error: 0.0 }
    }

    /// For `n` blocks of equal width; `block(i, out)` writes one and returns its share (dynamic, so that losses and models share this code). Where something is to be `proven`, no factor is above 1 in exact arithmetic.
    pub(crate) fn of(
        domain: Domain,
        n: usize,
        width: usize,
        proven: bool,
        block: &mut dyn FnMut(usize, &mut [f64]) -> f64,
    ) -> Self {
        let mut g = vec![0.0; width];
        // A share, a product, a sum.
        let off = gamma(4) + compensated(n);
        match domain {
            Domain::Free => {
                let mut mean = vec![[Compensated::default(); 2]; width];
                for i in 0..n {
                    let share = block(i, &mut g);
                    for (m, g) in mean.iter_mut().zip(&g) {
                        m[0].add(share * g);
                        m[1].add(share * g.abs());
                    }
                }
                let mean = mean.into_iter().map(|m| m.map(Compensated::total)).collect();
                Self { how: How::Centre(mean), error: 2.0 * off }
            }
            Domain::Flows if width > 1 => {
                let mut flow = vec![Compensated::default(); width * width];
                for i in 0..n {
                    let share = block(i, &mut g);
                    let Some(gold) = gold_of(&g) else { continue };
                    for (f, g) in flow[gold * width..].iter_mut().zip(&g) {
                        f.add(share * g.max(0.0));
                    }
                }
                let mut flow: Vec<f64> = flow.into_iter().map(Compensated::total).collect();
                let (factor, error) = circulation(width, &mut flow, off);
                Self { how: How::Flows { n: width, factor }, error: error + off }
            }
            _ => {
                let mut sums = vec![[Compensated::default(); 2]; width];
                for i in 0..n {
                    let share = block(i, &mut g);
                    for (sum, g) in sums.iter_mut().zip(&g) {
                        let g = share * g;
                        sum[0].add(g.max(0.0));
                        sum[1].add((-g).max(0.0));
                    }
                }
                let slack = if proven { off } else { 0.0 };
                let of = |sums: [Compensated; 2]| even(sums.map(Compensated::total), slack);
                Self { how: How::Sides(sums.into_iter().map(of).collect()), error: 4.0 * off }
            }
        }
    }

    /// The changed block, and the amounts that its errors are parts of.
    #[inline]
    pub(crate) fn apply<F: Scalar>(&self, g: &[F], out: &mut [F], off: &mut [f64]) {
        match &self.how {
            How::Keep => out.copy_from_slice(g),
            How::Centre(mean) => {
                for (o, (&g, &[m, _])) in out.iter_mut().zip(g.iter().zip(mean)) {
                    *o = g - F::from_f64(m);
                }
            }
            How::Sides(factors) => {
                for (o, (&g, by)) in out.iter_mut().zip(g.iter().zip(factors)) {
                    *o = g * F::from_f64(by[usize::from(g <= F::ZERO)]);
                }
            }
            How::Flows { n, factor } => {
                out.fill(F::ZERO);
                let Some(gold) = gold_of(g) else { return off.fill(0.0) };
                let mut total = F::ZERO;
                for r in 0..*n {
                    if r != gold {
                        out[r] = g[r].max(F::ZERO) * F::from_f64(factor[gold * n + r]);
                        total += out[r];
                    }
                }
                out[gold] = -total;
            }
        }
        off.iter_mut().zip(&*out).for_each(|(off, out)| *off = out.to_f64().abs());
        if let How::Centre(mean) = &self.how {
            for ((off, g), &[_, all]) in off.iter_mut().zip(g).zip(mean) {
                *off = g.to_f64().abs() + 2.0 * all;
            }
        }
    }
}

/// Factors in [0, 1] that make two sums equal by taking from the larger. Either sum may be off by the part `off` of itself: to stay at most 1 without that, both sides give up a little.
pub(crate) fn even([up, down]: [f64; 2], off: f64) -> [f64; 2] {
    let or_zero = |v: f64| if v.is_finite() { v } else { 0.0 };
    let most = or_zero((1.0 - 4.0 * off).max(0.0));
    if up > down { [most * or_zero(down / up), most] } else { [most, most * or_zero(up / down)] }
}

/// The gold class of a block of flows: its one negative entry.
fn gold_of<F: Scalar>(g: &[F]) -> Option<usize> {
    g.iter().position(|&g| g < F::ZERO)
}

/// Factors in [0, 1] that turn flows between `n` classes into a circulation (as much into each class as out of it), and by which part they may be off those that do so exactly, given
/// that the flows are off by the part `off`.
///
/// t_qr = d_q/d_r by Osborne's balancing (1960), divided by the largest. A flow that no way leads back from can be in no circulation, so flows between
/// strongly connected components are left out first.
///
/// *Proof of the error.* What is left of out − in at class q is at most R_q, rounding included, and the R's of a component sum to zero with their signs. Sent along the edges
/// of a spanning tree the rest cancels, and an edge with the flow h carries at most the sum R of the classes below it: its factor changes by the part κ = R/h at most. With κ the largest and
/// everything divided by 1 + κ the factors are at most 1 again. They differ from the computed ones by at most 2κ of these.
fn circulation(n: usize, flow: &mut [f64], off: f64) -> (Vec<f64>, f64) {
    let component = components(n, flow);
    for q in 0..n {
        for r in 0..n {
            if component[q] != component[r] {
                flow[q * n + r] = 0.0;
            }
        }
    }
    let mut d = vec![1.0f64; n];
    for _ in 0..10_000 {
        let mut off = 0.0f64;
        for q in 0..n {
            let out: f64 = (0..n).map(|r| flow[q * n + r] / d[r]).sum::<f64>() * d[q];
            let into: f64 = (0..n).map(|r| flow[r * n + q] * d[r]).sum::<f64>() / d[q];
            if out > 0.0 && into > 0.0 {
                off = off.max((out / into - 1.0).abs());
                d[q] *= (into / out).sqrt();
            }
        }
        if off < 1e-14 {
            break;
        }
    }
    let mut largest = vec![0.0f64; n];
    let ratio = |q: usize, r: usize| d[q] / d[r];
    for q in 0..n {
        for r in 0..n {
            if flow[q * n + r] > 0.0 {
                let own = &mut largest[component[q]];
                *own = own.max(ratio(q, r));
            }
        }
    }
    let mut factor = vec![0.0; n * n];
    for q in 0..n {
        for r in 0..n {
            if flow[q * n + r] > 0.0 {
                factor[q * n + r] = (ratio(q, r) / largest[component[q]]).min(1.0);
            }
        }
    }
    let kappa = imbalance(n, flow, &factor, off + gamma(2 * n));
    if kappa < 0.25 {
        return (factor, 2.0 * kappa);
    }
    // Nothing flows: a circulation, if a poor one.
    (vec![0.0; n * n], 0.0)
}

/// κ of the proof above, by a spanning tree of large flows (Prim's).
fn imbalance(n: usize, flow: &[f64], factor: &[f64], off: f64) -> f64 {
    let amount = |q: usize, r: usize| flow[q * n + r] * factor[q * n + r];
    let mut rest: Vec<f64> = (0..n)
        .map(|q| {
            let (mut out, mut into) = (0.0, 0.0);
            (0..n).for_each(|r| (out, into) = (out + amount(q, r), into + amount(r, q)));
            (out - into).abs() + 2.0 * off * (out + into)
        })
        .collect();
    // The widest edge from each class to the tree, and to whom.
    let mut edge = vec![(0.0f64, usize::MAX); n];
    let mut waiting: Vec<usize> = (0..n).collect();
    let mut order = Vec::with_capacity(n);
    while let Some(at) =
        (0..waiting.len()).max_by(|&a, &b| edge[waiting[a]].0.total_cmp(&edge[waiting[b]].0))
    {
        let q = waiting.swap_remove(at);
        order.push(q);
        for &r in &waiting {
            let wide = amount(q, r).max(amount(r, q));
            if wide > edge[r].0 {
                edge[r] = (wide, q);
            }
        }
    }
    let mut kappa = 0.0f64;
    for &q in order.iter().rev() {
        let (wide, parent) = edge[q];
        if parent != usize::MAX && rest[q] > 0.0 {
            kappa = kappa.max(rest[q] / wide);
            rest[parent] += rest[q];
        }
    }
    // NaN and infinity prove nothing.
    if kappa.is_finite() { kappa * (1.0 + 1e-9) } else { f64::INFINITY }
}

/// The strongly connected component of each class, by Kosaraju's two searches.
fn components(n: usize, flow: &[f64]) -> Vec<usize> {
    let search = |from: usize, seen: &mut [usize], mark: usize, forwards: bool| -> Vec<usize> {
        let (mut stack, mut done) = (vec![(from, 0)], Vec::new());
        seen[from] = mark;
        while let Some((q, r)) = stack.pop() {
            let leads = |r: &usize| {
                seen[*r] == usize::MAX && flow[if forwards { q * n + r } else { r * n + q }] > 0.0
            };
            match (r..n).find(leads) {
                Some(r) => {
                    seen[r] = mark;
                    stack.push((q, r + 1));
                    stack.push((r, 0));
                }
                None => done.push(q),
            }
        }
        done
    };
    let (mut seen, mut order) = (vec![usize::MAX; n], Vec::new());
    for q in 0..n {
        if seen[q] == usize::MAX {
            order.extend(search(q, &mut seen, 0, true));
        }
    }
    let mut component = vec![usize::MAX; n];
    for (mark, &q) in order.iter().rev().enumerate() {
        if component[q] == usize::MAX {
            search(q, &mut component, mark, false);
        }
    }
    component
}

#[cfg(test)]
mod tests {
    use super::*;

    fn balanced(n: usize, flow: &mut [f64]) -> Vec<f64> {
        let (factor, error) = circulation(n, flow, 0.0);
        assert!(error < 1e-9, "{error}");
        factor
    }

    #[test]
    fn circulation_balances_every_class() {
        let flow = [0.0, 3.0, 1.0, /**/ 2.0, 0.0, 4.0, /**/ 5.0, 0.5, 0.0];
        let factor = balanced(3, &mut flow.clone());
        for q in 0..3 {
            let out: f64 = (0..3).map(|r| flow[q * 3 + r] * factor[q * 3 + r]).sum();
            let into: f64 = (0..3).map(|r| flow[r * 3 + q] * factor[r * 3 + q]).sum();
            assert!(out > 0.0 && (out - into).abs() < 1e-12 * out);
        }
        assert!(factor.iter().all(|&f| (0.0..=1.0).contains(&f)));
    }

    #[test]
    fn a_class_that_only_receives_is_cut_off() {
        let mut flow = [0.0, 1.0, 1.0, /**/ 1.0, 0.0, 0.0, /**/ 0.0, 0.0, 0.0];
        let factor = balanced(3, &mut flow);
        assert_eq!(factor, [0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn flows_that_no_way_leads_back_from_are_left_out() {
        // 0 ⇄ 1 → 2 ⇄ 3: every class has flow in and out, and yet 1 → 2 can be in no circulation.
        let mut flow = vec![0.0; 16];
        for (q, r) in [(0, 1), (1, 0), (1, 2), (2, 3), (3, 2)] {
            flow[q * 4 + r] = 1.0 + q as f64;
        }
        let factor = balanced(4, &mut flow);
        assert_eq!(factor[4 + 2], 0.0);
        assert_eq!((factor[1], factor[2 * 4 + 3]), (1.0, 1.0));
    }

    #[test]
    fn what_osborne_leaves_is_in_the_error() {
        // Two classes that exchange 1, and a third that hangs on a thread of 1e-9: the rest at it is large beside the thread.
        let flow = [0.0, 1.0, 1e-9, /**/ 1.0, 0.0, 0.0, /**/ 0.0, 1e-9, 0.0];
        let (factor, error) = circulation(3, &mut flow.to_vec(), 1e-12);
        let out: f64 = (0..3).map(|r| flow[r] * factor[r]).sum();
        let into: f64 = (0..3).map(|r| flow[r * 3] * factor[r * 3]).sum();
        assert!((out - into).abs() <= error * flow[2] * factor[2].max(1e-300), "{error}");
        assert!(error > 1e-4, "a relative error of 1e-12 is 1e-3 of the thread: {error}");
    }

    #[test]
    fn even_sides_are_at_most_one_even_if_the_sums_are_off() {
        let off = 1e-10;
        for (up, down) in [(1.0, 1.0 + 1e-11), (1.0 + 1e-11, 1.0), (3.0, 2.0), (0.0, 1.0)] {
            let [a, b] = even([up, down], off);
            assert!((up * a - down * b).abs() <= 1e-15);
            // The true sums may be larger and smaller by the part `off`.
            assert!(a * (1.0 + 2.0 * off) <= 1.0 && b * (1.0 + 2.0 * off) <= 1.0);
        }
    }
}
