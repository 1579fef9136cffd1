//! Mutated inputs: files of every format that is read, model files, and whole small runs from data and options that were both mutated.
//!
//! A [`Target`] takes bytes and must neither panic, nor hang, nor take more memory than the cap; what it does with them it tells in a [`Signature`]. [`TARGETS`] has all of them. They run
//! under a plain mutational driver ([`drive`]), and under libFuzzer (`fuzz/libfuzzer`).

mod bodies;
mod choices;
pub mod drive;
mod formats;
pub mod guard;
mod model_file;
mod models;
mod mutate;
mod readers;
mod runs;
pub mod seeds;
mod signature;
#[cfg(test)]
mod tests;

pub use model_file::repair;
pub use mutate::Mutator;
pub use signature::Signature;

use lineal::Format;
use readers::ROW_CHOICES;
use runs::CHOICES;

/// Something that takes bytes.
pub struct Target {
    /// What it is called, and its folder in `fuzz/corpus`.
    pub name: &'static str,
    /// What it does with them.
    pub run: fn(&[u8]) -> Signature,
    /// What mutations begin with.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Names of files whose beginnings may be added to these end so.
    pub samples: &'static [&'static str],
    /// Words of its format.
    pub tokens: &'static [&'static str],
    /// How many bytes at the beginning choose options.
    pub choices: usize,
    /// No input is longer.
    pub max_bytes: usize,
    /// CPU seconds that an input may take.
    pub seconds: u64,
    /// Whether inputs are model files, whose parts are mutated one by one.
    pub is_model: bool,
}

/// A target with the usual caps.
const fn target(
    name: &'static str,
    run: fn(&[u8]) -> Signature,
    seeds: fn() -> Vec<Vec<u8>>,
    choices: usize,
) -> Target {
    Target {
        name,
        run,
        seeds,
        samples: &[],
        tokens: &[],
        choices,
        max_bytes: 4096,
        seconds: 5,
        is_model: false,
    }
}

impl Target {
    const fn samples(self, samples: &'static [&'static str]) -> Self {
        Self { samples, ..self }
    }

    const fn tokens(self, tokens: &'static [&'static str]) -> Self {
        Self { tokens, ..self }
    }

    const fn at_most(self, max_bytes: usize, seconds: u64) -> Self {
        Self { max_bytes, seconds, ..self }
    }
}

/// The target of that name.
pub fn find(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

const JSON: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\"",
    "\\u0000",
    "\\ud800",
    "\\\"",
    "null",
    "true",
    "{}",
    "[]",
    "\"label\":",
    "\"nodes\":",
    "\"edges\":",
    "\"tokens\":",
    "\"text\":",
    "\"spans\":[",
    "[0,1,\"X\"],",
    "\"start\":0,\"end\":1,",
    "1e400",
];
const SVM: &[&str] =
    &["qid:1", "1:1", "4294967295:1", "1:nan", "1:1e40", " # ", "0:1", "+1", "-1", "1,2", "sid:1"];
const CONLLU: &[&str] = &[
    "\t_",
    "1-2\t",
    "1.1\t",
    "\t0\troot",
    "# newdoc\n",
    "|",
    "SpaceAfter=No",
    "10\t",
    "_\t_\t_\n",
];
const TEMPLATES: &[&str] = &[
    "%x[0,0]",
    "%x[-1,0]",
    "U",
    "B",
    "%x[1000,0]",
    "%x[0,0,suffix:3]",
    "shape",
    "prefix:1-3",
    "lower(",
    "class",
    " * ",
    " & ",
    "always",
    "number(",
    "words(",
    "before:x",
    "h.form",
    "m.upos",
    "between.",
    "child.",
    "[arcs]",
    "[labels]",
    "[relations]",
    "s.",
    "g.",
    ":lower",
    "first.",
    "last+1.",
    ".tag",
    "[span]",
    "length",
    "outline",
];
const RULES: &[&str] = &[
    "variable ",
    "factor ",
    "features ",
    "rule ",
    "cost ",
    "at most ",
    "at least ",
    "exactly ",
    " implies ",
    " iff ",
    " and ",
    " or ",
    "not ",
    " in { ",
    "count(",
    "spans of ",
    "sequence ",
    " matches ",
    "all pairs",
    " from ",
    " by ",
    "shares ",
    "per ",
    "next",
    "previous",
    "tokens[",
    "between ",
    "set(",
    "join(",
    "pairs(",
    "order(",
    "distance(",
    "number(",
    "*",
    "+",
    "?",
    "|",
    "(",
    ")",
];

/// All targets.
pub const TARGETS: &[Target] = &[
    target("libsvm", readers::libsvm, || svm_rows(ROW_CHOICES), ROW_CHOICES)
        .tokens(SVM)
        .samples(&[".svm", ".libsvm"]),
    target("letor", readers::letor, || seeds::contents(seeds::RANKINGS), 0)
        .tokens(SVM)
        .samples(&[".letor"]),
    target("csv", readers::csv, || rows_of(Format::Csv), ROW_CHOICES).samples(&[".csv"]),
    target("tsv", readers::tsv, || rows_of(Format::Tsv), ROW_CHOICES).samples(&[".tsv"]),
    target("jsonl", readers::jsonl, || rows_of(Format::Jsonl), ROW_CHOICES)
        .tokens(JSON)
        .samples(&[".jsonl"]),
    target("fasttext", readers::fasttext, || rows_of(Format::FastText), ROW_CHOICES)
        .tokens(&["__label__", "__label__a "]),
    target("vw", readers::vw, || rows_of(Format::Vw), ROW_CHOICES)
        .tokens(&["|", "|a ", ":1", "'tag"]),
    target("idx", readers::idx, || rows_of(Format::Idx), ROW_CHOICES).tokens(&[
        "\0\0\x08\x03",
        "\0\0\0\x01",
        "\x7f\x7f\x7f\x7f",
    ]),
    target("archive", readers::archive, seeds::archives, 2).tokens(&["\x1f\u{8b}", "\0\0\0"]),
    target("parquet", readers::parquet, seeds::parquet, 1)
        .tokens(&["PAR1", "\x15\0", "\x19\x1c", "\x7f\x7f\x7f\x7f"])
        .at_most(16384, 5),
    target("conll", readers::conll, || sequences_of(Format::Conll), 2)
        .tokens(&["\n\n", " O\n", "-DOCSTART- -X- O O\n"])
        .samples(&[".conll"]),
    target("conllu-tags", readers::conllu_tags, || sequences_of(Format::Conllu), 2).tokens(CONLLU),
    target("crfsuite", readers::crfsuite, || sequences_of(Format::Crfsuite), 2).tokens(&[
        "\\:",
        ":1",
        "@weight:2",
        "\t",
    ]),
    target("jsonl-tags", readers::jsonl_tags, || sequences_of(Format::Jsonl), 2).tokens(JSON),
    target(
        "treebank",
        readers::treebank,
        || seeds::behind(1, seeds::contents(seeds::TREEBANKS)),
        1,
    )
    .tokens(CONLLU)
    .samples(&[".conllu"]),
    target(
        "brackets",
        readers::brackets,
        || seeds::chosen(1, &[4, 8], seeds::contents(seeds::BRACKETS)),
        1,
    )
    .tokens(&["(", ")", "(NP ", "(-NONE- *)", "-LRB-", "( (", "((("])
    .samples(&[".mrg"]),
    target("image", readers::image, seeds::images, 1).tokens(&[
        "IHDR",
        "IDAT",
        "PLTE",
        "tRNS",
        "acTL",
        "P6 ",
        "\u{ff}\u{d8}",
    ]),
    target("graphs", readers::graphs, || seeds::contents(seeds::GRAPHS), 0).tokens(JSON),
    target("declared-examples", readers::declared, || seeds::contents(seeds::DECLARED), 0)
        .tokens(JSON),
    target("sequence-templates", formats::sequence_templates, seeds::sequence_templates, 0)
        .tokens(TEMPLATES),
    target("feature-lists", formats::feature_lists, || vec![seeds::FEATURE_LIST.to_vec()], 0)
        .tokens(&["word", "window:", "suffix:", "@1", "cross:", "rich", "column:"]),
    target("word-lists", formats::word_lists, seeds::word_lists, 0)
        .tokens(&["\t0110", "\n=====\n"]),
    target(
        "joint-templates",
        formats::joint_templates,
        || seeds::behind(1, vec![seeds::JOINT_TEMPLATES.to_vec()]),
        1,
    )
    .tokens(TEMPLATES),
    target("costs", formats::costs, || vec![seeds::COSTS.to_vec()], 0).at_most(65536, 5),
    target("codes", formats::codes, || vec![seeds::CODE.to_vec()], 0)
        .tokens(&["+", "-", "0", "+1", "-1"])
        .at_most(16384, 5),
    target("label-trees", formats::label_trees, || vec![seeds::LABEL_TREE.to_vec()], 0)
        .tokens(&["(", ")", "(0 1)"])
        .at_most(65536, 5),
    target("options", formats::options, seeds::options, 1)
        .tokens(&["poly:", "rff:", "cost:", "*", "=", "<root>", "<edge>"]),
    target("declarations", formats::declarations, seeds::declarations, 0).tokens(RULES),
    target("rules", formats::rules, || vec![seeds::RULES.to_vec()], 0).tokens(RULES),
    target(
        "dependency-templates",
        formats::dependency_templates,
        || vec![seeds::DEPENDENCY_TEMPLATES.to_vec()],
        0,
    )
    .tokens(TEMPLATES),
    target(
        "constituency-templates",
        formats::constituency_templates,
        || vec![seeds::CONSTITUENCY_TEMPLATES.to_vec()],
        0,
    )
    .tokens(TEMPLATES),
    Target {
        is_model: true,
        ..target("model", models::model, seeds::models, 0).tokens(RULES).at_most(1 << 17, 10)
    },
    target("exchange", models::exchange, seeds::exchanged, 0)
        .tokens(&[
            "solver_type ",
            "nr_class ",
            "nr_feature ",
            "bias ",
            "MCSVM_CS",
            "1e308",
            "NONE",
            "SOFTMAX",
        ])
        .at_most(16384, 10),
    target("bodies", bodies::bodies, bodies::seeds, 1).tokens(&[
        "\"rows\":[",
        "\"texts\":[",
        "\"queries\":",
        "\"top\":",
        "\"proba\":true",
        "\"class\":",
        "\"x\":",
        "{",
        "}",
        "[",
        "]",
        ",",
        "\n",
        "1e400",
        "\\ud800",
        "null",
    ]),
    target(
        "run-rows",
        runs::rows,
        || seeds::chosen(CHOICES, &[0, 0, 0, 1, 1, 1, 1], seeds::contents(&seeds::ROWS[..7])),
        CHOICES,
    )
    .tokens(SVM)
    .at_most(2048, 20),
    target("run-text", runs::text, run_text_seeds, CHOICES).at_most(2048, 20),
    target(
        "run-stream",
        runs::stream,
        || seeds::chosen(CHOICES, &[0, 0, 0, 1, 1, 1, 1], seeds::contents(&seeds::ROWS[..7])),
        CHOICES,
    )
    .tokens(SVM)
    .at_most(2048, 20),
    target(
        "run-tag",
        runs::tag,
        || seeds::chosen(CHOICES, &[0, 2, 1, 3, 3, 3], seeds::contents(seeds::SEQUENCES)),
        CHOICES,
    )
    .at_most(1024, 20),
    target(
        "run-dependency",
        runs::dependency,
        || seeds::behind(CHOICES, seeds::contents(seeds::TREEBANKS)),
        CHOICES,
    )
    .tokens(CONLLU)
    .at_most(1024, 20),
    target(
        "run-constituency",
        runs::constituency,
        || seeds::behind(CHOICES, seeds::contents(&seeds::BRACKETS[..1])),
        CHOICES,
    )
    .at_most(512, 20),
    target(
        "run-rank",
        runs::rank,
        || seeds::behind(CHOICES, seeds::contents(seeds::RANKINGS)),
        CHOICES,
    )
    .tokens(SVM)
    .at_most(2048, 20),
    target("run-segment", runs::segment, || seeds::behind(CHOICES, seeds::scenes()), CHOICES)
        .tokens(JSON)
        .at_most(2048, 20),
    target(
        "run-declared",
        runs::declared,
        || seeds::behind(CHOICES, seeds::declarations()),
        CHOICES,
    )
    .tokens(RULES)
    .at_most(2048, 20),
];

fn rows_of(format: Format) -> Vec<Vec<u8>> {
    seeds::behind(ROW_CHOICES, seeds::of_format(seeds::ROWS, format))
}

fn svm_rows(n_choices: usize) -> Vec<Vec<u8>> {
    seeds::behind(n_choices, seeds::of_format(seeds::ROWS, Format::Svmlight))
}

fn sequences_of(format: Format) -> Vec<Vec<u8>> {
    seeds::behind(2, seeds::of_format(seeds::SEQUENCES, format))
}

fn run_text_seeds() -> Vec<Vec<u8>> {
    let samples = [seeds::ROWS[4], seeds::ROWS[9], seeds::ROWS[8]];
    let mut all = seeds::chosen(CHOICES, &[0, 1, 2], seeds::contents(&samples));
    // Text columns are named, in csv and JSON lines.
    all.iter_mut().for_each(|seed| seed[1] = 8);
    all
}
