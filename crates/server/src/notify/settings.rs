//! Notification settings of a project.

use jurist_core::grade::Time;
use jurist_store::projects::StoredProject;
use jurist_store::{ProjectId, Store, StoreError};
use serde::{Deserialize, Serialize};

use super::quiet::QuietHours;

/// Key in the project's settings.
const KEY: &str = "notifications";

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Notifications {
    /// Addresses; the project's owners by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mail: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhook: Option<Webhook>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quiet_hours: Option<QuietHours>,
}

/// An address that gets a signed request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Webhook {
    /// The encrypted address; a webhook's address may itself be a secret.
    pub sealed: String,
    /// The host of the address, which is shown.
    pub host: String,
    /// Number of the signing key; a new number gives a new secret.
    pub key: u32,
}

impl Notifications {
    pub fn of(project: &StoredProject) -> Self {
        serde_json::from_value(project.settings[KEY].clone()).unwrap_or_default()
    }

    pub async fn keep(&self, store: &Store, project: ProjectId) -> Result<(), StoreError> {
        let value = serde_json::to_value(self).expect("settings are plain data");
        store.set_project_setting(project, KEY, &value).await
    }

    /// The end of the quiet hours that `now` is in; `None` outside of quiet hours.
    pub fn quiet_until(&self, now: Time) -> Option<Time> {
        self.quiet_hours.as_ref().and_then(|quiet_hours| quiet_hours.until(now))
    }
}
