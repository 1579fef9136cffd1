//! Trees for sentences, and how sure they are.

use super::constraints::Constraints;
use super::file::{PRUNER_BITS, RELATION_BITS};
use super::model::DependencyModel;
use super::tags;
use super::train::prune_spec;
use crate::Error;
use lineal_data::{ConlluColumn, NO_RELATION, Sentence, Treebank};
use lineal_dependencies::features::{Sentences, Templates};
use lineal_dependencies::problem::{Candidates, Heads, Relations, Tree, TreeParts, Trees};
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
    /// So many best trees.
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
    /// The probability of the tree without its relations, if asked for.
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
                let job = Chunk::new(self, &data, chunk[0]..chunk[0] + chunk.len(), ask);
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
        let mut chunk = Self { model, data, which, sentences, candidates: pruned };
        let forbidden = &model.spec().dependency.forbidden;
        let constraints = Constraints { forbidden, known: ask.known };
        if !constraints.is_empty() {
            chunk.constrain(&constraints, true);
        }
        chunk
    }

    /// Leaves the arcs that the constraints allow: of the candidates, or of all.
    fn constrain(&mut self, constraints: &Constraints<'_>, of_candidates: bool) {
        let mut kept = Candidates::default();
        let mut heads = Vec::new();
        for i in self.which.clone() {
            let sentence = self.data.get(i);
            let words = self.sentences.words(i - self.which.start);
            for (t, word) in words.enumerate() {
                heads.clear();
                match self.candidates.as_ref().filter(|_| of_candidates) {
                    Some(candidates) => heads.extend_from_slice(candidates.heads(word)),
                    None => {
                        heads.extend((0..=sentence.len() as u32).filter(|&h| h != t as u32 + 1))
                    }
                }
                constraints.keep(sentence, t, &mut heads);
                kept.push(heads.iter().copied());
            }
        }
        self.candidates = Some(kept);
    }

    pub(super) fn problem(&self) -> Trees<'_> {
        let (model, candidates) = (self.model, self.candidates.as_ref());
        Trees::new(&model.templates, &self.sentences, candidates, model.trees())
    }

    fn parse<F: Scalar>(mut self, w: &[F], ask: &ParseAsk) -> Result<Vec<Parsed>, Error> {
        let mut trees = self.trees(w, ask);
        if trees.is_err() && self.candidates.is_some() {
            // What pruning left and the constraints may exclude each other: once more with every arc that is allowed.
            let forbidden = &self.model.spec().dependency.forbidden;
            self.constrain(&Constraints { forbidden, known: ask.known }, false);
            trees = self.trees(w, ask);
        }
        let mut trees = trees.map_err(|(i, found)| self.no_tree(i, found))?;
        let Some(table) = &self.model.tables.relations else { return Ok(trees) };
        let best = self.relations(table, trees.iter().map(|tree| &tree.heads[..]), ask);
        trees.iter_mut().zip(best).for_each(|(tree, relations)| tree.relations = relations);
        for rank in 0..ask.n_best {
            // Where a sentence has fewer trees than asked for, its best one stands in, and what comes of it is dropped.
            let heads = |tree: &'_ Parsed| {
                tree.n_best.get(rank).map_or(tree.heads.clone(), |r| r.heads.clone())
            };
            let heads: Vec<Vec<u32>> = trees.iter().map(heads).collect();
            let found = self.relations(table, heads.iter().map(Vec::as_slice), ask);
            for (tree, relations) in trees.iter_mut().zip(found) {
                if let Some(ranked) = tree.n_best.get_mut(rank) {
                    ranked.relations = relations;
                }
            }
        }
        Ok(trees)
    }

    /// The trees without relations, or the sentence that has none.
    fn trees<F: Scalar>(
        &self,
        w: &[F],
        ask: &ParseAsk,
    ) -> Result<Vec<Parsed>, (usize, Infeasible)> {
        let problem = self.problem();
        let mut s = Structure::<F>::scratch(&problem);
        let (mut theta, mut mu) = (TreeParts::default(), TreeParts::default());
        let wants_sums = ask.proba || ask.by_arc || (ask.n_best > 0 && self.model.has_proba());
        let mut trees = Vec::with_capacity(self.which.len());
        for i in 0..self.which.len() {
            let at = |found: Infeasible| (i + self.which.start, found);
            problem.scores(i, w, F::ONE, &mut s, &mut theta);
            let log_z = match wants_sums {
                true => Some(problem.expect(i, &theta, Ask::Plain, &mut s, &mut mu).map_err(at)?),
                false => None,
            };
            let mut tree = Tree::default();
            problem.argmax(i, &mut theta, Ask::Plain, &mut s, &mut tree).map_err(at)?;
            if ask.by_arc {
                by_arc(&mu, problem.spec().kind.is_projective(), &mut tree.heads).map_err(at)?;
            }
            let score = problem.score(i, &theta, &tree);
            let probability = |score: f64| log_z.map(|z| (score - z).exp().min(1.0));
            let mut n_best = Vec::new();
            if ask.n_best > 0 {
                for (tree, score) in problem.k_best(i, &theta, ask.n_best, &mut s).map_err(at)? {
                    let (probability, Tree { heads, relations }) = (probability(score), tree);
                    n_best.push(RankedTree { heads, relations, score, probability });
                }
            }
            let Tree { heads, relations } = tree;
            trees.push(Parsed {
                relations,
                score,
                probability: probability(score).filter(|_| ask.proba),
                arcs: ask.proba.then(|| marginals(&mu, heads.len())),
                heads,
                n_best,
                tags: None,
            });
        }
        Ok(trees)
    }

    /// The relations of a tree for each sentence.
    fn relations<'h>(
        &self,
        table: &[f32],
        trees: impl Iterator<Item = &'h [u32]>,
        ask: &ParseAsk,
    ) -> Vec<Vec<u32>> {
        let model = self.model;
        let n = model.relations().len();
        let heads: Vec<u32> = trees.flatten().copied().collect();
        let problem = Relations::new(&model.templates, &self.sentences, &heads, n, RELATION_BITS);
        let mut theta = Vec::new();
        let mut relation = |word: usize| {
            let mut y = 0;
            problem.scores(word, table, 1.0, &mut (), &mut theta);
            // A word has one of n relations whatever the scores: there is always a best one.
            let _ = problem.argmax(word, &mut theta, Ask::Plain, &mut (), &mut y);
            y
        };
        let first = self.data.tokens(self.which.start).start;
        let known = |word: usize| {
            let (head, given) =
                (self.data.heads()[first + word], self.data.deprels()[first + word]);
            let holds = ask.known && given != NO_RELATION && (given as usize) < n;
            (holds && head == heads[word]).then_some(given)
        };
        let of_sentence = |i: usize| {
            self.sentences.words(i).map(|t| known(t).unwrap_or_else(|| relation(t))).collect()
        };
        (0..self.which.len()).map(of_sentence).collect()
    }

    /// A sentence without a tree, at its line.
    fn no_tree(&self, i: usize, found: Infeasible) -> Error {
        let message = format!(
            "no tree is possible for sentence {}: the known heads and the forbidden arcs exclude each other here",
            i + 1
        );
        self.data.error_at(i, found.at, message).into()
    }
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
