//! A folder, what should be in it, and steps that disturb it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, bail};
use lineal::{
    Disk, Error, Model, ReadOptions, Source, StreamSpec, Streaming, SystemDisk, TrainSpec,
    write_atomically_on,
};
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::{Fault, FaultyDisk, Found};

/// Models that are trained once, and a folder whose one file should be one of them.
pub struct World {
    folder: PathBuf,
    /// Bytes of models of the same rows with different penalties.
    saved: Vec<Vec<u8>>,
    rows: String,
    /// What a stream over the rows gives if nothing disturbs it.
    streamed: Vec<u8>,
    /// What is in the file now; `None` if there is none.
    now: Option<Vec<u8>>,
}

const FILE: &str = "m.lineal";

impl World {
    /// An empty folder.
    pub fn new(folder: &Path) -> anyhow::Result<Self> {
        fs::create_dir_all(folder)?;
        let rows = rows();
        let source = Source::Memory { name: "a.svm".into(), bytes: rows.clone().into_bytes() };
        let data = lineal::read(source, &ReadOptions::default())?;
        let mut saved = Vec::new();
        for c in [0.1, 1.0, 10.0] {
            let spec = TrainSpec { penalty: lineal::Penalty::C(c), ..TrainSpec::default() };
            saved.push(lineal::train(&data, &spec)?.0.to_bytes()?);
        }
        let mut world =
            Self { folder: folder.to_owned(), saved, rows, streamed: Vec::new(), now: None };
        world.streamed = world.stream(&SystemDisk, None)?.to_bytes()?;
        world.clear()?;
        Ok(world)
    }

    fn file(&self) -> PathBuf {
        self.folder.join(FILE)
    }

    fn clear(&mut self) -> anyhow::Result<()> {
        for entry in fs::read_dir(&self.folder)? {
            fs::remove_file(entry?.path())?;
        }
        self.now = None;
        Ok(())
    }

    fn content(&self) -> anyhow::Result<Option<Vec<u8>>> {
        match fs::read(self.file()) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e.into()),
        }
    }

    /// Fails if there is anything but the file.
    fn check_names(&self) -> anyhow::Result<()> {
        for entry in fs::read_dir(&self.folder)? {
            let name = entry?.file_name();
            if name != FILE {
                bail!("{} was left", name.display());
            }
        }
        Ok(())
    }

    fn put(&self, disk: &dyn Disk, bytes: &[u8]) -> std::io::Result<()> {
        write_atomically_on(disk, &self.file(), |out| {
            // In pieces larger than the buffer, so that there are several writes.
            bytes.chunks(300 << 10).try_for_each(|piece| out.write_all(piece))
        })
    }

    /// Streams over all rows with a checkpoint after every chunk.
    fn stream(&self, disk: &dyn Disk, from: Option<Model>) -> Result<Model, Error> {
        let source = Source::Memory { name: "a.svm".into(), bytes: self.rows.clone().into_bytes() };
        let spec = StreamSpec { rows_per_chunk: Some(64), average: true, ..StreamSpec::default() };
        let mut save = |model: &Model| {
            let write = |out: &mut dyn std::io::Write| model.write_to(out).map(|_| ());
            write_atomically_on(disk, &self.file(), write).map_err(Error::Write)
        };
        let options = ReadOptions::default();
        let streaming = match from {
            Some(model) => Streaming::resume(model, source, &options),
            None => Streaming::new(source, &options, &spec),
        };
        Ok(streaming.checkpoint(Duration::ZERO, &mut save).run()?.0)
    }

    /// The file after a step that should have written `new`, and did if it `succeeded`.
    fn check_saved(&mut self, new: &[u8], succeeded: bool) -> anyhow::Result<()> {
        let now = self.content()?;
        let expected = if succeeded { Some(new) } else { self.now.as_deref() };
        if now.as_deref() != expected {
            bail!("the file is neither as before nor as written (success: {succeeded})");
        }
        self.now = now;
        Ok(())
    }

    /// The file after a stream that failed or died: a checkpoint, from which the stream goes on to the same bits.
    fn check_streamed(&mut self) -> anyhow::Result<()> {
        let Some(bytes) = self.content()? else {
            if self.now.is_some() {
                bail!("the file is gone");
            }
            return Ok(());
        };
        if self.now.as_ref() != Some(&bytes) {
            let model = Model::load(self.file()).context("a checkpoint cannot be read")?;
            let done = self.stream(&SystemDisk, Some(model))?;
            if done.to_bytes()? != self.streamed {
                bail!("the stream went on to other bits");
            }
        }
        Ok(())
    }

    /// A save without a fault: what the next run does, after which nothing may be left.
    fn tidy(&mut self, which: usize) -> anyhow::Result<()> {
        let new = self.saved[which].clone();
        self.put(&SystemDisk, &new)?;
        self.check_saved(&new, true)?;
        self.check_names()
    }

    /// One save, stream, truncation or prediction; whether a fault came.
    fn step(&mut self, rng: &mut impl Rng) -> anyhow::Result<bool> {
        let which = rng.random_range(0..self.saved.len());
        let kinds = [Fault::NoSpace, Fault::Io, Fault::Interrupted, Fault::Short];
        let fault = kinds[rng.random_range(0..kinds.len())];
        match rng.random_range(0..10) {
            0..6 => {
                let disk = FaultyDisk::new(fault, rng.random_range(0..9));
                let new = self.saved[which].clone();
                let done = self.put(&disk, &new);
                let harmless = matches!(fault, Fault::Interrupted | Fault::Short);
                if let Err(e) = &done
                    && harmless
                {
                    bail!("{fault:?} is no failure: {e}");
                }
                self.check_saved(&new, done.is_ok())?;
                if !disk.may_leave_files() {
                    self.check_names()?;
                }
                Ok(disk.was_hit())
            }
            6..8 => {
                self.clear()?;
                let disk = FaultyDisk::new(fault, rng.random_range(0..60));
                match self.stream(&disk, None) {
                    Ok(model) if model.to_bytes()? != self.streamed => {
                        bail!("a stream of other bits")
                    }
                    _ => self.check_streamed()?,
                }
                let hit = disk.was_hit();
                self.now = self.content()?;
                self.tidy(which)?;
                Ok(hit)
            }
            8 => {
                // Somebody else's doing: it must be noticed, and the next save must mend it.
                self.tidy(which)?;
                let n = rng.random_range(0..self.saved[which].len());
                fs::write(self.file(), &self.saved[which][..n])?;
                if Model::load(self.file()).is_ok() {
                    bail!("a model that was cut after {n} bytes is read");
                }
                self.now = self.content()?;
                self.tidy(which)?;
                Ok(false)
            }
            _ => {
                self.tidy(which)?;
                let model = Model::load(self.file())?;
                let source =
                    Source::Memory { name: "a.svm".into(), bytes: self.rows.clone().into_bytes() };
                let data = model.read(source, &ReadOptions::default())?;
                let same = Model::from_bytes(&self.saved[which])?;
                if model.predict(&data) != same.predict(&data) {
                    bail!("the file predicts otherwise than what was written");
                }
                Ok(false)
            }
        }
    }
}

/// Until `n` faults came where they disturbed something.
pub fn faults(folder: &Path, n: usize, seed: u64) -> anyhow::Result<Found> {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let mut world = World::new(folder)?;
    let mut found = Found::default();
    while found.n_hit < n && found.broken.len() < 20 {
        found.n += 1;
        match world.step(&mut rng) {
            Ok(hit) => found.n_hit += usize::from(hit),
            Err(e) => {
                found.broken.push(format!("fault {} of seed {seed}: {e:#}", found.n));
                world.clear()?;
            }
        }
    }
    world.tidy(0)?;
    Ok(found)
}

/// Kills `n` processes at an operation of their file layer. `program` is one that calls [`victim`] when it is run with `victim`.
pub fn deaths(folder: &Path, program: &Path, n: usize, seed: u64) -> anyhow::Result<Found> {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let mut world = World::new(folder)?;
    let mut found = Found::default();
    while found.n_hit < n && found.broken.len() < 20 {
        found.n += 1;
        let streams = rng.random_bool(0.4);
        let which = rng.random_range(0..world.saved.len());
        let at = rng.random_range(0..if streams { 60usize } else { 9 });
        let how = if rng.random_bool(0.5) { "before" } else { "after" };
        if streams {
            world.clear()?;
        }
        let what = if streams { "stream".to_owned() } else { which.to_string() };
        let status = Command::new(program)
            .arg("victim")
            .arg(folder)
            .args([what.as_str(), &at.to_string(), how])
            .status()?;
        let hit = status.code().is_none();
        found.n_hit += usize::from(hit);
        let checked = (|| {
            if streams {
                world.check_streamed()?;
                world.now = world.content()?;
            } else {
                let (now, new) = (world.content()?, world.saved[which].clone());
                let written = now.as_ref() == Some(&new);
                if !hit && !written {
                    bail!("it ended well and wrote nothing");
                }
                world.check_saved(&new, written)?;
            }
            // What was killed may leave its file, and nothing more; the next run removes it.
            let names = fs::read_dir(folder)?.flatten().filter(|e| e.file_name() != FILE);
            if names.count() > usize::from(hit) {
                bail!("more than one file was left");
            }
            next_run(program, folder)?;
            world.now = world.content()?;
            if world.now.as_ref() != Some(&world.saved[0]) {
                bail!("the next run did not write");
            }
            world.check_names()
        })();
        if let Err(e) = checked {
            let e: anyhow::Error = e;
            found.broken.push(format!("kill {how} {at} ({what}), seed {seed}: {e:#}"));
            world.clear()?;
        }
    }
    Ok(found)
}

/// A process that writes and is not killed.
fn next_run(program: &Path, folder: &Path) -> anyhow::Result<()> {
    let never = usize::MAX.to_string();
    let status = Command::new(program)
        .arg("victim")
        .arg(folder)
        .args(["0", never.as_str(), "before"])
        .status()?;
    if !status.success() {
        bail!("the next run ended with {status}");
    }
    Ok(())
}

/// What is run in a process of its own by [`deaths`]: writes model `which`, or streams, and dies at operation `at`.
pub fn victim(folder: &Path, what: &str, at: usize, how: &str) -> anyhow::Result<()> {
    let fault = if how == "before" { Fault::KilledBefore } else { Fault::KilledAfter };
    let disk = FaultyDisk::new(fault, at);
    let elsewhere = std::env::temp_dir().join(format!("lineal-victim-{}", std::process::id()));
    let world = World::new(&elsewhere);
    fs::remove_dir_all(&elsewhere)?;
    let world = World { folder: folder.to_owned(), ..world? };
    match what.parse::<usize>() {
        Ok(which) => world.put(&disk, &world.saved[which % world.saved.len()])?,
        Err(_) => {
            world.stream(&disk, None)?;
        }
    }
    Ok(())
}

/// Three classes in 400 rows.
fn rows() -> String {
    let mut rng = Pcg64Mcg::seed_from_u64(7);
    let mut rows = String::new();
    for i in 0..400u32 {
        let class = i % 3;
        rows += &class.to_string();
        for j in 1..=6 {
            let x = rng.random_range(-1.0..1.0) + f64::from(u32::from(j % 3 == class));
            rows += &format!(" {j}:{x:.3}");
        }
        rows.push('\n');
    }
    rows
}
