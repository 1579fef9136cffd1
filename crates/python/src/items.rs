//! Items with attributes, as python-crfsuite has them, to the text that the library reads.

use crate::errors::refused;
use lineal::sequence::{IndexBuilder, hash_bytes};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString};
use std::io::Write;

/// Text with `\` and `:` escaped. Tabs and line breaks cannot be escaped.
fn push_escaped(out: &mut Vec<u8>, text: &str) -> PyResult<()> {
    if !text.bytes().any(|byte| matches!(byte, b'\t' | b'\n' | b'\\' | b':')) {
        out.extend_from_slice(text.as_bytes());
        return Ok(());
    }
    for &byte in text.as_bytes() {
        match byte {
            b'\t' | b'\n' => {
                return Err(refused(format!(
                    "{text:?} has a tab or a line break in it, which attributes and labels cannot have"
                )));
            }
            b'\\' | b':' => out.extend([b'\\', byte]),
            _ => out.push(byte),
        }
    }
    Ok(())
}

/// The beginning of an attribute's name: `#` would begin a comment.
fn push_name(out: &mut Vec<u8>, name: &str) -> PyResult<()> {
    if name.starts_with('#') {
        out.push(b'\\');
    }
    push_escaped(out, name)
}

/// An attribute `key:value` whose value is 1.
fn push_pair(out: &mut Vec<u8>, key: &str, value: &str) -> PyResult<()> {
    push_name(out, key)?;
    out.extend(b"\\:");
    push_escaped(out, value)?;
    out.extend(b":1");
    Ok(())
}

fn push_number(out: &mut Vec<u8>, key: &str, value: f64) -> PyResult<()> {
    if !value.is_finite() {
        return Err(refused(format!(
            "the attribute {key:?} has the value {value}, which is not a finite number"
        )));
    }
    push_name(out, key)?;
    // Writing into memory does not fail.
    let _ = write!(out, ":{value:?}");
    Ok(())
}

/// The attributes of one value under a key.
fn push_value(
    out: &mut Vec<u8>,
    key: &str,
    value: &Bound<'_, PyAny>,
    other: &Bound<'_, PyAny>,
) -> PyResult<()> {
    if let Ok(text) = value.cast::<PyString>() {
        return push_pair(out, key, text.to_str()?);
    }
    if let Ok(flag) = value.cast::<PyBool>() {
        return push_number(out, key, f64::from(u8::from(flag.is_true())));
    }
    if value.is_instance_of::<PyFloat>() || value.is_instance_of::<PyInt>() {
        return push_number(out, key, value.extract()?);
    }
    push_others(out, &format!("{key}:"), value, other)
}

/// What Python's own function makes of an item that is not a plain dictionary or a list of strings: pairs of a name and a number.
fn push_others(
    out: &mut Vec<u8>,
    prefix: &str,
    item: &Bound<'_, PyAny>,
    other: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let found: Vec<(String, f64)> = other.call1((item, prefix))?.extract()?;
    for (at, (name, value)) in found.iter().enumerate() {
        if at > 0 {
            out.push(b'\t');
        }
        push_number(out, name, *value)?;
    }
    if found.is_empty() && out.last() == Some(&b'\t') {
        out.pop();
    }
    Ok(())
}

fn push_item(out: &mut Vec<u8>, item: &Bound<'_, PyAny>, other: &Bound<'_, PyAny>) -> PyResult<()> {
    if let Ok(all) = item.cast::<PyDict>() {
        for (key, value) in all.iter() {
            out.push(b'\t');
            match key.cast::<PyString>() {
                Ok(key) => push_value(out, key.to_str()?, &value, other)?,
                Err(_) => push_value(out, key.str()?.to_str()?, &value, other)?,
            }
        }
        return Ok(());
    }
    if let Ok(names) = item.cast::<PyList>() {
        for name in names.iter() {
            let name = name.cast::<PyString>().map_err(|_| {
                let kind = name.get_type().to_string();
                PyTypeError::new_err(format!("an attribute must be a string, not {kind}: {name}"))
            })?;
            out.push(b'\t');
            push_number(out, name.to_str()?, 1.0)?;
        }
        return Ok(());
    }
    out.push(b'\t');
    push_others(out, "", item, other)
}

/// A label. What is not a string would come back as another thing than was given.
fn push_label(out: &mut Vec<u8>, label: &Bound<'_, PyAny>) -> PyResult<()> {
    let text = label.cast::<PyString>().map_err(|_| {
        let kind = label.get_type().to_string();
        PyTypeError::new_err(format!("a label must be a string, not {kind}: {label}"))
    })?;
    let text = text.to_str()?;
    if text.trim().is_empty() {
        return Err(refused("a label must not be empty"));
    }
    push_escaped(out, text)
}

/// What a sequence is made of. The keys of a dictionary and the letters of a string are not what is meant.
fn members<'py>(
    sequence: &Bound<'py, PyAny>,
    place: usize,
    what: &str,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    if sequence.is_instance_of::<PyDict>() || sequence.is_instance_of::<PyString>() {
        let kind = sequence.get_type().name()?;
        return Err(PyTypeError::new_err(format!(
            "sequence {place} must be a list of {what}, not a {kind}; a single sequence stands in a list, too"
        )));
    }
    sequence.try_iter()?.collect()
}

/// Sequences in CRFsuite's own format, and their lengths. Sequences without items have no lines. `other(item, prefix)` gives the names and values of items of other types.
#[pyfunction]
#[pyo3(signature = (x, y, other))]
pub(crate) fn items_text<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    y: Option<&Bound<'py, PyAny>>,
    other: &Bound<'py, PyAny>,
) -> PyResult<(Bound<'py, PyBytes>, Vec<usize>)> {
    let x: Vec<Bound<'py, PyAny>> = x.try_iter()?.collect::<PyResult<_>>()?;
    let y: Option<Vec<Bound<'py, PyAny>>> = match y {
        Some(y) => Some(y.try_iter()?.collect::<PyResult<_>>()?),
        None => None,
    };
    if let Some(y) = y.as_ref().filter(|y| y.len() != x.len()) {
        return Err(refused(format!("X has {} sequences and y has {}", x.len(), y.len())));
    }
    let (mut out, mut lengths) = (Vec::new(), Vec::with_capacity(x.len()));
    for (place, sequence) in x.iter().enumerate() {
        // Ctrl-C.
        py.check_signals()?;
        let items = members(sequence, place, "items")?;
        let labels = y.as_ref().map(|y| members(&y[place], place, "labels")).transpose()?;
        if let Some(labels) = labels.as_ref().filter(|labels| labels.len() != items.len()) {
            return Err(refused(format!(
                "The number of items and labels differ: sequence {place} has {} items and {} labels",
                items.len(),
                labels.len()
            )));
        }
        for (at, item) in items.iter().enumerate() {
            match &labels {
                Some(labels) => push_label(&mut out, &labels[at])?,
                None => out.push(b'?'),
            }
            push_item(&mut out, item, other)?;
            out.push(b'\n');
        }
        if !items.is_empty() {
            out.push(b'\n');
        }
        lengths.push(items.len());
    }
    out.push(b'\n');
    Ok((PyBytes::new(py, &out), lengths))
}

/// Attributes of one line of [`attribute_names`].
const NAMES_PER_LINE: usize = 1000;

/// Every attribute of a text once, as one sequence: what names the weights of a model.
#[pyfunction]
pub(crate) fn attribute_names<'py>(py: Python<'py>, text: &[u8]) -> Bound<'py, PyBytes> {
    let (mut seen, mut names) = (IndexBuilder::new(), Vec::new());
    let mut label: &[u8] = b"?";
    for line in text.split(|&b| b == b'\n').filter(|line| !line.is_empty()) {
        let mut fields = line.split(|&b| b == b'\t');
        label = fields.next().unwrap_or(label);
        for field in fields {
            // The value is after the last colon; those within names are escaped, and come before it.
            let end = field.iter().rposition(|&b| b == b':').unwrap_or(field.len());
            let name = &field[..end];
            // A new one gets the next number.
            if seen.id(hash_bytes(name)) as usize == names.len() {
                names.push(name);
            }
        }
    }
    let mut out = Vec::new();
    for names in names.chunks(NAMES_PER_LINE) {
        out.extend(label);
        for name in names {
            out.push(b'\t');
            out.extend(*name);
        }
        out.push(b'\n');
    }
    out.push(b'\n');
    PyBytes::new(py, &out)
}
