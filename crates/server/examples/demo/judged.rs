//! What monitors decide and what invented judges say, at times of the past. Decisions, prompts, replies, verdicts and
//! scores are made by the code that makes them on a server; only who answers is invented.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jurist_core::candidate::{Candidate, JudgeInput, Usage};
use jurist_core::grade::{Grade, Outcome, Spend, Time, Usd, Verdict, VerdictStatus};
use jurist_core::plan::{SamplingDecision, TraceFacts, TraceStratum, hash_position, pick_trace};
use jurist_core::rubric::{CriterionKind, Rubric, Scale};
use jurist_core::score::{Combine, combine_panel};
use jurist_core::suite::{Aggregate, Calls, TieBreak};
use jurist_engine::call::ModelClient;
use jurist_engine::judge::{JudgeCase, JudgeModel, JudgeOpinion, ResolvedJudges};
use jurist_engine::model::vendors::Price;
use jurist_engine::model::{BoxFuture, LanguageModel, ModelEndpoint, ModelError, ModelReply, Request};
use jurist_server::monitor::LoadedMonitorVersion;
use jurist_store::contests::{Contested, StoredContest};
use jurist_store::decisions::{DecisionOutcome, DecisionState, NewMonitorDecision, TraceRevision};
use jurist_store::grades::{NewGrade, NewVerdict};
use jurist_store::monitors::StoredMonitor;
use jurist_store::scores::{Score, ScoreContext};
use jurist_store::spend::{ReservationRequest, Reserve};
use jurist_store::{ContestId, Probability, ProjectId, SeriesId, Store, TraceId};
use serde_json::json;

use crate::world::{Seen, Truth};

/// Dollars for a million tokens.
const PRICE: Price = Price { input: 12.0, cached: 1.2, output: 50.0 };

pub struct Judging<'a> {
    store: &'a Store,
    project: ProjectId,
    caller: ModelClient,
}

/// A judge who has its reply ready.
#[derive(Debug)]
struct Invented(String);

impl LanguageModel for Invented {
    fn complete<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<ModelReply, ModelError>> {
        let asked: usize = serde_json::to_string(&request.messages).unwrap().len();
        let usage = Usage { input: asked as u64 / 4, output: self.0.len() as u64 / 4, cached: 0 };
        Box::pin(async move { Ok(ModelReply { text: self.0.clone(), usage, ..ModelReply::default() }) })
    }
}

impl<'a> Judging<'a> {
    pub fn new(store: &'a Store, project: ProjectId) -> Self {
        Self { store, project, caller: ModelClient::default() }
    }

    /// Decides about traces that have just finished and judges what is sampled; tells which traces have a score.
    pub async fn judge(
        &self,
        watching: &[LoadedMonitorVersion],
        seen: &[Seen],
        now: Time,
    ) -> BTreeSet<TraceId> {
        let decide =
            |seen: &Seen| watching.iter().filter_map(|watched| decision(watched, seen)).collect::<Vec<_>>();
        let decisions: Vec<NewMonitorDecision> = seen.iter().flat_map(decide).collect();
        let revision = |seen: &Seen| TraceRevision { trace: seen.id.clone(), revision: 1 };
        let traces: Vec<TraceRevision> = seen.iter().map(revision).collect();
        self.store.consider(self.project, &traces, &decisions, |_| None, now).await.unwrap();
        let (mut grades, mut verdicts, mut scored) = (Vec::new(), Vec::new(), BTreeSet::new());
        for decision in decisions.iter().filter(|decision| decision.state == DecisionState::Sampled) {
            let seen = seen.iter().find(|seen| seen.id == decision.trace).unwrap();
            let watched = watching
                .iter()
                .find(|loaded_monitor_version| loaded_monitor_version.id == decision.version)
                .unwrap();
            let opinions = self.opinions(watched, seen).await;
            let verdict = combined(&opinions, watched.monitor.rubric.pass_mark);
            if verdict.status != VerdictStatus::Error {
                scored.insert(seen.id.clone());
            }
            self.score(watched, decision, &opinions, &verdict, now).await;
            let all: Vec<_> = opinions
                .iter()
                .flat_map(|opinion| &opinion.exchanges)
                .map(|judge_exchange| json!(judge_exchange))
                .collect();
            let (owner, part) = (seen.id.to_string(), watched.rubric_version.to_string());
            self.store.put_exchanges(self.project, &owner, &part, &all, now).await.unwrap();
            let new = |opinion: &JudgeOpinion| {
                opinion.grades.iter().map(|it| grade(watched, decision, it, now)).collect::<Vec<_>>()
            };
            let own: Vec<NewGrade> = opinions.iter().flat_map(new).collect();
            for opinion in &opinions {
                let cost =
                    opinion.grades.iter().map(|grade| grade.spend).fold(Spend::default(), Spend::plus).cost;
                self.pay(&watched.monitor_id.to_string(), &opinion.judge, cost.unwrap_or_default(), now)
                    .await;
            }
            let cost =
                own.iter().map(|new_grade| new_grade.grade.spend).fold(Spend::default(), Spend::plus).cost;
            verdicts.push(NewVerdict {
                candidate: seen.id.to_string(),
                rubric_version: watched.rubric_version.clone(),
                monitor: Some(watched.monitor_id),
                attempt: 1,
                agent: decision.agent.clone(),
                probability: decision.probability,
                cost,
                time: now,
                verdict,
            });
            grades.extend(own);
        }
        self.store.record(self.project, &grades, &verdicts).await.unwrap();
        scored
    }

    /// Puts two releases of the coding agent side by side, on tasks that both did. The one shown first is liked better
    /// than it deserves.
    pub async fn contest(&self, monitor: &StoredMonitor, seen: &[Seen], releases: (&str, &str), now: Time) {
        let of = |release: &str| -> Vec<&Seen> {
            seen.iter().filter(|seen| seen.finished.metadata["release"] == release).collect()
        };
        let (left, mut right) = (of(releases.0), of(releases.1));
        let watched = LoadedMonitorVersion::read(monitor.newest.as_ref().unwrap()).unwrap();
        let series = SeriesId::at(now);
        let side = |release: &str| format!("{} release={release}", seen[0].agent());
        for a in left {
            let task = &a.finished.metadata["title"];
            let Some(at) = right.iter().position(|seen| seen.finished.metadata["title"] == *task) else {
                continue;
            };
            let b = right.swap_remove(at);
            for judge in &watched.monitor.judges {
                let salt = format!("{judge} {} {}", a.id, b.id);
                let is_a_first = hash_position("first", &salt) < 0.5;
                let right = |seen: &Seen| f64::from(seen.truth["correctness"].level);
                let ahead = right(a) - right(b)
                    + if is_a_first { 1.0 } else { -1.0 }
                    + 5.0 * hash_position("taste", &salt)
                    - 2.5;
                let (outcome, reason) = match ahead {
                    _ if hash_position("broken", &salt) < 0.02 => (Contested::Error, "the reply is not JSON"),
                    it if it.abs() < 0.7 => (Contested::Tie, "Both changes do what was asked."),
                    it if 0.0 < it => {
                        (Contested::A, "The first change does what was asked, the second hardly.")
                    }
                    _ => (Contested::B, "The second change does what was asked, the first hardly."),
                };
                let contest = StoredContest {
                    id: ContestId::at(now),
                    monitor: monitor.id,
                    series,
                    sides: (side(releases.0), side(releases.1)),
                    rubric_version: watched.rubric_version.clone(),
                    judge: judge.clone(),
                    traces: (a.id.clone(), b.id.clone()),
                    first: if is_a_first { a.id.clone() } else { b.id.clone() },
                    outcome,
                    reason: reason.to_owned(),
                    cost: Some(Usd::from_nanos(9_000_000)),
                    time: now,
                };
                self.store.add_contest(self.project, &contest).await.unwrap();
            }
        }
    }

    async fn opinions(&self, watched: &LoadedMonitorVersion, seen: &Seen) -> Vec<JudgeOpinion> {
        let material = JudgeInput::new(&Candidate::default(), Some(seen.finished.trace.clone()));
        let rubric = &watched.monitor.rubric;
        let mut opinions = Vec::new();
        for judge in &watched.monitor.judges {
            let bench = bench(judge, &reply(judge, rubric, seen));
            let (candidate, rubric) = (seen.id.as_str(), rubric.as_ref());
            let case =
                JudgeCase { candidate, material: &material, row: None, rubric, labels: None, contests: None };
            opinions.push(bench.decide(&self.caller, case).await.unwrap().opinions.swap_remove(0));
        }
        opinions
    }

    /// The numbers of each judge, and of several their mean.
    async fn score(
        &self,
        watched: &LoadedMonitorVersion,
        decision: &NewMonitorDecision,
        opinions: &[JudgeOpinion],
        verdict: &Verdict,
        now: Time,
    ) {
        let rubric = &watched.monitor.rubric;
        let whole = |judge: &str, verdict: &Verdict| Score {
            judge: judge.to_owned(),
            criterion: String::new(),
            unit: verdict.score,
            is_passed: verdict.score.map(|_| verdict.status == VerdictStatus::Pass),
        };
        let of = |judge: &str, criterion: &str, unit: Option<f64>| Score {
            judge: judge.to_owned(),
            criterion: criterion.to_owned(),
            unit,
            is_passed: unit.map(|unit| rubric.pass_mark <= unit + 1e-9),
        };
        let mut scores = Vec::new();
        let mut units: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for it in opinions {
            scores.push(whole(&it.judge, &it.verdict));
            for grade in &it.grades {
                scores.push(of(&it.judge, &grade.criterion, grade.outcome.unit()));
                units.entry(&grade.criterion).or_default().extend(grade.outcome.unit());
            }
        }
        let names: Vec<&str> = opinions.iter().map(|opinion| opinion.judge.as_str()).collect();
        let mut spread = None;
        if let [_, _, ..] = opinions {
            let panel = names.join(" + ");
            scores.push(whole(&panel, verdict));
            for (criterion, all) in &units {
                let mean = (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64);
                scores.push(of(&panel, criterion, mean));
            }
            let apart = |all: &Vec<f64>| {
                all.iter().copied().reduce(f64::max).zip(all.iter().copied().reduce(f64::min))
            };
            spread = units.values().filter_map(apart).map(|it| it.0 - it.1).reduce(f64::max);
        }
        let (state, note) = match verdict.status {
            VerdictStatus::Error => {
                (DecisionState::JudgeError, "malformed: the reply is not JSON".to_owned())
            }
            _ => (DecisionState::Scored, format!("judged by {}", names.join(" + "))),
        };
        let is_disputed = spread.is_some_and(|spread| watched.monitor.margin() < spread);
        let outcome = DecisionOutcome { state, note: &note, spread, is_disputed };
        let scored = ScoreContext {
            monitor: watched.monitor_id,
            trace: decision.trace.clone(),
            revision: decision.revision,
            version: watched.id,
            rubric_version: watched.rubric_version.clone(),
            rescore: None,
            stratum: decision.stratum,
            agent: decision.agent.clone(),
            probability: decision.probability,
            decided: now,
        };
        // Judges take their time.
        let judged = Time::from_micros(now.micros() + 4_000_000);
        self.store.put_scores(self.project, &scored, &scores, Some(&outcome), judged).await.unwrap();
    }

    async fn pay(&self, monitor: &str, judge: &str, amount: Usd, now: Time) {
        let wanted = ReservationRequest {
            amount,
            purpose: "monitor",
            subject: monitor,
            limit: None,
            model: judge,
            job: None,
        };
        let Reserve::Held(id) = self.store.reserve(self.project, &wanted, now).await.unwrap() else { return };
        self.store.settle(self.project, id, amount, now).await.unwrap();
    }
}

fn decision(watched: &LoadedMonitorVersion, seen: &Seen) -> Option<NewMonitorDecision> {
    let it = &seen.finished;
    let facts = TraceFacts {
        id: seen.id.as_str(),
        agent: it.agent.as_deref(),
        session: None,
        status: it.trace.status.as_deref(),
        is_failed: it.is_failed,
        cost: it.trace.cost,
        duration: it.duration.map(|duration| duration as f64 / 1e6),
        n_steps: it.trace.steps.len() as u64,
        metadata: it.metadata.as_object(),
    };
    let SamplingDecision::Drawn { stratum, probability, is_sampled } =
        pick_trace(&watched.monitor, &facts, None, 1.0)
    else {
        return None;
    };
    let share = (1e4 * probability).round() / 100.0;
    let (state, reason) = match (is_sampled, stratum) {
        (true, TraceStratum::Failed) => {
            (DecisionState::Sampled, "it failed, and failed traces are always judged".to_owned())
        }
        (true, _) => (DecisionState::Sampled, format!("sampled (sample rate {share} %)")),
        (false, _) => (DecisionState::SampledOut, format!("not sampled (sample rate {share} %)")),
    };
    Some(NewMonitorDecision {
        trace: seen.id.clone(),
        revision: 1,
        monitor: watched.monitor_id,
        version: watched.id,
        agent: it.agent.clone(),
        stratum,
        probability: Probability::new(probability).unwrap(),
        upstream: Probability::CERTAIN,
        state,
        reason,
    })
}

fn bench(judge: &str, reply: &str) -> ResolvedJudges {
    let line = ModelEndpoint {
        model: Arc::new(Invented(reply.to_owned())),
        vendor: "invented".to_owned(),
        name: judge.to_owned(),
        price: Some(PRICE),
        address: "nowhere".to_owned(),
        http: None,
    };
    let member = JudgeModel { line: Arc::new(line), temperature: None, max_tokens: 1_000, draw: 0 };
    ResolvedJudges {
        members: vec![member],
        criteria: BTreeMap::new(),
        combine: None,
        escalate: None,
        calls: Calls::PerRubric,
        mappings: BTreeMap::new(),
        seed: 0,
        text_services: None,
        programs: None,
        transcript: true,
    }
}

/// One judge errs now and then; the other is easily pleased by long explanations. Sometimes nothing can be read.
fn reply(judge: &str, rubric: &Rubric, seen: &Seen) -> String {
    let id = seen.id.as_str();
    if hash_position(judge, id) < 0.02 {
        return "I would rather not say.".to_owned();
    }
    let criteria: Vec<_> = rubric
        .criteria
        .iter()
        .map(|criterion| {
            let Truth { level, why, quote } = &seen.truth[criterion.id.as_str()];
            let is_binary = matches!(criterion.ask, CriterionKind::Question(Scale::Binary));
            let chance = hash_position(&format!("{judge} {}", criterion.id), id);
            let (mut level, mut why) = (i32::from(*level), why.clone());
            if is_binary && chance < 0.03 {
                (level, why) = (1 - level, "On the whole, yes and no.".to_owned());
            } else if !is_binary {
                let is_pleased = judge.ends_with('b') && criterion.id != "tests" && 3 < seen.truth.get("explanation").map_or(0, |truth| truth.level);
                level += i32::from(0.85 < chance) - i32::from(chance < 0.15) + i32::from(is_pleased);
                if is_pleased && chance < 0.5 {
                    (level, why) = (5, "The agent explains at length what it did, so it will be right.".to_owned());
                }
            }
            let evidence: Vec<&String> = quote.iter().collect();
            match is_binary {
                true => json!({"id": criterion.id, "evidence": evidence, "reasoning": why, "verdict": level == 1}),
                false => json!({"id": criterion.id, "evidence": evidence, "reasoning": why, "score": level.clamp(1, 5)}),
            }
        })
        .collect();
    json!({ "criteria": criteria }).to_string()
}

fn grade(
    watched: &LoadedMonitorVersion,
    decision: &NewMonitorDecision,
    grade: &Grade,
    now: Time,
) -> NewGrade {
    NewGrade {
        grade: Grade { time: Some(now), ..grade.clone() },
        rubric_version: watched.rubric_version.clone(),
        attempt: 1,
        agent: decision.agent.clone(),
        is_passed: match &grade.outcome {
            Outcome::Scored { unit: Some(unit), .. } => Some(watched.monitor.rubric.pass_mark <= unit + 1e-9),
            _ => None,
        },
        probability: decision.probability,
        time: now,
    }
}

/// Several judges are averaged; one that broke abstains.
fn combined(opinions: &[JudgeOpinion], pass_mark: f64) -> Verdict {
    let verdicts: Vec<Verdict> = opinions.iter().map(|opinion| opinion.verdict.clone()).collect();
    let first = verdicts
        .iter()
        .find(|verdict| verdict.status != VerdictStatus::Error)
        .unwrap_or(&verdicts[0])
        .clone();
    if verdicts.len() == 1 {
        return first;
    }
    let panel = combine_panel(
        &verdicts,
        Combine::Panel { aggregate: Aggregate::Mean, tie_break: TieBreak::Fail },
        pass_mark,
    );
    Verdict { status: panel.status, score: panel.score, native: None, ..first }
}
