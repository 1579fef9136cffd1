//! Does the spec fit the data and itself? And which solver will run?

use crate::Error;
use crate::predict::layout;
use crate::request::spec::{
    ClassWeight, LossKind, Penalty, ScheduleKind, SolverKind, Strategy, Task, Threshold, TrainSpec,
};
use lineal_data::{Dataset, Targets, UNSEEN};
use lineal_erm::columns;
use lineal_erm::newton::newton_pays;
use lineal_linalg::Matrix;

/// A request that fits its data.
pub(crate) struct Request {
    pub loss: LossKind,
    /// 0 for regression.
    pub n_classes: usize,
    /// The loss is differentiable (once at least), so that `gd`, `newton` and `lbfgs` take it.
    smooth: bool,
    /// Binary problems side by side, not one over all classes.
    pub by_columns: bool,
    /// And these in the nodes of a tree.
    pub is_tree: bool,
}

/// A threshold is for labels, or for two classes.
fn check_threshold(spec: &TrainSpec, n_classes: usize) -> Result<(), Error> {
    if spec.threshold == Threshold::Half || spec.task == Task::Multilabel {
        return Ok(());
    }
    if spec.task != Task::Classify || n_classes != 2 {
        let has = match spec.task {
            Task::Classify => format!("{n_classes} classes"),
            _ => "numbers".to_owned(),
        };
        return Err(Error::request(format!(
            "spec.threshold is for two classes, or for spec.task = multilabel, and the data has {has}; leave it out"
        )));
    }
    if spec.threshold == Threshold::MicroF1 {
        return Err(Error::request(
            "spec.threshold = micro-f1 is for spec.task = multilabel; of two classes say auto, f1, macro-f1, cost:FP,FN or a probability",
        ));
    }
    if spec.cost.is_some() {
        return Err(Error::request(
            "spec.threshold and spec.cost both say how classes weigh against each other: give one of them",
        ));
    }
    Ok(())
}

impl Request {
    pub(crate) fn n_outputs(&self) -> usize {
        if self.n_classes > 2 || self.by_columns { self.n_classes } else { 1 }
    }

    /// Whether the loss is differentiable.
    pub(crate) fn is_smooth(&self) -> bool {
        self.smooth
    }

    pub(crate) fn check(data: &Dataset, spec: &TrainSpec) -> Result<Self, Error> {
        let fail = |message: String| Err(Error::Request(message));
        let n_classes = match (spec.task, &data.y) {
            (Task::Classify, Targets::Classes(y)) => {
                if y.contains(&UNSEEN) {
                    return fail(format!("{}: labels that the schema does not have", data.source));
                }
                match data.schema.classes.as_slice() {
                    [] | [_] => {
                        let only = data.schema.classes.first().map_or("", |c| c);
                        return fail(format!(
                            "{}: every row has the label `{only}`; a classifier needs at least two classes (is the label \
                             column right? see options.label)",
                            data.source
                        ));
                    }
                    classes => classes.len(),
                }
            }
            (Task::Multilabel, Targets::Labels(labels)) => {
                if labels.ids().contains(&UNSEEN) {
                    return fail(format!("{}: labels that the schema does not have", data.source));
                }
                if data.schema.classes.is_empty() {
                    return fail(format!(
                        "{}: no row has a label; is the label column right? (see options.label)",
                        data.source
                    ));
                }
                data.schema.classes.len()
            }
            (Task::Regress, Targets::Real(_)) => 0,
            (_, Targets::None) => {
                return fail(format!(
                    "{}: no labels to learn from (see options.label)",
                    data.source
                ));
            }
            (Task::Classify, Targets::Labels(_)) => {
                return fail(format!(
                    "{}: rows have lists of labels; add spec.task = multilabel",
                    data.source
                ));
            }
            (task, _) => {
                return fail(format!(
                    "{}: the labels were not read for spec.task = {task}",
                    data.source
                ));
            }
        };
        let loss = spec.loss.unwrap_or(match spec.task {
            Task::Regress => LossKind::Squared,
            _ => LossKind::Logistic,
        });
        let of_numbers = matches!(loss, LossKind::Squared | LossKind::Huber | LossKind::Epsilon);
        match spec.task {
            Task::Regress if !of_numbers => {
                return fail(format!(
                    "the {loss} loss is for classes; for spec.task = regress use squared, huber or epsilon"
                ));
            }
            Task::Classify | Task::Multilabel if of_numbers && loss != LossKind::Squared => {
                return fail(format!(
                    "the {loss} loss is for numbers: add spec.task = regress, or use another spec.loss"
                ));
            }
            _ => {}
        }
        let by_columns = layout::by_columns(spec, n_classes);
        let is_tree = by_columns && spec.strategy == Strategy::Tree;
        let smooth = match loss {
            LossKind::Logistic | LossKind::Squared | LossKind::Huber => true,
            LossKind::SquaredHinge => n_classes == 2 || spec.sum || by_columns,
            _ => false,
        };
        let request = Self { loss, n_classes, smooth, by_columns, is_tree };
        request.check_numbers(spec)?;
        if by_columns {
            request.check_columns(spec)?;
        }
        if let Some(cost) = &spec.cost {
            if n_classes == 0 {
                return fail("costs are between classes; spec.task = regress has none".into());
            }
            if cost.n_classes() != n_classes {
                return fail(format!(
                    "the cost matrix has {} classes, the data {n_classes}",
                    cost.n_classes()
                ));
            }
            if matches!(loss, LossKind::Perceptron | LossKind::Squared) {
                return fail(format!(
                    "the {loss} loss has no place for a cost; use hinge, squared-hinge or logistic"
                ));
            }
        }
        if let ClassWeight::Named(named) = &spec.class_weight
            && let Some((name, _)) = named.iter().find(|(c, _)| !data.schema.classes.contains(c))
        {
            let known: Vec<&str> =
                data.schema.classes.iter().take(10).map(String::as_str).collect();
            return fail(format!(
                "spec.class_weight: `{name}` is not a class; the classes are {}",
                known.join(", ")
            ));
        }
        check_threshold(spec, n_classes)?;
        if !(2..=100).contains(&spec.folds) {
            return fail(format!("spec.folds must be from 2 to 100, not {}", spec.folds));
        }
        if spec.class_weight != ClassWeight::Equal && n_classes == 0 {
            return fail("spec.class_weight needs classes; spec.task = regress has none".into());
        }
        if spec.sum && matches!(loss, LossKind::Logistic | LossKind::Squared) {
            return fail(format!(
                "spec.sum is for perceptron, hinge and squared-hinge; the {loss} loss has only one form"
            ));
        }
        if spec.hard_margin {
            if n_classes == 0 {
                return fail(
                    "spec.hard_margin separates classes; spec.task = regress has none".into(),
                );
            }
            if spec.loss.is_some_and(|l| l != LossKind::Hinge)
                || !matches!(spec.solver, SolverKind::Auto | SolverKind::Dual)
            {
                return fail("spec.hard_margin replaces the loss and runs in the dual: leave out spec.loss and spec.solver".into());
            }
            if spec.class_weight != ClassWeight::Equal || data.weights.is_some() {
                return fail("spec.hard_margin requires every margin, so weights of examples or classes have no effect; leave them out".into());
            }
            return Ok(Self { loss: LossKind::Hinge, ..request });
        }
        Ok(request)
    }

    /// What binary problems side by side cannot do.
    fn check_columns(&self, spec: &TrainSpec) -> Result<(), Error> {
        let (strategy, loss) = (spec.strategy, self.loss);
        let fail = |message: String| Err(Error::Request(message));
        if spec.task == Task::Multilabel {
            if matches!(strategy, Strategy::Ovo | Strategy::Ecoc) {
                return fail(format!(
                    "spec.task = multilabel asks each label alone (spec.strategy = ova) or in a label tree (spec.strategy = tree); {strategy} is \
                     for one class per row"
                ));
            }
            if spec.cost.is_some() {
                return fail(
                    "spec.cost is between classes; for labels say spec.threshold = cost:FP,FN"
                        .into(),
                );
            }
            if spec.class_weight != ClassWeight::Equal {
                return fail("spec.class_weight is for one class per row; weigh the rows, or move the spec.threshold".into());
            }
        }
        if loss == LossKind::Squared {
            return fail(format!(
                "spec.strategy = {strategy} takes hinge, squared-hinge, logistic or perceptron; least squares treats classes one by one \
                 in spec.strategy = joint already"
            ));
        }
        if spec.sum {
            return fail(format!(
                "spec.sum is for the joint loss; leave it out with spec.strategy = {strategy}"
            ));
        }
        if spec.hard_margin {
            return fail(format!("spec.hard_margin is for spec.strategy = joint, not {strategy}"));
        }
        if self.is_tree && !matches!(spec.solver, SolverKind::Auto | SolverKind::Dual) {
            return fail(format!(
                "a label tree is trained by spec.solver = dual, not {}",
                spec.solver
            ));
        }
        if self.is_tree && loss == LossKind::Perceptron {
            return fail(
                "a label tree is trained in the dual, where a penalised perceptron ends at 0: use hinge, squared-hinge or logistic"
                    .into(),
            );
        }
        if self.is_tree && (spec.penalty == Penalty::L2(0.0) || spec.l1 > 0.0) {
            return fail("a label tree is trained in the dual, which needs an l2 penalty and no l1: give spec.penalty.c or spec.penalty.l2 above 0".into());
        }
        if self.is_tree && spec.reduction.leaf_size == Some(0) || spec.reduction.beam == 0 {
            return fail(
                "spec.reduction.leaf_size and spec.reduction.beam must be at least 1".into(),
            );
        }
        Ok(())
    }

    fn check_numbers(&self, spec: &TrainSpec) -> Result<(), Error> {
        let positive = |name: &str, v: f64| {
            if v.is_finite() && v > 0.0 {
                Ok(())
            } else {
                Err(Error::request(format!("{name} must be a number above 0, not {v}")))
            }
        };
        match spec.penalty {
            Penalty::C(c) => positive("spec.penalty.c", c)?,
            Penalty::L2(l2) if l2.is_finite() && l2 >= 0.0 => {}
            Penalty::L2(l2) => {
                return Err(Error::request(format!(
                    "spec.penalty.l2 must be a number ≥ 0, not {l2}"
                )));
            }
        }
        if !(spec.l1.is_finite() && spec.l1 >= 0.0) {
            return Err(Error::request(format!("spec.l1 must be a number ≥ 0, not {}", spec.l1)));
        }
        positive("spec.tol", spec.tol)?;
        positive("spec.delta", spec.delta)?;
        if !(spec.epsilon.is_finite() && spec.epsilon >= 0.0) {
            return Err(Error::request(format!(
                "spec.epsilon must be a number ≥ 0, not {}",
                spec.epsilon
            )));
        }
        for rate in [spec.gd_step, spec.sgd.rate].into_iter().flatten() {
            positive("spec.sgd.rate", rate)?;
        }
        if !(0.0..1.0).contains(&spec.validation) {
            return Err(Error::request(format!(
                "spec.validation must be a share below 1, not {}",
                spec.validation
            )));
        }
        Ok(())
    }

    /// The solver that will run: the one asked for if it can, the fastest that certifies for `auto`. If each pass is `watched`, say by held-out rows, it is one that has passes over all weights.
    pub(crate) fn solver(
        &self,
        spec: &TrainSpec,
        l2: f64,
        x: &Matrix,
        watched: bool,
    ) -> Result<SolverKind, Error> {
        let form = if self.loss == LossKind::SquaredHinge && !self.smooth {
            " (max form; spec.sum is smooth)"
        } else {
            ""
        };
        let needs_smooth = |who: &str| {
            if self.smooth {
                Ok(())
            } else {
                Err(Error::request(format!(
                    "{who} needs a smooth loss; {}{form} is not: use spec.solver = dual or sgd",
                    self.loss
                )))
            }
        };
        if spec.hard_margin {
            return Ok(SolverKind::Dual);
        }
        if let Some(why) = lineal_erm::Penalty::refusal(l2) {
            return Err(Error::request(why));
        }
        if spec.l1 > 0.0 {
            needs_smooth("an l1 penalty (OWL-QN)")?;
            return match spec.solver {
                SolverKind::Auto | SolverKind::Lbfgs => Ok(SolverKind::Lbfgs),
                other => Err(Error::request(format!(
                    "spec.l1 is solved by lbfgs (OWL-QN), not by {other}"
                ))),
            };
        }
        if self.by_columns
            && spec.patience.is_some()
            && matches!(spec.solver, SolverKind::Auto | SolverKind::Dual)
        {
            return Err(Error::request(format!(
                "early stopping (spec.patience) with spec.strategy = {} needs a solver that moves all problems together: add spec.solver = sgd \
                 or lbfgs",
                spec.strategy
            )));
        }
        match spec.solver {
            SolverKind::Auto if self.is_tree => Ok(SolverKind::Dual),
            SolverKind::Auto if self.by_columns && l2 > 0.0 => {
                let all_rows = spec.task == Task::Multilabel || spec.strategy == Strategy::Ova;
                let by_newton = match self.loss {
                    LossKind::SquaredHinge => all_rows && columns::newton_pays(x),
                    LossKind::Logistic => {
                        let n = self.n_outputs();
                        all_rows && columns::newton_pays_everywhere_curved(x, n, l2, spec.tol)
                    }
                    _ => self.multipliers_pay(spec, l2, x, watched),
                };
                Ok(if by_newton { SolverKind::Newton } else { SolverKind::Dual })
            }
            SolverKind::Auto => Ok(self.auto(spec, l2, x, watched)),
            SolverKind::Exact if self.loss != LossKind::Squared => Err(Error::request(format!(
                "the exact solver is for spec.loss = squared, not {}; use newton, lbfgs or dual",
                self.loss
            ))),
            SolverKind::Dual if l2 <= 0.0 => Err(Error::request(
                "the dual solver needs an l2 penalty: give spec.penalty.c or spec.penalty.l2 above 0, or use spec.solver = sgd",
            )),
            SolverKind::Newton if self.loss == LossKind::Hinge => {
                if self.has_multipliers(spec, l2, x, watched) {
                    return Ok(SolverKind::Newton);
                }
                Err(Error::request(format!(
                    "newton needs a smooth loss, or the hinge loss of two classes, one-vs-all or labels with at most {} features, an l2 penalty, and without \
                     spec.cost, spec.patience and validation: use spec.solver = dual or sgd",
                    columns::MOST_FEATURES
                )))
            }
            SolverKind::Gd | SolverKind::Newton | SolverKind::Lbfgs => {
                needs_smooth(spec.solver.as_str())?;
                Ok(spec.solver)
            }
            SolverKind::Sgd if spec.sgd.schedule == Some(ScheduleKind::Pegasos) && l2 <= 0.0 => {
                Err(Error::request(
                    "the pegasos schedule 1/(l2·t) needs an l2 penalty: give spec.penalty.c or spec.penalty.l2 above 0",
                ))
            }
            chosen => Ok(chosen),
        }
    }

    /// Whether Newton's method takes the hinge, which is not smooth: two classes, or one column for each, on few features.
    fn has_multipliers(&self, spec: &TrainSpec, l2: f64, x: &Matrix, watched: bool) -> bool {
        let all_rows = match self.by_columns {
            true => spec.task == Task::Multilabel || spec.strategy == Strategy::Ova,
            false => self.n_classes == 2 && spec.cost.is_none() && !watched,
        };
        let runs_through = spec.patience.is_none() && !spec.hard_margin;
        let hinge = self.loss == LossKind::Hinge && !self.is_tree;
        hinge && all_rows && runs_through && columns::multipliers_fit(x, l2)
    }

    fn multipliers_pay(&self, spec: &TrainSpec, l2: f64, x: &Matrix, watched: bool) -> bool {
        self.has_multipliers(spec, l2, x, watched)
            && columns::multipliers_pay(x, self.n_outputs(), l2, spec.tol)
    }

    fn auto(&self, spec: &TrainSpec, l2: f64, x: &Matrix, watched: bool) -> SolverKind {
        let d = x.n_cols();
        match self.loss {
            LossKind::Perceptron if l2 == 0.0 => SolverKind::Sgd,
            LossKind::Squared if d <= 500 => SolverKind::Exact,
            _ if self.smooth && (l2 == 0.0 || spec.tol < 1e-6) => SolverKind::Newton,
            // The Hessian is small: a handful of Newton steps beats passes in the dual, and features on any scale do not matter.
            _ if self.smooth && (d + 1) * self.n_outputs() <= 700 => SolverKind::Newton,
            LossKind::Logistic if newton_pays(x, self.n_outputs(), l2) => SolverKind::Newton,
            LossKind::Huber => SolverKind::Newton,
            _ if self.multipliers_pay(spec, l2, x, watched) => SolverKind::Newton,
            _ if l2 == 0.0 => SolverKind::Sgd,
            _ => SolverKind::Dual,
        }
    }
}
