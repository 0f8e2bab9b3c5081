//! Replies of judges: an answer is on its scale, a reply made of the candidate's words alone is no answer, and both
//! are read in linear time.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use jurist_core::candidate::JudgeInput;
use jurist_core::dialect::Dialect;
use jurist_core::judge::{JudgeAnswer, JudgeReply, JudgeReplyError, Prompter, ReplySchema};
use jurist_core::rubric::{Criterion, Rubric};

use crate::dialects::load_alone;
use crate::sections;

/// Each kind of question that a judge is asked, by a rubric of its own.
const RUBRICS: [&str; 6] = [
    "criteria: [{name: kind, description: It is kind., scale: {likert: {min: 1, max: 5}}}]",
    "criteria: [{name: right, description: It is right., cannot_assess: skip}]",
    "criteria: [{name: tone, description: Which?, scale: {choices: {warm: 1, cold: 0}}}]",
    "criteria: [{name: share, description: How much?, scale: unit}]",
    "tree: {ask: Is it polite?, yes: {score: 1}, no: {score: 0}}",
    "description: 'Output JSON: {\"tone\": int, \"clarity\": int, \"reasoning\": string}'\ncriteria:\n  - {name: tone, description: It is warm., scale: {likert: {min: 1, max: 5}}}\n  - {name: clarity, description: It is clear., scale: {likert: {min: 1, max: 5}}}\n",
];

static PARSED_RUBRICS: LazyLock<Vec<Arc<Rubric>>> =
    LazyLock::new(|| RUBRICS.iter().map(|text| parse_rubric(text)).collect());

fn parse_rubric(text: &str) -> Arc<Rubric> {
    let loaded = load_alone(text, Dialect::Native);
    let suite = loaded.suite.unwrap_or_else(|| panic!("{text}\n{:#?}", loaded.diagnostics));
    Arc::clone(suite.rubrics.values().next().expect("the file is a rubric"))
}

/// What a long reply is made of: time that grows with the square of this is noticed.
const LONG: usize = 64 << 10;

/// The first byte says which rubric it is, and whether the texts are repeated until they are long; the candidate
/// and the reply follow.
pub fn read_reply(input: &[u8]) {
    let Some((choice, input)) = input.split_first() else { return };
    let Some(mut texts) = sections(input) else { return };
    let (candidate, reply) = (texts.next().unwrap_or_default(), texts.next().unwrap_or_default());
    // One of sixteen values, because a long text takes a hundred times as long as a short one.
    let is_long = choice & 0xf0 == 0x10;
    let rubric = &PARSED_RUBRICS[usize::from(choice & 0x0f) % RUBRICS.len()];
    let (candidate, reply) = (lengthen(candidate, is_long), lengthen(reply, is_long));
    let material = JudgeInput { response: Some(candidate.clone().into_owned()), ..JudgeInput::default() };
    let prompter = Prompter::for_rubric(&material, None, rubric, 1);
    for form in &forms(&prompter, rubric) {
        check_scale(form, &prompter.read(form, &reply));
        for echo in echoes(&candidate, &reply) {
            let read = prompter.read(form, &echo);
            assert!(!decides(&read), "{form:?}\ntakes {echo:?}\nfrom the candidate as {read:?}");
        }
    }
}

fn lengthen(text: &str, is_long: bool) -> Cow<'_, str> {
    match is_long && !text.is_empty() {
        true => Cow::Owned(text.repeat((LONG / text.len()).max(1))),
        false => Cow::Borrowed(text),
    }
}

/// How the criteria of a rubric are asked for, one by one and together.
fn forms(prompter: &Prompter<'_>, rubric: &Rubric) -> Vec<ReplySchema> {
    let (nodes, criteria): (Vec<_>, Vec<_>) =
        rubric.questions().partition(|question| question.node.is_some());
    let criteria: Vec<&Criterion> = criteria.into_iter().map(|question| question.criterion).collect();
    let nodes = nodes.into_iter().filter_map(|question| question.node).map(|node| prompter.node(node));
    let alone = criteria.iter().map(|criterion| prompter.criterion(rubric, criterion));
    let together = (1 < criteria.len()).then(|| prompter.criteria(rubric, &criteria));
    let requirements = vec!["It greets.".to_owned(), "It thanks.".to_owned()];
    let asked = alone.chain(nodes).chain(together).map(|asked| asked.expect("our rubrics can be asked").form);
    asked.chain([ReplySchema::Claims, ReplySchema::Verdicts { requirements, again: false }]).collect()
}

/// Ways in which a judge may hand the candidate's own words back.
fn echoes(candidate: &str, reply: &str) -> Vec<String> {
    // The reply's length decides where a part of the candidate begins, so that a fuzzer can choose it.
    let start = candidate.char_indices().map(|(at, _)| at).nth(reply.len() % 64).unwrap_or(0);
    vec![
        candidate.to_owned(),
        candidate[start..].to_owned(),
        format!("```json\n{candidate}\n```"),
        format!("The candidate says: {candidate}"),
        candidate.repeat(2),
        candidate.lines().map(|line| format!("> {line}\n")).collect(),
        serde_json::Value::from(candidate).to_string(),
    ]
}

/// Whether a reply settles anything about the candidate.
fn decides(read: &Result<JudgeReply, JudgeReplyError>) -> bool {
    let has_value = |answer: &JudgeAnswer| answer.value.is_some();
    match read {
        Ok(JudgeReply::Answer(answer)) => has_value(answer),
        Ok(JudgeReply::Answers(answers)) => answers.iter().any(|(_, it)| it.as_ref().is_ok_and(has_value)),
        Ok(JudgeReply::Choice { .. }) => true,
        Ok(JudgeReply::Claims(claims)) => !claims.is_empty(),
        Ok(JudgeReply::Verdicts(verdicts)) => verdicts.iter().any(Option::is_some),
        Ok(JudgeReply::Steps(_)) | Err(_) => false,
    }
}

fn check_scale(form: &ReplySchema, read: &Result<JudgeReply, JudgeReplyError>) {
    let check = |item: &jurist_core::judge::AnswerSchema, answer: &JudgeAnswer| {
        if let Some(value) = &answer.value {
            let unit = item.scale.unit(value).expect("an answer is on its scale");
            assert!((0.0..=1.0).contains(&unit), "{value:?} is {unit}");
        }
    };
    match (form, read) {
        (ReplySchema::Answer(item), Ok(JudgeReply::Answer(answer))) => check(item, answer),
        (ReplySchema::Answers(items), Ok(JudgeReply::Answers(answers))) => {
            assert_eq!(items.len(), answers.len(), "every criterion is answered or named");
            for ((_, item), (_, answer)) in items.iter().zip(answers) {
                answer.iter().for_each(|answer| check(item, answer));
            }
        }
        (ReplySchema::Choice { labels }, Ok(JudgeReply::Choice { label, .. })) => {
            assert!(labels.contains(label));
        }
        (_, Ok(_)) => {}
        (_, Err(error)) => assert!(error.to_string().len() < 100_000, "{error:.100}"),
    }
}
