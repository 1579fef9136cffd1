//! Metrics of a parser on annotated sentences.

use super::model::DependencyModel;
use super::parser::Parsed;
use crate::Error;
use lineal_data::{ConlluColumn, Treebank};
use lineal_metrics::{DependencyMetrics, ParsedTrees, dependencies};

impl DependencyModel {
    /// Parses the sentences and compares with their trees.
    pub fn evaluate(&self, data: &Treebank) -> Result<DependencyMetrics, Error> {
        self.compare(data, &self.parse(data)?)
    }

    /// Compares trees at hand with those of the data.
    pub fn compare(&self, data: &Treebank, parsed: &[Parsed]) -> Result<DependencyMetrics, Error> {
        let heads: Vec<u32> = parsed.iter().flat_map(|p| &p.heads).copied().collect();
        let deprels: Vec<u32> = parsed.iter().flat_map(|p| &p.relations).copied().collect();
        let ends = (0..data.len()).map(|i| data.tokens(i).end);
        let start: Vec<usize> = [0].into_iter().chain(ends).collect();
        let is_punct: Option<Vec<bool>> = data.has_column(ConlluColumn::Upos).then(|| {
            let tags = data
                .iter()
                .flat_map(|s| (0..s.len()).map(move |t| s.cell(t, ConlluColumn::Upos) == "PUNCT"));
            tags.collect()
        });
        Ok(dependencies(&ParsedTrees {
            start: &start,
            gold_heads: data.heads(),
            gold_deprels: data.deprels(),
            heads: &heads,
            deprels: &deprels,
            relations: &data.relations,
            n_known: self.relations().len(),
            is_punct: is_punct.as_deref(),
        })?)
    }
}
