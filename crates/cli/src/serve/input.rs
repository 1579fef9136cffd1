//! What a request to a model must have, for people, for the page and for the examples of the API's description.

use lineal::data::{Column, ColumnKind, FeatureNames};
use lineal::{AnyModel, Format, SceneSchema, Schema, SequenceSchema, StructuredModel, TagsKind};
use lineal_server::Form;
use serde_json::{Map, Value, json};

use super::lines::input_columns;

/// Values of a column that are listed.
const VALUES: usize = 200;
/// Numbers of an example without columns.
const NUMBERS: usize = 8;

/// What an example is, where a request does not say.
pub fn form(model: &AnyModel) -> Form {
    match model {
        AnyModel::Rows(model) if model.is_of_one_text() => Form::Texts,
        AnyModel::Rows(_) => Form::Rows,
        AnyModel::Tag(_) | AnyModel::Dependency(_) | AnyModel::Constituency(_) => Form::Sentences,
        AnyModel::Rank(_) => Form::Queries,
        AnyModel::Segment(model) => match model.schema() {
            SceneSchema::Images(_) => Form::Images,
            SceneSchema::Graphs(_) => Form::Examples,
        },
        AnyModel::Declared(_) => Form::Examples,
    }
}

/// The form, the columns, the classes, whether there are probabilities, and a request that can be sent.
pub fn describe(model: &AnyModel) -> Value {
    let form = form(model);
    let mut about = Map::new();
    about.insert("form".into(), json!(form.key()));
    let (example, columns, classes, proba) = match model {
        AnyModel::Rows(model) => {
            let example = match form {
                Form::Texts => json!("where is my invoice?"),
                _ => row(model.schema()),
            };
            let proba =
                model.calibration().is_some() || model.report().loss == lineal::LossKind::Logistic;
            (
                example,
                columns(model.schema()),
                model.classes().to_vec(),
                proba && !model.classes().is_empty(),
            )
        }
        AnyModel::Rank(model) => {
            let schema = model.rows().schema();
            let documents = [row(schema), lower(row(schema))];
            (json!({"documents": documents}), columns(schema), Vec::new(), false)
        }
        AnyModel::Tag(model) => (
            tokens(model.schema()),
            token_columns(model.schema()),
            model.labels().to_vec(),
            model.has_proba(),
        ),
        AnyModel::Dependency(model) => {
            let gold = model.spec().dependency.tags == TagsKind::Gold;
            (
                parsed_tokens(gold, "upos"),
                Value::Null,
                model.relations().to_vec(),
                model.has_proba(),
            )
        }
        AnyModel::Constituency(model) => {
            let gold = model.spec().constituency.tags == TagsKind::Gold;
            (parsed_tokens(gold, "tags"), Value::Null, model.labels().to_vec(), model.has_proba())
        }
        AnyModel::Segment(model) => {
            let example = match model.schema() {
                // One white pixel.
                SceneSchema::Images(_) => json!("UDUKMSAxCjI1NQr/"),
                SceneSchema::Graphs(schema) => graph(&schema.nodes, &schema.edges),
            };
            (example, Value::Null, model.labels().to_vec(), false)
        }
        AnyModel::Declared(_) => (Value::Null, Value::Null, Vec::new(), false),
    };
    if !columns.is_null() {
        about.insert("columns".into(), columns);
    }
    if !classes.is_empty() {
        about.insert("classes".into(), json!(classes));
    }
    about.insert("proba".into(), json!(proba));
    if let AnyModel::Rows(model) = model {
        about.insert("outputs".into(), json!(model.n_outputs()));
    }
    if let AnyModel::Segment(model) = model
        && let SceneSchema::Images(schema) = model.schema()
    {
        // By label, as they stand in masks.
        about
            .insert("masks".into(), schema.labels.iter().map(|label| json!(label.value)).collect());
    }
    // A page shows an image of its user's.
    if !example.is_null() && form != Form::Images {
        let mut request = Map::new();
        request.insert(form.key().to_owned(), json!([example]));
        about.insert("example".into(), request.into());
    }
    about.into()
}

/// Two nodes that an edge joins, each with a feature.
fn graph(nodes: &FeatureNames, edges: &FeatureNames) -> Value {
    let features = |names: &FeatureNames, at: usize| match names {
        FeatureNames::Numbered(n) => json!(vec![1; *n]),
        FeatureNames::Named(names) => match names.get(at % names.len().max(1)) {
            Some(name) => json!({ name: 1 }),
            None => json!({}),
        },
    };
    let edge = match edges.len() {
        0 => json!([0, 1]),
        _ => json!([0, 1, features(edges, 0)]),
    };
    json!({"nodes": [features(nodes, 0), features(nodes, 1)], "edges": [edge]})
}

/// The columns of a table with what they hold.
fn columns(schema: &Schema) -> Value {
    let one = |column: &Column| {
        let mut about = json!({"name": column.name, "kind": kind(&column.kind)});
        if let ColumnKind::Categorical { values, .. } = &column.kind {
            about["values"] = json!(values.iter().take(VALUES).collect::<Vec<_>>());
        }
        about
    };
    match &schema.columns {
        Some(_) => input_columns(schema).map(one).collect(),
        None => Value::Null,
    }
}

fn kind(kind: &ColumnKind) -> &'static str {
    match kind {
        ColumnKind::Numeric { .. } => "number",
        ColumnKind::Categorical { .. } | ColumnKind::Hashed { .. } => "category",
        ColumnKind::Vector { .. } => "numbers",
        ColumnKind::Named { .. } => "features",
        ColumnKind::Date { .. } => "date",
        ColumnKind::Time { .. } => "time",
        ColumnKind::Text { .. } => "text",
        _ => "other",
    }
}

/// A row that can be sent: means, first values.
fn row(schema: &Schema) -> Value {
    if schema.columns.is_none() {
        let n = schema.n_features.min(NUMBERS);
        if schema.format == Some(Format::Idx) {
            return json!(vec![0; schema.n_features]);
        }
        return (1..=n).map(|j| (j.to_string(), json!(1))).collect::<Map<_, _>>().into();
    }
    let cell = |column: &Column| {
        let value = match &column.kind {
            ColumnKind::Numeric { mean, .. } => json!((f64::from(*mean) * 1e4).round() / 1e4),
            ColumnKind::Categorical { values, .. } => json!(values.first()),
            ColumnKind::Hashed { names, .. } => json!(names.first().map(|(_, name)| name)),
            ColumnKind::Vector { len, .. } => json!(vec![0; *len]),
            ColumnKind::Named { names, .. } => names
                .iter()
                .take(NUMBERS)
                .map(|name| (name.clone(), json!(1)))
                .collect::<Map<_, _>>()
                .into(),
            ColumnKind::Date { .. } => json!("2024-01-31"),
            ColumnKind::Time { .. } => json!("12:30"),
            _ => json!("some text"),
        };
        (column.name.clone(), value)
    };
    input_columns(schema).map(cell).collect::<Map<_, _>>().into()
}

/// The same row with smaller numbers, so that one of two comes first.
fn lower(mut row: Value) -> Value {
    for cell in row.as_object_mut().into_iter().flat_map(Map::values_mut) {
        if let Some(number) = cell.as_f64() {
            *cell = json!(number / 2.0);
        }
    }
    row
}

/// The columns of a token.
fn token_columns(schema: &SequenceSchema) -> Value {
    let inputs = (0..schema.columns.len()).filter(|k| *k != schema.label);
    match schema.format {
        Format::Conllu => Value::Null,
        _ => inputs.map(|k| json!({"name": schema.columns[k], "kind": "text"})).collect(),
    }
}

fn tokens(schema: &SequenceSchema) -> Value {
    let n = schema.columns.len() - 1;
    match schema.format {
        _ if schema.texts.is_some() => json!("The dog barks"),
        Format::Crfsuite => json!([["word=The"], ["word=dog"], ["word=barks"]]),
        Format::Conllu => json!(["The", "dog", "barks"]),
        Format::Jsonl => {
            let filled =
                |k: usize| json!(if k == 0 { ["The", "dog", "barks"] } else { ["_", "_", "_"] });
            let lists = (0..n).map(|k| (schema.columns[k].clone(), filled(k)));
            lists.collect::<Map<_, _>>().into()
        }
        _ if n == 1 => json!(["The", "dog", "barks"]),
        _ => {
            let token = |word: &str| -> Value {
                let cell = |k: usize| json!(if k == 0 { word } else { "_" });
                (0..schema.columns.len())
                    .filter(|k| *k != schema.label || schema.label < n)
                    .map(cell)
                    .collect()
            };
            ["The", "dog", "barks"].into_iter().map(token).collect()
        }
    }
}

fn parsed_tokens(gold_tags: bool, column: &str) -> Value {
    match gold_tags {
        true => json!({"tokens": ["The", "dog", "barks"], column: ["DET", "NOUN", "VERB"]}),
        false => json!(["The", "dog", "barks"]),
    }
}
