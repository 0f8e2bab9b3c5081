//! Grades a candidate with judges: asks the open questions, parses the replies, and scores them.

mod compare;
mod converse;
mod price;
mod program_check;
mod opinion;
mod session_checks;
mod judge_session;

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::future::join_all;
use jurist_core::candidate::JudgeInput;
use jurist_core::grade::{Grade, Outcome, Spend, Verdict, VerdictStatus};
use jurist_core::judge::{JudgePromptError, Prompter};
use jurist_core::rubric::{Criterion, Rubric, describe_assertions};
use jurist_core::score::{self, Combine, PanelVerdict};
use jurist_core::stats::calibration::Mapping;
use jurist_core::suite::{Calls, HumanLabel, Judge, Jury, fill_for_reader};

use crate::call::ModelClient;
use crate::embed::TextServices;
use crate::model::ModelEndpoint;
use crate::model::resolve::{Resolver, Unresolved};

pub use compare::{Preference, compare_candidates};
pub use converse::JudgeExchange;
use judge_session::JudgeSession;
pub use opinion::JudgeAnswers;
use opinion::OpinionBuilder;
pub use price::{CandidateCostEstimate, estimate_candidate_cost};
pub use program_check::{CheckFailure, CheckPrograms, permit_check};
pub use session_checks::CHECK_TIME;

/// Default limit of output tokens: enough for reasons. Reasoning models need more; a truncated reply is an error that
/// says so.
pub const MAX_TOKENS: u32 = 4096;

/// The judges of a case and how their opinions are combined.
#[derive(Debug, Clone)]
pub struct ResolvedJudges {
    pub members: Vec<JudgeModel>,
    /// Judges that answer single criteria in place of the members, by the id of the criterion.
    pub criteria: BTreeMap<String, JudgeModel>,
    /// How the members of a panel reach one verdict; `None` for a single judge.
    pub combine: Option<Combine>,
    /// A stronger judge for unsure verdicts.
    pub escalate: Option<JudgeEscalation>,
    pub calls: Calls,
    /// Calibration of judge scores to the human scale, by criterion.
    pub mappings: BTreeMap<String, Mapping>,
    pub seed: u64,
    /// For semantic similarity checks.
    pub text_services: Option<Arc<TextServices>>,
    /// For external checks; without it, none is started.
    pub programs: Option<Arc<CheckPrograms>>,
    /// Whether all requests and replies are recorded.
    pub transcript: bool,
}

/// A stronger judge, and how near to the pass mark a score must be for it to be asked.
#[derive(Debug, Clone)]
pub struct JudgeEscalation {
    pub judge: JudgeModel,
    pub margin: f64,
}

/// One judge: a model, and the number of its draw.
#[derive(Debug, Clone)]
pub struct JudgeModel {
    pub line: Arc<ModelEndpoint>,
    pub temperature: Option<f64>,
    pub max_tokens: u32,
    pub draw: u32,
}

impl ResolvedJudges {
    /// Builds the judges from a file's definition; panels name models, or judges that the file defines.
    pub fn new(
        resolver: &Resolver,
        judge: &Judge,
        named: &BTreeMap<String, Judge>,
        seed: u64,
        text_services: &Arc<TextServices>,
    ) -> Result<Self, Unresolved> {
        let model_of = |own: &Judge| {
            Ok::<_, Unresolved>(JudgeModel {
                line: Arc::new(resolver.resolve_endpoint(own)?),
                temperature: own.temperature.or(judge.temperature).or(Some(0.0)),
                max_tokens: own.max_tokens.or(judge.max_tokens).unwrap_or(MAX_TOKENS),
                draw: 0,
            })
        };
        let member = |name: Option<&String>| match name {
            Some(name) => match named.get(name) {
                Some(named) => model_of(named),
                None => model_of(&Judge { model: Some(name.clone()), ..judge.clone() }),
            },
            None => model_of(judge),
        };
        let of_criterion = |(criterion, own): (&String, &Judge)| {
            let named = own.model.as_ref().and_then(|model| named.get(model));
            Ok::<_, Unresolved>((criterion.clone(), model_of(named.unwrap_or(own))?))
        };
        let criteria = judge.criteria.iter().map(of_criterion).collect::<Result<BTreeMap<_, _>, _>>()?;
        let escalate = match &judge.escalate {
            Some(stated) => Some(JudgeEscalation { judge: member(Some(&stated.to))?, margin: stated.margin }),
            None => None,
        };
        let (members, combine) = if !judge.panel.is_empty() {
            let aggregate = judge.aggregate.unwrap_or_default();
            let tie_break = judge.tie_break.unwrap_or_default();
            let members = judge.panel.iter().map(|panel| member(Some(panel))).collect::<Result<_, _>>()?;
            (members, Some(Combine::Panel { aggregate, tie_break }))
        } else if let Some(jury) = judge.jury {
            (member(None)?.jury(jury), Some(Combine::Jury { consensus: jury.consensus }))
        } else {
            (vec![member(None)?], None)
        };
        let calls = judge.calls.unwrap_or(Calls::PerCriterion);
        // Without its mapping, a judge's own score would be taken for a score on the human scale.
        let mapping = |(path, value): &(String, serde_json::Value)| {
            let mapping = Mapping::from_json(&value["calibration"]["mapping"]);
            let named = value["criterion"].as_str().map(str::to_owned).zip(mapping);
            named.ok_or_else(|| Unresolved::BadCalibration(path.clone()))
        };
        let mappings = judge.calibrations.iter().map(mapping).collect::<Result<_, _>>()?;
        let text_services = Some(Arc::clone(text_services));
        let (programs, transcript) = (None, false);
        Ok(Self {
            members,
            criteria,
            combine,
            escalate,
            calls,
            mappings,
            seed,
            text_services,
            programs,
            transcript,
        })
    }
}

impl ResolvedJudges {
    /// All judges except the stronger one, which is asked only about unsure verdicts.
    pub fn judges(&self) -> impl Iterator<Item = &JudgeModel> {
        self.members.iter().chain(self.criteria.values())
    }

    /// The judge that compares candidates by a criterion.
    pub fn judge_of(&self, criterion: &str) -> &JudgeModel {
        self.criteria.get(criterion).unwrap_or(&self.members[0])
    }

    /// The judges of single criteria with the draw of the member whose place they take.
    fn stand_ins(&self, member: &JudgeModel) -> BTreeMap<String, JudgeModel> {
        let draw = member.draw;
        let stand_in = |(criterion, judge): (&String, &JudgeModel)| {
            (criterion.clone(), JudgeModel { draw, ..judge.clone() })
        };
        self.criteria.iter().map(stand_in).collect()
    }

    /// The first model that can be called and has no known price. A cap cannot limit its cost.
    pub fn unpriced_model(&self) -> Option<&str> {
        let escalate = self.escalate.iter().map(|escalation| &escalation.judge);
        let lines = self.judges().chain(escalate).map(|judge| &judge.line);
        let unpriced =
            |line: &&Arc<ModelEndpoint>| line.price.is_none() && line.model.missing_key().is_none();
        lines.into_iter().find(unpriced).map(|line| line.name.as_str())
    }
}

impl JudgeModel {
    /// The members of a jury: independent draws from one model.
    pub fn jury(self, jury: Jury) -> Vec<Self> {
        // At temperature 0 all draws would be equal.
        let temperature = self.temperature.filter(|temperature| 0.0 < *temperature).or(Some(1.0));
        (0..jury.size).map(|draw| Self { draw, temperature, ..self.clone() }).collect()
    }
}

/// A member, and the judges that answer single criteria in its place.
#[derive(Clone, Copy)]
struct JudgeSeat<'a> {
    member: &'a JudgeModel,
    stand_ins: &'a BTreeMap<String, JudgeModel>,
}

impl<'a> JudgeSeat<'a> {
    fn judge_of(self, criterion: &Criterion) -> &'a JudgeModel {
        self.stand_ins.get(&criterion.id).unwrap_or(self.member)
    }
}

/// The candidate and everything that is known about it.
#[derive(Debug, Clone, Copy)]
pub struct JudgeCase<'a> {
    /// The candidate's id.
    pub candidate: &'a str,
    pub material: &'a JudgeInput,
    pub row: Option<&'a jurist_core::suite::DataRow>,
    pub rubric: &'a Rubric,
    /// Human answers.
    pub labels: Option<&'a BTreeMap<String, HumanLabel>>,
    /// Results of comparisons with other candidates, by criterion.
    pub contests: Option<&'a BTreeMap<String, ContestResult>>,
}

/// A candidate's result in a comparison.
#[derive(Debug, Clone)]
pub struct ContestResult {
    pub outcome: Outcome,
    pub reason: String,
    pub spend: Option<Spend>,
    /// Exchanges of the comparison; only the first candidate has them.
    pub exchanges: Vec<JudgeExchange>,
}

/// The opinion of one member.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgeOpinion {
    pub judge: String,
    pub verdict: Verdict,
    pub grades: Vec<Grade>,
    /// All requests and replies.
    pub exchanges: Vec<JudgeExchange>,
}

/// The decision of all judges.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgeDecision {
    pub status: VerdictStatus,
    pub score: Option<f64>,
    pub opinions: Vec<JudgeOpinion>,
    pub panel: Option<PanelVerdict>,
    /// Whether members disagree on pass or fail.
    pub disputed: bool,
    /// Whether the last opinion is that of the stronger judge.
    pub escalated: bool,
    pub spend: Spend,
}

impl ResolvedJudges {
    /// Grades one candidate. An error is never turned into a score.
    pub async fn decide(
        &self,
        caller: &ModelClient,
        case: JudgeCase<'_>,
    ) -> Result<JudgeDecision, JudgePromptError> {
        let answers = self.answer(caller, case).await?;
        self.conclude(caller, case, answers).await
    }

    /// Asks every member all questions that do not need other candidates.
    pub async fn answer(
        &self,
        caller: &ModelClient,
        case: JudgeCase<'_>,
    ) -> Result<Vec<JudgeAnswers>, JudgePromptError> {
        let each = self.members.iter().map(|member| async move {
            let stand_ins = self.stand_ins(member);
            self.answer_as(caller, JudgeSeat { member, stand_ins: &stand_ins }, case).await
        });
        join_all(each).await.into_iter().collect()
    }

    /// Computes the decision from the answers. Results of comparisons are in the case by now.
    pub async fn conclude(
        &self,
        caller: &ModelClient,
        case: JudgeCase<'_>,
        answers: Vec<JudgeAnswers>,
    ) -> Result<JudgeDecision, JudgePromptError> {
        let each = self.members.iter().zip(answers);
        let build = |(member, answers): (&JudgeModel, JudgeAnswers)| {
            let stand_ins = self.stand_ins(member);
            self.build_opinion(JudgeSeat { member, stand_ins: &stand_ins }, case, answers)
        };
        let mut opinions: Vec<JudgeOpinion> = each.map(build).collect();
        let verdicts: Vec<Verdict> = opinions.iter().map(|opinion| opinion.verdict.clone()).collect();
        let panel =
            self.combine.map(|combine| score::combine_panel(&verdicts, combine, case.rubric.pass_mark));
        let (mut status, mut score) = match &panel {
            Some(panel) => (panel.status, panel.score),
            None => (verdicts[0].status, verdicts[0].score),
        };
        let passes = |wanted: VerdictStatus| verdicts.iter().any(|verdict| verdict.status == wanted);
        let disputed = passes(VerdictStatus::Pass) && passes(VerdictStatus::Fail);
        let panel_score = panel.as_ref().and_then(|panel| panel.median).or(score);
        let mut escalated = false;
        if let Some(JudgeEscalation { judge: stronger, margin }) = &self.escalate
            && (disputed || is_unsure(&verdicts, panel_score, case.rubric.pass_mark, *margin))
        {
            // The stronger judge decides alone: it also answers the criteria that have judges of their own.
            let seat = JudgeSeat { member: stronger, stand_ins: &BTreeMap::new() };
            let answers = self.answer_as(caller, seat, case).await?;
            let opinion = self.build_opinion(seat, case, answers);
            (status, score, escalated) = (opinion.verdict.status, opinion.verdict.score, true);
            opinions.push(opinion);
        }
        let spend = total_opinion_spend(&opinions);
        Ok(JudgeDecision { status, score, opinions, panel, disputed, escalated, spend })
    }

    async fn answer_as(
        &self,
        caller: &ModelClient,
        seat: JudgeSeat<'_>,
        case: JudgeCase<'_>,
    ) -> Result<JudgeAnswers, JudgePromptError> {
        let mut prompter = Prompter::for_rubric(case.material, case.row, case.rubric, self.seed);
        prompter.set_draw(seat.member.draw);
        let has_code = case.rubric.external_checks().next().is_some();
        let assertions = if has_code { describe_assertions(&case.rubric.criteria) } else { Vec::new() };
        let description = case.rubric.description.as_deref().map(|text| fill_for_reader(text, case.row));
        let session = JudgeSession {
            caller,
            seat,
            case,
            prompter: &prompter,
            description,
            assertions,
            calls: self.calls,
            mappings: &self.mappings,
            text_services: self.text_services.as_deref(),
            programs: self.programs.as_deref(),
            transcript: self.transcript,
        };
        session.answer().await
    }

    fn build_opinion(&self, seat: JudgeSeat<'_>, case: JudgeCase<'_>, answers: JudgeAnswers) -> JudgeOpinion {
        OpinionBuilder { seat, case, calls: self.calls, mappings: &self.mappings }.conclude(answers)
    }
}

/// The sum over all opinions; it counts as cached only if every call was answered from the cache.
fn total_opinion_spend(opinions: &[JudgeOpinion]) -> Spend {
    let each = || {
        opinions
            .iter()
            .flat_map(|opinion| &opinion.grades)
            .map(|grade| grade.spend)
            .filter(|spend| !spend.is_nothing())
    };
    let sum = each().fold(Spend::default(), Spend::plus);
    Spend { from_cache: each().next().is_some() && each().all(|spend| spend.from_cache), ..sum }
}

/// Whether to escalate to the stronger judge: no verdict, an abstention, or a score near the pass mark.
fn is_unsure(verdicts: &[Verdict], score: Option<f64>, pass_mark: f64, margin: f64) -> bool {
    let decided = |verdict: &Verdict| matches!(verdict.status, VerdictStatus::Pass | VerdictStatus::Fail);
    verdicts.iter().any(|verdict| 0 < verdict.counts.abstained || verdict.status == VerdictStatus::Error)
        || (verdicts.iter().any(decided)
            && score.is_some_and(|score| (score - pass_mark).abs() <= margin + 1e-9))
}
