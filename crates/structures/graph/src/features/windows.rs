//! Features of pixels that are looked up in planes: a channel at an offset from the pixel.
//!
//! Feature j of pixel (x, y) is plane c(j) at (x + dx(j), y + dy(j)), clamped to the image. So some 60 planes serve 400 features, and the features of an image take the memory
//! of its planes. Scores and gradients walk along rows of pixels, where a feature is a piece of a row of its plane and two runs of a border value:
//!
//! ```text
//! scores:      s_k[x] += w_jk · plane[x + dx]       four features at a time
//! gradient:    g_jk   += Σₓ g_k[x] · plane[x + dx]   in eight lanes
//! ```
//!
//! With two labels the two sides are often each other's negative, in weights that were learnt from 0 as in gradients of a difference of outputs; then one is computed and the other one
//! negated, which gives the same bits. In gradients, rows and ends of rows that are 0 are skipped.

use super::planes::Planes;
use crate::NodeFeatures;
use lineal_linalg::Scalar;
use std::ops::Range;

/// A channel at an offset: dx to the right, dy down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The plane.
    pub channel: usize,
    /// Pixels to the right; left if negative.
    pub dx: i32,
    /// Pixels down; up if negative.
    pub dy: i32,
}

/// The features of the pixels of one image.
#[derive(Clone, Debug, PartialEq)]
pub struct Windows {
    planes: Planes,
    places: Vec<Place>,
}

/// A row of a plane as a feature sees it: `left` copies of the first value, a piece, then copies of the last value.
#[derive(Clone, Copy)]
struct Shifted<'a> {
    row: &'a [f32],
    /// Where in the row of pixels the piece starts and ends.
    from: usize,
    to: usize,
    /// The piece.
    piece: &'a [f32],
}

impl Windows {
    /// Features that are looked up in planes.
    ///
    /// # Panics
    /// If a place names a channel that there is not, or there is no pixel.
    pub fn new(planes: Planes, places: Vec<Place>) -> Self {
        assert!(planes.n_pixels() > 0, "an image has pixels");
        assert!(
            places.iter().all(|p| p.channel < planes.n_channels()),
            "a channel that there is not"
        );
        Self { planes, places }
    }

    /// The planes.
    pub fn planes(&self) -> &Planes {
        &self.planes
    }

    /// Where features are looked up.
    pub fn places(&self) -> &[Place] {
        &self.places
    }

    /// The value of a feature at a pixel.
    #[inline]
    fn value(&self, place: Place, x: usize, y: usize) -> f32 {
        let x = x.saturating_add_signed(place.dx as isize).min(self.planes.width() - 1);
        self.planes.row(place.channel, self.row_of(place, y))[x]
    }

    fn row_of(&self, place: Place, y: usize) -> usize {
        y.saturating_add_signed(place.dy as isize).min(self.planes.height() - 1)
    }

    #[inline]
    fn shifted(&self, place: Place, y: usize) -> Shifted<'_> {
        let row = self.planes.row(place.channel, self.row_of(place, y));
        let width = row.len();
        let by = (place.dx.unsigned_abs() as usize).min(width);
        let (from, to) = if place.dx < 0 { (by, width) } else { (0, width - by) };
        let piece = if place.dx < 0 { &row[..width - by] } else { &row[by..] };
        Shifted { row, from, to, piece }
    }

    /// `into[x] += Σⱼ w(j)·xⱼ` over one row of pixels.
    fn score_row<F: Scalar>(&self, y: usize, w: impl Fn(usize) -> F, into: &mut [F]) {
        let (fours, rest) = self.places.as_chunks::<4>();
        for (at, places) in fours.iter().enumerate() {
            let rows = places.map(|place| self.shifted(place, y));
            let w = [0, 1, 2, 3].map(|i| w(4 * at + i));
            let from = rows.iter().map(|r| r.from).max().unwrap_or(0);
            let to = rows.iter().map(|r| r.to).min().unwrap_or(0).max(from);
            let pieces = rows.map(|r| r.piece.get(from - r.from..to - r.from).unwrap_or_default());
            add_four(pieces, w, &mut into[from..to]);
            for (row, w) in rows.iter().zip(w) {
                row.add(w, 0..from, into);
                row.add(w, to..into.len(), into);
            }
        }
        for (i, &place) in rest.iter().enumerate() {
            self.shifted(place, y).add(w(4 * fours.len() + i), 0..into.len(), into);
        }
    }
}

impl Shifted<'_> {
    /// `into[x] += w · self[x]` for some x.
    fn add<F: Scalar>(&self, w: F, over: Range<usize>, into: &mut [F]) {
        let (from, to) =
            (self.from.clamp(over.start, over.end), self.to.clamp(over.start, over.end));
        let first = w * F::from_f32(self.row[0]);
        into[over.start..from].iter_mut().for_each(|s| *s += first);
        if from < to {
            let piece = &self.piece[from - self.from..to - self.from];
            into[from..to].iter_mut().zip(piece).for_each(|(s, &v)| *s += w * F::from_f32(v));
        }
        let last = w * F::from_f32(self.row[self.row.len() - 1]);
        into[to.max(from)..over.end].iter_mut().for_each(|s| *s += last);
    }

    /// Σ g[x] · self[x] for the x of `over`; `g` is the whole row.
    fn dot<F: Scalar>(&self, g: &[F], over: &Range<usize>) -> F {
        let (from, to) =
            (self.from.clamp(over.start, over.end), self.to.clamp(over.start, over.end));
        let to = to.max(from);
        let mut sum = F::ZERO;
        if over.start < from {
            sum += sum_of(&g[over.start..from]) * F::from_f32(self.row[0]);
        }
        if from < to {
            sum += dot(&g[from..to], &self.piece[from - self.from..to - self.from]);
        }
        if to < over.end {
            sum += sum_of(&g[to..over.end]) * F::from_f32(self.row[self.row.len() - 1]);
        }
        sum
    }
}

#[inline]
fn add_four<F: Scalar>(pieces: [&[f32]; 4], w: [F; 4], into: &mut [F]) {
    let n = into.len();
    let [a, b, c, d] = pieces.map(|piece| &piece[..n]);
    for x in 0..n {
        let (first, second) = (w[0] * F::from_f32(a[x]), w[1] * F::from_f32(b[x]));
        let (third, fourth) = (w[2] * F::from_f32(c[x]), w[3] * F::from_f32(d[x]));
        into[x] += (first + second) + (third + fourth);
    }
}

const LANES: usize = 8;

#[inline]
fn dot<F: Scalar>(g: &[F], x: &[f32]) -> F {
    let (g_lanes, g_rest) = g.as_chunks::<LANES>();
    let (x_lanes, x_rest) = x.as_chunks::<LANES>();
    let mut sums = [F::ZERO; LANES];
    for (g, x) in g_lanes.iter().zip(x_lanes) {
        for lane in 0..LANES {
            sums[lane] += g[lane] * F::from_f32(x[lane]);
        }
    }
    let mut sum = sums.into_iter().sum::<F>();
    for (&g, &x) in g_rest.iter().zip(x_rest) {
        sum += g * F::from_f32(x);
    }
    sum
}

fn sum_of<F: Scalar>(g: &[F]) -> F {
    g.iter().copied().sum()
}

/// Whether of each two numbers the second is the negative of the first.
fn is_mirrored<F: Scalar>(values: &[F], n_labels: usize) -> bool {
    n_labels == 2 && values.as_chunks::<2>().0.iter().all(|[a, b]| *a == -*b)
}

impl NodeFeatures for Windows {
    fn n_nodes(&self) -> usize {
        self.planes.n_pixels()
    }

    fn n_features(&self) -> usize {
        self.places.len()
    }

    fn scores<F: Scalar>(&self, w: &[F], n_labels: usize, scale: F, into: &mut [F]) {
        let width = self.planes.width();
        let mirrored = is_mirrored(&w[..self.places.len() * n_labels], n_labels);
        let mut row = vec![F::ZERO; width];
        for (y, into) in into.chunks_exact_mut(width * n_labels).enumerate() {
            for label in 0..if mirrored { 1 } else { n_labels } {
                row.fill(F::ZERO);
                self.score_row(y, |j| w[j * n_labels + label], &mut row);
                for (into, &score) in into.chunks_exact_mut(n_labels).zip(&row) {
                    into[label] += scale * score;
                    if mirrored {
                        into[1] += scale * -score;
                    }
                }
            }
        }
    }

    fn accumulate<F: Scalar>(&self, g: &[F], n_labels: usize, into: &mut [F]) {
        let width = self.planes.width();
        let mirrored = is_mirrored(g, n_labels);
        let mut row = vec![F::ZERO; width];
        for (y, g) in g.chunks_exact(width * n_labels).enumerate() {
            for label in 0..if mirrored { 1 } else { n_labels } {
                for (to, g) in row.iter_mut().zip(g.chunks_exact(n_labels)) {
                    *to = g[label];
                }
                let Some(first) = row.iter().position(|&g| g != F::ZERO) else { continue };
                let end = row.iter().rposition(|&g| g != F::ZERO).map_or(width, |last| last + 1);
                for (&place, into) in self.places.iter().zip(into.chunks_exact_mut(n_labels)) {
                    let sum = self.shifted(place, y).dot(&row, &(first..end));
                    into[label] += sum;
                    if mirrored {
                        into[1] -= sum;
                    }
                }
            }
        }
    }

    fn each(&self, node: usize, mut f: impl FnMut(usize, f32)) {
        let (x, y) = (node % self.planes.width(), node / self.planes.width());
        for (feature, &place) in self.places.iter().enumerate() {
            let value = self.value(place, x, y);
            if value != 0.0 {
                f(feature, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn random_windows() -> impl Strategy<Value = Windows> {
        (1usize..23, 1usize..5).prop_flat_map(|(width, height)| {
            let values = prop::collection::vec(-2.0f32..2.0, 3 * width * height);
            let places = prop::collection::vec((0usize..3, -25i32..25, -6i32..6), 0..11);
            (values, places).prop_map(move |(values, places)| {
                let mut planes = Planes::new(width, height);
                for plane in values.chunks(width * height) {
                    planes.push("", plane.iter().copied());
                }
                let places = places.into_iter().map(|(channel, dx, dy)| Place { channel, dx, dy });
                Windows::new(planes, places.collect())
            })
        })
    }

    proptest! {
        /// Scores and gradients against the features one by one, with any number of labels, mirrored or not, in both precisions.
        #[test]
        fn walks_agree_with_single_features(
            windows in random_windows(),
            n_labels in 1usize..4,
            mirrored: bool,
            seed in prop::collection::vec(-1.0f64..1.0, 400),
        ) {
            let (n, k) = (windows.n_nodes(), n_labels);
            let mut numbers = seed.iter().cycle().copied();
            let mut draw = |n: usize| -> Vec<f64> {
                let mut values: Vec<f64> = numbers.by_ref().take(n * k).map(|v| if v < -0.5 { 0.0 } else { v }).collect();
                if mirrored && k == 2 {
                    values.chunks_exact_mut(2).for_each(|pair| pair[1] = -pair[0]);
                }
                values
            };
            let (w, g) = (draw(windows.n_features()), draw(n));
            let mut scores = vec![1.0f64; n * k];
            windows.scores(&w, k, 0.5, &mut scores);
            let mut grad = vec![1.0f64; windows.n_features() * k];
            windows.accumulate(&g, k, &mut grad);
            let (mut expected_scores, mut expected_grad) = (vec![1.0f64; n * k], vec![1.0f64; grad.len()]);
            for node in 0..n {
                windows.each(node, |j, v| for label in 0..k {
                    expected_scores[node * k + label] += 0.5 * w[j * k + label] * f64::from(v);
                    expected_grad[j * k + label] += g[node * k + label] * f64::from(v);
                });
            }
            for (found, expected) in scores.iter().chain(&grad).zip(expected_scores.iter().chain(&expected_grad)) {
                prop_assert!((found - expected).abs() < 1e-9);
            }
            let w32: Vec<f32> = w.iter().map(|&v| v as f32).collect();
            let mut scores32 = vec![1.0f32; n * k];
            windows.scores(&w32, k, 0.5, &mut scores32);
            for (found, expected) in scores32.iter().zip(&scores) {
                prop_assert!((f64::from(*found) - expected).abs() < 1e-4);
            }
        }
    }

    #[test]
    fn borders_are_clamped() {
        let mut planes = Planes::new(3, 2);
        planes.push("", [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let windows = Windows::new(
            planes,
            vec![Place { channel: 0, dx: -1, dy: 1 }, Place { channel: 0, dx: 9, dy: -9 }],
        );
        let mut values = Vec::new();
        windows.each(1, |_, v| values.push(v));
        windows.each(3, |_, v| values.push(v));
        assert_eq!(values, [4.0, 3.0, 4.0, 3.0]);
    }
}
