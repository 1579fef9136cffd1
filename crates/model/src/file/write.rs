//! Model → bytes.

use super::layout::{
    ALIGN, BEFORE_CRC, Dtype, MAGIC, MAX_HEADER, NO_CRC, PAD, VERSION, check_size,
};
use super::{Error, write_atomically};
use serde_json::Value;
use std::collections::HashSet;
use std::io::{self, Write};
use std::path::Path;

/// A tensor's numbers, row-major.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TensorData<'a> {
    /// Single precision.
    F32(&'a [f32]),
    /// Double precision.
    F64(&'a [f64]),
    /// Indices.
    U32(&'a [u32]),
    /// Bytes, for text that is too much for JSON.
    U8(&'a [u8]),
}

/// The file's bytes. The same model and tensors in the same order give the same bytes.
///
/// Refuses a shape that does not fit its numbers, a name that is taken (twice, or by the format), and a model whose
/// JSON is over 100 MB or 4 million values: such bulk belongs in a tensor of bytes.
pub fn encode(
    model: &Value,
    tensors: &[(&str, Vec<usize>, TensorData<'_>)],
) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    write_to(&mut bytes, model, tensors)?;
    Ok(bytes)
}

/// Writes what [`encode`] returns, without holding it: the numbers are passed over twice, first for the checksum.
pub fn write_to(
    out: &mut dyn Write,
    model: &Value,
    tensors: &[(&str, Vec<usize>, TensorData<'_>)],
) -> Result<(), Error> {
    let header = Header::new(model, tensors)?;
    out.write_all(&header.bytes).map_err(Error::Write)?;
    put_tensors(&header, tensors, |chunk| out.write_all(chunk)).map_err(Error::Write)
}

/// Writes the model to a file: the whole of it or nothing, see [`write_atomically`].
pub fn save(
    path: &Path,
    model: &Value,
    tensors: &[(&str, Vec<usize>, TensorData<'_>)],
) -> Result<(), Error> {
    let header = Header::new(model, tensors)?;
    write_atomically(path, |out| {
        out.write_all(&header.bytes)?;
        put_tensors(&header, tensors, |chunk| out.write_all(chunk))
    })
    .map_err(Error::Write)
}

const IN_MEMORY: &str = "the model being written";

/// Everything before the tensors, and how much filling goes before each of them.
struct Header {
    bytes: Vec<u8>,
    padding: Vec<usize>,
}

impl Header {
    fn new(model: &Value, tensors: &[(&str, Vec<usize>, TensorData<'_>)]) -> Result<Self, Error> {
        let too_large = |why| Error::Header { file: IN_MEMORY.to_string(), why };
        let model = model.to_string();
        check_size(&model).map_err(too_large)?;
        let mut bytes = vec![0; 8];
        bytes.extend(MAGIC);
        bytes.extend(VERSION.to_string().bytes());
        bytes.extend(BEFORE_CRC);
        let crc_at = bytes.len();
        bytes.extend(NO_CRC);
        bytes.extend(br#"","sections":""#);
        let sections_at = bytes.len();
        bytes.resize(sections_at + 8 * tensors.len(), b'0');
        bytes.extend(br#"","model":"#);
        bytes.extend(Value::from(model).to_string().bytes());
        bytes.push(b'}');

        let mut padding = Vec::with_capacity(tensors.len());
        let mut names = HashSet::new();
        let (mut end, mut n_pads) = (0usize, 0);
        for (name, shape, data) in tensors {
            let bad = |why: &str| Error::Tensor {
                file: IN_MEMORY.to_string(),
                name: name.to_string(),
                why: why.to_string(),
            };
            if *name == "__metadata__" || name.starts_with(PAD) {
                return Err(bad("has a name that the format keeps for itself"));
            }
            if !names.insert(*name) {
                return Err(bad("is given twice"));
            }
            if data.dtype().bytes_of(shape) != Some(data.n_bytes()) {
                return Err(bad(&format!("has shape {shape:?} and {} bytes", data.n_bytes())));
            }
            let fill = end.next_multiple_of(ALIGN) - end;
            if fill > 0 {
                put_entry(&mut bytes, &format!("{PAD}{n_pads}"), Dtype::U8, &[fill], end);
                n_pads += 1;
            }
            padding.push(fill);
            put_entry(&mut bytes, name, data.dtype(), shape, end + fill);
            end += fill + data.n_bytes();
        }
        bytes.push(b'}');
        bytes.resize(bytes.len().next_multiple_of(ALIGN), b' ');

        let len = bytes.len() - 8;
        if len > MAX_HEADER {
            return Err(too_large(format!("it has {len} bytes, and {MAX_HEADER} are allowed")));
        }
        bytes[..8].copy_from_slice(&(len as u64).to_le_bytes());

        let mut header = Self { bytes, padding };
        let sections: Vec<crc32fast::Hasher> = header
            .padding
            .iter()
            .zip(tensors)
            .map(|(fill, (_, _, data))| section(*fill, data))
            .collect();
        for (at, crc) in (sections_at..).step_by(8).zip(&sections) {
            let digits = format!("{:08x}", crc.clone().finalize());
            header.bytes[at..at + 8].copy_from_slice(digits.as_bytes());
        }
        let mut crc = crc32fast::Hasher::new();
        crc.update(&header.bytes);
        sections.iter().for_each(|section| crc.combine(section));
        let digits = format!("{:08x}", crc.finalize());
        header.bytes[crc_at..crc_at + 8].copy_from_slice(digits.as_bytes());
        Ok(header)
    }
}

/// The checksum of a tensor and the filling before it.
fn section(fill: usize, data: &TensorData<'_>) -> crc32fast::Hasher {
    let mut crc = crc32fast::Hasher::new();
    crc.update(&[0; ALIGN][..fill]);
    let put = |chunk: &[u8]| {
        crc.update(chunk);
        Ok(())
    };
    data.put(put).expect("hashing does not fail");
    crc
}

fn put_entry(header: &mut Vec<u8>, name: &str, dtype: Dtype, shape: &[usize], begin: usize) {
    let end = begin + dtype.bytes_of(shape).expect("checked against the data");
    let name = Value::from(name);
    let shape = Value::from(shape);
    let dtype = dtype.name();
    header.extend(
        format!(r#",{name}:{{"dtype":"{dtype}","shape":{shape},"data_offsets":[{begin},{end}]}}"#)
            .bytes(),
    );
}

/// Hands out all bytes after the header, in order and in pieces.
fn put_tensors(
    header: &Header,
    tensors: &[(&str, Vec<usize>, TensorData<'_>)],
    mut put: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    for (fill, (_, _, data)) in header.padding.iter().zip(tensors) {
        put(&[0; ALIGN][..*fill])?;
        data.put(&mut put)?;
    }
    Ok(())
}

impl TensorData<'_> {
    pub(super) fn dtype(&self) -> Dtype {
        match self {
            TensorData::F32(_) => Dtype::F32,
            TensorData::F64(_) => Dtype::F64,
            TensorData::U32(_) => Dtype::U32,
            TensorData::U8(_) => Dtype::U8,
        }
    }

    fn n_bytes(&self) -> usize {
        match self {
            TensorData::F32(v) => size_of_val(*v),
            TensorData::F64(v) => size_of_val(*v),
            TensorData::U32(v) => size_of_val(*v),
            TensorData::U8(v) => v.len(),
        }
    }

    fn put(&self, put: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        match self {
            TensorData::F32(v) => put_numbers(v, |x| x.to_le_bytes(), put),
            TensorData::F64(v) => put_numbers(v, |x| x.to_le_bytes(), put),
            TensorData::U32(v) => put_numbers(v, |x| x.to_le_bytes(), put),
            TensorData::U8(v) => v.chunks(CHUNK).try_for_each(put),
        }
    }
}

/// Pieces that stay in the cache between conversion and use.
const CHUNK: usize = 32 << 10;

fn put_numbers<T: Copy, const N: usize>(
    numbers: &[T],
    to_bytes: impl Fn(T) -> [u8; N],
    mut put: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let mut buffer = Vec::with_capacity(CHUNK);
    for piece in numbers.chunks(CHUNK / N) {
        buffer.clear();
        buffer.extend(piece.iter().flat_map(|&x| to_bytes(x)));
        put(&buffer)?;
    }
    Ok(())
}
