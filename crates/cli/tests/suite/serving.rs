//! A real server process: killed without warning, and spoken to by `jurist ingest`.

use std::io::{BufRead, BufReader, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jurist_core::money::Rates;
use jurist_store::testing::for_each_engine;
use jurist_store::traces::TraceListFilter;
use jurist_store::{Store, clock};
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use serde_json::{Value as Json, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// How long to wait for what must come.
const PATIENCE: Duration = Duration::from_secs(540);

/// A server of its own, which ends with the test.
struct Served {
    child: Child,
    /// Open for as long as it lasts: a server that cannot say where it is does not stay.
    _said: BufReader<ChildStdout>,
    url: String,
}

impl Served {
    fn start(store: &str) -> Self {
        Self::start_with(store, &[])
    }

    fn start_with(store: &str, variables: &[(&str, &str)]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_jurist"));
        command.envs(variables.iter().copied());
        Self::of(command, store)
    }

    fn of(mut command: Command, store: &str) -> Self {
        let mut child = command
            .args(["serve", "--address", "127.0.0.1:0", "--settle", "1", "--store", store])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut said = BufReader::new(child.stdout.take().unwrap());
        said.read_line(&mut line).unwrap();
        let start = line.find("http://").unwrap_or_else(|| panic!("no address: {line}"));
        let url: String = line[start..]
            .chars()
            .take_while(|letter| !letter.is_whitespace() && *letter != '\u{1b}')
            .collect();
        Self { child, _said: said, url }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn export(trace: u64, n_spans: u64) -> Json {
    let span = |n: u64| {
        let mut span = json!({
            "traceId": format!("{trace:032x}"), "spanId": format!("{n:016x}"), "name": "work",
            "startTimeUnixNano": "1700000000000000000", "endTimeUnixNano": "1700000001000000000",
        });
        if n != 1 {
            span["parentSpanId"] = json!(format!("{:016x}", 1));
        }
        span
    };
    let spans: Vec<Json> = (1..=n_spans).map(span).collect();
    json!({ "resourceSpans": [{ "scopeSpans": [{ "spans": spans }] }] })
}

#[test]
fn what_was_acknowledged_survives_a_kill() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    for_each_engine(|scene| async move {
        let mut served = Served::start(&scene.url);
        let (acknowledged, is_over) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let mut senders = Vec::new();
        for sender in 0..8_u64 {
            let (url, acknowledged, is_over) = (served.url.clone(), acknowledged.clone(), is_over.clone());
            senders.push(tokio::spawn(async move {
                let client = reqwest::Client::new();
                for at in 1.. {
                    if is_over.load(Ordering::Relaxed) {
                        return;
                    }
                    let trace = sender * 1_000_000 + at;
                    let request =
                        client.post(format!("{url}/v1/traces")).header("content-type", "application/json");
                    let sent = request.body(export(trace, 10).to_string()).send().await;
                    if sent.is_ok_and(|sent| sent.status().is_success()) {
                        acknowledged.lock().unwrap().push(trace);
                    }
                }
            }));
        }
        let started = std::time::Instant::now();
        while acknowledged.lock().unwrap().len() < 100 {
            assert!(started.elapsed() < PATIENCE, "the server takes nothing in");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        // SIGKILL: nothing is tidied up.
        served.child.kill().unwrap();
        served.child.wait().unwrap();
        is_over.store(true, Ordering::Relaxed);
        for sender in senders {
            sender.await.unwrap();
        }
        let project = scene.store.project_named("default").await.unwrap().unwrap().id;
        let acknowledged = acknowledged.lock().unwrap().clone();
        for trace in &acknowledged {
            let pieces =
                scene.store.pieces(project, &format!("{trace:032x}").parse().unwrap()).await.unwrap();
            assert_eq!(pieces.len(), 10, "{trace}");
        }
        // The next server goes on where this one was.
        let _again = Served::start(&scene.url);
        for trace in &acknowledged {
            let id = format!("{trace:032x}").parse().unwrap();
            let started = std::time::Instant::now();
            while scene.store.trace(project, &id).await.unwrap().revision == 0 {
                assert!(started.elapsed() < PATIENCE, "{trace} is never put together");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    });
}

#[test]
fn the_past_goes_into_a_database_or_through_a_server_and_is_kept_once() {
    for_each_engine(|scene| async move {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            std::fs::write(folder.path().join(name), text).unwrap();
        };
        let chat = |question: &str| {
            json!({ "messages": [
            { "role": "user", "content": question }, { "role": "assistant", "content": "Yes." }] })
        };
        let lines: Vec<String> = (0..300).map(|n| chat(&format!("{n}?")).to_string()).collect();
        write("many.jsonl", &(lines.join("\n") + "\n{ broken\n"));
        write("one.json", &serde_json::to_string_pretty(&chat("Alone?")).unwrap());
        write("spans.jsonl", &format!("{}\n{}\n", export(7, 3), export(8, 3)));
        let ingest = |more: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_jurist"));
            command.args(["ingest", "many.jsonl", "one.json", "spans.jsonl"]).args(more);
            let output = command.current_dir(folder.path()).output().unwrap();
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            (output.status.code(), text + &String::from_utf8_lossy(&output.stderr))
        };
        let (code, said) = ingest(&["--store", &scene.url, "--agent", "old"]);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains("3 files: 303 accepted, 0 there already, 1 not understood"), "{said}");
        assert!(said.contains("many.jsonl:301: not valid JSON"), "{said}");
        let served = Served::start(&scene.url);
        let (_, said) = ingest(&["--server", &served.url]);
        assert!(said.contains("0 accepted, 303 there already"), "{said}");
        let project = scene.store.project_named("default").await.unwrap().unwrap().id;
        let filter = TraceListFilter { agent: Some("old".to_owned()), ..TraceListFilter::default() };
        let page = scene.store.traces(project, &filter, None, 1000).await.unwrap();
        assert_eq!(page.items.len(), 301);
        let spans = scene.store.trace(project, &format!("{:032x}", 7).parse().unwrap()).await.unwrap();
        assert_eq!((spans.n_pieces, spans.revision), (3, 1));
    });
}

/// Takes in what is posted to it, by path, and answers that all is well.
async fn collector() -> (String, Arc<Mutex<Vec<(String, Vec<u8>)>>>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let posted = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&posted);
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let kept = Arc::clone(&kept);
            tokio::spawn(async move {
                let mut bytes = Vec::new();
                loop {
                    let end = bytes.windows(4).position(|byte| byte == b"\r\n\r\n");
                    let whole = end.and_then(|end| {
                        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
                        let length = head.to_lowercase();
                        let length = length.lines().find_map(|line| line.strip_prefix("content-length: "))?;
                        let until = end + 4 + length.parse::<usize>().unwrap();
                        (until <= bytes.len()).then_some((head, end + 4, until))
                    });
                    let Some((head, from, until)) = whole else {
                        if socket.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
                            return;
                        }
                        continue;
                    };
                    kept.lock().unwrap().push((head, bytes[from..until].to_vec()));
                    bytes.drain(..until);
                    let _ = socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
                }
            });
        }
    });
    (url, posted)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_server_does_is_told_to_a_collector() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let (url, posted) = collector().await;
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("jurist.db");
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", url.as_str()),
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-key=open sesame"),
        ("SOME_API_KEY", "hunter2hunter2"),
    ];
    let mut served = Served::start_with(store.to_str().unwrap(), &variables);
    let client = reqwest::Client::new();
    for path in ["/api/v1/projects", "/health", "/api/v1/rubrics/hunter2hunter2"] {
        let request = client.get(format!("{}{path}", served.url));
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        request.header("traceparent", parent).send().await.unwrap();
    }
    // What is left is sent before it ends.
    Command::new("kill").args(["-TERM", &served.child.id().to_string()]).status().unwrap();
    served.child.wait().unwrap();
    let posted = posted.lock().unwrap();
    assert!(posted.iter().all(|posted| posted.0.to_lowercase().contains("x-key: open sesame")));
    assert!(
        !posted.iter().any(|posted| posted.1.windows(14).any(|posted| posted == b"hunter2hunter2")),
        "no secrets"
    );
    let of = |path: &'static str| {
        posted.iter().filter(move |posted| posted.0.contains(path)).map(|posted| posted.1.as_slice())
    };
    let traces =
        of("/v1/traces").flat_map(|bytes| ExportTraceServiceRequest::decode(bytes).unwrap().resource_spans);
    let mut spans: Vec<Span> = traces
        .flat_map(|resource_spans| resource_spans.scope_spans)
        .flat_map(|scope_spans| scope_spans.spans)
        .collect();
    // One ends when its answer has been sent, which may be after the next has begun.
    spans.sort_by_key(|span| span.start_time_unix_nano);
    let names: Vec<&str> = spans.iter().map(|span| span.name.as_str()).collect();
    assert_eq!(names, ["GET /api/v1/projects", "GET /api/v1/rubrics/{id}"], "probes make none");
    assert_eq!(spans[0].trace_id, 0x0af7_6519_16cd_43dd_8448_eb21_1c80_319c_u128.to_be_bytes());
    assert_eq!(spans[0].parent_span_id, 0xb7ad_6b71_6920_3331_u64.to_be_bytes());
    assert!(spans[0].start_time_unix_nano < spans[0].end_time_unix_nano);
    let status = |span: &Span| {
        span.attributes.iter().find(|key_value| key_value.key == "http.response.status_code").cloned()
    };
    assert_eq!(status(&spans[0]).unwrap().value.unwrap().value, Some(Value::IntValue(200)));
    let logs =
        of("/v1/logs").flat_map(|bytes| ExportLogsServiceRequest::decode(bytes).unwrap().resource_logs);
    assert!(logs.flat_map(|log| log.scope_logs).flat_map(|it| it.log_records).count() != 0);
}

#[test]
fn the_health_command_tells_a_server_that_is_ready_from_one_that_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let served = Served::start(folder.path().join("jurist.db").to_str().unwrap());
    let url = served.url.clone();
    let ask_health = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_jurist"));
        command.args(["health", &url, "--timeout", "60"]).output().unwrap()
    };
    let ready = ask_health();
    assert_eq!((ready.status.code(), ready.stdout.as_slice()), (Some(0), b"ready\n".as_slice()));
    drop(served);
    let gone = ask_health();
    let message = String::from_utf8(gone.stderr).unwrap();
    assert_eq!(gone.status.code(), Some(2), "{message}");
    assert!(message.contains("no answer from") && message.contains("/ready"), "{message}");
}

#[test]
fn a_server_that_is_told_to_stop_at_once_stops() {
    let folder = tempfile::tempdir().unwrap();
    let mut served = Served::start(folder.path().join("jurist.db").to_str().unwrap());
    Command::new("kill").args(["-TERM", &served.child.id().to_string()]).status().unwrap();
    let status = served.child.wait().unwrap();
    assert!(status.success(), "{status}");
}

#[test]
fn a_client_that_never_finishes_does_not_keep_a_server_from_stopping() {
    let folder = tempfile::tempdir().unwrap();
    let mut served = Served::start(folder.path().join("jurist.db").to_str().unwrap());
    let mut client = std::net::TcpStream::connect(served.url.trim_start_matches("http://")).unwrap();
    let head = "POST /api/v1/traces/bulk HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\n{";
    client.write_all(head.as_bytes()).unwrap();
    Command::new("kill").args(["-TERM", &served.child.id().to_string()]).status().unwrap();
    let told = std::time::Instant::now();
    let status = served.child.wait().unwrap();
    assert!(status.success(), "{status}");
    // docs/server.md promises 30 seconds; a busy machine takes a while to end a process.
    assert!(told.elapsed().as_secs() < 45, "{:?}", told.elapsed());
    drop(client);
}

/// Sends a request, or a part of one, from one of the addresses that this machine has for itself.
async fn connect_from(served: &Served, host: u8, request: &str) -> tokio::net::TcpStream {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind(([127, 0, 0, host], 0).into()).unwrap();
    let address = served.url.trim_start_matches("http://").parse().unwrap();
    let mut stream = socket.connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

#[tokio::test(flavor = "multi_thread")]
async fn half_requests_from_everywhere_leave_files_for_the_database() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new("bash");
    command.args(["-c", "ulimit -n 256; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_jurist")]);
    let served = Served::of(command, folder.path().join("jurist.db").to_str().unwrap());
    let mut connection = connect_from(&served, 1, "").await;
    assert_eq!(send_on(&mut connection, 1).await, 200);
    let mut held = Vec::new();
    for n in 0..200 {
        held.push(connect_from(&served, 2 + n % 4, "GET /health HTTP/1.1\r\nhost: loc").await);
    }
    let mut refused = connect_from(&served, 9, "").await;
    let mut answer = Vec::new();
    let _ = refused.read_to_end(&mut answer).await;
    assert!(answer.starts_with(b"HTTP/1.1 503"), "{}", String::from_utf8_lossy(&answer));
    for trace in 2..20 {
        assert_eq!(send_on(&mut connection, trace).await, 200, "{trace}");
    }
    drop(held);
    let store = Store::open(folder.path().join("jurist.db").to_str().unwrap()).await.unwrap();
    is_kept(&store, &(1..20).collect::<Vec<_>>()).await;
}

/// Sends a trace on this connection and returns the status of the answer. A client with a pool of connections may open
/// another one, which the server refuses.
async fn send_on(connection: &mut tokio::net::TcpStream, trace: u64) -> u16 {
    let body = export(trace, 40).to_string();
    let head = format!(
        "POST /v1/traces HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    connection.write_all((head + &body).as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    let start = loop {
        if let Some(end) = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            break end + 4;
        }
        assert_ne!(connection.read_buf(&mut answer).await.unwrap(), 0, "the server closed the connection");
    };
    let head = String::from_utf8_lossy(&answer[..start]).to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
    let length = length.unwrap_or_else(|| panic!("{head}"));
    while answer.len() < start + length {
        assert_ne!(connection.read_buf(&mut answer).await.unwrap(), 0, "the server closed the connection");
    }
    head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_else(|| panic!("{head}"))
}

/// Sends traces one after the other, and says which were acknowledged and what the others heard.
async fn send(url: &str, traces: std::ops::Range<u64>) -> (Vec<u64>, Vec<u16>) {
    let (client, mut kept, mut refused) = (reqwest::Client::new(), Vec::new(), Vec::new());
    for trace in traces {
        let request = client.post(format!("{url}/v1/traces")).header("content-type", "application/json");
        let answer = request.body(export(trace, 40).to_string()).send().await.unwrap();
        match answer.status().as_u16() {
            200 => kept.push(trace),
            other => refused.push(other),
        }
    }
    (kept, refused)
}

async fn is_kept(store: &Store, traces: &[u64]) {
    let project = store.default_project(&Rates::default(), clock::current_time()).await.unwrap();
    for trace in traces {
        let pieces = store.pieces(project, &format!("{trace:032x}").parse().unwrap()).await.unwrap();
        assert_eq!(pieces.len(), 40, "{trace}");
    }
    assert_eq!(store.check().await.unwrap(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_loses_nothing_that_was_acknowledged() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("jurist.db");
    // No file grows beyond two megabytes, and writing more fails, as it does where there is no room.
    let mut command = Command::new("bash");
    command.args(["-c", "trap '' XFSZ; ulimit -f 2000; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_jurist")]);
    let served = Served::of(command, place.to_str().unwrap());
    let (kept, refused) = send(&served.url, 1..400).await;
    assert!(!kept.is_empty() && !refused.is_empty(), "{} kept, {} refused", kept.len(), refused.len());
    assert!(refused.iter().all(|refused| *refused == 503), "a sender may try again: {refused:?}");
    drop(served);
    // There is room again.
    let served = Served::start(place.to_str().unwrap());
    let (more, refused) = send(&served.url, 1000..1010).await;
    assert_eq!((more.len(), refused), (10, Vec::new()));
    let store = Store::open(place.to_str().unwrap()).await.unwrap();
    is_kept(&store, &[kept, more].concat()).await;
}

/// A library that makes every wait for the disk take longer, as slow disks do.
const SLOW: &str = "
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>
static int slowly(const char *name, int file) {
    usleep(300000);
    return ((int (*)(int))dlsym(RTLD_NEXT, name))(file);
}
int fsync(int file) { return slowly(\"fsync\", file); }
int fdatasync(int file) { return slowly(\"fdatasync\", file); }
";

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_disk_makes_senders_wait_and_loses_nothing() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let folder = tempfile::tempdir().unwrap();
    let (source, library) = (folder.path().join("slow.c"), folder.path().join("slow.so"));
    std::fs::write(&source, SLOW).unwrap();
    let mut compile = Command::new("cc");
    compile.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).arg("-ldl");
    if !compile.status().is_ok_and(|status| status.success()) {
        return eprintln!("SKIPPED: there is no C compiler to slow the disk down with");
    }
    let place = folder.path().join("jurist.db");
    let mut command = Command::new(env!("CARGO_BIN_EXE_jurist"));
    command.env("LD_PRELOAD", &library);
    let mut served = Served::of(command, place.to_str().unwrap());
    let begun = std::time::Instant::now();
    let senders = (0..16_u64).map(|n| {
        let url = served.url.clone();
        tokio::spawn(async move { send(&url, n * 100 + 1..n * 100 + 6).await })
    });
    let mut all = Vec::new();
    for sender in senders.collect::<Vec<_>>() {
        let (kept, refused) = sender.await.unwrap();
        assert_eq!(refused, Vec::<u16>::new(), "they wait, and are not turned away");
        all.extend(kept);
    }
    assert_eq!(all.len(), 80);
    // Each waits five times for the disk; together they would wait for half a minute, if they did not share.
    assert!(1500 <= begun.elapsed().as_millis(), "an answer came before the disk did");
    served.child.kill().unwrap();
    served.child.wait().unwrap();
    is_kept(&Store::open(place.to_str().unwrap()).await.unwrap(), &all).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_uses_low_prices_of_settings_only_if_they_are_trusted() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join(".jurist")).unwrap();
    let prices = "prices:\n  openai/gpt-5-mini: {input: 0, output: 99}\n";
    std::fs::write(folder.path().join(".jurist/config.yaml"), prices).unwrap();
    let jurist = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_jurist"));
        command.current_dir(folder.path()).env_clear().env("HOME", folder.path());
        command.env("OPENAI_API_KEY", "sk-test-secret-1234567890").env("JURIST_JUDGE", "openai/gpt-5-mini");
        command
    };
    let input_and_output = async || {
        let served = Served::of(jurist(), folder.path().join("jurist.db").to_str().unwrap());
        let listed = reqwest::get(format!("{}/api/v1/judges", served.url)).await.unwrap();
        let judges: Json = serde_json::from_str(&listed.text().await.unwrap()).unwrap();
        (judges[0]["price"]["input"].clone(), judges[0]["price"]["output"].clone())
    };
    assert_eq!(input_and_output().await, (json!(0.25), json!(99.0)), "they only raise known prices");
    assert!(jurist().arg("trust").status().unwrap().success());
    assert_eq!(input_and_output().await, (json!(0.0), json!(99.0)));
}

#[tokio::test(flavor = "multi_thread")]
async fn exchange_rates_of_settings_that_nobody_trusts_make_no_cap_of_a_server_larger() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join(".jurist")).unwrap();
    let rates = "rates: {EUR: 900, JPY: 0.0066}\n";
    std::fs::write(folder.path().join(".jurist/config.yaml"), rates).unwrap();
    let jurist = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_jurist"));
        command.current_dir(folder.path()).env_clear().env("HOME", folder.path());
        command
    };
    let rates_of_caps = async || {
        let served = Served::of(jurist(), folder.path().join("jurist.db").to_str().unwrap());
        let mut rates = Vec::new();
        for currency in ["EUR", "JPY"] {
            let cap = json!({ "amount": 40, "currency": currency }).to_string();
            let request = reqwest::Client::new().put(format!("{}/api/v1/spend/cap", served.url));
            let answer = request.header("content-type", "application/json").body(cap).send().await.unwrap();
            let answer: Json = serde_json::from_str(&answer.text().await.unwrap()).unwrap();
            rates.push(answer["rate"].as_f64());
        }
        rates
    };
    assert_eq!(rates_of_caps().await, [Some(1.1), None]);
    assert!(jurist().arg("trust").status().unwrap().success());
    assert_eq!(rates_of_caps().await, [Some(900.0), Some(0.0066)]);
}
