//! One suite over both engines.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod annotation;
mod care;
mod grading;
mod jobs;
mod money;
mod monitoring;
mod opening;
mod people;
mod runs;
mod small;
mod statements;
mod traces;

use jurist_core::grade::Time;
use jurist_store::ProjectId;
use jurist_store::testing::Scene;

/// Seconds after some day in 2026.
fn at(seconds: i64) -> Time {
    Time::from_micros(1_790_000_000_000_000 + seconds * 1_000_000)
}

async fn project(scene: &Scene) -> ProjectId {
    scene.store.add_project("support", at(0)).await.unwrap().id
}
