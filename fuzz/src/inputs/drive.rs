//! The plain driver: mutates what it has, keeps what is new, saves what breaks. It needs no coverage and no nightly compiler.
//!
//! One process runs one target for a while ([`work`]); a process of its own, because a full stack, a refused allocation and a hang can only be survived from outside. [`drive`] starts
//! these, says what they found, and goes on after each.
//!
//! ```text
//! FOLDER/queue/TARGET      inputs that did something new: the next run begins with them
//! FOLDER/findings/TARGET   inputs that broke a promise, each with a .txt that says how
//! FOLDER/state/TARGET      the input at hand, counts, what was printed
//! ```

use super::guard::{self, HANG};
use super::{Mutator, Signature, TARGETS, Target};
use serde_json::json;
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Inputs that are kept in memory and on disk for a target.
const MOST_KEPT: usize = 3000;

/// Tries to make an input shorter that still panics in the same place.
const SHORTER: usize = 400;

/// What a run of a target came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Inputs run.
    pub executions: u64,
    /// CPU time in milliseconds.
    pub cpu_ms: u64,
    /// Inputs that did something new.
    pub kept: u64,
    /// Panics in different places.
    pub panics: u64,
    /// Inputs over their time.
    pub hangs: u64,
    /// Allocations beyond the cap.
    pub allocations: u64,
    /// Other ends of the process: a full stack, a signal.
    pub crashes: u64,
}

impl Counts {
    /// How many promises were broken.
    pub fn found(&self) -> u64 {
        self.panics + self.hangs + self.allocations + self.crashes
    }

    fn add(&mut self, other: &Self) {
        self.executions += other.executions;
        self.cpu_ms += other.cpu_ms;
        self.kept += other.kept;
        self.panics += other.panics;
        self.hangs += other.hangs;
        self.allocations += other.allocations;
        self.crashes += other.crashes;
    }
}

/// Runs one target for so long, in this process.
pub struct Work<'a> {
    /// Which.
    pub target: &'a Target,
    /// Where everything is kept; see the module.
    pub folder: &'a Path,
    /// How long, by the clock.
    pub time: Duration,
    /// Of all random choices.
    pub seed: u64,
    /// Files whose beginnings are seeds, too.
    pub samples: Option<&'a Path>,
}

/// The folder of inputs that once broke something, in the source tree.
pub fn corpus(target: &Target) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target.name)
}

/// The files of a folder in the order of their names; none if there is no such folder.
pub fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut paths: Vec<PathBuf> = entries
        .filter(|path| path.is_file() && path.extension().is_none_or(|e| e != "txt"))
        .collect();
    paths.sort();
    paths.into_iter().filter_map(|path| fs::read(&path).ok().map(|bytes| (path, bytes))).collect()
}

fn hash(bytes: &[u8]) -> u64 {
    let mut signature = Signature::default();
    signature.bytes(bytes);
    signature.bits()
}

/// Saves an input that broke a promise.
fn save_finding(
    folder: &Path,
    target: &str,
    kind: &str,
    why: &str,
    input: &[u8],
) -> io::Result<()> {
    let folder = folder.join("findings").join(target);
    fs::create_dir_all(&folder)?;
    let path = folder.join(format!("{kind}-{:016x}", hash(input)));
    fs::write(&path, input)?;
    fs::write(path.with_extension("txt"), format!("{kind}: {why}\n"))
}

/// Beginnings of files in a folder, and in those in it, whose names end as the target says.
fn samples(folder: &Path, target: &Target) -> Vec<Vec<u8>> {
    let (mut folders, mut found) = (vec![folder.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
            let name = path.to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push(path);
            } else if target.samples.iter().any(|end| name.ends_with(end)) {
                found.extend(beginning(&path, target));
            }
        }
    }
    found.sort();
    found
}

fn beginning(path: &Path, target: &Target) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    let limit = target.max_bytes.min(2048) as u64;
    io::Read::read_to_end(&mut io::Read::take(File::open(path).ok()?, limit), &mut text).ok()?;
    let end = text.iter().rposition(|b| *b == b'\n')? + 1;
    Some([&vec![0; target.choices][..], &text[..end]].concat())
}

impl Work<'_> {
    /// Runs. Panics are saved and counted; what ends the process is up to whoever started it.
    pub fn run(&self) -> io::Result<Counts> {
        let Self { target, folder, time, seed, .. } = *self;
        let queue = folder.join("queue").join(target.name);
        let state = folder.join("state").join(target.name);
        fs::create_dir_all(&queue)?;
        fs::create_dir_all(&state)?;
        let mut run = Run {
            target,
            folder,
            current: File::create(state.join("input"))?,
            counts: Counts::default(),
            seen: HashSet::new(),
            places: HashSet::new(),
            broken: HashSet::new(),
        };
        for (_, input) in files(&folder.join("findings").join(target.name)) {
            run.broken.insert(hash(&input));
        }
        let mut inputs = (target.seeds)();
        inputs.extend(self.samples.map(|folder| samples(folder, target)).unwrap_or_default());
        inputs.extend(files(&corpus(target)).into_iter().map(|(_, input)| input));
        let n_own = inputs.len();
        inputs.extend(files(&queue).into_iter().map(|(_, input)| input).take(MOST_KEPT));
        let started = Instant::now();
        let mut pool = Vec::new();
        for (i, input) in inputs.into_iter().enumerate() {
            if run.broken.contains(&hash(&input)) {
                continue;
            }
            let is_new = run.one(&input)?;
            if is_new || i < n_own {
                pool.push(input);
            }
        }
        let mut mutator = Mutator::new(seed, target.tokens);
        let mut reported = Instant::now();
        while started.elapsed() < time && !pool.is_empty() {
            // Half of the time the youngest: they did something new.
            let n = pool.len();
            let at = if mutator.below(2) == 0 {
                mutator.below(n)
            } else {
                n - 1 - mutator.below(n.min(50))
            };
            let other = mutator.below(n);
            let input = mutator.input(target, &pool[at], &pool[other]);
            if run.broken.contains(&hash(&input)) {
                continue;
            }
            if run.one(&input)? {
                run.counts.kept += 1;
                if pool.len() < MOST_KEPT {
                    fs::write(queue.join(format!("{:016x}", hash(&input))), &input)?;
                    pool.push(input);
                } else {
                    let at = mutator.below(pool.len());
                    pool[at] = input;
                }
            }
            if reported.elapsed() > Duration::from_millis(500) {
                run.report(&state)?;
                reported = Instant::now();
            }
        }
        run.report(&state)?;
        Ok(run.counts)
    }
}

/// A target being run.
struct Run<'a> {
    target: &'a Target,
    folder: &'a Path,
    current: File,
    counts: Counts,
    seen: HashSet<u64>,
    /// Where it panicked.
    places: HashSet<String>,
    /// Inputs that are known to break something.
    broken: HashSet<u64>,
}

impl Run<'_> {
    /// Runs an input and says whether it did something new.
    fn one(&mut self, input: &[u8]) -> io::Result<bool> {
        self.note(input)?;
        self.counts.executions += 1;
        match guard::run(self.target, input) {
            Ok(signature) => Ok(self.seen.insert(signature.bits())),
            Err(why) => {
                let place = place(&why);
                if self.places.insert(place.clone()) {
                    self.counts.panics += 1;
                    let input = self.shorter(input.to_vec(), &place)?;
                    self.broken.insert(hash(&input));
                    save_finding(self.folder, self.target.name, "panic", &why, &input)?;
                }
                Ok(false)
            }
        }
    }

    /// Writes down what is run, for whoever outlives this process.
    fn note(&mut self, input: &[u8]) -> io::Result<()> {
        let noted = [&(input.len() as u64).to_le_bytes()[..], input].concat();
        io::Seek::rewind(&mut self.current)?;
        self.current.write_all(&noted)
    }

    /// The shortest input found by cutting pieces out that panics in the same place.
    fn shorter(&mut self, mut input: Vec<u8>, at: &str) -> io::Result<Vec<u8>> {
        let mut size = input.len() / 2;
        let mut left = SHORTER;
        while size > 0 && left > 0 && !self.target.is_model {
            let mut start = self.target.choices;
            while start < input.len() && left > 0 {
                left -= 1;
                let end = (start + size).min(input.len());
                let cut = [&input[..start], &input[end..]].concat();
                self.note(&cut)?;
                match guard::run(self.target, &cut) {
                    Err(why) if place(&why) == at => input = cut,
                    _ => start += size,
                }
            }
            size /= 2;
        }
        Ok(input)
    }

    fn report(&self, state: &Path) -> io::Result<()> {
        let Counts { executions, kept, panics, .. } = self.counts;
        let cpu_ms = guard::cpu_time().map_or(0, |cpu| cpu.as_millis() as u64);
        let counts =
            json!({"executions": executions, "kept": kept, "panics": panics, "cpu_ms": cpu_ms});
        fs::write(state.join("counts"), counts.to_string())
    }
}

/// File and line of a panic.
fn place(why: &str) -> String {
    why.split(": ").next().unwrap_or_default().to_owned()
}

/// Many targets, in processes of their own.
pub struct Drive<'a> {
    /// Which.
    pub targets: &'a [&'a Target],
    /// Where everything is kept.
    pub folder: &'a Path,
    /// How long each of them in a round.
    pub time: Duration,
    /// Of all random choices.
    pub seed: u64,
    /// Processes side by side.
    pub jobs: usize,
    /// Files whose beginnings are seeds, too.
    pub samples: Option<&'a Path>,
}

impl Drive<'_> {
    /// One round: what came of each target.
    pub fn round(&self) -> io::Result<Vec<Counts>> {
        let next = Mutex::new(0);
        let counts = Mutex::new(vec![Counts::default(); self.targets.len()]);
        let worker = || -> io::Result<()> {
            loop {
                let at = {
                    let mut next =
                        next.lock().map_err(|_| io::Error::other("a thread panicked"))?;
                    *next += 1;
                    *next - 1
                };
                let Some(target) = self.targets.get(at) else { return Ok(()) };
                let found = self.one(target)?;
                if let Ok(mut counts) = counts.lock() {
                    counts[at] = found;
                }
            }
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..self.jobs.max(1)).map(|_| scope.spawn(worker)).collect();
            let ends = threads
                .into_iter()
                .map(|t| t.join().unwrap_or_else(|_| Err(io::Error::other("a thread panicked"))));
            ends.collect::<io::Result<Vec<()>>>()
        })?;
        counts.into_inner().map_err(|_| io::Error::other("a thread panicked"))
    }

    /// Runs a target until its time is over, again after each end that came too early.
    fn one(&self, target: &Target) -> io::Result<Counts> {
        let state = self.folder.join("state").join(target.name);
        fs::create_dir_all(&state)?;
        let (started, mut all, mut seed) = (Instant::now(), Counts::default(), self.seed);
        loop {
            let left = self.time.saturating_sub(started.elapsed());
            let _ = fs::remove_file(state.join("counts"));
            let mut command = Command::new(std::env::current_exe()?);
            command.args(["--worker", target.name, "--seed", &seed.to_string()]);
            command.arg("--seconds").arg(format!("{}", left.as_secs_f64()));
            command.arg("--folder").arg(self.folder);
            if let Some(samples) = self.samples {
                command.arg("--samples").arg(samples);
            }
            // One thread of the library's: two targets are run side by side sooner than one by two threads.
            command.env("RAYON_NUM_THREADS", "1").stdin(Stdio::null());
            command.stderr(File::create(state.join("stderr"))?);
            let status = command.status()?;
            all.add(&read_counts(&state));
            if status.success() {
                return Ok(all);
            }
            let said = fs::read_to_string(state.join("stderr")).unwrap_or_default();
            let (kind, count) = if status.code() == Some(HANG) {
                ("hang", &mut all.hangs)
            } else if said.contains("memory allocation of") || said.contains("capacity overflow") {
                ("memory", &mut all.allocations)
            } else {
                ("crash", &mut all.crashes)
            };
            *count += 1;
            let why = format!("{status} {}", said.trim());
            save_finding(self.folder, target.name, kind, &why, &noted(&state))?;
            if started.elapsed() >= self.time {
                return Ok(all);
            }
            seed = seed.wrapping_add(1_000_003);
        }
    }
}

/// The input that a process was at.
fn noted(state: &Path) -> Vec<u8> {
    let bytes = fs::read(state.join("input")).unwrap_or_default();
    let length = bytes.first_chunk::<8>().map_or(0, |b| u64::from_le_bytes(*b) as usize);
    let input = bytes.get(8..).unwrap_or_default();
    input[..length.min(input.len())].to_vec()
}

fn read_counts(state: &Path) -> Counts {
    let text = fs::read_to_string(state.join("counts")).unwrap_or_default();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let of = |key: &str| value[key].as_u64().unwrap_or(0);
    Counts {
        executions: of("executions"),
        cpu_ms: of("cpu_ms"),
        kept: of("kept"),
        panics: of("panics"),
        ..Counts::default()
    }
}

/// What came of targets, as a table.
pub fn table(targets: &[&Target], counts: &[Counts]) -> String {
    let mut text = format!(
        "{:<24}{:>12}{:>10}{:>8}{:>8}{:>8}{:>8}{:>8}\n",
        "target", "executions", "CPU s", "new", "panics", "hangs", "memory", "crashes"
    );
    let mut total = Counts::default();
    counts.iter().for_each(|counts| total.add(counts));
    let names = targets.iter().map(|target| target.name).chain(["all"]);
    for (name, c) in names.zip(counts.iter().chain([&total])) {
        text += &format!(
            "{name:<24}{:>12}{:>10.1}{:>8}{:>8}{:>8}{:>8}{:>8}\n",
            c.executions,
            c.cpu_ms as f64 / 1000.0,
            c.kept,
            c.panics,
            c.hangs,
            c.allocations,
            c.crashes
        );
    }
    text
}

/// Adds up rounds.
pub fn sum(into: &mut [Counts], round: &[Counts]) {
    into.iter_mut().zip(round).for_each(|(a, b)| a.add(b));
}

/// All targets, or those that are named.
pub fn select(names: &[String]) -> Result<Vec<&'static Target>, String> {
    if names.is_empty() {
        return Ok(TARGETS.iter().collect());
    }
    let find = |name: &String| {
        let known = || TARGETS.iter().map(|t| t.name).collect::<Vec<_>>().join(", ");
        super::find(name)
            .ok_or_else(|| format!("there is no target `{name}`; known are {}", known()))
    };
    names.iter().map(find).collect()
}
