//! The channels of an image: what is known of each pixel before windows look around it.
//!
//! | group | channels |
//! |---|---|
//! | constant | 1 |
//! | place | Legendre polynomials of x and y in [−1, 1] up to a total degree; distances from the centre and from the border |
//! | colour | L*, a*, b* |
//! | means | means of L*, a*, b* over squares of several radii |
//! | deviations | ln(1 + standard deviation) of L* over these squares |
//! | gradients | ln(1 + the greatest gradient of L*, a*, b*) at several smoothings |
//! | orientations | directions of gradients in soft bins over a cell, relative to all gradient in the surroundings |
//! | colour bins | soft bins of lightness, and of hue by chroma, over a cell |
//! | log ratios | colours of the middle of the image against those of its frame, plain and [refined](super::colour_model), and their means over squares |
//! | barriers | distances from the frame by least barriers and shortest paths of colour |
//! | ranks | ranks of log ratios and barriers within the image, as piecewise linear functions |
//! | object places | soft places relative to where the object seems to be, and in units of its size |
//!
//! Every channel is shifted and scaled by constants such that on photographs its variance is about 1. Nothing is fitted, so nothing has to be stored with a model but the
//! options.

use super::barrier::{barriers, path_lengths};
use super::colour::{Lab, soft_bin};
use super::colour_model::{ColourBins, Places, refined};
use super::gradients::{magnitude, orientations};
use super::object::{ObjectPlaces, ranks};
use super::picture::Picture;
use super::pixels::PixelOptions;
use super::planes::{Planes, box_mean, smooth};

/// All channels of an image that the options ask for, in a fixed order.
pub(super) fn channels(picture: &Picture<'_>, options: &PixelOptions) -> Planes {
    let lab = Lab::new(picture);
    let mut made = Channels {
        planes: Planes::new(picture.width(), picture.height()),
        unit: options.unit(picture),
        width: picture.width(),
    };
    made.planes.push("constant", vec![1.0; picture.n_pixels()]);
    made.place(options.place_degree);
    made.colour(&lab);
    made.statistics(&lab, &options.radii);
    made.gradients(&lab, &options.gradient_radii);
    if options.orientations > 0 {
        made.orientations(&lab, options.orientations);
    }
    if options.colour_bins {
        made.colour_bins(&lab);
    }
    if options.log_ratios {
        made.log_ratios(&lab, options.refinements, &options.log_ratio_radii);
    }
    if options.barriers {
        made.barriers(&lab);
    }
    if options.ranks {
        made.ranks(&options.log_ratio_radii);
    }
    if options.object_grid > 0 {
        made.object_places(options.object_grid);
    }
    made.planes
}

struct Channels {
    planes: Planes,
    /// How many pixels a length of 1 in the options is.
    unit: f32,
    width: usize,
}

impl Channels {
    /// A length of the options in pixels.
    fn pixels(&self, length: usize) -> usize {
        super::pixels::scaled(length, self.unit)
    }

    fn push(&mut self, name: impl Into<String>, values: &[f32], shift: f32, scale: f32) {
        self.planes.push(name, values.iter().map(|v| (v - shift) * scale));
    }

    fn place(&mut self, degree: usize) {
        let (width, height) = (self.width, self.planes.height());
        let along = |n: usize| -> Vec<Vec<f32>> {
            (0..n).map(|i| legendre((2 * i + 1) as f32 / n as f32 - 1.0, degree)).collect()
        };
        let (xs, ys) = (along(width), along(height));
        for total in 1..=degree {
            for of_y in 0..=total {
                let of_x = total - of_y;
                let scale = (((2 * of_x + 1) * (2 * of_y + 1)) as f32).sqrt();
                let values: Vec<f32> =
                    ys.iter().flat_map(|y| xs.iter().map(|x| scale * x[of_x] * y[of_y])).collect();
                self.push(place_name(of_x, of_y), &values, 0.0, 1.0);
            }
        }
        let mut centre = Vec::with_capacity(width * height);
        let mut border = Vec::with_capacity(width * height);
        for y in 0..height {
            for x in 0..width {
                let (u, v) = (xs_at(x, width), xs_at(y, height));
                centre.push((u * u + v * v).sqrt());
                border.push(1.0 - u.abs().max(v.abs()));
            }
        }
        self.push("distance from the centre", &centre, 0.77, 3.5);
        self.push("distance from the border", &border, 0.33, 4.2);
    }

    fn colour(&mut self, lab: &Lab) {
        for (name, plane, (shift, scale)) in named(lab) {
            self.push(name, plane, shift, scale);
        }
    }

    fn statistics(&mut self, lab: &Lab, radii: &[usize]) {
        let squares: Vec<f32> = lab.lightness.iter().map(|v| v * v).collect();
        for &radius in radii {
            let pixels = self.pixels(radius);
            let means = lab.map(|plane| box_mean(plane, self.width, pixels));
            for (name, plane, (shift, scale)) in named(&means) {
                self.push(format!("mean {name} within {radius}"), plane, shift, scale);
            }
            let of_squares = box_mean(&squares, self.width, pixels);
            let deviations: Vec<f32> = (of_squares.iter().zip(&means.lightness))
                .map(|(square, mean)| (square - mean * mean).max(0.0).sqrt().ln_1p())
                .collect();
            self.push(format!("deviation of lightness within {radius}"), &deviations, 1.8, 1.3);
        }
    }

    fn gradients(&mut self, lab: &Lab, radii: &[usize]) {
        for &radius in radii {
            let pixels = if radius == 0 { 0 } else { self.pixels(radius) };
            let values = magnitude(lab, self.width, pixels);
            self.push(format!("gradient at scale {radius}"), &values, 2.0, 1.0);
        }
    }

    fn orientations(&mut self, lab: &Lab, n: usize) {
        let bins = orientations(lab, self.width, self.pixels(3), n);
        for (bin, values) in bins.iter().enumerate() {
            let degrees = (180 * bin + n / 2) / n;
            let scale = 1.2 * n as f32;
            self.push(format!("gradient direction {degrees}°"), values, 0.8 / n as f32, scale);
        }
    }

    fn colour_bins(&mut self, lab: &Lab) {
        let cell = self.pixels(2);
        let mut lightness = vec![vec![0.0f32; lab.a.len()]; N_LIGHTNESS];
        let mut hues = vec![vec![0.0f32; lab.a.len()]; N_HUES];
        for pixel in 0..lab.a.len() {
            let [l, a, b] = lab.at(pixel);
            let (bin, within) = soft_bin(l, 10.0, 90.0, N_LIGHTNESS);
            lightness[bin][pixel] = 1.0 - within;
            lightness[bin + 1][pixel] = within;
            // Grey has no hue: amounts grow with chroma and are full at 20.
            let chroma = ((a * a + b * b).sqrt() / 20.0).min(1.0);
            let turn = (b.atan2(a) / std::f32::consts::TAU).rem_euclid(1.0) * N_HUES as f32;
            let bin = (turn as usize).min(N_HUES - 1);
            let within = turn - bin as f32;
            hues[bin][pixel] += chroma * (1.0 - within);
            hues[(bin + 1) % N_HUES][pixel] += chroma * within;
        }
        for (bin, values) in lightness.iter().enumerate() {
            let centre = 10 + 80 * bin / (N_LIGHTNESS - 1);
            let values = box_mean(values, self.width, cell);
            self.push(format!("lightness about {centre}"), &values, 0.2, 4.0);
        }
        for (bin, values) in hues.iter().enumerate() {
            let values = box_mean(values, self.width, cell);
            self.push(format!("hue about {}°", 360 * bin / N_HUES), &values, 0.1, 4.0);
        }
    }

    fn log_ratios(&mut self, lab: &Lab, n_rounds: usize, radii: &[usize]) {
        let places = Places::new(self.width, self.planes.height());
        // Colours of single pixels are noisy; those of a little surroundings less.
        let bins = ColourBins::new(&lab.map(|plane| smooth(plane, self.width, 1)));
        let rounds = refined(&bins, &places, n_rounds);
        let last = rounds.len() - 1;
        for (round, values) in rounds.iter().enumerate() {
            if round != 0 && round != last {
                continue;
            }
            let name =
                if round == 0 { "log ratio of colour" } else { "refined log ratio of colour" };
            self.push(name, values, 0.0, 0.7);
            for &radius in radii {
                let mean = box_mean(values, self.width, self.pixels(radius));
                self.push(format!("mean {name} within {radius}"), &mean, 0.0, 0.8);
            }
        }
    }

    /// Ranks within the image, and how far they are above two thresholds: a piecewise linear function of the rank.
    fn ranks(&mut self, radii: &[usize]) {
        let mean = |name: &str, radius: Option<&usize>| match radius {
            Some(radius) => format!("mean {name} within {radius}"),
            None => name.to_owned(),
        };
        let mut ranked = vec![mean("refined log ratio of colour", radii.first())];
        if radii.len() > 1 {
            ranked.push(mean("refined log ratio of colour", radii.last()));
        }
        ranked.push(mean("log ratio of colour", radii.get(radii.len() / 2)));
        ranked
            .extend(["barrier from the frame", "path of colour from the frame"].map(str::to_owned));
        for name in ranked {
            // Without rounds of refinement, or without barriers, there is less to rank.
            let Some(channel) = self.planes.names().iter().position(|n| *n == name) else {
                continue;
            };
            let ranks = ranks(self.planes.channel(channel));
            self.push(format!("rank of {name}"), &ranks, 0.0, 1.0);
            for (above, shift) in [(-0.5f32, 1.0), (0.5, 0.45)] {
                let values: Vec<f32> = ranks.iter().map(|rank| (rank - above).max(0.0)).collect();
                self.push(format!("rank of {name} above {above}"), &values, shift, 1.6);
            }
        }
    }

    /// Places relative to what seems to be the object by colours, barriers and place.
    fn object_places(&mut self, n: usize) {
        let channel = |start: &str| {
            let names = self.planes.names();
            names.iter().position(|name| name.starts_with(start)).map(|c| self.planes.channel(c))
        };
        let (ratio, barrier) =
            (channel("mean refined log ratio"), channel("barrier from the frame"));
        let (width, height) = (self.width, self.planes.height());
        let object: Vec<f32> = (0..self.planes.n_pixels())
            .map(|i| {
                let (x, y) = (xs_at(i % width, width), xs_at(i / width, height));
                let at = |plane: Option<&[f32]>| plane.map_or(0.0, |plane| plane[i]);
                let score = 1.5 * at(ratio) + 0.8 * at(barrier) - 4.0 * (x * x + y * y) + 0.5;
                1.0 / (1.0 + (-score).exp())
            })
            .collect();
        let places = ObjectPlaces::new(&object, width);
        for l in 0..n {
            for k in 0..n {
                let values: Vec<f32> = places.near(k, l, n).collect();
                self.push(format!("place {k}, {l} of {n}×{n} in the object"), &values, 0.15, 4.0);
            }
        }
    }

    fn barriers(&mut self, lab: &Lab) {
        let lab = lab.map(|plane| smooth(plane, self.width, 1));
        let [l, a, b] = lab.planes().map(|plane| barriers(plane, self.width));
        let sums: Vec<f32> = (0..l.len()).map(|i| (l[i] + a[i] + b[i]).max(0.0).ln_1p()).collect();
        self.push("barrier from the frame", &sums, 2.2, 0.9);
        let mean = sums.iter().map(|&v| f64::from(v)).sum::<f64>() / sums.len() as f64;
        self.push("barrier from the frame against its mean", &sums, mean as f32, 1.2);
        let lengths = path_lengths(lab.planes(), self.width);
        let lengths: Vec<f32> = lengths.iter().map(|v| v.ln_1p()).collect();
        self.push("path of colour from the frame", &lengths, 2.6, 0.8);
    }
}

/// Soft bins of lightness.
const N_LIGHTNESS: usize = 5;
/// Soft bins of hue.
const N_HUES: usize = 6;

/// L*, a*, b* with what centres and scales them on photographs.
fn named(lab: &Lab) -> [(&'static str, &[f32], (f32, f32)); 3] {
    let [l, a, b] = lab.planes();
    [
        ("lightness", l, (50.0, 0.04)),
        ("red against green", a, (0.0, 0.1)),
        ("yellow against blue", b, (8.0, 0.07)),
    ]
}

/// The centre of a pixel in [−1, 1].
fn xs_at(i: usize, n: usize) -> f32 {
    (2 * i + 1) as f32 / n as f32 - 1.0
}

/// P₀(x) … of Legendre, by their recurrence.
fn legendre(x: f32, degree: usize) -> Vec<f32> {
    let mut p = vec![1.0, x];
    for n in 1..degree {
        p.push(((2 * n + 1) as f32 * x * p[n] - n as f32 * p[n - 1]) / (n + 1) as f32);
    }
    p
}

fn place_name(of_x: usize, of_y: usize) -> String {
    let power = |letter: &str, n: usize| match n {
        0 => String::new(),
        1 => letter.to_owned(),
        _ => format!("{letter}^{n}"),
    };
    format!("place {}{}", power("x", of_x), power("y", of_y))
}
