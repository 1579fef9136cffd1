//! A smaller parser: weights in a byte each, then without the smallest ones.

use super::model::DependencyModel;
use crate::Error;

impl DependencyModel {
    /// The model in a file of at most so many bytes: as it is if that is small enough, else with weights of 8 bits, else also without the smallest ones. What that
    /// does to its answers must be measured.
    pub fn shrink(&self, max_bytes: u64) -> Result<DependencyModel, Error> {
        if self.to_bytes()?.len() as u64 <= max_bytes {
            return Ok(self.clone());
        }
        let largest = |w: &[f32]| w.iter().fold(0.0f32, |a, w| a.max(w.abs()));
        let mut steps = [1.0; 3];
        for (step, w) in steps.iter_mut().zip(self.tables()) {
            let largest = largest(w.unwrap_or_default());
            *step = if largest > 0.0 { largest / 127.0 } else { 1.0 };
        }
        // Sizes in units of the step, so that the tables give up what matters least to each of them.
        let mut sizes: Vec<f32> = self
            .tables()
            .into_iter()
            .zip(steps)
            .flat_map(|(w, step)| w.unwrap_or_default().iter().map(move |w| (w / step).abs()))
            .filter(|size| *size >= 0.5)
            .collect();
        sizes.sort_by(f32::total_cmp);
        let size = |model: &DependencyModel| Ok::<_, Error>(model.to_bytes()?.len() as u64);
        // The least number of weights to leave out, by the size that the file really has.
        let (mut low, mut high) = (0, sizes.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match size(&self.in_bytes(steps, cut(&sizes, middle)))? <= max_bytes {
                true => high = middle,
                false => low = middle + 1,
            }
        }
        let small = self.in_bytes(steps, cut(&sizes, low));
        let bytes = size(&small)?;
        if bytes > max_bytes {
            return Err(Error::request(format!(
                "the model cannot be made as small as {max_bytes} bytes: without any weight it still takes {bytes}"
            )));
        }
        Ok(small)
    }

    /// Weights as they come back from a byte, without those of at most `cut` steps.
    fn in_bytes(&self, steps: [f32; 3], cut: f32) -> DependencyModel {
        let mut small = self.clone();
        small.about.steps = Some(steps);
        let tables = &mut small.tables;
        let all = [Some(&mut tables.trees), tables.relations.as_mut(), tables.pruner.as_mut()];
        for (table, step) in all.into_iter().zip(steps) {
            for w in table.into_iter().flatten() {
                let units = (*w / step).round().clamp(-128.0, 127.0);
                *w = if (*w / step).abs() > cut { units * step } else { 0.0 };
            }
        }
        small
    }
}

/// The size up to which weights are left out, so that the `n` smallest are.
fn cut(sizes: &[f32], n: usize) -> f32 {
    n.checked_sub(1).map_or(0.0, |last| sizes[last])
}
