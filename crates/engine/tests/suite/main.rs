//! Judges and agents before real servers and programs.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod agents;
mod calls;
mod embedding;
mod judging;
#[path = "../server/mod.rs"]
mod server;
