//! Compares what another tool decided about recorded answers with what a suite decides about the same answers.
//!
//! Checks are run. What a judge or a program would have to answer is taken from the other tool, so that the rule by
//! which a test passes is compared as well.

use serde_json::Value as Json;

use crate::candidate::{Candidate, JudgeInput, Measurements};
use crate::check::{CheckSubject, CompiledCheck};
use crate::grade::{Outcome, VerdictStatus};
use crate::rubric::{Criterion, CriterionKind, Polarity, Question, Rubric, Scale, Value};
use crate::score::{QuestionAnswer, QuoteStatus, compute_verdict};
use crate::suite::{Case, Suite};

/// Scores that differ by less are the same.
const SLACK: f64 = 0.005;

/// AgentV's pass mark, for results that do not say whether they passed.
const AGENTV_PASS_MARK: f64 = 0.8;

/// What another tool decided about one answer.
#[derive(Debug, Clone, PartialEq)]
pub struct ForeignVerdict {
    pub tool: &'static str,
    /// The name of the test.
    case: Option<String>,
    /// The place of the test in its file.
    at: Option<usize>,
    /// The prompt and the provider, where the results have several of them, such as ` [prompt 2] [script-bot]`.
    variant: String,
    prompt: Option<String>,
    response: Option<Json>,
    passed: bool,
    score: f64,
    /// The time and cost of the answer, for the checks `latency` and `cost`.
    measurements: Measurements,
    parts: Vec<ForeignPart>,
}

/// What it decided about one assertion.
#[derive(Debug, Clone, PartialEq)]
struct ForeignPart {
    /// Its name or metric, and its type.
    names: Vec<String>,
    value: Json,
    score: f64,
    /// Whether it passed, if the result has that apart from the score.
    passed: Option<bool>,
    reason: String,
    /// Texts that it looked at one by one.
    points: Vec<(String, bool)>,
}

/// How the verdicts of one file compare.
#[derive(Debug, Default, PartialEq)]
pub struct VerdictComparison {
    pub n_equal: usize,
    pub disagreements: Vec<VerdictDisagreement>,
    /// Results that no case of the suite belongs to.
    pub n_unknown: usize,
    /// Results that cannot be compared, each with the reason.
    pub left_out: Vec<String>,
    /// Answers of judges and programs that were taken from the other tool.
    pub n_taken: usize,
}

/// A verdict about the same answer that differs.
#[derive(Debug, PartialEq)]
pub struct VerdictDisagreement {
    pub case: String,
    pub theirs: ComparedVerdict,
    pub ours: ComparedVerdict,
    pub reasons: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ComparedVerdict {
    pub passed: bool,
    pub score: f64,
}

impl VerdictComparison {
    /// Results that belong to the suite.
    pub fn n_known(&self) -> usize {
        self.n_equal + self.disagreements.len() + self.left_out.len()
    }
}

/// The verdicts in results of promptfoo or AgentV; none in anything else.
pub fn read_foreign_verdicts(values: &[Json]) -> Vec<ForeignVerdict> {
    let list = match values {
        [only] => only.pointer("/results/results").or_else(|| only.get("results")),
        _ => None,
    };
    let results = list.and_then(Json::as_array).map_or(values, Vec::as_slice);
    if !results.iter().any(|result| result.get("gradingResult").is_some()) {
        return results.iter().filter_map(read_agentv_verdict).collect();
    }
    let variants = name_promptfoo_variants(results);
    let read = |(result, variant): (&Json, String)| {
        Some(ForeignVerdict { variant, ..read_promptfoo_verdict(result)? })
    };
    results.iter().zip(variants).filter_map(read).collect()
}

fn read_promptfoo_verdict(result: &Json) -> Option<ForeignVerdict> {
    let grading = result.get("gradingResult").filter(|grading| grading.is_object());
    // A result that is an error has no grading; it is counted as not compared.
    let is_error = grading.is_none() && (result.get("error").is_some() || result["failureReason"] == 2);
    let grading = grading.or_else(|| is_error.then_some(&Json::Null))?;
    let parts = grading["componentResults"].as_array().map(Vec::as_slice).unwrap_or_default();
    let part = |part: &Json| {
        let assertion = part.get("assertion").filter(|assertion| assertion.is_object())?;
        Some(ForeignPart {
            names: read_names(assertion, &["metric", "type"]),
            value: assertion.get("value").cloned().unwrap_or_default(),
            score: read_finite_number(part.get("score")?)?,
            passed: part.get("pass").and_then(Json::as_bool),
            reason: read_text(&part["reason"]),
            points: Vec::new(),
        })
    };
    Some(ForeignVerdict {
        tool: "promptfoo",
        case: result.pointer("/testCase/description").and_then(Json::as_str).map(str::to_owned),
        at: result.get("testIdx").and_then(Json::as_u64).and_then(|at| usize::try_from(at).ok()),
        variant: String::new(),
        prompt: result.pointer("/prompt/raw").and_then(Json::as_str).map(str::to_owned),
        response: (result.pointer("/response/output"))
            .filter(|output| !is_error && !output.is_null())
            .cloned(),
        passed: result.get("success").or_else(|| grading.get("pass"))?.as_bool()?,
        score: read_finite_number(result.get("score").or_else(|| grading.get("score"))?)?,
        measurements: Measurements::from_json(result).or(Measurements::from_json(&result["response"])),
        parts: parts.iter().filter_map(part).collect(),
    })
}

/// The prompt and the provider of each result, in brackets as in the names of cases. What all results share is left out.
fn name_promptfoo_variants(results: &[Json]) -> Vec<String> {
    let prompts: Vec<Option<String>> = results.iter().map(name_promptfoo_prompt).collect();
    let providers: Vec<Option<String>> = results.iter().map(name_promptfoo_provider).collect();
    let differ = |names: &[Option<String>]| names.iter().any(|name| *name != names[0]);
    let (has_prompts, has_providers) = (differ(&prompts), differ(&providers));
    let bracket = |name: Option<String>, is_shown: bool| match name {
        Some(name) if is_shown => format!(" [{name}]"),
        _ => String::new(),
    };
    let variant = |(prompt, provider)| bracket(prompt, has_prompts) + &bracket(provider, has_providers);
    prompts.into_iter().zip(providers).map(variant).collect()
}

/// The label of a prompt if it is short; promptfoo uses the text of a prompt as its label by default.
fn name_promptfoo_prompt(result: &Json) -> Option<String> {
    let label = result.pointer("/prompt/label").and_then(Json::as_str);
    let is_short = |label: &&str| label.chars().count() <= 40 && !label.contains('\n');
    let raw = result.pointer("/prompt/raw").and_then(Json::as_str);
    let label = label.filter(is_short).filter(|label| Some(*label) != raw).map(str::to_owned);
    label.or_else(|| Some(format!("prompt {}", result.get("promptIdx")?.as_u64()? + 1)))
}

fn name_promptfoo_provider(result: &Json) -> Option<String> {
    let provider = result.get("provider")?;
    let name = ["label", "id"].iter().find_map(|key| provider.get(*key)?.as_str());
    name.filter(|name| !name.is_empty()).or_else(|| provider.as_str()).map(str::to_owned)
}

fn read_agentv_verdict(result: &Json) -> Option<ForeignVerdict> {
    let case = result.get("test_id")?.as_str()?.to_owned();
    let score = read_finite_number(result.get("score")?)?;
    let parts = result["scores"].as_array().map(Vec::as_slice).unwrap_or_default();
    let points = |part: &Json| {
        let list = part["assertions"].as_array().map(Vec::as_slice).unwrap_or_default();
        let point = |point: &Json| Some((point["text"].as_str()?.to_owned(), point["passed"].as_bool()?));
        list.iter().filter_map(point).collect::<Vec<_>>()
    };
    let part = |part: &Json| {
        let points = points(part);
        let failed = points.iter().find(|(_, passed)| !passed).map(|(text, _)| text.clone());
        Some(ForeignPart {
            names: read_names(part, &["name", "type"]),
            value: Json::Null,
            score: read_finite_number(part.get("score")?)?,
            passed: None,
            reason: failed.unwrap_or_else(|| read_text(&part["reasoning"])),
            points,
        })
    };
    let response =
        ["output", "output_text", "answer"].iter().find_map(|key| read_agentv_answer(result.get(*key)?));
    // `ok` and `quality_failure` are the verdict by the threshold of the test.
    let verdict = ["verdict", "execution_status"].iter().find_map(|key| result.get(*key)?.as_str());
    Some(ForeignVerdict {
        tool: "AgentV",
        case: Some(case),
        at: None,
        variant: String::new(),
        prompt: result.get("input").and_then(Json::as_str).map(str::to_owned),
        response,
        passed: verdict.map_or(AGENTV_PASS_MARK <= score, |verdict| ["pass", "ok"].contains(&verdict)),
        score,
        measurements: Measurements::from_json(result),
        parts: parts.iter().filter_map(part).collect(),
    })
}

/// An answer that is text, or the last message of a conversation.
fn read_agentv_answer(output: &Json) -> Option<Json> {
    let text = match output {
        Json::Array(messages) => {
            messages.last().filter(|message| message["role"] == "assistant")?.get("content")?
        }
        other => other,
    };
    text.is_string().then(|| text.clone())
}

fn read_names(value: &Json, keys: &[&str]) -> Vec<String> {
    keys.iter().filter_map(|key| value.get(*key)?.as_str()).map(str::to_owned).collect()
}

fn read_finite_number(value: &Json) -> Option<f64> {
    value.as_f64().filter(|number| number.is_finite())
}

fn read_text(value: &Json) -> String {
    let text = value.as_str().unwrap_or_default();
    text.lines().next().unwrap_or_default().chars().take(120).collect()
}

/// Grades the answers that another tool graded, and says where the two disagree.
pub fn compare_foreign_verdicts(suite: &Suite, verdicts: &[ForeignVerdict]) -> VerdictComparison {
    let mut comparison = VerdictComparison::default();
    for verdict in verdicts {
        match find_case(suite, verdict) {
            Some(case) => compare_verdict(case, verdict, &mut comparison),
            None => comparison.n_unknown += 1,
        }
    }
    comparison
}

/// The case that a result belongs to: by its place where the names agree, else by its name alone.
fn find_case<'s>(suite: &'s Suite, verdict: &ForeignVerdict) -> Option<&'s Case> {
    let at_place = verdict.at.and_then(|at| suite.cases.get(at));
    match &verdict.case {
        // A case of a matrix has more behind the name of its test.
        Some(name) => at_place
            .filter(|case| case.name.starts_with(name.as_str()))
            .or_else(|| suite.cases.iter().find(|case| case.name == *name)),
        None => at_place,
    }
}

fn compare_verdict(case: &Case, verdict: &ForeignVerdict, comparison: &mut VerdictComparison) {
    let name = format!("{}{}", case.name, verdict.variant);
    let Some(response) = &verdict.response else {
        return comparison.left_out.push(format!("{name}: the result has no answer"));
    };
    let material = build_material(case, verdict, response);
    let mut grading = CaseComparison::new(verdict, &material);
    let outcomes = match grading.collect_outcomes(&case.rubric) {
        Ok(outcomes) => outcomes,
        Err(why) => return comparison.left_out.push(format!("{name}: {why}")),
    };
    let answers: Vec<QuestionAnswer<'_>> =
        outcomes.iter().map(|outcome| QuestionAnswer { outcome, quote: QuoteStatus::NotAsked }).collect();
    let penalty = case.rubric.length_penalty.map_or(0.0, |penalty| penalty.of(material.answer()));
    let ours = compute_verdict(&case.rubric, &answers, penalty);
    comparison.n_taken += grading.n_taken;
    let Some(score) = ours.score.filter(|_| matches!(ours.status, VerdictStatus::Pass | VerdictStatus::Fail))
    else {
        return comparison.left_out.push(format!("{name}: the rubric comes to no score"));
    };
    let ours_compared = ComparedVerdict { passed: ours.status == VerdictStatus::Pass, score };
    let theirs = ComparedVerdict { passed: verdict.passed, score: verdict.score };
    if ours_compared.passed == theirs.passed && (score - theirs.score).abs() < SLACK {
        comparison.n_equal += 1;
        return;
    }
    let mut reasons = grading.reasons;
    if !grading.unmatched.is_empty() {
        reasons.push(format!("the results have no score of {}", grading.unmatched.join(", ")));
    } else if reasons.is_empty() {
        reasons.push("every assertion scores the same; the two combine them differently".to_owned());
    }
    let gates = ours.failed_gates.iter().filter_map(|gate| gate.criterion.as_deref());
    reasons.extend(gates.map(|criterion| format!("here `{criterion}` must hold")));
    comparison.disagreements.push(VerdictDisagreement { case: name, theirs, ours: ours_compared, reasons });
}

/// What is graded: the case with the recorded answer in place of its own.
fn build_material(case: &Case, verdict: &ForeignVerdict, response: &Json) -> JudgeInput {
    let text = match response {
        Json::String(text) => text.clone(),
        // As promptfoo compares objects with texts.
        other @ Json::Object(_) => other.to_string(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    };
    let candidate = Candidate {
        input: verdict.prompt.clone().or_else(|| case.candidate.input.clone()),
        response: Some(text),
        trace: None,
        ..case.candidate.clone()
    };
    let raw_output = (!response.is_string()).then(|| response.clone());
    JudgeInput { raw_output, measurements: verdict.measurements, ..JudgeInput::new(&candidate, None) }
}

/// The work on one result.
struct CaseComparison<'a> {
    verdict: &'a ForeignVerdict,
    material: &'a JudgeInput,
    /// Parts that belong to a criterion already.
    used: Vec<bool>,
    n_taken: usize,
    reasons: Vec<String>,
    /// Checks that the results say nothing about.
    unmatched: Vec<String>,
}

impl<'a> CaseComparison<'a> {
    fn new(verdict: &'a ForeignVerdict, material: &'a JudgeInput) -> Self {
        let used = vec![false; verdict.parts.len()];
        Self { verdict, material, used, n_taken: 0, reasons: Vec::new(), unmatched: Vec::new() }
    }

    /// An outcome for each question of the rubric.
    fn collect_outcomes(&mut self, rubric: &Rubric) -> Result<Vec<Outcome>, String> {
        let questions: Vec<Question<'_>> = rubric.questions().collect();
        questions.iter().map(|question| self.find_outcome(question.criterion)).collect()
    }

    fn find_outcome(&mut self, criterion: &Criterion) -> Result<Outcome, String> {
        let part = self.find_part(criterion);
        if let CriterionKind::Check(method) = &criterion.ask
            && let Ok(CompiledCheck::Local(check)) = CompiledCheck::compile(method)
            && !check.needs_service()
        {
            let finding = check.run(&CheckSubject::from_material(self.material));
            // Without this score, the mean of the others is not the score of the test.
            if finding.score.is_none() && (criterion.weight != 0.0 || criterion.required) {
                return Err(format!("`{}` has no score: {}", criterion.id, finding.comment));
            }
            match (part, finding.score) {
                (Some(part), Some(score)) => {
                    let part = self.verdict.parts[part].clone();
                    self.note_difference(criterion, &part, score, &finding.comment);
                }
                (None, _) => self.unmatched.push(format!("`{}`", criterion.id)),
                (Some(_), None) => {}
            }
            return Ok(Outcome::from(&finding));
        }
        let missing = || format!("a judge or a program answers `{}`, and the results do not", criterion.id);
        let part = part.map(|part| self.verdict.parts[part].clone());
        let score = match &part {
            Some(part) => part.score,
            None => self.find_point(criterion).ok_or_else(missing)?,
        };
        self.n_taken += 1;
        let score = match part {
            Some(part) if wants_contrary(criterion) && is_code(criterion) => {
                let score = score_of_turned_code(criterion, &part);
                self.note_difference(criterion, &part, score, "the contrary of what the code returned");
                score
            }
            // A judge of promptfoo gives a score next to its yes or no, which here is the answer.
            Some(part) if is_answered_yes_or_no(criterion) && part.passed.is_some() => {
                let is_yes = (part.passed == Some(true)) != wants_contrary(criterion);
                let (score, answer) = if is_yes { (1.0, "yes") } else { (0.0, "no") };
                let comment = format!("its {answer} counts, not its score");
                self.note_difference(criterion, &part, score, &comment);
                score
            }
            // What is taken has been turned already where `not` turns it.
            _ if wants_contrary(criterion) => 1.0 - score,
            _ => score,
        };
        Ok(Outcome::Scored { value: Value::Number(score), unit: Some(score.clamp(0.0, 1.0)) })
    }

    /// The part of the result that is about a criterion: of those with its name, the one with its value.
    fn find_part(&mut self, criterion: &Criterion) -> Option<usize> {
        let is_named = |part: &ForeignPart| part.names.iter().any(|name| is_name_of(&criterion.id, name));
        let value = match &criterion.ask {
            CriterionKind::Check(method) | CriterionKind::Recipe(method) => {
                method.params.get("value").cloned().unwrap_or_default()
            }
            _ => Json::from(criterion.description.as_str()),
        };
        let free: Vec<usize> =
            (0..self.used.len()).filter(|at| !self.used[*at] && is_named(&self.verdict.parts[*at])).collect();
        let same = free.iter().find(|at| self.verdict.parts[**at].value == value);
        let place = same.or(free.first()).copied()?;
        self.used[place] = true;
        Some(place)
    }

    /// One of several statements that the other tool judged together.
    fn find_point(&self, criterion: &Criterion) -> Option<f64> {
        let mut points = self.verdict.parts.iter().flat_map(|part| &part.points);
        let is_about =
            |text: &str| text.contains(criterion.description.trim()) || text.contains(&criterion.id);
        points.find(|(text, _)| is_about(text)).map(|(_, passed)| f64::from(u8::from(*passed)))
    }

    fn note_difference(&mut self, criterion: &Criterion, part: &ForeignPart, score: f64, comment: &str) {
        let ours = if wants_contrary(criterion) { 1.0 - score } else { score };
        if SLACK <= (ours - part.score).abs() {
            self.reasons.push(format!(
                "{}: here {ours:.2} ({comment}), there {:.2} ({})",
                criterion.id, part.score, part.reason
            ));
        }
    }
}

/// Whether the contrary of its answer counts.
fn wants_contrary(criterion: &Criterion) -> bool {
    criterion.polarity != Polarity::Plain
}

fn is_answered_yes_or_no(criterion: &Criterion) -> bool {
    matches!(criterion.ask, CriterionKind::Question(Scale::Binary))
}

/// Whether a program or an expression decides it.
fn is_code(criterion: &Criterion) -> bool {
    let CriterionKind::Check(method) = &criterion.ask else { return false };
    ["javascript", "python"].contains(&method.entry.name)
}

/// What the code of a `not-` assertion returned. promptfoo turns a yes or no, and keeps a number as it is: only whether
/// the assertion held distinguishes the two.
fn score_of_turned_code(criterion: &Criterion, part: &ForeignPart) -> f64 {
    let (Some(passed), Some(mark)) = (part.passed, criterion.threshold) else { return 1.0 - part.score };
    let is_number = (mark <= 1.0 - part.score) == passed;
    if is_number { part.score } else { f64::from(u8::from(!passed)) }
}

/// Whether a criterion was named after an assertion: by its name, or by that and a number.
fn is_name_of(id: &str, name: &str) -> bool {
    let spelt = |text: &str| text.replace('_', "-");
    let (id, name) = (spelt(id), spelt(name));
    match id.strip_prefix(&name) {
        Some("") => true,
        Some(rest) => rest.strip_prefix('-').is_some_and(|number| number.parse::<u32>().is_ok()),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_fit_with_and_without_a_number() {
        for (id, name, fits) in [
            ("contains", "contains", true),
            ("contains-2", "contains", true),
            ("contains-all", "contains", false),
            ("is_json", "is-json", true),
        ] {
            assert_eq!(is_name_of(id, name), fits, "{id} {name}");
        }
    }

    #[test]
    fn what_turned_code_returned_is_told_by_whether_it_held() {
        let mut criterion = Criterion::new("not-javascript", "", CriterionKind::Question(Scale::Unit));
        criterion.threshold = Some(1.0 - 1e-6);
        for (passed, score, returned) in
            [(false, 0.3, 0.3), (true, 0.0, 0.0), (true, 1.0, 0.0), (false, 0.0, 1.0), (true, 0.3, 0.0)]
        {
            let (names, reason) = (Vec::new(), String::new());
            let part = ForeignPart {
                names,
                value: Json::Null,
                score,
                passed: Some(passed),
                reason,
                points: Vec::new(),
            };
            assert_eq!(Some(score_of_turned_code(&criterion, &part)), Some(returned), "{passed} {score}");
        }
    }

    #[test]
    fn time_and_cost_of_a_result_are_measurements() {
        let result = json!({
            "success": true, "score": 1, "latencyMs": 120, "response": { "output": "hi", "cost": 0.002 },
            "gradingResult": { "componentResults": [] },
        });
        let measured = read_promptfoo_verdict(&result).unwrap().measurements;
        assert_eq!(measured.duration_ms, Some(120.0));
        assert_eq!(measured.cost, Some(crate::quantity::Usd::from_nanos(2_000_000)));
    }

    #[test]
    fn results_of_several_prompts_and_providers_are_distinguished() {
        let result = |prompt: u64, provider: Json| {
            json!({
                "promptIdx": prompt, "provider": provider, "success": true, "score": 1,
                "prompt": { "raw": "Say hi", "label": "Say hi" }, "gradingResult": { "componentResults": [] },
            })
        };
        let bot = || json!({ "id": "exec:python3 bot.py", "label": "bot" });
        let variants = |results: &[Json]| name_promptfoo_variants(results);
        assert_eq!(variants(&[result(0, bot()), result(1, bot())]), [" [prompt 1]", " [prompt 2]"]);
        assert_eq!(variants(&[result(0, bot()), result(0, json!("echo"))]), [" [bot]", " [echo]"]);
        assert_eq!(variants(&[result(0, bot()), result(0, bot())]), ["", ""]);
        assert!(variants(&[]).is_empty());
    }

    #[test]
    fn results_of_both_tools_are_read_and_others_are_not() {
        let promptfoo = json!({ "results": { "results": [{
            "testIdx": 1, "success": false, "score": 0.5,
            "testCase": { "description": "greets" }, "prompt": { "raw": "Say hi" },
            "response": { "output": "hi" },
            "gradingResult": { "pass": false, "score": 0.5, "componentResults": [
                { "pass": true, "score": 1, "reason": "ok", "assertion": { "type": "contains", "value": "hi" } },
            ] },
        }] } });
        let [verdict] = read_foreign_verdicts(&[promptfoo]).try_into().unwrap();
        assert_eq!((verdict.tool, verdict.at, verdict.passed), ("promptfoo", Some(1), false));
        assert_eq!(verdict.parts[0].names, ["contains"]);
        let agentv = json!({
            "test_id": "greets", "score": 1, "answer": "hi",
            "scores": [{ "name": "first", "type": "contains", "score": 1, "assertions": [] }],
        });
        let [verdict] = read_foreign_verdicts(&[agentv]).try_into().unwrap();
        assert_eq!((verdict.tool, verdict.case.as_deref(), verdict.passed), ("AgentV", Some("greets"), true));
        assert!(read_foreign_verdicts(&[json!({ "results": [{ "name": "x" }] }), json!(3)]).is_empty());
    }
}
