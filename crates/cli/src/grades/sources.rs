//! Where grades come from: runs, lines of grades, annotation exports, tables and the database.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use jurist_core::candidate::{JudgeInput, RecordField, RecordFields, record_field};
use jurist_core::grade::{
    FORMAT, Grade, Grader, GraderKind, GradesFileLine, MetadataFields, Outcome, Reason, ShortGrade, Spend,
    VerdictStatus, list_ungraded_questions, read_labels_table, step_grades, with_parts,
};
use jurist_core::report::{ANNOTATION_TASK, GradeRow, declared_choices, declared_scales, grade_rows};
use jurist_core::rubric::Value;
use jurist_core::run::{CaseResult, Run};
use jurist_engine::load::read_input;
use jurist_engine::record_file::RecordFile;
use jurist_store::run_labels::StoredRunLabel;
use serde_json::Value as Json;

use super::candidate_scores::ChoiceScores;
use crate::database::DatabaseArgs;
use crate::render;
use crate::reporting::printable_line;
use crate::runtime::wait_for;
use crate::stored_runs::{StoredGradeKind, StoredRuns};

/// Grades from one file, run or table.
pub struct GradeSource {
    /// The name on the command line.
    pub name: String,
    contents: GradeSourceContents,
    /// The beginning of each candidate's text, where the source has texts apart from the fields of grades.
    texts: BTreeMap<String, String>,
    /// How a table that names no criterion was read, and what to add.
    pub without_criterion: Option<String>,
    /// The names of the annotation tasks of the database by their ids.
    tasks: BTreeMap<String, String>,
}

enum GradeSourceContents {
    /// With all facts of the run.
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
    fn new(name: String, contents: GradeSourceContents) -> Self {
        Self { name, contents, texts: BTreeMap::new(), without_criterion: None, tasks: BTreeMap::new() }
    }

    /// Only the beginning of each candidate's text is in memory. Cases that people labelled have two more grades: the
    /// label and the verdict.
    fn of_run(name: String, run: Run, labels: &[StoredRunLabel]) -> Self {
        let mut texts = BTreeMap::new();
        let mut by_case: BTreeMap<&str, Vec<&StoredRunLabel>> = BTreeMap::new();
        for label in labels {
            by_case.entry(&label.case).or_default().push(label);
        }
        let without_material = |mut result: CaseResult| {
            if let Some(text) = result.material.response.as_ref().or(result.material.diff.as_ref()) {
                texts.insert(result.candidate.clone(), cut_candidate_text(text));
            }
            if let Some(labels) = by_case.get(result.case.as_str()) {
                let more = grade_overall_verdict(&result, labels);
                result.grades.extend(more);
            }
            CaseResult { material: JudgeInput::default(), ..result }
        };
        let results = run.results.iter().map(without_material).collect();
        Self { texts, ..Self::new(name, GradeSourceContents::Run(Box::new(run), results)) }
    }

    /// The beginning of each candidate's text, as far as the source has it.
    pub fn candidate_texts(&self) -> BTreeMap<String, String> {
        let mut texts = self.texts.clone();
        if let GradeSourceContents::Grades(all) = &self.contents {
            for (grade, fields) in all {
                if let Some(text) = find_response_field(fields) {
                    texts.entry(grade.candidate.clone()).or_insert_with(|| cut_candidate_text(text));
                }
            }
        }
        texts
    }

    /// The scales that the rubrics of a run declare, or that the grades of a file show.
    pub fn declared_scales(&self) -> DeclaredScales {
        match &self.contents {
            GradeSourceContents::Run(run, _) => declared_scales(run),
            GradeSourceContents::Grades(all) => scales_of_units(all.iter().map(|(grade, _)| grade)),
            GradeSourceContents::Lines(_) => DeclaredScales::new(),
        }
    }

    /// What each choice is worth from 0 to 1, by criterion, as the rubrics of a run declare it.
    pub fn declared_choices(&self) -> DeclaredChoices {
        match &self.contents {
            GradeSourceContents::Run(run, _) => declared_choices(run),
            GradeSourceContents::Grades(_) | GradeSourceContents::Lines(_) => DeclaredChoices::new(),
        }
    }

    pub fn rows(&self) -> Box<dyn Iterator<Item = GradeRow<'_>> + '_> {
        match &self.contents {
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
        let GradeSourceContents::Lines(text) = &self.contents else {
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

    /// Whether its lines are forms of an annotation task.
    pub fn has_forms(&self) -> bool {
        matches!(&self.contents, GradeSourceContents::Lines(text)
            if text.contains("\"criteria_ratings\"") || text.contains("\"questions\""))
    }

    /// Names the questions whose answers are not grades, so that users know what is left out.
    pub fn note_ungraded_questions(&self) {
        let GradeSourceContents::Lines(text) = &self.contents else { return };
        if !self.has_forms() {
            return;
        }
        let questions: BTreeSet<String> =
            text.lines().flat_map(list_ungraded_questions).map(|question| question.to_string()).collect();
        if !questions.is_empty() {
            let questions = questions.into_iter().collect::<Vec<_>>().join(", ");
            render::print_note(&format!("`{}`: not included: {}", self.name, printable_line(&questions)));
        }
    }

    /// With every line read.
    pub fn load(self) -> anyhow::Result<Self> {
        self.note_ungraded_questions();
        let GradeSourceContents::Lines(text) = &self.contents else { return Ok(self) };
        let lines = text.lines().enumerate().filter(|line| !line.1.trim().is_empty());
        let grades =
            lines.map(|(at, line)| parse_source_line(line, at, &self.name)).collect::<Result<Vec<_>, _>>()?;
        let texts = text.lines().filter_map(read_candidate_text).collect();
        Ok(Self {
            contents: GradeSourceContents::Grades(grades.into_iter().flatten().collect()),
            texts,
            ..self
        })
    }

    pub fn into_grades(self) -> Vec<Grade> {
        match self.contents {
            GradeSourceContents::Run(_, results) => {
                results.into_iter().flat_map(|result| result.grades).collect()
            }
            GradeSourceContents::Grades(all) => all.into_iter().map(|(grade, _)| grade).collect(),
            GradeSourceContents::Lines(_) => Vec::new(),
        }
    }

    /// Adds the parts of judges' answers as grades. Sources that are runs have them already.
    pub fn expand_parts(&mut self) {
        if let GradeSourceContents::Grades(all) = &mut self.contents {
            let whole = std::mem::take(all);
            let parts = |(grade, fields): (Grade, MetadataFields)| {
                with_parts(grade).into_iter().map(move |grade| (grade, fields.clone()))
            };
            *all = whole.into_iter().flat_map(parts).collect();
        }
    }
}

/// The criterion of labels of a run's cases, and of the verdicts that they are compared with.
const OVERALL_VERDICT: &str = "overall verdict";

/// Whether a grade is a label that a person gave a case of a run.
pub fn is_case_label(grade: &Grade) -> bool {
    grade.grader.kind == GraderKind::Human && grade.criterion == OVERALL_VERDICT
}

/// The labels of a case as grades of people, and its verdict as that of a judge. A case without a verdict has no such
/// grade: a failure is not a score.
fn grade_overall_verdict(result: &CaseResult, labels: &[&StoredRunLabel]) -> Vec<Grade> {
    let grade = |kind: GraderKind, name: &str, is_passed: bool| Grade {
        format: FORMAT,
        candidate: result.candidate.clone(),
        // Verdicts of all rubrics are compared together.
        rubric: None,
        criterion: OVERALL_VERDICT.to_owned(),
        grader: Grader { kind, name: name.to_owned(), configuration: None },
        outcome: Outcome::Scored {
            value: Value::Bool(is_passed),
            unit: Some(if is_passed { 1.0 } else { 0.0 }),
        },
        reason: Reason::default(),
        evidence: Vec::new(),
        points: Vec::new(),
        flags: Vec::new(),
        spend: Spend::default(),
        time: None,
        attempts: Vec::new(),
    };
    let is_passed = match result.verdict.status {
        VerdictStatus::Pass => Some(true),
        VerdictStatus::Fail => Some(false),
        VerdictStatus::Error | VerdictStatus::Deferred => None,
    };
    let verdict = is_passed.map(|is_passed| grade(GraderKind::Judge, "verdict", is_passed));
    let people = labels.iter().map(|label| Grade {
        reason: Reason::new(&label.comment),
        time: Some(label.time),
        ..grade(GraderKind::Human, label.author_name.as_deref().unwrap_or("local user"), label.is_passed)
    });
    verdict.into_iter().chain(people).collect()
}

fn parse_source_line(line: &str, at: usize, name: &str) -> anyhow::Result<Vec<(Grade, MetadataFields)>> {
    let place = || format!("`{name}`, line {}", at + 1);
    let (read, fields) = GradesFileLine::with_fields(line).with_context(place)?;
    let of_line = if let GradesFileLine::Grades(more) = read { more } else { Vec::new() };
    // Only a form has steps.
    let has_steps = line.contains("\"steps") || line.contains("steps\\\"");
    let steps = if has_steps { step_grades(line).with_context(place)? } else { Vec::new() };
    Ok(of_line.into_iter().chain(steps).map(|grade| (grade, fields.clone())).collect())
}

/// The candidate and the beginning of its text, for a line with a text and no grade.
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

/// Characters of a candidate's text that are printed.
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

/// The beginning of the response of each record, by the name that `jurist grade` gives the record.
pub fn read_record_texts(paths: &[PathBuf]) -> anyhow::Result<BTreeMap<String, String>> {
    let mut texts = BTreeMap::new();
    for path in paths {
        let mut file = RecordFile::open(path)?;
        while let Some(raw) = file.next_record()? {
            let record = raw.parse().map_err(|error| anyhow::anyhow!("{}: {error}", raw.place()))?;
            let fields = RecordFields::read(&record);
            let name = match fields.non_null_value(RecordField::Id) {
                Some(Json::String(id)) => id.clone(),
                Some(id) => id.to_string(),
                None => raw.place(),
            };
            let response = fields.non_null_value(RecordField::Response).and_then(Json::as_str);
            texts.extend(response.map(|text| (name, cut_candidate_text(text))));
        }
    }
    Ok(texts)
}

/// The ends of scales by criterion, as rubrics and tasks declare them.
pub type DeclaredScales = BTreeMap<String, (f64, f64)>;

/// What each choice is worth from 0 to 1, by criterion.
pub type DeclaredChoices = BTreeMap<String, ChoiceScores>;

/// The scales of criteria about which no two sources differ.
pub fn agreed_scales(sources: &[GradeSource]) -> DeclaredScales {
    let mut scales: BTreeMap<String, Option<(f64, f64)>> = BTreeMap::new();
    for (criterion, ends) in sources.iter().flat_map(GradeSource::declared_scales) {
        let known = scales.entry(criterion).or_insert(Some(ends));
        *known = known.filter(|known| *known == ends);
    }
    scales.into_iter().filter_map(|(criterion, ends)| Some((criterion, ends?))).collect()
}

/// The scales of grades that have both a number and its position between the ends of the scale. A criterion whose
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

/// Leaves answers of one annotation task: the requested one, or the only one. Answers without a task stay.
pub fn keep_task(sources: &mut [GradeSource], requested: Option<&str>) -> anyhow::Result<()> {
    let requested = requested.map(|requested| find_task_name(sources, requested)).transpose()?;
    ensure_one_task(&tasks_of(sources), requested.as_deref())?;
    if let Some(task) = &requested {
        keep_only(sources, task);
    }
    Ok(())
}

/// The name of an annotation task in answers, for its name or its id. Of tasks with the same name, the one with answers
/// is chosen. An unknown name is returned as it is.
pub fn find_task_name(sources: &[GradeSource], requested: &str) -> anyhow::Result<String> {
    let tasks = tasks_of(sources);
    if tasks.contains(requested) {
        return Ok(requested.to_owned());
    }
    if let Some(name) = sources.iter().find_map(|source| source.tasks.get(requested)) {
        return Ok(name.clone());
    }
    let called: Vec<&String> = tasks.iter().filter(|task| is_task_called(task, requested)).collect();
    match called.as_slice() {
        [] => Ok(requested.to_owned()),
        [only] => Ok((*only).clone()),
        matches => {
            let names: Vec<String> = matches.iter().map(|name| format!("`{name}`")).collect();
            anyhow::bail!(
                "several annotation tasks are called `{requested}`; choose one by its id: {}",
                names.join(", ")
            )
        }
    }
}

/// Whether a task has this name or this id. It is called `NAME (ID)` if another task has the same name.
fn is_task_called(task: &str, name_or_id: &str) -> bool {
    let parts = task.strip_suffix(')').and_then(|task| task.rsplit_once(" ("));
    parts.is_some_and(|(name, id)| name == name_or_id || id == name_or_id)
}

/// Refuses a task without answers, and answers of more than one task if none is requested.
pub fn ensure_one_task(tasks: &BTreeSet<String>, requested: Option<&str>) -> anyhow::Result<()> {
    let listed = || tasks.iter().map(|task| format!("`{task}`")).collect::<Vec<_>>().join(", ");
    match requested {
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
        if let GradeSourceContents::Grades(all) = &mut source.contents {
            all.retain(|(_, fields)| fields.get(ANNOTATION_TASK).is_none_or(|of| of == task));
        }
    }
}

/// The annotation tasks that answers are of.
pub fn tasks_of(sources: &[GradeSource]) -> BTreeSet<String> {
    let task = |row: GradeRow<'_>| row.fields?.get(ANNOTATION_TASK)?.as_str().map(str::to_owned);
    sources.iter().flat_map(GradeSource::rows).filter_map(task).collect()
}

/// Grades from files of every kind or from the database, with where each of them comes from.
pub fn sources(paths: &[PathBuf], place: &DatabaseArgs) -> anyhow::Result<Vec<GradeSource>> {
    load_sources(paths, &[], place)
}

/// The same. In tables, a column with the name of one of the criteria holds labels of that criterion.
pub fn load_sources(
    paths: &[PathBuf],
    criteria: &[String],
    place: &DatabaseArgs,
) -> anyhow::Result<Vec<GradeSource>> {
    let opened = open_sources_of_criteria(paths, criteria, place)?;
    let all = opened.into_iter().map(GradeSource::load).collect::<Result<Vec<_>, _>>()?;
    anyhow::ensure!(all.iter().any(|source| source.rows().next().is_some()), "{}", no_grades(paths));
    Ok(all)
}

/// The same, with files of lines as they are.
pub fn open_sources(paths: &[PathBuf], place: &DatabaseArgs) -> anyhow::Result<Vec<GradeSource>> {
    open_sources_of_criteria(paths, &[], place)
}

fn open_sources_of_criteria(
    paths: &[PathBuf],
    criteria: &[String],
    place: &DatabaseArgs,
) -> anyhow::Result<Vec<GradeSource>> {
    wait_for(async {
        let (runs, mut all) = (StoredRuns::of_database(place), Vec::new());
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
        let tasks = match which {
            StoredGradeKind::People | StoredGradeKind::Labels => runs.task_names_by_id().await?,
            StoredGradeKind::Judges => BTreeMap::new(),
        };
        let read = GradeSource::new(name, GradeSourceContents::Grades(grades));
        return Ok(GradeSource { tasks, ..read });
    }
    if !is_file || path.extension().is_some_and(|extension| extension == "json") {
        let (run, labels) = (runs.load(&name).await?, runs.load_run_labels(&name).await?);
        return Ok(GradeSource::of_run(name, run, &labels));
    }
    if path.extension().is_some_and(|extension| extension == "parquet") {
        let lines = read_parquet_lines(path).with_context(|| format!("cannot read `{name}`"))?;
        return Ok(GradeSource::new(name, GradeSourceContents::Lines(lines.into())));
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

/// The rows of a Parquet table that `jurist export` wrote, as the lines that it writes as JSON.
#[cfg(feature = "parquet")]
fn read_parquet_lines(path: &Path) -> anyhow::Result<String> {
    use std::io::Read as _;

    let mut bytes = Vec::new();
    jurist_engine::load::open_file(path)?.read_to_end(&mut bytes)?;
    let rows = jurist_server::parquet::read_parquet_rows(bytes, usize::MAX)?;
    let lines: Vec<String> = rows.into_iter().map(|row| restore_exported_row(row).to_string()).collect();
    Ok(lines.join("\n"))
}

#[cfg(not(feature = "parquet"))]
fn read_parquet_lines(_: &Path) -> anyhow::Result<String> {
    anyhow::bail!("this program was built without Parquet")
}

/// Restores what a Parquet table has as text: nested values, and the time, which its reader writes with spaces.
#[cfg(feature = "parquet")]
fn restore_exported_row(mut row: Json) -> Json {
    for name in ["evidence", "points", "attempts", "metadata", "flags"] {
        let nested = row[name].as_str().and_then(|text| serde_json::from_str(text).ok());
        if let Some(nested) = nested {
            row[name] = nested;
        }
    }
    if let Some(text) = row["time"].as_str() {
        let time = text.replacen(' ', "T", 1).replace(' ', "");
        row["time"] =
            if jurist_core::quantity::Time::parse(&time).is_ok() { time.into() } else { Json::Null };
    }
    row
}

/// The character between the cells of a table.
pub fn delimiter(path: &Path) -> u8 {
    if path.extension().is_some_and(|extension| extension == "tsv") { b'\t' } else { b',' }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_found_by_its_name_or_its_id() {
        let source = |task: &str| {
            let line = format!(
                r#"{{"candidate": "a", "criterion": "b", "value": 1, "metadata": {{"annotation_task": "{task}"}}}}"#
            );
            let read = GradeSource::new("people".to_owned(), GradeSourceContents::Lines(line.into()));
            read.load().unwrap()
        };
        let mut sources = vec![source("Replies"), source("Tone (task_1)")];
        sources[0].tasks = BTreeMap::from([("task_0".to_owned(), "Replies".to_owned())]);
        let task_name = |requested: &str| find_task_name(&sources, requested).unwrap();
        assert_eq!(task_name("Replies"), "Replies");
        assert_eq!(task_name("task_0"), "Replies");
        for requested in ["Tone (task_1)", "Tone", "task_1"] {
            assert_eq!(task_name(requested), "Tone (task_1)");
        }
        assert_eq!(task_name("Other"), "Other");
        sources.push(source("Tone (task_2)"));
        let error = find_task_name(&sources, "Tone").unwrap_err().to_string();
        assert!(error.ends_with("choose one by its id: `Tone (task_1)`, `Tone (task_2)`"), "{error}");
    }
}
