//! Checks on the text of an output.

use std::borrow::Cow;

use regex::{Regex, RegexBuilder};
use serde_json::Value;

use super::limits::{
    LARGE_PATTERN, MAX_BACKTRACKING_BYTES, MAX_BYTES_OF_LARGE_PATTERN, MAX_EDIT_CELLS, MAX_PATTERN_BYTES,
    MAX_SEARCHED_BYTES, MAX_STEPS, backtracking_steps, over_limit,
};
use super::{BadCheck, CheckFinding, CheckSubject, Params, SearchScope, plain_value_text, text_of_output};
use crate::catalogue::TextCheckName;

#[derive(Debug)]
pub(super) enum TextCheck {
    /// Against a given value, or the reference.
    Exact {
        value: Option<Value>,
        case_sensitive: bool,
        strip: bool,
    },
    Contains {
        needle: Option<String>,
        case_sensitive: bool,
    },
    Many {
        needles: Vec<String>,
        all: bool,
        case_sensitive: bool,
    },
    Edge {
        text: String,
        at_end: bool,
    },
    Pattern(Pattern),
    Distance {
        to: String,
        most: f64,
    },
    /// 1 − distance / longer length.
    Closeness,
    Length {
        unit: TextLengthUnit,
        least: u64,
        most: u64,
    },
    Number {
        least: f64,
        most: f64,
    },
}

/// A pattern by the engine that runs it.
#[derive(Debug)]
pub(super) enum Pattern {
    Linear {
        regex: Regex,
        is_large: bool,
        /// Whether `$` also matches before a last line break, as in Python; in JavaScript and Rust it does not.
        is_python: bool,
    },
    /// With look-around and back references, and a limit on steps.
    Backtracking { regex: Box<fancy_regex::Regex>, flags: String },
}

/// What a length is counted in.
#[derive(Debug, Clone, Copy)]
pub(super) enum TextLengthUnit {
    Characters,
    Words,
    /// About four characters; providers count exactly.
    Tokens,
}

pub(super) fn compile_text_check(check: TextCheckName, params: &Params<'_>) -> Result<TextCheck, BadCheck> {
    let needles = |all, case_sensitive| {
        params.texts("value").map(|needles| TextCheck::Many { needles, all, case_sensitive })
    };
    let edge = |at_end| {
        Ok::<_, BadCheck>(TextCheck::Edge {
            text: params.get("value").map(plain_value_text).unwrap_or_default(),
            at_end,
        })
    };
    Ok(match check {
        TextCheckName::Equals => {
            let strip = params.bool("strip", true)?;
            TextCheck::Exact { value: params.get("value").cloned(), case_sensitive: true, strip }
        }
        TextCheckName::ExactMatch => TextCheck::Exact {
            value: None,
            case_sensitive: params.bool("case_sensitive", true)?,
            strip: params.bool("strip", true)?,
        },
        TextCheckName::Contains => TextCheck::Contains {
            needle: params.text("value")?,
            case_sensitive: params.bool("case_sensitive", params.get("value").is_some())?,
        },
        TextCheckName::ContainsAnyCase => {
            TextCheck::Contains { needle: params.text("value")?, case_sensitive: false }
        }
        TextCheckName::Any => needles(false, true)?,
        TextCheckName::All => needles(true, true)?,
        TextCheckName::AnyOfAnyCase => needles(false, false)?,
        TextCheckName::AllOfAnyCase => needles(true, false)?,
        TextCheckName::StartsWith => edge(false)?,
        TextCheckName::EndsWith => edge(true)?,
        TextCheckName::Regex => {
            TextCheck::Pattern(compile_pattern(params, "value", &params.text("flags")?.unwrap_or_default())?)
        }
        TextCheckName::PythonRegex => {
            TextCheck::Pattern(compile_pattern(params, "pattern", &python_flags(params)?)?)
        }
        TextCheckName::Levenshtein => TextCheck::Distance {
            to: params.get("value").map(plain_value_text).unwrap_or_default(),
            most: params.number("threshold")?.unwrap_or(5.0),
        },
        TextCheckName::EditDistance => TextCheck::Closeness,
        TextCheckName::WordCount => compile_word_count(params)?,
        TextCheckName::Length => {
            let units = [
                ("characters", TextLengthUnit::Characters),
                ("words", TextLengthUnit::Words),
                ("tokens", TextLengthUnit::Tokens),
            ];
            let bound = |name: &str, default: u64| {
                params.number(name).map(|number| number.map_or(default, |value| value as u64))
            };
            let unit = params.word("unit", &units, TextLengthUnit::Characters)?;
            TextCheck::Length { unit, least: bound("min", 0)?, most: bound("max", u64::MAX)? }
        }
        TextCheckName::NumericRange => TextCheck::Number {
            least: params.number("min")?.unwrap_or(f64::NEG_INFINITY),
            most: params.number("max")?.unwrap_or(f64::INFINITY),
        },
    })
}

fn compile_word_count(params: &Params<'_>) -> Result<TextCheck, BadCheck> {
    let bad = || params.bad("value", "must be a number of words, or {min, max}");
    let value = params.get("value").ok_or_else(bad)?;
    let count = value.as_u64().or_else(|| value.as_str()?.parse().ok());
    if let Some(count) = count {
        return Ok(TextCheck::Length { unit: TextLengthUnit::Words, least: count, most: count });
    }
    let map = value.as_object().ok_or_else(bad)?;
    let bound = |key: &str, default: u64| map.get(key).map_or(Some(default), Value::as_u64).ok_or_else(bad);
    Ok(TextCheck::Length {
        unit: TextLengthUnit::Words,
        least: bound("min", 0)?,
        most: bound("max", u64::MAX)?,
    })
}

/// Python's bits as letters: IGNORECASE 2, MULTILINE 8, DOTALL 16, VERBOSE 64.
fn python_flags(params: &Params<'_>) -> Result<String, BadCheck> {
    let bits = params.number("flags")?.unwrap_or(0.0) as u64;
    Ok([(2, 'i'), (8, 'm'), (16, 's'), (64, 'x')]
        .iter()
        .filter(|(bit, _)| bits & *bit != 0)
        .map(|(_, letter)| *letter)
        .collect())
}

fn compile_pattern(params: &Params<'_>, name: &str, flags: &str) -> Result<Pattern, BadCheck> {
    let text = params.text(name)?.unwrap_or_default();
    let has = |flag: char| flags.contains(flag);
    if params.word("engine", &[("linear", false), ("backtracking", true)], false)? {
        return backtracking(&text, flags, MAX_STEPS)
            .map(|regex| Pattern::Backtracking { regex: Box::new(regex), flags: flags.to_owned() })
            .map_err(|error| params.bad(name, error.to_string()));
    }
    let build = |size_limit: usize| {
        RegexBuilder::new(&text)
            .case_insensitive(has('i'))
            .multi_line(has('m'))
            .dot_matches_new_line(has('s'))
            .ignore_whitespace(has('x'))
            .size_limit(size_limit)
            .build()
    };
    let is_python = params.name() == "regex_match";
    if let Ok(regex) = build(LARGE_PATTERN) {
        return Ok(Pattern::Linear { regex, is_large: false, is_python });
    }
    build(1 << 20).map(|regex| Pattern::Linear { regex, is_large: true, is_python }).map_err(|error| {
        let reason = error.to_string();
        params.bad(name, reason.lines().last().unwrap_or_default().trim_start_matches("error: "))
    })
}

fn backtracking(text: &str, flags: &str, max_steps: usize) -> Result<fancy_regex::Regex, fancy_regex::Error> {
    let has = |flag: char| flags.contains(flag);
    fancy_regex::RegexBuilder::new(text)
        .case_insensitive(has('i'))
        .multi_line(has('m'))
        .dot_matches_new_line(has('s'))
        .ignore_whitespace(has('x'))
        .delegate_size_limit(1 << 20)
        .backtrack_limit(max_steps)
        .build()
}

fn fold_case(text: &str, case_sensitive: bool) -> Cow<'_, str> {
    if case_sensitive { Cow::Borrowed(text) } else { Cow::Owned(text.to_lowercase()) }
}

impl Pattern {
    fn run(&self, text: &str) -> CheckFinding {
        let pattern = match self {
            Self::Linear { regex, .. } => regex.as_str(),
            Self::Backtracking { regex, .. } => regex.as_str(),
        };
        let most = self.max_bytes();
        if most < text.len() {
            return CheckFinding::from_failure(format!(
                "/{pattern}/ runs on at most {most} bytes, not {}",
                text.len()
            ));
        }
        let max_steps = backtracking_steps(text.len());
        let matches = match self {
            Self::Linear { regex, is_python, .. } => {
                let before_break = text.strip_suffix('\n').filter(|_| *is_python);
                Ok(regex.is_match(text) || before_break.is_some_and(|rest| regex.is_match(rest)))
            }
            Self::Backtracking { regex, .. } if MAX_STEPS <= max_steps => regex.is_match(text),
            Self::Backtracking { flags, .. } => {
                backtracking(pattern, flags, max_steps).and_then(|regex| regex.is_match(text))
            }
        };
        match matches {
            Ok(true) => CheckFinding::pass_or_fail(true, format!("/{pattern}/ matches")),
            Ok(false) => CheckFinding::pass_or_fail(false, format!("/{pattern}/ does not match")),
            Err(_) => CheckFinding::from_failure(format!(
                "/{pattern}/ took more than {max_steps} steps on this text"
            )),
        }
    }

    fn max_bytes(&self) -> usize {
        match self {
            Self::Linear { is_large: false, .. } => MAX_PATTERN_BYTES,
            Self::Linear { is_large: true, .. } => MAX_BYTES_OF_LARGE_PATTERN,
            Self::Backtracking { .. } => MAX_BACKTRACKING_BYTES,
        }
    }
}

/// Characters of the output's beginning or end that are shown at most.
const MAX_EDGE: usize = 40;

/// How an output begins or ends, and what is expected there.
fn describe_edge(output: &str, wanted: &str, at_end: bool, passed: bool) -> String {
    let verb = if at_end { "end" } else { "begin" };
    if passed {
        return format!("{verb}s with `{wanted}`");
    }
    let output = output.trim();
    if output.is_empty() {
        return format!("the output is empty and does not {verb} with `{wanted}`");
    }
    let n_letters = wanted.trim().chars().count().clamp(1, MAX_EDGE);
    let n_skipped = if at_end { output.chars().count().saturating_sub(n_letters) } else { 0 };
    let edge: String = output.chars().skip(n_skipped).take(n_letters).collect();
    format!("{verb}s with `{}`, not with `{wanted}`", edge.replace(char::is_whitespace, " "))
}

impl TextCheck {
    pub(super) fn run(&self, subject: &CheckSubject<'_>, scope: SearchScope) -> CheckFinding {
        let output = match subject.text_in(scope) {
            Ok(output) => output,
            Err(absent) => return absent,
        };
        self.run_on(&output, subject.reference.as_deref())
    }

    fn run_on(&self, output: &Value, reference: Option<&Value>) -> CheckFinding {
        match self {
            Self::Exact { value, case_sensitive, strip } => match value.as_ref().or(reference) {
                Some(expected) => check_exact_match(output, expected, *case_sensitive, *strip),
                None => CheckFinding::without_score("there is no reference to compare with"),
            },
            Self::Contains { needle, case_sensitive } => {
                let needle = needle.as_deref().map(Cow::Borrowed);
                match needle
                    .or_else(|| reference.filter(|reference| !reference.is_null()).map(text_of_output))
                {
                    Some(needle) => {
                        let present = !needle.is_empty()
                            && fold_case(&text_of_output(output), *case_sensitive)
                                .contains(&*fold_case(&needle, *case_sensitive));
                        CheckFinding::pass_or_fail(
                            present,
                            format!("`{needle}` {}", if present { "occurs" } else { "does not occur" }),
                        )
                    }
                    None => CheckFinding::without_score("there is no text to look for"),
                }
            }
            Self::Many { needles, all, case_sensitive } => {
                let output = text_of_output(output);
                let what = "bytes of the output times texts to look for";
                if let Some(failed) = over_limit(output.len(), needles.len(), MAX_SEARCHED_BYTES, what) {
                    return failed;
                }
                let text = fold_case(&output, *case_sensitive);
                let missing: Vec<&str> = needles
                    .iter()
                    .filter(|needle| !text.contains(&*fold_case(needle, *case_sensitive)))
                    .map(String::as_str)
                    .collect();
                let passed = if *all { missing.is_empty() } else { missing.len() < needles.len() };
                CheckFinding::pass_or_fail(
                    passed,
                    if missing.is_empty() {
                        "all occur".to_owned()
                    } else if passed {
                        let present = needles.iter().find(|needle| !missing.contains(&needle.as_str()));
                        format!("`{}` occurs", present.map_or("", String::as_str))
                    } else {
                        format!("missing: {}", missing.join(", "))
                    },
                )
            }
            Self::Edge { text, at_end } => {
                let output = text_of_output(output);
                let passed = if *at_end {
                    output.trim_end().ends_with(text.trim_end())
                } else {
                    output.trim_start().starts_with(text.trim_start())
                };
                CheckFinding::pass_or_fail(passed, describe_edge(&output, text, *at_end, passed))
            }
            Self::Pattern(pattern) => pattern.run(&text_of_output(output)),
            Self::Distance { to, most } => {
                let distance = match distance(&text_of_output(output), to) {
                    Ok(distance) => distance,
                    Err(failed) => return failed,
                };
                CheckFinding {
                    value: distance.into(),
                    ..CheckFinding::pass_or_fail(
                        distance as f64 <= *most,
                        format!("{distance} edits, {most} allowed"),
                    )
                }
            }
            Self::Closeness => match reference {
                None => CheckFinding::without_score("there is no reference to compare with"),
                Some(reference) => {
                    let (a, b) = (text_of_output(output), text_of_output(reference));
                    let distance = match distance(&a, &b) {
                        Ok(distance) => distance,
                        Err(failed) => return failed,
                    };
                    let longest = a.chars().count().max(b.chars().count());
                    let score = if longest == 0 { 1.0 } else { 1.0 - distance as f64 / longest as f64 };
                    CheckFinding::from_score(
                        score,
                        distance,
                        format!("{distance} edits over {longest} characters"),
                    )
                }
            },
            Self::Length { unit, least, most } => {
                let text = text_of_output(output);
                let (count, name) = match unit {
                    TextLengthUnit::Characters => (text.chars().count(), "characters"),
                    TextLengthUnit::Words => (text.split_whitespace().count(), "words"),
                    TextLengthUnit::Tokens => (text.chars().count().div_ceil(4), "tokens or so"),
                };
                let count = count as u64;
                CheckFinding {
                    value: count.into(),
                    ..CheckFinding::pass_or_fail((*least..=*most).contains(&count), format!("{count} {name}"))
                }
            }
            Self::Number { least, most } => {
                let number = output.as_f64().or_else(|| text_of_output(output).trim().parse().ok());
                match number {
                    Some(number) => CheckFinding {
                        value: number.into(),
                        ..CheckFinding::pass_or_fail((*least..=*most).contains(&number), format!("{number}"))
                    },
                    None => CheckFinding::pass_or_fail(false, "not a number"),
                }
            }
        }
    }
}

/// Texts compare as texts; where a value is expected that is not text, JSON compares by value.
fn check_exact_match(output: &Value, expected: &Value, case_sensitive: bool, strip: bool) -> CheckFinding {
    if let (Value::Object(_) | Value::Array(_), Value::String(text)) = (expected, output) {
        let parsed = serde_json::from_str::<Value>(text).ok();
        let passed = parsed.is_some_and(|parsed| super::matching::is_same_value(&parsed, expected));
        return CheckFinding::pass_or_fail(passed, "compared as JSON");
    }
    let (output, expected) = (text_of_output(output), text_of_output(expected));
    let (output, expected) = (fold_case(&output, case_sensitive), fold_case(&expected, case_sensitive));
    let passed = if strip { output.trim() == expected.trim() } else { output == expected };
    CheckFinding::pass_or_fail(passed, if passed { "equal" } else { "not equal" })
}

fn distance(a: &str, b: &str) -> Result<u64, CheckFinding> {
    let what = "characters of one text times characters of the other";
    match over_limit(a.chars().count(), b.chars().count(), MAX_EDIT_CELLS, what) {
        Some(failed) => Err(failed),
        None => Ok(rapidfuzz::distance::levenshtein::distance(a.chars(), b.chars()) as u64),
    }
}
