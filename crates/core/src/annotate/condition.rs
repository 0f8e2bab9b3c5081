//! Which questions are asked, after the answers to others.

use super::{Answer, AnswerCondition, AnswerDraft, AnswerTest, Scheme, SchemeKind};

/// The schemes that are asked after these answers. The answer to a question that is not asked counts as none.
pub fn list_shown_schemes<'a>(schemes: &'a [Scheme], draft: &AnswerDraft) -> Vec<&'a Scheme> {
    schemes.iter().filter(|scheme| is_shown(schemes, draft, scheme, schemes.len())).collect()
}

/// A draft as it is stored: without answers to questions that are not asked, and with an empty answer where nothing was
/// ticked of what was asked.
pub fn complete_draft(schemes: &[Scheme], mut draft: AnswerDraft) -> AnswerDraft {
    let visible: Vec<&Scheme> = list_shown_schemes(schemes, &draft);
    for scheme in schemes.iter().filter(|scheme| !visible.iter().any(|one| one.name == scheme.name)) {
        draft.remove(&scheme.name);
    }
    for scheme in visible {
        if matches!(scheme.kind, SchemeKind::Choice { many: true, .. }) {
            draft.entry(scheme.name.clone()).or_insert(Answer::Choice { labels: Vec::new() });
        }
    }
    draft
}

/// `depth` ends conditions that lead back to themselves, which a file cannot have.
fn is_shown(schemes: &[Scheme], draft: &AnswerDraft, scheme: &Scheme, depth: usize) -> bool {
    let Some(shown_when) = &scheme.shown_when else { return true };
    let holds = |condition: &AnswerCondition| {
        let source = schemes.iter().find(|one| one.name == condition.question);
        let other =
            source.filter(|source| 0 < depth && is_shown(schemes, draft, source, depth.saturating_sub(1)));
        let Some(other) = other else { return meets_test(&condition.test, None, CheckBoxes::No) };
        let boxes = match other.kind {
            SchemeKind::Choice { many: true, .. } => CheckBoxes::Yes,
            _ => CheckBoxes::No,
        };
        meets_test(&condition.test, draft.get(&condition.question), boxes)
    };
    if shown_when.any {
        shown_when.conditions.iter().any(holds)
    } else {
        shown_when.conditions.iter().all(holds)
    }
}

/// Whether a question has boxes to tick. There, nothing ticked is an answer; elsewhere it is an open question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CheckBoxes {
    Yes,
    No,
}

fn meets_test(test: &AnswerTest, answer: Option<&Answer>, boxes: CheckBoxes) -> bool {
    let texts = answer.map(list_answer_texts).unwrap_or_default();
    let is_among = |values: &[String], case_sensitive: bool| {
        let is_same = |a: &str, b: &str| {
            if case_sensitive { a == b } else { a.to_lowercase() == b.to_lowercase() }
        };
        texts.iter().any(|text| values.iter().any(|value| is_same(text, value)))
    };
    let number = texts.first().and_then(|text| text.parse::<f64>().ok());
    let is_within = |min: Option<f64>, max: Option<f64>| {
        number
            .is_some_and(|number| min.is_none_or(|min| min <= number) && max.is_none_or(|max| number <= max))
    };
    match test {
        AnswerTest::Is { values, case_sensitive } => is_among(values, *case_sensitive),
        // A question that is still open would otherwise show the next one, which its answer may hide again.
        AnswerTest::IsNot { values, case_sensitive } => {
            (boxes == CheckBoxes::Yes || !texts.is_empty()) && !is_among(values, *case_sensitive)
        }
        AnswerTest::Between { min, max } => is_within(*min, *max),
        AnswerTest::Outside { min, max } => number.is_some() && !is_within(*min, *max),
        AnswerTest::Answered => !texts.is_empty(),
        AnswerTest::Unanswered => texts.is_empty(),
    }
}

/// What was answered, as texts; several where several labels are ticked.
fn list_answer_texts(answer: &Answer) -> Vec<String> {
    match answer {
        Answer::Choice { labels } => labels.clone(),
        Answer::Pairwise { label } => label.iter().cloned().collect(),
        Answer::Likert { value } => value.iter().map(ToString::to_string).collect(),
        Answer::Slider { value } => value.iter().map(ToString::to_string).collect(),
        Answer::Text { text } => {
            Some(text.trim().to_owned()).filter(|text| !text.is_empty()).into_iter().collect()
        }
        Answer::Rubric { .. } | Answer::Trajectory { .. } | Answer::Verify { .. } => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{AnswerLimits, ShowCondition, gaps};
    use super::*;

    fn scheme(name: &str, kind: SchemeKind, shown_when: Option<ShowCondition>) -> Scheme {
        Scheme { name: name.into(), description: None, required: true, shown_when, kind }
    }

    fn choice(labels: &[&str], many: bool) -> SchemeKind {
        SchemeKind::Choice {
            labels: labels.iter().map(|label| (*label).to_owned()).collect(),
            many,
            dropdown: false,
            limits: AnswerLimits::default(),
        }
    }

    fn text() -> SchemeKind {
        SchemeKind::Text { multiline: true, placeholder: None, limits: AnswerLimits::default() }
    }

    fn after(question: &str, test: AnswerTest) -> Option<ShowCondition> {
        Some(ShowCondition {
            any: false,
            conditions: vec![AnswerCondition { question: question.into(), test }],
        })
    }

    fn is(values: &[&str]) -> AnswerTest {
        AnswerTest::Is {
            values: values.iter().map(|value| (*value).to_owned()).collect(),
            case_sensitive: false,
        }
    }

    fn chosen(labels: &[&str]) -> Answer {
        Answer::Choice { labels: labels.iter().map(|label| (*label).to_owned()).collect() }
    }

    #[test]
    fn hidden_questions_are_neither_required_nor_stored() {
        let schemes = [
            scheme("right", choice(&["Yes", "No"], false), None),
            scheme("kinds", choice(&["a", "b"], true), after("right", is(&["no"]))),
            scheme("why", text(), after("kinds", is(&["b"]))),
        ];
        let names = |draft: &AnswerDraft| {
            list_shown_schemes(&schemes, draft).iter().map(|scheme| scheme.name.clone()).collect::<Vec<_>>()
        };
        let mut draft = AnswerDraft::from([("right".to_owned(), chosen(&["No"]))]);
        assert_eq!(names(&draft), ["right", "kinds"]);
        assert_eq!(gaps(&schemes, &draft).len(), 1, "`kinds` is required and open");
        draft.insert("kinds".to_owned(), chosen(&["a", "b"]));
        draft.insert("why".to_owned(), Answer::Text { text: "so".into() });
        assert_eq!(names(&draft), ["right", "kinds", "why"]);
        // The answer that led on is changed: what was asked after it is gone, however deep.
        draft.insert("right".to_owned(), chosen(&["Yes"]));
        assert_eq!(names(&draft), ["right"]);
        assert!(gaps(&schemes, &draft).is_empty());
        let stored = complete_draft(&schemes, draft);
        assert_eq!(stored.keys().collect::<Vec<_>>(), ["right"]);
    }

    #[test]
    fn nothing_ticked_is_stored_as_an_empty_answer() {
        let mut schemes = [scheme("tags", choice(&["a", "b"], true), None)];
        schemes[0].required = false;
        let stored = complete_draft(&schemes, AnswerDraft::new());
        assert_eq!(stored["tags"], chosen(&[]));
        let ratings = super::super::collect_question_ratings(&schemes, &stored);
        assert_eq!(ratings.len(), 1, "it counts as an answer");
    }

    #[test]
    fn tests_of_answers() {
        let likert = |value: Option<u32>| Answer::Likert { value };
        let holds = |test: &AnswerTest, answer: &Answer| meets_test(test, Some(answer), CheckBoxes::No);
        let between = AnswerTest::Between { min: Some(2.0), max: None };
        let outside = AnswerTest::Outside { min: Some(2.0), max: Some(4.0) };
        assert!(holds(&between, &likert(Some(2))) && !holds(&between, &likert(Some(1))));
        assert!(holds(&outside, &likert(Some(5))) && !holds(&outside, &likert(Some(4))));
        assert!(!holds(&outside, &likert(None)), "an open question lies nowhere");
        assert!(holds(&is(&["3", "4"]), &likert(Some(4))));
        let is_not = AnswerTest::IsNot { values: vec!["A".into()], case_sensitive: true };
        assert!(holds(&is_not, &chosen(&["a"])) && !holds(&is_not, &chosen(&["A"])));
        assert!(!meets_test(&is_not, None, CheckBoxes::No), "an open question has no answer yet");
        assert!(meets_test(&is_not, None, CheckBoxes::Yes), "nothing ticked is an answer");
        assert!(holds(&AnswerTest::Answered, &chosen(&["a"])));
        assert!(meets_test(&AnswerTest::Unanswered, None, CheckBoxes::No));
    }

    #[test]
    fn a_question_after_is_not_waits_for_the_answer_of_the_other() {
        let is_not = |label: &str| AnswerTest::IsNot { values: vec![label.into()], case_sensitive: false };
        let schemes = [
            scheme("right", choice(&["Yes", "No"], false), None),
            scheme("faults", choice(&["a", "b"], true), after("right", is_not("yes"))),
            scheme("why", text(), after("faults", is_not("a"))),
        ];
        let names = |draft: &AnswerDraft| {
            list_shown_schemes(&schemes, draft).iter().map(|scheme| scheme.name.clone()).collect::<Vec<_>>()
        };
        assert_eq!(names(&AnswerDraft::new()), ["right"]);
        let answered = |label: &str| AnswerDraft::from([("right".to_owned(), chosen(&[label]))]);
        assert_eq!(names(&answered("Yes")), ["right"]);
        assert_eq!(names(&answered("No")), ["right", "faults", "why"], "no fault is ticked");
    }
}
