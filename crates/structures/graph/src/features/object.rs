//! Where the object of an image seems to be, and places relative to it.
//!
//! With an amount qᵢ by which pixel i seems to be object, its centre is the mean of the places that q weighs and its size their standard deviations (s, t). Relative to these a pixel is at
//! u = (x − x̄)/s, v = (y − ȳ)/t, whatever the size of the object and wherever it is. Soft places are exp(−¾ ((u − k)² + (v − l)²)) for points (k, l) of a square grid.

/// Coordinates of a pixel relative to the object.
pub(super) struct ObjectPlaces {
    u: Vec<f32>,
    v: Vec<f32>,
}

/// The distance of the points of the grid, in standard deviations.
const SPACING: f32 = 0.8;
/// No pixel is farther away than this.
const FARTHEST: f32 = 3.0;
/// Added to standard deviations, of which a side of the image has 2.
const LEAST: f32 = 0.05;

impl ObjectPlaces {
    /// From the amounts of object of pixels.
    pub(super) fn new(object: &[f32], width: usize) -> Self {
        let height = object.len() / width;
        let place = |at: usize, n: usize| (2 * at + 1) as f32 / n as f32 - 1.0;
        let x = |i: usize| place(i % width, width);
        let y = |i: usize| place(i / width, height);
        Self { u: relative(object, x), v: relative(object, y) }
    }

    /// Soft membership of each pixel in the point (`k`, `l`) of a grid of `n` × `n`.
    pub(super) fn near(&self, k: usize, l: usize, n: usize) -> impl Iterator<Item = f32> + '_ {
        let at = move |step: usize| SPACING * (step as f32 - (n - 1) as f32 / 2.0);
        let (k, l) = (at(k), at(l));
        let square = |a: f32, b: f32| (a - b) * (a - b);
        self.u
            .iter()
            .zip(&self.v)
            .map(move |(&u, &v)| (-0.75 * (square(u, k) + square(v, l))).exp())
    }
}

/// One coordinate, centred and scaled by weighted mean and deviation.
fn relative(object: &[f32], coordinate: impl Fn(usize) -> f32) -> Vec<f32> {
    let (mut total, mut sum, mut squares) = (f64::from(f32::MIN_POSITIVE), 0.0f64, 0.0f64);
    for (i, &q) in object.iter().enumerate() {
        let (q, x) = (f64::from(q), f64::from(coordinate(i)));
        total += q;
        sum += q * x;
        squares += q * x * x;
    }
    let mean = sum / total;
    let deviation = (squares / total - mean * mean).max(0.0).sqrt() as f32 + LEAST;
    let scaled = |i: usize| ((coordinate(i) - mean as f32) / deviation).clamp(-FARTHEST, FARTHEST);
    (0..object.len()).map(scaled).collect()
}

/// The rank of each value among all, from −√3 to √3, so that the variance is 1; equal values have the mean of their ranks. It is the same for a plane and any rising function of it.
pub(super) fn ranks(values: &[f32]) -> Vec<f32> {
    let n = values.len();
    let mut order: Vec<u32> = (0..n as u32).collect();
    order.sort_by(|&a, &b| values[a as usize].total_cmp(&values[b as usize]));
    let mut ranks = vec![0.0; n];
    let mut start = 0;
    for same in order.chunk_by(|&a, &b| values[a as usize] == values[b as usize]) {
        let middle = start as f32 + (same.len() - 1) as f32 / 2.0;
        let rank = (2.0 * middle / (n.max(2) - 1) as f32 - 1.0) * 3.0f32.sqrt();
        same.iter().for_each(|&i| ranks[i as usize] = if n == 1 { 0.0 } else { rank });
        start += same.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_do_not_depend_on_the_scale() {
        let values = [3.0, -1.0, 10.0, 3.0, 0.0];
        let s = 3.0f32.sqrt();
        assert_eq!(ranks(&values), [0.25 * s, -s, s, 0.25 * s, -0.5 * s]);
        assert_eq!(ranks(&values.map(|v| v * v * v)), ranks(&values));
        assert_eq!(ranks(&[4.0; 3]), [0.0; 3]);
        assert_eq!(ranks(&[4.0]), [0.0]);
    }

    /// An object of four pixels beside the centre: places are the same wherever it is, and however large the image.
    #[test]
    fn places_move_with_the_object() {
        let near = |x0: usize, y0: usize| -> Vec<f32> {
            let object: Vec<f32> = (0..400)
                .map(|i| {
                    f32::from((x0..x0 + 4).contains(&(i % 20)) && (y0..y0 + 4).contains(&(i / 20)))
                })
                .collect();
            let places = ObjectPlaces::new(&object, 20);
            let all: Vec<f32> = places.near(3, 2, 5).collect();
            (0..4).map(|i| all[(y0 + i) * 20 + x0 + i]).collect()
        };
        for (a, b) in near(3, 5).iter().zip(near(12, 9)) {
            assert!((a - b).abs() < 1e-4, "{a} {b}");
        }
        // To the right of the centre there is more of it.
        let right = near(3, 5);
        assert!(right[3] > right[0]);
    }
}
