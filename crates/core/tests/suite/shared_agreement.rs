//! Agreement, correlation and consensus against the values of other packages; skipped where they are absent.

#![allow(clippy::print_stdout, reason = "a test that skips says so")]

use std::fs;
use std::path::PathBuf;

use jurist_core::rubric::Value;
use jurist_core::stats::agreement::{Alignment, HumanParity, Level, PairMeasures, Ratings, align, alpha};
use jurist_core::stats::basics::{kendall, pearson, spearman};
use jurist_core::stats::by_name::compute_statistic;
use serde_json::{Value as Json, json};

fn lines(path: &str) -> Option<Vec<Json>> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(path);
    let Ok(text) = fs::read_to_string(&path) else {
        println!("SKIPPED: {} is absent", path.display());
        return None;
    };
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

/// Everything that is expected is found, and numbers are near enough.
fn holds(found: &Json, expected: &Json, tolerance: f64) -> bool {
    match (found, expected) {
        (Json::Number(a), Json::Number(b)) => (a.as_f64().unwrap() - b.as_f64().unwrap()).abs() <= tolerance,
        (Json::Array(a), Json::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| holds(a, b, tolerance))
        }
        (Json::Object(a), Json::Object(b)) => {
            b.iter().all(|(key, b)| a.get(key).is_some_and(|a| holds(a, b, tolerance)))
        }
        (a, b) => a == b,
    }
}

#[test]
fn functions_have_their_expected_values() {
    let Some(cases) = lines("conformance/stats_agreement.jsonl") else { return };
    let mut n_held = 0;
    for case in &cases {
        let name = case["fn"].as_str().unwrap();
        let found = compute_statistic(name, &case["args"]).unwrap_or_else(|| panic!("{name} is not known"));
        match found {
            Ok(found) => assert!(holds(&found, &case["expect"], 1e-9), "{}: {found}", case["id"]),
            Err(why) => assert!(case["expect"].is_null(), "{}: {why}", case["id"]),
        }
        n_held += 1;
    }
    println!("{n_held} of {} cases", cases.len());
    assert_eq!(n_held, cases.len());
}

#[test]
fn families_have_the_values_of_trusted_packages() {
    const FAMILIES: [&str; 9] = [
        "krippendorff_alpha",
        "cohen_kappa",
        "fleiss_kappa",
        "gwet_ac1",
        "gwet_ac2",
        "correlation",
        "dawid_skene",
        "rater_aggregation",
        "glad",
    ];
    let Some(cases) = lines("conformance/stats_reference.jsonl") else { return };
    let mut n_held = 0;
    for case in cases.iter().filter(|case| FAMILIES.contains(&case["family"].as_str().unwrap())) {
        let input = input(case, &cases);
        let mut expected = case["expected"].clone();
        let is_undefined = expected["undefined"] == json!(true);
        // Shown in the file because it is wrong.
        expected.as_object_mut().unwrap().remove("seed_tutorial_value_WRONG");
        match compute_statistic(case["family"].as_str().unwrap(), &input).unwrap() {
            Ok(found) => {
                let tolerance = case["abs_tol"].as_f64().unwrap();
                assert!(!is_undefined && holds(&found, &expected, tolerance), "{}: {found:#}", case["id"]);
            }
            Err(why) => assert!(is_undefined, "{}: {why}", case["id"]),
        }
        n_held += 1;
    }
    println!("{n_held} cases");
    assert!(25 <= n_held);
}

/// Some cases share the input of another.
fn input(case: &Json, cases: &[Json]) -> Json {
    let Some(other) = case["input"]["same_input_as"].as_str() else { return case["input"].clone() };
    if other == "dawid_skene_anaesthetists_7workers" {
        // The anaesthetists of 1979, of whom the first answered three times and counts as three.
        let original = cases.iter().find(|case| case["id"] == "dawid_skene_1979_original").unwrap();
        let mut long = Vec::new();
        for (item, raters) in original["input"]["responses"].as_object().unwrap() {
            for (rater, answers) in raters.as_object().unwrap() {
                let answers = answers.as_array().unwrap();
                for (at, answer) in answers.iter().enumerate() {
                    let part = if answers.len() == 1 { "" } else { ["a", "b", "c"][at] };
                    long.push(json!([item, format!("{rater}{part}"), answer]));
                }
            }
        }
        return json!({ "long": long });
    }
    cases.iter().find(|case| case["id"] == other).unwrap()["input"].clone()
}

fn value(it: &Json) -> Option<Value> {
    match it {
        Json::Bool(it) => Some(Value::Bool(*it)),
        Json::Number(it) => it.as_f64().map(Value::Number),
        _ => None,
    }
}

/// One row for each item, one answer for each key.
fn table(rows: &[&Json], raters: &[&str]) -> Ratings {
    let cells: Vec<Option<Value>> =
        rows.iter().flat_map(|row| raters.iter().map(|rater| value(&row[*rater]))).collect();
    Ratings::of_values(raters.iter().map(|rater| (*rater).to_owned()).collect(), &cells).unwrap()
}

fn digits(found: f64, n: usize) -> String {
    format!("{found:.n$}")
}

#[test]
fn pandalm_people_agree_as_published_and_its_judge_is_worse_than_one_of_them() {
    let Some(rows) = lines("data/pandalm/items.jsonl") else { return };
    let rows: Vec<&Json> = rows.iter().collect();
    let ratings = table(&rows, &["annotator1", "annotator2", "annotator3", "judge_pandalm7b"]);
    let kappa = |a: usize, b: usize| {
        let pair = ratings.of_raters(&[a, b]);
        let found = align(&pair, 0, &[1], Level::Nominal, 1).unwrap();
        digits(found.with_consensus.kappa.value().unwrap(), 4)
    };
    assert_eq!([kappa(0, 1), kappa(0, 2), kappa(1, 2)], ["0.8520", "0.8789", "0.8617"]);
    let judge = align(&ratings, 3, &[0, 1, 2], Level::Nominal, 1).unwrap();
    let Alignment { with_consensus: PairMeasures { percent, .. }, one_more_person, .. } = &judge;
    // Three people with three answers may all differ, and then there is no consensus to agree with.
    println!("{percent:?}, {} split, {one_more_person:?}", judge.n_split);
    assert_eq!(one_more_person.standing, HumanParity::Worse);
    assert!(0.6 < percent.value().unwrap() && percent.value().unwrap() < 0.7);
}

#[test]
fn devai_judge_agrees_with_people_as_published() {
    let Some(rows) = lines("data/devai/verdicts.jsonl") else { return };
    for (agent, percent, kappa) in [
        ("MetaGPT", "0.9208", "0.7751"),
        ("GPT-Pilot", "0.8661", "0.7301"),
        ("OpenHands", "0.9016", "0.7995"),
    ] {
        let rows: Vec<&Json> = rows.iter().filter(|row| row["agent"] == agent).collect();
        let found = align(&table(&rows, &["judge", "human"]), 0, &[1], Level::Nominal, 1).unwrap();
        assert_eq!(digits(found.with_consensus.percent.value().unwrap(), 4), percent, "{agent}");
        assert_eq!(digits(found.with_consensus.kappa.value().unwrap(), 4), kappa, "{agent}");
        let missed = found.confusion.counts[0][1] + found.confusion.counts[1][0];
        assert_eq!(found.disagreements.len(), missed);
    }
}

#[test]
fn llm_rubric_people_hardly_agree_and_its_judge_correlates_as_published() {
    let Some(rows) = lines("data/llm_rubric/synth_ratings.jsonl") else { return };
    let check = |question: &str, level, expected: &str| {
        let names: Vec<(String, &str)> =
            rows.iter().map(|row| (row["rater"].to_string(), row["text_id"].as_str().unwrap())).collect();
        let entries = names.iter().zip(&rows).filter_map(|((rater, text), row)| {
            Some((rater.as_str(), *text, value(&row["human"][question])?))
        });
        let found = alpha(&Ratings::of_entries(entries).unwrap(), level).unwrap();
        assert_eq!(digits(found, 4), expected, "{question} {level:?}");
    };
    check("Q0", Level::Nominal, "0.0194");
    check("Q0", Level::Ordinal, "0.0531");
    check("Q0", Level::Interval, "0.0651");
    check("Q3", Level::Ordinal, "0.3145");
    check("Q7", Level::Ordinal, "0.1133");

    let Some(rows) = lines("data/llm_rubric/real.jsonl") else { return };
    let people: Vec<f64> = rows.iter().map(|row| row["human"]["Q0"].as_f64().unwrap()).collect();
    let expected = |row: &Json| {
        let shares = row["judge_probs_1to4"]["Q0"].as_array().unwrap();
        let share = |at: usize| shares[at].as_f64().unwrap();
        let sum: f64 = (0..4).map(share).sum();
        (0..4).map(|at| share(at) * (at + 1) as f64).sum::<f64>() / sum
    };
    let sampled: Vec<f64> = rows.iter().map(|row| row["judge_sampled"]["Q0"].as_f64().unwrap()).collect();
    let mean: Vec<f64> = rows.iter().map(expected).collect();
    for (judge, published) in
        [(&sampled, ["0.039810", "0.045245", "0.040967"]), (&mean, ["0.177301", "0.086675", "0.065928"])]
    {
        let found = [pearson(judge, &people), spearman(judge, &people), kendall(judge, &people)];
        assert_eq!(found.map(|found| digits(found.unwrap().value, 6)), published);
    }
}
