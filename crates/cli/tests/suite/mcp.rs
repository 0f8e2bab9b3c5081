//! `jurist mcp` as a process of its own, over standard streams and over HTTP, with the official client.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::model::{CallToolRequestParams, CallToolResult, ReadResourceRequestParams};
use rmcp::service::{RoleClient, RunningService};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use serde_json::{Value as Json, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::server::{Act, Server};

type Client = RunningService<RoleClient, ()>;

const PATIENCE: Duration = Duration::from_secs(240);

const SUITE: &str = "evals:
  - {name: capital, prompt: Which city?, response: Paris., checks: [{type: contains, value: Paris}]}
  - {name: river, prompt: Which river?, response: The Thames., checks: [{type: contains, value: Seine}]}
";

const BROKEN: &str = "evals:
  - name: capital
    respons: Paris.
    checks: [{type: contains, value: Paris}]
";

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("project")).unwrap();
    fs::write(folder.path().join("project/suite.yaml"), SUITE).unwrap();
    fs::write(folder.path().join("project/broken.yaml"), BROKEN).unwrap();
    fs::write(folder.path().join("secret.yaml"), SUITE).unwrap();
    folder
}

fn jurist_mcp(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_jurist"));
    command
        .arg("mcp")
        .args(args)
        .current_dir(folder.join("project"))
        .env_clear()
        .env("JURIST_CACHE", folder.join("cache"))
        .kill_on_drop(true);
    command
}

async fn connect(command: Command) -> Client {
    tokio::time::timeout(PATIENCE, ().serve(TokioChildProcess::new(command).unwrap())).await.unwrap().unwrap()
}

async fn call_any(client: &Client, tool: &'static str, arguments: Json) -> CallToolResult {
    let arguments = arguments.as_object().cloned().unwrap();
    let request = CallToolRequestParams::new(tool).with_arguments(arguments);
    tokio::time::timeout(PATIENCE, client.call_tool(request)).await.unwrap().unwrap()
}

async fn call(client: &Client, tool: &'static str, arguments: Json) -> Json {
    let result = call_any(client, tool, arguments).await;
    assert_eq!(result.is_error, Some(false), "{tool}: {result:?}");
    result.structured_content.unwrap()
}

async fn call_error(client: &Client, tool: &'static str, arguments: Json) -> String {
    let result = call_any(client, tool, arguments).await;
    assert_eq!(result.is_error, Some(true), "{tool}: {result:?}");
    result.content[0].as_text().unwrap().text.clone()
}

#[tokio::test]
async fn an_agent_checks_runs_reads_and_compares_over_standard_streams() {
    let folder = folder();
    let mut command = jurist_mcp(folder.path(), &[]);
    command.env("GITHUB_ACTIONS", "true").env("GITHUB_REF_NAME", "main").env("GITHUB_SHA", COMMIT);
    let client = connect(command).await;
    let tools = client.list_all_tools().await.unwrap();
    assert!(
        tools.iter().all(|tool| tool.output_schema.is_some()),
        "scripts/check-mcp validates results by them"
    );
    let names: Vec<String> = tools.into_iter().map(|tool| tool.name.into_owned()).collect();
    let wanted = [
        "check_file",
        "lint_rubric",
        "draft_rubric",
        "explain_plan",
        "run_suite",
        "list_runs",
        "read_run",
        "read_case",
        "compare_runs",
        "measure_agreement",
    ];
    assert_eq!(names, wanted);

    let checked = call(&client, "check_file", json!({ "path": "broken.yaml" })).await;
    assert_eq!(checked["valid"], false);
    let first = &checked["diagnostics"][0];
    assert_eq!((&first["line"], &first["file"]), (&json!(3), &json!("broken.yaml")), "{checked}");
    assert_eq!(call(&client, "check_file", json!({ "path": "suite.yaml" })).await["valid"], true);

    let plan = call(&client, "explain_plan", json!({ "path": "suite.yaml" })).await;
    assert!(plan["plan"].as_str().unwrap().contains("2 units"), "{plan}");

    // No run is no error of the list, and one of the reader.
    assert_eq!(call(&client, "list_runs", json!({})).await["n_runs"], 0);
    assert!(call_error(&client, "read_run", json!({})).await.contains("there is no run `latest`"));

    let run = call(&client, "run_suite", json!({ "path": "suite.yaml" })).await;
    assert_eq!(run["outcome"], "failed", "{run}");
    assert_eq!((&run["n_pass"], &run["n_fail"]), (&json!(1), &json!(1)));
    // The name and the meaning that the list of runs has.
    assert_eq!((&run["cost_usd"], run.get("cost")), (&json!(0.0), None), "{run}");
    assert_eq!(run["cases"][1]["case"], "river");
    assert_eq!(run["cases"][1]["origin"], "suite.yaml:3");
    assert!(run["cases"][1]["reasons"][0].as_str().unwrap().contains("Seine"), "{run}");

    let read = call(&client, "read_run", json!({ "status": "fail" })).await;
    assert_eq!((&read["run"], &read["n_cases"]), (&run["run"], &json!(1)));
    let case = call(&client, "read_case", json!({ "case": "river" })).await;
    assert_eq!(case["material"]["response"], "The Thames.", "{case}");
    assert_eq!(case["verdict"]["status"], "fail");
    assert!(!case["grades"].as_array().unwrap().is_empty());
    let unknown = call_error(&client, "read_case", json!({ "case": "rivr" })).await;
    assert_eq!(unknown, "the run has no case `rivr`; did you mean `river`?");

    fs::write(folder.path().join("project/suite.yaml"), SUITE.replace("The Thames.", "The Seine.")).unwrap();
    let only = json!({ "path": "suite.yaml", "only": ["river"] });
    assert_eq!(call(&client, "run_suite", only).await["outcome"], "passed");
    let compared = call(&client, "compare_runs", json!({ "before": "previous", "after": "latest" })).await;
    assert_eq!(compared["cases"][0]["case"], "river", "{compared}");
    assert_eq!(compared["cases"][0]["before"]["status"], "fail");
    assert!(compared["sentence"].is_string());
    let listed = call(&client, "list_runs", json!({ "limit": 1 })).await;
    assert_eq!((&listed["n_runs"], listed["runs"].as_array().unwrap().len()), (&json!(2), 1));
    assert_eq!(
        (&listed["runs"][0]["branch"], &listed["runs"][0]["commit"]),
        (&json!("main"), &json!(COMMIT))
    );
    // The names of `jurist runs list --format ndjson`.
    let newest = &listed["runs"][0];
    assert!(newest["id"].is_string() && newest["cost_usd"].is_number(), "{newest}");
    assert!(newest.get("run").is_none() && newest.get("cost").is_none(), "{newest}");
    let of_commit = json!({ "branch": "main", "commit": &COMMIT[..8] });
    assert_eq!(call(&client, "list_runs", of_commit).await["n_runs"], 2);
    assert_eq!(call(&client, "list_runs", json!({ "branch": "other" })).await["n_runs"], 0);
    assert_eq!(call(&client, "list_runs", json!({ "tags": ["nightly"] })).await["n_runs"], 0);
    let wrong = call_error(&client, "list_runs", json!({ "commit": "main" })).await;
    assert_eq!(wrong, "`commit` has from 4 to 64 hexadecimal digits");

    // Ranges of the schema hold for every tool.
    for (tool, arguments, why) in [
        ("list_runs", json!({ "limit": 0 }), "`limit`: 0 is less than the minimum of 1"),
        ("list_runs", json!({ "limit": 1000 }), "`limit`: 1000 is greater than the maximum of 200"),
        ("read_run", json!({ "limit": 0 }), "`limit`: 0 is less than the minimum of 1"),
        ("read_run", json!({ "limit": 1000 }), "`limit`: 1000 is greater than the maximum of 500"),
        (
            "run_suite",
            json!({ "path": "suite.yaml", "max_cost": -1 }),
            "`max_cost`: -1 is less than the minimum of 0",
        ),
        (
            "run_suite",
            json!({ "path": "suite.yaml", "max_time": -1 }),
            "`max_time`: -1 is less than the minimum of 0",
        ),
        ("measure_agreement", json!({ "files": [] }), "`files`: [] has less than 1 item"),
        ("measure_agreement", json!({}), "missing field `files`"),
    ] {
        let refused = call_error(&client, tool, arguments).await;
        assert!(refused.starts_with("the arguments are wrong: ") && refused.contains(why), "{refused}");
    }
    client.cancel().await.unwrap();
}

#[tokio::test]
async fn rubrics_are_drafted_and_linted_and_agreement_is_measured() {
    let folder = folder();
    let client = connect(jurist_mcp(folder.path(), &[])).await;
    let presets = call(&client, "draft_rubric", json!({})).await;
    assert!(presets["presets"].to_string().contains("safety"), "{presets}");
    let safety = call(&client, "draft_rubric", json!({ "preset": "safety" })).await;
    assert_eq!(safety["check"]["valid"], true, "{safety}");
    let criteria = json!([
        { "name": "minutes", "description": "Says by how many minutes the train is late.", "required": true },
        { "name": "good", "description": "Is good." },
    ]);
    let draft =
        call(&client, "draft_rubric", json!({ "name": "delay", "threshold": 0.8, "criteria": criteria }))
            .await;
    let text = draft["text"].as_str().unwrap();
    let begin = "name: delay\nthreshold: 0.8\ncriteria:\n  - name: minutes\n    description: Says";
    assert!(text.starts_with(begin) && text.contains("required: true"), "{text}");
    assert_eq!(draft["check"]["valid"], true, "{draft}");
    let linted = call(&client, "lint_rubric", json!({ "text": text })).await;
    assert_eq!(linted, draft["check"]);
    assert!(linted["diagnostics"].to_string().contains("advice"), "`Is good.` is vague: {linted}");
    let wrong =
        call(&client, "lint_rubric", json!({ "text": "criteria: [{name: a, descripton: A.}]" })).await;
    assert_eq!(wrong["valid"], false);
    assert!(call_error(&client, "lint_rubric", json!({})).await.contains("give either `path` or `text`"));

    let mut ratings = String::from("candidate,ann,bea,judge\n");
    for n in 0..40 {
        let value = n % 3 + 1;
        ratings += &format!("c{n},{value},{value},{}\n", if n % 10 == 0 { 1 } else { value });
    }
    fs::write(folder.path().join("project/ratings.csv"), ratings).unwrap();
    let agreement = call(&client, "measure_agreement", json!({ "files": ["ratings.csv"] })).await;
    assert!(agreement["agreement"].to_string().contains("krippendorff_alpha"), "{agreement}");
    let outside = call_error(&client, "measure_agreement", json!({ "files": ["../secret.yaml"] })).await;
    assert!(outside.contains("is outside of"), "{outside}");
    let level = json!({ "files": ["ratings.csv"], "level": "wrong" });
    assert!(
        call_error(&client, "measure_agreement", level).await.contains("possible values: nominal, ordinal")
    );
    client.cancel().await.unwrap();
}

#[tokio::test]
async fn schemas_and_pages_of_the_book_are_resources() {
    let folder = folder();
    let client = connect(jurist_mcp(folder.path(), &[])).await;
    let resources = client.list_all_resources().await.unwrap();
    let uris: Vec<&str> = resources.iter().map(|resource| resource.uri.as_str()).collect();
    assert!(uris.contains(&"jurist://schema/suite") && uris.contains(&"jurist://book/files.md"), "{uris:?}");
    for (uri, part) in [("jurist://schema/suite", "$schema"), ("jurist://book/how-to/rag.md", "# ")] {
        let read = client.read_resource(ReadResourceRequestParams::new(uri)).await.unwrap();
        assert!(serde_json::to_string(&read.contents).unwrap().contains(part), "{uri}");
    }
    let unknown = client.read_resource(ReadResourceRequestParams::new("jurist://book/../README.md")).await;
    assert!(unknown.unwrap_err().to_string().contains("there is no resource"));
    client.cancel().await.unwrap();
}

#[tokio::test]
async fn files_outside_programs_and_wrong_arguments_are_refused_with_the_command_s_sentence() {
    let folder = folder();
    let project = folder.path().join("project");
    let runs = "evals:\n  - {name: a, prompt: b, targets: ['exec:sh agent.sh'], checks: [{type: contains, value: c}]}\n";
    fs::write(project.join("runs.yaml"), runs).unwrap();
    fs::write(project.join("agent.sh"), "touch started; echo c").unwrap();
    let reads = "imports: [../secret.yaml]\nevals:\n  - {name: a, response: b, rubric: c}\n";
    fs::write(project.join("reads.yaml"), reads).unwrap();
    // The folder of the server is part of a larger project.
    fs::create_dir(folder.path().join(".git")).unwrap();
    let client = connect(jurist_mcp(folder.path(), &[])).await;

    let outside = call_error(&client, "check_file", json!({ "path": "../secret.yaml" })).await;
    assert!(outside.contains("is outside of") && outside.contains("--root"), "{outside}");
    let missing = call_error(&client, "run_suite", json!({ "path": "missing.yaml" })).await;
    assert!(missing.starts_with("cannot read `missing.yaml`"), "{missing}");
    let reads = call(&client, "check_file", json!({ "path": "reads.yaml" })).await;
    assert_eq!(reads["valid"], false, "a reference does not lead out of the folder: {reads}");

    let refused = call_error(&client, "run_suite", json!({ "path": "runs.yaml" })).await;
    assert!(refused.contains("pass --allow-commands to allow it"), "{refused}");
    let judge = json!({ "path": "suite.yaml", "judge": "command:sh agent.sh" });
    assert!(call_error(&client, "run_suite", judge).await.contains("--allow-commands"));
    assert!(!project.join("started").exists());
    let invalid = call_error(&client, "run_suite", json!({ "path": "broken.yaml" })).await;
    assert!(invalid.contains("broken.yaml:3") && invalid.contains("respons"), "{invalid}");
    let extra = call_error(&client, "check_file", json!({ "path": "suite.yaml", "fix": true })).await;
    assert!(extra.contains("unknown field `fix`"), "{extra}");
    let unknown = client.call_tool(CallToolRequestParams::new("chek_file")).await.unwrap_err().to_string();
    assert!(unknown.contains("did you mean `check_file`?"), "{unknown}");
    client.cancel().await.unwrap();

    let allowed = connect(jurist_mcp(folder.path(), &["--allow-commands"])).await;
    assert_eq!(call(&allowed, "run_suite", json!({ "path": "runs.yaml" })).await["outcome"], "passed");
    assert!(project.join("started").exists());
    allowed.cancel().await.unwrap();
}

#[tokio::test]
async fn all_runs_of_a_server_share_one_budget_and_long_answers_are_cut() {
    let reply = json!({ "choices": [{ "message": { "content": r#"{"reasoning": "so", "score": 1}"# } }],
        "usage": { "prompt_tokens": 1000, "completion_tokens": 500 } });
    let model = Server::start(move |_| Act::Raw(reply.to_string())).await;
    let folder = folder();
    let project = folder.path().join("project");
    let long = "word ".repeat(60_000);
    let suite = format!("evals:\n  - {{name: long, prompt: Which?, response: {long}, rubric: Says it.}}\n");
    fs::write(project.join("judged.yaml"), suite).unwrap();
    fs::create_dir(project.join(".jurist")).unwrap();
    let prices = "prices:\n  openai/judge-1: {input: 1, output: 2}\n";
    fs::write(project.join(".jurist/config.yaml"), prices).unwrap();
    let args = ["--max-cost", "0.5", "--judge", "openai/judge-1", "--trust-settings"];
    let mut command = jurist_mcp(folder.path(), &args);
    command.env("OPENAI_API_KEY", "sk-test-secret-1234567890");
    command.env("OPENAI_BASE_URL", format!("{}/v1", model.url));
    let client = connect(command).await;
    // A run without judges costs nothing, and leaves the budget as it is.
    assert_eq!(call(&client, "run_suite", json!({ "path": "suite.yaml" })).await["outcome"], "failed");
    let tiny = json!({ "path": "judged.yaml", "max_cost": 0.000001 });
    let stopped = call(&client, "run_suite", tiny).await;
    assert_eq!(stopped["outcome"], "stopped by a budget", "{stopped}");
    let run = call(&client, "run_suite", json!({ "path": "judged.yaml" })).await;
    assert_eq!(run["outcome"], "passed", "{run}");
    let case = call(&client, "read_case", json!({ "case": "long", "prompts": true })).await;
    assert!(case.to_string().len() <= 60_000);
    assert!(case["shortened"].is_string());
    assert!(case["exchanges"][0]["reply"].to_string().contains("reasoning"), "{case}");
    client.cancel().await.unwrap();
}

/// A server over HTTP and its address.
async fn listen(command: &mut Command) -> (Child, String) {
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first = tokio::time::timeout(PATIENCE, lines.next_line()).await.unwrap().unwrap().unwrap();
    let url = first.split_whitespace().last().unwrap().to_owned();
    (child, url)
}

async fn connect_http(url: &str, headers: &[(&'static str, &str)]) -> Result<Client, String> {
    let headers: HashMap<_, _> =
        headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
    let config = StreamableHttpClientTransportConfig::with_uri(url).custom_headers(headers);
    let transport = StreamableHttpClientTransport::with_client(reqwest::Client::new(), config);
    tokio::time::timeout(PATIENCE, ().serve(transport)).await.unwrap().map_err(|error| error.to_string())
}

#[tokio::test]
async fn several_clients_work_over_http_and_pages_of_browsers_are_refused() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let folder = folder();
    let (_child, url) = listen(&mut jurist_mcp(folder.path(), &["--http", "127.0.0.1:0"])).await;
    assert!(url.ends_with("/mcp"), "{url}");
    let (one, two) = (connect_http(&url, &[]).await.unwrap(), connect_http(&url, &[]).await.unwrap());
    let suite = json!({ "path": "suite.yaml" });
    let (ran, checked) =
        tokio::join!(call(&one, "run_suite", suite.clone()), call(&two, "check_file", suite));
    assert_eq!((&ran["n_fail"], &checked["valid"]), (&json!(1), &json!(true)));
    assert_eq!(call(&two, "list_runs", json!({})).await["n_runs"], 1, "they share the project");

    let greeting = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": { "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } },
    });
    let http = reqwest::Client::new();
    let greet = async |headers: &[(&'static str, &str)]| {
        let mut request = http
            .post(&url)
            .header("accept", "application/json, text/event-stream")
            .header("content-type", "application/json")
            .body(greeting.to_string());
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.send().await.unwrap().status().as_u16()
    };
    assert_eq!(greet(&[]).await, 200);
    assert_eq!(greet(&[("host", "evil.example")]).await, 403, "DNS rebinding");
    assert_eq!(greet(&[("origin", "https://evil.example")]).await, 403);
    assert_eq!(greet(&[("origin", "null")]).await, 403);
    let elsewhere = http.get(url.replace("/mcp", "/other")).send().await.unwrap();
    assert_eq!(elsewhere.status().as_u16(), 404);
    one.cancel().await.unwrap();
    two.cancel().await.unwrap();
}

#[tokio::test]
async fn an_address_for_others_needs_a_token() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let folder = folder();
    let refused = jurist_mcp(folder.path(), &["--http", "0.0.0.0:0"]).output().await.unwrap();
    assert_eq!(refused.status.code(), Some(2));
    let message = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(message.contains("set JURIST_MCP_TOKEN"), "{message}");

    let token = "correct-horse-battery";
    let mut command = jurist_mcp(folder.path(), &["--http", "127.0.0.1:0"]);
    let (_child, url) = listen(command.env("JURIST_MCP_TOKEN", token)).await;
    let secrets: BTreeMap<&str, bool> =
        [("", false), ("Bearer wrong", false), (token, false), ("Bearer correct-horse-battery", true)].into();
    for (secret, is_right) in secrets {
        let headers = if secret.is_empty() { vec![] } else { vec![("authorization", secret)] };
        match connect_http(&url, &headers).await {
            Ok(client) => {
                assert!(is_right, "{secret}");
                assert_eq!(call(&client, "check_file", json!({ "path": "suite.yaml" })).await["valid"], true);
                client.cancel().await.unwrap();
            }
            Err(error) => assert!(!is_right, "{secret}: {error}"),
        }
    }
}
