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
        let all = self.in_bytes(steps, 0.0)?;
        let too_many = (all.to_bytes()?.len() as u64).saturating_sub(max_bytes) as usize;
        if too_many == 0 {
            return Ok(all);
        }
        let cut = sizes.get(too_many).copied().unwrap_or(f32::INFINITY);
        let small = self.in_bytes(steps, cut)?;
        let bytes = small.to_bytes()?.len() as u64;
        if bytes > max_bytes {
            return Err(Error::request(format!(
                "the model cannot be made as small as {max_bytes} bytes: without any weight it still takes {bytes}"
            )));
        }
        Ok(small)
    }

    /// Weights as they come back from a byte, without those of at most `cut` steps.
    fn in_bytes(&self, steps: [f32; 3], cut: f32) -> Result<DependencyModel, Error> {
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
        Ok(small)
    }
}
