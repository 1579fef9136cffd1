//! How much more a colour belongs to what is in the middle of an image than to its frame.
//!
//! Objects tend to be in the middle and the background at the borders, whatever their colours; so every image brings a classifier of its own colours. With amounts
//! uᵢ by which pixel i is object and vᵢ by which it is background, p(c) and q(c) are the histograms of colours that they weigh, r(c) that of all pixels, and
//!
//! ```text
//! log ratio(c) = ln (p(c) + λ r(c)) / (q(c) + λ r(c))
//! ```
//!
//! λ = [`SHRINKAGE`] keeps it finite and pulls rare colours to 0. Histograms are over L*a*b* in 16³ soft bins, blurred by one bin.
//!
//! *Refining* repeats this: the log ratio and a Gaussian prior of the place give each pixel a probability of being object, which is the next u, with v = 1 − u on top
//! of the frame. It is expectation–maximisation of a two-component mixture whose components are histograms; GrabCut (Rother, Kolmogorov and Blake 2004) does so with Gaussian
//! mixtures and cuts.

use super::colour::{Lab, soft_bin};

/// How many parts of the image's own histogram are mixed into both sides.
const SHRINKAGE: f32 = 0.05;
/// Bins along each axis.
const N_BINS: usize = 16;
/// The range of each axis; what is beyond is in the last bin.
const RANGES: [(f32, f32); 3] = [(0.0, 100.0), (-45.0, 45.0), (-45.0, 45.0)];

/// The colours of an image in soft bins, ready to be counted under different weights.
pub(super) struct ColourBins {
    /// For each pixel the first of its eight bins, and how far it is from there along each axis.
    places: Vec<(u32, [f32; 3])>,
    /// The histogram of all pixels.
    all: Vec<f32>,
}

impl ColourBins {
    pub(super) fn new(lab: &Lab) -> Self {
        let places = (0..lab.a.len())
            .map(|pixel| {
                let mut first = 0;
                let mut within = [0.0; 3];
                for (axis, (value, (low, high))) in
                    lab.at(pixel).into_iter().zip(RANGES).enumerate()
                {
                    let (bin, amount) = soft_bin(value, low, high, N_BINS);
                    first = first * N_BINS + bin;
                    within[axis] = amount;
                }
                (first as u32, within)
            })
            .collect();
        let mut bins = Self { places, all: Vec::new() };
        bins.all = bins.histogram(|_| 1.0);
        bins
    }

    /// The log ratio of each pixel's colour, for amounts of object and of background per pixel.
    pub(super) fn log_ratio(&self, object: &[f32], background: &[f32]) -> Vec<f32> {
        let p = self.histogram(|pixel| object[pixel]);
        let q = self.histogram(|pixel| background[pixel]);
        let ratio: Vec<f32> = (p.iter().zip(&q).zip(&self.all))
            .map(|((p, q), r)| {
                let floor = SHRINKAGE * r + f32::MIN_POSITIVE;
                ((p + floor) / (q + floor)).ln()
            })
            .collect();
        self.places
            .iter()
            .map(|place| corners(place).map(|(bin, a)| a * ratio[bin]).sum())
            .collect()
    }

    /// Colours by weight: a distribution, blurred along each axis.
    fn histogram(&self, weight: impl Fn(usize) -> f32) -> Vec<f32> {
        let mut counts = vec![0.0f32; N_BINS * N_BINS * N_BINS];
        let mut total = 0.0f64;
        for (pixel, place) in self.places.iter().enumerate() {
            let weight = weight(pixel);
            total += f64::from(weight);
            if weight > 0.0 {
                corners(place).for_each(|(bin, amount)| counts[bin] += weight * amount);
            }
        }
        for step in [1, N_BINS, N_BINS * N_BINS] {
            counts = blurred(&counts, step);
        }
        let scale = (1.0 / total.max(f64::from(f32::MIN_POSITIVE))) as f32;
        counts.iter_mut().for_each(|count| *count *= scale);
        counts
    }
}

/// The eight bins around a colour with its amounts in them.
fn corners(&(first, within): &(u32, [f32; 3])) -> impl Iterator<Item = (usize, f32)> {
    (0..8).map(move |corner: usize| {
        let mut bin = first as usize;
        let mut amount = 1.0;
        for (axis, step) in [N_BINS * N_BINS, N_BINS, 1].into_iter().enumerate() {
            let is_upper = corner >> axis & 1;
            bin += is_upper * step;
            amount *= if is_upper == 1 { within[axis] } else { 1.0 - within[axis] };
        }
        (bin, amount)
    })
}

/// ¼, ½, ¼ along an axis; what would leave stays in the last bin.
fn blurred(counts: &[f32], step: usize) -> Vec<f32> {
    (0..counts.len())
        .map(|bin| {
            let along = bin / step % N_BINS;
            let before = if along > 0 { bin - step } else { bin };
            let after = if along + 1 < N_BINS { bin + step } else { bin };
            0.25 * counts[before] + 0.5 * counts[bin] + 0.25 * counts[after]
        })
        .collect()
}

/// Where objects are expected: amounts of object and of background by place alone.
pub(super) struct Places {
    /// exp(−½ r²), with r = 1 at [`SPREAD`] of a side from the centre.
    pub(super) middle: Vec<f32>,
    /// 1 in the frame, of a width of [`FRAME`] of the shorter side, 0 elsewhere.
    pub(super) frame: Vec<f32>,
}

/// The standard deviation of the middle, as a share of each side.
const SPREAD: f32 = 0.22;
/// The width of the frame, as a share of the shorter side.
const FRAME: f32 = 0.08;

impl Places {
    pub(super) fn new(width: usize, height: usize) -> Self {
        let frame_width = ((FRAME * width.min(height) as f32).round() as usize).max(1);
        let mut places = Self { middle: Vec::new(), frame: Vec::new() };
        for y in 0..height {
            for x in 0..width {
                let from_border = x.min(width - 1 - x).min(y).min(height - 1 - y);
                let u = ((x as f32 + 0.5) / width as f32 - 0.5) / SPREAD;
                let v = ((y as f32 + 0.5) / height as f32 - 0.5) / SPREAD;
                places.middle.push((-0.5 * (u * u + v * v)).exp());
                places.frame.push(f32::from(from_border < frame_width));
            }
        }
        places
    }
}

/// The log ratio of the middle against the frame, and that after each of `n_rounds` of refinement.
pub(super) fn refined(bins: &ColourBins, places: &Places, n_rounds: usize) -> Vec<Vec<f32>> {
    let mut rounds = vec![bins.log_ratio(&places.middle, &places.frame)];
    for _ in 0..n_rounds {
        let object: Vec<f32> = (rounds[rounds.len() - 1].iter().zip(&places.middle))
            .map(|(&ratio, &middle)| {
                // The prior odds are 1 half-way from the centre to the border.
                let prior = (middle.max(1e-6) / 0.35).ln();
                1.0 / (1.0 + (-ratio - prior).exp())
            })
            .collect();
        let background: Vec<f32> =
            object.iter().zip(&places.frame).map(|(p, frame)| 1.0 - p + frame).collect();
        rounds.push(bins.log_ratio(&object, &background));
    }
    rounds
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::Picture;

    /// A red square on green.
    fn square() -> (Vec<u8>, Vec<bool>) {
        let is_object: Vec<bool> =
            (0..400).map(|i| (6..14).contains(&(i % 20)) && (6..14).contains(&(i / 20))).collect();
        let rgb = is_object.iter().flat_map(|&o| if o { [200, 40, 40] } else { [40, 180, 60] });
        (rgb.collect(), is_object)
    }

    #[test]
    fn colours_of_the_middle_are_told_from_those_of_the_frame() {
        let (rgb, is_object) = square();
        let bins = ColourBins::new(&Lab::new(&Picture::new(20, 20, &rgb).unwrap()));
        for ratios in refined(&bins, &Places::new(20, 20), 3) {
            for (&ratio, &is_object) in ratios.iter().zip(&is_object) {
                assert_eq!(ratio > 0.0, is_object, "{ratio}");
                assert!(ratio.abs() < 7.0, "{ratio}");
            }
        }
    }

    #[test]
    fn one_colour_has_no_ratio() {
        let rgb = [90u8; 75];
        let bins = ColourBins::new(&Lab::new(&Picture::new(5, 5, &rgb).unwrap()));
        for ratios in refined(&bins, &Places::new(5, 5), 2) {
            assert!(ratios.iter().all(|ratio| ratio.abs() < 1e-3), "{ratios:?}");
        }
    }

    #[test]
    fn histograms_are_distributions() {
        let (rgb, _) = square();
        let bins = ColourBins::new(&Lab::new(&Picture::new(20, 20, &rgb).unwrap()));
        let total: f32 = bins.histogram(|pixel| pixel as f32).iter().sum();
        assert!((total - 1.0).abs() < 1e-4, "{total}");
    }
}
