//! The walk over an example: each variable and each factor with its scores and its weights.

use crate::features::Vocabulary;
use crate::ground::Ground;
use crate::language::Declaration;
use std::ops::Range;

/// `f(parts, weights)` for each variable, then for each factor, in the order of the rows that [`Vocabulary::encode`] makes.
pub(super) fn each_block(
    declaration: &Declaration,
    vocabulary: &Vocabulary,
    ground: &Ground,
    mut f: impl FnMut(Range<usize>, Range<usize>),
) {
    let program = &ground.program;
    let weights = |block: usize| {
        let (start, n_features, n_labels) = vocabulary.block(block);
        start..start + n_features * n_labels
    };
    for (v, &kind) in ground.kinds.iter().enumerate() {
        f(program.start(v)..program.start(v + 1), weights(kind as usize));
    }
    let n_kinds = declaration.variables.len();
    for (factor, table) in ground.factors.iter().zip(program.tables()) {
        let block = n_kinds + declaration.factors[factor.factor].weights_of;
        f(table.start..table.start + table.len, weights(block));
    }
}
