//! What a run over a stream can be asked for, and what it cannot do.

use crate::Error;
use crate::request::cost::NamedCost;
use crate::request::spec::{
    ClassWeight, LossKind, PairKind, Penalty, ReductionSpec, ScheduleKind, SgdSpec, SolverKind,
    Strategy, Task, TrainSpec, UpdateKind,
};
use lineal_model::Bias;
use serde::{Deserialize, Serialize};

/// Everything about a training run over a stream except the data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StreamSpec {
    /// What is predicted.
    pub task: Task,
    /// The loss; by default logistic for classes and labels, squared for numbers, and for classes of text that of [`TrainSpec::for_text`].
    pub loss: Option<LossKind>,
    /// Sum over all violating classes instead of taking the worst one.
    pub sum: bool,
    /// How several classes become problems: `joint`, `ova` or `ovo`; by default `joint`, and `ova` for text. Codes and trees are made for all classes at once, and new ones
    /// may come.
    pub strategy: Option<Strategy>,
    /// `ovo`: how the pairwise decisions are combined.
    pub pairs: PairKind,
    /// Costs of mistakes. Only the classes that they name can occur.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<NamedCost>,
    /// The constant that is added to every score.
    pub bias: Bias,
    /// λ of mean loss + (λ/2)‖W‖²: a step shrinks the weights by 1 − ηλ.
    pub l2: f64,
    /// How a gradient becomes a step; by default `adagrad` where features are made of text, which are of one scale, else `normalised`.
    pub update: Option<UpdateKind>,
    /// η; by default ½, and for plain updates 1 for the perceptron, else 1 / (the loss's curvature × the mean squared norm of the first rows).
    pub rate: Option<f64>,
    /// How η decreases; by default inverse for plain updates (constant for the perceptron), and constant for the other two rules.
    pub schedule: Option<ScheduleKind>,
    /// Keep the mean of the weights over the steps of the last pass.
    pub average: bool,
    /// Take the rows of a chunk in a random order.
    pub shuffle: bool,
    /// Factors on classes by name; `balanced` needs counts that a stream does not have.
    pub class_weight: ClassWeight,
    /// Where Huber's loss turns linear.
    pub delta: f64,
    /// Half the width of the epsilon-insensitive tube.
    pub epsilon: f64,
    /// The seed of the order of rows.
    pub seed: u64,
    /// Rows that are in memory, and are shuffled, at a time; by default 4,096, and 16,384 where features are made of text, whose rows are short and whose files often come
    /// sorted by class.
    pub rows_per_chunk: Option<usize>,
    /// The number of first rows from which columns and their types are learnt.
    pub sample_rows: usize,
}

impl Default for StreamSpec {
    fn default() -> Self {
        Self {
            task: Task::Classify,
            loss: None,
            sum: false,
            strategy: None,
            pairs: ReductionSpec::default().pairs,
            cost: None,
            bias: Bias::Free,
            l2: 0.0,
            update: None,
            rate: None,
            schedule: None,
            average: false,
            shuffle: true,
            class_weight: ClassWeight::Equal,
            delta: 1.0,
            epsilon: 0.1,
            seed: 0,
            rows_per_chunk: None,
            sample_rows: 20_000,
        }
    }
}

impl StreamSpec {
    /// The loss that it means.
    pub fn loss(&self) -> LossKind {
        self.loss.unwrap_or(match self.task {
            Task::Regress => LossKind::Squared,
            _ => LossKind::Logistic,
        })
    }

    /// The strategy that it means: labels are asked for one by one.
    pub fn strategy(&self) -> Strategy {
        match self.task {
            Task::Multilabel => Strategy::Ova,
            _ => self.strategy.unwrap_or(Strategy::Joint),
        }
    }

    /// The same in the terms of a run over data in memory.
    pub(super) fn as_train_spec(&self) -> TrainSpec {
        TrainSpec {
            task: self.task,
            loss: self.loss,
            sum: self.sum,
            strategy: self.strategy(),
            reduction: ReductionSpec { pairs: self.pairs, ..ReductionSpec::default() },
            cost: self.cost.as_ref().map(|cost| cost.matrix.clone()),
            solver: SolverKind::Sgd,
            penalty: Penalty::L2(self.l2),
            bias: self.bias,
            sgd: SgdSpec {
                rate: self.rate,
                schedule: self.schedule,
                average: Some(self.average),
                shuffle: self.shuffle,
                ..SgdSpec::default()
            },
            class_weight: self.class_weight.clone(),
            delta: self.delta,
            epsilon: self.epsilon,
            seed: self.seed,
            ..TrainSpec::default()
        }
    }
}

/// What a stream cannot do.
pub(super) fn check(spec: &StreamSpec) -> Result<(), Error> {
    let fail = |message: &str| Err(Error::request(message));
    let loss = spec.loss();
    let of_numbers = matches!(loss, LossKind::Huber | LossKind::Epsilon);
    match spec.task {
        Task::Regress if !of_numbers && loss != LossKind::Squared => {
            return Err(Error::request(format!(
                "the {loss} loss is for classes; for spec.task = regress use squared, huber or epsilon"
            )));
        }
        Task::Classify | Task::Multilabel if of_numbers => {
            return Err(Error::request(format!(
                "the {loss} loss is for numbers: add spec.task = regress, or use another spec.loss"
            )));
        }
        Task::Multilabel if loss == LossKind::Squared => {
            return fail(
                "spec.task = multilabel takes hinge, squared-hinge, logistic or perceptron",
            );
        }
        _ => {}
    }
    let strategy = spec.strategy();
    let by_columns = spec.task == Task::Classify && strategy != Strategy::Joint;
    match strategy {
        Strategy::Joint | Strategy::Ova | Strategy::Ovo => {}
        Strategy::Ecoc | Strategy::Tree => {
            return Err(Error::request(format!(
                "a stream has the strategies joint, ova and ovo: for {} all classes must be known before it starts, and new ones may come",
                strategy
            )));
        }
    }
    if strategy != Strategy::Joint && spec.task == Task::Regress {
        return fail("spec.strategy is about classes; spec.task = regress has none");
    }
    if by_columns && (loss == LossKind::Squared || spec.sum) {
        return Err(Error::request(format!(
            "spec.strategy = {strategy} takes hinge, squared-hinge, logistic or perceptron, without spec.sum"
        )));
    }
    if spec.cost.is_some() && spec.task != Task::Classify {
        return fail("spec.cost is between classes: leave it out, or say spec.task = classify");
    }
    if spec.cost.is_some() && matches!(loss, LossKind::Perceptron | LossKind::Squared) {
        return Err(Error::request(format!(
            "the {loss} loss has no place for a cost; use hinge, squared-hinge or logistic"
        )));
    }
    if spec.sum && (matches!(loss, LossKind::Logistic | LossKind::Squared) || of_numbers) {
        return fail("spec.sum is a form of perceptron, hinge and squared-hinge");
    }
    if spec.class_weight == ClassWeight::Balanced {
        return fail(
            "spec.class_weight = balanced needs to count the classes first; name the weights: a=2,b=1",
        );
    }
    if spec.class_weight != ClassWeight::Equal && spec.task != Task::Classify {
        return fail("spec.class_weight is for one class per row");
    }
    if spec.schedule == Some(ScheduleKind::Pegasos) && spec.l2 <= 0.0 {
        return fail("the pegasos schedule 1/(l2·t) needs an l2 penalty: give spec.l2 above 0");
    }
    for (name, value) in [("spec.l2", spec.l2), ("spec.epsilon", spec.epsilon)] {
        if !(value.is_finite() && value >= 0.0) {
            return Err(Error::request(format!("{name} must be a number ≥ 0, not {value}")));
        }
    }
    for (name, value) in [("spec.rate", spec.rate.unwrap_or(1.0)), ("spec.delta", spec.delta)] {
        if !(value.is_finite() && value > 0.0) {
            return Err(Error::request(format!("{name} must be a number above 0, not {value}")));
        }
    }
    Ok(())
}
