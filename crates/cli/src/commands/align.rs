use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::PathBuf;

use jurist_core::chart::{Chart, MatrixChart};
use jurist_core::diagnostic::closest;
use jurist_core::grade::{Grade, GraderKind, Outcome, RubricHash, part_of, with_parts};
use jurist_core::quantity::plural;
use jurist_core::stats::agreement::{Alignment, Level, align};
use jurist_core::stats::comparison::{AgreementByItem, JudgeDifference, compare_judges};
use serde_json::{Value as Json, json};

use crate::database::DatabaseArgs;
use crate::grades::agreement::{LevelName, format_measure, kappa_for_level};
use crate::grades::candidate_scores::{TIE_ADVICE, list_first, parse_scale_ends};
use crate::grades::criterion_ratings::{CriterionRatings, group_ratings_by_criterion};
use crate::grades::row_names::{find_names_without_row, without_row_number};
use crate::grades::sources::{DeclaredScales, is_case_label, read_record_texts};
use crate::grades::{
    AnalysisOutputArgs, are_final_labels, filter_by_criterion, list_criteria, read_grade_set,
    sort_for_resampling,
};
use crate::outcome::CommandOutcome;
use crate::render::print_note;
use crate::reporting::printable_line;
use crate::version_names::{VersionNames, find_version_names};

/// Measure judge–human agreement
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist align --human ratings.jsonl --judge latest
  jurist align --human ratings.csv --judge run.json --min-kappa 0.6
  jurist align --human ratings.csv --judge latest --criterion tone --chart t.png
  jurist align --human labels.csv --judge a.jsonl --judge b.jsonl
  jurist align --human labels.csv --judge a.jsonl --records answers.jsonl
  jurist align --human labels --judge judges    Use the project's database
  jurist align --human latest --judge latest    Labels of cases on the run page

Files are read as by `jurist agree`, and --judge also reads the output of
`jurist grade`. Candidates and criteria are matched by name. A column of a
--human table with the name of a criterion that the judge graded holds its
labels. Each rubric version is aligned separately. Two or more judges are
compared on the candidates that both graded.

Exit codes: 0; 1 if --min-kappa is not shown to be reached for every criterion.")]
pub struct AlignArgs {
    /// Human grades; repeatable
    #[arg(long, value_name = "FILE", required = true)]
    human: Vec<PathBuf>,
    /// Judge grades; repeatable, to compare judges
    #[arg(long, value_name = "FILE", required = true)]
    judge: Vec<PathBuf>,
    /// Fail unless the lower bound of kappa's confidence interval is above this
    #[arg(long, value_name = "KAPPA", value_parser = parse_lowest_kappa)]
    min_kappa: Option<f64>,
    /// Smallest number of candidates with which --min-kappa can pass
    #[arg(long, value_name = "N", default_value_t = 20, requires = "min_kappa")]
    min_candidates: usize,
    /// Lowest and highest value of the scale, such as 1-5; unused levels count as categories [default: the
    /// scale of the rubric, for runs]
    #[arg(long, value_name = "MIN-MAX", value_parser = parse_scale_ends)]
    scale: Option<(f64, f64)>,
    /// Level of measurement [default: ordinal for numbers, nominal for labels]
    #[arg(long, value_enum)]
    level: Option<LevelName>,
    /// Use only this criterion
    #[arg(long, value_name = "NAME")]
    criterion: Option<String>,
    /// Use only this annotation task; required if the data has several
    #[arg(long, value_name = "NAME")]
    task: Option<String>,
    /// Records with the candidates' texts, as `jurist grade` reads them; disagreements show the texts; repeatable
    #[arg(long, value_name = "FILE")]
    records: Vec<PathBuf>,
    /// Number of disagreements to list per criterion
    #[arg(long, value_name = "N", default_value_t = 5)]
    worst: usize,
    #[command(flatten)]
    place: DatabaseArgs,
    #[command(flatten)]
    output: AnalysisOutputArgs,
}

fn parse_lowest_kappa(text: &str) -> Result<f64, String> {
    let kappa = text.parse().ok().filter(|kappa| (-1.0..=1.0).contains(kappa));
    kappa.ok_or_else(|| "a number from -1 to 1, such as 0.6".to_owned())
}

pub fn run_align_command(args: &AlignArgs) -> anyhow::Result<CommandOutcome> {
    write_alignments(&mut crate::render::stdout(), args)
}

/// Measures the agreement of judges with people and writes it in the format of the arguments.
pub fn write_alignments(out: &mut impl Write, args: &AlignArgs) -> anyhow::Result<CommandOutcome> {
    let AlignmentInput { all, judges, declared, texts, no_match, labelled, not_compared } =
        args.read_input()?;
    anyhow::ensure!(
        args.output.chart.is_none() || judges.len() < 2,
        "a chart shows one judge, and these files have {}",
        judges.join(", ")
    );
    let (mut aligned, mut report): (Vec<AlignedJudge>, Vec<Json>) = (Vec::new(), Vec::new());
    let mut gate_failures: Vec<String> = Vec::new();
    let parts = build_alignment_groups(&all);
    let versions: BTreeSet<&RubricHash> =
        parts.iter().filter_map(|alignment_group| alignment_group.version).collect();
    let mut version_names = VersionNames::default();
    if !versions.is_empty() && !args.output.json {
        version_names = find_version_names(&versions, &args.place);
        writeln!(
            out,
            "These grades come from {} rubric versions; each is compared with people separately.\n",
            versions.len()
        )?;
    }
    let version_label = |version: &RubricHash| match version_names.name_of_hash(version) {
        Some(name) => format!("rubric {name}"),
        // A name that a person wrote, not a hash.
        None if version.short() == version.as_str() => format!("rubric {}", version.as_str()),
        None => {
            let before = parts.iter().take_while(|part| part.version != Some(version));
            let before: BTreeSet<&RubricHash> = before.filter_map(|part| part.version).collect();
            format!("rubric version {}", before.len() + 1)
        }
    };
    for part in &parts {
        let mut one =
            group_ratings_by_criterion(&part.grades, args.level.map(Into::into), args.scale, &declared)?;
        let Some(rated) = one.pop() else { continue };
        let version = part.version;
        let is_judge = |index: &usize| judges.contains(&rated.ratings.raters()[*index]);
        let (own, people): (Vec<usize>, Vec<usize>) = (0..rated.ratings.n_raters()).partition(is_judge);
        for judge in own {
            let unanswered = find_unanswered_labels(&part.grades, &judges, &rated.ratings.raters()[judge]);
            match align(&rated.ratings, judge, &people, rated.level, args.output.seed) {
                Ok(alignment) => {
                    if let Some(picture) = &args.output.chart {
                        let title = format!("{}: {}", rated.criterion, alignment.judge);
                        let (people, judge) = ("people".to_owned(), "judge".to_owned());
                        let labels: Vec<String> = alignment
                            .confusion
                            .labels
                            .iter()
                            .map(|it| rated.answer_word(it).to_owned())
                            .collect();
                        let counts = &alignment.confusion.counts;
                        picture.draw(&Chart::Matrix(MatrixChart::confusion(
                            title, people, judge, &labels, counts,
                        )))?;
                    }
                    aligned.push(AlignedJudge {
                        criterion: rated.criterion.to_owned(),
                        row: report.len(),
                        judge: alignment.judge.clone(),
                        agreement: AgreementByItem {
                            judge: match version {
                                Some(version) => format!("{}, {}", alignment.judge, version_label(version)),
                                None => alignment.judge.clone(),
                            },
                            items: alignment.by_item.clone(),
                        },
                    });
                    let kappa = kappa_for_level(&alignment.with_consensus, rated.level);
                    if let Some(why) = args.explain_low_kappa(&alignment, kappa.interval()) {
                        gate_failures.push(format!("`{}`: {why}", printable_line(rated.criterion)));
                    }
                    if !args.output.json {
                        if let Some(it) = version {
                            write!(out, "\x1b[2m{}\x1b[0m  ", printable_line(&version_label(it)))?;
                        }
                        let shown =
                            ShownAlignment { rated: &rated, alignment: &alignment, unanswered: &unanswered };
                        args.show_alignment(out, &shown, &part.grades, &texts)?;
                    }
                    report.push(json!({
                        "criterion": rated.criterion, "rubric": version, "alignment": alignment,
                        "n_repeated": rated.n_repeated, "n_unmatched_labels": unanswered.len(),
                    }));
                }
                Err(why) => {
                    let why = why.to_string();
                    // A gate that cannot be decided does not pass.
                    if args.min_kappa.is_some() {
                        let missing = explain_missing_labels(rated.criterion, &labelled);
                        let why = missing.unwrap_or_else(|| why.clone());
                        gate_failures.push(format!("`{}`: {why}", printable_line(rated.criterion)));
                    }
                    report.push(json!({ "criterion": rated.criterion, "rubric": version, "undefined": why }));
                }
            }
        }
    }
    show_judge_differences(out, &aligned, &mut report, &args.output)?;
    if args.output.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&report)?)?;
    }
    anyhow::ensure!(!aligned.is_empty(), "{no_match}");
    if let Some(note) = not_compared {
        print_note(&note);
    }
    if !args.output.json {
        for failure in &gate_failures {
            writeln!(out, "--min-kappa {}: {failure}", args.min_kappa.unwrap_or_default())?;
        }
    }
    Ok(if gate_failures.is_empty() { CommandOutcome::Passed } else { CommandOutcome::Failed })
}

/// Both sides of a comparison.
struct AlignmentInput {
    /// Grades of people, then those of judges.
    all: Vec<Grade>,
    judges: Vec<String>,
    declared: DeclaredScales,
    /// The beginning of each candidate's text, as far as it is known.
    texts: BTreeMap<String, String>,
    /// Explains that no candidate can be compared, if that turns out.
    no_match: String,
    /// The criteria of the labels.
    labelled: Vec<String>,
    /// Names the criteria of the labels that no judge graded.
    not_compared: Option<String>,
}

/// A judge that was compared with people on a criterion.
struct AlignedJudge {
    criterion: String,
    /// Its place in the report.
    row: usize,
    /// Its name without the version of the rubric.
    judge: String,
    agreement: AgreementByItem,
}

impl AlignArgs {
    /// Reads the judges first: their criteria decide which columns of a human table hold labels.
    fn read_input(&self) -> anyhow::Result<AlignmentInput> {
        let judge_set = read_grade_set(&self.judge, None, &[], &self.place)?;
        let judged = judge_set.grades.into_iter().flat_map(with_parts);
        // A name in both lists means two different graders.
        let marked = |mut grade: Grade| {
            grade.grader.name = format!("{} (judge)", grade.grader.name);
            grade
        };
        let is_judged = |grade: &Grade| grade.grader.kind != GraderKind::Check && !is_case_label(grade);
        let mut judged: Vec<Grade> = judged.filter(is_judged).map(marked).collect();
        let human_set =
            read_grade_set(&self.human, self.task.as_deref(), &list_criteria(&judged), &self.place)?;
        let mut humans: Vec<Grade> =
            human_set.grades.into_iter().filter(|grade| grade.grader.kind == GraderKind::Human).collect();
        anyhow::ensure!(
            !humans.is_empty(),
            "--human needs grades of people, and these files hold only grades of judges and checks"
        );
        name_configurations(&mut judged);
        drop_row_numbers(&mut judged, &humans);
        sort_for_resampling(&mut humans);
        sort_for_resampling(&mut judged);
        let mut judges: Vec<String> = judged.iter().map(|grade| grade.grader.name.clone()).collect();
        judges.sort_unstable();
        judges.dedup();
        let (mut declared, mut texts) = (human_set.scales, judge_set.texts);
        declared.extend(judge_set.scales);
        texts.extend(human_set.texts);
        texts.extend(read_record_texts(&self.records)?);
        let tables = [human_set.without_criterion, judge_set.without_criterion].concat();
        let no_match = explain_no_match(&humans, &judged, self.criterion.as_deref(), &tables);
        let labelled = list_criteria(&humans);
        let not_compared = describe_unjudged_criteria(&labelled, &judged, self.criterion.as_deref());
        let all: Vec<Grade> = humans.into_iter().chain(judged).collect();
        let all = filter_by_criterion(all, self.criterion.as_deref(), &self.output)?;
        Ok(AlignmentInput { all, judges, declared, texts, no_match, labelled, not_compared })
    }

    /// Why a judge does not pass `--min-kappa` on a criterion; `None` if it passes, or if there is no such gate.
    fn explain_low_kappa(&self, alignment: &Alignment, interval: Option<(f64, f64)>) -> Option<String> {
        let min_kappa = self.min_kappa?;
        let n_compared = alignment.n_items - alignment.n_split;
        if n_compared < self.min_candidates {
            let ties = match self.min_candidates <= alignment.n_items {
                true => {
                    format!("; each of the {} needs {}", plural(alignment.n_split, "tie"), self.tie_advice())
                }
                false => String::new(),
            };
            return Some(format!(
                "{} with a human majority; at least {} are needed (--min-candidates){ties}",
                plural(n_compared, "candidate"),
                self.min_candidates
            ));
        }
        match interval {
            Some((low, _)) if min_kappa <= low => None,
            Some((low, _)) => Some(format!("the lower bound of kappa is {low:.3}")),
            None => Some("kappa has no confidence interval".to_owned()),
        }
    }

    /// What resolves a tie. In the database, answers of people are stored without the labels that were decided from
    /// them.
    fn tie_advice(&self) -> String {
        let reads_people = self.human.iter().any(|path| path.as_os_str() == "people" && !path.is_file());
        let decisions = if reads_people { "; `--human labels` has the decisions" } else { "" };
        format!("{TIE_ADVICE}{decisions}")
    }

    fn show_alignment(
        &self,
        out: &mut impl Write,
        shown: &ShownAlignment<'_>,
        grades: &[Grade],
        texts: &BTreeMap<String, String>,
    ) -> anyhow::Result<()> {
        let ShownAlignment { rated, alignment, unanswered } = *shown;
        let is_final = are_final_labels(&alignment.humans);
        let compared = match is_final {
            true => "final labels".to_owned(),
            false => plural(alignment.humans.len(), "person").replace("persons", "people"),
        };
        writeln!(
            out,
            "\x1b[1m{}\x1b[0m  {} compared with {compared} on {}",
            printable_line(rated.criterion),
            printable_line(&alignment.judge),
            plural(alignment.n_items, "candidate")
        )?;
        for note in rated.notes() {
            writeln!(out, "  {}", printable_line(&note))?;
        }
        if let Some(first) = unanswered.first() {
            writeln!(
                out,
                "  {} without an answer of the judge, such as `{}`.",
                plural(unanswered.len(), "labelled candidate"),
                printable_line(first)
            )?;
        }
        if 0 < alignment.n_split {
            writeln!(
                out,
                "  {} of them have no human majority (ties); majority agreement, kappa, alpha and the table use the other {}. A tie needs {}.",
                alignment.n_split,
                alignment.n_items - alignment.n_split,
                self.tie_advice()
            )?;
        }
        // Pass and fail are nominal answers, but a judge may still be too mild, so the measures with a direction are
        // shown.
        let is_pass_or_fail =
            alignment.confusion.labels.len() <= 2 && alignment.with_mean.bias.value().is_some();
        let has_order = rated.level != Level::Nominal || is_pass_or_fail;
        let name = if rated.level == Level::Nominal { "kappa" } else { "kappa (quadratic)" };
        let rows = [
            ("majority agreement", &alignment.with_consensus.percent),
            (name, kappa_for_level(&alignment.with_consensus, rated.level)),
            ("Krippendorff's alpha", &alignment.krippendorff_alpha),
            ("rank correlation", &alignment.with_mean.spearman),
            ("bias", &alignment.with_mean.bias),
            ("mean absolute error", &alignment.with_mean.mean_absolute_error),
        ];
        for (name, measure) in rows.into_iter().take(if has_order { 6 } else { 3 }) {
            writeln!(out, "  {name:<22}{}", format_measure(measure))?;
        }
        if alignment.confusion.labels.len() <= 10 {
            show_confusion_matrix(out, rated, alignment)?;
        }
        for rates in alignment.answers.iter().filter(|_| alignment.confusion.labels.len() == 2) {
            let name = format!("recall of `{}`", printable_line(rated.answer_word(&rates.label)));
            writeln!(out, "  {name:<22}{}", format_measure(&rates.sensitivity))?;
        }
        for disagreement in alignment.disagreements.iter().take(self.worst) {
            let people: Vec<&str> =
                disagreement.humans.iter().map(|answer| rated.answer_word(answer)).collect();
            writeln!(
                out,
                "  \x1b[33m{}\x1b[0m: judge {}, people {}",
                printable_line(&disagreement.item),
                printable_line(rated.answer_word(&disagreement.judge)),
                printable_line(&people.join(", "))
            )?;
            if let Some(text) = find_candidate_text(texts, &disagreement.item) {
                writeln!(out, "      text: {}", printable_line(text))?;
            }
            // The reason of another judge explains another answer.
            let is_compared = |name: &String| *name == alignment.judge || alignment.humans.contains(name);
            let about = |grade: &&Grade| {
                grade.candidate == disagreement.item
                    && grade.criterion == rated.criterion
                    && !grade.reason.is_empty()
                    && is_compared(&grade.grader.name)
            };
            for grade in grades.iter().filter(about) {
                writeln!(
                    out,
                    "      {}: {}",
                    printable_line(&grade.grader.name),
                    printable_line(grade.reason.as_str())
                )?;
            }
        }
        let conclusion = match is_final && alignment.one_more_person.n_items == 0 {
            true => "Each candidate has one final label, so the judge cannot be compared with one more person; `--human \
                     people` has the answers of each person."
                .to_owned(),
            false => alignment.one_more_person.sentence(),
        };
        writeln!(out, "  {conclusion}\n")?;
        Ok(())
    }
}

/// What is printed about one judge on one criterion.
struct ShownAlignment<'a> {
    rated: &'a CriterionRatings<'a>,
    alignment: &'a Alignment,
    /// Candidates with a label and without an answer of the judge.
    unanswered: &'a [&'a str],
}

/// Adds the configuration to the name of a judge if a candidate has grades of more than one configuration, such as with
/// and without a calibration. Without this, all grades but the first would be left out as repeated answers.
fn name_configurations(judged: &mut [Grade]) {
    let question = |grade: &Grade| JudgedQuestion {
        judge: grade.grader.name.clone(),
        criterion: grade.criterion.clone(),
        rubric: grade.rubric.clone(),
    };
    let mut first: BTreeMap<JudgedQuestion, BTreeMap<String, String>> = BTreeMap::new();
    let mut with_several: BTreeSet<JudgedQuestion> = BTreeSet::new();
    for grade in &*judged {
        let Some(configuration) = &grade.grader.configuration else { continue };
        let by_candidate = first.entry(question(grade)).or_default();
        let known = by_candidate.entry(grade.candidate.clone()).or_insert_with(|| configuration.clone());
        if *known != *configuration {
            with_several.insert(question(grade));
        }
    }
    for grade in judged.iter_mut().filter(|grade| with_several.contains(&question(grade))) {
        if let Some(configuration) = &grade.grader.configuration {
            grade.grader.name = format!("{}{CONFIGURATION}{configuration}", grade.grader.name);
        }
    }
}

/// The text between the name of a judge and the hash of its configuration.
const CONFIGURATION: &str = ", configuration ";

/// A question to a judge, in one version of its rubric.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct JudgedQuestion {
    judge: String,
    criterion: String,
    rubric: Option<RubricHash>,
}

/// The criteria of labels that no judge graded, with the criterion that may be meant.
fn describe_unjudged_criteria(labelled: &[String], judged: &[Grade], wanted: Option<&str>) -> Option<String> {
    let judged = list_criteria(judged);
    let names: Vec<&str> = judged.iter().map(String::as_str).collect();
    let is_unjudged = |name: &&String| {
        !judged.contains(name)
            && part_of(name).is_none()
            && wanted.is_none_or(|wanted| wanted == name.as_str())
    };
    let describe = |name: &String| match closest(name, &names) {
        Some(meant) => format!("`{name}` (did you mean `{meant}`?)"),
        None => format!("`{name}`"),
    };
    let unjudged: Vec<String> = labelled.iter().filter(is_unjudged).map(describe).collect();
    let which = if unjudged.len() == 1 { "this criterion" } else { "these criteria" };
    (!unjudged.is_empty()).then(|| {
        format!(
            "labels of {which} are not compared, because the judge did not grade {}: {}",
            if unjudged.len() == 1 { "it" } else { "them" },
            list_first(unjudged.into_iter())
        )
    })
}

/// Why a criterion that a judge graded cannot be compared, if it has no labels at all.
fn explain_missing_labels(criterion: &str, labelled: &[String]) -> Option<String> {
    if labelled.iter().any(|name| name == criterion) {
        return None;
    }
    let names: Vec<&str> = labelled.iter().map(String::as_str).collect();
    Some(match closest(criterion, &names) {
        Some(meant) => {
            format!(
                "no label has this criterion; did you mean `{}`, which has labels?",
                printable_line(meant)
            )
        }
        None => "no label has this criterion".to_owned(),
    })
}

/// Candidates that people labelled and for which this judge has no answer.
fn find_unanswered_labels<'a>(grades: &'a [Grade], judges: &[String], judge: &str) -> Vec<&'a str> {
    let candidates = |is_meant: &dyn Fn(&str) -> bool| -> BTreeSet<&'a str> {
        let is_scored = |grade: &&Grade| matches!(grade.outcome, Outcome::Scored { .. });
        let meant = grades.iter().filter(is_scored).filter(|grade| is_meant(&grade.grader.name));
        meant.map(|grade| grade.candidate.as_str()).collect()
    };
    let answered = candidates(&|name| name == judge);
    let labelled = candidates(&|name| judges.iter().all(|judge| judge != name));
    labelled.difference(&answered).copied().collect()
}

/// Gives judged cases the names that the human labels use.
fn drop_row_numbers(judged: &mut [Grade], humans: &[Grade]) {
    let candidates = |grades: &[Grade]| -> BTreeSet<String> {
        grades.iter().map(|grade| grade.candidate.clone()).collect()
    };
    let names = find_names_without_row(&candidates(judged), &candidates(humans));
    for grade in judged {
        if let Some(name) = names.get(&grade.candidate) {
            grade.candidate.clone_from(name);
        }
    }
}

/// Why no candidate could be compared, with an example from each side. If the criteria differ, also how tables that name
/// none were read.
fn explain_no_match(humans: &[Grade], judged: &[Grade], wanted: Option<&str>, tables: &[String]) -> String {
    let example = |side: &[Grade]| {
        let is_wanted = |grade: &&Grade| wanted.is_none_or(|wanted| grade.criterion == wanted);
        let grade = side.iter().find(is_wanted).or(side.first())?;
        Some(format!("`{}` of `{}`", printable_line(&grade.criterion), printable_line(&grade.candidate)))
    };
    if !judged.is_empty() && !judged.iter().any(|grade| matches!(grade.outcome, Outcome::Scored { .. })) {
        return format!(
            "none of the {} of the judge has a score, because they are deferred or errors; grade the candidates with a \
             judge that answers first",
            plural(judged.len(), "grade")
        );
    }
    let mut text = "no candidate has both a judge grade and a human grade for the same criterion".to_owned();
    if let (Some(judge), Some(human)) = (example(judged), example(humans)) {
        text += &format!("; judges graded, for example, {judge}, and people {human}");
    }
    let criteria = list_criteria(judged);
    if !list_criteria(humans).iter().any(|criterion| criteria.contains(criterion)) {
        tables.iter().for_each(|table| text += &format!("; {table}"));
    }
    text
}

/// What is aligned by itself: a criterion, in one version of its rubric where there are several.
struct AlignmentGroup<'a> {
    version: Option<&'a RubricHash>,
    grades: Vec<Grade>,
}

/// A grade that names no version, as those of people often do, is about the candidate whatever the version.
fn build_alignment_groups(grades: &[Grade]) -> Vec<AlignmentGroup<'_>> {
    let mut criteria: Vec<(&str, Vec<&RubricHash>)> = Vec::new();
    for grade in grades {
        let at = criteria.iter().position(|(name, _)| *name == grade.criterion).unwrap_or_else(|| {
            criteria.push((&grade.criterion, Vec::new()));
            criteria.len() - 1
        });
        if let Some(version) = grade.rubric.as_ref().filter(|rubric| !criteria[at].1.contains(rubric)) {
            criteria[at].1.push(version);
        }
    }
    let part = |criterion: &str, version: Option<&RubricHash>| -> Vec<Grade> {
        let fits = |grade: &&Grade| {
            let same = grade.rubric.is_none() || version.is_none() || grade.rubric.as_ref() == version;
            grade.criterion == criterion && same
        };
        grades.iter().filter(fits).cloned().collect()
    };
    let mut parts = Vec::new();
    for (criterion, versions) in &criteria {
        match versions.as_slice() {
            [] | [_] => parts.push(AlignmentGroup { version: None, grades: part(criterion, None) }),
            rubrics => parts.extend(rubrics.iter().map(|rubric_hash| AlignmentGroup {
                version: Some(rubric_hash),
                grades: part(criterion, Some(rubric_hash)),
            })),
        }
    }
    parts
}

/// People may name a case without the number of its row.
fn find_candidate_text<'t>(texts: &'t BTreeMap<String, String>, item: &str) -> Option<&'t String> {
    let is_row = |name: &str| without_row_number(name) == Some(item);
    texts.get(item).or_else(|| texts.iter().find_map(|(name, text)| is_row(name).then_some(text)))
}

/// Comparisons of judges that are printed for a criterion.
const MOST_COMPARISONS: usize = 10;

/// Compares the judges of each criterion with each other, and adds each comparison to the report on both judges.
fn show_judge_differences(
    out: &mut impl Write,
    aligned: &[AlignedJudge],
    report: &mut [Json],
    output: &AnalysisOutputArgs,
) -> anyhow::Result<()> {
    for judges in aligned.chunk_by(|a, b| a.criterion == b.criterion) {
        let agreement: Vec<AgreementByItem> = judges.iter().map(|judge| judge.agreement.clone()).collect();
        let differences = compare_judges(&agreement, output.seed);
        if differences.is_empty() {
            continue;
        }
        for judge in judges {
            let is_of_judge = |difference: &&JudgeDifference| {
                let (first, second) = &difference.judges;
                *first == judge.agreement.judge || *second == judge.agreement.judge
            };
            let own: Vec<&JudgeDifference> = differences.iter().filter(is_of_judge).collect();
            report[judge.row]["comparisons"] = json!(own);
        }
        if output.json {
            continue;
        }
        let p_name = if differences.len() == 1 { "p-value" } else { "p-value (Holm)" };
        for difference in differences.iter().take(MOST_COMPARISONS) {
            show_judge_difference(out, judges, difference, p_name)?;
        }
        if MOST_COMPARISONS < differences.len() {
            let n_more = differences.len() - MOST_COMPARISONS;
            writeln!(out, "… and {n_more} more comparisons; --json prints all of them.\n")?;
        }
    }
    Ok(())
}

/// The configurations that are compared, if one judge has more than one.
const CONFIGURATIONS: &str = "these configurations of a judge";

/// What two judges are that are compared: often the same model, with another rubric or another calibration.
fn compared_things(judges: &[AlignedJudge], difference: &JudgeDifference) -> &'static str {
    let name = |of: &String| {
        judges.iter().find(|aligned| aligned.agreement.judge == *of).map(|aligned| &aligned.judge)
    };
    let base = |name: &String| name.split(CONFIGURATION).next().map(str::to_owned);
    let (first, second) = (name(&difference.judges.0), name(&difference.judges.1));
    if first == second {
        "these rubric versions"
    } else if first.and_then(base) == second.and_then(base) {
        CONFIGURATIONS
    } else {
        "these judges"
    }
}

fn show_judge_difference(
    out: &mut impl Write,
    judges: &[AlignedJudge],
    it: &JudgeDifference,
    p_name: &str,
) -> anyhow::Result<()> {
    let Some(AlignedJudge { criterion, .. }) = judges.first() else { return Ok(()) };
    let (first, second) = &it.judges;
    writeln!(
        out,
        "\x1b[1m{}\x1b[0m  {} compared with {} on {} that both graded",
        printable_line(criterion),
        printable_line(first),
        printable_line(second),
        plural(it.n_items, "candidate")
    )?;
    if let Some((of_first, of_second)) = it.agreement {
        let p = if it.p < 0.001 { "< 0.001".to_owned() } else { format!("{:.3}", it.p) };
        let name = "similarity to people";
        writeln!(out, "  {name:<22}{of_first:>6.3} and {of_second:.3}  (mean, from 0 to 1)")?;
        writeln!(out, "  {:<22}{}", "difference", format_measure(&it.difference))?;
        writeln!(out, "  {p_name:<22}{p:>6}")?;
    }
    let compared = compared_things(judges, it);
    writeln!(out, "  {}", printable_line(&it.sentence_about(compared)))?;
    if compared == CONFIGURATIONS {
        writeln!(
            out,
            "  A calibration changes scores and not answers; `jurist estimate` compares the scores with labels."
        )?;
    }
    writeln!(out)?;
    Ok(())
}

/// Rows are the majority answers of people, columns the answers of the judge.
fn show_confusion_matrix(
    out: &mut impl Write,
    rated: &CriterionRatings<'_>,
    it: &Alignment,
) -> anyhow::Result<()> {
    let word = |label: &String| printable_line(rated.answer_word(label)).chars().take(8).collect::<String>();
    let labels: Vec<String> = it.confusion.labels.iter().map(word).collect();
    let head: String = labels.iter().map(|label| format!("{label:>9}")).collect();
    writeln!(out, "  {:<14}\x1b[2mjudge\x1b[0m", "")?;
    writeln!(out, "  \x1b[2m{:<10}\x1b[0m{head}", "people")?;
    for (label, counts) in labels.iter().zip(&it.confusion.counts) {
        let row: String = counts.iter().map(|count| format!("{count:>9}")).collect();
        writeln!(out, "  {label:<10}{row}")?;
    }
    Ok(())
}
