//! Lines of CRFsuite's data files: a label and attributes `name[:value]`, separated by tabs.
//!
//! `\:` and `\\` in a name stand for a colon and a backslash, and `\#` where it begins for `#`; any other backslash is one. Without a value, or with an empty one, it is 1.
//! Empty fields are skipped; from a field that begins with `#` on, the line is a comment.

use super::Error;
use super::hash::hash_bytes;
use std::borrow::Cow;

/// An attribute: its name without escapes, and its value.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedAttribute<'a> {
    /// Without escapes.
    pub name: Cow<'a, str>,
    /// 1 if none was given.
    pub value: f32,
}

impl NamedAttribute<'_> {
    /// What an [`AttributeIndex`](super::AttributeIndex) knows it by.
    pub fn hash(&self) -> u64 {
        hash_bytes(self.name.as_bytes())
    }
}

/// The fields of a line. The first one is the label: its name.
///
/// ```
/// use lineal_features::sequence::named_attributes;
/// let fields: Vec<_> = named_attributes("B-NP\tw=the\tratio\\:x:0.5\tend\t# note").collect::<Result<_, _>>()?;
/// let shown: Vec<_> = fields.iter().map(|f| (&f.name[..], f.value)).collect();
/// assert_eq!(shown, [("B-NP", 1.0), ("w=the", 1.0), ("ratio:x", 0.5), ("end", 1.0)]);
/// # Ok::<(), lineal_features::sequence::Error>(())
/// ```
pub fn named_attributes(line: &str) -> impl Iterator<Item = Result<NamedAttribute<'_>, Error>> {
    line.trim_end_matches(['\n', '\r'])
        .split('\t')
        .filter(|field| !field.is_empty())
        .take_while(|field| !field.starts_with('#'))
        .map(parse_field)
}

fn parse_field(field: &str) -> Result<NamedAttribute<'_>, Error> {
    let mut escaped = false;
    let mut has_escape = false;
    let mut colon = None;
    for (at, byte) in field.bytes().enumerate() {
        if escaped {
            escaped = false;
            has_escape |= matches!(byte, b':' | b'\\') || (byte == b'#' && at == 1);
            if matches!(byte, b':' | b'\\') {
                continue;
            }
        }
        match byte {
            b'\\' => escaped = true,
            b':' => {
                colon = Some(at);
                break;
            }
            _ => {}
        }
    }
    let (name, value) = colon.map_or((field, ""), |at| (&field[..at], &field[at + 1..]));
    let name = if has_escape { Cow::Owned(unescape(name)) } else { Cow::Borrowed(name) };
    if value.is_empty() {
        return Ok(NamedAttribute { name, value: 1.0 });
    }
    match value.parse::<f32>() {
        Ok(value) if value.is_finite() => Ok(NamedAttribute { name, value }),
        _ => Err(Error::Value { attribute: name.into_owned(), value: value.to_string() }),
    }
}

fn unescape(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('\\', Some(&next @ (':' | '\\'))) => {
                out.push(next);
                chars.next();
            }
            ('\\', Some('#')) if out.is_empty() => {}
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(field: &str) -> (String, f32) {
        let parsed = parse_field(field).unwrap();
        (parsed.name.into_owned(), parsed.value)
    }

    #[test]
    fn escapes_and_values() {
        for (field, name, value) in [
            ("a", "a", 1.0),
            ("a:2.5", "a", 2.5),
            ("a:", "a", 1.0),
            ("a:-1e-3", "a", -1e-3),
            (r"\:", ":", 1.0),
            (r"\::3", ":", 3.0),
            (r"a\\:3", r"a\", 3.0),
            (r"a\\\:3", r"a\:3", 1.0),
            (r"a\b", r"a\b", 1.0),
            (r"\#a#:2", "#a#", 2.0),
            (r"\\#a", r"\#a", 1.0),
            (r"a\#b\:", r"a\#b:", 1.0),
            (r"a\", r"a\", 1.0),
            (r"w[0]=\\\\", r"w[0]=\\", 1.0),
        ] {
            assert_eq!(one(field), (name.to_string(), value), "{field}");
        }
        for field in ["a:b", "a:1:2", "a:nan", "a:inf", "time=12:30 pm"] {
            let error = parse_field(field).unwrap_err().to_string();
            assert!(error.contains("is not a finite number"), "{error}");
        }
        assert_eq!(parse_field("x:1").unwrap().hash(), hash_bytes(b"x"));
    }

    #[test]
    fn empty_fields_and_comments_are_no_attributes() {
        assert_eq!(named_attributes("\t\ta\t\tb\t#c\td").count(), 2);
        assert_eq!(named_attributes("").count(), 0);
    }
}
