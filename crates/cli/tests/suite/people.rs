//! What people answer in annotation tasks, from the first question to the figures of the commands.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::{Value as Json, json};

/// A folder with files, and commands that run in it.
struct Folder {
    place: tempfile::TempDir,
}

impl Folder {
    fn with(files: &[(&str, &str)]) -> Self {
        let place = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = place.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Self { place }
    }

    fn path(&self) -> &Path {
        self.place.path()
    }

    /// What a command writes as JSON, without the notes before and after it.
    fn json(&self, args: &[&str]) -> Json {
        let said = self.said(args);
        let start = said.find(['{', '[']).unwrap_or_else(|| panic!("no JSON: {said}"));
        serde_json::Deserializer::from_str(&said[start..]).into_iter().next().unwrap().unwrap()
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_jurist"));
        command.current_dir(self.path()).env("JURIST_STORE", self.path().join("jurist.db"));
        command
    }

    /// What a command says on both outputs, and its exit code.
    fn jurist(&self, args: &[&str]) -> (Option<i32>, String) {
        let output = self.command().args(args).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        (output.status.code(), said.into_owned())
    }

    /// What a command says, which must succeed.
    fn said(&self, args: &[&str]) -> String {
        let (code, said) = self.jurist(args);
        assert_eq!(code, Some(0), "{args:?}: {said}");
        said
    }

    fn serve(&self) -> Server {
        let mut child = self
            .command()
            .args(["serve", "--address", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let start = line.find("http://").unwrap_or_else(|| panic!("no address: {line}"));
        let is_part = |letter: &char| !letter.is_whitespace() && *letter != '\u{1b}';
        let url = line[start..].chars().take_while(is_part).collect();
        Server { child, _output: output, url, client: reqwest::Client::new() }
    }
}

struct Server {
    child: Child,
    _output: BufReader<ChildStdout>,
    url: String,
    client: reqwest::Client,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Reply {
    status: u16,
    body: Json,
    cookie: String,
}

impl Server {
    async fn ask(&self, method: reqwest::Method, path: &str, cookie: &str, body: &Json) -> Reply {
        let request = self.client.request(method, format!("{}/api/v1{path}", self.url));
        let request = request.header("cookie", cookie).header("content-type", "application/json");
        let reply = request.body(body.to_string()).send().await.unwrap();
        let cookies = reply.headers().get_all("set-cookie").iter();
        let cookie = cookies
            .filter_map(|header_value| header_value.to_str().ok()?.split(';').next().map(str::to_owned));
        let cookie = cookie.collect::<Vec<_>>().join("; ");
        let (status, text) = (reply.status().as_u16(), reply.text().await.unwrap());
        Reply { status, body: serde_json::from_str(&text).unwrap_or(Json::String(text)), cookie }
    }

    async fn post(&self, path: &str, cookie: &str, body: &Json) -> Json {
        let reply = self.ask(reqwest::Method::POST, path, cookie, body).await;
        assert_eq!(reply.status, 200, "{path}: {}", reply.body);
        reply.body
    }

    async fn task(&self, body: &Json) -> String {
        self.post("/tasks", "", body).await["id"].as_str().unwrap().to_owned()
    }

    async fn joins(&self, task: &str, name: &str) -> Person<'_> {
        let body = json!({ "task": task, "name": name });
        let reply = self.ask(reqwest::Method::POST, "/join/task", "", &body).await;
        assert_eq!(reply.status, 200, "{}", reply.body);
        Person { server: self, task: task.to_owned(), cookie: reply.cookie }
    }
}

struct Person<'a> {
    server: &'a Server,
    task: String,
    cookie: String,
}

impl Person<'_> {
    async fn next(&self) -> Json {
        self.server.post(&format!("/tasks/{}/next", self.task), &self.cookie, &json!({})).await
    }

    async fn submit(&self, work: &Json, draft: &Json) -> Reply {
        let path = format!("/assignments/{}/submit", work["assignment"].as_str().unwrap());
        let body = json!({ "draft": draft, "revision": work["revision"] });
        self.server.ask(reqwest::Method::POST, &path, &self.cookie, &body).await
    }

    /// Answers every item with what `draft` makes of it.
    async fn answers_all(&self, draft: impl Fn(&Json) -> Json) {
        loop {
            let work = self.next().await;
            if work["done"] == true {
                return;
            }
            let reply = self.submit(&work, &draft(&work)).await;
            assert_eq!(reply.status, 200, "{}", reply.body);
        }
    }
}

fn waiting<F: Future>(work: F) -> F::Output {
    let _ = rustls::crypto::ring::default_provider().install_default();
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

/// Says that all three requirements are met, and yes to every question.
const JUDGE: &str = r#"request=$(cat)
case "$request" in
  *requirement*) echo '{"text": "{\"verdicts\": [{\"requirement\": 1, \"satisfied\": true, \"evidence\": \"\"}, {\"requirement\": 2, \"satisfied\": true, \"evidence\": \"\"}, {\"requirement\": 3, \"satisfied\": true, \"evidence\": \"\"}]}"}' ;;
  *) echo '{"text": "{\"reasoning\": \"so it is\", \"evidence\": [], \"verdict\": \"yes\"}"}' ;;
esac
"#;

const SUITE: &str = "
rubrics:
  agent:
    criteria:
      - name: spec
        recipe: {type: agent_as_judge, requirements: [it runs, it is fast, it is small]}
      - name: refund
        description: The refund is handled well.
        tree:
          ask: Was the refund granted?
          yes: {ask: Was the amount right?, yes: {score: 1.0}, no: {score: 0.2}}
          no: {ask: Was the customer told why?, yes: {score: 0.6}, no: {score: 0.0}}
evals:
  - {name: first, prompt: Do it., response: Done., rubric: {ref: agent}}
  - {name: second, prompt: Do it again., response: Done again., rubric: {ref: agent}}
";

fn judged() -> Folder {
    let folder = Folder::with(&[("judge.sh", JUDGE), ("suite.yaml", SUITE)]);
    folder.said(&["eval", "suite.yaml", "--judge", "command:sh judge.sh", "--allow-commands"]);
    folder
}

/// Confirms all that the judge was asked, except what is corrected here.
fn confirming(work: &Json, corrected: &[(&str, Json)]) -> Json {
    let claims = work["schemes"][0]["claims"].as_array().unwrap();
    let mut said = serde_json::Map::new();
    for claim in claims.iter().filter(|claim| claim["said"].is_object() && claim["from_parts"] != true) {
        said.insert(claim["id"].as_str().unwrap().to_owned(), json!({ "verdict": "confirmed" }));
    }
    for (id, value) in corrected {
        let right = json!({ "verdict": "corrected", "rating": { "kind": "scored", "value": value } });
        said.insert((*id).to_owned(), right);
    }
    json!({ "verify": { "kind": "verify", "claims": said } })
}

#[test]
fn a_corrected_part_decides_its_total_and_reaches_every_figure() {
    let folder = judged();
    waiting(async {
        let server = folder.serve();
        let runs = server.ask(reqwest::Method::GET, "/runs", "", &json!({})).await;
        let run = &runs.body["items"][0]["id"];
        let task = server.task(&json!({ "name": "Is it right?", "verify": { "run": run } })).await;
        let ann = server.joins(&task, "ann").await;
        let work = ann.next().await;
        // A total that contradicts its parts is refused, and the answer says which.
        let mut contradicting = confirming(&work, &[("spec#3", json!(false))]);
        contradicting["verify"]["claims"]["spec"] = json!({ "verdict": "confirmed" });
        let refused = ann.submit(&work, &contradicting).await;
        assert_eq!(refused.status, 422, "{}", refused.body);
        let said = refused.body.to_string();
        assert!(
            said.contains("spec") && said.contains("1 contradicts its parts, which add up to 0.667"),
            "{said}"
        );
        // A branch that the judge did not take has to be answered where a correction leads to it.
        let half = confirming(&work, &[("refund.root", json!("no"))]);
        let refused = ann.submit(&work, &half).await;
        assert_eq!(refused.status, 422, "{}", refused.body);
        assert!(refused.body.to_string().contains("refund.root.no"), "{}", refused.body);
        ann.answers_all(|work| {
            let other =
                [("spec#3", json!(false)), ("refund.root", json!("no")), ("refund.root.no", json!("yes"))];
            confirming(work, &other)
        })
        .await;
    });
    let exported = folder.said(&["export", "people", "--format", "csv"]);
    let rows: Vec<&str> = exported.lines().collect();
    let row = |name: &str| rows.iter().filter(|row| row.contains(name)).count();
    assert_eq!((row(",spec,"), row(",spec#3,"), row(",refund.root.no,")), (2, 2, 2), "{exported}");
    assert_eq!(row(",refund.root.yes,"), 0, "nobody is asked there: {exported}");
    assert!(rows.iter().any(|row| row.contains(",spec,") && row.contains("0.6666")), "{exported}");
    let aligned = folder.json(&["align", "--human", "people", "--judge", "latest", "--json"]);
    let agreement = |criterion: &str| {
        let all = aligned.as_array().unwrap();
        let of = all.iter().find(|value| value["criterion"] == criterion);
        of.unwrap_or_else(|| panic!("no {criterion}: {aligned}"))["alignment"]["with_consensus"]["percent"]["value"]
            .as_f64()
    };
    assert_eq!(agreement("spec"), Some(0.0), "{aligned}");
    assert_eq!(agreement("spec#3"), Some(0.0), "{aligned}");
    assert_eq!(agreement("spec#1"), Some(1.0), "{aligned}");
    assert_eq!(agreement("refund.root"), Some(0.0), "{aligned}");
}

fn config(name: &str) -> String {
    format!(
        "
annotation_task_name: {name}
data_files: [data.jsonl]
item_properties: {{id_key: id, text_key: text}}
annotation_schemes:
  - annotation_type: rubric_eval
    name: quality
    scale: {{min: 1, max: 5}}
    criteria: [{{name: clear, weight: 3.0}}, {{name: short, weight: 1.0}}]
    overall: {{enabled: true}}
"
    )
}

fn rows() -> String {
    let row = |at: usize| {
        let agent = if at.is_multiple_of(2) { "hare" } else { "tortoise" };
        json!({ "id": at, "text": format!("Answer {at}"), "agent": agent }).to_string() + "\n"
    };
    (1..=6).map(row).collect()
}

fn rating(clear: usize, short: usize) -> Json {
    let scored = |value: usize| json!({ "rating": { "kind": "scored", "value": value } });
    json!({ "quality": { "kind": "rubric", "criteria": { "clear": scored(clear), "short": scored(short) },
        "overall": scored(clear) } })
}

/// Two tasks over rows of the same ids, in which people say the contrary.
async fn two_tasks(server: &Server) {
    for (name, is_turned) in [("Morning", false), ("Evening", true)] {
        let files = json!({ "config.yaml": config(name), "data.jsonl": rows() });
        let task = server.task(&json!({ "config": "config.yaml", "files": files })).await;
        for person in ["ann", "bob"] {
            let person = server.joins(&task, person).await;
            person
                .answers_all(|work| {
                    let text = work["item"]["text"].as_str().unwrap();
                    let at: usize = text.trim_start_matches("Answer ").parse().unwrap();
                    let clear = if at.is_multiple_of(2) { 5 } else { 2 };
                    if is_turned { rating(6 - clear, 3) } else { rating(clear, 4) }
                })
                .await;
        }
    }
}

#[test]
fn answers_of_two_tasks_are_never_put_together() {
    let folder = Folder::with(&[]);
    waiting(async {
        let server = folder.serve();
        two_tasks(&server).await;
    });
    let (code, said) = folder.jurist(&["agree", "people"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("--task") && said.contains("`Evening`, `Morning`"), "{said}");
    let agreed = folder.said(&["agree", "people", "--task", "Morning", "--criterion", "clear", "--json"]);
    let agreed: Json = serde_json::from_str(&agreed).unwrap();
    assert_eq!(agreed["clear"]["n_items"], 6, "{agreed}");
    assert_eq!(agreed["clear"]["krippendorff_alpha"]["value"], 1.0, "{agreed}");
    let (code, said) = folder.jurist(&["agree", "people", "--task", "Noon"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("`Noon`") && said.contains("`Evening`, `Morning`"), "{said}");
    // Files keep them apart as well.
    folder.said(&["export", "people", "--out", "all.csv"]);
    let (code, said) = folder.jurist(&["agree", "all.csv"]);
    assert_eq!(code, Some(2), "{said}");
    folder.said(&["agree", "all.csv", "--task", "Evening"]);
    folder.said(&["export", "people", "--task", "Evening", "--out", "one.csv"]);
    let one = std::fs::read_to_string(folder.path().join("one.csv")).unwrap();
    assert_eq!(one.lines().count(), 1 + 6 * 2 * 2, "{one}");
    folder.said(&["align", "--human", "people", "--judge", "one.csv", "--task", "Morning"]);
    for command in ["panel", "drift"] {
        let (code, said) = folder.jurist(&[command, "people", "--criterion", "clear"]);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains("--task"), "{said}");
        folder.said(&[command, "people", "--criterion", "clear", "--task", "Morning"]);
    }
}

const SHOWN: &str = "
annotation_task_name: Shown
data_files: [data.jsonl]
item_properties: {id_key: id, text_key: text}
instance_display:
  fields: [{key: question, label: Asked}, text]
  layout: {direction: horizontal}
annotation_schemes:
  - annotation_type: rubric_eval
    name: quality
    scale: {min: 1, max: 5}
    allow_not_applicable: false
    criteria: [{name: clear}, {name: short}]
";

#[test]
fn annotators_see_the_fields_that_the_task_names_and_can_skip_nothing_where_that_is_switched_off() {
    let data = r#"{"id": 7, "text": "Paris", "question": "What is the capital of France?"}"#;
    let folder = Folder::with(&[("shown.yaml", SHOWN), ("data.jsonl", data)]);
    folder.said(&["check", "shown.yaml"]);
    let wrong = SHOWN.replace("question, label", "asked, label").replace("direction", "direktion");
    std::fs::write(folder.path().join("wrong.yaml"), wrong).unwrap();
    let (code, said) = folder.jurist(&["check", "wrong.yaml"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("no row of the data has `asked`") && said.contains("`direktion`"), "{said}");
    waiting(async {
        let server = folder.serve();
        let files = json!({ "shown.yaml": SHOWN, "data.jsonl": data });
        let task = server.task(&json!({ "config": "shown.yaml", "files": files })).await;
        let ann = server.joins(&task, "ann").await;
        let work = ann.next().await;
        let shown: Vec<&str> = work["item"]["fields"]
            .as_array()
            .unwrap()
            .iter()
            .map(|field| field["text"].as_str().unwrap())
            .collect();
        assert_eq!(shown, ["What is the capital of France?", "Paris"], "{work}");
        assert_eq!(work["item"]["side_by_side"], true, "{work}");
        let skips = json!({ "quality": { "kind": "rubric", "criteria": {
            "clear": { "rating": { "kind": "not_applicable" } },
            "short": { "rating": { "kind": "scored", "value": 3 } },
        } } });
        let refused = ann.submit(&work, &skips).await;
        assert_eq!(refused.status, 422, "{}", refused.body);
        assert!(refused.body.to_string().contains("has to be rated"), "{}", refused.body);
    });
}

#[test]
fn agreement_is_the_same_on_the_page_in_the_database_and_in_files() {
    let folder = Folder::with(&[]);
    let data: String =
        (1..=24).map(|at| json!({ "id": at, "text": format!("Answer {at}") }).to_string() + "\n").collect();
    let page = waiting(async {
        let server = folder.serve();
        let files = json!({ "config.yaml": config("Noon"), "data.jsonl": data });
        let task = server.task(&json!({ "config": "config.yaml", "files": files })).await;
        for (person, shift) in [("ann", 0), ("bob", 1)] {
            let person = server.joins(&task, person).await;
            person
                .answers_all(|work| {
                    let text = work["item"]["text"].as_str().unwrap();
                    let at: usize = text.trim_start_matches("Answer ").parse().unwrap();
                    let apart = if at.is_multiple_of(4) { shift } else { 0 };
                    rating(1 + at % 5, 2 + (at + apart) % 3)
                })
                .await;
        }
        for format in ["jsonl", "csv"] {
            let path = format!("/tasks/{task}/export?format={format}");
            let export = server.ask(reqwest::Method::GET, &path, "", &json!({})).await.body;
            std::fs::write(folder.path().join(format!("noon.{format}")), export.as_str().unwrap()).unwrap();
        }
        server.ask(reqwest::Method::GET, &format!("/tasks/{task}/agreement"), "", &json!({})).await.body
    });
    let criteria = page["criteria"].as_array().unwrap();
    let short = criteria.iter().find(|criterion| criterion["criterion"] == "short").unwrap();
    assert_eq!(short["interval"].as_array().map(Vec::len), Some(2), "{short}");
    for source in ["people", "noon.jsonl", "noon.csv"] {
        let agree = |scale: &[&str]| {
            folder.json(&[&["agree", source, "--criterion", "short", "--json"], scale].concat())
        };
        let agreed = agree(&[]);
        let alpha = &agreed["short"]["krippendorff_alpha"];
        assert_eq!((&alpha["value"], &alpha["interval"]), (&short["value"], &short["interval"]), "{source}");
        // Nobody used 1 or 5; the task's scale has them all the same. The lines of the tutorial do not name it.
        if source != "noon.jsonl" {
            assert_eq!(agreed, agree(&["--scale", "1-5"]), "{source}");
            assert_ne!(
                agreed["short"]["gwet_ac"],
                agree(&["--scale", "2-4"])["short"]["gwet_ac"],
                "{source}"
            );
        }
    }
}

#[test]
fn exports_of_a_task_are_described_without_a_scale_and_with_the_score_of_the_whole() {
    let folder = Folder::with(&[]);
    waiting(async {
        let server = folder.serve();
        let files = json!({ "config.yaml": config("Noon"), "data.jsonl": rows() });
        let task = server.task(&json!({ "config": "config.yaml", "files": files })).await;
        for (person, short) in [("ann", 1), ("bob", 4)] {
            let person = server.joins(&task, person).await;
            person.answers_all(|_| rating(5, short)).await;
        }
        for format in ["jsonl", "csv"] {
            let path = format!("/tasks/{task}/export?format={format}");
            let export = server.ask(reqwest::Method::GET, &path, "", &json!({})).await.body;
            std::fs::write(folder.path().join(format!("noon.{format}")), export.as_str().unwrap()).unwrap();
        }
    });
    let described = |file: &str| folder.json(&["stats", file, "--json"]);
    let (lines, table) = (described("noon.jsonl"), described("noon.csv"));
    for (criterion, mean) in [("clear", 1.0), ("short", 0.375), ("overall", 1.0), ("weighted_score", 0.84375)]
    {
        for told in [&lines, &table] {
            let found = told["groups"][criterion]["mean"].as_f64();
            assert!(found.is_some_and(|found| (found - mean).abs() < 0.002), "{criterion}: {told}");
        }
    }
    let ids = std::fs::read_to_string(folder.path().join("noon.jsonl")).unwrap();
    assert!(ids.starts_with(r#"{"id": 1, "#), "{ids}");
}

#[test]
fn what_people_said_is_told_on_its_own_scale_and_by_any_field() {
    let folder = Folder::with(&[]);
    waiting(async {
        let server = folder.serve();
        two_tasks(&server).await;
        let tasks = server.ask(reqwest::Method::GET, "/tasks", "", &json!({})).await.body;
        let tasks = tasks["items"].as_array().unwrap();
        let morning = tasks.iter().find(|task| task["name"] == "Morning").unwrap()["id"].as_str().unwrap();
        let path = format!("/tasks/{morning}/results?by=agent");
        let shown = server.ask(reqwest::Method::GET, &path, "", &json!({})).await.body;
        assert_eq!((&shown["n_answers"], &shown["n_people"]), (&json!(12), &json!(2)), "{shown}");
        assert_eq!(shown["fields"], json!(["agent"]), "{shown}");
        assert_eq!(shown["groups"][0]["value"], "hare", "{shown}");
        assert_eq!(shown["groups"][0]["questions"][0]["mean"], 5.0, "{shown}");
    });
    let said = folder.said(&["stats", "--task", "Morning"]);
    let has = |name: &str, mean: &str, scale: &str| {
        said.lines().any(|line| line.starts_with(name) && line.contains(mean) && line.contains(scale))
    };
    assert!(said.contains("12 answers about 6 items by 2 annotators"), "{said}");
    assert!(has("clear", "3.50", "1 to 5") && has("short", "4.00", "1 to 5"), "{said}");
    assert!(has("overall", "3.50", "1 to 5"), "{said}");
    // 3 × 3.5 + 1 × 4, over 4.
    assert!(has("weighted_score", "3.62", "1 to 5") || has("weighted_score", "3.63", "1 to 5"), "{said}");
    let by_agent = folder.said(&["stats", "--task", "Morning", "--by", "agent", "--chart", "agents.svg"]);
    assert!(by_agent.contains("agent hare") && by_agent.contains("agent tortoise"), "{by_agent}");
    let picture = std::fs::read_to_string(folder.path().join("agents.svg")).unwrap();
    assert!(picture.contains("hare") && picture.contains("tortoise"));
    let (code, said) = folder.jurist(&["stats", "--task", "Morning", "--by", "mood"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("`mood`") && said.contains("agent"), "{said}");
    let (code, said) = folder.jurist(&["stats", "--task", "Noon"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("`Morning`") && said.contains("`Evening`"), "{said}");
    // The fields of the data are there for other commands as well.
    folder.said(&["stats", "people", "--task", "Evening", "--by", "agent"]);
}

const PLAIN: &str = "
annotation_task_name: Plain
data_files: [data.jsonl]
item_properties: {id_key: id, text_key: text}
annotation_schemes:
  - {annotation_type: radio, name: grounded, labels: [yes, no]}
  - {annotation_type: multiselect, name: faults, labels: [invented, outdated]}
  - {annotation_type: likert, name: clear, size: 5}
  - {annotation_type: slider, name: effort, min_value: 0, max_value: 100}
  - {annotation_type: text, name: why}
";

/// Two people who answer everything; they disagree about the second half of the items.
async fn plain_task(server: &Server) -> String {
    let files = json!({ "config.yaml": PLAIN, "data.jsonl": rows() });
    let task = server.task(&json!({ "config": "config.yaml", "files": files })).await;
    for (nth, person) in ["ann", "bob"].into_iter().enumerate() {
        let person = server.joins(&task, person).await;
        person
            .answers_all(|work| {
                let text = work["item"]["text"].as_str().unwrap();
                let at: usize = text.trim_start_matches("Answer ").parse().unwrap();
                let turned = if 3 < at { nth } else { 0 };
                let grounded = if (at + turned).is_multiple_of(2) { "yes" } else { "no" };
                let faults: &[&str] = if grounded == "yes" { &[] } else { &["outdated", "invented"] };
                json!({ "grounded": { "kind": "choice", "labels": [grounded] },
                    "faults": { "kind": "choice", "labels": faults },
                    "clear": { "kind": "likert", "value": (at + turned) % 5 + 1 },
                    "effort": { "kind": "slider", "value": at * 10 }, "why": { "kind": "text", "text": "so" } })
            })
            .await;
    }
    task
}

#[test]
fn plain_questions_are_graded_in_the_database_and_in_files() {
    let folder = Folder::with(&[]);
    let page = waiting(async {
        let server = folder.serve();
        let task = plain_task(&server).await;
        for format in ["jsonl", "csv"] {
            let path = format!("/tasks/{task}/export?format={format}");
            let export = server.ask(reqwest::Method::GET, &path, "", &json!({})).await.body;
            std::fs::write(folder.path().join(format!("plain.{format}")), export.as_str().unwrap()).unwrap();
        }
        server.ask(reqwest::Method::GET, &format!("/tasks/{task}/agreement"), "", &json!({})).await.body
    });
    for source in ["people", "plain.jsonl", "plain.csv"] {
        let said = folder.said(&["agree", source]);
        assert!(said.contains("not included") && said.contains("`why`"), "{source}: {said}");
        let agreed = folder.json(&["agree", source, "--json"]);
        for criterion in ["grounded", "faults", "clear", "effort"] {
            let on_page = page["criteria"].as_array().unwrap();
            let on_page = on_page.iter().find(|one| one["criterion"] == criterion).unwrap();
            let alpha = &agreed[criterion]["krippendorff_alpha"]["value"];
            assert_eq!(alpha, &on_page["value"], "{source}, {criterion}: {agreed}");
        }
        assert_eq!(agreed.as_object().unwrap().len(), 4, "{source}: {agreed}");
        let described = folder.json(&["stats", source, "--json"]);
        assert_eq!(
            described["labels"]["faults"],
            json!({ "(none)": 5, "invented, outdated": 7 }),
            "{source}"
        );
        let groups: Vec<&String> = described["groups"].as_object().unwrap().keys().collect();
        assert_eq!(groups, ["clear", "effort"], "{source}");
        let mean = described["groups"]["effort"]["mean"].as_f64();
        let mean = mean.or_else(|| described["groups"]["effort"]["estimate"]["mean"].as_f64()).unwrap();
        assert!((mean - 0.35).abs() < 1e-9, "{source}: {described}");
    }
}

#[test]
fn labels_of_cases_are_compared_with_the_verdicts_of_their_run() {
    let case = |n: usize| {
        let response = ["Paris", "Lyon"][n % 2];
        format!("  - {{name: case {n}, response: {response}, checks: [{{type: contains, value: Paris}}]}}\n")
    };
    let cases: String = (0..6).map(case).collect();
    let suite = format!("evals:\n{cases}");
    let folder = Folder::with(&[("suite.yaml", suite.as_str())]);
    let (code, said) = folder.jurist(&["eval", "suite.yaml"]);
    assert_eq!(code, Some(1), "{said}");
    waiting(async {
        let server = folder.serve();
        let runs = server.ask(reqwest::Method::GET, "/runs", "", &json!({})).await.body;
        let path = format!("/runs/{}/labels", runs["items"][0]["id"].as_str().unwrap());
        // Somebody agrees with all verdicts but the last.
        for (place, is_passed) in [true, false, true, false, true, true].into_iter().enumerate() {
            let label = json!({ "place": place, "is_passed": is_passed, "comment": format!("note {place}") });
            let reply = server.ask(reqwest::Method::PUT, &path, "", &label).await;
            assert_eq!(reply.status, 200, "{}", reply.body);
        }
    });
    let said = folder.said(&["align", "--human", "latest", "--judge", "latest"]);
    assert!(said.contains("overall verdict"), "{said}");
    assert!(said.contains("verdict (judge) compared with 1 person on 6 candidates"), "{said}");
    assert!(said.contains("case 5") && said.contains("note 5"), "{said}");
}
