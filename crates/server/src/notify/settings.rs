//! Who is told, as a project has set it.

use jurist_core::grade::Time;
use jurist_store::projects::StoredProject;
use jurist_store::{ProjectId, Store, StoreError};
use serde::{Deserialize, Serialize};

use super::quiet::QuietHours;

/// Where they stand among the settings of a project.
const KEY: &str = "notifications";

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Notifications {
    /// Addresses; the project's owners where nothing is said.
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
    /// The address, which may be a secret by itself; only the server's key opens it.
    pub sealed: String,
    /// The part of it that people may see.
    pub host: String,
    /// A new one makes a new secret to sign with.
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
