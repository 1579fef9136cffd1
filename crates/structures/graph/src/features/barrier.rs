//! How hard a pixel is to reach from the frame of the image.
//!
//! The *barrier* of a path is the difference of the largest and the smallest value on it, its *length* the sum of the absolute differences from step to step.
//! The distance of a pixel is the least over all paths from the border of the image: background is joined to the frame by smooth paths, an object stands behind its
//! outline. The least barrier is computed as in Zhang et al. 2015 ("Minimum barrier salient object detection at 80 FPS"): raster scans in alternating
//! order, each pixel trying the paths of its two neighbours that came before, which is close to the exact one after three scans. Lengths by the same scans.

/// Scans, in alternating order.
const N_SCANS: usize = 4;

/// The barrier distance of each pixel from the border of the image.
pub(super) fn barriers(values: &[f32], width: usize) -> Vec<f32> {
    let mut highest = values.to_vec();
    let mut lowest = values.to_vec();
    let mut distance = seeds(values.len(), width);
    scan(width, values.len() / width, |pixel, from| {
        let value = values[pixel];
        let (high, low) = (highest[from].max(value), lowest[from].min(value));
        if high - low < distance[pixel] {
            distance[pixel] = high - low;
            highest[pixel] = high;
            lowest[pixel] = low;
        }
    });
    distance
}

/// The length of the shortest path of each pixel from the border of the image, over steps whose length is the distance of colours.
pub(super) fn path_lengths(planes: [&[f32]; 3], width: usize) -> Vec<f32> {
    let n = planes[0].len();
    let mut distance = seeds(n, width);
    scan(width, n / width, |pixel, from| {
        let square: f32 = planes.iter().map(|p| (p[pixel] - p[from]) * (p[pixel] - p[from])).sum();
        distance[pixel] = distance[pixel].min(distance[from] + square.sqrt());
    });
    distance
}

/// 0 at the border of the image, far away elsewhere.
fn seeds(n: usize, width: usize) -> Vec<f32> {
    let height = n / width;
    let is_border = |i: usize| {
        let (x, y) = (i % width, i / width);
        x == 0 || y == 0 || x + 1 == width || y + 1 == height
    };
    (0..n).map(|i| if is_border(i) { 0.0 } else { f32::MAX }).collect()
}

/// `step(pixel, neighbour)` for the neighbours that came before: left and above in even scans, right and below in odd ones.
fn scan(width: usize, height: usize, mut step: impl FnMut(usize, usize)) {
    for n in 0..N_SCANS {
        if n % 2 == 0 {
            for y in 1..height {
                for x in 1..width {
                    let pixel = y * width + x;
                    step(pixel, pixel - 1);
                    step(pixel, pixel - width);
                }
            }
        } else {
            for y in (0..height.saturating_sub(1)).rev() {
                for x in (0..width.saturating_sub(1)).rev() {
                    let pixel = y * width + x;
                    step(pixel, pixel + 1);
                    step(pixel, pixel + width);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A wall with a door: the inside is reached through it.
    #[test]
    fn paths_go_through_doors() {
        #[rustfmt::skip]
        let values = [
            0.0, 0.0, 0.0, 0.0, 0.0,
            0.0, 9.0, 9.0, 9.0, 0.0,
            0.0, 9.0, 1.0, 2.0, 0.0,
            0.0, 9.0, 9.0, 9.0, 0.0,
            0.0, 0.0, 0.0, 0.0, 0.0,
        ];
        let distance = barriers(&values, 5);
        assert_eq!((distance[12], distance[13], distance[11]), (2.0, 2.0, 9.0));
        let lengths = path_lengths([&values, &[0.0; 25], &[0.0; 25]], 5);
        assert_eq!((lengths[12], lengths[13], lengths[11]), (3.0, 2.0, 9.0));
    }

    #[test]
    fn what_is_all_border_is_at_no_distance() {
        assert_eq!(barriers(&[1.0, 5.0, 3.0], 3), [0.0; 3]);
        assert_eq!(barriers(&[1.0], 1), [0.0]);
    }

    proptest! {
        /// Lengths by Bellman–Ford over all pairs until nothing changes are a lower bound, and four scans are near it.
        #[test]
        fn lengths_are_near_the_shortest(values in prop::collection::vec(0.0f32..10.0, 36)) {
            let zeros = [0.0; 36];
            let scanned = path_lengths([&values, &zeros, &zeros], 6);
            let mut exact = seeds(36, 6);
            for _ in 0..36 {
                for i in 0..36usize {
                    for j in 0..36usize {
                        if (i % 6).abs_diff(j % 6) + (i / 6).abs_diff(j / 6) == 1 {
                            exact[i] = exact[i].min(exact[j] + (values[i] - values[j]).abs());
                        }
                    }
                }
            }
            for (scanned, exact) in scanned.iter().zip(&exact) {
                prop_assert!(*scanned >= exact - 1e-4 && *scanned <= exact * 1.5 + 1e-4, "{} {}", scanned, exact);
            }
        }
    }
}
