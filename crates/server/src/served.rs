//! What the server asks of a model.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde_json::Value;

/// A model that answers.
pub trait Served: Send + Sync {
    /// What it predicts: `classify`, `tag`, ….
    fn task(&self) -> String;

    /// What an example is, where a request does not say: in streams.
    fn form(&self) -> Form;

    /// What a request must have, for people and for the page: the form, the columns, an example.
    fn input(&self) -> Value;

    /// What it is, how it was trained and what is proven of it, with so many features for each class.
    fn describe(&self, top: Option<usize>) -> Value;

    /// Appends one line of JSON for each example.
    fn predict(&self, examples: &Examples<'_>, ask: &Ask, out: &mut Vec<u8>) -> Result<(), Fault>;

    /// Appends one line of JSON for each example, or for each part of one.
    fn explain(
        &self,
        examples: &Examples<'_>,
        ask: &ExplainAsk,
        out: &mut Vec<u8>,
    ) -> Result<(), Fault>;

    /// How the model does on labelled examples, asked for in JSON: `metrics`, and `html` with what a report shows of them.
    fn evaluate(&self, request: &str) -> Result<Value, Fault> {
        let _ = request;
        Err(Fault::request("", "this model is not compared with labelled data"))
    }

    /// What a report shows of the labelled data that the model was compared with when it was made, with the name of the data, as HTML; none if its file does not keep it.
    fn kept_evaluation(&self) -> Option<(String, String)> {
        None
    }

    /// Whether a few kilobytes of examples are answered in less time than it takes to hand them to another thread.
    fn is_quick(&self) -> bool {
        false
    }

    /// Does some work of this model's. When `unwanted` becomes true nobody waits for it any more: it should end soon then, in whatever way.
    fn until(&self, unwanted: &Arc<AtomicBool>, work: &mut dyn FnMut()) {
        let _ = unwanted;
        work();
    }

    /// What a report shows of training, as far as the file keeps it, as HTML.
    fn training_view(&self) -> String {
        String::new()
    }
}

/// Trains on points that a page draws.
pub trait Playground: Send + Sync {
    /// The answer, JSON in one line, to a request in JSON. When `unwanted` becomes true nobody waits for it any more.
    fn train(&self, request: &str, unwanted: &Arc<AtomicBool>) -> Result<String, Fault>;
}

/// What examples are, by the key of a request that lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Objects by column, or lists of numbers.
    Rows,
    /// Texts, for a model of one text.
    Texts,
    /// Tokens, or text to be cut into them.
    Sentences,
    /// Files in base64.
    Images,
    /// Documents to put in order.
    Queries,
    /// Objects as the model's training data had them: graphs, declared structures.
    Examples,
}

impl Form {
    /// All of them.
    pub const ALL: [Form; 6] =
        [Form::Rows, Form::Texts, Form::Sentences, Form::Images, Form::Queries, Form::Examples];

    /// The key of a request.
    pub fn key(self) -> &'static str {
        match self {
            Form::Rows => "rows",
            Form::Texts => "texts",
            Form::Sentences => "sentences",
            Form::Images => "images",
            Form::Queries => "queries",
            Form::Examples => "examples",
        }
    }

    /// The form that a key names.
    pub fn of_key(key: &str) -> Option<Form> {
        Self::ALL.into_iter().find(|form| form.key() == key)
    }
}

/// Examples as they came: each value is JSON whose syntax was checked.
#[derive(Clone, Copy, Debug)]
pub struct Examples<'a> {
    /// What they are.
    pub form: Form,
    /// One for each example.
    pub values: &'a [&'a str],
    /// The number of the first one among all of a stream, from 0.
    pub first: usize,
    /// Whether each must be whole by itself: in a stream, which examples come together is chance.
    pub alone: bool,
}

/// What to say about each example beside the answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ask {
    /// Probabilities of classes, labels, arcs or phrases.
    pub proba: bool,
    /// Scores of classes.
    pub scores: bool,
    /// The best classes, outputs or documents.
    pub top: Option<usize>,
    /// The answer of least expected cost.
    pub min_cost: bool,
    /// How sure each label is, where there are no probabilities.
    pub confidence: bool,
}

/// What to explain, and how much of it to list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplainAsk {
    /// Reasons to list.
    pub top: usize,
    /// Against this class in place of the runner-up; of labels, this one; of documents, the one of this number.
    pub class: Option<String>,
    /// One part of each example, from 1: a token, a word, a document.
    pub part: Option<usize>,
    /// One pixel of each image.
    pub pixel: Option<(usize, usize)>,
    /// Where in a text the reasons are, too.
    pub words: bool,
}

impl Default for ExplainAsk {
    fn default() -> Self {
        Self { top: 10, class: None, part: None, pixel: None, words: false }
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where in the request, as a JSON pointer (RFC 6901): `/rows/3/age`.
    pub pointer: String,
    /// What is wrong there, and what would be right.
    pub detail: String,
    /// Whether the request is at fault, and not the server.
    pub of_request: bool,
}

impl Fault {
    /// Something in the request.
    pub fn request(pointer: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), detail: detail.into(), of_request: true }
    }

    /// Something in the server or the model.
    pub fn internal(detail: impl Into<String>) -> Self {
        Self { pointer: String::new(), detail: detail.into(), of_request: false }
    }
}
