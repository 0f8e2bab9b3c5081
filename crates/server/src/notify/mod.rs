//! Notifications by e-mail and signed webhook, delivered at least once, outside of quiet hours.
//!
//! An alert and its notification job are stored in one transaction, so a killed process loses neither. That job adds
//! one job per channel, which is retried until it succeeds.

mod mail;
mod quiet;
mod settings;
mod vault;
mod watch;
mod webhook;

use jurist_core::alert::{Signal, SignalState};
use jurist_core::grade::Time;
use jurist_store::alerts::{Alert, NewAlert};
use jurist_store::jobs::{Job, NewJob};
use jurist_store::projects::StoredProject;
use jurist_store::{AlertId, ProjectId, Store, StoreError, clock};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

pub use mail::check_recipients;
pub use quiet::{BadQuiet, QuietHours};
pub use settings::{Notifications, Webhook};
pub use watch::watch_spend;
pub use webhook::{BadWebhook, signature};

use crate::job::{JobEnd, JobError, Work};

/// Kind of these jobs.
pub const KIND: &str = "notify";

/// Attempts to deliver; with their waits they take about seven hours.
const ATTEMPTS: u32 = 100;

/// Payload of the job.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct NotificationTask {
    event: NotificationEvent,
    /// `None` for a test notification.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    alert: Option<AlertId>,
    /// `None` in the first job, before there is one job per channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    channel: Option<Channel>,
    /// Distinguishes test notifications.
    since: Time,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum NotificationEvent {
    Raised,
    /// An alert is still open when its snooze ends.
    Reminder,
    Resolved,
    Trial,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Channel {
    Mail,
    Webhook,
}

/// The content of a notification, for all channels.
#[derive(Debug)]
struct NotificationMessage<'a> {
    /// The same id for all attempts.
    id: String,
    event: NotificationEvent,
    project: &'a StoredProject,
    alert: Option<&'a Alert>,
    time: Time,
}

/// Raises an alert if its cause now holds, or gives the open alert the newest figures; resolves it if the cause no
/// longer holds.
pub async fn apply_alert_signal(
    store: &Store,
    project: ProjectId,
    signal: &Signal,
    now: Time,
) -> Result<Option<AlertId>, StoreError> {
    let notice = |event| {
        move |alert| job(project, NotificationTask { event, alert: Some(alert), channel: None, since: now })
    };
    match &signal.state {
        SignalState::Unclear => Ok(None),
        SignalState::Over => {
            // Most checks change nothing, and a read costs less than a write.
            if store.open_alert(project, signal.kind, &signal.of).await?.is_none() {
                return Ok(None);
            }
            store
                .resolve_alert(project, signal.kind, &signal.of, notice(NotificationEvent::Resolved), now)
                .await
        }
        SignalState::Holds { message, facts } => {
            if let Some(open) = store.open_alert(project, signal.kind, &signal.of).await? {
                // Otherwise the alert would contradict newer alerts and the pages.
                if open.message != *message {
                    let facts = Json::Object(facts.clone());
                    store.refresh_alert(project, open.id, message, &facts).await?;
                }
                return Ok(None);
            }
            let new = NewAlert {
                kind: signal.kind,
                subject: signal.of.clone(),
                message: message.clone(),
                facts: Json::Object(facts.clone()),
            };
            store.raise_alert(project, &new, notice(NotificationEvent::Raised), now).await
        }
    }
}

/// The longest snooze, in hours: 90 days.
pub const LONGEST_SNOOZE: u32 = 90 * 24;

/// Sends nothing about an alert for some hours; 0 ends a snooze. `false` if it is resolved.
pub async fn snooze_alert_for_hours(
    store: &Store,
    project: ProjectId,
    alert: AlertId,
    hours: u32,
    now: Time,
) -> Result<bool, StoreError> {
    let until = Time::from_micros(now.micros() + i64::from(hours) * 3_600_000_000);
    let event = NotificationEvent::Reminder;
    let reminder = NotificationTask { event, alert: Some(alert), channel: None, since: until };
    let reminder = (0 < hours).then(|| job(project, reminder));
    store.snooze_alert(project, alert, until, reminder, now).await
}

/// Adds a test notification.
pub async fn queue_test_notification(store: &Store, project: ProjectId, now: Time) -> Result<(), StoreError> {
    let notice = NotificationTask { event: NotificationEvent::Trial, alert: None, channel: None, since: now };
    store.add_job(&job(project, notice), now).await.map(drop)
}

fn job(project: ProjectId, notice: NotificationTask) -> NewJob {
    NewJob {
        project: Some(project),
        kind: KIND.to_owned(),
        dedupe: Some(notice.name(project)),
        ready: notice.since,
        payload: serde_json::to_value(notice).expect("a notice is plain data"),
        priority: 1,
        max_attempts: ATTEMPTS,
    }
}

impl NotificationTask {
    fn name(&self, project: ProjectId) -> String {
        let what = match (&self.alert, self.event) {
            (Some(alert), NotificationEvent::Resolved) => format!("{alert}.resolved"),
            (Some(alert), NotificationEvent::Reminder) => format!("{alert}.reminder.{}", self.since.micros()),
            (Some(alert), _) => alert.to_string(),
            (None, _) => format!("trial.{project}.{}", self.since.micros()),
        };
        match self.channel {
            None => what,
            Some(Channel::Mail) => format!("{what}/mail"),
            Some(Channel::Webhook) => format!("{what}/webhook"),
        }
    }
}

/// What a delivery uses of its worker.
#[derive(Debug, Clone, Copy)]
pub struct DeliveryContext<'a> {
    pub store: &'a Store,
    pub work: &'a Work,
}

/// Executes a notification job.
pub async fn deliver(context: DeliveryContext<'_>, job: &Job) -> Result<JobEnd, JobError> {
    let notice: NotificationTask = serde_json::from_value(job.payload.clone()).map_err(JobError::hopeless)?;
    let id = job.project.ok_or_else(|| JobError::hopeless("an alert belongs to a project"))?;
    let project = context.store.project(id).await?;
    let settings = Notifications::of(&project);
    let now = clock::current_time();
    if notice.event != NotificationEvent::Trial
        && let Some(until) = settings.quiet_until(now)
    {
        return Ok(JobEnd::Later(until, "these are quiet hours"));
    }
    let alert = match notice.alert {
        Some(alert) => Some(context.store.alert(id, alert).await?),
        None => None,
    };
    let Some(channel) = notice.channel else {
        return match alert.and_then(|alert| withhold(&notice, &alert, now)) {
            Some(end) => Ok(end),
            None => fan_out(context, &project, &settings, notice, now).await,
        };
    };
    let notification = NotificationMessage {
        id: NotificationTask { channel: None, ..notice.clone() }.name(id),
        event: notice.event,
        project: &project,
        alert: alert.as_ref(),
        time: now,
    };
    match channel {
        Channel::Mail => mail::send_notification_mail(context, &settings, &notification).await?,
        Channel::Webhook => webhook::send_webhook(context, &settings, &notification).await?,
    }
    if let Some(alert) = notice.alert {
        context.store.alert_sent(id, alert, clock::current_time()).await?;
    }
    Ok(JobEnd::Finished)
}

/// How a notification ends that a snooze holds back; `None` if it is to be sent.
fn withhold(notice: &NotificationTask, alert: &Alert, now: Time) -> Option<JobEnd> {
    let snoozed_until = alert.snoozed_until?;
    let is_settled = alert.resolved.is_some() || alert.seen.is_some();
    match notice.event {
        // The cause may be gone when the snooze ends.
        NotificationEvent::Raised | NotificationEvent::Reminder if is_settled => Some(JobEnd::Finished),
        // The alert was snoozed again, or the snooze was ended.
        NotificationEvent::Reminder if notice.since != snoozed_until => Some(JobEnd::Finished),
        NotificationEvent::Raised | NotificationEvent::Reminder if now < snoozed_until => {
            Some(JobEnd::Later(snoozed_until, "the alert is snoozed"))
        }
        // There was no notification when it was raised.
        NotificationEvent::Resolved if alert.sent.is_none() => Some(JobEnd::Finished),
        _ => None,
    }
}

/// Adds one job per configured channel.
async fn fan_out(
    context: DeliveryContext<'_>,
    project: &StoredProject,
    settings: &Notifications,
    notice: NotificationTask,
    now: Time,
) -> Result<JobEnd, JobError> {
    let by_mail = match &settings.mail {
        Some(recipients) => !recipients.is_empty(),
        None => {
            context.work.settings.mail.is_some() && !mail::owners(context.store, project.id).await?.is_empty()
        }
    };
    let channels = by_mail.then_some(Channel::Mail).into_iter();
    let channels = channels.chain(settings.webhook.as_ref().map(|_| Channel::Webhook));
    let one = |channel| job(project.id, NotificationTask { channel: Some(channel), ..notice.clone() });
    let jobs: Vec<NewJob> = channels.map(one).collect();
    if jobs.is_empty() {
        tracing::warn!(project = project.name, "an alert has no recipients and no webhook");
    }
    context.store.add_jobs(&jobs, now).await?;
    Ok(JobEnd::Finished)
}

impl NotificationMessage<'_> {
    /// One line.
    fn title(&self) -> String {
        let project = &self.project.name;
        match (self.event, self.alert) {
            (NotificationEvent::Raised, Some(alert)) => format!("{project}: {}", alert.message),
            (NotificationEvent::Reminder, Some(alert)) => {
                format!("{project}: still active: {}", alert.message)
            }
            (NotificationEvent::Resolved, Some(alert)) => format!("{project}: resolved: {}", alert.message),
            _ => format!("{project}: this is a test notification"),
        }
    }
}
