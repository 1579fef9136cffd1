//! From a spec and a treebank to a parser, in stages.

use super::model::{About, DependencyModel, HASH_BITS, RELATIONS, hash, templates, tree_kind};
use super::spec::{DecoderKind, DependencySpec, LabellerKind};
use crate::Error;
use crate::request::spec::{Task, TrainSpec};
use crate::structured::{
    Header, Metric, PRUNER, TREES, Tables, TagsKind, TreeCounts, fit, learn_pruner, stage, tags,
    train_and_held_out,
};
use crate::train::report::{Report, StageReport};
use crate::train::{Trainable, Training};
use lineal_data::{
    ConlluColumn, HeadConstraints, NO_HEAD, Treebank, TreebankSchema, check_forbidden_arcs,
};
use lineal_dependencies::features::{Section, Sentences, Templates};
use lineal_dependencies::parser::{best_trees, prune};
use lineal_dependencies::problem::{
    Candidates, Heads, PruneSpec, Relations, TreeSpec, Trees, projectivize_all,
};
use lineal_dependencies::tree::root_relation;
use lineal_erm::structured::{
    LearnError, LearnSpec, Learnt, Loss, Solver, Update, learn, learn_max,
};
use std::borrow::Cow;
use std::ops::ControlFlow;

/// Bits of the tables of the pruner and of relations; those of the trees can be chosen.
const PRUNER_BITS: u32 = 20;
const RELATION_BITS: u32 = 21;
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
/// Epochs of the labeller.
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
        let (data, held_out) = train_and_held_out(data, held_out, spec)?;
        let (data, tagger) = match (spec.dependency.tags, tagger) {
            (TagsKind::Gold, _) => (data, None),
            (TagsKind::Jackknife, _) => {
                let (data, tagger) = tags::jackknife(&data, spec.seed)?;
                (Cow::Owned(data), Some(Box::new(tagger)))
            }
            (TagsKind::Given, Some(tagger)) => {
                tags::check(tagger)?;
                let tagged = tags::tagged(Some(tagger), &data)?.0.into_owned();
                (Cow::Owned(tagged), Some(Box::new(tagger.clone())))
            }
            (TagsKind::Given, None) => {
                return Err(Error::request(
                    "spec.dependency.tags asks for a tagger's tags, and no tagger was given",
                ));
            }
        };
        let data = &*data;
        check_forbidden_arcs(&spec.dependency.forbidden, data)?;
        let held_out = match &held_out {
            Some(held_out) => Some(tags::tagged(tagger.as_deref(), held_out)?.0),
            None => None,
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
        let stages = Stages { spec, data, templates: &templates, sentences: &sentences };

        let (decoder, gold) = stages.decoder()?;
        let order = spec.dependency.order.unwrap_or(match decoder {
            DecoderKind::Projective => 2,
            DecoderKind::Nonprojective => 1,
        });
        if order == 2 && decoder == DecoderKind::Nonprojective {
            return Err(Error::request(
                "spec.dependency.order = 2 is for projective trees, where it is exact: add spec.dependency.decoder = projective, or leave it out",
            ));
        }
        let most = spec.dependency.candidates.unwrap_or(CANDIDATES);
        let is_joint = spec.dependency.labeller == LabellerKind::Joint;
        check_sections(&templates, most > 0, is_joint)?;
        let trees = TreeSpec {
            kind: tree_kind(decoder, order),
            single_root: spec.dependency.single_root,
            n_relations: if is_joint { data.schema.relations.len() } else { 0 },
            bits: spec.dependency.hash_bits.unwrap_or(if order == 2 { 23 } else { 22 }),
        };
        data.check_lengths(0..data.len(), trees.longest(most > 0))?;
        let prune_spec = PruneSpec { most, ..PruneSpec::default() };
        let (mut tables, mut reports, mut candidates) = (Tables::default(), Vec::new(), None);
        if most > 0 {
            let (w, left, report) = stages.pruner(&gold, prune_spec)?;
            reports.push(report);
            candidates = Some(left);
            tables.push(PRUNER, w);
        }
        let learning = spec.learning(data.len() as f64)?;
        let problem = Trees::new(&templates, &sentences, candidates.as_ref(), trees)
            .with_gold(&gold, if is_joint { data.deprels() } else { &[] });
        let start =
            start.map(|old| old.start(trees, &templates, &columns, &data.schema)).transpose()?;
        let metric = held_out.as_deref().map(|held_out| -> Metric<'_> {
            let sentences = hash(&templates, &columns, held_out.iter());
            let left = tables
                .get(PRUNER)
                .map(|w| prune(&Heads::new(&templates, &sentences, PRUNER_BITS), w, prune_spec));
            let templates = &templates;
            Box::new(move |w| {
                let problem = Trees::new(templates, &sentences, left.as_ref(), trees);
                right_heads(held_out, &problem, w)
            })
        });
        let mut run = fit(spec, on_pass, metric, |see| {
            learn(&problem, &learning.request, start, see).map_err(|e| stages.placed(e))
        })?;
        tables.push(TREES, std::mem::take(&mut run.w));
        if !is_joint {
            let (w, report) = stages.relations()?;
            reports.push(report);
            tables.push(RELATIONS, w);
        }

        let (words, labels) = (data.n_tokens(), data.schema.relations.len());
        let counts = TreeCounts { sentences: data.len(), words, labels };
        let mut report = run.parser_report(spec, &learning, counts, &tables, reports);
        let kept = gold.iter().zip(data.heads()).filter(|(a, b)| a == b).count();
        let share = kept as f64 / gold.len().max(1) as f64;
        if share < 0.99 {
            report.warnings.push(format!(
                "the training trees have crossing arcs: what is learnt are their projective forms, which keep {:.1} % of the heads; see spec.dependency.decoder = nonprojective",
                100.0 * share
            ));
        }
        let forbidden = &spec.dependency.forbidden;
        let n_broken = HeadConstraints::new(forbidden, false, data, 0..data.len())?.n_broken();
        if n_broken > 0 {
            report.warnings.push(format!(
                "{n_broken} arcs of the training trees are forbidden: training treats them as right, but they are never predicted"
            ));
        }
        let about = About {
            header: Header::new(spec, &report, &data.source),
            schema: data.schema.clone(),
            columns,
            decoder,
            order,
            root: root_relation(data.heads(), data.deprels()),
            candidates: most,
            tables: tables.infos(),
        };
        Ok((DependencyModel { templates, tables, tagger, about }, report))
    }
}

/// Sees that the choices fit each other and the data.
fn check(spec: &TrainSpec, data: &Treebank) -> Result<(), Error> {
    let refuse = |why: String| Err(Error::Request(why));
    let DependencySpec { order, hash_bits, candidates, .. } = spec.dependency;
    if let Some(order) = order.filter(|order| !(1..=2).contains(order)) {
        return refuse(format!("spec.dependency.order = {order} is not available: choose 1 or 2"));
    }
    if let Some(bits) = hash_bits.filter(|bits| !HASH_BITS.contains(bits)) {
        let (least, most) = HASH_BITS.into_inner();
        return refuse(format!(
            "spec.dependency.hash_bits = {bits}: choose from {least} to {most} bits"
        ));
    }
    if candidates == Some(1) {
        return refuse(
            "spec.dependency.candidates = 1 leaves nothing to choose: give 2 or more, or 0 for all"
                .into(),
        );
    }
    if spec.cost.is_some() {
        return refuse("spec.cost is not for dependency trees, whose cost is the number of wrong heads: leave it out".into());
    }
    let n_relations = data.schema.relations.len();
    let dim = match spec.dependency.labeller {
        LabellerKind::Joint => 1 << hash_bits.unwrap_or(22),
        LabellerKind::Second => 1usize << RELATION_BITS,
    };
    if n_relations > dim / 16 {
        return refuse(format!(
            "{}: {n_relations} relations are too many for a table of {dim} weights; give more spec.dependency.hash_bits, or is DEPREL another column?",
            data.source
        ));
    }
    Ok(data.check_whole(spec.dependency.single_root)?)
}

/// Sees that there are templates for every stage.
fn check_sections(templates: &Templates, prunes: bool, is_joint: bool) -> Result<(), Error> {
    let needed = [
        (Section::Heads, prunes, "choose among all heads by spec.dependency.candidates = 0"),
        (Section::Labels, is_joint, "leave out spec.dependency.labeller = joint"),
        (Section::Relations, !is_joint, "add spec.dependency.labeller = joint"),
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
struct Stages<'a> {
    spec: &'a TrainSpec,
    data: &'a Treebank,
    templates: &'a Templates,
    sentences: &'a Sentences,
}

impl Stages<'_> {
    /// Whether arcs may cross, and the gold trees as far as they may not.
    fn decoder(&self) -> Result<(DecoderKind, Vec<u32>), Error> {
        let (data, choice) = (self.data, self.spec.dependency.decoder);
        let gold = data.heads();
        if choice == Some(DecoderKind::Nonprojective) {
            return Ok((DecoderKind::Nonprojective, gold.to_vec()));
        }
        let words = (0..data.len()).map(|i| data.tokens(i));
        let nearest = projectivize_all(gold, words, self.spec.dependency.single_root)
            .map_err(|(i, found)| {
                let message = "no tree without crossing arcs has one root: annotate one root, or add spec.dependency.single_root = false";
                data.error_at(i, found.at, message)
            })?;
        let moved = gold.iter().zip(&nearest).filter(|(a, b)| a != b).count();
        match choice {
            None if moved as f64 > CROSSING * gold.len() as f64 => {
                Ok((DecoderKind::Nonprojective, gold.to_vec()))
            }
            _ => Ok((DecoderKind::Projective, nearest)),
        }
    }

    /// Learns which heads are left to choose from.
    fn pruner(
        &self,
        gold: &[u32],
        prune_spec: PruneSpec,
    ) -> Result<(Vec<f32>, Candidates, StageReport), Error> {
        let free = Heads::new(self.templates, self.sentences, PRUNER_BITS);
        let problem = free.clone().with_gold(gold);
        // Recall is of heads that pruning would keep of sentences like these; the gold ones are put back for training.
        let recall = |w: &[f32]| prune(&free, w, prune_spec).recall(gold);
        let (w, report) = learn_pruner(&problem, self.spec.seed, "heads", recall)?;
        let candidates = prune(&problem, &w, prune_spec);
        Ok((w, candidates, report))
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
        let Learnt { w, report } = learn_max(&problem, &request, None, &mut |pass| {
            wrong = pass.loss.unwrap_or_default();
            ControlFlow::Continue(())
        })?;
        Ok((w, stage("labeller", &request, &report, ("mean loss in the last pass", wrong))))
    }

    /// An example that no tree fits, at its line.
    fn placed(&self, error: LearnError) -> Error {
        match error {
            LearnError::Infeasible { example, at } => {
                let message = "no tree fits this word's heads and the constraints";
                self.data.error_at(example, at, message).into()
            }
            error => error.into(),
        }
    }
}

/// The share of right heads.
fn right_heads(data: &Treebank, problem: &Trees<'_>, w: &[f32]) -> Result<f64, Error> {
    let found = best_trees(problem, w)
        .map_err(|(i, found)| data.error_at(i, found.at, "no tree is possible"))?;
    let pairs = || data.heads().iter().zip(&found).filter(|(gold, _)| **gold != NO_HEAD);
    let right = pairs().filter(|(gold, found)| gold == found).count();
    Ok(right as f64 / pairs().count().max(1) as f64)
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
        let old = self.parser();
        let same = old.spec == trees
            && self.templates.text() == templates.text()
            && self.columns() == columns
            && (trees.n_relations == 0 || self.schema() == schema);
        match same {
            true => Ok(old.trees),
            false => Err(Error::request(
                "the model to start from has other templates, columns, relations or trees; give the same spec.dependency.templates, spec.dependency.order, spec.dependency.decoder, spec.dependency.labeller and spec.dependency.hash_bits",
            )),
        }
    }
}
