//! Side effects for the decisions of `core`: files, model calls, agents, programs and embeddings.
//!
//! This crate uses no database and no HTTP server, and never prints.

pub mod agent;
pub mod archive;
pub mod background;
pub mod batch;
pub mod bundle;
pub mod call;
pub mod embed;
mod environment;
pub mod execute;
pub mod judge;
pub mod load;
pub mod load_script;
pub mod model;
pub mod permission;
pub mod platform;
pub mod prepare;
mod program;
pub mod provenance;
pub mod record;
pub mod record_file;
pub mod trust;
