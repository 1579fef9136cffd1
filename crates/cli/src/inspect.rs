//! `lineal inspect`: what a model of any task is.

use crate::args::InspectArgs;
use crate::exit::usage;
use crate::program::{Program, with_model};
use crate::tag::weights;
use crate::{files, table};

/// Runs the command.
pub fn run(args: &InspectArgs) -> anyhow::Result<()> {
    if args.all {
        return match lineal::AnyModel::open(&args.model)? {
            lineal::AnyModel::Tag(model) => weights::write(&model, args.data.as_deref()),
            _ => usage("--all is for models of sequences; --top N shows N features of each class"),
        };
    }
    with_model!(&args.model, model => {
        if args.json {
            return files::json_to_stdout(&model.inspect_json(args.top));
        }
        let mut lines = table::pairs(&model.facts(), 0);
        lines.push(String::new());
        lines.extend(model.weight_lines(args.top));
        files::lines_to_stdout(&lines)
    })
}
