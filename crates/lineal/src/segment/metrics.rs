//! Figures of segmentation by the names that users know.

use super::model::Segmented;
use super::scenes::Scenes;
use crate::Error;
use lineal_metrics::{ImageScores, SegmentationEvaluation, SegmentationMetrics};
use lineal_model::VOID;
use serde::Serialize;

/// How much of each label's area is right. Pixels (or nodes of graphs) without a gold label are not counted.
#[derive(Clone, Debug, Serialize)]
pub struct SegmentMetrics {
    /// Over all images.
    #[serde(flatten)]
    pub all: SegmentationMetrics,
    /// The scores of each image.
    pub by_image: Vec<SceneScores>,
    /// Whether they are of graphs, and not of images.
    #[serde(skip)]
    pub is_graphs: bool,
}

/// How one image or graph went.
#[derive(Clone, Debug, Serialize)]
pub struct SceneScores {
    /// Its name.
    pub image: String,
    /// Its figures.
    #[serde(flatten)]
    pub scores: ImageScores,
}

impl SegmentMetrics {
    /// Compares labels at hand with those of the data.
    pub(super) fn new(data: &Scenes, found: &[Segmented]) -> Result<Self, Error> {
        let n_known = data.schema.labels().len();
        let foreground = (n_known == 2).then_some(1);
        // All labels that training did not see are one: none of them can be right.
        let mut names = data.schema.labels();
        names.extend((data.labels.len() > n_known).then(|| "(unseen)".to_owned()));
        let mut evaluation = SegmentationEvaluation::new(&names, n_known, foreground);
        let mut by_image = Vec::with_capacity(found.len());
        for (scene, found) in data.iter().zip(found) {
            let Some(gold) = &scene.labels else { continue };
            let known = |&label: &u8| match label {
                VOID => VOID,
                label => label.min(n_known as u8),
            };
            let gold: Vec<u8> = gold.iter().map(known).collect();
            let scores = evaluation.add(&gold, &found.labels)?;
            by_image.push(SceneScores { image: scene.name.clone(), scores });
        }
        Ok(Self { all: evaluation.metrics()?, by_image, is_graphs: data.is_graphs() })
    }

    /// The one number to watch: the foreground's of two labels, the mean of more.
    pub fn main(&self) -> f64 {
        self.all.foreground_iou.unwrap_or(self.all.iou)
    }
}
