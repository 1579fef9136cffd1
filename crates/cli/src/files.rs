//! Output files: checked before the work, written whole or not at all.

use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, bail};

use crate::exit::usage;

/// The text of a file, without the byte order mark that some editors put first; `what` names the file in messages.
pub fn read_text(path: &Path, what: &str) -> anyhow::Result<String> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the {what} {}", path.display()))?;
    Ok(match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    })
}

/// Fails early on an output that cannot be written or that would overwrite one of the inputs.
pub fn check_output(output: &Path, inputs: &[&Path]) -> anyhow::Result<()> {
    let shown = output.display();
    if output.extension().is_some_and(|end| end.eq_ignore_ascii_case("parquet")) {
        bail!(
            "cannot write {shown}: Parquet is read and not written; give a name in .csv or .jsonl"
        );
    }
    if output
        .extension()
        .is_some_and(|end| ["gz", "zst"].iter().any(|packed| end.eq_ignore_ascii_case(packed)))
    {
        bail!(
            "cannot write {shown}: compressed files are read and not written; leave the last extension out and compress the file, or pipe the output through gzip"
        );
    }
    if output.is_dir() {
        bail!("cannot write {shown}: it is a folder; give a file name in it");
    }
    let folder = output.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        bail!("cannot write {shown}: there is no folder {}; make it first", folder.display());
    }
    let same = |input: &&&Path| match (output.canonicalize(), input.canonicalize()) {
        (Ok(a), Ok(b)) => a == b && a.is_file(),
        _ => false,
    };
    match inputs.iter().find(same) {
        Some(_) => usage(format!("{shown} is also an input; give the output another name")),
        None => Ok(()),
    }
}

/// [`check_output`] of several outputs, of which none may overwrite another.
pub fn check_outputs(outputs: &[&Path], inputs: &[&Path]) -> anyhow::Result<()> {
    // Of a file that is not there yet, only the folder has a place.
    let place = |path: &Path| {
        let folder = path.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
        path.canonicalize()
            .or_else(|_| Ok(folder.canonicalize()?.join(path.file_name().unwrap_or_default())))
            .unwrap_or_else(|_: io::Error| path.to_owned())
    };
    for (at, output) in outputs.iter().enumerate() {
        check_output(output, inputs)?;
        if outputs[..at].iter().any(|other| place(other) == place(output)) {
            return usage(format!(
                "{} would be written twice; give each output a name of its own",
                output.display()
            ));
        }
    }
    Ok(())
}

/// Writes a text output: to `path`, or to stdout for none or `-`.
pub fn write_output(
    path: Option<&Path>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> anyhow::Result<()> {
    match path.filter(|path| *path != Path::new("-")) {
        None => to_stdout(write),
        // Its errors name the file.
        Some(path) => Ok(lineal::write_atomically(path, write)?),
    }
}

/// Data on stdout, flushed.
pub fn to_stdout(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> anyhow::Result<()> {
    if lineal::linalg::process::stdout_was_closed() {
        bail!("cannot write to standard output: it is closed; open it, or give a file with -o");
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    write(&mut out).and_then(|()| out.flush()).context("cannot write to standard output")
}

/// Lines on stdout.
pub fn lines_to_stdout(lines: &[String]) -> anyhow::Result<()> {
    to_stdout(|out| lines.iter().try_for_each(|line| writeln!(out, "{line}")))
}

/// One JSON object on stdout.
pub fn json_to_stdout(value: &impl serde::Serialize) -> anyhow::Result<()> {
    let text = serde_json::to_string(value)?;
    to_stdout(|out| writeln!(out, "{text}"))
}
