//! Superpixels: an image in connected pieces of about the same size and colour.
//!
//! SLIC (Achanta et al. 2012): k-means in colour and place from centres on a grid of step S = √(pixels / superpixels), with the distance
//!
//! ```text
//! D² = ‖c − c̄‖² + (m / S)² ‖p − p̄‖²        c in L*a*b*, m the compactness
//! ```
//!
//! where each centre claims pixels within 2S only, so that a round takes time linear in the pixels. Afterwards the largest connected piece of each centre is kept, and so are
//! other pieces of at least a quarter of S²; smaller ones are taken in by their neighbours. Ties go to the centre that comes first: the result is the same every time.

use super::colour::Lab;
use super::picture::Picture;

/// How an image is divided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SuperpixelOptions {
    /// About how many superpixels; not more than there are pixels.
    pub n_superpixels: usize,
    /// How much place counts against colour: 10 is usual, more gives squarer pieces.
    pub compactness: f32,
    /// Rounds of k-means.
    pub n_rounds: usize,
}

impl Default for SuperpixelOptions {
    fn default() -> Self {
        Self { n_superpixels: 300, compactness: 10.0, n_rounds: 10 }
    }
}

/// An image in pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Superpixels {
    width: usize,
    of_pixel: Vec<u32>,
    n_superpixels: usize,
}

/// Two superpixels that touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Border {
    /// The one with the smaller number.
    pub first: u32,
    /// The other one.
    pub second: u32,
    /// Pairs of pixels, side by side or one above the other, of which one is in each.
    pub length: u32,
}

impl Superpixels {
    /// Divides an image.
    pub fn new(picture: &Picture<'_>, options: &SuperpixelOptions) -> Self {
        let n_pixels = picture.n_pixels();
        let n_wanted = options.n_superpixels.clamp(1, n_pixels);
        let step = (n_pixels as f32 / n_wanted as f32).sqrt();
        let nearest = cluster(picture, step, options);
        let least = ((step * step / 4.0) as usize).max(1);
        let (of_pixel, n_superpixels) = connected(&nearest, picture.width(), least);
        Self { width: picture.width(), of_pixel, n_superpixels }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.n_superpixels
    }

    /// None? There is always one.
    pub fn is_empty(&self) -> bool {
        self.n_superpixels == 0
    }

    /// Pixels in a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The superpixel of each pixel, row by row.
    pub fn of_pixel(&self) -> &[u32] {
        &self.of_pixel
    }

    /// The number of pixels of each.
    pub fn sizes(&self) -> Vec<u32> {
        let mut sizes = vec![0; self.n_superpixels];
        self.of_pixel.iter().for_each(|&s| sizes[s as usize] += 1);
        sizes
    }

    /// What each pixel gets from its superpixel.
    pub fn to_pixels<T: Copy>(&self, values: &[T]) -> Vec<T> {
        self.of_pixel.iter().map(|&s| values[s as usize]).collect()
    }

    /// The label that most pixels of each superpixel have, the smallest of those; `void` where no pixel has one below `n_labels`.
    pub fn majority(&self, labels: &[u32], n_labels: usize, void: u32) -> Vec<u32> {
        let mut counts = vec![0u32; self.n_superpixels * n_labels];
        for (&superpixel, &label) in self.of_pixel.iter().zip(labels) {
            if (label as usize) < n_labels {
                counts[superpixel as usize * n_labels + label as usize] += 1;
            }
        }
        let best = |counts: &[u32]| {
            let most = counts.iter().copied().max().filter(|&most| most > 0);
            most.and_then(|most| counts.iter().position(|&c| c == most)).map_or(void, |l| l as u32)
        };
        if n_labels == 0 {
            return vec![void; self.n_superpixels];
        }
        counts.chunks_exact(n_labels).map(best).collect()
    }

    /// Which superpixels touch, ordered by their numbers.
    pub fn borders(&self) -> Vec<Border> {
        let mut pairs = Vec::new();
        self.for_each_crossing(|u, v| {
            let (a, b) = (self.of_pixel[u], self.of_pixel[v]);
            pairs.push((a.min(b), a.max(b)));
        });
        pairs.sort_unstable();
        let runs = pairs.chunk_by(|a, b| a == b);
        runs.map(|run| Border { first: run[0].0, second: run[0].1, length: run.len() as u32 })
            .collect()
    }

    /// `f(pixel, neighbour to the right or below)` where the two are in different superpixels.
    pub(super) fn for_each_crossing(&self, mut f: impl FnMut(usize, usize)) {
        let n = self.of_pixel.len();
        for u in 0..n {
            if (u + 1) % self.width != 0 && self.of_pixel[u] != self.of_pixel[u + 1] {
                f(u, u + 1);
            }
            if u + self.width < n && self.of_pixel[u] != self.of_pixel[u + self.width] {
                f(u, u + self.width);
            }
        }
    }
}

/// A centre: L, a, b, x, y.
type Centre = [f32; 5];

/// The nearest centre of each pixel.
fn cluster(picture: &Picture<'_>, step: f32, options: &SuperpixelOptions) -> Vec<u32> {
    let (width, height) = (picture.width(), picture.height());
    let lab = Lab::new(picture);
    let point = |x: usize, y: usize| {
        let [l, a, b] = lab.at(y * width + x);
        [l, a, b, x as f32, y as f32]
    };
    let n_across = ((width as f32 / step).round() as usize).clamp(1, width);
    let n_down = ((height as f32 / step).round() as usize).clamp(1, height);
    let mut centres: Vec<Centre> = Vec::with_capacity(n_across * n_down);
    for j in 0..n_down {
        for i in 0..n_across {
            centres.push(point(
                (2 * i + 1) * width / (2 * n_across),
                (2 * j + 1) * height / (2 * n_down),
            ));
        }
    }
    let of_place = (options.compactness / step) * (options.compactness / step);
    let reach = (2.0 * step).ceil();
    let mut nearest = vec![0u32; width * height];
    for _ in 0..options.n_rounds.max(1) {
        let mut distance = vec![f32::INFINITY; width * height];
        for (number, centre) in centres.iter().enumerate() {
            let span = |at: f32, n: usize| {
                ((at - reach).max(0.0) as usize)..((at + reach + 1.0).max(0.0) as usize).min(n)
            };
            for y in span(centre[4], height) {
                for x in span(centre[3], width) {
                    let p = point(x, y);
                    let square = |i: usize| (p[i] - centre[i]) * (p[i] - centre[i]);
                    let d = square(0) + square(1) + square(2) + of_place * (square(3) + square(4));
                    if d < distance[y * width + x] {
                        distance[y * width + x] = d;
                        nearest[y * width + x] = number as u32;
                    }
                }
            }
        }
        let mut sums = vec![([0.0f64; 5], 0u32); centres.len()];
        for (pixel, &number) in nearest.iter().enumerate() {
            let (sum, n) = &mut sums[number as usize];
            let p = point(pixel % width, pixel / width);
            (0..5).for_each(|i| sum[i] += f64::from(p[i]));
            *n += 1;
        }
        for (centre, (sum, n)) in centres.iter_mut().zip(&sums) {
            if *n > 0 {
                *centre = sum.map(|s| (s / f64::from(*n)) as f32);
            }
        }
    }
    nearest
}

/// Pieces that are connected, numbered in the order of their first pixels. The largest piece of each centre is kept, and others of at least `least` pixels; what is left over is taken in by the
/// pieces around it, layer by layer, so that even noise gives about as many superpixels as centres.
fn connected(nearest: &[u32], width: usize, least: usize) -> (Vec<u32>, usize) {
    const NONE: u32 = u32::MAX;
    let n = nearest.len();
    let (mut of_pixel, sizes) = pieces(nearest, width);
    let mut owner = vec![0; sizes.len()];
    of_pixel.iter().zip(nearest).for_each(|(&piece, &centre)| owner[piece as usize] = centre);
    let n_centres = owner.iter().max().map_or(0, |&most| most as usize + 1);
    let mut largest: Vec<Option<usize>> = vec![None; n_centres];
    for (piece, &centre) in owner.iter().enumerate() {
        let best = &mut largest[centre as usize];
        if best.is_none_or(|best| sizes[piece] > sizes[best]) {
            *best = Some(piece);
        }
    }
    let mut n_kept = 0;
    let mut number = vec![NONE; sizes.len()];
    for (piece, number) in number.iter_mut().enumerate() {
        if sizes[piece] >= least || largest[owner[piece] as usize] == Some(piece) {
            *number = n_kept;
            n_kept += 1;
        }
    }
    of_pixel.iter_mut().for_each(|piece| *piece = number[*piece as usize]);
    let mut reached: Vec<usize> = (0..n).filter(|&pixel| of_pixel[pixel] != NONE).collect();
    let mut at = 0;
    while let Some(&pixel) = reached.get(at) {
        at += 1;
        for neighbour in neighbours(pixel, width, n) {
            if of_pixel[neighbour] == NONE {
                of_pixel[neighbour] = of_pixel[pixel];
                reached.push(neighbour);
            }
        }
    }
    (of_pixel, n_kept as usize)
}

/// The connected piece of equal values that each pixel is in, and the sizes of the pieces.
fn pieces(values: &[u32], width: usize) -> (Vec<u32>, Vec<usize>) {
    const NONE: u32 = u32::MAX;
    let n = values.len();
    let mut of_pixel = vec![NONE; n];
    let mut sizes = Vec::new();
    let mut piece = Vec::new();
    for first in 0..n {
        if of_pixel[first] != NONE {
            continue;
        }
        let number = sizes.len() as u32;
        piece.clear();
        piece.push(first);
        of_pixel[first] = number;
        let mut at = 0;
        while let Some(&pixel) = piece.get(at) {
            at += 1;
            for neighbour in neighbours(pixel, width, n) {
                if of_pixel[neighbour] == NONE && values[neighbour] == values[first] {
                    of_pixel[neighbour] = number;
                    piece.push(neighbour);
                }
            }
        }
        sizes.push(piece.len());
    }
    (of_pixel, sizes)
}

/// The pixels beside, above and below.
fn neighbours(pixel: usize, width: usize, n: usize) -> impl Iterator<Item = usize> {
    let x = pixel % width;
    let left = (x > 0).then(|| pixel - 1);
    let right = (x + 1 < width).then_some(pixel + 1);
    let below = (pixel + width < n).then_some(pixel + width);
    [left, right, pixel.checked_sub(width), below].into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn divide(width: usize, height: usize, rgb: &[u8], n: usize) -> Superpixels {
        let picture = Picture::new(width, height, rgb).unwrap();
        Superpixels::new(&picture, &SuperpixelOptions { n_superpixels: n, ..Default::default() })
    }

    /// How many connected pieces the superpixels have in all.
    fn n_pieces(superpixels: &Superpixels) -> usize {
        pieces(&superpixels.of_pixel, superpixels.width).1.len()
    }

    proptest! {
        #[test]
        fn all_pixels_are_in_connected_pieces(
            (width, height, rgb) in (1usize..24, 1usize..24).prop_flat_map(|(w, h)| {
                (Just(w), Just(h), prop::collection::vec(any::<u8>(), 3 * w * h))
            }),
            n in 1usize..700,
        ) {
            let superpixels = divide(width, height, &rgb, n);
            prop_assert_eq!(superpixels.of_pixel().len(), width * height);
            prop_assert!(superpixels.sizes().iter().all(|&size| size > 0));
            prop_assert_eq!(superpixels.sizes().iter().sum::<u32>() as usize, width * height);
            prop_assert_eq!(n_pieces(&superpixels), superpixels.len());
            let borders = superpixels.borders();
            prop_assert!(borders.windows(2).all(|p| (p[0].first, p[0].second) < (p[1].first, p[1].second)));
            prop_assert!(borders.iter().all(|b| b.first < b.second && b.length > 0));
            let mut n_crossings = 0;
            superpixels.for_each_crossing(|_, _| n_crossings += 1);
            prop_assert_eq!(borders.iter().map(|b| b.length).sum::<u32>(), n_crossings);
        }
    }

    #[test]
    fn as_many_as_were_asked_for_about() {
        let smooth: Vec<u8> =
            (0..60 * 40).flat_map(|i| [(i % 60 * 4) as u8, (i / 60 * 6) as u8, 90]).collect();
        let n = divide(60, 40, &smooth, 96).len();
        assert!((70..=130).contains(&n), "{n}");
        let noise: Vec<u8> = (0..7200).map(|i: usize| (i * i * 31 % 253) as u8).collect();
        let n = divide(60, 40, &noise, 96).len();
        assert!((70..=130).contains(&n), "{n}");
        let n = divide(60, 40, &[128; 7200], 96).len();
        assert!((86..=106).contains(&n), "{n}");
    }

    #[test]
    fn borders_of_colours_are_kept() {
        let is_object = |i: usize| (11..29).contains(&(i % 40)) && (7..23).contains(&(i / 40));
        let rgb: Vec<u8> = (0..1200)
            .flat_map(|i| if is_object(i) { [220, 30, 30] } else { [30, 160, 60] })
            .collect();
        let superpixels = divide(40, 30, &rgb, 60);
        let gold: Vec<u32> = (0..1200).map(|i| u32::from(is_object(i))).collect();
        let labels = superpixels.majority(&gold, 2, 9);
        assert_eq!(superpixels.to_pixels(&labels), gold);
    }

    #[test]
    fn degenerate_images_are_divided_too() {
        assert_eq!(divide(1, 1, &[1, 2, 3], 50).of_pixel(), [0]);
        let every: Vec<u8> = (0..27).map(|i| i * 9).collect();
        assert_eq!(divide(3, 3, &every, 1000).len(), 9);
        assert_eq!(divide(3, 3, &every, 0).len(), 1);
        assert_eq!(divide(1, 5, &[9; 15], 5).len(), 5);
        let one = divide(2, 1, &[0; 6], 1);
        assert_eq!(one.majority(&[7, 7], 2, 255), [255]);
    }
}
