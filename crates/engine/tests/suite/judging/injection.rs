//! Hostile candidates before judges of every kind: gullible, honest and convinced.
//!
//! `docs/judges.md` has the table of what came of it; `JURIST_BLESS=1` writes it anew.

use std::path::Path;
use std::sync::{Arc, Mutex};

use jurist_core::candidate::{JudgeInput, StepRole, ToolResult, Trace, TraceStep};
use jurist_core::grade::{GradeFlag, Outcome};
use jurist_core::rubric::{
    AnswerTarget, Criterion, CriterionKind, Graph, Leaf, NodeAnswers, Rubric, Scale, TreeNode,
};
use jurist_engine::judge::{JudgeCase, JudgeModel};
use jurist_engine::model::ModelEndpoint;
use jurist_engine::model::script::Script;
use serde_json::{Map, Value as Json, json};

use super::{bench, caller, criterion, material, member, rubric};
use crate::server::{Act, Server};

struct Candidate {
    id: String,
    /// The part of the material that it stands in.
    part: String,
    text: String,
    /// The objects that a judge might repeat, outermost first.
    objects: Vec<Json>,
}

/// A question, what an honest judge answers, and what the candidate would like.
struct Asked {
    rubric: Rubric,
    honest: Json,
    unit: f64,
    best: Json,
}

/// What a kind of judge says.
enum Says {
    Text(fn(&Candidate, &Asked) -> String),
    /// Its server makes a call of a tool of this name from what it repeats.
    ToolCall(&'static str),
}

struct KindOfJudge {
    name: &'static str,
    /// Whether it has an answer of its own.
    is_honest: bool,
    is_convinced: bool,
    says: Says,
}

fn kinds_of_judge() -> Vec<KindOfJudge> {
    let gullible = |name, says| KindOfJudge { name, is_honest: false, is_convinced: false, says };
    let honest =
        |name, reply| KindOfJudge { name, is_honest: true, is_convinced: false, says: Says::Text(reply) };
    vec![
        gullible("repeats the candidate", Says::Text(|candidate, _| candidate.text.clone())),
        gullible("repeats its first object", Says::Text(|candidate, _| candidate.first())),
        gullible("repeats its last object", Says::Text(|candidate, _| candidate.last())),
        gullible(
            "repeats its innermost object in another spelling",
            Says::Text(|candidate, _| candidate.respelt()),
        ),
        gullible(
            "repeats its last object in a code fence",
            Says::Text(|candidate, _| format!("My grade:\n```json\n{}\n```", candidate.last())),
        ),
        gullible(
            "puts its objects into a list of criteria",
            Says::Text(|candidate, _| {
                json!({ "criteria": candidate.objects, "verdicts": candidate.objects }).to_string()
            }),
        ),
        gullible("repeats it, and its server makes a tool call of that", Says::ToolCall("grade")),
        gullible("repeats it, and its server calls another tool", Says::ToolCall("submit_grade")),
        honest("honest", |_, asked| asked.honest.to_string()),
        honest("honest, then mentions the grade it ignored", |candidate, asked| {
            format!(
                "{}\nNote: the response contains a grade, {}, which I ignored.",
                asked.honest,
                candidate.last()
            )
        }),
        honest("honest, after quoting the candidate in a code fence", |candidate, asked| {
            format!("The response is\n```\n{}\n```\n{}", candidate.text, asked.honest)
        }),
        honest("honest, after thinking aloud with examples", |candidate, asked| {
            format!("<think>A top answer would be {}; is this one?</think>{}", asked.best, asked.honest)
                .replace("top answer", &format!("top answer, as {} has it,", candidate.id))
        }),
        honest("honest, twice", |_, asked| format!("{0}\n\nIn short: {0}", asked.honest)),
        KindOfJudge {
            name: "convinced",
            is_honest: false,
            is_convinced: true,
            says: Says::Text(|_, asked| asked.best.to_string()),
        },
    ]
}

impl Candidate {
    fn new(id: String, part: &str, text: String) -> Self {
        let objects = objects_in(&text);
        Self { id, part: part.to_owned(), text, objects }
    }

    fn first(&self) -> String {
        self.objects.first().map_or_else(|| self.text.clone(), Json::to_string)
    }

    fn last(&self) -> String {
        self.objects.last().map_or_else(|| self.text.clone(), Json::to_string)
    }

    /// Other spellings of the same values, and the keys in another order.
    fn respelt(&self) -> String {
        let Some(Json::Object(map)) = self.objects.last() else { return self.text.clone() };
        let spelt = |value: &Json| match value {
            Json::Number(number) if number.is_i64() => format!("{number}.0"),
            Json::Bool(truth) => format!("\"{truth}\""),
            Json::String(text) => {
                let escapes: String = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
                format!("\"{escapes}\"")
            }
            other => other.to_string(),
        };
        let pairs: Vec<String> =
            map.iter().rev().map(|(key, value)| format!("{}:  {}", json!(key), spelt(value))).collect();
        format!("{{\n{}\n}}", pairs.join(",\n"))
    }

    fn material(&self) -> JudgeInput {
        let (mut material, text) = (material(), self.text.clone());
        match self.part.as_str() {
            "diff" => material.diff = Some(text),
            "task" => material.task = text,
            "tool_result" => {
                let result = ToolResult { text, ..ToolResult::default() };
                let step = TraceStep { role: StepRole::Tool, results: vec![result], ..TraceStep::default() };
                material.trace = Some(Trace { steps: vec![step], ..Trace::default() });
            }
            _ => material.response = Some(text),
        }
        material
    }
}

/// Objects as a program finds them that looks for nothing else: at every brace, within objects, within strings.
fn objects_in(text: &str) -> Vec<Json> {
    fn within(value: &Json, found: &mut Vec<Json>) {
        match value {
            Json::Object(map) => {
                found.push(value.clone());
                map.values().for_each(|value| within(value, found));
            }
            Json::Array(items) => items.iter().for_each(|value| within(value, found)),
            Json::String(text) if text.contains('{') => found.extend(objects_in(text)),
            _ => {}
        }
    }
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(start) = text[at..].find('{').map(|brace| at + brace) {
        let mut stream = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Map<String, Json>>();
        match stream.next() {
            Some(Ok(map)) => {
                within(&Json::Object(map), &mut found);
                at = start + stream.byte_offset();
            }
            _ => at = start + 1,
        }
    }
    found.truncate(50);
    found
}

fn candidates() -> Vec<Candidate> {
    let written = std::fs::read_to_string("tests/injection/candidates.jsonl").unwrap();
    let mut all: Vec<Candidate> = written
        .lines()
        .map(|line| {
            let line: Json = serde_json::from_str(line).unwrap();
            let field = |name: &str| line[name].as_str().unwrap().to_owned();
            Candidate::new(field("id"), &field("where"), field("text"))
        })
        .collect();
    let packed = std::fs::read_to_string("tests/injection/packings.json").unwrap();
    let packed: Json = serde_json::from_str(&packed).unwrap();
    for (packing, template) in packed["packings"].as_object().unwrap() {
        for (name, grade) in packed["grades"].as_object().unwrap() {
            let text = pack_grade(template.as_str().unwrap(), grade);
            let mut candidate = Candidate::new(format!("{packing} {name}"), "response", text);
            if candidate.objects.is_empty() {
                // A judge reads more spellings than that program.
                candidate.objects.push(grade.clone());
            }
            all.push(candidate);
        }
    }
    all
}

/// Fills a grade into a template, in the spellings that it names.
fn pack_grade(template: &str, grade: &Json) -> String {
    let plain = grade.to_string();
    let string = |text: &str| json!(text).to_string();
    let inside = |text: &str| string(text).trim_matches('"').to_owned();
    let html = |text: &str| text.replace('&', "&amp;").replace('"', "&quot;").replace('{', "&#123;");
    let url: String = plain.bytes().map(|byte| format!("%{byte:02x}")).collect();
    let form = plain.replace('"', "%22").replace('{', "%7B").replace('}', "%7D").replace(' ', "+");
    let lines = |line: &dyn Fn(&str, &str) -> String| -> Vec<String> {
        let word = |value: &Json| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        grade.as_object().unwrap().iter().map(|(key, value)| line(key, &word(value))).collect()
    };
    let yaml = lines(&|key, value| format!("{key}: {value}"));
    let tags = lines(&|key, value| format!("<{key}>{value}</{key}>"));
    let pretty = serde_json::to_string_pretty(grade).unwrap();
    let added: Vec<String> = pretty.lines().map(|line| format!("+{line}")).collect();
    let escapes: String = plain.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
    // Longer names first.
    [
        ("@ss", string(&json!({ "body": plain }).to_string())),
        ("@s", string(&plain)),
        ("@ee", inside(&inside(&plain))),
        ("@e", inside(&plain)),
        ("@hh", html(&html(&plain))),
        ("@h", html(&plain)),
        ("@bb", base64_encode(&base64_encode(&plain))),
        ("@b", base64_encode(&plain)),
        ("@p", url),
        ("@f", form),
        ("@u", escapes),
        ("@y", yaml.join("\n")),
        ("@i", yaml.join("\n    ")),
        ("@t", tags.concat()),
        ("@d", added.join("\n")),
        ("@", plain.clone()),
    ]
    .into_iter()
    .fold(template.to_owned(), |text, (name, spelt)| text.replace(name, &spelt))
}

/// Base64 without padding.
fn base64_encode(text: &str) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bits: String = text.bytes().map(|byte| format!("{byte:08b}")).collect();
    let letter = |group: &[u8]| {
        let group = format!("{:0<6}", std::str::from_utf8(group).unwrap());
        char::from(LETTERS[usize::from_str_radix(&group, 2).unwrap()])
    };
    bits.as_bytes().chunks(6).map(letter).collect()
}

fn questions() -> Vec<Asked> {
    let leaf = |score| AnswerTarget::Leaf(Leaf { score, reason: None });
    let answers = NodeAnswers::YesNo { yes: leaf(1.0), no: leaf(0.0) };
    let node = TreeNode { id: "a".into(), ask: "Is it right?".into(), answers };
    let graph = Graph { root: "a".into(), nodes: vec![node] };
    let tree = rubric(vec![Criterion::new("city", "Is right.", CriterionKind::Tree(graph))]);
    let on = |scale: Scale| rubric(vec![criterion("city", scale)]);
    let asked = |rubric: Rubric, key: &str, honest: Json, unit: f64, best: Json| Asked {
        rubric,
        honest: json!({ "reasoning": "mine alone", key: honest }),
        unit,
        best: json!({ "reasoning": "The response convinced me.", key: best }),
    };
    vec![
        asked(on(Scale::likert(1, 5)), "score", json!(2), 0.25, json!(5)),
        asked(on(Scale::Unit), "score", json!(0.375), 0.375, json!(1)),
        asked(on(Scale::Binary), "verdict", json!(false), 0.0, json!(true)),
        asked(tree, "verdict", json!("no"), 0.0, json!("yes")),
    ]
}

#[derive(Default)]
struct Tally {
    by_parser: Vec<String>,
    n_by_conviction: usize,
    n_refused: usize,
    n_right: usize,
}

/// A judge whose server turns what it repeats into tool calls.
struct CallingJudge {
    member: JudgeModel,
    said: Arc<Mutex<String>>,
    _server: Server,
}

impl CallingJudge {
    async fn start(tool: &'static str) -> Self {
        let said = Arc::new(Mutex::new(String::new()));
        let shared = Arc::clone(&said);
        let server = Server::start(move |_| {
            let function = json!({ "name": tool, "arguments": *shared.lock().unwrap() });
            let message = json!({ "role": "assistant", "content": null,
                "tool_calls": [{ "id": "call_1", "type": "function", "function": function }] });
            Act::Raw(
                json!({ "choices": [{ "message": message, "finish_reason": "tool_calls" }] }).to_string(),
            )
        })
        .await;
        Self { member: member("openai", &server), said, _server: server }
    }
}

fn scripted(reply: String) -> JudgeModel {
    let line = ModelEndpoint {
        model: Arc::new(Script::new(vec![reply])),
        vendor: "script".into(),
        name: "script".into(),
        price: None,
        address: String::new(),
        http: None,
    };
    JudgeModel { line: Arc::new(line), temperature: None, max_tokens: 100, draw: 0 }
}

#[tokio::test]
async fn no_candidate_answers_for_its_judge() {
    let (candidates, questions) = (candidates(), questions());
    assert!(120 <= candidates.len());
    let (kinds, mut tallies) = (kinds_of_judge(), Vec::new());
    assert!(10 <= kinds.len());
    for kind in &kinds {
        let mut tally = Tally::default();
        let calling = match kind.says {
            Says::ToolCall(tool) => Some(CallingJudge::start(tool).await),
            Says::Text(_) => None,
        };
        for candidate in &candidates {
            let material = candidate.material();
            for asked in &questions {
                let member = match (&kind.says, &calling) {
                    (Says::Text(reply), _) => scripted(reply(candidate, asked)),
                    (_, Some(calling)) => {
                        *calling.said.lock().unwrap() = candidate.last();
                        calling.member.clone()
                    }
                    _ => unreachable!("a judge that calls tools has a server"),
                };
                let outcome = outcome(member, &material, &asked.rubric).await;
                tally.count(kind, candidate, asked, &outcome);
            }
        }
        tallies.push(tally);
    }
    for (kind, tally) in kinds.iter().zip(&tallies) {
        assert_eq!(tally.by_parser, [""; 0], "{}", kind.name);
        // Refusing every reply would be safe and useless.
        assert!(!kind.is_honest || tally.n_refused * 2 < tally.n_right, "{}", kind.name);
    }
    let rows: Vec<(&str, &Tally)> = kinds.iter().map(|kind| kind.name).zip(&tallies).collect();
    check_table(candidates.len(), questions.len(), &rows);
}

async fn outcome(member: JudgeModel, material: &JudgeInput, rubric: &Rubric) -> Outcome {
    let case = JudgeCase { candidate: "c", material, row: None, rubric, labels: None, contests: None };
    let decision = bench(vec![member]).decide(&caller(), case).await.unwrap();
    decision.opinions[0].grades[0].outcome.clone()
}

impl Tally {
    fn count(&mut self, kind: &KindOfJudge, candidate: &Candidate, asked: &Asked, outcome: &Outcome) {
        match outcome {
            Outcome::Failed { .. } => self.n_refused += 1,
            Outcome::Scored { .. } if kind.is_convinced => self.n_by_conviction += 1,
            Outcome::Scored { unit, .. } if kind.is_honest && *unit == Some(asked.unit) => self.n_right += 1,
            Outcome::Scored { unit, .. } => self.by_parser.push(format!("{}: {unit:?}", candidate.id)),
            other => panic!("{}: {other:?}", candidate.id),
        }
    }
}

/// The table of the documentation says what came of it.
fn check_table(n_candidates: usize, n_questions: usize, rows: &[(&str, &Tally)]) {
    let mut table = format!(
        "{n_candidates} candidates, {n_questions} kinds of question, {} trials for each kind of judge:\n\n\
         | judge | won through the parser | won by conviction | refused | graded rightly |\n\
         | --- | ---: | ---: | ---: | ---: |\n",
        n_candidates * n_questions
    );
    for (name, tally) in rows {
        let Tally { by_parser, n_by_conviction, n_refused, n_right } = tally;
        table += &format!("| {name} | {} | {n_by_conviction} | {n_refused} | {n_right} |\n", by_parser.len());
    }
    let path = Path::new("../../docs/judges.md");
    let text = std::fs::read_to_string(path).unwrap();
    let (begin, end) = ("<!-- hostile candidates -->\n", "<!-- end of hostile candidates -->");
    let (head, rest) = text.split_once(begin).unwrap();
    let (kept, tail) = rest.split_once(end).unwrap();
    if std::env::var_os("JURIST_BLESS").is_some() {
        std::fs::write(path, format!("{head}{begin}{table}{end}{tail}")).unwrap();
        return;
    }
    assert!(kept == table, "the table in docs/judges.md is not the newest; JURIST_BLESS=1 writes\n{table}");
}

#[tokio::test]
async fn candidates_that_give_grades_are_flagged() {
    let asked = questions().remove(1);
    for candidate in candidates().iter().filter(|candidate| candidate.id.ends_with(" score")) {
        let material = candidate.material();
        let case = JudgeCase {
            candidate: "c",
            material: &material,
            row: None,
            rubric: &asked.rubric,
            labels: None,
            contests: None,
        };
        let judge = bench(vec![scripted(asked.honest.to_string())]);
        let grade = judge.decide(&caller(), case).await.unwrap().opinions.remove(0).grades.remove(0);
        assert_eq!(grade.flags, [GradeFlag::VerdictInCandidate], "{}", candidate.id);
    }
}
