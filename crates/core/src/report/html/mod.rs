//! One self-contained page for people: overview, charts, filters, a scorecard for each case.
//!
//! Everything in a run may come from strangers. The template escapes what it is given;
//! what it takes as it is (`|safe`) was made by the files beside this one, which escape every text themselves.

mod candidate;
mod criteria;
mod path;
mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use minijinja::{AutoEscape, Environment, UndefinedBehavior, value::Serde};
use serde_json::{Value as Json, json};

use self::criteria::{Mean, find_rubric_question, worth};
use self::text::{Quotes, clip_to_bytes};
use super::score_text::{
    Rubrics, collect_criterion_scales, criterion_scale_bounds, format_beside_own_scale, format_mean_score,
    format_native_score, format_pass_mark, parse_run_rubrics, rubric_score_scale, shared_score_scale,
};
use super::{RunTally, case_notes, gates, join_grader_names, outcome_text, variant_in_words, with_evidence};
use crate::chart::{
    Chart, ChartMedium, Distribution, DistributionLayer, MeasuredValue, Radar, RadarSeries, Tone, palette,
};
use crate::grade::{Grade, Outcome, RubricHash, Spend, Time, Usd, Value, VerdictStatus};
use crate::quantity::plural;
use crate::rubric::{Criterion, Polarity};
use crate::run::{CaseResult, NotGraded, Run};
use crate::stats::summaries::{estimate_run_pass_rate, tenth};
use crate::suite::fill_for_reader;

const PAGE: &str = include_str!("page.html");

/// Texts of candidates take up about this many bytes of a page, shared by its cases;
/// a browser opens that at once.
const ROOM: usize = 12_000_000;

/// A case gets no more than a person would read, and no less than makes sense.
const CASE_ROOM: std::ops::RangeInclusive<usize> = 3_000..=120_000;

/// How many criteria make a shape that says something at a glance.
const RADAR: std::ops::RangeInclusive<usize> = 3..=12;

/// So many points and names are listed; more are counted.
const MOST_POINTS: usize = 40;

/// Rubrics in the table of the page. Cases name theirs by its row.
const MAX_RUBRIC_ROWS: usize = 50;

static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.add_template("page", PAGE).expect("the page is a template, a test renders it");
    environment
});

pub(super) fn render_html_report(run: &Run) -> String {
    let template = ENVIRONMENT.get_template("page").expect("the page is in the environment");
    let page = template.render(Serde(&build_page_json(run)));
    page.expect("the page gets all it names, a test renders it") + "\n"
}

/// What all cases of a page share.
struct HtmlPageContext<'a> {
    run: &'a Run,
    rubrics: Rubrics,
    rubric_uses: Vec<RubricUse>,
    means: Vec<Mean>,
    /// Bytes of text for each case.
    room: usize,
}

/// A rubric of the run, and how many results it graded.
struct RubricUse {
    version: RubricHash,
    n: usize,
}

fn build_page_json(run: &Run) -> Json {
    let (rubrics, rubric_uses) = (parse_run_rubrics(run), count_rubric_uses(run));
    let means = criteria::compute_criterion_means(run, &rubrics);
    let room = (ROOM / run.results.len().max(1)).clamp(*CASE_ROOM.start(), *CASE_ROOM.end());
    let shared = HtmlPageContext { run, rubrics, rubric_uses, means, room };
    // What needs a person comes first.
    let mut order: Vec<(u8, usize)> =
        run.results.iter().map(|result| urgency(result.verdict.status)).zip(0..).collect();
    order.sort_unstable();
    let order: Vec<usize> = order.into_iter().map(|(_, place)| place).collect();
    let first = order.first().copied();
    let cases = order.into_iter().map(|order| shared.case(order, first == Some(order)));
    let tally = RunTally::of(run);
    let rate = estimate_run_pass_rate(run);
    let percent = |value: f64| format!("{:.0}", value * 100.0);
    json!({
        "colours": { "light": palette::light(), "dark": palette::dark() },
        "title": run.suite.as_deref().unwrap_or("Jurist"),
        "id": run.id, "started": format_utc_seconds(run.started), "n": n_cases(run),
        "tally": { "pass": tally.passed, "fail": tally.failed, "error": tally.errors, "deferred": tally.deferred },
        "rate": rate.map(|rate| percent(rate.rate)),
        "low": rate.map(|rate| percent(rate.interval.0)),
        "high": rate.map(|rate| percent(rate.interval.1)),
        "decided": plural(tally.passed + tally.failed, "decided case"),
        "mean": format_mean_score(run),
        "took": outcome_text::run_duration_seconds(run).map(format_duration),
        "cost": outcome_text::format_run_cost(run),
        "origin": run.provenance.line(), "ci_url": run.provenance.ci_url,
        "tokens": format_token_usage(run.spend), "seed": run.seed.to_string(),
        "histogram": shared.histogram(), "criteria": shared.criteria(), "rubrics": shared.rubric_rows(),
        "judges": judge_rows(run),
        "not_graded": NotGraded::of(run).map(|it| clip_to_bytes(&it.statement, 2_000).into_owned()),
        "cases": cases.collect::<Vec<_>>(),
    })
}

/// The number of cases as the terminal counts them, and the number of trials.
fn n_cases(run: &Run) -> String {
    let cases: BTreeSet<String> = run.results.iter().map(|result| result.base().to_owned()).collect();
    let (n, n_results) = (cases.len(), run.results.len());
    let trials = if n < n_results { format!(", tried {n_results} times") } else { String::new() };
    plural(n, "case") + &trials
}

/// Rubrics in the order in which the results name them; those that no result names are last.
fn count_rubric_uses(run: &Run) -> Vec<RubricUse> {
    let mut uses: Vec<RubricUse> = Vec::new();
    let mut places: BTreeMap<RubricHash, usize> = BTreeMap::new();
    let named = run.results.iter().map(|result| result.rubric);
    for version in named.filter(|version| run.rubrics.contains_key(version)) {
        let place = *places.entry(version.clone()).or_insert_with(|| {
            uses.push(RubricUse { version, n: 0 });
            uses.len() - 1
        });
        uses[place].n += 1;
    }
    let unnamed = run.rubrics.keys().filter(|version| !places.contains_key(*version));
    uses.extend(unnamed.map(|version| RubricUse { version: version.clone(), n: 0 }));
    uses
}

fn urgency(status: VerdictStatus) -> u8 {
    match status {
        VerdictStatus::Fail => 0,
        VerdictStatus::Error => 1,
        VerdictStatus::Deferred => 2,
        VerdictStatus::Pass => 3,
    }
}

impl HtmlPageContext<'_> {
    /// Distribution of the scores, with the pass mark, on the scale that all scores share.
    fn histogram(&self) -> Json {
        let layer = |name: &str, tone| DistributionLayer { name: name.to_owned(), tone, counts: vec![0; 10] };
        let mut layers = [layer("failed", Tone::Fail), layer("passed", Tone::Pass)];
        for result in self.run.results.iter() {
            let Some(score) = result.verdict.score else { continue };
            layers[usize::from(result.verdict.status == VerdictStatus::Pass)].counts[tenth(score)] += 1;
        }
        let chart = Chart::Distribution(Distribution {
            scale: shared_score_scale(self.run),
            ..Distribution::of_tenths("Scores".to_owned(), layers.into(), self.mark())
        });
        let table = chart.table();
        json!({ "svg": chart.svg(ChartMedium::Page), "head": table.head, "rows": table.rows })
    }

    /// The pass mark of the cases, if they share one.
    fn mark(&self) -> Option<f64> {
        let mut marks: Vec<f64> =
            self.run.results.iter().filter_map(|result| self.run.pass_mark(&result.rubric)).collect();
        marks.sort_by(f64::total_cmp);
        marks.dedup();
        if let [mark] = marks[..] { Some(mark).filter(|mark| 0.0 < *mark) } else { None }
    }

    fn criteria(&self) -> Json {
        let scales = collect_criterion_scales(&self.rubrics);
        let scale_of = |mean: &Mean| scales.get(&mean.name.id).copied().filter(|_| !mean.name.is_negative);
        let shared = self.means.iter().filter(|mean| mean.shared);
        let axis = |mean: &Mean| {
            let measure = MeasuredValue::of(mean.mean?).on_scale(scale_of(mean));
            Some((mean.name.label.clone(), measure))
        };
        let (axes, values): (Vec<String>, Vec<MeasuredValue>) = shared.filter_map(axis).unzip();
        let mark = self.mark();
        let radar = RADAR.contains(&axes.len()).then(|| {
            let series = vec![RadarSeries { name: String::new(), values }];
            Chart::Radar(Radar { title: "Criteria".to_owned(), axes, series, mark }).svg(ChartMedium::Page)
        });
        let rows = self.means.iter().take(200).map(|it| {
            json!({
                "label": clip_to_bytes(&it.name.label, 120), "n": it.n,
                "mean": it.mean.map(|mean| format_beside_own_scale(mean, scale_of(it))),
                "percent": it.mean.map(|mean| mean * 100.0),
                "low": it.mean.zip(mark).is_some_and(|(mean, mark)| mean < mark),
            })
        });
        json!({ "radar": radar, "rows": rows.collect::<Vec<_>>(), "mark": mark })
    }

    fn rubric_rows(&self) -> Vec<Json> {
        let row = |(at, RubricUse { version, n }): (usize, &RubricUse)| {
            let rubric = self.rubrics.get(version);
            let scale = rubric.and_then(rubric_score_scale);
            json!({
                "number": at + 1, "version": version.as_str(),
                "description": rubric.and_then(|rubric| rubric.description.as_deref()).map(|it| clip_to_bytes(it, 600)),
                "mark": self.run.shown_pass_mark(version).map(|mark| format_beside_own_scale(mark, scale)), "n": n,
            })
        };
        self.rubric_uses.iter().enumerate().take(MAX_RUBRIC_ROWS).map(row).collect()
    }

    fn case(&self, at: usize, open: bool) -> Json {
        let result = &self.run.results.get(at);
        let (verdict, rubric) = (&result.verdict, self.rubrics.get(&result.rubric));
        let ids = graded_criterion_ids(result);
        let hue = |id: &str| ids.iter().position(|text| *text == id).unwrap_or(0);
        let mut quotes = Quotes::new(at + 1, &result.grades, hue);
        let task = candidate::render_task_part(&result.material, self.room);
        let parts = candidate::render_candidate_parts(&result.material, &mut quotes, self.room);
        let mark = self.run.shown_pass_mark(&result.rubric);
        json!({
            "at": at + 1, "name": clip_to_bytes(&result.case, 300), "status": verdict.status.as_str(), "open": open,
            "candidate": (result.candidate != result.case).then(|| clip_to_bytes(&result.candidate, 300)),
            "score": format_native_score(result, rubric),
            "unit": verdict.score.map(|score| format!("{score:.2}")),
            "percent": verdict.score.map(|score| score.clamp(0.0, 1.0) * 100.0),
            "mark": format_pass_mark(self.run, result, &self.rubrics), "mark_percent": mark.map(|mark| mark.clamp(0.0, 1.0) * 100.0),
            "low": self.falls_short(result), "why": explain_verdict(result), "gates": gates(Some(self.run), result),
            "notes": case_notes(result),
            "panel": result.panel.as_ref().and_then(|panel| panel.why.as_deref()),
            "judges": clip_to_bytes(&join_grader_names(result), 400), "cost": outcome_text::format_known_cost(result.spend),
            "nanos": result.spend.cost.map_or(0, Usd::nanos),
            "tokens": format_token_usage(result.spend), "cached": result.spend.from_cache && result.spend.cost != Some(Usd::default()), "took": agent_took(result),
            "rubric": self.rubric_uses.iter().take(MAX_RUBRIC_ROWS).position(|it| it.version == result.rubric).map(|at| at + 1),
            "version": result.rubric.as_str(),
            "path": path::draw(rubric, &verdict.path, result.material.row.as_ref()),
            "rows": self.rows(result, &quotes), "task": task, "parts": parts,
        })
    }

    /// Which criteria a filter finds the case by, as places among all criteria.
    fn falls_short(&self, result: &CaseResult) -> String {
        let mark = self.run.pass_mark(&result.rubric).unwrap_or(1.0);
        let scores = criteria::case_criterion_scores(self.run, &self.rubrics, result).into_iter();
        let low = scores.filter(|(_, worth)| worth.is_some_and(|value| value < mark)).map(|(name, _)| name);
        let places = low.filter_map(|name| self.means.iter().position(|mean| mean.name == name));
        places.map(|place| place.to_string()).collect::<Vec<_>>().join(" ")
    }

    /// A row for each criterion, with the answers of all its graders.
    fn rows(&self, result: &CaseResult, quotes: &Quotes<'_>) -> Vec<Json> {
        let rubric = self.rubrics.get(&result.rubric);
        // Reasons share what room there is; few criteria may say all they have.
        let most = (self.room / 3 / result.grades.len().max(1)).max(240);
        let row = |id: &str| {
            let question = find_rubric_question(rubric, id);
            let filled = |text: &str| fill_for_reader(text, result.material.row.as_ref());
            let (title, description) = match &question {
                Some(it) => match it.node {
                    Some(node) => (filled(&node.ask), String::new()),
                    None => (it.criterion.title().to_owned(), filled(&it.criterion.description)),
                },
                None => (id.to_owned(), String::new()),
            };
            let own = (0..result.grades.len()).filter(|&index| result.grades[index].criterion == id);
            let grades = own.map(|own| self.grade(result, own, quotes, most));
            json!({
                "title": clip_to_bytes(&title, 400), "description": clip_to_bytes(&description, 600.min(most)),
                "tags": question.filter(|question| question.node.is_none()).map(|question| tags(question.criterion)),
                "grades": grades.collect::<Vec<_>>(),
            })
        };
        graded_criterion_ids(result).into_iter().map(row).collect()
    }

    fn grade(&self, result: &CaseResult, at: usize, quotes: &Quotes<'_>, most: usize) -> Json {
        let grade = &result.grades[at];
        let question = find_rubric_question(self.rubrics.get(&result.rubric), &grade.criterion);
        let criterion = question.map(|question| question.criterion);
        // An answer inside a tree leads on; it is neither good nor bad.
        let is_node = question.is_some_and(|question| question.node.is_some());
        let unit = grade.outcome.unit().filter(|_| !is_node);
        let worth = worth(self.run, result, &grade.criterion, &grade.outcome).filter(|_| !is_node);
        let mark = criterion
            .and_then(|criterion| criterion.threshold)
            .or_else(|| self.run.pass_mark(&result.rubric));
        let (kind, answer) = outcome_kind_and_text(grade, criterion);
        let answer = with_evidence(grade, answer);
        // A broken grader's detail is often its reason as well.
        let reason = Some(grade.reason.as_str()).filter(|text| !answer.ends_with(text)).unwrap_or_default();
        let points = grade.points.iter().take(MOST_POINTS).enumerate().map(|(nth, graded_point)| {
            json!({ "text": clip_to_bytes(&graded_point.text, 400), "holds": graded_point.holds, "quotes": quotes.render_citations(at, Some(nth)) })
        });
        let n_quotes =
            grade.evidence.len() + grade.points.iter().map(|point| point.evidence.len()).sum::<usize>();
        json!({
            "grader": clip_to_bytes(&grade.grader.name, 120), "kind": kind, "said": clip_to_bytes(&answer, 400),
            "percent": unit.map(|unit| unit.clamp(0.0, 1.0) * 100.0),
            "short": worth.zip(mark).is_some_and(|(worth, mark)| worth + 1e-9 < mark),
            "reason": clip_to_bytes(reason, most), "quotes": quotes.render_citations(at, None),
            "points": points.collect::<Vec<_>>(),
            "more_points": grade.points.len().saturating_sub(MOST_POINTS),
            "more_quotes": n_quotes.saturating_sub(quotes.n_of(at)),
            "cost": outcome_text::format_known_cost(grade.spend), "time": grade.time.map(format_utc_seconds),
            "failures": grade.attempts.iter().take(5).map(|attempt| variant_in_words(&attempt.failure)).collect::<Vec<_>>().join(", "),
        })
    }
}

/// What came of asking, as a kind for the eye and in words.
fn outcome_kind_and_text(grade: &Grade, criterion: Option<&Criterion>) -> (&'static str, String) {
    let outcome = &grade.outcome;
    match outcome {
        Outcome::Scored { value, .. } => ("scored", format_answer_value(value, criterion)),
        Outcome::NotApplicable | Outcome::Abstained { .. } => {
            ("other", outcome_text::format_outcome(outcome))
        }
        Outcome::Failed { .. } => ("error", outcome_text::format_outcome(outcome)),
        Outcome::Deferred { .. } => ("deferred", outcome_text::format_grade_outcome(grade)),
    }
}

/// What a verdict means that is more than a score against a mark.
fn explain_verdict(result: &CaseResult) -> Option<String> {
    let troubles: BTreeSet<String> = result
        .grades
        .iter()
        .filter_map(|grade| match &grade.outcome {
            Outcome::Failed { failure, .. } => Some(variant_in_words(failure)),
            Outcome::Deferred { why } => Some(variant_in_words(why)),
            _ => None,
        })
        .collect();
    let troubles = troubles.into_iter().collect::<Vec<_>>().join(", ");
    match result.verdict.status {
        VerdictStatus::Error if troubles.is_empty() => {
            Some("No verdict: no grader could assess it.".to_owned())
        }
        VerdictStatus::Error => {
            Some(format!("No verdict: grader error ({troubles}). The candidate did not fail."))
        }
        VerdictStatus::Deferred => Some(format!("No verdict yet: grades are missing ({troubles}).")),
        VerdictStatus::Pass if result.verdict.vacuous => {
            Some("Passed because no criterion applied.".to_owned())
        }
        VerdictStatus::Pass | VerdictStatus::Fail => None,
    }
}

/// The criteria of a case, each once.
fn graded_criterion_ids(result: &CaseResult) -> Vec<&str> {
    let mut ids: Vec<&str> = Vec::new();
    for grade in &result.grades {
        if !ids.contains(&grade.criterion.as_str()) {
            ids.push(&grade.criterion);
        }
    }
    ids
}

/// What an author set for a criterion in addition to its question.
fn tags(criterion: &Criterion) -> Vec<String> {
    let weight = Some(criterion.weight).filter(|value| (value - 1.0).abs() > 1e-9);
    let polarity = match criterion.polarity {
        Polarity::Plain => None,
        Polarity::Negated => Some("must not hold".to_owned()),
        Polarity::Guard => Some("guard: must not hold".to_owned()),
    };
    let required = criterion.required.then(|| "required".to_owned());
    let least = criterion.min_score.map(|min_score| format!("at least {min_score}"));
    let weight = weight.map(|weight| format!("weight {weight}"));
    [polarity, required, least, weight].into_iter().flatten().collect()
}

fn format_answer_value(value: &Value, criterion: Option<&Criterion>) -> String {
    match value {
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Text(text) => text.clone(),
        Value::Number(number) => match criterion.and_then(criterion_scale_bounds) {
            Some((_, top)) => format!("{number}/{top}"),
            None => format!("{number:.2}"),
        },
    }
}

/// How much one grader graded.
struct GraderRow {
    name: String,
    kind: String,
    n: usize,
    spend: Spend,
}

/// Who graded how much.
fn judge_rows(run: &Run) -> Vec<Json> {
    let mut rows: Vec<GraderRow> = Vec::new();
    for grade in run.results.iter().flat_map(|result| result.grades) {
        let (name, spend) = (grade.grader.name, grade.spend);
        match rows.iter_mut().find(|row| row.name == name) {
            Some(row) => (row.n, row.spend) = (row.n + 1, row.spend.plus(spend)),
            None => rows.push(GraderRow { name, kind: variant_in_words(&grade.grader.kind), n: 1, spend }),
        }
    }
    let row = |GraderRow { name, kind, n, spend }: GraderRow| {
        let cost = outcome_text::format_known_cost(spend);
        json!({ "name": clip_to_bytes(&name, 200), "kind": kind, "n": n, "cost": cost, "tokens": format_token_usage(spend) })
    };
    rows.into_iter().take(100).map(row).collect()
}

fn format_token_usage(spend: Spend) -> Option<String> {
    let thousands = |n: u64| if n < 10_000 { n.to_string() } else { format!("{:.0}k", n as f64 / 1000.0) };
    (0 < spend.tokens_in + spend.tokens_out)
        .then(|| format!("{} tokens in, {} out", thousands(spend.tokens_in), thousands(spend.tokens_out)))
}

/// How long the agent was at it, where its trace has times.
fn agent_took(result: &CaseResult) -> Option<String> {
    let times = result.material.trace.iter().flat_map(|trace| &trace.steps).filter_map(|step| step.time);
    let (first, last) = (times.clone().min()?, times.max()?);
    (first < last).then(|| format_duration((last.micros() - first.micros()) as f64 / 1e6))
}

/// `2026-03-20 10:15:32`, always in UTC.
fn format_utc_seconds(time: Time) -> String {
    time.to_string().chars().take(19).map(|letter| if letter == 'T' { ' ' } else { letter }).collect()
}

fn format_duration(seconds: f64) -> String {
    match seconds as u64 {
        0..=9 => format!("{seconds:.1} s"),
        it @ 10..=59 => format!("{it} s"),
        it @ 60..=3599 => format!("{} min {} s", it / 60, it % 60),
        it => format!("{} h {} min", it / 3600, it / 60 % 60),
    }
}

#[cfg(test)]
mod tests;
