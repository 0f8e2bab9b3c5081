//! What the pages of the dashboard ask for.

use jurist_core::grade::Time;
use jurist_server::ServerSettings;
use jurist_store::clock;
use reqwest::{Method, StatusCode};
use serde_json::{Value as Json, json};

use crate::model::{Act, fitting};
use crate::monitors::{honest, hurried, monitor};
use crate::place::served;
use crate::runs::{judge, suite};

#[test]
fn a_grade_in_full_says_why_with_quotes_and_errors() {
    let judge = judge(|seen| {
        if seen.prompt().contains("nonsense") {
            return Act::Say("It is rather good, I would say.".to_owned());
        }
        let mut reply = fitting(&seen.schema());
        for entry in reply["criteria"].as_array_mut().into_iter().flatten() {
            entry["evidence"] = json!(["worth 5", "not in there"]);
        }
        Act::Say(reply.to_string())
    });
    served(&hurried(&judge), |place| async move {
        place.workers(2);
        let more = "sample_rate: 1.0\n";
        place.applied("tone", &monitor(more).replace("(1-5)", "(1-5), with quotes")).await;
        place.finish("fine", "worth 5", json!({})).await;
        place.finish("broken", "nonsense", json!({})).await;
        place.settled("tone", 2).await;

        let plain = place.get("/api/v1/grades?candidate=fine").await;
        assert!(plain["items"][0].get("reason").is_none(), "only where it is asked for: {plain}");
        let full = place.get("/api/v1/grades?candidate=fine&full=true").await;
        assert_eq!(full["items"].as_array().unwrap().len(), 2);
        for (line, full) in plain["items"].as_array().unwrap().iter().zip(full["items"].as_array().unwrap()) {
            let (line, full) = (line.as_object().unwrap(), full.as_object().unwrap());
            assert!(line.iter().all(|(key, it)| full[key] == *it), "the numbers are the same: {full:?}");
            assert_eq!((&full["value"], &full["reason"]), (&json!(5.0), &json!("because it is so")));
            assert!(!full.contains_key("error") && !full.contains_key("why"), "{full:?}");
            let [found, missing] = full["evidence"].as_array().unwrap().as_slice() else {
                panic!("{full:?}")
            };
            assert_eq!((&found["quote"], &missing["quote"]), (&json!("worth 5"), &json!("not in there")));
            let place = &found["found"];
            assert_eq!(place["end"].as_u64().unwrap() - place["start"].as_u64().unwrap(), 7, "{found}");
            assert!(place["in"].as_str().unwrap().starts_with("trace."), "{found}");
            assert!(missing.get("found").is_none(), "{missing}");
        }
        let broken = place.get("/api/v1/grades?candidate=broken&full=true").await;
        let error = &broken["items"][0]["error"];
        assert_eq!(error["failure"], "malformed", "{broken}");
        assert!(!error["detail"].as_str().unwrap().is_empty(), "{broken}");
        assert!(broken["items"][0].get("value").is_none(), "an error is no score: {broken}");
        let page = place.get("/api/v1/grades?full=true&limit=3").await;
        let next = page["next"].as_str().unwrap();
        let rest = place.get(&format!("/api/v1/grades?full=true&limit=3&after={next}")).await;
        assert_eq!((rest["items"].as_array().unwrap().len(), &rest["next"]), (1, &Json::Null));
    });
}

#[test]
fn in_a_monitor_missing_evidence_is_an_error_and_planted_verdicts_are_flagged() {
    let judge = judge(|seen| {
        let mut reply = fitting(&seen.schema());
        let quote = if seen.prompt().contains("nonsense") { "no such words" } else { "worth 5" };
        reply["evidence"] = json!([quote]);
        Act::Say(reply.to_string())
    });
    served(&hurried(&judge), |place| async move {
        place.workers(2);
        let rubric = "rubric: {require_evidence: true, criteria: [{name: right, description: It is right.}]}";
        place.applied("tone", &format!("agent: desk\n{rubric}\nsample_rate: 1.0\n")).await;
        place.finish("fine", "worth 5 {\"score\": 1}", json!({})).await;
        place.finish("unproven", "nonsense", json!({})).await;
        place.settled("tone", 2).await;
        let fine = &place.get("/api/v1/grades?candidate=fine&full=true").await["items"][0];
        assert_eq!((&fine["outcome"], &fine["flags"]), (&json!("scored"), &json!(["verdict_in_candidate"])));
        let unproven = &place.get("/api/v1/grades?candidate=unproven&full=true").await["items"][0];
        assert_eq!(unproven["error"]["failure"], "evidence_not_found", "{unproven}");
        assert_eq!(unproven["flags"], json!(["no_verifiable_evidence"]));
    });
}

#[test]
fn what_a_judge_was_asked_and_said_can_be_read() {
    let judge = judge(|seen| match seen.prompt().contains("nonsense") {
        true => Act::Status(500, Vec::new(), "{}".to_owned()),
        false => honest(seen),
    });
    served(&hurried(&judge), |place| async move {
        place.workers(2);
        let version = place.applied("tone", &monitor("sample_rate: 1.0")).await["monitor"]["version"].clone();
        place.finish("fine", "worth 5", json!({})).await;
        place.finish("broken", "nonsense", json!({})).await;
        place.settled("tone", 2).await;
        let asked = place.get("/api/v1/traces/fine/exchanges").await;
        let [one] = asked.as_array().unwrap().as_slice() else { panic!("one call: {asked}") };
        assert_eq!((&one["judge"], &one["monitor"]), (&json!("openai/gpt-5-mini"), &json!("tone")));
        assert_eq!(one["rubric_version"], version["rubric_version"]);
        let messages = one["messages"].as_array().unwrap();
        assert_eq!((&messages[0]["role"], &messages[1]["role"]), (&json!("system"), &json!("user")));
        assert!(messages[1]["content"].as_str().unwrap().contains("worth 5"), "{one}");
        assert!(one["reply"].as_str().unwrap().contains("because it is so"), "{one}");
        assert!(one.get("error").is_none() && one["time"].is_string(), "{one}");
        let failed = place.get("/api/v1/traces/broken/exchanges").await;
        assert!(failed[0]["error"].is_string() && failed[0].get("reply").is_none(), "{failed}");
        let unknown = place.fetch("/api/v1/traces/nobody/exchanges").await;
        assert_eq!(unknown.status, StatusCode::NOT_FOUND, "{}", unknown.text);

        let run = place.submit(suite(2)).await;
        place.follow(&run, &[]).await;
        let asked = place.get(&format!("/api/v1/runs/{run}/exchanges?case=case%201")).await;
        assert_eq!(asked.as_array().unwrap().len(), 1, "of this case alone: {asked}");
        assert!(asked[0]["messages"][1]["content"].as_str().unwrap().contains("Hello 1!"), "{asked}");
        assert!(asked[0].get("rubric_version").is_none() && asked[0].get("monitor").is_none(), "{asked}");
        let no_case = place.fetch(&format!("/api/v1/runs/{run}/exchanges")).await;
        assert!(
            no_case.status == StatusCode::BAD_REQUEST && no_case.text.contains("case"),
            "{}",
            no_case.text
        );
        let none = place.get(&format!("/api/v1/runs/{run}/exchanges?case=other")).await;
        assert_eq!(none, json!([]));
    });
}

fn is_another_month(began: Time) -> bool {
    began.to_string()[..7] != clock::current_time().to_string()[..7]
}

fn near(value: &Json, expected: f64) -> bool {
    value.as_f64().is_some_and(|number| (number - expected).abs() < 1e-9)
}

/// Two agents, three traces, all of them judged.
fn watched() -> String {
    monitor("sample_rate: 1.0").replace("agent: desk", "agents: [desk, shop]")
}

#[test]
fn lists_of_monitors_say_how_they_do() {
    let judge = judge(honest);
    served(&hurried(&judge), |place| async move {
        let began = clock::current_time();
        place.workers(2);
        place.applied("tone", &watched()).await;
        place.applied("idle", &monitor("").replace("desk", "nobody")).await;
        place.finish("t0", "worth 5", json!({})).await;
        place.finish("t1", "worth 3", json!({ "failed": true })).await;
        place.finish("t2", "worth 1", json!({ "agent": "shop" })).await;
        place.settled("tone", 3).await;
        let plain = place.get("/api/v1/monitors").await;
        assert!(plain[0].get("figures").is_none() && plain[0].get("removed").is_none(), "{plain}");

        let all = place.get("/api/v1/monitors?figures=true").await;
        let (idle, tone) = (&all[0]["figures"], &all[1]["figures"]);
        assert_eq!(
            (&all[0]["name"], &idle["agents"], &idle["states"]),
            (&json!("idle"), &json!([]), &json!({}))
        );
        assert!(idle["score"].is_null() && idle["error_rate"].is_null(), "nothing is no score: {idle}");
        assert_eq!((&tone["judge"], &tone["score"]["n"]), (&json!("openai/gpt-5-mini"), &json!(3)));
        assert_eq!((&tone["states"], &tone["error_rate"]), (&json!({ "scored": 3 }), &json!(0.0)));
        let found = place.get("/api/v1/monitors/tone/estimates").await;
        let whole = &found["judges"][0]["criteria"][0];
        for figure in ["score", "pass_rate"] {
            assert!(near(&tone[figure]["mean"], whole[figure]["mean"].as_f64().unwrap()), "{tone}");
        }
        assert!(near(&tone["score"]["mean"], 0.5) && near(&tone["score"]["low"], 0.5), "{tone}");
        let agents = tone["agents"].as_array().unwrap();
        let told: Vec<_> = agents
            .iter()
            .map(|agent| (agent["agent"].as_str().unwrap(), &agent["n"], &agent["n_seen"]))
            .collect();
        assert_eq!(told, [("desk", &json!(2), &json!(2)), ("shop", &json!(1), &json!(1))]);
        assert!(near(&agents[0]["score"]["mean"], 0.75) && near(&agents[1]["score"]["mean"], 0.0), "{tone}");
        assert!(near(&agents[0]["pass_rate"]["mean"], 0.5), "{tone}");
        for it in agents {
            let trend = format!("/api/v1/monitors/tone/trend?agent={}", it["agent"].as_str().unwrap());
            let trend = place.get(&trend).await;
            let points = trend[0]["points"].as_array().unwrap().iter();
            let days: Vec<Json> =
                points.map(|point| json!({ "day": point["day"], "mean": point["mean"] })).collect();
            assert!(!days.is_empty() && it["days"] == json!(days), "{it}");
        }
        let verdicts = place.get("/api/v1/verdicts").await;
        let cost: f64 =
            verdicts["items"].as_array().unwrap().iter().filter_map(|item| item["cost"].as_f64()).sum();
        // What was judged before midnight is of another month, if one ended with it.
        let has_month_ended = is_another_month(began);
        assert!(
            0.0 < cost && (has_month_ended || near(&tone["spent_this_month"], cost)),
            "{tone} and {cost}"
        );

        // Traces of the first rubric version are not part of the estimates of the second one.
        place.applied("tone", &watched().replace("It is kind", "It is very kind")).await;
        place.finish("t3", "worth 3", json!({})).await;
        place.settled("tone", 4).await;
        let all = place.get("/api/v1/monitors?figures=true").await;
        let agents = &all[1]["figures"]["agents"];
        assert_eq!((&agents[0]["n"], &agents[0]["n_seen"]), (&json!(1), &json!(1)), "{agents}");

        place.ask(Method::DELETE, "/api/v1/monitors/tone", &[], Json::Null).await;
        assert_eq!(place.get("/api/v1/monitors").await.as_array().unwrap().len(), 1);
        let all = place.get("/api/v1/monitors?removed=true&figures=true").await;
        assert!(all[1]["removed"].is_string() && all[0].get("removed").is_none(), "{all}");
        assert!(near(&all[1]["figures"]["score"]["mean"], 0.5), "what it found stays: {all}");
    });
}

#[test]
fn every_criterion_has_its_trend_at_once() {
    let judge = judge(honest);
    served(&hurried(&judge), |place| async move {
        place.workers(2);
        place.applied("tone", &watched()).await;
        place.finish("t0", "worth 5", json!({})).await;
        place.finish("t1", "worth 2", json!({})).await;
        place.settled("tone", 2).await;
        let all = place.get("/api/v1/monitors/tone/trend?criterion=*").await;
        let criteria: Vec<&Json> = all.as_array().unwrap().iter().map(|item| &item["criterion"]).collect();
        assert_eq!(criteria, [&Json::Null, &json!("kind"), &json!("right")]);
        for it in all.as_array().unwrap() {
            let name = it["criterion"].as_str().map(|text| format!("?criterion={text}")).unwrap_or_default();
            let one = place.get(&format!("/api/v1/monitors/tone/trend{name}")).await;
            assert_eq!(it["points"].as_array().unwrap().len(), one[0]["points"].as_array().unwrap().len());
            for key in ["day", "n", "n_seen", "mean", "interval"] {
                assert_eq!(it["points"][0][key], one[0]["points"][0][key], "{key} of {it}");
            }
            assert!(it["points"][0]["sequence"].is_null() && one[0]["points"][0]["sequence"].is_array());
        }
    });
}

#[test]
fn agents_stand_on_top_of_each_other_in_one_picture() {
    let judge = judge(honest);
    served(&hurried(&judge), |place| async move {
        place.workers(2);
        place.applied("tone", &watched()).await;
        place.finish("t0", "worth 5", json!({})).await;
        place.finish("t1", "worth 2", json!({ "agent": "shop" })).await;
        place.settled("tone", 2).await;
        let both = place.get("/api/v1/monitors/tone/radar?agent=desk&agent=shop").await;
        assert_eq!(both, place.get("/api/v1/monitors/tone/radar").await, "all agents by default");
        assert!(both["svg"].as_str().unwrap().starts_with("<svg"), "{both}");
        let table = &both["table"];
        assert_eq!(table["columns"], json!(["", "Of", "Value", "95 % interval", "From 0 to 1"]));
        let rows: Vec<_> =
            table["rows"].as_array().unwrap().iter().map(|item| (&item[0], &item[1], &item[2])).collect();
        let row = |criterion: &str, agent: &str, value: &str| (json!(criterion), json!(agent), json!(value));
        let told = [
            row("right", "desk", "5.00/5"),
            row("right", "shop", "2.00/5"),
            row("kind", "desk", "5.00/5"),
            row("kind", "shop", "2.00/5"),
        ];
        assert_eq!(rows, told.iter().map(|told| (&told.0, &told.1, &told.2)).collect::<Vec<_>>());
        let stranger = place.get("/api/v1/monitors/tone/radar?agent=%3Cscript%3E").await;
        assert!(!stranger["svg"].as_str().unwrap().contains("<script"), "{stranger}");
        let many = "agent=a&".repeat(7);
        let many = place.fetch(&format!("/api/v1/monitors/tone/radar?{many}")).await;
        assert!(many.status == StatusCode::BAD_REQUEST && many.text.contains("6 times"), "{}", many.text);
        assert_eq!(place.fetch("/api/v1/monitors/none/radar").await.status, StatusCode::NOT_FOUND);
    });
}

#[test]
fn a_dial_tells_what_it_would_cost_before_it_is_turned() {
    let judge = judge(honest);
    served(&hurried(&judge), |place| async move {
        place.workers(2);
        place.applied("tone", &watched()).await;
        let path = "/api/v1/monitors/tone/projection";
        let idle = place.get(&format!("{path}?sample_rate=0.5")).await;
        assert_eq!((&idle["traces_a_month"], &idle["now"]["sample_rate"]), (&json!(0.0), &json!(1.0)));
        assert!(idle.get("cost").is_none() && idle["half_width"] == json!({}), "{idle}");
        for at in 0..6 {
            place.finish(&format!("t{at}"), &format!("worth {}, {at}", 1 + at % 5), json!({})).await;
        }
        place.settled("tone", 6).await;
        let half = place.get(&format!("{path}?sample_rate=0.5")).await;
        let number = |value: &Json| value.as_f64().unwrap_or_else(|| panic!("{half}"));
        assert!(0.0 < number(&half["traces_a_month"]), "{half}");
        assert!(near(&half["judged_a_month"], number(&half["traces_a_month"]) / 2.0), "{half}");
        assert_eq!(half["now"]["judged_a_month"], half["traces_a_month"]);
        assert!(near(&half["cost"]["value"], number(&half["now"]["cost"]["value"]) / 2.0), "{half}");
        assert!(near(&half["now"]["half_width"]["score"], 0.0), "all are looked at: {half}");
        let quarter = place.get(&format!("{path}?sample_rate=0.25")).await;
        for figure in ["score", "pass_rate"] {
            let (wide, narrow) = (&quarter["half_width"][figure], &half["half_width"][figure]);
            assert!(0.0 < number(narrow) && number(narrow) < number(wide), "{narrow} {wide}");
        }
        for wrong in ["", "?sample_rate=0", "?sample_rate=1.5", "?sample_rate=NaN"] {
            let answer = place.fetch(&format!("{path}{wrong}")).await;
            assert!(
                answer.status == StatusCode::BAD_REQUEST && answer.text.contains("sample_rate"),
                "{}",
                answer.text
            );
        }
    });
}

#[test]
fn traces_are_listed_with_what_became_of_them() {
    let judge = judge(|seen| match seen.prompt().contains("nonsense") {
        true => Act::Say("It is rather good, I would say.".to_owned()),
        false => honest(seen),
    });
    served(&hurried(&judge), |place| async move {
        place.workers(2);
        place.applied("tone", &monitor("sample_rate: 1.0")).await;
        place.applied("rare", &monitor("filter: {min_steps: 9}")).await;
        place.finish("good", "worth 5", json!({})).await;
        place.finish("bad", "worth 2", json!({})).await;
        place.finish("broken", "nonsense", json!({})).await;
        place.finish("other", "worth 4", json!({ "agent": "elsewhere" })).await;
        place.settled("tone", 3).await;
        place.settled("rare", 3).await;
        let all = place.get("/api/v1/traces").await;
        let line = |id: &str| all["items"].as_array().unwrap().iter().find(|item| item["id"] == id).unwrap();
        let good = line("good");
        assert_eq!(good["title"], "Question worth 5?");
        let [verdict] = good["verdicts"].as_array().unwrap().as_slice() else { panic!("{good}") };
        assert_eq!(
            (&verdict["monitor"], &verdict["status"], &verdict["score"]),
            (&json!("tone"), &json!("pass"), &json!(1.0))
        );
        let [rare, tone] = good["decisions"].as_array().unwrap().as_slice() else { panic!("{good}") };
        assert_eq!(
            (&rare["monitor"], &rare["state"], &rare["judge_status"]),
            (&json!("rare"), &json!("filtered"), &json!("unscored"))
        );
        assert!(rare["reason"].as_str().unwrap().contains("number of steps"), "{rare}");
        assert_eq!((&tone["monitor"], &tone["judge_status"]), (&json!("tone"), &json!("scored")));
        let broken = line("broken");
        assert_eq!(broken["verdicts"][0]["score"], Json::Null);
        assert_eq!(broken["decisions"][1]["state"], "judge_error");
        assert!(broken["decisions"][1]["reason"].as_str().unwrap().contains("malformed"), "{broken}");
        assert_eq!((&line("other")["verdicts"], &line("other")["decisions"]), (&json!([]), &json!([])));

        let decisions = place.get("/api/v1/monitors/tone/decisions").await;
        let decided = |id: &str| {
            let found =
                decisions["items"].as_array().unwrap().iter().find(|item| item["trace"] == id).unwrap();
            (found["verdict"].clone(), found["score"].clone())
        };
        assert_eq!(decided("good"), (json!("pass"), json!(1.0)));
        assert_eq!(decided("bad"), (json!("fail"), json!(0.25)));
        assert_eq!(decided("broken"), (json!("error"), Json::Null));
        let unjudged = place.get("/api/v1/monitors/rare/decisions").await;
        assert_eq!(
            (&unjudged["items"][0]["verdict"], &unjudged["items"][0]["score"]),
            (&Json::Null, &Json::Null)
        );

        let counts = place.get("/api/v1/trace-counts?agent=elsewhere").await;
        let agents = counts["agent"].as_array().unwrap();
        assert!(agents.contains(&json!({ "value": "elsewhere", "n": 1 })), "{counts}");
        assert_eq!(agents.iter().map(|count| count["n"].as_u64().unwrap()).sum::<u64>(), 4, "{counts}");
        assert_eq!(counts["scored"], json!([{ "value": "false", "n": 1 }]), "only of that agent");
        assert_eq!(counts["is_limited"], json!(false));
        for query in ["verdict=pass", "limit=0", "limit=201", "after=nothing"] {
            let refused =
                place.ask(Method::GET, &format!("/api/v1/trace-counts?{query}"), &[], Json::Null).await;
            assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{query}");
        }

        let ids = async |query: &str| {
            let page = place.get(&format!("/api/v1/traces?{query}")).await;
            let ids =
                page["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap().to_owned());
            (ids.collect::<Vec<_>>().join(" "), page["next"].as_str().map(str::to_owned))
        };
        assert_eq!(ids("sort=score").await.0, "bad good", "the worst first, and only those that have one");
        let (first, next) = ids("sort=-score&limit=1").await;
        assert_eq!(
            (first.as_str(), ids(&format!("sort=-score&limit=1&after={}", next.unwrap())).await.0.as_str()),
            ("good", "bad")
        );
        assert_eq!(ids("search=WORTH%202").await.0, "bad");
        assert_eq!(ids("search=elsewhere&sort=time").await.0, "other");
        let wrong = place.fetch("/api/v1/traces?sort=colour").await;
        assert!(wrong.status == StatusCode::BAD_REQUEST && wrong.text.contains("duration"), "{}", wrong.text);
        let long = place.fetch(&format!("/api/v1/traces?search={}", "x".repeat(201))).await;
        assert_eq!(long.status, StatusCode::BAD_REQUEST, "{}", long.text);
    });
}

#[test]
fn a_project_says_how_long_texts_are_kept() {
    let kept = ServerSettings { retention_days: Some(90), ..ServerSettings::default() };
    served(&kept, |place| async move {
        assert_eq!(place.get("/api/v1/projects").await[0]["retention_days"], 90);
    });
    served(&ServerSettings::default(), |place| async move {
        assert!(place.get("/api/v1/projects").await[0]["retention_days"].is_null());
    });
}
