//! The body of a request: one list of examples, and what to say about them.

use std::fmt;

use axum::http::StatusCode;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::problem::Problem;
use crate::served::{Ask, ExplainAsk, Form};

/// What a request asks about its examples.
pub(crate) trait Question: Default + Send + Sync + 'static {
    /// The keys that it knows.
    const KEYS: &'static [&'static str];
    /// Takes a key's value.
    fn set(&mut self, key: &str, value: &str) -> Result<(), Problem>;
}

impl Question for Ask {
    const KEYS: &'static [&'static str] = &["proba", "scores", "top", "min_cost", "confidence"];

    fn set(&mut self, key: &str, value: &str) -> Result<(), Problem> {
        match key {
            "proba" => self.proba = flag(key, value)?,
            "scores" => self.scores = flag(key, value)?,
            "top" => self.top = Some(number(key, value)?),
            "min_cost" => self.min_cost = flag(key, value)?,
            "confidence" => self.confidence = flag(key, value)?,
            _ => return Err(unknown::<Self>(key)),
        }
        Ok(())
    }
}

impl Question for ExplainAsk {
    const KEYS: &'static [&'static str] = &["top", "class", "part", "pixel", "words"];

    fn set(&mut self, key: &str, value: &str) -> Result<(), Problem> {
        match key {
            "top" => self.top = number(key, value)?,
            "class" => {
                let wrong = || Problem::at("/class", "must be the name of a class");
                self.class = Some(serde_json::from_str(value).map_err(|_| wrong())?);
            }
            "part" => self.part = Some(number(key, value)?),
            "pixel" => {
                let wrong = || Problem::at("/pixel", "must be a pixel, as [12, 40]");
                let [x, y]: [usize; 2] = serde_json::from_str(value).map_err(|_| wrong())?;
                self.pixel = Some((x, y));
            }
            "words" => self.words = flag(key, value)?,
            _ => return Err(unknown::<Self>(key)),
        }
        Ok(())
    }
}

fn flag(key: &str, value: &str) -> Result<bool, Problem> {
    let wrong = |_| Problem::at(format!("/{key}"), "must be true or false");
    serde_json::from_str(value).map_err(wrong)
}

fn number(key: &str, value: &str) -> Result<usize, Problem> {
    let n = serde_json::from_str(value).ok().filter(|n| *n >= 1);
    n.ok_or_else(|| Problem::at(format!("/{key}"), "must be a whole number of at least 1"))
}

fn unknown<Q: Question>(key: &str) -> Problem {
    let lists = Form::ALL.map(Form::key).join(", ");
    let detail =
        format!("is not a key of this request; known are {lists}, and {}", Q::KEYS.join(", "));
    Problem::at(pointer(&[key]), detail)
}

/// Keys one below the other, as RFC 6901 writes them.
pub(crate) fn pointer(keys: &[&str]) -> String {
    keys.iter().map(|key| format!("/{}", key.replace('~', "~0").replace('/', "~1"))).collect()
}

/// A request, taken apart.
#[derive(Debug)]
pub(crate) struct Parsed<'a, Q> {
    pub(crate) form: Form,
    pub(crate) values: Vec<&'a str>,
    pub(crate) question: Q,
}

/// Takes a body apart; at most so many examples.
pub(crate) fn parse<Q: Question>(body: &[u8], most: usize) -> Result<Parsed<'_, Q>, Problem> {
    let not_json = |why: &dyn fmt::Display| {
        Problem::new(StatusCode::BAD_REQUEST, format!("the body is not JSON: {why}"))
    };
    let text = std::str::from_utf8(body).map_err(|e| not_json(&e))?;
    if !text.trim_start().starts_with('{') && serde_json::from_str::<&RawValue>(text).is_ok() {
        return Err(Problem::at("", "the body must be an object, as {\"rows\": […]}"));
    }
    let Fields(fields) = serde_json::from_str(text).map_err(|e| not_json(&e))?;
    let mut list: Option<(Form, Vec<&str>)> = None;
    let mut question = Q::default();
    for (at, (key, value)) in fields.iter().enumerate() {
        if fields[..at].iter().any(|(other, _)| other == key) {
            return Err(Problem::at(pointer(&[key]), "stands there twice"));
        }
        let Some(form) = Form::of_key(key) else {
            question.set(key, value.get())?;
            continue;
        };
        if let Some((other, _)) = &list {
            let detail = format!("give one list of examples: {} is there already", other.key());
            return Err(Problem::at(pointer(&[key]), detail));
        }
        let values: Vec<&RawValue> = serde_json::from_str(value.get())
            .map_err(|_| Problem::at(pointer(&[key]), "must be a list, one entry per example"))?;
        if values.len() > most {
            let detail = format!(
                "{} examples are more than the {most} of a request; send several requests, or a stream of JSON lines",
                values.len()
            );
            return Err(Problem {
                status: StatusCode::PAYLOAD_TOO_LARGE,
                ..Problem::at(pointer(&[key]), detail)
            });
        }
        list = Some((form, values.into_iter().map(RawValue::get).collect()));
    }
    let Some((form, values)) = list else {
        let lists = Form::ALL.map(Form::key).join(", ");
        return Err(Problem::at("", format!("there are no examples: give one of {lists}")));
    };
    Ok(Parsed { form, values, question })
}

/// What the query of an address asks, as in `?proba&top=3`.
pub(crate) fn from_query<Q: Question>(query: Option<&str>) -> Result<Q, Problem> {
    let mut question = Q::default();
    for pair in query.unwrap_or_default().split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, "true"));
        question.set(key, if value == "1" && key != "top" { "true" } else { value })?;
    }
    Ok(question)
}

/// The fields of an object in their order, their values unread.
struct Fields<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
                let mut fields = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    fields.push(entry);
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(Each)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pointer_of(body: &str) -> (u16, String) {
        let problem = parse::<Ask>(body.as_bytes(), 3).unwrap_err();
        (problem.status.as_u16(), problem.pointer.unwrap_or("none".into()))
    }

    #[test]
    fn values_stay_as_they_were_written() {
        let body = br#"{"proba": true, "rows": [{"a": 1.10}, [1, 2e5]], "top": 3}"#;
        let parsed = parse::<Ask>(body, 10).unwrap();
        assert_eq!(parsed.values, [r#"{"a": 1.10}"#, "[1, 2e5]"]);
        assert_eq!(parsed.question, Ask { proba: true, top: Some(3), ..Ask::default() });
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        for (body, status, pointer) in [
            ("", 400, "none"),
            ("{", 400, "none"),
            ("[1]", 422, ""),
            ("{}", 422, ""),
            (r#"{"rows": 3}"#, 422, "/rows"),
            (r#"{"rows": [], "texts": []}"#, 422, "/texts"),
            (r#"{"rows": [], "rows": []}"#, 422, "/rows"),
            (r#"{"rows": [1, 2, 3, 4]}"#, 413, "/rows"),
            (r#"{"rows": [], "proba": 1}"#, 422, "/proba"),
            (r#"{"rows": [], "top": 0}"#, 422, "/top"),
            (r#"{"rows": [], "top": -1}"#, 422, "/top"),
            (r#"{"rows": [], "a/b~": 1}"#, 422, "/a~1b~0"),
        ] {
            assert_eq!(pointer_of(body), (status, pointer.to_owned()), "{body}");
        }
    }

    #[test]
    fn addresses_ask_as_bodies_do() {
        let ask: Ask = from_query(Some("proba&top=1&scores=false&min_cost=1")).unwrap();
        assert_eq!(ask, Ask { proba: true, top: Some(1), min_cost: true, ..Ask::default() });
        assert!(from_query::<Ask>(Some("best=3")).is_err() && from_query::<Ask>(None).is_ok());
    }
}
