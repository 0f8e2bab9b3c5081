//! Replies that cannot be used and servers that fail: repair turns, retries, time limits, and pauses of a vendor.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use jurist_core::grade::{Deferral, VerdictStatus};
use jurist_engine::call::{Cache, Caching, CallNotice, VendorRateLimits};
use serde_json::json;

use super::*;

#[tokio::test]
async fn malformed_replies_get_one_repair_turn_and_are_never_a_score() {
    for bad in ["I would say 8 out of 10", "{}", r#"{"score": "high"}"#, r#"{"score": null}"#, ""] {
        let (outcome, n_seen) = outcome(vec![say(bad)]).await;
        assert_eq!(failure(&outcome), Some(Failure::Malformed), "{bad}");
        assert_eq!(n_seen, 2, "{bad}");
        let (repaired, _) = super::outcome(vec![say(bad), say(GOOD)]).await;
        assert_eq!(repaired.unit(), Some(0.5), "{bad}");
    }
    let (outcome, _) = outcome(vec![say(r#"{"score": 8}"#)]).await;
    assert_eq!(failure(&outcome), Some(Failure::OffScale));
}

#[tokio::test]
async fn refusals_and_cut_off_replies_are_failures_of_their_own() {
    let (refused, n_seen) = outcome(vec![Act::Refuse("I will not grade this".into())]).await;
    assert_eq!((failure(&refused), n_seen), (Some(Failure::Refusal), 1));
    let (cut, n_seen) = outcome(vec![Act::CutOff(r#"{"score": 1}"#.into())]).await;
    assert_eq!((failure(&cut), n_seen), (Some(Failure::Malformed), 2));
}

#[tokio::test]
async fn outages_are_retried_at_most_three_times() {
    let limited = || Act::Status(429, vec![("retry-after-ms", "1".to_owned())], "{}".to_owned());
    for (act, expected) in [
        (limited(), Failure::RateLimit),
        (status(429, "{}"), Failure::RateLimit),
        (status(500, "{}"), Failure::Unavailable),
        (status(529, "{}"), Failure::Unavailable),
        (Act::Drop, Failure::Unavailable),
        (Act::Raw("{\"choices\": [{\"mess".into()), Failure::Unavailable),
    ] {
        let (outcome, n_seen) = outcome(vec![act.clone()]).await;
        assert_eq!((failure(&outcome), n_seen), (Some(expected), 4), "{act:?}");
        let (recovered, n_seen) = super::outcome(vec![act.clone(), act.clone(), say(GOOD)]).await;
        assert_eq!((recovered.unit(), n_seen), (Some(0.5), 3), "{act:?}");
    }
}

#[tokio::test]
async fn what_cannot_change_is_not_tried_again() {
    for (act, expected) in [
        (
            status(401, r#"{"error": {"message": "Incorrect API key provided: sk-test-secret"}}"#),
            Failure::Auth,
        ),
        (status(402, "{}"), Failure::Auth),
        (status(403, "{}"), Failure::Auth),
        (
            status(
                400,
                r#"{"error": {"status": "INVALID_ARGUMENT", "details": [{"reason": "API_KEY_INVALID"}]}}"#,
            ),
            Failure::Auth,
        ),
        (status(429, r#"{"error": {"code": "insufficient_quota", "message": "no money"}}"#), Failure::Auth),
        (status(404, r#"{"error": {"message": "model not found"}}"#), Failure::Unavailable),
        (status(400, r#"{"error": {"message": "context too long"}}"#), Failure::Unavailable),
        (status(302, ""), Failure::Unavailable),
        (Act::Raw("<html>Sign in to the proxy</html>".into()), Failure::Unavailable),
        (Act::Raw(r#"{"error": {"code": 402, "message": "credits"}}"#.into()), Failure::Auth),
    ] {
        let (outcome, n_seen) = outcome(vec![act.clone()]).await;
        assert_eq!((failure(&outcome), n_seen), (Some(expected), 1), "{act:?}: {outcome:?}");
        assert!(!format!("{outcome:?}").contains("sk-test-secret"), "{outcome:?}");
    }
}

#[tokio::test]
async fn a_wrong_key_is_named_by_its_variable() {
    let wrong = status(401, r#"{"error": {"message": "Incorrect API key provided: sk-test-secret"}}"#);
    let (outcome, _) = outcome(vec![wrong]).await;
    let Outcome::Failed { detail, .. } = &outcome else { panic!("{outcome:?}") };
    assert!(detail.contains("; the key is from OPENAI_API_KEY"), "{detail}");
    assert!(!detail.contains("sk-test-secret"), "{detail}");
}

#[tokio::test]
async fn slow_servers_run_into_the_time_out() {
    for act in [
        Act::Wait(Duration::from_secs(60), Box::new(say(GOOD))),
        Act::Slow(Duration::from_secs(60), Box::new(say(GOOD))),
    ] {
        let server = Server::script(vec![act]).await;
        let judge = Judge {
            model: Some("ollama/x".into()),
            base_url: Some(server.url.clone()),
            // Long enough for the request to arrive although other processes use the machine.
            timeout: Some(3.0),
            ..Judge::default()
        };
        let line =
            Resolver::new(ProjectSettings::default(), |_| None).unwrap().resolve_endpoint(&judge).unwrap();
        let member = JudgeModel { line: Arc::new(line), temperature: None, max_tokens: 100, draw: 0 };
        let decision = decide(&bench(vec![member]), &caller(), &unit()).await;
        assert_eq!(failure(&decision.opinions[0].grades[0].outcome), Some(Failure::Timeout));
        // One that hangs is asked once more, and not four times.
        assert_eq!((decision.status, server.n_seen()), (VerdictStatus::Error, 2));
    }
}

#[tokio::test]
async fn without_a_key_nothing_is_asked_and_nothing_passes() {
    let judge = Judge { model: Some("openai/gpt-5-mini".into()), ..Judge::default() };
    let line = Resolver::new(ProjectSettings::default(), |_| None).unwrap().resolve_endpoint(&judge).unwrap();
    let member = JudgeModel { line: Arc::new(line), temperature: None, max_tokens: 100, draw: 0 };
    let decision = decide(&bench(vec![member]), &caller(), &unit()).await;
    assert_eq!((decision.status, decision.score), (VerdictStatus::Deferred, None));
    assert_eq!(decision.opinions[0].grades[0].outcome, Outcome::Deferred { why: Deferral::NoKey });
}

#[tokio::test]
async fn in_one_call_for_all_what_was_left_out_is_asked_again_together() {
    // The first of those that it is asked about, and one that nobody asked about.
    let server = Server::start(|seen| {
        let prompt = seen.prompt();
        match ["a", "b", "c", "d"].iter().find(|id| prompt.contains(&format!("## {id}\n"))) {
            Some(id) => {
                let entry = |id: &str| json!({ "id": id, "reasoning": "r", "verdict": true });
                say(&json!({ "criteria": [entry(id), entry("zzz")] }).to_string())
            }
            None => say(r#"{"reasoning": "alone", "verdict": false}"#),
        }
    })
    .await;
    let judged = async |ids: &[&str]| {
        let n_before = server.n_seen();
        let rubric = rubric(ids.iter().map(|id| criterion(id, Scale::Binary)).collect());
        let bench = ResolvedJudges { calls: Calls::PerRubric, ..bench(vec![member("openai", &server)]) };
        let decision = decide(&bench, &caller(), &rubric).await;
        let units = decision.opinions[0].grades.iter().map(|grade| grade.outcome.unit());
        (units.collect::<Vec<_>>(), server.n_seen() - n_before)
    };
    assert_eq!(judged(&["a", "b", "c"]).await, (vec![Some(1.0), Some(1.0), Some(0.0)], 3));
    // Four requests in all: what has no answer then has failed.
    let units = vec![Some(1.0), Some(1.0), Some(1.0), Some(1.0), None, None];
    assert_eq!(judged(&["a", "b", "c", "d", "e", "f"]).await, (units, 4));
}

#[tokio::test]
async fn a_judge_that_answers_nonsense_costs_the_same_for_any_number_of_criteria() {
    for reply in ["I would rather not say.", r#"{"criteria": []}"#, r#"{"criteria": [{"id": "zzz"}]}"#] {
        let server = Server::script(vec![say(reply)]).await;
        let criteria = (0..20).map(|at| criterion(&format!("c{at}"), Scale::Binary)).collect();
        let bench = ResolvedJudges { calls: Calls::PerRubric, ..bench(vec![member("openai", &server)]) };
        let decision = decide(&bench, &caller(), &rubric(criteria)).await;
        assert_eq!((decision.status, server.n_seen()), (VerdictStatus::Error, 4), "{reply}");
        let grades = &decision.opinions[0].grades;
        assert!(grades.iter().all(|grade| failure(&grade.outcome) == Some(Failure::Malformed)), "{grades:?}");
    }
}

#[tokio::test]
async fn after_a_joint_reply_without_an_answer_each_criterion_is_asked_alone() {
    let entry = |id: &str| json!({ "id": id, "reasoning": "r", "verdict": true });
    let every_twice = json!({ "criteria": (["a", "b", "c", "a", "b", "c"].map(entry)) });
    for bad in ["I would rather not say.", r#"{"criteria": []}"#, every_twice.to_string().as_str()] {
        let folder = tempfile::tempdir().unwrap();
        let caller = || caller().with_cache(Cache::new(folder.path()), Caching::Use);
        let is_alone_answered = Arc::new(AtomicBool::new(false));
        let (joint, answers_alone) = (bad.to_owned(), Arc::clone(&is_alone_answered));
        let server = Server::start(move |seen| {
            let is_joint = !seen.schema()["properties"]["criteria"].is_null();
            say(match (is_joint, answers_alone.load(Ordering::Relaxed)) {
                (true, _) => &joint,
                (false, true) => r#"{"reasoning": "alone", "verdict": true}"#,
                (false, false) => "{}",
            })
        })
        .await;
        let rubric = rubric(["a", "b", "c"].map(|id| criterion(id, Scale::Binary)).to_vec());
        let bench = ResolvedJudges { calls: Calls::PerRubric, ..bench(vec![member("openai", &server)]) };
        let failed = decide(&bench, &caller(), &rubric).await;
        assert_eq!((failed.status, server.n_seen()), (VerdictStatus::Error, 4), "{bad}");
        assert_eq!(Cache::new(folder.path()).stats().replies, 0, "{bad}");
        // The joint question and its repair, and three criteria: only these three are kept.
        is_alone_answered.store(true, Ordering::Relaxed);
        for n_seen in [9, 11] {
            let decision = decide(&bench, &caller(), &rubric).await;
            assert_eq!((decision.status, server.n_seen()), (VerdictStatus::Pass, n_seen), "{bad}");
            assert_eq!(Cache::new(folder.path()).stats().replies, 3, "{bad}");
        }
    }
}

#[tokio::test]
async fn one_forbidden_candidate_does_not_stop_the_others() {
    let server = Server::script(vec![status(403, "{}"), say(GOOD)]).await;
    let (bench, caller) = (bench(vec![member("openai", &server)]), caller());
    assert_eq!(decide(&bench, &caller, &unit()).await.status, VerdictStatus::Error);
    assert_eq!(decide(&bench, &caller, &unit()).await.score, Some(0.5));
}

#[tokio::test]
async fn a_vendor_that_keeps_failing_is_left_alone_and_that_is_said_once() {
    let server = Server::script(vec![status(500, "{}")]).await;
    let notices = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&notices);
    // The vendor is left alone for sixty times this: longer than the calls take that are refused meanwhile.
    let caller = ModelClient::default().with_backoff(Duration::from_millis(50));
    let caller = caller.with_listener(move |call_notice| heard.lock().unwrap().push(call_notice));
    let bench = bench(vec![member("openai", &server)]);
    for _ in 0..20 {
        assert_eq!(decide(&bench, &caller, &unit()).await.status, VerdictStatus::Error);
    }
    // Three were given up, and one tried again for all of them.
    assert_eq!(server.n_seen(), 3 * 4 + 1);
    // That calls are made again is said while there is something to wait for, and once.
    let notices: Vec<_> = std::mem::take(&mut notices.lock().unwrap());
    assert!(
        matches!(&notices[..], [CallNotice::Retrying { .. }, CallNotice::CircuitOpened { .. }]),
        "{notices:?}"
    );
    // A wrong key is known after one request.
    let server = Server::script(vec![status(401, "{}")]).await;
    let (bench, caller) = (super::bench(vec![member("anthropic", &server)]), super::caller());
    for _ in 0..5 {
        decide(&bench, &caller, &unit()).await;
    }
    assert_eq!(server.n_seen(), 1);
}

#[tokio::test]
async fn a_short_outage_costs_a_pause_and_not_the_rest_of_the_run() {
    let server = Server::start(|seen| if seen.nth < 12 { status(503, "{}") } else { say(GOOD) }).await;
    let (bench, caller) = (bench(vec![member("openai", &server)]), caller());
    let mut statuses = Vec::new();
    for _ in 0..10 {
        statuses.push(decide(&bench, &caller, &unit()).await.status);
    }
    assert_eq!(statuses[..3], [VerdictStatus::Error; 3]);
    assert_eq!(statuses[3..], [VerdictStatus::Fail; 7]);
}

#[tokio::test]
async fn no_more_calls_run_at_once_than_allowed_and_fewer_after_a_429() {
    let server = Server::script(vec![Act::Wait(Duration::from_millis(20), Box::new(say(GOOD)))]).await;
    let caller = caller().with_limits(VendorRateLimits { concurrency: 3, ..VendorRateLimits::default() });
    let rubric = rubric((0..12).map(|n| criterion(&format!("c{n}"), Scale::Unit)).collect());
    decide(&bench(vec![member("openai", &server)]), &caller, &rubric).await;
    assert_eq!(server.busiest.load(Ordering::SeqCst), 3);

    let limited = Server::start(|seen| match seen.nth {
        0 => say(GOOD),
        1..=8 => Act::Status(429, vec![("retry-after-ms", "20".to_owned())], "{}".into()),
        _ => Act::Wait(Duration::from_millis(20), Box::new(say(GOOD))),
    })
    .await;
    let caller =
        super::caller().with_limits(VendorRateLimits { concurrency: 8, ..VendorRateLimits::default() });
    let bench = bench(vec![member("openai", &limited)]);
    decide(&bench, &caller, &unit()).await;
    let graded = decide(&bench, &caller, &rubric).await;
    assert!(graded.opinions[0].grades.iter().all(|grade| grade.outcome.unit() == Some(0.5)));
}
