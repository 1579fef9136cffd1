//! What bracketed trees bring to the commands.

use std::io::{self, Write};

use anyhow::bail;
use lineal::constituents::features::{Section, Templates};
use lineal::metrics::{BracketMetrics, BracketOptions};
use lineal::{
    BracketReadOptions, BracketTreebank, ConstituencyModel, ConstituencySpec, ParsedTree,
    PhraseExplanation, Source, StructuredModel, TagsKind, TrainSpec,
};
use serde_json::{Value, json};

use super::write::{Writer, labelled, words};
use crate::args::{EvalArgs, ExplainArgs, FileArgs, Output, PredictArgs, TrainArgs};
use crate::exit::usage;
use crate::html;
use crate::structured::{
    MetricTable, Pairs, Reason, StructuredTask, maybe, no_tree_answer, part_reasons, shares,
    shares_header, template_file,
};
use crate::table::cut;
use crate::talk::{count, rough, thousands};
use crate::train::request::{self, Request};

/// Trees that a page draws: those with the most mistakes.
const DRAWN: usize = 6;

impl StructuredTask for ConstituencyModel {
    const EXAMPLE: &'static str = "sentence";
    const PART: &'static str = "word";
    const PARTS: &'static str = "words";
    const CLASS: &'static str = "label";
    const NOUNS: [&'static str; 3] = ["sentences", "weights", "labels"];
    const CLASSES: &'static str = "labels";
    const CARDS: &'static [&'static str] = &["f1", "precision", "recall", "exact"];
    const HAS: &'static str = "--proba and --n-best";
    type Request = BracketReadOptions;
    type Explanation = PhraseExplanation;
    type Writer<'m> = Writer;

    fn request(args: &TrainArgs) -> anyhow::Result<Request<BracketReadOptions>> {
        let defaults = ConstituencySpec::default();
        let constituency = ConstituencySpec {
            horizontal: args.constituency.horizontal.unwrap_or(defaults.horizontal),
            vertical: args.constituency.vertical.unwrap_or(defaults.vertical),
            functions: args.constituency.functions,
            templates: template_file(args, Templates::parse)?,
            hash_bits: args.text.hash.map(u32::from),
            candidates: args.dependency.candidates,
            tags: match args.dependency.tags.as_deref() {
                None | Some("gold") => TagsKind::Gold,
                Some("jackknife") => TagsKind::Jackknife,
                Some(other) => {
                    return usage(format!(
                        "--tags {other}: --task constituency learns from the tags of its trees, or by --tags jackknife from predicted ones"
                    ));
                }
            },
        };
        let read = BracketReadOptions {
            require_trees: true,
            cut_functions: !constituency.functions,
            ..Self::options(&args.file)
        };
        let spec = TrainSpec { constituency, ..request::spec(args)? };
        Request::new(args, spec, read, args.tag.files().cloned())
    }

    fn read_training(
        source: Source,
        _: &TrainArgs,
        request: &mut Request<BracketReadOptions>,
    ) -> anyhow::Result<BracketTreebank> {
        Ok(lineal::read_brackets(source, &request.options)?)
    }

    fn size(data: &BracketTreebank) -> Vec<String> {
        vec![count(data.n_words(), "word"), count(data.schema.labels.len(), "label")]
    }

    fn read_like(
        source: Source,
        request: &Request<BracketReadOptions>,
        data: &BracketTreebank,
    ) -> anyhow::Result<BracketTreebank> {
        let format = request.format_of(&source.name(), request.options.format);
        let options =
            BracketReadOptions { format, require_trees: false, ..request.options.clone() };
        Ok(lineal::data::read_brackets_with(source, &options, &data.schema)?)
    }

    fn cannot_compare(data: &BracketTreebank) -> Option<&'static str> {
        let why = "there are no trees to compare with, only sentences";
        (data.n_nodes() == 0 && !data.has_tags()).then_some(why)
    }

    fn unseen(data: &BracketTreebank) -> Option<(String, String)> {
        let n_known = data.schema.labels.len();
        let new = data.labels.get(n_known)?;
        let nodes = data.iter().flat_map(|sentence| sentence.nodes());
        let n = nodes.filter(|node| node.label as usize >= n_known).count();
        (n > 0).then(|| (count(n, "phrase"), new.clone()))
    }

    fn options(file: &FileArgs) -> BracketReadOptions {
        BracketReadOptions { format: file.format, ..lineal::constituency_options() }
    }

    fn has_no_answer(args: &PredictArgs) -> Option<&'static str> {
        let known = "--known of a parser keeps the brackets of the data, where `_` is any label: leave out the column and --unlabelled";
        no_tree_answer(args, known).or_else(|| {
            if args.min_cost {
                Some("--min-cost is not available for bracketed trees, which have --proba and --n-best")
            } else if args.proba && args.output == Output::Text {
                Some("probabilities have no place in brackets: add --output csv or jsonl")
            } else if args.draw && args.output != Output::Text {
                Some("--draw is text: leave out --output")
            } else {
                None
            }
        })
    }

    fn writer(&self, args: &PredictArgs) -> Writer {
        Writer::new(args)
    }

    fn write(
        writer: &mut Writer,
        out: &mut dyn Write,
        data: &BracketTreebank,
        i: usize,
        number: usize,
        parsed: &ParsedTree,
    ) -> io::Result<()> {
        writer.write(out, data.get(i), number, parsed)
    }

    fn compare_with(
        &self,
        data: &BracketTreebank,
        parsed: &[ParsedTree],
        args: &EvalArgs,
    ) -> anyhow::Result<BracketMetrics> {
        Ok(self.compare_by(data, parsed, rules(args))?.0)
    }

    fn main_metric(metrics: &BracketMetrics) -> (&'static str, f64) {
        ("F1", metrics.all.f1)
    }

    fn one_line(metrics: &BracketMetrics) -> String {
        let short =
            metrics.short.map(|s| format!(" ({:.4} up to {} words)", s.f1, metrics.short_length));
        let short = short.unwrap_or_default();
        format!("F1 {:.4}{short}, whole trees {:.4}", metrics.all.f1, metrics.all.exact)
    }

    fn metric_rows(metrics: &BracketMetrics) -> Pairs {
        let m = &metrics.all;
        let mut rows = vec![
            ("sentences", thousands(m.sentences as usize)),
            ("words", thousands(m.words as usize)),
            ("precision", format!("{:.4}", m.precision)),
            ("recall", format!("{:.4}", m.recall)),
            ("f1", format!("{:.4}", m.f1)),
            ("exact", format!("{:.4}", m.exact)),
            ("average_crossing", rough(m.average_crossing)),
            ("no_crossing", format!("{:.4}", m.no_crossing)),
            ("up_to_two_crossing", format!("{:.4}", m.up_to_two_crossing)),
            ("tag_accuracy", maybe(m.tag_accuracy)),
        ];
        for (name, n) in [("skipped", m.skipped), ("mismatches", m.mismatches)] {
            if n > 0 {
                rows.push((name, thousands(n as usize)));
            }
        }
        rows
    }

    fn metric_tables(metrics: &BracketMetrics) -> Vec<MetricTable> {
        let mut labels: Vec<_> = metrics.by_label.iter().collect();
        labels.sort_by_key(|(_, l)| std::cmp::Reverse(l.gold));
        let labels = labels.into_iter().map(|(name, l)| {
            shares(name, [l.precision, l.recall, l.f1], [l.gold, l.found, l.right])
        });
        let labels = [shares_header("label")].into_iter().chain(labels).collect();
        let header = ["sentences of", "precision", "recall", "F1", "exact", "sentences"];
        let mut lengths = vec![header.map(str::to_owned).to_vec()];
        let short = format!("up to {} words", metrics.short_length);
        let all = [("any length".to_owned(), Some(metrics.all)), (short, metrics.short)];
        for (name, found) in all {
            let Some(m) = found else { continue };
            let cells = [m.precision, m.recall, m.f1, m.exact].map(|x| format!("{x:.4}"));
            let n = thousands(m.sentences as usize);
            lengths.push([name].into_iter().chain(cells).chain([n]).collect());
        }
        vec![
            MetricTable { title: "Sentences by length", note: "", rows: lengths },
            MetricTable { title: "Labels", note: "As EVALB counts them.", rows: labels },
        ]
    }

    /// Drawings of the trees with the most mistakes.
    fn page_sections(
        &self,
        data: &BracketTreebank,
        parsed: &[ParsedTree],
        args: &EvalArgs,
    ) -> anyhow::Result<Vec<String>> {
        let (_, counts) = self.compare_by(data, parsed, rules(args))?;
        let wrong = |i: &usize| (counts[*i].gold + counts[*i].found - 2 * counts[*i].right) as i64;
        let mut worst: Vec<usize> =
            (0..counts.len()).filter(|i| wrong(i) > 0 && data.get(*i).len() <= 25).collect();
        worst.sort_by_key(|i| -wrong(i));
        let mut sections = Vec::new();
        for &i in worst.iter().take(DRAWN) {
            let sentence = data.get(i);
            let found = labelled(sentence, &parsed[i].tags, &parsed[i].phrases);
            let found = found.map_err(anyhow::Error::msg)?;
            sections.push(html::section(
                &format!(
                    "Sentence {}: {} wrong or missing",
                    i + 1,
                    count(wrong(&i) as usize, "phrase")
                ),
                &format!(
                    "<h3>Predicted</h3>{}<h3>Gold</h3>{}",
                    html::tree(&found),
                    html::tree(&sentence.tree())
                ),
                "",
            ));
        }
        Ok(sections)
    }

    fn about(&self) -> [Vec<String>; 2] {
        [vec![grammar(self)], vec![count(self.n_weights(), "weight")]]
    }

    fn train_json(&self) -> Vec<(&'static str, Value)> {
        vec![
            ("nonzeros", json!(self.n_weights())),
            ("symbols", json!(self.grammar().symbols().len())),
            ("candidates", json!(self.candidates())),
        ]
    }

    fn classes(&self) -> &[String] {
        self.labels()
    }

    fn facts(&self) -> Pairs {
        let spec = &self.spec().constituency;
        let templates = Section::ALL.map(|section| {
            format!("{} of {}", self.templates().n_templates(section), section.name())
        });
        let functions = if spec.functions { "kept" } else { "cut" };
        let whose = match spec.tags {
            TagsKind::Gold => "for words without any",
            _ => "for all words: the parser was trained on predicted ones",
        };
        let tagger = format!("{} parts of speech, {whose}", self.tagger().labels().len());
        vec![
            ("grammar", grammar(self)),
            ("functions", functions.to_owned()),
            ("templates", templates.join(", ")),
            ("features", count(self.n_weights(), "weight")),
            ("tagger", tagger),
        ]
    }

    fn inspect_json(&self, _: Option<usize>) -> Value {
        let spec = &self.spec().constituency;
        json!({
            "symbols": self.grammar().symbols().len(),
            "pairs": self.grammar().pairs().len(),
            "horizontal": spec.horizontal,
            "vertical": spec.vertical,
            "functions": spec.functions,
            "candidates": self.candidates(),
            "tags": self.tagger().labels(),
        })
    }

    fn explain(
        &self,
        data: &BracketTreebank,
        i: usize,
        args: &ExplainArgs,
    ) -> anyhow::Result<Vec<PhraseExplanation>> {
        if args.class.is_some() {
            bail!(
                "--class is for labels; a phrase is explained against the best tree without it: leave it out"
            );
        }
        Ok(ConstituencyModel::explain(self, data, i, args.token.map(|token| token - 1))?)
    }

    fn headline(&self, data: &BracketTreebank, i: usize, found: &PhraseExplanation) -> String {
        let sentence = data.get(i);
        let name = |phrase: &lineal::constituents::Phrase| {
            format!("{} `{}`", phrase.label, cut(&words(sentence, phrase), 40))
        };
        let verdict = match &found.instead {
            None => "no tree is without it".to_owned(),
            Some(instead) if instead.is_empty() => {
                format!("rather than nothing, by {}", rough(found.lead))
            }
            Some(instead) => {
                let shown: Vec<String> = instead.iter().take(3).map(name).collect();
                let more = if instead.len() > 3 { ", …" } else { "" };
                format!("rather than {}{more}, by {}", shown.join(", "), rough(found.lead))
            }
        };
        let sure = found.probability.map(|p| format!(" ({p:.4})")).unwrap_or_default();
        format!("sentence {}: {}{sure}, {verdict}", i + 1, name(&found.phrase))
    }

    fn reasons(found: &PhraseExplanation) -> Vec<Reason> {
        part_reasons(&found.reasons)
    }

    fn explanation_json(&self, i: usize, found: &PhraseExplanation) -> Value {
        let phrase = |p: &lineal::constituents::Phrase| json!({"label": p.label, "start": p.start + 1, "end": p.end});
        let instead = found.instead.as_ref().map(|all| all.iter().map(phrase).collect::<Vec<_>>());
        json!({
            "sentence": i + 1,
            "phrase": phrase(&found.phrase),
            "against": instead,
            "lead": found.lead.is_finite().then_some(found.lead),
            "proba": found.probability,
        })
    }
}

/// What counts.
fn rules(args: &EvalArgs) -> BracketOptions {
    if args.evalb { BracketOptions::collins() } else { BracketOptions::default() }
}

/// `61 symbols, 1,204 pairs; 20 spans per word to choose from`.
fn grammar(model: &ConstituencyModel) -> String {
    let grammar = model.grammar();
    let spans = match model.candidates() {
        Some(1) => "1 span per word to choose from".to_owned(),
        Some(most) => format!("{most} spans per word to choose from"),
        None => "all spans to choose from".to_owned(),
    };
    let (symbols, pairs) = (grammar.symbols().len(), grammar.pairs().len());
    format!("{}, {}; {spans}", count(symbols, "symbol"), count(pairs, "pair"))
}
