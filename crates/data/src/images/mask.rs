//! Masks: images in which every colour is a label.

use std::collections::BTreeSet;
use std::fmt;
use std::io::Cursor;
use std::str::FromStr;

use image::{DynamicImage, ImageFormat};
use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind, quote};

use super::options::ImageReadOptions;
use super::{VOID, decode};

/// A colour in a mask: a grey value, or RGB. Written `127` and `#ff8000`; a colour without a hue is its grey value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum MaskValue {
    /// 0 to 255, or to 65535 in images of 16 bits.
    Grey(u16),
    /// Red, green and blue, not all the same.
    Rgb([u8; 3]),
}

/// A label and its value in masks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MaskLabel {
    /// What it is called.
    pub name: String,
    /// What pixels that have it have in a mask.
    pub value: MaskValue,
}

/// What masks mean: what a model must know of those that it was trained on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MaskSchema {
    /// The labels, by number.
    pub labels: Vec<MaskLabel>,
    /// Grey values from here on are label 1, those below label 0.
    pub threshold: Option<u16>,
    /// Values that are no label.
    pub void: Vec<MaskValue>,
}

/// More values than this in masks are not labels but shades.
const MAX_VALUES: usize = 256;

impl MaskValue {
    fn of_rgb(rgb: [u8; 3]) -> Self {
        if rgb[0] == rgb[1] && rgb[1] == rgb[2] {
            Self::Grey(rgb[0].into())
        } else {
            Self::Rgb(rgb)
        }
    }
}

impl fmt::Display for MaskValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Grey(grey) => write!(f, "{grey}"),
            Self::Rgb([r, g, b]) => write!(f, "#{r:02x}{g:02x}{b:02x}"),
        }
    }
}

impl FromStr for MaskValue {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "{} is not a value of a mask; write a grey value such as 127 or a colour such as #ff8000",
                quote(text)
            )
        };
        if let Some(hex) = text.strip_prefix('#') {
            let is_hex = hex.len() == 6 && hex.bytes().all(|b| b.is_ascii_hexdigit());
            let value = u32::from_str_radix(hex, 16).ok().filter(|_| is_hex).ok_or_else(wrong)?;
            let [_, rgb @ ..] = value.to_be_bytes();
            return Ok(Self::of_rgb(rgb));
        }
        text.parse().map(Self::Grey).map_err(|_| wrong())
    }
}

impl TryFrom<String> for MaskValue {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<MaskValue> for String {
    fn from(value: MaskValue) -> Self {
        value.to_string()
    }
}

impl FromStr for MaskLabel {
    type Err = String;

    /// `name=value`, as in `horse=255` or `road=#804080`.
    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) = text.rsplit_once('=').ok_or_else(|| {
            format!("{} names no value; write name=value, as in horse=255", quote(text))
        })?;
        if name.trim().is_empty() {
            return Err(format!("{} has no name before its =", quote(text)));
        }
        Ok(Self { name: name.trim().to_owned(), value: value.trim().parse()? })
    }
}

/// The values of the pixels of a mask, row by row.
pub(super) fn values(mask: &DynamicImage) -> Vec<MaskValue> {
    match mask {
        DynamicImage::ImageLuma8(grey) => grey.iter().map(|&v| MaskValue::Grey(v.into())).collect(),
        DynamicImage::ImageLuma16(grey) => grey.iter().map(|&v| MaskValue::Grey(v)).collect(),
        DynamicImage::ImageLumaA8(grey) => {
            grey.pixels().map(|p| MaskValue::Grey(p.0[0].into())).collect()
        }
        DynamicImage::ImageLumaA16(grey) => {
            grey.pixels().map(|p| MaskValue::Grey(p.0[0])).collect()
        }
        other => other.to_rgb8().pixels().map(|p| MaskValue::of_rgb(p.0)).collect(),
    }
}

/// Whether each pixel of a mask is transparent altogether; nothing if the mask has no such channel.
pub(super) fn transparent(mask: &DynamicImage) -> Option<Vec<bool>> {
    if !mask.color().has_alpha() {
        return None;
    }
    Some(mask.to_rgba16().pixels().map(|p| p.0[3] == 0).collect())
}

impl MaskSchema {
    /// What the options say without looking at masks; `None` if values are to be learnt from these.
    pub(super) fn of_options(options: &ImageReadOptions) -> Result<Option<Self>, String> {
        let mut labels = options.labels.clone();
        if options.threshold.is_some() {
            let default = [("background", 0), ("foreground", 255)];
            if labels.is_empty() {
                labels = default
                    .map(|(name, v)| MaskLabel { name: name.into(), value: MaskValue::Grey(v) })
                    .into();
            } else if labels.len() != 2 {
                return Err(format!(
                    "a threshold makes two labels, and {} are named",
                    labels.len()
                ));
            }
        }
        let schema = Self { labels, threshold: options.threshold, void: options.void.clone() };
        if schema.labels.is_empty() {
            return Ok(None);
        }
        schema.check()?;
        Ok(Some(schema))
    }

    /// The schema of values that occur: each is a label.
    pub(super) fn of_values(found: &BTreeSet<MaskValue>, void: &[MaskValue]) -> Self {
        let label = |&value: &MaskValue| MaskLabel { name: value.to_string(), value };
        let labels = found.iter().filter(|value| !void.contains(value)).map(label).collect();
        Self { labels, threshold: None, void: void.to_vec() }
    }

    /// The schema of one mask that is in memory, in which every value is a label; `name` is for messages.
    pub fn learn(bytes: &[u8], name: &str, options: &ImageReadOptions) -> Result<Self, Error> {
        let mut found = BTreeSet::new();
        let mask = decode::decode(bytes, name, options.max_pixels)?;
        collect(&values(&mask), &mut found, name)?;
        let schema = Self::of_values(&found, &options.void);
        schema.check().map_err(|why| Error::new(ErrorKind::Label, name, why))?;
        Ok(schema)
    }

    /// The label of each pixel of a mask that is in memory, or [`VOID`].
    pub fn decode(&self, bytes: &[u8], name: &str, max_pixels: usize) -> Result<Vec<u32>, Error> {
        let mask = decode::decode(bytes, name, max_pixels)?;
        self.labels_of(&values(&mask), mask.width() as usize, name)
    }

    /// Whether every label is there once, with a name and a value of its own.
    pub fn check(&self) -> Result<(), String> {
        for (at, label) in self.labels.iter().enumerate() {
            if label.name.trim().is_empty() {
                return Err(format!("the label with the value {} has no name", label.value));
            }
            for other in &self.labels[..at] {
                if other.name == label.name {
                    return Err(format!("the label {} is there twice", quote(&label.name)));
                }
                if other.value == label.value {
                    let names = (quote(&other.name), quote(&label.name));
                    return Err(format!(
                        "the labels {} and {} have the same value {}",
                        names.0, names.1, label.value
                    ));
                }
            }
            if self.threshold.is_none() && self.void.contains(&label.value) {
                return Err(format!(
                    "the value {} of the label {} is void, too",
                    label.value,
                    quote(&label.name)
                ));
            }
        }
        if self.threshold.is_some() && self.labels.len() != 2 {
            return Err(format!(
                "a threshold makes two labels, and there are {}",
                self.labels.len()
            ));
        }
        if self.labels.len() < 2 {
            return Err(format!(
                "there must be at least two labels to tell apart, and the number of labels is {}",
                self.labels.len()
            ));
        }
        Ok(())
    }

    /// The names of the labels, by number.
    pub fn names(&self) -> Vec<String> {
        self.labels.iter().map(|label| label.name.clone()).collect()
    }

    /// The label of each pixel of a mask, or [`VOID`].
    pub(super) fn labels_of(
        &self,
        values: &[MaskValue],
        width: usize,
        file: &str,
    ) -> Result<Vec<u32>, Error> {
        let mut last = None;
        let mut labels = Vec::with_capacity(values.len());
        for (pixel, &value) in values.iter().enumerate() {
            // Neighbours mostly have the same.
            let label = match last {
                Some((v, label)) if v == value => label,
                _ => self.label_of(value).ok_or_else(|| {
                    let names: Vec<String> = self.labels.iter().take(20).map(|l| format!("{}={}", l.name, l.value)).collect();
                    let message = format!(
                        "the mask has the value {value} at pixel ({}, {}), which is not a label; labels are {}; name it in options.labels, declare it void (options.void), or give options.threshold if the mask has shades",
                        pixel % width, pixel / width, names.join(", ")
                    );
                    Error::new(ErrorKind::Label, file, message)
                })?,
            };
            last = Some((value, label));
            labels.push(label);
        }
        Ok(labels)
    }

    /// The same, but a value that is no label has the number of labels; the first such value is returned, too.
    pub(super) fn labels_and_unseen(&self, values: &[MaskValue]) -> (Vec<u32>, Option<MaskValue>) {
        let (mut last, mut unseen) = (None, None);
        let mut label = |&value: &MaskValue| {
            let label = match last {
                Some((v, label)) if v == value => label,
                _ => self.label_of(value).unwrap_or_else(|| {
                    unseen.get_or_insert(value);
                    self.labels.len() as u32
                }),
            };
            last = Some((value, label));
            label
        };
        let labels = values.iter().map(&mut label).collect();
        (labels, unseen)
    }

    fn label_of(&self, value: MaskValue) -> Option<u32> {
        if self.void.contains(&value) {
            return Some(VOID);
        }
        match (self.threshold, value) {
            (Some(threshold), MaskValue::Grey(grey)) => Some(u32::from(grey >= threshold)),
            (Some(_), MaskValue::Rgb(_)) => None,
            (None, _) => {
                self.labels.iter().position(|label| label.value == value).map(|l| l as u32)
            }
        }
    }

    /// Labels of pixels as a PNG mask of these values: grey where all are, in 8 or 16 bits, and RGB otherwise. [`VOID`] becomes the first void value, or 0.
    pub fn encode(&self, width: usize, height: usize, labels: &[u32]) -> Result<Vec<u8>, String> {
        let n_pixels = width.checked_mul(height);
        if n_pixels != Some(labels.len()) || width.max(height) > u32::MAX as usize {
            return Err(format!(
                "{} labels are not those of {width}×{height} pixels",
                labels.len()
            ));
        }
        let void = self.void.first().copied().unwrap_or(MaskValue::Grey(0));
        let value =
            |&label: &u32| self.labels.get(label as usize).map_or(void, |label| label.value);
        let (w, h) = (width as u32, height as u32);
        let all = || self.labels.iter().map(|label| label.value).chain([void]);
        let is_rgb = all().any(|value| matches!(value, MaskValue::Rgb(_)));
        let is_deep = all().any(|value| matches!(value, MaskValue::Grey(256..)));
        let grey = |label: &u32| match value(label) {
            MaskValue::Grey(grey) => grey,
            MaskValue::Rgb(_) => 0,
        };
        let image = if is_rgb {
            let rgb = |label: &u32| match value(label) {
                MaskValue::Grey(grey) => [grey.min(255) as u8; 3],
                MaskValue::Rgb(rgb) => rgb,
            };
            image::RgbImage::from_raw(w, h, labels.iter().flat_map(rgb).collect())
                .map(DynamicImage::from)
        } else if is_deep {
            image::ImageBuffer::from_raw(w, h, labels.iter().map(grey).collect())
                .map(DynamicImage::ImageLuma16)
        } else {
            image::GrayImage::from_raw(w, h, labels.iter().map(|l| grey(l) as u8).collect())
                .map(DynamicImage::from)
        };
        let image = image.ok_or("the mask does not fit its size")?;
        let mut bytes = Cursor::new(Vec::new());
        image
            .write_to(&mut bytes, ImageFormat::Png)
            .map_err(|e| format!("the mask cannot be written: {e}"))?;
        Ok(bytes.into_inner())
    }
}

/// Adds the values of a mask to those that were found, or says that they are too many.
pub(super) fn collect(
    values: &[MaskValue],
    found: &mut BTreeSet<MaskValue>,
    file: &str,
) -> Result<(), Error> {
    let mut last = None;
    for &value in values {
        if last != Some(value) {
            found.insert(value);
            last = Some(value);
            if found.len() > MAX_VALUES {
                let message = format!(
                    "masks have more than {MAX_VALUES} different values up to here, so these are shades and not labels; give a threshold, or the labels as name=value"
                );
                return Err(Error::new(ErrorKind::Label, file, message));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_and_written() {
        for text in ["0", "127", "65535", "#ff8000"] {
            assert_eq!(text.parse::<MaskValue>().unwrap().to_string(), text);
        }
        assert_eq!("#0a0a0a".parse(), Ok(MaskValue::Grey(10)));
        for text in ["", "-1", "#ff", "#+f80001", "70000", "red"] {
            assert!(text.parse::<MaskValue>().unwrap_err().contains("127"), "{text}");
        }
        let label: MaskLabel = "a=b=3".parse().unwrap();
        assert_eq!((label.name.as_str(), label.value), ("a=b", MaskValue::Grey(3)));
        assert!("horse".parse::<MaskLabel>().unwrap_err().contains("name=value"));
    }

    #[test]
    fn schemas_are_checked() {
        let label = |text: &str| text.parse::<MaskLabel>().unwrap();
        let schema = |labels: &[&str], threshold, void: &[&str]| MaskSchema {
            labels: labels.iter().map(|l| label(l)).collect(),
            threshold,
            void: void.iter().map(|v| v.parse().unwrap()).collect(),
        };
        assert_eq!(schema(&["a=1", "b=2"], None, &["3"]).check(), Ok(()));
        for wrong in [
            schema(&["a=1", "a=2"], None, &[]),
            schema(&["a=1", "b=1"], None, &[]),
            schema(&["a=1"], None, &[]),
            schema(&["a=1", "b=2"], None, &["1"]),
            schema(&["a=1", "b=2", "c=3"], Some(127), &[]),
        ] {
            assert!(wrong.check().is_err(), "{wrong:?}");
        }
    }
}
