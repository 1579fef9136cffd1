//! `lineal completions` and `lineal man`: what shells and manuals say of the program.

use std::path::Path;

use anyhow::bail;
use clap_mangen::Man;

use crate::args::{CompletionsArgs, ManArgs};
use crate::{files, help};

/// Runs `completions`.
pub fn completions(args: &CompletionsArgs) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut help::command(), "lineal", &mut script);
    files::to_stdout(|out| out.write_all(&script))
}

/// Runs `man`.
pub fn man(args: &ManArgs) -> anyhow::Result<()> {
    let mut command = help::command();
    command.build();
    let Some(folder) = &args.folder else {
        let page = page(&command)?;
        return files::to_stdout(|out| out.write_all(&page));
    };
    if !folder.is_dir() {
        bail!("{}: there is no such folder; make it first", folder.display());
    }
    write(folder, "lineal", &command)?;
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        let name = format!("lineal-{}", sub.get_name());
        write(folder, &name, &sub.clone().display_name(&name))?;
    }
    Ok(())
}

fn page(command: &clap::Command) -> anyhow::Result<Vec<u8>> {
    let mut page = Vec::new();
    Man::new(command.clone()).render(&mut page)?;
    Ok(page)
}

fn write(folder: &Path, name: &str, command: &clap::Command) -> anyhow::Result<()> {
    let page = page(command)?;
    let path = folder.join(format!("{name}.1"));
    files::write_output(Some(&path), |out| out.write_all(&page))
}
