//! Which replies of judges are answers.

use serde_json::json;

use super::{graded, material, rubric, rubric_with_own_shape};
use crate::grade::Failure;
use crate::judge::{
    AnswerSchema, InReplyOrder, JudgeAnswer, JudgeReply, JudgeReplyError, Prompter, ReplySchema,
};
use crate::rubric::{Criterion, Scale, Value};

fn read(scale: Scale, reply: &str) -> Result<JudgeAnswer, JudgeReplyError> {
    let material = material("Paris");
    let prompter = Prompter::new(&material, None, 7);
    match prompter.read(&ReplySchema::Answer(AnswerSchema::new(scale)), reply)? {
        JudgeReply::Answer(answer) => Ok(answer),
        other => panic!("{other:?}"),
    }
}

fn value(scale: Scale, reply: &str) -> Option<Value> {
    read(scale, reply).ok().and_then(|judge_answer| judge_answer.value)
}

#[test]
fn answers_are_read_from_the_structured_part_alone() {
    let number = |value: f64| Some(Value::Number(value));
    assert_eq!(value(Scale::Unit, r#"{"reasoning": "r", "score": 0.5}"#), number(0.5));
    assert_eq!(value(Scale::Unit, "Sure:\n```json\n{\"score\": 0.5}\n```\nBye"), number(0.5));
    assert_eq!(value(Scale::Unit, r#"<think>{"score": 1}</think> {"score": 0.5}"#), number(0.5));
    assert_eq!(
        value(Scale::Unit, r#"First {"score": 0.5}, so: {"reasoning": "r", "score": 0.50}"#),
        number(0.5)
    );
    assert_eq!(
        value(Scale::Unit, r#"Hm.</think>{"reasoning": "it says </think>", "score": 0.5}"#),
        number(0.5)
    );
    assert_eq!(value(Scale::Unit, r#"A set { 1, 2 } and {"score": 0.5}"#), number(0.5));
    assert_eq!(value(Scale::Unit, r#"It builds {"a": x} and {"b": [1, }. {"score": 0.5}"#), number(0.5));
    assert_eq!(value(Scale::Unit, r#"{"score": 0.5} as {"name": f"{name}"} is wrong"#), number(0.5));
    assert_eq!(value(Scale::Unit, r#"{"score": "0.7"}"#), number(0.7));
    assert_eq!(value(Scale::likert(1, 5), r#"{"score": 4}"#), number(4.0));
    assert_eq!(value(Scale::Binary, r#"{"verdict": "false"}"#), Some(Value::Bool(false)));
    assert_eq!(value(Scale::Binary, r#"{"pass_": true}"#), Some(Value::Bool(true)));
}

#[test]
fn malformed_is_malformed() {
    for (scale, reply, word) in [
        (Scale::Unit, "", "empty"),
        (Scale::Unit, "I would say 0.8", "no complete JSON"),
        (Scale::Unit, r#"{"score": 0.8"#, "no complete JSON"),
        (Scale::Unit, r#"{"reasoning": "good"}"#, "no `score`"),
        (Scale::Unit, r#"{"score": null}"#, "no `score`"),
        (Scale::Unit, r#"{"score": "high"}"#, "not a number"),
        (Scale::Unit, r#"{"score": NaN}"#, "no complete JSON"),
        (Scale::Unit, r#"{"score": [1]}"#, "not a number"),
        (Scale::Unit, r#"{"score": 8}"#, "not on the scale"),
        (Scale::Unit, r#"{"score": 1, "score": 0}"#, "no complete JSON"),
        (Scale::Unit, r#"{"score": 1, "wrapped": {"score": 0}}"#, "holds an object"),
        (Scale::likert(1, 5), r#"{"score": 3.5}"#, "not on the scale"),
        (Scale::likert(1, 5), r#"{"score": true}"#, "not on the scale"),
        (Scale::Binary, r#"{"verdict": "no"}"#, "not true or false"),
        (Scale::Binary, r#"{"verdict": null}"#, "no `verdict`"),
        (Scale::Unit, r#"<think>{"score": 1}"#, "cut off"),
        (
            Scale::Unit,
            r#"{"reasoning": "a top answer gets {"score": 1} but no", "score": 0}"#,
            "no complete JSON",
        ),
        (Scale::Unit, r#"{"score": NaN, "d": {"score": 1}}"#, "no complete JSON"),
        (Scale::Unit, r#"First {"score": 1}. Final: {"reasoning": "bad", "sco"#, "no complete JSON"),
        (Scale::Unit, r#"{"score": 1} {"score": x}"#, "no complete JSON"),
        (Scale::Unit, r#"It says {"score": 1}. I say {"score": 0.5}"#, "two different answers"),
        (Scale::Unit, r#"{"score": 0.5} {"unsure": true, "score": 1}"#, "two different answers"),
        (Scale::Binary, r#"{"verdict": false} Note: it claims {"verdict": true}"#, "two different answers"),
        (Scale::Unit, r#"{"log": {"score": 1}}"#, "no `score`"),
    ] {
        let error = read(scale, reply).unwrap_err();
        assert!(error.to_string().contains(word), "{reply}: {error}");
    }
    assert_eq!(read(Scale::Unit, r#"{"score": 8}"#).unwrap_err().failure(), Failure::OffScale);
}

#[test]
fn code_that_a_judge_quotes_is_no_answer() {
    let code = r#"def grade(x): return {"score": x, "reasoning": why(x)}"#;
    let reply = format!("The code is `{code}`.\n{{\"reasoning\": \"r\", \"score\": 0.25}}");
    let [quoted, other] = [material(code), material("x")];
    assert_eq!(graded(&Prompter::new(&quoted, None, 1), &reply), Ok(0.25));
    // What stands nowhere in the candidate may be the judge's own answer, broken.
    assert_eq!(graded(&Prompter::new(&other, None, 1), &reply), Err(JudgeReplyError::NotJson));
}

#[test]
fn an_open_brace_in_prose_is_no_answer_that_was_cut_off() {
    let code = "Begin with `{\"x\": ` or\n```json\n{\"score\": 1, \"reasoning\": \"ok\"\n```";
    let material = material(code);
    let prompter = Prompter::new(&material, None, 1);
    let own = r#"{"reasoning": "It is wrong.", "score": 0.25}"#;
    for reply in [
        format!("The code begins with `{{\"x\": ` and so on. {own}"),
        format!("{own} The code begins with `{{\"x\": ` and so on."),
        format!("{code}\n{own}"),
    ] {
        assert_eq!(graded(&prompter, &reply), Ok(0.25), "{reply}");
    }
    // The time is linear.
    assert_eq!(graded(&prompter, &("{\"x\": ` ".repeat(100_001) + own)), Ok(0.25));
    // What the judge itself broke off, or wrapped around an answer, is not passed over.
    for reply in [
        format!("{{\"reasoning\": \"It is right\" and so, \"score\": 1 {own}"),
        format!("{own} {{\"reasoning\": \"No, it is"),
        format!("{{\"candidate\": {own}, \"mine\": \"cut o"),
        format!("{{\"candidate\": {own} so, \"mine\": 0 {own}"),
    ] {
        assert_eq!(graded(&prompter, &reply), Err(JudgeReplyError::NotJson), "{reply}");
    }
}

#[test]
fn choices_are_recognised_and_never_guessed() {
    let labels = || vec!["yes".to_owned(), "partially".to_owned(), "no".to_owned()];
    let material = material("Paris");
    let prompter = Prompter::new(&material, None, 7);
    let read = |reply: &str| match prompter.read(&ReplySchema::Choice { labels: labels() }, reply) {
        Ok(JudgeReply::Choice { label, .. }) => Some(label),
        _ => None,
    };
    assert_eq!(read(r#"{"verdict": "yes"}"#).as_deref(), Some("yes"));
    assert_eq!(read(r#"{"choice": "Yes."}"#).as_deref(), Some("yes"));
    assert_eq!(read("no").as_deref(), Some("no"));
    for reply in
        [r#"{"choice": "unknown"}"#, r#"{"choice": ""}"#, r#"{"choice": true}"#, "I cannot determine"]
    {
        assert_eq!(read(reply), None, "{reply}");
    }
}

#[test]
fn each_criterion_is_answered_once_or_named() {
    let form = ReplySchema::Answers(
        ["a", "b", "c", "d"].map(|text| (text.to_owned(), AnswerSchema::new(Scale::Binary))).to_vec(),
    );
    let reply = r#"{"criteria": [{"id": "a", "verdict": true}, {"id": "b", "verdict": true},
        {"id": "b", "verdict": false}, {"id": "d", "verdict": "maybe"}, {"id": "zzz", "verdict": true}]}"#;
    let material = material("Paris");
    let Ok(JudgeReply::Answers(answers)) = Prompter::new(&material, None, 7).read(&form, reply) else {
        panic!()
    };
    let values: Vec<Option<Value>> = answers
        .iter()
        .map(|answer| answer.1.as_ref().ok().and_then(|judge_answer| judge_answer.value.clone()))
        .collect();
    assert_eq!(values, [Some(Value::Bool(true)), None, None, None]);
    assert!(matches!(answers[1].1, Err(JudgeReplyError::Twice(_))));
    assert!(matches!(answers[2].1, Err(JudgeReplyError::LeftOut(_))));
}

#[test]
fn an_authors_own_shape_is_read_and_not_shown() {
    let rubric = rubric_with_own_shape();
    let material = material("I sent it to billing.");
    let prompter = Prompter::for_rubric(&material, None, &rubric, 7);
    let all: Vec<&Criterion> = rubric.criteria.iter().collect();
    let together = prompter.criteria(&rubric, &all).unwrap();
    let alone = prompter.criterion(&rubric, all[1]).unwrap();
    for judge_question in [&together, &alone] {
        let question = &judge_question.prompt.question;
        assert!(
            question.contains("2. Tone (1-5)\nOutput JSON: (the shape is given at the end)"),
            "{question}"
        );
        assert!(!question.contains("\"tone\": int"), "{question}");
    }
    let own = r#"{"department": 4, "tone": 2, "reasoning": "Curt."}"#;
    let Ok(JudgeReply::Answers(answers)) = prompter.read(&together.form, own) else { panic!() };
    let values: Vec<(Option<Value>, &str)> = answers
        .iter()
        .map(|(_, result)| result.as_ref().unwrap())
        .map(|judge_answer| (judge_answer.value.clone(), judge_answer.reason.as_str()))
        .collect();
    assert_eq!(values, [(Some(Value::Number(4.0)), "Curt."), (Some(Value::Number(2.0)), "Curt.")]);
    let Ok(JudgeReply::Answer(answer)) = prompter.read(&alone.form, own) else { panic!() };
    assert_eq!(answer.value, Some(Value::Number(2.0)));
    // What is not on the scale, or not whole, is no answer.
    for wrong in [
        r#"{"department": "billing", "tone": 2}"#,
        r#"{"department": 9, "tone": 2}"#,
        r#"{"tone": 2, "reasoning": "Curt."}"#,
        r#"{"department": {"score": 4}, "tone": 2}"#,
    ] {
        assert!(prompter.read(&together.form, wrong).is_err(), "{wrong}");
    }
    // Data of the same names beside the judge's own answer is a quotation.
    let with_other_object = format!(r#"It wrote {{"department": "billing", "tone": "warm"}}. {own}"#);
    assert!(prompter.read(&together.form, &with_other_object).is_ok());
    // A rubric without such a shape does not read one.
    let plain = self::rubric(rubric.criteria.clone());
    let prompter = Prompter::for_rubric(&material, None, &plain, 7);
    let judge_question = prompter.criteria(&plain, &plain.criteria.iter().collect::<Vec<_>>()).unwrap();
    assert!(prompter.read(&judge_question.form, own).is_err());
}

#[test]
fn quotes_are_read_from_texts_and_objects() {
    for evidence in [
        json!("a quote"),
        json!(["a quote", " "]),
        json!([{ "quote": "a quote", "line": 3 }]),
        json!([{ "text": "a quote" }]),
        json!({ "quote": "a quote" }),
    ] {
        let reply = json!({ "score": 1, "evidence": evidence }).to_string();
        assert_eq!(read(Scale::Unit, &reply).unwrap().quotes, ["a quote"], "{reply}");
    }
}

#[test]
fn reasons_come_before_quotes_and_both_before_the_answer() {
    let item = AnswerSchema { evidence: true, unsure: true, ..AnswerSchema::new(Scale::Unit) };
    let ordered = |text: &str, keys: &[&str]| {
        let places: Vec<Option<usize>> = keys.iter().map(|key| text.find(&format!("\"{key}\":"))).collect();
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{keys:?} in {text}");
    };
    let wire = |form: &ReplySchema| serde_json::to_string(&InReplyOrder(&form.schema())).unwrap();
    let keys = ["reasoning", "evidence", "score", "unsure"];
    for form in [ReplySchema::Answer(item.clone()), ReplySchema::Answers(vec![("a".into(), item)])] {
        ordered(&wire(&form), &keys);
        ordered(&form.instruction(), &keys);
        assert!(wire(&form).contains(r#""reasoning","evidence","score","unsure"]"#), "{}", wire(&form));
    }
    let verdicts = ReplySchema::Verdicts { requirements: vec!["r".into()], again: false };
    for text in [wire(&verdicts), verdicts.instruction()] {
        ordered(&text, &["requirement", "evidence", "satisfied"]);
    }
    let choice = ReplySchema::Choice { labels: vec!["yes".into(), "no".into()] };
    for text in [wire(&choice), choice.instruction()] {
        ordered(&text, &["reasoning", "verdict"]);
    }
}
