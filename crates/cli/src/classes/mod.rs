//! What the flags about several classes mean for the classes of the data: output codes and label trees from files name
//! classes as the data does.

mod code;
mod tree;

use std::path::Path;

use anyhow::{Context, bail};
use lineal::{CodeKind, ReductionSpec, TreeKind};

use crate::args::{CodeArg, ReductionArgs, TreeArg};

/// The choices as they were typed, without what is in files.
pub fn typed(args: &ReductionArgs) -> ReductionSpec {
    let defaults = ReductionSpec::default();
    ReductionSpec {
        pairs: args.pairs.unwrap_or(defaults.pairs),
        code: match &args.code {
            None => defaults.code,
            Some(CodeArg::Made(kind)) => *kind,
            Some(CodeArg::File(_)) => CodeKind::File,
        },
        code_length: args.code_length,
        decoding: args.decoding.unwrap_or(defaults.decoding),
        tree: match &args.tree {
            None => defaults.tree,
            Some(TreeArg::Made(kind)) => *kind,
            Some(TreeArg::File(_)) => TreeKind::File,
        },
        leaf_size: args.leaf_size,
        beam: args.beam.unwrap_or(defaults.beam),
        ..defaults
    }
}

/// The same with the code and the tree of files, for these classes.
pub fn with_files(args: &ReductionArgs, classes: &[String]) -> anyhow::Result<ReductionSpec> {
    let mut spec = typed(args);
    if let Some(CodeArg::File(path)) = &args.code {
        let text =
            read(path, "--code", "dense, sparse, exhaustive, hadamard, bch, greedy, ova, ovo")?;
        spec.code_text = Some(code::of_classes(&text, &path.display().to_string(), classes)?);
    }
    if let Some(TreeArg::File(path)) = &args.tree {
        let text = read(path, "--tree", "clusters, random, huffman")?;
        spec.tree_text = Some(tree::of_classes(&text, &path.display().to_string(), classes)?);
    }
    Ok(spec)
}

fn read(path: &Path, flag: &str, names: &str) -> anyhow::Result<String> {
    if !path.exists() {
        bail!("{flag} {0}: it is none of {names}, and there is no file {0}", path.display());
    }
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

/// The first classes, to remind of.
fn reminder(classes: &[String]) -> String {
    let shown: Vec<&str> = classes.iter().take(10).map(String::as_str).collect();
    let more = if classes.len() > 10 { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}

/// The number of a class that the data has.
fn class_of(name: &str, classes: &[String]) -> Result<usize, String> {
    classes.iter().position(|class| class == name).ok_or_else(|| {
        format!("`{name}` is not a class of the data, which are {}", reminder(classes))
    })
}
