//! Models in the formats of other programs.

use std::path::Path;

use anyhow::{Context, bail};
use lineal::{AnyModel, Model, ModelFormat, Task};

use crate::args::ConvertArgs;
use crate::files;
use crate::talk::{Talk, bytes};

/// The format that a model is to be written in; `None` where data is meant.
pub fn format(args: &ConvertArgs) -> Option<ModelFormat> {
    match args.to {
        Some(to) => to.model(),
        None => ModelFormat::from_name(&args.out),
    }
}

/// Reads a model of any program, and writes it for another.
pub fn run(args: &ConvertArgs, to: ModelFormat) -> anyhow::Result<()> {
    let talk = Talk::new(args.run.quiet);
    let shown = args.data.display();
    if args.data == Path::new("-") {
        bail!("a model is read from a file, not from standard input; save it first");
    }
    let read = std::fs::read(&args.data).with_context(|| format!("cannot read {shown}"))?;
    let model = match ModelFormat::of_bytes(&read) {
        // Mapped, checked, and of any task.
        Some(ModelFormat::Lineal) => match AnyModel::open(&args.data)? {
            AnyModel::Rows(model) => *model,
            other => bail!("{shown}: {}", only_here(other.task())),
        },
        Some(_) => Model::import(&shown.to_string(), &read)?,
        None => bail!(
            "{shown} is not a model: {to} is a format of models, and Lineal's, LIBLINEAR's and ONNX's are read; for data give --to csv, tsv, jsonl, libsvm, vw or fasttext"
        ),
    };
    let exported = model.export(to).with_context(|| shown.to_string())?;
    exported.notes.iter().for_each(|note| talk.say(format_args!("{note}")));
    files::write_output(Some(&args.out), |out| out.write_all(&exported.bytes))?;
    let size = bytes(exported.bytes.len() as u64);
    talk.say(format_args!("wrote {} ({to}, {size})", args.out.display()));
    Ok(())
}

fn only_here(task: Task) -> String {
    format!(
        "models of the task {task} have no form in other programs; classes, labels and numbers do"
    )
}
