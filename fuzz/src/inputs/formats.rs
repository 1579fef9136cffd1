//! Text formats beside data: templates, costs, codes, trees, rules.

use super::choices::{Choices, parts};
use super::readers::memory;
use super::signature::Signature;
use lineal::declared::Declaration;
use lineal::reduce::{Code, Tree};
use lineal::{
    ClassWeight, DeclaredData, NamedCost, SequenceOptions, StructuredModel, TagModel, Threshold,
};
use std::sync::Arc;

/// The text of an input, as the program has it after reading a file: what is not UTF-8 is refused before.
fn text(input: &[u8]) -> &str {
    match std::str::from_utf8(input) {
        Ok(text) => text,
        Err(e) => std::str::from_utf8(&input[..e.valid_up_to()]).unwrap_or_default(),
    }
}

/// Templates of taggers, applied to a sentence or two.
pub fn sequence_templates(input: &[u8]) -> Signature {
    let mut s = Signature::default();
    let [templates, data] = parts(input);
    let Some(templates) = s.result(lineal::sequence::Templates::parse(text(templates))) else {
        return s;
    };
    s.count(templates.n_unary());
    s.count(templates.n_pairs());
    let read = lineal::read_sequences(memory("a.conll", data), &SequenceOptions::default());
    if let Some(data) = s.result(read) {
        let tag = lineal::TagSpec {
            features: lineal::TagFeatures::Templates(templates.text().to_owned()),
            ..Default::default()
        };
        let mut spec = lineal::TrainSpec::from(tag);
        spec.max_passes = Some(2);
        if let Some((model, _)) = s.result(lineal::train(&data, &spec)) {
            s.count(model.n_attributes());
        }
    }
    s
}

/// Lists of features of taggers, as `word,window:2`.
pub fn feature_lists(input: &[u8]) -> Signature {
    let mut s = Signature::default();
    let data = b"We PRP B-NP\nsaw VBD O\n1.5 CD B-NP\n\nYes UH O\n";
    let data = lineal::read_sequences(memory("a.conll", data), &SequenceOptions::default());
    let features = lineal::TagFeatures::List(text(input).to_owned());
    let tag = lineal::TagSpec { features, ..Default::default() };
    let mut spec = lineal::TrainSpec::from(tag);
    spec.max_passes = Some(2);
    if let Some((model, _)) = s.result(data.and_then(|data| lineal::train(&data, &spec))) {
        s.count(model.n_attributes());
    }
    s
}

/// Lists of phrases and clusters of words, looked up in sentences: the parts of the input.
pub fn word_lists(input: &[u8]) -> Signature {
    let mut s = Signature::default();
    let [phrases, clusters, data] = parts(input);
    let lines = |part| text(part).lines().map(str::trim).filter(|line| !line.is_empty());
    let entries: Vec<String> = lines(phrases).map(str::to_owned).collect();
    let pair = |line: &str| line.split_once('\t').map(|(w, c)| (w.to_owned(), c.to_owned()));
    let mut spec = lineal::TrainSpec::from(lineal::TagSpec {
        lists: vec![lineal::WordList { name: "list".into(), entries }],
        clusters: lines(clusters).filter_map(pair).collect(),
        ..Default::default()
    });
    spec.max_passes = Some(2);
    let read = lineal::read_sequences(memory("a.conll", data), &SequenceOptions::default());
    if let Some((model, _)) = s.result(read.and_then(|data| lineal::train(&data, &spec))) {
        s.count(model.n_attributes());
        let bytes = model.to_bytes().expect("a trained model can be saved");
        TagModel::from_bytes(&bytes).expect("a saved model can be loaded");
    }
    s
}

/// Templates of joint features of input and class.
pub fn joint_templates(input: &[u8]) -> Signature {
    let mut s = Signature::default();
    let (mut choices, bytes) = Choices::split(input, 1);
    let bits = choices.one(&[6, 1, 24, 0, 25, 255]);
    if let Some(templates) = s.result(lineal::templates::Templates::parse(text(bytes), bits)) {
        s.count(templates.text().len());
        s.count(templates.bits().into());
    }
    s
}

/// Costs of mistakes.
pub fn costs(input: &[u8]) -> Signature {
    let mut s = Signature::default();
    if let Some(cost) = s.result(text(input).parse::<NamedCost>()) {
        s.count(cost.classes.len());
    }
    s
}

/// Output codes.
pub fn codes(input: &[u8]) -> Signature {
    let mut s = Signature::default();
    if let Some(code) = s.result(text(input).parse::<Code>()) {
        s.count(code.n_columns());
        s.count(code.min_distance());
        s.count(code.corrects());
        let again: Code = code.to_string().parse().expect("a code can be read back");
        assert_eq!(again, code, "a code, written and read");
    }
    s
}

/// Label trees.
pub fn label_trees(input: &[u8]) -> Signature {
    let mut s = Signature::default();
    if let Some(tree) = s.result(text(input).parse::<Tree>()) {
        let again: Tree = tree.to_string().parse().expect("a tree can be read back");
        assert_eq!(again, tree, "a tree, written and read");
        s.count(tree.to_string().len());
    }
    s
}

/// Short options that are parsed: weights of classes, thresholds, maps, interactions, values of masks.
pub fn options(input: &[u8]) -> Signature {
    let (mut choices, bytes) = Choices::split(input, 1);
    let (mut s, text) = (Signature::default(), text(bytes));
    match choices.below(7) {
        0 => drop(s.result(text.parse::<ClassWeight>())),
        1 => drop(s.result(text.parse::<Threshold>())),
        2 => drop(s.result(text.parse::<lineal::map::MapSpec>())),
        3 => drop(s.result(text.parse::<lineal::map::Interaction>())),
        4 => drop(s.result(text.parse::<lineal::data::MaskLabel>())),
        5 => drop(s.result(lineal::parse_forbidden(text))),
        _ => drop(s.result(lineal::parse_forbidden_arcs(text).map_err(|(_, why)| why))),
    }
    s
}

/// Declarations of structures with examples: parsed, read, grounded.
pub fn declarations(input: &[u8]) -> Signature {
    let mut s = Signature::default();
    let [declaration, examples] = parts(input);
    if let Some(declaration) = s.result(Declaration::parse(text(declaration))) {
        s.count(declaration.variables().len());
        s.count(declaration.rules().len());
        let data = DeclaredData::read(memory("a.jsonl", examples), &Arc::new(declaration));
        if let Some(data) = s.result(data) {
            s.count(data.n_variables());
        }
    }
    s
}

/// Rules for taggers.
pub fn rules(input: &[u8]) -> Signature {
    let mut s = Signature::default();
    let labels = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"].map(String::from);
    if let Some(rules) = s.result(Declaration::of_labels(&labels, text(input))) {
        s.count(rules.rules().len());
    }
    s
}

/// Templates of dependency parsers.
pub fn dependency_templates(input: &[u8]) -> Signature {
    let mut s = Signature::default();
    let columns = ["form", "upos", "xpos", "feats"];
    let templates = lineal::dependencies::features::Templates::parse(text(input), &columns);
    s.result(templates.map_err(|e| e.to_string()));
    s
}

/// Templates of constituency parsers.
pub fn constituency_templates(input: &[u8]) -> Signature {
    let mut s = Signature::default();
    s.result(lineal::constituents::features::Templates::parse(text(input)));
    s
}
