//! What runs of one's own machine cost: the cap and the told cost over kills, resumed runs and batches.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jurist_core::money::Rates;
use jurist_store::runs::RunHead;
use jurist_store::{Store, clock};
use serde_json::{Value as Json, json};
use tokio::process::Command;

use crate::server::{Act, Server};

/// Each call costs $0.002: 1000 tokens in at $1, and 500 out at $2, per million.
const CALL: i64 = 2_000_000;
const CAP: i64 = 50_000_000;

/// A folder with a suite of twenty cases that take two calls each.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let suite = "evals:\n  - name: many\n    data: rows.jsonl\n    prompt: Which?\n    response: '{{ row.answer }}'\n    rubric: {criteria: [{name: a, description: A.}, {name: b, description: B.}]}\n";
    fs::write(folder.path().join("suite.yaml"), suite).unwrap();
    let row = |n: usize| json!({ "answer": format!("It is {n}.") }).to_string() + "\n";
    fs::write(folder.path().join("rows.jsonl"), (0..20).map(row).collect::<String>()).unwrap();
    fs::create_dir(folder.path().join(".jurist")).unwrap();
    let prices = "prices:\n  openai/judge-1: {input: 1, output: 2}\n";
    fs::write(folder.path().join(".jurist/config.yaml"), prices).unwrap();
    folder
}

fn jurist(folder: &Path, server: &Server, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_jurist"));
    command
        .args(args)
        .args([
            "--trust-settings",
            "--judge",
            "openai/judge-1",
            "--base-url",
            &server.url,
            "--concurrency",
            "2",
        ])
        .current_dir(folder)
        .env_clear()
        .env("OPENAI_API_KEY", "sk-test-secret-1234567890")
        .env("JURIST_CACHE", folder.join("cache"))
        .env("JURIST_BATCH_POLL_MS", "2")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    command
}

/// How many calls were answered, and how many may be; further ones hang.
#[derive(Debug, Default)]
struct Answered {
    n: usize,
    most: usize,
}

fn reply() -> Json {
    json!({ "choices": [{ "message": { "content": r#"{"reasoning": "r", "score": 1}"# } }],
        "usage": { "prompt_tokens": 1000, "completion_tokens": 500 } })
}

async fn model_server(answered: &Arc<Mutex<Answered>>) -> Server {
    let answered = Arc::clone(answered);
    Server::start(move |_| {
        let mut answered = answered.lock().unwrap();
        if answered.n == answered.most {
            return Act::Wait(Duration::from_secs(600), Box::new(Act::Fit));
        }
        answered.n += 1;
        Act::Raw(reply().to_string())
    })
    .await
}

/// The newest run in the database of the folder, once there is one.
async fn latest(folder: &Path) -> Option<RunHead> {
    let place = folder.join(".jurist/jurist.db");
    if !place.exists() {
        return None;
    }
    let store = Store::open(place.to_str().unwrap()).await.unwrap();
    let project = store.default_project(&Rates::default(), clock::current_time()).await.unwrap();
    store.runs(project, &jurist_store::runs::RunFilter::default(), None, 1).await.unwrap().items.pop()
}

fn told_cost(folder: &Path) -> i64 {
    let run: Json = serde_json::from_slice(&fs::read(folder.join("run.json")).unwrap()).unwrap();
    (run["spend"]["cost"].as_f64().unwrap() * 1e9).round() as i64
}

#[tokio::test]
async fn a_case_has_the_cost_of_its_agent_also_if_the_agent_fails() {
    // The second reply is complete, or only a part.
    for (finish_reason, status) in [("stop", "pass"), ("error", "error")] {
        let folder = folder();
        let suite = "evals:\n  - name: two turns\n    messages:\n      - {role: user, content: Which?}\n      - {role: assistant, content: ~}\n      - {role: user, content: Sure?}\n    targets: [openai:judge-1]\n    checks: [{type: contains, value: score}]\n";
        fs::write(folder.path().join("agent.yaml"), suite).unwrap();
        let mut last = reply();
        last["choices"][0]["finish_reason"] = json!(finish_reason);
        let server = Server::script(vec![Act::Raw(reply().to_string()), Act::Raw(last.to_string())]).await;
        let args = ["eval", "agent.yaml", "--reporter", "json=run.json"];
        let mut command = jurist(folder.path(), &server, &args);
        let output = command.env("OPENAI_BASE_URL", format!("{}/v1", server.url)).output().await.unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let run: Json = serde_json::from_slice(&fs::read(folder.path().join("run.json")).unwrap()).unwrap();
        assert_eq!(run["results"][0]["verdict"]["status"], status, "{said}");
        assert_eq!(run["results"][0]["spend"]["cost"], json!(0.004), "{said}");
        assert_eq!(told_cost(folder.path()), 2 * CALL);
        assert_eq!(server.n_seen(), 2);
    }
}

#[tokio::test]
async fn the_cap_and_the_told_cost_hold_over_two_kills_and_resumes() {
    let (folder, answered) = (folder(), Arc::new(Mutex::new(Answered::default())));
    let server = model_server(&answered).await;
    let cap = ["--max-cost", "0.05"];
    // Five calls are answered each time, the last of them in the middle of a case.
    for (round, more) in [&[][..], &["--resume", "latest"]].into_iter().enumerate() {
        answered.lock().unwrap().most += 5;
        let args = [&["eval", "suite.yaml"][..], &cap, more].concat();
        let mut killed = jurist(folder.path(), &server, &args).spawn().unwrap();
        let paid = 5 * CALL * (round as i64 + 1);
        while latest(folder.path()).await.is_none_or(|head| head.cost.nanos() < paid) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        killed.kill().await.unwrap();
        assert_eq!(latest(folder.path()).await.unwrap().cost.nanos(), paid);
    }
    answered.lock().unwrap().most = usize::MAX;
    let args = ["eval", "suite.yaml", "--resume", "latest", "--reporter", "json=run.json"];
    let output = jurist(folder.path(), &server, &[&args[..], &cap].concat()).output().await.unwrap();
    assert_eq!(output.status.code(), Some(5), "{}", String::from_utf8_lossy(&output.stderr));
    let paid = answered.lock().unwrap().n as i64 * CALL;
    assert!((12 * CALL..=CAP).contains(&paid), "{paid}");
    assert_eq!(told_cost(folder.path()), paid, "what is told is what the server counted");
    assert_eq!(latest(folder.path()).await.unwrap().cost.nanos(), paid);
    // What was under way when it was killed: two calls, twice.
    assert!(server.n_seen() as i64 * CALL <= paid + 4 * CALL);
}

#[tokio::test]
async fn a_regraded_run_has_its_own_cap_and_tells_what_it_paid() {
    let answered = Arc::new(Mutex::new(Answered { n: 0, most: usize::MAX }));
    let (folder, server) = (folder(), model_server(&answered).await);
    let output = jurist(folder.path(), &server, &["eval", "suite.yaml"]).output().await.unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(answered.lock().unwrap().n, 40);
    let args = ["regrade", "latest", "--rubric", "suite.yaml", "--refresh", "--max-cost", "0.05"];
    let args = [&args[..], &["--reporter", "json=run.json"]].concat();
    let output = jurist(folder.path(), &server, &args).output().await.unwrap();
    assert_eq!(output.status.code(), Some(5), "{}", String::from_utf8_lossy(&output.stderr));
    let paid = (answered.lock().unwrap().n as i64 - 40) * CALL;
    assert!(0 < paid && paid <= CAP, "{paid}");
    assert_eq!(told_cost(folder.path()), paid);
    assert_eq!(latest(folder.path()).await.unwrap().cost.nanos(), paid);
}

#[tokio::test]
async fn a_batch_that_may_cost_more_than_the_cap_goes_out_in_parts() {
    let (folder, sent) = (folder(), Mutex::new(Vec::<Vec<Json>>::new()));
    let server = Server::start(move |seen| {
        let mut sent = sent.lock().unwrap();
        match seen.path.as_str() {
            "/files" => {
                let lines = seen.body.as_str().unwrap().lines();
                sent.push(lines.filter_map(|line| serde_json::from_str(line).ok()).collect());
                Act::Raw(r#"{"id": "file"}"#.into())
            }
            "/batches" => Act::Raw(r#"{"id": "b"}"#.into()),
            "/batches/b" => Act::Raw(r#"{"status": "completed", "output_file_id": "out"}"#.into()),
            "/files/out/content" => {
                let line = |value: &Json| {
                    let response = json!({ "status_code": 200, "body": reply() });
                    json!({ "custom_id": value["custom_id"], "response": response }).to_string() + "\n"
                };
                Act::Raw(sent.last().unwrap().iter().map(line).collect())
            }
            other => panic!("{other} is no address of a batch"),
        }
    })
    .await;
    // Forty calls at half the price are $0.04, and up to five times as much at their worst.
    let args = ["eval", "suite.yaml", "--batch", "--max-cost", "0.06", "--reporter", "json=run.json"];
    let output = jurist(folder.path(), &server, &args).output().await.unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(told_cost(folder.path()), 40 * CALL / 2);
    assert_eq!(latest(folder.path()).await.unwrap().cost.nanos(), 40 * CALL / 2);
    let n_batches = server.seen.lock().unwrap().iter().filter(|seen| seen.path == "/batches").count();
    assert!(1 < n_batches, "{n_batches}");
}
