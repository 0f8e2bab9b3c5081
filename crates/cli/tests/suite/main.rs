//! The command as a user runs it, and the rules that sources, documentation and generated files keep.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod action;
mod commands;
mod docs;
mod examples;
mod gitlab;
mod judges;
mod mcp;
mod monitors;
mod people;
mod process;
mod programs;
mod published;
mod pushing;
mod replies;
#[path = "../../../engine/tests/server/mod.rs"]
mod server;
mod serving;
mod spending;
mod tidy;
mod watch;
mod workers;
