//! Features in a model file: settings as JSON, names and weights of words as tensors.

use super::numbers::Numbers;
use super::{Features, Learnt};
use crate::Error;
use lineal_data::Schema;
use lineal_features::map::FeatureMap;
use lineal_features::templates::{TemplateNames, Templates};
use lineal_features::text::{Collisions, TextEncoder, TextParts, TextSpec};
use lineal_model::file::{ModelFile, TensorData};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The tensors of a text encoder.
const TENSORS: [&str; 5] = ["text.names", "text.ends", "text.idf", "text.hashes", "text.votes"];

/// What the JSON of a model says of its features.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct AboutFeatures {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<TextSpec>,
    #[serde(default)]
    collisions: Collisions,
    #[serde(default)]
    numbers: Numbers,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    templates: Option<StoredTemplates>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    map: Option<FeatureMap>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct StoredTemplates {
    text: String,
    bits: u8,
    names: TemplateNames,
    /// The hashed columns that are features.
    kept: Vec<u32>,
}

/// A name, a shape and the data of a tensor.
type Tensor<'a> = (&'a str, Vec<usize>, TensorData<'a>);

impl Features {
    /// What goes into the JSON; `None` if there is nothing.
    pub(crate) fn about(&self) -> Option<AboutFeatures> {
        let text = self.text();
        (!self.is_empty()).then(|| AboutFeatures {
            text: text.map(|text| text.spec().clone()),
            collisions: text.and_then(TextEncoder::collisions).unwrap_or_default(),
            numbers: self.numbers.clone(),
            templates: self.learnt().map(|learnt| StoredTemplates {
                text: learnt.templates.text().to_owned(),
                bits: learnt.templates.bits(),
                names: learnt.names.clone(),
                kept: learnt.kept.clone(),
            }),
            map: self.map().cloned(),
        })
    }

    /// What goes into tensors.
    pub(crate) fn parts(&self) -> Option<TextParts<'_>> {
        self.text().map(TextEncoder::parts)
    }

    /// Takes up what a file holds, after checking it.
    pub(crate) fn from_file(
        file: &ModelFile,
        about: &AboutFeatures,
        schema: &Schema,
    ) -> Result<Self, Error> {
        let bad = |why: String| Error::from(file.bad_tensor(TENSORS[0], why));
        let text = match &about.text {
            Some(spec) => Some(Arc::new(read_text(file, spec, about.collisions, schema)?)),
            None => None,
        };
        let numbers = about.numbers.clone();
        let map = about.map.clone().map(Arc::new);
        let templates = match &about.templates {
            None => None,
            Some(StoredTemplates { text, bits, names, kept }) => {
                let templates = Templates::parse(text, *bits).map_err(|e| bad(e.to_string()))?;
                let (names, kept) = (names.clone(), kept.clone());
                Some(Arc::new(Learnt { templates, names, kept }))
            }
        };
        if text.is_some() && templates.is_some() {
            return Err(bad("features of text and of templates".to_owned()));
        }
        if templates.as_ref().is_some_and(|learnt| !learnt.is_whole()) {
            return Err(bad("features that its templates do not have".to_owned()));
        }
        let this = Self { text, numbers, templates, map };
        if let Some(map) = this.map() {
            map.check().map_err(|e| bad(e.to_string()))?;
        }
        let n_inputs = schema.n_read().saturating_add(this.n_of_text());
        let map_fits = this.map().is_none_or(|map| map.n_inputs() == n_inputs);
        if this.n_computed() != schema.n_computed
            || !about.numbers.fits(schema.n_read())
            || !map_fits
        {
            return Err(bad("there are not as many features as the schema says".to_owned()));
        }
        Ok(this)
    }
}

fn read_text(
    file: &ModelFile,
    spec: &TextSpec,
    collisions: Collisions,
    schema: &Schema,
) -> Result<TextEncoder, Error> {
    let [names, ends, idf, hashes, votes] = TENSORS;
    let parts = TextParts {
        bytes: file.u8(names)?.unwrap_or_default().into(),
        ends: file.u32(ends)?.unwrap_or_default().into(),
        idf: file.f32(idf)?.unwrap_or_default().into(),
        hashes: file.u32(hashes)?.unwrap_or_default().into(),
        votes: file.u32(votes)?.unwrap_or_default().into(),
        collisions,
    };
    let bad = |why: String| Error::from(file.bad_tensor(names, why));
    if spec.slots.len() != schema.text_columns().count() {
        return Err(bad("the features are of other text columns".to_owned()));
    }
    TextEncoder::from_parts(spec.clone(), parts).map_err(|e| bad(e.to_string()))
}

/// The parts that are not empty, as tensors.
pub(crate) fn tensors<'a>(parts: &'a TextParts<'a>) -> Vec<Tensor<'a>> {
    let [names, ends, idf, hashes, votes] = TENSORS;
    let all = [
        (names, parts.bytes.len(), TensorData::U8(&parts.bytes)),
        (ends, parts.ends.len(), TensorData::U32(&parts.ends)),
        (idf, parts.idf.len(), TensorData::F32(&parts.idf)),
        (hashes, parts.hashes.len(), TensorData::U32(&parts.hashes)),
        (votes, parts.votes.len(), TensorData::U32(&parts.votes)),
    ];
    all.into_iter()
        .filter(|(_, n, _)| *n > 0)
        .map(|(name, n, data)| (name, vec![n], data))
        .collect()
}
