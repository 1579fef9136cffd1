//! Model files: opened, looked at, asked, explained, written again. Lengths and checksums are repaired first, so that mutations reach what is behind them.

use super::model_file::repair;
use super::readers::memory;
use super::seeds;
use super::signature::Signature;
use lineal::data::{ImageReadOptions, RgbPixels};
use lineal::{
    AnyModel, Ask, BracketReadOptions, ConstituencyModel, Dataset, DeclaredModel, DeclaredOptions,
    DependencyModel, Error, Examples, ExplainSpec, Format, Model, ModelFormat, RankModel,
    ReadOptions, SceneOptions, SceneSchema, Scenes, SegmentModel, SequenceOptions, StructuredModel,
    TagModel, TargetKind, TreebankOptions, confused,
};

/// A model file, as it is and repaired.
pub fn model(input: &[u8]) -> Signature {
    let mut s = Signature::default();
    let as_it_is = s.result(AnyModel::from_bytes(input));
    let model = as_it_is.or_else(|| s.result(AnyModel::from_bytes(&repair(input))));
    model.iter().for_each(|model| exercise(model, &mut s));
    s
}

/// Models of other programs. What is written for them can be read from them.
pub fn exchange(input: &[u8]) -> Signature {
    let mut s = Signature::default();
    if let Some(model) = s.result(Model::import("a.model", input)) {
        rows(&model, &mut s);
        for format in [ModelFormat::Liblinear, ModelFormat::Onnx] {
            if let Some(exported) = s.result(model.export(format)) {
                Model::import("again.model", &exported.bytes)
                    .expect("what was written can be read");
            }
        }
    }
    s
}

/// Everything that can be asked of a model.
pub fn exercise(model: &AnyModel, s: &mut Signature) {
    let report = model.report();
    report.certificate();
    s.step(model.task().as_str());
    s.step(report.loss.as_str());
    s.count(report.warnings.len());
    if let Some(kept) = model.evaluation() {
        s.count(kept.metrics.len());
        if let Some(of) = &kept.classes {
            s.count(of.scores().len());
            s.count(of.bins().len());
            s.count(confused(&of.confusion, 3).len());
            of.curves.iter().for_each(|curve| s.count(curve.some_points(3).len()));
        }
    }
    match model {
        AnyModel::Rows(model) => rows(model, s),
        AnyModel::Tag(model) => tag(model, s),
        AnyModel::Dependency(model) => dependency(model, s),
        AnyModel::Constituency(model) => constituency(model, s),
        AnyModel::Rank(model) => rank(model, s),
        AnyModel::Segment(model) => segment(model, s),
        AnyModel::Declared(model) => declared(model, s),
    }
}

/// What a model says of data of its own kind.
pub fn ask_rows(model: &Model, data: &Dataset, s: &mut Signature) {
    s.result(model.predict(data));
    if let Some(scores) = s.result(model.scores(data)) {
        s.count(scores.n_cols);
    }
    if let Some(proba) = s.result(model.proba(data)) {
        s.result(model.least_cost(&proba));
        model.sample(&proba, 1);
    }
    if !matches!(model.task(), lineal::Task::Regress | lineal::Task::Rank) {
        s.result(model.top(data, 3));
    }
    s.result(model.evaluate(data).map(drop));
    s.result(model.explain(data, &ExplainSpec { top: Some(3), ..ExplainSpec::default() }));
}

fn look_at_rows(model: &Model, s: &mut Signature) {
    s.count(model.nonzeros());
    model.schema().describe();
    model.bias();
    let n = model.n_features();
    for j in [0, n / 2, n.saturating_sub(1)].into_iter().filter(|j| *j < n) {
        model.feature_name(j);
    }
    model.class_signs();
    for class in 0..model.classes().len().min(3) {
        model.top_effects(class, 3);
    }
}

fn rows(model: &Model, s: &mut Signature) {
    look_at_rows(model, s);
    for (name, bytes) in seeds::ROWS {
        let format = Format::from_name(name);
        let options = ReadOptions { format, target: model.schema().target, ..Default::default() };
        if let Some(data) = s.result(model.read(memory(name, bytes), &options)) {
            ask_rows(model, &data, s);
        }
    }
    if model.is_of_one_text()
        && let Some(data) = s.result(model.texts(&["the invoice is wrong", "", "ä 1"]))
    {
        ask_rows(model, &data, s);
    }
    if model.stream_spec().is_some()
        && let Ok(again) = model.to_bytes().and_then(|bytes| Model::from_bytes(&bytes))
    {
        let (name, bytes) = seeds::ROWS[0];
        let resumed = lineal::Streaming::resume(again, memory(name, bytes), &Default::default());
        s.result(resumed.run().map(drop));
    }
    let bytes = s.result(model.to_bytes());
    if let Some(bytes) = bytes {
        Model::from_bytes(&bytes).expect("a model that was read and written can be read again");
    }
}

/// What every structured model can do. The first example is explained by `explain`.
pub fn ask_structured<M: StructuredModel>(
    model: &M,
    data: &M::Data,
    s: &mut Signature,
    explain: impl Fn(&M, &M::Data) -> Result<(), Error>,
) {
    let asks = [
        Ask::default(),
        Ask { known: true, confidence: true, ..Ask::default() },
        Ask { proba: true, n_best: 3, ..Ask::default() },
        Ask { min_risk: true, ..Ask::default() },
        Ask { sample: Some(1), ..Ask::default() },
    ];
    for ask in &asks {
        if let Some(answers) = s.result(model.answer(data, ask)) {
            s.count(answers.len());
            s.result(model.compare(data, &answers).map(drop));
        }
    }
    if data.n_examples() > 0 && data.n_parts(0) > 0 {
        s.result(explain(model, data));
    }
}

fn structured<M: StructuredModel>(
    model: &M,
    samples: &[(&str, &[u8])],
    options: &M::Options,
    s: &mut Signature,
    explain: impl Fn(&M, &M::Data) -> Result<(), Error>,
) {
    s.count(model.n_weights());
    for (name, bytes) in samples {
        if let Some(data) = s.result(model.read(memory(name, bytes), options)) {
            ask_structured(model, &data, s, &explain);
        }
    }
    written(model, s);
    if let Some(small) = s.result(model.shrink(2000)) {
        written(&small, s);
    }
}

fn written<M: StructuredModel>(model: &M, s: &mut Signature) {
    if let Some(bytes) = s.result(model.to_bytes()) {
        M::from_bytes(&bytes)
            .map(drop)
            .expect("a model that was read and written can be read again");
    }
}

/// Why the labels of the first sequence.
pub fn explain_tags(model: &TagModel, data: &lineal::Sequences) -> Result<(), Error> {
    model.explain(data.get(0), None, None)?;
    model.explain(data.get(0), Some(0), Some(0)).map(drop)
}

fn tag(model: &TagModel, s: &mut Signature) {
    let labels = model.labels().len() as u32;
    s.count(model.n_attributes());
    s.count(model.n_forbidden());
    for from in 0..labels.min(3) {
        model.permits(from, labels - 1);
        model.transition(from, labels - 1);
    }
    structured(model, seeds::SEQUENCES, &SequenceOptions::default(), s, explain_tags);
}

/// Why the heads of the first sentence.
pub fn explain_arcs(model: &DependencyModel, data: &lineal::Treebank) -> Result<(), Error> {
    model.explain(data, 0, None).map(drop)
}

fn dependency(model: &DependencyModel, s: &mut Signature) {
    s.count(model.relations().len());
    let options = TreebankOptions::default();
    structured(model, seeds::TREEBANKS, &options, s, explain_arcs);
}

/// Why the phrases of the first sentence.
pub fn explain_phrases(
    model: &ConstituencyModel,
    data: &lineal::BracketTreebank,
) -> Result<(), Error> {
    model.explain(data, 0, None).map(drop)
}

fn constituency(model: &ConstituencyModel, s: &mut Signature) {
    s.count(model.labels().len());
    let options = BracketReadOptions::default();
    structured(model, seeds::BRACKETS, &options, s, explain_phrases);
}

/// Why the order of the first query.
pub fn explain_order(model: &RankModel, data: &lineal::RankedRows) -> Result<(), Error> {
    model.explain(data, 0, None, None).map(drop)
}

fn rank(model: &RankModel, s: &mut Signature) {
    look_at_rows(model.rows(), s);
    let options = ReadOptions { target: TargetKind::Grades, ..lineal::rank_options() };
    structured(model, seeds::RANKINGS, &options, s, explain_order);
}

/// Why the label of the first node.
pub fn explain_nodes(model: &SegmentModel, data: &Scenes) -> Result<(), Error> {
    model.explain(data, 0, None)?;
    model.explain(data, 0, Some(0)).map(drop)
}

fn segment(model: &SegmentModel, s: &mut Signature) {
    s.count(model.weights().len());
    model.feature_names();
    model.bytes_per_pixel();
    match model.schema() {
        SceneSchema::Graphs(_) => {
            structured(model, seeds::GRAPHS, &SceneOptions::default(), s, explain_nodes);
        }
        SceneSchema::Images(masks) => {
            let max = ImageReadOptions::default().max_pixels;
            let (image, mask) = seeds::picture();
            let pixels = RgbPixels::decode(&image, "a.png", max);
            let labels = masks.decode(&mask, "mask.png", max).ok();
            let data = pixels.map_err(Error::from).and_then(|pixels| {
                Scenes::of_images(masks.clone(), [("a.png".to_owned(), pixels, labels)])
            });
            if let Some(data) = s.result(data) {
                ask_structured(model, &data, s, explain_nodes);
            }
            written(model, s);
        }
    }
}

/// Why the labels of the first example.
pub fn explain_variables(model: &DeclaredModel, data: &lineal::DeclaredData) -> Result<(), Error> {
    model.explain(data, 0, None).map(drop)
}

fn declared(model: &DeclaredModel, s: &mut Signature) {
    s.count(model.n_features());
    s.count(model.declaration().rules().len());
    structured(model, seeds::DECLARED, &DeclaredOptions::default(), s, explain_variables);
}
