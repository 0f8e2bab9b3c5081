use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context;
use jurist_core::candidate::{JudgeInput, RecordField, RecordFields, TraceFormat, read_trace};
use jurist_core::dialect::{self, Dialect, ProjectEnvironment, ReadError, VariableExpansion};
use jurist_core::grade::{Deferral, Grade, GradeFlag, Outcome, Spend, VerdictStatus};
use jurist_core::judge::{RecordKeys, position_bias};
use jurist_core::report::{
    format_beside_own_scale, graded_score_scale, rubric_score_scale, with_evidence, without_traceback,
};
use jurist_core::rubric::{Criterion, Polarity, Rubric, WHOLE};
use jurist_core::suite::{Calls, DataRow, Judge};
use jurist_engine::call::ModelClient;
use jurist_engine::judge::{
    JudgeCase, JudgeDecision, JudgeExchange, JudgeModel, Preference, ResolvedJudges, compare_candidates,
};
use jurist_engine::load::{open_file, read_input};
use jurist_engine::model::ModelEndpoint;
use jurist_engine::model::script::Script;
use jurist_engine::model::vendors::{PRICES_AS_OF, StructuredOutput};
use jurist_engine::model::{MessageRole, build_ping_request};
use serde_json::{Value as Json, json};

use crate::failure;
use crate::judging::JudgingArgs;
use crate::outcome::CommandOutcome;
use crate::render::{self, printable};
use crate::runtime::wait_for;
use crate::suite_loading::{LoadingArgs, choose_file_rubric, load_current_settings};

/// Try a judge on one candidate, or test its connection
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist judge ping                        Call the judge of the environment
  jurist judge ping ollama/qwen3           Call a model on this machine
  jurist judge ask rubric.yaml answer.txt  Grade one answer, show everything
  jurist judge ask rubric.yaml a.txt --against b.txt --both-orders
                                           Compare two answers in both orders
  jurist judge parse replies.jsonl         Grade scripted replies")]
pub struct JudgeArgs {
    #[command(subcommand)]
    what: JudgeSubcommand,
}

#[derive(Debug, clap::Subcommand)]
enum JudgeSubcommand {
    /// Call a model once: latency, cost, supported reply schema
    #[command(after_help = "\
Examples:
  jurist judge ping                  Call the judge of the environment
  jurist judge ping ollama/qwen3     Call a model on this machine")]
    Ping {
        /// Model to call [default: the one that the environment names]
        #[arg(value_name = "MODEL")]
        model: Option<String>,
        #[command(flatten)]
        judging: JudgingArgs,
    },
    /// Grade one candidate and show prompts, replies and verdict
    Ask(Box<JudgeAskArgs>),
    /// Parse scripted judge replies and print the resulting grades
    #[command(after_help = "\
Examples:
  jurist judge parse replies.jsonl")]
    Parse {
        /// JSON lines with `evaluator`, `params`, `inputs`, `outputs` and `judge_replies`
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist judge ask rubric.yaml answer.txt
  jurist judge ask rubric.yaml answer.txt --task 'My kettle leaks.' --brief
  jurist judge ask rubric.yaml a.txt --against b.txt --both-orders")]
struct JudgeAskArgs {
    /// Suite or rubric file
    #[arg(value_name = "RUBRIC")]
    rubric: PathBuf,
    /// Candidate: a text, a trace in any format, or a JSON record with `input` and `output`; `-` reads
    /// standard input
    #[arg(value_name = "CANDIDATE")]
    candidate: PathBuf,
    /// Name of the rubric, if the file has several
    #[arg(long, value_name = "NAME")]
    rubric_name: Option<String>,
    /// Input that the candidate answered
    #[arg(long, value_name = "TEXT")]
    task: Option<String>,
    /// Compare with this candidate instead of grading; repeat to select the best of several
    #[arg(long, value_name = "CANDIDATE")]
    against: Vec<PathBuf>,
    /// Compare in both orders; a candidate wins only if it wins both
    #[arg(long, requires = "against")]
    both_orders: bool,
    /// Do not print prompts and raw replies
    #[arg(long)]
    brief: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    judging: JudgingArgs,
    #[command(flatten)]
    loading: LoadingArgs,
}

pub fn run_judge_command(args: &JudgeArgs) -> anyhow::Result<CommandOutcome> {
    match &args.what {
        JudgeSubcommand::Ping { model, judging } => wait_for(run_judge_ping(model.as_deref(), judging)),
        JudgeSubcommand::Ask(ask) => {
            let Some(chosen) =
                choose_file_rubric(&ask.rubric, ask.rubric_name.as_deref(), "--rubric-name", &ask.loading)?
            else {
                return Ok(CommandOutcome::BadInput);
            };
            let mut all = vec![read_candidate_file(&ask.candidate, ask.task.as_deref())?];
            // The candidate of the eval file is the default for fields that the given candidate does not have.
            let material = &mut all[0].material;
            if let Some(shared) = &chosen.candidate {
                let shared = JudgeInput::new(shared, None);
                if material.task.is_empty() {
                    material.task = shared.task;
                }
                if material.context.is_empty() {
                    material.context = shared.context;
                }
                if material.reference.is_none() {
                    (material.reference, material.raw_reference) = (shared.reference, shared.raw_reference);
                }
            }
            for path in &ask.against {
                all.push(read_candidate_file(path, ask.task.as_deref())?);
            }
            wait_for(async {
                let (rubric, judges) = ask.judging.prepare_judges(&chosen).await?;
                let judges = ResolvedJudges { transcript: !ask.brief && !ask.json, ..judges };
                let caller = ask.judging.caller(&chosen.settings)?;
                anyhow::ensure!(
                    !ask.judging.batch,
                    "--batch needs many candidates; use `jurist grade --batch`"
                );
                let no_defer = ask.judging.no_defer(&chosen.settings);
                let ended = if ask.against.is_empty() {
                    judge_candidate(ask, &caller, &judges, &rubric, &all[0], no_defer).await?
                } else {
                    compare_candidate_files(ask, &caller, &judges, &rubric, &all, no_defer).await?
                };
                ask.judging.finish(&caller)?;
                Ok(ended)
            })
        }
        JudgeSubcommand::Parse { file } => wait_for(parse_scripted_replies(file)),
    }
}

/// A candidate from a file, with its record if it is one.
struct CandidateFile {
    material: JudgeInput,
    row: Option<DataRow>,
}

/// A candidate from a file: a record, a trace, or plain text.
fn read_candidate_file(path: &Path, task: Option<&str>) -> anyhow::Result<CandidateFile> {
    let name = path.display();
    let text = read_input(path).map_err(|error| anyhow::anyhow!("cannot read `{name}`: {error}"))?;
    let record: Option<Json> = serde_json::from_str(&text).ok().filter(is_record);
    let mut material = match &record {
        Some(record) => {
            JudgeInput::from_record(record, &RecordKeys::default()).with_context(|| format!("`{name}`"))?
        }
        None => match read_trace(&text, None).with_context(|| format!("`{name}`"))? {
            // Half a record, or many of them, are not an answer.
            (TraceFormat::Text, _) if text.trim_start().starts_with("{\"") => {
                anyhow::bail!(
                    "`{name}` looks like JSON but is not a single record; use `jurist grade` for several"
                )
            }
            (TraceFormat::Text, _) => {
                JudgeInput { response: Some(text.trim_end().to_owned()), ..JudgeInput::default() }
            }
            (_, trace) => JudgeInput::new(&Default::default(), Some(trace)),
        },
    };
    if let Some(task) = task {
        task.clone_into(&mut material.task);
    }
    let row = record.and_then(|record| record.as_object().cloned());
    Ok(CandidateFile { material, row })
}

/// Whether a JSON value names something that is graded; a list of messages or a conversation is a trace by itself.
fn is_record(value: &Json) -> bool {
    let fields = RecordFields::read(value);
    fields.non_null_value(RecordField::Response).is_some() || value.get("trace").is_some()
}

async fn run_judge_ping(model: Option<&str>, judging: &JudgingArgs) -> anyhow::Result<CommandOutcome> {
    judging.refuse_tape("ping tests the connection; it cannot be recorded or replayed")?;
    let settings = load_current_settings()?;
    let resolver = judging.resolver(&settings)?;
    let configured = match model {
        // Another model does not have the address from the settings.
        Some(model) => Judge { model: Some(model.to_owned()), base_url: None, ..settings.judge.clone() },
        None => settings.judge.clone(),
    };
    let judge = judging.resolve_judge_model(judging.judge(&configured), &resolver).await?;
    if model.is_none() {
        judging.consent(&judge, &BTreeMap::new())?;
    }
    let endpoint = resolver.resolve_endpoint(&judge)?;
    let request = build_ping_request(&endpoint.name);
    let mut out = render::stdout();
    let address =
        endpoint.http.as_ref().map(|http| format!(" at {}", http.endpoint().address())).unwrap_or_default();
    writeln!(out, "\x1b[1m{}\x1b[0m{address}", endpoint.name)?;
    let source = || match resolver.has_own_price(&judge, &endpoint) {
        true => "from the settings".to_owned(),
        false => format!("built in, as of {PRICES_AS_OF}"),
    };
    let price = match endpoint.price {
        Some(it) if it.input == 0.0 && it.output == 0.0 => "free (runs on this machine)".to_owned(),
        Some(it) => format!(
            "${} in, ${} cached, ${} out per million tokens ({})",
            it.input,
            it.cached,
            it.output,
            source()
        ),
        None => "unknown; --max-cost needs a price in trusted settings".to_owned(),
    };
    writeln!(out, "  {:<12}{price}", "price")?;
    let started = Instant::now();
    // Twice: the first call opens the connection and finds out what the server takes.
    let first = endpoint.model.complete(&request).await;
    let (first_latency, again) = (started.elapsed(), Instant::now());
    let reply = match first {
        Ok(_) => endpoint.model.complete(&request).await,
        Err(error) => Err(error),
    };
    match reply {
        Ok(reply) => {
            let (first, second) = (first_latency.as_millis(), again.elapsed().as_millis());
            writeln!(out, "  {:<12}{first} ms, and {second} ms on an open connection", "latency")?;
            if let Some(http) = &endpoint.http {
                let value: Json = serde_json::from_str(&reply.text).unwrap_or_default();
                let shape_note = match http.shape() {
                    StructuredOutput::Object | StructuredOutput::Asked => "",
                    _ if value["verdict"].is_boolean() => ", followed",
                    _ => ", requested but not followed; replies are parsed as far as possible",
                };
                writeln!(out, "  {:<12}{}{shape_note}", "structured", http.shape().name())?;
            }
            let cost = endpoint.price.map(|price| format!(", {}", price.of(reply.usage))).unwrap_or_default();
            writeln!(
                out,
                "  {:<12}{} tokens in, {} out{cost}",
                "this call", reply.usage.input, reply.usage.output
            )?;
            let reply_text = reply.text.split_whitespace().collect::<Vec<_>>().join(" ");
            let reply_text: String = reply_text.chars().take(60).collect();
            writeln!(out, "  {:<12}{reply_text}", "it says")?;
            Ok(CommandOutcome::Passed)
        }
        Err(error) => {
            out.flush()?;
            let what = format!("{} does not answer", endpoint.name);
            failure::print_failure(&anyhow::Error::new(error).context(what));
            Ok(CommandOutcome::Incomplete)
        }
    }
}

async fn judge_candidate(
    ask: &JudgeAskArgs,
    caller: &ModelClient,
    judges: &ResolvedJudges,
    rubric: &Rubric,
    file: &CandidateFile,
    no_defer: bool,
) -> anyhow::Result<CommandOutcome> {
    let candidate = ask.candidate.display().to_string();
    let case = JudgeCase {
        candidate: &candidate,
        material: &file.material,
        row: file.row.as_ref(),
        rubric,
        labels: None,
        contests: None,
    };
    let decision = judges.decide(caller, case).await?;
    let mut out = render::stdout();
    if ask.json {
        writeln!(out, "{}", decision_line(&Json::String(candidate), &decision))?;
    } else {
        show_decision(&mut out, &decision, rubric, !ask.brief)?;
    }
    Ok(command_outcome_for_decision(&decision, no_defer))
}

/// How a command ends that came to this decision.
pub fn command_outcome_for_decision(decision: &JudgeDecision, no_defer: bool) -> CommandOutcome {
    let is_over = |grade: &Grade| matches!(grade.outcome, Outcome::Deferred { why: Deferral::OverBudget });
    match decision.status {
        VerdictStatus::Fail => CommandOutcome::Failed,
        VerdictStatus::Error => CommandOutcome::Incomplete,
        VerdictStatus::Deferred
            if decision.opinions.iter().flat_map(|opinion| &opinion.grades).any(is_over) =>
        {
            CommandOutcome::OverBudget
        }
        VerdictStatus::Deferred if no_defer => CommandOutcome::Incomplete,
        // A judge without a key is reported, and the other judges are still called.
        VerdictStatus::Pass | VerdictStatus::Deferred => CommandOutcome::Passed,
    }
}

/// A decision as a line of JSON.
pub fn decision_line(id: &Json, decision: &JudgeDecision) -> Json {
    let mut line = json!({
        "id": id, "status": decision.status, "score": decision.score, "spend": decision.spend,
    });
    if let [only] = decision.opinions.as_slice() {
        line["verdict"] = json!(only.verdict);
        line["grades"] = json!(only.grades);
    } else {
        let opinion = |judge_opinion: &jurist_engine::judge::JudgeOpinion| json!({ "judge": judge_opinion.judge, "verdict": judge_opinion.verdict, "grades": judge_opinion.grades });
        line["opinions"] = decision.opinions.iter().map(opinion).collect();
        line["panel"] = json!(decision.panel);
        line["disputed"] = json!(decision.disputed);
        line["escalated"] = json!(decision.escalated);
    }
    line
}

fn show_decision(
    out: &mut impl Write,
    decision: &JudgeDecision,
    rubric: &Rubric,
    with_prompts: bool,
) -> anyhow::Result<()> {
    for opinion in &decision.opinions {
        if with_prompts {
            for (at, exchange) in opinion.exchanges.iter().enumerate() {
                show_exchange(out, exchange, at + 1, opinion.exchanges.len())?;
            }
        }
        writeln!(out, "\x1b[1m{}\x1b[0m", opinion.judge)?;
        for grade in &opinion.grades {
            let is_bad =
                |criterion: &&Criterion| criterion.id == grade.criterion && states_what_is_bad(criterion);
            let must_not = leaves(&rubric.criteria).iter().any(is_bad);
            show_grade(out, grade, if must_not { " · must not hold" } else { "" })?;
        }
        for step in &opinion.verdict.path {
            let leaf = step.score.map(|score| format!(" ends at {score}")).unwrap_or_default();
            writeln!(out, "  → {}: {}{leaf}", step.node, step.answer)?;
        }
        for gate in &opinion.verdict.failed_gates {
            let gate_name = json!(gate.gate).as_str().unwrap_or_default().to_owned();
            let of = gate.criterion.as_deref().unwrap_or("the rubric");
            writeln!(out, "  \x1b[31m✗ gate {gate_name} of {of}\x1b[0m")?;
        }
        for gate in &opinion.verdict.undecided_gates {
            writeln!(out, "  \x1b[33m! {gate}\x1b[0m")?;
        }
    }
    if decision.escalated {
        writeln!(out, "the first judge was unsure, so the escalation judge decides")?;
    }
    if let Some(panel) = &decision.panel {
        writeln!(
            out,
            "{} of {} members gave a verdict, {} of them pass",
            panel.voters, panel.members, panel.passes
        )?;
    }
    let (word, colour) = match decision.status {
        VerdictStatus::Pass => ("pass", "32"),
        VerdictStatus::Fail => ("fail", "31"),
        VerdictStatus::Error => ("no verdict: grader error", "33"),
        VerdictStatus::Deferred => ("no verdict yet: a grader was not available", "33"),
    };
    let grades = decision.opinions.iter().flat_map(|opinion| &opinion.grades);
    let scale = graded_score_scale(rubric, grades);
    let shown_score = |score: f64| match scale {
        Some(_) => format_beside_own_scale(score, scale),
        None => rubric.display.show(score, decision.status == VerdictStatus::Pass),
    };
    let pass_mark = format_beside_own_scale(rubric.pass_mark, rubric_score_scale(rubric));
    let score = decision
        .score
        .map(|score| format!(" with {}, pass mark {pass_mark}", shown_score(score)))
        .unwrap_or_default();
    let cost =
        if decision.spend.is_nothing() { String::new() } else { format!(" · {}", cost(&decision.spend)) };
    writeln!(out, "\x1b[1;{colour}m{word}\x1b[0m{score}{cost}")?;
    Ok(())
}

fn show_exchange(out: &mut impl Write, exchange: &JudgeExchange, at: usize, of: usize) -> anyhow::Result<()> {
    writeln!(out, "\x1b[2m── call {at} of {of} ──────────────────────────────────────\x1b[0m")?;
    // The system part is the same for all.
    if at == 1 {
        writeln!(out, "\x1b[36msystem\x1b[0m\n{}", printable(&exchange.request.system))?;
    }
    for message in &exchange.request.messages {
        let role = if message.role == MessageRole::User { "user" } else { "assistant" };
        writeln!(out, "\x1b[36m{role}\x1b[0m\n{}", printable(&message.parts.join("\n")))?;
    }
    match &exchange.reply {
        Ok(text) => writeln!(out, "\x1b[32mreply\x1b[0m\n{}\n", printable(text))?,
        Err(error) => writeln!(out, "\x1b[31mno reply\x1b[0m\n{}\n", printable(error))?,
    }
    Ok(())
}

fn show_grade(out: &mut impl Write, grade: &Grade, remark: &str) -> anyhow::Result<()> {
    let mark = match &grade.outcome {
        Outcome::Scored { .. } => "•",
        Outcome::NotApplicable => "◦",
        Outcome::Abstained { .. } => "?",
        Outcome::Failed { .. } => "✗",
        Outcome::Deferred { .. } => "…",
    };
    writeln!(
        out,
        "  {mark} {}: {}{remark}",
        grade.criterion,
        printable(&with_evidence(grade, describe_outcome(&grade.outcome)))
    )?;
    if grade.flags.contains(&GradeFlag::VerdictInCandidate) {
        writeln!(out, "      note: {}", GradeFlag::VerdictInCandidate.words())?;
    }
    let told_already = matches!(&grade.outcome, Outcome::Abstained { why } if why == grade.reason.as_str());
    if !grade.reason.is_empty() && !told_already {
        writeln!(out, "      {}", printable(grade.reason.as_str()).replace('\n', "\n      "))?;
    }
    for evidence in &grade.evidence {
        let place = match &evidence.found {
            Some(it) => format!("in {} at {}–{}", it.part, it.start, it.end),
            None => "\x1b[31mquote not found in the candidate\x1b[0m".to_owned(),
        };
        writeln!(out, "      “{}” {place}", printable(&evidence.quote))?;
    }
    for point in &grade.points {
        writeln!(out, "      {} {}", if point.holds { "✓" } else { "✗" }, printable(&point.text))?;
    }
    Ok(())
}

/// An outcome in words.
fn describe_outcome(outcome: &Outcome) -> String {
    let word = |value: Json| value.as_str().unwrap_or_default().replace('_', " ");
    match outcome {
        Outcome::Scored { value, unit: Some(unit) } => format!("{value} ({unit:.2})"),
        Outcome::Scored { value, unit: None } => value.to_string(),
        Outcome::NotApplicable => "does not apply".to_owned(),
        Outcome::Abstained { why } => format!("cannot tell: {why}"),
        Outcome::Failed { failure, detail } => {
            format!("{}: {}", word(json!(failure)), without_traceback(detail))
        }
        // The reason that follows names the missing part.
        Outcome::Deferred { why: Deferral::NoKey } => "not asked".to_owned(),
        Outcome::Deferred { why } => format!("not asked: {}", word(json!(why))),
    }
}

fn cost(spend: &Spend) -> String {
    let tokens = format!("{} tokens in, {} out", spend.tokens_in, spend.tokens_out);
    match spend.cost {
        _ if spend.from_cache => "$0 (cached)".to_owned(),
        Some(cost) => format!("{cost} · {tokens}"),
        None => format!("cost not known · {tokens}"),
    }
}

/// Criteria that are not groups, depth first.
fn leaves(criteria: &[Criterion]) -> Vec<&Criterion> {
    let below = |criterion: &'_ Criterion| !criterion.children().is_empty();
    let mut all = Vec::new();
    let mut to_visit: Vec<&Criterion> = criteria.iter().rev().collect();
    while let Some(criterion) = to_visit.pop() {
        if below(criterion) {
            to_visit.extend(criterion.children().iter().rev());
        } else {
            all.push(criterion);
        }
    }
    all
}

fn states_what_is_bad(criterion: &Criterion) -> bool {
    criterion.polarity != Polarity::Plain || criterion.weight < 0.0
}

/// What a comparison looks for; what is bad must not hold.
fn goal(criterion: &Criterion) -> String {
    let must_not = if states_what_is_bad(criterion) { " (this must NOT hold)" } else { "" };
    if criterion.id == WHOLE {
        criterion.description.clone()
    } else {
        format!("{}: {}{must_not}", criterion.title(), criterion.description)
    }
}

async fn compare_candidate_files(
    ask: &JudgeAskArgs,
    caller: &ModelClient,
    judges: &ResolvedJudges,
    rubric: &Rubric,
    all: &[CandidateFile],
    no_defer: bool,
) -> anyhow::Result<CommandOutcome> {
    let criteria: Vec<String> = leaves(&rubric.criteria).into_iter().map(goal).collect();
    let names: Vec<String> =
        std::iter::once(&ask.candidate).chain(&ask.against).map(|once| once.display().to_string()).collect();
    // The record of the first candidate fills the fields of a row, as it does where it is judged alone.
    let first = JudgeInput { row: all[0].row.clone(), ..all[0].material.clone() };
    let others = all[1..].iter().map(|candidate_file| &candidate_file.material);
    let candidates: Vec<&JudgeInput> = std::iter::once(&first).chain(others).collect();
    let about = (names[0].as_str(), criteria.join("\n"));
    let compared = compare_candidates(
        caller,
        &judges.members[0],
        candidates,
        (about.0, &about.1),
        ask.both_orders,
        judges.seed,
    )
    .await;
    let mut out = render::stdout();
    let Preference { winner, reason, rounds, spend, exchanges } = match compared {
        Ok(preference) => preference,
        Err(outcome) => {
            render::print_error(&format!("no comparison: {}", describe_outcome(&outcome)));
            return Ok(match outcome {
                Outcome::Deferred { why: Deferral::OverBudget } => CommandOutcome::OverBudget,
                Outcome::Deferred { .. } if !no_defer => CommandOutcome::Passed,
                _ => CommandOutcome::Incomplete,
            });
        }
    };
    let name = |n: &Option<usize>| n.map_or("a tie".to_owned(), |index| names[index].clone());
    if ask.json {
        let rounds: Vec<Json> = rounds
            .iter()
            .map(|(order, winner)| json!({ "shown": order.iter().map(|order| &names[*order]).collect::<Vec<_>>(), "winner": winner.map(|winner| &names[winner]) }))
            .collect();
        let line = json!({ "winner": winner.map(|winner| &names[winner]), "reason": reason, "rounds": rounds, "spend": spend });
        writeln!(out, "{line}")?;
        return Ok(CommandOutcome::Passed);
    }
    if !ask.brief {
        for (at, exchange) in exchanges.iter().enumerate() {
            show_exchange(&mut out, exchange, at + 1, exchanges.len())?;
        }
    }
    for (order, winner) in &rounds {
        let shown_names: Vec<&str> = order.iter().map(|index| names[*index].as_str()).collect();
        writeln!(out, "  shown as {}: {}", shown_names.join(", "), name(winner))?;
    }
    writeln!(out, "{}", printable(&reason))?;
    if let Some(share) = position_bias(&rounds).filter(|_| 1 < rounds.len()) {
        writeln!(
            out,
            "  position bias: the candidate shown first won {:.0} % of the decided rounds",
            share * 100.0
        )?;
    }
    writeln!(out, "\x1b[1m{}\x1b[0m · {}", name(&winner), cost(&spend))?;
    Ok(CommandOutcome::Passed)
}

/// Parses scripted replies and prints the result of each line.
async fn parse_scripted_replies(file: &Path) -> anyhow::Result<CommandOutcome> {
    let name = file.display().to_string();
    let input: Box<dyn BufRead + Send> = if file.as_os_str() == "-" {
        Box::new(BufReader::new(std::io::stdin()))
    } else {
        Box::new(BufReader::new(open_file(file).with_context(|| format!("cannot read `{name}`"))?))
    };
    let mut out = render::stdout();
    let mut n_bad = 0;
    for (at, line) in input.lines().enumerate() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let record: Json = match serde_json::from_str(&line) {
            Ok(record) => record,
            Err(error) => {
                n_bad += 1;
                render::print_error(&format!("{name}:{}: not JSON: {error}", at + 1));
                continue;
            }
        };
        writeln!(out, "{}", scripted_record_line(&record).await)?;
    }
    Ok(if 0 < n_bad { CommandOutcome::Incomplete } else { CommandOutcome::Passed })
}

async fn scripted_record_line(record: &Json) -> Json {
    let mut line =
        json!({ "id": record["id"], "evaluator": record["evaluator"], "score": null, "value": null });
    match judge_scripted_record(record).await {
        Err(problem) => line["error"] = json!(problem),
        Ok(decision) => {
            let finding = finding(&decision, record["evaluator"] == "rubric_dag");
            line.as_object_mut().expect("it is an object").extend(finding);
        }
    }
    line
}

/// What one evaluator says, as a check would say it: score, value, comment, and what they rest on.
pub fn finding(decision: &JudgeDecision, is_tree: bool) -> DataRow {
    let mut line = json!({ "score": null, "value": null });
    let opinion = &decision.opinions[0];
    // One evaluator is one criterion, or one tree.
    let grade = opinion.grades.last();
    line["comment"] = json!(grade.map(|grade| grade.reason.as_str()));
    if let Some(Outcome::Failed { failure, detail }) = grade.map(|grade| &grade.outcome) {
        line["error"] = json!({ "failure": failure, "detail": detail });
    }
    let path: Vec<Json> = opinion.verdict.path.iter().map(|path| json!([path.node, path.answer])).collect();
    if is_tree {
        line["path"] = json!(path);
    }
    match opinion.verdict.path.last() {
        Some(leaf) if leaf.score.is_some() => {
            line["score"] = json!(leaf.score);
            line["value"] = json!(leaf.reason.as_deref().unwrap_or_default());
        }
        Some(_) => {}
        None => {
            let points = grade.map_or(&[][..], |grade| &grade.points);
            line["score"] = json!(grade.and_then(|grade| grade.outcome.unit()));
            line["value"] = match grade.map(|grade| &grade.outcome) {
                Some(Outcome::Scored { .. }) if !points.is_empty() => line["comment"].clone(),
                Some(Outcome::Scored { value, .. }) => json!(value),
                _ => Json::Null,
            };
            if !points.is_empty() {
                line["points"] = json!(points);
            }
        }
    }
    if let Json::Object(line) = line { line } else { DataRow::new() }
}

/// Runs one evaluator with its replies in place of a model.
async fn judge_scripted_record(record: &Json) -> Result<JudgeDecision, String> {
    let params = record.get("params").cloned().unwrap_or_else(|| json!({}));
    let file = json!({ "evaluators": [{ "name": record["evaluator"], "params": params }] }).to_string();
    let world = ProjectEnvironment {
        root: PathBuf::new(),
        read: &|path| {
            if path == Path::new("line.json") { Ok(file.as_str().into()) } else { Err(ReadError::Missing) }
        },
        glob: &|_| Ok(Vec::new()),
        variable: &|_| None,
        variables: VariableExpansion::Filled,
        call: &dialect::refuse_scripts,
    };
    let loaded = dialect::read_suite(Path::new("line.json"), Some(Dialect::Potato), &world);
    let problems: Vec<String> = loaded
        .diagnostics
        .into_sorted()
        .into_iter()
        .filter(|sorted| sorted.severity == jurist_core::diagnostic::DiagnosticSeverity::Error)
        .map(|diagnostic| diagnostic.message)
        .collect();
    let suite = loaded.suite.ok_or_else(|| problems.join("; "))?;
    let rubric = suite.rubrics.values().next().ok_or("no evaluator")?;
    let keys = RecordKeys::of_rubric(rubric).map_err(|error| error.to_string())?;
    let mut whole = record.clone();
    for (name, value) in record["kwargs"].as_object().into_iter().flatten() {
        whole[name] = value.clone();
    }
    let material = JudgeInput::from_record(&whole, &keys).map_err(|error| error.to_string())?;
    let replies = record["judge_replies"].as_array().into_iter().flatten();
    let replies =
        replies.map(|reply| reply.as_str().map_or_else(|| reply.to_string(), str::to_owned)).collect();
    let line = ModelEndpoint {
        model: Arc::new(Script::new(replies)),
        vendor: "script".to_owned(),
        name: "script".to_owned(),
        price: None,
        address: String::new(),
        http: None,
    };
    let member = JudgeModel { line: Arc::new(line), temperature: None, max_tokens: 1024, draw: 0 };
    let judges = ResolvedJudges {
        mappings: Default::default(),
        members: vec![member],
        criteria: Default::default(),
        combine: None,
        escalate: None,
        calls: Calls::PerCriterion,
        seed: 0,
        text_services: None,
        programs: None,
        transcript: false,
    };
    let case =
        JudgeCase { candidate: "line", material: &material, row: None, rubric, labels: None, contests: None };
    judges.decide(&ModelClient::default(), case).await.map_err(|error| error.to_string())
}
