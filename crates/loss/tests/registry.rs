//! Every loss on every space that it takes, and properties that hold for all of them.
//!
//! A new loss is one line in [`registry`]; everything in `registry/` then runs on it, in f64 and in f32.
#![allow(missing_docs, reason = "a test")]

#[path = "registry/case.rs"]
mod case;
#[path = "registry/derivatives.rs"]
mod derivatives;
#[path = "registry/duals.rs"]
mod duals;
#[path = "registry/shapes.rs"]
mod shapes;

use case::{Case, Feasible, Gap, convex, smooth};
use lineal_linalg::Scalar;
use lineal_loss::{
    Epsilon, HardMargin, Hinge, Huber, Logistic, Squared, SquaredHinge, SumHinge, SumSquaredHinge,
};
use lineal_model::cost::{CostMatrix, NoCost, ZeroOne};
use lineal_model::space::{Binary, Classes, Real};

/// A loss with no cost, with a cost of 1 for every mistake and with a table of costs.
macro_rules! with_costs {
    ($make:ident, $loss:ident, $space:expr, $feasible:expr, $gap:expr, $cost:expr) => {
        [
            $make(concat!(stringify!($loss), "(NoCost)"), $space, $loss(NoCost), $feasible, $gap),
            $make(concat!(stringify!($loss), "(ZeroOne)"), $space, $loss(ZeroOne), $feasible, $gap),
            $make(concat!(stringify!($loss), "(table)"), $space, $loss($cost), $feasible, $gap),
        ]
    };
}

/// All of them; `cost` gives the table for that many classes. (Hinge and SumHinge without cost are the perceptrons.)
fn registry<F: Scalar>(cost: &dyn Fn(usize) -> CostMatrix) -> Vec<Case<F>> {
    use Feasible::{Flow, FlowEach, FlowTotal, Free, Interval};
    use Gap::{Estimate, Exact};
    let mut all = vec![
        smooth("Squared", Real, Squared, Free, Exact),
        smooth("Huber", Real, Huber { delta: 1.5 }, Interval(1.5), Exact),
        convex("Epsilon", Real, Epsilon { epsilon: 0.3 }, Interval(1.0), Exact),
        smooth("Squared", Binary, Squared, Free, Exact),
    ];
    all.extend(with_costs!(convex, Hinge, Binary, FlowTotal, Exact, cost(2)));
    all.extend(with_costs!(smooth, SquaredHinge, Binary, Flow, Exact, cost(2)));
    all.extend(with_costs!(convex, HardMargin, Binary, Flow, Exact, cost(2)));
    all.extend(with_costs!(smooth, Logistic, Binary, FlowTotal, Estimate, cost(2)));
    for k in [2, 3, 7] {
        let space = Classes(k);
        all.push(smooth("Squared", space, Squared, Free, Exact));
        all.extend(with_costs!(convex, Hinge, space, FlowTotal, Exact, cost(k)));
        all.extend(with_costs!(convex, SumHinge, space, FlowEach, Exact, cost(k)));
        all.extend(with_costs!(convex, SquaredHinge, space, Flow, Exact, cost(k)));
        all.extend(with_costs!(smooth, SumSquaredHinge, space, Flow, Exact, cost(k)));
        all.extend(with_costs!(convex, HardMargin, space, Flow, Exact, cost(k)));
        all.extend(with_costs!(smooth, Logistic, space, FlowTotal, Estimate, cost(k)));
    }
    all
}
