//! Grades as the input of statistics: from files and from the database, by criterion, judge and annotation task.

pub mod agreement;
pub mod candidate_scores;
pub mod criterion_ratings;
pub mod row_names;
pub mod sources;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::Context;
use jurist_core::grade::{Grade, Outcome, SampledCandidate, with_parts};
use jurist_core::quantity::plural;
use jurist_engine::load::read_input;

use self::candidate_scores::{
    CandidateScores, UNIT_SCALE, average_candidate_scores, parse_scale_ends, scale_of_labels, score_choices,
};
use self::sources::{
    DeclaredChoices, DeclaredScales, GradeSource, delimiter, keep_task, load_sources, no_grades,
};
use crate::database::DatabaseArgs;
use crate::picture::{ChartFile, parse_chart_file};
use crate::render::print_note;
use crate::reporting::printable_line;

/// Output options that every command of the analysis group shares.
#[derive(Debug, clap::Args)]
pub struct AnalysisOutputArgs {
    /// Write a chart, as .svg or .png
    #[arg(long, value_name = "FILE", value_parser = parse_chart_file)]
    pub chart: Option<ChartFile>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
}

/// People and a judge on one criterion; the same for every command that learns from the one about the other.
#[derive(Debug, clap::Args)]
pub struct HumanJudgeArgs {
    /// Human grades of at least some of the candidates
    #[arg(long, value_name = "FILE")]
    pub human: Vec<PathBuf>,
    /// Judge grades
    #[arg(long, value_name = "FILE", required = true)]
    pub judge: Vec<PathBuf>,
    /// Judge to use, by its name; required if the data has several
    #[arg(long, value_name = "NAME")]
    grader: Option<String>,
    /// Criterion to use; required if the data has several
    #[arg(long, value_name = "NAME")]
    criterion: Option<String>,
    /// Lowest and highest value of scores that are not on 0 to 1, such as 1-5
    #[arg(long, value_name = "MIN-MAX", value_parser = parse_scale_ends)]
    pub scale: Option<(f64, f64)>,
    /// Use only this annotation task; required if the data has several
    #[arg(long, value_name = "NAME")]
    task: Option<String>,
    #[command(flatten)]
    place: DatabaseArgs,
}

impl HumanJudgeArgs {
    /// Scores by people, for the judge's criterion if they graded it.
    pub fn people(&self, machine: &CandidateScores) -> anyhow::Result<CandidateScores> {
        let of_judge = std::slice::from_ref(&machine.criterion);
        let mut read = read_grade_set(&self.human, self.task.as_deref(), of_judge, &self.place)?;
        let is_graded = read.grades.iter().any(|grade| grade.criterion == machine.criterion);
        let wanted = self.criterion.as_ref().or(Some(&machine.criterion).filter(|_| is_graded));
        let criterion = select_criterion(&read.grades, wanted.map(String::as_str))
            .map_err(|error| read.explain_reading(error))?
            .to_owned();
        let criterion = criterion.as_str();
        score_choices(&mut read.grades, criterion, &machine.choices)?;
        // A scale of the command line or of the labels comes before that of the judge's rubric.
        let declared = read.scales.get(criterion).copied().or(machine.scale);
        let of_rubric = declared.and_then(|ends| scale_of_labels(&read.grades, criterion, ends));
        if let (None, Some((low, high))) = (self.scale, of_rubric) {
            print_note(&format!(
                "labels of `{}` are read on the scale of the rubric, {low} to {high}; set another with --scale",
                printable_line(criterion)
            ));
        }
        average_candidate_scores(&read.grades, criterion, None, self.scale.or(of_rubric))
    }

    /// Scores of the judge, with the scale of its rubric.
    pub fn machine(&self) -> anyhow::Result<CandidateScores> {
        // The annotation task selects grades of people.
        let task = self.task.as_deref().filter(|_| self.human.is_empty());
        let read = read_grade_set(&self.judge, task, &[], &self.place)?;
        let criterion = select_criterion(&read.grades, self.criterion.as_deref())
            .map_err(|error| read.explain_reading(error))?;
        self.ensure_one_judge(&read.grades, criterion)?;
        let scores = average_candidate_scores(&read.grades, criterion, self.grader.as_deref(), self.scale)?;
        let scale = read.scales.get(criterion).copied().or(scores.scale).filter(|ends| *ends != UNIT_SCALE);
        // A calibrated judge gives a choice another score than the rubric.
        let choices = read.choices.get(criterion).cloned().unwrap_or_else(|| scores.choices.clone());
        Ok(CandidateScores { scale, choices, ..scores })
    }

    /// Refuses scores of several judges: their mean is the score of no judge.
    fn ensure_one_judge(&self, grades: &[Grade], criterion: &str) -> anyhow::Result<()> {
        let is_scored =
            |grade: &&Grade| grade.criterion == criterion && matches!(grade.outcome, Outcome::Scored { .. });
        let judges: BTreeSet<&str> =
            grades.iter().filter(is_scored).map(|grade| grade.grader.name.as_str()).collect();
        let listed = || judges.iter().map(|judge| printable_line(judge)).collect::<Vec<_>>().join(", ");
        match &self.grader {
            Some(name) => anyhow::ensure!(
                judges.contains(name.as_str()),
                "`{criterion}` has no scores by `{name}`; there are scores by {}",
                listed()
            ),
            None => anyhow::ensure!(
                judges.len() < 2,
                "`{criterion}` has scores by {} judges; choose one with --grader: {}",
                judges.len(),
                listed()
            ),
        }
        Ok(())
    }
}

/// The labels of candidates that the judge did not grade. At least one candidate must have a label and a score;
/// otherwise the judge cannot be measured.
pub fn find_unmatched_labels<'a>(
    machine: &CandidateScores,
    people: &'a CandidateScores,
) -> anyhow::Result<Vec<&'a str>> {
    let example = |candidate: &str| format!("`{}`", printable_line(candidate));
    let criterion = example(&machine.criterion);
    let Some(label) = people.numbers.keys().next() else {
        let of = people.without.first().map(|candidate| format!(", such as that of {}", example(candidate)));
        anyhow::bail!(
            "no label of {} is a number or has a scale{}; labels that are choices need a judge whose grades or rubric \
             say what each choice is worth",
            example(&people.criterion),
            of.unwrap_or_default()
        );
    };
    anyhow::ensure!(!machine.numbers.is_empty(), "no grade of {criterion} is a number or has a scale");
    let without: BTreeSet<&str> = machine.without.iter().map(String::as_str).collect();
    let labelled: Vec<&str> = people.numbers.keys().map(String::as_str).collect();
    let has_score = |candidate: &&str| machine.numbers.contains_key(*candidate);
    let is_unmatched = |candidate: &&str| !has_score(candidate) && !without.contains(*candidate);
    let unmatched: Vec<&str> = labelled.iter().copied().filter(is_unmatched).collect();
    if labelled.iter().any(has_score) {
        return Ok(unmatched);
    }
    anyhow::ensure!(
        unmatched.len() == labelled.len(),
        "the judge has no score of {criterion} for any labelled candidate, such as {}",
        example(label)
    );
    let judged = machine.numbers.keys().next().map(|candidate| example(candidate)).unwrap_or_default();
    anyhow::bail!(
        "{} of {criterion} {} no candidate that the judge graded; labels are, for example, of {}, and judge grades of \
         {judged}",
        plural(labelled.len(), "label"),
        if labelled.len() == 1 { "matches" } else { "match" },
        example(label)
    );
}

/// Says how many labels are of candidates that the judge did not grade.
pub fn unmatched_labels_note(unmatched: &[&str]) -> Option<String> {
    let first = unmatched.first()?;
    Some(format!(
        "{} {} no candidate that the judge graded, such as `{}`.",
        plural(unmatched.len(), "label"),
        if unmatched.len() == 1 { "matches" } else { "match" },
        printable_line(first)
    ))
}

/// Grades from files of every kind: runs, grades and annotation exports line by line, tables; or from the database; and
/// the scales that are declared of them. Answers of several annotation tasks are never put together: `task` selects
/// one.
pub fn read_with_scales(
    paths: &[PathBuf],
    task: Option<&str>,
    place: &DatabaseArgs,
) -> anyhow::Result<(Vec<Grade>, DeclaredScales)> {
    let read = read_grade_set(paths, task, &[], place)?;
    Ok((read.grades, read.scales))
}

/// The same, with each part of a judge's answer as a grade of its own, so that it can be compared with people part by
/// part.
pub fn read_with_parts(
    paths: &[PathBuf],
    task: Option<&str>,
    place: &DatabaseArgs,
) -> anyhow::Result<(Vec<Grade>, DeclaredScales)> {
    let (grades, scales) = read_with_scales(paths, task, place)?;
    Ok((grades.into_iter().flat_map(with_parts).collect(), scales))
}

/// Grades of several sources, with other facts from these sources.
#[derive(Default)]
pub struct GradeSet {
    pub grades: Vec<Grade>,
    pub scales: DeclaredScales,
    /// The beginning of each candidate's text, as far as a source has it.
    pub texts: BTreeMap<String, String>,
    /// How each table that names no criterion was read, and what to add.
    pub without_criterion: Vec<String>,
    pub choices: DeclaredChoices,
}

impl GradeSet {
    /// Adds to an error about criteria how tables that name none were read.
    fn explain_reading(&self, error: anyhow::Error) -> anyhow::Error {
        match self.without_criterion.as_slice() {
            [] => error,
            tables => anyhow::anyhow!("{error}; {}", tables.join("; ")),
        }
    }
}

/// Reads grades. In tables, a column with the name of one of the criteria holds labels of that criterion.
pub fn read_grade_set(
    paths: &[PathBuf],
    task: Option<&str>,
    criteria: &[String],
    place: &DatabaseArgs,
) -> anyhow::Result<GradeSet> {
    let mut sources = load_sources(paths, criteria, place)?;
    keep_task(&mut sources, task)?;
    let mut read = GradeSet::default();
    for source in &sources {
        read.scales.extend(source.declared_scales());
        read.choices.extend(source.declared_choices());
        read.texts.extend(source.candidate_texts());
        read.without_criterion.extend(source.without_criterion.clone());
    }
    read.grades = sources.into_iter().flat_map(GradeSource::into_grades).collect();
    anyhow::ensure!(!read.grades.is_empty(), "{}", no_grades(paths));
    Ok(read)
}

/// The graders of final labels of annotation tasks: what was decided, and what everybody answered.
const FINAL_LABELS: [&str; 2] = ["adjudicated", "unanimous"];

/// Whether all grades are final labels, of which each candidate has one, and not answers of persons.
pub fn are_final_labels(graders: &[String]) -> bool {
    !graders.is_empty() && graders.iter().all(|grader| FINAL_LABELS.contains(&grader.as_str()))
}

/// The names of the criteria that were graded.
pub fn list_criteria(grades: &[Grade]) -> Vec<String> {
    let names: BTreeSet<&String> = grades.iter().map(|grade| &grade.criterion).collect();
    names.into_iter().cloned().collect()
}

/// Sorts grades by grader and candidate, so that an interval from resampling does not depend on the order of the input.
/// Repeated grades keep their order, because the first of them counts.
pub fn sort_for_resampling(grades: &mut [Grade]) {
    grades.sort_by(|a, b| (&a.grader.name, &a.candidate).cmp(&(&b.grader.name, &b.candidate)));
}

/// Grades of the requested criterion. A picture has room for one.
pub fn filter_by_criterion(
    grades: Vec<Grade>,
    wanted: Option<&str>,
    output: &AnalysisOutputArgs,
) -> anyhow::Result<Vec<Grade>> {
    let criteria: BTreeSet<&str> = grades.iter().map(|grade| grade.criterion.as_str()).collect();
    let listed = || criteria.iter().copied().collect::<Vec<_>>().join(", ");
    match wanted {
        Some(name) => {
            anyhow::ensure!(
                criteria.contains(name),
                "there is no criterion `{name}`; there are {}",
                listed()
            );
            Ok(grades.into_iter().filter(|grade| grade.criterion == name).collect())
        }
        None => {
            anyhow::ensure!(
                output.chart.is_none() || criteria.len() < 2,
                "a chart shows one criterion; choose it with --criterion: {}",
                listed()
            );
            Ok(grades)
        }
    }
}

/// The requested criterion, or the only one.
pub fn select_criterion<'a>(grades: &'a [Grade], requested: Option<&'a str>) -> anyhow::Result<&'a str> {
    let mut criteria: Vec<&str> = grades.iter().map(|grade| grade.criterion.as_str()).collect();
    criteria.sort_unstable();
    criteria.dedup();
    match (requested, criteria.as_slice()) {
        (Some(name), all) => {
            anyhow::ensure!(all.contains(&name), "`{name}` has no grades; there are {}", all.join(", "));
            Ok(name)
        }
        (None, [only]) => Ok(only),
        (None, all) => {
            anyhow::bail!("there are several criteria; choose one with --criterion: {}", all.join(", "))
        }
    }
}

/// The sampling columns of files, for files that have them.
pub fn read_sampled_candidates(paths: &[PathBuf]) -> anyhow::Result<Vec<SampledCandidate>> {
    let mut all = Vec::new();
    let is_text = |path: &&PathBuf| path.extension().is_none_or(|extension| extension != "parquet");
    for path in paths.iter().filter(|path| path.is_file()).filter(is_text) {
        let name = path.display().to_string();
        let text = read_input(path).with_context(|| format!("cannot read `{name}`"))?;
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("csv" | "tsv") => {
                all.extend(
                    SampledCandidate::of_table(&text, delimiter(path))
                        .with_context(|| format!("`{name}`"))?,
                );
            }
            Some("jsonl") => {
                for (at, line) in text.lines().enumerate() {
                    let candidates =
                        SampledCandidate::of_line(line).with_context(|| format!("`{name}`, line {}", at + 1));
                    all.extend(candidates?);
                }
            }
            _ => {}
        }
    }
    Ok(all)
}
