//! Runs of a folder with git and CI variables, and the same runs on a real server; datasets of a server.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use serde_json::{Value as Json, json};

/// The command in a folder, with nothing of the environment but what is given.
fn jurist(folder: &Path, variables: &[(&str, &str)], args: &[&str]) -> Output {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new(env!("CARGO_BIN_EXE_jurist"));
    command.args(args).current_dir(folder).env_clear().env("PATH", path).envs(variables.iter().copied());
    command.output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn said(output: &Output) -> String {
    text(&output.stdout) + &text(&output.stderr)
}

fn git(folder: &Path, args: &[&str]) {
    let mut git = Command::new("git");
    git.current_dir(folder).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    git.args(["-c", "user.name=Ann Lee", "-c", "user.email=ann@example.org"]).args(args);
    assert!(git.output().unwrap().status.success());
}

fn write_suite(folder: &Path, answer: &str) {
    let cases: String = (0..30)
        .map(|at| {
            let response = if at % 3 == 0 { answer } else { "It is Paris." };
            format!("  - {{name: case {at}, response: \"{response}\", checks: [{{type: contains, value: Paris}}]}}\n")
        })
        .collect();
    fs::write(folder.join("suite.yaml"), format!("name: capitals\nevals:\n{cases}")).unwrap();
}

/// A server of its own, which ends with the test.
struct Served {
    child: Child,
    url: String,
    _said: BufReader<std::process::ChildStdout>,
}

impl Served {
    fn start(folder: &Path) -> Self {
        let store = folder.join("server.db");
        let mut child = Command::new(env!("CARGO_BIN_EXE_jurist"))
            .args(["serve", "--address", "127.0.0.1:0", "--store", store.to_str().unwrap()])
            .current_dir(folder)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let url = line.split_whitespace().find(|word| word.contains("http://")).unwrap();
        let url = anstream::adapter::strip_str(url).to_string();
        Self { child, url, _said: output }
    }

    fn get(&self, path: &str) -> Json {
        let url = format!("{}/api/v1{path}", self.url);
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let text = runtime.block_on(async { reqwest::get(url).await.unwrap().text().await.unwrap() });
        serde_json::from_str(&text).unwrap_or_else(|_| panic!("no JSON: {text}"))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_run_carries_its_commit_and_is_sent_to_a_server_once() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    git(here, &["init", "-q", "-b", "main"]);
    git(here, &["commit", "-q", "--allow-empty", "-m", "first"]);
    write_suite(here, "It is Paris.");
    let first = jurist(here, &[], &["eval", "suite.yaml", "--run-tag", "nightly", "--run-tag", "small"]);
    assert!(first.status.success(), "{}", said(&first));
    let listed = text(&jurist(here, &[], &["runs", "list", "--format", "ndjson"]).stdout);
    let local: Json = serde_json::from_str(&listed).unwrap();
    assert_eq!((&local["branch"], &local["author"]), (&"main".into(), &"Ann Lee".into()));
    assert_eq!(local["commit"].as_str().unwrap().len(), 40);
    assert_eq!(local["tags"], serde_json::json!(["nightly", "small"]));

    // In CI, its variables come first.
    write_suite(here, "It is Lyon.");
    let ci = [
        ("CIRCLECI", "true"),
        ("CIRCLE_BRANCH", "work"),
        ("CIRCLE_SHA1", "0123456789abcdef0123456789abcdef01234567"),
        ("CIRCLE_USERNAME", "bob"),
        ("CIRCLE_BUILD_URL", "https://ci.example/7"),
    ];
    let second = jurist(
        here,
        &ci,
        &[
            "eval",
            "suite.yaml",
            "--reporter",
            "json=run.json",
            "--reporter",
            "junit=run.xml",
            "--reporter",
            "md=run.md",
            "--reporter",
            "html=run.html",
        ],
    );
    assert_eq!(second.status.code(), Some(1), "{}", said(&second));
    let written: Json = serde_json::from_slice(&fs::read(here.join("run.json")).unwrap()).unwrap();
    assert_eq!(written["provenance"]["ci_url"], "https://ci.example/7");
    let junit = fs::read_to_string(here.join("run.xml")).unwrap();
    assert!(junit.contains("<property name=\"branch\" value=\"work\"/>"), "{junit}");
    let markdown = fs::read_to_string(here.join("run.md")).unwrap();
    assert!(markdown.contains("Of work 0123456789 by bob."), "{markdown}");
    assert!(fs::read_to_string(here.join("run.html")).unwrap().contains("ci.example"));

    let count = |args: &[&str]| {
        let listed = jurist(here, &[], &[&["runs", "list"], args].concat());
        text(&listed.stdout).lines().count()
    };
    assert_eq!(count(&[]), 2);
    assert_eq!(count(&["--branch", "work"]), 1);
    assert_eq!(count(&["--commit", "01234567"]), 1);
    assert_eq!(count(&["--author", "Ann Lee", "--tag", "small"]), 1);
    assert_eq!(count(&["--suite", "capitals"]), 2);
    assert_eq!(count(&["--tag", "none"]), 0);
    let bad = jurist(here, &[], &["runs", "list", "--commit", "xyz"]);
    assert!(said(&bad).contains("hexadecimal"), "{}", said(&bad));

    let served = Served::start(here);
    let push = |run: &str| jurist(here, &[], &["runs", "push", run, "--server", &served.url]);
    for run in ["latest~1", "latest"] {
        let pushed = push(run);
        assert!(pushed.status.success(), "{}", said(&pushed));
        assert!(said(&pushed).contains("sent with 30 results"), "{}", said(&pushed));
    }
    let again = push("latest");
    assert!(said(&again).contains("is already there"), "{}", said(&again));
    let runs = served.get("/runs");
    assert_eq!(runs["items"].as_array().unwrap().len(), 2);
    assert_eq!(runs["items"][0]["provenance"]["author"], "bob");
    assert_eq!((&runs["items"][0]["n_pass"], &runs["items"][0]["n_fail"]), (&20.into(), &10.into()));
    let (new, old) = (runs["items"][0]["id"].as_str().unwrap(), runs["items"][1]["id"].as_str().unwrap());
    let changes = served.get(&format!("/runs/{new}/changes?baseline={old}&filter=worse&limit=1"));
    assert_eq!(changes["n_found"], 10);
    assert_eq!(changes["items"][0]["before"]["answer"], "It is Paris.");
    assert_eq!(changes["items"][0]["after"]["answer"], "It is Lyon.");
    let history = served.get("/run-history?suite=capitals");
    assert_eq!(history["points"][1]["change"]["direction"], "worse");

    // The same run from a file, to another server.
    let other = tempfile::tempdir().unwrap();
    let served = Served::start(other.path());
    let pushed = jurist(here, &[], &["runs", "push", "run.json", "--server", &served.url]);
    assert!(pushed.status.success(), "{}", said(&pushed));
    assert_eq!(served.get("/runs")["items"][0]["n_fail"], 10);
}

#[test]
fn what_cannot_be_sent_is_an_error_with_its_reason() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let unknown = jurist(here, &[], &["runs", "push", "latest", "--server", "http://127.0.0.1:1"]);
    assert_eq!(unknown.status.code(), Some(2), "{}", said(&unknown));
    write_suite(here, "x");
    let none = jurist(here, &[], &["eval", "suite.yaml", "--reporter", "json=run.json"]);
    assert_eq!(none.status.code(), Some(1), "{}", said(&none));
    let mut run: Json = serde_json::from_slice(&fs::read(here.join("run.json")).unwrap()).unwrap();
    assert!(run.get("provenance").is_none(), "a plain folder has none");
    run.as_object_mut().unwrap().remove("ended");
    fs::write(here.join("open.json"), run.to_string()).unwrap();
    let open = jurist(here, &[], &["runs", "push", "open.json", "--server", "http://127.0.0.1:1"]);
    assert!(said(&open).contains("has not finished"), "{}", said(&open));
    let address = jurist(here, &[], &["runs", "push", "run.json", "--server", "example.org"]);
    assert!(said(&address).contains("is not an address"), "{}", said(&address));
    let tag = jurist(here, &[], &["eval", "suite.yaml", "--run-tag", "a\nb"]);
    assert!(said(&tag).contains("on one line"), "{}", said(&tag));
}

fn write_lines(path: &Path, records: impl Iterator<Item = Json>) {
    fs::write(path, records.map(|record| format!("{record}\n")).collect::<String>()).unwrap();
}

#[test]
fn a_dataset_of_a_server_is_written_read_and_run() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let served = Served::start(here);
    let call = |args: &[&str]| jurist(here, &[], &[args, &["--server", served.url.as_str()][..]].concat());
    let done = |args: &[&str]| {
        let called = call(args);
        assert!(called.status.success(), "{args:?}: {}", said(&called));
        said(&called)
    };
    let cases = [("a", "Where?", "On its way."), ("b", "When?", "No.")];
    let cases = cases.map(|(id, input, output)| json!({ "id": id, "input": input, "output": output }));
    write_lines(&here.join("cases.jsonl"), cases.into_iter());
    let added = done(&["dataset", "add", "support", "cases.jsonl", "--test-share", "0", "--note", "first"]);
    assert!(added.contains("support@v1: 2 cases; 2 added"), "{added}");
    assert!(done(&["dataset", "list"]).contains("support  v1    2 cases (2 dev, 0 test)"));
    assert!(done(&["dataset", "show", "support", "--case", "b"]).contains("\"When?\""));
    assert!(done(&["dataset", "remove", "support", "b"]).contains("support@v2: 1 case; 0 added"));
    assert!(done(&["dataset", "diff", "support@v2"]).contains("- b"));
    let exported = done(&["dataset", "export", "support@v1"]);
    assert_eq!(exported.lines().count(), 2, "{exported}");
    let unknown = call(&["dataset", "export", "nothing", "--out", "nothing.jsonl"]);
    assert!(said(&unknown).contains("there is no dataset `nothing`"), "{}", said(&unknown));
    assert!(!here.join("nothing.jsonl").exists() && !here.join("nothing.jsonl.part").exists());

    // Traces by a filter.
    let traces = ["desk", "desk", "other"].into_iter().enumerate().map(|(n, agent)| {
        let message = |role: &str| json!({ "role": role, "content": "Hello" });
        json!({ "id": format!("t{n}"), "agent": agent, "trace": [message("user"), message("assistant")] })
    });
    write_lines(&here.join("traces.jsonl"), traces);
    done(&["ingest", "traces.jsonl"]);
    let traced = done(&["dataset", "add", "traced", "--agent", "desk", "--max-traces", "10"]);
    assert!(traced.contains("traced@v1: 2 cases; 2 added"), "{traced}");
    let none = call(&["dataset", "add", "traced", "--verdict", "fail"]);
    assert!(said(&none).contains("no trace matches `--verdict fail`"), "{}", said(&none));

    let case = json!({
        "name": "answer {{ row.id }}", "data": "dataset:support@v1", "prompt": "{{ row.input }}",
        "response": "{{ row.output }}", "checks": [{ "type": "contains", "value": "way" }],
    });
    fs::write(here.join("suite.yaml"), json!({ "evals": [case] }).to_string()).unwrap();
    let shown = said(&call(&["eval", "suite.yaml", "--quiet", "--reporter", "tap"]));
    assert!(shown.contains("\nok 1 - answer a") && shown.contains("\nnot ok 2 - answer b"), "{shown}");
    assert_eq!(served.get("/runs")["items"][0]["provenance"]["tags"][0], "dataset:support@v1");
}

#[test]
fn a_dataset_that_does_not_fit_into_a_request_is_sent_in_parts() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let served = Served::start(here);
    // 1 MB each, and a part has 16 MiB.
    let output = "word ".repeat(200_000);
    let add = |range: std::ops::Range<u32>, more: &[&str]| {
        let record = |n: u32| json!({ "id": n, "input": format!("question {n}"), "output": output });
        write_lines(&here.join("large.jsonl"), range.map(record));
        let args = ["dataset", "add", "large", "large.jsonl", "--server", served.url.as_str()];
        let added = jurist(here, &[], &[&args[..], more].concat());
        assert!(added.status.success(), "{}", said(&added));
        said(&added)
    };
    let added = add(0..18, &[]);
    assert!(added.contains("large@v2: 18 cases; 18 added, 0 changed, 0 removed, 0 unchanged"), "{added}");
    assert!(added.contains("sent in 2 parts; each part with a change is a version"), "{added}");
    let replaced = add(1..18, &["--replace"]);
    let told = "large@v3: 17 cases; 0 added, 0 changed, 1 removed, 17 unchanged";
    assert!(replaced.contains(told), "{replaced}");
}
