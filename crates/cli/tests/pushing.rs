//! Runs of a folder with git and CI variables, and the same runs on a real server.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value as Json;

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
