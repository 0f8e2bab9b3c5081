//! The command before a model server on a real socket.

use std::fs;
use std::path::Path;
use std::process::Output;

use jurist_core::money::Rates;
use jurist_store::{Store, clock};
use serde_json::{Value as Json, json};

use crate::server::{Act, Seen, Server};

const RUBRIC: &str = "rubrics:\n  one:\n    criteria:\n      - {name: city, description: Names the capital.}\n      - {name: kind, description: Is kind.}\n";

/// A folder with a rubric, twenty records and prices.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("rubric.yaml"), RUBRIC).unwrap();
    let record =
        |n: usize| json!({ "id": n, "input": "Which?", "output": format!("Paris, {n}.") }).to_string() + "\n";
    fs::write(folder.path().join("records.jsonl"), (0..20).map(record).collect::<String>()).unwrap();
    fs::create_dir(folder.path().join(".jurist")).unwrap();
    let prices = "prices:\n  openai/judge-1: {input: 1, output: 2}\n";
    fs::write(folder.path().join(".jurist/config.yaml"), prices).unwrap();
    folder
}

async fn jurist(folder: &Path, server: &Server, args: &[&str]) -> Output {
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_jurist"));
    command
        .args(args)
        .args(["--trust-settings", "--judge", "openai/judge-1", "--base-url", &server.url])
        .current_dir(folder)
        .env_clear()
        .env("OPENAI_API_KEY", "sk-test-secret-1234567890")
        .env("JURIST_CACHE", folder.join("cache"))
        .env("JURIST_BATCH_POLL_MS", "5");
    command.output().await.unwrap()
}

fn lines(output: &Output) -> Vec<Json> {
    String::from_utf8_lossy(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

const GRADE: [&str; 4] = ["grade", "records.jsonl", "--rubric", "rubric.yaml"];

#[tokio::test]
async fn records_are_graded_in_their_order_and_the_second_time_for_nothing() {
    let (folder, server) = (folder(), Server::start(|_| Act::Fit).await);
    for round in 0..2 {
        let output = jurist(folder.path(), &server, &GRADE).await;
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        let ids: Vec<u64> = lines(&output).iter().map(|line| line["id"].as_u64().unwrap()).collect();
        assert_eq!(ids, (0..20).collect::<Vec<_>>());
        assert!(
            lines(&output)
                .iter()
                .all(|line| line["status"] == "pass" && line["spend"]["from_cache"] == (round == 1))
        );
        assert_eq!(server.n_seen(), 40);
    }
}

#[tokio::test]
async fn a_moderation_service_is_asked_about_each_record() {
    let folder = folder();
    let server = Server::start(|seen| match seen.body["input"].as_str().unwrap() {
        "Paris, 3." => Act::Status(400, Vec::new(), r#"{"error": {"message": "odd"}}"#.to_owned()),
        "Paris, 7." => {
            Act::Raw(r#"{"results": [{"flagged": true, "categories": {"violence": true}}]}"#.to_owned())
        }
        _ => Act::Raw(r#"{"results": [{"flagged": false, "categories": {"violence": false}}]}"#.to_owned()),
    })
    .await;
    let rubric = "criteria:\n  - {name: safe, check: {type: moderation}}\n";
    fs::write(folder.path().join("safe.yaml"), rubric).unwrap();
    let of_check = jurist(folder.path(), &server, &["grade", "records.jsonl", "--check", "moderation"]).await;
    let of_rubric =
        jurist(folder.path(), &server, &["grade", "records.jsonl", "--rubric", "safe.yaml"]).await;
    let scores: Vec<Json> = lines(&of_check).iter().map(|line| line["score"].clone()).collect();
    let expected = |n: usize| match n {
        3 => Json::Null,
        7 => json!(0.0),
        _ => json!(1.0),
    };
    assert_eq!(scores, (0..20).map(expected).collect::<Vec<_>>());
    let failed = &lines(&of_check)[3]["error"];
    assert!(failed.as_str().is_some_and(|error| error.contains("odd")), "{failed}");
    assert_eq!(of_check.status.code(), Some(3));
    let status: Vec<Json> = lines(&of_rubric).iter().map(|line| line["status"].clone()).collect();
    assert_eq!((&status[2], &status[3], &status[7]), (&json!("pass"), &json!("error"), &json!("fail")));
    assert_eq!(server.n_seen(), 40);
}

#[tokio::test]
async fn the_same_seed_and_replies_give_the_same_bytes_at_any_concurrency() {
    let (folder, server) = (folder(), Server::start(|_| Act::Fit).await);
    let mut outputs = Vec::new();
    for width in ["1", "7", "64"] {
        let output =
            jurist(folder.path(), &server, &[&GRADE[..], &["--no-cache", "--concurrency", width]].concat())
                .await;
        outputs.push(output.stdout);
    }
    assert!(outputs.iter().all(|output| output == &outputs[0]) && !outputs[0].is_empty());
}

#[tokio::test]
async fn how_it_ends_tells_what_happened() {
    let folder = folder();
    let run = async |act: Act, more: &[&str]| {
        let server = Server::start(move |_| act.clone()).await;
        jurist(folder.path(), &server, &[&GRADE[..], &["--no-cache"], more].concat()).await
    };
    let zero = Act::Say(r#"{"reasoning": "no", "score": 0}"#.into());
    assert_eq!(run(zero, &[]).await.status.code(), Some(1));
    let down = run(Act::Status(401, Vec::new(), "{}".into()), &[]).await;
    assert_eq!(down.status.code(), Some(3));
    assert!(
        String::from_utf8_lossy(&down.stderr).contains("calls to it are paused"),
        "{}",
        String::from_utf8_lossy(&down.stderr)
    );
    assert!(lines(&down).iter().all(|line| line["status"] == "error" && line["score"].is_null()));
    let capped = run(Act::Fit, &["--max-cost", "0.02"]).await;
    assert_eq!(capped.status.code(), Some(5));
    let count = |status: &str| lines(&capped).iter().filter(|line| line["status"] == status).count();
    assert!(0 < count("pass") && 0 < count("deferred"), "{} {}", count("pass"), count("deferred"));
    assert_eq!(run(Act::Fit, &["--concurrency", "0"]).await.status.code(), Some(2));
}

#[tokio::test]
async fn a_recording_needs_neither_server_nor_key_nor_name() {
    let (folder, server) = (folder(), Server::start(|_| Act::Fit).await);
    let recorded = jurist(folder.path(), &server, &[&GRADE[..], &["--record", "calls.jsonl"]].concat()).await;
    let text = fs::read_to_string(folder.path().join("calls.jsonl")).unwrap();
    assert_eq!(text.lines().count(), 40);
    assert!(!text.contains("sk-test-secret"));
    let replayed = tokio::process::Command::new(env!("CARGO_BIN_EXE_jurist"))
        .args(GRADE)
        .args(["--replay", "calls.jsonl"])
        .current_dir(folder.path())
        .env_clear()
        .output()
        .await
        .unwrap();
    assert_eq!(replayed.status.code(), Some(0), "{}", String::from_utf8_lossy(&replayed.stderr));
    let scores = |output: &Output| lines(output).iter().map(|line| line["score"].clone()).collect::<Vec<_>>();
    assert_eq!(scores(&recorded), scores(&replayed));
}

#[tokio::test]
async fn ping_tells_latency_price_and_form() {
    let (folder, server) = (folder(), Server::start(|_| Act::Fit).await);
    let output = jurist(folder.path(), &server, &["judge", "ping"]).await;
    let said = String::from_utf8_lossy(&output.stdout);
    for part in ["openai/judge-1", "$1 in", "$2 out", " ms", "JSON Schema", "tokens in"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!said.contains("sk-test-secret"));
}

#[tokio::test]
async fn a_batch_grades_everything_at_half_the_price() {
    let folder = folder();
    let sent = std::sync::Mutex::new(Vec::<Json>::new());
    let server = Server::start(move |seen| {
        let mut sent = sent.lock().unwrap();
        match seen.path.as_str() {
            "/files" => {
                sent.extend(seen.body.as_str().unwrap().lines().filter_map(|line| serde_json::from_str(line).ok()));
                Act::Raw(r#"{"id": "file-1"}"#.into())
            }
            "/batches" => Act::Raw(r#"{"id": "batch_1"}"#.into()),
            "/batches/batch_1" => Act::Raw(r#"{"status": "completed", "output_file_id": "out"}"#.into()),
            "/files/out/content" => {
                let body = json!({ "choices": [{ "message": { "content": r#"{"reasoning": "r", "score": 1}"# } }],
                    "usage": { "prompt_tokens": 1000, "completion_tokens": 500 } });
                let line = |value: &Json| json!({ "custom_id": value["custom_id"], "response": { "status_code": 200, "body": body } }).to_string() + "\n";
                Act::Raw(sent.iter().map(line).collect())
            }
            other => panic!("{other} is no address of a batch"),
        }
    })
    .await;
    let output = jurist(folder.path(), &server, &[&GRADE[..], &["--batch"]].concat()).await;
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(lines(&output).len(), 20);
    assert!(lines(&output).iter().all(|line| line["spend"]["cost"] == json!(0.002)));
    assert_eq!(server.n_seen(), 4);
    let suite = "evals:\n  - {name: one, response: Lyon., rubric: Is right.}\n";
    fs::write(folder.path().join("suite.yaml"), suite).unwrap();
    let output =
        jurist(folder.path(), &server, &["eval", "suite.yaml", "--batch", "--reporter", "ndjson"]).await;
    assert_eq!(
        lines(&output)[0]["spend"]["cost"],
        json!(0.001),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let over = jurist(
        folder.path(),
        &server,
        &[&GRADE[..], &["--batch", "--refresh", "--max-cost", "0.01"]].concat(),
    )
    .await;
    assert_eq!(over.status.code(), Some(5));
}

/// Whether a request comes from the run that goes on, which has a key of its own.
fn is_second(seen: &Seen) -> bool {
    seen.header("authorization") == Some("Bearer second")
}

#[tokio::test]
async fn a_run_that_was_killed_goes_on_and_grades_nothing_twice() {
    const N: usize = 600;
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join(".jurist")).unwrap();
    let suite = "evals:\n  - name: many\n    data: rows.jsonl\n    prompt: '{{ row.question }}'\n    response: '{{ row.answer }}'\n    rubric: Is right.\n";
    fs::write(folder.path().join("suite.yaml"), suite).unwrap();
    let row =
        |n: usize| json!({ "question": format!("{n}?"), "answer": format!("It is {n}.") }).to_string() + "\n";
    fs::write(folder.path().join("rows.jsonl"), (0..N).map(row).collect::<String>()).unwrap();
    // The first run never comes to its end, however late it is killed.
    let server = Server::start(|seen| match (is_second(seen), seen.nth < N / 2) {
        (false, false) => Act::Wait(std::time::Duration::from_secs(3600), Box::new(Act::Fit)),
        _ => Act::Fit,
    })
    .await;
    let command = |key: &str, args: &[&str]| {
        let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_jurist"));
        command
            .args([
                "eval",
                "suite.yaml",
                "--judge",
                "litellm/judge-1",
                "--base-url",
                &server.url,
                "--no-cache",
            ])
            .args(args)
            .current_dir(folder.path())
            .env_clear()
            .env("LITELLM_API_KEY", key);
        command
    };
    let mut killed = command("first", &["--quiet"]).spawn().unwrap();
    let place = folder.path().join(".jurist/jurist.db");
    while !place.exists() {
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
    let store = Store::open(place.to_str().unwrap()).await.unwrap();
    let project = store.default_project(&Rates::default(), clock::current_time()).await.unwrap();
    let kept = async || {
        let Some(head) = store
            .runs(project, &jurist_store::runs::RunFilter::default(), None, 1)
            .await
            .unwrap()
            .items
            .pop()
        else {
            return 0;
        };
        usize::try_from(head.n_pass).unwrap()
    };
    while kept().await < 200 {
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
    killed.kill().await.unwrap();
    let n_before = kept().await;
    assert!((200..N).contains(&n_before), "{n_before} were graded before the kill");
    let output = command("second", &["--resume", "latest"]).output().await.unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains(&format!("{N} passed, 0 failed, 0 errors, 0 deferred")), "{said}");
    let n_asked_again = server.seen.lock().unwrap().iter().filter(|seen| is_second(seen)).count();
    assert_eq!(n_asked_again, N - n_before, "what was kept is not asked again");
    assert_eq!(kept().await, N);
}

#[tokio::test]
async fn a_suite_is_replayed_without_a_name_and_a_judge_says_what_its_failure_means() {
    let (folder, server) = (folder(), Server::start(|_| Act::Fit).await);
    let suite = "evals:\n  - {name: one, response: Paris., rubric: Is right.}\n";
    fs::write(folder.path().join("suite.yaml"), suite).unwrap();
    jurist(folder.path(), &server, &["eval", "suite.yaml", "--record", "calls.jsonl"]).await;
    let replay = async || {
        let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_jurist"));
        command
            .args(["eval", "suite.yaml", "--replay", "calls.jsonl"])
            .current_dir(folder.path())
            .env_clear();
        let output = command.output().await.unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (code, said) = replay().await;
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("1 passed"), "{said}");
    // Another text was not recorded: that is an error, or what the judge's `on_error` makes of it.
    fs::write(folder.path().join("suite.yaml"), suite.replace("Paris", "Lyon")).unwrap();
    assert_eq!(replay().await.0, Some(3));
    let failing = suite.replace("Paris", "Lyon").replace("rubric:", "judge: {on_error: fail}, rubric:");
    fs::write(folder.path().join("suite.yaml"), failing).unwrap();
    assert_eq!(replay().await.0, Some(1));
}

#[tokio::test]
async fn the_same_plan_gives_the_same_results_at_any_concurrency() {
    let (folder, server) = (folder(), Server::start(|_| Act::Fit).await);
    let suite = "evals:\n  - name: many\n    data: records.jsonl\n    prompt: '{{ row.input }}'\n    response: '{{ row.output }}'\n    rubric: {criteria: [{name: a, description: A.}, {name: b, description: B.}]}\n";
    fs::write(folder.path().join("suite.yaml"), suite).unwrap();
    let mut outputs = Vec::new();
    for width in ["1", "16"] {
        let args = ["eval", "suite.yaml", "--no-cache", "--reporter", "ndjson", "--concurrency", width];
        outputs.push(jurist(folder.path(), &server, &args).await.stdout);
    }
    assert_eq!(outputs[0], outputs[1]);
    assert_eq!(String::from_utf8_lossy(&outputs[0]).lines().count(), 20);
}

#[tokio::test]
async fn the_best_of_several_answers_passes_and_the_others_do_not() {
    // Prefers whoever says Paris, wherever it stands.
    let server = Server::start(|seen| {
        let prompt = seen.prompt();
        let place = |label: &str| {
            prompt.split(&format!("## {label}\n")).nth(1).unwrap().split("\n## ").next().unwrap().to_owned()
        };
        let best = ["A", "B", "C"].into_iter().find(|text| place(text).contains("Paris")).unwrap();
        Act::Say(json!({ "reasoning": "it names the capital", "verdict": best }).to_string())
    })
    .await;
    let folder = folder();
    let suite = "evals:\n  - name: capital\n    targets: [echo]\n    matrix: {prompts: [Lyon it is., Paris it is., Nice it is.]}\n    prompt: Which?\n    rubric: {criteria: [{name: best, recipe: {type: select-best, value: Names the capital.}}]}\n";
    fs::write(folder.path().join("suite.yaml"), suite).unwrap();
    let args = ["eval", "suite.yaml", "--reporter", "ndjson"];
    let output = jurist(folder.path(), &server, &args).await;
    let results = lines(&output);
    let told: Vec<(&str, &str)> = results
        .iter()
        .map(|result| {
            (result["material"]["response"].as_str().unwrap(), result["verdict"]["status"].as_str().unwrap())
        })
        .collect();
    assert_eq!(told, [("Lyon it is.", "fail"), ("Paris it is.", "pass"), ("Nice it is.", "fail")]);
    assert_eq!(server.n_seen(), 1, "one question for all three");
    assert_eq!(results[1]["grades"][0]["reason"], "it names the capital");
}

#[tokio::test]
async fn errors_are_tried_again_and_failures_are_not() {
    // The first question of each run breaks; the second one fails.
    let server = Server::start(|seen| match seen.prompt() {
        it if it.contains("Lyon") => Act::Say(r#"{"reasoning": "no", "score": 0}"#.to_owned()),
        _ if [0, 2].contains(&seen.nth) => {
            Act::Status(400, Vec::new(), r#"{"error": {"message": "odd"}}"#.to_owned())
        }
        _ => Act::Fit,
    })
    .await;
    let folder = folder();
    let suite = "evals:\n  - {name: one, response: Paris., rubric: Is right.}\n  - {name: two, response: Lyon., rubric: Is right.}\n";
    fs::write(folder.path().join("suite.yaml"), suite).unwrap();
    let args = ["eval", "suite.yaml", "--no-cache", "--concurrency", "1", "--reporter", "ndjson"];
    let status = |output: &Output| -> Vec<String> {
        lines(output).iter().map(|line| line["verdict"]["status"].as_str().unwrap().to_owned()).collect()
    };
    let output = jurist(folder.path(), &server, &args).await;
    assert_eq!(status(&output), ["error", "fail"]);
    let output = jurist(folder.path(), &server, &[&args[..], &["--retry-errors"]].concat()).await;
    assert_eq!(status(&output), ["pass", "fail"]);
    assert_eq!(server.n_seen(), 5, "what failed is not asked again");
    // The log of a run that was tried again holds the last word.
    let shown = jurist_plain(folder.path(), &["runs", "list"]).await;
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(
        shown.lines().next().is_some_and(|line| line.contains("1 passed    1 failed   0 errors")),
        "{shown}"
    );
}

async fn jurist_plain(folder: &Path, args: &[&str]) -> Output {
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_jurist"));
    command.args(args).current_dir(folder).env_clear().output().await.unwrap()
}

#[tokio::test]
async fn a_live_suite_runs_from_the_command_line_and_is_refused_where_it_may_not() {
    let server = Server::start(|seen| match seen.schema() {
        Json::Null if seen.results().is_empty() => Act::Call(vec![("add", json!({ "a": 2, "b": 40 }))]),
        Json::Null => Act::Say(format!("It is {}.", seen.results()[0])),
        _ => Act::Fit,
    })
    .await;
    let folder = folder();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../engine/tests/mcp/server.py");
    let suite = format!(
        "servers:\n  sums: {{command: python3, args: ['{}']}}\nevals:\n  - name: sum\n    server: sums\n    prompt: What is 2 + 40?\n    rubric: The sum is right.\n    checks: [{{type: contains, value: '42'}}]\n",
        script.display()
    );
    let nowhere = "  - name: nowhere\n    server: summs\n    prompt: What?\n    rubric: Is right.\n";
    fs::write(folder.path().join("suite.yaml"), suite.clone() + nowhere).unwrap();
    let path = std::env::var_os("PATH").unwrap();
    let run = async |args: &[&str]| {
        let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_jurist"));
        command.args(["eval", "suite.yaml", "--reporter", "ndjson"]).args(args);
        command.args(["--judge", "openai/judge-1", "--base-url", &server.url]).current_dir(folder.path());
        command.env_clear().env("OPENAI_API_KEY", "sk-test-secret-1234567890").env("PATH", &path);
        command.output().await.unwrap()
    };
    let output = run(&["--no-cache"]).await;
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("there is no server `summs`") && told.contains("suite.yaml:10:13"), "{told}");
    fs::write(folder.path().join("suite.yaml"), suite).unwrap();
    let output = run(&["--no-cache"]).await;
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("suite.yaml:2: the file names the server `python3`"), "{told}");
    assert!(told.contains("--allow-commands"), "{told}");
    assert_eq!(server.n_seen(), 0);

    let output = run(&["--no-cache", "--allow-commands"]).await;
    let results = lines(&output);
    assert_eq!(results[0]["verdict"]["status"], "pass", "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(results[0]["material"]["response"], "It is 42.");
    let steps = results[0]["material"]["trace"]["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 4);
    assert!(
        results[0]["spend"]["cost"].as_f64().is_none_or(|number| 0.0 < number)
            && results[0]["spend"]["tokens_in"].as_u64() > Some(0)
    );
}

#[tokio::test]
async fn a_calibrated_judge_scores_as_people_would() {
    // Says 0.9 to everything, and people mean about a third by it.
    let server = Server::start(|_| Act::Say(r#"{"reasoning": "fine", "score": 0.9}"#.to_owned())).await;
    let folder = folder();
    let line = |id: usize, grader: Json, value: f64| {
        json!({ "candidate": id, "criterion": "city", "grader": grader, "value": value }).to_string() + "\n"
    };
    let judge = json!({ "kind": "judge", "name": "m" });
    let score = |id: usize| 0.1 * (id % 10) as f64;
    let judged: String = (0..40).map(|id| line(id, judge.clone(), score(id))).collect();
    let human: String = (0..40).map(|id| line(id, json!("ann"), score(id) / 3.0)).collect();
    fs::write(folder.path().join("judged.jsonl"), judged).unwrap();
    fs::write(folder.path().join("human.jsonl"), human).unwrap();
    let args = [
        "calibrate",
        "--human",
        "human.jsonl",
        "--judge",
        "judged.jsonl",
        "--method",
        "isotonic",
        "--out",
        "city.json",
    ];
    let made = jurist_plain(folder.path(), &args).await;
    assert_eq!(made.status.code(), Some(0), "{}", String::from_utf8_lossy(&made.stderr));
    let suite = "judge: {calibrations: [city.json]}\nevals:\n  - name: one\n    response: Paris.\n    rubric: {criteria: [{name: city, description: Names it.}, {name: kind, description: Is kind.}]}\n";
    fs::write(folder.path().join("suite.yaml"), suite).unwrap();
    let output = jurist(folder.path(), &server, &["eval", "suite.yaml", "--reporter", "ndjson"]).await;
    let grades = lines(&output)[0]["grades"].clone();
    assert_eq!((&grades[0]["outcome"]["value"], &grades[1]["outcome"]["unit"]), (&json!(0.9), &json!(0.9)));
    let unit = grades[0]["outcome"]["unit"].as_f64().unwrap();
    assert!((unit - 0.3).abs() < 0.01, "{unit}");
    for mapping in [
        json!({ "method": "isotone", "judge": [0.1], "human": [0.1] }),
        json!({ "method": "isotonic", "judge": [], "human": [] }),
        json!({ "method": "quantile", "judge": [0.5, 0.1], "human": [0.1, 0.5] }),
    ] {
        let calibration = json!({ "criterion": "city", "calibration": { "mapping": mapping } });
        fs::write(folder.path().join("city.json"), calibration.to_string()).unwrap();
        let refused = jurist(folder.path(), &server, &["eval", "suite.yaml"]).await;
        assert_eq!(refused.status.code(), Some(2), "{mapping}");
        assert!(
            String::from_utf8_lossy(&refused.stderr).contains("mapping that cannot be applied"),
            "{mapping}"
        );
    }
    fs::write(folder.path().join("city.json"), "{}").unwrap();
    let refused = jurist(folder.path(), &server, &["eval", "suite.yaml"]).await;
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("jurist calibrate --out"));
}
