//! What three invented people answered: one careful, one who hurries and grows mild, one who is strict about steps.

use std::collections::BTreeMap;

use jurist_core::annotate::{AnnotationSettings, Answer, Quote, Rated, Rating};
use jurist_core::grade::{Time, Value};
use jurist_core::plan::hash_position;
use jurist_server::annotate::{
    ItemSubject, assignment_policy, collect_run_claims, complete_annotation, from_rubric,
    load_assignment_context, parse_task_settings, verification,
};
use jurist_server::monitor::find_monitor;
use jurist_store::accounts::{NewAccount, ProjectRole};
use jurist_store::adjudications::NewAdjudication;
use jurist_store::annotate::{ItemRole, NewItem, Task};
use jurist_store::assignments::{NextAssignment, SaveOutcome};
use jurist_store::labels::NewLabel;
use jurist_store::{AccountId, ItemId, ProjectId, Region, Store};
use serde_json::json;

use crate::world::{Seen, Truth};
use crate::{DAY, HOUR};

const SCHEME: &str = "rubric";
const ITEMS: usize = 24;

struct Person {
    name: &'static str,
    n_items: usize,
    /// For an item, about.
    seconds: f64,
    begins: i64,
}

const PEOPLE: [Person; 3] = [
    Person { name: "Ana (invented)", n_items: ITEMS, seconds: 95.0, begins: 4 * DAY },
    Person { name: "Ben (invented)", n_items: ITEMS, seconds: 24.0, begins: 3 * DAY + 5 * HOUR },
    Person { name: "Chiara (invented)", n_items: 16, seconds: 130.0, begins: 2 * DAY },
];

/// Ratings of the newest changes that judges have scored, by the same rubric; and what was decided where they differ.
pub async fn rate(store: &Store, project: ProjectId, coded: &[Seen], now: Time) -> usize {
    let newest = &coded[coded.len().saturating_sub(ITEMS)..];
    let monitor = find_monitor(store, project, "code review").await.unwrap();
    let version = store.rubric_version(project, &monitor.newest.unwrap().rubric_version).await.unwrap();
    let made = Time::from_micros(now.micros() - 5 * DAY);
    let settings = AnnotationSettings { annotators_per_item: Some(3), ..AnnotationSettings::default() };
    let name = "Changes of a coding agent (invented)";
    let task = from_rubric(store, project, name, &version, Vec::new(), &settings, made).await.unwrap().0;
    let item = |seen: &Seen| NewItem {
        candidate: seen.id.to_string(),
        body: json!(ItemSubject::Trace { id: seen.id.to_string(), claims: Vec::new() }),
        n_wanted: 3,
        priority: 0,
        role: ItemRole::Item,
        turn: None,
    };
    let items: Vec<NewItem> = newest.iter().map(item).collect();
    store.add_items(project, task.id, &items, made).await.unwrap();
    let (mut n, mut said) = (0, BTreeMap::new());
    for person in &PEOPLE {
        n += answer(store, project, &task, newest, person, now, &mut said).await;
    }
    decide(store, project, &task, &version.id, said, now).await;
    n
}

/// Who gave how many points for being right, by item.
type Said = BTreeMap<(String, ItemId), Vec<f64>>;

async fn answer(
    store: &Store,
    project: ProjectId,
    task: &Task,
    seen: &[Seen],
    person: &Person,
    now: Time,
    said: &mut Said,
) -> usize {
    let mut clock = now.micros() - person.begins;
    let account =
        account(store, project, person.name, ProjectRole::Annotator, Time::from_micros(clock)).await;
    for n in 0..person.n_items {
        let time = Time::from_micros(clock);
        let given = assignment_policy(&parse_task_settings(task), account, time);
        let next = store.assign_next(project, task.id, account, &given, time).await.unwrap();
        let NextAssignment::Given(given) = next else { return n };
        let (assignment, item) = *given;
        let shown = load_assignment_context(store, project, assignment).await.unwrap();
        let seen = seen.iter().find(|seen| seen.id.as_str() == item.candidate).unwrap();
        let is_late = person.n_items / 2 < n;
        let rated: BTreeMap<String, Rated> = seen
            .truth
            .iter()
            .map(|(name, truth)| ((*name).to_owned(), rated(person, seen, name, truth, is_late)))
            .collect();
        if let Some(Rating::Scored { value: Value::Number(points) }) = &rated["correctness"].rating {
            said.entry((item.candidate.clone(), item.id)).or_default().push(*points);
        }
        let draft = BTreeMap::from([(
            SCHEME.to_owned(),
            Answer::Rubric { criteria: rated, overall: None, notes: None },
        )]);
        let spread = 0.5 + 1.2 * hash_position(person.name, &item.candidate);
        clock += (person.seconds * spread * 1e6) as i64;
        let (body, time) = (json!(draft), Time::from_micros(clock));
        let saved =
            store.submit(project, shown.assignment.id, &body, shown.assignment.revision, time).await.unwrap();
        assert!(matches!(saved, SaveOutcome::Done { .. }), "{saved:?}");
        complete_annotation(store, project, &shown, &draft, 1, time).await.unwrap();
        clock += 8_000_000;
    }
    person.n_items
}

async fn account(store: &Store, project: ProjectId, name: &str, role: ProjectRole, now: Time) -> AccountId {
    let first = name.split(' ').next().unwrap_or_default().to_lowercase();
    let email = format!("{first}@example.invalid");
    let new = NewAccount { email, name: name.to_owned(), password: None, is_admin: false };
    let account = store.add_account(&new, now).await.unwrap();
    store.set_role(project, account.id, role, now).await.unwrap();
    account.id
}

fn rated(person: &Person, seen: &Seen, criterion: &str, truth: &Truth, is_late: bool) -> Rated {
    let (id, mut level) = (seen.id.as_str(), i32::from(truth.level));
    let chance = hash_position(&format!("{} {criterion}", person.name), id);
    let noise = if person.name.starts_with("Ben") { 0.3 } else { 0.12 };
    level += i32::from(1.0 - noise < chance) - i32::from(chance < noise);
    level += i32::from(person.name.starts_with("Ben") && is_late);
    level -= i32::from(person.name.starts_with("Chiara") && criterion == "efficiency") * 2;
    let value = Value::Number(f64::from(level.clamp(1, 5)));
    let is_careful = !person.name.starts_with("Ben") && 0.55 < chance;
    Rated {
        rating: Some(Rating::Scored { value }),
        comment: is_careful.then(|| truth.why.clone()),
        evidence: truth.quote.iter().filter(|_| is_careful).filter_map(|quote| quoted(seen, quote)).collect(),
    }
}

/// Where words of a thought stand.
fn quoted(seen: &Seen, quote: &str) -> Option<Quote> {
    let mut steps = seen.finished.trace.steps.iter().enumerate();
    let (nth, start) = steps.find_map(|(nth, step)| Some((nth, step.reasoning.find(quote)?)))?;
    let (start, end) = (start as u64, (start + quote.len()) as u64);
    Some(Quote {
        part: Some(format!("trace.{}.reasoning", nth + 1)),
        quote: quote.to_owned(),
        start: Some(start),
        end: Some(end),
    })
}

/// Somebody has looked at two of those on which people are furthest apart.
async fn decide(
    store: &Store,
    project: ProjectId,
    task: &Task,
    version: &jurist_store::RubricVersionId,
    said: Said,
    now: Time,
) {
    let time = Time::from_micros(now.micros() - 20 * HOUR);
    let author = account(store, project, "Olga (invented)", ProjectRole::Owner, time).await;
    let apart =
        |all: &[f64]| all.iter().copied().fold(1.0, f64::max) - all.iter().copied().fold(5.0, f64::min);
    let mut furthest: Vec<_> = said.into_iter().filter(|said| 0.0 < apart(&said.1)).collect();
    furthest.sort_by(|a, b| apart(&b.1).total_cmp(&apart(&a.1)).then(a.0.cmp(&b.0)));
    for ((candidate, item), all) in furthest.into_iter().skip(1).step_by(2).take(2) {
        let least = all.iter().copied().fold(5.0, f64::min);
        let rating = Rating::Scored { value: Value::Number(least) };
        let why = "The diff decides: whoever gave more had read the summary only.";
        let decision = NewAdjudication {
            task: task.id,
            item,
            scheme: SCHEME.to_owned(),
            criterion: "correctness".to_owned(),
            body: json!({ "rating": rating, "why": why, "cause": "mistake" }),
            author: Some(author),
        };
        let label = NewLabel {
            candidate,
            rubric_version: version.clone(),
            criterion: "correctness".to_owned(),
            value: Value::Number(least),
            unit: Some((least - 1.0) / 4.0),
            origin: "adjudicated".to_owned(),
            author: Some(author),
        };
        store.adjudicate(project, &decision, Some(&label), time).await.unwrap();
    }
}

/// What the judge of the run said waits for whoever looks at the demo: its replies are real, and it errs.
pub async fn verify(store: &Store, project: ProjectId, now: Time) {
    let latest = store.find_run(project, "latest").await.unwrap();
    let run = store.load_run(project, latest).await.unwrap();
    let (version, subjects) =
        collect_run_claims(store, project, &Region::default(), &run, now).await.unwrap();
    let name = "Is the judge right? (replies of a real model)";
    verification(store, project, name, &version, subjects, &AnnotationSettings::default(), now)
        .await
        .unwrap();
}
