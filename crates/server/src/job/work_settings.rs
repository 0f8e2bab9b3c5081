//! Permissions and settings of the machine that does the work.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jurist_core::dialect::ProjectSettings;
use jurist_core::redact::is_secret_variable;

/// Permissions and settings of workers.
#[derive(Debug, Clone)]
pub struct Work {
    /// Whether submitted files may start programs and name servers, vendors and addresses.
    pub allow_commands: bool,
    /// Whether requests may name addresses inside this machine or its network.
    pub allow_private_network: bool,
    /// Environment variables with API keys; never values from a request.
    pub environment: Environment,
    /// Vendors, prices, limits and the network of this machine.
    pub settings: ProjectSettings,
    /// Folder of the reply cache; no cache by default.
    pub cache: Option<PathBuf>,
    /// Where evaluation events go when a run has ended: an OTLP endpoint.
    pub emit: Option<String>,
    /// Whether prompts and raw replies of judges are stored; grades and reasons always are.
    pub store_exchanges: bool,
    /// Length of a lease: after this time without a heartbeat, another worker may take the job.
    pub lease: Duration,
}

impl Default for Work {
    fn default() -> Self {
        Self {
            allow_commands: false,
            allow_private_network: false,
            environment: Environment::default(),
            settings: ProjectSettings::default(),
            cache: None,
            emit: None,
            store_exchanges: true,
            lease: Duration::from_secs(60),
        }
    }
}

/// Environment variables at the start of the process.
#[derive(Clone, Default)]
pub struct Environment(Arc<BTreeMap<String, String>>);

impl Environment {
    pub fn new(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        Self(Arc::new(variables.into_iter().filter(|(_, value)| !value.is_empty()).collect()))
    }

    pub fn get(&self, name: &str) -> Option<String> {
        self.0.get(name).cloned()
    }

    /// Values of variables with secret-looking names.
    pub fn secrets(&self) -> Vec<String> {
        let secret = |(name, value): (&String, &String)| is_secret_variable(name).then(|| value.clone());
        self.0.iter().filter_map(secret).collect()
    }
}

impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Environment({} variables)", self.0.len())
    }
}
