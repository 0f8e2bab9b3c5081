//! Traces of every format: what is read can be shown, measured and written down, and reads again as the same trace.

use jurist_core::candidate::{
    JudgeInput, Measurements, Trace, TraceFormat, read_trace_value, read_traces, render_trace_for_judge,
    render_trace_for_person, task_of_trace,
};

const JUDGE_TOKENS: usize = 1000;

pub fn read(format: TraceFormat, input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    for wanted in [Some(format), None] {
        for (_, trace) in read_traces(text, wanted).unwrap_or_default() {
            check_trace(&trace, text.len());
        }
    }
}

/// What everything that handles traces relies on; `n_bytes` is what it was read from.
pub(crate) fn check_trace(trace: &Trace, n_bytes: usize) {
    let written = serde_json::to_value(trace).expect("a trace is plain data");
    let (_, again) = read_trace_value(&written, Some(TraceFormat::Jurist))
        .unwrap_or_else(|error| panic!("a trace that was written cannot be read: {error}\n{written}"));
    // What each model call used is read and not written.
    let expected = Trace { model_usage: Vec::new(), spans: Vec::new(), ..trace.clone() };
    assert_eq!(expected, again, "{written}");

    let told = render_trace_for_judge(trace, JUDGE_TOKENS);
    assert!(
        told.chars().count() <= 4 * JUDGE_TOKENS + 200,
        "{} characters for a judge",
        told.chars().count()
    );
    let shown = render_trace_for_person(trace, 3, 2);
    assert!(shown.len() <= 100_000 + 100 * n_bytes, "{} bytes for a person", shown.len());
    assert!(!shown.chars().any(|sign| sign.is_control() && sign != '\n' && sign != '\t'), "{shown:?}");

    let _ = (trace.full_text(), trace.answer(), task_of_trace(trace), Measurements::from_trace(trace));
    let material = JudgeInput { trace: Some(trace.clone()), ..JudgeInput::default() };
    let _ = material.text();
}
