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
            // As Python spells it.
            "latin-1" | "latin_1" => "latin1",
            "utf_8" | "utf-8-sig" => "utf-8",
            _ => name,
        };
        encoding_rs::Encoding::for_label(other.as_bytes()).map(Self).ok_or_else(|| {
            format!("`{name}` is not a known encoding; try utf-8, latin1, windows-1252, utf-16, shift_jis or gbk")
        })
    }

    /// What the first bytes say by a byte order mark, or by the zeros of UTF-16 without one. The mark of UTF-8 is read anyway.
    fn of_mark(bytes: &[u8]) -> Option<Self> {
        match encoding_rs::Encoding::for_bom(bytes) {
            Some((encoding, _)) => (encoding != encoding_rs::UTF_8).then_some(Self(encoding)),
            None => Self::of_zeros(&bytes[..bytes.len().min(HEAD)]),
        }
    }

    /// Characters of English and of most separators have one byte of 0 in UTF-16, always on the same side. Nothing else that is text has any.
    fn of_zeros(head: &[u8]) -> Option<Self> {
        let n_zeros = |side: usize| head.iter().skip(side).step_by(2).filter(|b| **b == 0).count();
        let enough = (head.len() / 2).max(8) * 3 / 4;
        match (n_zeros(0), n_zeros(1)) {
            (0, n) if n >= enough => Some(Self(encoding_rs::UTF_16LE)),
            (n, 0) if n >= enough => Some(Self(encoding_rs::UTF_16BE)),
            _ => None,
        }
    }
}

/// How many bytes are looked at to see whether they are UTF-16.
const HEAD: usize = 64;

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
    let marked = || match source.peek(HEAD)? {
        Some(head) => {
            refuse_utf32(&head, &source.name())?;
            Ok::<_, Error>(Encoding::of_mark(&head))
        }
        None => Ok(None),
    };
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
    refuse_utf32(&bytes, name)?;
    match Encoding::of_mark(&bytes) {
        Some(encoding) => Ok(Bytes::Owned(decode(&bytes, encoding, name)?.into_bytes())),
        None => Ok(bytes),
    }
}

/// UTF-32 has a byte order mark that begins as that of UTF-16, or three bytes of 0 in each character.
fn refuse_utf32(bytes: &[u8], name: &str) -> Result<(), Error> {
    let (units, _) = bytes[..bytes.len().min(HEAD)].as_chunks::<4>();
    let is_marked = matches!(units.first(), Some([0xff, 0xfe, 0, 0] | [0, 0, 0xfe, 0xff]));
    let is_all = |test: fn(&[u8; 4]) -> bool| units.len() > 1 && units.iter().all(test);
    let is_latin = is_all(|unit| unit[0] > 0 && unit[1..] == [0; 3])
        || is_all(|unit| unit[3] > 0 && unit[..3] == [0; 3]);
    if !is_marked && !is_latin {
        return Ok(());
    }
    let message = "the file is in UTF-32, which is not read; convert it, for instance by iconv -f UTF-32 -t UTF-8";
    Err(Error::new(ErrorKind::Encoding, name, message))
}

/// The encoding that bytes which are not UTF-8 are most likely in.
pub(crate) fn likely(bytes: &[u8]) -> &'static str {
    let is_high = |b: &&u8| **b >= 0x80;
    // Runs of letters beyond ASCII: how long they are, and whether they could be characters of two bytes.
    let runs: Vec<&[u8]> = bytes[..bytes.len().min(1 << 20)]
        .split(|b| *b < 0x80)
        .filter(|run| !run.is_empty())
        .take(1000)
        .collect();
    let n_high: usize = runs.iter().map(|run| run.len()).sum();
    let in_runs: usize = runs.iter().map(|run| run.len()).filter(|&len| len >= 2).sum();
    // Kana and the usual kanji begin with these in Shift-JIS; letters of other encodings do not.
    let n_japanese = runs.concat().iter().filter(|b| (0x81..=0x97).contains(*b)).count();
    let n_odd = runs.iter().filter(|run| run.len() % 2 == 1).count();
    match () {
        () if Encoding::of_mark(bytes).is_some() => "utf-16",
        // Half of the bytes of plain English are 0 there.
        () if bytes.iter().take(1 << 12).filter(|b| **b == 0).count() >= 512 => "utf-16",
        // Letters with accents stand alone among others.
        () if 2 * in_runs < n_high => "latin1",
        () if 4 * n_japanese >= n_high => "shift_jis",
        // Two bytes of two for a character.
        () if 4 * n_odd <= runs.len() => "gbk, big5 or euc-kr",
        // One byte for a letter of another alphabet.
        () if bytes.iter().filter(is_high).any(|b| *b >= 0xc0) => {
            "windows-1251 (Cyrillic), windows-1253 (Greek) or another one"
        }
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
    fn the_likely_encoding_is_the_right_one() {
        let in_table = |words: &[&str]| {
            words.iter().map(|word| format!("12;{word};3.5\n")).collect::<String>().repeat(40)
        };
        for (words, name, said) in [
            (&["café", "Zürich", "naïve"][..], "latin1", "latin1"),
            (&["“quoted”", "10 €"], "windows-1252", "latin1"),
            (&["東京", "こんにちは", "名前"], "shift_jis", "shift_jis"),
            (&["中国", "名字", "数据"], "gbk", "gbk"),
            (&["Москва", "имя", "данные"], "windows-1251", "windows-1251"),
        ] {
            let table = in_table(words);
            let bytes = Encoding::named(name).unwrap().0.encode(&table).0;
            assert!(likely(&bytes).starts_with(said), "{name}: {}", likely(&bytes));
        }
    }

    #[test]
    fn utf16_needs_no_mark() {
        let text = "x,y,label\n1,2,cold\n3,4,wärm\n".repeat(5);
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        for bytes in [little, big] {
            assert_eq!(&*bytes_in_utf8(Bytes::Owned(bytes), "t").unwrap(), text.as_bytes());
        }
        // An IDX file has zeros on both sides.
        assert_eq!(Encoding::of_mark(&[0, 0, 8, 3, 0, 0, 0, 9, 0, 0, 0, 28, 0, 0, 0, 28]), None);
        assert_eq!(Encoding::of_mark(b"x\0y"), None);
    }

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
        let utf32 = |text: &str| -> Vec<u8> {
            text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect()
        };
        for text in ["\u{feff}x,y\n1,é\n", "x,y\n1,2\n"] {
            let error = bytes_in_utf8(Bytes::Owned(utf32(text)), "t").unwrap_err();
            assert!(error.message.contains("iconv -f UTF-32"), "{error}");
        }
    }
}
