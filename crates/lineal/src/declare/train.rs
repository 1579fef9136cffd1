//! From a declaration and labelled examples to a certified model.

use super::data::DeclaredData;
use super::metrics::DeclaredMetrics;
use super::model::{DeclaredAnswer, DeclaredModel};
use super::spec::DeclaredSpec;
use crate::Error;
use crate::request::spec::{SolverKind, Task, TrainSpec};
use crate::structured::{Counts, Header, Metric, fit, train_and_held_out};
use crate::train::report::{Report, StructuredReport};
use crate::train::{Trainable, Training};
use lineal_data::DeclaredExample;
use lineal_declared::{Ground, Predictor, Problem, ProblemOptions, Rivals, Vocabulary};
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
        report.warnings.extend(never_found(data));
        report.warnings.extend(illegal_labels(data, &illegal));
        let header = Header::new(spec, &report, &data.source);
        Ok((DeclaredModel::new(declaration.clone(), vocabulary, weights, header), report))
    }
}

/// What the declaration names and no example has: fields of links and columns of tokens.
fn never_found(data: &DeclaredData) -> Vec<String> {
    let examples = || (0..data.len()).map(|i| data.raw(i));
    let mut said = Vec::new();
    for kind in data.declaration().variables() {
        let records = || {
            let lists = examples().flat_map(|example| &example.lists);
            lists.filter(|(name, _)| *name == kind.source).flat_map(|(_, records)| records)
        };
        for link in kind.links.iter().filter(|_| records().next().is_some()) {
            if !records().any(|record| record.fields.iter().any(|(name, _)| *name == link.name)) {
                said.push(format!(
                    "no object of `{}` has the field `{}`, a link of {}: rules and factors that follow it are not asked for anywhere",
                    kind.source, link.name, kind.name
                ));
            }
        }
    }
    for column in data.declaration().columns() {
        let has =
            |example: &DeclaredExample| example.columns.iter().any(|(name, _)| *name == column);
        if !examples().any(has) {
            said.push(format!(
                "no example has the column `{column}`, which templates of features ask for: they find nothing"
            ));
        }
    }
    said
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
            "the labels of {who} (first: {}:{first}) break the rule in line {} (`{}`): they count as right in training, are never predicted, and a gap of spec.solver = dual stays above 0",
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
        Ok(_) => {
            "its scores are too large to be numbers; choose a smaller spec.penalty.c".to_owned()
        }
    };
    lineal_data::Error::at_line(&data.source, data.raw(example).line, why).into()
}

/// Sees that the choices fit each other and the data.
fn check(spec: &TrainSpec, data: &DeclaredData) -> Result<(), Error> {
    let refuse = |why: &str| Err(Error::request(why));
    spec.check_without_sums("outputs that keep the rules")?;
    if spec.solver == SolverKind::Dual && !data.iter().all(Ground::is_whole) {
        return refuse(
            "some labels are not known, and then the loss has no dual: choose spec.solver = sgd, or leave it out",
        );
    }
    if spec.cost.is_some() {
        return refuse("spec.cost has no place here: say `cost NAME NUMBER` in the declaration");
    }
    if data.declaration().text() != spec.declared.declaration {
        return refuse("the declaration of the spec is not the one that the data was read with");
    }
    match data.has_labels() {
        true => Ok(()),
        false => {
            let fields = data.declaration().variables().iter().filter(|kind| kind.labels.len() > 1);
            let fields: Vec<String> =
                fields.map(|kind| format!("`{}` of `{}`", kind.label_field, kind.source)).collect();
            Err(Error::request(format!(
                "{}: there are no labels to learn from: no object has the field {}; say `by FIELD` in the declaration",
                data.source,
                fields.join(", or ")
            )))
        }
    }
}
