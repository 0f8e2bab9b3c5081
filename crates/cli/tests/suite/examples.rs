//! Every kind of suite that the two reference formats document, graded end to end before a model server.

use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use crate::server::{Act, Server};

fn files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/tests/dialects");
    let mut files: Vec<PathBuf> = ["native", "agentv"]
        .iter()
        .flat_map(|text| std::fs::read_dir(root.join(text)).unwrap())
        .map(|result| result.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .collect();
    files.sort();
    files
}

#[tokio::test]
async fn every_documented_suite_runs_to_a_verdict() {
    // Plays the agent, who is done at once, and the judge, who is content.
    let server =
        Server::start(|seen| if seen.schema().is_null() { Act::Say("Done.".to_owned()) } else { Act::Fit })
            .await;
    let (mut n_suites, mut n_refused) = (0, 0);
    for file in files() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(".jurist")).unwrap();
        let run = async |flags: &[&str]| {
            let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_jurist"));
            command.arg("eval").arg("--config").arg(&file).args(flags);
            command.args(["--judge", "openai/judge-1", "--base-url", &server.url, "--no-cache"]);
            command.current_dir(folder.path()).env_clear().env("OPENAI_API_KEY", "sk-test-secret-1234567890");
            // Targets that are models of this vendor.
            command.env("OPENAI_BASE_URL", &server.url);
            command.env("PROJECT", "x").env("REGION", "eu").output().await.unwrap()
        };
        let output = run(&["--reporter", "json"]).await;
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        if told.contains("has no cases") {
            continue;
        }
        // Programs without leave and servers that nobody names are errors before anything is asked.
        if output.status.code() == Some(2) {
            let is_told = told.contains("--allow-commands") || told.contains("there is no server");
            assert!(is_told && output.stdout.is_empty(), "{}: {told}", file.display());
            n_refused += 1;
            continue;
        }
        n_suites += 1;
        assert!(
            matches!(output.status.code(), Some(0 | 1)),
            "{}: {:?} {told}",
            file.display(),
            output.status
        );
        let report: Json = serde_json::from_slice(&output.stdout).unwrap();
        for result in report["results"].as_array().unwrap() {
            let case = (file.file_name(), &result["case"]);
            match result["verdict"]["status"].as_str().unwrap() {
                // Where nothing applies, there is nothing to score.
                "pass" | "fail" => {
                    let verdict = &result["verdict"];
                    assert!(verdict["score"].is_number() || verdict["vacuous"] == true, "{case:?}: {result}");
                }
                // What cannot be run, and what waits for a person, says so.
                "deferred" => {
                    let grades = result["grades"].as_array().unwrap();
                    assert!(grades.iter().any(|grade| grade["outcome"]["kind"] == "deferred"), "{case:?}");
                }
                other => panic!("{case:?} is {other}: {result}"),
            }
        }
        // The plan has a line for each case and asks nobody.
        let n_seen = server.n_seen();
        let explained = run(&["--explain"]).await;
        let n_units = report["results"].as_array().unwrap().len();
        let plan = String::from_utf8_lossy(&explained.stdout).into_owned();
        assert!(plan.contains(&format!("{n_units} unit")), "{}: {plan}", file.display());
        assert_eq!(server.n_seen(), n_seen);
    }
    assert!(30 < n_suites && 0 < n_refused && n_refused < 15, "{n_suites} {n_refused}");
}
