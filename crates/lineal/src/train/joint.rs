//! Training of joint features: classes share weights, one loss over all of them.

use crate::Error;
use crate::features::{Features, expand};
use crate::predict::layout::Layout;
use crate::request::Request;
use crate::request::spec::{LossKind, SolverKind, Strategy, Task, TrainSpec};
use crate::train::Trained;
use crate::train::certify::Fit;
use crate::train::fit::{Gold, Job, convex_on, smooth_on};
use crate::train::losses::with_class_loss;
use crate::train::weights::Number;
use lineal_data::{Dataset, Targets};
use lineal_linalg::Matrix;
use lineal_loss::{Hinge, Logistic, Squared, SquaredHinge, SumHinge, SumSquaredHinge};
use lineal_model::Joint;
use lineal_model::cost::{NoCost, ZeroOne};
use lineal_model::space::Classes;

/// The model of the features, if they come from templates.
pub(crate) fn model(
    features: &Features,
    data: &Dataset,
    spec: &TrainSpec,
) -> Result<Option<Joint>, Error> {
    let Some(learnt) = features.learnt() else { return Ok(None) };
    let refuse = |what: &str| {
        Err(Error::request(format!(
            "spec.templates make joint features of one class per row: leave out {what}"
        )))
    };
    if spec.task != Task::Classify {
        return refuse(&format!("spec.task = {}", spec.task));
    }
    if spec.strategy != Strategy::Joint {
        return refuse(&format!("spec.strategy = {}", spec.strategy));
    }
    if spec.hard_margin {
        return refuse("spec.hard_margin");
    }
    if spec.solver == SolverKind::Exact {
        return refuse("spec.solver = exact");
    }
    learnt.joint(&data.schema, spec.bias).map(Some)
}

/// The solver that will run. Normal equations and the hinge by Newton's method are of weights that no classes share.
pub(crate) fn solver(
    request: &Request,
    spec: &TrainSpec,
    l2: f64,
    x: &Matrix,
) -> Result<SolverKind, Error> {
    let chosen = request.solver(spec, l2, x, true)?;
    Ok(match chosen {
        SolverKind::Exact if l2 > 0.0 => SolverKind::Dual,
        SolverKind::Exact => SolverKind::Lbfgs,
        other => other,
    })
}

/// Fits shared weights, and gives them as one per column and class.
pub(crate) fn fit<F: Number>(
    job: &mut Job<'_, '_>,
    request: &Request,
    joint: &Joint,
    y: &Targets,
    held_out: Option<&Targets>,
) -> Result<Trained, Error> {
    let train = if let Targets::Classes(y) = y { y.as_slice() } else { &[] };
    let held_out = if let Some(Targets::Classes(y)) = held_out { y.as_slice() } else { &[] };
    let gold = Gold { train, held_out };
    let fit = dispatch::<F>(job, request, joint, gold)?;
    let weights = expand(fit.weights, joint, request.n_classes);
    let rows_touched = job.x.n_rows() as u64;
    let fit = Fit { weights, ..fit };
    Ok(Trained { fit, layout: Layout::Joint, tree: None, problems: 1, rows_touched })
}

/// loss → concrete loss.
fn dispatch<F: Number>(
    job: &mut Job<'_, '_>,
    request: &Request,
    joint: &Joint,
    gold: Gold<'_, u32>,
) -> Result<Fit, Error> {
    let spec = job.spec;
    // With two classes both forms of the squared hinge are one, and the sum is smooth.
    let sum = spec.sum || (request.loss == LossKind::SquaredHinge && request.n_classes == 2);
    macro_rules! run {
        // Two classes have weights of their own here as several have.
        ($level:ident, two, $loss:expr) => {{
            let _ = $loss;
            Err(Error::request("joint features have no space of two classes"))
        }};
        (convex, $space:tt, $loss:expr) => {
            convex_on::<F, Classes, _, _, _>(job, joint, &$loss, gold)
        };
        ($level:ident, $space:tt, $loss:expr) => {
            smooth_on::<F, Classes, _, _, _>(job, joint, &$loss, gold)
        };
    }
    with_class_loss!(run, request.loss, false, sum, &spec.cost, two, many)
}
