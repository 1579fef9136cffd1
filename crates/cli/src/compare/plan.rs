//! Which strategies and losses run on this data, and which do not, and why.

use lineal::{Bias, Dataset, LossKind, Penalty, Strategy, Task};

use crate::args::CompareArgs;
use crate::rows::guess;
use crate::talk::{bytes, count, thousands};

/// With more classes than this, one-vs-one runs only if it is named.
const OVO_CLASSES: usize = 200;
/// With more weights than this (4 GB in single precision), a strategy runs only if it is named.
const WEIGHTS: usize = 1 << 30;

/// The runs of a comparison.
pub struct Plan {
    pub runs: Vec<(Strategy, LossKind)>,
    pub left_out: Vec<LeftOut>,
}

/// What does not run.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct LeftOut {
    /// Of classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strategy: Option<Strategy>,
    /// `null` for all.
    pub loss: Option<String>,
    pub reason: String,
}

/// The strategies of a task.
pub fn usual(task: Task) -> &'static [Strategy] {
    match task {
        Task::Multilabel => &[Strategy::Ova, Strategy::Tree],
        Task::Regress => &[Strategy::Joint],
        _ => Strategy::ALL,
    }
}

impl Plan {
    /// The runs that the flags ask for and the data allows.
    pub fn new(args: &CompareArgs, losses: &[LossKind], data: &Dataset) -> Self {
        let named = &args.strategies;
        let two_classes = args.task == Task::Classify && data.schema.classes.len() == 2;
        let strategies: Vec<Strategy> = match named.as_slice() {
            [] if two_classes => vec![Strategy::Joint],
            [] => usual(args.task).to_vec(),
            named => without_repeats(named),
        };
        let mut plan = Self { runs: Vec::new(), left_out: Vec::new() };
        for (i, &strategy) in strategies.iter().enumerate() {
            if two_classes && i > 0 {
                plan.leave_out(
                    strategy,
                    None,
                    "two classes are one binary problem by any strategy",
                );
                continue;
            }
            if named.is_empty()
                && let Some(reason) = too_large(strategy, args, data)
            {
                plan.leave_out(strategy, None, &reason);
                continue;
            }
            for &loss in losses {
                match reason_against(strategy, loss, args, two_classes) {
                    Some(reason) => plan.leave_out(strategy, Some(loss), reason),
                    None => plan.runs.push((strategy, loss)),
                }
            }
        }
        plan
    }

    fn leave_out(&mut self, strategy: Strategy, loss: Option<LossKind>, reason: &str) {
        let loss = loss.map(|loss| loss.to_string());
        self.left_out.push(LeftOut { strategy: Some(strategy), loss, reason: reason.to_owned() });
    }
}

fn without_repeats<T: Copy + PartialEq>(given: &[T]) -> Vec<T> {
    let mut once = Vec::new();
    for &one in given {
        if !once.contains(&one) {
            once.push(one);
        }
    }
    once
}

/// Why a strategy is not run unless it is named.
fn too_large(strategy: Strategy, args: &CompareArgs, data: &Dataset) -> Option<String> {
    let k = data.schema.classes.len();
    let n_columns = match strategy {
        Strategy::Joint | Strategy::Ova => k,
        Strategy::Ovo => k * k.saturating_sub(1) / 2,
        // A tree's nodes hold the features that their rows have, and codes are as long as they were asked to be.
        Strategy::Ecoc => args.reduction.code_length.unwrap_or(0),
        Strategy::Tree => 0,
    };
    let name_it = format!("--strategies {strategy} runs it all the same");
    if strategy == Strategy::Ovo && k > OVO_CLASSES {
        return Some(format!(
            "{} classes are {} in pairs; {name_it}",
            thousands(k),
            count(n_columns, "binary problem")
        ));
    }
    let has_bias = usize::from(args.model.bias() != Bias::None);
    let n_weights = n_columns.saturating_mul(data.n_features() + has_bias);
    (n_weights > WEIGHTS)
        .then(|| format!("its weights would take {}; {name_it}", bytes(4 * n_weights as u64)))
}

/// Why a strategy cannot run with a loss.
fn reason_against(
    strategy: Strategy,
    loss: LossKind,
    args: &CompareArgs,
    two_classes: bool,
) -> Option<&'static str> {
    let in_columns = !two_classes && strategy != Strategy::Joint;
    let penalised = args.penalty.of(Some(loss)) != Penalty::L2(0.0);
    let of_numbers = matches!(loss, LossKind::Huber | LossKind::Epsilon);
    match (strategy, loss) {
        _ if args.task != Task::Regress && of_numbers => Some("it is a loss of numbers"),
        _ if args.task == Task::Regress && guess::is_of_classes(loss) => {
            Some("it is a loss of classes")
        }
        (_, LossKind::Squared) if in_columns => {
            Some("least squares treats classes one by one in joint already")
        }
        (Strategy::Tree, _) if in_columns && !penalised => {
            Some("a label tree is trained in the dual, which needs a penalty")
        }
        _ => None,
    }
}
