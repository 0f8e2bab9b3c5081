//! Recipes: named ways in which a judge grades, some of them in several turns.

use serde_json::{Value as Json, json};

use super::prompt::{JudgePromptError, JudgeQuestion, Prompter};
use super::reply::{JudgeAnswer, JudgeReply};
use super::reply_schema::{AnswerSchema, ReplySchema};
use crate::candidate::JudgeInput;
use crate::catalogue::GradingMethod;
use crate::grade::{GradedPoint, Outcome, Value, score_of_points};
use crate::rubric::Scale;

/// What to do after the replies so far.
#[derive(Debug, Clone, PartialEq)]
pub enum RecipeAction {
    Ask(Box<JudgeQuestion>),
    Done(RecipeResult),
}

/// The result of a recipe.
#[derive(Debug, Clone, PartialEq)]
pub struct RecipeResult {
    pub outcome: Outcome,
    pub reason: String,
    pub quotes: Vec<String>,
    pub points: Vec<GradedPoint>,
}

impl RecipeResult {
    pub(super) fn from_score(unit: f64, reason: impl Into<String>) -> Self {
        let outcome = Outcome::Scored { value: Value::Number(unit), unit: Some(unit) };
        Self { outcome, reason: reason.into(), quotes: Vec::new(), points: Vec::new() }
    }

    /// The criterion cannot be assessed, and a gate on it has not been passed.
    fn without_assessment(why: &str) -> RecipeAction {
        let outcome = Outcome::Abstained { why: why.to_owned() };
        RecipeAction::Done(Self { outcome, reason: why.to_owned(), quotes: Vec::new(), points: Vec::new() })
    }

    /// An answer on a scale from 0 to 1.
    fn of(answer: &JudgeAnswer, scale: &Scale) -> Self {
        let outcome = match &answer.value {
            Some(value) => Outcome::Scored { value: value.clone(), unit: scale.unit(value).ok() },
            None => Outcome::Abstained { why: answer.reason.clone() },
        };
        Self { outcome, reason: answer.reason.clone(), quotes: answer.quotes.clone(), points: Vec::new() }
    }
}

/// How the facts of an answer compare with a reference; only a contradiction is wrong.
const FACTS: [(&str, &str, f64); 5] = [
    ("same", "agree", 1.0),
    ("subset", "subset", 1.0),
    ("superset", "superset", 1.0),
    ("contradiction", "disagree", 0.0),
    ("different wording", "differButFactual", 1.0),
];

/// The points of a g-eval answer.
const STEPS_SCALE: (i64, i64) = (0, 10);

/// What a recipe says nothing without.
fn required_inputs(name: &str) -> &'static [RecipeInput] {
    use RecipeInput::{Answer, Context, Question};
    match name {
        "groundedness" | "context-faithfulness" => &[Context, Answer],
        "context-recall" => &[Context],
        "context_relevance" | "context-relevance" => &[Context, Question],
        "answer_relevance" | "answer-relevance" => &[Question, Answer],
        _ => &[],
    }
}

/// A part of the material that a recipe cannot do without.
#[derive(Debug, Clone, Copy)]
enum RecipeInput {
    Question,
    Context,
    Answer,
}

impl RecipeInput {
    /// That it is absent, in words.
    fn find_lack(self, material: &JudgeInput) -> Option<&'static str> {
        let (is_absent, lack) = match self {
            Self::Question => (material.task.trim().is_empty(), "there is no question"),
            Self::Context => (material.context.is_empty(), "there is no context"),
            Self::Answer => (material.answer().trim().is_empty(), "there is no answer"),
        };
        is_absent.then_some(lack)
    }
}

/// A recipe over one candidate: what to ask next, given what was answered so far.
#[derive(Debug)]
pub struct Recipe<'a> {
    pub method: &'a GradingMethod,
    pub prompter: &'a Prompter<'a>,
}

impl Recipe<'_> {
    pub fn next(&self, replies: &[JudgeReply]) -> Result<RecipeAction, JudgePromptError> {
        let name = self.method.entry.name;
        let mut inputs = required_inputs(name).iter();
        // Without what the recipe looks at, no judge is asked.
        if let Some(lack) = inputs.find_map(|input| input.find_lack(self.prompter.material)) {
            return Ok(RecipeResult::without_assessment(lack));
        }
        let value = self.prompter.fill_row_fields(&self.text("value"))?;
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
            "context-faithfulness" | "groundedness" => self.claims(("claims", "response"), &json!({}), replies),
            "context-recall" => {
                let context = json!({ "text": self.prompter.fence_text("reference", &value) });
                self.claims(("recall", "reference"), &context, replies)
            }
            "factuality" => self.factuality(&value, replies),
            "model-graded-closedqa" => self.binary("closedqa", &json!({ "text": value }), replies),
            "trajectory:goal-success" => {
                let goal = self.method.params.get("value").and_then(|param| param["goal"].as_str());
                let goal = self.prompter.fill_row_fields(goal.unwrap_or(&value))?;
                self.binary("goal", &json!({ "text": goal }), replies)
            }
            "llm_trajectory_judge" => self.trajectory(replies)?,
            "g-eval" => self.by_steps(replies)?,
            "agent_as_judge" => self.requirements(replies)?,
            _ => {
                let why = "it compares the outputs of one case, and here is only one".to_owned();
                RecipeAction::Done(RecipeResult { outcome: Outcome::Abstained { why }, ..RecipeResult::from_score(0.0, "") })
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
                items.iter().map(|item| item.as_str().unwrap_or_default().to_owned()).collect()
            }
            Some(Json::String(text)) => vec![text.clone()],
            _ => Vec::new(),
        }
    }

    fn ask(&self, template: &str, context: &Json, form: ReplySchema) -> RecipeAction {
        RecipeAction::Ask(Box::new(self.prompter.ask(template, context, form)))
    }

    fn score(&self, question: &str, replies: &[JudgeReply]) -> RecipeAction {
        match replies {
            [JudgeReply::Answer(answer), ..] => RecipeAction::Done(RecipeResult::of(answer, &Scale::Unit)),
            _ => self.ask(
                "score",
                &json!({ "question": question }),
                ReplySchema::Answer(AnswerSchema::new(Scale::Unit)),
            ),
        }
    }

    fn binary(&self, template: &str, context: &Json, replies: &[JudgeReply]) -> RecipeAction {
        match replies {
            [JudgeReply::Answer(answer), ..] => RecipeAction::Done(RecipeResult::of(answer, &Scale::Binary)),
            _ => self.ask(template, context, ReplySchema::Answer(AnswerSchema::new(Scale::Binary))),
        }
    }

    fn trajectory(&self, replies: &[JudgeReply]) -> Result<RecipeAction, JudgePromptError> {
        let continuous = self.method.params.get("continuous").is_some_and(|param| param == true);
        let scale = if continuous { Scale::Unit } else { Scale::Binary };
        if let [JudgeReply::Answer(answer), ..] = replies {
            return Ok(RecipeAction::Done(RecipeResult::of(answer, &scale)));
        }
        let context = json!({ "prompt": self.prompter.fill_row_fields(&self.text("prompt"))?, "continuous": continuous });
        Ok(self.ask("trajectory", &context, ReplySchema::Answer(AnswerSchema::new(scale))))
    }

    /// `text` is what the template lists the claims of.
    fn claims(&self, (template, text): (&str, &str), context: &Json, replies: &[JudgeReply]) -> RecipeAction {
        let [JudgeReply::Claims(claims), ..] = replies else {
            return self.ask(template, context, ReplySchema::Claims);
        };
        // The text is not empty. A judge that does not read it, or that obeys an instruction in it, may reply in this
        // way as well, so that a gate does not pass by such a reply.
        if claims.is_empty() {
            return RecipeResult::without_assessment(&format!("the judge listed no claim of the {text}"));
        }
        let n_supported = claims.iter().filter(|(_, holds)| *holds).count();
        let reason = format!("{n_supported}/{} claims supported", claims.len());
        let point = |(text, holds): &(String, bool)| GradedPoint {
            text: text.clone(),
            holds: *holds,
            evidence: Vec::new(),
        };
        let points = claims.iter().map(point).collect();
        let score = score_of_points(claims.iter().map(|(_, holds)| *holds)).unwrap_or(0.0);
        RecipeAction::Done(RecipeResult { points, ..RecipeResult::from_score(score, reason) })
    }

    fn factuality(&self, reference: &str, replies: &[JudgeReply]) -> RecipeAction {
        let labels = FACTS.map(|fact| fact.0.to_owned()).to_vec();
        match replies {
            [JudgeReply::Choice { label, reason }, ..] => {
                let fact = FACTS.iter().find(|(known, _, _)| *known == label);
                let score = fact.map_or(0.0, |(_, name, score)| self.fact_score(name).unwrap_or(*score));
                RecipeAction::Done(RecipeResult::from_score(score, format!("{label}: {reason}")))
            }
            _ => {
                let context = json!({ "reference": self.prompter.fence_text("expert", reference) });
                self.ask("factuality", &context, ReplySchema::Choice { labels })
            }
        }
    }

    /// What the rubric says that an answer is worth.
    fn fact_score(&self, name: &str) -> Option<f64> {
        self.method.params.get("scores")?.get(name)?.as_f64()
    }

    /// The judge derives steps from each text and then follows them.
    fn by_steps(&self, replies: &[JudgeReply]) -> Result<RecipeAction, JudgePromptError> {
        let texts = self.texts("value");
        let (min, max) = STEPS_SCALE;
        let scale = Scale::likert(min, max);
        if let Some(text) = texts.get(replies.len() / 2) {
            let text = self.prompter.fill_row_fields(text)?;
            return Ok(match replies {
                [.., JudgeReply::Steps(steps)] => {
                    let context = json!({ "text": text, "steps": steps });
                    self.ask("follow", &context, ReplySchema::Answer(AnswerSchema::new(scale)))
                }
                _ => self.ask("steps", &json!({ "text": text }), ReplySchema::Steps),
            });
        }
        let answers: Vec<&JudgeAnswer> = replies
            .iter()
            .filter_map(|reply| if let JudgeReply::Answer(reply) = reply { Some(reply) } else { None })
            .collect();
        let units = answers.iter().filter_map(|answer| scale.unit(answer.value.as_ref()?).ok());
        let mean = units.sum::<f64>() / answers.len().max(1) as f64;
        let reasons: Vec<&str> = answers.iter().map(|answer| answer.reason.as_str()).collect();
        Ok(RecipeAction::Done(RecipeResult::from_score(mean, reasons.join("\n"))))
    }

    /// What must be met: the texts of the rubric, or else those of the case.
    fn list_requirements(&self) -> Result<Vec<Requirement>, JudgePromptError> {
        let own = self.texts("requirements");
        let of_rubric = own.iter().map(|text| {
            let shown = self.prompter.fill_row_fields(text)?;
            Ok(Requirement { text: self.prompter.fill_row_fields_for_reader(text), shown })
        });
        // Those of the case come from outside.
        let of_case = self.prompter.material.requirements.iter().map(|text| {
            Ok(Requirement { text: text.clone(), shown: self.prompter.fence_text("requirement", text) })
        });
        if own.is_empty() { of_case.collect() } else { of_rubric.collect() }
    }

    /// A verdict for each requirement; those that were left out are asked about again, alone.
    fn requirements(&self, replies: &[JudgeReply]) -> Result<RecipeAction, JudgePromptError> {
        let all = self.list_requirements()?;
        if all.is_empty() {
            return Ok(RecipeResult::without_assessment("there are no requirements"));
        }
        let ask = |requirements: Vec<&Requirement>, again: bool| {
            let shown: Vec<&str> =
                requirements.iter().map(|requirement| requirement.shown.as_str()).collect();
            let context = json!({ "requirements": shown });
            let requirements = requirements.iter().map(|requirement| requirement.text.clone()).collect();
            Ok(self.ask("requirements", &context, ReplySchema::Verdicts { requirements, again }))
        };
        let [JudgeReply::Verdicts(first), more @ ..] = replies else {
            return ask(all.iter().collect(), false);
        };
        let left_out: Vec<usize> = (0..all.len()).filter(|index| first[*index].is_none()).collect();
        let mut verdicts = first.clone();
        match more {
            [] if !left_out.is_empty() => {
                return ask(left_out.iter().map(|index| &all[*index]).collect(), true);
            }
            [JudgeReply::Verdicts(again), ..] => {
                for (at, verdict) in left_out.iter().zip(again) {
                    verdicts[*at].clone_from(verdict);
                }
            }
            _ => {}
        }
        // What a judge was asked about twice and never spoke of has not been shown to be met.
        let point = |(requirement, verdict): (&Requirement, &Option<(bool, String)>)| {
            let (holds, quote) = verdict.clone().unwrap_or_default();
            let evidence =
                (!quote.trim().is_empty()).then(|| self.prompter.evidence(&quote)).into_iter().collect();
            GradedPoint { text: requirement.text.clone(), holds, evidence }
        };
        let points: Vec<GradedPoint> = all.iter().zip(&verdicts).map(point).collect();
        let n_met = points.iter().filter(|point| point.holds).count();
        let reason = format!("{n_met}/{} requirements satisfied", points.len());
        let score = score_of_points(points.iter().map(|point| point.holds)).unwrap_or(0.0);
        Ok(RecipeAction::Done(RecipeResult { points, ..RecipeResult::from_score(score, reason) }))
    }
}

/// Something that a run must meet.
struct Requirement {
    /// As reports have it.
    text: String,
    /// As the judge reads it, with text from outside between tags.
    shown: String,
}
