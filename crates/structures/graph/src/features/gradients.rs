//! Gradients: where the image changes, how much, and in which direction.

use super::colour::Lab;
use super::planes::{box_mean, smooth};

/// The greatest of the gradients of L, a and b at each pixel, as (∂x, ∂y) of central differences with clamped borders.
pub(super) fn strongest(lab: &Lab, width: usize) -> Vec<(f32, f32)> {
    let height = lab.a.len() / width;
    let mut strongest = Vec::with_capacity(lab.a.len());
    for y in 0..height {
        let (above, below) = (y.saturating_sub(1), (y + 1).min(height - 1));
        for x in 0..width {
            let (left, right) = (x.saturating_sub(1), (x + 1).min(width - 1));
            let mut best = (0.0f32, 0.0f32);
            let mut square = -1.0;
            for plane in lab.planes() {
                let dx = plane[y * width + right] - plane[y * width + left];
                let dy = plane[below * width + x] - plane[above * width + x];
                if dx * dx + dy * dy > square {
                    square = dx * dx + dy * dy;
                    best = (dx, dy);
                }
            }
            strongest.push(best);
        }
    }
    strongest
}

/// ln(1 + |gradient|) of the image smoothed over a radius.
pub(super) fn magnitude(lab: &Lab, width: usize, radius: usize) -> Vec<f32> {
    let lab = lab.map(|plane| smooth(plane, width, radius));
    strongest(&lab, width).iter().map(|(dx, dy)| (dx * dx + dy * dy).sqrt().ln_1p()).collect()
}

/// Directions of gradients without their sign, in `n` soft bins from horizontal on: the amounts in a square cell, relative to the gradient in a larger one (Dalal and Triggs 2005).
pub(super) fn orientations(lab: &Lab, width: usize, radius: usize, n: usize) -> Vec<Vec<f32>> {
    let gradients = strongest(lab, width);
    let mut bins = vec![vec![0.0f32; gradients.len()]; n];
    let mut total = Vec::with_capacity(gradients.len());
    for (pixel, (dx, dy)) in gradients.iter().enumerate() {
        let strength = (dx * dx + dy * dy).sqrt();
        let turn = (dy.atan2(*dx) / std::f32::consts::PI).rem_euclid(1.0) * n as f32;
        let bin = (turn as usize).min(n - 1);
        let within = turn - bin as f32;
        bins[bin][pixel] += strength * (1.0 - within);
        bins[(bin + 1) % n][pixel] += strength * within;
        total.push(strength);
    }
    let total = box_mean(&total, width, 2 * radius);
    let relative = |bin: &Vec<f32>| {
        let mut cell = box_mean(bin, width, radius);
        // Below two units of L* there is noise and no direction.
        cell.iter_mut().zip(&total).for_each(|(v, total)| *v /= total + 2.0);
        cell
    };
    bins.iter().map(relative).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ramp(f: impl Fn(usize, usize) -> f32) -> Lab {
        let lightness: Vec<f32> = (0..144).map(|i| f(i % 12, i / 12)).collect();
        Lab { lightness, a: vec![0.0; 144], b: vec![0.0; 144] }
    }

    #[test]
    fn ramps_have_their_slope() {
        let lab = ramp(|x, y| 3.0 * x as f32 + 0.5 * y as f32);
        assert_eq!(strongest(&lab, 12)[5 * 12 + 5], (6.0, 1.0));
        let expected = 37.0f32.sqrt().ln_1p();
        assert!((magnitude(&lab, 12, 1)[5 * 12 + 5] - expected).abs() < 1e-4);
    }

    #[test]
    fn directions_fall_into_their_bins() {
        for (lab, bin) in [(ramp(|x, _| 9.0 * x as f32), 0), (ramp(|_, y| -9.0 * y as f32), 2)] {
            let found = orientations(&lab, 12, 2, 4);
            let at = 6 * 12 + 6;
            assert!(
                found[bin][at] > 0.8 && found[(bin + 2) % 4][at] < 1e-3,
                "{bin} {}",
                found[bin][at]
            );
        }
    }
}
