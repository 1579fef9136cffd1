//! Which features a pixel has: options, their names, and the windows of an image.

use super::channels::channels;
use super::picture::Picture;
use super::planes::Planes;
use super::windows::{Place, Windows};
use serde::{Deserialize, Serialize};

/// What is computed of images. The same options make the same features for images of any size.
///
/// Lengths (radii and distances) are in pixels of an image whose longer side is [`reference_side`](Self::reference_side), and grow with the image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PixelOptions {
    /// The longer side for which lengths are given; 0 takes lengths as pixels of every image.
    pub reference_side: usize,
    /// The total degree of the polynomials of the place; 0 has none.
    pub place_degree: usize,
    /// Radii of local means and deviations.
    pub radii: Vec<usize>,
    /// Radii of the smoothing before gradients are taken.
    pub gradient_radii: Vec<usize>,
    /// How many directions of gradients are told apart; 0 none.
    pub orientations: usize,
    /// Whether lightness and hue come in soft bins as well.
    pub colour_bins: bool,
    /// Whether colours of the middle are compared with those of the frame.
    pub log_ratios: bool,
    /// Rounds of refinement of the log ratios.
    pub refinements: usize,
    /// Radii over which log ratios are averaged.
    pub log_ratio_radii: Vec<usize>,
    /// Whether there are distances from the frame by barriers and paths.
    pub barriers: bool,
    /// How far away log ratios and barriers are looked up, in eight directions each.
    pub far: Vec<usize>,
    /// How far away colours, gradients and deviations are looked up, in four directions each.
    pub near: Vec<usize>,
}

impl Default for PixelOptions {
    fn default() -> Self {
        Self {
            reference_side: 96,
            place_degree: 4,
            radii: vec![2, 5, 10],
            gradient_radii: vec![0, 1, 3],
            orientations: 6,
            colour_bins: true,
            log_ratios: true,
            refinements: 4,
            log_ratio_radii: vec![2, 5, 10],
            barriers: true,
            far: vec![3, 7, 14],
            near: vec![3, 8],
        }
    }
}

/// A length in pixels: at least 1 where it was not 0.
pub(super) fn scaled(length: usize, unit: f32) -> usize {
    if length == 0 { 0 } else { ((length as f32 * unit).round() as usize).max(1) }
}

impl PixelOptions {
    /// How many pixels a length of 1 is in an image.
    pub(super) fn unit(&self, picture: &Picture<'_>) -> f32 {
        match self.reference_side {
            0 => 1.0,
            side => picture.width().max(picture.height()) as f32 / side as f32,
        }
    }

    /// The channels of an image, one plane each.
    pub fn channels(&self, picture: &Picture<'_>) -> Planes {
        channels(picture, self)
    }

    /// The features of all pixels of an image.
    pub fn windows(&self, picture: &Picture<'_>) -> Windows {
        let planes = self.channels(picture);
        let unit = self.unit(picture);
        let places = self.offsets(planes.names());
        let places = places.iter().map(|&(channel, dx, dy)| {
            let along = |d: i32| d.signum() * scaled(d.unsigned_abs() as usize, unit) as i32;
            Place { channel, dx: along(dx), dy: along(dy) }
        });
        let places = places.collect();
        Windows::new(planes, places)
    }

    /// The names of the features, in their order.
    pub fn names(&self) -> Vec<String> {
        // The channels of the smallest image have the names of all others.
        let picture = Picture::new(1, 1, &[0; 3]).expect("one pixel is an image");
        let channels = self.channels(&picture);
        let name = |&(channel, dx, dy): &(usize, i32, i32)| {
            let mut name = channels.names()[channel].clone();
            for (d, before, after) in [(dx, "left", "right"), (dy, "up", "down")] {
                if d != 0 {
                    let side = if d < 0 { before } else { after };
                    name += &format!(", {} px {side}", d.abs());
                }
            }
            name
        };
        self.offsets(channels.names()).iter().map(name).collect()
    }

    /// Channels with where they are looked up, in lengths of the options.
    fn offsets(&self, channels: &[String]) -> Vec<(usize, i32, i32)> {
        let mut offsets: Vec<_> = (0..channels.len()).map(|channel| (channel, 0, 0)).collect();
        for (channel, name) in channels.iter().enumerate() {
            if FAR.contains(&name.as_str()) {
                for &d in &self.far {
                    offsets.extend(around(d as i32, true).map(|(dx, dy)| (channel, dx, dy)));
                }
            } else if NEAR.contains(&name.as_str()) {
                for &d in &self.near {
                    offsets.extend(around(d as i32, false).map(|(dx, dy)| (channel, dx, dy)));
                }
            }
        }
        offsets
    }
}

/// Channels that are looked up far away.
const FAR: [&str; 3] =
    ["log ratio of colour", "refined log ratio of colour", "barrier from the frame"];
/// Channels that are looked up nearby.
const NEAR: [&str; 3] = ["lightness", "red against green", "yellow against blue"];

/// Four or eight directions; those between the axes are shorter along each, so that all are about as far.
fn around(d: i32, eight: bool) -> impl Iterator<Item = (i32, i32)> {
    let s = ((d as f32) * std::f32::consts::FRAC_1_SQRT_2).round() as i32;
    let all = [(-d, 0), (d, 0), (0, -d), (0, d), (-s, -s), (s, -s), (-s, s), (s, s)];
    all.into_iter().take(if eight { 8 } else { 4 })
}
