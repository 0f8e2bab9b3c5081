//! Functions of scripts that a suite asks for while it is read, such as one that makes its tests.

use std::io::{Read, Seek};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use jurist_core::dialect::{ScriptAnswer, ScriptCall, ScriptSource};
use serde_json::{Value as Json, json};

use crate::environment::harmless_variables;
use crate::platform::{build_program_command, build_program_command_below};

/// Whether scripts are run while a suite is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ScriptPolicy {
    /// They may not be: the file is an error.
    #[default]
    Refused,
    /// The file is only checked; what a script would produce stays unknown.
    Skipped,
    Allowed,
}

/// A script that takes longer is stopped.
const TIME_LIMIT: Duration = Duration::from_secs(60);
/// What a script may answer.
const MAX_BYTES: u64 = 64 << 20;
/// Between two looks at a script that is at work.
const PAUSE: Duration = Duration::from_millis(5);

const JAVASCRIPT: &str = include_str!("load_script.mjs");
const PYTHON: &str = include_str!("load_script.py");

/// Calls a function of a script in the folder of the suite.
pub(crate) fn call_script(call: &ScriptCall<'_>, policy: ScriptPolicy, folder: &Path) -> ScriptAnswer {
    match policy {
        ScriptPolicy::Skipped => return ScriptAnswer::Skipped,
        ScriptPolicy::Refused => {
            return ScriptAnswer::Refused("a file may start programs only with --allow-commands".to_owned());
        }
        ScriptPolicy::Allowed => {}
    }
    match run_script(call, folder) {
        Ok(value) => ScriptAnswer::Value(value),
        Err(why) => ScriptAnswer::Refused(why),
    }
}

/// Runs a script that may be run, and waits for it.
pub(crate) fn run_script(call: &ScriptCall<'_>, folder: &Path) -> Result<Json, String> {
    let request = |source: Json| json!({ "source": source, "arguments": call.arguments }).to_string();
    let (command, request) = match call.source {
        ScriptSource::JavaScript(code) => (node(), request(json!({ "code": code }))),
        ScriptSource::Program(line) => {
            let mut words = line.split_whitespace();
            let name = words.next().ok_or("no program is named")?;
            let mut command = build_program_command_below(folder, name);
            command.args(words);
            return run_printing_program(command, call.arguments, folder);
        }
        ScriptSource::PythonProgram(path) => {
            let mut command = build_program_command("python3");
            command.arg(path);
            return run_printing_program(command, call.arguments, folder);
        }
        ScriptSource::File { path, function, usual } => {
            let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
            let source = json!({ "path": path, "function": function, "usual": usual });
            match extension {
                // Node runs TypeScript since 22.18; an older one says that it cannot.
                "js" | "mjs" | "cjs" | "ts" => (node(), request(source)),
                "py" => {
                    let mut command = build_program_command("python3");
                    command.args(["-c", PYTHON]);
                    (command, request(source))
                }
                _ => {
                    return Err(format!(
                        "`.{extension}` cannot be run here; understood: .js, .mjs, .cjs, .ts, .py"
                    ));
                }
            }
        }
    };
    run(command, &request, folder)
}

/// A program of promptfoo's `exec:`, or a Python file: it is given the case as its last argument, and prints a text.
fn run_printing_program(mut command: Command, arguments: &[Json], folder: &Path) -> Result<Json, String> {
    command.args(arguments.iter().map(Json::to_string));
    let broken = |error: std::io::Error| format!("no temporary files: {error}");
    let temporary = tempfile::tempdir().map_err(broken)?;
    let (printed, complaints) = (temporary.path().join("prompt.txt"), temporary.path().join("errors.txt"));
    let create = |path: &Path| std::fs::File::create(path).map(Stdio::from).map_err(broken);
    command.stdout(create(&printed)?).stderr(create(&complaints)?);
    wait_for_script(command, folder, &complaints)?;
    if std::fs::metadata(&printed).is_ok_and(|metadata| MAX_BYTES < metadata.len()) {
        return Err(format!("it answered more than {} MiB", MAX_BYTES >> 20));
    }
    let text = std::fs::read(&printed).map_err(|_| "it answered nothing".to_owned())?;
    let text = String::from_utf8_lossy(&text);
    Ok(Json::from(text.trim_end_matches(['\r', '\n'])))
}

/// Starts a script in a folder and waits until it has ended well.
fn wait_for_script(mut command: Command, folder: &Path, complaints: &Path) -> Result<(), String> {
    command.current_dir(folder).env_clear().envs(harmless_variables()).stdin(Stdio::null());
    let mut child = command.spawn().map_err(|error| format!("it cannot be started: {error}"))?;
    let started = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if TIME_LIMIT < started.elapsed() => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("it took longer than {} s", TIME_LIMIT.as_secs()));
            }
            Ok(None) => std::thread::sleep(PAUSE),
            Err(error) => return Err(format!("it was lost: {error}")),
        }
    };
    if status.success() { Ok(()) } else { Err(format!("it ended with {status}: {}", read_end(complaints))) }
}

fn node() -> Command {
    let mut command = build_program_command("node");
    command.args(["--input-type=module", "-e", JAVASCRIPT]);
    command
}

/// Loading is not asynchronous, so the script reads and writes files, and there is no pipe to wait for.
fn run(mut command: Command, request: &str, folder: &Path) -> Result<Json, String> {
    let broken = |error: std::io::Error| format!("no temporary files: {error}");
    let temporary = tempfile::tempdir().map_err(broken)?;
    let (input, complaints) = (temporary.path().join("request.json"), temporary.path().join("errors.txt"));
    let output = temporary.path().join("answer.json");
    std::fs::write(&input, request).map_err(broken)?;
    let create = |path: &Path| std::fs::File::create(path).map(Stdio::from).map_err(broken);
    command.arg(&input).arg(&output).stdout(create(&complaints)?);
    let errors = std::fs::File::options().append(true).open(&complaints).map_err(broken)?;
    command.stderr(errors);
    wait_for_script(command, folder, &complaints)?;
    let file = std::fs::File::open(&output).map_err(|_| "it answered nothing".to_owned())?;
    if file.metadata().is_ok_and(|metadata| MAX_BYTES < metadata.len()) {
        return Err(format!("it answered more than {} MiB", MAX_BYTES >> 20));
    }
    serde_json::from_reader(std::io::BufReader::new(file))
        .map_err(|error| format!("it answered no JSON: {error}"))
}

/// The end of a script's error output, which has the reason.
fn read_end(path: &Path) -> String {
    const KEPT: u64 = 600;
    let read = || -> std::io::Result<String> {
        let mut file = std::fs::File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(std::io::SeekFrom::Start(length.saturating_sub(KEPT)))?;
        let mut end = Vec::new();
        file.take(KEPT).read_to_end(&mut end)?;
        Ok(String::from_utf8_lossy(&end).trim().to_owned())
    };
    read().unwrap_or_default()
}
