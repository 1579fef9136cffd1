//! Bytes → model. Nothing here trusts a number before it is compared with what is there.

use super::bytes::Bytes;
use super::layout::{BEFORE_CRC, Dtype, MAGIC, MAX_HEADER, NO_CRC, PAD, VERSION, check_size};
use super::{Error, TensorData};
use lineal_linalg::{AlignedBytes, cast_f32, cast_f64, cast_u32};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use std::collections::HashMap;
use std::fmt;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// A model file whose every length and offset has been checked, and whose tensors are lent once their bits have been.
///
/// Tensors are lent from the map or buffer, never copied.
#[derive(Debug)]
pub struct ModelFile {
    file: String,
    bytes: Bytes,
    model: Value,
    tensors: HashMap<String, Tensor>,
}

impl ModelFile {
    /// Maps a file and checks its header. A tensor is compared with its checksum when it is first asked for, and what nobody asks for is not read; of files without
    /// checksums of tensors, which earlier versions wrote, all is read here.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let file = path.display().to_string();
        let read = |why| Error::Read { file: file.clone(), why };
        let found = std::fs::metadata(path).map_err(read)?;
        if !found.is_file() {
            let what = if found.is_dir() {
                "a folder"
            } else {
                "a pipe or a device, which cannot be mapped"
            };
            return Err(Error::NotLineal { file, why: format!("it is {what}") });
        }
        let bytes = Bytes::map(path).map_err(read)?;
        Self::new(file, bytes)
    }

    /// Checks a file that is in memory, and copies it once, to where numbers are aligned.
    pub fn from_bytes(bytes: impl AsRef<[u8]>) -> Result<Self, Error> {
        Self::new(
            "the model given as bytes".to_string(),
            Bytes::Owned(AlignedBytes::copy_of(bytes.as_ref())),
        )
    }

    /// What the model says of itself.
    pub fn model(&self) -> &Value {
        &self.model
    }

    /// The names of the tensors, sorted.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.tensors.keys().map(String::as_str).collect();
        names.sort_unstable();
        names
    }

    /// A tensor's shape, if there is such a tensor.
    pub fn shape(&self, name: &str) -> Option<&[usize]> {
        self.tensors.get(name).map(|t| &t.shape[..])
    }

    /// A tensor of any type, if there is such a tensor; an error if its bytes are not those that were written.
    pub fn tensor(&self, name: &str) -> Result<Option<TensorData<'_>>, Error> {
        let Some(tensor) = self.tensors.get(name) else { return Ok(None) };
        if let Some(crc) = tensor.crc
            && !tensor.is_checked.load(Ordering::Acquire)
        {
            let found = self.bytes.crc(tensor.section.clone()).map_err(|e| self.unreadable(e))?;
            if found != crc {
                let [expected, found] = [crc, found].map(|crc| format!("{crc:08x}"));
                return Err(Error::Checksum { file: self.file.clone(), expected, found });
            }
            tensor.is_checked.store(true, Ordering::Release);
        }
        Ok(tensor.data(&self.bytes))
    }

    /// A tensor that was had by [`tensor`](Self::tensor) before: nothing is lent unchecked.
    pub fn checked_tensor(&self, name: &str) -> Option<TensorData<'_>> {
        let is_checked = |t: &&Tensor| t.crc.is_none() || t.is_checked.load(Ordering::Acquire);
        self.tensors.get(name).filter(is_checked).and_then(|t| t.data(&self.bytes))
    }

    /// Checks all tensors that were not asked for yet.
    pub fn check_all(&self) -> Result<(), Error> {
        self.names().into_iter().try_for_each(|name| self.tensor(name).map(drop))
    }

    /// A tensor of single precision; an error if it has another type.
    pub fn f32(&self, name: &str) -> Result<Option<&[f32]>, Error> {
        match self.tensor(name)? {
            None => Ok(None),
            Some(TensorData::F32(v)) => Ok(Some(v)),
            Some(other) => Err(self.wrong_type(name, Dtype::F32, other)),
        }
    }

    /// A tensor of double precision; an error if it has another type.
    pub fn f64(&self, name: &str) -> Result<Option<&[f64]>, Error> {
        match self.tensor(name)? {
            None => Ok(None),
            Some(TensorData::F64(v)) => Ok(Some(v)),
            Some(other) => Err(self.wrong_type(name, Dtype::F64, other)),
        }
    }

    /// A tensor of indices; an error if it has another type.
    pub fn u32(&self, name: &str) -> Result<Option<&[u32]>, Error> {
        match self.tensor(name)? {
            None => Ok(None),
            Some(TensorData::U32(v)) => Ok(Some(v)),
            Some(other) => Err(self.wrong_type(name, Dtype::U32, other)),
        }
    }

    /// A tensor of bytes; an error if it has another type.
    pub fn u8(&self, name: &str) -> Result<Option<&[u8]>, Error> {
        match self.tensor(name)? {
            None => Ok(None),
            Some(TensorData::U8(v)) => Ok(Some(v)),
            Some(other) => Err(self.wrong_type(name, Dtype::U8, other)),
        }
    }

    /// An [`Error::Tensor`] of this file, for whoever finds that a tensor is missing or misshapen.
    pub fn bad_tensor(&self, name: &str, why: impl Into<String>) -> Error {
        Error::Tensor { file: self.file.clone(), name: name.to_string(), why: why.into() }
    }

    /// An error about the description of the model.
    pub fn bad_model(&self, why: impl Into<String>) -> Error {
        Error::Model { file: self.file.clone(), why: why.into() }
    }

    fn wrong_type(&self, name: &str, wanted: Dtype, found: TensorData<'_>) -> Error {
        self.bad_tensor(
            name,
            format!("is {} and should be {}", found.dtype().name(), wanted.name()),
        )
    }

    fn unreadable(&self, why: io::Error) -> Error {
        unreadable(&self.file, &self.bytes, why)
    }

    fn new(file: String, bytes: Bytes) -> Result<Self, Error> {
        let prefix = Prefix::parse(&file, &bytes)?;
        let header = Header::parse(&file, &bytes, prefix.data_at);
        let by_section = header.as_ref().is_ok_and(|h| h.has_checksum(&prefix, &bytes));
        if !by_section {
            prefix.check(&file, &bytes)?;
        }
        let Header { model, mut tensors, .. } = header?;
        if !by_section {
            // The checksum of the whole fits, and has seen them all.
            tensors.values_mut().for_each(|tensor| tensor.crc = None);
        }
        Ok(Self { file, bytes, model, tensors })
    }
}

/// The header as it is understood once it has been parsed, before its checksum is compared.
struct Header {
    model: Value,
    tensors: HashMap<String, Tensor>,
    /// Whether each tensor has a checksum of its own.
    has_sections: bool,
}

impl Header {
    fn parse(file: &str, bytes: &Bytes, data_at: usize) -> Result<Self, Error> {
        let header = |why: String| Error::Header { file: file.to_string(), why };
        let RawHeader { metadata, tensors } =
            serde_json::from_slice(&bytes[8..data_at]).map_err(|e| header(e.to_string()))?;
        let metadata = metadata.ok_or_else(|| header("it has no `__metadata__`".to_string()))?;
        check_size(&metadata.model).map_err(header)?;
        let model = serde_json::from_str(&metadata.model)
            .map_err(|e| header(format!("its `model` is not JSON: {e}")))?;
        let crcs = metadata.sections.as_deref().and_then(section_crcs);
        let tensors =
            check_tensors(file, bytes, data_at, tensors, crcs.as_deref().unwrap_or_default())?;
        let has_sections = crcs.is_some_and(|crcs| crcs.len() == tensors.len());
        Ok(Self { model, tensors, has_sections })
    }

    /// Whether the checksum of the file is what follows from that of the header and those of the sections, which together cover it.
    fn has_checksum(&self, prefix: &Prefix, bytes: &Bytes) -> bool {
        let mut sections: Vec<(&Range<usize>, Option<u32>)> =
            self.tensors.values().map(|tensor| (&tensor.section, tensor.crc)).collect();
        sections.sort_unstable_by_key(|(section, _)| (section.start, section.end));
        let mut crc = prefix.header_crc(bytes);
        let mut end = prefix.data_at;
        for (section, own) in sections {
            let Some(own) = own else { return false };
            if section.start != end {
                return false;
            }
            crc.combine(&crc32fast::Hasher::new_with_initial_len(own, section.len() as u64));
            end = section.end;
        }
        self.has_sections && end == bytes.len() && prefix.is_given(bytes, crc)
    }
}

/// Checksums of eight digits each, one after the other.
fn section_crcs(digits: &str) -> Option<Vec<u32>> {
    let is_digit = |b: &u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
    let fits = digits.len().is_multiple_of(8) && digits.bytes().all(|b| is_digit(&b));
    let number = |at: usize| u32::from_str_radix(digits.get(at..at + 8)?, 16).ok();
    if fits { (0..digits.len()).step_by(8).map(number).collect() } else { None }
}

fn unreadable(file: &str, bytes: &Bytes, why: io::Error) -> Error {
    let file = file.to_string();
    match why.kind() {
        io::ErrorKind::UnexpectedEof => Error::Truncated {
            file,
            expected: bytes.len() as u64,
            at_least: false,
            found: bytes.len_now(),
        },
        _ => Error::Read { file, why },
    }
}

#[derive(Debug)]
struct Tensor {
    dtype: Dtype,
    shape: Vec<usize>,
    at: Range<usize>,
    /// The same with the filling before it.
    section: Range<usize>,
    /// The checksum of the section, where it is still to be compared.
    crc: Option<u32>,
    is_checked: AtomicBool,
}

impl Tensor {
    /// `None` if it is not aligned, which `check_tensors` refuses.
    fn data<'a>(&self, bytes: &'a [u8]) -> Option<TensorData<'a>> {
        let bytes = bytes.get(self.at.clone())?;
        Some(match self.dtype {
            Dtype::F32 => TensorData::F32(cast_f32(bytes)?),
            Dtype::F64 => TensorData::F64(cast_f64(bytes)?),
            Dtype::U32 => TensorData::U32(cast_u32(bytes)?),
            Dtype::U8 => TensorData::U8(bytes),
        })
    }
}

/// What the first bytes tell, before any JSON is parsed.
struct Prefix {
    data_at: usize,
    crc_at: usize,
}

impl Prefix {
    fn parse(file: &str, bytes: &[u8]) -> Result<Self, Error> {
        let not_lineal =
            |why: &str| Error::NotLineal { file: file.to_string(), why: why.to_string() };
        if bytes.is_empty() {
            return Err(not_lineal("it is empty"));
        }
        let begun = bytes.get(8..).unwrap_or_default();
        if begun.len() < MAGIC.len() && MAGIC.starts_with(begun) {
            return Err(not_lineal("it is cut off after a few bytes"));
        }
        let Some(rest) = begun.strip_prefix(MAGIC) else {
            return Err(not_lineal("it does not begin like one"));
        };
        let n_digits = rest.iter().take(20).take_while(|b| b.is_ascii_digit()).count();
        let version = str::from_utf8(&rest[..n_digits]).ok().and_then(|digits| digits.parse().ok());
        match version {
            Some(VERSION) => {}
            Some(version) if version > VERSION => {
                return Err(Error::Newer { file: file.to_string(), version });
            }
            _ => return Err(not_lineal("its format version is not a number that was ever used")),
        }

        let len = u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes"));
        let truncated = Error::Truncated {
            file: file.to_string(),
            expected: len.saturating_add(8),
            at_least: true,
            found: bytes.len() as u64,
        };
        if len > MAX_HEADER as u64 {
            let why = format!("it claims {len} bytes, and {MAX_HEADER} are allowed");
            return Err(Error::Header { file: file.to_string(), why });
        }
        let data_at = 8 + len as usize; // fits: at most MAX_HEADER
        if data_at > bytes.len() {
            return Err(truncated);
        }
        let crc_at = 8 + MAGIC.len() + n_digits + BEFORE_CRC.len();
        if data_at < crc_at + 8 || !rest[n_digits..].starts_with(BEFORE_CRC) {
            let why = "no `crc32` follows the version".to_string();
            return Err(Error::Header { file: file.to_string(), why });
        }
        Ok(Self { data_at, crc_at })
    }

    /// Of everything before the tensors, the digits of the checksum taken as zeros.
    fn header_crc(&self, bytes: &[u8]) -> crc32fast::Hasher {
        let mut crc = crc32fast::Hasher::new();
        crc.update(&bytes[..self.crc_at]);
        crc.update(NO_CRC);
        crc.update(&bytes[self.crc_at + 8..self.data_at]);
        crc
    }

    fn given<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        &bytes[self.crc_at..self.crc_at + 8]
    }

    fn is_given(&self, bytes: &[u8], crc: crc32fast::Hasher) -> bool {
        // Compared as text: `AB` is not `ab`, or a flipped bit would pass.
        format!("{:08x}", crc.finalize()).as_bytes() == self.given(bytes)
    }

    /// Compares the checksum of the whole. On a mismatch the header, if it can still be read, tells whether bytes are missing:
    /// the commonest damage, and the one with the plainest remedy.
    fn check(&self, file: &str, bytes: &Bytes) -> Result<(), Error> {
        let mut crc = self.header_crc(bytes);
        let tensors = self.data_at..bytes.len();
        let len = tensors.len() as u64;
        let own = bytes.crc(tensors).map_err(|e| unreadable(file, bytes, e))?;
        crc.combine(&crc32fast::Hasher::new_with_initial_len(own, len));
        if self.is_given(bytes, crc.clone()) {
            return Ok(());
        }
        if let Ok(header) = serde_json::from_slice::<RawHeader>(&bytes[8..self.data_at]) {
            let end = header.tensors.iter().map(|(_, t)| t.data_offsets.1).max().unwrap_or(0);
            let expected = (self.data_at as u64).saturating_add(end);
            if expected != bytes.len() as u64 {
                return Err(Error::Truncated {
                    file: file.to_string(),
                    expected,
                    at_least: false,
                    found: bytes.len() as u64,
                });
            }
        }
        let expected = self.given(bytes).escape_ascii().to_string();
        let found = format!("{:08x}", crc.finalize());
        Err(Error::Checksum { file: file.to_string(), expected, found })
    }
}

/// Tensors must fill the rest of the file, one after the other, with neither hole nor overlap.
fn check_tensors(
    file: &str,
    bytes: &[u8],
    data_at: usize,
    mut raw: Vec<(String, RawTensor)>,
    crcs: &[u32],
) -> Result<HashMap<String, Tensor>, Error> {
    let mut tensors = HashMap::new();
    let mut end_of_section = data_at;
    let n_data = bytes.len() - data_at;
    let mut end_of_last = 0;
    raw.sort_by_key(|(_, t)| t.data_offsets);
    for (name, RawTensor { dtype, shape, data_offsets: (begin, end) }) in raw {
        let bad = |why: String| Error::Tensor { file: file.to_string(), name: name.clone(), why };
        let dtype = Dtype::parse(&dtype).ok_or_else(|| {
            bad(format!("has the unknown type {:?}", dtype.chars().take(20).collect::<String>()))
        })?;
        if begin != end_of_last || end < begin || end > n_data as u64 {
            return Err(bad(format!(
                "has offsets {begin}–{end}, where {end_of_last} to at most {n_data} was expected"
            )));
        }
        // Both are at most the file's length by now.
        let at = data_at + begin as usize..data_at + end as usize;
        if dtype.bytes_of(&shape) != Some(at.len()) {
            return Err(bad(format!("has {} bytes, which its shape does not give", at.len())));
        }
        let section = end_of_section..at.end;
        let crc = crcs.get(tensors.len()).copied();
        let tensor = Tensor { dtype, shape, at, section, crc, is_checked: AtomicBool::new(false) };
        if tensor.data(bytes).is_none() {
            return Err(bad("does not start where its type can".to_string()));
        }
        end_of_last = end;
        if name.starts_with(PAD) {
            continue;
        }
        if tensors.contains_key(&name) {
            return Err(bad("is there twice".to_string()));
        }
        end_of_section = tensor.section.end;
        tensors.insert(name, tensor);
    }
    if end_of_last != n_data as u64 {
        return Err(Error::Truncated {
            file: file.to_string(),
            expected: (data_at as u64).saturating_add(end_of_last),
            at_least: false,
            found: bytes.len() as u64,
        });
    }
    Ok(tensors)
}

/// The header as JSON. Kept as a list, since a map would hide a name that is there twice.
struct RawHeader {
    metadata: Option<Metadata>,
    tensors: Vec<(String, RawTensor)>,
}

/// `format`, `version` and `crc32` were read from the prefix; what later versions add is passed over.
#[derive(serde::Deserialize)]
struct Metadata {
    model: String,
    sections: Option<String>,
}

#[derive(serde::Deserialize)]
struct RawTensor {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: (u64, u64),
}

impl<'de> Deserialize<'de> for RawHeader {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = RawHeader;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of tensors")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawHeader, A::Error> {
                let mut header = RawHeader { metadata: None, tensors: Vec::new() };
                while let Some(name) = map.next_key::<String>()? {
                    if name != "__metadata__" {
                        header.tensors.push((name, map.next_value()?));
                    } else if header.metadata.replace(map.next_value()?).is_some() {
                        return Err(serde::de::Error::duplicate_field("__metadata__"));
                    }
                }
                Ok(header)
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

impl From<Error> for io::Error {
    /// For a model that is read amid other input and output.
    fn from(error: Error) -> Self {
        match error {
            Error::Write(error) => error,
            Error::Read { ref why, .. } => io::Error::new(why.kind(), error),
            other => io::Error::new(io::ErrorKind::InvalidData, other),
        }
    }
}
