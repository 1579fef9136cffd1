//! All tests: the workspace's own, a round of mutated inputs where it is asked for, the commands that documents show, the Python package, then the program against its peers.

use crate::{call, cargo, docs, root};
use anyhow::{Context, Result, bail};

/// Not without asking: a round finds something new now and then, which is for whoever asked and not for the next commit. Three seconds for each of some forty targets, two at a time, are a minute; hours are what `soak` is for.
const FUZZ_SECONDS: f64 = 0.0;

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
        call(&cargo, &["test", "--workspace", "--quiet"])?;
        if self.fuzz_seconds > 0.0 {
            let seconds = &self.fuzz_seconds.to_string();
            // Built as the tests are, which check overflow as the profile `fuzz` does: nothing is compiled for it.
            let inputs = ["run", "--quiet", "--package", "lineal-fuzz", "--bin", "inputs", "--"];
            let how = ["--seconds", seconds, "--jobs", "2", "--folder", "target/fuzz"];
            call(&cargo, &[&inputs[..], &how].concat())?;
        }
        if self.peers {
            call(&cargo, &["build", "--release", "--package", "lineal-cli"])?;
            let target =
                std::env::var_os("CARGO_TARGET_DIR").map_or(root().join("target"), Into::into);
            let program = target.join("release/lineal");
            docs::check_commands(&program)?;
            let program = program.display().to_string();
            call("python3", &["python/wheel.py", "test"])?;
            call("python3", &["acceptance/run.py", "--lineal", &program])?;
        }
        Ok(())
    }
}
