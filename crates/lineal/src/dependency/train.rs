//! From a spec and a treebank to a parser, in stages.

use super::file::{About, HASH_BITS, PRUNER_BITS, RELATION_BITS, templates, tree_kind};
use super::model::{DependencyModel, Tables};
use super::parser::{check_length, hash, prune};
use super::spec::{DecoderKind, DependencySpec, LabellerKind, TagsKind};
use super::tags;
use crate::Error;
use crate::predict::model::Provenance;
use crate::request::spec::{LossKind, SolverKind, Task, TrainSpec};
use crate::structured::{self, Metric, Observer};
use crate::train::prepare::split;
use crate::train::report::{Report, StageReport, StructuredReport};
use crate::train::{Trainable, Training};
use lineal_data::{ConlluColumn, NO_HEAD, NO_RELATION, Treebank, TreebankSchema};
use lineal_dependencies::features::{Section, Sentences, Templates};
use lineal_dependencies::problem::{
    Candidates, Heads, PruneSpec, Relations, TreeSpec, Trees, projectivize,
};
use lineal_erm::structured::{LearnSpec, Loss, Solver, Update, learn, learn_max};
use std::borrow::Cow;
use std::ops::ControlFlow;

/// What features can read.
const COLUMNS: [ConlluColumn; 5] = [
    ConlluColumn::Form,
    ConlluColumn::Lemma,
    ConlluColumn::Upos,
    ConlluColumn::Xpos,
    ConlluColumn::Feats,
];
/// With more heads than this share out of projective trees, arcs may cross unless told otherwise.
const CROSSING: f64 = 0.025;
/// Heads per word that pruning leaves, where nothing is said.
const CANDIDATES: usize = 20;
/// Epochs of the pruner and of the labeller.
const PRUNER_EPOCHS: usize = 2;
const PRUNER_RATE: f64 = 0.05;
const LABELLER_EPOCHS: usize = 5;

impl From<DependencySpec> for TrainSpec {
    /// Dependency parsing with these choices and the defaults of everything else.
    fn from(dependency: DependencySpec) -> Self {
        Self { dependency, ..Self::for_task(Task::Dependency) }
    }
}

impl Trainable for Treebank {
    type Model = DependencyModel;

    fn is_for(task: Task) -> bool {
        task == Task::Dependency
    }

    fn train(run: Training<'_, Self>) -> Result<(DependencyModel, Report), Error> {
        let Training { data, spec, held_out, start, on_pass, tagger, .. } = run;
        check(spec, data)?;
        let (rows, held_rows) = split(data.len(), spec, held_out.is_some())?;
        let pick = |rows: Vec<usize>| Cow::Owned(data.select(&rows));
        let held_out = held_out.map(Cow::Borrowed).or(held_rows.map(pick));
        let data = rows.map_or(Cow::Borrowed(data), pick);
        let (data, tagger) = match (spec.dependency.tags, tagger) {
            (TagsKind::Gold, _) => (data, None),
            (TagsKind::Jackknife, _) => {
                let (data, tagger) = tags::jackknife(&data, spec.seed)?;
                (Cow::Owned(data), Some(Box::new(tagger)))
            }
            (TagsKind::Given, Some(tagger)) => {
                tags::check(tagger)?;
                let tagged = tags::with_tags(&data, &tags::tags(tagger, &data)?);
                (Cow::Owned(tagged), Some(Box::new(tagger.clone())))
            }
            (TagsKind::Given, None) => return Err(Error::request("tags: no tagger is given")),
        };
        let data = &*data;
        let held_out = match (held_out, &tagger) {
            (Some(held_out), Some(tagger)) => {
                let tags = tags::tags(tagger, &held_out)?;
                Some(Cow::Owned(tags::with_tags(&held_out, &tags)))
            }
            (held_out, _) => held_out,
        };
        let columns: Vec<ConlluColumn> = COLUMNS
            .into_iter()
            // What a tagger does not predict is not there when sentences come without annotation.
            .filter(|&c| match tagger {
                Some(_) => matches!(c, ConlluColumn::Form | ConlluColumn::Upos),
                None => c == ConlluColumn::Form || data.has_column(c),
            })
            .collect();
        let templates = templates(spec.dependency.templates.as_deref(), &columns)?;
        let sentences = hash(&templates, &columns, data.iter());
        let stage = Stage { spec, data, templates: &templates, sentences: &sentences };

        let (decoder, gold) = stage.decoder()?;
        let order = spec.dependency.order.unwrap_or(match decoder {
            DecoderKind::Projective => 2,
            DecoderKind::Nonprojective => 1,
        });
        if order == 2 && decoder == DecoderKind::Nonprojective {
            return Err(Error::request(
                "--order 2 is for projective trees, where it is exact: add --decoder projective, or leave it out",
            ));
        }
        let most = spec.dependency.candidates.unwrap_or(CANDIDATES);
        let is_joint = spec.dependency.labeller == LabellerKind::Joint;
        check_sections(&templates, most > 0, is_joint)?;
        let mut stages = Vec::new();
        let (pruner, candidates) = match most {
            0 => (None, None),
            most => {
                let (w, candidates, report) = stage.pruner(&gold, most)?;
                stages.push(report);
                (Some(w), Some(candidates))
            }
        };
        let hash_bits = spec.dependency.hash_bits.unwrap_or(if order == 2 { 23 } else { 22 });
        let trees = TreeSpec {
            kind: tree_kind(decoder, order),
            single_root: spec.dependency.single_root,
            n_relations: if is_joint { data.schema.relations.len() } else { 0 },
            bits: hash_bits,
        };
        (0..data.len()).try_for_each(|i| check_length(data, i, trees, most > 0))?;
        let learning = spec.learning(data.len())?;
        let problem = Trees::new(&templates, &sentences, candidates.as_ref(), trees)
            .with_gold(&gold, if is_joint { data.deprels() } else { &[] });
        let start =
            start.map(|old| old.start(trees, &templates, &columns, &data.schema)).transpose()?;
        let metric = held_out.as_deref().map(|held_out| {
            heads_metric(held_out, &columns, &templates, pruner.as_deref(), most, trees)
        });
        let mut observer = Observer::new(on_pass, spec, metric);
        let learnt = learn(&problem, &learning.request, start, &mut |pass| observer.see(pass))
            .map_err(|e| stage.placed(e))?;
        let seen = observer.finish()?;
        let (best_pass, best) = seen.best.unzip();
        let relations = match is_joint {
            true => None,
            false => {
                let (w, labeller) = stage.relations()?;
                stages.push(labeller);
                Some(w)
            }
        };

        let tables = Tables { pruner, trees: best.unwrap_or(learnt.w), relations };
        let structured = StructuredReport {
            tokens: data.n_tokens(),
            weights: tables.trees.len(),
            stages,
            ..StructuredReport::default()
        };
        let run = learnt.report;
        let report = structured::report(spec, &learning, &run, best_pass, seen.curve, structured);
        let features = tables.trees.iter().filter(|w| **w != 0.0).count();
        let report = Report {
            examples: data.len(),
            features,
            classes: data.schema.relations.len(),
            rows_touched: data.len() as u64,
            ..report
        };
        let mut report = report;
        let kept = gold.iter().zip(data.heads()).filter(|(a, b)| a == b).count();
        let share = kept as f64 / gold.len().max(1) as f64;
        if share < 0.99 {
            report.warnings.push(format!(
                "the training trees have crossing arcs: what is learnt are their projective forms, which keep {:.1} % of the heads; see --decoder nonprojective",
                100.0 * share
            ));
        }
        let about = About {
            task: spec.task,
            spec: spec.clone(),
            schema: data.schema.clone(),
            // The curve has times in it; the file must have the same bytes for the same data and seed.
            report: Report { curve: Vec::new(), ..report.clone() },
            provenance: Provenance::of(&data.source),
            columns,
            decoder,
            order,
            hash_bits,
            root: root_relation(data),
            candidates: most,
            steps: None,
        };
        Ok((DependencyModel { templates, tables, tagger, about }, report))
    }
}

/// Sees that the choices fit each other and the data.
fn check(spec: &TrainSpec, data: &Treebank) -> Result<(), Error> {
    let refuse = |why: String| Err(Error::Request(why));
    let DependencySpec { order, hash_bits, candidates, .. } = spec.dependency;
    if let Some(order) = order.filter(|order| !(1..=2).contains(order)) {
        return refuse(format!("--order {order} is not there: choose 1 or 2"));
    }
    if let Some(bits) = hash_bits.filter(|bits| !HASH_BITS.contains(bits)) {
        let (least, most) = HASH_BITS.into_inner();
        return refuse(format!("--hash {bits}: choose from {least} to {most} bits"));
    }
    if candidates == Some(1) {
        return refuse(
            "--candidates 1 leaves nothing to choose: give 2 or more, or 0 for all".into(),
        );
    }
    if spec.cost.is_some() {
        return refuse("--cost has no place in dependency trees, whose cost is the number of wrong heads: leave it out".into());
    }
    let n_relations = data.schema.relations.len();
    let dim = match spec.dependency.labeller {
        LabellerKind::Joint => 1 << hash_bits.unwrap_or(22),
        LabellerKind::Second => 1usize << RELATION_BITS,
    };
    if n_relations > dim / 16 {
        return refuse(format!(
            "{}: {n_relations} relations are too many for a table of {dim} weights; give more --hash bits, or is DEPREL another column?",
            data.source
        ));
    }
    let unknown = data.heads().iter().position(|&head| head == NO_HEAD);
    let unnamed = data.deprels().iter().position(|&relation| relation == NO_RELATION);
    for (missing, what) in [(unknown, "head"), (unnamed, "relation")] {
        if let Some(at) = missing {
            let of = |i: &usize| data.tokens(*i).contains(&at);
            let sentence = (0..data.len()).find(of).unwrap_or(0);
            let word = at - data.tokens(sentence).start;
            let message = format!(
                "the word has no {what}, and trees are learnt whole: annotate it, or leave the sentence out"
            );
            return Err(data.error_at(sentence, word, message).into());
        }
    }
    if spec.dependency.single_root {
        let several = data.iter().find(|s| s.heads().iter().filter(|h| **h == 0).count() > 1);
        if let Some(sentence) = several {
            let roots = sentence.heads().iter().enumerate().filter(|(_, head)| **head == 0);
            let second = roots.map(|(t, _)| t).nth(1).unwrap_or(0);
            let message = "a second root: annotate one root, or add --many-roots";
            return Err(data.error_at(sentence.index(), second, message).into());
        }
    }
    Ok(())
}

/// Sees that there are templates for every stage.
fn check_sections(templates: &Templates, prunes: bool, is_joint: bool) -> Result<(), Error> {
    let needed = [
        (Section::Heads, prunes, "choose among all heads by --candidates 0"),
        (Section::Labels, is_joint, "leave out --labeller joint"),
        (Section::Relations, !is_joint, "add --labeller joint"),
    ];
    let missing = needed
        .into_iter()
        .find(|(section, is_needed, _)| *is_needed && templates.n_templates(*section) == 0);
    match missing {
        None => Ok(()),
        Some((section, _, otherwise)) => Err(Error::request(format!(
            "templates: there are none in [{}]; add some, or {otherwise}",
            section.name()
        ))),
    }
}

/// What all stages share.
struct Stage<'a> {
    spec: &'a TrainSpec,
    data: &'a Treebank,
    templates: &'a Templates,
    sentences: &'a Sentences,
}

impl Stage<'_> {
    /// Whether arcs may cross, and the gold trees as far as they may not.
    fn decoder(&self) -> Result<(DecoderKind, Vec<u32>), Error> {
        let gold = self.data.heads();
        if self.spec.dependency.decoder == Some(DecoderKind::Nonprojective) {
            return Ok((DecoderKind::Nonprojective, gold.to_vec()));
        }
        let mut nearest = Vec::with_capacity(gold.len());
        for sentence in self.data.iter() {
            let mut heads = sentence.heads().to_vec();
            projectivize(&mut heads, self.spec.dependency.single_root).map_err(|found| {
                let message = "no tree without crossing arcs has one root: annotate one root, or add --many-roots";
                self.data.error_at(sentence.index(), found.at, message)
            })?;
            nearest.extend(heads);
        }
        let moved = gold.iter().zip(&nearest).filter(|(a, b)| a != b).count();
        let crossing = moved as f64 > CROSSING * gold.len() as f64;
        match self.spec.dependency.decoder {
            None if crossing => Ok((DecoderKind::Nonprojective, gold.to_vec())),
            _ => Ok((DecoderKind::Projective, nearest)),
        }
    }

    /// Learns which heads are left to choose from.
    fn pruner(
        &self,
        gold: &[u32],
        most: usize,
    ) -> Result<(Vec<f32>, Candidates, StageReport), Error> {
        let request = LearnSpec {
            loss: Loss::Logistic,
            solver: Solver::Sgd,
            passes: PRUNER_EPOCHS,
            rate: Some(PRUNER_RATE),
            seed: self.spec.seed,
            ..LearnSpec::default()
        };
        let problem = Heads::new(self.templates, self.sentences, PRUNER_BITS).with_gold(gold);
        let learnt = learn(&problem, &request, None, &mut |_| ControlFlow::Continue(()))?;
        // Recall is of heads that pruning would keep of sentences like these; the gold ones are put back for training.
        let free = Heads::new(self.templates, self.sentences, PRUNER_BITS);
        let recall = prune(&free, &learnt.w, most).recall(gold);
        let candidates = prune(&problem, &learnt.w, most);
        let report = StageReport {
            stage: "pruner".into(),
            loss: LossKind::Logistic,
            solver: SolverKind::Sgd,
            passes: learnt.report.passes,
            objective: learnt.report.objective,
            gap: learnt.report.gap,
            figure: Some(("recall of heads in the training data".into(), recall)),
        };
        Ok((learnt.w, candidates, report))
    }

    /// Learns the relations of words in their gold trees.
    fn relations(&self) -> Result<(Vec<f32>, StageReport), Error> {
        let request = LearnSpec {
            loss: Loss::Hinge,
            solver: Solver::Sgd,
            update: Update::PassiveAggressive { aggressiveness: 0.05 },
            passes: LABELLER_EPOCHS,
            seed: self.spec.seed,
            ..LearnSpec::default()
        };
        let n = self.data.schema.relations.len();
        let (heads, gold) = (self.data.heads(), self.data.deprels());
        let problem =
            Relations::new(self.templates, self.sentences, heads, n, RELATION_BITS).with_gold(gold);
        let mut wrong = 0.0;
        let learnt = learn_max(&problem, &request, None, &mut |pass| {
            wrong = pass.loss.unwrap_or_default();
            ControlFlow::Continue(())
        })?;
        let report = StageReport {
            stage: "labeller".into(),
            loss: LossKind::Hinge,
            solver: SolverKind::Sgd,
            passes: learnt.report.passes,
            objective: None,
            gap: None,
            figure: Some(("mean loss in the last pass".into(), wrong)),
        };
        Ok((learnt.w, report))
    }

    /// An example that no tree fits, at its line.
    fn placed(&self, error: lineal_erm::structured::LearnError) -> Error {
        match error {
            lineal_erm::structured::LearnError::Infeasible { example, at } => {
                let message = "no tree fits this word's heads and the constraints";
                self.data.error_at(example, at, message).into()
            }
            error => error.into(),
        }
    }
}

/// The share of right heads in other sentences.
fn heads_metric<'h>(
    data: &'h Treebank,
    columns: &[ConlluColumn],
    templates: &'h Templates,
    pruner: Option<&'h [f32]>,
    most: usize,
    trees: TreeSpec,
) -> Metric<'h> {
    let sentences = hash(templates, columns, data.iter());
    let candidates =
        pruner.map(|w| prune(&Heads::new(templates, &sentences, PRUNER_BITS), w, most));
    Box::new(move |w| {
        let problem = Trees::new(templates, &sentences, candidates.as_ref(), trees);
        let found = super::parser::best_trees(&problem, w)
            .map_err(|(i, found)| data.error_at(i, found.at, "no tree is possible"))?;
        let pairs = || data.heads().iter().zip(&found).filter(|(gold, _)| **gold != NO_HEAD);
        let right = pairs().filter(|(gold, found)| gold == found).count();
        Ok(right as f64 / pairs().count().max(1) as f64)
    })
}

impl DependencyModel {
    /// The weights to start from, if they are of the same trees and templates.
    fn start(
        &self,
        trees: TreeSpec,
        templates: &Templates,
        columns: &[ConlluColumn],
        schema: &TreebankSchema,
    ) -> Result<&[f32], Error> {
        let same = self.trees() == trees
            && self.templates.text() == templates.text()
            && self.columns() == columns
            && (trees.n_relations == 0 || self.schema() == schema);
        match same {
            true => Ok(&self.tables.trees),
            false => Err(Error::request(
                "the model to start from has other templates, columns, relations or trees; give the same --template, --order, --decoder, --labeller and --hash",
            )),
        }
    }
}

/// The relation that all roots and no other words have, if there is one.
fn root_relation(data: &Treebank) -> Option<u32> {
    let of_root = |is_root: bool| {
        let words = data.heads().iter().zip(data.deprels());
        words.filter(move |(head, _)| (**head == 0) == is_root).map(|(_, relation)| *relation)
    };
    let root = of_root(true).next()?;
    (of_root(true).all(|r| r == root) && of_root(false).all(|r| r != root)).then_some(root)
}

/// How many heads pruning leaves.
pub(super) fn prune_spec(most: usize) -> PruneSpec {
    PruneSpec { most, ..PruneSpec::default() }
}
