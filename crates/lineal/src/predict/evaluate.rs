//! Metrics of a model on labelled data.

use crate::predict::model::{Model, Predicted};
use crate::{Dataset, Error, Targets};
use lineal_data::UNSEEN;
use lineal_metrics::{
    Classified, ClassifyMetrics, LabelLists, MultilabelMetrics, MultilabelRows, Ranking,
    RegressMetrics, classify, multilabel, regress,
};
use lineal_model::cost::CostMatrix;
use serde::Serialize;

/// Metrics by task, with the names of `eval --json`.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Metrics {
    /// Of classes.
    Classify(ClassifyMetrics),
    /// Of labels.
    Multilabel(MultilabelMetrics),
    /// Of numbers.
    Regress(RegressMetrics),
}

impl Model {
    /// Compares predictions with labels; the mean cost is by the cost matrix of training, if there was one.
    pub fn evaluate(&self, data: &Dataset) -> Result<Metrics, Error> {
        self.evaluate_with(data, self.spec().cost.as_ref())
    }

    /// The same with other costs.
    pub fn evaluate_with(
        &self,
        data: &Dataset,
        cost: Option<&CostMatrix>,
    ) -> Result<Metrics, Error> {
        match (self.predict(data)?, &data.y) {
            (Predicted::Classes(predicted), Targets::Classes(gold)) => {
                let proba = if self.has_proba() { Some(self.proba(data)?.values) } else { None };
                let binary = self.classes().len() == 2;
                let scores = binary.then(|| self.raw_scores(&data.x).values);
                let rows = Classified {
                    proba: proba.as_deref(),
                    scores: scores.as_deref(),
                    cost,
                    ..Classified::new(self.classes().len(), gold, &predicted)
                };
                Ok(Metrics::Classify(classify(&rows)?))
            }
            (Predicted::Labels(predicted), Targets::Labels(gold)) => {
                let n_labels = self.classes().len();
                let width = n_labels.min(5);
                let mut ids = Vec::with_capacity(width * data.n_rows());
                for best in self.top(data, width)? {
                    ids.extend(best.iter().map(|b| b.0));
                    ids.resize(ids.len().next_multiple_of(width), UNSEEN);
                }
                let rows = MultilabelRows::new(
                    n_labels,
                    LabelLists { start: gold.starts(), ids: gold.ids() },
                    LabelLists { start: predicted.starts(), ids: predicted.ids() },
                    Ranking::Top { width, ids: &ids },
                );
                Ok(Metrics::Multilabel(multilabel(&rows)?))
            }
            (Predicted::Real(predicted), Targets::Real(gold)) => {
                Ok(Metrics::Regress(regress(gold, &predicted)?))
            }
            (_, Targets::None) => Err(Error::request(format!(
                "{}: no labels to compare with (see options.label)",
                data.source
            ))),
            _ => Err(Error::request(format!(
                "{}: the labels are not of this model's task, {}",
                data.source,
                self.task()
            ))),
        }
    }
}
