//! Images with a label for each pixel.

use crate::errors::{exception, refused};
use crate::reasons;
use crate::run::brief;
use crate::structured::{Structured, train};
use lineal::data::{MaskLabel, MaskSchema, MaskValue, RgbPixels, VOID};
use lineal::{AnyModel, Ask, SceneSchema, Scenes, SegmentModel, StructuredModel, TrainSpec};
use numpy::{
    IntoPyArray, PyArray2, PyArrayMethods, PyReadonlyArray2, PyReadonlyArray3,
    PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Rows × columns × red, green and blue.
type Image<'py> = PyReadonlyArray3<'py, u8>;
/// The number of each pixel's label, 255 where it is not known.
type Mask<'py> = PyReadonlyArray2<'py, u8>;

/// The value of a mask's pixel that has no label.
const UNKNOWN: u8 = 255;

fn scenes(
    schema: MaskSchema,
    images: &[Image<'_>],
    masks: Option<&[Mask<'_>]>,
) -> PyResult<Scenes> {
    if masks.is_some_and(|masks| masks.len() != images.len()) {
        return Err(refused("there must be a mask for each image"));
    }
    let mut all = Vec::with_capacity(images.len());
    for (i, image) in images.iter().enumerate() {
        let &[height, width, colours] = image.shape() else {
            return Err(refused("an image has three dimensions"));
        };
        if colours != 3 {
            return Err(refused("a pixel has three colours"));
        }
        let rgb = image.as_slice().map_err(refused)?.to_vec();
        let labels = match masks {
            None => None,
            Some(masks) => {
                if masks[i].shape() != [height, width] {
                    return Err(refused(format!(
                        "the mask of image {i} has another size than the image"
                    )));
                }
                let ids = masks[i].as_slice().map_err(refused)?.iter();
                Some(ids.map(|&id| if id == UNKNOWN { VOID } else { id.into() }).collect())
            }
        };
        all.push((format!("image {i}"), RgbPixels { width, height, rgb }, labels));
    }
    Scenes::of_images(schema, all).map_err(exception)
}

/// Trains on images and the labels of their pixels. `labels` are names, each with its value in masks. `spec` is a `TrainSpec` in JSON.
#[pyfunction]
#[pyo3(signature = (images, masks, labels, spec, n_threads=0, on_pass=None))]
pub(crate) fn fit_images(
    py: Python<'_>,
    images: Vec<Image<'_>>,
    masks: Vec<Mask<'_>>,
    labels: Vec<(String, u16)>,
    spec: &str,
    n_threads: usize,
    on_pass: Option<Py<PyAny>>,
) -> PyResult<Structured> {
    let spec: TrainSpec = serde_json::from_str(spec).map_err(refused)?;
    let label = |(name, value): (String, u16)| MaskLabel { name, value: MaskValue::Grey(value) };
    let schema =
        MaskSchema { labels: labels.into_iter().map(label).collect(), ..MaskSchema::default() };
    let data = scenes(schema, &images, Some(&masks))?;
    let (model, report) = train(py, || Ok(data), &spec, n_threads, on_pass.as_ref())?;
    Structured::new(AnyModel::Segment(Box::new(model)), &report)
}

fn segmenter(model: &Structured) -> PyResult<(&SegmentModel, MaskSchema)> {
    match &model.model {
        AnyModel::Segment(model) => match model.schema() {
            SceneSchema::Images(schema) => Ok((model, schema.clone())),
            SceneSchema::Graphs(_) => {
                Err(refused("the model was trained on graphs, not on images"))
            }
        },
        _ => Err(refused("the model does not label images")),
    }
}

/// For each image: the number of each pixel's label, the score, how far from the best it can be, and how sure each label is, if asked for.
#[pyfunction]
#[pyo3(signature = (model, images, known=None, confidence=false, n_threads=0))]
pub(crate) fn label_images<'py>(
    py: Python<'py>,
    model: &Structured,
    images: Vec<Image<'py>>,
    known: Option<Vec<Mask<'py>>>,
    confidence: bool,
    n_threads: usize,
) -> PyResult<Bound<'py, PyList>> {
    let (model, schema) = segmenter(model)?;
    let data = scenes(schema, &images, known.as_deref())?;
    let ask = Ask { known: known.is_some(), confidence, ..Ask::default() };
    let answers = brief(py, n_threads, || model.answer(&data, &ask))?;
    let out = PyList::empty(py);
    for (image, answer) in images.iter().zip(answers) {
        let size = [image.shape()[0], image.shape()[1]];
        let labels: Bound<'_, PyArray2<u8>> = answer.labels.into_pyarray(py).reshape(size)?;
        let sure = match answer.confidence {
            Some(sure) => Some(sure.into_pyarray(py).reshape(size)?),
            None => None,
        };
        out.append((labels, answer.score, answer.slack, sure))?;
    }
    Ok(out)
}

/// Why a pixel of each image has its label: the least sure one, or that of a number (row by row, from 0).
#[pyfunction]
#[pyo3(signature = (model, images, pixel=None, top=None, n_threads=0))]
pub(crate) fn explain_images<'py>(
    py: Python<'py>,
    model: &Structured,
    images: Vec<Image<'py>>,
    pixel: Option<usize>,
    top: Option<usize>,
    n_threads: usize,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let (model, schema) = segmenter(model)?;
    let data = scenes(schema, &images, None)?;
    let found = brief(py, n_threads, || {
        (0..data.len()).map(|i| model.explain(&data, i, pixel)).collect::<Result<Vec<_>, _>>()
    })?;
    found.into_iter().map(|why| reasons::of_pixel(py, model, why, top)).collect()
}
