//! The GitHub Action before an invented GitHub: its own steps, in their order, with an event of three histories.
//!
//! Steps with `run` are run as a runner runs them. Of steps with `uses`, the cache does nothing here, and an artefact
//! that is uploaded can be downloaded by a later run.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use jurist_core::diagnostic::Diagnostics;
use jurist_core::source::Sources;
use serde_json::{Value as Json, json};

/// What GitHub holds of the repository.
#[derive(Default)]
struct GithubState {
    artifacts: Vec<Json>,
    archives: BTreeMap<usize, Vec<u8>>,
    comments: Vec<Json>,
    /// Files of releases, by their path.
    downloads: BTreeMap<String, Vec<u8>>,
    requests: Vec<String>,
    may_write: bool,
}

/// GitHub's API, as far as the action uses it.
struct FakeGithub {
    url: String,
    state: Arc<Mutex<GithubState>>,
}

impl FakeGithub {
    fn start() -> Self {
        let state = Arc::new(Mutex::new(GithubState { may_write: true, ..GithubState::default() }));
        let shared = Arc::clone(&state);
        let url = serve_requests(move |request| respond(&mut shared.lock().unwrap(), request));
        Self { url, state }
    }

    /// What the upload step does: the file becomes an artefact of the branch.
    fn upload(&self, name: &str, file: &Path, branch: &str, repository: u64) {
        let folder = tempfile::tempdir().unwrap();
        let archive = folder.path().join("archive.zip");
        let status = Command::new("python3").args(["-m", "zipfile", "-c"]).arg(&archive).arg(file).status();
        assert!(status.unwrap().success());
        let mut state = self.state.lock().unwrap();
        let id = state.artifacts.len();
        state.archives.insert(id, fs::read(archive).unwrap());
        state.artifacts.push(json!({
            "id": id, "name": name, "expired": false, "created_at": format!("2026-01-01T00:00:{id:02}Z"),
            "archive_download_url": format!("{}/archives/{id}", self.url),
            "workflow_run": { "head_branch": branch, "repository_id": 1, "head_repository_id": repository },
        }));
    }

    fn comments(&self) -> Vec<String> {
        let state = self.state.lock().unwrap();
        state.comments.iter().map(|comment| comment["body"].as_str().unwrap().to_owned()).collect()
    }
}

/// A request that a job sends.
pub struct ReceivedRequest {
    pub method: String,
    /// Path and query.
    pub target: String,
    pub headers: String,
    pub body: Vec<u8>,
}

/// Starts a server that answers each request with a status and a body, and returns its address.
pub fn serve_requests(respond: impl Fn(&ReceivedRequest) -> (u16, Vec<u8>) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            answer(stream.unwrap(), &respond);
        }
    });
    url
}

fn answer(mut stream: TcpStream, respond: &impl Fn(&ReceivedRequest) -> (u16, Vec<u8>)) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut first = String::new();
    reader.read_line(&mut first).unwrap();
    let (mut length, mut line, mut headers) = (0, String::new(), String::new());
    while 2 < reader.read_line(&mut line).unwrap() {
        if let Some(text) = line.to_lowercase().strip_prefix("content-length:") {
            length = text.trim().parse().unwrap();
        }
        headers += &line;
        line.clear();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let mut words = first.split_whitespace();
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let request = ReceivedRequest { method: method.to_owned(), target: target.to_owned(), headers, body };
    let (status, reply) = respond(&request);
    let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", reply.len());
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&reply));
}

fn respond(state: &mut GithubState, request: &ReceivedRequest) -> (u16, Vec<u8>) {
    let ReceivedRequest { method, target, body, .. } = request;
    state.requests.push(format!("{method} {target}"));
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let json = |value: Json| (200, value.to_string().into_bytes());
    let text = || serde_json::from_slice::<Json>(body).unwrap()["body"].clone();
    if method != "GET" && !state.may_write {
        return (403, b"{}".to_vec());
    }
    match (method.as_str(), path) {
        ("GET", "/repos/shop/app/actions/artifacts") => {
            let name = query.split("name=").nth(1).unwrap_or_default();
            let found = state.artifacts.iter().filter(|artifact| artifact["name"] == name);
            json(json!({ "artifacts": found.collect::<Vec<_>>() }))
        }
        ("GET", "/repos/shop/app/issues/7/comments") => json(json!(state.comments)),
        ("POST", "/repos/shop/app/issues/7/comments") => {
            let id = state.comments.len();
            state.comments.push(json!({ "id": id, "body": text(), "user": { "type": "Bot" } }));
            json(json!({}))
        }
        ("PATCH", path) => {
            let id: usize = path.rsplit('/').next().unwrap().parse().unwrap();
            state.comments[id]["body"] = text();
            json(json!({}))
        }
        ("GET", path) => {
            let archive =
                path.strip_prefix("/archives/").and_then(|id| state.archives.get(&id.parse().unwrap()));
            archive
                .or_else(|| state.downloads.get(path))
                .map_or((404, Vec::new()), |file| (200, file.clone()))
        }
        _ => (404, Vec::new()),
    }
}

/// A job of a workflow in a checkout.
struct FakeJob<'a> {
    github: &'a FakeGithub,
    checkout: PathBuf,
    inputs: BTreeMap<String, String>,
    event: Json,
    event_name: &'a str,
    branch: &'a str,
}

/// What a job leaves behind.
struct JobResult {
    /// Of the first step that failed.
    code: i32,
    output: String,
    summary: String,
}

pub fn project_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

pub fn read_yaml(path: &Path) -> Json {
    let (mut sources, mut found) = (Sources::default(), Diagnostics::default());
    let file = sources.add(path, fs::read_to_string(path).unwrap().into());
    jurist_core::syntax::parse_document(&sources, file, &mut found).unwrap().to_json()
}

impl FakeJob<'_> {
    /// Runs the steps of `action.yml`.
    fn run(&self) -> JobResult {
        let action = read_yaml(&project_root().join("action.yml"));
        let runner = tempfile::tempdir().unwrap();
        let file = |name: &str| runner.path().join(name);
        fs::write(file("event.json"), self.event.to_string()).unwrap();
        for name in ["path", "output", "summary"] {
            fs::write(file(name), "").unwrap();
        }
        let mut inputs: BTreeMap<String, String> = BTreeMap::new();
        for (name, input) in action["inputs"].as_object().unwrap() {
            let given = self.inputs.get(name).cloned();
            let default = input["default"].as_str().unwrap_or_default().to_owned();
            assert!(given.is_some() || input["required"] != true, "{name} is required");
            inputs.insert(name.clone(), given.unwrap_or(default));
        }
        let (mut outputs, mut result) =
            (BTreeMap::new(), JobResult { code: 0, output: String::new(), summary: String::new() });
        for step in action["runs"]["steps"].as_array().unwrap() {
            let fill = |text: &str| fill_expressions(text, &inputs, &outputs);
            let is_always = step["if"].as_str().is_some_and(|text| text.contains("always()"));
            if result.code != 0 && !is_always
                || !step["if"].as_str().is_none_or(|text| condition(text, &outputs))
            {
                continue;
            }
            if let Some(uses) = step["uses"].as_str() {
                if uses.starts_with("actions/upload-artifact@") {
                    let with = |key: &str| fill(step["with"][key].as_str().unwrap());
                    self.github.upload(&with("name"), &self.checkout.join(with("path")), self.branch, 1);
                } else {
                    assert!(uses.starts_with("actions/cache@"), "{uses} is not known here");
                }
                continue;
            }
            let paths = fs::read_to_string(file("path")).unwrap();
            let inherited = std::env::var_os("PATH").unwrap();
            let paths = paths.lines().map(PathBuf::from).chain(std::env::split_paths(&inherited));
            fs::write(file("output"), "").unwrap();
            let mut command = Command::new("bash");
            command
                .args(["-e", "-o", "pipefail", "-c", step["run"].as_str().unwrap()])
                .current_dir(&self.checkout)
                .env_remove("JURIST_STORE")
                .env("PATH", std::env::join_paths(paths).unwrap())
                .env("GITHUB_ACTION_PATH", project_root())
                .env("GITHUB_API_URL", &self.github.url)
                .env("GITHUB_SERVER_URL", &self.github.url)
                .env("GITHUB_REPOSITORY", "shop/app")
                .env("GITHUB_EVENT_NAME", self.event_name)
                .env("GITHUB_EVENT_PATH", file("event.json"))
                .env("GITHUB_REF_NAME", if self.event_name == "push" { self.branch } else { "7/merge" })
                .env("GITHUB_PATH", file("path"))
                .env("GITHUB_OUTPUT", file("output"))
                .env("GITHUB_STEP_SUMMARY", file("summary"))
                .env("RUNNER_TEMP", runner.path());
            for (name, value) in step["env"].as_object().into_iter().flatten() {
                command.env(name, fill(value.as_str().unwrap()));
            }
            let done = command.output().unwrap();
            let _ = write!(
                result.output,
                "{}{}",
                String::from_utf8_lossy(&done.stdout),
                String::from_utf8_lossy(&done.stderr)
            );
            if result.code == 0 {
                result.code = done.status.code().unwrap();
            }
            let id = step["id"].as_str().unwrap_or_default();
            for line in fs::read_to_string(file("output")).unwrap().lines() {
                let (name, value) = line.split_once('=').unwrap();
                outputs.insert(format!("steps.{id}.outputs.{name}"), value.to_owned());
            }
        }
        result.summary = fs::read_to_string(file("summary")).unwrap();
        result
    }
}

/// Replaces `${{ … }}` by what it stands for; what was not set is empty, as on GitHub.
fn fill_expressions(
    text: &str,
    inputs: &BTreeMap<String, String>,
    outputs: &BTreeMap<String, String>,
) -> String {
    let mut parts = text.split("${{");
    let mut filled = parts.next().unwrap().to_owned();
    for part in parts {
        let (name, rest) = part.split_once("}}").unwrap();
        let name = name.trim();
        let value = match name.strip_prefix("inputs.") {
            Some(input) => inputs.get(input).unwrap_or_else(|| panic!("no input {input}")).clone(),
            None if name.starts_with("steps.") => outputs.get(name).cloned().unwrap_or_default(),
            None if name == "github.action_repository" => "maker/jurist".to_owned(),
            None if name == "github.token" => "token".to_owned(),
            None => panic!("`{name}` is not known here"),
        };
        filled += &fill_expressions(&value, inputs, outputs);
        filled += rest;
    }
    filled
}

/// `always()` and `steps.… != ''`, joined by `&&`.
fn condition(text: &str, outputs: &BTreeMap<String, String>) -> bool {
    text.split("&&").map(str::trim).all(|part| match part.strip_suffix(" != ''") {
        Some(name) => outputs.get(name).is_some_and(|value| !value.is_empty()),
        None => part == "always()" || panic!("`{part}` is not known here"),
    })
}

pub fn write_suite(folder: &Path, answers: &[(&str, &str)]) {
    let mut text = String::from("name: capitals\nevals:\n");
    for (name, answer) in answers {
        let _ = write!(
            text,
            "  - name: {name}\n    response: \"{answer}\"\n    checks: [{{type: contains, value: Paris}}]\n"
        );
    }
    fs::create_dir_all(folder.join("evals")).unwrap();
    fs::write(folder.join("evals/suite.yaml"), text).unwrap();
}

fn job<'a>(github: &'a FakeGithub, folder: &Path, event_name: &'a str, args: &str) -> FakeJob<'a> {
    let inputs = [("suite", "evals/suite.yaml"), ("binary", env!("CARGO_BIN_EXE_jurist")), ("args", args)];
    let event = match event_name {
        "pull_request" => {
            json!({ "pull_request": { "number": 7 }, "repository": { "default_branch": "main" } })
        }
        _ => json!({ "repository": { "default_branch": "main" } }),
    };
    FakeJob {
        github,
        checkout: folder.to_owned(),
        inputs: inputs.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
        event,
        event_name,
        branch: if event_name == "push" { "main" } else { "feature" },
    }
}

/// Whether there is a Python, without which the action cannot run.
pub fn has_python() -> bool {
    let found = Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        let _ = writeln!(std::io::stderr(), "skipped: there is no python3");
    }
    found
}

#[test]
fn a_regression_fails_the_job_and_is_shown_in_one_comment_that_is_updated() {
    if !has_python() {
        return;
    }
    let (github, folder) = (FakeGithub::start(), tempfile::tempdir().unwrap());
    let folder = folder.path();
    write_suite(folder, &[("one", "It is Paris."), ("two", "Paris, surely."), ("three", "Paris!")]);
    let main = job(&github, folder, "push", "").run();
    assert_eq!(main.code, 0, "{}", main.output);
    assert!(main.output.contains("there is no baseline of `main` yet"), "{}", main.output);
    assert!(github.comments().is_empty());
    // What a fork calls `main` is not ours.
    let forged = tempfile::tempdir().unwrap();
    fs::write(forged.path().join("run.json"), "{}").unwrap();
    github.upload("jurist-baseline-evals-suite.yaml", &forged.path().join("run.json"), "main", 2);

    write_suite(folder, &[("one", "It is Lyon."), ("two", "Paris, surely."), ("three", "Paris!")]);
    let pull_request = job(&github, folder, "pull_request", "").run();
    assert_eq!(pull_request.code, 1, "{}", pull_request.output);
    assert!(
        pull_request.output.contains("::error title=one,file=evals/suite.yaml,line=3::"),
        "{}",
        pull_request.output
    );
    assert!(pull_request.summary.contains("1 case regressed: one"), "{}", pull_request.summary);
    let comments = github.comments();
    let [comment] = &comments[..] else { panic!("{comments:?}") };
    for expected in [
        "<!-- jurist-comment capitals -->\n",
        "1 case got worse, 0 cases got better",
        "one: pass → fail, 1.00 → 0.00 (evals/suite.yaml:3)",
        "It is <del>Paris</del><ins>Lyon</ins>.",
        "No significant difference of the score",
        "2 cases unchanged.",
    ] {
        assert!(comment.contains(expected), "{expected} is not in\n{comment}");
    }

    write_suite(folder, &[("one", "It is Nice."), ("two", "Paris, surely."), ("three", "Paris!")]);
    assert_eq!(job(&github, folder, "pull_request", "").run().code, 1);
    let comments = github.comments();
    assert!(comments.len() == 1 && comments[0].contains("Nice"), "it is updated in place: {comments:?}");

    // A pull request of a fork may not write; its job says the same on its own page.
    github.state.lock().unwrap().may_write = false;
    let fork = job(&github, folder, "pull_request", "").run();
    assert_eq!(fork.code, 1);
    assert!(fork.output.contains("HTTP 403") && fork.summary.contains("1 case got worse"), "{}", fork.output);
}

#[test]
fn a_suite_that_cannot_be_read_keeps_no_run_of_an_earlier_one() {
    if !has_python() {
        return;
    }
    let (github, folder) = (FakeGithub::start(), tempfile::tempdir().unwrap());
    let folder = folder.path();
    write_suite(folder, &[("one", "It is Paris.")]);
    assert_eq!(job(&github, folder, "push", "").run().code, 0);
    fs::write(folder.join("evals/suite.yaml"), "evals: [").unwrap();
    let broken = job(&github, folder, "push", "").run();
    assert_eq!(broken.code, 2, "{}", broken.output);
    assert_eq!(github.state.lock().unwrap().artifacts.len(), 1, "{}", broken.output);
}

#[test]
fn a_job_does_not_fail_because_its_comment_cannot_be_sent() {
    if !has_python() {
        return;
    }
    // Nothing listens there.
    let github = FakeGithub { url: "http://127.0.0.1:1".to_owned(), state: Arc::default() };
    let folder = tempfile::tempdir().unwrap();
    write_suite(folder.path(), &[("one", "It is Paris.")]);
    let unsent = job(&github, folder.path(), "pull_request", "").run();
    assert_eq!(unsent.code, 0, "{}", unsent.output);
    assert!(unsent.output.contains("the comment cannot be written"), "{}", unsent.output);
    assert!(unsent.summary.contains("1 of 1 case passed"), "{}", unsent.summary);
}

#[test]
fn an_improvement_passes_although_other_cases_still_fail() {
    if !has_python() {
        return;
    }
    let (github, folder) = (FakeGithub::start(), tempfile::tempdir().unwrap());
    let folder = folder.path();
    write_suite(folder, &[("one", "It is Lyon."), ("two", "Metz.")]);
    assert_eq!(job(&github, folder, "push", "").run().code, 1, "without a baseline every case has to pass");
    write_suite(folder, &[("one", "It is Paris."), ("two", "Metz.")]);
    let pull_request = job(&github, folder, "pull_request", "").run();
    assert_eq!(pull_request.code, 0, "{}", pull_request.output);
    let comments = github.comments();
    assert!(comments[0].contains("0 cases got worse, 1 case got better"), "{comments:?}");
}

#[test]
fn a_flaky_case_is_left_aside_and_said_to_be_flaky() {
    if !has_python() {
        return;
    }
    let (github, folder) = (FakeGithub::start(), tempfile::tempdir().unwrap());
    let folder = folder.path();
    fs::create_dir_all(folder.join("evals")).unwrap();
    let write = |bad: u32| {
        let text = format!(
            "name: flaky\nevals:\n  - name: sometimes\n    prompt: Well?\n    repeat: 3\n    \
             targets: [{{id: cli, config: {{command: \"test {{ATTEMPT}} -eq {bad} && echo no || echo yes\"}}}}]\n    \
             checks: [{{type: contains, value: \"yes\"}}]\n"
        );
        fs::write(folder.join("evals/suite.yaml"), text).unwrap();
    };
    write(0);
    job(&github, folder, "push", "--allow-commands").run();
    write(1);
    let pull_request = job(&github, folder, "pull_request", "--allow-commands").run();
    assert_eq!(pull_request.code, 0, "{}", pull_request.output);
    let comments = github.comments();
    assert!(
        comments[0].contains("1 case ignored as flaky: sometimes")
            && comments[0].contains("0 cases got worse"),
        "{comments:?}"
    );
}

#[test]
fn a_release_is_installed_only_if_its_checksum_holds() {
    if !has_python() {
        return;
    }
    let (github, folder) = (FakeGithub::start(), tempfile::tempdir().unwrap());
    let folder = folder.path();
    write_suite(folder, &[("one", "It is Paris.")]);
    let name = format!("jurist-0.1.0-{}-unknown-linux-gnu", std::env::consts::ARCH);
    let packed = folder.join(&name);
    fs::create_dir(&packed).unwrap();
    let script = format!("#!/bin/sh\nexec {} \"$@\"\n", env!("CARGO_BIN_EXE_jurist"));
    fs::write(packed.join("jurist"), script).unwrap();
    let shell = |line: String| Command::new("sh").args(["-c", &line]).current_dir(folder).output().unwrap();
    shell(format!("tar czf {name}.tar.gz {name} && sha256sum {name}.tar.gz > SHA256SUMS"));
    for file in [format!("{name}.tar.gz"), "SHA256SUMS".to_owned()] {
        let path = format!("/maker/jurist/releases/download/v0.1.0/{file}");
        github.state.lock().unwrap().downloads.insert(path, fs::read(folder.join(file)).unwrap());
    }
    let mut downloaded = job(&github, folder, "push", "");
    downloaded.inputs.remove("binary");
    let result = downloaded.run();
    assert_eq!(result.code, 0, "{}", result.output);
    let sums = "/maker/jurist/releases/download/v0.1.0/SHA256SUMS".to_owned();
    github
        .state
        .lock()
        .unwrap()
        .downloads
        .insert(sums, format!("{}  {name}.tar.gz\n", "0".repeat(64)).into());
    let result = downloaded.run();
    assert!(result.code != 0 && result.output.contains("the checksum of"), "{}", result.output);
}
