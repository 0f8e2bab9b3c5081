//! What good looks like: criteria, and how their answers combine into a verdict.
//!
//! A [`Draft`] says what an author wrote; [`Rubric::new`] accepts it or lists everything wrong with it.
//! A [`Rubric`] that exists is valid and cannot be changed.

mod assertions;
mod bounded_template;
mod faults;
mod lint;
pub mod presets;
mod scale;
mod template;
mod tree;
mod version;

use std::collections::HashMap;
use std::ops::Deref;

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use assertions::describe_assertions;
pub(crate) use bounded_template::render_nunjucks_prompt;
pub use bounded_template::{MAX_PROMPT_BYTES, render_prompt, undeclared_names};
pub use faults::{RubricFault, RubricProblem};
pub use lint::{Advice, lint};
pub use scale::{Choice, Display, OffScale, RANGES_TOP, Range, Scale, Value};
pub use template::VARIABLES;
pub(crate) use template::find_prompt_fault;
pub use tree::{AnswerTarget, Graph, GraphFault, Leaf, NodeAnswers, ROOT, TreeNode, child_id};
pub use version::{RubricEdit, RubricHash, canonical_tree, criterion_tree, diff_rubrics, graph_tree};

use crate::catalogue::{CheckName, GradingMethod};
use crate::check::{CompiledCheck, EmbeddingModel, ExternalCheck, MaxScore};

/// The score at which a verdict passes, unless a file says otherwise.
pub const PASS_MARK: f64 = 0.7;

/// The question about a test that asserts nothing, which a person answers.
pub const UNASSERTED_QUESTION: &str =
    "Is this the answer that was wanted? The test asserts nothing, so a person decides.";

/// Id of the one criterion of a rubric that is a single text, tree or graph.
pub const WHOLE: &str = "rubric";

/// How deep groups of criteria may nest.
pub const MAX_GROUP_DEPTH: usize = 200;

/// Everything an author can say about a rubric.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    pub name: Option<String>,
    /// Shown to judges and people above the criteria.
    pub description: Option<String>,
    pub criteria: Vec<Criterion>,
    pub pass_mark: f64,
    /// The aggregate must be 1.
    pub strict: bool,
    /// A judge's answer counts only with a quote that occurs in the candidate.
    pub require_evidence: bool,
    /// What an answer without such a quote becomes; by default 0 in an eval and an error in a monitor.
    pub evidence_missing: Option<EvidenceMissing>,
    /// Objects in the candidate that are shaped like verdicts are hidden from judges.
    pub mask_verdicts: bool,
    pub aggregation: Aggregation,
    pub display: Display,
    pub on_error: OnError,
    pub length_penalty: Option<LengthPenalty>,
    /// A judge's answer without a reason is malformed.
    pub require_reasoning: bool,
    /// With two or more anchors and none in the middle, judges are shown a synthetic one at 0.5.
    pub mid_anchor: bool,
    /// Replaces the built-in user part of the judge's prompt.
    pub prompt: Option<String>,
}

impl Default for Draft {
    fn default() -> Self {
        Self {
            name: None,
            description: None,
            criteria: Vec::new(),
            pass_mark: PASS_MARK,
            strict: false,
            require_evidence: false,
            evidence_missing: None,
            mask_verdicts: false,
            aggregation: Aggregation::default(),
            display: Display::default(),
            on_error: OnError::default(),
            length_penalty: None,
            require_reasoning: false,
            mid_anchor: true,
            prompt: None,
        }
    }
}

/// One question about a candidate, or a group of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Criterion {
    pub id: String,
    /// A readable name, where the id is not one.
    pub label: Option<String>,
    pub description: String,
    pub ask: CriterionKind,
    /// Negative: a penalty that is subtracted when the criterion is met.
    pub weight: f64,
    /// Who answers. Empty for groups.
    pub by: Vec<GraderKind>,
    pub polarity: Polarity,
    /// A gate: a contribution under the threshold fails the verdict.
    pub required: bool,
    /// For this criterion's gate, instead of the rubric's pass mark.
    pub threshold: Option<f64>,
    /// A gate of its own: a contribution under this fails the verdict.
    pub min_score: Option<f64>,
    /// What an answer at a point of the scale means.
    pub levels: Vec<(Value, String)>,
    pub anchors: Vec<Anchor>,
    pub when: Option<When>,
    /// Ids that must be met first.
    pub requires: Vec<String>,
    /// What this criterion becomes if they are not.
    pub unmet: Unmet,
    /// `None`: abstaining is not offered.
    pub cannot_assess: Option<CannotAssess>,
    pub operator: Option<Operator>,
}

impl Criterion {
    pub fn new(id: impl Into<String>, description: impl Into<String>, ask: CriterionKind) -> Self {
        let by = match &ask {
            CriterionKind::Question(_) | CriterionKind::Recipe(_) | CriterionKind::Tree(_) => {
                vec![GraderKind::Judge]
            }
            CriterionKind::Check(_) => vec![GraderKind::Check],
            CriterionKind::Group(_) => Vec::new(),
        };
        Self {
            id: id.into(),
            label: None,
            description: description.into(),
            ask,
            weight: 1.0,
            by,
            polarity: Polarity::Plain,
            required: false,
            threshold: None,
            min_score: None,
            levels: Vec::new(),
            anchors: Vec::new(),
            when: None,
            requires: Vec::new(),
            unmet: Unmet::Zero,
            cannot_assess: None,
            operator: None,
        }
    }

    /// The criteria of a group; nothing for everything else.
    pub fn children(&self) -> &[Self] {
        if let CriterionKind::Group(group) = &self.ask { &group.criteria } else { &[] }
    }

    /// How many answers grading needs at most: one, or one per node of a tree, or those of the children.
    pub fn n_questions(&self) -> usize {
        match &self.ask {
            CriterionKind::Question(_) | CriterionKind::Check(_) | CriterionKind::Recipe(_) => 1,
            CriterionKind::Tree(graph) => graph.nodes.len(),
            CriterionKind::Group(group) => group.criteria.iter().map(Self::n_questions).sum(),
        }
    }

    /// Whether it compares a candidate with others instead of looking at it alone.
    pub fn is_comparison(&self) -> bool {
        match &self.ask {
            CriterionKind::Check(method) => method.entry.name == "max-score",
            CriterionKind::Recipe(method) => method.entry.name == "select-best",
            CriterionKind::Question(_) | CriterionKind::Group(_) | CriterionKind::Tree(_) => false,
        }
    }

    /// Whether code decides it by the scores of other criteria, so that it comes last.
    pub fn needs_scores(&self) -> bool {
        matches!(&self.ask, CriterionKind::Check(method) if method.params.contains_key("scores"))
    }

    /// What files call its kind.
    pub fn type_name(&self) -> &str {
        match &self.ask {
            CriterionKind::Check(method) | CriterionKind::Recipe(method) => method.entry.name,
            CriterionKind::Question(_) | CriterionKind::Group(_) | CriterionKind::Tree(_) => "llm-rubric",
        }
    }

    /// What to call it when talking to people.
    pub fn title(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.id)
    }
}

/// The question of a criterion.
#[derive(Debug, Clone, PartialEq)]
pub enum CriterionKind {
    /// The description, answered on a scale.
    Question(Scale),
    /// A deterministic check.
    Check(GradingMethod),
    /// A named way for a judge to grade, such as factuality.
    Recipe(GradingMethod),
    /// Criteria whose aggregate is the score.
    Group(Group),
    Tree(Graph),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    pub criteria: Vec<Criterion>,
    pub aggregation: Aggregation,
}

/// Who answers a criterion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum GraderKind {
    Check,
    Judge,
    Human,
}

impl GraderKind {
    pub const ALL: [(&str, Self); 3] =
        [("check", Self::Check), ("judge", Self::Judge), ("human", Self::Human)];
}

/// Whether a high answer is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Polarity {
    #[default]
    Plain,
    /// The contribution is 1 minus the answer.
    Negated,
    /// Negated, and a gate: the description states what must not hold.
    Guard,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Aggregation {
    #[default]
    WeightedAverage,
    /// The worst criterion is the score.
    Min,
}

/// What a judge's answer becomes for which no quote was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EvidenceMissing {
    /// It counts as 0 and fails the verdict.
    Zero,
    /// The grader has failed.
    Error,
}

impl EvidenceMissing {
    pub const ALL: [(&'static str, Self); 2] = [("zero", Self::Zero), ("error", Self::Error)];
}

/// Effect of a grader error on the verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub enum OnError {
    #[default]
    Error,
    Fail,
    /// The criterion leaves the denominator; gates cannot be skipped.
    Skip,
}

impl OnError {
    pub const ALL: [(&str, Self); 3] = [("error", Self::Error), ("fail", Self::Fail), ("skip", Self::Skip)];
}

/// What a criterion becomes when one that it requires is not met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unmet {
    #[default]
    Zero,
    NotApplicable,
}

/// What abstaining does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CannotAssess {
    /// The criterion leaves the denominator, and its gates are not tested.
    Skip,
    /// The criterion contributes the best it can.
    Pass,
    /// The criterion contributes the worst it can.
    Zero,
    Fail,
}

impl CannotAssess {
    pub const ALL: [(&str, Self); 4] =
        [("skip", Self::Skip), ("pass", Self::Pass), ("zero", Self::Zero), ("fail", Self::Fail)];
}

/// The meaning of the description; the prompt states it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// The candidate must say so.
    Correctness,
    /// The candidate must not say otherwise.
    Contradiction,
}

impl Operator {
    pub const ALL: [(&str, Self); 2] =
        [("correctness", Self::Correctness), ("contradiction", Self::Contradiction)];
}

/// A labelled example shown to a judge.
#[derive(Debug, Clone, PartialEq)]
pub struct Anchor {
    pub response: String,
    /// On 0..=1.
    pub score: f64,
    pub reason: Option<String>,
}

/// Decides without a model whether a criterion applies to a candidate.
#[derive(Debug, Clone)]
pub enum When {
    Contains(String),
    Matches(Regex),
}

impl When {
    pub fn holds(&self, candidate: &str) -> bool {
        match self {
            Self::Contains(text) => candidate.contains(text),
            Self::Matches(regex) => regex.is_match(candidate),
        }
    }
}

impl PartialEq for When {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Contains(a), Self::Contains(b)) => a == b,
            (Self::Matches(a), Self::Matches(b)) => a.as_str() == b.as_str(),
            _ => false,
        }
    }
}

/// Takes from the score of candidates that go on too long: nothing up to `free`, `penalty` from `cap` on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LengthPenalty {
    pub free: u32,
    pub cap: u32,
    /// On 0..=1, subtracted from the aggregate.
    pub penalty: f64,
    pub unit: LengthUnit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LengthUnit {
    #[default]
    Words,
    Characters,
}

impl LengthUnit {
    pub const ALL: [(&str, Self); 2] = [("words", Self::Words), ("characters", Self::Characters)];
}

impl LengthPenalty {
    /// What is subtracted for this candidate.
    pub fn of(&self, candidate: &str) -> f64 {
        let length = match self.unit {
            LengthUnit::Words => candidate.split_whitespace().count(),
            LengthUnit::Characters => candidate.chars().count(),
        };
        let over = (length as f64 - f64::from(self.free)) / (f64::from(self.cap) - f64::from(self.free));
        self.penalty * over.clamp(0.0, 1.0)
    }
}

/// A valid rubric. Reads like its [`Draft`], and also knows its questions and its version.
///
/// ```
/// use jurist_core::rubric::{CriterionKind, Criterion, Draft, Rubric, Scale};
///
/// let clear = Criterion::new("clear", "Two readers would retell it the same way.", CriterionKind::Question(Scale::Unit));
/// let rubric = Rubric::new(Draft { criteria: vec![clear.clone()], ..Draft::default() }).unwrap();
/// assert_eq!(rubric.pass_mark, 0.7);
///
/// let twice = Draft { criteria: vec![clear.clone(), clear], ..Draft::default() };
/// assert_eq!(Rubric::new(twice).unwrap_err()[0].problem.to_string(), "there are two criteria `clear`");
/// ```
#[derive(Debug, Clone)]
pub struct Rubric {
    draft: Draft,
    version: RubricHash,
    questions: HashMap<String, usize>,
    order: Option<RequirementOrder>,
}

/// How requirements are decided; criteria are counted depth first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RequirementOrder {
    pub(crate) moments: Vec<Moment>,
    /// What each criterion requires.
    pub(crate) requires: Vec<Vec<usize>>,
}

/// The begin of grading one criterion, or the end of one that another requires.
///
/// A criterion begins after its group has begun and what it requires has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    Begin(usize),
    End(usize),
}

impl Deref for Rubric {
    type Target = Draft;

    fn deref(&self) -> &Draft {
        &self.draft
    }
}

impl PartialEq for Rubric {
    fn eq(&self, other: &Self) -> bool {
        self.draft == other.draft
    }
}

impl Rubric {
    /// Accepts a draft, or says everything that is wrong with it.
    pub fn new(draft: Draft) -> Result<Self, Vec<RubricFault>> {
        let order = faults::examine(&draft)?;
        let version = version::hash_draft(&draft);
        let questions = iter_questions(&draft.criteria).map(|question| question.id()).zip(0..).collect();
        Ok(Self { draft, version, questions, order })
    }

    /// The canonical form, which its version is a hash of.
    pub fn to_json(&self) -> serde_json::Value {
        let text = crate::source::tree_to_json(&canonical_tree(self), false);
        serde_json::from_str(&text).expect("what is written as JSON is JSON")
    }

    /// The same rubric in a run that treats broken graders in its own way.
    #[must_use]
    pub fn with_on_error(&self, on_error: OnError) -> Self {
        let mut other = self.clone();
        other.draft.on_error = on_error;
        other
    }

    /// The same rubric where answers without evidence become something else unless it says what.
    #[must_use]
    pub fn with_evidence_missing(&self, default: EvidenceMissing) -> Self {
        let mut other = self.clone();
        other.draft.evidence_missing.get_or_insert(default);
        other
    }

    pub fn version(&self) -> &RubricHash {
        &self.version
    }

    /// Everything that is asked, in a fixed order: criteria depth first, a tree's nodes as listed.
    pub fn questions(&self) -> impl Iterator<Item = Question<'_>> {
        iter_questions(&self.draft.criteria)
    }

    pub fn n_questions(&self) -> usize {
        self.questions.len()
    }

    /// Where the answer to a question belongs among all answers.
    pub fn position(&self, id: &str) -> Option<usize> {
        self.questions.get(id).copied()
    }

    /// The order in which requirements are decided; `None` when no criterion requires another.
    pub(crate) fn order(&self) -> Option<&RequirementOrder> {
        self.order.as_ref()
    }

    /// The text of a rubric that is nothing but a text.
    pub fn text(&self) -> Option<&str> {
        match self.draft.criteria.as_slice() {
            [only] if only.id == WHOLE && matches!(only.ask, CriterionKind::Question(_)) => {
                Some(&only.description)
            }
            _ => None,
        }
    }
}

/// A criterion that a check decides, and the check.
#[derive(Debug, Clone)]
pub struct CheckOf<'a, C> {
    pub criterion: &'a Criterion,
    pub check: C,
}

impl Rubric {
    /// What programs and services decide.
    pub fn external_checks(&self) -> impl Iterator<Item = CheckOf<'_, ExternalCheck>> {
        let checks = self.compile_checks(|name| matches!(name, CheckName::External(_)));
        checks.filter_map(|CheckOf { criterion, check }| match check {
            CompiledCheck::External(check) => Some(CheckOf { criterion, check }),
            CompiledCheck::Local(_) | CompiledCheck::MaxScore(_) => None,
        })
    }

    /// The models that make embeddings for its checks.
    pub fn embedding_models(&self) -> impl Iterator<Item = EmbeddingModel> {
        let checks = self.compile_checks(|name| matches!(name, CheckName::Similarity(_)));
        checks.filter_map(|CheckOf { check, .. }| match check {
            CompiledCheck::Local(check) => check.embedding_model().cloned(),
            CompiledCheck::External(_) | CompiledCheck::MaxScore(_) => None,
        })
    }

    /// What is decided by comparing the scores of several outputs.
    pub fn max_scores(&self) -> impl Iterator<Item = CheckOf<'_, MaxScore>> {
        let checks = self.compile_checks(|name| name == CheckName::MaxScore);
        checks.filter_map(|CheckOf { criterion, check }| match check {
            CompiledCheck::MaxScore(check) => Some(CheckOf { criterion, check }),
            CompiledCheck::Local(_) | CompiledCheck::External(_) => None,
        })
    }

    /// Compiles the checks with the wanted names. The patterns and schemas of others would take long for nothing.
    fn compile_checks(
        &self,
        is_wanted: impl Fn(CheckName) -> bool,
    ) -> impl Iterator<Item = CheckOf<'_, CompiledCheck>> {
        self.questions().filter_map(move |question| match &question.criterion.ask {
            CriterionKind::Check(method) if method.entry.check.is_some_and(&is_wanted) => {
                let check = CompiledCheck::compile(method).ok()?;
                Some(CheckOf { criterion: question.criterion, check })
            }
            _ => None,
        })
    }
}

/// One thing to answer: a criterion, or one node of a criterion's tree.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    pub criterion: &'a Criterion,
    pub node: Option<&'a TreeNode>,
}

impl Question<'_> {
    /// The id that a grade names.
    pub fn id(&self) -> String {
        match self.node {
            None => self.criterion.id.clone(),
            Some(node) if self.criterion.id == WHOLE => node.id.clone(),
            Some(node) => format!("{}.{}", self.criterion.id, node.id),
        }
    }

    /// What an answer is worth on 0..=1; `Ok(None)` for a choice that only leads on.
    pub fn unit(&self, value: &Value) -> Result<Option<f64>, OffScale> {
        match (self.node.map(|node| &node.answers), &self.criterion.ask) {
            (Some(NodeAnswers::Choices(choices)), _) => {
                let labels = || choices.iter().map(|choice| choice.0.as_str());
                match value {
                    // A label may have been read as a number or a truth value.
                    _ if labels().any(|label| label == value.to_string()) => Ok(None),
                    _ => Err(OffScale {
                        value: value.clone(),
                        allowed: labels().collect::<Vec<_>>().join(", "),
                    }),
                }
            }
            (None, CriterionKind::Question(scale)) => scale.unit(value).map(Some),
            (Some(NodeAnswers::YesNo { .. }), _) => match value {
                Value::Text(text) if text == "yes" => Ok(Some(1.0)),
                Value::Text(text) if text == "no" => Ok(Some(0.0)),
                _ => Scale::Unit.unit(value).map(Some),
            },
            _ => Scale::Unit.unit(value).map(Some),
        }
    }
}

fn iter_questions(criteria: &[Criterion]) -> impl Iterator<Item = Question<'_>> {
    let mut to_visit: Vec<&Criterion> = criteria.iter().rev().collect();
    let mut nodes: Option<(&Criterion, std::slice::Iter<'_, TreeNode>)> = None;
    std::iter::from_fn(move || {
        loop {
            if let Some((criterion, rest)) = &mut nodes
                && let Some(node) = rest.next()
            {
                return Some(Question { criterion, node: Some(node) });
            }
            let criterion = to_visit.pop()?;
            match &criterion.ask {
                CriterionKind::Question(_) | CriterionKind::Check(_) | CriterionKind::Recipe(_) => {
                    return Some(Question { criterion, node: None });
                }
                CriterionKind::Group(group) => to_visit.extend(group.criteria.iter().rev()),
                CriterionKind::Tree(graph) => nodes = Some((criterion, graph.nodes.iter())),
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::catalogue::{CHECKS, find_catalogue_entry};
    use crate::check::count_compiled_checks;

    #[test]
    fn whoever_looks_for_checks_of_one_kind_compiles_no_others() {
        let criterion = |name: &str, params: serde_json::Value| {
            let entry = find_catalogue_entry(CHECKS, name).unwrap();
            let method = GradingMethod { entry, params: serde_json::from_value(params).unwrap() };
            Criterion::new(name, "It is right.", CriterionKind::Check(method))
        };
        let criteria = vec![
            criterion("regex", json!({ "value": r"\w{20}x" })),
            criterion("script", json!({ "command": "sh check.sh" })),
            criterion("similar", json!({ "value": "Paris" })),
            criterion("max-score", json!({})),
        ];
        let rubric = Rubric::new(Draft { criteria, ..Draft::default() }).unwrap();
        let n_compiled = count_compiled_checks(|| {
            let ids: Vec<&str> = rubric.external_checks().map(|check| check.criterion.id.as_str()).collect();
            assert_eq!(ids, ["script"]);
        });
        assert_eq!(n_compiled, 1);
        assert_eq!(count_compiled_checks(|| assert_eq!(rubric.max_scores().count(), 1)), 1);
        assert_eq!(count_compiled_checks(|| assert_eq!(rubric.embedding_models().count(), 1)), 1);
    }
}
