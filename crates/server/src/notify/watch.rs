//! Spend alerts.

use jurist_core::alert::{self, AlertKind};
use jurist_core::grade::{Time, Usd};
use jurist_core::money::Month;
use jurist_store::{Store, StoreError};

use super::apply_alert_signal;

/// Raises an alert if most of a month's budget is spent, and resolves it if that is no longer so.
pub async fn watch_spend(store: &Store, now: Time) -> Result<(), StoreError> {
    let month = Month::of(now).to_string();
    for project in store.projects().await?.iter().filter(|project| project.archived.is_none()) {
        let spent = store.month_spend(project.id, now).await?.settled;
        apply_alert_signal(store, project.id, &alert::spend_signal(&month, spent, project.cap.as_ref()), now)
            .await?;
        // The alert of a refused call records the amount that must be free before calls are allowed again.
        let open = store.open_alert(project.id, AlertKind::SpendStop, "").await?;
        let needed = open.as_ref().and_then(|alert| alert.facts["needed"].as_f64());
        let needed = needed.map_or(1, |value| (value * 1e9).round() as i64);
        let signal = alert::spend_stop_signal(&month, spent, project.cap.as_ref(), Usd::from_nanos(needed));
        apply_alert_signal(store, project.id, &signal, now).await?;
    }
    Ok(())
}
