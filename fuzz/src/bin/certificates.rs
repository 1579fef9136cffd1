//! `certificates --count 100000 --seed 1 [--from N] [--show]`: searches for certificates that are wrong. Exit code 1 if one was found.

use lineal_fuzz::certificates::Findings;
use std::process::ExitCode;

fn main() -> anyhow::Result<ExitCode> {
    let (mut count, mut seed, mut from, mut show) = (100_000u64, 1u64, 0u64, false);
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut number = || -> anyhow::Result<u64> {
            let value = args.next().ok_or_else(|| anyhow::anyhow!("{arg} needs a number"))?;
            Ok(value.parse()?)
        };
        match arg.as_str() {
            "--count" => count = number()?,
            "--seed" => seed = number()?,
            "--from" => from = number()?,
            "--show" => show = true,
            _ => anyhow::bail!("usage: certificates [--count N] [--seed N] [--from N] [--show]"),
        }
    }
    let mut findings = Findings::default();
    for number in from..from + count {
        findings.look(seed, number);
        if (number + 1) % 10_000 == 0 {
            eprintln!("{} cases, {} violations", number + 1 - from, findings.violations.len());
        }
    }
    if show {
        for violation in &findings.violations {
            println!("{}\n", violation.about);
        }
    }
    println!("{findings}");
    Ok(ExitCode::from(u8::from(!findings.violations.is_empty())))
}
