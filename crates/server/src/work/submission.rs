//! The request for a run, as it is sent and stored.

use std::collections::BTreeMap;

use jurist_core::grade::Usd;
use jurist_core::plan::CaseSelection;
use jurist_core::redact::Redactor;
use jurist_core::run::RunProvenance;
use jurist_engine::bundle::Bundle;
use jurist_engine::call::Caching;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A suite with everything that it is read from, and how it is graded.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewRun {
    /// The suite's path; one of `files`.
    #[schema(example = "suite.yaml", min_length = 1)]
    pub suite: String,
    /// Texts by their path in the project.
    #[schema(example = json!({ "suite.yaml": "evals: [{name: greets, response: Hello!, rubric: It greets.}]" }))]
    pub files: BTreeMap<String, String>,
    /// Values of `{{ env.X }}` in the files.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, String>,
    /// `native`, `agentv`, `potato` or `monitor`, instead of looking at the keys of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect: Option<String>,
    /// Only cases with this in their name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// Only cases with one of these tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Only the i-th of n parts, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// Only units of these names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub names: Option<Vec<String>>,
    /// Instead of the judges that the files name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<String>,
    /// The model that answers where a case has no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Random seed.
    #[serde(default)]
    pub seed: u64,
    /// Dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0)]
    pub max_cost: Option<f64>,
    /// Whether cached replies are used.
    #[serde(default)]
    pub replies: ReplyCaching,
    /// Cases with grader errors are graded once more.
    #[serde(default)]
    pub retry_errors: bool,
    /// Branch, commit, author, tags and CI job.
    #[serde(default, skip_serializing_if = "RunProvenanceView::is_empty")]
    pub provenance: RunProvenanceView,
}

/// Where a run comes from, as far as it is known
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RunProvenanceView {
    /// Branch of the repository; absent if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(example = "main")]
    pub branch: Option<String>,
    /// The full hash of the commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Author of the commit; absent if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// Up to 20.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The page of the CI job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ci_url: Option<String>,
}

impl RunProvenanceView {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// As it is stored: bounded, and without control characters and secrets.
    pub fn clean(self, redactor: &Redactor) -> RunProvenance {
        let redact = |text: Option<String>| text.map(|text| redactor.text(&text).into_owned());
        let Self { branch, commit, author, tags, ci_url } = self;
        let tags = tags.iter().map(|tag| redactor.text(tag).into_owned()).collect();
        let provenance = RunProvenance {
            branch: redact(branch),
            commit,
            author: redact(author),
            tags,
            ci_url: redact(ci_url),
        };
        provenance.sanitize()
    }
}

impl From<RunProvenance> for RunProvenanceView {
    fn from(provenance: RunProvenance) -> Self {
        let RunProvenance { branch, commit, author, tags, ci_url } = provenance;
        Self { branch, commit, author, tags, ci_url }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Shard {
    /// Number of this part, from 1.
    #[schema(minimum = 1)]
    pub part: u32,
    /// Number of parts.
    #[schema(minimum = 1)]
    pub of: u32,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReplyCaching {
    #[default]
    Use,
    /// Judges are asked again, and the new replies are stored.
    Refresh,
    /// Stored replies are not used, and new ones are not stored.
    Off,
}

impl NewRun {
    /// A run of a bundle with default options.
    pub fn of(bundle: Bundle) -> Self {
        let Bundle { suite, dialect, files, variables } = bundle;
        Self { suite, dialect, files, variables, ..Self::default() }
    }

    pub fn bundle(&self) -> Bundle {
        Bundle {
            suite: self.suite.clone(),
            dialect: self.dialect.clone(),
            files: self.files.clone(),
            variables: self.variables.clone(),
        }
    }

    pub fn select(&self) -> CaseSelection {
        CaseSelection {
            filter: self.filter.clone(),
            tags: self.tags.clone(),
            shard: self.shard.map(|shard| (shard.part, shard.of)),
            names: self.names.clone(),
        }
    }

    pub fn cap(&self) -> Option<Usd> {
        self.max_cost.map(|max_cost| Usd::from_nanos((max_cost * 1e9).round() as i64))
    }

    pub fn caching(&self) -> Caching {
        match self.replies {
            ReplyCaching::Use => Caching::Use,
            ReplyCaching::Refresh => Caching::Refresh,
            ReplyCaching::Off => Caching::Off,
        }
    }
}
