//! Whole runs: train, save, load, predict, from data and options that both come from the input. What is trained can be saved, what is saved can be loaded, and
//! the loaded model has the same answers.

use super::choices::{Choices, parts};
use super::models;
use super::readers::{memory, row_options};
use super::signature::Signature;
use lineal::data::{ImageReadOptions, MaskSchema, RgbPixels};
use lineal::{
    Ask, Bias, BracketReadOptions, CalibrateKind, ClassWeight, CodeKind, DeclaredData, DecoderKind,
    DecodingKind, Error, Examples, FeatureSpec, Format, LabellerKind, LossKind, Model, PairKind,
    Penalty, Precision, RankKind, ReadOptions, SceneOptions, Scenes, ScheduleKind, SchemeKind,
    SequenceOptions, SolverKind, Standardize, Strategy, StreamSpec, Streaming, StructuredModel,
    TagFeatures, TagsKind, Task, Threshold, TrainSpec, Training, TreeKind, TreebankOptions,
    UpdateKind, WeightsKind, read_features, read_ranking,
};

/// How many bytes choose the options of a run.
pub const CHOICES: usize = 32;

/// Numbers for anything that takes one.
const SIZES: &[f64] = &[1.0, 0.1, 10.0, 1e-3, 1e3, 0.0, 1e-12, 1e12, -1.0, f64::NAN, 1e-300, 1e300];

/// What all tasks choose.
fn base(task: Task, c: &mut Choices<'_>) -> TrainSpec {
    let mut spec = TrainSpec::for_task(task);
    let flags = c.below(256);
    if c.flag() {
        spec.loss = Some(c.one(LossKind::ALL));
    }
    spec.solver = c.one(SolverKind::ALL);
    let size = c.one(SIZES);
    spec.penalty = if flags & 1 != 0 { Penalty::L2(size) } else { Penalty::C(size) };
    if flags & 2 != 0 {
        spec.l1 = c.one(SIZES);
    }
    spec.bias = c.one(&[Bias::Free, Bias::Penalised, Bias::None]);
    spec.tol = c.one(&[1e-2, 1e-3, 1e-5, 0.0, 1.0, 1e-9]);
    spec.max_passes = Some(c.one(&[20, 1, 3, 50, 0]));
    spec.sgd.epochs = c.one(&[2, 1, 3, 0]);
    spec.sgd.batch_size = c.one(&[1, 2, 100, 0]);
    spec.sgd.schedule = [None, Some(c.one(ScheduleKind::ALL))][c.below(2)];
    spec.sgd.rate = [None, Some(c.one(SIZES))][c.below(2)];
    spec.sgd.average = c.one(&[None, Some(true), Some(false)]);
    spec.sgd.with_replacement = flags & 4 != 0;
    if flags & 8 != 0 {
        spec.sgd.passive_aggressive = Some(c.one(SIZES));
    }
    spec.precision = c.one(Precision::ALL);
    spec.validation = if flags & 16 != 0 { 0.3 } else { 0.0 };
    spec.patience = (flags & 32 != 0).then_some(1);
    spec.curve = flags & 64 != 0;
    spec.sum = flags & 128 != 0;
    spec
}

/// Choices that rows alone have.
fn of_rows(c: &mut Choices<'_>) -> TrainSpec {
    let task = c.one(&[Task::Classify, Task::Multilabel, Task::Regress]);
    let mut spec = base(task, c);
    let flags = c.below(256);
    spec.strategy = c.one(Strategy::ALL);
    let reduction = &mut spec.reduction;
    reduction.pairs = c.one(PairKind::ALL);
    reduction.code = c.one(CodeKind::ALL);
    reduction.decoding = c.one(DecodingKind::ALL);
    reduction.code_length = c.one(&[None, Some(3), Some(0), Some(40)]);
    reduction.code_text = (flags & 1 != 0).then(|| "+-\n-+\n".to_owned());
    reduction.tree = c.one(TreeKind::ALL);
    reduction.tree_text = (flags & 2 != 0).then(|| "((0 1) 2)".to_owned());
    reduction.leaf_size = c.one(&[None, Some(1), Some(2), Some(0)]);
    reduction.beam = c.one(&[10, 1, 0]);
    if flags & 4 != 0 {
        spec.calibrate = Some(c.one(CalibrateKind::ALL));
    }
    spec.threshold =
        c.one(&[Threshold::Half, Threshold::F1, Threshold::MicroF1, Threshold::Fixed(0.3)]);
    spec.folds = c.one(&[2, 3, 1, 0]);
    spec.class_weight = match flags & 24 {
        8 => ClassWeight::Balanced,
        16 => ClassWeight::Named(vec![("a".into(), 2.0), ("1".into(), 0.0)]),
        _ => ClassWeight::Equal,
    };
    spec.standardize = standardize(flags & 32 != 0);
    spec.hard_margin = flags & 64 != 0;
    spec
}

fn kept_rows(model: &Model, data: &lineal::Dataset, s: &mut Signature) {
    let bytes = model.to_bytes().expect("a trained model can be saved");
    let loaded = Model::from_bytes(&bytes).expect("a saved model can be loaded");
    assert_eq!(loaded.predict(data), model.predict(data), "predictions of the loaded model");
    models::ask_rows(&loaded, data, s);
}

/// Rows of numbers and names.
pub fn rows(input: &[u8]) -> Signature {
    let (mut c, bytes) = Choices::split(input, CHOICES);
    let mut s = Signature::default();
    let format = c.one(&[Format::Svmlight, Format::Csv, Format::Jsonl, Format::Vw]);
    let spec = of_rows(&mut c);
    let options = ReadOptions { target: spec.task.target(), ..row_options(&mut c, format) };
    if let Some(data) = s.result(lineal::read(memory("a", bytes), &options))
        && let Some((model, report)) = s.result(lineal::train(&data, &spec))
    {
        s.step(report.solver.as_str());
        report.certificate();
        kept_rows(&model, &data, &mut s);
    }
    s
}

/// Rows with text, templates, interactions and maps.
pub fn text(input: &[u8]) -> Signature {
    let (mut c, bytes) = Choices::split(input, CHOICES);
    let mut s = Signature::default();
    let format = c.one(&[Format::Csv, Format::FastText, Format::Jsonl, Format::Tsv]);
    let flags = c.below(256);
    let mut features =
        FeatureSpec { standardize: standardize(flags & 1 != 0), ..FeatureSpec::default() };
    features.text.hash_bits = c.one(&[None, Some(4), Some(1), Some(8)]);
    features.text.chars = c.one(&[None, Some((2, 4)), Some((1, 1)), Some((0, 0)), Some((5, 2))]);
    features.text.ngrams = c.one(&[Some((1, 2)), None, Some((1, 1)), Some((2, 3))]);
    features.text.prefixes = c.one(&[None, Some((1, 3))]);
    features.text.suffixes = c.one(&[None, Some((2, 2))]);
    features.text.max_features = c.one(&[None, Some(3), Some(0)]);
    features.map = c.one(&[None, "poly:2".parse().ok(), "rff:4".parse().ok()]);
    if flags & 2 != 0 {
        features.interact.extend("a*b".parse().ok());
    }
    if flags & 4 != 0 {
        let templates = "text\nwords(text) * prefix:1(class)\nalways\n";
        features.templates = lineal::templates::Templates::parse(templates, 4).ok();
    }
    let text = if flags & 8 != 0 { vec!["text".into()] } else { Vec::new() };
    let guess_text = flags & 16 != 0;
    let spec = of_rows(&mut c);
    let target = spec.task.target();
    let options =
        ReadOptions { text, guess_text, target, format: Some(format), ..Default::default() };
    if let Some((data, features)) = s.result(read_features(memory("a", bytes), &options, &features))
        && let Some((model, _)) = s.result(Training::new(&data, &spec).features(&features).run())
    {
        kept_rows(&model, &data, &mut s);
    }
    s
}

/// Streams, taken up again.
pub fn stream(input: &[u8]) -> Signature {
    let (mut c, bytes) = Choices::split(input, CHOICES);
    let mut s = Signature::default();
    let format =
        c.one(&[Format::Svmlight, Format::Csv, Format::FastText, Format::Vw, Format::Jsonl]);
    let flags = c.below(256);
    let update = c.one(UpdateKind::ALL);
    let spec = StreamSpec {
        task: c.one(&[Task::Classify, Task::Multilabel, Task::Regress]),
        loss: [None, Some(c.one(LossKind::ALL))][c.below(2)],
        sum: flags & 1 != 0,
        strategy: Some(c.one(Strategy::ALL)).filter(|_| flags & 64 == 0),
        pairs: c.one(PairKind::ALL),
        bias: c.one(&[Bias::Free, Bias::Penalised, Bias::None]),
        l2: c.one(SIZES),
        update: (flags & 2 != 0).then_some(update),
        rate: [None, Some(c.one(SIZES))][c.below(2)],
        average: flags & 4 != 0,
        shuffle: flags & 8 != 0,
        rows_per_chunk: Some(c.one(&[1, 3, 4096])),
        sample_rows: c.one(&[1, 2, 20_000]),
        ..StreamSpec::default()
    };
    let mut features = FeatureSpec::default();
    features.text.hash_bits = Some(4);
    let text = if flags & 16 != 0 { vec!["text".to_owned()] } else { Vec::new() };
    let hash_categories = (flags & 32 != 0).then_some(4);
    let options = ReadOptions { format: Some(format), text, hash_categories, ..Default::default() };
    let run = Streaming::new(memory("a", bytes), &options, &spec).features(&features);
    if let Some((model, _)) = s.result(run.passes(1 + c.below(2)).run()) {
        let saved = model.to_bytes().expect("a trained model can be saved");
        let loaded = Model::from_bytes(&saved).expect("a saved model can be loaded");
        let target = model.schema().target;
        let options = ReadOptions { target, ..options };
        if let Some(data) = s.result(model.read(memory("a", bytes), &options)) {
            assert_eq!(loaded.predict(&data), model.predict(&data), "predictions after loading");
            models::ask_rows(&loaded, &data, &mut s);
        }
        let resumed = Streaming::resume(loaded, memory("a", bytes), &options);
        if let Some((model, _)) = s.result(resumed.run()) {
            let saved = model.to_bytes().expect("a resumed model can be saved");
            Model::from_bytes(&saved).expect("a resumed and saved model can be loaded");
        }
    }
    s
}

/// Trains and asks. Answers after loading are compared by what they score.
fn kept<D>(
    data: &D,
    spec: &TrainSpec,
    s: &mut Signature,
    explain: impl Fn(&D::Model, &D) -> Result<(), Error>,
) where
    D: Examples,
    D::Model: StructuredModel<Data = D>,
{
    let Some((model, report)) = s.result(lineal::train(data, spec)) else { return };
    s.step(report.solver.as_str());
    let bytes = model.to_bytes().expect("a trained model can be saved");
    let loaded = D::Model::from_bytes(&bytes).expect("a saved model can be loaded");
    let measure = |model: &D::Model| {
        let answers = model.answer(data, &Ask::default());
        let metrics = answers.and_then(|answers| model.compare(data, &answers));
        metrics
            .map_err(|e| e.to_string())
            .and_then(|m| serde_json::to_string(&m).map_err(|e| e.to_string()))
    };
    assert_eq!(measure(&loaded), measure(&model), "metrics of the loaded model");
    models::ask_structured(&loaded, data, s, explain);
}

/// Taggers.
pub fn tag(input: &[u8]) -> Signature {
    let (mut c, bytes) = Choices::split(input, CHOICES);
    let mut s = Signature::default();
    let format = c.one(&[Format::Conll, Format::Crfsuite, Format::Conllu, Format::Jsonl]);
    let mut spec = base(Task::Tag, &mut c);
    let flags = c.below(256);
    let [data, rules] = parts(bytes);
    let tag = &mut spec.tag;
    tag.features = c.one(&[
        TagFeatures::Default,
        TagFeatures::List("word,shape,suffix:2,window:1".into()),
        TagFeatures::List("rich".into()),
        TagFeatures::Templates("U0:%x[0,0]\nB1:%x[0,0]\nB\n".into()),
    ]);
    tag.hash_bits = c.one(&[None, Some(4), Some(10), Some(0)]);
    tag.min_count = c.one(&[1, 2, 0]);
    tag.order = c.one(&[1, 2, 0, 3]);
    tag.ends = flags & 1 == 0;
    tag.weights = c.one(WeightsKind::ALL);
    tag.bias = c.one(&[None, Some(true), Some(false)]);
    tag.scheme =
        c.one(&[None, Some(SchemeKind::Bio), Some(SchemeKind::Bioes), Some(SchemeKind::Iob1)]);
    tag.legal_rivals = flags & 2 != 0;
    if flags & 4 != 0 {
        tag.rules = std::str::from_utf8(rules).ok().map(str::to_owned);
    }
    let options = SequenceOptions { format: Some(format), ..Default::default() };
    if let Some(data) = s.result(lineal::read_sequences(memory("a", data), &options)) {
        kept(&data, &spec, &mut s, models::explain_tags);
    }
    s
}

/// Parsers of dependencies.
pub fn dependency(input: &[u8]) -> Signature {
    let (mut c, bytes) = Choices::split(input, CHOICES);
    let mut s = Signature::default();
    let mut spec = base(Task::Dependency, &mut c);
    let parser = &mut spec.dependency;
    parser.decoder =
        c.one(&[None, Some(DecoderKind::Projective), Some(DecoderKind::Nonprojective)]);
    parser.order = c.one(&[None, Some(1), Some(2), Some(0)]);
    parser.hash_bits = Some(c.one(&[10, 12, 8]));
    parser.candidates = c.one(&[None, Some(1), Some(3), Some(0)]);
    parser.labeller = c.one(LabellerKind::ALL);
    parser.tags = c.one(TagsKind::ALL);
    parser.single_root = !c.flag();
    let options = TreebankOptions { format: Some(Format::Conllu), ..Default::default() };
    if let Some(data) = s.result(lineal::read_treebank(memory("a", bytes), &options)) {
        kept(&data, &spec, &mut s, models::explain_arcs);
    }
    s
}

/// Parsers of constituents.
pub fn constituency(input: &[u8]) -> Signature {
    let (mut c, bytes) = Choices::split(input, CHOICES);
    let mut s = Signature::default();
    let mut spec = base(Task::Constituency, &mut c);
    let parser = &mut spec.constituency;
    parser.horizontal = c.one(&[parser.horizontal, 0, 1, 3]);
    parser.vertical = c.one(&[parser.vertical, 1, 2, 0]);
    parser.functions = c.flag();
    parser.hash_bits = Some(c.one(&[12, 10, 14]));
    parser.candidates = c.one(&[None, Some(1), Some(3), Some(0)]);
    parser.tags = c.one(TagsKind::ALL);
    let read = lineal::constituency_options();
    let options = BracketReadOptions { format: Some(Format::Brackets), ..read };
    if let Some(data) = s.result(lineal::read_brackets(memory("a", bytes), &options)) {
        kept(&data, &spec, &mut s, models::explain_phrases);
    }
    s
}

/// Rankings.
pub fn rank(input: &[u8]) -> Signature {
    let (mut c, bytes) = Choices::split(input, CHOICES);
    let mut s = Signature::default();
    let mut spec = base(Task::Rank, &mut c);
    spec.rank.kind = c.one(RankKind::ALL);
    spec.rank.at = c.one(&[None, Some(1), Some(10), Some(0)]);
    spec.rank.per_query = c.flag();
    spec.standardize = c.one(Standardize::ALL);
    let format = c.one(&[Format::Svmlight, Format::Csv]);
    let options = ReadOptions { format: Some(format), ..lineal::rank_options() };
    let read = read_ranking(memory("a", bytes), &options, &FeatureSpec::default());
    if let Some(data) = s.result(read) {
        kept(&data, &spec, &mut s, models::explain_order);
    }
    s
}

/// Segmentations of graphs, and of an image with its mask.
pub fn segment(input: &[u8]) -> Signature {
    const MAX_PIXELS: usize = 1 << 10;
    let (mut c, bytes) = Choices::split(input, CHOICES);
    let mut s = Signature::default();
    let mut spec = base(Task::Segment, &mut c);
    spec.segment.superpixels = c.one(&[None, Some(4), Some(0), Some(100_000)]);
    spec.segment.edges = !c.flag();
    let data = if bytes.trim_ascii_start().first() == Some(&b'{') {
        Scenes::read(memory("a.jsonl", bytes), &SceneOptions::default())
    } else {
        let [image, mask] = parts(bytes);
        let options = ImageReadOptions { max_pixels: MAX_PIXELS, ..Default::default() };
        let read = || -> Result<Scenes, Error> {
            let pixels = RgbPixels::decode(image, "a.png", MAX_PIXELS)?;
            let schema = MaskSchema::learn(mask, "mask.png", &options)?;
            let labels = schema.decode(mask, "mask.png", MAX_PIXELS)?;
            Scenes::of_images(schema, [("a.png".to_owned(), pixels, Some(labels))])
        };
        read()
    };
    if let Some(data) = s.result(data) {
        kept(&data, &spec, &mut s, models::explain_nodes);
    }
    s
}

/// Declared structures.
pub fn declared(input: &[u8]) -> Signature {
    let (mut c, bytes) = Choices::split(input, CHOICES);
    let mut s = Signature::default();
    let mut spec = base(Task::Declared, &mut c);
    let [declaration, examples] = parts(bytes);
    let text = String::from_utf8_lossy(declaration).into_owned();
    spec.declared.local = c.flag();
    spec.declared.min_count = c.one(&[1, 2, 0]);
    spec.declared.max_nodes = c.one(&[100, 1, 0, 1000]);
    let parsed = lineal::declaration(&text);
    spec.declared.declaration = text;
    if let Some(declaration) = s.result(parsed)
        && let Some(data) = s.result(DeclaredData::read(memory("a.jsonl", examples), &declaration))
    {
        kept(&data, &spec, &mut s, models::explain_variables);
    }
    s
}

/// All features, or the columns of numbers of tables.
fn standardize(all: bool) -> Standardize {
    if all { Standardize::All } else { Standardize::Numbers }
}
