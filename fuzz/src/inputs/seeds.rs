//! Small samples of every format, written for this purpose, and small models of every task, trained on them.

use super::readers::memory;
use flate2::Compression;
use flate2::write::GzEncoder;
use lineal::data::{MaskLabel, MaskSchema, MaskValue, RgbPixels};
use lineal::{
    BracketReadOptions, CalibrateKind, ClassEvaluation, DeclaredData, Error, Evaluation,
    FeatureSpec, Format, LossKind, Metrics, Model, ModelFormat, ReadOptions, SceneOptions, Scenes,
    SequenceOptions, SolverKind, Standardize, Strategy, StreamSpec, Streaming, StructuredModel,
    Task, TrainSpec, Training, TreebankOptions, UpdateKind, read_features, read_ranking,
};
use std::io::Write;

/// Name and content of a small file.
pub type Sample = (&'static str, &'static [u8]);

/// Rows in every format.
pub const ROWS: &[Sample] = &[
    ("a.svm", b"+1 1:0.5 3:-2 # note\n-1 2:1e-3 7:4\n+1 1:1 7:0\n-1\n+1 3:2.5\n-1 2:2 3:1\n"),
    ("b.svm", b"2 1:1 2:1\n1 1:0.1 2:-1\n3 4:1\n2 1:1.5\n3 4:0.5 2:0.2\n1 2:-2\n"),
    ("multi.svm", b"1,2 1:1 2:1\n2 2:1\n 3:1\n1 1:2\n1,3 3:2 1:1\n"),
    ("a.csv", b"a,b,label,weight\n1,red,x,1\n2.5,blue,y,0.5\n-3,red,x,2\n,green,z,1\n4,blue,y,1\n7,,z,1\n"),
    ("text.csv", b"text,a,label\n\"my invoice, wrong\",1,money\ncannot log in,2,access\nthe invoice never came,3,money\nlog in fails,4,access\n"),
    ("real.csv", b"a,b,y\n1,2,3.5\n2,1,4\n3,5,8.25\n4,4,8\n"),
    ("labels.csv", b"a,labels\n1,\"x,y\"\n2,y\n3,\n4,\"x,z\"\n"),
    ("a.tsv", b"a\tb\tlabel\n1\tred\tx\n2\tblue\ty\n3\tred\tx\n4\tblue\ty\n"),
    ("a.jsonl", b"{\"a\": 1, \"b\": \"red\", \"label\": \"x\", \"text\": \"so it goes\"}\n{\"a\": 2.5, \"b\": null, \"label\": \"y\", \"text\": \"\\u00e4 b\"}\n{\"a\": -1, \"b\": \"blue\", \"label\": \"x\"}\n{\"label\": \"y\", \"a\": 3}\n"),
    ("a.ft", b"__label__money the invoice is wrong\n__label__access cannot log in\n__label__money __label__access pay to log in\n__label__access login fails\n"),
    ("a.vw", b"1 2.0 tag|a x:1 y:0.5 |b red\n-1 |a x:2 z |b blue\n1 |a y |b red\n-1 0.5|a x:0.1\n"),
    ("a.idx", b"\0\0\x08\x03\0\0\0\x02\0\0\0\x02\0\0\0\x03\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c"),
    ("single.ft", b"__label__money the invoice is wrong\n__label__access cannot log in\n__label__money pay the invoice\n__label__access login fails\n"),
];

/// Documents of queries.
pub const RANKINGS: &[Sample] = &[
    ("a.letor", b"2 qid:1 1:0.9 2:0.1 # doc a\n0 qid:1 1:0.1 2:0.4\n1 qid:1 1:0.5\n0 qid:b 2:1\n1 qid:b 1:1 2:0.5\n"),
    ("a.csv", b"query,grade,a,b\nq1,2,0.9,1\nq1,0,0.1,2\nq2,1,0.5,1\nq2,0,0.2,3\nq2,0,0.3,1\n"),
];

/// Sentences with labels.
pub const SEQUENCES: &[Sample] = &[
    ("a.conll", b"We PRP B-NP\nsaw VBD O\nthe DT B-NP\ndog NN I-NP\n\nIt PRP B-NP\nran VBD O\n1.5 CD B-NP\nmiles NNS I-NP\n\nYes UH O\n"),
    ("a.conllu", b"# sent_id = 1\n1\tWe\twe\tPRON\tPRP\tCase=Nom|Number=Plur\t2\tnsubj\t_\t_\n2\tsaw\tsee\tVERB\tVBD\t_\t0\troot\t_\t_\n3-4\tdon't\t_\t_\t_\t_\t_\t_\t_\t_\n3\tdo\tdo\tAUX\tVB\t_\t2\taux\t_\t_\n4\tnot\tnot\tPART\tRB\t_\t2\tadvmod\t_\tSpaceAfter=No\n4.1\tx\t_\t_\t_\t_\t_\t_\t_\t_\n\n"),
    ("a.crfsuite", b"B\tw=We\tpos=PRP:0.5\nO\tw=saw\tw\\:x:2\nB\tw=the\n\nO\tw=Yes\nO\tw=sir\n"),
    ("a.jsonl", b"{\"tokens\": [\"We\", \"saw\"], \"pos\": [\"PRP\", \"VBD\"], \"labels\": [\"B\", \"O\"]}\n{\"tokens\": [\"Yes\"], \"pos\": [\"UH\"], \"labels\": [\"O\"]}\n"),
    ("spans.jsonl", b"{\"text\": \"Ann lives in Rome.\", \"spans\": [{\"start\": 0, \"end\": 3, \"label\": \"PER\"}, {\"start\": 13, \"end\": 17, \"label\": \"LOC\"}]}\n{\"text\": \"\\u00c4h, B\\u00f6hm\", \"spans\": [{\"start\": 4, \"end\": 8, \"label\": \"PER\"}]}\n"),
    ("triples.jsonl", b"{\"text\": \"Ann lives in Rome.\", \"entities\": [[0, 3, \"PER\"], [13, 17, \"LOC\"]]}\n{\"text\": \"Yes\", \"entities\": []}\n"),
];

/// Sentences with heads.
pub const TREEBANKS: &[Sample] = &[
    ("a.conllu", b"# text = We saw it\n1\tWe\twe\tPRON\tPRP\tCase=Nom\t2\tnsubj\t_\t_\n2\tsaw\tsee\tVERB\tVBD\t_\t0\troot\t_\t_\n3\tit\tit\tPRON\tPRP\t_\t2\tobj\t_\t_\n\n1\tThe\tthe\tDET\tDT\t_\t2\tdet\t_\t_\n2\tdog\tdog\tNOUN\tNN\t_\t3\tnsubj\t_\t_\n3\tran\trun\tVERB\tVBD\t_\t0\troot\t_\t_\n4\thome\thome\tADV\tRB\t_\t3\tadvmod\t_\t_\n5\t.\t.\tPUNCT\t.\t_\t3\tpunct\t_\t_\n\n"),
    ("cross.conllu", b"1\tA\ta\tX\t_\t_\t3\tdep\t_\t_\n2\tb\tb\tX\t_\t_\t4\tdep\t_\t_\n3\tc\tc\tX\t_\t_\t0\troot\t_\t_\n4\td\td\tX\t_\t_\t3\tdep\t_\t_\n\n"),
];

/// Sentences with phrases.
pub const BRACKETS: &[Sample] = &[
    ("a.mrg", b"(TOP (S (NP-SBJ (DT The) (NN dog)) (VP (VBD saw) (NP (PRP it))) (. .)))\n(TOP (S (NP (PRP We)) (VP (VBD ran) (ADVP (RB home)) (-NONE- *))))\n( (FRAG (NP (NP (NN x)) (PP (IN of) (NP (NN y))))) )\n"),
    ("a.sentences", b"The dog saw it .\nWe ran\n"),
];

/// Graphs with labels.
pub const GRAPHS: &[Sample] = &[
    ("a.jsonl", b"{\"id\": \"1\", \"nodes\": [[0.5, 1], [0.1, 0], [0, 2]], \"edges\": [[0, 1, [0.7]], [1, 2, [0.1]]], \"labels\": [\"sky\", \"sea\", null], \"weight\": 2}\n{\"nodes\": [[1, 1], [2, 0]], \"edges\": [[1, 0, [1]]], \"labels\": [\"sea\", \"sky\"]}\n"),
    ("b.jsonl", b"{\"nodes\": [{\"red\": 1}, {\"blue\": 2}, {}], \"edges\": [[0, 1], [1, 2]], \"labels\": [\"a\", \"b\", \"a\"]}\n"),
];

/// A declaration with examples, one part each.
pub const DECLARATION: &[u8] = b"variable entity { Other Loc Peop } from entities by type\nvariable relation(head: entity, tail: entity) { none Live_In Kill } from relations by type all pairs\nfactor types(relation, relation.head, relation.tail)\nfeatures entity: lower(tokens[start..end]) shape(tokens[start..end]) suffix(3, tokens[start..end]) lower(tokens[start-1])\nfeatures relation: set(lower(tokens[between head tail])) & order(head, tail) distance(head, tail)\nrule relation = Live_In implies head = Peop and tail = Loc\nrule at most 2 entity = Peop\nrule 2*count(relation = Kill) - count(entity = Peop) <= 3\ncost relation 1 Live_In 5 Kill 5\n";

/// Examples of [`DECLARATION`].
pub const DECLARED: &[Sample] = &[(
    "a.jsonl",
    b"{\"tokens\": [\"Booth\", \"shot\", \"Lincoln\"], \"entities\": [{\"start\": 0, \"end\": 1, \"type\": \"Peop\"}, {\"start\": 2, \"end\": 3, \"type\": \"Peop\"}], \"relations\": [{\"head\": 0, \"tail\": 1, \"type\": \"Kill\"}]}\n{\"tokens\": [\"Ann\", \"lives\", \"in\", \"Rome\"], \"entities\": [{\"start\": 0, \"end\": 1, \"type\": \"Peop\"}, {\"start\": 3, \"end\": 4, \"type\": \"Loc\"}], \"relations\": [{\"head\": 0, \"tail\": 1, \"type\": \"Live_In\"}]}\n",
)];

/// A chain with a pattern, and an example.
const CHAIN: &[u8] = b"variable token { O B I } from tokens_ by label\nfactor step(token, token.next)\nfeatures token: tokens[start]\nrule sequence token matches O* (B I* .*)?\nrule exactly 1 token = B\nrule token = I implies previous != O\n=====\n{\"tokens\": [\"a\", \"b\", \"c\"], \"tokens_\": [{\"start\": 0, \"end\": 1, \"label\": \"O\"}, {\"start\": 1, \"end\": 2, \"label\": \"B\", \"features\": {\"length\": 3}}, {\"start\": 2, \"end\": 3, \"label\": \"I\"}]}\n";

/// Rules for taggers.
pub const RULES: &[u8] = b"at most 1 spans of PER\nexactly 1 label = B-LOC\nlabel = B-PER implies next != B-PER\nsequence label matches O* (B-PER I-PER* .*)?\n2*count(label = O) - count(label = B-LOC) >= 0\n";

/// Templates of taggers.
pub const SEQUENCE_TEMPLATES: &[u8] =
    b"# words\nU00:%x[-1,0]\nU01:%x[-1,0]/%x[0,0]\nU7:%x[0,0,suffix:3]\nU8:%x[0,1,shape]\nB1:%x[0,1]\nB\n";

/// Lists of features of taggers.
pub const FEATURE_LIST: &[u8] =
    b"word,lower,shape,prefix:1-4,suffix:3@1,caps,digits,window:2,column:1,cross:1,transition:1";

/// Templates of joint features.
pub const JOINT_TEMPLATES: &[u8] = b"# one template per line\nword\nlower(word)\nprefix:1-3(word)\nsuffix:2(previous) & suffix:2(word)  # both\nsuffix:1-3(word) * prefix:2(class)\nwords(\"odd column\")\nbefore:x(word) * after:-(class)\nnumber(n)\nalways\n";

/// Costs of mistakes.
pub const COSTS: &[u8] = b",a,b,c\na,0,1,2\nb,3,0,4\nc,5,6,0\n";

/// An output code.
pub const CODE: &[u8] = b"# a code\n+-0+\n-+0-\n00++\n";

/// A label tree.
pub const LABEL_TREE: &[u8] = b"((0 3) (1 (2 4))) # five classes\n";

/// Templates of dependency parsers.
pub const DEPENDENCY_TEMPLATES: &[u8] = b"[arcs]\nh.form m.upos\nh.upos h+1.upos m-1.upos m.upos\nh.upos between.upos m.upos\nh.feats* m.feats*\nh.form:lower m.form:suffix3\n[siblings]\nh.upos s.upos m.upos\n[grandparents]\ng.upos h.upos m.upos\n[heads]\nh.upos m.upos\n[relations]\nm.form h.form direction\nm.upos h.upos g.upos child.upos\n[labels]\nh.upos m.upos\n";

/// Templates of constituency parsers.
pub const CONSTITUENCY_TEMPLATES: &[u8] = b"[label]\nfirst.word last.tag\nfirst-1.tag first.tag length\n[left]\nfirst.tag last.tag\n[right]\nfirst.lower last+1.suffix2\n[span]\nfirst-1.tag first.tag outline\n";

/// Options in the order of [`super::formats::options`], with the byte that chooses.
pub fn options() -> Vec<Vec<u8>> {
    let texts = [
        "balanced",
        "a=2,b=0.5",
        "cost:1,5",
        "0.3",
        "rff:100:0.5",
        "poly:3",
        "a*b",
        "horse=255",
        "road=#804080",
        "# note\nO I-X\n<edge>\tI X\n",
        "PUNCT *\n<root> ADP # no preposition\n",
    ];
    let which = [0, 0, 1, 1, 2, 2, 3, 4, 4, 5, 6];
    which.iter().zip(texts).map(|(&byte, text)| [&[byte], text.as_bytes()].concat()).collect()
}

/// The contents of samples.
pub fn contents(samples: &[Sample]) -> Vec<Vec<u8>> {
    samples.iter().map(|(_, bytes)| bytes.to_vec()).collect()
}

/// The contents of samples of one format.
pub fn of_format(samples: &[Sample], format: Format) -> Vec<Vec<u8>> {
    let is_it = |name: &str| Format::from_name(name) == Some(format);
    samples.iter().filter(|(name, _)| is_it(name)).map(|(_, bytes)| bytes.to_vec()).collect()
}

/// Two parts of an input.
pub fn both(a: &[u8], b: &[u8]) -> Vec<u8> {
    [a, b"=====\n", b].concat()
}

/// Declarations with examples.
pub fn declarations() -> Vec<Vec<u8>> {
    vec![both(DECLARATION, DECLARED[0].1), CHAIN.to_vec()]
}

/// Phrases, clusters of words, and sentences.
pub fn word_lists() -> Vec<Vec<u8>> {
    let phrases = b"the dog\nmiles\nSt. Louis\n";
    let bits = b"saw\t0110\ndog\t01100101101\nWe\t1\n";
    let named = b"saw\tverbs\ndog\tanimals\n";
    let with = |clusters: &[u8]| both(phrases, &both(clusters, SEQUENCES[0].1));
    vec![with(bits), with(named)]
}

/// Templates with sentences.
pub fn sequence_templates() -> Vec<Vec<u8>> {
    vec![both(SEQUENCE_TEMPLATES, SEQUENCES[0].1)]
}

/// Samples behind choices of zeros.
pub fn behind(n_choices: usize, samples: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    samples.into_iter().map(|sample| [vec![0; n_choices], sample].concat()).collect()
}

/// Samples behind first choices of `firsts` and zeros: one each.
pub fn chosen(n_choices: usize, firsts: &[u8], samples: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    let with = |(&first, sample): (&u8, Vec<u8>)| {
        let mut choices = vec![0; n_choices];
        choices[0] = first;
        [choices, sample].concat()
    };
    firsts.iter().zip(samples).map(with).collect()
}

/// Packed files.
pub fn archives() -> Vec<Vec<u8>> {
    let gzip = |bytes: &[u8]| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        let done = encoder.write_all(bytes).and_then(|()| encoder.finish());
        done.unwrap_or_default()
    };
    let zstd = |bytes: &[u8]| zstd::encode_all(bytes, 1).unwrap_or_default();
    let [svm, csv] = [ROWS[0].1, ROWS[3].1];
    vec![
        [&[1, 0][..], &gzip(svm)].concat(),
        [&[1, 0][..], &gzip(svm), &gzip(svm)].concat(),
        [&[2, 0][..], &zstd(csv)].concat(),
        [&[5, 1][..], &zstd(SEQUENCES[0].1)].concat(),
        [&[6, 2][..], &gzip(BRACKETS[0].1)].concat(),
    ]
}

/// An image of 9 × 7 pixels and its mask, as PNG.
pub fn picture() -> (Vec<u8>, Vec<u8>) {
    let (width, height) = (9, 7);
    let pixel = |i: usize| [(i % width * 25) as u8, (i / width * 30) as u8, 128];
    let rgb = (0..width * height).flat_map(pixel).collect();
    let grey = |value| MaskLabel { name: format!("l{value}"), value: MaskValue::Grey(value) };
    let masks = MaskSchema { labels: vec![grey(0), grey(255)], threshold: None, void: Vec::new() };
    let labels: Vec<u32> = (0..width * height).map(|i| u32::from(i % width > 4)).collect();
    let mask = masks.encode(width, height, &labels).unwrap_or_default();
    (lineal::data::png(width, height, rgb).unwrap_or_default(), mask)
}

/// Tables of Parquet by several writers, behind the byte that chooses.
pub fn parquet() -> Vec<Vec<u8>> {
    let files: [&[u8]; 6] = [
        include_bytes!("../../../crates/parquet/tests/data/delta.parquet"),
        include_bytes!("../../../crates/parquet/tests/data/duckdb.parquet"),
        include_bytes!("../../../crates/parquet/tests/data/lz4.parquet"),
        include_bytes!("../../../crates/parquet/tests/data/polars.parquet"),
        include_bytes!("../../../crates/parquet/tests/data/snappy.parquet"),
        include_bytes!("../../../crates/parquet/tests/data/zstd.parquet"),
    ];
    behind(1, files.map(<[u8]>::to_vec).to_vec())
}

/// Images in every format that is read.
pub fn images() -> Vec<Vec<u8>> {
    let (image, mask) = picture();
    let jpeg = include_bytes!("../../seeds/tiny.jpg");
    let all = [
        &image[..],
        &mask,
        jpeg,
        b"P2\n3 2\n255\n0 127 255\n0 0 255\n",
        b"P6 2 2 255\n\0\0\0\xff\xff\xff\x01\x02\x03\x04\x05\x06",
        b"P1\n2 2\n0 1 1 0\n",
        b"P5 2 1 65535\n\0\x01\xff\xff",
        b"P7\nWIDTH 2\nHEIGHT 1\nDEPTH 3\nMAXVAL 255\nTUPLTYPE RGB\nENDHDR\n\x01\x02\x03\x04\x05\x06",
    ];
    let mut samples: Vec<Vec<u8>> = all.iter().map(|bytes| [&[0], *bytes].concat()).collect();
    samples.push([&[0][..], &image, b"\n=====\n", &mask].concat());
    samples
}

/// Scenes for runs: graphs, and an image with its mask.
pub fn scenes() -> Vec<Vec<u8>> {
    let (image, mask) = picture();
    let mut samples = contents(GRAPHS);
    samples.push([&image[..], b"\n=====\n", &mask].concat());
    samples
}

/// Small models of every kind. A test tells those that can no longer be trained.
pub fn models() -> Vec<Vec<u8>> {
    let models = row_models().into_iter().chain(structured_models());
    models.filter_map(Result::ok).collect()
}

/// A model as LIBLINEAR writes it.
const LIBLINEAR: &[u8] = b"solver_type L2R_LR\nnr_class 3\nlabel 2 1 3\nnr_feature 2\nbias 1\nw\n0.5 -1 0.25 \n1e-3 0 2 \n-1 1 0 \n";

/// Models in the formats of other programs.
pub fn exchanged() -> Vec<Vec<u8>> {
    let models =
        row_models().into_iter().flatten().filter_map(|bytes| Model::from_bytes(&bytes).ok());
    let of = |model: &Model, format| model.export(format).ok().map(|exported| exported.bytes);
    let formats = [ModelFormat::Liblinear, ModelFormat::Onnx];
    let mut all: Vec<_> = models.flat_map(|m| formats.map(|f| of(&m, f))).flatten().collect();
    all.push(LIBLINEAR.to_vec());
    all
}

/// The bytes of a model, or why there is none.
type Trained = Result<Vec<u8>, Error>;

fn row_models() -> Vec<Trained> {
    let train = |sample: Sample, spec: &TrainSpec| -> Trained {
        let options = ReadOptions { target: spec.task.target(), ..ReadOptions::default() };
        let data = lineal::read(memory(sample.0, sample.1), &options)?;
        lineal::train(&data, spec)?.0.to_bytes()
    };
    let plain = TrainSpec::default();
    let mut models = vec![
        train(ROWS[0], &plain),
        train(ROWS[1], &plain),
        train(ROWS[3], &TrainSpec { solver: SolverKind::Newton, ..plain.clone() }),
        train(
            ROWS[5],
            &TrainSpec { standardize: Standardize::All, ..TrainSpec::for_task(Task::Regress) },
        ),
        train(ROWS[2], &TrainSpec::for_task(Task::Multilabel)),
        train(ROWS[6], &TrainSpec::for_task(Task::Multilabel)),
        train(ROWS[10], &plain),
    ];
    // With what the file keeps about how it did.
    for (name, bytes) in [ROWS[1], ROWS[3]] {
        models.push((|| {
            let data = lineal::read(memory(name, bytes), &ReadOptions::default())?;
            let (mut model, _) = lineal::train(&data, &plain)?;
            let mut kept = Evaluation::new(name, &serde_json::json!({"accuracy": 0.5}));
            if let Metrics::Classify(metrics) = model.evaluate(&data)? {
                let curves = model.threshold_curves(&data)?;
                kept.classes = Some(ClassEvaluation::new(&metrics, model.has_proba(), curves));
            }
            model.keep_evaluation(kept);
            model.to_bytes()
        })());
    }
    for strategy in [Strategy::Ova, Strategy::Ovo, Strategy::Ecoc, Strategy::Tree] {
        let loss = Some(LossKind::SquaredHinge);
        models.push(train(ROWS[1], &TrainSpec { strategy, loss, ..plain.clone() }));
    }
    for calibrate in [CalibrateKind::Platt, CalibrateKind::Isotonic, CalibrateKind::Temperature] {
        let (calibrate, strategy) = (Some(calibrate), Strategy::Ova);
        models.push(train(ROWS[1], &TrainSpec { calibrate, strategy, folds: 2, ..plain.clone() }));
    }

    let with = |sample: Sample, spec: &FeatureSpec| -> Trained {
        let text = if sample.0 == "text.csv" { vec!["text".to_owned()] } else { Vec::new() };
        let options = ReadOptions { text, ..ReadOptions::default() };
        let (data, features) = read_features(memory(sample.0, sample.1), &options, spec)?;
        Training::new(&data, &plain).features(&features).run()?.0.to_bytes()
    };
    let words = FeatureSpec::default();
    let mut hashed = words.clone();
    hashed.text.hash_bits = Some(6);
    let templates = "text\nsuffix:2(text) * prefix:1(class)\nwords(text)\n";
    let templates = lineal::templates::Templates::parse(templates, 6).ok();
    let interact = "a*b".parse().ok().into_iter().collect();
    models.extend([
        with(ROWS[4], &words),
        with(ROWS[12], &words),
        with(ROWS[4], &hashed),
        with(ROWS[4], &FeatureSpec { templates, ..words.clone() }),
        with(ROWS[3], &FeatureSpec { map: "poly:2".parse().ok(), ..words.clone() }),
        with(ROWS[3], &FeatureSpec { map: "rff:4:0.5".parse().ok(), ..words.clone() }),
        with(ROWS[3], &FeatureSpec { interact, ..words.clone() }),
    ]);

    let stream = |sample: Sample, update: UpdateKind, average: bool| -> Trained {
        let spec = StreamSpec { update: Some(update), average, ..StreamSpec::default() };
        let run = Streaming::new(memory(sample.0, sample.1), &ReadOptions::default(), &spec);
        run.run()?.0.to_bytes()
    };
    models.extend([
        stream(ROWS[0], UpdateKind::Plain, true),
        stream(ROWS[1], UpdateKind::Normalised, false),
        stream(ROWS[3], UpdateKind::AdaGrad, true),
    ]);
    models
}

fn structured_models() -> Vec<Trained> {
    let tags = |(name, bytes): Sample, spec: &TrainSpec| -> Trained {
        let data = lineal::read_sequences(memory(name, bytes), &SequenceOptions::default())?;
        lineal::train(&data, spec)?.0.to_bytes()
    };
    let plain = TrainSpec::for_task(Task::Tag);
    let mut models: Vec<Trained> = SEQUENCES.iter().map(|&sample| tags(sample, &plain)).collect();
    let mut spec = TrainSpec { loss: Some(LossKind::Hinge), ..plain };
    spec.tag.hash_bits = Some(6);
    spec.tag.scheme = Some(lineal::SchemeKind::Bio);
    models.push(tags(SEQUENCES[0], &spec));
    spec.tag.rules = Some("at most 2 spans of NP\n".into());
    models.push(tags(SEQUENCES[0], &spec));
    spec.tag.rules = None;
    spec.tag.order = 2;
    models.push(tags(SEQUENCES[0], &spec));

    let heads = |order: u32, candidates: Option<usize>| -> Trained {
        let (name, bytes) = TREEBANKS[0];
        let data = lineal::read_treebank(memory(name, bytes), &TreebankOptions::default())?;
        let mut spec = TrainSpec::for_task(Task::Dependency);
        spec.dependency.order = Some(order);
        spec.dependency.hash_bits = Some(10);
        spec.dependency.candidates = candidates;
        lineal::train(&data, &spec)?.0.to_bytes()
    };
    models.extend([heads(1, None), heads(2, None), heads(1, Some(2))]);

    let phrases = || -> Trained {
        let (name, bytes) = BRACKETS[0];
        let data = lineal::read_brackets(memory(name, bytes), &BracketReadOptions::default())?;
        let mut spec = TrainSpec::for_task(Task::Constituency);
        spec.constituency.hash_bits = Some(12);
        lineal::train(&data, &spec)?.0.to_bytes()
    };
    models.push(phrases());

    for (name, bytes) in RANKINGS {
        let source = memory(name, bytes);
        let data = read_ranking(source, &lineal::rank_options(), &FeatureSpec::default());
        let spec = TrainSpec::for_task(Task::Rank);
        models.push(data.and_then(|data| lineal::train(&data, &spec)?.0.to_bytes()));
    }

    let spec = TrainSpec::for_task(Task::Segment);
    for (name, bytes) in GRAPHS {
        let data = Scenes::read(memory(name, bytes), &SceneOptions::default());
        models.push(data.and_then(|data| lineal::train(&data, &spec)?.0.to_bytes()));
    }
    let image = |superpixels: Option<usize>| -> Trained {
        let (image, mask) = picture();
        let masks = MaskSchema::learn(&mask, "mask.png", &Default::default())?;
        let labels = masks.decode(&mask, "mask.png", 1000)?;
        let image = RgbPixels::decode(&image, "a.png", 1000)?;
        let data = Scenes::of_images(masks, [("a.png".to_owned(), image, Some(labels))])?;
        let mut spec = TrainSpec::for_task(Task::Segment);
        spec.segment.superpixels = superpixels;
        lineal::train(&data, &spec)?.0.to_bytes()
    };
    models.extend([image(None), image(Some(6))]);

    let variables = || -> Trained {
        let text = String::from_utf8_lossy(DECLARATION).into_owned();
        let declaration = lineal::declaration(&text)?;
        let (name, bytes) = DECLARED[0];
        let data = DeclaredData::read(memory(name, bytes), &declaration)?;
        let mut spec = TrainSpec::for_task(Task::Declared);
        spec.declared.declaration = text;
        lineal::train(&data, &spec)?.0.to_bytes()
    };
    models.push(variables());
    models
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_can_be_learnt_from() {
        let refused = |models: Vec<Trained>| -> Vec<String> {
            let errors = models.into_iter().enumerate().filter_map(|(i, m)| Some((i, m.err()?)));
            errors.map(|(i, error)| format!("{i}: {error}")).collect()
        };
        assert_eq!(refused(row_models()), [""; 0]);
        assert_eq!(refused(structured_models()), [""; 0]);
    }
}
