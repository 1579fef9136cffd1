//! Tables of hashed weights, one for each stage of a model: in the file without zeros, and in fewer bytes.
//!
//! ```text
//! NAME_places, NAME   U8, F32 or U8 [weights that are not zero]: see `lineal_model::packed`
//! ```

use super::{Ask, StructuredModel, encode, unfit};
use crate::Error;
#[cfg(feature = "tag")]
use crate::tag::TagModel;
use lineal_model::file::{ModelFile, TensorData};
use lineal_model::packed::{PackedTable, PackedValues, ValuesOf};
use serde::{Deserialize, Serialize};

/// The tables that parsers have: of the trees, and of what prunes them.
pub(crate) const TREES: &str = "trees";
pub(crate) const PRUNER: &str = "pruner";
/// The file of a parser's tagger: U8.
const TAGGER: &str = "tagger";

/// What the description of a model says of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TableInfo {
    pub name: String,
    /// How many weights there are.
    pub len: usize,
    /// Of weights in a byte.
    pub step: Option<f32>,
}

/// Weights by the name of their stage.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tables(Vec<(TableInfo, Vec<f32>)>);

/// The longest table.
const LONGEST: usize = 1 << 29;

impl Tables {
    /// Adds a table.
    pub(crate) fn push(&mut self, name: &str, w: Vec<f32>) {
        let info = TableInfo { name: name.to_owned(), len: w.len(), step: None };
        self.0.push((info, w));
    }

    pub(crate) fn get(&self, name: &str) -> Option<&[f32]> {
        self.0.iter().find(|(info, _)| info.name == name).map(|(_, w)| &w[..])
    }

    /// For the description of the model.
    pub(crate) fn infos(&self) -> Vec<TableInfo> {
        self.0.iter().map(|(info, _)| info.clone()).collect()
    }

    /// How many weights there are, of all stages.
    pub(crate) fn n_all(&self) -> usize {
        self.0.iter().map(|(_, w)| w.len()).sum()
    }

    /// How many weights are not zero.
    pub(crate) fn n_weights(&self) -> usize {
        self.0.iter().flat_map(|(_, w)| w).filter(|w| **w != 0.0).count()
    }

    /// The weights of the trees.
    pub(crate) fn trees(&self) -> &[f32] {
        self.get(TREES).unwrap_or_default()
    }

    /// The same in double precision, where sums over trees or several of them are asked for.
    pub(crate) fn trees_in_double(&self, ask: &Ask) -> Option<Vec<f64>> {
        let wanted = ask.needs_proba() || ask.n_best > 0;
        wanted.then(|| self.trees().iter().map(|&w| f64::from(w)).collect())
    }

    /// The file of a model with these tables and what else it has.
    pub(crate) fn encode(
        &self,
        about: &impl Serialize,
        more: Vec<(&str, Vec<usize>, TensorData<'_>)>,
    ) -> Result<Vec<u8>, Error> {
        let packed = self.pack();
        let mut all = tensors(&packed);
        all.extend(more);
        encode(about, &all)
    }

    /// The file of a parser with these tables, what else it has, and its tagger.
    #[cfg(feature = "tag")]
    pub(crate) fn encode_with_tagger(
        &self,
        about: &impl Serialize,
        tagger: Option<&TagModel>,
        more: Vec<(&str, Vec<usize>, TensorData<'_>)>,
    ) -> Result<Vec<u8>, Error> {
        let tagger = tagger.map(TagModel::to_bytes).transpose()?;
        let tagger = tagger.iter().map(|t| (TAGGER, vec![t.len()], TensorData::U8(t)));
        self.encode(about, more.into_iter().chain(tagger).collect())
    }

    /// The tagger in a parser's file.
    #[cfg(feature = "tag")]
    pub(crate) fn tagger(file: &ModelFile) -> Result<Option<Box<TagModel>>, Error> {
        Ok(file.u8(TAGGER)?.map(TagModel::from_bytes).transpose()?.map(Box::new))
    }

    /// Without zeros, for [`tensors`].
    fn pack(&self) -> Vec<(String, String, PackedTable)> {
        let pack = |(info, w): &(TableInfo, Vec<f32>)| {
            let table = PackedTable::new(w, 0.0, info.step);
            (info.name.clone(), places(&info.name), table)
        };
        self.0.iter().map(pack).collect()
    }

    /// The tables that a description names.
    pub(crate) fn read(file: &ModelFile, infos: &[TableInfo]) -> Result<Self, Error> {
        let mut tables = Self::default();
        for info in infos {
            if tables.get(&info.name).is_some() {
                return Err(unfit(file, format!("the table {} is there twice", info.name)));
            }
            let bad = |why: &str| Error::from(file.bad_tensor(&info.name, why));
            if info.len > LONGEST || info.step.is_some_and(|step| !step.is_finite()) {
                return Err(unfit(file, "its tables do not fit their description"));
            }
            let set = file.u8(&places(&info.name))?.ok_or_else(|| bad("it has no places"))?;
            let stored = match (file.tensor(&info.name)?, info.step) {
                (Some(TensorData::F32(w)), None) => ValuesOf::F32(w),
                (Some(TensorData::U8(w)), Some(step)) => ValuesOf::Bytes(w, step),
                _ => return Err(bad("it is not there, or of another type than described")),
            };
            let w = PackedTable::unpack(set, stored, info.len)
                .ok_or_else(|| bad("its weights are not those of the table"))?;
            tables.0.push((info.clone(), w));
        }
        Ok(tables)
    }

    /// Weights in a byte each, without as many of the smallest as it takes for the model's file, which `bytes_with` makes, to have at most `max_bytes`.
    pub(crate) fn shrink(
        &self,
        max_bytes: u64,
        bytes_with: impl Fn(&Self) -> Result<Vec<u8>, Error>,
    ) -> Result<Self, Error> {
        let size = |tables: &Self| Ok::<_, Error>(bytes_with(tables)?.len() as u64);
        if size(self)? <= max_bytes {
            return Ok(self.clone());
        }
        let step = |w: &[f32]| match w.iter().fold(0.0f32, |a, w| a.max(w.abs())) {
            0.0 => 1.0,
            largest => largest / 127.0,
        };
        let steps: Vec<f32> = self.0.iter().map(|(_, w)| step(w)).collect();
        // Sizes in units of the step, so that the tables give up what matters least to each of them.
        let all = self.0.iter().zip(&steps);
        let mut sizes: Vec<f32> = all
            .flat_map(|((_, w), step)| w.iter().map(move |w| (w / step).abs()))
            .filter(|size| *size >= 0.5)
            .collect();
        sizes.sort_by(f32::total_cmp);
        let without = |n: usize| {
            let cut = n.checked_sub(1).map_or(0.0, |last| sizes[last]);
            self.in_bytes(&steps, cut)
        };
        // The least number of weights to leave out, by the size that the file really has.
        let (mut low, mut high) = (0, sizes.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match size(&without(middle))? <= max_bytes {
                true => high = middle,
                false => low = middle + 1,
            }
        }
        let small = without(low);
        match size(&small)? {
            bytes if bytes <= max_bytes => Ok(small),
            bytes => Err(Error::request(format!(
                "the model cannot be made as small as {max_bytes} bytes: without any weight it still takes {bytes}"
            ))),
        }
    }

    /// Weights as they come back from a byte, without those of at most `cut` steps.
    fn in_bytes(&self, steps: &[f32], cut: f32) -> Self {
        let mut small = self.clone();
        for ((info, w), &step) in small.0.iter_mut().zip(steps) {
            info.step = Some(step);
            for w in w {
                let units = (*w / step).round().clamp(-128.0, 127.0);
                *w = if (*w / step).abs() > cut { units * step } else { 0.0 };
            }
        }
        small
    }
}

fn places(name: &str) -> String {
    format!("{name}_places")
}

/// Packed tables as tensors of a file.
fn tensors(packed: &[(String, String, PackedTable)]) -> Vec<(&str, Vec<usize>, TensorData<'_>)> {
    let mut tensors = Vec::new();
    for (name, places, table) in packed {
        tensors.push((&places[..], vec![table.places.len()], TensorData::U8(&table.places)));
        tensors.push(match &table.values {
            PackedValues::F32(w) => (&name[..], vec![w.len()], TensorData::F32(w)),
            PackedValues::Bytes(w) => (&name[..], vec![w.len()], TensorData::U8(w)),
        });
    }
    tensors
}
