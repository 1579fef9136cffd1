//! Labels of declared variables, as lines and as JSON like that of the data.

use std::io::{self, Write};

use lineal::data::{DeclaredExample, DeclaredValue};
use lineal::declared::Ground;
use lineal::declared::language::VariableKind;
use lineal::{DeclaredAnswer, DeclaredModel};
use serde_json::{Map, Value, json};

use crate::args::{Output, PredictArgs};
use crate::table::quoted;

/// Writes examples, one after the other.
pub struct Writer<'m> {
    model: &'m DeclaredModel,
    form: Output,
    begun: bool,
}

impl<'m> Writer<'m> {
    pub fn new(model: &'m DeclaredModel, args: &PredictArgs) -> Self {
        Self { model, form: args.output, begun: false }
    }

    pub fn write(
        &mut self,
        out: &mut dyn Write,
        raw: &DeclaredExample,
        ground: &Ground,
        number: usize,
        found: &DeclaredAnswer,
    ) -> io::Result<()> {
        let first = !std::mem::replace(&mut self.begun, true);
        match self.form {
            Output::Text => {
                let told =
                    (0..ground.kinds.len()).filter(|&v| self.is_told(ground, v, &found.labels));
                let words = told.map(|v| {
                    format!("{}={}", self.name(ground, v), self.label(ground, v, &found.labels))
                });
                let words: Vec<String> = raw.id.iter().map(id_text).chain(words).collect();
                writeln!(out, "{}", words.join("\t"))
            }
            Output::Csv => {
                if first {
                    writeln!(out, "example,variable,label")?;
                }
                let example = raw.id.as_ref().map_or((number + 1).to_string(), id_text);
                let mut told =
                    (0..ground.kinds.len()).filter(|&v| self.is_told(ground, v, &found.labels));
                told.try_for_each(|v| {
                    let (name, label) =
                        (self.name(ground, v), self.label(ground, v, &found.labels));
                    writeln!(out, "{},{},{}", quoted(&example), quoted(&name), quoted(label))
                })
            }
            Output::Jsonl => {
                let mut object =
                    self.lists(raw, ground, &found.labels, found.confidence.as_deref());
                object.insert("score".into(), json!(found.score));
                object.insert("slack".into(), json!(found.slack));
                if !found.n_best.is_empty() {
                    let ranked = found.n_best.iter().map(|ranked| {
                        let mut object = self.lists(raw, ground, &ranked.labels, None);
                        object.insert("score".into(), json!(ranked.score));
                        Value::from(object)
                    });
                    object.insert("n_best".into(), ranked.collect());
                }
                serde_json::to_writer(&mut *out, &object)?;
                writeln!(out)
            }
        }
    }

    /// Whether a variable says something: pairs with the first label do not.
    fn is_told(&self, ground: &Ground, variable: usize, labels: &[u32]) -> bool {
        let kind = &self.model.declaration().variables()[ground.kinds[variable] as usize];
        !(kind.all_pairs && labels[variable] == 0)
    }

    /// `entity[2]`, `relation(0,2)`.
    fn name(&self, ground: &Ground, variable: usize) -> String {
        let at = ground.kinds[variable] as usize;
        let kind = &self.model.declaration().variables()[at];
        match kind.all_pairs {
            true => format!("{}({})", kind.name, self.ends(kind, ground, variable).join(",")),
            false => format!("{}[{}]", kind.name, variable - ground.starts[at]),
        }
    }

    /// Where the links of a variable lead: numbers within their kinds.
    fn ends(&self, kind: &VariableKind, ground: &Ground, variable: usize) -> Vec<String> {
        let end = |(link, to): (&lineal::declared::language::Link, &Option<u32>)| {
            to.map_or("-".to_owned(), |to| (to as usize - ground.starts[link.to]).to_string())
        };
        kind.links.iter().zip(ground.links(variable)).map(end).collect()
    }

    fn label(&self, ground: &Ground, variable: usize, labels: &[u32]) -> &'m str {
        self.model.label(ground, variable, labels[variable])
    }

    /// The lists of the declaration, each with the labels that were found: data that can be read again.
    fn lists(
        &self,
        raw: &DeclaredExample,
        ground: &Ground,
        labels: &[u32],
        confidence: Option<&[f64]>,
    ) -> Map<String, Value> {
        let mut object = Map::new();
        object.extend(raw.id.as_ref().map(|id| ("id".to_owned(), as_json(id))));
        for (name, column) in &raw.columns {
            object.insert(name.clone(), json!(column));
        }
        for (k, kind) in self.model.declaration().variables().iter().enumerate() {
            let records = raw.lists.iter().find(|(name, _)| *name == kind.source);
            let records = records.map(|(_, records)| &records[..]).unwrap_or_default();
            let (mut list, mut list_at) = (Vec::new(), 0);
            for v in ground.starts[k]..ground.starts[k + 1] {
                if !self.is_told(ground, v, labels) {
                    continue;
                }
                let mut record = Map::new();
                if kind.all_pairs {
                    for (link, to) in kind.links.iter().zip(ground.links(v)) {
                        let to = to.map(|to| to as usize - ground.starts[link.to]);
                        record.insert(link.name.clone(), json!(to));
                    }
                } else if let Some(own) = records.get(v - ground.starts[k]) {
                    record.extend(own.fields.iter().map(|(name, v)| (name.clone(), as_json(v))));
                }
                // Kinds that share a list have a field each in the same objects.
                let earlier = object.get(&kind.source).and_then(|list| list.get(list_at));
                if let Some(Value::Object(earlier)) = earlier.filter(|_| !kind.all_pairs) {
                    record = earlier.clone();
                }
                list_at += 1;
                record.insert(kind.label_field.clone(), json!(self.label(ground, v, labels)));
                if let Some(sure) = confidence {
                    record.insert("confidence".into(), json!(sure[v]));
                }
                list.push(Value::from(record));
            }
            object.insert(kind.source.clone(), list.into());
        }
        object
    }
}

/// What an example is called, in a cell.
fn id_text(id: &DeclaredValue) -> String {
    match as_json(id) {
        Value::String(text) => text.replace(['\t', '\n', '\r'], " "),
        other => other.to_string(),
    }
}

fn as_json(value: &DeclaredValue) -> Value {
    match value {
        // Whole numbers stay whole.
        DeclaredValue::Number(n) if n.fract() == 0.0 && n.abs() < 1e15 => json!(*n as i64),
        DeclaredValue::Number(n) => json!(n),
        DeclaredValue::Text(text) => json!(text),
        DeclaredValue::Features(all) => all
            .iter()
            .map(|(name, value)| (name.clone(), number(*value)))
            .collect::<Map<_, _>>()
            .into(),
    }
}

/// The shortest number that reads as this one.
fn number(value: f32) -> Value {
    value.to_string().parse::<f64>().map_or(Value::Null, |value| json!(value))
}
