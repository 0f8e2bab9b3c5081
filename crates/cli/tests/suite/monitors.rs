//! Monitors from the command line, on a database and through a server.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::process::{self, jurist, listening};
use crate::server::{Act, Server, fitting};

/// How long to wait for what must come.
const PATIENCE: Duration = Duration::from_secs(540);

const MONITOR: &str = "agent: desk
rubric: |
  Rate the answer:
  1. It is right (1-5)
  2. It is kind (1-5)
  Reply as JSON: {\"right\": int, \"kind\": int, \"reasoning\": string}
judge_model: openai/gpt-5-mini
sample_rate: 1.0
pass_threshold: 4
";

#[tokio::test]
async fn a_monitor_is_applied_shown_and_asked_why_on_a_database_and_through_a_server() {
    let (folder, model) = (tempfile::tempdir().unwrap(), Server::start(|_| Act::Fit).await);
    fs::create_dir_all(folder.path().join(".jurist")).unwrap();
    fs::write(folder.path().join("desk.yaml"), MONITOR).unwrap();
    let line = |at: usize| {
        format!(
            r#"{{"id": "t{at}", "agent": "desk", "failed": {}, "trace": [{{"role": "user", "content": "Q{at}?"}},
            {{"role": "assistant", "content": "A{at}."}}]}}"#,
            at == 0
        )
        .replace('\n', "")
    };
    let lines: Vec<String> = (0..6).map(line).collect();
    fs::write(folder.path().join("traces.jsonl"), lines.join("\n")).unwrap();
    let (_server, url) =
        listening(&mut process::server(folder.path(), &model, &["--store", "jurist.db", "--region", "eu"]))
            .await;
    let run = async |args: &[&str], code: i32| {
        let output = jurist(folder.path(), &model, args).output().await.unwrap();
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {told}{said}");
        format!("{told}{said}")
    };
    let there = ["--server", &url];
    let here = ["--store", "jurist.db"];
    let with = |args: &[&'static str], place: &[&str; 2]| -> Vec<String> {
        args.iter().copied().chain(place.iter().copied()).map(str::to_owned).collect()
    };
    let at = async |args: &[&'static str], place: &[&str; 2], code: i32| {
        let args = with(args, place);
        run(&args.iter().map(String::as_str).collect::<Vec<_>>(), code).await
    };

    assert!(at(&["monitor", "list"], &here, 0).await.contains("there are no monitors"));
    let applied = at(&["monitor", "apply", "desk.yaml"], &there, 0).await;
    assert!(applied.contains("desk: new rubric version, rubric v1 ("), "{applied}");
    assert!(at(&["monitor", "list", "--json"], &there, 0).await.contains("rubv_eu_"));
    // The same file is the same version, whoever applies it.
    assert!(at(&["monitor", "apply", "desk.yaml"], &here, 0).await.contains("unchanged"));
    at(&["ingest", "traces.jsonl"], &there, 0).await;
    let started = Instant::now();
    let shown = loop {
        let shown = at(&["monitor", "show", "desk"], &here, 0).await;
        if shown.contains("6 scored") {
            break shown;
        }
        assert!(started.elapsed() < PATIENCE, "{shown}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    };
    assert!(shown.contains("score 5.00/5 [") && shown.contains("(1.000 ["), "{shown}");
    assert!(shown.contains("passes 100 %"), "{shown}");
    assert!(shown.contains("failed             1 of 1 scored"), "{shown}");
    for place in [&here, &there] {
        let why = at(&["monitor", "why", "t0"], place, 0).await;
        assert!(
            why.contains("scored") && why.contains("it failed, and failed traces are always judged"),
            "{why}"
        );
        let trend = at(&["monitor", "show", "desk", "--trend"], place, 0).await;
        assert!(trend.contains("interval for all days so far"), "{trend}");
        assert!(trend.contains(" 5.00/5 [") && trend.contains("(1.000 ["), "{trend}");
        let json = at(&["monitor", "show", "desk", "--json"], place, 0).await;
        let found: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(found["judges"][0]["criteria"][0]["score"]["n"], 6);
        assert!(why.contains("verdict pass, score 5.0/5 (1.00)"), "{why}");
        let several = at(&["monitor", "why", "t"], place, 2).await;
        assert!(several.contains("the ids of several traces begin with `t`: "), "{several}");
        let decisions = at(&["monitor", "decisions", "desk", "--state", "scored"], place, 0).await;
        assert_eq!(decisions.lines().count(), 6, "{decisions}");
        let is_scored = |line: &str| line.contains("pass") && line.contains(" 5.0/5 (1.00) ");
        assert!(decisions.lines().all(is_scored), "{decisions}");
        let none = at(&["monitor", "decisions", "desk", "--state", "over_budget"], place, 0).await;
        assert!(none.contains("no decision matches"), "{none}");
        assert!(at(&["monitor", "show", "dsk"], place, 2).await.contains("did you mean `desk`?"));
        assert!(at(&["monitor", "why", "nobody"], place, 2).await.contains("no trace `nobody`"));
        assert!(at(&["monitor", "rescore", "desk"], place, 2).await.contains("nothing to do"));
        assert!(
            at(&["monitor", "disputed", "desk"], place, 0)
                .await
                .contains("no trace has judges that disagree")
        );
        let paused = ["monitor", "pause", "desk", "--reason", "too dear"];
        at(&paused, place, 0).await;
        assert!(at(&["monitor", "list"], place, 0).await.contains("paused: too dear"));
        at(&["monitor", "resume", "desk"], place, 0).await;
        assert!(!at(&["monitor", "list"], place, 0).await.contains("paused"));
    }
    // A stricter rubric, and the projected cost of re-scoring.
    let edited = MONITOR.replace("kind (1-5)", "very kind (1-5)");
    fs::write(folder.path().join("desk.yaml"), edited).unwrap();
    assert!(at(&["monitor", "apply", "desk.yaml"], &here, 0).await.contains("new rubric version"));
    // A difference names the versions that the database has.
    fs::write(folder.path().join("old.yaml"), MONITOR).unwrap();
    let difference = jurist(folder.path(), &model, &["diff", "old.yaml", "desk.yaml"])
        .env("JURIST_STORE", "jurist.db")
        .output()
        .await
        .unwrap();
    let difference = String::from_utf8_lossy(&difference.stdout).into_owned();
    assert!(difference.starts_with("v1 (") && difference.contains(" → v2 ("), "{difference}");
    let plan = at(&["monitor", "rescore", "desk", "--overlap", "4"], &there, 0).await;
    assert!(
        plan.contains("4 traces of 6, 4 calls, about $0.0") && plan.contains("add --yes to start"),
        "{plan}"
    );
    let begun = at(&["monitor", "rescore", "desk", "--overlap", "4", "--yes"], &here, 0).await;
    assert!(begun.contains("started "), "{begun}");
    let started = Instant::now();
    let rescored = loop {
        let rescored = at(&["monitor", "rescores", "desk"], &there, 0).await;
        if rescored.contains("4 of 4 re-scored") {
            break rescored;
        }
        assert!(started.elapsed() < PATIENCE, "{rescored}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    };
    // The judge says the same of both versions.
    let is_offset = |line: &str| {
        line.contains("overall") && line.contains("+0.00 [") && line.contains("] on 1–5 (+0.000 [")
    };
    assert!(rescored.lines().any(is_offset) && rescored.contains(" from v1 ("), "{rescored}");
    at(&["monitor", "rm", "desk"], &there, 0).await;
    assert!(at(&["monitor", "show", "desk"], &here, 2).await.contains("no monitor `desk`"));

    // What is wrong with a file is said before anything is changed.
    fs::write(folder.path().join("bad.yaml"), MONITOR.replace("1.0", "2")).unwrap();
    let bad = at(&["monitor", "apply", "desk.yaml", "bad.yaml"], &here, 2).await;
    assert!(bad.contains("sample_rate"), "{bad}");
    assert!(at(&["monitor", "list"], &here, 0).await.contains("there are no monitors"));
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/monitor.yaml");
    fs::copy(example, folder.path().join("example.yaml")).unwrap();
    let example = at(&["monitor", "apply", "example.yaml"], &there, 2).await;
    assert!(
        example.contains("there is no stored trace `run_eu_0190c4d27e1b7a3c9f50b8e6d1a24c01`"),
        "{example}"
    );
}

#[tokio::test]
async fn judges_that_broke_are_asked_again_by_the_command() {
    let is_mad = Arc::new(AtomicBool::new(true));
    let acts = Arc::clone(&is_mad);
    let model = Server::start(move |_| match acts.load(Ordering::Relaxed) {
        true => Act::Say("It is rather good, I would say.".to_owned()),
        false => Act::Fit,
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join(".jurist")).unwrap();
    fs::write(folder.path().join("desk.yaml"), MONITOR).unwrap();
    let line = |at: usize| {
        format!(
            r#"{{"id": "t{at}", "agent": "desk", "messages": [{{"role": "assistant", "content": "A{at}."}}]}}"#
        )
    };
    fs::write(folder.path().join("traces.jsonl"), format!("{}\n{}", line(0), line(1))).unwrap();
    let (_server, url) =
        listening(&mut process::server(folder.path(), &model, &["--store", "jurist.db"])).await;
    let run = async |args: &[&str]| {
        let args: Vec<&str> = args.iter().copied().chain(["--server", &url]).collect();
        let output = jurist(folder.path(), &model, &args).output().await.unwrap();
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    };
    let shows = async |text: &str| {
        let started = Instant::now();
        loop {
            let shown = run(&["monitor", "show", "desk"]).await;
            if shown.contains(text) {
                return;
            }
            assert!(started.elapsed() < PATIENCE, "{shown}");
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    run(&["monitor", "apply", "desk.yaml"]).await;
    run(&["ingest", "traces.jsonl"]).await;
    shows("2 judge error").await;
    is_mad.store(false, Ordering::Relaxed);
    let plan = run(&["monitor", "rescore", "desk", "--errors"]).await;
    assert!(plan.contains("2 traces") && plan.contains("add --yes to start"), "{plan}");
    let begun = run(&["monitor", "rescore", "desk", "--errors", "--yes"]).await;
    assert!(begun.contains("2 traces"), "{begun}");
    shows("2 scored").await;
    let none = run(&["monitor", "rescore", "desk", "--errors"]).await;
    assert!(none.contains("no judge failed"), "{none}");
}

#[tokio::test]
async fn judges_of_disputed_traces_are_apart_on_the_scale_of_the_rubric() {
    let model = Server::start(|seen| {
        let is_strict = seen.body["model"].as_str().unwrap_or_default().contains("nano");
        let mut reply = fitting(&seen.schema());
        let answers = reply["criteria"].as_array_mut().into_iter().flatten();
        for answer in answers.filter_map(serde_json::Value::as_object_mut).flat_map(|map| map.values_mut()) {
            if answer.is_number() {
                *answer = serde_json::json!(if is_strict { 2 } else { 5 });
            }
        }
        Act::Say(reply.to_string())
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join(".jurist")).unwrap();
    let judges = "judges: [openai/gpt-5-mini, openai/gpt-5-nano]";
    let monitor = MONITOR.replace("judge_model: openai/gpt-5-mini", judges);
    fs::write(folder.path().join("desk.yaml"), monitor).unwrap();
    let trace = r#"{"id": "t0", "agent": "desk", "messages": [{"role": "assistant", "content": "A."}]}"#;
    fs::write(folder.path().join("traces.jsonl"), trace).unwrap();
    let (_server, url) =
        listening(&mut process::server(folder.path(), &model, &["--store", "jurist.db"])).await;
    let run = async |args: &[&str]| {
        let args: Vec<&str> = args.iter().copied().chain(["--server", &url]).collect();
        let output = jurist(folder.path(), &model, &args).output().await.unwrap();
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    };
    run(&["monitor", "apply", "desk.yaml"]).await;
    run(&["ingest", "traces.jsonl"]).await;
    let started = Instant::now();
    loop {
        let disputed = run(&["monitor", "disputed", "desk"]).await;
        if disputed.contains("t0  3.0 on 1–5 (0.75) apart  ") {
            return;
        }
        assert!(started.elapsed() < PATIENCE, "{disputed}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

#[tokio::test]
async fn a_budget_that_pays_no_call_is_explained_in_its_currency() {
    let (folder, model) = (tempfile::tempdir().unwrap(), Server::start(|_| Act::Fit).await);
    fs::create_dir_all(folder.path().join(".jurist")).unwrap();
    let monitor = format!("{MONITOR}budget: {{monthly: 0.0001, currency: GBP}}\n");
    fs::write(folder.path().join("desk.yaml"), monitor).unwrap();
    let trace = r#"{"id": "t0", "agent": "desk", "messages": [{"role": "assistant", "content": "A."}]}"#;
    fs::write(folder.path().join("traces.jsonl"), trace).unwrap();
    let (_server, url) =
        listening(&mut process::server(folder.path(), &model, &["--store", "jurist.db"])).await;
    let run = async |args: &[&str]| {
        let args: Vec<&str> = args.iter().copied().chain(["--server", &url]).collect();
        let output = jurist(folder.path(), &model, &args).output().await.unwrap();
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    };
    run(&["monitor", "apply", "desk.yaml"]).await;
    run(&["ingest", "traces.jsonl"]).await;
    let started = Instant::now();
    let shown = loop {
        let shown = run(&["monitor", "show", "desk"]).await;
        if shown.contains("1 over budget") {
            break shown;
        }
        assert!(started.elapsed() < PATIENCE, "{shown}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    };
    assert!(shown.contains("budget £0.0001 a month"), "{shown}");
    let reason = "over budget: £0.00 of its own £0.0001 are spent, and one more call may cost up to £";
    assert!(shown.contains(reason) && !shown.contains('$'), "{shown}");
    let plan = run(&["monitor", "rescore", "desk", "--over-budget"]).await;
    assert!(plan.contains("about £") && plan.contains("only £0.0001 of this month's budget"), "{plan}");
}
