//! Tests of prompts, replies and recipes, by subject.

mod planted_verdicts;
mod prompts;
mod recipes;
mod replies;

use crate::candidate::JudgeInput;
use crate::judge::{AnswerSchema, JudgeAnswer, JudgeReply, JudgeReplyError, Prompter, ReplySchema};
use crate::rubric::{Criterion, CriterionKind, Draft, Rubric, Scale, Value};

fn material(response: &str) -> JudgeInput {
    JudgeInput {
        task: "What is the capital?".into(),
        response: Some(response.into()),
        ..JudgeInput::default()
    }
}

/// What a judge's reply comes to, on a scale from 0 to 1.
fn graded(prompter: &Prompter<'_>, reply: &str) -> Result<f64, JudgeReplyError> {
    match prompter.read(&ReplySchema::Answer(AnswerSchema::new(Scale::Unit)), reply)? {
        JudgeReply::Answer(JudgeAnswer { value: Some(Value::Number(number)), .. }) => Ok(number),
        other => panic!("{other:?}"),
    }
}

fn rubric(criteria: Vec<Criterion>) -> Rubric {
    Rubric::new(Draft { criteria, ..Draft::default() }).unwrap()
}

fn rubric_with_own_shape() -> Rubric {
    let description = "Score this:\n1. Department (1-5)\n2. Tone (1-5)\n\
        Output JSON: {\"department\": int, \"tone\": int, \"reasoning\": string}";
    let criteria = ["department", "tone"]
        .map(|id| Criterion::new(id, id, CriterionKind::Question(Scale::likert(1, 5))))
        .to_vec();
    Rubric::new(Draft { criteria, description: Some(description.to_owned()), ..Draft::default() }).unwrap()
}
