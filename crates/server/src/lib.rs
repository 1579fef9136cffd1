//! Models behind HTTP: predictions and explanations as JSON, streams of JSON lines, metrics, and a page to look into a model.
//!
//! The server knows connections, limits and files that are replaced. It does not know what a model is: whoever starts it says how a file becomes something that is
//! [`Served`], and that answers. The program's models answer by the same code as `lineal predict`, so that answers are the same to the bit.
//!
//! ```
//! use lineal_server::{Ask, Examples, ExplainAsk, Fault, Form, Served};
//! use serde_json::{Value, json};
//!
//! /// Says how long each text is.
//! struct Length;
//!
//! impl Served for Length {
//!     fn task(&self) -> String { "regress".into() }
//!     fn form(&self) -> Form { Form::Texts }
//!     fn input(&self) -> Value { json!({"form": "texts"}) }
//!     fn describe(&self, _top: Option<usize>) -> Value { json!({}) }
//!     fn predict(&self, examples: &Examples<'_>, _: &Ask, out: &mut Vec<u8>) -> Result<(), Fault> {
//!         for text in examples.values {
//!             out.extend(format!("{}\n", text.len() - 2).bytes());
//!         }
//!         Ok(())
//!     }
//!     fn explain(&self, _: &Examples<'_>, _: &ExplainAsk, _: &mut Vec<u8>) -> Result<(), Fault> {
//!         Err(Fault::request("", "there is nothing to explain"))
//!     }
//! }
//!
//! let mut out = Vec::new();
//! let examples = Examples { form: Form::Texts, values: &[r#""four""#], first: 0, alone: false };
//! Length.predict(&examples, &Ask::default(), &mut out).unwrap();
//! assert_eq!(out, b"4\n");
//! ```

mod answer;
mod api;
mod body;
mod budget;
mod connection;
mod log;
mod metrics;
mod models;
mod openapi;
mod options;
mod page;
mod problem;
mod request;
mod run;
mod served;
mod stream;
mod tls;
mod work;

pub use answer::answer_body;
pub use log::LogKind;
pub use models::Loader;
pub use options::{Limits, ModelFile, Options, TlsFiles};
pub use run::{Server, StartError};
pub use served::{Ask, Examples, ExplainAsk, Fault, Form, Playground, Served};
