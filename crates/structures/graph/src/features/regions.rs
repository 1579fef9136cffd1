//! Features of superpixels: means of those of their pixels; and of their borders: sums over the pixels that meet there.
//!
//! With sums over borders a cut between superpixels costs what the same cut between pixels would, in units of the mean side of a superpixel, so that scores of edges and
//! of nodes keep the same proportion however many superpixels there are.

use super::edges::GridEdges;
use super::superpixels::{Border, Superpixels};
use super::windows::Windows;
use crate::NodeFeatures;
use lineal_linalg::{Dense, ShapeError};

impl Superpixels {
    /// The mean of each feature over the pixels of each superpixel: a row per superpixel.
    ///
    /// # Errors
    /// If there are more values than a matrix holds.
    ///
    /// # Panics
    /// If the windows are those of another image.
    pub fn node_features(&self, windows: &Windows) -> Result<Dense, ShapeError> {
        assert_eq!(windows.n_nodes(), self.of_pixel().len(), "windows of another image");
        let n_features = windows.n_features();
        let mut sums = vec![0.0f64; self.len() * n_features];
        for (pixel, &superpixel) in self.of_pixel().iter().enumerate() {
            let row = &mut sums[superpixel as usize * n_features..][..n_features];
            windows.each(pixel, |feature, value| row[feature] += f64::from(value));
        }
        let mut values = Vec::with_capacity(sums.len());
        for (superpixel, &size) in self.sizes().iter().enumerate() {
            let row = &sums[superpixel * n_features..][..n_features];
            values.extend(row.iter().map(|sum| (sum / f64::from(size)) as f32));
        }
        Dense::new(self.len(), n_features, values)
    }

    /// Which superpixels touch, and a row of features for each border: sums of those of the edges across it, over the mean side of a superpixel. Diagonal edges are left out.
    ///
    /// # Errors
    /// If there are more values than a matrix holds.
    ///
    /// # Panics
    /// If the edges are those of another image.
    pub fn edge_features(&self, edges: &GridEdges) -> Result<(Vec<Border>, Dense), ShapeError> {
        let n_pixels = self.of_pixel().len();
        assert_eq!(
            (edges.width(), edges.height()),
            (self.width(), n_pixels / self.width()),
            "edges of another image"
        );
        let borders = self.borders();
        let n_features = edges.n_features();
        let mut sums = vec![0.0f64; borders.len() * n_features];
        self.for_each_crossing(|u, v| {
            let (a, b) = (self.of_pixel()[u], self.of_pixel()[v]);
            let pair = (a.min(b), a.max(b));
            let found = borders.binary_search_by_key(&pair, |border| (border.first, border.second));
            if let Ok(at) = found {
                // Rows of width 1 have a neighbour below at distance 1.
                let is_right = v == u + 1 && v % self.width() != 0;
                let direction = usize::from(!is_right);
                for (feature, sum) in sums[at * n_features..][..n_features].iter_mut().enumerate() {
                    *sum += f64::from(edges.plane(direction, feature)[u]);
                }
            }
        });
        let side = (n_pixels as f64 / self.len() as f64).sqrt();
        let values = sums.iter().map(|sum| (sum / side) as f32).collect();
        let features = Dense::new(borders.len(), n_features, values)?;
        Ok((borders, features))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{EdgeOptions, Picture, PixelOptions, SuperpixelOptions};
    use super::*;
    use lineal_linalg::Row;

    fn row(dense: &Dense, i: usize) -> &[f32] {
        match dense.row(i) {
            Row::Dense(values) => values,
            Row::Sparse(_) => unreachable!("dense rows"),
        }
    }

    #[test]
    fn means_and_sums_are_those_of_the_pixels() {
        let rgb: Vec<u8> = (0..3 * 20 * 14).map(|i: usize| (i * i % 251) as u8).collect();
        let picture = Picture::new(20, 14, &rgb).unwrap();
        let superpixels = Superpixels::new(
            &picture,
            &SuperpixelOptions { n_superpixels: 12, ..Default::default() },
        );
        let windows = PixelOptions::default().windows(&picture);
        let nodes = superpixels.node_features(&windows).unwrap();
        let sizes = superpixels.sizes();
        // One superpixel by itself.
        let mut expected = vec![0.0f64; windows.n_features()];
        for (pixel, _) in superpixels.of_pixel().iter().enumerate().filter(|&(_, &s)| s == 2) {
            windows.each(pixel, |j, v| expected[j] += f64::from(v) / f64::from(sizes[2]));
        }
        for (found, expected) in row(&nodes, 2).iter().zip(&expected) {
            assert!((f64::from(*found) - expected).abs() < 1e-4);
        }
        let edges = EdgeOptions { diagonals: false, ..EdgeOptions::default() }.edges(&picture);
        let (borders, features) = superpixels.edge_features(&edges).unwrap();
        let side = (280.0 / superpixels.len() as f32).sqrt();
        for (at, border) in borders.iter().enumerate() {
            let outline = row(&features, at)[0];
            assert!((outline - border.length as f32 / side).abs() < 1e-4);
            assert!(row(&features, at).iter().all(|&v| (0.0..=outline + 1e-4).contains(&v)));
        }
    }
}
