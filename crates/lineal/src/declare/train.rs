//! From a declaration and labelled examples to a certified model.

use super::data::DeclaredData;
use super::metrics::DeclaredMetrics;
use super::model::{DeclaredAnswer, DeclaredModel};
use super::spec::DeclaredSpec;
use crate::Error;
use crate::request::spec::{LossKind, Task, TrainSpec};
use crate::structured::{Counts, Header, Metric, fit, train_and_held_out};
use crate::train::report::{Report, StructuredReport};
use crate::train::{Trainable, Training};
use lineal_declared::{Predictor, Problem, ProblemOptions, Rivals, Vocabulary};
use lineal_erm::structured::{LearnError, learn_max};
use lineal_model::chunks::in_chunks;
use std::collections::BTreeMap;

impl From<DeclaredSpec> for TrainSpec {
    /// Declared structures with these choices and the defaults of everything else.
    fn from(declared: DeclaredSpec) -> Self {
        Self { declared, ..Self::for_task(Task::Declared) }
    }
}

impl Trainable for DeclaredData {
    type Model = DeclaredModel;

    fn is_for(task: Task) -> bool {
        task == Task::Declared
    }

    fn train(run: Training<'_, Self>) -> Result<(DeclaredModel, Report), Error> {
        let Training { data, spec, held_out, start, on_pass, .. } = run;
        check(spec, data)?;
        let (data, held_out) = train_and_held_out(data, held_out, spec)?;
        let data = &*data;
        let declaration = data.declaration();
        let choice = &spec.declared;
        let vocabulary = Vocabulary::learn(declaration, data.grounds(), choice.min_count);
        let rivals = if choice.local { Rivals::Free } else { Rivals::Legal };
        let options = ProblemOptions { rivals, solve: choice.solving() };
        let problem = Problem::new(declaration, &vocabulary, data.grounds(), options);
        let illegal = problem.illegal_gold();
        let learning = spec.learning(data.len() as f64)?;
        let start = start.map(|old| old.start(declaration, &vocabulary)).transpose()?;
        let metric = held_out.as_deref().map(|held_out| -> Metric<'_> {
            let (vocabulary, solve) = (&vocabulary, choice.solving());
            Box::new(move |w| {
                let predictor = Predictor::new(declaration, vocabulary, w, solve);
                let answers = in_chunks(
                    held_out.len(),
                    || (),
                    |(), which| which.map(|i| answer(&predictor, held_out, i)).collect::<Vec<_>>(),
                );
                Ok(DeclaredMetrics::new(held_out, &answers.concat())?.accuracy)
            })
        });
        let mut run = fit(spec, on_pass, metric, |see| {
            learn_max(&problem, &learning.request, start, see).map_err(|error| match error {
                LearnError::Infeasible { example, .. } => {
                    infeasible(data, example, &vocabulary, choice)
                }
                error => error.into(),
            })
        })?;
        let weights = std::mem::take(&mut run.w);
        let n_features: usize = vocabulary.hashes().iter().map(|hashes| hashes.len()).sum();
        let kinds = declaration.variables();
        let counts = Counts {
            examples: data.len(),
            features: n_features,
            classes: kinds.iter().map(|kind| kind.labels.len()).sum(),
        };
        let more = StructuredReport {
            tokens: data.n_variables(),
            weights: weights.len(),
            ..StructuredReport::default()
        };
        let mut report = run.report(spec, &learning, counts, more);
        for (kind, hashes) in kinds.iter().zip(vocabulary.hashes()) {
            // The bias is always there.
            if !kind.templates.is_empty() && hashes.len() <= 1 {
                report.warnings.push(format!(
                    "the templates of {} found nothing: do the examples have their columns, and the objects of `{}` the fields start and end?",
                    kind.name, kind.source
                ));
            }
        }
        report.warnings.extend(illegal_labels(data, &illegal));
        let header = Header::new(spec, &report, &data.source);
        Ok((DeclaredModel::new(declaration.clone(), vocabulary, weights, header), report))
    }
}

/// What to say of gold labels that break rules: which rules, how often, and where first.
fn illegal_labels(data: &DeclaredData, illegal: &[(usize, Vec<usize>)]) -> Vec<String> {
    let mut by_rule: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (example, rules) in illegal {
        rules.iter().for_each(|&rule| by_rule.entry(rule).or_default().push(*example));
    }
    let one = |(rule, examples): (usize, Vec<usize>)| {
        let rule = &data.declaration().rules()[rule];
        let first = data.raw(examples[0]).line;
        let who = match examples.len() {
            1 => "one training example".to_owned(),
            n => format!("{n} training examples"),
        };
        format!(
            "the labels of {who} (first: {}:{first}) break the rule in line {} (`{}`): they count as right in training, are never predicted, and a gap of --solver dual stays above 0",
            data.source, rule.line, rule.text
        )
    };
    by_rule.into_iter().map(one).collect()
}

/// The best output, or none where there is none.
fn answer(predictor: &Predictor<'_>, data: &DeclaredData, i: usize) -> DeclaredAnswer {
    let ground = data.get(i);
    match predictor.predict(ground, &[]) {
        Ok(best) => DeclaredAnswer { labels: best.labels, score: best.score, ..Default::default() },
        // Without an output everything is wrong.
        Err(_) => {
            let wrong = |(v, gold): (usize, &Option<u32>)| {
                (gold.unwrap_or(0) + 1) % ground.program.n_labels(v) as u32
            };
            let labels = ground.gold.iter().enumerate().map(wrong).collect();
            DeclaredAnswer { labels, ..Default::default() }
        }
    }
}

/// An example without a legal output, at its line, with the rules that are to blame.
fn infeasible(
    data: &DeclaredData,
    example: usize,
    vocabulary: &Vocabulary,
    choice: &DeclaredSpec,
) -> Error {
    let zeros = vec![0.0; vocabulary.dim()];
    let predictor = Predictor::new(data.declaration(), vocabulary, &zeros, choice.solving());
    let why = match predictor.predict(data.get(example), &[]) {
        Err(error) => error.to_string(),
        Ok(_) => "its known labels and the rules exclude each other".to_owned(),
    };
    lineal_data::Error::at_line(&data.source, data.raw(example).line, why).into()
}

/// Sees that the choices fit each other and the data.
fn check(spec: &TrainSpec, data: &DeclaredData) -> Result<(), Error> {
    let refuse = |why: &str| Err(Error::request(why));
    if spec.loss == Some(LossKind::Logistic) {
        return refuse(
            "--loss logistic needs a sum over all outputs that keep the rules, which nobody can compute: choose hinge (structured SVM) or perceptron",
        );
    }
    if spec.cost.is_some() {
        return refuse("--cost has no place here: say `cost NAME NUMBER` in the declaration");
    }
    if data.declaration().text() != spec.declared.declaration {
        return refuse("the declaration of the spec is not the one that the data was read with");
    }
    match data.has_labels() {
        true => Ok(()),
        false => Err(Error::request(format!("{}: there are no labels to learn from", data.source))),
    }
}
