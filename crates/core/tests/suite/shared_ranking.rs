//! Rankings against reference packages and real comparisons; skipped where these are absent.

#![allow(clippy::print_stdout, reason = "a test that skips says so")]

use std::fs;
use std::path::PathBuf;

use jurist_core::stats::by_name::compute_statistic;
use jurist_core::stats::ranking::{
    BradleyTerryModel, Pair, Position, Preferred, TieModel, WinRates, fit_bradley_terry,
};
use serde_json::Value as Json;

fn shared(path: &str) -> Option<String> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(path);
    let text = fs::read_to_string(&path).ok();
    if text.is_none() {
        println!("SKIPPED: {} is absent", path.display());
    }
    text
}

fn near(found: &Json, expected: &Json, tolerance: f64) -> bool {
    match (found, expected) {
        (Json::Array(found), Json::Array(expected)) => {
            found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| near(a, b, tolerance))
        }
        _ => found.as_f64().zip(expected.as_f64()).is_some_and(|(a, b)| (a - b).abs() <= tolerance),
    }
}

#[test]
fn bradley_terry_agrees_with_the_reference() {
    let Some(text) = shared("conformance/stats_reference.jsonl") else { return };
    let mut n_checked = 0;
    for line in text.lines() {
        let case: Json = serde_json::from_str(line).unwrap();
        let Some(answer) = compute_statistic(case["family"].as_str().unwrap(), &case["input"]) else {
            continue;
        };
        if case["family"] != "bradley_terry" {
            continue;
        }
        n_checked += 1;
        if case["undefined"] == true {
            assert!(answer.is_err(), "{}: {answer:?}", case["id"]);
            continue;
        }
        let answer = answer.unwrap();
        for (key, expected) in case["expected"].as_object().unwrap() {
            let tolerance = case["abs_tol"].as_f64().unwrap();
            assert!(near(&answer[key], expected, tolerance), "{} {key}: {answer} {expected}", case["id"]);
        }
    }
    assert!(2 <= n_checked);
}

#[test]
fn people_and_judges_rank_the_models_of_pandalm() {
    let Some(text) = shared("data/pandalm/items.jsonl") else { return };
    let items: Vec<Json> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut names: Vec<String> = Vec::new();
    let mut place = |name: &str| {
        names.iter().position(|text| text == name).unwrap_or_else(|| {
            names.push(name.to_owned());
            names.len() - 1
        })
    };
    let sides: Vec<(usize, usize)> = items
        .iter()
        .map(|item| {
            item["pair"].as_str().unwrap().split_once('_').map(|(a, b)| (place(a), place(b))).unwrap()
        })
        .collect();
    assert_eq!(names.len(), 5);
    let pairs = |keys: &[&str]| -> Vec<Pair> {
        let mut pairs = Vec::new();
        for (case, (item, (first, second))) in items.iter().zip(&sides).enumerate() {
            for key in keys {
                let preferred = match &item[*key] {
                    it if *it == 1 || *it == "1" => Preferred::First,
                    it if *it == 2 || *it == "2" => Preferred::Second,
                    it if *it == 0 || *it == "Tie" => Preferred::Neither,
                    // A reply that nobody can read is no comparison.
                    _ => continue,
                };
                pairs.push(Pair::new(case, *first, *second, preferred));
            }
        }
        pairs
    };
    let order = |pairs: &[Pair], ties: TieModel| -> Vec<String> {
        let model = BradleyTerryModel { ties, ..BradleyTerryModel::default() };
        let ranking = fit_bradley_terry(&names, pairs, model).unwrap();
        assert!(ranking.players.iter().all(|player| player.strength.interval.is_some()));
        let mut players = ranking.players;
        players.sort_by(|a, b| b.strength.value.total_cmp(&a.strength.value));
        players.into_iter().map(|ranked| ranked.name).collect()
    };
    let people = pairs(&["annotator1", "annotator2", "annotator3"]);
    assert_eq!((people.len(), pairs(&["judge_gpt35"]).len()), (3 * 999, 999 - 25));
    assert_eq!(order(&people, TieModel::HalfWins), order(&people, TieModel::Davidson));
    // The paper has the judges agree with people on who is best and who is worst.
    let (said, judged) =
        (order(&people, TieModel::HalfWins), order(&pairs(&["judge_gpt35"]), TieModel::HalfWins));
    assert_eq!((said.first(), said.last()), (judged.first(), judged.last()));
    let rates = WinRates::new(5, &people);
    assert!((0..5).all(|it| rates.rate(it, it).is_none()));
    // Each two were shown in one order only; over five models position and strength can still be distinguished.
    let model = BradleyTerryModel { position: Position::Estimated, ..BradleyTerryModel::default() };
    let position = fit_bradley_terry(&names, &people, model).unwrap().position.unwrap();
    assert!(position.value.abs() < 1.0 && 0.0 < position.error, "{position:?}");
}
