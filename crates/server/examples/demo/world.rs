//! What the invented agents did, and how good it was. The same for the same moment, and another for another day.

use std::collections::BTreeMap;
use std::path::Path;

use jurist_core::candidate::{StepRole, Trace, Usage, read_trace_value};
use jurist_core::grade::{Time, Usd};
use jurist_core::plan::hash_position;
use jurist_store::traces::FinishedTrace;
use jurist_store::{Probability, TraceId};
use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::{DAY, HOUR};

pub const SUPPORT: &str = "invented-support";
pub const CODER: &str = "invented-coder";

/// Of the coding agent, and how often each gets a change right.
pub const RELEASES: [(&str, f64); 3] = [("1.4", 0.3), ("1.5", 0.6), ("2.0", 0.9)];

/// How far back it goes.
pub const DAYS: i64 = 33;

/// Between two traces of an agent, on average.
const TICKET_EVERY: i64 = 25 * 60_000_000;
const TASK_EVERY: i64 = 3 * HOUR;

/// The first of January 1970 was a Thursday.
const MONDAY: i64 = 4 * DAY;

pub struct World {
    pub now: i64,
    /// When the monitor of the support desk was changed.
    pub second_version: i64,
    /// When the refund window was shortened, which the agent has not learnt: a Monday six to thirteen days ago.
    pub shorter: i64,
    tickets: Vec<Ticket>,
    tasks: Vec<Task>,
}

/// A trace, and what there is to say about it.
pub struct Seen {
    pub id: TraceId,
    pub finished: FinishedTrace,
    /// By criterion.
    pub truth: BTreeMap<&'static str, Truth>,
}

/// How good something is: 0 or 1 of a question, 1 to 5 of a scale.
#[derive(Debug, Clone)]
pub struct Truth {
    pub level: u8,
    pub why: String,
    pub quote: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ticket {
    about: String,
    follows_policy: bool,
    #[serde(default)]
    slip_agrees: bool,
    ask: String,
    tool: String,
    arguments: Json,
    result: String,
    /// By the days of the refund window, where it follows them.
    right: BTreeMap<String, String>,
    wrong: String,
    slip: String,
    quote: BTreeMap<String, String>,
    why: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Task {
    task: String,
    file: String,
    test: String,
    seen: String,
    idea: String,
    good: String,
    weak: String,
    flaw: String,
}

impl Seen {
    pub fn agent(&self) -> &str {
        self.finished.agent.as_deref().unwrap_or_default()
    }
}

/// One of several, at random.
fn one<'a, T>(all: &'a [T], salt: &str, id: &str) -> &'a T {
    &all[(hash_position(salt, id) * all.len() as f64) as usize]
}

fn truth(level: u8, why: impl Into<String>, quote: Option<&str>) -> Truth {
    Truth { level, why: why.into(), quote: quote.map(str::to_owned) }
}

impl World {
    pub fn new(folder: &Path, now: Time) -> Self {
        let now = now.micros();
        let monday = |time: i64| (time - MONDAY).div_euclid(7 * DAY) * 7 * DAY + MONDAY;
        let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
        Self {
            now,
            second_version: now - 25 * DAY,
            shorter: monday(now - 6 * DAY),
            tickets: serde_json::from_str(&read("tickets.json")).unwrap(),
            tasks: serde_json::from_str(&read("tasks.json")).unwrap(),
        }
    }

    /// Everything that ended in a stretch of time, the oldest first.
    pub fn between(&self, start: i64, end: i64) -> Vec<Seen> {
        let times = |agent: &'static str, every: i64| {
            let jitter = move |n: i64| (hash_position(agent, &n.to_string()) * 0.9 * every as f64) as i64;
            let all = start / every - 1..=end / every;
            all.map(move |n| (n, n * every + jitter(n))).filter(move |it| (start..=end).contains(&it.1))
        };
        let tickets = times(SUPPORT, TICKET_EVERY).map(|(n, time)| self.ticket(n, time));
        let tasks = times(CODER, TASK_EVERY).map(|(n, time)| self.task(n, time));
        tickets.chain(tasks).collect()
    }

    fn ticket(&self, n: i64, time: i64) -> Seen {
        let id = format!("ticket-{}", n % 1_000_000);
        // Returns are most of it.
        let at = if hash_position("kind", &id) < 0.66 {
            (hash_position("which", &id) * 2.0) as usize
        } else {
            2 + (hash_position("which", &id) * 4.0) as usize
        };
        let ticket = &self.tickets[at];
        let is_after = self.shorter <= time;
        let days = if is_after { "14" } else { "30" };
        let chance = hash_position("luck", &id);
        let kind = match (ticket.follows_policy, is_after) {
            _ if 0.94 < chance => "slip",
            (true, true) if 0.1 < chance => "wrong",
            (false, _) if chance < 0.04 => "wrong",
            _ => "right",
        };
        let is_failed = 0.95 < hash_position("failed", &id);
        let cents = 1_000 + (hash_position("amount", &id) * 9_000.0) as i64;
        let fill = |text: &str| {
            let amount = |cents: i64| format!("{}.{:02}", cents / 100, cents % 100);
            let item = one(&["kettle", "lamp", "headset", "backpack", "toaster"], "item", &id);
            let fault =
                one(&["leaks", "makes a strange noise", "stopped working", "has a crack"], "fault", &id);
            let day = one(&["Monday", "Tuesday", "Thursday", "Friday"], "day", &id);
            text.replace("{n}", &(5_000 + n % 4_000).to_string())
                .replace("{item}", item)
                .replace("{fault}", fault)
                .replace("{day}", day)
                .replace("{days}", days)
                .replace("{amount}", &amount(cents))
                .replace("{other}", &amount(cents + 900))
                .replace("{house}", &(1 + n % 80).to_string())
        };
        let reply = match kind {
            "right" => ticket.right.get(days).or(ticket.right.get("")).unwrap(),
            "wrong" => &ticket.wrong,
            _ => &ticket.slip,
        };
        let reply = fill(reply);
        let call = json!({"id": "1", "type": "function", "function": {"name": ticket.tool, "arguments": fill(&ticket.arguments.to_string())}});
        let mut messages = vec![
            json!({"role": "user", "content": fill(&ticket.ask)}),
            json!({"role": "assistant", "content": null, "tool_calls": [call]}),
        ];
        if is_failed {
            messages.push(
                json!({"role": "tool", "tool_call_id": "1", "content": "error: no answer within 30 seconds"}),
            );
        } else {
            messages.push(json!({"role": "tool", "tool_call_id": "1", "content": fill(&ticket.result)}));
            messages.push(json!({"role": "assistant", "content": reply}));
        }
        let first = reply.split_inclusive(['.', '!', '?']).next().map(str::trim);
        let quote = fill(ticket.quote.get(kind).map_or("", String::as_str));
        let quote = Some(quote.as_str()).filter(|text| !text.is_empty()).or(first);
        let agrees = kind == "right" || (kind == "slip" && ticket.slip_agrees);
        let warm = 4 + u8::from(0.4 < hash_position("tone", &id));
        let truth = if is_failed {
            let none = |why: &str| truth(0, why, None);
            BTreeMap::from([
                ("answers", none("No reply came: the tool timed out.")),
                ("correct", none("There is no reply that could agree with anything.")),
                ("next-step", none("The customer is left alone.")),
                ("tone", truth(2, "Silence is not friendly.", None)),
            ])
        } else {
            let is_slip = kind == "slip";
            BTreeMap::from([
                (
                    "answers",
                    truth(
                        u8::from(!is_slip),
                        if is_slip { "It goes past what was asked." } else { "It says what was asked." },
                        first,
                    ),
                ),
                ("correct", truth(u8::from(agrees), fill(&ticket.why[kind]), quote)),
                (
                    "next-step",
                    truth(
                        u8::from(!is_slip),
                        if is_slip {
                            "Nothing is said about what comes next."
                        } else {
                            "It says what happens next."
                        },
                        None,
                    ),
                ),
                (
                    "tone",
                    truth(
                        if is_slip { 2 } else { warm },
                        if is_slip {
                            "Short to the point of being cold."
                        } else {
                            "Friendly, and to the point."
                        },
                        first,
                    ),
                ),
            ])
        };
        let about = json!({"invented": true, "title": fill(&ticket.ask), "about": ticket.about});
        Seen { truth, ..seen(id, SUPPORT, &json!(messages), time, is_failed, about) }
    }

    /// The release of the coding agent at some time, and how often it gets a change right.
    fn release(&self, time: i64) -> (&'static str, f64) {
        let third = (time - self.now + DAYS * DAY) * 3 / (DAYS * DAY);
        RELEASES[usize::try_from(third).unwrap_or(0).min(2)]
    }

    fn task(&self, n: i64, time: i64) -> Seen {
        let id = format!("change-{}", n % 1_000_000);
        let task = one(&self.tasks, "task", &id);
        let is_good = hash_position("skill", &id) < self.release(time).1;
        let level =
            |salt: &str, from: u8, to: u8| from + (hash_position(salt, &id) * f64::from(to - from + 1)) as u8;
        let correctness = if is_good { level("right", 4, 5) } else { level("right", 1, 3) };
        let (tests, efficiency, explanation) =
            (level("tests", 1, 5), level("efficiency", 2, 5), level("explanation", 1, 5));
        let step = |thought: &str, action: String, observation: String| json!({"thought": thought, "action": action, "observation": observation});
        let mut steps = vec![step("Find the place first.", format!("cat {}", task.file), task.seen.clone())];
        let detours = [
            ("Perhaps the README says more.", "cat README.md", "# Invented\nA project that does not exist."),
            ("Look at everything that is there.", "ls -R", "src tests README.md"),
            ("Was it changed lately?", "git log --oneline -3", "b1c2d3e tidy\na0b1c2d first"),
        ];
        for (thought, action, observation) in detours.iter().take(usize::from(5 - efficiency)) {
            steps.push(step(thought, (*action).to_owned(), (*observation).to_owned()));
        }
        steps.push(step(&task.idea, format!("edit {}", task.file), "changed".to_owned()));
        if 4 <= tests {
            let what =
                if tests == 5 { "A test for it, and for inputs that are unusual." } else { "A test for it." };
            steps.push(step(what, format!("edit {}", task.test), format!("{} lines added", 6 * tests)));
        }
        let is_failed = 0.94 < hash_position("crash", &id);
        if 2 <= tests {
            let all = if tests == 2 {
                "pytest -q tests/test_cli.py".to_owned()
            } else {
                format!("pytest -q {}", task.test)
            };
            let found = if is_failed {
                "killed: out of memory".to_owned()
            } else {
                format!("{} passed", 4 + level("n", 1, 9))
            };
            steps.push(step("See whether it holds.", all, found));
        }
        let said = match explanation {
            1 => "Done.".to_owned(),
            2 | 3 => format!("I have changed {}.", task.file),
            4 => format!("I have changed {}: {}", task.file, task.idea),
            _ => format!(
                "I have changed {}: {} What is given as before behaves as before; nothing else was touched.",
                task.file, task.idea
            ),
        };
        steps.push(step(&said, "finish".to_owned(), String::new()));
        let diff = if is_good { &task.good } else { &task.weak };
        let trace =
            json!({"task": task.task, "steps": steps, "files_changed": [{"path": task.file, "diff": diff}]});
        let why = if is_good { "The change does what was asked." } else { task.flaw.as_str() };
        let tried = [
            "",
            "Nothing was run.",
            "What was run does not touch the change.",
            "What was there was run.",
            "The change has a test of its own.",
            "The change and unusual inputs have tests.",
        ];
        let truth = BTreeMap::from([
            ("correctness", truth(correctness, why, Some(&task.idea))),
            ("tests", truth(tests, tried[usize::from(tests)], None)),
            (
                "efficiency",
                truth(
                    efficiency,
                    if efficiency < 4 { "Some steps led nowhere." } else { "Every step leads on." },
                    None,
                ),
            ),
            (
                "explanation",
                truth(
                    explanation,
                    if explanation < 4 {
                        "What was changed is hardly said."
                    } else {
                        "It says what and why."
                    },
                    Some(&said),
                ),
            ),
        ]);
        let release = self.release(time).0;
        let about = json!({"invented": true, "title": task.task, "file": task.file, "release": release});
        Seen { truth, ..seen(id, CODER, &trace, time, is_failed, about) }
    }
}

/// A trace of which nothing is known yet.
fn seen(id: String, agent: &str, said: &Json, time: i64, is_failed: bool, metadata: Json) -> Seen {
    let mut trace = read_trace_value(said, None).unwrap().1;
    let tokens = 900 + (hash_position("tokens", &id) * 4_000.0) as u64 * trace.steps.len() as u64 / 3;
    trace.usage = Usage { input: tokens, output: tokens / 6, cached: tokens / 3 };
    trace.cost = Some(Usd::from_nanos(i64::try_from(tokens).unwrap() * 3_400));
    trace.status = Some(if is_failed { "error" } else { "ok" }.to_owned());
    let seconds = trace.steps.len() as f64 * (1.0 + 7.0 * hash_position("seconds", &id));
    time_steps(&mut trace, &id, time - (seconds * 1e6) as i64, seconds);
    let finished = FinishedTrace {
        trace,
        agent: Some(agent.to_owned()),
        session: None,
        is_failed,
        started: Time::from_micros(time - (seconds * 1e6) as i64),
        duration: Some((seconds * 1e6) as i64),
        probability: Probability::CERTAIN,
        metadata,
    };
    Seen { id: TraceId::new(id).unwrap(), finished, truth: BTreeMap::new() }
}

/// Divides the time, tokens and cost of a trace among its steps, so that it has a timeline.
fn time_steps(trace: &mut Trace, id: &str, started: i64, seconds: f64) {
    let (usage, cost) = (trace.usage, trace.cost.map_or(0, Usd::nanos) as f64);
    let weigh = |role: StepRole, nth: usize| match role {
        StepRole::Assistant => 1.0 + 2.0 * hash_position(&format!("step {nth}"), id),
        StepRole::Tool => 0.05 + 0.7 * hash_position(&format!("tool {nth}"), id),
        _ => 0.0,
    };
    let weights: Vec<f64> = trace.steps.iter().enumerate().map(|(nth, step)| weigh(step.role, nth)).collect();
    let sum_of = |is_counted: &dyn Fn(usize) -> bool| -> f64 {
        (0..weights.len()).filter(|nth| is_counted(*nth)).map(|nth| weights[nth]).sum::<f64>().max(1e-9)
    };
    let roles: Vec<StepRole> = trace.steps.iter().map(|step| step.role).collect();
    let (all, of_model) = (sum_of(&|_| true), sum_of(&|nth| roles[nth] == StepRole::Assistant));
    let mut clock = 0.0;
    for (step, weight) in trace.steps.iter_mut().zip(&weights) {
        step.time = Some(Time::from_micros(started + (clock * 1e6) as i64));
        if *weight <= 0.0 {
            continue;
        }
        let took = seconds * weight / all;
        step.duration_ms = Some((took * 1e6).round() / 1e3);
        clock += took;
        if step.role == StepRole::Assistant {
            let share = |n: u64| (n as f64 * weight / of_model) as u64;
            step.usage =
                Usage { input: share(usage.input), output: share(usage.output), cached: share(usage.cached) };
            step.cost = Some(Usd::from_nanos((cost * weight / of_model) as i64));
        }
    }
}
