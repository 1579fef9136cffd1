//! A folder of its own for each test, and the program run in it.

use std::path::PathBuf;
use std::process::Output;

use serde_json::Value;
use tempfile::TempDir;

/// A folder that disappears with the test.
pub struct World {
    folder: TempDir,
}

/// What a run left on its streams.
#[derive(Debug)]
pub struct Run {
    pub code: i32,
    pub out: String,
    pub err: String,
}

/// Three classes that overlap a little, one numeric and one categorical column.
pub const FRUIT: &str = "\
weight,colour,fruit
150,red,apple
170,green,apple
140,red,apple
130,orange,orange
160,orange,orange
155,orange,orange
120,yellow,banana
125,yellow,banana
118,green,banana
";

/// Two separable classes.
pub const TINY: &str = "+1 1:2 2:1\n+1 1:1.5 2:0.5\n-1 1:-1 2:-2\n-1 1:-2\n";

impl World {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// With the model `m.lineal`, trained on [`FRUIT`] in `fruit.csv`.
    pub fn with_model(flags: &[&str]) -> Self {
        let world = Self::new();
        world.file("fruit.csv", FRUIT);
        let command = ["train", "fruit.csv", "--label", "fruit", "-o", "m.lineal", "-q"];
        world.run(&[&command, flags].concat()).done();
        world
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).unwrap();
    }

    pub fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    pub fn has(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// Names of all files, also hidden ones.
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub fn command(&self) -> assert_cmd::Command {
        let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_lineal"));
        command.current_dir(self.folder.path());
        command
    }

    /// The same for tests that need the child's handles. Signals do to it what they do by default, even where whoever runs the tests ignores them: `nohup` does, and a shell for what
    /// it runs in the background.
    pub fn child(&self) -> std::process::Command {
        let program = env!("CARGO_BIN_EXE_lineal");
        let mut command = if cfg!(target_os = "linux") {
            let mut env = std::process::Command::new("env");
            env.args(["--default-signal=HUP,INT,TERM", program]);
            env
        } else {
            std::process::Command::new(program)
        };
        command.current_dir(self.folder.path());
        command
    }

    pub fn run(&self, args: &[&str]) -> Run {
        self.command().args(args).output().unwrap().into()
    }

    pub fn run_with_input(&self, args: &[&str], input: &str) -> Run {
        self.command().args(args).write_stdin(input).output().unwrap().into()
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        let run = Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        };
        assert!(!run.err.contains("panicked"), "{run:?}");
        run
    }
}

impl Run {
    /// Ended with 0.
    #[track_caller]
    pub fn done(self) -> Self {
        assert_eq!(self.code, 0, "{self:?}");
        self
    }

    /// Ended with `code`, nothing on stdout, and one message with each of `parts`.
    #[track_caller]
    pub fn failed(self, code: i32, parts: &[&str]) -> Self {
        assert_eq!(self.code, code, "{self:?}");
        assert_eq!(self.out, "");
        assert_eq!(self.err.matches("error: ").count(), 1, "{}", self.err);
        self.says(parts)
    }

    /// Has each of `parts` on stderr.
    #[track_caller]
    pub fn says(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(self.err.contains(part), "no {part:?} in:\n{}", self.err);
        }
        self
    }

    /// Stdout is exactly one JSON object.
    #[track_caller]
    pub fn json(&self) -> Value {
        let value: Value =
            serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {}", self.out));
        assert!(value.is_object());
        value
    }
}
