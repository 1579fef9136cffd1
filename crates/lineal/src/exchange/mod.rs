//! Models for other programs, and from them: LIBLINEAR's text files and ONNX.
//!
//! Both know a linear model as weights of numbered features. What a model does before (text to features) stays here: such programs get the rows that
//! `lineal convert DATA rows.svm --model MODEL` writes. What they have no place for is told, not dropped in silence.

mod liblinear;
mod onnx;
mod plain;
mod protobuf;

use crate::Error;
use crate::predict::model::Model;
use plain::Plain;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// A file format of models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ModelFormat {
    /// Lineal's own.
    Lineal,
    /// The text file that LIBLINEAR's `train` writes.
    Liblinear,
    /// The Open Neural Network Exchange format, with the operators of `ai.onnx.ml`.
    Onnx,
}

impl ModelFormat {
    /// The format that a file's name tells.
    pub fn from_name(path: impl AsRef<Path>) -> Option<Self> {
        match path.as_ref().extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "lineal" => Some(Self::Lineal),
            "model" | "liblinear" => Some(Self::Liblinear),
            "onnx" => Some(Self::Onnx),
            _ => None,
        }
    }

    /// The format of a model's bytes, by how they begin; `None` if they are not a model.
    pub fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let text = bytes.trim_ascii_start();
        if text.starts_with(b"solver_type") {
            return Some(Self::Liblinear);
        }
        // The length of a JSON header, then the header.
        if bytes.len() > 9 && bytes[8] == b'{' && bytes[4..8] == [0; 4] {
            return Some(Self::Lineal);
        }
        onnx::is_model(bytes).then_some(Self::Onnx)
    }
}

impl FromStr for ModelFormat {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "lineal" => Ok(Self::Lineal),
            "liblinear" => Ok(Self::Liblinear),
            "onnx" => Ok(Self::Onnx),
            _ => Err(format!("{name} is not a format of models: lineal, liblinear or onnx")),
        }
    }
}

impl fmt::Display for ModelFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Lineal => "lineal",
            Self::Liblinear => "liblinear",
            Self::Onnx => "onnx",
        })
    }
}

/// A model in another format.
#[derive(Clone, Debug)]
pub struct Exported {
    /// The bytes of the file.
    pub bytes: Vec<u8>,
    /// What the format has no place for, or says in another way: one sentence each.
    pub notes: Vec<String>,
}

impl Model {
    /// The model in another format.
    ///
    /// ```
    /// use lineal::{Dataset, Model, ModelFormat, TrainSpec, train};
    ///
    /// let data = Dataset::from_rows(&[[1.0, 5.0], [2.0, 6.0], [7.0, 2.0], [8.0, 1.0]], &["-1", "-1", "1", "1"])?;
    /// let (model, _) = train(&data, &TrainSpec::default())?;
    /// let exported = model.export(ModelFormat::Liblinear)?;
    /// assert!(exported.bytes.starts_with(b"solver_type L2R_LR\nnr_class 2\nlabel 1 -1\n"));
    ///
    /// let again = Model::import("shapes.model", &exported.bytes)?;
    /// assert_eq!(again.predict(&data)?, model.predict(&data)?);
    /// # Ok::<(), lineal::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the format has no place for such a model: a label tree, pairs of classes, an output code.
    pub fn export(&self, format: ModelFormat) -> Result<Exported, Error> {
        let mut notes = Vec::new();
        let bytes = match format {
            ModelFormat::Lineal => self.to_bytes()?,
            ModelFormat::Liblinear => liblinear::write(&Plain::of(self, &mut notes)?, &mut notes)?,
            ModelFormat::Onnx => onnx::write(&Plain::of(self, &mut notes)?, &mut notes)?,
        };
        Ok(Exported { bytes, notes })
    }

    /// A model from the bytes of a file in any of the formats; `name` is what messages call it.
    ///
    /// # Errors
    /// If the bytes are not such a model, are damaged, or hold something that is not linear.
    #[cfg(feature = "train")]
    pub fn import(name: &str, bytes: &[u8]) -> Result<Self, Error> {
        let in_file = |why: Error| match why {
            Error::Request(why) => Error::Request(format!("{name}: {why}")),
            other => other,
        };
        let plain = match ModelFormat::of_bytes(bytes) {
            Some(ModelFormat::Lineal) => return Self::from_bytes(bytes),
            Some(ModelFormat::Liblinear) => liblinear::read(bytes),
            Some(ModelFormat::Onnx) => onnx::read(bytes),
            None => Err(Error::request(
                "it is not a model: neither Lineal's, nor LIBLINEAR's text file, nor ONNX",
            )),
        };
        plain.and_then(|plain| plain.into_model(name)).map_err(in_file)
    }
}
