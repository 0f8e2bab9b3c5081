//! What fuzzers try and ordinary tests replay: one function per target.
//!
//! A target gets any bytes and panics where a promise is broken. Beside what it asserts itself, it promises to
//! end within the time and the memory that `scripts/fuzz` allows.

mod checks;
mod dialects;
mod judges;
mod numbers;
mod otlp;
mod templates;
mod traces;

use jurist_core::candidate::TraceFormat;
use jurist_core::dialect::Dialect;
use jurist_server::Encoding;

/// Something that reads what others wrote.
#[derive(Debug, Clone, Copy)]
pub struct FuzzTarget {
    pub name: &'static str,
    run: fn(&[u8]),
}

impl FuzzTarget {
    /// Panics if the input breaks a promise.
    pub fn run(&self, input: &[u8]) {
        (self.run)(input);
    }
}

macro_rules! targets {
    ($($name:literal $run:expr,)*) => {
        /// Every target, in the order of `fuzz/Cargo.toml`.
        pub const TARGETS: &[FuzzTarget] = &[$(FuzzTarget { name: $name, run: $run },)*];
    };
}

targets! {
    "dialect_native" |input| dialects::read_project(Some(Dialect::Native), input),
    "dialect_agentv" |input| dialects::read_project(Some(Dialect::Agentv), input),
    "dialect_promptfoo" |input| dialects::read_project(Some(Dialect::Promptfoo), input),
    "dialect_potato" |input| dialects::read_project(Some(Dialect::Potato), input),
    "dialect_monitor" |input| dialects::read_project(Some(Dialect::Monitor), input),
    "dialect_any" |input| dialects::read_project(None, input),
    "settings" dialects::read_settings,
    "trace_jurist" |input| traces::read(TraceFormat::Jurist, input),
    "trace_otlp" |input| traces::read(TraceFormat::Otlp, input),
    "trace_claude_code" |input| traces::read(TraceFormat::ClaudeCode, input),
    "trace_swe_agent" |input| traces::read(TraceFormat::SweAgent, input),
    "trace_langgraph" |input| traces::read(TraceFormat::Langgraph, input),
    "trace_mcp" |input| traces::read(TraceFormat::Mcp, input),
    "trace_webarena" |input| traces::read(TraceFormat::WebArena, input),
    "trace_react" |input| traces::read(TraceFormat::React, input),
    "trace_potato" |input| traces::read(TraceFormat::Potato, input),
    "trace_sharegpt" |input| traces::read(TraceFormat::ShareGpt, input),
    "trace_openai_responses" |input| traces::read(TraceFormat::OpenaiResponses, input),
    "trace_langchain" |input| traces::read(TraceFormat::Langchain, input),
    "trace_anthropic" |input| traces::read(TraceFormat::Anthropic, input),
    "trace_openai_chat" |input| traces::read(TraceFormat::OpenaiChat, input),
    "trace_aider" |input| traces::read(TraceFormat::Aider, input),
    "trace_text" |input| traces::read(TraceFormat::Text, input),
    "otlp_protobuf" |input| otlp::receive(Encoding::Protobuf, input),
    "otlp_json" |input| otlp::receive(Encoding::Json, input),
    "judge_reply" judges::read_reply,
    "template" templates::render,
    "cron" numbers::schedule,
    "table" numbers::read_table,
    "stats" numbers::compute_statistic,
    "check" checks::run_check,
    "record" checks::read_record,
}

/// Runs one target, for a fuzzer that is built for it.
pub fn run_target(name: &str, input: &[u8]) {
    let target = TARGETS.iter().find(|target| target.name == name);
    target.unwrap_or_else(|| panic!("no target is called `{name}`")).run(input);
}

/// Texts that stand in one input, between lines of `%%`.
fn sections(input: &[u8]) -> Option<impl Iterator<Item = &str>> {
    Some(std::str::from_utf8(input).ok()?.split("\n%%\n"))
}
