//! An invented run in every format, for `scripts/check-reports`.
//!
//! usage: cargo run -p jurist-core --example sample_reports -- FOLDER
//! It has a case of every status, and texts that would break out of every format.

use std::path::PathBuf;

use jurist_core::report::{ReportContext, ReportFormat, github_summary, render_report};
use jurist_core::rubric::{Criterion, CriterionKind, Draft, Rubric, Scale};
use jurist_core::run::Run;
use serde_json::{Value, json};

/// What a candidate, or the judge that read it, might say.
const HOSTILE: [&str; 6] = [
    "]]></failure><script>alert(1)</script> [[ATTACHMENT|/etc/passwd]] & \u{0}\u{1b}[31m\u{7f}\u{9b}\u{fffe}\u{2028}",
    "a | b\n| c | d |\n\n# heading\n- item\n```\n~~~ [link](javascript:alert(1)) ![x](http://x) @everyone $x$ &lt;",
    "=cmd|' /C calc'!A0, \"quoted\", +1, -1, @SUM(A1)",
    "::error::injected\n::set-output name=x::y\r\n##[error]injected 100%25 %0A",
    "ok 99 - injected # SKIP\nnot ok 100\n  ...\nBail out! \\# # TODO {",
    "{0} \u{202e}right to left\u{202c} 🦀 é e\u{301} \t tab",
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("which folder?")?);
    std::fs::create_dir_all(&folder)?;
    let run = run()?;
    for (name, format) in ReportFormat::ALL {
        std::fs::write(folder.join(file_name(name)), render_report(format, &run))?;
    }
    std::fs::write(folder.join("summary.github.md"), github_summary(&run, ReportContext::default()))?;
    Ok(())
}

/// Names by which `scripts/check-reports` knows the formats.
fn file_name(format: &str) -> String {
    match format {
        "json" | "ndjson" | "md" | "tap" | "csv" | "html" | "sarif" => format!("report.{format}"),
        "junit" => "report.junit.xml".to_owned(),
        "github" => "report.github.txt".to_owned(),
        "pr-comment" => "comment.md".to_owned(),
        other => format!("report.{other}.json"),
    }
}

fn run() -> Result<Run, Box<dyn std::error::Error>> {
    let question = |id: &str, text: &str| Criterion::new(id, text, CriterionKind::Question(Scale::Unit));
    let safety = Criterion { required: true, ..question("safety", "Nothing [harmful](http://x) is said.") };
    let criteria = vec![
        question("correct", "What is said is {right} | and <b>complete</b>."),
        Criterion { weight: 2.0, ..question("clear, short: 100 %", "A child could follow.") },
        safety,
    ];
    let rubric = Rubric::new(Draft { criteria, ..Draft::default() }).map_err(|_| "the rubric is wrong")?;
    let mut results = Vec::new();
    for (at, text) in HOSTILE.iter().enumerate() {
        results.push(case(&rubric, &format!("pass {at} {text}"), "pass", &scored(1.0), text));
        results.push(case(&rubric, &format!("fail {at} {text}"), "fail", &scored(0.25), text));
        let broken = json!({ "kind": "failed", "failure": "timeout", "detail": text });
        results.push(case(&rubric, &format!("error {at} {text}"), "error", &broken, text));
        let deferred = json!({ "kind": "deferred", "why": "over_budget" });
        results.push(case(&rubric, &format!("deferred {at} {text}"), "deferred", &deferred, ""));
    }
    let spend = json!({ "tokens_in": 4000, "tokens_cached": 0, "tokens_out": 800, "cost": 0.0132, "from_cache": false });
    Ok(serde_json::from_value(json!({
        "format": 1, "id": "run_0190c4d27e1b7a3c9f50b8e6d1a24c7e", "suite": "./suites/support answers.yaml",
        "started": "2026-03-20T10:15:32Z", "ended": "2026-03-20T10:15:44.250000Z", "seed": 7,
        "rubrics": { rubric.version().as_str(): rubric.to_json() }, "results": results, "spend": spend,
    }))?)
}

fn scored(unit: f64) -> Value {
    json!({ "kind": "scored", "value": unit, "unit": unit })
}

fn case(rubric: &Rubric, name: &str, status: &str, outcome: &Value, text: &str) -> Value {
    let spend = json!({ "tokens_in": 400, "tokens_cached": 0, "tokens_out": 80, "cost": 0.0011, "from_cache": false });
    let gates =
        if status == "fail" { json!([{ "gate": "required", "criterion": "safety" }]) } else { json!([]) };
    let evidence = json!([
        { "quote": text, "found": { "in": "response", "start": 3, "end": 60 } },
        { "quote": "never said" },
    ]);
    let grade = |criterion: &str, outcome: &Value| {
        json!({
            "format": 1, "candidate": name, "rubric": rubric.version(), "criterion": criterion,
            "grader": { "kind": "judge", "name": "openai:gpt-5-mini" }, "outcome": outcome, "reason": text,
            "evidence": evidence, "spend": spend, "time": "2026-03-20T10:15:40Z",
        })
    };
    // A second criterion with another result, so that not all criteria say the same.
    let clear = if status == "fail" { scored(0.8) } else { outcome.clone() };
    json!({
        "case": name, "candidate": name, "rubric": rubric.version(),
        "verdict": {
            "status": status, "score": outcome["unit"], "failed_gates": gates,
            "counts": { "scored": 3, "not_applicable": 0, "abstained": 0, "failed": 0, "deferred": 0, "unmet": 0 },
        },
        "grades": [grade("correct", outcome), grade("clear, short: 100 %", &clear), grade("safety", outcome)],
        "spend": spend,
        "material": { "task": "Help.", "trace": { "id": "4BF92F3577B34DA6A3CE929D0E0E4736", "steps": [] } },
    })
}
