use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use jurist_core::candidate::{JudgeInput, RecordField, record_field};
use jurist_core::grade::{
    Grade, GradesFileLine, MetadataFields, Outcome, SampledCandidate, ShortGrade, list_ungraded_questions,
    read_labels_table, step_grades, with_parts,
};
use jurist_core::quantity::plural;
use jurist_core::report::{ANNOTATION_TASK, GradeRow, declared_scales, grade_rows};
use jurist_core::rubric::Value;
use jurist_core::run::{CaseResult, Run};
use jurist_core::stats::{Level, Ratings};
use jurist_engine::load::read_input;

use super::judging::wait_for;
use super::reporting::printable_line;
use super::stored_runs::{StoredGradeKind, StoredRuns};
use crate::picture::{ChartFile, parse_chart_file};
use crate::render;

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
}

impl HumanJudgeArgs {
    /// Scores by people, for the judge's criterion if they graded it.
    pub fn people(&self, machine: &CandidateScores) -> anyhow::Result<CandidateScores> {
        let of_judge = std::slice::from_ref(&machine.criterion);
        let read = read_grade_set(&self.human, self.task.as_deref(), of_judge)?;
        let is_graded = read.grades.iter().any(|grade| grade.criterion == machine.criterion);
        let wanted = self.criterion.as_ref().or(Some(&machine.criterion).filter(|_| is_graded));
        let criterion = select_criterion(&read.grades, wanted.map(String::as_str))
            .map_err(|error| read.explain_reading(error))?;
        average_candidate_scores(&read.grades, criterion, None, self.scale)
    }

    pub fn machine(&self) -> anyhow::Result<CandidateScores> {
        // The annotation task is that of people.
        let task = self.task.as_deref().filter(|_| self.human.is_empty());
        let read = read_grade_set(&self.judge, task, &[])?;
        let criterion = select_criterion(&read.grades, self.criterion.as_deref())
            .map_err(|error| read.explain_reading(error))?;
        self.ensure_one_judge(&read.grades, criterion)?;
        average_candidate_scores(&read.grades, criterion, self.grader.as_deref(), self.scale)
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

/// Grades as they were found in one place.
pub struct GradeSource {
    /// As it was named.
    pub name: String,
    held: GradeSourceContents,
    /// The beginning of each candidate's text, where the source has texts apart from the fields of grades.
    texts: BTreeMap<String, String>,
    /// How a table that names no criterion was read, and what to add.
    without_criterion: Option<String>,
}

enum GradeSourceContents {
    /// With everything that a run knows of them.
    Run(Box<Run>, Vec<CaseResult>),
    /// With the other fields of their records.
    Grades(Vec<(Grade, MetadataFields)>),
    /// Not read yet.
    Lines(Arc<str>),
}

/// A grade of a source. Most lines of large files are short and are read without a copy.
pub enum SourceGrade<'a> {
    Short(ShortGrade<'a>),
    Row(GradeRow<'a>),
}

impl GradeSource {
    fn new(name: String, held: GradeSourceContents) -> Self {
        Self { name, held, texts: BTreeMap::new(), without_criterion: None }
    }

    /// Of the candidates, only the beginning of their texts is kept.
    fn of_run(name: String, run: Run) -> Self {
        let mut texts = BTreeMap::new();
        let without_material = |result: CaseResult| {
            if let Some(text) = result.material.response.as_ref().or(result.material.diff.as_ref()) {
                texts.insert(result.candidate.clone(), cut_candidate_text(text));
            }
            CaseResult { material: JudgeInput::default(), ..result }
        };
        let results = run.results.iter().map(without_material).collect();
        Self { texts, ..Self::new(name, GradeSourceContents::Run(Box::new(run), results)) }
    }

    /// The beginning of each candidate's text, as far as the source has it.
    fn candidate_texts(&self) -> BTreeMap<String, String> {
        let mut texts = self.texts.clone();
        if let GradeSourceContents::Grades(all) = &self.held {
            for (grade, fields) in all {
                if let Some(text) = find_response_field(fields) {
                    texts.entry(grade.candidate.clone()).or_insert_with(|| cut_candidate_text(text));
                }
            }
        }
        texts
    }

    pub fn rows(&self) -> Box<dyn Iterator<Item = GradeRow<'_>> + '_> {
        match &self.held {
            GradeSourceContents::Run(run, results) => {
                Box::new(results.iter().flat_map(|result| grade_rows(run, result)))
            }
            GradeSourceContents::Grades(all) => {
                Box::new(all.iter().map(|(grade, fields)| GradeRow { grade, of: None, fields: Some(fields) }))
            }
            GradeSourceContents::Lines(_) => Box::new(std::iter::empty()),
        }
    }

    /// Gives every grade to `each`, a line in memory at a time.
    pub fn for_each_grade(
        &self,
        mut each: impl FnMut(SourceGrade<'_>) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let GradeSourceContents::Lines(text) = &self.held else {
            return self.rows().try_for_each(|row| each(SourceGrade::Row(row)));
        };
        for (at, line) in text.lines().enumerate().filter(|line| !line.1.trim().is_empty()) {
            if let Some(short) = ShortGrade::parse(line) {
                each(SourceGrade::Short(short))?;
                continue;
            }
            for (grade, fields) in parse_source_line(line, at, &self.name)? {
                each(SourceGrade::Row(GradeRow { grade: &grade, of: None, fields: Some(&fields) }))?;
            }
        }
        Ok(())
    }

    /// Whether it holds forms of an annotation task, line by line.
    pub fn has_forms(&self) -> bool {
        matches!(&self.held, GradeSourceContents::Lines(text)
            if text.contains("\"criteria_ratings\"") || text.contains("\"questions\""))
    }

    /// Names the questions of forms whose answers are not grades, so that users know what is left out.
    pub fn note_ungraded_questions(&self) {
        let GradeSourceContents::Lines(text) = &self.held else { return };
        if !self.has_forms() {
            return;
        }
        let found: BTreeSet<String> =
            text.lines().flat_map(list_ungraded_questions).map(|question| question.to_string()).collect();
        if !found.is_empty() {
            let found = found.into_iter().collect::<Vec<_>>().join(", ");
            render::print_note(&format!("`{}`: not included: {}", self.name, printable_line(&found)));
        }
    }

    /// With every line read.
    pub fn load(self) -> anyhow::Result<Self> {
        self.note_ungraded_questions();
        let GradeSourceContents::Lines(text) = &self.held else { return Ok(self) };
        let lines = text.lines().enumerate().filter(|line| !line.1.trim().is_empty());
        let grades =
            lines.map(|(at, line)| parse_source_line(line, at, &self.name)).collect::<Result<Vec<_>, _>>()?;
        let texts = text.lines().filter_map(read_candidate_text).collect();
        Ok(Self { held: GradeSourceContents::Grades(grades.into_iter().flatten().collect()), texts, ..self })
    }

    fn into_grades(self) -> Vec<Grade> {
        match self.held {
            GradeSourceContents::Run(_, results) => {
                results.into_iter().flat_map(|result| result.grades).collect()
            }
            GradeSourceContents::Grades(all) => all.into_iter().map(|it| it.0).collect(),
            GradeSourceContents::Lines(_) => Vec::new(),
        }
    }

    /// What judges answered part by part, where no run holds it.
    pub fn expand_parts(&mut self) {
        if let GradeSourceContents::Grades(all) = &mut self.held {
            let whole = std::mem::take(all);
            let parts = |(grade, fields): (Grade, MetadataFields)| {
                with_parts(grade).into_iter().map(move |grade| (grade, fields.clone()))
            };
            *all = whole.into_iter().flat_map(parts).collect();
        }
    }
}

fn parse_source_line(line: &str, at: usize, name: &str) -> anyhow::Result<Vec<(Grade, MetadataFields)>> {
    let place = || format!("`{name}`, line {}", at + 1);
    let (read, fields) = GradesFileLine::with_fields(line).with_context(place)?;
    let of_line = if let GradesFileLine::Grades(more) = read { more } else { Vec::new() };
    // Only a form holds steps.
    let has_steps = line.contains("\"steps") || line.contains("steps\\\"");
    let steps = if has_steps { step_grades(line).with_context(place)? } else { Vec::new() };
    Ok(of_line.into_iter().chain(steps).map(|grade| (grade, fields.clone())).collect())
}

/// The candidate of a line that holds its text and no grade, and where the text begins.
fn read_candidate_text(line: &str) -> Option<(String, String)> {
    let is_possible = line.contains("\"response\"") && !line.contains("\"criterion\"");
    match is_possible.then(|| GradesFileLine::parse(line))? {
        Ok(GradesFileLine::Candidate { id, response }) => Some((id, cut_candidate_text(&response))),
        _ => None,
    }
}

/// The text of a candidate among the further fields of its grade, such as a column `answer` of a table.
fn find_response_field(fields: &MetadataFields) -> Option<&str> {
    let is_response = |name: &str| record_field(&name.to_lowercase()) == Some(RecordField::Response);
    fields.iter().find_map(|(name, value)| value.as_str().filter(|_| is_response(name.as_str())))
}

/// Characters of a candidate's text that are shown.
const CANDIDATE_TEXT: usize = 100;

/// The beginning of a candidate's text, on one line.
fn cut_candidate_text(text: &str) -> String {
    let start: String = text.chars().take(4 * CANDIDATE_TEXT).collect();
    let line = start.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= CANDIDATE_TEXT {
        return line;
    }
    line.chars().take(CANDIDATE_TEXT).chain(['…']).collect()
}

/// Grades from files of every kind: runs, grades and annotation exports line by line, tables; or from the database.
/// Answers of several annotation tasks are never put together: `task` says which one is meant.
pub fn read_grade_files(paths: &[PathBuf], task: Option<&str>) -> anyhow::Result<Vec<Grade>> {
    Ok(read_with_scales(paths, task)?.0)
}

/// The same with each part of what a judge answered as a grade of its own, to be compared with people part by part.
pub fn read_with_parts(
    paths: &[PathBuf],
    task: Option<&str>,
) -> anyhow::Result<(Vec<Grade>, DeclaredScales)> {
    let (grades, scales) = read_with_scales(paths, task)?;
    Ok((grades.into_iter().flat_map(with_parts).collect(), scales))
}

/// Leaves answers of one annotation task: the one that is asked for, or the only one. What is of no task stays.
pub fn keep_task(sources: &mut [GradeSource], asked: Option<&str>) -> anyhow::Result<()> {
    ensure_one_task(&tasks_of(sources), asked)?;
    if let Some(task) = asked {
        keep_only(sources, task);
    }
    Ok(())
}

/// The task that is asked for is there, or there is one at most.
pub fn ensure_one_task(tasks: &BTreeSet<String>, asked: Option<&str>) -> anyhow::Result<()> {
    let listed = || tasks.iter().map(|task| format!("`{task}`")).collect::<Vec<_>>().join(", ");
    match asked {
        Some(task) => anyhow::ensure!(
            tasks.contains(task),
            "no annotations of a task `{task}` were found; there are {}",
            if tasks.is_empty() { "none of any task".to_owned() } else { listed() }
        ),
        None => anyhow::ensure!(
            tasks.len() < 2,
            "these annotations belong to {} tasks with different candidates; choose one with --task, or export one with `jurist export people --task NAME --out FILE.csv`: {}",
            tasks.len(),
            listed()
        ),
    }
    Ok(())
}

/// Leaves answers of one annotation task, and what is of none.
pub fn keep_only(sources: &mut [GradeSource], task: &str) {
    for source in sources {
        if let GradeSourceContents::Grades(all) = &mut source.held {
            all.retain(|(_, fields)| fields.get(ANNOTATION_TASK).is_none_or(|of| of == task));
        }
    }
}

/// The annotation tasks that answers are of.
pub fn tasks_of(sources: &[GradeSource]) -> BTreeSet<String> {
    let task = |row: GradeRow<'_>| row.fields?.get(ANNOTATION_TASK)?.as_str().map(str::to_owned);
    sources.iter().flat_map(GradeSource::rows).filter_map(task).collect()
}

/// The ends of scales by criterion, as rubrics and tasks declare them.
pub type DeclaredScales = BTreeMap<String, (f64, f64)>;

/// Grades, and the scales that are declared of them.
pub fn read_with_scales(
    paths: &[PathBuf],
    task: Option<&str>,
) -> anyhow::Result<(Vec<Grade>, DeclaredScales)> {
    let read = read_grade_set(paths, task, &[])?;
    Ok((read.grades, read.scales))
}

/// Grades of several sources, and what else these say.
#[derive(Default)]
pub struct GradeSet {
    pub grades: Vec<Grade>,
    pub scales: DeclaredScales,
    /// The beginning of each candidate's text, as far as a source has it.
    pub texts: BTreeMap<String, String>,
    /// How each table that names no criterion was read, and what to add.
    pub without_criterion: Vec<String>,
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
) -> anyhow::Result<GradeSet> {
    let mut sources = load_sources(paths, criteria)?;
    keep_task(&mut sources, task)?;
    let mut read = GradeSet::default();
    for source in &sources {
        match &source.held {
            GradeSourceContents::Run(run, _) => read.scales.extend(declared_scales(run)),
            GradeSourceContents::Grades(all) => {
                read.scales.extend(scales_of_units(all.iter().map(|(grade, _)| grade)));
            }
            GradeSourceContents::Lines(_) => {}
        }
        read.texts.extend(source.candidate_texts());
        read.without_criterion.extend(source.without_criterion.clone());
    }
    read.grades = sources.into_iter().flat_map(GradeSource::into_grades).collect();
    anyhow::ensure!(!read.grades.is_empty(), "{}", no_grades(paths));
    Ok(read)
}

/// The names of the criteria that were graded.
pub fn list_criteria(grades: &[Grade]) -> Vec<String> {
    let names: BTreeSet<&String> = grades.iter().map(|grade| &grade.criterion).collect();
    names.into_iter().cloned().collect()
}

/// The scales of grades that say both their number and where it lies between the ends of its scale. A criterion whose
/// grades do not all fit one scale has none.
fn scales_of_units<'a>(grades: impl Iterator<Item = &'a Grade>) -> DeclaredScales {
    let mut by_criterion: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
    for grade in grades {
        if let Outcome::Scored { value: Value::Number(number), unit: Some(unit) } = &grade.outcome {
            by_criterion.entry(&grade.criterion).or_default().push((*number, *unit));
        }
    }
    let scale = |(criterion, points): (&str, Vec<(f64, f64)>)| {
        let (first, first_unit) = *points.first()?;
        let (other, other_unit) = *points.iter().find(|(_, unit)| 1e-6 < (unit - first_unit).abs())?;
        let span = (other - first) / (other_unit - first_unit);
        // Ends are written with few digits; what is beyond them is rounding.
        let round = |end: f64| (end * 1e6).round() / 1e6;
        let (low, high) = (round(first - first_unit * span), round(first + (1.0 - first_unit) * span));
        let fits = |(number, unit): &(f64, f64)| {
            (low + unit * (high - low) - number).abs() < 1e-6 * span.abs().max(1.0)
        };
        (low < high && points.iter().all(fits)).then(|| (criterion.to_owned(), (low, high)))
    };
    by_criterion.into_iter().filter_map(scale).collect()
}

/// The same with where each of them comes from.
pub fn sources(paths: &[PathBuf]) -> anyhow::Result<Vec<GradeSource>> {
    load_sources(paths, &[])
}

fn load_sources(paths: &[PathBuf], criteria: &[String]) -> anyhow::Result<Vec<GradeSource>> {
    let opened = open_sources_of_criteria(paths, criteria)?;
    let all = opened.into_iter().map(GradeSource::load).collect::<Result<Vec<_>, _>>()?;
    anyhow::ensure!(all.iter().any(|it| it.rows().next().is_some()), "{}", no_grades(paths));
    Ok(all)
}

/// The same, with files of lines as they are.
pub fn open_sources(paths: &[PathBuf]) -> anyhow::Result<Vec<GradeSource>> {
    open_sources_of_criteria(paths, &[])
}

fn open_sources_of_criteria(paths: &[PathBuf], criteria: &[String]) -> anyhow::Result<Vec<GradeSource>> {
    wait_for(async {
        let (runs, mut all) = (StoredRuns::default(), Vec::new());
        for path in expand_folders(paths)? {
            all.push(open_grade_source(&path, &runs, criteria).await?);
        }
        Ok(all)
    })
}

/// Replaces each folder by the .jsonl files in it, by name: the output folder of an annotation task has one per person.
fn expand_folders(paths: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for path in paths {
        let name = path.display().to_string();
        if !path.is_dir() || StoredGradeKind::from_name(&name).is_some() {
            all.push(path.clone());
            continue;
        }
        let entries = std::fs::read_dir(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        let entries = entries.with_context(|| format!("cannot read `{name}`"))?;
        let mut files: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
        files.retain(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
        anyhow::ensure!(!files.is_empty(), "`{name}` is a folder without .jsonl files");
        files.sort();
        all.extend(files);
    }
    Ok(all)
}

/// Says that there are no grades, and where labels come from.
pub fn no_grades(paths: &[PathBuf]) -> String {
    let names: Vec<String> = paths.iter().map(|path| format!("`{}`", path.display())).collect();
    let is_labels = |path: &PathBuf| path.as_os_str() == "labels" && !path.is_file();
    let hint = if paths.iter().any(is_labels) {
        "; annotation tasks make labels: an answer that at least two people gave and no one contradicted, or a decision on the page Disputes"
    } else {
        ""
    };
    format!("there are no grades in {}{hint}", names.join(", "))
}

async fn open_grade_source(
    path: &Path,
    runs: &StoredRuns,
    criteria: &[String],
) -> anyhow::Result<GradeSource> {
    let name = path.display().to_string();
    let is_file = path.is_file() || name == "-";
    if let Some(which) = StoredGradeKind::from_name(&name).filter(|_| !is_file) {
        let grades = runs.load_stored_grades(which).await?;
        return Ok(GradeSource::new(name, GradeSourceContents::Grades(grades)));
    }
    if !is_file || path.extension().is_some_and(|extension| extension == "json") {
        let run = runs.load(&name).await?;
        return Ok(GradeSource::of_run(name, run));
    }
    let text = read_input(path).with_context(|| format!("cannot read `{name}`"))?;
    if path.extension().is_some_and(|extension| extension == "csv" || extension == "tsv") {
        // Labels of one person in a table that does not name the person have the name of the file.
        let person = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy();
        let table = read_labels_table(&text, delimiter(path), criteria, &person)
            .with_context(|| format!("`{name}`"))?;
        if let Some(reading) = &table.reading {
            render::print_note(&format!("`{name}` is {reading}"));
        }
        let without_criterion = table.without_criterion.map(|reading| format!("`{name}` is {reading}"));
        let read = GradeSource::new(name, GradeSourceContents::Grades(table.grades));
        return Ok(GradeSource { without_criterion, ..read });
    }
    Ok(GradeSource::new(name, GradeSourceContents::Lines(text)))
}

/// Grades of the criterion that is asked for. A picture has room for one.
pub fn filter_by_criterion(
    grades: Vec<Grade>,
    wanted: Option<&str>,
    told: &AnalysisOutputArgs,
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
                told.chart.is_none() || criteria.len() < 2,
                "a chart shows one criterion; choose it with --criterion: {}",
                listed()
            );
            Ok(grades)
        }
    }
}

/// Answers of one criterion by everybody, and what the distance between two of them means.
pub struct CriterionRatings<'a> {
    pub criterion: &'a str,
    pub ratings: Ratings,
    pub level: Level,
    /// Further answers of a grader for a candidate, of which the first counts.
    pub n_repeated: usize,
    /// What is odd about the answers, in sentences.
    pub hints: Vec<String>,
    /// The words for no and yes, where the answers are computed with as 0 and 1.
    words: Option<[&'static str; 2]>,
}

impl CriterionRatings<'_> {
    /// Says how many answers were left out because they are not the first.
    pub fn repeated_answers_note(&self) -> Option<String> {
        let again = |n: usize| plural(n, "answer") + if n == 1 { " is" } else { " are" };
        let said = |n| format!("{} excluded: only a grader's first grade of a candidate counts.", again(n));
        Some(self.n_repeated).filter(|n| 0 < *n).map(said)
    }

    /// An answer in the words of the data.
    pub fn answer_word<'w>(&self, label: &'w str) -> &'w str {
        match (self.words, label) {
            (Some([no, _]), "0") => no,
            (Some([_, yes]), "1") => yes,
            _ => label,
        }
    }

    /// Everything to know before the numbers.
    pub fn notes(&self) -> impl Iterator<Item = String> + '_ {
        self.repeated_answers_note().into_iter().chain(self.hints.iter().cloned())
    }
}

/// Groups ratings by criterion, in order of first appearance. Numeric ratings are ordinal by default.
/// A scale from a flag or from the grades also contains the levels that no rater used.
pub fn group_ratings_by_criterion<'a>(
    grades: &'a [Grade],
    level: Option<Level>,
    scale: Option<(f64, f64)>,
    declared: &DeclaredScales,
) -> anyhow::Result<Vec<CriterionRatings<'a>>> {
    let mut order: Vec<&str> = Vec::new();
    let mut entries: BTreeMap<&str, Vec<(&str, &str, Value)>> = BTreeMap::new();
    for grade in grades {
        if let Outcome::Scored { value, .. } = &grade.outcome {
            if !order.contains(&grade.criterion.as_str()) {
                order.push(&grade.criterion);
            }
            let entry = (grade.grader.name.as_str(), grade.candidate.as_str(), value.clone());
            entries.entry(&grade.criterion).or_default().push(entry);
        }
    }
    let mut all = Vec::new();
    for criterion in order {
        let mut entries = entries.remove(criterion).unwrap_or_default();
        let words = unify_yes_and_no(&mut entries);
        let mut hints = Vec::new();
        hints.extend(read_numbers(&mut entries));
        hints.extend(disjoint_answers_hint(&entries));
        let is_ordered = entries.iter().all(|entry| matches!(entry.2, Value::Number(_)));
        let level = level.unwrap_or(if is_ordered { Level::Ordinal } else { Level::Nominal });
        let n_entries = entries.len();
        let ratings = Ratings::of_entries(entries).with_context(|| format!("`{criterion}`"))?;
        let n_repeated = n_entries - ratings.n_ratings();
        // Yes and no have no place on a scale of numbers.
        let are_numbers = is_ordered && ratings.numbers().is_ok();
        let ratings = match (scale, declared.get(criterion)) {
            (Some((low, high)), _) if are_numbers => {
                ratings.on_scale(low, high).with_context(|| format!("`{criterion}`"))?
            }
            (None, Some((low, high))) if are_numbers => match ratings.on_scale(*low, *high) {
                Ok(ratings) => ratings,
                Err(why) => {
                    hints.push(format!("The scale of the rubric is not used: {why}."));
                    ratings
                }
            },
            _ => ratings,
        };
        all.push(CriterionRatings { criterion, ratings, level, n_repeated, hints, words });
    }
    Ok(all)
}

/// Makes answers comparable that are yes or no in several spellings, such as yes and 1. Returns the words for no and yes
/// in the spelling of the first answer, unless the answers are compared as they are written.
fn unify_yes_and_no(entries: &mut [(&str, &str, Value)]) -> Option<[&'static str; 2]> {
    if entries.iter().all(|(_, _, value)| matches!(value, Value::Number(_))) {
        return None;
    }
    let meanings: BTreeSet<bool> =
        entries.iter().map(|(_, _, value)| value.as_yes_or_no()).collect::<Option<_>>()?;
    let spellings: BTreeSet<String> = entries.iter().map(|(_, _, value)| value.to_string()).collect();
    let has_bools = entries.iter().any(|(_, _, value)| matches!(value, Value::Bool(_)));
    if !has_bools && spellings.len() == meanings.len() {
        return None;
    }
    let (_, _, first) = entries.first()?;
    let words = first.no_and_yes();
    for (_, _, value) in entries {
        if let Some(is_yes) = value.as_yes_or_no() {
            *value = Value::Bool(is_yes);
        }
    }
    words
}

/// Takes numbers written as text for numbers, where all answers to a criterion are numbers, and says so.
fn read_numbers(entries: &mut [(&str, &str, Value)]) -> Option<String> {
    let number = |value: &Value| match value {
        Value::Text(text) => text.trim().parse::<f64>().ok().filter(|text| text.is_finite()),
        Value::Number(number) => Some(*number),
        Value::Bool(_) => None,
    };
    let n_texts = entries.iter().filter(|entry| matches!(entry.2, Value::Text(_))).count();
    let n_numbers = entries.iter().filter(|entry| number(&entry.2).is_some()).count();
    let with_comma = |it: &&(&str, &str, Value)| matches!(&it.2, Value::Text(text) if text.trim().replacen(',', ".", 1).parse::<f64>().is_ok());
    let n_commas = entries.iter().filter(with_comma).count()
        - entries.iter().filter(with_comma).filter(|entry| number(&entry.2).is_some()).count();
    if 0 < n_commas {
        return Some(format!(
            "{} with a decimal comma and read as a label; write 0.5 instead of 0,5.",
            is_or_are(n_commas, "answer is written", "answers are written")
        ));
    }
    if n_texts == 0 || n_numbers == 0 {
        return None;
    }
    if n_numbers < entries.len() {
        return Some(format!(
            "{} not a number, so all values are treated as labels.",
            is_or_are(entries.len() - n_numbers, "answer is", "answers are")
        ));
    }
    for entry in entries.iter_mut() {
        if let Some(number) = number(&entry.2) {
            entry.2 = Value::Number(number);
        }
    }
    Some(format!(
        "{}.",
        is_or_are(
            n_texts,
            "number is written as text and read as a number",
            "numbers are written as text and read as numbers"
        )
    ))
}

fn is_or_are(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// Two graders of whom neither ever gives an answer of the other use different words, such as yes and 1.
fn disjoint_answers_hint(entries: &[(&str, &str, Value)]) -> Option<String> {
    let mut words: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (grader, _, value) in entries {
        words.entry(*grader).or_default().insert(value.to_string());
    }
    let all: Vec<(&&str, &BTreeSet<String>)> = words.iter().take(100).collect();
    let is_number = |words: &BTreeSet<String>| words.iter().all(|word| word.parse::<f64>().is_ok());
    let apart = |a: &BTreeSet<String>, b: &BTreeSet<String>| {
        a.is_disjoint(b)
            && (2 <= a.len().min(b.len()) || is_number(a) != is_number(b))
            && !(is_number(a) && is_number(b))
    };
    let listed = |words: &BTreeSet<String>| {
        words.iter().take(3).map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
    };
    let pairs = all.iter().enumerate().flat_map(|(at, a)| all[at + 1..].iter().map(move |b| (a, b)));
    let (a, b) = pairs.into_iter().find(|(a, b)| apart(a.1, b.1))?;
    Some(format!(
        "`{}` and `{}` have no value in common ({} against {}); if these mean the same, use the same spelling.",
        a.0,
        b.0,
        listed(a.1),
        listed(b.1)
    ))
}

/// The ends of a scale, such as `1-5`.
pub fn parse_scale_ends(text: &str) -> Result<(f64, f64), String> {
    let ends = text.split_once('-').and_then(|(low, high)| Some((low.parse().ok()?, high.parse().ok()?)));
    ends.filter(|(low, high)| low < high)
        .ok_or_else(|| "the lowest and highest value of a scale, such as 1-5".to_owned())
}

/// An answer on 0..=1: as it was scored, or by the ends of its scale. What lies off a scale that was given is
/// left out and counted; without a scale, its meaning is unknown.
pub fn unit_score(
    grade: &Grade,
    scale: Option<(f64, f64)>,
    n_off_scale: &mut usize,
) -> anyhow::Result<Option<f64>> {
    let Outcome::Scored { value, unit } = &grade.outcome else { return Ok(None) };
    unit_of_value((&grade.criterion, &grade.candidate), value, *unit, scale, n_off_scale)
}

/// The same of an answer to a criterion about a candidate.
pub fn unit_of_value(
    (criterion, candidate): (&str, &str),
    value: &Value,
    unit: Option<f64>,
    scale: Option<(f64, f64)>,
    n_off_scale: &mut usize,
) -> anyhow::Result<Option<f64>> {
    let number = match (unit, value, scale) {
        (Some(unit), ..) => unit,
        (None, Value::Bool(it), _) => f64::from(u8::from(*it)),
        (None, Value::Number(it), Some((low, high))) => (it - low) / (high - low),
        (None, Value::Number(it), None) => *it,
        (None, Value::Text(_), _) => return Ok(None),
    };
    if (0.0..=1.0).contains(&number) {
        return Ok(Some(number));
    }
    *n_off_scale += 1;
    anyhow::ensure!(
        scale.is_some(),
        "`{criterion}` of `{candidate}` is {value}, which is not between 0 and 1; set the scale, such as --scale 1-5"
    );
    Ok(None)
}

/// A score of the command line, which is on 0 to 1 whatever the scale of the ratings is.
pub fn parse_unit_score(text: &str) -> Result<f64, String> {
    let score = text.parse().ok().filter(|score| (0.0..=1.0).contains(score));
    score.ok_or_else(|| "a number from 0 to 1; a 4 on a scale of 1 to 5 is 0.75".to_owned())
}

/// Says how many answers were left out because they are not on the scale.
pub fn off_scale_note(n: usize, scale: Option<(f64, f64)>) -> Option<String> {
    let (low, high) = scale.filter(|_| 0 < n)?;
    let verb = if n == 1 { "is" } else { "are" };
    Some(format!("{} {verb} not between {low} and {high} and excluded.", plural(n, "answer")))
}

/// One number for each candidate on one criterion: the mean of everybody who scored it.
pub struct CandidateScores {
    pub criterion: String,
    pub numbers: BTreeMap<String, f64>,
    /// Candidates that were graded and have no number.
    pub without: Vec<String>,
    pub n_off_scale: usize,
}

fn average_candidate_scores(
    grades: &[Grade],
    criterion: &str,
    grader: Option<&str>,
    scale: Option<(f64, f64)>,
) -> anyhow::Result<CandidateScores> {
    let is_meant =
        |grade: &&Grade| grade.criterion == criterion && grader.is_none_or(|name| grade.grader.name == name);
    let is_word = |grade: &Grade| matches!(&grade.outcome, Outcome::Scored { value, .. } if !matches!(value, Value::Number(_)));
    // A scale is for numbers: 1 may be its lowest point, but yes is not on it.
    let is_binary = grades.iter().filter(is_meant).all(has_yes_or_no)
        && (scale.is_none() || grades.iter().filter(is_meant).any(is_word));
    let (mut sums, mut n_off_scale) = (BTreeMap::<&str, (f64, f64)>::new(), 0);
    for grade in grades.iter().filter(is_meant) {
        let sum = sums.entry(&grade.candidate).or_default();
        let unit = match &grade.outcome {
            Outcome::Scored { value, unit: None } if is_binary => {
                value.as_yes_or_no().map(|is_yes| f64::from(u8::from(is_yes)))
            }
            _ => unit_score(grade, scale, &mut n_off_scale)?,
        };
        if let Some(unit) = unit {
            (sum.0, sum.1) = (sum.0 + unit, sum.1 + 1.0);
        }
    }
    let without = sums.iter().filter(|sum| sum.1.1 <= 0.0).map(|sum| (*sum.0).to_owned()).collect();
    let scored = sums.iter().filter(|sum| 0.0 < sum.1.1);
    let numbers = scored.map(|(id, (sum, n))| ((*id).to_owned(), sum / n)).collect();
    Ok(CandidateScores { criterion: criterion.to_owned(), numbers, without, n_off_scale })
}

/// Whether a grade is yes or no in any spelling, or has no score.
fn has_yes_or_no(grade: &Grade) -> bool {
    match &grade.outcome {
        Outcome::Scored { value, .. } => value.as_yes_or_no().is_some(),
        _ => true,
    }
}

/// The criterion that is asked for, or the only one.
pub fn select_criterion<'a>(grades: &'a [Grade], asked: Option<&'a str>) -> anyhow::Result<&'a str> {
    let mut criteria: Vec<&str> = grades.iter().map(|grade| grade.criterion.as_str()).collect();
    criteria.sort_unstable();
    criteria.dedup();
    match (asked, criteria.as_slice()) {
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

/// How the candidates of files were sampled, where they say so.
pub fn read_sampled_candidates(paths: &[PathBuf]) -> anyhow::Result<Vec<SampledCandidate>> {
    let mut all = Vec::new();
    for path in paths.iter().filter(|path| path.is_file()) {
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
                    let found =
                        SampledCandidate::of_line(line).with_context(|| format!("`{name}`, line {}", at + 1));
                    all.extend(found?);
                }
            }
            _ => {}
        }
    }
    Ok(all)
}

/// What stands between the cells of a table.
pub fn delimiter(path: &Path) -> u8 {
    if path.extension().is_some_and(|extension| extension == "tsv") { b'\t' } else { b',' }
}
