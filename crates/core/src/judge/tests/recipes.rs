//! Recipes and contests, asked from scripts.

use serde_json::{Value as Json, json};

use super::material;
use crate::candidate::JudgeInput;
use crate::catalogue::{GradingMethod, RECIPES, find_catalogue_entry};
use crate::grade::Outcome;
use crate::judge::{Contest, JudgeReplyError, Prompter, Recipe, RecipeAction, RecipeResult, position_bias};

fn recipe(name: &str, params: Json) -> GradingMethod {
    let Json::Object(params) = params else { panic!() };
    GradingMethod { entry: find_catalogue_entry(RECIPES, name).unwrap(), params }
}

/// Asks a recipe, answering from the script.
fn run(
    method: &GradingMethod,
    material: &JudgeInput,
    script: &[&str],
) -> Result<RecipeResult, JudgeReplyError> {
    let prompter = Prompter::new(material, None, 7);
    let recipe = Recipe { method, prompter: &prompter };
    let mut replies = Vec::new();
    loop {
        match recipe.next(&replies).unwrap() {
            RecipeAction::Done(judged) => return Ok(judged),
            RecipeAction::Ask(judge_question) => {
                jsonschema::validator_for(&judge_question.form.schema()).unwrap();
                let reply = script.get(replies.len()).or(script.last()).unwrap();
                replies.push(prompter.read(&judge_question.form, reply)?);
            }
        }
    }
}

#[test]
fn every_recipe_asks_and_concludes() {
    let material = JudgeInput {
        context: vec!["Paris is the capital.".into()],
        reference: Some("Paris".into()),
        ..material("It is Paris.")
    };
    for entry in RECIPES {
        let params = json!({ "value": "is right", "requirements": ["r1"] });
        let method = recipe(entry.name, params);
        let any = r#"{"reasoning": "r", "score": 1, "verdict": "same", "claims": [{"claim": "c", "supported": true}],
            "verdicts": [{"requirement": 1, "satisfied": true}], "steps": ["look"]}"#;
        let yes = any.replace("\"same\"", "true");
        let judged = run(&method, &material, &[&yes]).or_else(|_| run(&method, &material, &[any])).unwrap();
        let expected = match entry.name {
            "select-best" => None,
            "g-eval" => Some(0.1),
            _ => Some(1.0),
        };
        assert_eq!(judged.outcome.unit(), expected, "{}", entry.name);
    }
}

#[test]
fn requirements_that_a_judge_leaves_out_are_asked_again_and_then_not_met() {
    let method = recipe("agent_as_judge", json!({ "requirements": ["r1", "r2", "r3"] }));
    let first = r#"{"verdicts": [{"requirement": "r1", "satisfied": true, "evidence": "is Paris"}, {"requirement": "zzz", "satisfied": true}]}"#;
    let second = r#"{"verdicts": [{"requirement": 1, "satisfied": true}]}"#;
    let material = material("It is Paris.");
    let judged = run(&method, &material, &[first, second]).unwrap();
    assert_eq!(judged.outcome.unit(), Some(2.0 / 3.0));
    assert_eq!(judged.points.iter().map(|point| point.holds).collect::<Vec<_>>(), [true, true, false]);
    assert!(judged.points[0].evidence[0].found.is_some());
    assert_eq!(run(&method, &material, &[first, first]).unwrap().outcome.unit(), Some(1.0 / 3.0));
}

#[test]
fn nothing_to_judge_is_not_asked_and_passes_no_gate() {
    let empty = JudgeInput::default();
    for name in ["groundedness", "context-recall", "context_relevance", "answer_relevance", "agent_as_judge"]
    {
        let judged = run(&recipe(name, json!({})), &empty, &["no judge may be asked"]).unwrap();
        assert!(matches!(judged.outcome, Outcome::Abstained { .. }), "{name}: {judged:?}");
    }
    let lack = |name: &str, material: &JudgeInput| {
        run(&recipe(name, json!({})), material, &["no judge may be asked"]).unwrap().reason
    };
    let without_context = material("It is Paris.");
    assert_eq!(lack("groundedness", &without_context), "there is no context");
    let without_answer = JudgeInput { context: vec!["Paris is the capital.".into()], ..material(" ") };
    assert_eq!(lack("context-faithfulness", &without_answer), "there is no answer");
    let without_question = JudgeInput { task: String::new(), ..without_answer };
    assert_eq!(lack("context-relevance", &without_question), "there is no question");
    // A judge that lists nothing of a text that is there has assessed nothing.
    let material = JudgeInput { context: vec!["Paris is the capital.".into()], ..material("I cannot say.") };
    let judged = run(&recipe("groundedness", json!({})), &material, &[r#"{"claims": []}"#]).unwrap();
    let why = "the judge listed no claim of the response".to_owned();
    assert_eq!(judged.outcome, Outcome::Abstained { why });
    let method = recipe("context-recall", json!({ "value": "It is Paris." }));
    let judged = run(&method, &material, &[r#"{"claims": []}"#]).unwrap();
    assert_eq!(judged.reason, "the judge listed no claim of the reference");
}

#[test]
fn requirements_have_the_values_of_the_row() {
    let method = recipe("agent_as_judge", json!({ "requirements": ["It is in {{ row.unit }}."] }));
    let row = json!({ "unit": "km" }).as_object().cloned().unwrap();
    let material = material("3 km");
    let prompter = Prompter::new(&material, Some(&row), 7);
    let recipe = Recipe { method: &method, prompter: &prompter };
    let RecipeAction::Ask(judge_question) = recipe.next(&[]).unwrap() else { panic!("nothing is asked") };
    assert!(judge_question.prompt.question.contains(">km</data-"), "{}", judge_question.prompt.question);
    let reply = prompter
        .read(&judge_question.form, r#"{"verdicts": [{"requirement": 1, "satisfied": true}]}"#)
        .unwrap();
    let RecipeAction::Done(judged) = recipe.next(&[reply]).unwrap() else { panic!("it is not done") };
    assert_eq!(judged.points[0].text, "It is in km.");
    let lacking = recipe_without_unit(&method, &material);
    assert!(lacking.contains("no field `unit`"), "{lacking}");
}

/// Why a recipe that needs the field `unit` cannot be asked about a row without it.
fn recipe_without_unit(method: &GradingMethod, material: &JudgeInput) -> String {
    let row = json!({ "other": "km" }).as_object().cloned().unwrap();
    let prompter = Prompter::new(material, Some(&row), 7);
    Recipe { method, prompter: &prompter }.next(&[]).unwrap_err().to_string()
}

#[test]
fn a_contest_is_about_the_row_of_its_candidates() {
    let row = json!({ "unit": "km" }).as_object().cloned();
    let candidate = |text: &str| JudgeInput { row: row.clone(), ..material(text) };
    let (a, b) = (candidate("3 km"), candidate("2 miles"));
    let round =
        Contest { candidates: vec![&a, &b] }.round("It is in {{ row.unit }}.", vec![0, 1], 7).unwrap();
    let question = &round.asked.prompt.question;
    assert!(question.contains(">km</data-") && !question.contains("{{"), "{question}");
    let missing = Contest { candidates: vec![&a, &b] }.round("{{ row.other }}", vec![0, 1], 7);
    assert!(missing.unwrap_err().to_string().contains("no field `other`"));
}

#[test]
fn contests_do_not_depend_on_the_order() {
    let (a, b) = (material("Paris"), material("Lyon"));
    let contest = Contest { candidates: vec![&a, &b] };
    for order in [vec![0, 1], vec![1, 0]] {
        let place = order.iter().position(|order| *order == 0).unwrap();
        let round = contest.round("Is right.", order, 7).unwrap();
        let label = ["A", "B"][place];
        let reply = format!(r#"{{"reasoning": "r", "verdict": "{label}"}}"#);
        assert_eq!(round.read(&reply).unwrap().0, Some(0));
        assert_eq!(round.read(r#"{"verdict": "tie"}"#).unwrap().0, None);
    }
    let n_first = (0..100).filter(|n| contest.order(&format!("case {n}"), 7)[0] == 0).count();
    assert!((35..65).contains(&n_first), "{n_first}");
    assert_eq!(contest.order("x", 7), contest.order("x", 7));
    assert_eq!(position_bias(&[(vec![0, 1], Some(0)), (vec![1, 0], Some(0)), (vec![0, 1], None)]), Some(0.5));
}
