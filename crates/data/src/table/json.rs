//! A JSON value that borrows its text, and that refuses repeated keys.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use serde::de::{
    self, Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor,
};

use super::jsonl::Names;
use super::quick::{self, unescaped};
use super::{FEATURES, Want};
use crate::labels::number_name;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Json<'a> {
    Null,
    Bool(bool),
    Number(f64),
    /// An integer that f64 would round: a name if it is a label, a number if it is a feature.
    Big(i128),
    Text(Cow<'a, str>),
    /// A string as it is written, with escapes that are known to be right.
    Escaped(&'a str),
    List(Vec<Json<'a>>),
    Object(Vec<(Cow<'a, str>, Json<'a>)>),
}

impl Json<'_> {
    pub(crate) fn number(&self) -> Option<f64> {
        match *self {
            Json::Number(v) => Some(v),
            Json::Big(v) => Some(v as f64),
            _ => None,
        }
    }

    /// The name of a single value; `None` for null, lists and objects.
    pub(crate) fn name(&self) -> Option<Cow<'_, str>> {
        match self {
            Json::Bool(true) => Some("true".into()),
            Json::Bool(false) => Some("false".into()),
            Json::Number(v) => Some(number_name(*v).into()),
            Json::Big(v) => Some(v.to_string().into()),
            Json::Text(text) => Some(Cow::Borrowed(text.trim())),
            Json::Escaped(raw) => Some(unescaped(raw).trim().to_owned().into()),
            Json::Null | Json::List(_) | Json::Object(_) => None,
        }
    }

    pub(crate) fn is_list_of_numbers(&self) -> bool {
        matches!(self, Json::List(list) if list.iter().all(|v| v.number().is_some()))
    }
}

/// As a message shows it.
impl fmt::Display for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Json::Null => f.write_str("null"),
            Json::List(list) => write!(f, "a list of {}", list.len()),
            Json::Object(_) => f.write_str("an object"),
            Json::Text(text) => write!(f, "{text:?}"),
            Json::Escaped(raw) => write!(f, "{:?}", unescaped(raw)),
            other => f.write_str(&other.name().unwrap_or_default()),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Json<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

/// Integers up to here are exact in f64.
const EXACT: i128 = 1 << 53;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json<'de>, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, v: bool) -> Result<Json<'de>, E> {
        Ok(Json::Bool(v))
    }

    fn visit_i64<E>(self, v: i64) -> Result<Json<'de>, E> {
        Ok(integer(v.into()))
    }

    fn visit_u64<E>(self, v: u64) -> Result<Json<'de>, E> {
        Ok(integer(v.into()))
    }

    fn visit_f64<E>(self, v: f64) -> Result<Json<'de>, E> {
        Ok(Json::Number(v))
    }

    fn visit_borrowed_str<E>(self, v: &'de str) -> Result<Json<'de>, E> {
        Ok(Json::Text(Cow::Borrowed(v)))
    }

    fn visit_str<E>(self, v: &str) -> Result<Json<'de>, E> {
        Ok(Json::Text(Cow::Owned(v.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Json<'de>, A::Error> {
        let mut list = Vec::new();
        while let Some(value) = seq.next_element()? {
            list.push(value);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json<'de>, A::Error> {
        let mut entries: Vec<(Cow<'de, str>, Json<'de>)> = Vec::new();
        let mut seen: HashSet<String> = HashSet::new();
        while let Some(Key(key)) = map.next_key()? {
            if !seen.insert(key.clone().into_owned()) {
                return Err(de::Error::custom(format_args!("key {key:?} is given twice")));
            }
            entries.push((key, map.next_value()?));
        }
        Ok(Json::Object(entries))
    }
}

fn integer<'a>(v: i128) -> Json<'a> {
    if (-EXACT..=EXACT).contains(&v) { Json::Number(v as f64) } else { Json::Big(v) }
}

/// A key that borrows where it has no escapes.
struct Key<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Key<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match deserializer.deserialize_str(JsonVisitor)? {
            Json::Text(text) => Ok(Key(text)),
            _ => Err(de::Error::custom("a key must be a string")),
        }
    }
}

/// The keys of the object that a line is.
pub(super) fn keys(line: &str) -> serde_json::Result<Vec<Cow<'_, str>>> {
    parse(line, KeysVisitor)
}

/// The values of the object that a line is. Those that are not wanted are skipped: text is most of a file, and a walk
/// that only looks for labels need not unescape it.
pub(super) fn values<'a>(
    line: &'a str,
    names: &Names,
    wanted: &[Want],
) -> serde_json::Result<Values<'a>> {
    match quick::values(line, names, wanted) {
        Some(values) => Ok(values),
        None => slow_values(line, names, wanted),
    }
}

/// The same, whatever the line is.
pub(super) fn slow_values<'a>(
    line: &'a str,
    names: &Names,
    wanted: &[Want],
) -> serde_json::Result<Values<'a>> {
    parse(line, ValuesVisitor { names, wanted })
}

/// The values of an object.
pub(super) struct Values<'a> {
    /// In the order of the columns. `None` where the key is absent, null where it is there but not wanted.
    pub(super) values: Vec<Option<Json<'a>>>,
    /// Whether there are other keys.
    pub(super) has_others: bool,
}

fn parse<'a, V: Visitor<'a>>(line: &'a str, visitor: V) -> serde_json::Result<V::Value> {
    let mut parser = serde_json::Deserializer::from_str(line);
    let value = parser.deserialize_map(visitor)?;
    parser.end()?;
    Ok(value)
}

struct KeysVisitor;

impl<'de> Visitor<'de> for KeysVisitor {
    type Value = Vec<Cow<'de, str>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut keys = Vec::new();
        while let Some(Key(key)) = map.next_key()? {
            if key == FEATURES {
                map.next_value::<IgnoredAny>()?;
                keys.push(key);
            } else {
                map.next_value_seed(Below { key, keys: &mut keys })?;
            }
        }
        Ok(keys)
    }
}

/// The keys of an object, after that of the object and a dot; of any other value, the key that it has.
struct Below<'k, 'de> {
    key: Cow<'de, str>,
    keys: &'k mut Vec<Cow<'de, str>>,
}

impl<'de> DeserializeSeed<'de> for Below<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Below<'_, '_> {
    fn end<E>(self) -> Result<(), E> {
        self.keys.push(self.key);
        Ok(())
    }
}

impl<'de> Visitor<'de> for Below<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.end()
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        self.end()
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        self.end()
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        self.end()
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        self.end()
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        self.end()
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        self.end()
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Key(key)) = map.next_key()? {
            let key = format!("{}.{key}", self.key).into();
            map.next_value_seed(Below { key, keys: &mut *self.keys })?;
        }
        Ok(())
    }
}

struct ValuesVisitor<'n> {
    names: &'n Names,
    wanted: &'n [Want],
}

impl<'de> Visitor<'de> for ValuesVisitor<'_> {
    type Value = Values<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut values = vec![None; self.names.len()];
        let (mut has_others, mut near) = (false, 0);
        while let Some(found) = map.next_key_seed(Place { names: self.names, near })? {
            let at = match found {
                Found::Column(at) => at,
                Found::Parent(key) => {
                    let value: Json<'de> = map.next_value()?;
                    has_others |= self.flatten(key, value, &mut values).map_err(twice)?;
                    continue;
                }
                Found::Other => {
                    has_others = true;
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            if values[at].is_some() {
                return Err(twice(self.names.name(at)));
            }
            values[at] = Some(match self.wanted[at] {
                Want::No | Want::Later => map.next_value::<IgnoredAny>().map(|_| Json::Null)?,
                Want::Yes | Want::Text => map.next_value()?,
            });
            near = at + 1;
        }
        Ok(Values { values, has_others })
    }
}

fn twice<E: de::Error>(key: impl AsRef<str>) -> E {
    E::custom(format_args!("key {:?} is given twice", key.as_ref()))
}

impl ValuesVisitor<'_> {
    /// Puts what stands under a key in the columns whose names begin with it. Returns whether some have no column; an error is a key that
    /// is given twice.
    fn flatten<'de>(
        &self,
        key: String,
        value: Json<'de>,
        values: &mut [Option<Json<'de>>],
    ) -> Result<bool, String> {
        let mut has_others = false;
        match (value, self.names.find(&key, 0)) {
            (Json::Object(entries), _) if self.names.is_parent(&key) => {
                for (below, value) in entries {
                    has_others |= self.flatten(format!("{key}.{below}"), value, values)?;
                }
            }
            (_, Some(at)) if values[at].is_some() => return Err(key),
            (value, Some(at)) => {
                let is_wanted = !matches!(self.wanted[at], Want::No | Want::Later);
                values[at] = Some(if is_wanted { value } else { Json::Null });
            }
            (Json::Null, None) => {}
            (Json::Object(entries), None) => has_others = !entries.is_empty(),
            (_, None) => has_others = true,
        }
        Ok(has_others)
    }
}

/// What a key stands for.
enum Found {
    Column(usize),
    /// Columns may be inside.
    Parent(String),
    Other,
}

/// A key's column, without a copy of it.
struct Place<'n> {
    names: &'n Names,
    near: usize,
}

impl<'de> DeserializeSeed<'de> for Place<'_> {
    type Value = Found;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Place<'_> {
    type Value = Found;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        if self.names.is_parent(key) {
            return Ok(Found::Parent(key.to_owned()));
        }
        Ok(self.names.find(key, self.near).map_or(Found::Other, Found::Column))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_names() {
        let text =
            r#"{"a": 1.0, "b\n": [1, 2.5], "c": {"d": null}, "e": 9007199254740993, "f": true}"#;
        let Json::Object(entries) = serde_json::from_str(text).unwrap() else { panic!() };
        let names: Vec<String> =
            entries.iter().map(|(k, v)| format!("{k}={}", v.name().unwrap_or_default())).collect();
        assert_eq!(names, ["a=1", "b\n=", "c=", "e=9007199254740993", "f=true"]);
        assert!(entries[1].1.is_list_of_numbers());
    }

    #[test]
    fn repeated_keys_are_refused() {
        let error = serde_json::from_str::<Json<'_>>(r#"{"a": {"b": 1, "b": 2}}"#).unwrap_err();
        assert!(error.to_string().contains("\"b\" is given twice"), "{error}");
    }
}
