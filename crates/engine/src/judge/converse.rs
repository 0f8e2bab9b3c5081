//! One question to a judge, and a repair turn if the reply is unusable; both share one limit of attempts.

use jurist_core::grade::{Attempt, Failure, Outcome, Spend};
use jurist_core::judge::{JudgeQuestion, JudgeReplyError};

use serde::{Deserialize, Serialize};

use super::JudgeModel;
use crate::call::{CallFailure, CallResult, ModelClient, Tries};
use crate::model::{Message, MessageRole, ModelReply, Request, StopReason};

/// A prompt and the raw reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JudgeExchange {
    /// Criterion; the first one if several were asked together.
    pub criterion: String,
    pub request: Request,
    pub reply: Result<String, String>,
}

/// Attempts, cost and exchanges of all turns of one question.
#[derive(Default)]
pub(super) struct QuestionLog {
    pub(super) spend: Option<Spend>,
    pub(super) attempts: Vec<Attempt>,
    pub(super) exchanges: Vec<JudgeExchange>,
}

impl QuestionLog {
    pub(super) fn add(&mut self, more: QuestionLog) {
        self.spend = match (self.spend, more.spend) {
            (Some(a), Some(b)) => Some(Spend { from_cache: a.from_cache && b.from_cache, ..a.plus(b) }),
            (a, b) => a.or(b),
        };
        self.attempts.extend(more.attempts);
        self.exchanges.extend(more.exchanges);
    }
}

/// Why a question has no answer.
pub(super) enum JudgeQuestionError {
    Call(Box<CallFailure>),
    Reply(JudgeReplyError),
    Refused(String),
}

impl JudgeQuestionError {
    pub(super) fn outcome(&self) -> Outcome {
        let failed = |failure, detail: String| Outcome::Failed { failure, detail };
        match self {
            Self::Call(problem) => match problem.deferral() {
                Some(why) => Outcome::Deferred { why },
                None => failed(problem.error.failure(), problem.error.detail.clone()),
            },
            Self::Reply(problem) => failed(problem.failure(), problem.to_string()),
            Self::Refused(text) => failed(Failure::Refusal, text.chars().take(300).collect()),
        }
    }

    pub(super) fn reason(&self) -> String {
        match self {
            Self::Call(problem) if problem.deferral().is_some() => problem.error.detail.clone(),
            _ => String::new(),
        }
    }
}

/// Which turn this is: an unusable reply leads to one more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReplyTurn {
    First,
    Last,
}

/// The result of a question, and the log of its turns.
pub(super) struct JudgeConversation<T> {
    pub(super) reply: Result<T, JudgeQuestionError>,
    pub(super) log: QuestionLog,
}

/// A reply that `read` accepts.
pub(super) struct ReplyReading<T> {
    pub(super) value: T,
    /// Whether it answers anything; a reply that does not is never cached.
    pub(super) has_answer: bool,
}

/// Asks, and asks once more if `read` rejects the reply; both turns share one limit of attempts.
///
/// In the first turn `read` may also reject a usable reply with a flaw (such as a missing quote); in the last turn it
/// accepts such a reply.
pub(super) async fn ask_with_repair<T>(
    caller: &ModelClient,
    member: &JudgeModel,
    question: &JudgeQuestion,
    transcript: bool,
    tries: &mut Tries,
    read: impl Fn(&str, ReplyTurn) -> Result<ReplyReading<T>, JudgeReplyError>,
) -> JudgeConversation<T> {
    let mut request = build_judge_request(member, question);
    let (mut log, mut turns) = (QuestionLog::default(), Vec::new());
    let mut is_past_cache = false;
    loop {
        let called = if is_past_cache {
            caller.call_past_cache(&member.line, &request, tries).await
        } else {
            caller.call(&member.line, &request, tries).await
        };
        let exchange = transcript.then(|| JudgeExchange {
            criterion: String::new(),
            request: request.clone(),
            reply: called
                .as_ref()
                .map(|call_result| call_result.reply.text.clone())
                .map_err(|call_failure| call_failure.error.detail.clone()),
        });
        let exchanges = exchange.into_iter().collect();
        let called = match called {
            Ok(called) => called,
            Err(it) => {
                log.add(QuestionLog { spend: it.spend, attempts: it.attempts.clone(), exchanges });
                return JudgeConversation { reply: Err(JudgeQuestionError::Call(Box::new(it))), log };
            }
        };
        log.add(QuestionLog { spend: Some(called.spend), attempts: called.attempts.clone(), exchanges });
        turns.push(called);
        let CallResult { reply, .. } = &turns[turns.len() - 1];
        let turn = if turns.len() == 1 && !tries.is_used_up() { ReplyTurn::First } else { ReplyTurn::Last };
        let reading = interpret_reply(reply, |text| read(text, turn));
        let is_unusable = match &reading {
            Ok(reading) => !reading.has_answer,
            Err(trouble) => turn == ReplyTurn::Last && matches!(trouble, JudgeQuestionError::Reply(_)),
        };
        if is_unusable && turns.iter().all(CallResult::is_from_disk) {
            // Earlier versions cached replies without any answer. Without them, the question is new.
            (log, is_past_cache) = (QuestionLog::default(), true);
            request = build_judge_request(member, question);
            turns.clear();
            continue;
        }
        let malformed = match reading {
            Ok(ReplyReading { value, has_answer }) => {
                // Replies are cached only after they have been parsed.
                if has_answer {
                    turns
                        .iter()
                        .filter(|called| !called.spend.from_cache)
                        .for_each(|called| caller.keep(&called.key, &called.reply));
                }
                return JudgeConversation { reply: Ok(value), log };
            }
            Err(JudgeQuestionError::Reply(malformed)) if turn == ReplyTurn::First => malformed,
            Err(trouble) => return JudgeConversation { reply: Err(trouble), log },
        };
        log.attempts.push(Attempt {
            failure: malformed.failure(),
            detail: malformed.to_string(),
            time: None,
        });
        let again = format!("That reply cannot be used: {malformed}.\n{}", question.form.instruction());
        let reply_text =
            if reply.text.trim().is_empty() { "(nothing)".to_owned() } else { reply.text.clone() };
        if reply.stop == StopReason::Length {
            request.max_tokens = request.max_tokens.saturating_mul(2);
        }
        request.messages.push(Message::new(MessageRole::Assistant, vec![reply_text]));
        request.messages.push(Message::new(MessageRole::User, vec![again]));
    }
}

fn interpret_reply<T>(
    reply: &ModelReply,
    read: impl Fn(&str) -> Result<T, JudgeReplyError>,
) -> Result<T, JudgeQuestionError> {
    let why = reply.describe_stop();
    match reply.stop {
        StopReason::Refusal => Err(JudgeQuestionError::Refused(why.unwrap_or_else(|| reply.text.clone()))),
        StopReason::Other => {
            Err(JudgeQuestionError::Reply(JudgeReplyError::Stopped(why.unwrap_or_default())))
        }
        StopReason::Length => Err(JudgeQuestionError::Reply(JudgeReplyError::CutOff)),
        StopReason::End => read(&reply.text).map_err(JudgeQuestionError::Reply),
    }
}

fn build_judge_request(member: &JudgeModel, question: &JudgeQuestion) -> Request {
    Request {
        model: member.line.name.clone(),
        system: question.prompt.system.clone(),
        messages: vec![Message::new(MessageRole::User, question.prompt.user())],
        schema: question.form.schema(),
        tools: Vec::new(),
        temperature: member.temperature,
        max_tokens: member.max_tokens,
        draw: member.draw,
        log_probabilities: false,
        guardrails: false,
    }
}
