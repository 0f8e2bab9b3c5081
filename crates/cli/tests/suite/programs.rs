//! Checks that programs and services decide, and targets that return more than an answer, from file to report.

#![allow(clippy::print_stderr, reason = "what is skipped is told")]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value as Json, json};
use tempfile::TempDir;

/// A folder with files, in which commands are run.
struct Project {
    folder: TempDir,
}

impl Project {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            #[cfg(unix)]
            if text.starts_with("#!") {
                use std::os::unix::fs::PermissionsExt;
                fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            }
        }
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_jurist"));
        command.args(arguments).current_dir(self.folder.path()).env_clear();
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", self.folder.path());
        command.env("SECRET_API_KEY", "hunter2hunter2").env("GREETING", "hello");
        command.output().unwrap()
    }

    /// The results of a suite, by the names of their cases.
    fn eval(&self, file: &str, flags: &[&str]) -> (Json, Output) {
        let output = self.run(&[&["eval", file, "--quiet", "--reporter", "json=run.json"], flags].concat());
        let text = fs::read_to_string(self.path("run.json")).unwrap_or_else(|_| panic!("{output:?}"));
        (serde_json::from_str(&text).unwrap(), output)
    }
}

fn grade<'a>(run: &'a Json, case: &str, criterion: &str) -> &'a Json {
    let result = run["results"].as_array().unwrap().iter().find(|item| item["case"] == case);
    let result = result.unwrap_or_else(|| panic!("no case {case}: {run}"));
    let found = result["grades"].as_array().unwrap().iter().find(|item| item["criterion"] == criterion);
    found.unwrap_or_else(|| panic!("no grade {criterion}: {result}"))
}

fn status(run: &Json, case: &str) -> String {
    let result = run["results"].as_array().unwrap().iter().find(|item| item["case"] == case).unwrap();
    result["verdict"]["status"].as_str().unwrap().to_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn has(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok();
    if !found {
        eprintln!("skipped: there is no {program}");
    }
    found
}

/// The page of document 001, with the script it names.
const SCRIPT_SUITE: &str = "
tests:
  - id: code-quality
    criteria: Generates correct, clean Python code
    input: Write a fibonacci function
    output: |
      def fib(n):
          return n if n < 2 else fib(n - 1) + fib(n - 2)
    assert:
      - name: syntax_check
        type: script
        command: [./validators/check_python.py]
";

const CHECK_PYTHON: &str = "#!/usr/bin/env python3
import ast, json, os, sys
data = json.load(sys.stdin)
tree = ast.parse(data['output'])
names = [node.name for node in tree.body]
assert data['input'][0]['content'] == 'Write a fibonacci function'
print(json.dumps({
    'score': 1.0 if 'fib' in names else 0.0,
    'hits': ['parses'], 'misses': [],
    'reasoning': data['criteria'] + ': ' + ','.join(names),
}))
";

#[test]
fn the_script_grader_of_the_rubrics_page_runs() {
    if !has("python3") {
        return;
    }
    let project = Project::new(&[("suite.yaml", SCRIPT_SUITE), ("validators/check_python.py", CHECK_PYTHON)]);
    let (run, output) = project.eval("suite.yaml", &["--allow-commands"]);
    assert!(output.status.success(), "{output:?}");
    let grade = grade(&run, "code-quality", "syntax_check");
    assert_eq!(grade["outcome"]["unit"], 1.0, "{grade}");
    assert_eq!(grade["reason"], "Generates correct, clean Python code: fib");
    assert_eq!(grade["points"], json!([{ "text": "parses", "holds": true }]));
}

#[test]
fn nothing_is_started_or_planned_in_silence_without_leave() {
    let project = Project::new(&[
        ("suite.yaml", SCRIPT_SUITE),
        ("validators/check_python.py", "#!/bin/sh\ntouch started\n"),
        ("answers.jsonl", "{\"output\": \"x\"}\n"),
    ]);
    let output = project.run(&["eval", "suite.yaml"]);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("suite.yaml:12:") && said.contains("--allow-commands"), "{said}");
    assert!(said.contains("./validators/check_python.py"), "{said}");
    let explained = project.run(&["eval", "suite.yaml", "--explain"]);
    let text = String::from_utf8_lossy(&explained.stdout);
    assert!(text.contains("cannot be run") && text.contains("--allow-commands"), "{text}");
    let graded =
        project.run(&["grade", "answers.jsonl", "--check", "python", "--params", r#"{"value": "1"}"#]);
    assert!(!graded.status.success() && stderr(&graded).contains("--allow-commands"), "{graded:?}");
    assert!(!project.path("started").exists());
}

const CODE_SUITE: &str = r#"
prompts: ["Say {{word}}."]
providers: [echo]
defaultTest: {vars: {word: hello}}
tests:
  - description: passes
    assert:
      - {type: python, metric: expression, value: "context['vars']['word'] in output"}
      - {type: python, metric: score, value: "min(1, len(output) / 10)", threshold: 0.5}
      - type: python
        metric: body
        value: |
          if 'hello' in output:
              return {'pass_': True, 'score': 0.9, 'reason': 'greets', 'named_scores': {'tone': 1}}
          return False
      - {type: python, metric: file, value: "file://checks.py", config: {most: 20}}
      - {type: python, metric: named, value: "file://checks.py:is_short"}
      - {type: javascript, metric: js, value: "output.length < 20"}
      - {type: javascript, metric: js-vars, value: "output.includes(context.vars.word) ? 1 : 0"}
      - type: javascript
        metric: js-body
        value: |
          const words = output.split(' ');
          return { pass: words.length === 2, score: 1, reason: context.prompt };
      - {type: javascript, metric: js-file, value: "file://check.js"}
      - {type: javascript, metric: js-named, value: "file://check.js:long"}
      - {type: not-javascript, metric: js-not, value: "output.includes('bye')"}
"#;

const CHECKS_PY: &str = "
print('noise on the standard output')
def get_assert(output, context):
    return {'pass': len(output) <= context['config']['most'], 'score': 1, 'reason': context['test']['description'],
            'componentResults': [{'pass': True, 'score': 1, 'reason': 'short'}]}
async def is_short(output, context):
    return len(output) < 20
";

#[test]
fn assertions_of_promptfoo_in_both_languages() {
    if !has("python3") || !has("node") {
        return;
    }
    let check_js = "console.log('noise');\nmodule.exports = (output, context) => output.length > 3;\n\
                    module.exports.long = async (output) => ({ pass: output.length > 3, score: 0.85, reason: 'long' });\n";
    let project =
        Project::new(&[("suite.yaml", CODE_SUITE), ("checks.py", CHECKS_PY), ("check.js", check_js)]);
    let (run, output) = project.eval("suite.yaml", &["--allow-commands"]);
    for (criterion, unit) in [
        ("expression", 1.0),
        ("score", 1.0),
        ("body", 0.9),
        ("file", 1.0),
        ("named", 1.0),
        ("js", 1.0),
        ("js-vars", 1.0),
        ("js-body", 1.0),
        ("js-file", 1.0),
        ("js-named", 0.85),
        ("js-not", 0.0),
    ] {
        let grade = grade(&run, "passes", criterion);
        assert_eq!(grade["outcome"]["unit"], unit, "{criterion}: {grade}");
    }
    assert_eq!(grade(&run, "passes", "body")["reason"], "greets [tone 1]");
    assert_eq!(grade(&run, "passes", "file")["reason"], "passes");
    assert_eq!(grade(&run, "passes", "js-body")["reason"], "Say hello.");
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn the_example_of_an_own_check_passes() {
    if !has("python3") {
        return;
    }
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let read = |name: &str| fs::read_to_string(examples.join(name)).unwrap();
    let names = ["own-check.yaml", "own_check.py", "own_evaluator.py"];
    let texts = names.map(read);
    let files: Vec<(&str, &str)> = names.into_iter().zip(texts.iter().map(String::as_str)).collect();
    let project = Project::new(&files);
    let (run, output) = project.eval("own-check.yaml", &["--allow-commands"]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(grade(&run, "opening hours", "times")["points"].as_array().unwrap().len(), 2, "{run}");
    let mentions = grade(&run, "opening hours", "mentions");
    assert_eq!(
        (&mentions["outcome"]["unit"], &mentions["reason"]),
        (&json!(1.0), &json!("nothing is missing"))
    );
}

const EVALUATORS_PY: &str = "
class Same:
    def __init__(self, partial):
        self.partial = partial
    def evaluate(self, *, outputs, reference_outputs=None, inputs=None, context=None):
        same = outputs == reference_outputs
        return {'score': 1.0 if same else self.partial, 'value': same, 'comment': f'{inputs} {reference_outputs}'}
def silent(*, outputs, **_):
    return {'score': None, 'comment': 'nobody knows'}
";

#[test]
fn evaluators_of_python_files_are_called_by_their_contract() {
    if !has("python3") {
        return;
    }
    let suite = "
evals:
  - name: city
    prompt: Capital of France?
    response: Paris
    expected: Rome
    checks:
      - {type: python, name: same, value: 'file://own.py:Same', config: {partial: 0.25}}
      - {type: python, name: silent, value: 'file://own.py:silent'}
      - {type: python, name: nobody, value: 'evaluator:nobody'}
";
    let project = Project::new(&[("suite.yaml", suite), ("own.py", EVALUATORS_PY)]);
    let (run, _) = project.eval("suite.yaml", &["--allow-commands"]);
    let same = grade(&run, "city", "same");
    assert_eq!(same["outcome"]["unit"], 0.25, "{same}");
    assert_eq!(same["reason"], "Capital of France? Rome");
    for (criterion, why) in [("silent", "nobody knows"), ("nobody", "no evaluator is registered as `nobody`")]
    {
        let outcome = &grade(&run, "city", criterion)["outcome"];
        assert_eq!(outcome["kind"], "failed", "{outcome}");
        assert!(outcome["detail"].as_str().unwrap().contains(why), "{outcome}");
    }
}

#[test]
fn what_a_program_does_wrong_is_an_error_and_never_a_score() {
    if !has("python3") {
        return;
    }
    let case = |name: &str, check: &str| {
        format!("  - {{name: {name}, response: Paris, checks: [{{type: script, name: c, {check}}}]}}\n")
    };
    let suite = [
        ("exits", r#"command: "echo no sk-abcdefghijklmnop1234 >&2; echo 1; exit 3""#),
        ("hangs", r#"command: "sh -c 'sleep 600 & echo $! > pid; wait' & wait", timeout_ms: 1500"#),
        ("floods", r#"command: "yes 1""#),
        ("babbles", "command: [echo, looks good]"),
        ("exceeds", "command: [echo, '7']"),
        ("silent", "command: [true]"),
        ("absent", "command: [./nowhere.py]"),
    ];
    let suite: String = suite.iter().map(|(name, check)| case(name, check)).collect();
    let project = Project::new(&[("suite.yaml", &format!("evals:\n{suite}"))]);
    let (run, output) = project.eval("suite.yaml", &["--allow-commands"]);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    for (case, failure, part) in [
        ("exits", "crashed", "no [redacted]"),
        ("hangs", "timeout", "longer than 1.5 s"),
        ("floods", "malformed", "more than 1048576 bytes"),
        ("babbles", "malformed", "looks good"),
        ("exceeds", "off_scale", "score 7"),
        ("silent", "malformed", "answered nothing"),
        ("absent", "crashed", "cannot be started"),
    ] {
        let outcome = &grade(&run, case, "c")["outcome"];
        assert_eq!((&outcome["kind"], &outcome["failure"]), (&json!("failed"), &json!(failure)), "{outcome}");
        assert!(outcome["detail"].as_str().unwrap().contains(part), "{case}: {outcome}");
        assert_eq!(status(&run, case), "error", "{case}");
    }
    wait_until_dead(fs::read_to_string(project.path("pid")).unwrap().trim());
}

/// The kernel ends a killed process soon, not at once.
fn wait_until_dead(pid: &str) {
    let is_alive = || {
        let status = fs::read_to_string(Path::new("/proc").join(pid).join("stat")).unwrap_or_default();
        !status.is_empty() && !status.contains(") Z ")
    };
    for _ in 0..200_000 {
        if !is_alive() {
            return;
        }
        std::thread::yield_now();
    }
    panic!("the grandchild {pid} is still alive");
}

#[test]
fn secrets_are_not_inherited_and_named_variables_are() {
    let suite = "
evals:
  - name: bare
    response: x
    checks: [{type: script, name: c, command: 'test -z \"$SECRET_API_KEY$GREETING\" && test -n \"$PATH\" && echo true'}]
  - name: named
    response: x
    checks: [{type: script, name: c, env: [GREETING], command: 'test \"$GREETING\" = hello && echo true'}]
  - name: missing
    response: x
    checks: [{type: script, name: c, env: NOWHERE, command: 'echo true'}]
";
    let project = Project::new(&[("suite.yaml", suite)]);
    let (run, _) = project.eval("suite.yaml", &["--allow-commands"]);
    assert_eq!(status(&run, "bare"), "pass", "{run}");
    assert_eq!(status(&run, "named"), "pass", "{run}");
    let outcome = &grade(&run, "missing", "c")["outcome"];
    assert!(outcome["detail"].as_str().unwrap().contains("NOWHERE"), "{outcome}");
}

/// Answers one request, and returns what was asked.
fn serve_once(answer: &'static str) -> (String, std::thread::JoinHandle<Json>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/grade", listener.local_addr().unwrap());
    let served = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let head =
            format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", answer.len());
        reader.get_mut().write_all((head + answer).as_bytes()).unwrap();
        serde_json::from_slice(&body).unwrap()
    });
    (url, served)
}

#[test]
fn a_webhook_is_sent_the_output_and_its_context() {
    let (url, served) = serve_once(r#"{"pass": true, "score": 0.9, "reason": "fine"}"#);
    let suite = format!(
        "evals:\n  - {{name: a, prompt: Q, response: Paris, vars: {{city: Paris}}, checks: [{{type: webhook, name: c, value: '{url}'}}]}}\n"
    );
    let project = Project::new(&[("suite.yaml", &suite)]);
    let (run, output) = project.eval("suite.yaml", &["--allow-commands"]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(grade(&run, "a", "c")["outcome"]["unit"], 0.9);
    let sent = served.join().unwrap();
    assert_eq!((&sent["output"], &sent["context"]["prompt"]), (&json!("Paris"), &json!("Q")));
    assert_eq!(sent["context"]["vars"]["city"], "Paris");
}

#[test]
fn records_are_graded_by_programs_as_well() {
    if !has("python3") {
        return;
    }
    let rubric = "rubrics: {r: {criteria: [{name: c, check: {type: python, value: 'len(output) > 3'}}]}}\n";
    let records = "{\"id\": 1, \"output\": \"Paris\"}\n{\"id\": 2, \"output\": \"x\"}\n{\"id\": 3, \"output\": \"boom\"}\n";
    let project = Project::new(&[("rubric.yaml", rubric), ("answers.jsonl", records)]);
    let params = r#"{"value": "1/0 if output == 'boom' else len(output) > 3"}"#;
    let output =
        project.run(&["grade", "answers.jsonl", "--allow-commands", "--check", "python", "--params", params]);
    let lines: Vec<Json> = String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!((&lines[0]["score"], &lines[1]["score"]), (&json!(1.0), &json!(0.0)), "{output:?}");
    assert_eq!((&lines[2]["score"], &lines[2]["failure"]), (&Json::Null, &json!("crashed")));
    assert!(lines[2]["comment"].as_str().unwrap().contains("division by zero"), "{output:?}");
    assert_eq!(output.status.code(), Some(3));
    let output = project.run(&["grade", "answers.jsonl", "--allow-commands", "--rubric", "rubric.yaml"]);
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(lines.lines().count(), 3, "{output:?}");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
}

#[test]
fn the_highest_score_wins_without_a_judge() {
    let suite = "
evals:
  - name: capital
    targets: [{id: 'exec:sh a.sh', label: a}, {id: 'exec:sh b.sh', label: b}]
    prompt: Which city?
    rubric:
      threshold: 0.5
      criteria:
        - {name: city, check: {type: contains, value: Paris}}
        - {name: polite, check: {type: contains, value: please}}
        - {name: best, check: {type: max-score, value: {weights: {city: 3}}}}
";
    let project = Project::new(&[
        ("suite.yaml", suite),
        ("a.sh", "echo please wait"),
        ("b.sh", "echo Paris"),
        ("alone.yaml", "evals:\n  - {name: a, response: x, checks: [{type: max-score}]}\n"),
    ]);
    let (run, _) = project.eval("suite.yaml", &["--allow-commands"]);
    assert_eq!(grade(&run, "capital [a]", "best")["outcome"]["unit"], 0.0);
    assert_eq!(grade(&run, "capital [b]", "best")["outcome"]["unit"], 1.0);
    assert_eq!(grade(&run, "capital [b]", "best")["grader"]["kind"], "check");
    assert_eq!((status(&run, "capital [a]"), status(&run, "capital [b]")), ("fail".into(), "pass".into()));
    // Without its sibling, the worse output would be the best one.
    for selection in [["--only-failed", "latest"], ["--filter", "[a]"], ["--shard", "1/2"]] {
        let (run, _) = project.eval("suite.yaml", &[&selection[..], &["--allow-commands"]].concat());
        assert_eq!(grade(&run, "capital [a]", "best")["outcome"]["unit"], 0.0, "{selection:?}");
        assert_eq!(grade(&run, "capital [b]", "best")["outcome"]["unit"], 1.0, "{selection:?}");
    }
    let output = project.run(&["eval", "suite.yaml", "--allow-commands", "--shard", "2/2"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("no case is left"), "{output:?}");
    // Nor does an output win because the other one could not be produced; once it is, both are compared.
    let script = project.path("b.sh");
    fs::write(&script, "exit 1").unwrap();
    let (run, _) = project.eval("suite.yaml", &["--allow-commands", "--no-cache"]);
    let undecided = &grade(&run, "capital [a]", "best")["outcome"];
    assert!(undecided.to_string().contains("`capital [b]` has no output"), "{undecided}");
    fs::write(&script, "echo Paris").unwrap();
    let (run, _) = project.eval("suite.yaml", &["--allow-commands", "--no-cache", "--resume", "latest"]);
    assert_eq!(grade(&run, "capital [a]", "best")["outcome"]["unit"], 0.0);
    assert_eq!(grade(&run, "capital [b]", "best")["outcome"]["unit"], 1.0);
    let output = project.run(&["check", "alone.yaml"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

#[test]
fn a_target_may_return_everything_that_its_run_left_behind() {
    let answer = json!({
        "output": "4.90",
        "messages": [
            { "role": "user", "content": "How much?" },
            { "role": "assistant", "content": null,
              "tool_calls": [{ "id": "1", "type": "function", "function": { "name": "price", "arguments": "{}" } }] },
            { "role": "tool", "tool_call_id": "1", "content": "4.90" },
            { "role": "assistant", "content": "4.90" },
        ],
        "context": ["The menu says 4.90."],
        "tokenUsage": { "total": 12, "prompt": 10, "completion": 2 },
        "cost": 0.25,
        "latencyMs": 100,
        "files": { "notes/price.txt": "4.90\n" },
        "confidence": 0.7,
    });
    let suite = "
evals:
  - name: price
    targets: ['exec:sh agent.sh']
    prompt: How much?
    checks:
      - {type: equals, value: '4.90'}
      - {type: 'trajectory:tool-used', value: price}
      - {type: latency, threshold: 200}
      - {type: cost, budget: 0.3}
      - {type: token-usage, max_total: 12}
  - name: again
    targets: ['exec:sh agent.sh']
    prompt: How much?
    checks: [{type: equals, value: '4.90'}]
  - name: broken
    targets: ['exec:sh broken.sh']
    prompt: How much?
    checks: [{type: equals, value: '4.90'}]
";
    let project = Project::new(&[
        ("suite.yaml", suite),
        ("agent.sh", &format!("cat <<'END'\n{answer}\nEND\n")),
        ("broken.sh", "echo '{\"output\": \"4.90\", \"trace\": [1, 2]}'"),
    ]);
    let (run, output) = project.eval("suite.yaml", &["--allow-commands"]);
    assert_eq!(status(&run, "price"), "pass", "{run}");
    let material = &run["results"][0]["material"];
    assert_eq!(material["context"], json!(["The menu says 4.90."]));
    assert!(material["diff"].as_str().unwrap().contains("+++ b/notes/price.txt\n@@ -0,0 +1,1 @@\n+4.90"));
    assert_eq!(material["measurements"]["duration_ms"], 100.0);
    assert_eq!(stderr(&output).matches("`confidence`").count(), 1, "{}", stderr(&output));
    assert_eq!(status(&run, "broken"), "error");
    let outcome = &run["results"][2]["grades"][0]["outcome"];
    assert!(outcome["detail"].as_str().unwrap().contains("`trace` cannot be read"), "{outcome}");
}

/// A promptfoo file whose prompts, tests, variables and answers go through code.
const SCRIPTED_SUITE: &str = "
prompts: [file://prompt.py, file://prompt.js:shout, 'exec:./prompt.sh word', file://prints.py]
providers: [{id: echo, transform: output.trim()}]
defaultTest:
  vars: {salt: file://salt.js}
  options: {transformVars: '{ ...vars, twice: vars.word + vars.word }', transform: file://transform.py}
tests: [{path: 'file://tests.py:make', config: {words: [ab, cd]}}]
";

#[test]
fn code_of_promptfoo_files_runs_only_with_leave() {
    if !has("python3") || !has("node") {
        return;
    }
    let project = Project::new(&[
        ("promptfooconfig.yaml", SCRIPTED_SUITE),
        ("prompt.py", "def get_prompt(context):\n    return ' word ' + context['vars']['twice'] + ' '\n"),
        // Without `get_prompt`, promptfoo runs the whole file and takes what it prints.
        (
            "prints.py",
            "import json, sys\nif __name__ == '__main__':\n    context = json.loads(sys.argv[1])\n    print(context['vars']['word'], 'for', context['provider']['id'])\n",
        ),
        ("prompt.js", "module.exports = { shout: ({ vars }) => vars.word.toUpperCase() };\n"),
        ("prompt.sh", "#!/bin/sh\necho \"$1 $2\"\n"),
        ("salt.js", "module.exports = (name) => ({ output: name.length });\n"),
        (
            "transform.py",
            "def get_transform(output, context):\n    return output + '!' + str(context['vars'].get('salt', ''))\n",
        ),
        (
            "tests.py",
            "import os\ndef make(config):\n    assert 'SECRET_API_KEY' not in os.environ\n    return [{'description': word, 'vars': {'word': word}, 'assert': [{'type': 'icontains', 'value': word}, {'type': 'contains', 'value': '!'}]} for word in config['words']]\n",
        ),
    ]);
    let refused = project.run(&["eval", "promptfooconfig.yaml"]);
    assert!(stderr(&refused).contains("only with --allow-commands"), "{refused:?}");
    let checked = project.run(&["check", "promptfooconfig.yaml"]);
    assert!(stderr(&checked).contains("known only in a run with --allow-commands"), "{checked:?}");
    let (run, output) = project.eval("promptfooconfig.yaml", &["--allow-commands"]);
    for case in
        ["ab [prompt.py]", "ab [prompt.js:shout]", "cd [prompt.py]", "cd [prompt 3]", "cd [prints.py]"]
    {
        assert_eq!(status(&run, case), "pass", "{case}: {run}");
    }
    assert!(run.to_string().contains("cd for echo!"), "{run}");
    assert!(output.status.success(), "{output:?}");
}

/// The older name of `transform`, of a provider and of a test.
const POSTPROCESSED_SUITE: &str = "
# yaml-language-server: $schema=https://promptfoo.dev/config-schema.json
prompts: ['{{ word }}']
providers: [{id: echo, postprocess: output + '-a'}]
tests:
  - {description: of the provider, vars: {word: oslo}, assert: [{type: equals, value: oslo-a}]}
  - description: of the test
    vars: {word: oslo}
    options: {postprocess: output.toUpperCase()}
    assert: [{type: equals, value: OSLO-A}]
";

#[test]
fn postprocess_of_promptfoo_files_changes_the_answer_as_transform_does() {
    if !has("node") {
        return;
    }
    let project = Project::new(&[("promptfooconfig.yaml", POSTPROCESSED_SUITE)]);
    let refused = project.run(&["eval", "promptfooconfig.yaml"]);
    assert!(stderr(&refused).contains("--allow-commands"), "{refused:?}");
    let (run, output) = project.eval("promptfooconfig.yaml", &["--allow-commands"]);
    assert_eq!(status(&run, "of the provider"), "pass", "{run}");
    assert_eq!(status(&run, "of the test"), "pass", "{run}");
    assert!(output.status.success(), "{output:?}");
}

/// An AgentV file whose functions prepare the folder of the agent.
const EXTENDED_SUITE: &str = "
extensions: ['file://hooks.mjs:beforeEach', 'file://hooks.mjs:beforeAll']
providers: [{id: cli, label: agent, config: {command: cat note.txt}}]
tests:
  - {id: prepared, input: Read., assert: [{type: equals, value: beforeAll beforeEach prepared}]}
";

#[test]
fn functions_under_extensions_prepare_the_workspace() {
    if !has("node") {
        return;
    }
    let hooks = "
import { appendFileSync } from 'node:fs';
const note = (context, text) => appendFileSync(`${context.workspace_path}/note.txt`, text);
export const beforeAll = (context, { hookName }) => note(context, `${hookName} `);
export async function beforeEach(context) {
  if (process.env.SECRET_API_KEY) throw new Error('a secret');
  note(context, `${context.hook_name} ${context.test_id}`);
}
";
    let project = Project::new(&[("suite.yaml", EXTENDED_SUITE), ("hooks.mjs", hooks)]);
    let (run, output) = project.eval("suite.yaml", &["--allow-commands"]);
    assert_eq!(status(&run, "prepared"), "pass", "{run}");
    assert!(output.status.success(), "{output:?}");
    assert!(!project.path("note.txt").exists(), "the functions work on a copy");

    let broken = Project::new(&[("suite.yaml", EXTENDED_SUITE), ("hooks.mjs", "export const other = 1;\n")]);
    let (run, _) = broken.eval("suite.yaml", &["--allow-commands"]);
    assert_eq!(status(&run, "prepared"), "error", "{run}");
    assert!(run.to_string().contains("exports no function beforeAll"), "{run}");
}

/// Tests that code decides by the scores of their metrics, in both languages.
const SCORED_SUITE: &str = "
prompts: [x]
providers: [echo]
defaultTest:
  assertScoringFunction: file://score.py
  assert:
    - {type: contains, value: Oslo, metric: place}
    - {type: contains, value: Bergen, metric: place, weight: 3}
    - {type: not-contains, value: sorry, metric: tone}
tests:
  - {description: python, providerOutput: It is Oslo.}
  - {description: javascript, providerOutput: It is Oslo., threshold: 0.5, assertScoringFunction: 'file://score.js:lowest'}
  - {description: transformed, providerOutput: It is oslo., options: {transform: file://transform.py}}
  - {description: broken, providerOutput: It is Oslo., assertScoringFunction: 'file://score.js:missing'}
";

#[test]
fn a_scoring_function_decides_by_the_scores_of_metrics() {
    if !has("python3") || !has("node") {
        return;
    }
    let project = Project::new(&[
        ("promptfooconfig.yaml", SCORED_SUITE),
        (
            "score.py",
            "def func(scores, context):\n    mean = sum(scores.values()) / len(scores)\n    return {'pass': mean > 0.6, 'score': mean, 'reason': str(sorted(scores.items()))}\n",
        ),
        (
            "score.js",
            "module.exports = { lowest: (scores, context) => { const score = Math.min(...Object.values(scores)); return { pass: score >= context.threshold, score, reason: 'the lowest' }; } };\n",
        ),
        (
            "transform.py",
            "def get_transform(output, context):\n    return output.replace('oslo', 'Oslo and Bergen')\n",
        ),
    ]);
    let refused = project.run(&["eval", "promptfooconfig.yaml"]);
    assert!(stderr(&refused).contains("--allow-commands"), "{refused:?}");
    let (run, _) = project.eval("promptfooconfig.yaml", &["--allow-commands"]);
    // Oslo weighs 1 of 4, so that the place is worth 0.25 and the mean 0.625.
    let scored = grade(&run, "python", "assertScoringFunction");
    assert_eq!(scored["outcome"]["unit"], 0.625, "{scored}");
    assert!(scored["reason"].as_str().unwrap().contains("('place', 0.25), ('tone', 1"), "{scored}");
    assert_eq!(status(&run, "python"), "pass");
    assert_eq!(grade(&run, "javascript", "assertScoringFunction")["outcome"]["unit"], 0.25);
    assert_eq!(status(&run, "javascript"), "fail");
    assert_eq!(grade(&run, "transformed", "assertScoringFunction")["outcome"]["unit"], 1.0);
    assert_eq!(status(&run, "broken"), "error");
    let native = project.run(&["convert", "promptfooconfig.yaml"]);
    fs::write(project.path("native.yaml"), &native.stdout).unwrap();
    let (again, _) = project.eval("native.yaml", &["--allow-commands"]);
    for case in ["python", "javascript", "transformed"] {
        assert_eq!(status(&again, case), status(&run, case), "{case}");
    }
}
