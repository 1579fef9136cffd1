//! From the name of a loss to its type: the one place where a choice of the user becomes code.
//!
//! Each macro runs `$run!(level, space, loss)` for the loss that was chosen, `level` being what solvers can do with it: `convex` (sgd, dual), `smooth` (all but exact) or
//! `squared` (all). Whoever trains rows, joint features, columns or a stream brings its own `$run`.

/// A loss with the user's costs, or with its own.
macro_rules! costed {
    ($run:ident, $level:ident, $space:tt, $cost:expr, $loss:ident($own:expr)) => {
        match $cost {
            Some(cost) => $run!($level, $space, $loss(cost)),
            None => $run!($level, $space, $loss($own)),
        }
    };
}

/// Losses of classes: `$two` tells whether there are two, in the space `$binary`; several are in `$many`.
macro_rules! with_class_loss {
    ($run:ident, $kind:expr, $two:expr, $sum:expr, $cost:expr, $binary:tt, $many:tt) => {{
        use crate::train::losses::costed;
        use $crate::request::spec::LossKind as L;
        match ($kind, $two, $sum) {
            (L::Perceptron, true, _) => $run!(convex, $binary, Hinge(NoCost)),
            (L::Perceptron, _, false) => $run!(convex, $many, Hinge(NoCost)),
            (L::Perceptron, _, true) => $run!(convex, $many, SumHinge(NoCost)),
            (L::Hinge, true, _) => costed!($run, convex, $binary, $cost, Hinge(ZeroOne)),
            (L::Hinge, _, false) => costed!($run, convex, $many, $cost, Hinge(ZeroOne)),
            (L::Hinge, _, true) => costed!($run, convex, $many, $cost, SumHinge(ZeroOne)),
            (L::SquaredHinge, true, _) => {
                costed!($run, smooth, $binary, $cost, SquaredHinge(ZeroOne))
            }
            (L::SquaredHinge, _, false) => {
                costed!($run, convex, $many, $cost, SquaredHinge(ZeroOne))
            }
            (L::SquaredHinge, _, true) => {
                costed!($run, smooth, $many, $cost, SumSquaredHinge(ZeroOne))
            }
            (L::Squared, true, _) => $run!(squared, $binary, Squared),
            (L::Squared, ..) => $run!(squared, $many, Squared),
            (L::Logistic | L::Huber | L::Epsilon, true, _) => {
                costed!($run, smooth, $binary, $cost, Logistic(NoCost))
            }
            (L::Logistic | L::Huber | L::Epsilon, ..) => {
                costed!($run, smooth, $many, $cost, Logistic(NoCost))
            }
        }
    }};
}

/// Losses of numbers.
macro_rules! with_real_loss {
    ($run:ident, $kind:expr, $delta:expr, $epsilon:expr) => {
        match $kind {
            LossKind::Huber => $run!(smooth, Real, Huber { delta: $delta }),
            LossKind::Epsilon => $run!(convex, Real, Epsilon { epsilon: $epsilon }),
            _ => $run!(squared, Real, Squared),
        }
    };
}

/// Losses of one binary problem among many: `$run!(level, loss)`.
macro_rules! with_column_loss {
    ($run:ident, $kind:expr) => {
        match $kind {
            LossKind::Perceptron => $run!(convex, Hinge(NoCost)),
            LossKind::Hinge => $run!(convex, Hinge(ZeroOne)),
            LossKind::SquaredHinge => $run!(smooth, SquaredHinge(ZeroOne)),
            _ => $run!(smooth, Logistic(NoCost)),
        }
    };
}

pub(crate) use {costed, with_class_loss, with_column_loss, with_real_loss};
