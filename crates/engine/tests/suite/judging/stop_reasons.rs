//! Why a model stopped: what is not known as the end of a reply may stand below a part of one.

use jurist_core::grade::{Failure, Outcome};
use serde_json::{Value as Json, json};

use super::{GOOD, bench, caller, decide, member, unit};
use crate::server::{Act, Server};

/// A reply with this text, in the protocol of the vendor, that ended for this reason.
fn build_stopped_reply(vendor: &str, text: &str, reason: &Json) -> Json {
    match vendor {
        "openai" => json!({ "choices": [{ "message": { "content": text }, "finish_reason": reason }] }),
        "openai-responses" => {
            let part = json!({ "type": "output_text", "text": text });
            let reply = json!({ "output": [{ "type": "message", "content": [part] }] });
            match reason["reason"].is_null() {
                true => json!({ "output": reply["output"], "status": reason }),
                false => {
                    json!({ "output": reply["output"], "status": "incomplete", "incomplete_details": reason })
                }
            }
        }
        "anthropic" => json!({ "content": [{ "type": "text", "text": text }], "stop_reason": reason }),
        "gemini" => {
            let content = json!({ "role": "model", "parts": [{ "text": text }] });
            json!({ "candidates": [{ "content": content, "finishReason": reason }] })
        }
        other => panic!("{other}"),
    }
}

/// What comes of a reply that holds a whole answer.
async fn outcome_of(vendor: &str, reason: &Json) -> Outcome {
    let server = Server::script(vec![Act::Raw(build_stopped_reply(vendor, GOOD, reason).to_string())]).await;
    let decision = decide(&bench(vec![member(vendor, &server)]), &caller(), &unit()).await;
    decision.opinions[0].grades[0].outcome.clone()
}

#[tokio::test]
async fn a_reply_that_ended_by_itself_is_read() {
    for (vendor, reasons) in [
        ("openai", json!(["stop", "tool_calls", "eos", "end_turn", "COMPLETE", "", null])),
        ("openai-responses", json!(["completed", null])),
        ("anthropic", json!(["end_turn", "stop_sequence", "tool_use", null])),
        ("gemini", json!(["STOP", null])),
    ] {
        for reason in reasons.as_array().unwrap() {
            assert_eq!(outcome_of(vendor, reason).await.unit(), Some(0.5), "{vendor} {reason}");
        }
    }
}

#[tokio::test]
async fn a_reply_that_something_else_stopped_is_no_answer_and_the_reason_is_named() {
    let refused = Failure::Refusal;
    for (vendor, reason, failure) in [
        ("openai", json!("content_filter"), refused),
        ("openai", json!("insufficient_system_resource"), Failure::Malformed),
        ("openai-responses", json!({ "reason": "content_filter" }), refused),
        ("openai-responses", json!({ "reason": "turn_detected" }), Failure::Malformed),
        ("openai-responses", json!("cancelled"), Failure::Malformed),
        ("anthropic", json!("pause_turn"), Failure::Malformed),
        ("gemini", json!("SAFETY"), refused),
        ("gemini", json!("RECITATION"), refused),
        ("gemini", json!("OTHER"), Failure::Malformed),
        ("gemini", json!("MALFORMED_FUNCTION_CALL"), Failure::Malformed),
        ("gemini", json!("A_REASON_OF_NEXT_YEAR"), Failure::Malformed),
    ] {
        let outcome = outcome_of(vendor, &reason).await;
        let Outcome::Failed { failure: found, detail } = &outcome else {
            panic!("{vendor} {reason}: {outcome:?}")
        };
        let word = reason.as_str().or(reason["reason"].as_str()).unwrap();
        assert_eq!(*found, failure, "{vendor} {reason}: {detail}");
        assert!(detail.contains(word), "{vendor} {reason}: {detail}");
    }
}
