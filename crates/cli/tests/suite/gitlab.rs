//! The job of `ci/gitlab.yml` before an invented GitLab: its script in one shell, as a runner starts it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};

use serde_json::{Value as Json, json};

use crate::action::{ReceivedRequest, has_python, project_root, read_yaml, serve_requests, write_suite};

/// What GitLab holds of the project.
#[derive(Default)]
struct GitlabState {
    /// `.jurist-ci/run.json` of the newest job of the default branch.
    baseline: Option<Vec<u8>>,
    notes: Vec<GitlabNote>,
}

struct GitlabNote {
    author: u32,
    body: String,
}

/// The user of the project's token.
const TOKEN_USER: u32 = 3;

struct FakeGitlab {
    url: String,
    state: Arc<Mutex<GitlabState>>,
}

impl FakeGitlab {
    fn start() -> Self {
        let state = Arc::new(Mutex::new(GitlabState::default()));
        let shared = Arc::clone(&state);
        let url = serve_requests(move |request| respond(&mut shared.lock().unwrap(), request));
        Self { url, state }
    }
}

fn respond(state: &mut GitlabState, request: &ReceivedRequest) -> (u16, Vec<u8>) {
    let headers = request.headers.to_lowercase();
    let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
    if path == "/projects/5/jobs/artifacts/main/raw/.jurist-ci/run.json" {
        let is_allowed = headers.contains("job-token: of the job") && query == "job=evals";
        return state.baseline.clone().filter(|_| is_allowed).map_or((404, Vec::new()), |file| (200, file));
    }
    if path == "/user" && headers.contains("private-token: of the project") {
        return (200, json!({ "id": TOKEN_USER }).to_string().into_bytes());
    }
    let Some(rest) = path.strip_prefix("/projects/5/merge_requests/7/notes") else {
        return (404, Vec::new());
    };
    if !headers.contains("private-token: of the project") {
        return (401, Vec::new());
    }
    let text = || {
        let form = format!("http://form/?{}", str::from_utf8(&request.body).unwrap());
        let form = reqwest::Url::parse(&form).unwrap();
        form.query_pairs().find(|(name, _)| name == "body").expect("a note has a body").1.into_owned()
    };
    match (request.method.as_str(), rest.trim_start_matches('/').parse::<usize>().ok()) {
        ("GET", None) => {
            let query = reqwest::Url::parse(&format!("http://query/?{query}")).unwrap();
            let number = |name: &str| -> usize {
                let (_, value) =
                    query.query_pairs().find(|(key, _)| key == name).expect("a page is asked for");
                value.parse().unwrap()
            };
            let per_page = number("per_page");
            assert!(per_page <= 100, "GitLab sends no larger pages");
            let notes = state.notes.iter().enumerate().skip((number("page") - 1) * per_page).take(per_page);
            let notes: Vec<Json> = notes
                .map(|(id, note)| json!({ "id": id, "body": note.body, "author": { "id": note.author } }))
                .collect();
            (200, json!(notes).to_string().into_bytes())
        }
        ("POST", None) => {
            state.notes.push(GitlabNote { author: TOKEN_USER, body: text() });
            (201, b"{}".to_vec())
        }
        ("PUT", Some(id)) => {
            state.notes[id].body = text();
            (200, b"{}".to_vec())
        }
        _ => (405, Vec::new()),
    }
}

/// Runs the job in a checkout; a merge request has a number.
fn run_job(gitlab: &FakeGitlab, checkout: &Path, merge_request: Option<&str>) -> Output {
    let template = read_yaml(&project_root().join("ci/gitlab.yml"));
    let job = &template[".jurist"];
    let mut variables: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in job["variables"].as_object().unwrap() {
        let value = value.as_str().unwrap().replace("$CI_PROJECT_DIR", checkout.to_str().unwrap());
        variables.insert(name.clone(), value);
    }
    let script: Vec<&str> =
        job["script"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
    let program = Path::new(env!("CARGO_BIN_EXE_jurist")).parent().unwrap();
    let inherited = std::env::var_os("PATH").unwrap();
    let paths = std::iter::once(program.to_owned()).chain(std::env::split_paths(&inherited));
    let mut command = Command::new("bash");
    command
        .args(["-e", "-o", "pipefail", "-c", &script.join("\n")])
        .current_dir(checkout)
        .env_remove("JURIST_STORE")
        .envs(variables)
        .env("PATH", std::env::join_paths(paths).unwrap())
        .env("GITLAB_CI", "true")
        .env("CI_API_V4_URL", &gitlab.url)
        .env("CI_PROJECT_ID", "5")
        .env("CI_PROJECT_DIR", checkout)
        .env("CI_DEFAULT_BRANCH", "main")
        .env("CI_JOB_NAME", "evals")
        .env("CI_JOB_TOKEN", "of the job")
        .env("JURIST_GITLAB_TOKEN", "of the project");
    if let Some(id) = merge_request {
        command.env("CI_MERGE_REQUEST_IID", id);
    }
    command.output().unwrap()
}

#[test]
fn the_job_for_gitlab_fails_on_a_regression_and_updates_one_note() {
    if !has_python() {
        return;
    }
    let (gitlab, folder) = (FakeGitlab::start(), tempfile::tempdir().unwrap());
    let folder = folder.path();
    write_suite(folder, &[("one", "It is Paris."), ("two", "Paris, surely.")]);
    let main = run_job(&gitlab, folder, None);
    assert_eq!(main.status.code(), Some(0), "{}", String::from_utf8_lossy(&main.stderr));
    let said = String::from_utf8_lossy(&main.stdout).into_owned();
    assert!(said.contains("there is no baseline of main yet"), "{said}");
    assert!(gitlab.state.lock().unwrap().notes.is_empty());
    let baseline = fs::read(folder.join(".jurist-ci/run.json")).unwrap();
    // More notes of people than a page has, one with the line that a comment of the job begins with.
    let comment = fs::read_to_string(folder.join(".jurist-ci/comment.md")).unwrap();
    let marker = comment.lines().next().unwrap();
    assert!(marker.starts_with("<!-- "), "{marker}");
    {
        let mut state = gitlab.state.lock().unwrap();
        state.baseline = Some(baseline);
        state.notes.extend((0..120).map(|n| GitlabNote { author: 9, body: format!("remark {n}") }));
        state.notes.push(GitlabNote { author: 9, body: format!("{marker}\nnot of the job") });
    }

    for (answer, shown) in [("It is Lyon.", "<ins>Lyon</ins>"), ("It is Nice.", "<ins>Nice</ins>")] {
        write_suite(folder, &[("one", answer), ("two", "Paris, surely.")]);
        let job = run_job(&gitlab, folder, Some("7"));
        assert_eq!(job.status.code(), Some(1), "{}", String::from_utf8_lossy(&job.stderr));
        let state = gitlab.state.lock().unwrap();
        let is_own = |note: &&GitlabNote| note.author == TOKEN_USER;
        let own: Vec<&str> = state.notes.iter().filter(is_own).map(|note| note.body.as_str()).collect();
        let [note] = own[..] else { panic!("{own:?}") };
        assert_eq!(state.notes[120].body, format!("{marker}\nnot of the job"));
        assert!(note.contains("1 case got worse, 0 cases got better") && note.contains(shown), "{note}");
        let quality: Json =
            serde_json::from_slice(&fs::read(folder.join(".jurist-ci/quality.json")).unwrap()).unwrap();
        assert_eq!(quality[0]["location"]["path"], "evals/suite.yaml", "{quality}");
        let junit = fs::read_to_string(folder.join(".jurist-ci/junit.xml")).unwrap();
        // The case, and the gate that fails for it.
        assert!(junit.contains("failures=\"2\"") && junit.contains("gate: --"), "{junit}");
    }

    write_suite(folder, &[("one", "Paris again."), ("two", "Paris, surely.")]);
    assert_eq!(run_job(&gitlab, folder, Some("7")).status.code(), Some(0));
}
