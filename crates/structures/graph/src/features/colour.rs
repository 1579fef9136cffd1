//! Colours in CIE L*a*b*, in which distances are about as large as they look, and by hue.
//!
//! From sRGB under the white D65 (IEC 61966-2-1; CIE 15): L runs from 0 to 100, a from green to red, b from blue to yellow.

use super::picture::Picture;

/// The planes L, a and b of an image.
#[derive(Clone, Debug, PartialEq)]
pub struct Lab {
    /// Lightness, 0 to 100.
    pub lightness: Vec<f32>,
    /// From green (about −86) to red (about 98).
    pub a: Vec<f32>,
    /// From blue (about −108) to yellow (about 94).
    pub b: Vec<f32>,
}

impl Lab {
    /// The colours of an image.
    pub fn new(picture: &Picture<'_>) -> Self {
        let linear: Vec<f32> = (0..256).map(|v| linear(v as f32 / 255.0)).collect();
        let n = picture.n_pixels();
        let mut lab = Self {
            lightness: Vec::with_capacity(n),
            a: Vec::with_capacity(n),
            b: Vec::with_capacity(n),
        };
        for rgb in picture.colours() {
            let [red, green, blue] = rgb.map(|v| linear[usize::from(v)]);
            let x = (0.412_456_4 * red + 0.357_576_1 * green + 0.180_437_5 * blue) / 0.950_47;
            let y = 0.212_672_9 * red + 0.715_152_2 * green + 0.072_175 * blue;
            let z = (0.019_333_9 * red + 0.119_192 * green + 0.950_304_1 * blue) / 1.088_83;
            let [x, y, z] = [x, y, z].map(compress);
            lab.lightness.push(116.0 * y - 16.0);
            lab.a.push(500.0 * (x - y));
            lab.b.push(200.0 * (y - z));
        }
        lab
    }

    /// L, a and b of a pixel.
    #[inline]
    pub fn at(&self, pixel: usize) -> [f32; 3] {
        [self.lightness[pixel], self.a[pixel], self.b[pixel]]
    }

    /// L, a and b as planes.
    pub fn planes(&self) -> [&[f32]; 3] {
        [&self.lightness, &self.a, &self.b]
    }

    /// The same with `f` applied to each plane.
    pub(super) fn map(&self, f: impl Fn(&[f32]) -> Vec<f32>) -> Self {
        Self { lightness: f(&self.lightness), a: f(&self.a), b: f(&self.b) }
    }
}

fn linear(v: f32) -> f32 {
    if v <= 0.040_45 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
}

fn compress(t: f32) -> f32 {
    const EDGE: f32 = 216.0 / 24_389.0;
    if t > EDGE { t.cbrt() } else { (24_389.0 / 27.0 * t + 16.0) / 116.0 }
}

/// Soft membership of a value in `n` bins with centres at equal distances from `low` to `high`: the two bins beside it, with amounts that sum to 1.
#[inline]
pub(super) fn soft_bin(value: f32, low: f32, high: f32, n: usize) -> (usize, f32) {
    let at = ((value - low) / (high - low)).clamp(0.0, 1.0) * (n - 1) as f32;
    let bin = (at as usize).min(n - 2);
    (bin, at - bin as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_those_of_another_library() {
        // skimage.color.rgb2lab(np.uint8([[[255, 0, 0], [255, 255, 255], [30, 100, 200], [0, 0, 0]]])) of scikit-image 0.26
        let rgb = [255, 0, 0, 255, 255, 255, 30, 100, 200, 0, 0, 0];
        let lab = Lab::new(&Picture::new(4, 1, &rgb).unwrap());
        let expected = [
            [53.2408, 80.0942, 67.2015],
            [100.0, 0.0, 0.0],
            [43.5927, 16.3839, -57.9012],
            [0.0, 0.0, 0.0],
        ];
        for (pixel, expected) in expected.iter().enumerate() {
            for (found, expected) in lab.at(pixel).iter().zip(expected) {
                assert!((found - expected).abs() < 0.02, "{found} {expected}");
            }
        }
    }

    #[test]
    fn soft_bins_share_a_value() {
        assert_eq!(soft_bin(0.0, 0.0, 1.0, 3), (0, 0.0));
        assert_eq!(soft_bin(0.75, 0.0, 1.0, 3), (1, 0.5));
        assert_eq!(soft_bin(9.0, 0.0, 1.0, 3), (1, 1.0));
    }
}
