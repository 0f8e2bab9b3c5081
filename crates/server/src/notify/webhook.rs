//! Signed requests by the Standard Webhooks specification.
//!
//! `webhook-id` is the same for all attempts, `webhook-timestamp` is the time of the attempt, and `webhook-signature`
//! is the HMAC-SHA256 of both and the body. A receiver that checks all three detects forged and replayed requests.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jurist_engine::model::guard::refuse_private;
use jurist_engine::model::http::{NetworkOptions, client, public_client};
use jurist_store::ProjectId;
use ring::hmac;
use serde_json::{Value as Json, json};

use super::settings::{Notifications, Webhook};
use super::vault::{NoSecret, Vault};
use super::{DeliveryContext, NotificationEvent, NotificationMessage};
use crate::job::{JobError, Work};

const TIMEOUT: Duration = Duration::from_secs(20);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadWebhook {
    #[error("a webhook is an address such as https://example.org/hook")]
    Address,
    #[error("{0}")]
    Private(String),
    #[error(transparent)]
    NoSecret(#[from] NoSecret),
}

/// A webhook, and the signing secret for its receiver, which is shown only once.
pub struct NewWebhook {
    pub webhook: Webhook,
    pub secret: String,
}

impl Webhook {
    pub fn create(
        work: &Work,
        project: ProjectId,
        address: &str,
        before: Option<&Self>,
    ) -> Result<NewWebhook, BadWebhook> {
        let rest = address.strip_prefix("https://").or_else(|| address.strip_prefix("http://"));
        let host = rest.and_then(|text| text.split(['/', '?', '#']).next()).ok_or(BadWebhook::Address)?;
        let is_odd = |letter: char| letter.is_whitespace() || letter.is_control();
        let is_address = address
            .parse::<axum::http::Uri>()
            .is_ok_and(|uri| uri.host().is_some_and(|host| !host.is_empty()));
        if !is_address || host.contains('@') || address.contains(is_odd) || 2000 < address.len() {
            return Err(BadWebhook::Address);
        }
        if !work.allow_private_network {
            refuse_private(address).map_err(|private| BadWebhook::Private(private.to_string()))?;
        }
        let vault = Vault::open(&work.environment)?;
        let key = before.map_or(1, |webhook| webhook.key + 1);
        let secret = format!("whsec_{}", STANDARD.encode(vault.signing_key(project, key)));
        let webhook = Self { sealed: vault.seal(project, address), host: host.to_owned(), key };
        Ok(NewWebhook { webhook, secret })
    }
}

/// The header `webhook-signature`, such as `v1,K5oZ…`: an HMAC of id, time and body.
pub fn signature(key: &[u8], id: &str, timestamp: i64, body: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, key);
    let tag = hmac::sign(&key, format!("{id}.{timestamp}.{body}").as_bytes());
    format!("v1,{}", STANDARD.encode(tag))
}

fn build_webhook_body(notification: &NotificationMessage<'_>) -> Json {
    let kind = match notification.event {
        NotificationEvent::Raised => "alert.raised",
        NotificationEvent::Reminder => "alert.reminder",
        NotificationEvent::Resolved => "alert.resolved",
        NotificationEvent::Trial => "trial",
    };
    let project = json!({ "id": notification.project.id, "name": notification.project.name });
    let alert = notification.alert.map(|alert| {
        json!({
            "id": alert.id, "kind": alert.kind, "subject": alert.subject, "message": alert.message, "facts": alert.facts,
            "raised": alert.raised, "resolved": alert.resolved,
        })
    });
    json!({
        "type": kind,
        // The field that Slack and similar services show.
        "text": notification.title(),
        "timestamp": notification.time,
        "data": { "text": notification.title(), "project": project, "alert": alert },
    })
}

pub(super) async fn send_webhook(
    context: DeliveryContext<'_>,
    settings: &Notifications,
    notification: &NotificationMessage<'_>,
) -> Result<(), JobError> {
    // Removed in the meantime.
    let Some(webhook) = &settings.webhook else { return Ok(()) };
    #[cfg(test)]
    if let Some(received) = crate::simulation::receive_webhook(context.store, &notification.id).await {
        return received;
    }
    let (work, project) = (context.work, notification.project.id);
    let vault = Vault::open(&work.environment).map_err(|no_secret| JobError::Retry(no_secret.to_string()))?;
    let address =
        vault.unseal(project, &webhook.sealed).map_err(|no_secret| JobError::Retry(no_secret.to_string()))?;
    let client = if work.allow_private_network {
        client(&NetworkOptions::default())
    } else {
        refuse_private(&address).map_err(JobError::hopeless)?;
        public_client()
    };
    let client = client.map_err(JobError::hopeless)?;
    let (body, timestamp) =
        (build_webhook_body(notification).to_string(), notification.time.micros() / 1_000_000);
    let signature = signature(&vault.signing_key(project, webhook.key), &notification.id, timestamp, &body);
    let request = client
        .post(&address)
        .timeout(TIMEOUT)
        .header("content-type", "application/json")
        .header("webhook-id", &notification.id)
        .header("webhook-timestamp", timestamp.to_string())
        .header("webhook-signature", signature)
        .body(body);
    // The address may be a secret, so it is removed from errors.
    let sent = request.send().await.map_err(|error| {
        JobError::Retry(format!("the webhook at {} does not answer: {}", webhook.host, error.without_url()))
    })?;
    let status = sent.status();
    match () {
        () if status.is_success() => Ok(()),
        () if status.as_u16() == 410 => {
            Err(JobError::Hopeless(format!("the webhook at {} no longer exists", webhook.host)))
        }
        () => Err(JobError::Retry(format!("the webhook at {} answered {status}", webhook.host))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_those_of_the_specification() {
        // The example of the specification.
        let key = STANDARD.decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let signed =
            signature(&key, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, r#"{"test": 2432232314}"#);
        assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }
}
