//! Numbers for each pixel, one plane per channel, and means of them over squares.

use std::ops::Range;

/// Channels of one image: for each a name and a number per pixel, row by row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Planes {
    width: usize,
    height: usize,
    names: Vec<String>,
    values: Vec<f32>,
}

impl Planes {
    /// No channel yet.
    pub fn new(width: usize, height: usize) -> Self {
        Self { width, height, names: Vec::new(), values: Vec::new() }
    }

    /// Adds a channel.
    ///
    /// # Panics
    /// If there is not one value per pixel.
    pub fn push(&mut self, name: impl Into<String>, values: impl IntoIterator<Item = f32>) {
        self.values.extend(values);
        self.names.push(name.into());
        assert_eq!(self.values.len(), self.names.len() * self.n_pixels(), "one value per pixel");
    }

    /// Pixels in a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Rows.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Pixels.
    pub fn n_pixels(&self) -> usize {
        self.width * self.height
    }

    /// How many channels.
    pub fn n_channels(&self) -> usize {
        self.names.len()
    }

    /// The name of each channel.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// All pixels of a channel, row by row.
    pub fn channel(&self, channel: usize) -> &[f32] {
        let n = self.n_pixels();
        &self.values[channel * n..(channel + 1) * n]
    }

    /// Row `y` of a channel.
    #[inline]
    pub fn row(&self, channel: usize, y: usize) -> &[f32] {
        let at = (channel * self.height + y) * self.width;
        &self.values[at..at + self.width]
    }
}

/// The mean over the square of side 2·radius + 1 around each pixel, or over as much of it as lies in the image. Rows first, then columns, by running sums in f64: the time does
/// not depend on the radius.
pub(super) fn box_mean(values: &[f32], width: usize, radius: usize) -> Vec<f32> {
    if radius == 0 {
        return values.to_vec();
    }
    let height = values.len() / width;
    let mut rows = vec![0.0f32; values.len()];
    let mut sums = vec![0.0f64; width + 1];
    for (from, to) in values.chunks_exact(width).zip(rows.chunks_exact_mut(width)) {
        for x in 0..width {
            sums[x + 1] = sums[x] + f64::from(from[x]);
        }
        for (x, mean) in to.iter_mut().enumerate() {
            let Range { start, end } = around(x, radius, width);
            *mean = ((sums[end] - sums[start]) / (end - start) as f64) as f32;
        }
    }
    let mut means = vec![0.0f32; values.len()];
    let mut sums = vec![0.0f64; width];
    let mut held = 0..0;
    for (y, means) in means.chunks_exact_mut(width).enumerate() {
        let want = around(y, radius, height);
        for entering in held.end..want.end {
            let row = &rows[entering * width..(entering + 1) * width];
            sums.iter_mut().zip(row).for_each(|(sum, &v)| *sum += f64::from(v));
        }
        for leaving in held.start..want.start {
            let row = &rows[leaving * width..(leaving + 1) * width];
            sums.iter_mut().zip(row).for_each(|(sum, &v)| *sum -= f64::from(v));
        }
        let n = want.len() as f64;
        means.iter_mut().zip(&sums).for_each(|(mean, &sum)| *mean = (sum / n) as f32);
        held = want;
    }
    means
}

/// Two means over squares, one after the other: nearly a Gaussian of variance ⅔·radius·(radius + 1).
pub(super) fn smooth(values: &[f32], width: usize, radius: usize) -> Vec<f32> {
    box_mean(&box_mean(values, width, radius), width, radius)
}

fn around(at: usize, radius: usize, n: usize) -> Range<usize> {
    at.saturating_sub(radius)..(at + radius + 1).min(n)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn means_are_those_of_the_square(
            values in prop::collection::vec(-5.0f32..5.0, 35),
            radius in 0usize..9,
            is_wide: bool,
        ) {
            let (width, height) = if is_wide { (7, 5) } else { (5, 7) };
            let means = box_mean(&values, width, radius);
            for y in 0..height {
                for x in 0..width {
                    let mut inside = Vec::new();
                    for v in 0usize..height {
                        for u in 0usize..width {
                            if u.abs_diff(x) <= radius && v.abs_diff(y) <= radius {
                                inside.push(values[v * width + u]);
                            }
                        }
                    }
                    let mean = inside.iter().sum::<f32>() / inside.len() as f32;
                    prop_assert!((means[y * width + x] - mean).abs() < 1e-4);
                }
            }
        }
    }

    #[test]
    fn channels_lie_one_after_the_other() {
        let mut planes = Planes::new(2, 2);
        planes.push("a", [1.0, 2.0, 3.0, 4.0]);
        planes.push("b", [5.0, 6.0, 7.0, 8.0]);
        assert_eq!(
            (planes.row(1, 1), planes.channel(0)),
            (&[7.0, 8.0][..], &[1.0, 2.0, 3.0, 4.0][..])
        );
    }
}
