//! From a strategy and the data's classes to the columns that will be trained.

use crate::Error;
use crate::predict::layout::{self, Layout};
use crate::request::spec::{Penalty, Strategy, TrainSpec};
use lineal_data::Targets;
use lineal_erm::columns::{ColumnScale, NodePenalty};
use lineal_model::cost::CostMatrix;
use lineal_model::space::Signs;

/// The binary problems of a run, side by side.
pub(crate) struct Plan {
    pub layout: Layout,
    pub n_columns: usize,
    /// What a column's value counts in sums.
    pub report: Vec<f64>,
    /// λ over the mean of all rows.
    pub l2: f64,
    /// Rows that the problems see, summed.
    pub rows: u64,
    /// How many columns are trained together, block by block; none where every row takes part in every column.
    pub side_by_side: Vec<usize>,
    /// The signed weight of each class in each column, where it is not one-vs-all with equal weights.
    table: Option<Vec<f64>>,
}

impl Plan {
    pub(crate) fn new(
        spec: &TrainSpec,
        n_classes: usize,
        y: &Targets,
        weights: Option<&[f32]>,
        total: f64,
    ) -> Result<Self, Error> {
        let Targets::Classes(y) = y else {
            return Ok(Self {
                layout: Layout::Labels,
                n_columns: n_classes,
                report: vec![1.0; n_classes],
                l2: spec.penalty.l2(total),
                rows: (y.len() * n_classes) as u64,
                side_by_side: Vec::new(),
                table: None,
            });
        };
        let layout = match spec.strategy {
            Strategy::Ovo => Layout::Ovo,
            Strategy::Ecoc => {
                let code = layout::code(&spec.reduction, n_classes, spec.seed)?;
                let words = (0..n_classes).map(|k| word(code.row(k))).collect();
                Layout::Code { words }
            }
            _ => Layout::Ova,
        };
        let mut weight = vec![0.0f64; n_classes];
        let mut count = vec![0u64; n_classes];
        for (i, &k) in y.iter().enumerate() {
            weight[k as usize] += weights.map_or(1.0, |w| f64::from(w[i]));
            count[k as usize] += 1;
        }
        let (n_columns, table) = match (&layout, &spec.cost) {
            (Layout::Ova, None) => (n_classes, None),
            (Layout::Ovo, cost) => {
                let pairs = layout::pairs(n_classes);
                (pairs.len(), Some(duels(&pairs, n_classes, cost.as_ref())))
            }
            (layout, cost) => {
                let words = signs(layout, n_classes);
                (words[0].len(), Some(weighted(&words, cost.as_ref())))
            }
        };
        let Some(mut table) = table else {
            let rows = (y.len() * n_columns) as u64;
            let report = vec![1.0; n_columns];
            let l2 = spec.penalty.l2(total);
            let side_by_side = Vec::new();
            return Ok(Self { layout, n_columns, report, l2, rows, side_by_side, table: None });
        };
        let mut own = vec![0.0f64; n_columns];
        let mut rows = 0;
        for (k, signed) in table.chunks_exact(n_columns).enumerate() {
            for (own, c) in own.iter_mut().zip(signed) {
                *own += weight[k] * c.abs();
                rows += if *c == 0.0 { 0 } else { count[k] };
            }
        }
        let penalty = node_penalty(spec.penalty);
        let scale: Vec<ColumnScale> =
            own.iter().map(|&own| penalty.of_column(own, total)).collect();
        for signed in table.chunks_exact_mut(n_columns) {
            signed.iter_mut().zip(&scale).for_each(|(c, s)| *c *= s.examples);
        }
        let report = scale.iter().map(|s| s.report).collect();
        let l2 = scale[0].l2;
        let side_by_side = match (&layout, &spec.cost) {
            (Layout::Ovo, None) => layout::squares(n_classes).iter().map(Vec::len).collect(),
            _ => Vec::new(),
        };
        Ok(Self { layout, n_columns, report, l2, rows, side_by_side, table: Some(table) })
    }

    /// What the columns ask.
    pub(crate) fn signs<'a>(&'a self, y: &'a Targets) -> Signs<'a> {
        match (&self.table, y) {
            (Some(table), _) => Signs::Table { table, n_columns: self.n_columns },
            (None, Targets::Labels(labels)) => {
                Signs::Labels { start: labels.starts(), ids: labels.ids() }
            }
            (None, _) => Signs::OneVsAll,
        }
    }
}

/// The signed weight of each class in each column of one-vs-all or one-vs-one; `None` for one-vs-all with equal weights.
pub(crate) fn table(
    strategy: Strategy,
    n_classes: usize,
    cost: Option<&CostMatrix>,
) -> Option<Vec<f64>> {
    match strategy {
        Strategy::Ovo => Some(duels(&layout::pairs(n_classes), n_classes, cost)),
        _ => cost.map(|cost| weighted(&signs(&Layout::Ova, n_classes), Some(cost))),
    }
}

/// The kind of each row: its class, or its own number where rows have lists of labels.
pub(crate) fn kinds(y: &Targets) -> Vec<u32> {
    match y {
        Targets::Classes(y) => y.clone(),
        y => (0..y.len() as u32).collect(),
    }
}

pub(crate) fn node_penalty(penalty: Penalty) -> NodePenalty {
    match penalty {
        Penalty::L2(l2) => NodePenalty::L2(l2),
        Penalty::C(c) => NodePenalty::C(c),
    }
}

fn word(row: &[i8]) -> String {
    row.iter().map(|c| ['-', '0', '+'][(c + 1) as usize]).collect()
}

fn signs(layout: &Layout, n_classes: usize) -> Vec<Vec<i8>> {
    match layout {
        Layout::Code { words } => words
            .iter()
            .map(|word| {
                word.chars()
                    .map(|c| match c {
                        '+' => 1,
                        '-' => -1,
                        _ => 0,
                    })
                    .collect()
            })
            .collect(),
        _ => (0..n_classes)
            .map(|k| (0..n_classes).map(|l| if k == l { 1 } else { -1 }).collect())
            .collect(),
    }
}

/// Codewords, each example weighted by what a wrong answer costs: the mean cost of the classes on the other side of its column.
fn weighted(words: &[Vec<i8>], cost: Option<&CostMatrix>) -> Vec<f64> {
    let n_columns = words[0].len();
    let mut table = Vec::with_capacity(words.len() * n_columns);
    for (gold, word) in words.iter().enumerate() {
        for (l, &sign) in word.iter().enumerate() {
            let weight = match cost {
                None => 1.0,
                Some(cost) => {
                    let costs = cost.row(gold as u32);
                    let others: Vec<f64> = (0..words.len())
                        .filter(|&k| words[k][l] == -sign && sign != 0)
                        .map(|k| costs[k])
                        .collect();
                    others.iter().sum::<f64>() / others.len().max(1) as f64
                }
            };
            table.push(f64::from(sign) * weight);
        }
    }
    table
}

/// One-vs-one. With costs, weighted all pairs: every row takes part in every duel, on the cheaper side, with the difference as its weight
/// (Beygelzimer et al., *Error limiting reductions between classification tasks*, ICML 2005).
fn duels(pairs: &[(u32, u32)], n_classes: usize, cost: Option<&CostMatrix>) -> Vec<f64> {
    let mut table = Vec::with_capacity(n_classes * pairs.len());
    for gold in 0..n_classes as u32 {
        table.extend(pairs.iter().map(|&(a, b)| match cost {
            None => f64::from(u8::from(gold == a)) - f64::from(u8::from(gold == b)),
            Some(cost) => cost.row(gold)[b as usize] - cost.row(gold)[a as usize],
        }));
    }
    table
}
