//! Flags of what is about the program itself.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

/// Print a script that completes commands and flags in a shell
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  lineal completions bash > ~/.local/share/bash-completion/completions/lineal
  lineal completions zsh > ~/.zfunc/_lineal       with ~/.zfunc in fpath
  lineal completions fish > ~/.config/fish/completions/lineal.fish")]
pub struct CompletionsArgs {
    /// The shell
    pub shell: Shell,
}

/// Print the manual page, or write those of all commands into a folder
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  lineal man | man -l -
  lineal man ~/.local/share/man/man1        then: man lineal-train")]
pub struct ManArgs {
    /// A folder for lineal.1, lineal-train.1, … [default: lineal.1 on standard output]
    pub folder: Option<PathBuf>,
}
