//! Features of images, made from nothing but their pixels.
//!
//! [`PixelOptions`] say which features pixels have and make them: [`Windows`], which score and accumulate without ever writing the features out. [`EdgeOptions`] make the features of
//! the edges between neighbouring pixels, [`GridEdges`]. [`Superpixels`] divide an image into pieces, with features of their own from those of the pixels.
//!
//! ```
//! use lineal_graph::NodeFeatures;
//! use lineal_graph::features::{EdgeOptions, Picture, PixelOptions, SuperpixelOptions, Superpixels};
//!
//! let rgb: Vec<u8> = (0..32 * 24 * 3).map(|i| (i % 251) as u8).collect();
//! let picture = Picture::new(32, 24, &rgb)?;
//! let options = PixelOptions::default();
//! let pixels = options.windows(&picture);
//! assert_eq!((pixels.n_nodes(), pixels.n_features()), (768, options.names().len()));
//! let edges = EdgeOptions::default().edges(&picture);
//! assert_eq!(edges.directions().len(), 4);
//!
//! let superpixels = Superpixels::new(&picture, &SuperpixelOptions { n_superpixels: 20, ..Default::default() });
//! let nodes = superpixels.node_features(&pixels)?;
//! let (borders, features) = superpixels.edge_features(&edges)?;
//! # let _ = (nodes, borders, features);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod barrier;
mod channels;
mod colour;
mod colour_model;
mod edges;
mod gradients;
mod object;
mod picture;
mod pixels;
mod planes;
mod regions;
mod superpixels;
mod windows;

pub use colour::Lab;
pub use edges::{EdgeOptions, GridEdges};
pub use picture::{Picture, PictureError};
pub use pixels::PixelOptions;
pub use planes::Planes;
pub use superpixels::{Border, SuperpixelOptions, Superpixels};
pub use windows::{Place, Windows};
