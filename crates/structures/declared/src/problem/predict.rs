//! What learnt weights answer: the best outputs, how sure each label is, and why.

use super::blocks::each_block;
use super::cache::{AnswerCache, Question};
use super::structure::known;
use crate::features::Vocabulary;
use crate::features::{each_feature, each_template};
use crate::ground::Ground;
use crate::inference::{
    Domains, NoSolution, Scratch, Solution, SolveOptions, conflict, k_best, max_marginals, solve,
};
use crate::language::Declaration;
use lineal_linalg::{SparseRows, kernels};
use std::fmt::Write;
use thiserror::Error;

/// Weights with what they mean.
#[derive(Clone, Copy, Debug)]
pub struct Predictor<'a> {
    declaration: &'a Declaration,
    vocabulary: &'a Vocabulary,
    w: &'a [f32],
    options: SolveOptions,
    cache: Option<&'a AnswerCache>,
}

/// An output. It has the labels of all variables in the order of [`Ground`].
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// The number of a label for each variable.
    pub labels: Vec<u32>,
    /// Its score.
    pub score: f64,
    /// No output that keeps the rules scores more than this. Above `score` only where a limit struck.
    pub upper: f64,
}

impl From<Solution> for Prediction {
    fn from(solution: Solution) -> Self {
        let Solution { labels, score, upper } = solution;
        Self { labels, score, upper }
    }
}

/// Why there is no output.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum PredictError {
    /// The numbers of rules that contradict each other, a smallest set where that could be found; nothing if what is known is impossible by itself.
    #[error("{message}")]
    Conflict {
        /// Numbers of rules of the declaration.
        rules: Vec<usize>,
        /// With lines and texts.
        message: String,
    },
    /// The limit struck before a legal output was met.
    #[error(
        "no legal output was found within the limit of nodes or seconds; raise it, or write fewer rules"
    )]
    Limit,
    /// Labels for other variables than the example has.
    #[error(
        "{given} known labels were given for {variables} variables, or a label that does not exist"
    )]
    Known {
        /// How many were given.
        given: usize,
        /// How many variables there are.
        variables: usize,
    },
}

/// Why a variable has its label.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The label that it has.
    pub label: u32,
    /// The best other label, by the score of the whole output; none if no other is possible.
    pub runner_up: Option<u32>,
    /// How much better the best output is than the best with another label.
    pub lead: Option<f64>,
    /// The label that it would have if it stood alone: by its own features, without factors and rules.
    pub alone: u32,
    /// The label that it would have without any rule.
    pub without_rules: u32,
    /// The rules without any one of which it would have the label `without_rules`; or, if no single one does it, those that the best output without rules breaks.
    pub rules: Vec<usize>,
    /// What each feature and factor says for the label against the runner-up (or against `alone` if there is none), the strongest first. With a runner-up they add up to the lead: what
    /// other variables add, which change along, is one of them.
    pub features: Vec<FeatureShare>,
}

/// The share of a feature in a lead.
#[derive(Clone, Debug, PartialEq)]
pub struct FeatureShare {
    /// The feature, or `factor NAME: …`.
    pub name: String,
    /// Weight of the label − weight of the other, times the value.
    pub share: f64,
}

impl<'a> Predictor<'a> {
    /// Weights must be as many as the vocabulary says.
    ///
    /// # Panics
    /// If they are not.
    pub fn new(
        declaration: &'a Declaration,
        vocabulary: &'a Vocabulary,
        w: &'a [f32],
        options: SolveOptions,
    ) -> Self {
        assert_eq!(w.len(), vocabulary.dim(), "as many weights as the vocabulary has");
        Self { declaration, vocabulary, w, options, cache: None }
    }

    /// Looks up best outputs of problems that were met before. With a limit of seconds nothing is looked up, since answers may then differ.
    pub fn with_cache(self, cache: &'a AnswerCache) -> Self {
        Self { cache: self.options.seconds.is_none().then_some(cache), ..self }
    }

    /// The scores of the parts of an example.
    pub fn scores(&self, ground: &Ground) -> Vec<f64> {
        let mut rows = SparseRows::new();
        self.vocabulary.encode(self.declaration, ground, &mut rows);
        let mut theta = vec![0.0; ground.program.n_parts()];
        let mut row = 0;
        each_block(self.declaration, self.vocabulary, ground, |parts, weights| {
            kernels::scores64(rows.row(row), &self.w[weights], &mut theta[parts]);
            row += 1;
        });
        theta
    }

    fn domains(
        &self,
        ground: &Ground,
        known_labels: &[Option<u32>],
    ) -> Result<Option<Domains>, PredictError> {
        if known_labels.is_empty() {
            return Ok(None);
        }
        let program = &ground.program;
        let fits = known_labels.len() == program.n_variables()
            && known_labels
                .iter()
                .enumerate()
                .all(|(v, l)| l.is_none_or(|l| (l as usize) < program.n_labels(v)));
        if !fits {
            return Err(PredictError::Known {
                given: known_labels.len(),
                variables: program.n_variables(),
            });
        }
        Ok(Some(known(program, known_labels)))
    }

    /// The best output that keeps the rules. `known` is empty, or has for each variable the label that it must have, or none.
    pub fn predict(
        &self,
        ground: &Ground,
        known: &[Option<u32>],
    ) -> Result<Prediction, PredictError> {
        let (theta, domains) = (self.scores(ground), self.domains(ground, known)?);
        let (program, domains) = (&ground.program, domains.as_ref());
        let solve = || solve(program, &theta, domains, &self.options, &mut Scratch::default());
        let max_nodes = self.options.max_nodes;
        let found = match self.cache {
            Some(cache) => {
                cache.answer(Question { program, theta: &theta, domains, max_nodes }, solve)
            }
            None => solve(),
        };
        found.map(Prediction::from).map_err(|why| self.refusal(ground, domains, why))
    }

    /// The `k` best outputs, best first.
    pub fn k_best(
        &self,
        ground: &Ground,
        known: &[Option<u32>],
        k: usize,
    ) -> Result<Vec<Prediction>, PredictError> {
        let (theta, domains) = (self.scores(ground), self.domains(ground, known)?);
        let found = k_best(
            &ground.program,
            &theta,
            domains.as_ref(),
            k,
            &self.options,
            &mut Scratch::default(),
        );
        let found = found.map_err(|why| self.refusal(ground, domains.as_ref(), why))?;
        Ok(found.into_iter().map(Prediction::from).collect())
    }

    /// By variable: how much worse the best output with another label is. Infinite where no other label is possible.
    pub fn margins(
        &self,
        ground: &Ground,
        known: &[Option<u32>],
    ) -> Result<Vec<f64>, PredictError> {
        let (theta, domains) = (self.scores(ground), self.domains(ground, known)?);
        let program = &ground.program;
        let found = max_marginals(
            program,
            &theta,
            domains.as_ref(),
            &self.options,
            &mut Scratch::default(),
        );
        let found = found.map_err(|why| self.refusal(ground, domains.as_ref(), why))?;
        let margin = |v: usize| {
            let of = &found[program.start(v)..program.start(v + 1)];
            let (best, most) = crate::inference::first_best(of);
            most - best_other(of, best).map_or(f64::NEG_INFINITY, |(_, score)| score)
        };
        Ok((0..program.n_variables()).map(margin).collect())
    }

    /// How often the best output without rules breaks one.
    pub fn violations(&self, ground: &Ground) -> Result<usize, PredictError> {
        let theta = self.scores(ground);
        let free = solve(&ground.free, &theta, None, &self.options, &mut Scratch::default())
            .map_err(|_| PredictError::Limit)?;
        Ok(ground.program.constraints().iter().filter(|c| !c.holds(&free.labels)).count())
    }

    fn refusal(&self, ground: &Ground, domains: Option<&Domains>, why: NoSolution) -> PredictError {
        if why == NoSolution::Limit {
            return PredictError::Limit;
        }
        let rules = conflict(&ground.program, domains, &self.options).unwrap_or_default();
        let mut message = match rules.len() {
            0 => "the known labels are impossible".to_owned(),
            1 => "no output keeps this rule:".to_owned(),
            n => format!("no output keeps these {n} rules together:"),
        };
        for &rule in &rules {
            let rule = &self.declaration.rules[rule];
            // Writing to a string does not fail.
            let _ = write!(message, "\n  line {}: {}", rule.line, rule.text);
        }
        PredictError::Conflict { rules, message }
    }

    /// Why a variable has its label in the best output.
    ///
    /// # Panics
    /// If there is no such variable.
    pub fn explain(&self, ground: &Ground, variable: usize) -> Result<Explanation, PredictError> {
        let (theta, program) = (self.scores(ground), &ground.program);
        let mut s = Scratch::default();
        let found = solve(program, &theta, None, &self.options, &mut s)
            .map_err(|why| self.refusal(ground, None, why))?;
        let label = found.labels[variable];
        let parts = program.start(variable)..program.start(variable + 1);
        let alone = crate::inference::first_best(&theta[parts.clone()]).0 as u32;
        let mut others = Domains::full(program);
        others.exclude(program, variable, label as usize);
        let second = match solve(program, &theta, Some(&others), &self.options, &mut s) {
            Ok(second) => Some(second),
            Err(NoSolution::Infeasible) => None,
            Err(NoSolution::Limit) => return Err(PredictError::Limit),
        };
        let free = solve(&ground.free, &theta, None, &self.options, &mut s)
            .map_err(|_| PredictError::Limit)?;
        let without_rules = free.labels[variable];
        let mut rules = Vec::new();
        if without_rules != label {
            for rule in 0..self.declaration.rules.len() {
                let fewer = program.with_constraints(&|c| c.rule != rule);
                let solved = solve(&fewer, &theta, None, &self.options, &mut s);
                // A rule that costs nothing may only have broken a tie another way.
                let binds =
                    |other: &Solution| other.score > found.score + 1e-9 * (1.0 + found.score.abs());
                if solved
                    .is_ok_and(|other| binds(&other) && other.labels[variable] == without_rules)
                {
                    rules.push(rule);
                }
            }
            if rules.is_empty() {
                let broken = program.constraints().iter().filter(|c| !c.holds(&free.labels));
                rules = broken.map(|c| c.rule).collect();
                rules.dedup();
            }
        }
        let other = second.as_ref().map_or(alone, |second| second.labels[variable]);
        let rival = second.as_ref().map_or(&free.labels, |second| &second.labels);
        let lead = second.as_ref().map(|second| found.score - second.score);
        let mut features = self.shares(ground, variable, [label, other], [&found.labels, rival]);
        if let Some(lead) = lead {
            // What the variables that change along add.
            let share = lead - features.iter().map(|feature| feature.share).sum::<f64>();
            if share.abs() > 1e-9 * (1.0 + lead.abs()) {
                let name = "variables that change along".to_owned();
                features.push(FeatureShare { name, share });
                features.sort_by(|a, b| b.share.abs().total_cmp(&a.share.abs()));
            }
        }
        Ok(Explanation {
            label,
            runner_up: second.as_ref().map(|second| second.labels[variable]),
            lead,
            alone,
            without_rules,
            rules,
            features,
        })
    }

    /// What the features of a variable, and of the factors around it, say for one label against another.
    fn shares(
        &self,
        ground: &Ground,
        variable: usize,
        [label, other]: [u32; 2],
        [found, rival]: [&[u32]; 2],
    ) -> Vec<FeatureShare> {
        let mut shares: Vec<FeatureShare> = Vec::new();
        let kind = ground.kinds[variable] as usize;
        let mut add =
            |block: usize, name: &str, label: usize, other: usize, value: f32, prefix: &str| {
                let Some(number) = self.vocabulary.number(block, name) else { return };
                let (start, _, n_labels) = self.vocabulary.block(block);
                let w = &self.w[start + number as usize * n_labels..][..n_labels];
                let share = f64::from(w[label] - w[other]) * f64::from(value);
                if share != 0.0 {
                    let name = name.rsplit_once('#').map_or(name, |(name, _)| name);
                    shares.push(FeatureShare { name: format!("{prefix}{name}"), share });
                }
            };
        let templates = &self.declaration.variables[kind].templates;
        each_feature(self.declaration, ground, variable, templates, &mut |name, value| {
            add(kind, name, label as usize, other as usize, value, "");
        });
        for (factor, table) in ground.factors.iter().zip(ground.program.tables()) {
            if !table.scope.contains(&(variable as u32)) {
                continue;
            }
            let [a, b] =
                [found, rival].map(|labels| ground.program.cell(table, labels) - table.start);
            let declared = &self.declaration.factors[factor.factor];
            let block = self.declaration.variables.len() + declared.weights_of;
            let templates = &self.declaration.factors[declared.weights_of].templates;
            let prefix = format!("factor {}: ", declared.name);
            each_template(
                self.declaration,
                ground,
                factor.subject as usize,
                templates,
                &mut |name, value| {
                    add(block, name, a, b, value, &prefix);
                },
            );
        }
        shares.sort_by(|a, b| b.share.abs().total_cmp(&a.share.abs()));
        shares
    }
}

/// The best of the others.
fn best_other(scores: &[f64], best: usize) -> Option<(usize, f64)> {
    let others = scores
        .iter()
        .copied()
        .enumerate()
        .filter(|(l, score)| *l != best && *score > f64::NEG_INFINITY);
    others.max_by(|a, b| a.1.total_cmp(&b.1))
}
