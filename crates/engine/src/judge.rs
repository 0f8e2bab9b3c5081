//! Grades a candidate with judges: asks what is worth asking, reads the replies, and scores them.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::future::join_all;
use jurist_core::check::{Check, Subject};
use jurist_core::grade::{
    Attempt, Deferral, Evidence, FORMAT, Failure, Grade, Grader, GraderKind, Outcome, Reason, Spend, Status,
    Verdict,
};
use jurist_core::judge::{
    Answer as Said, Asked, BadTemplate, Contest, Judged, Malformed, Material, Next, Prompter, Recipe,
    Reply as Read,
};
use jurist_core::rubric::{Ask, Criterion, Question, Rubric, Value};
use jurist_core::score::{self, Answer, Combine, PanelVerdict, Quote};
use jurist_core::suite::{Calls, Judge, Jury};
use serde_json::Value as Json;

use crate::call::{Called, Caller, Line, NotCalled, Tries};
use crate::embed::Embedders;
use crate::model::resolve::{Resolver, Unresolved};
use crate::model::{Message, Reply, Request, Role, Stop};

/// Quotes of one answer that are looked for.
const MAX_QUOTES: usize = 20;

/// Longer shared parts are worth a vendor's prompt cache: one question goes ahead and fills it.
const WORTH_CACHING: usize = 8_000;

/// Room for reasons; models that think need more, and say so when they are cut off.
pub const MAX_TOKENS: u32 = 4096;

/// Who judges, and how.
#[derive(Debug, Clone)]
pub struct Bench {
    pub members: Vec<Member>,
    /// How several members come to one verdict; `None` for a single judge.
    pub combine: Option<Combine>,
    /// A stronger judge, and how near to the pass mark a score must be for it to be asked.
    pub escalate: Option<(Member, f64)>,
    pub calls: Calls,
    pub seed: u64,
    /// For checks that compare meanings.
    pub embedders: Option<Arc<Embedders>>,
    /// Whether everything that is sent and comes back is kept, to be looked at.
    pub transcript: bool,
}

/// One judge: a model, and which of several draws from it.
#[derive(Debug, Clone)]
pub struct Member {
    pub line: Arc<Line>,
    pub temperature: Option<f64>,
    pub max_tokens: u32,
    pub draw: u32,
}

impl Bench {
    /// From what a file says about its judge; panels name models, or judges of the file.
    pub fn new(
        resolver: &Arc<Resolver>,
        judge: &Judge,
        named: &BTreeMap<String, Judge>,
        seed: u64,
    ) -> Result<Self, Unresolved> {
        let member = |name: Option<&String>| {
            let own = match name {
                Some(name) => named
                    .get(name)
                    .cloned()
                    .unwrap_or_else(|| Judge { model: Some(name.clone()), ..judge.clone() }),
                None => judge.clone(),
            };
            Ok::<_, Unresolved>(Member {
                line: Arc::new(resolver.line(&own)?),
                temperature: own.temperature.or(judge.temperature).or(Some(0.0)),
                max_tokens: own.max_tokens.or(judge.max_tokens).unwrap_or(MAX_TOKENS),
                draw: 0,
            })
        };
        let escalate = match &judge.escalate {
            Some(it) => Some((member(Some(&it.to))?, it.margin)),
            None => None,
        };
        let (members, combine) = if !judge.panel.is_empty() {
            let aggregate = judge.aggregate.unwrap_or_default();
            let tie_break = judge.tie_break.unwrap_or_default();
            let members = judge.panel.iter().map(|it| member(Some(it))).collect::<Result<_, _>>()?;
            (members, Some(Combine::Panel { aggregate, tie_break }))
        } else if let Some(jury) = judge.jury {
            (member(None)?.jury(jury), Some(Combine::Jury { consensus: jury.consensus }))
        } else {
            (vec![member(None)?], None)
        };
        let calls = judge.calls.unwrap_or(Calls::PerCriterion);
        let embedders = Some(Arc::new(Embedders::new(Arc::clone(resolver), None)));
        Ok(Self { members, combine, escalate, calls, seed, embedders, transcript: false })
    }
}

impl Member {
    /// The members of a jury: independent draws from one model.
    pub fn jury(self, jury: Jury) -> Vec<Self> {
        // At temperature 0 all would say the same.
        let temperature = self.temperature.filter(|it| 0.0 < *it).or(Some(1.0));
        (0..jury.size).map(|draw| Self { draw, temperature, ..self.clone() }).collect()
    }
}

/// What is graded.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    /// The candidate's id.
    pub candidate: &'a str,
    pub material: &'a Material,
    pub row: Option<&'a jurist_core::suite::Row>,
    pub rubric: &'a Rubric,
}

/// What one member said.
#[derive(Debug, Clone, PartialEq)]
pub struct Opinion {
    pub judge: String,
    pub verdict: Verdict,
    pub grades: Vec<Grade>,
    /// Everything that was sent and came back.
    pub exchanges: Vec<Exchange>,
}

/// A prompt and the raw reply.
#[derive(Debug, Clone, PartialEq)]
pub struct Exchange {
    pub request: Request,
    pub reply: Result<String, String>,
}

/// What the whole bench says.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    pub status: Status,
    pub score: Option<f64>,
    pub opinions: Vec<Opinion>,
    pub panel: Option<PanelVerdict>,
    /// Members disagree on pass or fail.
    pub disputed: bool,
    /// The last opinion is that of the stronger judge.
    pub escalated: bool,
    pub spend: Spend,
}

impl Bench {
    /// Grades one candidate. Nothing that goes wrong here is a score.
    pub async fn decide(&self, caller: &Caller, case: Case<'_>) -> Result<Decision, BadTemplate> {
        let each = self.members.iter().map(|member| self.opinion(caller, member, case));
        let mut opinions: Vec<Opinion> =
            join_all(each).await.into_iter().collect::<Result<_, BadTemplate>>()?;
        let verdicts: Vec<Verdict> = opinions.iter().map(|it| it.verdict.clone()).collect();
        let panel = self.combine.map(|it| score::panel(&verdicts, it, case.rubric.pass_mark));
        let (mut status, mut score) = match &panel {
            Some(panel) => (panel.status, panel.score),
            None => (verdicts[0].status, verdicts[0].score),
        };
        let passes = |wanted: Status| verdicts.iter().any(|it| it.status == wanted);
        let disputed = passes(Status::Pass) && passes(Status::Fail);
        let held = panel.as_ref().and_then(|it| it.median).or(score);
        let mut escalated = false;
        if let Some((stronger, margin)) = &self.escalate
            && (disputed || is_unsure(&verdicts, held, case.rubric.pass_mark, *margin))
        {
            let opinion = self.opinion(caller, stronger, case).await?;
            (status, score, escalated) = (opinion.verdict.status, opinion.verdict.score, true);
            opinions.push(opinion);
        }
        let spend = spent(&opinions);
        Ok(Decision { status, score, opinions, panel, disputed, escalated, spend })
    }

    async fn opinion(
        &self,
        caller: &Caller,
        member: &Member,
        case: Case<'_>,
    ) -> Result<Opinion, BadTemplate> {
        let mut prompter = Prompter::new(case.material, case.row, self.seed);
        prompter.set_draw(member.draw);
        let (embedders, transcript) = (self.embedders.as_deref(), self.transcript);
        let sitting =
            Sitting { caller, member, case, prompter: &prompter, calls: self.calls, embedders, transcript };
        sitting.grade().await
    }
}

/// All together; from the cache only if every answer that was asked for is.
fn spent(opinions: &[Opinion]) -> Spend {
    let each = || opinions.iter().flat_map(|it| &it.grades).map(|it| it.spend).filter(|it| !it.is_nothing());
    let sum = each().fold(Spend::default(), Spend::plus);
    Spend { from_cache: each().next().is_some() && each().all(|it| it.from_cache), ..sum }
}

/// Whether a stronger judge should look: nobody decided, somebody could not tell, or it was close.
fn is_unsure(verdicts: &[Verdict], score: Option<f64>, pass_mark: f64, margin: f64) -> bool {
    let decided = |it: &Verdict| matches!(it.status, Status::Pass | Status::Fail);
    verdicts.iter().any(|it| 0 < it.counts.abstained || it.status == Status::Error)
        || (verdicts.iter().any(decided) && score.is_some_and(|it| (it - pass_mark).abs() <= margin + 1e-9))
}

/// One judge in front of one candidate.
struct Sitting<'a> {
    caller: &'a Caller,
    member: &'a Member,
    case: Case<'a>,
    prompter: &'a Prompter<'a>,
    calls: Calls,
    embedders: Option<&'a Embedders>,
    transcript: bool,
}

/// An answer with all that came with it.
struct Answered {
    outcome: Outcome,
    reason: String,
    evidence: Vec<Evidence>,
    /// Whether a quote was asked for, and found.
    quote: Quote,
    points: Vec<jurist_core::grade::Point>,
    took: Took,
    template: String,
    kind: GraderKind,
}

/// What asking took, over all turns of one question.
#[derive(Default)]
struct Took {
    spend: Option<Spend>,
    attempts: Vec<Attempt>,
    exchanges: Vec<Exchange>,
}

impl Took {
    fn add(&mut self, more: Took) {
        self.spend = match (self.spend, more.spend) {
            (Some(a), Some(b)) => Some(Spend { from_cache: a.from_cache && b.from_cache, ..a.plus(b) }),
            (a, b) => a.or(b),
        };
        self.attempts.extend(more.attempts);
        self.exchanges.extend(more.exchanges);
    }
}

/// Why a question has no answer.
enum Trouble {
    Call(NotCalled),
    Reply(Malformed),
    Refused(String),
}

impl Trouble {
    fn outcome(&self) -> Outcome {
        let failed = |failure, detail: String| Outcome::Failed { failure, detail };
        match self {
            Self::Call(it) => match it.deferral() {
                Some(why) => Outcome::Deferred { why },
                None => failed(it.error.failure(), it.error.detail.clone()),
            },
            Self::Reply(it) => failed(it.failure(), it.to_string()),
            Self::Refused(said) => failed(Failure::Refusal, said.chars().take(300).collect()),
        }
    }

    fn reason(&self) -> String {
        match self {
            Self::Call(it) if it.deferral().is_some() => it.error.detail.clone(),
            _ => String::new(),
        }
    }
}

impl Sitting<'_> {
    async fn grade(&self) -> Result<Opinion, BadTemplate> {
        let rubric = self.case.rubric;
        let questions: Vec<Question<'_>> = rubric.questions().collect();
        let mut known: Vec<Option<Answered>> = self.conditions(&questions);
        loop {
            let open = {
                let answers: Vec<Option<Answer<'_>>> =
                    known.iter().map(|it| it.as_ref().map(answer)).collect();
                score::open(rubric, &answers)
            };
            if open.is_empty() {
                break;
            }
            for (at, answered) in self.ask_all(&questions, &open).await? {
                known[at] = Some(answered);
            }
        }
        // What was not on the way, or not to be asked, leaves the score as its rubric says.
        let skipped = Outcome::NotApplicable;
        let answers: Vec<Answer<'_>> = known
            .iter()
            .map(|it| it.as_ref().map_or(Answer { outcome: &skipped, quote: Quote::NotAsked }, answer))
            .collect();
        let penalty = rubric.length_penalty.map_or(0.0, |it| it.of(self.case.material.answer()));
        let verdict = score::verdict(rubric, &answers, penalty);
        let (mut grades, mut exchanges) = (Vec::new(), Vec::new());
        for (question, answered) in questions.iter().zip(known) {
            let Some(mut answered) = answered else { continue };
            exchanges.append(&mut answered.took.exchanges);
            grades.push(self.recorded(question, answered));
        }
        Ok(Opinion { judge: self.member.line.name.clone(), verdict, grades, exchanges })
    }

    /// What is settled without asking anybody.
    fn conditions(&self, questions: &[Question<'_>]) -> Vec<Option<Answered>> {
        let text = self.case.material.text();
        let mut out = Vec::new();
        closed(&self.case.rubric.criteria, &text, false, &mut out);
        questions
            .iter()
            .zip(out)
            .map(|(_, is_closed)| is_closed.then(|| settled(Outcome::NotApplicable, "")))
            .collect()
    }

    async fn ask_all(
        &self,
        questions: &[Question<'_>],
        open: &[usize],
    ) -> Result<Vec<(usize, Answered)>, BadTemplate> {
        let is_plain = |at: &&usize| {
            let criterion = questions[**at].criterion;
            matches!(criterion.ask, Ask::Question(_)) && criterion.by.contains(&GraderKind::Judge)
        };
        let together: Vec<usize> = open.iter().filter(is_plain).copied().collect();
        if self.calls == Calls::PerCriterion || together.len() < 2 {
            let each = |open: &[usize]| {
                let asks: Vec<_> = open
                    .iter()
                    .map(|&at| async move { Ok::<_, BadTemplate>((at, self.ask(&questions[at]).await?)) })
                    .collect();
                join_all(asks)
            };
            let n_ahead = if 2 < together.len() && self.prompter.is_long(WORTH_CACHING) { 1 } else { 0 };
            let (ahead, rest) = open.split_at(n_ahead);
            let mut all = each(ahead).await;
            all.extend(each(rest).await);
            return all.into_iter().collect();
        }
        let mut all = self.ask_together(questions, &together).await?;
        let rest = open.iter().filter(|it| !together.contains(it));
        let each = rest.map(|&at| async move { Ok((at, self.ask(&questions[at]).await?)) });
        all.extend(join_all(each).await.into_iter().collect::<Result<Vec<_>, BadTemplate>>()?);
        Ok(all)
    }

    /// All criteria in one call; those that were left out are asked again, each alone.
    async fn ask_together(
        &self,
        questions: &[Question<'_>],
        together: &[usize],
    ) -> Result<Vec<(usize, Answered)>, BadTemplate> {
        let criteria: Vec<&Criterion> = together.iter().map(|it| questions[*it].criterion).collect();
        let asked = &self.prompter.criteria(self.case.rubric, &criteria)?;
        let (read, mut took) = self.converse(asked).await;
        let said = match read {
            Ok(Read::Answers(said)) => said,
            Ok(_) => Vec::new(),
            Err(trouble) => {
                // Nobody answered, so asking one by one would not help either, unless the reply was at fault.
                if !matches!(trouble, Trouble::Reply(_)) {
                    let mut took = Some(took);
                    return Ok(together
                        .iter()
                        .map(|at| (*at, self.troubled(&trouble, took.take().unwrap_or_default(), asked)))
                        .collect());
                }
                Vec::new()
            }
        };
        let found: Vec<Option<&Said>> = together
            .iter()
            .map(|at| {
                let id = &questions[*at].criterion.id;
                said.iter().find(|it| it.0 == *id).and_then(|it| it.1.as_ref().ok())
            })
            .collect();
        let each = together.iter().zip(&found).map(|(&at, found)| async move {
            let question = &questions[at];
            match found {
                Some(answer) => {
                    Ok((at, self.scored(question, answer, Took::default(), &asked.prompt.template)))
                }
                None => Ok((at, self.ask(question).await?)),
            }
        });
        let mut all = join_all(each).await.into_iter().collect::<Result<Vec<_>, BadTemplate>>()?;
        // What asking together took is counted with the first answer.
        if let Some((_, first)) = all.first_mut() {
            let own = std::mem::take(&mut first.took);
            took.add(own);
            first.took = took;
        }
        Ok(all)
    }

    async fn ask(&self, question: &Question<'_>) -> Result<Answered, BadTemplate> {
        let criterion = question.criterion;
        if let Ask::Check(method) = &criterion.ask {
            return Ok(self.checked(method).await);
        }
        if !criterion.by.contains(&GraderKind::Judge) {
            return Ok(settled(Outcome::Deferred { why: Deferral::WaitsForPerson }, "a person answers this"));
        }
        match (&criterion.ask, question.node) {
            (_, Some(node)) => {
                let asked = self.prompter.node(node)?;
                let (read, took) = self.converse(&asked).await;
                Ok(match read {
                    Ok(Read::Choice { label, reason }) => {
                        let value = Value::Text(label);
                        let unit = question.unit(&value).ok().flatten();
                        let outcome = Outcome::Scored { value, unit };
                        Answered { took, template: asked.prompt.template, ..settled(outcome, &reason) }
                    }
                    Ok(_) => self.troubled(&Trouble::Reply(Malformed::NotJson), took, &asked),
                    Err(trouble) => self.troubled(&trouble, took, &asked),
                })
            }
            (Ask::Recipe(method), None) => self.cook(&Recipe { method, prompter: self.prompter }).await,
            _ => {
                let asked = self.prompter.criterion(self.case.rubric, criterion)?;
                let (read, took) = self.converse(&asked).await;
                Ok(match read {
                    Ok(Read::Answer(answer)) => self.scored(question, &answer, took, &asked.prompt.template),
                    Ok(_) => self.troubled(&Trouble::Reply(Malformed::NotJson), took, &asked),
                    Err(trouble) => self.troubled(&trouble, took, &asked),
                })
            }
        }
    }

    async fn cook(&self, recipe: &Recipe<'_>) -> Result<Answered, BadTemplate> {
        let (mut replies, mut took, mut template) = (Vec::new(), Took::default(), String::new());
        loop {
            match recipe.next(&replies)? {
                Next::Done(judged) => return Ok(self.concluded(judged, took, template)),
                Next::Ask(asked) => {
                    template.clone_from(&asked.prompt.template);
                    let (read, more) = self.converse(&asked).await;
                    took.add(more);
                    match read {
                        Ok(reply) => replies.push(reply),
                        Err(trouble) => return Ok(self.troubled(&trouble, took, &asked)),
                    }
                }
            }
        }
    }

    fn concluded(&self, judged: Judged, took: Took, template: String) -> Answered {
        let evidence = self.found(&judged.quotes);
        let Judged { outcome, reason, points, .. } = judged;
        // Of recipes, only requirements are asked for quotes, each for its own.
        let quotes: Vec<&Evidence> = points.iter().flat_map(|it| &it.evidence).collect();
        let quote = match quotes.as_slice() {
            [] => Quote::NotAsked,
            quotes if quotes.iter().any(|it| it.found.is_some()) => Quote::Found,
            _ => Quote::Missing,
        };
        Answered { outcome, reason, evidence, quote, points, took, template, kind: GraderKind::Judge }
    }

    fn scored(&self, question: &Question<'_>, said: &Said, took: Took, template: &str) -> Answered {
        let outcome = match &said.value {
            Some(value) => match question.unit(value) {
                Ok(unit) => Outcome::Scored { value: value.clone(), unit },
                Err(error) => Outcome::Failed { failure: Failure::OffScale, detail: error.to_string() },
            },
            None => Outcome::Abstained { why: said.reason.clone() },
        };
        let evidence = self.found(&said.quotes);
        let quote = if !self.case.rubric.require_evidence {
            Quote::NotAsked
        } else if evidence.iter().any(|it| it.found.is_some()) {
            Quote::Found
        } else {
            Quote::Missing
        };
        Answered { quote, evidence, took, template: template.to_owned(), ..settled(outcome, &said.reason) }
    }

    fn found(&self, quotes: &[String]) -> Vec<Evidence> {
        quotes.iter().take(MAX_QUOTES).map(|it| self.prompter.evidence(it)).collect()
    }

    fn troubled(&self, trouble: &Trouble, took: Took, asked: &Asked) -> Answered {
        Answered {
            took,
            template: asked.prompt.template.clone(),
            ..settled(trouble.outcome(), &trouble.reason())
        }
    }

    /// A check beside the judge's questions.
    async fn checked(&self, method: &jurist_core::catalogue::Method) -> Answered {
        let material = self.case.material;
        let output = match (&material.raw_output, &material.response, &material.trace) {
            (Some(value), ..) => value.clone(),
            (None, Some(text), _) => Json::String(text.clone()),
            (None, None, Some(trace)) => serde_json::to_value(trace).unwrap_or_default(),
            (None, None, None) => Json::Null,
        };
        let reference =
            material.raw_reference.clone().or_else(|| material.reference.clone().map(Json::String));
        let (outcome, comment) = match Check::compile(method) {
            Ok(check) => {
                let subject = Subject { output: &output, reference: reference.as_ref() };
                let texts = check.texts(&subject);
                let vectors = match (check.embedding_model(), self.embedders) {
                    (Some(model), Some(embedders)) => embedders.embed(model, &texts).await,
                    _ => Ok(Vec::new()),
                };
                let vectors = match vectors {
                    Ok(vectors) => vectors,
                    Err(error) => {
                        let outcome =
                            Outcome::Failed { failure: Failure::Unavailable, detail: error.to_string() };
                        return Answered { kind: GraderKind::Check, ..settled(outcome, "") };
                    }
                };
                let vector = |text: &str| vectors.get(texts.iter().position(|it| it == text)?).cloned();
                let finding = check.run_with(&subject, &vector);
                let outcome = match finding.score {
                    Some(score) => Outcome::Scored { value: Value::Number(score), unit: Some(score) },
                    None => Outcome::Abstained { why: finding.comment.clone() },
                };
                (outcome, finding.comment)
            }
            Err(error) => {
                (Outcome::Failed { failure: Failure::Crashed, detail: error.to_string() }, String::new())
            }
        };
        Answered { kind: GraderKind::Check, ..settled(outcome, &comment) }
    }

    fn recorded(&self, question: &Question<'_>, answered: Answered) -> Grade {
        let grader = match (answered.kind, &question.criterion.ask) {
            (GraderKind::Check, Ask::Check(method)) => {
                Grader { kind: GraderKind::Check, name: method.entry.name.to_owned(), configuration: None }
            }
            _ if answered.outcome == (Outcome::Deferred { why: Deferral::WaitsForPerson }) => {
                Grader { kind: GraderKind::Human, name: "nobody yet".to_owned(), configuration: None }
            }
            _ => Grader {
                kind: GraderKind::Judge,
                name: self.member.line.name.clone(),
                configuration: Some(self.configuration(&answered.template)),
            },
        };
        Grade {
            format: FORMAT,
            candidate: self.case.candidate.to_owned(),
            rubric: Some(self.case.rubric.version().clone()),
            criterion: question.id(),
            grader,
            outcome: answered.outcome,
            reason: Reason::new(&answered.reason),
            evidence: answered.evidence,
            points: answered.points,
            spend: answered.took.spend.unwrap_or_default(),
            time: None,
            attempts: answered.took.attempts,
        }
    }

    /// Everything that shapes this judge's answers besides the candidate.
    fn configuration(&self, template: &str) -> String {
        let Member { line, temperature, max_tokens, draw } = self.member;
        let text = format!("{} {temperature:?} {max_tokens} {draw} {:?} {template}", line.name, self.calls);
        blake3::hash(text.as_bytes()).to_hex()[..16].to_owned()
    }

    /// Asks, and asks once more if the reply cannot be used; both share one budget of tries.
    async fn converse(&self, asked: &Asked) -> (Result<Read, Trouble>, Took) {
        let read = |text: &str| self.prompter.read(&asked.form, text);
        converse(self.caller, self.member, asked, self.transcript, read).await
    }
}

async fn converse<T>(
    caller: &Caller,
    member: &Member,
    asked: &Asked,
    transcript: bool,
    read: impl Fn(&str) -> Result<T, Malformed>,
) -> (Result<T, Trouble>, Took) {
    let mut request = request(member, asked);
    let (mut tries, mut took, mut turns) = (Tries::default(), Took::default(), Vec::new());
    loop {
        let called = caller.call(&member.line, &request, &mut tries).await;
        let exchange = transcript.then(|| Exchange {
            request: request.clone(),
            reply: called.as_ref().map(|it| it.reply.text.clone()).map_err(|it| it.error.detail.clone()),
        });
        let exchanges = exchange.into_iter().collect();
        let Called { reply, spend, attempts, key } = match called {
            Ok(called) => called,
            Err(it) => {
                took.add(Took { spend: None, attempts: it.attempts.clone(), exchanges });
                return (Err(Trouble::Call(it)), took);
            }
        };
        took.add(Took { spend: Some(spend), attempts, exchanges });
        turns.push((key, reply));
        let reply = &turns[turns.len() - 1].1;
        let malformed = match understood(reply, &read) {
            Ok(read) => {
                // Only now is it known that these replies are worth keeping.
                if !spend.from_cache {
                    turns.iter().for_each(|(key, reply)| caller.keep(key, reply));
                }
                return (Ok(read), took);
            }
            Err(Trouble::Reply(malformed)) if turns.len() == 1 && !tries.is_used_up() => malformed,
            Err(trouble) => return (Err(trouble), took),
        };
        took.attempts.push(Attempt {
            failure: malformed.failure(),
            detail: malformed.to_string(),
            time: None,
        });
        let again = format!("That reply cannot be used: {malformed}.\n{}", asked.form.instruction());
        let said = if reply.text.trim().is_empty() { "(nothing)".to_owned() } else { reply.text.clone() };
        if reply.stop == Stop::Length {
            request.max_tokens = request.max_tokens.saturating_mul(2);
        }
        request.messages.push(Message { role: Role::Assistant, parts: vec![said] });
        request.messages.push(Message { role: Role::User, parts: vec![again] });
    }
}

fn understood<T>(reply: &Reply, read: impl Fn(&str) -> Result<T, Malformed>) -> Result<T, Trouble> {
    match reply.stop {
        Stop::Refusal => Err(Trouble::Refused(reply.text.clone())),
        Stop::Length => Err(Trouble::Reply(Malformed::CutOff)),
        Stop::End => read(&reply.text).map_err(Trouble::Reply),
    }
}

fn request(member: &Member, asked: &Asked) -> Request {
    let parts = [&asked.prompt.shared, &asked.prompt.question];
    Request {
        model: member.line.name.clone(),
        system: asked.prompt.system.clone(),
        messages: vec![Message {
            role: Role::User,
            parts: parts.into_iter().filter(|it| !it.is_empty()).cloned().collect(),
        }],
        schema: asked.form.schema(),
        temperature: member.temperature,
        max_tokens: member.max_tokens,
        draw: member.draw,
    }
}

fn settled(outcome: Outcome, reason: &str) -> Answered {
    Answered {
        outcome,
        reason: reason.to_owned(),
        evidence: Vec::new(),
        quote: Quote::NotAsked,
        points: Vec::new(),
        took: Took::default(),
        template: String::new(),
        kind: GraderKind::Judge,
    }
}

fn answer(answered: &Answered) -> Answer<'_> {
    Answer { outcome: &answered.outcome, quote: answered.quote }
}

/// For each question, depth first, whether a condition rules it out.
fn closed(criteria: &[Criterion], text: &str, outside: bool, out: &mut Vec<bool>) {
    for criterion in criteria {
        let is_closed = outside || criterion.when.as_ref().is_some_and(|it| !it.holds(text));
        match &criterion.ask {
            Ask::Group(group) => closed(&group.criteria, text, is_closed, out),
            _ => out.extend(std::iter::repeat_n(is_closed, criterion.n_questions())),
        }
    }
}

/// Which of several candidates is best, and why; `None` is a tie.
#[derive(Debug, Clone, PartialEq)]
pub struct Preference {
    pub winner: Option<usize>,
    pub reason: String,
    /// In which order they were shown, and who won, for each time they were compared.
    pub rounds: Vec<(Vec<usize>, Option<usize>)>,
    pub spend: Spend,
}

/// Compares candidates by one criterion. In both orders, only who wins twice has won.
pub async fn compare(
    caller: &Caller,
    member: &Member,
    candidates: Vec<&Material>,
    (case, criterion): (&str, &str),
    both_orders: bool,
    seed: u64,
) -> Result<Preference, Outcome> {
    let contest = Contest { candidates };
    let order = contest.order(case, seed);
    let reversed: Vec<usize> = order.iter().rev().copied().collect();
    let orders = if both_orders { vec![order, reversed] } else { vec![order] };
    let (mut rounds, mut reasons, mut took) = (Vec::new(), Vec::new(), Took::default());
    for order in orders {
        let round = contest.round(criterion, order, seed);
        let (read, more) = converse(caller, member, &round.asked, false, |text| round.read(text)).await;
        took.add(more);
        let (winner, reason) = read.map_err(|it| it.outcome())?;
        rounds.push((round.order.clone(), winner));
        reasons.push(reason);
    }
    let first = rounds[0].1;
    let winner = first.filter(|_| rounds.iter().all(|it| it.1 == first));
    Ok(Preference { winner, reason: reasons.join("\n"), rounds, spend: took.spend.unwrap_or_default() })
}
