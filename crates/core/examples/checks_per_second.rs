//! How many items a second each check does on one core, as JSON lines that `scripts/bench-peers` reads.

use std::hint::black_box;
use std::io::Write;
use std::time::Instant;

use jurist_core::check::{Check, CheckSubject};
use serde_json::{Value, json};

fn main() -> std::io::Result<()> {
    let schema = json!({ "type": "object", "properties": { "name": { "type": "string" }, "age": { "type": "integer", "minimum": 0 } }, "required": ["name"] });
    let near = text().replace("fox", "cat").replace("lazy", "busy");
    let cases = [
        ("contains", "contains", json!({ "value": "zebra" }), json!(text()), Value::Null),
        ("exact_match", "exact_match", json!({}), json!(text()), json!(text())),
        ("regex", "regex", json!({ "value": r"la[xz]y\s+cat\b" }), json!(text()), Value::Null),
        ("edit_distance", "edit_distance", json!({}), json!(text()), json!(near)),
        (
            "json_schema",
            "json_schema_match",
            json!({ "schema": schema }),
            json!(r#"{"name": "Ada", "age": 36, "tags": ["a", "b"]}"#),
            Value::Null,
        ),
        ("trajectory_strict", "trajectory_match", json!({ "mode": "strict" }), run(0), run(0)),
        ("trajectory_unordered", "trajectory_match", json!({ "mode": "unordered" }), run(0), run(7)),
    ];
    let mut out = std::io::stdout();
    for (name, check, params, output, reference) in cases {
        let made = Check::new(check, &params).expect("a valid check");
        let subject = CheckSubject::from_outputs(&output, (!reference.is_null()).then_some(&reference));
        let mut rates: Vec<f64> = (0..3).map(|_| rate(|| made.run(black_box(&subject)))).collect();
        rates.sort_by(f64::total_cmp);
        let line = json!({
            "name": name, "check": check, "params": params, "output": output, "reference": reference,
            "jurist_per_second": rates[1],
        });
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// Runs of `work` per second of processor time, over half a second.
fn rate<T>(work: impl Fn() -> T) -> f64 {
    for _ in 0..100 {
        black_box(work());
    }
    let (started, before, mut n) = (Instant::now(), on_cpu(), 0_u32);
    while started.elapsed().as_millis() < 500 {
        for _ in 0..50 {
            black_box(work());
        }
        n += 50;
    }
    let spent = match (before, on_cpu()) {
        (Some(before), Some(after)) => after - before,
        _ => started.elapsed().as_secs_f64(),
    };
    f64::from(n) / spent
}

/// Seconds that this thread has been on a processor, where Linux tells.
fn on_cpu() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse::<f64>().ok().map(|word| word / 1e9)
}

/// About 1 kB of words.
fn text() -> String {
    let words =
        ["the", "quick", "brown", "fox", "jumps", "over", "a", "lazy", "dog", "while", "others", "sleep"];
    (0..190).map(|n| words[(n * 7 + n / 5) % words.len()]).collect::<Vec<_>>().join(" ")
}

/// An agent's run of 20 tool calls.
fn run(shift: usize) -> Value {
    let step = |at: usize| {
        let at = (at + shift) % 20;
        let arguments = format!("{{\"q\": \"{at}\", \"limit\": {at}}}");
        json!({ "role": "assistant", "content": "", "tool_calls": [{ "id": format!("c{at}"),
            "function": { "name": format!("tool_{}", at % 5), "arguments": arguments } }] })
    };
    (0..20).map(step).collect()
}
