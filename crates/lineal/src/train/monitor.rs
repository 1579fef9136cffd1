//! The monitor of a run: measures what was asked for and passes it to the watch.

use crate::request::spec::SolverKind;
use crate::train::fit::{Gold, Job};
use crate::train::report::CurvePoint;
use crate::train::weights::Number;
use lineal_erm::{Erm, Penalty, Rows};
use lineal_linalg::{Row, Scalar};
use lineal_loss::DualLoss;
use lineal_model::Model;
use lineal_model::space::{Binary, Classes, OutputSpace, Real};
use lineal_solver::Pass;
use std::ops::ControlFlow;

/// The monitor of a run: measures what was asked for and passes it to the watch.
pub(crate) fn monitored<'j, 'a, 'w, F, S, M, L, Y>(
    job: &'j mut Job<'a, 'w>,
    model: &'j M,
    loss: &'j L,
    penalty: Penalty,
    gold: Gold<'j, Y>,
) -> impl FnMut(&Pass<'_, F>) -> ControlFlow<()> + use<'j, 'a, 'w, F, S, M, L, Y>
where
    F: Number,
    S: OutputSpace<F, Output = Y> + Judge<Y>,
    M: for<'x> Model<F, Input<'x> = Row<'x>, Space = S>,
    L: DualLoss<F, S>,
    Y: Copy + Sync,
{
    let train = Erm::new(model, loss, Rows::new(job.x, gold.train, job.weights), penalty);
    let held_out = job.held_out_x.map(|x| {
        let rows = Rows::new(x, gold.held_out, None);
        (Erm::new(model, loss, rows, Penalty::default()), rows)
    });
    let (curve, sgd) = (job.spec.curve, job.solver == SolverKind::Sgd);
    let watch = &mut job.watch;
    move |pass| {
        let mut point = CurvePoint {
            pass: pass.pass,
            gap: pass.gap.filter(|gap| gap.is_finite()),
            gap_estimate: pass.gap_estimate.filter(|gap| gap.is_finite()),
            ..CurvePoint::default()
        };
        if curve {
            let mean_loss = train.mean_loss(pass.w);
            let n = Model::<F>::n_penalised(model);
            point.train_loss = Some(mean_loss);
            point.objective = Some(mean_loss + penalty.value(&pass.w[..n]));
        } else if sgd {
            point.train_loss = Some(pass.value);
        } else if pass.value.abs() < f64::MAX {
            // MAX and infinity are "not known yet".
            point.objective = Some(pass.value);
        }
        if let Some((erm, rows)) = &held_out {
            point.held_out_loss = Some(erm.mean_loss(pass.w));
            point.held_out_metric = Some(metric(model, rows, pass.w));
        }
        watch.see(point, || F::own(pass.w.to_vec()))
    }
}

fn metric<F, S, M, Y>(model: &M, rows: &Rows<'_, Y>, w: &[F]) -> f64
where
    F: Number,
    S: OutputSpace<F, Output = Y> + Judge<Y>,
    M: for<'x> Model<F, Input<'x> = Row<'x>, Space = S>,
    Y: Copy + Sync,
{
    let mut scores = vec![F::ZERO; Model::<F>::max_parts(model)];
    let mut sum = 0.0;
    for i in 0..rows.n_rows() {
        let x = rows.row(i);
        model.scores(x, w, &mut scores);
        sum += model.space(x).error(&scores, rows.outputs()[i]);
    }
    S::metric(sum / rows.n_rows().max(1) as f64)
}

/// A space whose predictions can be compared with the gold.
pub(crate) trait Judge<Y>: Copy {
    /// Whether the losses of its outputs see one another's scores.
    const COUPLED: bool = true;

    /// What the prediction from these scores adds to the mean.
    fn error<F: Scalar>(self, scores: &[F], y: Y) -> f64;
    /// The mean as a metric of which more is better.
    fn metric(mean_error: f64) -> f64;
}

macro_rules! judge_by_accuracy {
    ($($space:ty),+) => {$(
        impl Judge<u32> for $space {
            fn error<F: Scalar>(self, scores: &[F], y: u32) -> f64 {
                f64::from(u8::from(OutputSpace::<F>::decode(&self, scores) != y))
            }
            fn metric(mean_error: f64) -> f64 {
                1.0 - mean_error
            }
        }
    )+};
}
judge_by_accuracy!(Binary, Classes);

impl Judge<f64> for Real {
    fn error<F: Scalar>(self, scores: &[F], y: f64) -> f64 {
        let y_hat = OutputSpace::<F>::decode(&self, scores);
        (y_hat - y) * (y_hat - y)
    }
    fn metric(mean_error: f64) -> f64 {
        -mean_error.sqrt()
    }
}
