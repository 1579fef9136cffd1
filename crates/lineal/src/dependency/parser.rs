//! Trees for sentences, and how sure they are.

use super::constraints::Constraints;
use super::file::{PRUNER_BITS, RELATION_BITS};
use super::model::DependencyModel;
use super::tags;
use super::train::prune_spec;
use crate::Error;
use lineal_data::{ConlluColumn, NO_RELATION, Sentence, Treebank};
use lineal_dependencies::features::{Sentences, Templates};
use lineal_dependencies::problem::{
    Candidates, Heads, Relations, Tree, TreeKind, TreeParts, TreeSpec, Trees, TreesScratch,
};
use lineal_dependencies::{NonProjective, Projective};
use lineal_linalg::Scalar;
use lineal_model::structure::{Ask, Infeasible, MaxOracle, Structure, SumOracle};
use rayon::prelude::*;
use std::borrow::Cow;
use std::ops::Range;

/// What to say about each sentence beside its tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ParseAsk {
    /// Keep the heads and relations that the data has: only words without one are parsed.
    pub known: bool,
    /// Probabilities: of each candidate arc, and of the whole tree.
    pub proba: bool,
    /// The number of best trees to list.
    pub n_best: usize,
    /// Take the tree with the most heads expected to be right, in place of the likeliest one.
    pub by_arc: bool,
}

/// The tree of a sentence, with what was asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    /// The head of each word; 0 is the root.
    pub heads: Vec<u32>,
    /// The relation of each word to its head: see [`DependencyModel::relation`].
    pub relations: Vec<u32>,
    /// The score of the tree; the logarithm of its probability, up to a constant of the sentence, where the model has probabilities.
    pub score: f64,
    /// The probability of the tree, if asked for: of its heads, and of its relations as well where these are found together with the heads.
    pub probability: Option<f64>,
    /// For each word the candidate heads with their probabilities, if asked for.
    pub arcs: Option<Vec<Vec<(u32, f64)>>>,
    /// The best trees, if asked for.
    pub n_best: Vec<RankedTree>,
    /// The parts of speech that the model's own tagger gave, where it has one.
    pub tags: Option<Vec<String>>,
}

impl Parsed {
    /// The probability of the arc that a word (from 0) got, if probabilities were asked for.
    pub fn arc_probability(&self, word: usize) -> Option<f64> {
        let arcs = &self.arcs.as_ref()?[word];
        arcs.iter().find(|(head, _)| *head == self.heads[word]).map(|(_, p)| *p)
    }
}

/// One of the best trees.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedTree {
    /// The head of each word.
    pub heads: Vec<u32>,
    /// The relation of each word.
    pub relations: Vec<u32>,
    /// Its score.
    pub score: f64,
    /// Its probability, where the model has any.
    pub probability: Option<f64>,
}

/// Sentences that a thread takes at a time.
const CHUNK: usize = 32;

impl DependencyModel {
    /// The best tree of each sentence.
    pub fn parse(&self, data: &Treebank) -> Result<Vec<Parsed>, Error> {
        self.parse_with(data, &ParseAsk::default())
    }

    /// The tree of each sentence and what else is asked for, in the current thread pool.
    pub fn parse_with(&self, data: &Treebank, ask: &ParseAsk) -> Result<Vec<Parsed>, Error> {
        if (ask.proba || ask.by_arc) && !self.has_proba() {
            return Err(Error::request(format!(
                "the model was trained with the {} loss and has no probabilities; train with --loss logistic",
                self.report().loss
            )));
        }
        let tags = self.tagger.as_ref().map(|tagger| tags::tags(tagger, data)).transpose()?;
        let data = match &tags {
            Some(tags) => Cow::Owned(tags::with_tags(data, tags)),
            None => Cow::Borrowed(data),
        };
        let wide: Option<Vec<f64>> = (ask.proba || ask.by_arc || ask.n_best > 0)
            .then(|| self.tables.trees.iter().map(|&w| f64::from(w)).collect());
        let all: Vec<usize> = (0..data.len()).collect();
        let chunks: Vec<Result<Vec<Parsed>, Error>> = all
            .par_chunks(CHUNK)
            .map(|chunk| {
                let which = chunk[0]..chunk[0] + chunk.len();
                let job = Chunk::new(self, &data, which, ask);
                match &wide {
                    Some(w) => job.parse(w, ask),
                    None => job.parse(&self.tables.trees, ask),
                }
            })
            .collect();
        let mut parsed = Vec::with_capacity(data.len());
        for chunk in chunks {
            parsed.extend(chunk?);
        }
        if let Some(tags) = tags {
            for (i, parsed) in parsed.iter_mut().enumerate() {
                parsed.tags = Some(tags[data.tokens(i)].to_vec());
            }
        }
        Ok(parsed)
    }
}

/// Some sentences with what there is to choose from.
pub(super) struct Chunk<'m> {
    model: &'m DependencyModel,
    data: &'m Treebank,
    which: Range<usize>,
    pub(super) sentences: Sentences,
    pub(super) candidates: Option<Candidates>,
}

impl<'m> Chunk<'m> {
    pub(super) fn new(
        model: &'m DependencyModel,
        data: &'m Treebank,
        which: Range<usize>,
        ask: &ParseAsk,
    ) -> Self {
        let of_chunk = which.clone().map(|i| data.get(i));
        let sentences = hash(&model.templates, model.columns(), of_chunk);
        let pruned = model.tables.pruner.as_ref().map(|w| {
            let problem = Heads::new(&model.templates, &sentences, PRUNER_BITS);
            prune(&problem, w, model.about.candidates)
        });
        let chunk = Self { model, data, which, sentences, candidates: pruned };
        let constraints = chunk.constraints(ask);
        match constraints.is_empty() {
            true => chunk,
            false => Self { candidates: Some(chunk.allowed(&constraints, true)), ..chunk },
        }
    }

    /// One sentence of it with every arc that the constraints allow: what pruning left and the constraints may exclude each other.
    pub(super) fn alone(&self, i: usize, ask: &ParseAsk) -> Self {
        let at = self.which.start + i;
        let (model, data) = (self.model, self.data);
        let sentences = hash(&model.templates, model.columns(), [data.get(at)]);
        let alone = Self { model, data, which: at..at + 1, sentences, candidates: None };
        let constraints = alone.constraints(ask);
        Self { candidates: Some(alone.allowed(&constraints, false)), ..alone }
    }

    fn constraints(&self, ask: &ParseAsk) -> Constraints<'m> {
        Constraints { forbidden: &self.model.spec().dependency.forbidden, known: ask.known }
    }

    /// The arcs that the constraints allow: of the candidates, or of all.
    fn allowed(&self, constraints: &Constraints<'_>, of_candidates: bool) -> Candidates {
        let mut kept = Candidates::default();
        let mut heads = Vec::new();
        for i in self.which.clone() {
            let sentence = self.data.get(i);
            let words = self.sentences.words(i - self.which.start);
            for (t, word) in words.enumerate() {
                heads.clear();
                match self.candidates.as_ref().filter(|_| of_candidates) {
                    Some(candidates) => heads.extend_from_slice(candidates.heads(word)),
                    None => heads.extend(all_heads(sentence.len(), t)),
                }
                constraints.keep(sentence, t, &mut heads);
                kept.push(heads.iter().copied());
            }
        }
        kept
    }

    pub(super) fn problem(&self) -> Trees<'_> {
        let (model, candidates) = (self.model, self.candidates.as_ref());
        Trees::new(&model.templates, &self.sentences, candidates, model.trees())
    }

    fn parse<F: Scalar>(&self, w: &[F], ask: &ParseAsk) -> Result<Vec<Parsed>, Error> {
        self.check_lengths()?;
        let problem = self.problem();
        let mut s = Structure::<F>::scratch(&problem);
        let mut trees = Vec::with_capacity(self.which.len());
        for i in 0..self.which.len() {
            let found = self.tree(&problem, &mut s, i, w, ask).or_else(|found| {
                if self.candidates.is_none() {
                    return Err(found);
                }
                let alone = self.alone(i, ask);
                let problem = alone.problem();
                alone.tree(&problem, &mut Structure::<F>::scratch(&problem), 0, w, ask)
            });
            trees.push(found.map_err(|found| self.no_tree(self.which.start + i, found))?);
        }
        if let Some(table) = &self.model.tables.relations {
            self.label(table, &mut trees);
        }
        if ask.known {
            self.keep_known(&mut trees)?;
        }
        Ok(trees)
    }

    /// The tree of a sentence, with relations only where they are found together with the heads.
    fn tree<F: Scalar>(
        &self,
        problem: &Trees<'_>,
        s: &mut TreesScratch<F>,
        i: usize,
        w: &[F],
        ask: &ParseAsk,
    ) -> Result<Parsed, Infeasible> {
        let (mut theta, mut mu) = (TreeParts::default(), TreeParts::default());
        let wants_sums = ask.proba || ask.by_arc || (ask.n_best > 0 && self.model.has_proba());
        problem.scores(i, w, F::ONE, s, &mut theta);
        let log_z = match wants_sums {
            true => Some(problem.expect(i, &theta, Ask::Plain, s, &mut mu)?),
            false => None,
        };
        let mut tree = Tree::default();
        match ask.by_arc {
            false => {
                problem.argmax(i, &mut theta, Ask::Plain, s, &mut tree)?;
            }
            true => {
                let mut heads = Vec::new();
                by_arc(&mu, problem.spec().kind.is_projective(), &mut heads)?;
                // The best relations of these arcs: the best tree where there are no others.
                let mut only = Candidates::default();
                heads.iter().for_each(|&head| only.push([head]));
                let one = hash(
                    &self.model.templates,
                    self.model.columns(),
                    [self.data.get(self.which.start + i)],
                );
                let problem =
                    Trees::new(&self.model.templates, &one, Some(&only), self.model.trees());
                let mut s = Structure::<F>::scratch(&problem);
                let mut theta = TreeParts::default();
                problem.scores(0, w, F::ONE, &mut s, &mut theta);
                problem.argmax(0, &mut theta, Ask::Plain, &mut s, &mut tree)?;
            }
        }
        let score = problem.score(i, &theta, &tree);
        let probability = |score: f64| log_z.map(|z| (score - z).exp().min(1.0));
        let mut n_best = Vec::new();
        if ask.n_best > 0 {
            for (tree, score) in problem.k_best(i, &theta, ask.n_best, s)? {
                let (probability, Tree { heads, relations }) = (probability(score), tree);
                n_best.push(RankedTree { heads, relations, score, probability });
            }
        }
        let Tree { heads, relations } = tree;
        Ok(Parsed {
            relations,
            score,
            probability: probability(score).filter(|_| ask.proba),
            arcs: ask.proba.then(|| marginals(&mu, heads.len())),
            heads,
            n_best,
            tags: None,
        })
    }

    /// Gives the trees their relations, the best ones first.
    fn label(&self, table: &[f32], trees: &mut [Parsed]) {
        let found = self.relations(table, trees.iter().map(|tree| &tree.heads[..]));
        trees.iter_mut().zip(found).for_each(|(tree, relations)| tree.relations = relations);
        let most = trees.iter().map(|tree| tree.n_best.len()).max().unwrap_or(0);
        for rank in 0..most {
            // Where a sentence has fewer trees its best one stands in, and what comes of it is dropped.
            let heads =
                |tree: &Parsed| tree.n_best.get(rank).map_or(&tree.heads, |r| &r.heads).clone();
            let heads: Vec<Vec<u32>> = trees.iter().map(heads).collect();
            let found = self.relations(table, heads.iter().map(Vec::as_slice));
            for (tree, relations) in trees.iter_mut().zip(found) {
                if let Some(ranked) = tree.n_best.get_mut(rank) {
                    ranked.relations = relations;
                }
            }
        }
    }

    /// The relations of a tree for each sentence.
    fn relations<'h>(
        &self,
        table: &[f32],
        trees: impl Iterator<Item = &'h [u32]>,
    ) -> Vec<Vec<u32>> {
        let model = self.model;
        let n = model.relations().len();
        let heads: Vec<u32> = trees.flatten().copied().collect();
        let problem = Relations::new(&model.templates, &self.sentences, &heads, n, RELATION_BITS);
        let mut theta = Vec::new();
        let root = model.about.root;
        let mut relation = |word: usize| {
            let mut y = 0;
            problem.scores(word, table, 1.0, &mut (), &mut theta);
            match root {
                Some(root) if heads[word] == 0 => return root,
                // With one relation in all there is no other to give.
                Some(root) if n > 1 => theta[root as usize] = f32::NEG_INFINITY,
                _ => {}
            }
            // A word has one of n relations whatever the scores: there is always a best one.
            let _ = problem.argmax(word, &mut theta, Ask::Plain, &mut (), &mut y);
            y
        };
        (0..self.which.len())
            .map(|i| self.sentences.words(i).map(&mut relation).collect())
            .collect()
    }

    /// Puts relations back that the data has, where the tree has its head as well.
    fn keep_known(&self, trees: &mut [Parsed]) -> Result<(), Error> {
        let n = self.model.relations().len();
        for (i, tree) in self.which.clone().zip(trees) {
            let sentence = self.data.get(i);
            let unknown = |r: &u32| *r != NO_RELATION && *r as usize >= n;
            if let Some(t) = sentence.deprels().iter().position(unknown) {
                let name = &self.data.relations[sentence.deprels()[t] as usize];
                let message = format!("the known relation `{name}` is not one of the model's");
                return Err(self.data.error_at(i, t, message).into());
            }
            let keep = |heads: &[u32], relations: &mut [u32]| {
                for (t, relation) in relations.iter_mut().enumerate() {
                    let given = sentence.deprels()[t];
                    if given != NO_RELATION && sentence.heads()[t] == heads[t] {
                        *relation = given;
                    }
                }
            };
            keep(&tree.heads, &mut tree.relations);
            tree.n_best.iter_mut().for_each(|ranked| keep(&ranked.heads, &mut ranked.relations));
        }
        Ok(())
    }

    fn check_lengths(&self) -> Result<(), Error> {
        let is_pruned = self.candidates.is_some();
        self.which
            .clone()
            .try_for_each(|i| check_length(self.data, i, self.model.trees(), is_pruned))
    }

    /// A sentence without a tree, at its line.
    pub(super) fn no_tree(&self, i: usize, found: Infeasible) -> Error {
        let message = "no tree is possible here: --known heads may not cross in a projective parser nor name two roots, and the arcs that --forbid named in training are never predicted";
        self.data.error_at(i, found.at, message).into()
    }
}

/// The longest sentences: scores of all arcs take n² numbers, those of all grandparents n³.
const MAX_WORDS: usize = 2000;
const MAX_WORDS_OF_ORDER_2: usize = 150;

/// Refuses sentences whose trees would take more memory than there is.
pub(super) fn check_length(
    data: &Treebank,
    i: usize,
    trees: TreeSpec,
    is_pruned: bool,
) -> Result<(), Error> {
    let most = match trees.kind {
        TreeKind::SecondOrder if !is_pruned => MAX_WORDS_OF_ORDER_2,
        _ => MAX_WORDS,
    };
    let n = data.get(i).len();
    if n <= most {
        return Ok(());
    }
    let message =
        format!("the sentence has {n} words, and trees are found for {most} at most; split it");
    Err(data.error_at(i, 0, message).into())
}

/// The root and every word but `t` (from 0).
fn all_heads(n: usize, t: usize) -> impl Iterator<Item = u32> {
    (0..=n as u32).filter(move |&head| head != t as u32 + 1)
}

/// The probability of each candidate arc, by word.
fn marginals<F: Scalar>(mu: &TreeParts<F>, n: usize) -> Vec<Vec<(u32, f64)>> {
    let arcs = mu.arcs();
    let of_word = |m: usize| {
        let p = |arc: usize| mu.values[arc].to_f64().clamp(0.0, 1.0);
        arcs.range(m).map(|arc| (arcs.head(arc) as u32, p(arc))).collect()
    };
    (1..=n).map(of_word).collect()
}

/// The tree with the most heads expected to be right.
fn by_arc<F: Scalar>(
    mu: &TreeParts<F>,
    is_projective: bool,
    heads: &mut Vec<u32>,
) -> Result<(), Infeasible> {
    let amounts = &mu.values[..mu.arcs().len()];
    match is_projective {
        true => Projective::default().max(mu.arcs(), amounts, heads)?,
        false => NonProjective::default().max(mu.arcs(), amounts, heads)?,
    };
    Ok(())
}

/// The sentences as features see them.
pub(super) fn hash<'a>(
    templates: &Templates,
    columns: &[ConlluColumn],
    sentences: impl IntoIterator<Item = Sentence<'a>>,
) -> Sentences {
    let mut hashed = Sentences::new(templates);
    let mut cells = Vec::new();
    for sentence in sentences {
        cells.clear();
        let words = 0..sentence.len();
        cells.extend(words.flat_map(|t| columns.iter().map(move |&c| sentence.cell(t, c))));
        hashed.push(templates, &cells);
    }
    hashed
}

/// The heads that are left to choose from.
pub(super) fn prune(problem: &Heads<'_>, w: &[f32], most: usize) -> Candidates {
    let all: Vec<usize> = (0..Structure::<f32>::n_examples(problem)).collect();
    let chunks: Vec<Candidates> = all
        .par_chunks(CHUNK)
        .map(|chunk| {
            let (mut s, mut theta) = (Structure::<f32>::scratch(problem), Vec::new());
            let mut kept = Candidates::default();
            for &i in chunk {
                problem.scores(i, w, 1.0, &mut s, &mut theta);
                problem.prune(i, &theta, prune_spec(most), &mut kept);
            }
            kept
        })
        .collect();
    let mut all = Candidates::default();
    chunks.iter().for_each(|chunk| all.append(chunk));
    all
}

/// The heads of all words in the best trees, or the sentence that has none.
pub(super) fn best_trees(problem: &Trees<'_>, w: &[f32]) -> Result<Vec<u32>, (usize, Infeasible)> {
    let all: Vec<usize> = (0..Structure::<f32>::n_examples(problem)).collect();
    let chunks: Vec<Result<Vec<u32>, (usize, Infeasible)>> = all
        .par_chunks(CHUNK)
        .map(|chunk| {
            let mut s = Structure::<f32>::scratch(problem);
            let (mut theta, mut tree, mut found) =
                (TreeParts::default(), Tree::default(), Vec::new());
            for &i in chunk {
                problem.scores(i, w, 1.0, &mut s, &mut theta);
                problem
                    .argmax(i, &mut theta, Ask::Plain, &mut s, &mut tree)
                    .map_err(|found| (i, found))?;
                found.extend_from_slice(&tree.heads);
            }
            Ok(found)
        })
        .collect();
    let mut heads = Vec::new();
    for chunk in chunks {
        heads.extend(chunk?);
    }
    Ok(heads)
}
