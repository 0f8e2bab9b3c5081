use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;
use crate::catalogue::{CHECKS, Param, ParamKind};

fn finding(name: &str, params: &Value, output: &Value, reference: &Value) -> CheckFinding {
    let check = Check::new(name, params).unwrap();
    check.run(&CheckSubject::from_outputs(output, Some(reference)))
}

#[test]
fn no_reference_is_no_score() {
    for name in ["exact_match", "edit_distance", "trajectory_match", "tool_call_accuracy", "contains"] {
        let check = Check::new(name, &json!({})).unwrap();
        assert_eq!(check.run(&CheckSubject::from_outputs(&json!("x"), None)).score, None, "{name}");
    }
}

#[test]
fn an_unreadable_trace_is_no_score_and_says_why() {
    let finding =
        finding("tool_use", &json!({ "expected_tool": "ls" }), &json!([{ "foo": 1 }]), &Value::Null);
    assert_eq!(finding.score, None);
    assert!(finding.comment.contains("openai-chat"), "{}", finding.comment);
}

#[test]
fn bad_parameters_fail_before_anything_is_read() {
    for (name, params, word) in [
        ("no_such_check", json!({}), "no check"),
        ("exact_match", json!({ "bogus": 1 }), "no parameter `bogus`"),
        ("tool_use", json!({}), "needs `expected_tool`"),
        ("regex_match", json!({ "pattern": "(" }), "unclosed"),
        ("regex_match", json!({ "pattern": "(?=x)" }), "look-around"),
        ("trajectory_match", json!({ "mode": "sideways" }), "not one of"),
        ("trajectory_match", json!({ "tool_args_match_overrides": { "a": "x" } }), "not one of"),
        ("contains", json!({ "substring": 5 }), "must be text"),
        ("json_schema_match", json!({ "schema": { "type": "bogus" } }), "bogus"),
        ("json_schema_match", json!({ "schema": { "$ref": "http://example.org/s" } }), "schema"),
        ("script", json!({ "command": "x" }), "decided by a program"),
        ("tool_use", json!({ "expected_tool": "a", "expected_args": [1] }), "must be a mapping"),
        ("tool-trajectory", json!({ "mode": "exact", "expected": [{ "tool": "a", "args": 5 }] }), "mapping"),
        ("execution-metrics", json!({}), "needs `max_tool_calls`"),
    ] {
        let error = Check::new(name, &params).unwrap_err().to_string();
        assert!(error.contains(word), "{name}: {error}");
    }
}

#[test]
fn xml_takes_memory_and_time_by_its_length_alone() {
    let nest = |n: usize, name: &str| {
        json!(format!("{}{}", format!("<{name}>").repeat(n), format!("</{name}>").repeat(n)))
    };
    let long_name = "n".repeat(2_000);
    let run = |check: &str, output: &Value, required: &Value| {
        finding(check, &json!({ "value": required }), output, &Value::Null)
    };
    let long = nest(300, &long_name);
    let result = run("is-xml", &long, &json!([format!("{long_name}.{long_name}")]));
    assert_eq!(result.score, Some(1.0), "{}", result.comment);
    assert_eq!(run("is-xml", &long, &json!(["absent"])).score, Some(0.0));
    for check in ["is-xml", "contains-xml"] {
        assert_eq!(run(check, &nest(100, "a"), &json!(["a.a.a"])).score, Some(1.0), "{check}");
        for output in [nest(10_000, "a"), json!("<a>".repeat(10_000))] {
            let deep = run(check, &output, &json!([]));
            assert!(deep.failed && deep.score.is_none(), "{check}: {deep:?}");
            assert!(deep.comment.contains("too deeply nested"), "{check}: {}", deep.comment);
        }
    }
}

#[test]
fn html_takes_time_by_its_length_alone() {
    // If each closing tag searched all open elements, this would take minutes.
    let n = 100_000;
    for output in [
        format!("{}{}", "<a>".repeat(n), "</b>".repeat(n)),
        format!("{}{}", "<html>".repeat(n), "</b>".repeat(n)),
    ] {
        let finding = finding("is-html", &json!({}), &json!(output), &Value::Null);
        assert_eq!(finding.score, Some(1.0), "{}", finding.comment);
    }
}

#[test]
fn the_string_family_is_what_it_says() {
    let run = |name: &str, value: Value, output: &str| {
        finding(name, &json!({ "value": value }), &json!(output), &Value::Null).score
    };
    assert_eq!(run("equals", json!({ "a": 1 }), r#"{"a": 1.0}"#), Some(1.0));
    assert_eq!(run("icontains", json!("PARIS"), "paris"), Some(1.0));
    assert_eq!(run("contains-all", json!(["a", "b"]), "a"), Some(0.0));
    assert_eq!(run("contains-any", json!("a, b"), "b"), Some(1.0));
    assert_eq!(run("starts-with", json!("Yes"), "  Yes, sure"), Some(1.0));
    assert_eq!(run("ends-with", json!("."), "No.\n"), Some(1.0));
    assert_eq!(run("contains-json", json!({ "required": ["a"] }), r#"see {"b": 1} and {"a": 2}"#), Some(1.0));
    assert_eq!(run("word-count", json!({ "min": 2, "max": 3 }), "one two three four"), Some(0.0));
    assert_eq!(run("levenshtein", json!("kitten"), "sitting"), Some(1.0));
    // As in JavaScript, `$` is the end of the text; in Python it may stand before a last line break.
    assert_eq!(run("regex", json!("^Lima$"), "Lima\n"), Some(0.0));
    assert_eq!(run("regex", json!("^Lima\n$"), "Lima\n"), Some(1.0));
    let python = finding("regex_match", &json!({ "pattern": "^Lima$" }), &json!("Lima\n"), &Value::Null);
    assert_eq!(python.score, Some(1.0));
}

#[test]
fn runs_are_held_to_how_much_they_explore() {
    let run = |names: &[&str], params: Value| {
        let made: Vec<(&str, Value)> = names.iter().map(|name| (*name, json!({}))).collect();
        finding("execution-metrics", &params, &calls(&made), &Value::Null)
    };
    let half = json!({ "target_exploration_ratio": 0.5, "max_tool_calls": 3 });
    assert_eq!(run(&["Read", "edit"], half.clone()).score, Some(1.0));
    assert_eq!(run(&["Read", "grep", "list"], half.clone()).score, Some(0.5));
    assert_eq!(run(&["Read", "grep", "list", "glob"], half.clone()).score, Some(0.0));
    assert_eq!(run(&[], half).score, None);
}

#[test]
fn expected_trajectories_hold_arguments_and_durations() {
    let timed = json!([{ "role": "assistant", "tool_calls": [
        { "tool": "find", "input": { "q": "a", "deep": { "n": 1 } }, "duration_ms": 40 },
        { "tool": "send", "input": { "to": "x" } },
    ]}]);
    let run = |mode: &str, expected: Value| {
        finding("tool-trajectory", &json!({ "mode": mode, "expected": expected }), &timed, &Value::Null)
    };
    assert_eq!(run("exact", json!([{ "tool": "find" }, { "tool": "send", "args": "any" }])).score, Some(1.0));
    assert_eq!(run("exact", json!([{ "tool": "find" }])).score, Some(0.5));
    assert_eq!(run("in_order", json!([{ "tool": "send" }, { "tool": "find" }])).score, Some(0.5));
    let fields =
        |n: u8| json!([{ "tool": "find", "args": { "deep": { "n": n } }, "args_match": ["deep.n"] }]);
    assert_eq!(run("superset", fields(1)).score, Some(1.0));
    assert_eq!(run("superset", fields(2)).score, Some(0.0));
    assert_eq!(run("in_order", json!([{ "tool": "find", "max_duration_ms": 40 }])).score, Some(1.0));
    assert_eq!(run("in_order", json!([{ "tool": "find", "max_duration_ms": 39 }])).score, Some(0.0));
    let untimed = run("in_order", json!([{ "tool": "send", "max_duration_ms": 40 }]));
    assert_eq!(untimed.score, None);
    assert!(untimed.comment.contains("how long `send` took"), "{}", untimed.comment);
}

#[test]
fn arguments_that_are_ignored_or_left_at_their_default_do_not_count() {
    let agent = calls(&[("find", json!({ "q": "a", "limit": 10, "trace_id": "t1" }))]);
    let run = |value: Value| {
        finding("trajectory:tool-args-match", &json!({ "value": value }), &agent, &Value::Null).score
    };
    let exact = json!({ "name": "find", "args": { "q": "a" }, "mode": "exact" });
    assert_eq!(run(exact.clone()), Some(0.0));
    let mut loose = exact;
    loose["ignore"] = json!(["trace_*"]);
    loose["defaults"] = json!({ "limit": 10 });
    assert_eq!(run(loose.clone()), Some(1.0));
    loose["defaults"] = json!({ "limit": 11 });
    assert_eq!(run(loose), Some(0.0));
}

#[test]
fn meanings_compare_by_the_angle_between_their_embeddings() {
    let vector = |text: &str| match text {
        "cat" => Some(vec![2.0, 0.0]),
        "kitten" => Some(vec![3.0, 4.0]),
        "not a cat" => Some(vec![-1.0, 0.0]),
        "void" => Some(vec![0.0, 0.0]),
        _ => None,
    };
    let run = |name: &str, params: Value, output: &str| {
        let check = Check::new(name, &params).unwrap();
        let (output, reference) = (json!(output), json!("cat"));
        let subject = CheckSubject::from_outputs(&output, Some(&reference));
        assert!(check.texts(&subject).contains(&"cat".to_owned()));
        check.run_with(&subject, &vector)
    };
    let close = run("embedding_similarity", json!({}), "kitten");
    assert_eq!((close.score, close.metadata["cosine"].as_f64()), (Some(0.6), Some(0.6)));
    let opposite = run("embedding_similarity", json!({}), "not a cat");
    assert_eq!((opposite.score, opposite.metadata["cosine"].as_f64()), (Some(0.0), Some(-1.0)));
    assert_eq!(run("embedding_similarity", json!({}), "void").score, None);
    assert_eq!(run("embedding_similarity", json!({}), "unheard of").score, None);
    let params = json!({ "value": ["cat", "not a cat"], "threshold": 0.7 });
    assert_eq!(run("similar", params, "kitten").value, json!(false));

    let measured = |measure: &str, threshold: f64, output: &str| {
        let params = json!({ "value": ["cat", "not a cat"], "measure": measure, "threshold": threshold });
        let finding = run("similar", params, output);
        (finding.score, finding.value, finding.metadata.get(measure).and_then(Value::as_f64))
    };
    // The product with `cat` is 6, and their distance the root of 17.
    assert_eq!(measured("dot", 0.5, "kitten"), (Some(1.0), json!(true), Some(6.0)));
    assert_eq!(measured("dot", 6.0, "kitten"), (Some(0.5), json!(true), Some(6.0)));
    assert_eq!(measured("dot", 8.0, "kitten"), (Some(0.375), json!(false), Some(6.0)));
    assert_eq!(measured("dot", 0.0, "void"), (Some(0.0), json!(true), Some(0.0)));
    assert_eq!(measured("euclidean", 1.0, "void"), (Some(0.5), json!(true), Some(1.0)));
    assert_eq!(measured("euclidean", 0.9, "void"), (Some(0.5), json!(false), Some(1.0)));
    let far = measured("euclidean", 4.1, "kitten");
    assert_eq!((far.1, far.2), (json!(false), Some(17f64.sqrt())));
    assert_eq!(measured("euclidean", 4.2, "kitten").1, json!(true));
    assert_eq!(measured("euclidean", 1.0, "unheard of").0, None);
    for params in [
        json!({ "value": "cat", "threshold": 1.5 }),
        json!({ "value": "cat", "measure": "dot", "threshold": -1 }),
        json!({ "value": "cat", "measure": "manhattan" }),
    ] {
        assert!(Check::new("similar", &params).is_err(), "{params}");
    }
}

#[test]
fn looking_around_is_opted_in_to_and_bounded() {
    let run = |pattern: &str, output: &str| {
        finding("regex", &json!({ "value": pattern, "engine": "backtracking" }), &json!(output), &Value::Null)
    };
    assert_eq!(run("a(?=b)", "ab").score, Some(1.0));
    assert_eq!(run("a(?!b)", "ab").score, Some(0.0));
    let hung = run(r"(a+)+\1\1$", &format!("{}!", "a".repeat(5_000)));
    assert_eq!(hung.score, None);
    assert!(hung.comment.contains("steps"), "{}", hung.comment);
}

fn calls(names: &[(&str, Value)]) -> Value {
    let calls: Vec<Value> = names.iter().map(|(name, args)| json!({ "name": name, "args": args })).collect();
    json!([{ "role": "assistant", "tool_calls": calls }])
}

#[test]
fn matching_is_not_greedy() {
    // The first call fits both; only if it takes the second one, the other finds a place.
    let agent = calls(&[("f", json!({ "a": 1, "b": 2 })), ("f", json!({ "a": 1 }))]);
    let gold = calls(&[("f", json!({ "a": 1 })), ("f", json!({ "b": 2 }))]);
    let params = json!({ "mode": "unordered", "tool_args_match_mode": "superset" });
    assert_eq!(finding("trajectory_match", &params, &agent, &gold).score, Some(1.0));
}

#[test]
fn case_and_numbers_may_be_compared_loosely() {
    let (agent, gold) = (
        calls(&[("f", json!({ "city": "PARIS", "n": 1.04 }))]),
        calls(&[("f", json!({ "city": "Paris", "n": 1 }))]),
    );
    let score = |params: Value| finding("trajectory_match", &params, &agent, &gold).score;
    assert_eq!(score(json!({})), Some(0.0));
    assert_eq!(score(json!({ "ignore_case": true })), Some(0.0));
    assert_eq!(score(json!({ "ignore_case": true, "number_tolerance": 0.05 })), Some(1.0));
    assert!(!matching::is_same_value(&json!(9_007_199_254_740_993_i64), &json!(9_007_199_254_740_992_i64)));
}

#[test]
fn steps_are_tool_calls_replies_and_reasoning_of_the_agent() {
    let trace = json!({ "steps": [
        { "role": "user", "text": "Is it raining in Turku?" },
        { "role": "assistant", "reasoning": "Look it up.", "tool_calls": [{ "name": "weather", "arguments": {} }] },
        { "role": "tool", "results": [{ "text": "light rain" }] },
        { "role": "assistant", "text": "Yes, lightly." },
    ] });
    let check = |value: Value, score: f64, comment: &str| {
        let result = finding("trajectory:step-count", &json!({ "value": value }), &trace, &Value::Null);
        assert_eq!((result.score, result.comment.as_str()), (Some(score), comment));
    };
    check(json!({ "max": 3 }), 1.0, "3 steps (1 tool call, 1 reply, 1 reasoning text)");
    check(json!({ "max": 2 }), 0.0, "3 steps (1 tool call, 1 reply, 1 reasoning text)");
    check(json!({ "type": "tool", "max": 1 }), 1.0, "1 tool call");
    check(json!({ "type": "tool", "name": "search", "max": 0 }), 1.0, "0 tool calls");
    check(json!({ "type": "message", "max": 0 }), 0.0, "1 reply");
}

#[test]
fn a_tool_that_must_not_be_called_is_named() {
    let check = |made: &[&str], value: Value, score: f64, comment: &str| {
        let made: Vec<(&str, Value)> = made.iter().map(|name| (*name, json!({}))).collect();
        let result = finding("trajectory:tool-used", &json!({ "value": value }), &calls(&made), &Value::Null);
        assert_eq!((result.score, result.comment.as_str()), (Some(score), comment));
    };
    let never = || json!({ "name": "book", "max": 0 });
    check(&["search"], never(), 1.0, "`book` was not called (calls: search)");
    check(&["book"], never(), 0.0, "`book` must not be called and was called 1 time (calls: book)");
    check(&["search"], json!("search"), 1.0, "search");
    check(&["search"], json!("book"), 0.0, "`book` was not called (calls: search)");
    let chat = json!([{ "role": "user", "content": "Hi" }, { "role": "assistant", "content": "Hello" }]);
    let result = finding("trajectory:tool-used", &json!({ "value": never() }), &chat, &Value::Null);
    assert_eq!((result.score, result.comment.as_str()), (Some(1.0), "no tool was called"));
}

#[test]
fn the_end_of_a_text_that_is_wrong_is_shown() {
    let comment = |kind: &str, wanted: &str, text: &str| {
        finding(kind, &json!({ "value": wanted }), &json!(text), &Value::Null).comment
    };
    assert_eq!(comment("starts-with", "HELLO", "Hello there"), "begins with `Hello`, not with `HELLO`");
    assert_eq!(comment("starts-with", "Hello", "Hello there"), "begins with `Hello`");
    assert_eq!(comment("ends-with", ".", "No!\n"), "ends with `!`, not with `.`");
    assert_eq!(comment("ends-with", ".", " "), "the output is empty and does not end with `.`");
}

#[test]
fn graphs_compare_by_the_nodes_that_ran() {
    let run = |nodes: &[&str]| json!({ "inputs": [], "results": [{}], "steps": [nodes] });
    let check = |mode: &str, a: &[&str], b: &[&str]| {
        finding("graph_trajectory", &json!({ "mode": mode }), &run(a), &run(b)).score
    };
    assert_eq!(check("strict", &["a", "b"], &["a", "b"]), Some(1.0));
    assert_eq!(check("strict", &["b", "a"], &["a", "b"]), Some(0.0));
    assert_eq!(check("unordered", &["b", "a"], &["a", "b"]), Some(1.0));
    assert_eq!(check("unordered", &["b", "b"], &["a", "b"]), Some(0.0));
}

#[test]
fn overlap_and_bounds_are_what_they_say() {
    let run = |name: &str, params: Value, output: &str| {
        finding(name, &params, &json!(output), &json!("the cat sat on the mat"))
    };
    assert_eq!(run("rouge-n", json!({}), "the cat").score, Some(2.0 / 6.0));
    assert_eq!(run("rouge-n", json!({ "n": 2 }), "on the mat").score, Some(2.0 / 5.0));
    let comment = |params: Value| run("rouge-n", params, "the cat").comment;
    assert_eq!(comment(json!({})), "2 of 6 1-grams of the reference");
    assert_eq!(
        comment(json!({ "measure": "f1" })),
        "2 of 6 1-grams of the reference, 2 of 2 of the response (F1)"
    );
    assert_eq!(run("bleu", json!({}), "the cat sat on the mat").score, Some(1.0));
    // By hand: of 5, 4, 3 and 2 runs of words 5, 3, 2 and 1 are shared; 5 words against 6 cost exp(1 - 6/5).
    let by_hand =
        (1.0 - 6.0 / 5.0_f64).exp() * (1.0 * (3.0 / 4.0) * (2.0 / 3.0) * (1.0 / 2.0_f64)).powf(0.25);
    assert!((run("bleu", json!({}), "the cat sat on mat").score.unwrap() - by_hand).abs() < 1e-12);
    // By hand: of 5 words 4 match ("cats" and "mats" by their stems), no two of them in the same order.
    let mean = (4.0 / 5.0) * (4.0 / 6.0) / (0.9 * 4.0 / 5.0 + 0.1 * 4.0 / 6.0);
    let meteor = run("meteor", json!({}), "the cats sitting on mats").score.unwrap();
    assert!((meteor - 0.5 * mean).abs() < 1e-12, "{meteor}");
    let same = run("meteor", json!({}), "The cat sat on the mat.").score.unwrap();
    assert!((same - (1.0 - 0.5 / 216.0)).abs() < 1e-12, "{same}");
    assert_eq!(run("meteor", json!({ "value": ["dogs bark", "a bird"] }), "fish").score, Some(0.0));
    let unordered = run("meteor", json!({ "gamma": 0 }), "on the mat sat the cat").score.unwrap();
    assert!((unordered - 1.0).abs() < 1e-12, "{unordered}");
    assert_eq!(run("numeric-range", json!({ "min": 1, "max": 2 }), "1.5").score, Some(1.0));
    assert_eq!(run("numeric-range", json!({ "max": 2 }), "two").score, Some(0.0));
    assert_eq!(run("length", json!({ "max": 3 }), "äöü").score, Some(1.0));
    assert_eq!(
        run("required-fields", json!({ "fields": ["a", "b"] }), r#"{"a": 1, "b": null}"#).score,
        Some(0.0)
    );
}

/// Cases made by running the reference implementation; skipped where they are absent.
#[test]
fn the_reference_implementation_agrees() {
    let path =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/conformance/checks.jsonl");
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("SKIPPED: {} is absent", path.display());
        return;
    };
    // Python's own business: truth values are numbers, objects print as Python writes them, NaN is JSON,
    // and patterns may look around.
    let theirs =
        ["python_semantics", "non_string_output", "lenient_json", "needs_backtracking", "not_understood"];
    let (mut n_checked, mut wrong) = (0, Vec::new());
    for line in text.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let is_theirs =
            case["tags"].as_array().into_iter().flatten().any(|item| theirs.iter().any(|tag| item == tag));
        let expect = case.get("contract").unwrap_or(&case["expect"]);
        let compiled = Check::new(case["evaluator"].as_str().unwrap(), &case["params"]);
        let agrees = match &compiled {
            Err(_) => expect.get("error").is_some(),
            Ok(check) => {
                let subject = CheckSubject::from_outputs(&case["outputs"], case.get("reference_outputs"));
                let finding = check.run(&subject);
                let close = match (finding.score, expect["score"].as_f64()) {
                    (Some(a), Some(b)) => (a - b).abs() < 1e-9,
                    (a, b) => a == b,
                };
                // A raw value is promised where the documentation's word does not replace the run's.
                let is_contract = case.get("contract").is_some()
                    || matching::is_same_value(&finding.value, &expect["value"]);
                close && is_contract && expect.get("error").is_none()
            }
        };
        n_checked += usize::from(!is_theirs);
        if !agrees && !is_theirs {
            let outcome = compiled.map(|check| {
                check.run(&CheckSubject::from_outputs(&case["outputs"], case.get("reference_outputs")))
            });
            wrong.push(format!("{} {} {:?} {expect} {}", case["id"], case["tags"], outcome, case["note"]));
        }
    }
    println!("{n_checked} cases");
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

fn call_list() -> impl Strategy<Value = Value> {
    let call = (0..3_u8, prop::collection::btree_map("[ab]", 0..2_u8, 0..3));
    prop::collection::vec(call, 0..6).prop_map(|list| {
        let list: Vec<Value> = list
            .into_iter()
            .map(|(name, args)| json!({ "name": format!("t{name}"), "args": args }))
            .collect();
        json!([{ "role": "assistant", "content": "", "tool_calls": list }])
    })
}

fn matches(mode: &str, args: &str, a: &Value, b: &Value) -> bool {
    let params = json!({ "mode": mode, "tool_args_match_mode": args });
    Check::new("trajectory_match", &params).unwrap().run(&CheckSubject::from_outputs(a, Some(b))).score
        == Some(1.0)
}

fn reversed(trace: &Value) -> Value {
    let mut trace = trace.clone();
    trace[0]["tool_calls"].as_array_mut().unwrap().reverse();
    trace
}

proptest! {
    #[test]
    fn order_does_not_matter_where_it_does_not_count(a in call_list(), b in call_list()) {
        for mode in ["unordered", "subset", "superset"] {
            for args in ["exact", "ignore", "subset", "superset"] {
                prop_assert_eq!(matches(mode, args, &a, &b), matches(mode, args, &reversed(&a), &b));
                prop_assert_eq!(matches(mode, args, &a, &b), matches(mode, args, &a, &reversed(&b)));
            }
        }
    }

    #[test]
    fn subset_one_way_is_superset_the_other(a in call_list(), b in call_list()) {
        for (args, other) in [("exact", "exact"), ("ignore", "ignore"), ("subset", "superset"), ("superset", "subset")] {
            prop_assert_eq!(matches("subset", args, &a, &b), matches("superset", other, &b, &a));
        }
    }

    #[test]
    fn strict_implies_unordered(a in call_list(), b in call_list()) {
        for args in ["exact", "ignore", "subset", "superset"] {
            prop_assert!(!matches("strict", args, &a, &b) || matches("unordered", args, &a, &b));
        }
    }
}

/// A value that a parameter of this kind may have.
fn sample_value(kind: ParamKind) -> Value {
    match kind {
        ParamKind::Text | ParamKind::Pattern => json!("https://example.org"),
        ParamKind::TextOrTexts | ParamKind::List => json!(["a"]),
        ParamKind::Bool => json!(true),
        ParamKind::Number | ParamKind::Fraction | ParamKind::Amount => json!(0.5),
        ParamKind::Count => json!(1),
        ParamKind::OneOf(words) => json!(words[0]),
        ParamKind::Map | ParamKind::Any => json!({}),
        ParamKind::Shape(params) => required_params(params),
        ParamKind::Each(params) => json!([required_params(params)]),
        ParamKind::OrShape(simple, _) => sample_value(*simple),
        ParamKind::Flags => json!("i"),
    }
}

fn required_params(params: &[Param]) -> Value {
    let required = params.iter().filter(|param| param.required);
    required.map(|param| (param.name.to_owned(), sample_value(param.kind))).collect::<Map<_, _>>().into()
}

#[test]
fn every_check_of_the_catalogue_can_be_run() {
    let (mut n_external, mut n_compared) = (0, 0);
    for entry in CHECKS {
        let mut params = required_params(entry.params);
        // Where no parameter is required, one of several is.
        if params.as_object().is_some_and(Map::is_empty)
            && let Some(first) = entry.params.first()
        {
            params[first.name] = sample_value(first.kind);
        }
        match CompiledCheck::new(entry.name, &params) {
            Ok(CompiledCheck::Local(_)) => {}
            Ok(CompiledCheck::External(_)) => n_external += 1,
            Ok(CompiledCheck::MaxScore(_)) => n_compared += 1,
            Err(error) => panic!("{}: {error}", entry.name),
        }
    }
    assert_eq!((n_external, n_compared), (4, 1));
}
