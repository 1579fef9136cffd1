//! All adversaries, for as long as asked: mutated inputs, wrong certificates, kills and faults. What they find stays below `target/soak`.

use crate::{cargo, root};
use anyhow::{Context, Result, bail};
use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

/// The adversaries by name: binaries of `lineal-fuzz`, each of which ends with 1 when it has found something, and `structures`, a test of `lineal-erm`.
const ADVERSARIES: &[&str] = &["inputs", "certificates", "structures", "faults"];

/// What `soak` was asked for.
#[derive(Debug, PartialEq)]
pub(crate) struct Soak {
    time: Duration,
    only: Option<String>,
}

impl Soak {
    /// From `[--hours H | --minutes M] [--only ADVERSARY]`; ten minutes of all by default.
    pub(crate) fn parse(args: &[&str]) -> Result<Self> {
        let mut soak = Self { time: Duration::from_secs(600), only: None };
        for pair in args.chunks(2) {
            let &[flag, value] = pair else { bail!("{} needs a value", pair[0]) };
            let time = |unit: f64| -> Result<Duration> {
                let number: f64 = value.parse().with_context(|| format!("{flag} {value}"))?;
                Duration::try_from_secs_f64(number * unit)
                    .with_context(|| format!("{flag} {value}"))
            };
            match flag {
                "--hours" => soak.time = time(3600.0)?,
                "--minutes" => soak.time = time(60.0)?,
                "--only" if ADVERSARIES.contains(&value) => soak.only = Some(value.to_owned()),
                "--only" => bail!("`{value}` is not one of {}", ADVERSARIES.join(", ")),
                _ => bail!("unknown flag {flag}"),
            }
        }
        Ok(soak)
    }

    /// Runs rounds of all adversaries, with other seeds in each, until the time is over.
    pub(crate) fn run(&self) -> Result<()> {
        let folder = root().join("target/soak");
        fs::create_dir_all(&folder)?;
        let started = Instant::now();
        let mut found = Vec::new();
        // The clock decides the first seed, so that each soak looks elsewhere; it is printed, and kept with what was found.
        let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?.as_secs();
        for round in 0u64.. {
            let left = self.time.saturating_sub(started.elapsed());
            if left.is_zero() {
                break;
            }
            let seed = (clock << 8).wrapping_add(round).to_string();
            for name in ADVERSARIES.iter().filter(|name| self.wants(name)) {
                let log = folder.join(format!("{name}-{seed}.log"));
                let mut command = adversary(name, &seed, left);
                eprintln!("$ {command:?}");
                let status = command
                    .stdout(fs::File::create(&log)?)
                    .status()
                    .with_context(|| format!("{name} could not be started"))?;
                print!("{}", fs::read_to_string(&log)?);
                match status.code() {
                    Some(0) => fs::remove_file(&log)?,
                    // A test that fails ends cargo with 101.
                    Some(1 | 101) => found.push(log),
                    _ => bail!("{name} ended with {status}: see {}", log.display()),
                }
            }
        }
        if found.is_empty() {
            println!("nothing found in {} minutes", started.elapsed().as_secs() / 60);
            return Ok(());
        }
        println!("found; each log ends with what, and its seed is in its name:");
        found.iter().for_each(|log| println!("  {}", log.display()));
        println!(
            "inputs that broke a promise are in target/soak/inputs/findings/TARGET: copy each to fuzz/corpus/TARGET under a name that says what broke, mend it, and see\n  cargo test -p lineal-fuzz --test corpus"
        );
        bail!("{} runs found something", found.len())
    }

    fn wants(&self, name: &str) -> bool {
        self.only.as_deref().is_none_or(|only| only == name)
    }
}

/// A round of an adversary. Inputs take half of the time that is left, up to half an hour; the others have about as much to do.
fn adversary(name: &str, seed: &str, left: Duration) -> Command {
    let mut command = Command::new(cargo());
    command.current_dir(root());
    if name == "structures" {
        command.args(["test", "--quiet", "--profile", "fuzz", "-p", "lineal-erm"]);
        command.args(["--test", "structured", "certificates_withstand"]);
        command.env("LINEAL_CASES", "300").env("LINEAL_SEED", seed);
        return command;
    }
    command.args(["run", "--quiet", "--profile", "fuzz", "-p", "lineal-fuzz"]);
    command.args(["--bin", name, "--", "--seed", seed]);
    match name {
        "inputs" => {
            let minutes = (left.as_secs_f64() / 60.0 / 2.0).clamp(0.1, 30.0);
            // A turn for each of some fifty targets, two at a time, fits into that.
            let seconds = (minutes * 60.0 * 2.0 / 50.0).clamp(1.0, 20.0);
            command.args(["--minutes", &minutes.to_string(), "--seconds", &seconds.to_string()]);
            command.args(["--jobs", "2"])
        }
        "certificates" => command.args(["--count", "20000", "--show"]),
        _ => command.args(["--kills", "100", "--faults", "200"]),
    };
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for() {
        let soak = Soak::parse(&["--hours", "0.5", "--only", "inputs"]).unwrap();
        assert_eq!(soak.time, Duration::from_secs(1800));
        assert!(soak.wants("inputs") && !soak.wants("faults"));
        for wrong in [&["--hours"][..], &["--only", "x"], &["--hours", "-1"], &["--days", "1"]] {
            assert!(Soak::parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
