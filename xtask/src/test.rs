//! All tests: the workspace's own, a round of mutated inputs, the commands that documents show, the Python package, then the program against its peers.

use crate::{call, cargo, docs, page, root};
use anyhow::{Context, Result, bail};

/// Ten seconds for each of some forty-five targets, two at a time, are about four minutes; hours are what `soak` is for.
const FUZZ_SECONDS: f64 = 10.0;

/// Which tests.
pub(crate) struct Tests {
    /// Also tests the Python package, and compares the program with scikit-learn and LIBLINEAR: `python/wheel.py` and `acceptance/run.py` install these into virtual environments below `target`.
    peers: bool,
    /// How long each target of `fuzz` runs, in seconds; 0 is not at all.
    fuzz_seconds: f64,
}

impl Tests {
    pub(crate) fn parse(args: &[&str]) -> Result<Self> {
        let mut tests = Self { peers: true, fuzz_seconds: FUZZ_SECONDS };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match *arg {
                "--no-peers" => tests.peers = false,
                "--fuzz-seconds" => {
                    let seconds = args.next().context("--fuzz-seconds needs a number")?;
                    tests.fuzz_seconds = seconds.parse().context("--fuzz-seconds")?;
                }
                _ => bail!("unknown flag {arg}"),
            }
        }
        Ok(tests)
    }

    pub(crate) fn run(&self) -> Result<()> {
        let cargo = cargo();
        let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
        let target = root().join(target);
        call(&cargo, &["test", "--workspace", "--quiet"])?;
        if self.fuzz_seconds > 0.0 {
            // Built with the tests, whose profile checks overflow as `fuzz` does: nothing is compiled for it.
            let inputs = target.join("debug/inputs").display().to_string();
            let folder = target.join("fuzz-inputs").display().to_string();
            let seconds = &self.fuzz_seconds.to_string();
            call(&inputs, &["--seconds", seconds, "--jobs", "2", "--folder", &folder])?;
        }
        if self.peers {
            // In one call, so that the features of what both use are the same and it is compiled once.
            let both = ["--package", "lineal-cli", "--package", "lineal-python"];
            let extension = ["--features", "lineal-python/extension-module"];
            call(&cargo, &[&["build", "--release"], &both[..], &extension].concat())?;
            let program = target.join("release/lineal");
            docs::check_commands(&program)?;
            page::check_if_possible()?;
            let program = program.display().to_string();
            call("python3", &["python/wheel.py", "test"])?;
            call("python3", &["acceptance/run.py", "--lineal", &program])?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mutated_inputs_are_part_of_all_tests() {
        let all = Tests::parse(&[]).unwrap();
        assert!(all.peers && all.fuzz_seconds == FUZZ_SECONDS);
        let fewer = Tests::parse(&["--no-peers", "--fuzz-seconds", "0"]).unwrap();
        assert!(!fewer.peers && fewer.fuzz_seconds == 0.0);
        assert!(Tests::parse(&["--fuzz-seconds"]).is_err() && Tests::parse(&["--peers"]).is_err());
    }
}
