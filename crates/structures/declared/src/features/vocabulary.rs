//! Numbers for the features that training met.

use super::extract::{each_feature, each_template};
use super::template::Template;
use crate::ground::{Examples, Ground};
use crate::language::Declaration;
use lineal_linalg::SparseRows;
use std::collections::HashMap;

/// Which features each kind of variables and each factor has, by the hash of their names, and where their weights lie.
///
/// The weights of one feature for all labels (or joint labels) stand side by side; features of a kind follow each other in the order of their numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Vocabulary {
    blocks: Vec<Block>,
    dim: usize,
}

#[derive(Clone, Debug, PartialEq)]
struct Block {
    /// Hashes in the order of their numbers.
    hashes: Vec<u64>,
    numbers: HashMap<u64, u32>,
    n_labels: usize,
    start: usize,
}

/// Rows of features of an example: one for each variable, then one for each factor.
pub(crate) type Rows = SparseRows;

impl Vocabulary {
    /// Numbers the features that come at least `min_count` times. A bias always does.
    pub fn learn(declaration: &Declaration, examples: &Examples, min_count: usize) -> Self {
        let n_kinds = declaration.variables.len();
        let n_blocks = n_kinds + declaration.factors.len();
        let mut counts: Vec<HashMap<u64, usize>> = vec![HashMap::new(); n_blocks];
        let mut orders: Vec<Vec<u64>> = vec![Vec::new(); n_blocks];
        for ground in examples.iter() {
            each_row(declaration, ground, &mut |block, variable, templates| {
                let each = if block < n_kinds { each_feature } else { each_template };
                each(declaration, ground, variable, templates, &mut |name, _| {
                    let hash = hash(name);
                    let count = counts[block].entry(hash).or_insert(0);
                    if *count == 0 {
                        orders[block].push(hash);
                    }
                    *count += 1;
                });
            });
        }
        let bias = hash("bias");
        let keep = |(order, counts): (&Vec<u64>, &HashMap<u64, usize>)| -> Vec<u64> {
            let often = |h: &&u64| counts.get(h).is_some_and(|&n| n >= min_count);
            let rest = order.iter().filter(|h| **h != bias).filter(often).copied();
            std::iter::once(bias).chain(rest).collect()
        };
        let mut hashes: Vec<Vec<u64>> = orders.iter().zip(&counts).map(keep).collect();
        for (f, factor) in
            declaration.factors.iter().enumerate().filter(|(f, factor)| factor.weights_of != *f)
        {
            debug_assert!(factor.weights_of < f);
            hashes[n_kinds + f].clear();
        }
        Self::from_hashes(declaration, hashes).unwrap_or(Self { blocks: Vec::new(), dim: 0 })
    }

    /// From stored hashes: a list for each kind of variables, then for each factor. `None` if they do not fit the declaration.
    pub fn from_hashes(declaration: &Declaration, hashes: Vec<Vec<u64>>) -> Option<Self> {
        let (n_kinds, n_factors) = (declaration.variables.len(), declaration.factors.len());
        if hashes.len() != n_kinds + n_factors {
            return None;
        }
        let mut dim = 0usize;
        let mut blocks = Vec::new();
        for (b, hashes) in hashes.into_iter().enumerate() {
            let n_labels = if b < n_kinds {
                declaration.variables[b].labels.len()
            } else {
                let kinds = &declaration.factors[b - n_kinds].kinds;
                kinds.iter().map(|&kind| declaration.variables[kind].labels.len()).product()
            };
            let numbers: HashMap<u64, u32> = hashes.iter().copied().zip(0..).collect();
            if numbers.len() != hashes.len() {
                return None;
            }
            let start = dim;
            dim = dim.checked_add(hashes.len().checked_mul(n_labels)?)?;
            blocks.push(Block { hashes, numbers, n_labels, start });
        }
        Some(Self { blocks, dim })
    }

    /// How many weights there are.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// The hashes, to be stored.
    pub fn hashes(&self) -> Vec<&[u64]> {
        self.blocks.iter().map(|block| &block.hashes[..]).collect()
    }

    /// The number of a feature of a block (a kind of variables, or after those a factor).
    pub(crate) fn number(&self, block: usize, name: &str) -> Option<u32> {
        self.blocks[block].numbers.get(&hash(name)).copied()
    }

    /// The weights of a block: where they begin, how many features, how many labels.
    pub(crate) fn block(&self, block: usize) -> (usize, usize, usize) {
        let block = &self.blocks[block];
        (block.start, block.hashes.len(), block.n_labels)
    }

    /// Appends a row for each variable and factor of an example.
    pub(crate) fn encode(&self, declaration: &Declaration, ground: &Ground, rows: &mut Rows) {
        let n_kinds = declaration.variables.len();
        each_row(declaration, ground, &mut |block, variable, templates| {
            let each = if block < n_kinds { each_feature } else { each_template };
            each(declaration, ground, variable, templates, &mut |name, value| {
                if let Some(number) = self.number(block, name) {
                    rows.push_value(number, value);
                }
            });
            rows.end_row();
        });
    }
}

/// `f(block, variable, templates)` for each variable and then each factor of an example.
fn each_row<'a>(
    declaration: &'a Declaration,
    ground: &Ground,
    f: &mut dyn FnMut(usize, usize, &'a [Template]),
) {
    for (variable, &kind) in ground.kinds.iter().enumerate() {
        f(kind as usize, variable, &declaration.variables[kind as usize].templates);
    }
    for factor in &ground.factors {
        let declared = &declaration.factors[factor.factor];
        let shared = &declaration.factors[declared.weights_of];
        let block = declaration.variables.len() + declared.weights_of;
        f(block, factor.subject as usize, &shared.templates);
    }
}

/// FNV-1a with a final mix.
fn hash(name: &str) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for byte in name.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
