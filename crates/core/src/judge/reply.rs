//! Reads a judge's reply: the answer it gives, or exactly why it gives none.
//!
//! Nothing is taken by luck: a missing, off-scale or half-written answer is malformed, never a number.

use serde_json::{Map, Value as Json};

use super::author_reply_shape::read_own_shape;
use super::objects::{ReplyPart, parse_reply_bool, reply_parts};
use super::planted_verdicts::{Echo, PlantedAnswers, PlantedContent};
use super::reply_schema::{AnswerSchema, ReplySchema};
use crate::grade::Failure;
use crate::rubric::{OffScale, Scale, Value};

/// A judge's reply, in the shape that was requested.
#[derive(Debug, Clone, PartialEq)]
pub enum JudgeReply {
    Answer(JudgeAnswer),
    /// By id, each criterion that was asked about once.
    Answers(Vec<(String, Result<JudgeAnswer, JudgeReplyError>)>),
    Choice {
        label: String,
        reason: String,
    },
    Claims(Vec<(String, bool)>),
    /// In the order of the requirements; `None` where the judge left one out.
    Verdicts(Vec<Option<(bool, String)>>),
    Steps(Vec<String>),
}

/// An answer on a scale.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgeAnswer {
    /// `None`: the judge cannot tell.
    pub value: Option<Value>,
    pub reason: String,
    /// Quotes as the judge wrote them, not yet verified.
    pub quotes: Vec<String>,
}

/// Why a reply holds no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum JudgeReplyError {
    #[error("the reply is empty")]
    Empty,
    #[error("the reply holds no complete JSON object")]
    NotJson,
    #[error("the only answer in the reply is also part of the candidate; answer with your own reasons")]
    Planted,
    #[error("the reply gives two different answers; exactly one is wanted")]
    Contradiction,
    #[error("{}", format_missing_quotes(.0))]
    QuotesNotFound(Vec<String>),
    #[error("the reply was cut off; `max_tokens` may be too low")]
    CutOff,
    /// Why, in words.
    #[error("{0}")]
    Stopped(String),
    #[error("the reply has no `{0}`")]
    Missing(&'static str),
    #[error("`{key}` is {found}, not {wanted}")]
    WrongType { key: &'static str, found: String, wanted: &'static str },
    #[error(transparent)]
    OffScale(OffScale),
    #[error("`{found}` is none of {}", allowed.join(", "))]
    UnknownChoice { found: String, allowed: Vec<String> },
    #[error("the reply gives no reason, which this rubric requires")]
    NoReason,
    #[error("no answer for criterion `{0}`")]
    LeftOut(String),
    #[error("criterion `{0}` is answered twice")]
    Twice(String),
    #[error("`{0}` holds an object where a plain answer belongs")]
    Nested(String),
}

impl JudgeReplyError {
    pub fn failure(&self) -> Failure {
        match self {
            Self::OffScale(_) => Failure::OffScale,
            Self::QuotesNotFound(_) => Failure::EvidenceNotFound,
            _ => Failure::Malformed,
        }
    }
}

/// The follow-up message to a judge whose quotes do not support its answer.
fn format_missing_quotes(quotes: &[String]) -> String {
    let wanted =
        "copy the words that settle it, at least one telling word of each quote, from what was graded";
    if quotes.is_empty() {
        return format!("no quote backs the answer; {wanted}");
    }
    let quotes: Vec<String> =
        quotes.iter().map(|quote| format!("“{}”", quote.chars().take(200).collect::<String>())).collect();
    format!("not found in what was graded, or too little to show anything: {}; {wanted}", quotes.join(", "))
}

impl ReplySchema {
    /// What a reply says; nothing in it that only repeats what was graded counts.
    pub(super) fn read(&self, text: &str, planted: &PlantedContent) -> Result<JudgeReply, JudgeReplyError> {
        let text = strip_thinking(text)?;
        let planted = planted.answers_to(self);
        let (mut stated, mut n_objects, mut n_echoes) = (StatedAnswers::default(), 0, 0);
        for part in reply_parts(text) {
            match part {
                ReplyPart::Object(map) => {
                    n_objects += 1;
                    let map = read_own_shape(self, &map).unwrap_or(map);
                    match self.is_answer(&map).then(|| planted.echo(&map)) {
                        Some(Echo::Whole) => n_echoes += 1,
                        Some(echo) => stated.add(self.read_map(&map, &planted)?, echo),
                        None => {}
                    }
                }
                // A part of a broken answer is not the answer; broken code beside it is none at all.
                ReplyPart::Broken(part) if !self.is_about(part) || planted.has_text(part) => {}
                ReplyPart::Broken(_) | ReplyPart::Unclosed => return Err(JudgeReplyError::NotJson),
            }
        }
        if stated.differ {
            return Err(JudgeReplyError::Contradiction);
        }
        match stated.own {
            Some(reply) => Ok(reply),
            None if 0 < n_echoes || stated.first.is_some() => Err(JudgeReplyError::Planted),
            None if n_objects == 0 && planted.has_word(text) => Err(JudgeReplyError::Planted),
            None if n_objects == 0 => self.read_word(text),
            None => Err(JudgeReplyError::Missing(self.keys()[0])),
        }
    }

    fn is_answer(&self, map: &Map<String, Json>) -> bool {
        self.keys().iter().any(|key| map.contains_key(*key))
    }

    /// Whether a stretch that is no JSON names what an answer holds.
    fn is_about(&self, stretch: &str) -> bool {
        let named = |key: &&str| stretch.contains(&format!("\"{key}\""));
        self.keys().iter().chain(&["reasoning", "reason"]).any(named)
    }

    /// Keys that hold the answer: ours, and those of replies made for other tools.
    fn keys(&self) -> &'static [&'static str] {
        match self {
            Self::Answer(item) => item_keys(item),
            Self::Answers(_) => &["criteria"],
            Self::Choice { .. } => &["verdict", "choice"],
            Self::Claims => &["claims"],
            Self::Verdicts { .. } => &["verdicts"],
            Self::Steps => &["steps"],
        }
    }

    /// Reads a choice that the judge wrote as a word.
    fn read_word(&self, text: &str) -> Result<JudgeReply, JudgeReplyError> {
        match self {
            Self::Choice { labels } if !text.is_empty() => {
                let label = chosen_label(text, labels).ok_or(JudgeReplyError::NotJson)?;
                Ok(JudgeReply::Choice { label, reason: String::new() })
            }
            _ if text.is_empty() => Err(JudgeReplyError::Empty),
            _ => Err(JudgeReplyError::NotJson),
        }
    }

    fn read_map(
        &self,
        map: &Map<String, Json>,
        planted: &PlantedAnswers<'_>,
    ) -> Result<JudgeReply, JudgeReplyError> {
        let list = |key: &'static str| {
            let wrong = |choice: &Json| wrong_type(key, choice, "a list");
            map.get(key).map_or(Err(JudgeReplyError::Missing(key)), |value| {
                value.as_array().ok_or_else(|| wrong(value))
            })
        };
        Ok(match self {
            Self::Answer(item) => JudgeReply::Answer(read_judge_answer(map, item)?),
            Self::Answers(items) => {
                let entries: Vec<&Map<String, Json>> =
                    list("criteria")?.iter().filter_map(Json::as_object).collect();
                let answer = |(at, (id, item)): (usize, &(String, AnswerSchema))| {
                    (id.clone(), read_answer_by_id(id, item, &entries, |map| planted.echo_on(at, item, map)))
                };
                JudgeReply::Answers(items.iter().enumerate().map(answer).collect())
            }
            Self::Choice { labels } => {
                let choice = stated_choice(map).unwrap_or(&Json::Null);
                let word =
                    choice.as_str().ok_or_else(|| wrong_type("verdict", choice, "one of the choices"))?;
                let unknown =
                    || JudgeReplyError::UnknownChoice { found: word.to_owned(), allowed: labels.clone() };
                JudgeReply::Choice {
                    label: chosen_label(word, labels).ok_or_else(unknown)?,
                    reason: reply_reason(map),
                }
            }
            Self::Claims => {
                let claims = own_entries(list("claims")?, "supported", planted)?;
                JudgeReply::Claims(claims.into_iter().map(read_reply_claim).collect::<Result<_, _>>()?)
            }
            Self::Verdicts { requirements, again } => {
                let all = read_requirement_verdicts(
                    &own_entries(list("verdicts")?, "satisfied", planted)?,
                    requirements,
                )?;
                if !again && all.iter().all(Option::is_none) {
                    return Err(JudgeReplyError::Missing("verdicts"));
                }
                JudgeReply::Verdicts(all)
            }
            Self::Steps => {
                let steps: Vec<String> =
                    list("steps")?.iter().filter_map(|list| list.as_str().map(str::to_owned)).collect();
                if steps.is_empty() {
                    return Err(JudgeReplyError::Missing("steps"));
                }
                JudgeReply::Steps(steps)
            }
        })
    }
}

impl JudgeReply {
    /// Whether two replies give the same answer, whatever their reasons.
    fn is_same_answer(&self, other: &Self) -> bool {
        let value = |answer: &Result<JudgeAnswer, JudgeReplyError>| {
            answer.as_ref().map(|answer| answer.value.clone()).ok()
        };
        match (self, other) {
            (Self::Answer(a), Self::Answer(b)) => a.value == b.value,
            (Self::Answers(a), Self::Answers(b)) => {
                a.len() == b.len()
                    && a.iter().zip(b).all(|((id, a), (other, b))| id == other && value(a) == value(b))
            }
            (Self::Choice { label: a, .. }, Self::Choice { label: b, .. }) => a == b,
            (Self::Verdicts(a), Self::Verdicts(b)) => {
                let holds = |all: &[Option<(bool, String)>]| -> Vec<Option<bool>> {
                    all.iter().map(|verdict| verdict.as_ref().map(|(holds, _)| *holds)).collect()
                };
                holds(a) == holds(b)
            }
            (a, b) => a == b,
        }
    }
}

/// The answers of one reply, of which only one is wanted.
#[derive(Debug, Default)]
struct StatedAnswers {
    first: Option<JudgeReply>,
    /// The last one with reasons of its own.
    own: Option<JudgeReply>,
    differ: bool,
}

impl StatedAnswers {
    fn add(&mut self, reply: JudgeReply, echo: Echo) {
        match &self.first {
            Some(first) => self.differ |= !reply.is_same_answer(first),
            None => self.first = Some(reply.clone()),
        }
        if echo == Echo::Own {
            self.own = Some(reply);
        }
    }
}

/// The reply without what a model thought before it spoke; some say only where their thoughts end.
fn strip_thinking(text: &str) -> Result<&str, JudgeReplyError> {
    let text = text.trim();
    let thinks = text.starts_with("<think>");
    match text.split_once("</think>") {
        Some((thought, rest)) if thinks || !thought.contains('{') => Ok(rest.trim()),
        None if thinks => Err(JudgeReplyError::CutOff),
        _ => Ok(text),
    }
}

fn item_keys(item: &AnswerSchema) -> &'static [&'static str] {
    match item.scale {
        Scale::Binary => &["verdict", "pass", "pass_", "unsure"],
        Scale::Choices(_) => &["verdict", "choice", "unsure"],
        Scale::Unit | Scale::Likert { .. } | Scale::Ranges(_) => &["score", "unsure"],
    }
}

/// The value under the key of the answer: `Some(None)` for a judge that says it cannot tell.
pub(super) fn stated_value<'m>(map: &'m Map<String, Json>, item: &AnswerSchema) -> Option<Option<&'m Json>> {
    if item.unsure && map.get("unsure").is_some_and(|map| parse_reply_bool(map) == Some(true)) {
        return Some(None);
    }
    let value = item_keys(item)
        .iter()
        .filter(|item_key| **item_key != "unsure")
        .find_map(|item_key| map.get(*item_key));
    value.filter(|value| !value.is_null()).map(Some)
}

pub(super) fn stated_choice(map: &Map<String, Json>) -> Option<&Json> {
    map.get("verdict").or_else(|| map.get("choice"))
}

fn read_judge_answer(map: &Map<String, Json>, item: &AnswerSchema) -> Result<JudgeAnswer, JudgeReplyError> {
    let known = ["reasoning", "reason", "evidence", "id"];
    // An object under an unknown key may be a second answer, such as one copied from the candidate.
    if let Some(key) = map.iter().find(|(key, value)| value.is_object() && !known.contains(&key.as_str())) {
        return Err(JudgeReplyError::Nested(key.0.clone()));
    }
    let (reason, quotes) = (reply_reason(map), read_reply_quotes(map.get("evidence")));
    if item.reasoning && reason.trim().is_empty() {
        return Err(JudgeReplyError::NoReason);
    }
    let Some(stated) = stated_value(map, item).ok_or(JudgeReplyError::Missing(item.key()))? else {
        return Ok(JudgeAnswer { value: None, reason, quotes });
    };
    let value = read_scale_value(stated, item)?;
    item.scale.unit(&value).map_err(JudgeReplyError::OffScale)?;
    Ok(JudgeAnswer { value: Some(value), reason, quotes })
}

/// The value on its scale; the scale itself says whether it is on it.
pub(super) fn read_scale_value(stated: &Json, item: &AnswerSchema) -> Result<Value, JudgeReplyError> {
    let wrong = |wanted| wrong_type(item.key(), stated, wanted);
    match (&item.scale, stated) {
        (Scale::Binary, it) => match (parse_reply_bool(it), it.as_f64()) {
            (Some(it), _) => Ok(Value::Bool(it)),
            (None, Some(it)) => Ok(Value::Number(it)),
            _ => Err(wrong("true or false")),
        },
        (Scale::Choices(choices), Json::String(word)) => {
            let labels: Vec<String> = choices.iter().map(|choice| choice.label.clone()).collect();
            let label = chosen_label(word, &labels);
            label
                .map(Value::Text)
                .ok_or(JudgeReplyError::UnknownChoice { found: word.clone(), allowed: labels })
        }
        (Scale::Choices(_), _) => Err(wrong("one of the choices")),
        (Scale::Unit, Json::Bool(it)) => Ok(Value::Number(f64::from(u8::from(*it)))),
        (_, Json::Bool(it)) => Ok(Value::Bool(*it)),
        // A number in quotes is a number; `8/10` and `high` are not.
        (_, Json::String(text)) => match text.trim().parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Value::Number(number)),
            _ => Err(wrong("a number")),
        },
        (_, Json::Number(number)) => number.as_f64().map(Value::Number).ok_or_else(|| wrong("a number")),
        _ => Err(wrong("a number")),
    }
}

/// The label that is meant: as written, or whatever its case and last full stop, if only one is meant.
pub(super) fn chosen_label(word: &str, labels: &[String]) -> Option<String> {
    if let Some(label) = labels.iter().find(|label| *label == word.trim()) {
        return Some(label.clone());
    }
    let mut meant = labels.iter().filter(|label| bare_word(label) == bare_word(word));
    meant.next().filter(|_| meant.next().is_none()).cloned()
}

/// A word without quotes around it, its case and its last full stop.
pub(super) fn bare_word(text: &str) -> String {
    text.trim().trim_matches(['"', '\'', '`']).trim_end_matches('.').to_lowercase()
}

pub(super) fn reply_reason(map: &Map<String, Json>) -> String {
    let text = ["reasoning", "reason"].iter().find_map(|text| map.get(*text)?.as_str());
    text.unwrap_or_default().to_owned()
}

/// A quote, a list of them, or objects that hold one each.
pub(super) fn read_reply_quotes(value: Option<&Json>) -> Vec<String> {
    let one = |value: &Json| match value {
        Json::String(quote) => Some(quote.clone()),
        Json::Object(map) => {
            ["quote", "text"].iter().find_map(|key| map.get(*key)?.as_str()).map(str::to_owned)
        }
        _ => None,
    };
    let all: Vec<String> = match value {
        Some(Json::Array(items)) => items.iter().filter_map(one).collect(),
        Some(value) => one(value).into_iter().collect(),
        None => Vec::new(),
    };
    all.into_iter().filter(|quote| !quote.trim().is_empty()).collect()
}

/// The entries of a list that the judge did not copy from what was graded. `truth` is the key under which an entry says
/// whether it holds.
///
/// Next to entries of the judge's own, a copied entry that does not hold counts too: a candidate that names its own false
/// claims would otherwise take them out of the reply, and only the true ones would be left.
fn own_entries<'m>(
    entries: &'m [Json],
    truth: &str,
    planted: &PlantedAnswers<'_>,
) -> Result<Vec<&'m Json>, JudgeReplyError> {
    let is_copied: Vec<bool> = entries.iter().map(|entry| planted.has_entry(entry)).collect();
    if !entries.is_empty() && is_copied.iter().all(|is_copied| *is_copied) {
        return Err(JudgeReplyError::Planted);
    }
    let is_denied = |entry: &Json| entry.get(truth).and_then(parse_reply_bool) == Some(false);
    let counted = entries.iter().zip(is_copied).filter(|(entry, is_copied)| !is_copied || is_denied(entry));
    Ok(counted.map(|(entry, _)| entry).collect())
}

fn read_answer_by_id(
    id: &str,
    item: &AnswerSchema,
    entries: &[&Map<String, Json>],
    echo: impl Fn(&Map<String, Json>) -> Echo,
) -> Result<JudgeAnswer, JudgeReplyError> {
    let mut own = entries.iter().filter(|entry| entry.get("id").and_then(Json::as_str) == Some(id));
    match (own.next(), own.next()) {
        (None, _) => Err(JudgeReplyError::LeftOut(id.to_owned())),
        (Some(_), Some(_)) => Err(JudgeReplyError::Twice(id.to_owned())),
        (Some(map), None) if echo(map) != Echo::Own => Err(JudgeReplyError::Planted),
        (Some(map), None) => read_judge_answer(map, item),
    }
}

fn read_reply_claim(entry: &Json) -> Result<(String, bool), JudgeReplyError> {
    let text = entry["claim"].as_str().ok_or(JudgeReplyError::Missing("claim"))?;
    let supported = entry.get("supported").ok_or(JudgeReplyError::Missing("supported"))?;
    let wrong = || wrong_type("supported", supported, "true or false");
    Ok((text.to_owned(), parse_reply_bool(supported).ok_or_else(wrong)?))
}

/// The place of the requirement that an entry names, by its number or its text; the only one needs no name.
pub(super) fn find_requirement(named: &Json, requirements: &[String]) -> Option<usize> {
    match named {
        Json::Null if requirements.len() == 1 => Some(0),
        Json::Number(it) => it.as_u64().and_then(|n| usize::try_from(n).ok()?.checked_sub(1)),
        Json::String(text) => requirements.iter().position(|requirement| requirement.trim() == text.trim()),
        _ => None,
    }
}

/// By number or by their text; what the rubric does not require is not counted.
fn read_requirement_verdicts(
    entries: &[&Json],
    requirements: &[String],
) -> Result<Vec<Option<(bool, String)>>, JudgeReplyError> {
    let mut all: Vec<Option<(bool, String)>> = vec![None; requirements.len()];
    for entry in entries {
        let at = find_requirement(&entry["requirement"], requirements);
        let Some(place) = at.and_then(|at| all.get_mut(at)) else { continue };
        let satisfied = entry.get("satisfied").ok_or(JudgeReplyError::Missing("satisfied"))?;
        let wrong = || wrong_type("satisfied", satisfied, "true or false");
        let satisfied = parse_reply_bool(satisfied).ok_or_else(wrong)?;
        if place.as_ref().is_some_and(|place| place.0 != satisfied) {
            return Err(JudgeReplyError::Twice(requirements[at.unwrap_or_default()].clone()));
        }
        let quote = read_reply_quotes(entry.get("evidence")).into_iter().next().unwrap_or_default();
        *place = Some((satisfied, quote));
    }
    Ok(all)
}

fn wrong_type(key: &'static str, value: &Json, wanted: &'static str) -> JudgeReplyError {
    let value: String = value.to_string().chars().take(80).collect();
    JudgeReplyError::WrongType { key, found: value, wanted }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rubric::Choice;

    fn read(schema: &ReplySchema, text: &str) -> Result<JudgeReply, JudgeReplyError> {
        schema.read(text, &PlantedContent::default())
    }

    fn answer(schema: AnswerSchema, text: &str) -> Result<Option<Value>, JudgeReplyError> {
        match read(&ReplySchema::Answer(schema), text)? {
            JudgeReply::Answer(answer) => Ok(answer.value),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn failures_say_what_went_wrong_and_what_to_do() {
        let missing = |quotes: &[&str]| {
            JudgeReplyError::QuotesNotFound(quotes.iter().map(|quote| (*quote).to_owned()).collect())
        };
        assert_eq!(missing(&[]).failure(), Failure::EvidenceNotFound);
        assert_eq!(JudgeReplyError::Empty.failure(), Failure::Malformed);
        assert!(missing(&[]).to_string().starts_with("no quote backs the answer; copy the words"));
        let named = missing(&["a tall tower"]).to_string();
        assert!(named.contains("“a tall tower”; copy the words"), "{named}");
    }

    #[test]
    fn two_answers_of_one_reply_must_be_the_same() {
        let labels = || vec!["yes".to_owned(), "no".to_owned()];
        let binary = |id: &str| (id.to_owned(), AnswerSchema::new(Scale::Binary));
        let requirements = || vec!["short".to_owned(), "kind".to_owned()];
        let choice = ReplySchema::Choice { labels: labels() };
        let answers = ReplySchema::Answers(vec![binary("a"), binary("b")]);
        let verdicts = ReplySchema::Verdicts { requirements: requirements(), again: false };
        let both = |a: bool, b: bool| {
            format!(r#"{{"criteria": [{{"id": "a", "verdict": {a}}}, {{"id": "b", "verdict": {b}}}]}}"#)
        };
        let met = |first: bool, quote: &str| {
            format!(r#"{{"verdicts": [{{"requirement": 1, "satisfied": {first}, "evidence": "{quote}"}}]}}"#)
        };
        let cases = [
            (
                &choice,
                r#"{"verdict": "yes"}"#.to_owned(),
                r#"{"verdict": "Yes."}"#.to_owned(),
                r#"{"verdict": "no"}"#.to_owned(),
            ),
            (&answers, both(true, true), both(true, true), both(true, false)),
            (&verdicts, met(true, "one"), met(true, "two"), met(false, "one")),
            (
                &ReplySchema::Steps,
                r#"{"steps": ["x"]}"#.to_owned(),
                r#"{"steps": ["x"]}"#.to_owned(),
                r#"{"steps": ["y"]}"#.to_owned(),
            ),
        ];
        for (schema, first, same, other) in cases {
            assert!(read(schema, &format!("{first} {same}")).is_ok(), "{first} {same}");
            let refused = read(schema, &format!("{first} {other}"));
            assert!(matches!(refused, Err(JudgeReplyError::Contradiction)), "{other}: {refused:?}");
        }
    }

    #[test]
    fn thoughts_end_where_they_say() {
        let schema = ReplySchema::Choice { labels: vec!["yes".to_owned(), "no".to_owned()] };
        let label = |text: &str| match read(&schema, text) {
            Ok(JudgeReply::Choice { label, .. }) => Some(label),
            _ => None,
        };
        assert_eq!(label("I think yes</think>no").as_deref(), Some("no"));
        assert!(matches!(read(&schema, ""), Err(JudgeReplyError::Empty)));
        assert!(matches!(read(&schema, "<think>never ends"), Err(JudgeReplyError::CutOff)));
        let unit = answer(AnswerSchema::new(Scale::Unit), r#"{"reasoning": "a </think> b", "score": 0.5}"#);
        assert_eq!(unit.unwrap(), Some(Value::Number(0.5)));
    }

    #[test]
    fn a_judge_may_be_unsure_where_that_was_offered() {
        let offered = || AnswerSchema { unsure: true, ..AnswerSchema::new(Scale::Unit) };
        assert_eq!(answer(offered(), r#"{"unsure": true}"#).unwrap(), None);
        assert_eq!(
            answer(offered(), r#"{"unsure": false, "score": 0.5}"#).unwrap(),
            Some(Value::Number(0.5))
        );
        let plain = AnswerSchema::new(Scale::Unit);
        assert_eq!(answer(plain, r#"{"unsure": true, "score": 0.5}"#).unwrap(), Some(Value::Number(0.5)));
    }

    #[test]
    fn values_are_read_as_their_scale_writes_them() {
        let choices = || {
            Scale::Choices(["yes", "no"].map(|label| Choice { label: label.to_owned(), score: 1.0 }).to_vec())
        };
        let of = |scale: Scale, text: &str| answer(AnswerSchema::new(scale), text);
        assert_eq!(of(choices(), r#"{"verdict": "Yes"}"#).unwrap(), Some(Value::Text("yes".to_owned())));
        let unknown = of(choices(), r#"{"verdict": "perhaps"}"#);
        assert!(matches!(unknown, Err(JudgeReplyError::UnknownChoice { .. })), "{unknown:?}");
        let wrong = of(choices(), r#"{"verdict": true}"#);
        assert!(
            matches!(wrong, Err(JudgeReplyError::WrongType { wanted: "one of the choices", .. })),
            "{wrong:?}"
        );
        assert_eq!(of(Scale::Unit, r#"{"score": true}"#).unwrap(), Some(Value::Number(1.0)));
        let infinite = of(Scale::Unit, r#"{"score": "inf"}"#);
        assert!(matches!(infinite, Err(JudgeReplyError::WrongType { .. })), "{infinite:?}");
        let half = of(Scale::Binary, r#"{"verdict": 0.5}"#);
        assert!(matches!(half, Err(JudgeReplyError::OffScale(_))), "{half:?}");
    }

    #[test]
    fn claims_and_requirements_are_read_one_by_one() {
        let claims = read(
            &ReplySchema::Claims,
            r#"{"claims": [{"claim": "It is tall.", "supported": true}, {"claim": "It is red.", "supported": false}]}"#,
        );
        let expected = vec![("It is tall.".to_owned(), true), ("It is red.".to_owned(), false)];
        assert_eq!(claims.unwrap(), JudgeReply::Claims(expected));
        let required = |names: &[&str], reply: &str| {
            let requirements = names.iter().map(|name| (*name).to_owned()).collect();
            match read(&ReplySchema::Verdicts { requirements, again: true }, reply)? {
                JudgeReply::Verdicts(all) => {
                    Ok(all.into_iter().map(|verdict| verdict.map(|it| it.0)).collect::<Vec<_>>())
                }
                other => panic!("{other:?}"),
            }
        };
        // Without a name there is only one that can be meant.
        let unnamed = r#"{"verdicts": [{"satisfied": true}]}"#;
        assert_eq!(required(&["short"], unnamed).unwrap(), [Some(true)]);
        assert_eq!(required(&["short", "kind"], unnamed).unwrap(), [None, None]);
        let twice = |second: bool| {
            format!(
                r#"{{"verdicts": [{{"requirement": "kind", "satisfied": true}}, {{"requirement": 2, "satisfied": {second}}}]}}"#
            )
        };
        assert_eq!(required(&["short", "kind"], &twice(true)).unwrap(), [None, Some(true)]);
        let refused = required(&["short", "kind"], &twice(false));
        assert!(matches!(refused, Err(JudgeReplyError::Twice(name)) if name == "kind"));
    }
}
