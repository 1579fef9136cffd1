//! The program itself, ended by signals at random moments.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::Found;

const SIGNALS: [&str; 3] = ["-KILL", "-TERM", "-INT"];

/// Ends `n` runs of the program by a signal.
pub fn signals(folder: &Path, program: &Path, n: usize, seed: u64) -> anyhow::Result<Found> {
    fs::create_dir_all(folder)?;
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let runs = Runs { folder, program };
    fs::write(folder.join("a.svm"), rows(60_000, &mut rng))?;
    fs::write(folder.join("b.svm"), rows(2_000, &mut rng))?;
    let begun = Instant::now();
    runs.finish(&STREAM, &[])?;
    let longest = begun.elapsed();
    let streamed = runs.take()?;
    let old = runs.trained("0.5")?;
    let new = runs.trained("2")?;
    let mut found = Found::default();
    while found.n_hit < n && found.broken.len() < 20 {
        let checked = match rng.random_bool(0.5) {
            true => runs.interrupted_stream(&streamed, longest, &mut found, &mut rng),
            false => runs.interrupted_training([&old, &new], &mut found, &mut rng),
        };
        if let Err(e) = checked {
            found.broken.push(format!("signal {} of seed {seed}: {e:#}", found.n));
        }
        let _ = fs::remove_file(folder.join("m.lineal"));
    }
    Ok(found)
}

/// A checkpoint at every chunk.
const STREAM: [&str; 8] =
    ["train", "a.svm", "--stream", "--chunk", "512", "--checkpoint", "0.001", "--quiet"];

struct Runs<'a> {
    folder: &'a Path,
    program: &'a Path,
}

impl Runs<'_> {
    fn start(&self, args: &[&str], more: &[&str]) -> anyhow::Result<Child> {
        Command::new(self.program)
            .args(args)
            .args(["-o", "m.lineal", "--threads", "1"])
            .args(more)
            .current_dir(self.folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot run {}", self.program.display()))
    }

    /// Runs to the end, after which only the data and the model may be there.
    fn finish(&self, args: &[&str], more: &[&str]) -> anyhow::Result<()> {
        let status = self.start(args, more)?.wait()?;
        if !status.success() {
            bail!("{args:?} {more:?} ended with {status}");
        }
        self.check_names()
    }

    fn check_names(&self) -> anyhow::Result<()> {
        for entry in fs::read_dir(self.folder)? {
            let name = entry?.file_name();
            if !["a.svm", "b.svm", "m.lineal"].iter().any(|known| name == *known) {
                bail!("{} was left", name.display());
            }
        }
        Ok(())
    }

    fn take(&self) -> anyhow::Result<Vec<u8>> {
        let path = self.folder.join("m.lineal");
        let bytes = fs::read(&path)?;
        fs::remove_file(&path)?;
        Ok(bytes)
    }

    fn trained(&self, c: &str) -> anyhow::Result<Vec<u8>> {
        self.finish(&["train", "b.svm", "--quiet", "-C", c], &[])?;
        self.take()
    }

    /// Ends a run after some time; whether it was still there.
    fn end(
        &self,
        mut child: Child,
        most: Duration,
        found: &mut Found,
        rng: &mut impl Rng,
    ) -> anyhow::Result<bool> {
        let signal = SIGNALS[rng.random_range(0..SIGNALS.len())];
        std::thread::sleep(most.mul_f64(rng.random_range(0.0..1.2)));
        found.n += 1;
        let over = child.try_wait()?.is_some();
        if !over {
            let pid = child.id().to_string();
            Command::new("kill").args([signal, pid.as_str()]).stderr(Stdio::null()).status()?;
        }
        let status = child.wait()?;
        let ended = !status.success();
        found.n_hit += usize::from(ended);
        // 130, or the signal itself where it came before the program could take it over.
        if !matches!(status.code(), Some(0 | 130) | None) {
            bail!("{signal} ended it with {status}");
        }
        if ended && signal != "-KILL" {
            self.check_names().with_context(|| format!("after {signal}"))?;
        }
        Ok(ended)
    }

    /// Ended again and again, and taken up, until it is done: with the same bits.
    fn interrupted_stream(
        &self,
        streamed: &[u8],
        longest: Duration,
        found: &mut Found,
        rng: &mut impl Rng,
    ) -> anyhow::Result<()> {
        let model = self.folder.join("m.lineal");
        for _ in 0..rng.random_range(1..5) {
            let more: &[&str] = if model.exists() { &["--resume", "m.lineal"] } else { &[] };
            let more = if more.is_empty() { more } else { &RESUMED };
            let child = self.start(&stream(more), &[])?;
            let ended = self.end(child, longest, found, rng)?;
            if !ended || fs::read(&model).is_ok_and(|bytes| bytes == streamed) {
                break;
            }
            if model.exists() {
                lineal::Model::load(&model).context("a model that cannot be read was left")?;
            }
        }
        if !fs::read(&model).is_ok_and(|bytes| bytes == streamed) {
            let more: &[&str] = if model.exists() { &RESUMED } else { &[] };
            self.finish(&stream(more), &[])?;
        } else {
            // The next run, whatever it writes.
            self.finish(&["train", "b.svm", "--quiet"], &[])?;
            return Ok(());
        }
        if fs::read(&model)? != streamed {
            bail!("a stream that was taken up has other bits");
        }
        Ok(())
    }

    /// A file is there, and another run is to replace it: it is one or the other.
    fn interrupted_training(
        &self,
        [old, new]: [&[u8]; 2],
        found: &mut Found,
        rng: &mut impl Rng,
    ) -> anyhow::Result<()> {
        let model = self.folder.join("m.lineal");
        fs::write(&model, old)?;
        let args = ["train", "b.svm", "--quiet", "-C", "2"];
        let ended = self.end(self.start(&args, &[])?, Duration::from_millis(60), found, rng)?;
        let now = fs::read(&model)?;
        if now != new && (!ended || now != old) {
            bail!("the file is neither the old one nor the new one");
        }
        self.finish(&args, &[])?;
        if fs::read(&model)? != new {
            bail!("the next run wrote something else");
        }
        Ok(())
    }
}

const RESUMED: [&str; 2] = ["--resume", "m.lineal"];

/// Of a stream that is taken up, the model says how it goes on.
fn stream<'a>(more: &'a [&'a str]) -> Vec<&'a str> {
    match more.is_empty() {
        true => STREAM.to_vec(),
        false => [&["train", "a.svm", "--checkpoint", "0.001", "--quiet"][..], more].concat(),
    }
}

fn rows(n: usize, rng: &mut impl Rng) -> String {
    let mut rows = String::new();
    for i in 0..n {
        let class = i % 3;
        let _ = write!(rows, "{class}");
        for j in 1..=12 {
            let x = rng.random_range(-1.0..1.0) + if j % 3 == class { 0.5 } else { 0.0 };
            let _ = write!(rows, " {j}:{x:.3}");
        }
        rows.push('\n');
    }
    rows
}
