//! What the server watches monitors for: scores that fall, judges that break or disagree, and silence.

use jurist_core::alert::{self, Kind, Signal};
use jurist_core::grade::Time;
use jurist_store::monitors::Monitor;
use jurist_store::{ProjectId, Store, StoreError};

use super::Watched;
use super::estimates::{DAY, Look, main_series, seen};
use crate::notify::tell;

/// Judgements that say how judges do, the newest, of some days.
const JUDGED: usize = 200;
const JUDGED_DAYS: i64 = 7;

/// A week is held against the four before it. What it is held against stays the same for all of it, so that one may
/// look as often as one likes.
const WEEK: i64 = 7 * DAY;
const WEEKS_BEFORE: i64 = 4;
/// The first of January 1970 was a Thursday.
const MONDAY: i64 = 4 * DAY;

/// Alerts of a monitor.
const KINDS: [Kind; 5] =
    [Kind::ScoreDrop, Kind::ErrorRate, Kind::NoData, Kind::JudgeDisagreement, Kind::MonitorPaused];

/// Looks at every monitor, and tells what is new.
pub async fn watch_monitors(store: &Store, now: Time) -> Result<(), StoreError> {
    for project in store.projects().await?.iter().filter(|it| it.archived.is_none()) {
        for monitor in store.monitors(project.id).await? {
            for signal in signals(store, project.id, &monitor, now).await? {
                tell(store, project.id, &signal, now).await?;
            }
        }
    }
    Ok(())
}

/// Nobody waits for a monitor that is no longer there.
pub(super) async fn end(store: &Store, project: ProjectId, name: &str, now: Time) -> Result<(), StoreError> {
    for kind in KINDS {
        tell(store, project, &Signal::over(kind, name), now).await?;
    }
    Ok(())
}

async fn signals(
    store: &Store,
    project: ProjectId,
    monitor: &Monitor,
    now: Time,
) -> Result<Vec<Signal>, StoreError> {
    let Some(watched) = monitor.newest.as_ref().and_then(|it| Watched::read(it).ok()) else {
        return Ok(Vec::new());
    };
    let (name, limits) = (monitor.name.as_str(), watched.monitor.alerts.unwrap_or_default());
    let since = Time::from_micros(now.micros() - JUDGED_DAYS * DAY);
    let judged = store.recently_judged(project, monitor.id, since, JUDGED).await?;
    let last = store.last_decided(project, monitor.id).await?;
    let (before, after) = weeks(store, project, monitor, now).await?;
    Ok(vec![
        alert::error_rate(name, judged.n_errors, judged.n, limits.error_rate),
        alert::judge_disagreement(name, judged.n_disputed, judged.n_compared, limits.disagreement_rate),
        alert::no_data(name, last, limits.silence_hours, now),
        alert::score_drop(name, before, after),
    ])
}

/// The four weeks before this one, and this one so far, by the version and judge that are at work.
async fn weeks(
    store: &Store,
    project: ProjectId,
    monitor: &Monitor,
    now: Time,
) -> Result<(Option<alert::Seen>, Option<alert::Seen>), StoreError> {
    let begin = (now.micros() - MONDAY).div_euclid(WEEK) * WEEK + MONDAY;
    let look = |from: i64, until: i64| Look {
        agent: None,
        from: Time::from_micros(from),
        until: Time::from_micros(until),
    };
    let (before, since) = (look(begin - WEEKS_BEFORE * WEEK, begin), look(begin, begin + WEEK));
    let Some(series) = main_series(store, project, monitor, &since).await? else { return Ok((None, None)) };
    let alpha = alert::SCORE_ALPHA / 2.0;
    Ok((
        seen(store, project, monitor, &before, &series, alpha).await?,
        seen(store, project, monitor, &since, &series, alpha).await?,
    ))
}
