//! A lower bound on the optimum of mean loss + (l2/2)‖w‖² from gradients of the mean loss at several points.
//!
//! Maximises b(c) = Σ cₖ bₖ − ‖Σ cₖ gₖ‖² / (2·l2) over the simplex by pairwise Frank–Wolfe steps; with the products of the gradients at hand a step costs as many
//! operations as there are cuts.

use lineal_linalg::{Scalar, kernels};

/// How many cuts are kept.
const CUTS: usize = 12;
/// Steps of the small problem; each is a few dozen operations.
const STEPS: usize = 500;

/// The last gradients, as lower bounds of the loss.
#[derive(Debug)]
pub(crate) struct Cuts<F> {
    l2: f64,
    /// gₖ, used in turn, and the weights at which they were taken.
    gradients: Vec<Vec<F>>,
    points: Vec<Vec<F>>,
    offsets: Vec<f64>,
    /// `[k·CUTS + j] = ⟨gₖ, gⱼ⟩`.
    products: Vec<f64>,
    shares: Vec<f64>,
    next: usize,
    best: f64,
    /// The largest norm of all points.
    reach: f64,
}

impl<F: Scalar> Cuts<F> {
    pub(crate) fn new(l2: f64) -> Self {
        Self {
            l2,
            gradients: Vec::new(),
            points: Vec::new(),
            offsets: Vec::new(),
            products: vec![0.0; CUTS * CUTS],
            shares: Vec::new(),
            next: 0,
            best: f64::NEG_INFINITY,
            reach: 0.0,
        }
    }

    /// Takes the cut (g, b) at a point in, for the oldest one when there are many.
    pub(crate) fn push(&mut self, point: &[F], gradient: &[F], offset: f64) {
        self.reach = self.reach.max(kernels::dot64(point, point).sqrt());
        let at = self.next;
        self.next = (self.next + 1) % CUTS;
        if at == self.gradients.len() {
            self.gradients.push(gradient.to_vec());
            self.points.push(point.to_vec());
            self.offsets.push(offset);
            self.shares.push(if at == 0 { 1.0 } else { 0.0 });
        } else {
            self.gradients[at].copy_from_slice(gradient);
            self.points[at].copy_from_slice(point);
            self.offsets[at] = offset;
            // What the cut before had goes to its successor: the sum stays 1.
        }
        for k in 0..self.gradients.len() {
            let product = kernels::dot64(&self.gradients[k], gradient);
            self.products[k * CUTS + at] = product;
            self.products[at * CUTS + k] = product;
        }
    }

    /// The mean of the points whose cuts the last bound was made of, then these points, those that count most first. Losses are nearly parabolas that close to the optimum, so that the gradient at
    /// the mean is nearly the mean of the gradients, and that one cut as good as all of them.
    pub(crate) fn into_points(self) -> Vec<Vec<F>> {
        let mut points: Vec<(f64, Vec<F>)> = self.shares.into_iter().zip(self.points).collect();
        points.retain(|&(share, _)| share > 0.0);
        points.sort_by(|a, b| b.0.total_cmp(&a.0));
        let total: f64 = points.iter().map(|(share, _)| share).sum();
        let mut mean = vec![F::ZERO; points.first().map_or(0, |(_, point)| point.len())];
        for (share, point) in &points {
            kernels::axpy(F::from_f64(share / total), point, &mut mean);
        }
        let several = points.len() > 1;
        let mean = several.then_some(mean).into_iter();
        mean.chain(points.into_iter().map(|(_, point)| point)).collect()
    }

    /// The largest norm of all points.
    pub(crate) fn reach(&self) -> f64 {
        self.reach
    }

    /// The best bound so far.
    pub(crate) fn bound(&mut self) -> f64 {
        let n = self.gradients.len();
        if n == 0 {
            return self.best;
        }
        let slope = |shares: &[f64], k: usize| {
            let products = &self.products[k * CUTS..k * CUTS + n];
            let along: f64 = products.iter().zip(shares).map(|(p, c)| p * c).sum();
            self.offsets[k] - along / self.l2
        };
        let shares = &mut self.shares;
        for _ in 0..STEPS {
            let slopes: Vec<f64> = (0..n).map(|k| slope(shares, k)).collect();
            let up = (0..n).fold(0, |best, k| if slopes[k] > slopes[best] { k } else { best });
            let used = (0..n).filter(|&k| shares[k] > 0.0);
            let Some(down) = used.min_by(|&a, &b| slopes[a].total_cmp(&slopes[b])) else { break };
            let lead = slopes[up] - slopes[down];
            let [uu, dd, ud] =
                [(up, up), (down, down), (up, down)].map(|(a, b)| self.products[a * CUTS + b]);
            let curve = (uu + dd - 2.0 * ud) / self.l2;
            if lead <= 0.0 || curve <= 0.0 {
                break;
            }
            let step = (lead / curve).min(shares[down]);
            shares[up] += step;
            shares[down] = if step >= shares[down] { 0.0 } else { shares[down] - step };
        }
        // Σ c b − ‖Σ c g‖² / (2·l2) = ½ Σ c (b + slope).
        let value: f64 =
            (0..n).map(|k| 0.5 * shares[k] * (self.offsets[k] + slope(shares, k))).sum();
        self.best = self.best.max(value / shares.iter().sum::<f64>().max(1.0));
        self.best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_of_a_parabola_bound_its_minimum() {
        // L(w) = ½‖w − a‖² with a = (1, 2), l2 = 1: the minimum is ‖a‖²/4 at a/2.
        let mut cuts = Cuts::<f64>::new(1.0);
        let minimum = 1.25;
        let mut last = f64::NEG_INFINITY;
        for i in 0..40 {
            let t = f64::from(i);
            let w = [0.5 + 0.5 * t.cos() / (1.0 + 0.2 * t), 1.0 + 0.5 * t.sin() / (1.0 + 0.2 * t)];
            let g = [w[0] - 1.0, w[1] - 2.0];
            let loss = 0.5 * (g[0] * g[0] + g[1] * g[1]);
            cuts.push(&w, &g, loss - w[0] * g[0] - w[1] * g[1]);
            let bound = cuts.bound();
            assert!(bound <= minimum + 1e-12 && bound >= last, "{bound}");
            last = bound;
        }
        assert!(last > minimum - 0.01, "{last}");
    }

    #[test]
    fn of_a_parabola_the_cut_at_the_mean_is_as_good_as_all() {
        // As above: ∇L is linear, so that the gradient at the mean is the mean of the gradients.
        let cut = |cuts: &mut Cuts<f64>, w: [f64; 2]| {
            let g = [w[0] - 1.0, w[1] - 2.0];
            let loss = 0.5 * (g[0] * g[0] + g[1] * g[1]);
            cuts.push(&w, &g, loss - w[0] * g[0] - w[1] * g[1]);
        };
        let mut cuts = Cuts::new(1.0);
        [[0.9, 1.2], [0.0, 0.9], [0.7, 0.8]].into_iter().for_each(|w| cut(&mut cuts, w));
        let all = cuts.bound();
        let points = cuts.into_points();
        assert!(points.len() > 2, "the mean and several points: {points:?}");
        let mut one = Cuts::new(1.0);
        cut(&mut one, [points[0][0], points[0][1]]);
        // Cuts of a parabola leave out what is between the points, and the one at the mean does not.
        assert!(one.bound() >= all - 1e-12 && one.bound() <= 1.25 + 1e-12, "{all}");
    }
}
