//! Flags of `convert`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use lineal::{Format, ModelFormat, Task};

use super::choice::choice;
use super::maps::MapArgs;
use super::read::{ColumnArgs, FileArgs};
use super::running::RunArgs;
use super::text::TextArgs;

const HELP: &str = "\
Between csv, tsv, jsonl and fasttext, cells are copied with the names of their columns. LIBSVM and Vowpal Wabbit files hold numbers: columns become \
features as `train` would make them (with --model, as that model does), and --names writes the name of each feature.

Models are converted to and from LIBLINEAR's text files (.model) and ONNX (.onnx). A message says what the other format cannot hold.

Sequences are converted between conll, conllu, crfsuite, and jsonl with lists or texts, as far as the formats allow; a message says what is lost.

Examples:
  lineal convert tickets.csv tickets.jsonl
  lineal convert tickets.csv tickets.ft --label desk --text subject,body
  lineal convert tickets.csv tickets.svm --label desk --names words.txt
  lineal convert people.csv people.svm --interact 'age*city' --names columns.txt
  lineal convert new.csv new.svm --model m.lineal      the rows as the model sees them
  lineal convert a9a.svm a9a.csv
  zcat x.csv.gz | lineal convert - x.jsonl --format csv
  lineal convert m.lineal m.onnx                        for ONNX Runtime and others
  lineal convert m.lineal m.model                       for LIBLINEAR's predict
  lineal convert theirs.model ours.lineal               or theirs.onnx
  lineal convert train.conll train.jsonl
  lineal convert train.conll train.crfsuite --model m.lineal   the attributes of the model\'s templates
  lineal convert entities.jsonl entities.conll                 texts with spans as words with B, I, O
  lineal convert old.crfsuite new.conll --text \'w[0]\'          the word is in the attribute w[0]=…";

/// A format of data or of models.
#[derive(Clone, Copy, Debug)]
pub enum To {
    Data(Format),
    Model(ModelFormat),
}

impl To {
    pub fn data(self) -> Option<Format> {
        if let To::Data(format) = self { Some(format) } else { None }
    }

    pub fn model(self) -> Option<ModelFormat> {
        if let To::Model(format) = self { Some(format) } else { None }
    }
}

impl FromStr for To {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        name.parse().map(To::Model).or_else(|_| name.parse().map(To::Data))
    }
}

/// Write data in another format: csv, tsv, jsonl, fasttext, libsvm, vw; sequences: conll, conllu, crfsuite, jsonl; models: liblinear, onnx
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub struct ConvertArgs {
    /// The data, or a model; - is standard input
    pub data: PathBuf,

    /// File to write; - is standard output
    pub out: PathBuf,

    /// Format to write, if the name of OUT does not show it
    #[arg(long, value_name = "F", help_heading = "Output", value_parser = choice::<To>(&[
        ("libsvm", "label index:value …, indices from 1"),
        ("vw", "label |name:value …"),
        ("csv", "comma-separated, with a header row"),
        ("tsv", "tab-separated, with a header row"),
        ("jsonl", "one JSON object per line"),
        ("fasttext", "__label__NAME … text, one per line"),
        ("conll", "sequences: a line of columns for each token, the label last"),
        ("conllu", "sequences: the ten columns of Universal Dependencies, the label in UPOS"),
        ("crfsuite", "sequences: label<tab>attribute…"),
        ("lineal", "a model: Lineal's own file"),
        ("liblinear", "a model: the text file of LIBLINEAR"),
        ("onnx", "a model: ONNX"),
    ]))]
    pub to: Option<To>,

    /// Make features as this model does
    #[arg(long, value_name = "MODEL", help_heading = "Output")]
    pub model: Option<PathBuf>,

    /// Write the names of the features to this file, one per line
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub names: Option<PathBuf>,

    /// What the labels are, if no --model is given
    #[arg(long, value_name = "T", default_value = "classify", help_heading = "Data",
          value_parser = choice::<Task>(&[
        ("classify", "one of two or more classes"),
        ("multilabel", "any number of labels per row, none included"),
        ("regress", "a number"),
        ("tag", "sequences of tokens with a label each"),
    ]))]
    pub task: Task,

    #[command(flatten)]
    pub file: FileArgs,

    #[command(flatten)]
    pub columns: ColumnArgs,

    #[command(flatten)]
    pub maps: MapArgs,

    /// Seed of --map rff
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        allow_negative_numbers = true,
        help_heading = "Running"
    )]
    pub seed: u64,

    #[command(flatten)]
    pub text: TextArgs,

    #[command(flatten)]
    pub run: RunArgs,
}
