//! Tagging: a label for each position of a sequence.
//!
//! [`TagSpec`] holds what only sequences can choose, [`Training`](crate::Training) runs it, [`TagModel`] tags, measures, explains and saves itself. The label
//! sequences of a sentence are the outputs of one linear model, so losses and solvers are those of classification: the perceptron,
//! the structured SVM (`hinge`) and the conditional random field (`logistic`).
//!
//! ```
//! use lineal::{SequenceOptions, Source, Task, TrainSpec, read_sequences, train};
//!
//! let text = b"the DT B-NP\ndog NN I-NP\nbarks VBZ B-VP\n\nthe DT B-NP\ncat NN I-NP\nsleeps VBZ B-VP\n";
//! let source = Source::Memory { name: "train.conll".into(), bytes: text.to_vec() };
//! let data = read_sequences(source, &SequenceOptions::default())?;
//!
//! let (model, report) = train(&data, &TrainSpec::for_task(Task::Tag))?;
//! println!("{}", report.certificate());
//! let tagged = model.tag(&data)?;
//! assert_eq!(tagged[1].labels.iter().map(|&l| model.label(l)).collect::<Vec<_>>(), ["B-NP", "I-NP", "B-VP"]);
//! # Ok::<(), lineal::Error>(())
//! ```

mod choose;
mod constraints;
mod distributed;
mod evaluate;
mod explain;
mod file;
mod model;
mod notable;
mod rules;
mod shrink;
mod spec;
mod tagger;
mod train;
mod vectorize;
mod warm;
mod weigh;

pub use lineal_metrics::{TagMetrics, TypeMetrics};

pub use constraints::{parse_forbidden, read_forbidden};
pub use distributed::{
    AttributeCounts, DistributedTagging, NameAttributes, TagPlan, TagPlanParts, TagShard, TagSurvey,
};
pub use explain::{Reason, TagExplanation};
pub use model::{TagModel, TagWeight};
pub use notable::Notable;
pub use rules::check_rules;
pub use shrink::least_model_bytes;
pub use spec::{Border, SchemeKind, TagFeatures, TagSpec, WeightsKind, WordList};
pub use tagger::{Ranking, Tagged, TaggedSpan, Tagger};
pub use vectorize::{read_word_clusters, read_word_list};
