//! One chunk, learnt from with the loss and the output space that the task and the strategy ask for.

use super::Learner;
use super::recent::Recent;
use crate::request::spec::{ENOUGH_HELD_OUT, LossKind, Strategy};
use crate::stream::progress::Tally;
use crate::train::losses::{with_class_loss, with_column_loss, with_real_loss};
use crate::train::monitor::Judge;
use crate::train::strategy;
use lineal_data::{Dataset, Targets};
use lineal_erm::online::{Chunk, learn};
use lineal_linalg::Matrix;
use lineal_loss::{
    Columnwise, Epsilon, Hinge, Huber, Logistic, Loss, Squared, SquaredHinge, SumHinge,
    SumSquaredHinge,
};
use lineal_model::cost::{NoCost, ZeroOne};
use lineal_model::space::{Binary, Classes, Columns, OutputSpace, Real, Signs};
use lineal_model::{Bias, Linear};
use lineal_solver::Online;

impl Learner {
    /// task × loss → concrete space and loss.
    pub(super) fn teach(&self, lesson: &mut Lesson<'_>, chunk: &Dataset) {
        let (spec, loss) = (&self.spec, self.spec.loss());
        let cost = spec.cost.as_ref().map(|cost| &cost.matrix);
        match &chunk.y {
            Targets::None => {}
            Targets::Real(y) => {
                macro_rules! run {
                    ($level:ident, $space:expr, $loss:expr) => {
                        lesson.teach($space, &$loss, y)
                    };
                }
                with_real_loss!(run, loss, spec.delta, spec.epsilon)
            }
            Targets::Labels(labels) => {
                let signs = Signs::Labels { start: labels.starts(), ids: labels.ids() };
                let kinds: Vec<u32> = (0..labels.n_rows() as u32).collect();
                self.teach_columns(lesson, Columns::new(signs, self.n_classes), &kinds);
            }
            Targets::Classes(y) if spec.strategy() != Strategy::Joint && self.n_classes > 2 => {
                let n_columns = self.n_columns();
                let table = strategy::table(spec.strategy(), self.n_classes, cost);
                let signs = match &table {
                    Some(table) => Signs::Table { table, n_columns },
                    None => Signs::OneVsAll,
                };
                self.teach_columns(lesson, Columns::new(signs, n_columns), y);
            }
            Targets::Classes(y) => {
                let (two, many) = (self.n_classes <= 2, Classes(self.n_outputs(self.n_classes)));
                macro_rules! run {
                    ($level:ident, $space:expr, $loss:expr) => {
                        lesson.teach($space, &$loss, y)
                    };
                }
                with_class_loss!(run, loss, two, spec.sum, cost, Binary, many)
            }
        }
    }

    /// Yes-or-no questions side by side.
    fn teach_columns(&self, lesson: &mut Lesson<'_>, space: Columns<'_>, kinds: &[u32]) {
        macro_rules! run {
            ($level:ident, $loss:expr) => {
                lesson.teach(space, &Columnwise($loss), kinds)
            };
        }
        with_column_loss!(run, self.spec.loss())
    }
}

/// A chunk with its weights, but for the space and the loss.
pub(super) struct Lesson<'a> {
    pub online: &'a mut Online,
    pub n_features: usize,
    pub bias: Bias,
    pub x: &'a Matrix,
    pub weights: Option<&'a [f32]>,
    pub order: &'a [usize],
    pub tally: &'a mut Tally,
    /// Where scores are noted.
    pub recent: Option<&'a mut Recent>,
}

impl Lesson<'_> {
    fn teach<S, L, Y>(&mut self, space: S, loss: &L, y: &[Y])
    where
        S: OutputSpace<f32, Output = Y> + Judge<Y>,
        L: Loss<f32, S>,
        Y: Copy,
    {
        let model = Linear::new(self.n_features, space, self.bias);
        let chunk = Chunk { x: self.x, y, weights: self.weights, order: self.order };
        let (weights, error) = (self.weights, &mut self.tally.error);
        let mut n_before = self.order.len().saturating_sub(ENOUGH_HELD_OUT);
        let mut recent = self.recent.as_deref_mut();
        self.tally.loss = learn(self.online, &model, loss, &chunk, |i, scores| {
            match &mut recent {
                Some(_) if n_before > 0 => n_before -= 1,
                Some(recent) => {
                    recent.rows.push(i);
                    recent.scores.extend(scores.iter().map(|&s| f64::from(s)));
                }
                None => {}
            }
            *error += weights.map_or(1.0, |w| f64::from(w[i])) * space.error(scores, y[i]);
        });
    }
}
