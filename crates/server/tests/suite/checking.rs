//! Files that are tried before they are saved.

use jurist_server::ServerSettings;
use reqwest::{Method, StatusCode};
use serde_json::{Value as Json, json};

use crate::place::{Place, hasty, served, served_by_one_thread, served_on_sqlite, with_accounts};

const RUBRIC: &str = "description: About greetings.
criteria:
  - {name: greets, description: It greets., scale: binary}
  - {name: short, check: {type: contains, value: Hello}}
  - {name: kind, description: It is kind., by: human}
";

impl Place {
    async fn tried(&self, what: &str, body: Json) -> Json {
        let answer = self.ask(Method::POST, &format!("/api/v1/{what}"), &[], body).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
        answer.json()
    }
}

#[test]
fn a_file_is_checked_with_its_lines_and_nothing_is_saved() {
    served(&ServerSettings::default(), |place| async move {
        let source = "criteria:\n  - {name: greets, descripton: It greets., wieght: 2}\n";
        let found = place.tried("rubrics/check", json!({ "source": source })).await;
        let problems = found["problems"].as_array().unwrap();
        let slip =
            problems.iter().find(|problem| problem["replacement"] == "weight").expect("the slip is found");
        assert_eq!(
            (&slip["severity"], &slip["code"], &slip["line"]),
            (&json!("error"), &json!("unknown-key"), &json!(2))
        );
        let column = slip["column"].as_u64().unwrap() as usize;
        let line = source.lines().nth(1).unwrap();
        assert!(line[column - 1..].starts_with("wieght"), "{slip}");
        assert!(problems.len() > 1 && found["canonical"].is_null() && found["hash"].is_null(), "{found}");

        let vague = "criteria: [{name: good, description: It is good and nice.}]";
        let found = place.tried("rubrics/check", json!({ "source": vague })).await;
        assert!(
            found["problems"].as_array().unwrap().iter().any(|item| item["severity"] == "advice"),
            "{found}"
        );
        assert_eq!(found["canonical"]["criteria"][0]["name"], "good");
        let body = json!({ "name": "one", "source": vague });
        let saved = place.ask(Method::POST, "/api/v1/rubrics", &[], body).await.json();
        let version =
            place.get(&format!("/api/v1/rubric-versions/{}", saved["newest"].as_str().unwrap())).await;
        assert_eq!((&version["hash"], &version["canonical"]), (&found["hash"], &found["canonical"]));

        let two = "rubrics: {a: {criteria: [{name: a, description: A.}]}, b: {criteria: [{name: b, description: B.}]}}";
        let found = place.tried("rubrics/check", json!({ "source": two })).await;
        assert!(found["problems"][0]["message"].as_str().unwrap().contains("one is wanted"), "{found}");
        let bad = json!({ "source": two, "dialect": "french" });
        let bad = place.ask(Method::POST, "/api/v1/rubrics/check", &[], bad).await;
        assert_eq!(bad.status, StatusCode::BAD_REQUEST);
        assert!(bad.text.contains("native"), "{}", bad.text);
        assert_eq!(place.get("/api/v1/rubrics").await.as_array().unwrap().len(), 1, "only what was saved");
    });
}

#[test]
fn a_monitor_is_checked_with_its_judges_and_anchors() {
    served(&ServerSettings::default(), |place| async move {
        let monitor = |more: &str| json!({ "source": format!("agent: desk\nrubric: {{criteria: [{{name: kind, description: It is kind.}}]}}\n{more}\n") });
        let fine = place.tried("monitors/check", monitor("judge_model: openai/gpt-5-mini")).await;
        assert!(
            fine["problems"].as_array().unwrap().iter().all(|item| item["severity"] != "error"),
            "{fine}"
        );
        assert_eq!(fine["canonical"]["agent"], "desk");
        for (more, said) in [
            ("judge_model: 'command:rm'", "--allow-commands"),
            ("judge_model: openai/gpt-5-mini\ncalibration_anchors: {good: [nowhere]}", "nowhere"),
            ("sample_rate: 7", "sample_rate"),
            ("judge_model: openai/gpt-5-mini\nbudget: {monthly: 5, currency: XAF}", "exchange rate of XAF"),
        ] {
            let found = place.tried("monitors/check", monitor(more)).await;
            let told = |value: &Json| value["severity"] == "error" && value.to_string().contains(said);
            assert!(found["problems"].as_array().unwrap().iter().any(told), "{more}: {found}");
            assert!(found["canonical"].is_null(), "{more}");
        }
        assert_eq!(place.get("/api/v1/monitors").await, json!([]));
    });
}

#[test]
fn a_judges_prompt_is_shown_word_by_word_and_nobody_is_asked() {
    served(&hasty(), |place| async move {
        let shown = place.tried("rubrics/prompt", json!({ "source": RUBRIC })).await;
        let prompts = shown["prompts"].as_array().unwrap();
        let of = |name: &str| prompts.iter().find(|prompt| prompt["criterion"] == name).unwrap();
        assert_eq!(prompts.len(), 3);
        let messages = of("greets")["messages"].as_array().unwrap();
        assert_eq!((&messages[0]["role"], &messages[1]["role"]), (&json!("system"), &json!("user")));
        let asked = messages[1]["content"].as_str().unwrap();
        assert!(asked.contains("It greets.") && asked.contains("(what the agent was asked)"), "{asked}");
        assert_eq!(of("greets")["form"]["type"], "object");
        assert_eq!(of("short")["unasked"], "a check answers this");
        assert_eq!(of("kind")["unasked"], "a person answers this");

        place.finish("t1", "Good morning to you", json!({})).await;
        place.until("t1", |value| value["state"] == "finished").await;
        let shown = place.tried("rubrics/prompt", json!({ "source": RUBRIC, "trace": "t1" })).await;
        let asked = shown["prompts"][0]["messages"][1]["content"].as_str().unwrap();
        assert!(asked.contains("Good morning to you"), "{asked}");
        let gone = json!({ "source": RUBRIC, "trace": "t2" });
        let gone = place.ask(Method::POST, "/api/v1/rubrics/prompt", &[], gone).await;
        assert_eq!(gone.status, StatusCode::NOT_FOUND, "{}", gone.text);

        // A monitor asks everything at once.
        let monitor =
            "agent: desk\nrubric: {criteria: [{name: a, description: A.}, {name: b, description: B.}]}\n";
        let shown = place.tried("rubrics/prompt", json!({ "source": monitor })).await;
        assert_eq!(shown["prompts"].as_array().unwrap().len(), 1);
        assert_eq!(shown["prompts"][0]["criteria"], json!(["a", "b"]));
        let broken = json!({ "source": "criteria: [{nam: x}]" });
        let broken = place.ask(Method::POST, "/api/v1/rubrics/prompt", &[], broken).await;
        assert_eq!(broken.status, StatusCode::UNPROCESSABLE_ENTITY, "{}", broken.text);
    });
}

/// A prompt arrives with a request of anybody who may read, so it must not take the server's memory or time.
#[test]
fn a_hostile_prompt_is_refused_and_the_server_lives() {
    served(&with_accounts(), |place| async move {
        let owner = place.owner().await;
        let token = place.token(&owner, &["read"]).await;
        let headers = [("authorization", token.as_str())];
        let doubling = format!("{{% set a = output %}}{}", "{% set a = a ~ a %}".repeat(50));
        let chain = format!("{{{{ output{} }}}}", "|upper".repeat(20_000));
        for prompt in [
            "{{ 'a\nb'|indent(100000000000000) }}",
            "{{ '%99999999999d'|format(1) }}",
            "{{ [1]|batch(99999999999, 'x') }}",
            "{{ [1]|slice(99999999999, 'x') }}",
            "{{ 'aaaaaaaa' * 100000000 }}",
            &doubling,
            &chain,
        ] {
            let source = json!({ "prompt": prompt, "criteria": [{ "name": "a", "description": "A." }] });
            let body = json!({ "source": source.to_string() });
            let answer = place.ask(Method::POST, "/api/v1/rubrics/prompt", &headers, body).await;
            assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{prompt:.60}: {}", answer.text);
        }
        // Half a megabyte that aliases repeat would be ten gigabytes.
        let bomb = format!("text: &a {}\ncriteria: [{}]\n", "y".repeat(1 << 19), ["*a"; 20_000].join(", "));
        let body = json!({ "source": bomb });
        let answer = place.ask(Method::POST, "/api/v1/rubrics/check", &headers, body).await;
        assert_eq!(answer.status, StatusCode::OK, "{:.200}", answer.text);
        let found = answer.json();
        let problems = found["problems"].as_array().unwrap();
        assert!(problems.iter().any(|problem| problem["code"] == "too-large"), "{:.200}", answer.text);
        assert_eq!(place.ask(Method::GET, "/health", &[], Json::Null).await.status, StatusCode::OK);
    });
}

#[test]
fn whoever_may_not_read_checks_nothing() {
    served(&with_accounts(), |place| async move {
        let owner = place.owner().await;
        let token = place.token(&owner, &["ingest"]).await;
        for what in ["rubrics/check", "monitors/check", "rubrics/prompt"] {
            let path = format!("/api/v1/{what}");
            let headers = [("authorization", token.as_str())];
            let answer = place.ask(Method::POST, &path, &headers, json!({ "source": RUBRIC })).await;
            assert_eq!(answer.status, StatusCode::FORBIDDEN, "{what}");
        }
    });
}

#[test]
fn files_that_take_long_to_read_keep_nobody_waiting() {
    let body = |times: usize| {
        let patterns: String = (0..20 * times)
            .map(|n| format!("  - {{name: c{n}, check: {{type: regex, value: '\\w{{20}}x{n}'}}}}\n"))
            .collect();
        json!({ "source": format!("criteria:\n{patterns}") }).to_string()
    };
    served_by_one_thread(&ServerSettings::default(), |place| async move {
        let answer = place.post_among_others("/api/v1/rubrics/check", body).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
        assert!(!answer.text.contains("too-large"), "{}", answer.text);
    });
}

/// Each part of the pattern has thousands of states, and there is no limit on the size of the whole.
#[test]
fn patterns_that_take_minutes_to_compile_are_refused_before_that() {
    served_on_sqlite(&ServerSettings::default(), |place| async move {
        let pattern = r"(?=\w{60})".repeat(100_000 / 10);
        let source = format!(
            "criteria:\n  - {{name: a, check: {{type: regex, engine: backtracking, value: '{pattern}'}}}}\n"
        );
        let found = place.tried("rubrics/check", json!({ "source": source })).await;
        let problem = &found["problems"][0];
        assert_eq!((&problem["code"], &problem["line"]), (&json!("too-large"), &json!(2)), "{problem}");
        let body = json!({ "name": "slow", "source": source });
        let answer = place.ask(Method::POST, "/api/v1/rubrics", &[], body).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{}", answer.text);
        assert!(answer.text.contains("take too long to compile"), "{}", answer.text);
        // Braces that are text do not keep its work from being counted.
        let braced = source.replace("value: '", r#"value: '{{ "{{" }} "#);
        let found = place.tried("rubrics/check", json!({ "source": braced })).await;
        assert_eq!(found["problems"][0]["code"], json!("too-large"), "{found}");
        // Nor does a file of its own.
        let tools =
            json!([{ "name": "book", "parameters": { "properties": { "day": { "pattern": pattern } } } }]);
        let suite = "prompts: [hi]\nproviders: [{id: openai:gpt-5-mini, config: {tools: 'file://tools.json'}}]\ntests:\n  - assert: [{type: is-valid-openai-tools-call}]\n";
        let files = json!({ "promptfooconfig.yaml": suite, "tools.json": tools.to_string() });
        let run = json!({ "suite": "promptfooconfig.yaml", "files": files });
        let answer = place.ask(Method::POST, "/api/v1/runs", &[], run).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{}", answer.text);
        assert!(answer.text.contains("take too long to compile"), "{}", answer.text);
    });
}

#[test]
fn a_file_that_is_too_long_is_refused_before_it_is_read() {
    served_on_sqlite(&ServerSettings::default(), |place| async move {
        let source = format!("criteria: [{{name: good, description: It is good.}}]\n{}", "#".repeat(1 << 20));
        for path in ["rubrics/check", "rubrics/prompt", "monitors/check"] {
            let body = json!({ "source": source });
            let answer = place.ask(Method::POST, &format!("/api/v1/{path}"), &[], body).await;
            assert_eq!(answer.status, StatusCode::PAYLOAD_TOO_LARGE, "{path}: {}", answer.text);
        }
    });
}
