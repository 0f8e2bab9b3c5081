use super::*;
use crate::candidate::Measurements;

#[test]
fn results_of_a_version_that_is_not_known_are_refused() {
    let result = json!({ "id": "a", "gradingResult": { "componentResults": [{ "score": 1, "assertion": { "type": "contains" } }] } });
    let promptfoo = |outer: u64, inner: u64| json!({ "version": outer, "results": { "version": inner, "results": [result] } });
    let sample =
        json!({ "id": 1, "epoch": 1, "input": "q", "target": "t", "scores": { "match": { "value": "C" } } });
    let inspect = |version: u64| json!({ "version": version, "samples": [sample] });
    let agentv = |version: &str| json!({ "test_id": "a", "schema_version": version, "scores": [{ "name": "s", "score": 1 }] });
    for value in [promptfoo(4, 3), promptfoo(3, 2), inspect(2), agentv("agentv.result.v1")] {
        assert!(read_foreign_results(vec![value.clone()]).is_ok(), "{value}");
    }
    for (value, message) in [
        (promptfoo(5, 3), "`version` of these results of promptfoo is 5, and Jurist understands 2, 3, 4; if"),
        (
            promptfoo(4, 9),
            "`results.version` of these results of promptfoo is 9, and Jurist understands 1, 2, 3;",
        ),
        (inspect(3), "`version` of these results of Inspect is 3, and Jurist understands 1, 2;"),
        (agentv("agentv.result.v2"), "of AgentV is agentv.result.v2, and Jurist understands 1;"),
        (agentv("new"), "of AgentV is new, and Jurist understands 1;"),
    ] {
        let error = read_foreign_results(vec![value]).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    // Results of another tool may have any version, also under a name that promptfoo has for its own.
    let deepeval = json!({ "version": 9, "testCases": [{
        "name": "a", "input": "q", "actualOutput": "o", "metricsData": [{ "name": "m", "score": 1.0 }],
    }] });
    assert_eq!(read_foreign_results(vec![deepeval]).unwrap().tool, Some("DeepEval"));
}

#[test]
fn a_metric_that_crashed_has_no_score() {
    let metric =
        |error: Value| json!({ "name": "Faithfulness", "score": null, "success": false, "error": error });
    let read = |error: Value| {
        let case = json!({ "name": "a", "input": "q", "actualOutput": "o", "metricsData": [metric(error)] });
        read_foreign_results(vec![json!({ "testCases": [case] })]).unwrap()
    };
    let crashed = read(json!("Timeout"));
    assert_eq!((crashed.grades.len(), crashed.left_out), (0, vec!["Faithfulness".to_owned()]));
    assert_eq!(read(Value::Null).grades[0]["value"], 0.0);
}

#[test]
fn several_responses_and_columns_without_a_place_are_named() {
    let results = read_foreign_results(vec![json!({ "input": "q", "sampled": ["a", "b"] })]).unwrap();
    assert_eq!((results.records[0].get("response"), results.unused), (None, vec!["sampled".to_owned()]));
    let mut row = json!({ "feedback": [], "feedback.correct": 1 });
    nest_columns(&mut row);
    assert_eq!(row, json!({ "feedback": [], "feedback.correct": 1 }));
}

#[test]
fn results_in_a_second_list_are_named() {
    let case = json!({ "name": "a", "input": "q", "actualOutput": "o", "metricsData": [] });
    let talk = json!({ "name": "b", "turns": [], "metricsData": [] });
    let read = |talks: Value| {
        let file = json!({ "testCases": [case], "conversationalTestCases": talks });
        read_foreign_results(vec![file]).unwrap().unused
    };
    assert_eq!(read(json!([talk])), ["conversationalTestCases"]);
    assert_eq!(read(json!([])), [""; 0]);
}

#[test]
fn every_tool_is_told_by_its_names() {
    let check = |value: Value, tool: &str, response: &str, grade: (&str, f64)| {
        let results = read_foreign_results(vec![value]).unwrap();
        assert_eq!(results.tool, Some(tool));
        assert_eq!(results.records[0]["response"], response, "{tool}");
        let grades: Vec<(&str, f64)> = results
            .grades
            .iter()
            .map(|grade| (grade["criterion"].as_str().unwrap(), grade["value"].as_f64().unwrap()))
            .collect();
        assert_eq!(grades, [grade], "{tool}");
    };
    check(
        json!({ "results": { "results": [{ "id": "a", "prompt": { "raw": "q" }, "response": { "output": "r" },
            "gradingResult": { "componentResults": [{ "score": 1, "assertion": { "type": "contains" } }] } }] } }),
        "promptfoo",
        "r",
        ("contains", 1.0),
    );
    check(
        json!({ "testCases": [{ "input": "q", "actualOutput": "r", "metricsData": [{ "name": "Faithfulness", "score": 0.5 }] }] }),
        "DeepEval",
        "r",
        ("Faithfulness", 0.5),
    );
    check(
        json!([{ "user_input": "q", "response": "r", "faithfulness": 0.25, "year": 1999 }]),
        "ragas",
        "r",
        ("faithfulness", 0.25),
    );
    check(
        json!([{ "question": "q", "answer": "r", "contexts": ["c"], "ground_truth": "t", "context_recall": 0.5 }]),
        "ragas",
        "r",
        ("context_recall", 0.5),
    );
    check(
        json!({ "samples": [{ "id": 1, "epoch": 1, "input": "q", "target": "t", "output": { "completion": "r" }, "scores": { "match": { "value": "C" } } }] }),
        "Inspect",
        "r",
        ("match", 1.0),
    );
    check(
        json!({ "data": [{ "id": "o", "datasource_item": { "input": "q" }, "sample": { "output_text": "r" }, "results": [{ "name": "grader", "passed": true }] }] }),
        "OpenAI evals",
        "r",
        ("grader", 1.0),
    );
    check(
        json!([{ "id": "t", "timestamp": "2026", "input": "q", "output": "r", "scores": [{ "name": "tone", "value": 0.75 }] }]),
        "Langfuse",
        "r",
        ("tone", 0.75),
    );
    check(
        json!([{ "id": "t", "input": { "q": 1 }, "output": "r", "scores": [{ "name": "s", "value": 0.5 }] }]),
        "Langfuse",
        "r",
        ("s", 0.5),
    );
    check(
        json!([{ "id": "b", "timestamp": "2026", "input": "q", "output": "r", "scores": { "exact": 0.5 } }]),
        "Braintrust",
        "r",
        ("exact", 0.5),
    );
    check(
        json!([{ "test_id": "v", "timestamp": "2026", "input": "q", "output": "r",
            "scores": [{ "name": "rubric", "type": "llm-grader", "score": 0.9 }], "assertions": [] }]),
        "AgentV",
        "r",
        ("rubric", 0.9),
    );
    check(
        json!([{ "inputs": { "question": "q" }, "outputs": { "output": "r" }, "feedback": [{ "key": "k", "score": 1 }] }]),
        "LangSmith",
        "r",
        ("k", 1.0),
    );
    check(
        json!([{ "id": "1", "inputs.question": "q", "outputs.answer": "r", "feedback.correct": "0.5" }]),
        "LangSmith",
        "r",
        ("correct", 0.5),
    );
    check(
        json!([{ "name": "n", "input": "q", "actual_output": "r", "cost": 0.1, "Faithfulness": "0.5" }]),
        "DeepEval",
        "r",
        ("Faithfulness", 0.5),
    );
    check(
        json!({ "testCases": [], "conversationalTestCases": [{ "name": "c",
            "turns": [{ "role": "user", "content": "q" }, { "role": "assistant", "content": "r" }],
            "metricsData": [{ "name": "Role", "score": 0.5 }] }] }),
        "DeepEval",
        "r",
        ("Role", 0.5),
    );
    check(
        json!([{ "input": "q", "output": "r", "expected": "e", "scores": { "exact": 0 } }]),
        "Braintrust",
        "r",
        ("exact", 0.0),
    );
    check(
        json!([{ "id": "l", "inputs": { "question": "q" }, "outputs": { "output": "r" }, "feedback_stats": { "correct": { "avg": 0.5 } } }]),
        "LangSmith",
        "r",
        ("correct", 0.5),
    );
    check(
        json!([{ "test_id": "v", "output": "r", "scores": [{ "name": "rubric", "score": 0.9 }] }]),
        "AgentV",
        "r",
        ("rubric", 0.9),
    );
    check(
        json!([{ "test_id": "v", "output": "r", "assertions": [{ "text": "names the sum", "passed": true }] }]),
        "AgentV",
        "r",
        ("names the sum", 1.0),
    );
}

#[test]
fn conversations_of_ragas_are_traces_with_scores() {
    let talk = json!([
        { "type": "human", "content": "Book a table." },
        { "type": "ai", "content": "One moment.", "tool_calls": [{ "name": "book", "args": { "seats": 2 } }] },
        { "type": "tool", "content": "booked" },
        { "type": "ai", "content": "Done." },
    ]);
    // A table has what Python prints.
    let printed = "[{'type': 'human', 'content': 'Book a table.', 'metadata': None}, \
        {'type': 'ai', 'content': 'One moment.', 'tool_calls': [{'name': 'book', 'args': {'seats': 2}}]}, \
        {'type': 'tool', 'content': \"it\\'s\\xa0booked\"}, {'type': 'ai', 'content': 'Done.'}]";
    for user_input in [talk, json!(printed)] {
        let row = json!({ "user_input": user_input, "reference": "A table is booked.",
            "reference_tool_calls": [{ "name": "book", "args": { "seats": 2 } }], "goal_accuracy": 1 });
        let results = read_foreign_results(vec![row]).unwrap();
        assert_eq!((results.tool, results.unused.len()), (Some("ragas"), 0));
        let record = &results.records[0];
        assert_eq!(
            (&record["response"], &record["expected"]),
            (&json!("Done."), &json!("A table is booked."))
        );
        let (_, trace) = read_trace_value(&record["trace"], None).unwrap();
        let calls: Vec<&str> = trace.tool_calls().map(|call| call.name.as_str()).collect();
        assert_eq!((calls, trace.steps.len()), (vec!["book"], 4));
        assert!(trace.steps[2].results[0].text.ends_with("booked"), "{trace:?}");
        assert_eq!(record["reference_tool_calls"][0]["tool_calls"][0]["name"], "book");
        assert_eq!(results.grades[0]["value"], 1.0);
    }
    // Questions without an answer are tasks.
    let row = json!({ "user_input": [{ "type": "human", "content": "Book a table." }] });
    let record = read_foreign_results(vec![row]).unwrap().records.remove(0);
    assert_eq!((record.get("trace"), record["input"][0]["content"].as_str()), (None, Some("Book a table.")));
}

#[test]
fn lists_and_mappings_that_a_table_has_as_text_are_read() {
    let braintrust =
        json!({ "id": "b", "input": "q", "output": "r", "scores": "{\"exact\": 0.5, \"tone\": null}" });
    let results = read_foreign_results(vec![braintrust]).unwrap();
    assert_eq!(
        (results.tool, results.left_out.as_slice()),
        (Some("Braintrust"), ["tone".to_owned()].as_slice())
    );
    assert_eq!(results.grades[0]["value"], 0.5);
    let ragas =
        json!({ "user_input": "[a] or {b}?", "response": "r", "retrieved_contexts": "['one' 'two, three']" });
    let results = read_foreign_results(vec![ragas]).unwrap();
    assert_eq!(results.records[0]["context"], json!(["one", "two, three"]));
    assert_eq!(results.records[0]["input"], "[a] or {b}?");
    // The text of an answer stays one, also if it is JSON.
    let answer = json!({ "input": "q", "output": "{\"scores\": 1}", "outputs": "{\"a\": 1}" });
    let results = read_foreign_results(vec![answer]).unwrap();
    assert_eq!(results.records[0]["response"], "{\"scores\": 1}");
    assert_eq!(results.unused, ["outputs"]);
}

#[test]
fn columns_of_langsmith_are_scores_by_the_key_of_their_feedback() {
    let of_experiment = json!({ "id": "e", "inputs": "{\"question\": \"q\"}", "outputs": "{\"answer\": \"r\"}",
        "reference_outputs": "{\"answer\": \"t\"}", "latency": "1.5", "total_tokens": "812",
        "prompt_cost": "0.01", "status": "success", "correctness": "1", "brief": "0.5", "rating": "4" });
    let of_library = json!({ "input.question": "q", "outputs.answer": "r", "reference.answer": "t",
        "feedback.correctness": "True", "execution_time": "0.5", "id": "e" });
    for (row, criteria) in [(of_experiment, vec!["brief", "correctness"]), (of_library, vec!["correctness"])]
    {
        let results = read_foreign_results(vec![row]).unwrap();
        assert_eq!(results.tool, Some("LangSmith"));
        assert_eq!(results.records, [json!({ "id": "e", "input": "q", "response": "r", "expected": "t" })]);
        let found: Vec<&str> =
            results.grades.iter().filter_map(|grade| grade["criterion"].as_str()).collect();
        assert_eq!(found, criteria);
    }
    // A row of a dataset has the same fields and no score.
    let row =
        json!({ "inputs": { "question": "q" }, "outputs": { "answer": "r" }, "reference_outputs": "t" });
    assert_eq!(read_foreign_results(vec![row]).unwrap().tool, None);
}

#[test]
fn columns_of_langfuse_are_scores_with_one_or_several_values() {
    let row = json!({ "id": "t", "timestamp": "2026-01-01", "userId": "u", "input": "q", "output": "r",
        "latency": 1.2, "totalCost": 0.01, "tags": ["a"], "helpful": [1, 0.5], "brief": "[0.25]", "tone": ["good"] });
    let results = read_foreign_results(vec![row]).unwrap();
    assert_eq!(results.tool, Some("Langfuse"));
    let grades: Vec<(&str, f64)> = results
        .grades
        .iter()
        .map(|grade| (grade["criterion"].as_str().unwrap(), grade["value"].as_f64().unwrap()))
        .collect();
    assert_eq!(grades, [("brief", 0.25), ("helpful", 0.75)]);
    assert_eq!((results.left_out, results.unused), (vec!["tone".to_owned()], Vec::new()));
}

/// A trace as the worker of Langfuse exports it, with the columns of all versions.
const EXPORTED_TRACE: &str = r#"{"id": "t", "timestamp": "2026-01-01T00:00:00.000Z", "name": "support", "userId": "u",
    "sessionId": null, "release": "1", "version": "1", "environment": "default", "tags": ["a"], "bookmarked": false,
    "public": true, "input": "q", "output": "r", "metadata": {"step": 1}, "latency": 0.8, "level": "DEFAULT",
    "usage": {"promptTokens": 1, "completionTokens": 1, "totalTokens": 1}, "usage.promptTokens": "1", "inputCost": 0.1,
    "outputCost": 0.2, "totalCost": 0.3, "calculatedTotalCost": "0.3", "errorCount": 0, "warningCount": 0,
    "defaultCount": 1, "debugCount": 0, "observationCount": 1, "inputTokens": 1, "outputTokens": 1, "totalTokens": 1,
    "comments": [{"content": "good"}]}"#;

/// An observation as the worker of Langfuse exports it.
const EXPORTED_OBSERVATION: &str = r#"{"id": "o", "traceId": "t", "projectId": "p", "parentObservationId": null,
    "type": "GENERATION", "startTime": "2026-01-01T00:00:00.000Z", "endTime": "2026-01-01T00:00:01.000Z",
    "name": "answer", "level": "DEFAULT", "statusMessage": null, "version": "1", "environment": "default",
    "createdAt": "2026-01-01", "updatedAt": "2026-01-01", "input": "q", "output": "r", "metadata": {}, "model": "m",
    "internalModelId": "i", "modelParameters": {"temperature": 0}, "usageDetails": {"input": 1}, "inputUsage": 1,
    "outputUsage": 0, "totalUsage": 1, "costDetails": {}, "inputCost": 0, "outputCost": 0, "totalCost": 0,
    "providedUsageDetails": {}, "providedCostDetails": {}, "promptId": null, "promptName": null, "promptVersion": 1,
    "latency": 0.5, "timeToFirstToken": 0.25, "completionStartTime": null, "traceName": "support", "traceTags": ["a"],
    "traceTimestamp": null, "userId": "u", "toolDefinitionsCount": 1, "toolCallsCount": 0, "modelId": "i",
    "inputPrice": "0.1", "outputPrice": 0.2, "totalPrice": null, "comments": []}"#;

#[test]
fn only_lists_of_an_export_of_langfuse_are_scores() {
    for row in [EXPORTED_TRACE, EXPORTED_OBSERVATION] {
        let mut row: Value = serde_json::from_str(row).unwrap();
        let results = read_foreign_results(vec![row.clone()]).unwrap();
        assert_eq!((results.tool, results.grades.len()), (None, 0));
        row["rating"] = json!([0, 0, 3]);
        row["mood"] = json!(["1"]);
        row["own"] = json!(1);
        row["right"] = json!([true, "False"]);
        row["empty"] = Value::Null;
        let results = read_foreign_results(vec![row]).unwrap();
        assert_eq!(results.tool, Some("Langfuse"));
        let grade = json!({ "candidate": results.records[0]["id"], "criterion": "right", "value": 0.5, "grader": "Langfuse" });
        assert_eq!(results.grades, [grade]);
        assert_eq!(
            (results.left_out, results.unused),
            (vec!["mood".to_owned(), "rating".to_owned()], vec!["own".to_owned()])
        );
    }
}

#[test]
fn fields_of_runs_of_langsmith_are_no_scores() {
    let run = json!({ "id": "r", "name": "1", "run_type": "chain", "session_id": "s", "status": "success",
        "trace_id": "t", "inputs": { "question": "q" }, "outputs": { "answer": "a" }, "execution_order": 1,
        "in_dataset": false, "trace_upgrade": true, "ttl_seconds": 1, "thread_id": "1", "price_model_id": "1",
        "completion_tokens": 1, "total_cost": "0.1", "reference_example_id": "e", "tags": ["a"],
        "parent_run_ids": ["1"], "events": [{ "name": "start" }], "latency": 1.5 });
    let results = read_foreign_results(vec![run.clone()]).unwrap();
    assert_eq!((results.tool, results.grades.len()), (None, 0));
    let mut scored = run;
    scored["right"] = json!(1);
    let results = read_foreign_results(vec![scored]).unwrap();
    assert_eq!((results.tool, results.grades.len(), results.unused), (Some("LangSmith"), 1, Vec::new()));
}

#[test]
fn latency_of_langfuse_and_langsmith_is_in_seconds() {
    let of_langsmith =
        json!({ "id": "e", "inputs": "q", "outputs": "r", "run_type": "chain", "latency": "0.8" });
    let of_langfuse: Value = serde_json::from_str(EXPORTED_TRACE).unwrap();
    let own = json!({ "input": "q", "output": "r", "latency": 800 });
    for row in [of_langsmith, of_langfuse, own] {
        let results = read_foreign_results(vec![row.clone()]).unwrap();
        let measured = Measurements::from_json(&results.records[0]).duration_ms.unwrap();
        assert!((measured - 800.0).abs() < 1e-9, "{row}");
    }
}

#[test]
fn columns_with_yes_or_no_are_scores_and_others_are_named() {
    let row = |faithful: Value| {
        json!({ "user_input": "q", "response": "r", "faithful": faithful, "brief": "True", "polite": "false",
            "year": 1999, "colour": "red", "rubrics": { "a": 1 }, "parts": [0.5], "note": "", "nothing": null })
    };
    let results = read_foreign_results(vec![row(json!(true)), row(json!("failed"))]).unwrap();
    let grades: Vec<(&str, f64)> = results
        .grades
        .iter()
        .map(|grade| (grade["criterion"].as_str().unwrap(), grade["value"].as_f64().unwrap()))
        .collect();
    let polite = ("polite", 0.0);
    assert_eq!(grades, [("brief", 1.0), ("faithful", 1.0), polite, ("brief", 1.0), polite]);
    assert_eq!(results.unused, ["colour", "parts", "rubrics"]);
    // A text among scores is a score that cannot be read.
    assert_eq!(results.left_out, ["year", "faithful"]);
    // A test of DeepEval that was not graded has no columns of scores.
    let case =
        json!({ "name": "a", "input": "q", "actual_output": "r", "metrics_data": [], "is_hard": true });
    assert_eq!(read_foreign_results(vec![case]).unwrap().grades.len(), 0);
}

#[test]
fn rows_for_training_are_records() {
    let alpaca = |input: &str| json!({ "instruction": "Translate.", "input": input, "output": "Hei" });
    let prompted = json!({ "prompt": "Hello", "completion": "Hei" });
    for (row, task) in
        [(alpaca("Hello"), "Translate.\n\nHello"), (alpaca(""), "Translate."), (prompted, "Hello")]
    {
        let results = read_foreign_results(vec![row]).unwrap();
        assert_eq!(results.records, [json!({ "id": "1", "input": task, "response": "Hei" })]);
        assert_eq!(results.unused, [""; 0]);
    }
}

#[test]
fn an_instruction_does_not_take_the_place_of_the_question() {
    let read = |row: Value| {
        let results = read_foreign_results(vec![row]).unwrap();
        (results.records[0]["input"].clone(), results.unused)
    };
    let unused = |name: &str| vec![name.to_owned()];
    let asked =
        json!({ "instruction": "Answer in Finnish.", "question": "Capital of Norway?", "answer": "Oslo" });
    assert_eq!(read(asked), (json!("Capital of Norway?"), unused("instruction")));
    let empty = json!({ "instruction": "Answer in Finnish.", "input": "", "question": "Capital of Norway?" });
    assert_eq!(read(empty), (json!("Capital of Norway?"), unused("instruction")));
    let null = json!({ "instruction": "X", "input": null, "question": null });
    assert_eq!(read(null), (json!("X"), Vec::new()));
    // The task of a scored result is where its tool has it.
    let scored = json!({ "instruction": "X", "input": "q", "actual_output": "r", "Faithfulness": 1 });
    assert_eq!(read(scored), (json!("q"), unused("instruction")));
}

#[test]
fn conversations_of_sharegpt_are_traces() {
    let row = json!({ "id": "s", "system": "Be brief.", "tools": "[]", "conversations": [
        { "from": "human", "value": "Sum?" }, { "from": "gpt", "value": "4" },
    ] });
    let results = read_foreign_results(vec![row]).unwrap();
    assert_eq!((results.tool, results.unused), (None, vec!["tools".to_owned()]));
    let (_, trace) = read_trace_value(&results.records[0]["trace"], None).unwrap();
    let texts: Vec<&str> = trace.steps.iter().map(|step| step.text.as_str()).collect();
    assert_eq!(texts, ["Be brief.", "Sum?", "4"]);
}

#[test]
fn calls_and_choices_of_results_are_kept() {
    let called = json!([{ "name": "price", "inputParameters": { "of": "ticket" }, "output": 4.9 }]);
    let case = json!({ "name": "a", "input": "q", "actualOutput": "4.90", "toolsCalled": called,
        "expectedTools": [{ "name": "price" }], "metricsData": [{ "name": "Tools", "score": 1 }] });
    let results = read_foreign_results(vec![json!({ "testCases": [case] })]).unwrap();
    let record = &results.records[0];
    assert_eq!(record["trace"][0]["tool_calls"][0]["name"], "price");
    assert_eq!(record["expectedTools"][0]["tool_calls"][0]["name"], "price");
    let sample = json!({ "id": 1, "epoch": 1, "input": "q", "choices": ["Rome", "Paris"], "target": "B",
        "output": { "completion": "B" }, "scores": { "choice": { "value": "C" } } });
    let results = read_foreign_results(vec![sample]).unwrap();
    assert_eq!(results.records[0]["choices"], json!(["Rome", "Paris"]));
}

#[test]
fn two_assertions_of_one_type_are_two_criteria() {
    let part = |score: i64| json!({ "score": score, "assertion": { "type": "contains" } });
    let result = |id: &str| {
        json!({ "id": id, "response": { "output": "r" },
            "gradingResult": { "componentResults": [part(1), part(0)] } })
    };
    let results = read_foreign_results(vec![json!({ "results": [result("a"), result("b")] })]).unwrap();
    let names: Vec<&str> = results.grades.iter().map(|grade| grade["criterion"].as_str().unwrap()).collect();
    assert_eq!(names, ["contains", "contains-2", "contains", "contains-2"]);
}

#[test]
fn an_assertion_of_another_test_does_not_apply() {
    let part = |kind: &str, score: Value| json!({ "score": score, "assertion": { "type": kind } });
    let result = |name: &str, parts: Value| {
        json!({ "id": "x", "testCase": { "description": name }, "response": { "output": "r" },
            "gradingResult": { "componentResults": parts } })
    };
    let rows = json!([
        result("a", json!([part("contains", json!(1))])),
        // What has no score here was asked and is not known.
        result("b", json!([part("contains", Value::Null), part("is-json", json!(0))])),
        result("ungraded", json!([])),
    ]);
    let results = read_foreign_results(vec![json!({ "results": rows })]).unwrap();
    let grades: Vec<String> = results
        .grades
        .iter()
        .map(|grade| {
            let value = grade.get("value").unwrap_or(&grade["outcome"]["kind"]);
            format!("{} {} {value}", grade["candidate"], grade["criterion"]).replace('"', "")
        })
        .collect();
    assert_eq!(grades, ["a contains 1.0", "b is-json 0.0", "a is-json not_applicable"]);
    // Scores that people or monitors add later are missing, and may still come.
    let row = |id: &str, name: &str| {
        json!({ "id": id, "input": "q", "output": "r", "observations": [],
            "scores": [{ "name": name, "value": 1 }] })
    };
    let langfuse = read_foreign_results(vec![row("a", "tone"), row("b", "right")]).unwrap();
    assert_eq!(langfuse.grades.len(), 2);
}

#[test]
fn a_grade_without_a_reason_has_no_such_field() {
    let row = json!({ "user_input": "q", "response": "r", "faithfulness": 0.5 });
    let results = read_foreign_results(vec![row]).unwrap();
    let grade = json!({ "candidate": "1", "criterion": "faithfulness", "value": 0.5, "grader": "ragas" });
    assert_eq!(results.grades, [grade]);
}

#[test]
fn messages_and_scores_by_key_of_inspect_are_kept() {
    let sample = json!({ "id": 1, "epoch": 1, "input": "q", "target": "t",
        "messages": [
            { "role": "user", "content": "q" },
            { "role": "assistant", "content": "", "tool_calls": [{ "id": "c", "function": "search", "arguments": { "q": "x" } }] },
            { "role": "tool", "content": "found", "tool_call_id": "c" },
            { "role": "assistant", "content": "a" },
        ],
        "scores": { "graded": { "value": { "brief": 0.5, "right": "C" }, "explanation": "e" } } });
    let results = read_foreign_results(vec![json!({ "samples": [sample] })]).unwrap();
    assert_eq!(results.records[0]["response"], "a");
    let (_, trace) = read_trace_value(&results.records[0]["trace"], None).unwrap();
    let calls: Vec<&str> = trace.tool_calls().map(|call| call.name.as_str()).collect();
    assert_eq!(calls, ["search"]);
    let grades: Vec<(&str, f64, &str)> = results
        .grades
        .iter()
        .map(|grade| {
            let text = |key: &str| grade[key].as_str().unwrap();
            (text("criterion"), grade["value"].as_f64().unwrap(), text("reason"))
        })
        .collect();
    assert_eq!(grades, [("graded.brief", 0.5, "e"), ("graded.right", 1.0, "e")]);
}

#[test]
fn events_of_an_openai_log_are_grouped_by_sample() {
    let event =
        |kind: &str, data: Value| json!({ "run_id": "r", "sample_id": "e.0", "type": kind, "data": data });
    let lines = vec![
        json!({ "spec": { "eval_name": "e" } }),
        event("sampling", json!({ "prompt": [{ "role": "user", "content": "q" }], "sampled": ["a"] })),
        event("match", json!({ "correct": true, "expected": "a", "picked": "a" })),
        event("metrics", json!({ "choice": "A", "score": 0.5 })),
        json!({ "final_report": { "accuracy": 1.0 } }),
    ];
    let results = read_foreign_results(lines).unwrap();
    assert_eq!(results.tool, Some("OpenAI evals"));
    let asked = json!([{ "role": "user", "content": "q" }]);
    let record = json!({ "id": "e.0", "input": asked, "response": "a", "expected": "a" });
    assert_eq!(results.records, [record]);
    let grades: Vec<(&str, f64)> = results
        .grades
        .iter()
        .map(|grade| (grade["criterion"].as_str().unwrap(), grade["value"].as_f64().unwrap()))
        .collect();
    assert_eq!(grades, [("match", 1.0), ("score", 0.5)]);
}

#[test]
fn rows_without_scores_are_records() {
    let rows = vec![
        json!({ "question": "q", "answer": "a", "ground_truth": "t", "colour": "red" }),
        json!({ "id": 7, "input": "q", "ideal": ["t", "u"] }),
    ];
    let results = read_foreign_results(rows).unwrap();
    let records = [
        json!({ "id": "1", "input": "q", "response": "a", "expected": "t" }),
        json!({ "id": "7", "input": "q", "ideal": ["t", "u"] }),
    ];
    assert_eq!((results.tool, results.records.as_slice()), (None, records.as_slice()));
    assert_eq!(results.unused, ["colour"]);
}

#[test]
fn scores_that_give_no_grade_are_named() {
    let trace = json!({ "id": "t", "input": "q", "output": "r", "scores": ["score-1"] });
    let results = read_foreign_results(vec![json!({ "data": [trace] })]).unwrap();
    assert_eq!((results.tool, results.without_grades.as_slice()), (Some("Langfuse"), ["scores"].as_slice()));
}

#[test]
fn what_is_not_understood_is_said() {
    assert_eq!(read_foreign_results(vec![json!("x")]), Err(ForeignError::NoResults));
    let unknown = read_foreign_results(vec![json!({ "colour": 1 })]).unwrap_err();
    assert!(unknown.to_string().contains("a result has colour"), "{unknown}");
    let odd = json!([{ "id": "t", "epoch": 1, "target": "t", "input": "q", "scores": { "words": { "value": "many" } } }]);
    assert_eq!(read_foreign_results(vec![odd]).unwrap().left_out, ["words"]);
}
