//! Runs that are submitted, worked on and followed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use jurist_server::{Environment, ServerSettings, Work, run_worker};
use jurist_store::testing::Scene;
use reqwest::{Method, StatusCode};
use serde_json::{Value as Json, json};

use crate::model::{Act, Seen, Server};
use crate::place::{PATIENCE, Place, served, start, until};

/// A model that answers while the test lives; it outlives the runtimes of the engines.
pub struct Judge {
    pub server: Server,
    _runtime: tokio::runtime::Runtime,
}

pub const KEY: &str = "sk-test-4f9a8b7c6d5e4f3a2b1c";

pub fn judge(act: impl Fn(&Seen) -> Act + Send + Sync + 'static) -> Judge {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let server = runtime.block_on(Server::start(act));
    Judge { server, _runtime: runtime }
}

impl Judge {
    /// A server whose workers ask this model.
    pub fn settings(&self) -> ServerSettings {
        let variables = [
            ("OPENAI_API_KEY", KEY.to_owned()),
            ("OPENAI_BASE_URL", format!("{}/v1", self.server.url)),
            ("JURIST_JUDGE", "openai/gpt-5-mini".to_owned()),
        ];
        let environment = Environment::new(variables.map(|variable| (variable.0.to_owned(), variable.1)));
        let work = Work { environment, ..Work::default() };
        ServerSettings { work, ..ServerSettings::default() }
    }
}

/// So many cases that a judge is asked about.
pub fn suite(n: usize) -> Json {
    let case = |at: usize| format!("  - {{name: case {at}, response: Hello {at}!, rubric: It greets.}}\n");
    let text: String = (0..n).map(case).collect();
    json!({ "suite": "suite.yaml", "files": { "suite.yaml": format!("evals:\n{text}") } })
}

impl Place {
    /// Workers of this process, until the test ends.
    pub fn workers(&self, n: usize) {
        let context = self.app.worker_context.clone();
        let never = std::future::pending();
        tokio::spawn(async move { run_worker(context, "here", n, never, Duration::ZERO).await });
    }

    pub async fn submit(&self, run: Json) -> String {
        let begun = self.ask(Method::POST, "/api/v1/runs", &[], run).await;
        assert_eq!(begun.status, StatusCode::OK, "{}", begun.text);
        begun.json()["id"].as_str().unwrap().to_owned()
    }

    /// All events of a run until it ends.
    pub async fn follow(&self, run: &str, headers: &[(&str, &str)]) -> String {
        let path = format!("/api/v1/runs/{run}/events");
        let answer = tokio::time::timeout(PATIENCE, self.ask(Method::GET, &path, headers, Json::Null));
        answer.await.expect("the run ends").text
    }

    pub async fn get(&self, path: &str) -> Json {
        let answer = self.ask(Method::GET, path, &[], Json::Null).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.text);
        answer.json()
    }
}

#[test]
fn a_result_has_the_parts_of_its_name_and_its_trial() {
    let judge = judge(|_| Act::Fit);
    served(&judge.settings(), |place| async move {
        place.workers(1);
        let matrix = "evals:\n  - {name: \"greets [x]\", response: Hello!, rubric: It greets., repeat: 2, \
                      matrix: {models: [openai/gpt-5-mini, openai/gpt-5]}}\n";
        let files = json!({ "suite.yaml": matrix });
        let run = place.submit(json!({ "suite": "suite.yaml", "files": files })).await;
        let told = place.follow(&run, &[]).await;
        let data: Vec<Json> = told
            .lines()
            .filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok())
            .filter(|data: &Json| data["place"].is_number())
            .collect();
        assert_eq!(data.len(), 4, "{told}");
        let parts = json!({ "written": "greets [x]", "variant": ["openai/gpt-5"] });
        assert_eq!((&data[3]["trial"], &data[3]["parts"]), (&json!(2), &parts));
        let page = place.get(&format!("/api/v1/runs/{run}/results")).await;
        let last = &page["items"][3]["result"];
        assert_eq!(last["base"], "greets [x] [openai/gpt-5]");
        assert_eq!((&last["trial"], &last["parts"]), (&json!(2), &parts));
    });
}

#[test]
fn a_submitted_run_is_graded_by_workers_and_told_as_it_goes() {
    let judge = judge(|_| Act::Fit);
    served(&judge.settings(), |place| async move {
        place.workers(2);
        let run = place.submit(suite(40)).await;
        let told = place.follow(&run, &[]).await;
        let places: Vec<usize> =
            told.lines().filter_map(|line| line.strip_prefix("id: ")?.parse().ok()).collect();
        assert_eq!(places, (0..40).collect::<Vec<_>>(), "in the order of the plan, each once");
        assert!(told.contains("event: ended"), "{told}");
        let again = place.follow(&run, &[("last-event-id", "36")]).await;
        let places: Vec<usize> =
            again.lines().filter_map(|line| line.strip_prefix("id: ")?.parse().ok()).collect();
        assert_eq!(places, [37, 38, 39], "whoever comes back hears what follows");

        let head = place.get(&format!("/api/v1/runs/{run}")).await;
        assert_eq!(
            (&head["n_pass"], &head["n_results"], &head["n_units"]),
            (&json!(40), &json!(40), &json!(40))
        );
        assert!(head["ended"].is_string());
        let page = place.get(&format!("/api/v1/runs/{run}/results?limit=30")).await;
        assert_eq!((page["items"].as_array().unwrap().len(), &page["next"]), (30, &json!(29)));
        let page = place.get(&format!("/api/v1/runs/{run}/results?limit=30&after=29")).await;
        assert_eq!((page["items"].as_array().unwrap().len(), &page["next"]), (10, &Json::Null));
        assert_eq!(page["items"][0]["result"]["case"], "case 30");
        assert_eq!(place.get("/api/v1/runs").await["items"][0]["id"], json!(run));
        assert_eq!(place.get("/api/v1/jobs").await, json!([]), "nothing is left in the queue");

        let metrics = place.ask(Method::GET, "/metrics", &[], Json::Null).await.text;
        assert!(
            metrics.contains("jurist_job_duration_seconds_count{kind=\"run\",outcome=\"finished\"} 3"),
            "{metrics}"
        );
        assert!(metrics.contains("route=\"/api/v1/runs/{id}/results\",status=\"200\""), "{metrics}");
    });
    assert_eq!(judge.server.n_seen(), 80, "each case was asked about once on each database");
}

#[test]
fn reports_are_those_of_a_run_on_ones_own_machine() {
    let judge = judge(|_| Act::Fit);
    served(&judge.settings(), |place| async move {
        place.workers(1);
        let run = place.submit(suite(2)).await;
        place.follow(&run, &[]).await;
        for (format, kind, said) in [
            ("junit", "application/xml", "<testsuite"),
            ("html", "text/html; charset=utf-8", "<!doctype html>"),
            ("csv", "text/csv; charset=utf-8", "case 1"),
            ("json", "application/json", "\"results\""),
        ] {
            let path = format!("/api/v1/runs/{run}/report?format={format}");
            let answer = place.ask(Method::GET, &path, &[], Json::Null).await;
            assert_eq!(answer.headers["content-type"], kind);
            assert!(answer.text.contains(said), "{format}: {}", answer.text);
        }
        let path = format!("/api/v1/runs/{run}/report?format=docx");
        let answer = place.ask(Method::GET, &path, &[], Json::Null).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST);
        assert!(answer.text.contains("junit"), "{}", answer.text);
    });
}

#[test]
fn a_request_with_the_same_key_begins_one_run() {
    let judge = judge(|_| Act::Fit);
    served(&judge.settings(), |place| async move {
        let key = [("idempotency-key", "monday's run")];
        let ask = async |run: Json| place.ask(Method::POST, "/api/v1/runs", &key, run).await;
        let (first, second) = (ask(suite(1)).await, ask(suite(1)).await);
        assert_eq!((first.status, &first.text), (second.status, &second.text));
        assert_eq!(place.get("/api/v1/runs").await["items"].as_array().unwrap().len(), 1);
        assert_eq!(ask(suite(2)).await.status, StatusCode::UNPROCESSABLE_ENTITY, "it names another request");
        // A request that was refused is not remembered: put right, it may come again under its name.
        let key = [("idempotency-key", "tuesday's run")];
        let ask = async |run: Json| place.ask(Method::POST, "/api/v1/runs", &key, run).await;
        let broken = json!({ "suite": "a.yaml", "files": { "a.yaml": "evals: 3" } });
        assert_eq!(ask(broken).await.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert_eq!(ask(suite(1)).await.status, StatusCode::OK);
    });
}

#[test]
fn a_request_goes_on_when_its_sender_hangs_up() {
    let judge = judge(|_| Act::Fit);
    served(&judge.settings(), |place| async move {
        let body = suite(3).to_string();
        let address = place.url.trim_start_matches("http://").to_owned();
        // At any moment: before it is read, while its name is claimed, while it is done.
        for after in 0..30 {
            let name = format!("k{after}");
            let mut socket = tokio::net::TcpStream::connect(&address).await.unwrap();
            let head = format!(
                "POST /api/v1/runs HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
                 idempotency-key: {name}\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            );
            tokio::io::AsyncWriteExt::write_all(&mut socket, head.as_bytes()).await.unwrap();
            tokio::time::sleep(Duration::from_micros(after * 200)).await;
            drop(socket);
            // Whether it had begun or not: the next try begins it, or hears of it.
            let started = Instant::now();
            let begun = loop {
                let answer =
                    place.ask(Method::POST, "/api/v1/runs", &[("idempotency-key", &name)], suite(3)).await;
                if answer.status != StatusCode::CONFLICT {
                    break answer;
                }
                assert!(started.elapsed() < PATIENCE, "left behind after {after}");
                tokio::time::sleep(Duration::from_millis(10)).await;
            };
            assert_eq!(begun.status, StatusCode::OK, "{}", begun.text);
        }
        assert_eq!(place.get("/api/v1/runs").await["items"].as_array().unwrap().len(), 30);
    });
}

#[test]
fn a_run_that_is_removed_is_not_worked_on() {
    let judge = judge(|_| Act::Fit);
    served(&judge.settings(), |place| async move {
        let run = place.submit(suite(40)).await;
        let path = format!("/api/v1/runs/{run}");
        assert_eq!(place.ask(Method::DELETE, &path, &[], Json::Null).await.status, StatusCode::OK);
        assert_eq!(place.ask(Method::GET, &path, &[], Json::Null).await.status, StatusCode::NOT_FOUND);
        assert_eq!(place.get("/api/v1/jobs").await, json!([]));
    });
    assert_eq!(judge.server.n_seen(), 0);
}

#[test]
fn what_a_file_may_not_do_is_refused_before_anything_is_spent() {
    let judge = judge(|_| Act::Fit);
    served(&judge.settings(), |place| async move {
        let check = async |suite: &str, config: Option<&str>, status: u16, said: &str| {
            let mut files = json!({ "suite.yaml": suite });
            if let Some(config) = config {
                files[".jurist/config.yaml"] = json!(config);
            }
            let run = json!({ "suite": "suite.yaml", "files": files });
            let answer = place.ask(Method::POST, "/api/v1/runs", &[], run).await;
            assert_eq!(answer.status.as_u16(), status, "{}", answer.text);
            assert!(answer.text.contains(said), "{}", answer.text);
            assert!(!answer.text.contains(KEY));
        };
        let plain = "evals: [{name: a, response: x, rubric: y}]";
        check(
            "evals: [{name: a, response: x, rubric: y, judge: {model: 'command:cat /etc/passwd'}}]",
            None,
            403,
            "--allow-commands",
        )
        .await;
        check(
            "evals: [{name: a, prompt: x, rubric: y, workspace: {setup: [cat, /etc/passwd]}}]",
            None,
            403,
            "the setup program `cat /etc/passwd`",
        )
        .await;
        check("evals: [{name: a, response: 'file:///etc/passwd', rubric: y}]", None, 422, "suite.yaml:1")
            .await;
        check(
            "evals: [{name: a, response: 'file://../../etc/passwd', rubric: y}]",
            None,
            422,
            "no such file",
        )
        .await;
        check("evals: [{name: a, response: '{{ env.HOME }}', rubric: y}]", None, 422, "`HOME` is not set")
            .await;
        check(
            plain,
            Some("vendors: {evil: {base_url: 'http://evil.example', key: OPENAI_API_KEY}}"),
            403,
            "evil",
        )
        .await;
        check(plain, Some("network: {ca: /etc/passwd}"), 403, "network").await;
        let at = |address: &str| {
            format!(
                "evals: [{{name: a, response: x, rubric: y, judge: {{model: compatible/m, base_url: '{address}'}}}}]"
            )
        };
        for address in
            ["http://127.0.0.1:1/v1", "http://169.254.169.254/v1", "http://[::1]/v1", "http://2130706433/v1"]
        {
            check(&at(address), None, 422, "--allow-private-network").await;
        }
        check("evals: 3", None, 422, "suite.yaml:1").await;
    });
    assert_eq!(judge.server.n_seen(), 0);
}

#[test]
fn a_grader_that_breaks_is_no_score_and_can_be_tried_again() {
    let judge = judge(|seen| match seen.nth {
        0..4 => Act::Status(401, Vec::new(), "{}".to_owned()),
        _ => Act::Fit,
    });
    served(&judge.settings(), |place| async move {
        place.workers(1);
        let mut run = suite(1);
        run["retry_errors"] = json!(true);
        let run = place.submit(run).await;
        place.follow(&run, &[]).await;
        let head = place.get(&format!("/api/v1/runs/{run}")).await;
        assert_eq!(head["n_results"], 1);
        assert_eq!(head["n_fail"], 0, "{head}");
    });
}

#[test]
fn a_case_that_is_tried_again_uses_the_output_of_one_that_has_been_decided() {
    // The second case is not graded at first, once for each database.
    let n_again = AtomicUsize::new(0);
    let judge = judge(move |seen| {
        let is_again = seen.prompt().contains("Again: It rains.");
        match is_again && n_again.fetch_add(1, Ordering::Relaxed).is_multiple_of(2) {
            true => Act::Status(400, Vec::new(), r#"{"error": {"message": "odd"}}"#.to_owned()),
            false => Act::Fit,
        }
    });
    served(&judge.settings(), |place| async move {
        place.workers(1);
        let text = "evals:\n  - {name: first, targets: [echo], prompt: It rains., store_output_as: weather, rubric: It is wet.}\n  \
                    - {name: second, targets: [echo], prompt: 'Again: {{ outputs.weather }}', rubric: It is wet.}\n";
        let files = json!({ "suite.yaml": text });
        let run = json!({ "suite": "suite.yaml", "files": files, "retry_errors": true });
        let run = place.submit(run).await;
        place.follow(&run, &[]).await;
        let head = place.get(&format!("/api/v1/runs/{run}")).await;
        assert_eq!((&head["n_pass"], &head["n_error"]), (&json!(2), &json!(0)), "{head}");
    });
    assert_eq!(judge.server.n_seen(), 6, "on each database the first case was graded once");
}

#[test]
fn a_worker_that_takes_over_a_slice_uses_the_outputs_that_are_stored() {
    // Once for each database, the second case is still being graded when its worker is stopped.
    let n_again = Arc::new(AtomicUsize::new(0));
    let n_asked = Arc::clone(&n_again);
    let judge = judge(move |seen| {
        let is_again = seen.prompt().contains("Again: It rains.");
        match is_again && n_asked.fetch_add(1, Ordering::Relaxed).is_multiple_of(2) {
            true => Act::Wait(Duration::from_secs(20), Box::new(Act::Fit)),
            false => Act::Fit,
        }
    });
    let mut settings = judge.settings();
    settings.work.lease = Duration::from_secs(2);
    let n_again = &n_again;
    served(&settings, |place| async move {
        let n_before = n_again.load(Ordering::Relaxed);
        let context = place.app.worker_context.clone();
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let stopped = async move { stopped.await.unwrap_or_default() };
        let first =
            tokio::spawn(async move { run_worker(context, "first", 1, stopped, Duration::ZERO).await });
        let text = "evals:\n  - {name: first, targets: [echo], prompt: It rains., store_output_as: weather, rubric: It is wet.}\n  \
                    - {name: second, targets: [echo], prompt: 'Again: {{ outputs.weather }}', rubric: It is wet.}\n";
        let run = place.submit(json!({ "suite": "suite.yaml", "files": { "suite.yaml": text } })).await;
        let path = format!("/api/v1/runs/{run}");
        until(async || place.get(&path).await["n_results"] == 1).await;
        // The worker is stopped while the judge has its question, not before.
        until(async || n_before < n_again.load(Ordering::Relaxed)).await;
        stop.send(()).unwrap();
        first.await.unwrap();
        place.workers(1);
        place.follow(&run, &[]).await;
        let head = place.get(&path).await;
        assert_eq!((&head["n_pass"], &head["n_error"]), (&json!(2), &json!(0)), "{head}");
    });
    assert_eq!(judge.server.n_seen(), 6, "on each database the first case was graded once");
}

#[test]
fn a_cap_holds_over_all_parts_of_a_run() {
    let judge = judge(|_| Act::Fit);
    served(&judge.settings(), |place| async move {
        place.workers(4);
        let mut run = suite(60);
        run["max_cost"] = json!(0.000_1);
        let run = place.submit(run).await;
        place.follow(&run, &[]).await;
        let head = place.get(&format!("/api/v1/runs/{run}")).await;
        assert!(head["cost"].as_f64().unwrap() <= 0.000_1, "{head}");
        assert_eq!(head["n_results"], 60);
        assert!(0 < head["n_deferred"].as_u64().unwrap(), "{head}");
        let told = head["not_graded"].as_str().unwrap();
        assert!(told.contains("nothing was graded") && told.contains("--max-cost"), "{told}");
    });
}

#[test]
fn a_part_that_no_worker_can_do_ends_as_an_error_and_may_be_revived() {
    let judge = judge(|_| Act::Fit);
    served(&judge.settings(), |place| async move {
        let run = place.submit(suite(1)).await;
        // Taken five times by workers that died.
        for at in 0..5 {
            let later = |seconds: i64| {
                jurist_core::grade::Time::from_micros(
                    jurist_store::clock::current_time().micros() + seconds * 1_000_000,
                )
            };
            let taken =
                place.app.store.lease("dying", &[], 1, later(at * 10), later(at * 10 + 5)).await.unwrap();
            assert_eq!(taken.len(), 1);
        }
        let later = jurist_core::grade::Time::from_micros(
            jurist_store::clock::current_time().micros() + 1_000_000_000,
        );
        assert!(
            place.app.store.lease("late", &[], 1, later, later).await.unwrap().is_empty(),
            "it is buried"
        );
        place.workers(1);
        place.follow(&run, &[]).await;
        let head = place.get(&format!("/api/v1/runs/{run}")).await;
        assert_eq!(head["n_error"], 1, "{head}");
        let dead = place.get("/api/v1/jobs/dead").await;
        let job = dead["items"][0]["id"].as_str().unwrap().to_owned();
        let revived = place.ask(Method::POST, &format!("/api/v1/jobs/{job}/revive"), &[], Json::Null).await;
        assert_eq!(revived.status, StatusCode::OK, "{}", revived.text);
        until(async || place.get(&format!("/api/v1/runs/{run}")).await["n_pass"] == 1).await;
    });
}

#[test]
fn what_is_secret_is_in_no_answer() {
    let judge = judge(|_| Act::Fit);
    served(&judge.settings(), |place: Arc<Place>| async move {
        place.workers(1);
        let text = format!("evals: [{{name: leak, response: 'my key is {KEY}', rubric: It greets.}}]");
        let run = place.submit(json!({ "suite": "suite.yaml", "files": { "suite.yaml": text } })).await;
        let mut told = place.follow(&run, &[]).await;
        for path in ["", "/results", "/report?format=json", "/report?format=html"] {
            told += &place.ask(Method::GET, &format!("/api/v1/runs/{run}{path}"), &[], Json::Null).await.text;
        }
        told += &place.ask(Method::GET, "/metrics", &[], Json::Null).await.text;
        assert!(told.contains("leak") && !told.contains(KEY));
    });
}

#[test]
fn a_database_that_is_restarted_under_load_costs_no_result() {
    let judge = judge(|_| Act::Wait(Duration::from_millis(20), Box::new(Act::Fit)));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let Some(scene) = Scene::alone().await else { return };
        let mut settings = judge.settings();
        // What was under way when the database went is taken up again once its lease is over.
        settings.work.lease = Duration::from_secs(2);
        let place = start(Arc::new(scene), settings).await;
        place.workers(2);
        let run = place.submit(suite(300)).await;
        let path = format!("/api/v1/runs/{run}");
        for n_restarts in 0..2 {
            until(async || 60 * (n_restarts + 1) <= place.get(&path).await["n_results"].as_u64().unwrap())
                .await;
            let scene = Arc::clone(&place.scene);
            tokio::task::spawn_blocking(move || scene.restart()).await.unwrap();
            until(async || place.fetch("/ready").await.status == StatusCode::OK).await;
        }
        until(async || place.get(&path).await["ended"].is_string()).await;
        let head = place.get(&path).await;
        assert_eq!((&head["n_results"], &head["n_pass"]), (&json!(300), &json!(300)), "{head}");
    });
}

#[test]
fn a_name_that_leads_inside_is_not_followed() {
    let judge = judge(|_| Act::Fit);
    served(&judge.settings(), |place| async move {
        place.workers(1);
        // Nobody knows its price, so there is no cap.
        place.ask(Method::DELETE, "/api/v1/spend/cap", &[], Json::Null).await;
        // The machine's own name: it is looked up when it is connected to, and what is found is refused.
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        let (host, port) = (host.trim(), judge_port(&place));
        let suite = format!(
            "evals: [{{name: a, response: x, rubric: y, judge: {{model: compatible/m, base_url: 'http://{host}:{port}/v1'}}}}]"
        );
        let run = place.submit(json!({ "suite": "suite.yaml", "files": { "suite.yaml": suite } })).await;
        place.follow(&run, &[]).await;
        let head = place.get(&format!("/api/v1/runs/{run}")).await;
        assert_eq!((&head["n_pass"], &head["n_results"]), (&json!(0), &json!(1)), "{head}");
    });
    assert_eq!(judge.server.n_seen(), 0);
}

fn judge_port(place: &Place) -> String {
    let address = place.app.settings.work.environment.get("OPENAI_BASE_URL").unwrap();
    address.trim_end_matches("/v1").rsplit(':').next().unwrap().to_owned()
}

#[test]
fn events_go_to_a_collector_once_a_run_has_ended_and_again_while_it_is_away() {
    let judge = judge(|seen| match (seen.path.ends_with("/v1/logs"), seen.nth) {
        (true, 0..=2) => Act::Status(503, Vec::new(), String::new()),
        (true, _) => Act::Raw("{}".to_owned()),
        (false, _) => Act::Fit,
    });
    let mut settings = judge.settings();
    settings.work.emit = Some(judge.server.url.clone());
    settings.work.allow_private_network = true;
    served(&settings, |place| async move {
        place.workers(1);
        let run = place.submit(suite(2)).await;
        place.follow(&run, &[]).await;
        until(async || place.get("/api/v1/jobs").await == json!([])).await;
    });
    let seen = judge.server.seen.lock().unwrap();
    let sent = seen.iter().rfind(|seen| seen.path.ends_with("/v1/logs")).unwrap();
    let records = sent.body["resourceLogs"][0]["scopeLogs"][0]["logRecords"].as_array().unwrap().len();
    assert_eq!(records, 4, "a grade and a verdict for each case");
    assert!(sent.header("authorization").is_none());
}

#[test]
fn a_case_of_a_submitted_run_is_run_again_as_a_run_of_its_own() {
    let judge = judge(|_| Act::Fit);
    served(&judge.settings(), |place| async move {
        place.workers(1);
        let run = place.submit(suite(3)).await;
        place.follow(&run, &[]).await;
        let path = format!("/api/v1/runs/{run}/rerun");
        let again = place.ask(Method::POST, &path, &[], json!({ "cases": ["case 1"] })).await;
        assert_eq!((again.status, &again.json()["n_units"]), (StatusCode::OK, &json!(1)), "{}", again.text);
        let id = again.json()["id"].as_str().unwrap().to_owned();
        assert_ne!(id, run);
        place.follow(&id, &[]).await;
        let results = place.get(&format!("/api/v1/runs/{id}/results")).await;
        assert_eq!(results["items"][0]["result"]["case"], "case 1");
        assert_eq!(results["items"][0]["result"]["material"]["response"], "Hello 1!");
        let unknown = place.ask(Method::POST, &path, &[], json!({ "cases": ["case 9"] })).await;
        assert_eq!(unknown.status, StatusCode::UNPROCESSABLE_ENTITY, "{}", unknown.text);
        assert!(unknown.text.contains("has no case `case 9`"), "{}", unknown.text);
        let none = place.ask(Method::POST, &path, &[], json!({ "cases": [] })).await;
        assert_eq!(none.status, StatusCode::BAD_REQUEST, "{}", none.text);
    });
}
