mod task_results;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use jurist_core::chart::{
    Bar, Bars, Chart, Distribution, DistributionLayer, MeasuredValue, Radar, RadarSeries, Tone,
};
use jurist_core::grade::{Outcome, ShortGrade, part_of};
use jurist_core::quantity::plural;
use jurist_core::report::{ANNOTATION_TASK, COLUMNS, ColumnKind, GradeRow, format_on_scale, grade_rows};
use jurist_core::rubric::Value;
use jurist_core::stats::by_name::{computable, compute_problem, compute_statistic};
use jurist_core::stats::summaries::{
    ScoreDistribution, ScoreEntry, ScoreField, ScoreTable, find_score_warnings,
};
use jurist_engine::load::read_input;
use serde_json::{Value as Json, json};

use self::task_results::show_task_results;
use crate::database::DatabaseArgs;
use crate::grades::AnalysisOutputArgs;
use crate::grades::candidate_scores::{
    UNIT_SCALE, off_scale_note, parse_scale_ends, unit_of_value, unit_score,
};
use crate::grades::sources::{
    DeclaredScales, GradeSource, SourceGrade, agreed_scales, ensure_one_task, find_task_name, no_grades,
    open_sources,
};
use crate::outcome::CommandOutcome;
use crate::render;
use crate::reporting::printable_line;

/// Summarise grades: means, intervals, distributions
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  jurist stats latest
  jurist stats latest --by agent --chart agents.png --picture radar
  jurist stats before.json after.json --by file
  jurist stats ratings.csv --scale 1-5 --by grader --chart means.svg
  jurist stats --task 'Coding agents' --by agent --chart agents.png
                                         Human annotations, on their own scales
  jurist stats compute problems.jsonl    Any estimator by name

FIELD is a column of `jurist export`, such as criterion, grader, rubric, case,
run or agent; `file`; or a metadata field of a case, a data row, a grade or a
table. FILE is read as by `jurist agree`."
)]
pub struct StatsArgs {
    #[command(subcommand)]
    what: Option<StatsSubcommand>,
    /// Runs, grades, annotation exports or tables
    #[arg(value_name = "FILE", required_unless_present = "task")]
    files: Vec<PathBuf>,
    /// Use the annotations of this task: from the database, or only this task's from FILE
    #[arg(long, value_name = "NAME")]
    task: Option<String>,
    /// Group by this field: criterion, grader, agent, or any metadata field
    #[arg(long, value_name = "FIELD", default_value = "criterion")]
    by: String,
    /// Chart type: means with intervals, a radar of criteria per group, or the distribution of scores
    #[arg(long, value_enum, default_value = "bars", requires = "chart")]
    picture: StatsChartKind,
    /// Lowest and highest value of scores that are not on 0 to 1, such as 1-5
    #[arg(long, value_name = "MIN-MAX", value_parser = parse_scale_ends)]
    scale: Option<(f64, f64)>,
    #[command(flatten)]
    place: DatabaseArgs,
    #[command(flatten)]
    output: AnalysisOutputArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum StatsChartKind {
    Bars,
    Radar,
    Distribution,
}

#[derive(Debug, clap::Subcommand)]
enum StatsSubcommand {
    /// Compute estimators by name, one JSON problem per line
    #[command(after_help = "\
Examples:
  jurist stats compute problems.jsonl
  head -n 3 problems.jsonl | jurist stats compute -

A line is one of these; the first is wrapped here:
  {\"family\": \"krippendorff_alpha\",
   \"input\": {\"ratings\": [[1, 2, null], [1, 2, 3]], \"level\": \"ordinal\"}}
  {\"fn\": \"cohen_kappa\", \"args\": [[\"a\", \"b\"], [\"a\", \"b\"]]}
An `id` is repeated in the result.
A result is {\"result\": …}, {\"undefined\": \"because …\"} or {\"error\": …}.")]
    Compute {
        /// Problems, one JSON object per line
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

pub fn run_stats_command(args: &StatsArgs) -> anyhow::Result<CommandOutcome> {
    match &args.what {
        Some(StatsSubcommand::Compute { file }) => run_stats_compute(file),
        None => match &args.task {
            Some(task) if args.files.is_empty() => {
                let by = Some(args.by.as_str()).filter(|by| *by != CRITERION);
                show_task_results(task, by, &args.place, &args.output)
            }
            _ => describe_grades(args),
        },
    }
}

fn describe_grades(args: &StatsArgs) -> anyhow::Result<CommandOutcome> {
    let sources = open_sources(&args.files, &args.place)?;
    let task = args.task.as_deref().map(|task| find_task_name(&sources, task)).transpose()?;
    sources.iter().for_each(GradeSource::note_ungraded_questions);
    let CollectedScores {
        scale,
        scored,
        verdicts,
        labels,
        unscored,
        without,
        n_off_scale,
        other_scale_groups,
        other_scale_criteria,
    } = match collect_scores(&sources, args, task.as_deref(), args.scale) {
        // Answers of annotation tasks do not name their scale.
        Err(error) if args.scale.is_none() => {
            let Some((low, high)) = ends_of_forms(&sources)? else { return Err(error) };
            render::print_note(&format!(
                "the scale is assumed to be {low} to {high}, the lowest and highest rating; set it with --scale"
            ));
            collect_scores(&sources, args, task.as_deref(), Some((low, high)))?
        }
        scores => scores?,
    };
    let declared = if args.by == CRITERION { agreed_scales(&sources) } else { DeclaredScales::new() };
    let own_scale = |name: &str| {
        let is_on_scale = name != WEIGHTED && !other_scale_groups.contains(name);
        declared.get(name).copied().or(scale.filter(|_| is_on_scale)).filter(|ends| *ends != UNIT_SCALE)
    };
    let groups = scored.describe_by(ScoreField::Group);
    anyhow::ensure!(
        0 < scored.len() + without + unscored + n_off_scale + labels.len(),
        "{}",
        no_grades(&args.files)
    );
    anyhow::ensure!(0 < scored.len() + without + labels.len(), "no grade is a number or has a scale");
    if groups.is_empty() && labels.is_empty() {
        let sources = sources.into_iter().map(GradeSource::load).collect::<Result<Vec<_>, _>>()?;
        anyhow::bail!("no grade has a field `{}`; there are {}", args.by, fields(&sources).join(", "));
    }
    let weighted = verdicts.describe_by(ScoreField::Group);
    let warnings = find_score_warnings(&scored);
    let mut out = render::stdout();
    if args.output.json {
        let described = |groups: &[(String, ScoreDistribution)]| {
            let all = groups.iter().map(|(name, score_distribution)| {
                Ok((name.clone(), serde_json::to_value(score_distribution)?))
            });
            all.collect::<Result<serde_json::Map<String, Json>, serde_json::Error>>()
        };
        let left_out = json!({ "without_score": unscored, "without_field": without });
        let report = json!({
            "by": args.by, "groups": described(&groups)?, "weighted": described(&weighted)?,
            "labels": labels, "left_out": left_out, "warnings": warnings,
        });
        writeln!(out, "{}", serde_json::to_string_pretty(&report)?)?;
    } else {
        match args.by.as_str() {
            _ if groups.is_empty() => {}
            CRITERION => {
                show_descriptions(&mut out, &[groups.as_slice(), weighted.as_slice()].concat(), own_scale)?;
            }
            _ if weighted.is_empty() => show_descriptions(&mut out, &groups, own_scale)?,
            _ => {
                writeln!(out, "All criteria alike:")?;
                show_descriptions(&mut out, &groups, own_scale)?;
                writeln!(out, "\nWeighted by the rubric:")?;
                show_descriptions(&mut out, &weighted, |_| None)?;
            }
        }
        show_label_counts(&mut out, &labels)?;
        let left_out =
            [(unscored, "without a score".to_owned()), (without, format!("without `{}`", args.by))];
        let left_out: Vec<String> = left_out
            .iter()
            .filter(|(n, _)| 0 < *n)
            .map(|(n, why)| format!("{} {}", plural(*n, "grade"), printable_line(why)))
            .collect();
        if !left_out.is_empty() {
            writeln!(out, "left out: {}", left_out.join(", "))?;
        }
        let left_out = off_scale_note(n_off_scale, scale);
        for warning in warnings.iter().map(ToString::to_string).chain(left_out) {
            writeln!(out, "\x1b[33m{}\x1b[0m", printable_line(&warning))?;
        }
    }
    if let Some(picture) = &args.output.chart {
        picture.draw(&match args.picture {
            StatsChartKind::Bars => build_means_chart(&groups, &args.by, own_scale),
            StatsChartKind::Radar => {
                let declared = agreed_scales(&sources);
                let criterion_scale = |criterion: &str| {
                    let is_on_scale = !other_scale_criteria.contains(criterion);
                    declared.get(criterion).copied().or(scale.filter(|_| is_on_scale))
                };
                build_score_radar(&scored, args, criterion_scale)
            }
            StatsChartKind::Distribution => distribution(&groups, &args.by, own_scale),
        })?;
    }
    Ok(CommandOutcome::Passed)
}

/// What is described, and how many grades are not.
#[derive(Default)]
struct CollectedScores {
    /// The ends of the scale of numbers that are not on 0 to 1.
    scale: Option<(f64, f64)>,
    scored: ScoreTable,
    /// What the rubrics of runs make of them, a score for each verdict.
    verdicts: ScoreTable,
    /// How often each label was given, by criterion; labels have no mean.
    labels: BTreeMap<String, BTreeMap<String, usize>>,
    /// Grades that are no score: failed, deferred.
    unscored: usize,
    /// Groups with an answer that is yes or no, or that has a scale of its own.
    other_scale_groups: BTreeSet<String>,
    /// Criteria with such an answer.
    other_scale_criteria: BTreeSet<String>,
    /// Scores without the field that they are grouped by.
    without: usize,
    n_off_scale: usize,
}

fn collect_scores(
    sources: &[GradeSource],
    args: &StatsArgs,
    chosen_task: Option<&str>,
    scale: Option<(f64, f64)>,
) -> anyhow::Result<CollectedScores> {
    let (mut scores, mut tasks) = (CollectedScores { scale, ..CollectedScores::default() }, BTreeSet::new());
    for source in sources {
        let mut last = None;
        source.for_each_grade(|grade| match grade {
            SourceGrade::Short(short) => scores.add_short(short, &source.name, args),
            SourceGrade::Row(row) => {
                let task = row.fields.and_then(|fields| fields.get(ANNOTATION_TASK)).and_then(Json::as_str);
                tasks.extend(task.map(str::to_owned));
                let is_of_other_task = chosen_task.is_some() && task.is_some() && task != chosen_task;
                // The total contains the score of the parts.
                if is_of_other_task || part_of(&row.grade.criterion).is_some() {
                    return Ok(());
                }
                // Grades of one result follow each other.
                let result = row.of.map(|(_, result)| std::ptr::from_ref(result));
                if result.is_some() && result != last {
                    last = result;
                    scores.add_verdict(&row, &source.name, args);
                }
                scores.add_row(&row, &source.name, args)
            }
        })?;
    }
    ensure_one_task(&tasks, chosen_task)?;
    Ok(scores)
}

/// The lowest and the highest rating in forms of annotation tasks; nothing if a source contains anything else.
fn ends_of_forms(sources: &[GradeSource]) -> anyhow::Result<Option<(f64, f64)>> {
    if !sources.iter().all(GradeSource::has_forms) {
        return Ok(None);
    }
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for source in sources {
        source.for_each_grade(|grade| {
            if let SourceGrade::Row(row) = grade
                // Plain questions have values on a scale of their own.
                && let Outcome::Scored { value: Value::Number(number), unit: None } = &row.grade.outcome
            {
                (low, high) = (low.min(*number), high.max(*number));
            }
            Ok(())
        })?;
    }
    Ok((low < high).then_some((low, high)))
}

/// The largest number of labels that are printed for a criterion; `--json` has all of them.
const MOST_LABELS: usize = 12;

fn show_label_counts(
    out: &mut impl Write,
    labels: &BTreeMap<String, BTreeMap<String, usize>>,
) -> anyhow::Result<()> {
    for (criterion, counts) in labels {
        let mut counts: Vec<(&String, &usize)> = counts.iter().collect();
        counts.sort_by(|(_, a), (_, b)| b.cmp(a));
        let n: usize = counts.iter().map(|(_, n)| *n).sum();
        let parts =
            counts.iter().take(MOST_LABELS).map(|(label, n)| format!("{} {n}", printable_line(label)));
        let mut parts: Vec<String> = parts.collect();
        if MOST_LABELS < counts.len() {
            parts.push(format!("{} more", counts.len() - MOST_LABELS));
        }
        let criterion = printable_line(criterion);
        writeln!(out, "{criterion} (labels, no mean): {}  ({})", parts.join(", "), plural(n, "answer"))?;
    }
    Ok(())
}

impl CollectedScores {
    fn add_short(&mut self, short: ShortGrade<'_>, file: &str, args: &StatsArgs) -> anyhow::Result<()> {
        if matches!(short.value, Value::Text(_)) {
            let grade = short.into_grade();
            return self.add_row(&GradeRow { grade: &grade, of: None, fields: None }, file, args);
        }
        let group = match args.by.as_str() {
            CRITERION => &*short.criterion,
            FILE => file,
            "grader" => &*short.grader,
            "candidate" => &*short.candidate,
            _ => {
                let grade = short.into_grade();
                return self.add_row(&GradeRow { grade: &grade, of: None, fields: None }, file, args);
            }
        };
        let about = (&*short.criterion, &*short.candidate);
        let n_before = self.n_off_scale;
        let Some(unit) = unit_of_value(about, &short.value, None, self.scale, &mut self.n_off_scale)? else {
            self.unscored += usize::from(self.n_off_scale == n_before);
            return Ok(());
        };
        if !matches!(short.value, Value::Number(_)) {
            self.note_other_scale(&short.criterion, group);
        }
        let (case, candidate) = (&*short.candidate, &*short.candidate);
        let (grader, criterion) = (&*short.grader, &*short.criterion);
        self.scored.push(&ScoreEntry { case, candidate, grader, criterion, file, group, unit });
        Ok(())
    }

    fn add_row(&mut self, row: &GradeRow<'_>, file: &str, args: &StatsArgs) -> anyhow::Result<()> {
        if let Outcome::Scored { value: Value::Text(label), unit: None } = &row.grade.outcome {
            let counts = self.labels.entry(row.grade.criterion.clone()).or_default();
            *counts.entry(label.clone()).or_default() += 1;
            return Ok(());
        }
        let n_before = self.n_off_scale;
        let Some(unit) = unit_score(row.grade, self.scale, &mut self.n_off_scale)? else {
            self.unscored += usize::from(self.n_off_scale == n_before);
            return Ok(());
        };
        let values = if args.by == FILE { vec![file.to_owned()] } else { row.grouping_values(&args.by) };
        self.without += usize::from(values.is_empty());
        if !matches!(&row.grade.outcome, Outcome::Scored { value: Value::Number(_), unit: None }) {
            values.iter().for_each(|value| self.note_other_scale(&row.grade.criterion, value));
        }
        // An item with several tags counts for each of them.
        for value in &values {
            self.scored.push(&ScoreEntry {
                case: row.of.map_or(row.grade.candidate.as_str(), |it| it.1.base()),
                candidate: &row.grade.candidate,
                grader: &row.grade.grader.name,
                criterion: &row.grade.criterion,
                file,
                group: value,
                unit,
            });
        }
        Ok(())
    }

    /// Notes an answer that is not a number on the scale.
    fn note_other_scale(&mut self, criterion: &str, group: &str) {
        let noted = [(&mut self.other_scale_criteria, criterion), (&mut self.other_scale_groups, group)];
        for (names, name) in noted {
            if !names.contains(name) {
                names.insert(name.to_owned());
            }
        }
    }

    /// The score of the verdict that a grade belongs to.
    fn add_verdict(&mut self, row: &GradeRow<'_>, file: &str, args: &StatsArgs) {
        let Some((run, result)) = row.of else { return };
        let Some(unit) = result.verdict.score else { return };
        let values = match args.by.as_str() {
            CRITERION => vec![WEIGHTED.to_owned()],
            FILE => vec![file.to_owned()],
            // Fields that differ between the grades of one verdict do not belong to the verdict.
            by => Some(row.grouping_values(by))
                .filter(|values| grade_rows(run, result).all(|row| row.grouping_values(by) == *values))
                .unwrap_or_default(),
        };
        for value in &values {
            self.verdicts.push(&ScoreEntry {
                case: result.base(),
                candidate: &result.candidate,
                grader: "",
                criterion: WEIGHTED,
                file,
                group: value,
                unit,
            });
        }
    }
}

const WEIGHTED: &str = "weighted score";

/// The field that every grade has: where it was read.
const FILE: &str = "file";

/// All fields that grades can be grouped by.
fn fields(sources: &[GradeSource]) -> Vec<String> {
    let rows = || sources.iter().flat_map(GradeSource::rows);
    let columns = COLUMNS
        .iter()
        .filter(|column| matches!(column.kind, ColumnKind::Text | ColumnKind::Count | ColumnKind::Flag));
    let used = columns.filter(|column| rows().any(|row| (column.cell)(&row).is_some()));
    let known: BTreeSet<String> = rows().flat_map(|row| row.names()).collect();
    let own = used.map(|column| column.name.to_owned()).chain([FILE.to_owned()]);
    own.filter(|own| !known.contains(own)).chain(known.clone()).collect()
}

/// Prints a line for each group, with the mean on the scale of the group where that is not 0 to 1.
fn show_descriptions(
    out: &mut impl Write,
    groups: &[(String, ScoreDistribution)],
    own_scale: impl Fn(&str) -> Option<(f64, f64)>,
) -> anyhow::Result<()> {
    let width = groups.iter().map(|group| group.0.chars().count()).max().unwrap_or(0).clamp(6, 40);
    let title = if groups.iter().any(|group| own_scale(&group.0).is_some()) { "  own scale" } else { "" };
    writeln!(out, "\x1b[1m{:<width$}  mean  95 % interval      sd      n  from 0 to 1{title}\x1b[0m", "")?;
    for (name, it) in groups {
        let interval =
            interval_with_width(it).map(|(low, high)| format!("{low:.2} to {high:.2}")).unwrap_or_default();
        let sd = it.sd.map_or("   –".to_owned(), |value| format!("{value:.2}"));
        let own = own_scale(name).map(|scale| format!("  {:>9}", format_on_scale(it.estimate.mean, scale)));
        let (own, bars) = (own.unwrap_or_default(), bars(&it.tenths));
        let name: String = printable_line(name).chars().take(width).collect();
        writeln!(
            out,
            "{name:<width$}  {:.2}  {interval:<15} {sd:>6} {:>6}  {bars}{own}",
            it.estimate.mean, it.n
        )?;
    }
    Ok(())
}

/// Where all are the same, an interval without width would promise too much.
fn interval_with_width(it: &ScoreDistribution) -> Option<(f64, f64)> {
    it.estimate.interval.filter(|(low, high)| low < high)
}

fn measure(it: &ScoreDistribution) -> MeasuredValue {
    MeasuredValue::new(Some(it.estimate.mean), interval_with_width(it))
}

fn chart_title(what: &str, by: &str) -> String {
    if by == CRITERION { what.to_owned() } else { format!("{what} by {by}") }
}

const CRITERION: &str = "criterion";

fn build_means_chart(
    groups: &[(String, ScoreDistribution)],
    by: &str,
    own_scale: impl Fn(&str) -> Option<(f64, f64)>,
) -> Chart {
    let bar = |(name, score_distribution): &(String, ScoreDistribution)| Bar {
        label: name.clone(),
        measure: measure(score_distribution).on_scale(own_scale(name)),
        tone: Tone::Plain,
    };
    let bars = groups.iter().map(bar).collect();
    Chart::Bars(Bars { title: chart_title("Mean score", by), bars, mark: None })
}

/// Criteria around the circle; a shape for each value of the field, or for each file.
fn build_score_radar(
    scored: &ScoreTable,
    args: &StatsArgs,
    criterion_scale: impl Fn(&str) -> Option<(f64, f64)>,
) -> Chart {
    let axes = scored.values(ScoreField::Criterion);
    let (field, label) = match args.by.as_str() {
        CRITERION => (ScoreField::File, FILE),
        by => (ScoreField::Group, by),
    };
    let names = scored.values(field);
    let series = names.iter().map(|name| {
        let means = scored.only(field, name).describe_by(ScoreField::Criterion);
        let value = |axis: &String| {
            let mean = means.iter().find(|mean| mean.0 == *axis)?;
            Some(measure(&mean.1).on_scale(criterion_scale(axis)))
        };
        RadarSeries {
            name: name.clone(),
            values: axes.iter().map(|axis| value(axis).unwrap_or_default()).collect(),
        }
    });
    let series = series.collect();
    let title = chart_title("Mean score", if 1 < names.len() { label } else { CRITERION });
    Chart::Radar(Radar { title, axes, series, mark: None })
}

/// Readers of a chart cannot distinguish more layers than this.
const MOST_LAYERS: usize = 6;

fn distribution(
    groups: &[(String, ScoreDistribution)],
    by: &str,
    own_scale: impl Fn(&str) -> Option<(f64, f64)>,
) -> Chart {
    let mut scales = groups.iter().map(|(name, _)| own_scale(name));
    let first = scales.next().flatten();
    let scale = first.filter(|_| scales.all(|scale| scale == first));
    let n_own = if groups.len() <= MOST_LAYERS { groups.len() } else { MOST_LAYERS - 1 };
    let (own, others) = groups.split_at(n_own);
    let counts = |all: &[(String, ScoreDistribution)]| {
        (0..10).map(|at| all.iter().map(|it| it.1.tenths[at]).sum()).collect()
    };
    let mut layers: Vec<DistributionLayer> = own
        .chunks(1)
        .enumerate()
        .map(|(at, it)| DistributionLayer {
            name: it[0].0.clone(),
            tone: Tone::Series(at),
            counts: counts(it),
        })
        .collect();
    if !others.is_empty() {
        let (name, tone) = (format!("{} others", others.len()), Tone::Series(n_own));
        layers.push(DistributionLayer { name, tone, counts: counts(others) });
    }
    let title = format!("Scores by {by}");
    Chart::Distribution(Distribution { scale, ..Distribution::of_tenths(title, layers, None) })
}

/// A distribution in ten letters.
fn bars(tenths: &[usize; 10]) -> String {
    const HEIGHTS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = tenths.iter().copied().max().unwrap_or(0).max(1);
    tenths.iter().map(|tenth| HEIGHTS[(tenth * 8).div_ceil(most)]).collect()
}

fn run_stats_compute(file: &std::path::Path) -> anyhow::Result<CommandOutcome> {
    let text = read_input(file).with_context(|| format!("cannot read `{}`", file.display()))?;
    let mut out = std::io::BufWriter::new(render::stdout());
    let (mut n_lines, mut n_known) = (0, 0);
    let problems: Vec<Result<Json, serde_json::Error>> =
        text.lines().filter(|line| !line.trim().is_empty()).map(serde_json::from_str).collect();
    // A line may refer to the input of another line.
    let inputs: HashMap<String, &Json> =
        problems.iter().flatten().map(|problem| (problem["id"].to_string(), &problem["input"])).collect();
    for problem in &problems {
        n_lines += 1;
        let (id, answer) = match problem {
            Err(error) => (Json::Null, json!({ "error": format!("not JSON: {error}") })),
            Ok(problem) => match problem["input"].get("same_input_as") {
                None => (problem["id"].clone(), compute_problem_answer(problem, &problem["input"])),
                Some(other) => match inputs.get(&other.to_string()) {
                    Some(input) => (problem["id"].clone(), compute_problem_answer(problem, input)),
                    None => {
                        (problem["id"].clone(), json!({ "error": format!("no line has the id {other}") }))
                    }
                },
            },
        };
        n_known += usize::from(answer.get("error").is_none());
        let mut answer_line = serde_json::Map::new();
        if !id.is_null() {
            answer_line.insert("id".to_owned(), id);
        }
        answer_line.extend(answer.as_object().cloned().unwrap_or_default());
        writeln!(out, "{}", Json::Object(answer_line))?;
    }
    out.flush()?;
    Ok(if n_known == 0 && 0 < n_lines { CommandOutcome::BadInput } else { CommandOutcome::Passed })
}

/// Answers one line of `jurist stats compute`: with a result, a reason why there is none, or an error.
pub(crate) fn compute_problem_answer(problem: &Json, input: &Json) -> Json {
    let (name, input) = match (problem["family"].as_str(), problem["fn"].as_str()) {
        (Some(family), _) => (family, input),
        (None, Some(name)) => (name, &problem["args"]),
        (None, None) => return json!({ "error": "a line needs `family` and `input`, or `fn` and `args`" }),
    };
    if let Some(problem) = compute_problem(name, input) {
        return json!({ "error": problem });
    }
    match compute_statistic(name, input) {
        Some(Ok(result)) => json!({ "result": result }),
        Some(Err(why)) => json!({ "undefined": why.to_string() }),
        None => {
            json!({ "error": format!("no statistic is called `{name}`; there are {}", computable().join(", ")) })
        }
    }
}
