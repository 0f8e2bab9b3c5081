//! Annotation forms: the items and questions that annotators see, their answers, and the grades that follow.
//!
//! The same JSON in the store, over HTTP and in TypeScript.

mod build;
mod compare;
mod complete;
mod condition;
mod decision;
mod dispute;
mod export;
mod grades;
mod item;
mod known_answers;
mod settings;
#[cfg(test)]
mod tests;
mod verify;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use build::{build_schemes, schemes_of_rubric};
pub use compare::{
    AnnotatorPace, AnswerCheck, ExpectedAnswer, ItemAnswerKey, compare_expected_answers, compute_median,
    measure_annotator_pace,
};
pub use complete::{Gap, gaps, running_score, weighted_score};
pub use condition::{complete_draft, list_shown_schemes};
pub use decision::{BadDecision, DecidedRating, parse_decided_rating};
pub use dispute::{QuestionRating, collect_question_ratings, disagreement, list_question_points};
pub use export::{
    ExportedDecision, ExportedForm, export_cells, export_columns, form_to_json, form_to_json_line,
};
pub use grades::{
    build_human_grades, build_person_grade, build_plain_grades, plain_question_kind, rating_unit,
};
pub use item::{RowLayout, ShownField, build_item, collect_judge_context, item_of_trace, with_steps};
pub use known_answers::find_impossible_answer;
pub use settings::{AnnotationSettings, AssignmentOrder, BadSettings, ExcludedAnnotator};
pub use verify::{claims, claims_from_grade};
use verify::{reached_claims, settled_rating};

use crate::candidate::Trace;
use crate::rubric::Value;
pub use crate::suite::{AnswerCondition, AnswerLimits, AnswerTest, Keyword, ShowCondition};

/// One item for one annotator. Markup in it is plain text.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Item {
    /// Id of the item in the store.
    pub id: String,
    /// What an agent was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// Text to annotate, such as a response; absent if the item has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Trace of the agent, with its steps; absent if the item has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
    /// Other input of the judge, needed to verify its answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub given: Vec<Given>,
    /// Fields of the row that the task shows, in its order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<ItemField>,
    /// Whether the fields are shown side by side.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub side_by_side: bool,
    /// For comparisons: as many as the scheme has labels, in the order they are shown in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<Compared>,
    /// Words that the page marks in the texts of the item.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<Keyword>,
    /// Which steps may be marked, from 1; set by the scheme that asks for it.
    #[serde(skip)]
    pub marked: Vec<usize>,
    /// Whether the correct answers are shown after submission.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub training: bool,
}

/// One field of a row, as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ItemField {
    /// Name of the field in the data of the task.
    pub key: String,
    /// Heading of the field on the page.
    pub label: String,
    /// Value of the field as text; lists and objects are written as JSON.
    pub text: String,
}

/// A text that an answer is compared with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Given {
    /// Role of the text, such as `context` or `reference`.
    pub kind: GivenKind,
    /// Text that the judge got.
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GivenKind {
    /// A document that the answer can use.
    Context,
    /// The reference answer.
    Reference,
    /// What must be met.
    Requirement,
    /// What was changed.
    Diff,
}

/// One of the compared candidates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Compared {
    /// Name in answers, independent of its position on the page.
    pub label: String,
    /// Text of the candidate; absent if the candidate is a trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Trace of the candidate; absent if the candidate is a text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
}

/// One question, or several that belong together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scheme {
    /// Name of the scheme. Answers and conditions refer to this name.
    pub name: String,
    /// Question or instruction for the annotator. If absent, the page shows the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether it must be answered before anything is submitted.
    pub required: bool,
    /// When it is asked; always by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown_when: Option<ShowCondition>,
    #[serde(flatten)]
    pub kind: SchemeKind,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SchemeKind {
    Rubric {
        /// Criteria to rate, in the order of the page.
        criteria: Vec<FormCriterion>,
        /// Overall rating; optional and not part of the weighted score.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        overall: Option<FormCriterion>,
        /// Text field for notes; absent if the scheme has none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        notes: Option<NotesField>,
        /// Whether annotators see the weighted score during annotation.
        shows_score: bool,
    },
    Trajectory {
        /// Which steps are marked, from 1.
        steps: Vec<usize>,
        /// The first one means correct.
        marks: Vec<String>,
        /// Error categories for steps that are not correct; empty if annotators do not choose one.
        errors: Vec<ErrorCategory>,
        /// Severity levels for steps that are not correct; empty if annotators do not choose one.
        severities: Vec<SeverityLevel>,
        /// Start value of the running score.
        initial: f64,
    },
    Pairwise {
        /// Labels of the candidates, in the order of the data.
        labels: Vec<String>,
        /// Label of the answer for a tie; absent if ties are not allowed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tie_label: Option<String>,
    },
    Choice {
        /// Possible answers, in the order of the page.
        labels: Vec<String>,
        /// Whether annotators may select more than one label.
        many: bool,
        /// Whether the labels are shown as a drop-down list. Ignored if `many` is true.
        dropdown: bool,
        /// Number of labels that may be selected; absent if any number may be.
        #[serde(default, skip_serializing_if = "AnswerLimits::is_unlimited")]
        limits: AnswerLimits,
    },
    Likert {
        /// Number of points. Answers are whole numbers from 1 to this number.
        size: u32,
        /// Text next to the lowest point; absent if there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min_label: Option<String>,
        /// Text next to the highest point; absent if there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_label: Option<String>,
    },
    /// Whole numbers between two ends, `step` apart.
    Slider {
        /// Lowest possible answer.
        min: i64,
        /// Upper limit of the answers.
        max: i64,
        /// Difference between two neighbouring answers.
        step: u32,
        /// Position of the handle before it is moved.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        start: Option<i64>,
        /// Text next to the lower end; absent if there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min_label: Option<String>,
        /// Text next to the upper end; absent if there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_label: Option<String>,
    },
    Text {
        /// Whether the text field has more than one line.
        multiline: bool,
        /// Hint in the empty text field; absent if there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        placeholder: Option<String>,
        /// Number of characters, without white space at both ends; absent if any number is allowed.
        #[serde(default, skip_serializing_if = "AnswerLimits::is_unlimited")]
        limits: AnswerLimits,
    },
    /// Answers of a judge, to be confirmed or corrected one by one.
    Verify {
        /// Answers of the judge, in the order of the rubric.
        claims: Vec<Claim>,
    },
}

// A criterion as annotators see it. In schemas it has the name that the pages and other programs use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Criterion")]
pub struct FormCriterion {
    /// Id of the question, as in grades.
    pub name: String,
    /// Title of the criterion on the page.
    pub label: String,
    /// Question or requirement for the annotator; absent if the label already contains it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Weight in the weighted score.
    pub weight: f64,
    /// The scale, lowest first.
    pub points: Vec<ScalePoint>,
    /// Whether annotators may answer "not applicable" or "cannot tell".
    pub may_skip: bool,
}

/// One answer of a scale.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScalePoint {
    /// Value that an answer with this point has.
    pub value: Value,
    /// Label of the point, shared by all criteria, such as Good.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// What it means for this criterion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Value on 0..=1; absent for an answer that only leads to another node of a tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotesField {
    /// Label of the text field.
    pub label: String,
    /// Hint in the empty text field; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placeholder: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorCategory {
    /// Name of the category.
    pub category: String,
    /// Types of errors in the category. If empty, annotators choose the category itself.
    pub types: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeverityLevel {
    /// Name of the level, such as `minor`.
    pub name: String,
    /// Its absolute value is subtracted from the running score.
    pub weight: f64,
}

/// One answer of a judge: to a criterion, a branch of a tree, a claim or a requirement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Claim {
    /// Id of the claim: the id of the question, followed by `#` and a number for one of its parts.
    pub id: String,
    /// Id of the question, as in grades.
    pub criterion: String,
    /// Title of the criterion, question of the tree, or text of the claim or requirement.
    pub label: String,
    /// Description of the criterion; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Absent if the judge did not get this question, because another branch of the tree leads to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<Rating>,
    /// Reason that the judge gave; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Quotes from the candidate that the judge gave as evidence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Quote>,
    /// The scale, lowest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<ScalePoint>,
    /// In a tree: the claim that each answer leads to, by the answer.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub leads: BTreeMap<String, String>,
    /// Whether it is computed from its parts: the share of parts that hold. It then has no separate answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub from_parts: bool,
}

/// The annotation of one criterion; without a rating it is unanswered.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Rated {
    /// Rating of the criterion; absent if unanswered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rating: Option<Rating>,
    /// Comment of the annotator; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// Quotes from the item that the annotator selected as evidence.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Quote>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Rating {
    Scored {
        /// Value of a point on the criterion's scale.
        value: Value,
    },
    NotApplicable,
    /// The annotator could not decide.
    Abstained,
}

/// A quote from the item, with its position in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Quote {
    /// Such as `trace.3.result.1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// Quoted text.
    pub quote: String,
    /// Offset of the first byte of the quote in its part, from 0; absent if the position is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<u64>,
    /// Offset after the last byte of the quote in its part; absent if the position is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<u64>,
}

/// The annotation of one step.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Marked {
    /// Mark of the step: one of `marks` of the scheme; absent if unanswered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark: Option<String>,
    /// Error of the step: a type, a category, or `category::type`; absent for correct steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Name of the severity level; absent for correct steps, or if the annotator chose none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub severity: Option<String>,
    /// Explanation of the mark; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rationale: Option<String>,
}

/// The annotation of a judge's answer.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Verified {
    /// Whether the annotator confirmed or corrected the answer; absent if unanswered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verification>,
    /// The corrected answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rating: Option<Rating>,
    /// Comment of the annotator; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verification {
    Confirmed,
    Corrected,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Answer {
    Rubric {
        /// Ratings, by the name of the criterion.
        #[serde(default)]
        criteria: BTreeMap<String, Rated>,
        /// Overall rating; absent if unanswered or not asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        overall: Option<Rated>,
        /// Notes of the annotator; absent if there are none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        notes: Option<String>,
    },
    Trajectory {
        /// By their number, from 1.
        #[serde(default)]
        steps: BTreeMap<String, Marked>,
    },
    Pairwise {
        /// Label of the better candidate, or `tie_label` of the scheme; absent if unanswered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        label: Option<String>,
    },
    Choice {
        /// Selected labels; empty if none is selected.
        #[serde(default)]
        labels: Vec<String>,
    },
    Likert {
        /// Selected point, from 1; absent if unanswered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<u32>,
    },
    Slider {
        /// Selected number; absent if unanswered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<i64>,
    },
    Text {
        /// Text of the answer; empty if unanswered.
        #[serde(default)]
        text: String,
    },
    Verify {
        /// By the id of the claim.
        #[serde(default)]
        claims: BTreeMap<String, Verified>,
    },
}

/// Everything that was entered so far, by scheme; what is saved by itself, and what is submitted.
pub type AnswerDraft = BTreeMap<String, Answer>;

/// An annotation form: the root type of its JSON Schema.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Form {
    /// Item to annotate.
    pub item: Item,
    /// Questions about the item, in the order of the page.
    pub schemes: Vec<Scheme>,
    /// Answers that are already entered, by the name of the scheme.
    pub draft: AnswerDraft,
    /// Settings of the annotation task.
    pub settings: AnnotationSettings,
}

impl Rated {
    pub fn of(value: Value) -> Self {
        Self { rating: Some(Rating::Scored { value }), ..Self::default() }
    }
}

impl FormCriterion {
    /// The point of the scale that a value is.
    pub fn point(&self, value: &Value) -> Option<&ScalePoint> {
        point_of(&self.points, value)
    }
}

/// The point of a scale that a value is.
pub fn point_of<'a>(points: &'a [ScalePoint], value: &Value) -> Option<&'a ScalePoint> {
    points.iter().find(|point| point.value == *value)
}

/// The lowest and the highest number of a scale; `None` if its values are not numbers.
pub(crate) fn find_numeric_ends(points: &[ScalePoint]) -> Option<(f64, f64)> {
    let number = |point: &ScalePoint| match point.value {
        Value::Number(number) => Some(number),
        Value::Bool(_) | Value::Text(_) => None,
    };
    let numbers: Vec<f64> = points.iter().map(number).collect::<Option<_>>()?;
    let low = numbers.iter().copied().reduce(f64::min)?;
    let high = numbers.iter().copied().reduce(f64::max)?;
    (low < high).then_some((low, high))
}
