//! The API over real sockets, on both databases.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod access;
mod access_rules;
mod alarms;
mod analysis;
mod annotate;
mod checking;
mod connections;
mod dashboard;
mod datasets;
mod description;
#[path = "../../../engine/tests/server/mod.rs"]
mod model;
mod monitored_traces;
mod monitors;
mod ingest;
mod judge_reviews;
mod judges;
mod money;
mod notify;
mod otlp;
mod pages;
mod people;
mod place;
mod plain_questions;
mod ranking;
mod request_ids;
mod rescores;
mod rubrics;
mod pushed_runs;
mod runs;
mod secrets;
mod shut_out;
mod smtp;
