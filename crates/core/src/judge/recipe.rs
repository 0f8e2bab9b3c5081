//! Recipes: named ways in which a judge grades, some of them in several turns.

use serde_json::{Value as Json, json};

use super::form::{Form, Item};
use super::prompt::{Asked, BadTemplate, Prompter};
use super::reply::{Answer, Reply};
use crate::catalogue::Method;
use crate::grade::{Outcome, Point, Value, score_of_points};
use crate::rubric::Scale;

/// What to do after the replies so far.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    Ask(Box<Asked>),
    Done(Judged),
}

/// What a judge's replies come to.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    pub outcome: Outcome,
    pub reason: String,
    pub quotes: Vec<String>,
    pub points: Vec<Point>,
}

impl Judged {
    pub(super) fn scored(unit: f64, reason: impl Into<String>) -> Self {
        let outcome = Outcome::Scored { value: Value::Number(unit), unit: Some(unit) };
        Self { outcome, reason: reason.into(), quotes: Vec::new(), points: Vec::new() }
    }

    fn not_applicable(why: &str) -> Next {
        let outcome = Outcome::NotApplicable;
        Next::Done(Self { outcome, reason: why.to_owned(), quotes: Vec::new(), points: Vec::new() })
    }

    /// An answer on a scale from 0 to 1.
    fn of(answer: &Answer, scale: &Scale) -> Self {
        let outcome = match &answer.value {
            Some(value) => Outcome::Scored { value: value.clone(), unit: scale.unit(value).ok() },
            None => Outcome::Abstained { why: answer.reason.clone() },
        };
        Self { outcome, reason: answer.reason.clone(), quotes: answer.quotes.clone(), points: Vec::new() }
    }
}

/// How the facts of an answer compare with a reference; only a contradiction is wrong.
const FACTS: [(&str, f64); 5] =
    [("same", 1.0), ("subset", 1.0), ("superset", 1.0), ("contradiction", 0.0), ("different wording", 1.0)];

/// The points of a g-eval answer.
const STEPS_SCALE: (i64, i64) = (0, 10);

/// Whether a recipe says nothing without a context, and without an answer.
fn needs(name: &str) -> (bool, bool) {
    match name {
        "groundedness" | "context-faithfulness" => (true, true),
        "context_relevance" | "context-relevance" | "context-recall" => (true, false),
        "answer_relevance" | "answer-relevance" => (false, true),
        _ => (false, false),
    }
}

/// A recipe over one candidate: what to ask next, given what was answered so far.
#[derive(Debug)]
pub struct Recipe<'a> {
    pub method: &'a Method,
    pub prompter: &'a Prompter<'a>,
}

impl Recipe<'_> {
    pub fn next(&self, replies: &[Reply]) -> Result<Next, BadTemplate> {
        let name = self.method.entry.name;
        let (needs_context, needs_answer) = needs(name);
        if needs_context && self.prompter.material.context.is_empty() {
            return Ok(Judged::not_applicable("there is no context"));
        }
        if needs_answer && self.prompter.material.answer().trim().is_empty() {
            return Ok(Judged::not_applicable("there is no answer"));
        }
        let value = self.prompter.filled(&self.text("value"))?;
        Ok(match name {
            "agent-rubric" => self.score(&format!("Grade the material against this:\n\n{value}"), replies),
            "answer-relevance" | "answer_relevance" => self.score(
                "How far does the response address the question that the task asks, whether or not it is right? \
                 1: it answers that question, all of it and nothing else. 0: it answers another one or none.",
                replies,
            ),
            "context-relevance" | "context_relevance" => self.score(
                "How relevant is the context to the question that the task asks? \
                 1: all of it helps to answer. 0: none of it does. The response does not matter.",
                replies,
            ),
            "context-faithfulness" | "groundedness" => self.claims("claims", &json!({}), replies),
            "context-recall" => {
                self.claims("recall", &json!({ "text": self.prompter.fenced("reference", &value) }), replies)
            }
            "factuality" => self.factuality(&value, replies),
            "model-graded-closedqa" => self.binary("closedqa", &json!({ "text": value }), replies),
            "trajectory:goal-success" => {
                let goal = self.method.params.get("value").and_then(|it| it["goal"].as_str());
                let goal = self.prompter.filled(goal.unwrap_or(&value))?;
                self.binary("goal", &json!({ "text": goal }), replies)
            }
            "llm_trajectory_judge" => self.trajectory(replies)?,
            "g-eval" => self.by_steps(replies)?,
            "agent_as_judge" => self.requirements(replies),
            _ => {
                let why = "it compares the outputs of one case, and here is only one".to_owned();
                Next::Done(Judged { outcome: Outcome::Abstained { why }, ..Judged::scored(0.0, "") })
            }
        })
    }

    fn text(&self, name: &str) -> String {
        match self.method.params.get(name) {
            Some(Json::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => String::new(),
        }
    }

    fn texts(&self, name: &str) -> Vec<String> {
        match self.method.params.get(name) {
            Some(Json::Array(items)) => {
                items.iter().map(|it| it.as_str().unwrap_or_default().to_owned()).collect()
            }
            Some(Json::String(text)) => vec![text.clone()],
            _ => Vec::new(),
        }
    }

    fn ask(&self, template: &str, context: &Json, form: Form) -> Next {
        Next::Ask(Box::new(self.prompter.ask(template, context, form)))
    }

    fn score(&self, question: &str, replies: &[Reply]) -> Next {
        match replies {
            [Reply::Answer(answer), ..] => Next::Done(Judged::of(answer, &Scale::Unit)),
            _ => self.ask("score", &json!({ "question": question }), Form::Answer(Item::new(Scale::Unit))),
        }
    }

    fn binary(&self, template: &str, context: &Json, replies: &[Reply]) -> Next {
        match replies {
            [Reply::Answer(answer), ..] => Next::Done(Judged::of(answer, &Scale::Binary)),
            _ => self.ask(template, context, Form::Answer(Item::new(Scale::Binary))),
        }
    }

    fn trajectory(&self, replies: &[Reply]) -> Result<Next, BadTemplate> {
        let continuous = self.method.params.get("continuous").is_some_and(|it| it == true);
        let scale = if continuous { Scale::Unit } else { Scale::Binary };
        if let [Reply::Answer(answer), ..] = replies {
            return Ok(Next::Done(Judged::of(answer, &scale)));
        }
        let context =
            json!({ "prompt": self.prompter.filled(&self.text("prompt"))?, "continuous": continuous });
        Ok(self.ask("trajectory", &context, Form::Answer(Item::new(scale))))
    }

    fn claims(&self, template: &str, context: &Json, replies: &[Reply]) -> Next {
        let [Reply::Claims(claims), ..] = replies else { return self.ask(template, context, Form::Claims) };
        if claims.is_empty() {
            return Judged::not_applicable("the judge found no claim in it");
        }
        let n_supported = claims.iter().filter(|it| it.1).count();
        let reason = format!("{n_supported}/{} claims supported", claims.len());
        let point = |(text, holds): &(String, bool)| Point {
            text: text.clone(),
            holds: *holds,
            evidence: Vec::new(),
        };
        let points = claims.iter().map(point).collect();
        let score = score_of_points(claims.iter().map(|claim| claim.1)).unwrap_or(0.0);
        Next::Done(Judged { points, ..Judged::scored(score, reason) })
    }

    fn factuality(&self, reference: &str, replies: &[Reply]) -> Next {
        let labels = FACTS.map(|it| it.0.to_owned()).to_vec();
        match replies {
            [Reply::Choice { label, reason }, ..] => {
                let score = FACTS.iter().find(|it| it.0 == label).map_or(0.0, |it| it.1);
                Next::Done(Judged::scored(score, format!("{label}: {reason}")))
            }
            _ => {
                let context = json!({ "reference": self.prompter.fenced("expert", reference) });
                self.ask("factuality", &context, Form::Choice { labels })
            }
        }
    }

    /// The judge derives steps from each text and then follows them.
    fn by_steps(&self, replies: &[Reply]) -> Result<Next, BadTemplate> {
        let texts = self.texts("value");
        let (min, max) = STEPS_SCALE;
        let scale = Scale::likert(min, max);
        if let Some(text) = texts.get(replies.len() / 2) {
            let text = self.prompter.filled(text)?;
            return Ok(match replies {
                [.., Reply::Steps(steps)] => {
                    let context = json!({ "text": text, "steps": steps });
                    self.ask("follow", &context, Form::Answer(Item::new(scale)))
                }
                _ => self.ask("steps", &json!({ "text": text }), Form::Steps),
            });
        }
        let answers: Vec<&Answer> = replies
            .iter()
            .filter_map(|it| if let Reply::Answer(it) = it { Some(it) } else { None })
            .collect();
        let units = answers.iter().filter_map(|it| scale.unit(it.value.as_ref()?).ok());
        let mean = units.sum::<f64>() / answers.len().max(1) as f64;
        let reasons: Vec<&str> = answers.iter().map(|it| it.reason.as_str()).collect();
        Ok(Next::Done(Judged::scored(mean, reasons.join("\n"))))
    }

    /// A verdict for each requirement; those that were left out are asked about again, alone.
    fn requirements(&self, replies: &[Reply]) -> Next {
        let told = self.texts("requirements");
        let all = if told.is_empty() { self.prompter.material.requirements.clone() } else { told };
        if all.is_empty() {
            return Judged::not_applicable("there are no requirements");
        }
        // Those of the case come from outside.
        let from_case = self.texts("requirements").is_empty();
        let ask = |requirements: Vec<String>, again: bool| {
            let shown =
                |it: &String| if from_case { self.prompter.fenced("requirement", it) } else { it.clone() };
            let context = json!({ "requirements": requirements.iter().map(shown).collect::<Vec<_>>() });
            self.ask("requirements", &context, Form::Verdicts { requirements, again })
        };
        let [Reply::Verdicts(first), more @ ..] = replies else { return ask(all, false) };
        let left_out: Vec<usize> = (0..all.len()).filter(|it| first[*it].is_none()).collect();
        let mut verdicts = first.clone();
        match more {
            [] if !left_out.is_empty() => {
                return ask(left_out.iter().map(|it| all[*it].clone()).collect(), true);
            }
            [Reply::Verdicts(again), ..] => {
                for (at, verdict) in left_out.iter().zip(again) {
                    verdicts[*at].clone_from(verdict);
                }
            }
            _ => {}
        }
        // What a judge was asked about twice and never spoke of has not been shown to be met.
        let point = |(text, verdict): (&String, &Option<(bool, String)>)| {
            let (holds, quote) = verdict.clone().unwrap_or_default();
            let evidence =
                (!quote.trim().is_empty()).then(|| self.prompter.evidence(&quote)).into_iter().collect();
            Point { text: text.clone(), holds, evidence }
        };
        let points: Vec<Point> = all.iter().zip(&verdicts).map(point).collect();
        let n_met = points.iter().filter(|it| it.holds).count();
        let reason = format!("{n_met}/{} requirements satisfied", points.len());
        let score = score_of_points(points.iter().map(|point| point.holds)).unwrap_or(0.0);
        Next::Done(Judged { points, ..Judged::scored(score, reason) })
    }
}
