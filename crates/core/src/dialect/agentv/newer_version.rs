//! Files that are for a newer version of their tool than the one whose files are read here.

use super::TestRules;
use crate::diagnostic::{Code, Diagnostic};
use crate::dialect::fields::MappingReader;
use crate::source::{SourceNode, SourceSpan};

/// The newest AgentV whose files are read.
const NEWEST_AGENTV: u64 = 5;

/// The newest schema of AgentV that is read, as in `agentv-eval-v2`.
const NEWEST_SCHEMA: u64 = 2;

/// Reports keys of a suite that name a version which is not known here.
pub(super) fn report_newer_version(fields: &MappingReader<'_>, rules: TestRules) {
    let version = fields.peek("version").and_then(SourceNode::text);
    match rules {
        TestRules::Promptfoo => {
            if let Some(version) = version {
                let message = format!("`version: {version}` has no effect here");
                fields.cx.report(
                    Diagnostic::warning(Code::NoEffect, fields.span("version"), message)
                        .note("configurations of promptfoo have no version")
                        .help("if a newer promptfoo asks for it, upgrade jurist, or run the file with promptfoo"),
                );
            }
        }
        TestRules::Agentv => {
            if let Some(version) = version.filter(|version| is_above(version, NEWEST_AGENTV)) {
                let message =
                    format!("`version: {version}` is above every version of AgentV that is read here");
                fields.cx.report(
                    Diagnostic::warning(Code::NoEffect, fields.span("version"), message)
                        .note("AgentV takes it for the version of the suite itself")
                        .help(
                            "if it is the version of the format, upgrade jurist, or run the file with AgentV",
                        ),
                );
            }
            report_newer_agentv(fields);
        }
    }
}

/// A schema, or a version of AgentV that the file requires.
fn report_newer_agentv(fields: &MappingReader<'_>) {
    let schema = fields.peek("$schema").and_then(SourceNode::text);
    let number = schema.and_then(|schema| schema.strip_prefix("agentv-")?.rsplit_once("-v"));
    if let Some(schema) = schema.filter(|_| number.is_some_and(|(_, number)| is_above(number, NEWEST_SCHEMA)))
    {
        refuse_newer_file(fields, fields.span("$schema"), &format!("$schema: {schema}"));
    }
    let Some(node) = fields.peek("requires").and_then(|node| node.get("agentv")) else { return };
    // An upper bound such as `<7` is true of AgentV 5 as well.
    let is_newer =
        |required: &&str| required.split('<').next().is_some_and(|least| is_above(least, NEWEST_AGENTV));
    if let Some(required) = node.text().filter(is_newer) {
        refuse_newer_file(fields, fields.cx.head(node), &format!("requires.agentv: {required}"));
    }
}

fn refuse_newer_file(fields: &MappingReader<'_>, span: SourceSpan, written: &str) {
    let message =
        format!("`{written}`: this file is for a newer AgentV than the one whose files are read here");
    fields.cx.report(
        Diagnostic::error(Code::Unsupported, span, message)
            .note(format!(
                "read here are files of AgentV {NEWEST_AGENTV}, schema v{NEWEST_SCHEMA}, and before"
            ))
            .help("upgrade jurist, or run the file with AgentV"),
    );
}

/// Whether the first number in a version or a range of versions is above `newest`.
fn is_above(version: &str, newest: u64) -> bool {
    let start = version.trim_start_matches(|letter: char| !letter.is_ascii_digit());
    let digits: String = start.chars().take_while(char::is_ascii_digit).collect();
    // A number that is too large counts as newer than all versions.
    !digits.is_empty() && digits.parse::<u64>().ok().is_none_or(|number| newest < number)
}
