//! Model files taken apart and put together again with lengths, offsets and checksum that fit, so that mutations reach what is behind these checks.
//!
//! The layout is that of `crates/model/src/file/mod.rs`, written a second time on purpose: what is put together here may contradict itself in ways that the library's own writer refuses.

use super::mutate::{Mutator, NUMBERS};
use serde_json::Value;

/// Tensors start at multiples of this.
const ALIGN: usize = 64;

/// No tensor is filled up beyond this to fit its shape.
const MOST_BYTES: usize = 1 << 20;

/// A model file in parts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parts {
    /// The JSON of the model.
    pub model: String,
    /// Name, type, shape and bytes.
    pub tensors: Vec<Tensor>,
    /// Whether each tensor has a checksum of its own, with which it is compared when it is asked for.
    pub sections: Sections,
}

/// Checksums of tensors.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Sections {
    /// None: that of the whole file has seen them all.
    #[default]
    Without,
    /// Those of their bytes.
    Right,
    /// The tensor of this number has been damaged since.
    Damaged(usize),
}

/// A tensor as it stands in a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    name: String,
    dtype: String,
    shape: Vec<u64>,
    bytes: Vec<u8>,
}

impl Tensor {
    fn width(&self) -> usize {
        match self.dtype.as_str() {
            "F64" => 8,
            "U8" => 1,
            _ => 4,
        }
    }

    /// Cut or filled up to its shape, where that is not too much.
    fn fit(&mut self) {
        let n = self.shape.iter().try_fold(self.width() as u64, |n, d| n.checked_mul(*d));
        if let Some(n) = n.and_then(|n| usize::try_from(n).ok()).filter(|n| *n <= MOST_BYTES) {
            self.bytes.resize(n, 0);
        }
    }
}

impl Parts {
    /// Takes a file apart, however wrong its lengths and sums are; `None` if its header is not JSON.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let rest = bytes.get(8..)?;
        let mut values = serde_json::Deserializer::from_slice(rest).into_iter::<Value>();
        let header = values.next()?.ok()?;
        let at = values.byte_offset();
        let length = u64::from_le_bytes(bytes[..8].try_into().ok()?);
        let data_at = match usize::try_from(length) {
            Ok(n) if n >= at && n <= rest.len() => n,
            _ => (8 + at).next_multiple_of(ALIGN).min(bytes.len()) - 8,
        };
        let data = &rest[data_at..];
        let has_sections = header["__metadata__"]["sections"].is_string();
        let mut parts = Self {
            model: header["__metadata__"]["model"].as_str()?.to_owned(),
            tensors: Vec::new(),
            sections: if has_sections { Sections::Right } else { Sections::Without },
        };
        for (name, tensor) in header.as_object()? {
            if name == "__metadata__" || name.starts_with("__pad") {
                continue;
            }
            let offset = |i: usize| {
                let at = tensor["data_offsets"][i].as_u64().unwrap_or(0);
                usize::try_from(at).unwrap_or(usize::MAX).min(data.len())
            };
            let (begin, end) = (offset(0), offset(1));
            let mut tensor = Tensor {
                name: name.clone(),
                dtype: tensor["dtype"].as_str().unwrap_or("F32").to_owned(),
                shape: tensor["shape"]
                    .as_array()
                    .map(|shape| shape.iter().filter_map(Value::as_u64).collect())
                    .unwrap_or_default(),
                bytes: data.get(begin..end.max(begin)).unwrap_or_default().to_vec(),
            };
            tensor.fit();
            parts.tensors.push(tensor);
        }
        Some(parts)
    }

    /// A file of these parts.
    pub fn to_bytes(&self) -> Vec<u8> {
        let before = br#"{"__metadata__":{"format":"lineal","version":"1","crc32":""#;
        let mut bytes = vec![0; 8];
        bytes.extend(before);
        let crc_at = bytes.len();
        bytes.extend(br#"00000000""#);
        let sections_at = bytes.len() + r#","sections":""#.len();
        if self.sections != Sections::Without {
            bytes.extend(br#","sections":""#);
            bytes.resize(bytes.len() + 8 * self.tensors.len(), b'0');
            bytes.push(b'"');
        }
        bytes.extend(br#","model":"#);
        bytes.extend(Value::from(self.model.as_str()).to_string().bytes());
        bytes.push(b'}');
        let mut data = Vec::new();
        let mut sections = Vec::new();
        let mut entry = |name: &str, dtype: &str, shape: &[u64], begin: usize, end: usize| {
            let (name, dtype) = (Value::from(name), Value::from(dtype));
            let entry = format!(
                r#",{name}:{{"dtype":{dtype},"shape":{shape:?},"data_offsets":[{begin},{end}]}}"#
            );
            bytes.extend(entry.bytes());
        };
        for (i, tensor) in self.tensors.iter().enumerate() {
            let section = data.len();
            let begin = section.next_multiple_of(ALIGN);
            let fill = begin - section;
            if fill > 0 {
                entry(&format!("__pad{i}"), "U8", &[fill as u64], data.len(), begin);
                data.resize(begin, 0);
            }
            data.extend(&tensor.bytes);
            entry(&tensor.name, &tensor.dtype, &tensor.shape, begin, data.len());
            sections.extend(format!("{:08x}", crc32fast::hash(&data[section..])).bytes());
        }
        bytes.push(b'}');
        bytes.resize(bytes.len().next_multiple_of(ALIGN), b' ');
        let length = bytes.len() as u64 - 8;
        bytes[..8].copy_from_slice(&length.to_le_bytes());
        if self.sections != Sections::Without {
            bytes[sections_at..sections_at + sections.len()].copy_from_slice(&sections);
        }
        let data_at = bytes.len();
        bytes.extend(data);
        let crc = format!("{:08x}", crc32fast::hash(&bytes));
        bytes[crc_at..crc_at + 8].copy_from_slice(crc.as_bytes());
        if let Sections::Damaged(which) = self.sections {
            let before = self.tensors.iter().take(which).map(|tensor| tensor.bytes.len());
            let at = before.fold(data_at, |at, n| at.next_multiple_of(ALIGN) + n);
            let byte = bytes.get_mut(at.next_multiple_of(ALIGN));
            byte.into_iter().for_each(|byte| *byte ^= 1);
        }
        bytes
    }

    /// Changes the model's JSON or a tensor.
    pub fn mutate(&mut self, mutator: &mut Mutator) {
        let n = self.tensors.len();
        self.sections = match mutator.below(16) {
            0 => Sections::Damaged(mutator.below(n)),
            1..4 => Sections::Without,
            _ => Sections::Right,
        };
        if n == 0 || mutator.below(5) < 3 {
            return self.mutate_model(mutator);
        }
        let at = mutator.below(n);
        match mutator.below(12) {
            0 => drop(self.tensors.remove(at)),
            1 => {
                let other = mutator.below(n);
                let bytes = self.tensors[other].bytes.clone();
                self.tensors[at].bytes = bytes;
                self.tensors[at].fit();
            }
            2 => {
                let name = self.tensors[mutator.below(n)].name.clone();
                self.tensors[at].name = name;
            }
            3 | 4 => {
                let tensor = &mut self.tensors[at];
                let place = mutator.below(tensor.shape.len().max(1));
                if let Some(d) = tensor.shape.get_mut(place) {
                    *d = match mutator.below(4) {
                        0 => d.saturating_sub(1),
                        1 => d.saturating_add(1),
                        2 => 0,
                        _ => mutator.below(64) as u64,
                    };
                }
                tensor.fit();
            }
            5 => {
                let dtype = ["F32", "F64", "U32", "U8", "I64"][mutator.below(5)];
                self.tensors[at].dtype = dtype.to_owned();
                self.tensors[at].fit();
            }
            _ => {
                let tensor = &mut self.tensors[at];
                let width = tensor.width();
                let n = tensor.bytes.len() / width;
                for _ in 0..1 + mutator.below(3) {
                    if n == 0 {
                        break;
                    }
                    let place = mutator.below(n) * width;
                    let value = &mut tensor.bytes[place..place + width];
                    edge(value, &tensor.dtype, mutator);
                }
            }
        }
    }

    fn mutate_model(&mut self, mutator: &mut Mutator) {
        let Ok(mut model) = serde_json::from_str::<Value>(&self.model) else {
            self.model = lossy(mutator.text(self.model.as_bytes()));
            return;
        };
        for _ in 0..1 + mutator.below(3) {
            let n = count(&model);
            let from = mutator.below(n);
            let other = node(&mut model, &mut { from }).cloned().unwrap_or_default();
            let mut at = mutator.below(n);
            if let Some(value) = node(&mut model, &mut at) {
                change(value, other, mutator);
            }
        }
        self.model = model.to_string();
        if mutator.below(20) == 0 {
            self.model = lossy(mutator.text(self.model.as_bytes()));
        }
    }
}

fn lossy(bytes: Vec<u8>) -> String {
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A value that numbers are seldom tested with.
fn edge(value: &mut [u8], dtype: &str, mutator: &mut Mutator) {
    const FLOATS: [f64; 9] =
        [0.0, -1.0, 1e30, -1e300, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 5e-324, 1e-40];
    match (dtype, value.len()) {
        ("F64", 8) => value.copy_from_slice(&FLOATS[mutator.below(9)].to_le_bytes()),
        ("F32", 4) => value.copy_from_slice(&(FLOATS[mutator.below(9)] as f32).to_le_bytes()),
        (_, 4) => {
            let old = u32::from_le_bytes(value.try_into().unwrap_or_default());
            let new = match mutator.below(6) {
                0 => old.wrapping_add(1),
                1 => old.wrapping_sub(1),
                2 => u32::MAX,
                3 => 1 << mutator.below(32),
                4 => 0,
                _ => mutator.below(32) as u32,
            };
            value.copy_from_slice(&new.to_le_bytes());
        }
        _ => value[0] = mutator.below(256) as u8,
    }
}

/// How many values there are in a value, itself included.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(values) => values.iter().map(count).sum(),
        Value::Object(values) => values.values().map(count).sum(),
        _ => 0,
    }
}

/// The value of this number, counted from the outermost.
fn node<'v>(value: &'v mut Value, at: &mut usize) -> Option<&'v mut Value> {
    if *at == 0 {
        return Some(value);
    }
    *at -= 1;
    match value {
        Value::Array(values) => values.iter_mut().find_map(|value| node(value, at)),
        Value::Object(values) => values.values_mut().find_map(|value| node(value, at)),
        _ => None,
    }
}

fn change(value: &mut Value, other: Value, mutator: &mut Mutator) {
    let plain = |mutator: &mut Mutator| {
        let number = NUMBERS[mutator.below(NUMBERS.len())];
        serde_json::from_str(number).unwrap_or(Value::Null)
    };
    match (mutator.below(8), &mut *value) {
        (0, value) => *value = other,
        (1, value) => {
            let choices = [Value::Null, Value::Bool(true), "".into(), Vec::<u8>::new().into()];
            *value = choices[mutator.below(4)].clone();
        }
        (2 | 3, Value::Array(values)) if !values.is_empty() => {
            let at = mutator.below(values.len());
            match mutator.below(3) {
                0 => drop(values.remove(at)),
                1 => values.push(values[at].clone()),
                _ => values[at] = other,
            }
        }
        (2 | 3, Value::Object(values)) if !values.is_empty() => {
            let key = values.keys().nth(mutator.below(values.len())).cloned().unwrap_or_default();
            values.shift_remove(&key);
        }
        (_, Value::String(text)) => *text = lossy(mutator.text(text.as_bytes())),
        (_, Value::Number(number)) => {
            let new = match (mutator.below(4), number.as_i64()) {
                (0, Some(n)) => n.wrapping_add(1).into(),
                (1, Some(n)) => n.wrapping_sub(1).into(),
                (2, Some(n)) => n.wrapping_mul(2).into(),
                _ => plain(mutator),
            };
            *value = new;
        }
        (_, Value::Bool(flag)) => *flag = !*flag,
        (_, value @ Value::Null) => *value = plain(mutator),
        _ => {}
    }
}

/// The file with lengths, offsets and checksum that fit; as it is where its header is not JSON.
pub fn repair(bytes: &[u8]) -> Vec<u8> {
    Parts::of(bytes).map_or_else(|| bytes.to_vec(), |parts| parts.to_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use lineal::AnyModel;

    #[test]
    fn a_damaged_file_is_repaired() {
        let bytes = super::super::seeds::models().swap_remove(0);
        assert!(AnyModel::from_bytes(&bytes).is_ok());
        assert_eq!(Parts::of(&repair(&bytes)), Parts::of(&bytes));
        // The checksums of tensors are those that the library writes.
        let sections = |bytes: &[u8]| -> Option<String> {
            let text = String::from_utf8_lossy(bytes).into_owned();
            text.split("\"sections\":\"").nth(1).map(|rest| rest[..8].to_owned())
        };
        assert!(sections(&bytes).is_some());
        assert_eq!(sections(&repair(&bytes)), sections(&bytes));
        let mut parts = Parts::of(&bytes).unwrap();
        assert_eq!(parts.sections, Sections::Right);
        parts.sections = Sections::Without;
        assert!(AnyModel::from_bytes(&parts.to_bytes()).is_ok());
        parts.sections = Sections::Damaged(0);
        let error = AnyModel::from_bytes(&parts.to_bytes()).unwrap_err().to_string();
        assert!(error.contains("checksum"), "{error}");
        let mut damaged = bytes.clone();
        damaged[0] ^= 1;
        let last = damaged.len() - 1;
        damaged[last] ^= 1;
        assert!(AnyModel::from_bytes(&damaged).is_err());
        assert!(AnyModel::from_bytes(&repair(&damaged)).is_ok());
    }
}
