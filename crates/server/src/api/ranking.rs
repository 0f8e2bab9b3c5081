//! Who is better, from contests before judges and from what people preferred.

use std::collections::{BTreeMap, BTreeSet};

use axum::extract::State;
use jurist_core::annotate::{Answer, AnswerDraft, SchemeKind};
use jurist_core::report;
use jurist_core::stats::ranking::{
    FirstWins, Pair, Preferred, Ranking, WinRates, estimate_strengths, first_wins, order_by_strength,
};
use jurist_store::annotate::ItemRole;
use jurist_store::assignments::SubmittedAnnotation;
use jurist_store::contests::{Contested, StoredContest};
use jurist_store::{AccountId, ItemId, TaskId};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::endpoints::{ApiRoutes, routes};
use super::picture::ChartView;
use super::{Json, Query, compute_json_response};
use crate::annotate::{TaskDefinition, excluded_accounts, is_turned, list_hidden_items};
use crate::app::App;
use crate::auth::{AccessScope, Principal};
use crate::error::{ApiError, Problem};
use crate::monitor::find_monitor;

/// The newest so many comparisons.
const MOST: usize = 20_000;
/// Answers of people that are read at a time.
const PAGE: usize = 500;

pub fn build_ranking_routes<R: ApiRoutes>() -> R {
    R::new().routes(routes!(get_ranking))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct RankingQuery {
    /// `comparisons` of monitors, or `people` [default: comparisons].
    source: Option<String>,
    /// Of comparisons: only those of this monitor, by its name or id.
    monitor: Option<String>,
    /// Of comparisons: only those before this judge.
    judge: Option<String>,
    /// Of people: the task in which they compare.
    task: Option<String>,
}

/// Ranking from pairwise comparisons
#[derive(Debug, Serialize, ToSchema)]
struct Ranks {
    /// The strongest first; by name if there are no strengths.
    sides: Vec<String>,
    /// How often the side of the row won against that of the column.
    wins: Vec<Vec<usize>>,
    /// The share of points that the row takes from the column, a tie being half a point; null if they never met.
    rates: Vec<Vec<Option<f64>>>,
    /// Strengths after Bradley and Terry, the strongest first.
    bradley_terry: Option<Vec<RankedSide>>,
    /// Why there are no strengths.
    undefined: Option<String>,
    /// Position bias: the effect of being shown first.
    position: Option<PositionShown>,
    /// Comparisons with a result.
    n: usize,
    /// Number of ties.
    ties: usize,
    /// Comparisons with a judge error; they are excluded.
    errors: usize,
    /// All judges of these comparisons.
    judges: Vec<String>,
    /// Strengths with their intervals.
    strengths: Option<ChartView>,
    /// `rates` as a picture; absent where nothing was compared.
    picture: Option<ChartView>,
}

#[derive(Debug, Serialize, ToSchema)]
struct RankedSide {
    /// Name of the candidate.
    side: String,
    /// From 1.
    rank: usize,
    /// Log-odds; those of all sides sum to zero.
    strength: f64,
    /// Of 95 %.
    interval: Option<(f64, f64)>,
    /// On the scale of chess, around 1000.
    elo: f64,
    /// Comparisons that it was part of.
    n: usize,
}

#[derive(Debug, Serialize, ToSchema)]
struct PositionShown {
    /// Number of comparisons that the answer in the first position won.
    first_wins: usize,
    /// Cases that one of two won; several judges of one are one.
    n: usize,
    /// 0.5 without position bias.
    rate: f64,
    /// 95 % confidence interval of the rate.
    interval: (f64, f64),
    /// p-value of the difference from 0.5.
    p: f64,
}

/// Comparisons, by places in a list of names.
#[derive(Debug, Default)]
struct PairwiseComparisons {
    names: Vec<String>,
    pairs: Vec<Pair>,
    errors: usize,
    judges: BTreeSet<String>,
    cases: BTreeMap<String, usize>,
}

/// Ranking from pairwise comparisons
#[utoipa::path(get, path = "/ranking", tag = "ranking", params(RankingQuery), responses(
    (status = 200, body = Ranks), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn get_ranking(
    State(app): State<App>,
    caller: Principal,
    Query(from): Query<RankingQuery>,
) -> Result<Json<Ranks>, ApiError> {
    caller.needs(AccessScope::Read)?;
    let comparisons = match from.source.as_deref().unwrap_or("comparisons") {
        "comparisons" => load_contest_comparisons(&app, &caller, &from).await?,
        "people" => load_annotator_preferences(&app, &caller, &from).await?,
        other => {
            return Err(ApiError::Bad(format!("`source` is `comparisons` or `people`, not `{other}`")));
        }
    };
    compute_json_response(move || Ranks::new(comparisons)).await
}

async fn load_contest_comparisons(
    app: &App,
    caller: &Principal,
    from: &RankingQuery,
) -> Result<PairwiseComparisons, ApiError> {
    let monitor = match &from.monitor {
        Some(name) => Some(find_monitor(&app.store, caller.project, name).await?.id),
        None => None,
    };
    let mut comparisons = PairwiseComparisons::default();
    for it in app.store.newest_contests(caller.project, monitor, MOST).await? {
        comparisons.judges.insert(it.judge.clone());
        if from.judge.as_ref().is_none_or(|judge| *judge == it.judge) {
            comparisons.add_contest(&it);
        }
    }
    Ok(comparisons)
}

/// The first question of the task that compares.
async fn load_annotator_preferences(
    app: &App,
    caller: &Principal,
    from: &RankingQuery,
) -> Result<PairwiseComparisons, ApiError> {
    let task = from.task.as_deref();
    let task = task.ok_or_else(|| ApiError::bad("`task` names the task in which people compare"))?;
    let task = app.store.task(caller.project, task.parse::<TaskId>().map_err(ApiError::bad)?).await?;
    let definition = TaskDefinition::of(&app.store, caller.project, task.id, task.version).await?;
    let compares = definition.schemes.into_iter().find_map(|scheme| match scheme.kind {
        SchemeKind::Pairwise { labels, tie_label } => Some((scheme.name, labels, tie_label)),
        _ => None,
    });
    let Some((scheme, labels, tie_label)) = compares else {
        return Err(ApiError::bad("this task has no comparisons"));
    };
    let turned: BTreeMap<(ItemId, AccountId), bool> = app
        .store
        .submitted_assignments(caller.project, task.id)
        .await?
        .into_iter()
        .map(|submitted| ((submitted.item, submitted.account), is_turned(submitted.id)))
        .collect();
    let hidden = list_hidden_items(&app.store, caller.project, &task, caller.person).await?;
    let excluded = excluded_accounts(&task);
    let mut comparisons = PairwiseComparisons { names: labels.clone(), ..PairwiseComparisons::default() };
    let mut after = None;
    loop {
        let page = app.store.annotations(caller.project, task.id, after.as_ref(), PAGE).await?;
        let is_shown = |submitted_annotation: &&SubmittedAnnotation| {
            submitted_annotation.role == ItemRole::Item
                && !hidden.contains(&submitted_annotation.item)
                && !excluded.contains(&submitted_annotation.account)
        };
        for it in page.items.iter().filter(is_shown) {
            let draft: AnswerDraft = serde_json::from_value(it.body.clone()).unwrap_or_default();
            let Some(Answer::Pairwise { label: Some(label) }) = draft.get(&scheme) else { continue };
            let is_turned = turned.get(&(it.item, it.account)).copied().unwrap_or(false);
            comparisons.add_answer(&it.item.to_string(), label, &labels, tie_label.as_deref(), is_turned);
        }
        match page.next {
            Some(next) if comparisons.pairs.len() < MOST => after = Some(next),
            _ => return Ok(comparisons),
        }
    }
}

impl PairwiseComparisons {
    fn place(&mut self, name: &str) -> usize {
        self.names.iter().position(|text| text == name).unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        })
    }

    /// What is not independent is one case.
    fn case(&mut self, key: String) -> usize {
        let n = self.cases.len();
        *self.cases.entry(key).or_insert(n)
    }

    fn add_contest(&mut self, it: &StoredContest) {
        let ((side_a, side_b), (trace_a, trace_b)) = (&it.sides, &it.traces);
        let (a, b) = (self.place(side_a), self.place(side_b));
        let is_turned = it.first == *trace_b;
        let preferred = match (it.outcome, is_turned) {
            (Contested::Error, _) => {
                self.errors += 1;
                return;
            }
            (Contested::Tie, _) => Preferred::Neither,
            (Contested::A, false) | (Contested::B, true) => Preferred::First,
            (Contested::A, true) | (Contested::B, false) => Preferred::Second,
        };
        let (first, second) = if is_turned { (b, a) } else { (a, b) };
        let case = self.case(format!("{trace_a} {trace_b}"));
        self.pairs.push(Pair::new(case, first, second, preferred));
    }

    fn add_answer(&mut self, item: &str, label: &str, labels: &[String], tie: Option<&str>, is_turned: bool) {
        let chosen = labels.iter().position(|text| text == label);
        if labels.len() != 2 || (chosen.is_none() && Some(label) != tie) {
            return;
        }
        let (first, second) = if is_turned { (1, 0) } else { (0, 1) };
        let preferred = match chosen {
            None => Preferred::Neither,
            Some(it) if it == first => Preferred::First,
            Some(_) => Preferred::Second,
        };
        let case = self.case(item.to_owned());
        self.pairs.push(Pair::new(case, first, second, preferred));
    }
}

impl Ranks {
    fn new(comparisons: PairwiseComparisons) -> Self {
        let PairwiseComparisons { names, pairs, errors, judges, .. } = comparisons;
        let rates = WinRates::new(names.len(), &pairs);
        let ranking = estimate_strengths(&names, &pairs, 0.0);
        let order = ranking.as_ref().map_or_else(|_| sort_sides_by_name(&names), order_by_strength);
        let mut wins = vec![vec![0; names.len()]; names.len()];
        for it in &pairs {
            match it.preferred {
                Preferred::First => wins[it.first][it.second] += 1,
                Preferred::Second => wins[it.second][it.first] += 1,
                Preferred::Neither => {}
            }
        }
        let sorted = |one: &usize| order.iter().map(|other| wins[*one][*other]).collect();
        Self {
            sides: order.iter().map(|at| names[*at].clone()).collect(),
            wins: order.iter().map(sorted).collect(),
            rates: order
                .iter()
                .map(|one| order.iter().map(|order| rates.rate(*one, *order)).collect())
                .collect(),
            position: first_wins(&pairs).map(PositionShown::from),
            n: pairs.len(),
            ties: pairs.iter().filter(|pair| pair.preferred == Preferred::Neither).count(),
            errors,
            judges: judges.into_iter().collect(),
            strengths: ranking
                .as_ref()
                .ok()
                .map(|ranking| ChartView::from(&report::build_strength_forest(&order, ranking, &pairs))),
            picture: (!pairs.is_empty())
                .then(|| ChartView::from(&report::build_win_matrix(&order, &names, &rates))),
            undefined: ranking.as_ref().err().map(ToString::to_string),
            bradley_terry: ranking.ok().map(|ranking| build_ranked_sides(&ranking, &order, &pairs)),
        }
    }
}

fn sort_sides_by_name(names: &[String]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by_key(|index| &names[*index]);
    order
}

fn build_ranked_sides(ranking: &Ranking, order: &[usize], pairs: &[Pair]) -> Vec<RankedSide> {
    let side = |(at, player): (usize, &usize)| {
        let it = &ranking.players[*player];
        RankedSide {
            side: it.name.clone(),
            rank: at + 1,
            strength: it.strength.value,
            interval: it.strength.interval,
            elo: it.strength.elo(),
            n: pairs.iter().filter(|pair| pair.first == *player || pair.second == *player).count(),
        }
    };
    order.iter().enumerate().map(side).collect()
}

impl std::convert::From<FirstWins> for PositionShown {
    fn from(it: FirstWins) -> Self {
        Self { first_wins: it.first_wins, n: it.n, rate: it.rate, interval: it.interval, p: it.p }
    }
}
