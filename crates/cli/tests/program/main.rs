//! The program as its users meet it: a command, what it prints, how it ends, what it leaves behind.

mod advice;
mod bad_input;
mod bad_model;
mod calibration;
mod compare;
mod constituency;
mod convert;
mod dates;
mod declared;
mod demo;
mod dependency;
mod explain;
mod help;
#[cfg(all(unix, feature = "serve"))]
mod http;
#[cfg(unix)]
mod interrupt;
mod learners;
mod limits;
mod maps;
mod multilabel;
mod odd_tables;
mod output;
mod predict;
mod proofs;
mod rank;
mod segment;
mod sequences;
#[cfg(all(unix, feature = "serve"))]
mod serve;
#[cfg(all(unix, feature = "serve"))]
mod serve_answers;
mod strategies;
mod stream;
mod tables;
mod tags;
mod templates;
mod text;
mod training;
mod transcript;
mod tune;
mod world;
