//! Notifications: recipients, webhook and quiet hours.

use axum::extract::State;
use jurist_store::clock;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::Json;
use super::audit::record_audit_entry;
use super::endpoints::{ApiRoutes, routes};
use crate::app::App;
use crate::auth::{AccessScope, Principal};
use crate::error::{ApiError, Problem};
use crate::notify::{Notifications, QuietHours, Webhook, check_recipients, queue_test_notification};

pub fn build_notification_routes<R: ApiRoutes>() -> R {
    R::new()
        .routes(routes!(get_notification_settings, update_notification_settings))
        .routes(routes!(send_test_notification))
}

#[derive(Debug, Serialize, ToSchema)]
struct NotificationSettingsView {
    /// Addresses; `null` is the project's owners.
    mail: Option<Vec<String>>,
    /// Whether this server can send e-mail at all.
    can_mail: bool,
    /// Where alerts are posted; `null` if there is no webhook.
    webhook: Option<WebhookShown>,
    /// Hours in which nothing is sent; `null` if there are none.
    quiet_hours: Option<QuietHours>,
}

/// The address is a secret and is not returned again.
#[derive(Debug, Serialize, ToSchema)]
struct WebhookShown {
    /// Host of the address. The rest of it is secret.
    #[schema(example = "hooks.example.org")]
    host: String,
    /// Signing secret: only in the response to setting the webhook.
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
}

/// Absent fields stay unchanged; `null` removes a value.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NotificationChange {
    /// Addresses; `null` means the project's owners, an empty list means no e-mail.
    #[serde(default, deserialize_with = "deserialize_nullable_field")]
    #[schema(value_type = Option<Vec<String>>, max_items = 20)]
    mail: Option<Option<Vec<String>>>,
    /// An address that gets signed requests. Set again, it gets a new secret.
    #[serde(default, deserialize_with = "deserialize_nullable_field")]
    #[schema(value_type = Option<String>, example = "https://hooks.example.org/jurist")]
    webhook: Option<Option<String>>,
    /// Hours in which nothing is sent; `null` removes them.
    #[serde(default, deserialize_with = "deserialize_nullable_field")]
    #[schema(value_type = Option<QuietHours>)]
    quiet_hours: Option<Option<QuietHours>>,
}

/// Reads a field so that `null` and an absent field differ.
fn deserialize_nullable_field<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    from: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(from).map(Some)
}

/// Notification settings
#[utoipa::path(get, path = "/notifications", tag = "alerts", responses(
    (status = 200, body = NotificationSettingsView), (status = 401, body = Problem), (status = 403, body = Problem),
    (status = 404, body = Problem)
))]
async fn get_notification_settings(
    State(app): State<App>,
    caller: Principal,
) -> Result<Json<NotificationSettingsView>, ApiError> {
    caller.needs(AccessScope::Manage)?;
    let settings = Notifications::of(&app.store.project(caller.project).await?);
    Ok(Json(notification_settings_view(&app, settings, None)))
}

/// Change notification settings
#[utoipa::path(patch, path = "/notifications", tag = "alerts", request_body = NotificationChange, responses(
    (status = 200, body = NotificationSettingsView), (status = 400, body = Problem), (status = 401, body = Problem),
    (status = 403, body = Problem), (status = 404, body = Problem), (status = 422, body = Problem)
))]
async fn update_notification_settings(
    State(app): State<App>,
    caller: Principal,
    Json(change): Json<NotificationChange>,
) -> Result<Json<NotificationSettingsView>, ApiError> {
    caller.needs(AccessScope::Manage)?;
    let mut settings = Notifications::of(&app.store.project(caller.project).await?);
    let mut secret = None;
    if let Some(mail) = change.mail {
        check_recipients(mail.as_deref().unwrap_or_default()).map_err(ApiError::bad)?;
        settings.mail = mail;
    }
    if let Some(quiet_hours) = change.quiet_hours {
        quiet_hours.as_ref().map_or(Ok(()), QuietHours::check)?;
        settings.quiet_hours = quiet_hours;
    }
    match change.webhook {
        None => {}
        Some(None) => settings.webhook = None,
        Some(Some(address)) => {
            let before = settings.webhook.as_ref();
            let made = Webhook::create(&app.settings.work, caller.project, &address, before)?;
            (settings.webhook, secret) = (Some(made.webhook), Some(made.secret));
        }
    }
    settings.keep(&app.store, caller.project).await?;
    let noted = json!({
        "mail": settings.mail, "webhook": settings.webhook.as_ref().map(|webhook| &webhook.host),
        "quiet_hours": settings.quiet_hours,
    });
    record_audit_entry(&app, &caller, "notifications.change", &caller.project, noted).await?;
    Ok(Json(notification_settings_view(&app, settings, secret)))
}

/// Send a test notification to all recipients
#[utoipa::path(post, path = "/notifications/try", tag = "alerts", responses(
    (status = 200), (status = 401, body = Problem), (status = 403, body = Problem), (status = 404, body = Problem)
))]
async fn send_test_notification(State(app): State<App>, caller: Principal) -> Result<(), ApiError> {
    caller.needs(AccessScope::Manage)?;
    queue_test_notification(&app.store, caller.project, clock::current_time()).await?;
    Ok(())
}

fn notification_settings_view(
    app: &App,
    settings: Notifications,
    secret: Option<String>,
) -> NotificationSettingsView {
    NotificationSettingsView {
        mail: settings.mail,
        can_mail: app.settings.work.settings.mail.is_some(),
        webhook: settings.webhook.map(|webhook| WebhookShown { host: webhook.host, secret }),
        quiet_hours: settings.quiet_hours,
    }
}
