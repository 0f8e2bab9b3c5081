//! What Jurist decides, without touching the world.
//!
//! Rubrics, dialects, grades and scores are values and pure functions here: no files, no network,
//! no clock, no chance without a seed. A module uses only what stands above it in this list.

pub mod source;
pub mod template;
mod javascript_text;
pub mod redact;
pub mod diagnostic;
pub mod syntax;
pub mod quantity;
pub mod money;
pub mod catalogue;
pub mod candidate;
pub mod check;
pub mod rubric;
pub mod suite;
pub mod grade;
pub mod annotate;
pub mod dialect;
pub mod run;
pub mod score;
pub mod migration;
pub mod judge;
pub mod plan;
pub mod dataset;
pub mod stats;
pub mod task_results;
pub mod chart;
pub mod report;
pub mod alert;
pub mod schema;
mod testing;
