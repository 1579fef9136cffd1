//! Which features a pixel has: options, their names, and the windows of an image.

use super::channels::channels;
use super::picture::Picture;
use super::planes::Planes;
use super::windows::{Place, Windows};
use serde::{Deserialize, Serialize};

/// What is computed of images. The same options make the same features for images of any size.
///
/// The default has about 250 features. On horses, with the mean IoU of the foreground of pixels by themselves in folds of the training part: channels at the pixel alone .758, of which
/// directions of gradients bring .023, the place .018 and hues .006; directions of gradients around the pixel another .018, ranks and places in the object .006. Log ratios and barriers
/// around the pixel bring .001, so `far` and `near` are empty. Trained on all 200 images: .796 on the 127 test images, and .835 with one contrast feature on the edges.
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
    /// Whether log ratios and barriers come as ranks within the image as well.
    pub ranks: bool,
    /// Points to a side of the grid of soft places relative to the object; 0 has none.
    pub object_grid: usize,
    /// How far away directions of gradients are looked up, in eight directions each: the shape around a pixel.
    pub shape: Vec<usize>,
    /// How far away log ratios and barriers are looked up, in eight directions each.
    pub far: Vec<usize>,
    /// How far away soft bins of colours are looked up, in four directions each.
    pub near: Vec<usize>,
}

impl Default for PixelOptions {
    fn default() -> Self {
        Self {
            reference_side: 96,
            place_degree: 6,
            radii: vec![2, 4, 8, 16],
            gradient_radii: vec![0, 1, 2, 4],
            orientations: 8,
            colour_bins: true,
            log_ratios: true,
            refinements: 4,
            log_ratio_radii: vec![2, 4, 8],
            barriers: true,
            ranks: true,
            object_grid: 5,
            shape: vec![7, 14],
            far: Vec::new(),
            near: Vec::new(),
        }
    }
}

/// The greatest radius or distance.
const MAX_LENGTH: usize = 4096;

/// A length in pixels: at least 1 where it was not 0.
pub(super) fn scaled(length: usize, unit: f32) -> usize {
    if length == 0 { 0 } else { ((length as f32 * unit).round() as usize).max(1) }
}

impl PixelOptions {
    /// Whether the numbers are such that features can be computed; if not, which one is not.
    pub fn check(&self) -> Result<(), String> {
        let lists = [
            ("radii", &self.radii),
            ("gradient_radii", &self.gradient_radii),
            ("log_ratio_radii", &self.log_ratio_radii),
            ("shape", &self.shape),
            ("far", &self.far),
            ("near", &self.near),
        ];
        for (name, lengths) in lists {
            if let Some(length) = lengths.iter().find(|&&length| length > MAX_LENGTH) {
                return Err(format!("{name} has {length}; lengths must be at most {MAX_LENGTH}"));
            }
            if lengths.len() > 64 {
                return Err(format!("{name} has {} lengths; give at most 64", lengths.len()));
            }
        }
        let limits = [
            ("reference_side", self.reference_side, 1 << 20),
            ("place_degree", self.place_degree, 12),
            ("orientations", self.orientations, 36),
            ("refinements", self.refinements, 100),
            ("object_grid", self.object_grid, 16),
        ];
        match limits.into_iter().find(|&(_, value, most)| value > most) {
            None => Ok(()),
            Some((name, value, most)) => {
                Err(format!("{name} is {value}; it must be at most {most}"))
            }
        }
    }

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
        let picture = Picture::of_one_pixel(&[0; 3]);
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
            let starts = |names: &[&str]| names.iter().any(|start| name.starts_with(start));
            let mut add = |(dx, dy): (i32, i32)| offsets.push((channel, dx, dy));
            if starts(&["gradient direction"]) {
                self.shape.iter().flat_map(|&d| around(d as i32, true)).for_each(&mut add);
            } else if starts(&["refined log ratio", "barrier from the frame"])
                && !name.ends_with("its mean")
            {
                self.far.iter().flat_map(|&d| around(d as i32, true)).for_each(&mut add);
            } else if starts(&["lightness about", "hue about"]) {
                self.near.iter().flat_map(|&d| around(d as i32, false)).for_each(&mut add);
            }
        }
        offsets
    }
}

/// Four or eight directions; those between the axes are shorter along each, so that all are about as far.
fn around(d: i32, eight: bool) -> impl Iterator<Item = (i32, i32)> {
    let s = ((d as f32) * std::f32::consts::FRAC_1_SQRT_2).round() as i32;
    let all = [(-d, 0), (d, 0), (0, -d), (0, d), (-s, -s), (s, -s), (-s, s), (s, s)];
    all.into_iter().take(if eight { 8 } else { 4 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NodeFeatures;
    use std::collections::HashSet;

    #[test]
    fn every_feature_has_a_name_of_its_own() {
        let options = PixelOptions::default();
        let names = options.names();
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len());
        for name in [
            "constant",
            "place x",
            "rank of barrier from the frame",
            "gradient direction 45°, 7 px left",
        ] {
            assert!(names.iter().any(|n| n == name), "{name}");
        }
        let rgb = vec![50; 3 * 48];
        let windows = options.windows(&Picture::new(8, 6, &rgb).unwrap());
        assert_eq!(windows.n_features(), names.len());
    }

    #[test]
    fn images_of_any_size_and_colour_have_finite_features() {
        let noise: Vec<u8> = (0..3 * 400).map(|i: usize| (i * 7919 % 256) as u8).collect();
        let options = PixelOptions::default();
        for (width, height) in [(1, 1), (2, 1), (1, 17), (400, 1), (20, 20), (7, 50)] {
            for rgb in [
                &noise[..3 * width * height],
                &vec![255; 3 * width * height],
                &vec![0; 3 * width * height],
            ] {
                let planes = options.channels(&Picture::new(width, height, rgb).unwrap());
                for (channel, name) in planes.names().iter().enumerate() {
                    // About unit variance: nothing is far out.
                    assert!(
                        planes.channel(channel).iter().all(|v| v.abs() < 30.0),
                        "{name} of {width}×{height}"
                    );
                }
            }
        }
    }

    #[test]
    fn lengths_grow_with_the_image() {
        let options = PixelOptions { far: vec![20], ..PixelOptions::default() };
        let largest = |side: usize| {
            let rgb = vec![9; 3 * side * side];
            let windows = options.windows(&Picture::new(side, side, &rgb).unwrap());
            windows.places().iter().map(|place| place.dx).max()
        };
        assert_eq!((largest(96), largest(48)), (Some(20), Some(10)));
    }

    #[test]
    fn options_out_of_range_are_named() {
        assert_eq!(PixelOptions::default().check(), Ok(()));
        let far = PixelOptions { far: vec![5000], ..PixelOptions::default() };
        assert_eq!(far.check().unwrap_err(), "far has 5000; lengths must be at most 4096");
        let degree = PixelOptions { place_degree: 99, ..PixelOptions::default() };
        assert!(degree.check().unwrap_err().contains("place_degree is 99"));
    }
}
