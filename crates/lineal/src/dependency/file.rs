//! The file of a parser: its tables of hashed weights without zeros, its templates, its tagger.
//!
//! ```text
//! trees_places, trees          U8, F32 or U8 [weights that are not zero]: see `lineal_model::packed`
//! relations_places, relations  the same, unless relations are found together with heads
//! pruner_places, pruner        the same, where a word has few candidate heads
//! tagger                       U8: the file of the tagger, where there is one
//! ```

use super::model::{DependencyModel, Tables};
use super::spec::{DecoderKind, LabellerKind};
use crate::Error;
use crate::predict::model::Provenance;
use crate::request::spec::{Task, TrainSpec};
use crate::tag::TagModel;
use crate::train::report::Report;
use lineal_data::{ConlluColumn, Format, TreebankSchema};
use lineal_dependencies::features::Templates;
use lineal_dependencies::problem::{TreeKind, TreeSpec};
use lineal_model::file::{self, ModelFile, TensorData};
use lineal_model::packed::{PackedTable, PackedValues, ValuesOf};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Bits of the tables of the pruner and of relations; those of the trees can be chosen.
pub(super) const PRUNER_BITS: u32 = 20;
pub(super) const RELATION_BITS: u32 = 21;
/// The bits that can be chosen.
pub(super) const HASH_BITS: std::ops::RangeInclusive<u32> = 10..=28;

/// The tables by name: trees, relations, pruner.
const TABLES: [[&str; 2]; 3] =
    [["trees", "trees_places"], ["relations", "relations_places"], ["pruner", "pruner_places"]];
const TAGGER: &str = "tagger";

/// The JSON inside the model file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct About {
    pub(super) task: Task,
    pub(super) spec: TrainSpec,
    pub(super) schema: TreebankSchema,
    pub(super) report: Report,
    pub(super) provenance: Provenance,
    /// What features read.
    pub(super) columns: Vec<ConlluColumn>,
    pub(super) decoder: DecoderKind,
    pub(super) order: u32,
    /// Of the table of the trees.
    pub(super) hash_bits: u32,
    /// The relation that all roots and no other words have.
    pub(super) root: Option<u32>,
    /// The most heads of a word after pruning.
    pub(super) candidates: usize,
    /// Of weights in a byte, by table.
    pub(super) steps: Option<[f32; 3]>,
}

impl About {
    pub(super) fn trees(&self) -> TreeSpec {
        TreeSpec {
            kind: tree_kind(self.decoder, self.order),
            single_root: self.spec.dependency.single_root,
            n_relations: match self.spec.dependency.labeller {
                LabellerKind::Joint => self.schema.relations.len(),
                LabellerKind::Second => 0,
            },
            bits: self.hash_bits,
        }
    }

    /// The templates for the columns.
    pub(super) fn templates(&self) -> Result<Templates, Error> {
        templates(self.spec.dependency.templates.as_deref(), &self.columns)
    }
}

pub(super) fn tree_kind(decoder: DecoderKind, order: u32) -> TreeKind {
    match (decoder, order) {
        (DecoderKind::Nonprojective, _) => TreeKind::NonProjective,
        (DecoderKind::Projective, 2) => TreeKind::SecondOrder,
        (DecoderKind::Projective, _) => TreeKind::Projective,
    }
}

pub(super) fn templates(text: Option<&str>, columns: &[ConlluColumn]) -> Result<Templates, Error> {
    let names: Vec<&str> = columns.iter().map(|column| column.name()).collect();
    let parsed = match text {
        Some(text) => Templates::parse(text, &names),
        None => Templates::built_in(&names),
    };
    parsed.map_err(|e| Error::request(format!("templates: {e}")))
}

impl DependencyModel {
    /// Maps a model file. Nothing in it is believed before it is checked.
    pub fn load(path: &Path) -> Result<Self, Error> {
        Self::from_file(&ModelFile::open(path)?)
    }

    /// A model from the bytes of its file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Self::from_file(&ModelFile::from_bytes(bytes)?)
    }

    /// Writes the model beside and renames it into place; returns its size in bytes.
    pub fn save(&self, path: &Path) -> Result<u64, Error> {
        let bytes = self.to_bytes()?;
        file::write_atomically(path, |out| out.write_all(&bytes)).map_err(Error::Write)?;
        Ok(bytes.len() as u64)
    }

    /// The bytes of the model's file.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let about = serde_json::to_value(&self.about)
            .map_err(|e| Error::request(format!("the model cannot be written: {e}")))?;
        let tagger = self.tagger.as_ref().map(|tagger| tagger.to_bytes()).transpose()?;
        let step = |t: usize| self.about.steps.map(|steps| steps[t]);
        let pack = |(t, w): (usize, Option<&[f32]>)| w.map(|w| PackedTable::new(w, 0.0, step(t)));
        let packed: Vec<Option<PackedTable>> =
            self.tables().into_iter().enumerate().map(pack).collect();
        let mut tensors = Vec::new();
        for ([values, bits], table) in TABLES.iter().zip(&packed) {
            let Some(table) = table else { continue };
            tensors.push((*bits, vec![table.places.len()], TensorData::U8(&table.places)));
            let (n, data) = match &table.values {
                PackedValues::F32(w) => (w.len(), TensorData::F32(w)),
                PackedValues::Bytes(w) => (w.len(), TensorData::U8(w)),
            };
            tensors.push((*values, vec![n], data));
        }
        if let Some(tagger) = &tagger {
            tensors.push((TAGGER, vec![tagger.len()], TensorData::U8(tagger)));
        }
        Ok(file::encode(&about, &tensors)?)
    }

    /// The tables in the order of their names.
    pub(super) fn tables(&self) -> [Option<&[f32]>; 3] {
        let Tables { pruner, trees, relations } = &self.tables;
        [Some(&trees[..]), relations.as_deref(), pruner.as_deref()]
    }

    pub(crate) fn from_file(file: &ModelFile) -> Result<Self, Error> {
        let bad = |name: &str, why: String| Error::from(file.bad_tensor(name, why));
        if file.model()["task"] != "dependency" {
            return Err(bad("model", "it is a model of another task, not of dependency".into()));
        }
        let about = About::deserialize(file.model())
            .map_err(|e| bad("model", format!("its description does not fit: {e}")))?;
        about.schema.check().map_err(|why| bad("model", format!("its relations: {why}")))?;
        let n_relations = about.schema.relations.len();
        let is_joint = about.spec.dependency.labeller == LabellerKind::Joint;
        let hash_bits = about.hash_bits.min(*HASH_BITS.end());
        let table_bits = if is_joint { hash_bits } else { RELATION_BITS };
        let has_pruner = file.u8(TABLES[2][1])?.is_some();
        let steps_fit = about.steps.is_none_or(|steps| steps.iter().all(|s| s.is_finite()));
        let fits = HASH_BITS.contains(&about.hash_bits)
            && about.spec.task == Task::Dependency
            && (1..=(1usize << table_bits) / 16).contains(&n_relations)
            && (!has_pruner || about.candidates >= 2)
            && about.root.is_none_or(|root| (root as usize) < n_relations)
            && matches!((about.decoder, about.order), (_, 1) | (DecoderKind::Projective, 2))
            && steps_fit;
        if !fits {
            return Err(bad("model", "its choices do not fit each other".into()));
        }
        let templates = about.templates().map_err(|e| bad("model", e.to_string()))?;
        let table = |t: usize, bits: u32| {
            let [values, bits_name] = TABLES[t];
            let set =
                file.u8(bits_name)?.ok_or_else(|| bad(bits_name, "it is not there".into()))?;
            let stored = match (file.tensor(values), about.steps) {
                (Some(TensorData::F32(w)), None) => ValuesOf::F32(w),
                (Some(TensorData::U8(w)), Some(steps)) => ValuesOf::Bytes(w, steps[t]),
                _ => {
                    return Err(bad(
                        values,
                        "it is not there, or of another type than described".into(),
                    ));
                }
            };
            PackedTable::unpack(set, stored, 1 << bits)
                .ok_or_else(|| bad(values, "its weights are not those of the table".into()))
        };
        let maybe =
            |t: usize, bits: u32| file.u8(TABLES[t][1])?.map(|_| table(t, bits)).transpose();
        let tables = Tables {
            pruner: maybe(2, PRUNER_BITS)?,
            trees: table(0, about.hash_bits)?,
            relations: if is_joint { None } else { Some(table(1, RELATION_BITS)?) },
        };
        let tagger = match file.u8(TAGGER)? {
            Some(bytes) => Some(Box::new(TagModel::from_bytes(bytes)?))
                .filter(|tagger| tagger.schema().format == Format::Conllu)
                .map(Some)
                .ok_or_else(|| bad(TAGGER, "it does not tag CoNLL-U".into()))?,
            None => None,
        };
        Ok(Self { templates, tables, tagger, about })
    }
}
