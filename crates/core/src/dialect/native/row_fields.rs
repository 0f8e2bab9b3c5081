//! Names between braces in an eval, held against the fields of its rows.

use std::collections::BTreeSet;

use crate::diagnostic::{Code, Diagnostic};
use crate::dialect::context::Context;
use crate::source::{NodeEntry, NodeShape, SourceNode, SourceSpan};
use crate::suite::{Case, CaseTarget, OUTPUT_PREFIX, Unfilled, is_name, without_filter};
use crate::template;

/// Every `{{ row.field }}` of an eval must be a field of every row; nothing else is allowed between braces.
pub(super) fn check_row_fields(cx: &Context<'_>, node: &SourceNode, case: &Case) {
    refuse_rows_in_checks(cx, node);
    let (mut written, mut unfilled) = (Vec::new(), Vec::new());
    templates(node, &mut written, &mut unfilled);
    // A text of the rubric may be in another place or in a file.
    let mut elsewhere = Vec::new();
    let mut add = |name: String| {
        let span = place_of(node, &name).unwrap_or(node.span);
        elsewhere.push((name, span));
    };
    case.templates().into_iter().for_each(|text| for_each_template_name(text, &mut add));
    // The other names in a prompt are parts of the judge input.
    for_each_template_name(case.rubric.prompt.as_deref().unwrap_or_default(), &mut |name| {
        if name.starts_with("row.") {
            add(name);
        }
    });
    let judged: BTreeSet<&str> = elsewhere.iter().map(|(name, _)| name.as_str()).collect();
    let requested: BTreeSet<String> = case.targets.iter().flat_map(CaseTarget::used_outputs).collect();
    let is_requested = |name: &str| {
        without_filter(name).strip_prefix(OUTPUT_PREFIX).is_some_and(|output| requested.contains(output))
    };
    unfilled.retain(|(name, _)| !judged.contains(name.as_str()) && !is_requested(name));
    for (name, span) in &unfilled {
        let message = format!("`{{{{ {name} }}}}` stays as it is here");
        let what = if name.starts_with(OUTPUT_PREFIX) { "stored outputs" } else { "rows" };
        let note = format!("{what} fill in what is graded, and what a judge is asked");
        cx.report(Diagnostic::warning(Code::NoEffect, *span, message).note(note));
    }
    let is_row = |it: &&(String, SourceSpan)| it.0.starts_with("row.");
    let seen: BTreeSet<&str> = written.iter().map(|written| written.0.as_str()).collect();
    let elsewhere = elsewhere.iter().filter(|elsewhere| !seen.contains(elsewhere.0.as_str()));
    let Some(data) = &case.data else {
        for (name, span) in written.iter().chain(elsewhere).filter(is_row) {
            let message = format!("`{name}` needs rows to take it from");
            let diagnostic = Diagnostic::error(Code::MissingVariable, *span, message);
            cx.report(diagnostic.help("name a file with `data:`").note(as_text(name)));
        }
        return;
    };
    let mut said = BTreeSet::new();
    for (name, span) in written.iter().chain(elsewhere) {
        let template = format!("{{{{ {name} }}}}");
        let lacking =
            data.rows.iter().map(|row| crate::suite::fill(&template, Some(&row.read()))).enumerate();
        let Some((at, error)) = lacking.filter_map(|(at, result)| Some((at, result.err()?))).next() else {
            continue;
        };
        if !said.insert(name) {
            continue;
        }
        let diagnostic = |message| Diagnostic::error(Code::MissingVariable, *span, message);
        cx.report(match error {
            Unfilled::NoRow(field) => {
                let right = format!("a field of the row is `{{{{ row.{field} }}}}`");
                diagnostic(format!("`{template}` is not defined")).help(right)
            }
            Unfilled::Missing { field, .. } => {
                let row = data.rows[at].read();
                let known: Vec<&str> = row.keys().map(String::as_str).collect();
                let message = format!("row {} of `{}` has no field `{field}`", at + 1, data.path);
                let mut diagnostic = diagnostic(message).suggest(&field, known, "its fields");
                diagnostic.replacement = None;
                diagnostic
            }
            other @ (Unfilled::TooLong | Unfilled::NoOutput(_)) => diagnostic(other.to_string()),
        });
    }
}

/// Every `{{ outputs.NAME }}` of an eval must be stored by an eval before it. The name of a case is known before there
/// are outputs.
pub(super) fn check_stored_outputs(cx: &Context<'_>, node: &SourceNode, case: &Case, before: &[Case]) {
    for_each_template_name(&case.name, &mut |name| {
        if name.starts_with(OUTPUT_PREFIX) {
            let span = node.get("name").map_or(node.span, |node| node.span);
            let message = format!("`{name}` is not filled in here: names of cases are known before a run");
            cx.report(Diagnostic::error(Code::Unsupported, span, message).note(as_text(&name)));
        }
    });
    let used = case.used_outputs();
    // Most files store nothing: with this, a file is not read through for each of its evals.
    if used.is_empty() {
        return;
    }
    let stored: BTreeSet<&str> = before.iter().filter_map(|case| case.store_output_as.as_deref()).collect();
    for output in used.iter().filter(|output| !stored.contains(output.as_str())) {
        let name = format!("{OUTPUT_PREFIX}{output}");
        let span = place_of(node, &name).unwrap_or(node.span);
        let message = format!("no eval before this one stores an output as `{output}`");
        let mut diagnostic = Diagnostic::error(Code::MissingVariable, span, message)
            .suggest(output, stored.iter().copied(), "stored outputs")
            .note(as_text(&name));
        diagnostic.replacement = None;
        cx.report(diagnostic);
    }
}

/// A check is made once for all rows, so that what it looks for cannot come from one.
fn refuse_rows_in_checks(cx: &Context<'_>, node: &SourceNode) {
    node.list().unwrap_or_default().iter().for_each(|node| refuse_rows_in_checks(cx, node));
    for entry in node.map().unwrap_or_default() {
        if !is_check(entry) {
            refuse_rows_in_checks(cx, &entry.value);
            continue;
        }
        visit_texts(&entry.value, &mut |text, span| {
            for_each_template_name(text, &mut |name| {
                let why = match name.split_once('.').map(|(first, _)| first) {
                    Some("row") => "a check is the same for every row",
                    Some("outputs") => "a check is made before any output is there",
                    _ => return,
                };
                let message = format!("`{name}` is not filled in here: {why}");
                cx.report(
                    Diagnostic::error(Code::Unsupported, span, message)
                        .help("put it in `expected`, with which checks compare that name no value")
                        .note(as_text(&name)),
                );
            });
        });
    }
}

fn is_check(entry: &NodeEntry) -> bool {
    matches!(entry.key.as_str(), "check" | "checks")
}

/// Keys of an eval whose texts rows fill in, with everything below these keys.
const FILLED: [&str; 10] =
    ["name", "prompt", "input", "messages", "response", "trace", "diff", "context", "expected", "matrix"];

/// All placeholders that rows fill in, and the fields of rows that are used in other places.
fn templates(
    eval: &SourceNode,
    filled: &mut Vec<(String, SourceSpan)>,
    unfilled: &mut Vec<(String, SourceSpan)>,
) {
    for entry in eval.map().unwrap_or_default().iter().filter(|entry| !is_check(entry)) {
        let is_filled = FILLED.contains(&entry.key.as_str());
        visit_texts(&entry.value, &mut |text, span| {
            for_each_template_name(text, &mut |name| {
                if is_filled {
                    filled.push((name, span));
                } else if name.starts_with("row.") || name.starts_with(OUTPUT_PREFIX) {
                    unfilled.push((name, span));
                }
            });
        });
    }
}

/// How a name between braces is written that stays text.
fn as_text(name: &str) -> String {
    format!("as text it is written `{} {name} }}}}`", template::ESCAPE)
}

/// Each text below a node, those of checks excepted.
fn visit_texts(node: &SourceNode, each: &mut dyn FnMut(&str, SourceSpan)) {
    match &node.shape {
        NodeShape::Scalar(it) => each(&it.text, node.span),
        NodeShape::List(items) => items.iter().for_each(|node| visit_texts(node, each)),
        NodeShape::Map(entries) => {
            entries.iter().filter(|entry| !is_check(entry)).for_each(|entry| visit_texts(&entry.value, each));
        }
    }
}

/// Where an eval itself has a name between braces.
fn place_of(eval: &SourceNode, wanted: &str) -> Option<SourceSpan> {
    let mut place = None;
    visit_texts(eval, &mut |text, span| {
        for_each_template_name(text, &mut |name| {
            if name == wanted {
                place.get_or_insert(span);
            }
        });
    });
    place
}

/// Names between braces, as they are written.
fn for_each_template_name(text: &str, each: &mut dyn FnMut(String)) {
    template::replace(text, |name| {
        if name.starts_with("row.") || is_name(name) {
            each(name.to_owned());
        }
        None
    });
}
