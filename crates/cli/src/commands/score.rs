use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use jurist_core::diagnostic::closest;
use jurist_core::grade::{Grader, GradesFileLine, Verdict, VerdictStatus};
use jurist_core::rubric::Rubric;
use jurist_core::score::{CandidateVerdict, Combine, GradeBook, GradeRejection};
use jurist_core::stats::consensus::effective_votes;
use jurist_core::suite::{Aggregate, Judge, TieBreak};
use jurist_engine::load::open_file;
use serde::Serialize;

use crate::outcome::CommandOutcome;
use crate::render;
use crate::suite_loading::{ChosenRubric, LoadingArgs, choose_file_rubric};

/// Turn grades into verdicts
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A line of GRADES is one grade, in full (`jurist schema grade`) or in short:
  {\"candidate\": \"run-1\", \"criterion\": \"clear\", \"value\": 4, \"grader\": \"ann\"}
or the text of a candidate, for `when` and length penalties:
  {\"candidate\": \"run-1\", \"response\": \"…\"}
or a row of an annotation export. Several graders of a criterion form a panel.
Verdicts are printed as JSON lines.

Examples:
  jurist score rubric.yaml grades.jsonl
  jurist score suite.yaml --rubric helpful grades.jsonl | jq .status
  cat ratings.jsonl | jurist score rubric.yaml - --aggregate majority")]
pub struct ScoreArgs {
    /// File with the rubric
    #[arg(value_name = "RUBRIC")]
    file: PathBuf,
    /// Grades, one JSON object per line; `-` reads standard input
    #[arg(value_name = "GRADES")]
    grades: PathBuf,
    /// Name of the rubric, if the file has several
    #[arg(long, value_name = "NAME")]
    rubric: Option<String>,
    /// Aggregation of several graders [default: the file's `judge.aggregate`, else mean]
    #[arg(long, value_enum)]
    aggregate: Option<AggregateName>,
    /// Share of graders that must pass; replaces --aggregate
    #[arg(long, value_name = "SHARE", value_parser = parse_consensus_share, conflicts_with = "aggregate")]
    consensus: Option<f64>,
    /// Verdict for a tie [default: the file's `judge.tie_break`, else fail]
    #[arg(long, value_enum)]
    tie_break: Option<TieBreakName>,
    #[command(flatten)]
    loading: LoadingArgs,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum AggregateName {
    Mean,
    Median,
    Majority,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum TieBreakName {
    Fail,
    Pass,
}

fn parse_consensus_share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|text| (0.01..=1.0).contains(text));
    share.ok_or_else(|| "a number above 0, up to 1".to_owned())
}

impl ScoreArgs {
    /// Flags first, then the `judge` of the file.
    fn combine(&self, judge: &Judge) -> Combine {
        let tie_break = match self.tie_break {
            Some(TieBreakName::Fail) => TieBreak::Fail,
            Some(TieBreakName::Pass) => TieBreak::Pass,
            None => judge.tie_break.unwrap_or_default(),
        };
        let aggregate = match self.aggregate {
            Some(AggregateName::Mean) => Aggregate::Mean,
            Some(AggregateName::Median) => Aggregate::Median,
            Some(AggregateName::Majority) => Aggregate::Majority,
            None => judge.aggregate.unwrap_or_default(),
        };
        let jury = judge.jury.filter(|_| self.aggregate.is_none()).map(|jury| jury.consensus);
        match self.consensus.or(jury) {
            Some(consensus) => Combine::Jury { consensus },
            None => Combine::Panel { aggregate, tie_break },
        }
    }
}

/// The output about one candidate; `verdict` is its own, or the verdict of a panel.
#[derive(Serialize)]
struct ScoredCandidateRow<'a, T: Serialize> {
    candidate: &'a str,
    rubric: &'a str,
    #[serde(flatten)]
    verdict: &'a T,
    /// The score as the rubric's display scale writes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    shown: Option<String>,
    /// `native` to two places, as annotation exports carry it.
    #[serde(skip_serializing_if = "Option::is_none")]
    weighted_score: Option<f64>,
    /// Each member of a panel by itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    graders: Vec<PanelMemberRow<'a>>,
}

#[derive(Serialize)]
struct PanelMemberRow<'a> {
    grader: &'a Grader,
    #[serde(flatten)]
    verdict: &'a Verdict,
}

pub fn run_score_command(args: &ScoreArgs) -> anyhow::Result<CommandOutcome> {
    let Some(ChosenRubric { rubric, judge, .. }) =
        choose_file_rubric(&args.file, args.rubric.as_deref(), "--rubric", &args.loading)?
    else {
        return Ok(CommandOutcome::BadInput);
    };
    let mut grade_book = GradeBook::new(&rubric);
    if !read_grade_lines(&args.grades, &mut grade_book)? {
        return Ok(CommandOutcome::BadInput);
    }
    if let Some(candidate) = grade_book.without_text() {
        anyhow::bail!(
            "this rubric has a length penalty, and the text of `{candidate}` is missing; add a line {{\"candidate\": \"{candidate}\", \"response\": \"…\"}}"
        );
    }
    print_verdicts(&rubric, &grade_book, args.combine(&judge))
}

/// After so many bad lines it is the wrong file.
const MANY: usize = 50;

/// Reads every line, and reports all problems.
fn read_grade_lines(path: &Path, grade_book: &mut GradeBook<'_>) -> anyhow::Result<bool> {
    let name = path.display();
    let input: Box<dyn BufRead> = if path.as_os_str() == "-" {
        Box::new(std::io::stdin().lock())
    } else {
        Box::new(BufReader::new(open_file(path).with_context(|| format!("cannot read `{name}`"))?))
    };
    let (mut n_bad, mut n_lines) = (0, 0);
    for (number, line) in input.lines().enumerate() {
        let line = line.with_context(|| format!("cannot read `{name}`"))?;
        if line.trim().is_empty() {
            continue;
        }
        n_lines += 1;
        let problem = match GradesFileLine::parse(&line) {
            Ok(GradesFileLine::Candidate { id, response }) => {
                grade_book.candidate(&id, response);
                None
            }
            Ok(GradesFileLine::Grades(grades)) => grades
                .into_iter()
                .find_map(|grade| grade_book.add(grade).err())
                .map(|grade_rejection| explain_refused_grade(&grade_rejection)),
            Err(error) => Some(error.to_string()),
        };
        if let Some(problem) = problem {
            n_bad += 1;
            render::print_error(&format!("{name}:{}: {problem}", number + 1));
            if n_bad == MANY {
                render::print_error(&format!("{name}: too many errors; the rest of the file is not read"));
                break;
            }
        }
    }
    if n_lines == 0 {
        anyhow::bail!("`{name}` holds no grades");
    }
    Ok(n_bad == 0)
}

fn explain_refused_grade(refused: &GradeRejection) -> String {
    let GradeRejection::UnknownCriterion { written, known } = refused else { return refused.to_string() };
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    match closest(written, &known) {
        Some(meant) => format!("{refused}; did you mean `{meant}`?"),
        None => format!("{refused}; the rubric has {}", known.join(", ")),
    }
}

fn print_verdicts(
    rubric: &Rubric,
    grade_book: &GradeBook<'_>,
    combine: Combine,
) -> anyhow::Result<CommandOutcome> {
    let mut out = std::io::BufWriter::new(render::stdout());
    let mut tally = CandidateTally::default();
    for (candidate, ballot) in grade_book.ballots(combine) {
        let (status, score, native) = match &ballot {
            CandidateVerdict::Single(verdict) => (verdict.status, verdict.score, verdict.native),
            CandidateVerdict::Panel { panel, .. } => (panel.status, panel.score, None),
        };
        tally.count(status);
        let shown = score.map(|score| rubric.display.show(score, status == VerdictStatus::Pass));
        let weighted_score = native.map(|native| (native * 100.0).round() / 100.0);
        let version = rubric.version().as_str();
        match &ballot {
            CandidateVerdict::Single(verdict) => {
                let row = ScoredCandidateRow {
                    candidate,
                    rubric: version,
                    verdict,
                    shown,
                    weighted_score,
                    graders: Vec::new(),
                };
                writeln!(out, "{}", serde_json::to_string(&row)?)?;
            }
            CandidateVerdict::Panel { panel, members } => {
                tally.votes.extend(members.iter().map(|member| member.1.score).collect::<Option<Vec<f64>>>());
                let graders =
                    members.iter().map(|(grader, verdict)| PanelMemberRow { grader, verdict }).collect();
                let row = ScoredCandidateRow {
                    candidate,
                    rubric: version,
                    verdict: panel,
                    shown,
                    weighted_score,
                    graders,
                };
                writeln!(out, "{}", serde_json::to_string(&row)?)?;
            }
        }
    }
    out.flush()?;
    render::print_terminal_summary(&tally.sentence());
    Ok(tally.command_outcome())
}

#[derive(Default)]
struct CandidateTally {
    passed: usize,
    failed: usize,
    errors: usize,
    deferred: usize,
    /// Scores of every member, of candidates that all members scored.
    votes: Vec<Vec<f64>>,
}

impl CandidateTally {
    fn count(&mut self, status: VerdictStatus) {
        match status {
            VerdictStatus::Pass => self.passed += 1,
            VerdictStatus::Fail => self.failed += 1,
            VerdictStatus::Error => self.errors += 1,
            VerdictStatus::Deferred => self.deferred += 1,
        }
    }

    fn sentence(&self) -> String {
        let Self { passed, failed, errors, deferred, votes } = self;
        let mut sentence = format!("{passed} passed, {failed} failed");
        if 0 < *errors {
            sentence += &format!(", {errors} without a verdict");
        }
        if 0 < *deferred {
            sentence += &format!(", {deferred} waiting for grades");
        }
        if let Some(effective) = effective_votes(votes) {
            sentence += &format!("; {} graders are worth {effective:.1} independent votes", votes[0].len());
        }
        sentence
    }

    fn command_outcome(&self) -> CommandOutcome {
        if 0 < self.failed {
            CommandOutcome::Failed
        } else if 0 < self.errors {
            CommandOutcome::Incomplete
        } else {
            CommandOutcome::Passed
        }
    }
}
