//! `--task dependency`: what treebanks bring to the commands.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::bail;
use lineal::data::{ConlluColumn, Sentence};
use lineal::dependencies::features::{Section, Templates};
use lineal::dependencies::problem::TreeKind;
use lineal::metrics::DependencyMetrics;
use lineal::{
    ArcExplanation, DependencyModel, DependencySpec, Format, Parsed, Source, StructuredModel,
    TagModel, TagsKind, TrainSpec, Training, Treebank, TreebankOptions,
};
use serde_json::{Value, json};

use super::metrics;
use super::write::Writer;
use crate::args::{ExplainArgs, FileArgs, Output, PredictArgs, TrainArgs};
use crate::structured::{
    MetricTable, Pairs, Reason, StructuredTask, no_tree_answer, part_reasons, template_file,
};
use crate::table::cut;
use crate::talk::{count, rough};
use crate::train::request::{self, Request};

/// The columns that templates may name.
const COLUMNS: [&str; 5] = ["form", "lemma", "upos", "xpos", "feats"];

/// How treebanks are read, and where their tags come from.
pub struct TreebankRequest {
    read: TreebankOptions,
    tagger: Option<TagModel>,
    /// A file with the same sentences and other tags.
    tagged: Option<PathBuf>,
}

impl StructuredTask for DependencyModel {
    const EXAMPLE: &'static str = "sentence";
    const PART: &'static str = "word";
    const PARTS: &'static str = "words";
    const CLASS: &'static str = "relation";
    const NOUNS: [&'static str; 3] = ["sentences", "weights", "relations"];
    const CLASSES: &'static str = "relations";
    const CARDS: &'static [&'static str] = &["uas", "las", "exact", "root_accuracy"];
    type Request = TreebankRequest;
    type Explanation = ArcExplanation;
    type Writer<'m> = Writer<'m>;

    fn request(args: &TrainArgs) -> anyhow::Result<Request<TreebankRequest>> {
        let defaults = DependencySpec::default();
        let named = args.dependency.tags_file();
        let is_conllu =
            |path: &PathBuf| Format::from_name(&path.to_string_lossy()) == Some(Format::Conllu);
        let (tagged, tagger) = match named.clone() {
            Some(path) if is_conllu(&path) => (Some(path), None),
            other => (None, other),
        };
        let dependency = DependencySpec {
            decoder: args.dependency.decoder,
            order: args.tag.order,
            templates: template_file(args, |text| Templates::parse(text, &COLUMNS))?,
            hash_bits: args.text.hash.map(u32::from),
            candidates: args.dependency.candidates,
            labeller: args.dependency.labeller.unwrap_or(defaults.labeller),
            tags: match (args.dependency.tags.as_deref(), &tagger) {
                (Some("jackknife"), _) => TagsKind::Jackknife,
                (_, Some(_)) => TagsKind::Given,
                _ => TagsKind::Gold,
            },
            single_root: !args.dependency.many_roots,
            forbidden: match &args.tag.forbid {
                Some(path) => lineal::read_forbidden_arcs(path)?,
                None => Vec::new(),
            },
        };
        let read = TreebankOptions {
            require_heads: true,
            single_root: dependency.single_root,
            ..Self::options(&args.file)
        };
        let spec = TrainSpec { dependency, ..request::spec(args)? };
        let tagger = tagger.as_deref().map(TagModel::load).transpose()?;
        let options = TreebankRequest { read, tagger, tagged };
        Request::new(args, spec, options, args.tag.files().cloned().chain(named))
    }

    fn read_training(
        source: Source,
        _: &TrainArgs,
        request: &mut Request<TreebankRequest>,
    ) -> anyhow::Result<Treebank> {
        let data = lineal::read_treebank(source, &request.options.read)?;
        match &request.options.tagged {
            Some(path) => {
                let tagged = lineal::read_treebank(path, &TreebankOptions::default())?;
                Ok(data.with_tags_of(&tagged)?)
            }
            None => Ok(data),
        }
    }

    fn size(data: &Treebank) -> Vec<String> {
        vec![count(data.n_tokens(), "word"), count(data.schema.relations.len(), "relation")]
    }

    fn read_like(
        source: Source,
        request: &Request<TreebankRequest>,
        data: &Treebank,
    ) -> anyhow::Result<Treebank> {
        let format = request.format_of(&source.name(), request.options.read.format);
        let options = TreebankOptions { format, ..TreebankOptions::default() };
        Ok(lineal::data::read_treebank_with(source, &options, &data.schema)?)
    }

    fn lacking(&self, data: &Treebank) -> Option<String> {
        let is_tagged = |column| self.tagger().is_some() && column == ConlluColumn::Upos;
        let empty = self.columns().iter().filter(|&&c| !is_tagged(c) && !data.has_column(c));
        let names: Vec<String> = empty.map(|column| column.name().to_uppercase()).collect();
        (!names.is_empty()).then(|| {
            format!(
                "nothing but `_` in {}, with which the parser was trained, so that its trees will be much worse; fill {}, or train with --tags jackknife, whose models tag words themselves",
                names.join(", "),
                if names.len() == 1 { "this column" } else { "these columns" }
            )
        })
    }

    fn cannot_compare(data: &Treebank) -> Option<&'static str> {
        let why = "the words have no heads to compare with; fill the HEAD column";
        (data.n_heads() == 0).then_some(why)
    }

    fn unseen(data: &Treebank) -> Option<(String, String)> {
        let new = data.relations.get(data.schema.relations.len())?;
        (data.n_unseen() > 0).then(|| (count(data.n_unseen(), "word"), new.clone()))
    }

    fn prepare<'a>(
        training: Training<'a, Treebank>,
        request: &'a TreebankRequest,
    ) -> Training<'a, Treebank> {
        match &request.tagger {
            Some(tagger) => training.tagger(tagger),
            None => training,
        }
    }

    fn options(file: &FileArgs) -> TreebankOptions {
        TreebankOptions { format: file.format, ..TreebankOptions::default() }
    }

    fn has_no_answer(args: &PredictArgs) -> Option<&'static str> {
        let known = "--known of a parser keeps the columns HEAD and DEPREL, where `_` is not known: leave out the column and --unlabelled";
        let ranked = args.tag.n_best.or(args.top).is_some();
        no_tree_answer(args, known).or_else(|| {
            let refused = ranked && args.proba && args.output == Output::Text;
            refused.then_some("--proba and --n-best together need --output jsonl")
        })
    }

    fn writer(&self, args: &PredictArgs) -> Writer<'_> {
        Writer::new(self, args)
    }

    fn write(
        writer: &mut Writer<'_>,
        out: &mut dyn Write,
        data: &Treebank,
        i: usize,
        number: usize,
        parsed: &Parsed,
    ) -> io::Result<()> {
        writer.write(out, data.get(i), number, parsed)
    }

    fn main_metric(metrics: &DependencyMetrics) -> (&'static str, f64) {
        metrics.las.map_or(("uas", metrics.uas), |las| ("las", las))
    }

    fn one_line(metrics: &DependencyMetrics) -> String {
        let las = metrics.las.map(|las| format!(", LAS {las:.4}")).unwrap_or_default();
        let exact = metrics.exact.map(|e| format!(", whole trees {e:.4}")).unwrap_or_default();
        format!("UAS {:.4}{las}{exact}", metrics.uas)
    }

    fn metric_rows(metrics: &DependencyMetrics) -> Pairs {
        metrics::rows(metrics)
    }

    fn metric_tables(metrics: &DependencyMetrics) -> Vec<MetricTable> {
        metrics::tables(metrics)
    }

    fn about(&self) -> [Vec<String>; 2] {
        let trees = format!("trees: {}, {}", kind(self), choice(self));
        let weights = count(self.n_weights(), "weight");
        [vec![trees], vec![weights]]
    }

    fn train_json(&self) -> Vec<(&'static str, Value)> {
        vec![
            ("nonzeros", json!(self.n_weights())),
            ("trees", json!(kind(self))),
            ("order", json!(order(self))),
            ("candidates", json!(self.candidates())),
        ]
    }

    fn classes(&self) -> &[String] {
        self.relations()
    }

    fn facts(&self) -> Pairs {
        let spec = &self.spec().dependency;
        let root = if spec.single_root { "one root" } else { "any number of roots" };
        let mut facts = vec![("trees", format!("{}; {root}; {}", kind(self), choice(self)))];
        let templates = Section::ALL.map(|section| {
            format!("{} of {}", self.templates().n_templates(section), section.name())
        });
        let columns: Vec<&str> = self.columns().iter().map(|column| column.name()).collect();
        facts.push(("templates", format!("{} over {}", templates.join(", "), columns.join(", "))));
        let bits = self.parser().spec.bits;
        let weights = count(self.n_weights(), "weight");
        facts.push(("features", format!("{weights}, trees in a table of 2^{bits}")));
        if spec.tags != TagsKind::Gold {
            facts.push(("tags", "predicted by the tagger that the model brings".to_owned()));
        }
        if !spec.forbidden.is_empty() {
            facts.push((
                "constraints",
                count(spec.forbidden.len(), "rule") + " about forbidden arcs",
            ));
        }
        facts
    }

    fn inspect_json(&self, _: Option<usize>) -> Value {
        let columns: Vec<&str> = self.columns().iter().map(|column| column.name()).collect();
        json!({
            "trees": kind(self),
            "order": order(self),
            "candidates": self.candidates(),
            "single_root": self.spec().dependency.single_root,
            "columns": columns,
            "templates": self.templates().text(),
            "tagger": self.tagger().is_some(),
        })
    }

    fn explain(
        &self,
        data: &Treebank,
        i: usize,
        args: &ExplainArgs,
    ) -> anyhow::Result<Vec<ArcExplanation>> {
        if args.class.is_some() {
            bail!(
                "--class is for labels; a word is explained against its second best head: leave it out"
            );
        }
        Ok(DependencyModel::explain(self, data, i, args.token.map(|token| token - 1))?)
    }

    fn headline(&self, data: &Treebank, i: usize, found: &ArcExplanation) -> String {
        let sentence = data.get(i);
        let sure = |p: Option<f64>| p.map(|p| format!(" ({p:.4})")).unwrap_or_default();
        let verdict = match (found.other, self.candidates()) {
            (None, Some(_)) => "the only head that pruning and constraints leave".to_owned(),
            (None, None) => "no other head is possible".to_owned(),
            (Some(other), _) => format!(
                "not {}{}, by {}",
                name(sentence, other),
                sure(found.other_probability),
                rough(found.lead)
            ),
        };
        format!(
            "sentence {}, word {} `{}`: {} of {}{}, {verdict}",
            i + 1,
            found.word + 1,
            cut(sentence.form(found.word), 30),
            self.relation(found.relation),
            name(sentence, found.head),
            sure(found.probability)
        )
    }

    fn reasons(found: &ArcExplanation) -> Vec<Reason> {
        part_reasons(&found.reasons)
    }

    fn explanation_json(&self, i: usize, found: &ArcExplanation) -> Value {
        json!({
            "sentence": i + 1,
            "word": found.word + 1,
            "head": found.head,
            "relation": self.relation(found.relation),
            "against": found.other,
            "lead": found.lead.is_finite().then_some(found.lead),
            "proba": found.probability,
            "against_proba": found.other_probability,
        })
    }
}

/// Which trees the model chooses from.
fn kind(model: &DependencyModel) -> &'static str {
    match model.parser().spec.kind {
        TreeKind::Projective => "projective, scores of arcs",
        TreeKind::SecondOrder => "projective, scores of arcs, siblings and grandparents",
        TreeKind::NonProjective => "nonprojective, scores of arcs",
    }
}

/// 1 or 2.
fn order(model: &DependencyModel) -> u32 {
    if model.parser().spec.kind == TreeKind::SecondOrder { 2 } else { 1 }
}

/// How many heads a word can have.
fn choice(model: &DependencyModel) -> String {
    match model.candidates() {
        Some(most) => format!("{most} heads per word to choose from"),
        None => "all words to choose from".to_owned(),
    }
}

/// The form of a word, or the root.
fn name(sentence: Sentence<'_>, head: u32) -> String {
    match head {
        0 => "the root".to_owned(),
        head => format!("`{}` ({head})", cut(sentence.form(head as usize - 1), 30)),
    }
}
