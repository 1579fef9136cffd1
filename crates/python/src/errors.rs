//! The library's errors as Python's exceptions.

use lineal::Error;
use pyo3::PyErr;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use std::any::Any;

/// `OSError` for files that cannot be read or written, else `ValueError`.
pub(crate) fn exception(error: Error) -> PyErr {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&error);
    while let Some(inner) = cause {
        if inner.is::<std::io::Error>() {
            return PyOSError::new_err(error.to_string());
        }
        cause = inner.source();
    }
    match &error {
        Error::Io { .. } | Error::Write(_) => PyOSError::new_err(error.to_string()),
        _ => PyValueError::new_err(in_python(&error.to_string())),
    }
}

/// Why a request was refused, by whatever refused it.
pub(crate) fn refused(why: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(why.to_string())
}

/// A fault of ours, as an exception that asks for a report.
pub(crate) fn fault(panic: &(dyn Any + Send)) -> PyErr {
    let why = panic
        .downcast_ref::<&str>()
        .map(|why| (*why).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "for an unknown reason".to_owned());
    PyRuntimeError::new_err(format!(
        "lineal failed, which is a fault of its own: {why}. Please report it with the call and, if you can, the data"
    ))
}

/// Fields that messages name as remedies, and what they are called in Python. A name stands before those that it begins with.
const NAMES: &[(&str, &str)] = &[
    ("spec.calibrate = platt", "CalibratedClassifierCV"),
    ("spec.class_weight", "class_weight"),
    ("spec.cost", "cost"),
    ("spec.cs", "Cs"),
    ("spec.declared.declaration", "declaration"),
    ("spec.folds", "cv"),
    ("spec.l1", "l1_ratio"),
    ("spec.loss = logistic", "loss='log_loss'"),
    ("spec.losses", "losses"),
    ("spec.loss", "loss"),
    ("spec.max_passes", "max_iter"),
    ("spec.penalty.c", "C"),
    ("spec.penalty.l2", "alpha"),
    ("spec.reduction.", ""),
    ("spec.seed", "random_state"),
    ("spec.sgd.", ""),
    ("spec.segment.", ""),
    ("spec.tag.", ""),
    ("spec.text.hash_bits", "n_features"),
    ("spec.text.", ""),
    ("spec.task = multilabel", "MultilabelClassifier"),
    ("options.target = labels", "MultilabelClassifier"),
    ("lineal::Streaming", "partial_fit"),
    ("spec.", ""),
    ("options.", ""),
    ("ask.", ""),
];

/// A message with the names of parameters in place of fields.
fn in_python(message: &str) -> String {
    NAMES.iter().fold(message.to_owned(), |message, (field, name)| message.replace(field, name))
}
