//! A run over a stream: what it reads, how often, and who is told.

use super::run::{Run, begin};
use super::{StreamPoint, StreamReport, StreamSpec, resume};
use crate::Error;
use crate::features::FeatureSpec;
use crate::predict::model::Model;
use lineal_data::{ReadOptions, Source};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Called after every chunk; `Break` ends the run, whose model is kept.
pub type OnChunk<'a> = dyn FnMut(&StreamPoint) -> ControlFlow<()> + Send + 'a;
/// Called with the model so far.
pub type OnCheckpoint<'a> = dyn FnMut(&Model) -> Result<(), Error> + Send + 'a;

/// A run over a stream that is about to start.
///
/// ```
/// use lineal::{ReadOptions, Source, StreamSpec, Streaming};
///
/// let rows = "1 1:1\n2 2:1\n".repeat(200);
/// let file = Source::Memory { name: "a.svm".into(), bytes: rows.into_bytes() };
/// let (model, report) =
///     Streaming::new(file, &ReadOptions::default(), &StreamSpec::default()).run()?;
/// assert!(report.passes[0].metric > 0.95);
///
/// // New rows, and a new class.
/// let file = Source::Memory { name: "b.svm".into(), bytes: b"3 3:1\n1 1:1\n".repeat(100) };
/// let (model, _) = Streaming::resume(model, file, &ReadOptions::default()).run()?;
/// assert_eq!(model.classes(), ["1", "2", "3"]);
/// # Ok::<(), lineal::Error>(())
/// ```
pub struct Streaming<'a> {
    source: Source,
    options: ReadOptions,
    spec: StreamSpec,
    features: FeatureSpec,
    resumed: Option<Model>,
    passes: usize,
    on_chunk: Option<&'a mut OnChunk<'a>>,
    checkpoint: Option<(Duration, &'a mut OnCheckpoint<'a>)>,
}

impl<'a> Streaming<'a> {
    /// One pass over this data by this spec.
    pub fn new(source: impl Into<Source>, options: &ReadOptions, spec: &StreamSpec) -> Self {
        Self {
            source: source.into(),
            options: options.clone(),
            spec: spec.clone(),
            features: FeatureSpec::default(),
            resumed: None,
            passes: 1,
            on_chunk: None,
            checkpoint: None,
        }
    }

    /// Goes on where a model left off, by its own spec. If it was interrupted in a pass over a file of the same name, that pass is finished: rows that it has
    /// learnt from are read over.
    pub fn resume(model: Model, source: impl Into<Source>, options: &ReadOptions) -> Self {
        let spec = model.about.stream.as_ref().map(|s| s.spec.clone()).unwrap_or_default();
        Self { resumed: Some(model), ..Self::new(source, options, &spec) }
    }

    /// How text becomes features: hashed, and without idf.
    pub fn features(mut self, spec: &FeatureSpec) -> Self {
        self.features = spec.clone();
        self
    }

    /// That many passes.
    pub fn passes(mut self, passes: usize) -> Self {
        self.passes = passes;
        self
    }

    /// Be called after every chunk.
    pub fn monitor(mut self, on_chunk: &'a mut OnChunk<'a>) -> Self {
        self.on_chunk = Some(on_chunk);
        self
    }

    /// Be given the model so far every now and then.
    pub fn checkpoint(mut self, every: Duration, save: &'a mut OnCheckpoint<'a>) -> Self {
        self.checkpoint = Some((every, save));
        self
    }

    /// Learns.
    pub fn run(self) -> Result<(Model, StreamReport), Error> {
        let Self { source, options, spec, features, resumed, passes, on_chunk, checkpoint } = self;
        if spec.task.is_structured() {
            return Err(Error::request(format!(
                "a stream has rows, and the task {} learns from sentences",
                spec.task
            )));
        }
        let options = ReadOptions { grow_classes: true, target: spec.task.target(), ..options };
        if passes > 1 && source.comes_once() {
            return Err(Error::request(format!(
                "{}: standard input and pipes can be read only once, and {passes} passes were asked for; leave out Streaming::passes, or save the rows to a file",
                source.name()
            )));
        }
        let source = if resumed.is_none() { source.kept()? } else { source };
        let start = match resumed {
            Some(model) => resume::take_up(model, &source, &options)?,
            None => begin(&source, &options, spec, &features)?,
        };
        source.seal();
        let mut run = Run {
            started: Instant::now(),
            last_saved: Instant::now(),
            n_known: start.schema.classes.len(),
            start,
            source,
            options,
            rows: 0,
            warnings: Vec::new(),
            on_chunk,
            checkpoint,
        };
        let mut interrupted = false;
        for pass in 0..passes.max(1) {
            if run.pass(pass > 0)?.is_break() {
                interrupted = true;
                break;
            }
        }
        run.finish(interrupted)
    }
}
