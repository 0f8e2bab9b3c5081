//! `jurist watch` as a process of its own: what a change of a file runs again, and how soon.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use crate::server::{Act, Server};

const PATIENCE: Duration = Duration::from_secs(240);

/// A watch that ends with the test.
struct Watch {
    child: Child,
    lines: Receiver<String>,
}

impl Watch {
    fn start(folder: &Path, args: &[&str]) -> Self {
        Self::start_with(folder, args, &[])
    }

    fn start_with(folder: &Path, args: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_jurist"))
            .args(["watch", "suite.yaml"])
            .args(args)
            .current_dir(folder)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("JURIST_CACHE", folder.join("cache"))
            .envs(variables.iter().copied())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (send, lines) = channel();
        let streams: [Box<dyn std::io::Read + Send>; 2] =
            [Box::new(child.stdout.take().unwrap()), Box::new(child.stderr.take().unwrap())];
        for stream in streams {
            let send = send.clone();
            std::thread::spawn(move || {
                BufReader::new(stream).lines().map_while(Result::ok).try_for_each(|line| send.send(line))
            });
        }
        Self { child, lines }
    }

    /// All lines until one that contains a text.
    fn read_until(&self, part: &str) -> Vec<String> {
        let (mut lines, begun) = (Vec::new(), Instant::now());
        loop {
            let left = PATIENCE.saturating_sub(begun.elapsed());
            let line = self.lines.recv_timeout(left).unwrap_or_else(|_| panic!("no `{part}` in {lines:#?}"));
            let is_last = line.contains(part);
            lines.push(line);
            if is_last {
                return lines;
            }
        }
    }

    /// Nothing is printed for a while.
    fn stays_silent(&self) {
        let line = self.lines.recv_timeout(Duration::from_millis(1200));
        assert!(line.is_err(), "{line:?}");
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A project whose cases are run by a program that writes their names down.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join(".jurist")).unwrap();
    write(folder.path(), "suite.yaml", SUITE);
    write(
        folder.path(),
        "river.yaml",
        "rubrics:\n  river: {criteria: [{name: river, check: {type: contains, value: Seine}}]}\n",
    );
    write(folder.path(), "agent.sh", "echo \"$1\" >> calls.log\necho \"The $1 is on the Seine.\"\n");
    folder
}

const SUITE: &str = "imports: [river.yaml]
evals:
  - name: one
    prompt: first
    targets: [{id: cli, config: {command: 'sh agent.sh {PROMPT}'}}]
    rubric: {ref: river}
  - name: two
    prompt: second
    targets: [{id: cli, config: {command: 'sh agent.sh {PROMPT}'}}]
    checks: [{type: contains, value: Seine}]
  - {name: three, response: On the Thames., checks: [{type: contains, value: Thames}]}
";

fn write(folder: &Path, name: &str, text: &str) {
    // As editors save: a new file takes the place of the old one.
    fs::write(folder.join("new"), text).unwrap();
    fs::rename(folder.join("new"), folder.join(name)).unwrap();
}

fn n_calls(folder: &Path) -> usize {
    fs::read_to_string(folder.join("calls.log")).unwrap_or_default().lines().count()
}

#[test]
fn a_change_runs_the_cases_that_it_touches_and_no_others() {
    let folder = folder();
    let watch = Watch::start(folder.path(), &["--allow-commands"]);
    watch.read_until("3 passed, 0 failed");
    assert_eq!(n_calls(folder.path()), 2);

    // A rubric in a file of its own: the one case that uses it.
    write(
        folder.path(),
        "river.yaml",
        "rubrics:\n  river: {criteria: [{name: river, check: {type: contains, value: Rhine}}]}\n",
    );
    let begun = Instant::now();
    let lines = watch.read_until("2 passed, 1 failed");
    let took = begun.elapsed();
    assert!(
        lines.iter().any(|line| line.contains("river.yaml changed: 1 of 3 cases run again")),
        "{lines:#?}"
    );
    assert!(lines.iter().any(|line| line.contains("one  pass → fail  1.00 → 0.00")), "{lines:#?}");
    assert!(lines.iter().any(|line| line.contains("Rhine")), "with the reason: {lines:#?}");
    assert!(!lines.iter().any(|line| line.contains("two") || line.contains("three")), "{lines:#?}");
    assert_eq!(n_calls(folder.path()), 3);
    eprintln!("from the change to the verdict: {} ms", took.as_millis());

    // A case that moves to another line is the same case; one that is added is new, one that is left out is gone.
    let moved = SUITE.replace("evals:\n", "# A comment.\n\nevals:\n");
    write(folder.path(), "suite.yaml", &moved);
    watch.stays_silent();
    let added = moved.replace("name: three", "name: four");
    write(folder.path(), "suite.yaml", &added);
    let lines = watch.read_until("2 passed, 1 failed");
    assert!(lines.iter().any(|line| line.contains("three  removed")), "{lines:#?}");
    assert!(lines.iter().any(|line| line.contains("four  new → pass  1.00")), "{lines:#?}");
    assert_eq!(n_calls(folder.path()), 3);

    // The program that answers: all cases that it runs, and not the one with a fixed answer.
    write(folder.path(), "agent.sh", "echo \"$1\" >> calls.log\necho \"The $1 is on the Rhine.\"\n");
    let lines = watch.read_until("2 passed, 1 failed");
    assert!(lines.iter().any(|line| line.contains("agent.sh changed: 2 of 3 cases")), "{lines:#?}");
    assert!(lines.iter().any(|line| line.contains("one  fail → pass")), "{lines:#?}");
    assert!(lines.iter().any(|line| line.contains("two  pass → fail")), "{lines:#?}");
    assert_eq!(n_calls(folder.path()), 5);

    // A file that is wrong is reported with its line, and the watch goes on.
    write(
        folder.path(),
        "river.yaml",
        "rubrics:\n  river: {criteria: [{name: river, chek: {type: contains, value: Seine}}]}\n",
    );
    watch.read_until("river.yaml:2");
    write(
        folder.path(),
        "river.yaml",
        "rubrics:\n  river: {criteria: [{name: river, check: {type: contains, value: Seine}}]}\n",
    );
    watch.read_until("1 passed, 2 failed");
    watch.stays_silent();
    let runs = Command::new(env!("CARGO_BIN_EXE_jurist"))
        .args(["runs", "list"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&runs.stderr).contains("there are no stored runs"), "{runs:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn replies_of_judges_come_from_the_cache() {
    let model = Server::start(|_| Act::Fit).await;
    let folder = folder();
    let suite = |answer: &str| format!("evals:\n  - {{name: city, response: {answer}, rubric: Names it.}}\n");
    write(folder.path(), "suite.yaml", &suite("Paris."));
    let url = format!("{}/v1", model.url);
    let key = "sk-test-secret-1234567890";
    let variables =
        [("OPENAI_API_KEY", key), ("OPENAI_BASE_URL", &url), ("JURIST_JUDGE", "openai/gpt-5-mini")];
    let watch = Watch::start_with(folder.path(), &[], &variables);
    watch.read_until("1 passed, 0 failed");
    assert_eq!(model.n_seen(), 1);
    for (answer, n_seen) in [("Lyon.", 2), ("Paris.", 2), ("Lyon.", 2)] {
        write(folder.path(), "suite.yaml", &suite(answer));
        let lines = watch.read_until("1 passed, 0 failed");
        assert!(lines.iter().any(|line| line.contains("1 of 1 case run again")), "{lines:#?}");
        assert_eq!(model.n_seen(), n_seen, "{answer}");
    }
}

#[test]
fn an_interrupt_ends_the_watch() {
    let folder = folder();
    let mut watch = Watch::start(folder.path(), &["--filter", "three"]);
    watch.read_until("1 passed, 0 failed");
    let id = watch.child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = watch.child.try_wait().unwrap() {
            break status;
        }
        assert!(begun.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(status.code(), Some(130));
}
