//! The program as its users meet it: a command, what it prints, how it ends, what it leaves behind.

mod bad_input;
mod bad_model;
mod demo;
mod help;
#[cfg(unix)]
mod interrupt;
mod output;
mod predict;
mod training;
mod transcript;
mod world;
