//! Labels of pixels, or of the nodes of graphs: how much of each label's area is right.
//!
//! Of label k, gold are the pixels that have it, found those that were given it, and right those that are both. Over all pixels of all images,
//!
//! ```text
//! pixel accuracy = Σₖ right / pixels      IoU(k) = right / (gold + found − right)      IoU = mean of IoU(k) over labels that are gold or found somewhere
//! ```
//!
//! The *foreground IoU* is counted image by image and averaged, as is usual where each image shows one object: a small object counts as much as a large one. An image without
//! foreground, in gold and prediction alike, has the IoU 1. Void pixels, whose gold label nobody knows, are not counted anywhere.

use crate::{Error, MAX_CONFUSION};
use lineal_model::VOID;
use serde::Serialize;
use std::collections::BTreeMap;

/// Counts labels image by image; memory does not grow with the images.
///
/// ```
/// use lineal_metrics::SegmentationEvaluation;
/// use lineal_model::VOID;
///
/// let labels = ["background".to_owned(), "horse".to_owned()];
/// let mut evaluation = SegmentationEvaluation::new(&labels, 2, Some(1));
/// let image = evaluation.add(&[0, 1, 1, VOID], &[0, 1, 0, 1])?;
/// assert_eq!((image.accuracy, image.foreground_iou), (Some(2.0 / 3.0), Some(0.5)));
/// assert_eq!(evaluation.metrics()?.iou, 0.5);
/// # Ok::<(), lineal_metrics::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct SegmentationEvaluation {
    labels: Vec<String>,
    n_known: usize,
    foreground: Option<u8>,
    /// Gold × found.
    counts: Vec<u64>,
    /// One image's, of which only what it touches is looked at.
    of_image: Vec<u64>,
    iou_sum: f64,
    exact: u64,
    images: u64,
}

/// Metrics of segmentation. Pixels count alike but in `foreground_iou`, in which images do.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SegmentationMetrics {
    /// Fraction of pixels with the right label.
    pub pixel_accuracy: f64,
    /// Mean IoU over the labels that are gold or found somewhere.
    pub iou: f64,
    /// IoU of each of these labels.
    pub iou_by_label: BTreeMap<String, f64>,
    /// Mean over images of the IoU of the foreground; `None` where no label is said to be that.
    pub foreground_iou: Option<f64>,
    /// Fraction of images in which every pixel that counts is right.
    pub exact: f64,
    /// Number of images with a pixel that counts.
    pub images: u64,
    /// Number of pixels that count.
    pub pixels: u64,
    /// Pixels whose gold label the model does not know.
    pub unseen: u64,
    /// Scores of each label that is gold or found somewhere.
    pub by_label: BTreeMap<String, AreaScores>,
    /// Counts; one row for each gold label, one column for each found one. Empty over [`MAX_CONFUSION`] labels.
    pub confusion: Vec<Vec<u64>>,
}

/// How well the area of one label is found.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AreaScores {
    /// Right over gold or found.
    pub iou: f64,
    /// Of the pixels with this label in the prediction, the fraction that is right; 0 if there is none.
    pub precision: f64,
    /// Of the pixels with this gold label, the fraction that was found; 0 if there is none.
    pub recall: f64,
    /// Pixels with this gold label.
    pub gold: u64,
    /// Pixels that were given this label.
    pub found: u64,
    /// Pixels that are both.
    pub right: u64,
}

/// How well one image was labelled.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ImageScores {
    /// Fraction of pixels with the right label; `None` if all are void.
    pub accuracy: Option<f64>,
    /// IoU of the foreground; `None` where no label is that, or all pixels are void.
    pub foreground_iou: Option<f64>,
    /// Pixels that count.
    pub pixels: u64,
    /// Those with the right label.
    pub right: u64,
}

impl SegmentationEvaluation {
    /// No image yet. The first `n_known` labels are those of the model, others come from gold masks and are never found.
    pub fn new(labels: &[String], n_known: usize, foreground: Option<u8>) -> Self {
        let n = labels.len();
        Self {
            labels: labels.to_vec(),
            n_known,
            foreground: foreground.filter(|&label| usize::from(label) < n),
            counts: vec![0; n * n],
            of_image: vec![0; n * n],
            iou_sum: 0.0,
            exact: 0,
            images: 0,
        }
    }

    /// Counts an image: the gold label of each pixel, or [`VOID`], and the predicted one.
    pub fn add(&mut self, gold: &[u8], predicted: &[u8]) -> Result<ImageScores, Error> {
        Error::unless_len("predicted labels", gold.len(), predicted.len())?;
        let n_labels = self.labels.len();
        let unknown = |what, labels: &[u8], may_be_void| {
            let is_known = |l: u8| usize::from(l) < n_labels || (may_be_void && l == VOID);
            match labels.iter().position(|&label| !is_known(label)) {
                None => Ok(()),
                Some(at) => {
                    let label = u32::from(labels[at]);
                    Err(Error::Label { row: at + 1, what, label, n_labels })
                }
            }
        };
        unknown("gold", gold, true)?;
        unknown("predicted", predicted, false)?;
        self.of_image.fill(0);
        for (&y, &y_hat) in gold.iter().zip(predicted).filter(|&(&y, _)| y != VOID) {
            self.of_image[usize::from(y) * n_labels + usize::from(y_hat)] += 1;
        }
        let pixels: u64 = self.of_image.iter().sum();
        let right: u64 = self.of_image.iter().step_by(n_labels + 1).sum();
        if pixels == 0 {
            return Ok(ImageScores { accuracy: None, foreground_iou: None, pixels, right });
        }
        let foreground_iou = self.foreground.map(|label| {
            let scores = area(&self.of_image, n_labels, usize::from(label));
            if scores.gold + scores.found == 0 { 1.0 } else { scores.iou }
        });
        self.iou_sum += foreground_iou.unwrap_or(0.0);
        self.images += 1;
        self.exact += u64::from(right == pixels);
        self.counts.iter_mut().zip(&self.of_image).for_each(|(all, n)| *all += n);
        let accuracy = Some(right as f64 / pixels as f64);
        Ok(ImageScores { accuracy, foreground_iou, pixels, right })
    }

    /// What was counted so far; [`Error::Empty`] if no pixel was.
    pub fn metrics(&self) -> Result<SegmentationMetrics, Error> {
        let n_labels = self.labels.len();
        let pixels: u64 = self.counts.iter().sum();
        if pixels == 0 {
            return Err(Error::Empty);
        }
        let right: u64 = self.counts.iter().step_by(n_labels + 1).sum();
        let scores: Vec<(&String, AreaScores)> = (self.labels.iter().enumerate())
            .map(|(label, name)| (name, area(&self.counts, n_labels, label)))
            .filter(|(_, scores)| scores.gold + scores.found > 0)
            .collect();
        let rows = self.counts.chunks_exact(n_labels);
        Ok(SegmentationMetrics {
            pixel_accuracy: right as f64 / pixels as f64,
            iou: scores.iter().map(|(_, s)| s.iou).sum::<f64>() / scores.len() as f64,
            iou_by_label: scores.iter().map(|(name, s)| ((*name).clone(), s.iou)).collect(),
            foreground_iou: self.foreground.map(|_| self.iou_sum / self.images as f64),
            exact: self.exact as f64 / self.images as f64,
            images: self.images,
            pixels,
            unseen: rows.clone().skip(self.n_known).flatten().sum(),
            by_label: scores.into_iter().map(|(name, scores)| (name.clone(), scores)).collect(),
            confusion: match n_labels > MAX_CONFUSION {
                true => Vec::new(),
                false => rows.map(<[u64]>::to_vec).collect(),
            },
        })
    }
}

/// The scores of a label in a table of gold × found.
fn area(counts: &[u64], n_labels: usize, label: usize) -> AreaScores {
    let gold: u64 = counts[label * n_labels..(label + 1) * n_labels].iter().sum();
    let found: u64 = counts[label..].iter().step_by(n_labels).sum();
    let right = counts[label * n_labels + label];
    let over = |n: u64| if n == 0 { 0.0 } else { right as f64 / n as f64 };
    AreaScores {
        iou: over(gold + found - right),
        precision: over(found),
        recall: over(gold),
        gold,
        found,
        right,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn names(n: usize) -> Vec<String> {
        (0..n).map(|i| format!("label{i}")).collect()
    }

    /// The numbers are those of scikit-learn 1.9:
    ///
    /// ```text
    /// python -c "from sklearn.metrics import *
    /// g=[0,0,1,1,2,2,2,0]; p=[0,1,1,1,2,0,2,0]
    /// print(accuracy_score(g,p), jaccard_score(g,p,average=None), jaccard_score(g,p,average='macro'), confusion_matrix(g,p))"
    /// ```
    #[test]
    fn metrics_are_those_of_another_library() {
        let mut evaluation = SegmentationEvaluation::new(&names(3), 3, Some(1));
        evaluation.add(&[0, 0, 1, 1, VOID], &[0, 1, 1, 1, 2]).unwrap();
        evaluation.add(&[2, 2, 2, 0], &[2, 0, 2, 0]).unwrap();
        let metrics = evaluation.metrics().unwrap();
        assert_eq!(metrics.pixel_accuracy, 0.75);
        let ious: Vec<f64> = metrics.by_label.values().map(|s| s.iou).collect();
        assert_eq!(ious, [0.5, 2.0 / 3.0, 2.0 / 3.0]);
        assert!((metrics.iou - 0.611_111_111).abs() < 1e-8);
        assert_eq!(metrics.confusion, [[2, 1, 0], [0, 2, 0], [1, 0, 2]]);
        // By image: 2/3 in the first, and none at all in the second.
        assert_eq!(metrics.foreground_iou, Some((2.0 / 3.0 + 1.0) / 2.0));
        assert_eq!((metrics.images, metrics.pixels, metrics.exact), (2, 8, 0.0));
    }

    #[test]
    fn what_was_found_where_there_is_nothing_counts_0() {
        let mut evaluation = SegmentationEvaluation::new(&names(2), 2, Some(1));
        assert_eq!(evaluation.add(&[0, 0], &[0, 1]).unwrap().foreground_iou, Some(0.0));
        assert_eq!(evaluation.add(&[VOID, VOID], &[0, 1]).unwrap().foreground_iou, None);
        assert_eq!(evaluation.metrics().unwrap().foreground_iou, Some(0.0));
    }

    #[test]
    fn labels_that_the_model_does_not_know_are_always_wrong() {
        let mut evaluation = SegmentationEvaluation::new(&names(3), 2, None);
        evaluation.add(&[0, 2, 2], &[0, 1, 0]).unwrap();
        let metrics = evaluation.metrics().unwrap();
        assert_eq!((metrics.unseen, metrics.pixel_accuracy), (2, 1.0 / 3.0));
        assert_eq!(metrics.foreground_iou, None);
        assert_eq!(metrics.by_label["label2"].iou, 0.0);
    }

    #[test]
    fn wrong_input_is_refused() {
        let mut evaluation = SegmentationEvaluation::new(&names(2), 2, Some(1));
        assert_eq!(evaluation.metrics().unwrap_err(), Error::Empty);
        assert!(matches!(evaluation.add(&[0], &[]), Err(Error::Length { .. })));
        assert!(matches!(evaluation.add(&[0, 5], &[0, 0]), Err(Error::Label { row: 2, .. })));
        assert!(matches!(evaluation.add(&[0, 0], &[VOID, 0]), Err(Error::Label { row: 1, .. })));
        assert_eq!(evaluation.metrics().unwrap_err(), Error::Empty);
    }

    proptest! {
        /// Against counting sets of pixels.
        #[test]
        fn areas_are_those_of_sets(pixels in prop::collection::vec((0u8..4, 0u8..4), 1..60)) {
            let (gold, predicted): (Vec<u8>, Vec<u8>) = pixels.iter().copied().unzip();
            let mut evaluation = SegmentationEvaluation::new(&names(4), 4, Some(2));
            let image = evaluation.add(&gold, &predicted).unwrap();
            let metrics = evaluation.metrics().unwrap();
            for label in 0..4 {
                let both = pixels.iter().filter(|&&(y, y_hat)| y == label && y_hat == label).count();
                let any = pixels.iter().filter(|&&(y, y_hat)| y == label || y_hat == label).count();
                let scores = metrics.by_label.get(&format!("label{label}"));
                prop_assert_eq!(scores.map(|s| s.iou), (any > 0).then(|| both as f64 / any as f64));
                if label == 2 {
                    let iou = if any == 0 { 1.0 } else { both as f64 / any as f64 };
                    prop_assert_eq!(image.foreground_iou, Some(iou));
                }
            }
        }
    }
}
