//! Kills and faults: `cargo run --profile fuzz -p lineal-fuzz --bin faults -- --kills 500 --faults 1000`.
//!
//! Half of the kills come at a system call of the file layer, in processes of their own, and half at random moments of the program, which is built with the same profile
//! (`--program` names another).

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, bail};
use lineal_fuzz::faults::{Found, deaths, faults, signals, victim};

fn main() -> anyhow::Result<ExitCode> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [first, folder, what, at, how] = &args[..]
        && first == "victim"
    {
        victim(Path::new(folder), what, at.parse()?, how)?;
        return Ok(ExitCode::SUCCESS);
    }
    let Asked { kills, faults: n_faults, seed, program } = Asked::parse(&args)?;
    let program = program.map_or_else(beside, Ok)?;
    let folder = std::env::temp_dir().join(format!("lineal-faults-{}", std::process::id()));
    let own = std::env::current_exe()?;
    let searches = [
        ("injected faults", faults(&folder.join("faults"), n_faults, seed)?),
        ("kills at a system call", deaths(&folder.join("deaths"), &own, kills / 2, seed)?),
        (
            "kills, terminations and interruptions of the program",
            signals(&folder.join("signals"), &program, kills - kills / 2, seed)?,
        ),
    ];
    std::fs::remove_dir_all(&folder)?;
    let mut all = Found::default();
    for (what, found) in searches {
        println!("{} {what} in {} steps: {} broken", found.n_hit, found.n, found.broken.len());
        found.broken.iter().for_each(|broken| println!("  {broken}"));
        all.add(found);
    }
    Ok(if all.broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

struct Asked {
    kills: usize,
    faults: usize,
    seed: u64,
    program: Option<PathBuf>,
}

impl Asked {
    fn parse(args: &[String]) -> anyhow::Result<Self> {
        let mut asked = Self { kills: 100, faults: 300, seed: 0, program: None };
        let (pairs, rest) = args.as_chunks::<2>();
        if let [odd, ..] = rest {
            bail!("{odd}: a value is missing");
        }
        for [flag, value] in pairs {
            let number = || value.parse().with_context(|| format!("{flag} {value}"));
            match flag.as_str() {
                "--kills" => asked.kills = number()?,
                "--faults" => asked.faults = number()?,
                "--seed" => asked.seed = number()? as u64,
                "--program" => asked.program = Some(std::path::absolute(value)?),
                _ => bail!("{flag}: there are --kills, --faults, --seed and --program"),
            }
        }
        Ok(asked)
    }
}

/// The program of the same build, which is brought up to date: cargo names the folder after the profile, but for `dev`.
fn beside() -> anyhow::Result<PathBuf> {
    let own = std::env::current_exe()?;
    let program = own.with_file_name(format!("lineal{}", std::env::consts::EXE_SUFFIX));
    let folder = own.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    let profile = match folder {
        Some("debug") | None => "dev",
        Some(name) => name,
    };
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let build = ["build", "--quiet", "--package", "lineal-cli", "--profile", profile];
    if !Command::new(cargo).args(build).status()?.success() || !program.exists() {
        bail!("the program cannot be built; name one with --program");
    }
    Ok(program)
}
