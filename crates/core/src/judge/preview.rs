//! Everything that a judge would be asked about a candidate, to be looked at before anybody is asked.

use super::prompt::{JudgePromptError, JudgeQuestion, Prompter};
use super::recipe::{Recipe, RecipeAction};
use crate::grade::{GraderKind, Outcome};
use crate::rubric::{Criterion, CriterionKind, Question, Rubric};
use crate::suite::Calls;

/// One call, or why there is none.
#[derive(Debug, Clone, PartialEq)]
pub struct Preview {
    /// Questions of the rubric that it answers; more than one where they are asked together.
    pub questions: Vec<String>,
    pub asked: Result<JudgeQuestion, String>,
}

/// The first turn of every question, also of those that other answers may leave out.
pub fn preview(
    prompter: &Prompter<'_>,
    rubric: &Rubric,
    calls: Calls,
) -> Result<Vec<Preview>, JudgePromptError> {
    let by_judge = |question: &Question<'_>| question.criterion.by.contains(&GraderKind::Judge);
    let is_plain = |question: &Question<'_>| {
        matches!(question.criterion.ask, CriterionKind::Question(_)) && by_judge(question)
    };
    let together: Vec<&Criterion> =
        rubric.questions().filter(is_plain).map(|question| question.criterion).collect();
    let are_together = calls == Calls::PerRubric && 1 < together.len();
    let mut all = Vec::new();
    if are_together {
        let questions = together.iter().map(|criterion| criterion.id.clone()).collect();
        all.push(Preview { questions, asked: Ok(prompter.criteria(rubric, &together)?) });
    }
    for question in rubric.questions().filter(|question| !(are_together && is_plain(question))) {
        let question_or_reason = match (&question.criterion.ask, question.node) {
            (CriterionKind::Check(_), _) => Err("a check answers this".to_owned()),
            _ if !by_judge(&question) => Err("a person answers this".to_owned()),
            (_, Some(node)) => Ok(prompter.node(node)?),
            (CriterionKind::Recipe(method), None) => match (Recipe { method, prompter }).next(&[])? {
                RecipeAction::Ask(judge_question) => Ok(*judge_question),
                RecipeAction::Done(judged) => Err(match judged.outcome {
                    Outcome::Abstained { why } => why,
                    _ => judged.reason,
                }),
            },
            _ => Ok(prompter.criterion(rubric, question.criterion)?),
        };
        all.push(Preview { questions: vec![question.id()], asked: question_or_reason });
    }
    Ok(all)
}
