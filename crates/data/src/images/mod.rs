//! Images with masks: a label for each pixel.
//!
//! [`ImageSet::open`] takes
//!
//! - a list in TSV, `image<TAB>mask<TAB>weight` on each line, with paths relative to the list; mask and weight may be missing, and the first line may be a header that begins with
//!   `image`;
//! - a folder of images, whose masks are found by name: the mask of `x.jpg` is `x.mask.png`, `x_mask.png`, `x.pgm`, or `x.png` in a folder `masks` inside or beside the folder (or any
//!   of these as PGM or PPM);
//! - one image, whose mask is found the same way.
//!
//! Images are PNG, JPEG or PNM (PPM, PGM), known by their first bytes, and may be compressed by gzip or zstd. They become RGB of 8 bits; transparency and the orientation in
//! the EXIF data of cameras are ignored.
//!
//! In a mask every colour is a label: a grey value, or RGB (masks with a palette count by their colours). A [`MaskSchema`] says which; it is learnt from all masks, or made from
//! the names and values or the threshold of [`ImageReadOptions`]. Some values may be void.
//!
//! Opening reads headers only, so sizes, memory and missing files are known before the work begins. Pixels are read one image at a time.

mod decode;
mod list;
mod mask;
mod options;
mod set;
#[cfg(test)]
mod tests;

pub use decode::png;
pub use list::is_image;
pub use mask::{MaskLabel, MaskSchema, MaskValue};
pub use options::ImageReadOptions;
pub use set::{ImageSet, RgbPixels};

/// The label of a pixel, or of a node of a graph, that has none.
pub const VOID: u32 = u32::MAX;

/// What a pixel and its label take in memory.
const BYTES_PER_PIXEL: usize = 3 + size_of::<u32>();
