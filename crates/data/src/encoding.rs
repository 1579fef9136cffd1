//! Text in other encodings than UTF-8.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{Error, ErrorKind};
use crate::options::ReadOptions;
use crate::schema::Schema;
use crate::source::{Bytes, Source};

/// A character encoding, by any name that browsers know.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Encoding(&'static encoding_rs::Encoding);

impl Encoding {
    /// The encoding of that name: `latin1`, `windows-1252`, `utf-16`, `shift_jis`, ….
    pub fn named(name: &str) -> Result<Self, String> {
        let other = match name.to_ascii_lowercase().as_str() {
            "cp1252" | "ansi" => "windows-1252",
            "utf16" => "utf-16",
            _ => name,
        };
        encoding_rs::Encoding::for_label(other.as_bytes()).map(Self).ok_or_else(|| {
            format!("`{name}` is not a known encoding; try utf-8, latin1, windows-1252, utf-16, shift_jis or gbk")
        })
    }

    /// What the first bytes say by a byte order mark. That of UTF-8 is read anyway.
    fn of_mark(bytes: &[u8]) -> Option<Self> {
        let (encoding, _) = encoding_rs::Encoding::for_bom(bytes)?;
        (encoding != encoding_rs::UTF_8).then_some(Self(encoding))
    }
}

impl fmt::Debug for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name())
    }
}

impl Serialize for Encoding {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.0.name())
    }
}

impl<'de> Deserialize<'de> for Encoding {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Self::named(&String::deserialize(from)?).map_err(serde::de::Error::custom)
    }
}

/// As [`in_utf8`], of a file that is read with a schema: what is not UTF-8 is in the encoding that the schema was learnt in.
pub(crate) fn in_utf8_with(
    source: Source,
    options: &ReadOptions,
    schema: &Schema,
) -> Result<Source, Error> {
    let source = in_utf8(source, options)?;
    let (Some(encoding), None) = (schema.encoding, options.encoding) else { return Ok(source) };
    let name = source.name();
    let bytes = bytes_in_utf8(source.open()?, &name)?;
    let bytes = match std::str::from_utf8(&bytes) {
        Ok(_) => bytes.to_vec(),
        Err(_) => decode(&bytes, encoding, &name)?.into_bytes(),
    };
    Ok(Source::Memory { name, bytes })
}

/// The source in UTF-8: itself, or its decoded content where the options or a byte order mark say that it is something else.
pub(crate) fn in_utf8(source: Source, options: &ReadOptions) -> Result<Source, Error> {
    // What may come once is looked at when it has come.
    let marked = || Ok::<_, Error>(source.peek(4)?.and_then(|head| Encoding::of_mark(&head)));
    let encoding = match options.encoding {
        Some(encoding) => Some(encoding),
        None => marked()?,
    };
    let Some(encoding) = encoding else { return Ok(source) };
    let name = source.name();
    let bytes = source.open()?;
    Ok(Source::Memory { bytes: decode(&bytes, encoding, &name)?.into_bytes(), name })
}

/// The same for content at hand.
pub(crate) fn bytes_in_utf8(bytes: Bytes, name: &str) -> Result<Bytes, Error> {
    match Encoding::of_mark(&bytes) {
        Some(encoding) => Ok(Bytes::Owned(decode(&bytes, encoding, name)?.into_bytes())),
        None => Ok(bytes),
    }
}

/// The encoding that bytes which are not UTF-8 are most likely in.
pub(crate) fn likely(bytes: &[u8]) -> &'static str {
    let head = &bytes[..bytes.len().min(1 << 12)];
    let share =
        |of: fn(&u8) -> bool| head.iter().filter(|b| of(b)).count() * 10 / head.len().max(1);
    match () {
        // Half of the bytes of plain English are 0 there.
        () if share(|&b| b == 0) >= 2 => "utf-16",
        // Two bytes of two for a character.
        () if share(|&b| b >= 0x80) >= 5 => "shift_jis, gbk or euc-kr",
        () => "latin1",
    }
}

fn decode(bytes: &[u8], encoding: Encoding, name: &str) -> Result<String, Error> {
    let (text, _, damaged) = encoding.0.decode(bytes);
    if damaged {
        let message =
            format!("the file is not valid {encoding:?}; say another options.encoding, or mend it");
        return Err(Error::new(ErrorKind::Encoding, name, message));
    }
    Ok(text.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_marks_are_known() {
        assert_eq!(Encoding::named("latin1"), Encoding::named("windows-1252"));
        assert!(Encoding::named("klingon").is_err());
        let utf16 = |text: &str| -> Vec<u8> {
            [0xff, 0xfe].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect()
        };
        let bytes = Bytes::Owned(utf16("x,y\n1,é\n"));
        assert_eq!(&*bytes_in_utf8(bytes, "t").unwrap(), "x,y\n1,é\n".as_bytes());
        let latin = Encoding::named("latin1").unwrap();
        assert_eq!(decode(b"caf\xe9", latin, "t").unwrap(), "café");
        let japanese = Encoding::named("shift_jis").unwrap();
        assert!(decode(b"\x81", japanese, "t").is_err());
    }
}
