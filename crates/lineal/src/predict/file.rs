//! The file of a model of rows: checked when it is read, without zeros where these are many when it is written.

use crate::Error;
use crate::features::{self, Features};
use crate::predict::layout::{Decoder, Layout};
use crate::predict::model::{About, Model, outputs};
use crate::predict::packed::{self, MASK, SHAPE};
use crate::predict::sparse_rows::{self, ROWS};
use crate::request::spec::Task;
use crate::stream;
use crate::train::weights::{TENSOR, Weights};
use lineal_data::ColumnScale;
use lineal_model::Bias;
use lineal_model::file::{self, ModelFile, TensorData};
use lineal_model::label_tree::LabelTree;
use serde::Deserialize;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

/// A name, a shape and the data of a tensor.
pub(crate) type Tensor<'a> = (&'a str, Vec<usize>, TensorData<'a>);

impl Model {
    /// Maps a model file. Nothing in it is believed before it is checked.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::from_file(ModelFile::open(path.as_ref())?)
    }

    /// A model from the bytes of its file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Self::from_file(ModelFile::from_bytes(bytes)?)
    }

    pub(crate) fn from_file(file: ModelFile) -> Result<Self, Error> {
        if let Some(task) = file.model()["task"].as_str() {
            let why =
                format!("it is a model of the task {task}, which this command has no use for");
            return Err(file.bad_model(why).into());
        }
        let about: About = About::deserialize(file.model()).map_err(|e| {
            Error::from(file.bad_model(format!("its description does not fit: {e}")))
        })?;
        let unfit = |why: String| file.bad_model(format!("its columns: {why}"));
        about.schema.check().map_err(|why| Error::from(unfit(why)))?;
        let n_classes = about.schema.classes.len();
        let decoder = Decoder::new(&about.layout, &about.spec, about.report.loss, n_classes)
            .map_err(|why| Error::from(file.bad_model(why)))?;
        let n_outputs = outputs(&about, &decoder)
            .ok_or_else(|| file.bad_tensor(TENSOR, "the task and its classes disagree"))?;
        let features = match &about.features {
            Some(features) => Features::from_file(&file, features, &about.schema)?,
            None if about.schema.n_computed == 0 => Features::default(),
            None => {
                return Err(file.bad_model("it does not say how text is read").into());
            }
        };
        let tree = match about.layout {
            Layout::Tree => Some(read_tree(&file, &about)?),
            _ => None,
        };
        let has_bias = usize::from(about.spec.bias != Bias::None);
        let n_rows = about.schema.n_features.checked_add(has_bias);
        let shape = file.shape(TENSOR);
        let rows = sparse_rows::checked(&file, n_rows.unwrap_or(0), n_outputs)?;
        let n_stored = match (&tree, rows) {
            (Some(tree), _) => Some(tree.n_weights()),
            (None, Some(rows)) => rows.len().checked_mul(n_outputs),
            (None, None) => n_rows.and_then(|n| n.checked_mul(n_outputs)),
        };
        let unpacked = packed::unpack(&file, TENSOR, n_stored.unwrap_or(0))?;
        let fits = unpacked.is_some() && !(tree.is_some() && rows.is_some())
            || matches!(file.tensor(TENSOR)?, Some(TensorData::F32(_) | TensorData::F64(_)))
                && match (&tree, rows) {
                    (Some(tree), None) => shape == Some(&[tree.n_weights()]),
                    (Some(_), Some(_)) => false,
                    (None, Some(rows)) => shape == Some(&[rows.len(), n_outputs]),
                    (None, None) => n_rows.is_some_and(|n| shape == Some(&[n, n_outputs])),
                };
        if !fits {
            return Err(file.bad_tensor(TENSOR, "its shape is not features × outputs").into());
        }
        let maps_fit = about.calibration.as_ref().is_none_or(|c| {
            let n = if tree.is_some() { 1 } else { n_outputs };
            c.n_columns().is_none_or(|columns| columns == n)
        });
        let n_thresholds = match (about.spec.task, n_classes) {
            (Task::Multilabel, n) => n,
            (Task::Classify, 2) => 1,
            _ => 0,
        };
        let thresholds_fit = about.thresholds.as_ref().is_none_or(|t| t.len() == n_thresholds);
        let sharpness_fits = about.sharpness.is_finite() && about.sharpness > 0.0;
        if !maps_fit || !thresholds_fit || !sharpness_fits {
            return Err(file.bad_model("its calibration does not fit its columns").into());
        }
        let is_usual = |s: &ColumnScale| s.mean.is_finite() && s.scale.is_finite() && s.scale > 0.0;
        let scales_fit = about.scales.iter().all(is_usual)
            && about.scales.is_sorted_by(|a, b| a.at < b.at)
            && about.scales.last().is_none_or(|s| (s.at as usize) < about.schema.n_features);
        if !scales_fit {
            return Err(file.bad_model("the scales of its columns do not fit them").into());
        }
        let cost_fits =
            about.spec.cost.as_ref().is_none_or(|c| c.n_classes() == about.schema.classes.len());
        if !cost_fits {
            return Err(file.bad_model("its cost matrix does not fit its classes").into());
        }
        let n_rows = n_rows.unwrap_or(0);
        let stored = unpacked.as_ref().map(Weights::as_tensor);
        let all = rows.and_then(|rows| match stored.or_else(|| file.checked_tensor(TENSOR))? {
            TensorData::F32(w) => Some(Weights::F32(sparse_rows::spread(w, n_rows, rows))),
            TensorData::F64(w) => Some(Weights::F64(sparse_rows::spread(w, n_rows, rows))),
            _ => None,
        });
        let weights = match all.or(unpacked) {
            Some(all) => Weights::Spread(Box::new(all), Arc::new(file)),
            None => Weights::Mapped(Arc::new(file)),
        };
        Ok(Self { weights, tree, decoder, features, stream: None, about })
    }

    /// Writes the model beside and renames it into place; returns its size in bytes.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<u64, Error> {
        let mut size = 0;
        let write = |out: &mut dyn Write| {
            size = self.write_to(out)?;
            Ok(())
        };
        file::write_atomically(path.as_ref(), write).map_err(Error::Write)?;
        Ok(size)
    }

    /// The bytes of the model's file.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        self.put(&mut bytes)?;
        Ok(bytes)
    }

    /// Writes the bytes of the model's file, piece by piece, and gives their number.
    pub fn write_to(&self, out: &mut dyn Write) -> io::Result<u64> {
        let mut out = Counted { out, n_bytes: 0 };
        match self.put(&mut out) {
            Ok(()) => Ok(out.n_bytes),
            Err(Error::ModelFile(file::Error::Write(e))) => Err(e),
            Err(e) => Err(io::Error::other(e)),
        }
    }

    fn put(&self, out: &mut dyn Write) -> Result<(), Error> {
        let about = serde_json::to_value(&self.about)
            .map_err(|e| Error::request(format!("the model cannot be written: {e}")))?;
        let parts = self.features.parts();
        let text = parts.as_ref().map(features::tensors).unwrap_or_default();
        let Some(tree) = &self.tree else {
            let tables = self.tables()?;
            let n_rows = self.n_rows();
            let rows = self.rows_to_write(&tables);
            let gather = |rows: &Vec<u32>| -> Vec<Weights> {
                let one = |(.., table): &Tensor<'_>| sparse_rows::gather(*table, n_rows, rows);
                tables.iter().map(one).collect()
            };
            let some = rows.as_ref().map(gather).unwrap_or_default();
            let mut tensors = tables.clone();
            if let Some(rows) = &rows {
                for ((_, shape, table), some) in tensors.iter_mut().zip(&some) {
                    shape[0] = shape[0] / n_rows * rows.len();
                    *table = some.as_tensor();
                }
                tensors.push((ROWS, vec![rows.len()], TensorData::U32(rows)));
            }
            let packed = self.packed(tensors[0].2);
            let shape: Vec<u32> = tensors[0].1.iter().map(|&n| n as u32).collect();
            if let Some((mask, kept)) = &packed {
                let kept = kept.as_tensor();
                tensors[0] = (TENSOR, vec![n_values(kept)], kept);
                tensors.push((MASK, vec![mask.len()], TensorData::U32(mask)));
                tensors.push((SHAPE, vec![shape.len()], TensorData::U32(&shape)));
            }
            tensors.splice(1..1, text);
            return Ok(file::write_to(out, &about, &tensors)?);
        };
        let weights = match &self.weights {
            Weights::Spread(_, file) => file.tensor(TENSOR)?.unwrap_or(self.weights.as_tensor()),
            own => own.as_tensor(),
        };
        let packed = self.packed(weights);
        let (weights, mask) = match (&packed, &self.weights) {
            (Some((mask, kept)), _) => (kept.as_tensor(), Some(mask.as_slice())),
            (None, Weights::Spread(_, file)) => (weights, file.u32(MASK)?),
            (None, _) => (weights, None),
        };
        let flat = tree.to_flat();
        let tensor = |values: &'static str, data: &'_ [u32]| (values, vec![data.len()]);
        let [nodes, children, features] = [
            tensor(NODES, &flat.nodes),
            tensor(CHILDREN, &flat.children),
            tensor(FEATURES, &flat.features),
        ];
        let mut tensors = vec![
            (TENSOR, vec![n_values(weights)], weights),
            (nodes.0, nodes.1, TensorData::U32(&flat.nodes)),
            (children.0, children.1, TensorData::U32(&flat.children)),
            (features.0, features.1, TensorData::U32(&flat.features)),
        ];
        tensors.extend(text);
        let shape = [tree.n_weights() as u32];
        if let Some(mask) = mask {
            tensors.push((MASK, vec![mask.len()], TensorData::U32(mask)));
            tensors.push((SHAPE, vec![1], TensorData::U32(&shape)));
        }
        Ok(file::write_to(out, &about, &tensors)?)
    }

    /// The weights without zeros, where these are many. What was loaded is written as it was, and what a stream learns goes on.
    fn packed(&self, weights: TensorData<'_>) -> Option<(Vec<u32>, Weights)> {
        match (&self.weights, &self.about.stream) {
            (Weights::Spread(..), _) | (_, Some(_)) => None,
            _ => packed::pack(weights),
        }
    }

    /// The weights and what a stream keeps beside them; of a file with some rows only, these.
    fn tables(&self) -> Result<Vec<Tensor<'_>>, file::Error> {
        let (weights, rows) = match &self.weights {
            Weights::Spread(_, file) => {
                (stored(file, &[TENSOR])?, stored(file, &[ROWS, MASK, SHAPE])?)
            }
            w => {
                let shape = vec![self.n_rows(), self.n_outputs()];
                (vec![(TENSOR, shape, w.as_tensor())], Vec::new())
            }
        };
        Ok([weights, stream::tensors(self)?, rows].concat())
    }

    /// Of hashed features, the rows that are not zero, where they are few.
    fn rows_to_write(&self, tables: &[Tensor<'_>]) -> Option<Vec<u32>> {
        self.features.text()?.spec().hash_bits?;
        let tables: Vec<_> = tables.iter().map(|(.., table)| *table).collect();
        match &self.weights {
            Weights::Spread(..) => None,
            _ => sparse_rows::used(self.n_rows(), &tables),
        }
    }
}

/// How many numbers a tensor of weights has.
fn n_values(tensor: TensorData<'_>) -> usize {
    match tensor {
        TensorData::F32(w) => w.len(),
        TensorData::F64(w) => w.len(),
        _ => 0,
    }
}

/// Those of these tensors that a file has.
pub(crate) fn stored<'a>(
    file: &'a ModelFile,
    names: &[&'a str],
) -> Result<Vec<Tensor<'a>>, file::Error> {
    let mut tensors = Vec::new();
    for &name in names {
        if let (Some(shape), Some(data)) = (file.shape(name), file.tensor(name)?) {
            tensors.push((name, shape.to_vec(), data));
        }
    }
    Ok(tensors)
}

/// The tensors of a tree beside its weights.
const NODES: &str = "tree.nodes";
const CHILDREN: &str = "tree.children";
const FEATURES: &str = "tree.features";

fn read_tree(file: &ModelFile, about: &About) -> Result<LabelTree, Error> {
    let tensor = |name: &str| match file.tensor(name)? {
        Some(TensorData::U32(values)) => Ok(values),
        _ => Err(Error::from(file.bad_tensor(name, "it is not there, or not of whole numbers"))),
    };
    let tree = LabelTree::from_flat(
        tensor(NODES)?,
        tensor(CHILDREN)?,
        tensor(FEATURES)?.to_vec(),
        about.schema.classes.len(),
        about.spec.bias != Bias::None,
        about.spec.task == Task::Classify,
    );
    let tree =
        tree.map_err(|why| Error::from(file.bad_tensor(NODES, format!("the tree: {why}"))))?;
    if tree.n_features() > about.schema.n_features {
        return Err(file.bad_tensor(FEATURES, "a feature that the data has not").into());
    }
    Ok(tree)
}

/// Counts what is written.
struct Counted<'a> {
    out: &'a mut dyn Write,
    n_bytes: u64,
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.out.write(bytes)?;
        self.n_bytes += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
