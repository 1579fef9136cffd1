//! Images with their labels as colours.

use lineal::data::RgbPixels;

/// Colours of labels, far from each other; the first label, often the background, has none.
const COLOURS: [[u8; 3]; 8] = [
    [230, 60, 60],
    [50, 120, 220],
    [60, 170, 80],
    [240, 170, 40],
    [150, 90, 200],
    [40, 180, 190],
    [220, 100, 170],
    [130, 110, 70],
];

/// How much of a pixel's colour is its label's, in 256ths.
const SHARE: u32 = 110;

/// The colour of a label.
pub fn colour(label: u8) -> Option<[u8; 3]> {
    let at = usize::from(label).checked_sub(1)?;
    Some(COLOURS[at % COLOURS.len()])
}

/// The image with the colours of its labels, and an outline between different ones.
pub fn overlay(image: &RgbPixels, labels: &[u8]) -> Vec<u8> {
    let mut rgb = image.rgb.clone();
    let (width, height) = (image.width, image.height);
    for (pixel, own) in rgb.chunks_exact_mut(3).enumerate() {
        let (x, y) = (pixel % width, pixel / width);
        let right = x + 1 < width && labels[pixel + 1] != labels[pixel];
        let below = y + 1 < height && labels[pixel + width] != labels[pixel];
        if right || below {
            own.copy_from_slice(&[255; 3]);
        } else if let Some(colour) = colour(labels[pixel]) {
            for (own, colour) in own.iter_mut().zip(colour) {
                let mixed = u32::from(*own) * (256 - SHARE) + u32::from(colour) * SHARE;
                *own = (mixed / 256) as u8;
            }
        }
    }
    rgb
}

/// Shades of grey as RGB: 0 is black and 1 is white.
pub fn shades(values: &[f32], least: f32) -> Vec<u8> {
    let shade = |v: &f32| (255.0 * (v - least) / (1.0 - least)).clamp(0.0, 255.0) as u8;
    values.iter().flat_map(|v| [shade(v); 3]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_coloured_and_outlined() {
        let image = RgbPixels { width: 3, height: 1, rgb: vec![100; 9] };
        let found = overlay(&image, &[0, 0, 1]);
        assert_eq!(found[..6], [100, 100, 100, 255, 255, 255]);
        assert!(found[6] > 140 && found[7] < 100);
        assert_eq!(shades(&[0.5, 0.75, 1.0], 0.5), [0, 0, 0, 127, 127, 127, 255, 255, 255]);
    }
}
