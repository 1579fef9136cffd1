//! Symbols in words.

use super::Grammar;
use super::symbols::Kind;

impl Grammar {
    /// The name of a symbol: `NP`, `S+VP`, `@NP`, `@NP|DT` before a determiner, `NP^S` under S.
    pub fn name(&self, symbol: u32) -> String {
        let Some(symbol) = self.symbols.get(symbol as usize) else { return String::new() };
        let label = |&label: &u32| self.labels.name(label);
        let sibling = |&key: &u32| match key {
            1 => "?",
            key if key % 2 == 0 => self.labels.name(key / 2),
            key => self.tags.name((key - 3) / 2),
        };
        let mut name = match &symbol.kind {
            Kind::Word(tag) => tag.map_or("?", |tag| self.tags.name(tag)).to_string(),
            Kind::Phrase(labels) => labels.iter().map(label).collect::<Vec<_>>().join("+"),
            Kind::Rest { label: own, siblings } => {
                let mut name = format!("@{}", label(own));
                siblings.iter().for_each(|key| name.push_str(&format!("|{}", sibling(key))));
                name
            }
        };
        symbol.ancestors.iter().for_each(|above| name.push_str(&format!("^{}", label(above))));
        name
    }

    /// The name of a column: of the most frequent symbol that has it, without what it remembers.
    pub(crate) fn column_name(&self, column: usize) -> String {
        let symbol = self.columns.iter().position(|&own| own as usize == column);
        symbol.map_or("no phrase".into(), |symbol| self.bare_name(symbol))
    }

    /// The name of a category, likewise.
    pub(crate) fn category_name(&self, category: usize) -> String {
        let symbol = self.categories.iter().position(|&own| own as usize == category);
        symbol.map_or(String::new(), |symbol| {
            let label = self.labels.name(self.symbols[symbol].category().unwrap_or_default());
            if self.symbols[symbol].is_rest() { format!("@{label}") } else { label.into() }
        })
    }

    fn bare_name(&self, symbol: usize) -> String {
        match &self.symbols[symbol].kind {
            Kind::Rest { label, .. } => format!("@{}", self.labels.name(*label)),
            Kind::Phrase(labels) => {
                labels.iter().map(|&label| self.labels.name(label)).collect::<Vec<_>>().join("+")
            }
            Kind::Word(_) => self.name(symbol as u32),
        }
    }
}
