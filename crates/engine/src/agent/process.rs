//! A program that answers a prompt.

use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use jurist_core::grade::Failure;
use jurist_core::suite::CaseTarget;
use serde_json::{Map, Value as Json, json};
use tokio::process::Command as Process;

use super::answer::read_answer;
use super::{AgentOutput, AgentRunError, TrialIdentity, with_environment};
use crate::platform;
use crate::program::{ProgramError, run_program};

const TIMEOUT: f64 = 300.0;

/// Calls `call_api` of a Python file, as promptfoo does.
const PYTHON: &str = include_str!("call_api.py");
/// The same for a class or function of a JavaScript file.
const JAVASCRIPT: &str = include_str!("call_api.mjs");

pub(super) struct AgentCommand {
    how: CommandForm,
    /// The file of code that is run, in words; `None` for a program.
    script: Option<String>,
    /// The path of that file.
    file: Option<String>,
    cwd: Option<String>,
    timeout: Duration,
}

enum CommandForm {
    /// A line for the shell with `{PROMPT}`, `{PROMPT_FILE}`, `{OUTPUT_FILE}`, `{EVAL_ID}` and `{ATTEMPT}`.
    Template(String),
    /// Words, after which come the prompt, the options and the context.
    Arguments(Vec<String>, Json),
}

impl AgentCommand {
    pub(super) fn template(line: String, cwd: Option<String>, timeout: Option<f64>) -> Self {
        let timeout = Duration::from_secs_f64(timeout.unwrap_or(TIMEOUT).clamp(0.001, 86_400.0));
        Self { how: CommandForm::Template(line), script: None, file: None, cwd, timeout }
    }

    pub(super) fn with_arguments(line: &str, config: &Map<String, Json>) -> Self {
        let timeout = Duration::from_secs_f64(TIMEOUT);
        let how = CommandForm::Arguments(split_shell_words(line), build_options(config));
        Self { how, script: None, file: None, cwd: None, timeout }
    }

    /// A file that is called through its interpreter, perhaps with the name of a function after a colon.
    pub(super) fn script(path: &str, config: &Map<String, Json>) -> Option<Self> {
        let (file, function) = match path.rsplit_once(':') {
            Some((file, function)) => (file, function),
            None => (path, ""),
        };
        let extension = Path::new(file).extension()?.to_str()?;
        let start: &[&str] = match extension {
            "py" => &["python3", "-c", PYTHON],
            "js" | "mjs" | "cjs" => &["node", "--input-type=module", "-e", JAVASCRIPT, "--"],
            _ => return None,
        };
        let language = if extension == "py" { "Python" } else { "JavaScript" };
        let words = start.iter().copied().chain([file, function]).map(str::to_owned).collect();
        let how = CommandForm::Arguments(words, build_options(config));
        let timeout = Duration::from_secs_f64(TIMEOUT);
        let script = Some(format!("the {language} file `{path}`"));
        Some(Self { how, script, file: Some(file.to_owned()), cwd: None, timeout })
    }

    /// What is missing for a start in the folder of the suite; a line for the shell is known only when it runs.
    pub(super) fn find_missing(&self, folder: &Path) -> Option<String> {
        if let Some(cwd) = self.cwd.as_deref().filter(|cwd| !cwd.contains("{{") && !folder.join(cwd).is_dir())
        {
            return Some(format!("the folder `{cwd}` of `cwd` does not exist"));
        }
        if let Some(file) = self.file.as_deref().filter(|file| !folder.join(file).is_file()) {
            return Some(format!("the file `{file}` does not exist in the folder of the suite"));
        }
        let CommandForm::Arguments(words, _) = &self.how else { return None };
        let name = words.first()?;
        let is_path = platform::is_program_path(name);
        // Windows adds an ending to a path without one.
        let is_there = match is_path {
            true => cfg!(windows) || folder.join(name).exists(),
            false => platform::find_program(name).is_some(),
        };
        let place = match is_path {
            true if Path::new(name).is_absolute() => "",
            true => " in the folder of the suite",
            false => " in PATH",
        };
        (!is_there).then(|| format!("the program `{name}` does not exist{place}"))
    }

    /// The program that would be started, so that the user can allow it.
    pub(super) fn describe(&self) -> String {
        match &self.how {
            CommandForm::Template(line) => format!("the command `{line}`"),
            CommandForm::Arguments(words, _) => match &self.script {
                Some(script) => script.clone(),
                None => format!("the program `{}`", words.join(" ")),
            },
        }
    }

    pub(super) async fn run(
        &self,
        (prompt, vars): (&str, &Map<String, Json>),
        which: TrialIdentity<'_>,
        here: &Path,
        folder: &Path,
    ) -> Result<AgentOutput, AgentRunError> {
        let broken =
            |error: std::io::Error| AgentRunError::unavailable(format!("no temporary files: {error}"));
        let temporary = tempfile::tempdir().map_err(broken)?;
        let (prompt_file, output_file) =
            (temporary.path().join("prompt.txt"), temporary.path().join("output"));
        // Relative to the suite, unless the agent works in a folder of its own.
        let own = self.cwd.as_deref().map(|cwd| folder.join(cwd));
        let start = own.as_deref().unwrap_or(here);
        let (mut process, input) = match &self.how {
            CommandForm::Template(line) => {
                tokio::fs::write(&prompt_file, prompt).await.map_err(broken)?;
                let values = [
                    ("{PROMPT}", shell_quote(prompt)),
                    ("{PROMPT_FILE}", shell_quote(&prompt_file.to_string_lossy())),
                    ("{OUTPUT_FILE}", shell_quote(&output_file.to_string_lossy())),
                    ("{EVAL_ID}", shell_quote(which.name)),
                    ("{ATTEMPT}", (which.trial - 1).to_string()),
                    ("{FILES}", String::new()),
                ];
                let line = with_environment(line)?;
                let mut process = Process::from(platform::build_program_command("sh"));
                process.arg("-c").arg(fill_placeholders(&line, &values));
                // A program without another place for the prompt reads it from standard input.
                let takes = line.contains("{PROMPT}") || line.contains("{PROMPT_FILE}");
                (process, (!takes).then(|| prompt.to_owned()))
            }
            CommandForm::Arguments(words, options) => {
                let [program, rest @ ..] = words.as_slice() else {
                    return Err(AgentRunError::unreachable("the target names no program"));
                };
                let mut process = Process::from(platform::build_command_in(start, program));
                process.args(rest).arg(prompt).arg(options.to_string());
                process.arg(json!({ "vars": vars, "test": { "description": which.name } }).to_string());
                (process, None)
            }
        };
        process.current_dir(start).env("JURIST_WORKSPACE", here);
        let output = run_program(process, input.as_deref().map(str::as_bytes), self.timeout).await;
        let output = output.map_err(|error| describe_program_failure("the program", &error))?;
        let written = tokio::fs::read(&output_file).await.ok();
        if matches!(&self.how, CommandForm::Template(line) if line.contains("{OUTPUT_FILE}"))
            && written.is_none()
        {
            return Err(AgentRunError::unavailable("the program did not write {OUTPUT_FILE}"));
        }
        read_answer(&String::from_utf8_lossy(&written.unwrap_or(output)))
    }
}

/// Why `what` has no result. A program that cannot be started because the system is short of something may start
/// another time; one that does not exist or is not executable is an error.
pub(super) fn describe_program_failure(what: &str, error: &ProgramError) -> AgentRunError {
    let detail = format!("{what} {error}");
    match error {
        ProgramError::NotStarted(why)
            if matches!(why.kind(), ErrorKind::NotFound | ErrorKind::PermissionDenied) =>
        {
            AgentRunError::Failed(Failure::Crashed, detail)
        }
        ProgramError::NotStarted(_) => AgentRunError::unreachable(detail),
        ProgramError::Timeout(_) => AgentRunError::Failed(Failure::Timeout, detail),
        ProgramError::Status { .. } | ProgramError::Lost(_) | ProgramError::TooLarge(_) => {
            AgentRunError::unavailable(detail)
        }
    }
}

/// The options of a program: its settings, without those that only Jurist reads.
fn build_options(config: &Map<String, Json>) -> Json {
    let mut config = config.clone();
    config.remove(CaseTarget::CHAT_FORMAT);
    json!({ "config": config })
}

/// Replaces all placeholders in one pass, so that a placeholder in an inserted value stays text.
fn fill_placeholders(line: &str, values: &[(&str, String)]) -> String {
    let (mut out, mut rest) = (String::new(), line);
    while let Some(at) = rest.find('{') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        match values.iter().find(|(name, _)| rest.starts_with(name)) {
            Some((name, value)) => {
                out.push_str(value);
                rest = &rest[name.len()..];
            }
            None => {
                out.push('{');
                rest = &rest[1..];
            }
        }
    }
    out + rest
}

/// Quotes a text so that the shell reads it as one word.
fn shell_quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Words as a shell would part them; quotation marks keep spaces.
fn split_shell_words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut within, mut begun) = (Vec::new(), String::new(), None, false);
    for letter in line.chars() {
        match (letter, within) {
            (letter, Some(mark)) if letter == mark => within = None,
            ('"' | '\'', None) => (within, begun) = (Some(letter), true),
            (letter, None) if letter.is_whitespace() => {
                if begun || !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            _ => word.push(letter),
        }
    }
    if begun || !word.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_does_not_exist_is_no_deferral() {
        let fail = |kind: ErrorKind| {
            describe_program_failure("the program", &ProgramError::NotStarted(std::io::Error::from(kind)))
        };
        for kind in [ErrorKind::NotFound, ErrorKind::PermissionDenied] {
            assert!(matches!(fail(kind), AgentRunError::Failed(Failure::Crashed, _)), "{kind}");
        }
        assert!(matches!(fail(ErrorKind::OutOfMemory), AgentRunError::Deferred(..)));
    }

    #[test]
    fn no_prompt_breaks_out_of_its_place() {
        let values = [
            ("{PROMPT}", shell_quote("a'b; rm -rf {OUTPUT_FILE}")),
            ("{OUTPUT_FILE}", shell_quote("/tmp/x")),
        ];
        assert_eq!(
            fill_placeholders("run {PROMPT} > {OUTPUT_FILE} {x}", &values),
            r"run 'a'\''b; rm -rf {OUTPUT_FILE}' > '/tmp/x' {x}"
        );
        assert_eq!(
            split_shell_words("node 'my agent.js' --a \"b c\" ''"),
            ["node", "my agent.js", "--a", "b c", ""]
        );
    }
}
