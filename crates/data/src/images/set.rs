//! A set of images whose sizes are known and whose pixels are read one image at a time.

use std::collections::BTreeSet;
use std::path::Path;

use crate::error::{Error, ErrorKind, quote};
use crate::source::Source;

use super::list::{Entry, entries};
use super::mask::{self, MaskSchema};
use super::options::ImageReadOptions;
use super::{BYTES_PER_PIXEL, decode};

/// Images, each with or without a mask. Opening reads headers only: [`memory`](Self::memory) says what all pixels would take before any is read.
#[derive(Clone, Debug, PartialEq)]
pub struct ImageSet {
    source: String,
    entries: Vec<Entry>,
    sizes: Vec<(usize, usize)>,
    options: ImageReadOptions,
    n_skipped: usize,
}

/// An image in RGB, 8 bits per colour, row by row from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RgbPixels {
    /// Pixels in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Three bytes per pixel.
    pub rgb: Vec<u8>,
}

impl RgbPixels {
    /// Decodes an image that is in memory, of at most so many pixels; `name` is for messages.
    pub fn decode(bytes: &[u8], name: &str, max_pixels: usize) -> Result<Self, Error> {
        let rgb = decode::decode(bytes, name, max_pixels)?.into_rgb8();
        let (width, height) = (rgb.width() as usize, rgb.height() as usize);
        Ok(Self { width, height, rgb: rgb.into_raw() })
    }
}

/// Labels of pixels, and the first value of a mask that is not a label.
type LabelsAndUnseen = (Vec<u32>, Option<mask::MaskValue>);

impl ImageSet {
    /// Finds the images of a list, a folder or a file, and reads their sizes.
    pub fn open(source: impl Into<Source>, options: &ImageReadOptions) -> Result<Self, Error> {
        let source = source.into();
        let mut entries = entries(&source, options.ignore_masks)?;
        if options.ignore_masks {
            entries.iter_mut().for_each(|entry| entry.mask = None);
        }
        let mut set = Self {
            source: source.name(),
            entries,
            sizes: Vec::new(),
            options: options.clone(),
            n_skipped: super::list::n_skipped(&source),
        };
        for entry in &set.entries {
            let size = set.size_of(&entry.image, "image", entry)?;
            if let Some(path) = &entry.mask {
                let of_mask = set.size_of(path, "mask", entry)?;
                if of_mask != size {
                    let message = format!(
                        "the mask is {}×{} pixels large and its image {} {}×{}; they must be of the same size",
                        of_mask.0,
                        of_mask.1,
                        quote(entry.image.display().to_string()),
                        size.0,
                        size.1
                    );
                    return Err(Error::new(ErrorKind::Size, &path.display().to_string(), message));
                }
            } else if options.require_masks {
                let message = match entry.line {
                    Some(_) => "the image has no mask; name it in the second column, after a tab"
                        .to_owned(),
                    None => format!(
                        "{} has no mask; call it like the image with _mask at the end, or put it into a folder masks",
                        quote(entry.image.display().to_string())
                    ),
                };
                let error = Error::new(ErrorKind::Label, &set.source, message);
                return Err(Error { line: entry.line, ..error });
            }
            set.sizes.push(size);
        }
        Ok(set)
    }

    /// Where the images were found.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Files of the folder that are images of a kind that cannot be read.
    pub fn n_skipped(&self) -> usize {
        self.n_skipped
    }

    /// How many images.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// No image? There is always one.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The file of an image.
    ///
    /// # Panics
    /// If there is no image of that number, as for all that take one.
    pub fn path(&self, image: usize) -> &Path {
        &self.entries[image].image
    }

    /// The file of the mask of an image.
    pub fn mask_path(&self, image: usize) -> Option<&Path> {
        self.entries[image].mask.as_deref()
    }

    /// How much an image counts.
    pub fn weight(&self, image: usize) -> f32 {
        self.entries[image].weight
    }

    /// Width and height of an image.
    pub fn size(&self, image: usize) -> (usize, usize) {
        self.sizes[image]
    }

    /// Pixels of all images.
    pub fn n_pixels(&self) -> usize {
        self.sizes.iter().map(|(width, height)| width * height).sum()
    }

    /// How many bytes the pixels and labels of all images take.
    pub fn memory(&self) -> usize {
        self.n_pixels().saturating_mul(BYTES_PER_PIXEL)
    }

    /// What the values of the masks mean: as the options say, or else by a walk over all masks, in which every value is a label.
    pub fn learn_masks(&self) -> Result<MaskSchema, Error> {
        let refuse = |message: String| Error::new(ErrorKind::Label, &self.source, message);
        if let Some(schema) = MaskSchema::of_options(&self.options).map_err(refuse)? {
            return Ok(schema);
        }
        let mut found = BTreeSet::new();
        for path in self.entries.iter().filter_map(|entry| entry.mask.as_deref()) {
            mask::collect(&self.values(path)?, &mut found, &path.display().to_string())?;
        }
        let schema = MaskSchema::of_values(&found, &self.options.void);
        schema
            .check()
            .map_err(|why| refuse(format!("labels cannot be learnt from the masks: {why}")))?;
        Ok(schema)
    }

    /// Reads the pixels of an image.
    pub fn read(&self, image: usize) -> Result<RgbPixels, Error> {
        let path = self.path(image);
        let bytes = Source::Path(path.to_owned()).open()?;
        let file = path.display().to_string();
        let pixels = RgbPixels::decode(&bytes, &file, self.options.max_pixels)?;
        if (pixels.width, pixels.height) != self.sizes[image] {
            let message = "the file has changed while it was being read";
            return Err(Error::new(ErrorKind::Size, &file, message));
        }
        Ok(pixels)
    }

    /// Reads the label of each pixel, or [`VOID`](super::VOID); `None` if the image has no mask. A value that is not a label is an error.
    pub fn read_labels(
        &self,
        image: usize,
        schema: &MaskSchema,
    ) -> Result<Option<Vec<u32>>, Error> {
        let Some((values, path)) = self.values_of(image)? else { return Ok(None) };
        schema.labels_of(&values, self.sizes[image].0, &path.display().to_string()).map(Some)
    }

    /// The same, but pixels with a value that is not a label have the number of labels; the first such value is returned, too.
    pub fn read_labels_and_unseen(
        &self,
        image: usize,
        schema: &MaskSchema,
    ) -> Result<Option<LabelsAndUnseen>, Error> {
        Ok(self.values_of(image)?.map(|(values, _)| schema.labels_and_unseen(&values)))
    }

    fn values_of(&self, image: usize) -> Result<Option<(Vec<mask::MaskValue>, &Path)>, Error> {
        let Some(path) = self.mask_path(image) else { return Ok(None) };
        let values = self.values(path)?;
        let (width, height) = self.sizes[image];
        if values.len() != width * height {
            let message = "the file has changed while it was being read";
            return Err(Error::new(ErrorKind::Size, &path.display().to_string(), message));
        }
        Ok(Some((values, path)))
    }

    /// Reads what a user knows of the labels: pixels that have just the value of a label and are not transparent. All others are [`VOID`](super::VOID); `None` if the image has no mask.
    pub fn read_known(&self, image: usize, schema: &MaskSchema) -> Result<Option<Vec<u32>>, Error> {
        let Some(path) = self.mask_path(image) else { return Ok(None) };
        let exact = |value: &mask::MaskValue| {
            let label = schema.labels.iter().position(|label| label.value == *value);
            label.map_or(super::VOID, |label| label as u32)
        };
        let decoded = self.decode(path)?;
        let mut labels: Vec<u32> = mask::values(&decoded).iter().map(exact).collect();
        let transparent = mask::transparent(&decoded).unwrap_or_default();
        let unmarked = labels.iter_mut().zip(transparent).filter(|(_, transparent)| *transparent);
        unmarked.for_each(|(label, _)| *label = super::VOID);
        Ok(Some(labels))
    }

    fn values(&self, path: &Path) -> Result<Vec<mask::MaskValue>, Error> {
        Ok(mask::values(&self.decode(path)?))
    }

    fn decode(&self, path: &Path) -> Result<image::DynamicImage, Error> {
        let bytes = Source::Path(path.to_owned()).open()?;
        decode::decode(&bytes, &path.display().to_string(), self.options.max_pixels)
    }

    fn size_of(&self, path: &Path, what: &str, entry: &Entry) -> Result<(usize, usize), Error> {
        let file = path.display().to_string();
        let read = || {
            let bytes = Source::Path(path.to_owned()).open()?;
            let size = decode::size(&bytes, &file)?;
            decode::check_size(size, &file, self.options.max_pixels)?;
            Ok(size)
        };
        read().map_err(|error: Error| match entry.line {
            None => error,
            // The list knows the line, and the message the file.
            Some(line) => {
                let message = format!("the {what} `{file}`: {}", error.message);
                Error::in_line(error.kind, &self.source, line, None, message)
            }
        })
    }
}
