//! Figures of segmentation by the names that users know.

use super::model::Segmented;
use super::scenes::Scenes;
use crate::Error;
use lineal_graph::VOID;
use lineal_metrics::{AreaScores, ImageScores, SegmentationEvaluation};
use serde::Serialize;
use std::collections::BTreeMap;

/// How much of each label's area is right. Pixels (or nodes of graphs) without a gold label are not counted.
#[derive(Clone, Debug, Serialize)]
pub struct SegmentMetrics {
    /// The share of pixels with the right label.
    pub pixel_accuracy: f64,
    /// The mean over labels of intersection over union.
    pub iou: f64,
    /// Intersection over union of each label.
    pub iou_by_label: BTreeMap<String, f64>,
    /// Of two labels the mean over images of the second one's intersection over union: every image counts the same.
    pub foreground_iou: Option<f64>,
    /// The share of images without a mistake.
    pub exact: f64,
    /// Images or graphs that count.
    pub images: u64,
    /// Pixels or nodes that count.
    pub pixels: u64,
    /// Those with a label that training did not see: each is wrong.
    pub unseen: u64,
    /// More about each label.
    pub by_label: BTreeMap<String, AreaScores>,
    /// Pixels by gold label (rows) and predicted label (columns).
    pub confusion: Vec<Vec<u64>>,
    /// The scores of each image.
    pub by_image: Vec<SceneScores>,
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
            let wide = |&label: &u8| match label {
                VOID => lineal_metrics::VOID,
                label => u32::from(label).min(n_known as u32),
            };
            let gold: Vec<u32> = gold.iter().map(wide).collect();
            let labels: Vec<u32> = found.labels.iter().map(|&label| u32::from(label)).collect();
            let scores = evaluation.add(&gold, &labels)?;
            by_image.push(SceneScores { image: scene.name.clone(), scores });
        }
        let all = evaluation.metrics()?;
        Ok(Self {
            pixel_accuracy: all.accuracy,
            iou: all.mean_iou,
            iou_by_label: all
                .by_label
                .iter()
                .map(|(name, area)| (name.clone(), area.iou))
                .collect(),
            foreground_iou: all.foreground_iou,
            exact: all.exact,
            images: all.images,
            pixels: all.pixels,
            unseen: all.unseen,
            by_label: all.by_label,
            confusion: all.confusion,
            by_image,
        })
    }

    /// The one number to watch: the foreground's of two labels, the mean of more.
    pub fn main(&self) -> f64 {
        self.foreground_iou.unwrap_or(self.iou)
    }
}
