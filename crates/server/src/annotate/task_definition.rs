//! A version of a task: its questions and the subjects of its items.

use std::collections::BTreeMap;

use jurist_core::annotate::{
    Claim, Given, Item, RowLayout, Scheme, SchemeKind, build_item, item_of_trace, with_steps,
};
use jurist_core::candidate::Trace;
use jurist_core::rubric::RubricHash;
use jurist_store::annotate::{self, ItemRole};
use jurist_store::{AssignmentId, ProjectId, RubricVersionId, Store, StoreError, TaskId, TraceId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// An immutable version of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskDefinition {
    #[serde(default)]
    pub description: Option<String>,
    pub schemes: Vec<Scheme>,
    #[serde(default)]
    pub shape: RowLayout,
    /// Rubrics by the names of the schemes that use them.
    #[serde(default)]
    pub rubrics: BTreeMap<String, RubricVersionRef>,
}

/// A rubric of the store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RubricVersionRef {
    pub id: RubricVersionId,
    pub hash: RubricHash,
}

/// The subject of an item in its stored form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemSubject {
    Row(Map<String, Value>),
    /// A stored trace.
    Trace {
        id: String,
        /// Judge answers to be confirmed or corrected.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        claims: Vec<Claim>,
    },
    /// A case of a run, for which there is no stored trace.
    Case {
        #[serde(default)]
        task: Option<String>,
        #[serde(default)]
        text: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trace: Option<Box<Trace>>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        given: Vec<Given>,
        claims: Vec<Claim>,
    },
}

impl TaskDefinition {
    pub async fn of(
        store: &Store,
        project: ProjectId,
        task: TaskId,
        version: u64,
    ) -> Result<Self, StoreError> {
        let body = store.task_version(project, task, version).await?;
        Ok(serde_json::from_value(body).unwrap_or_else(|error| {
            tracing::error!(%error, %task, version, "what a task asks cannot be read");
            Self {
                description: None,
                schemes: Vec::new(),
                shape: RowLayout::default(),
                rubrics: BTreeMap::new(),
            }
        }))
    }

    pub fn hashes(&self) -> BTreeMap<String, RubricHash> {
        self.rubrics
            .iter()
            .map(|(name, rubric_version_ref)| (name.clone(), rubric_version_ref.hash.clone()))
            .collect()
    }

    /// Name of the id field in the data.
    pub fn id_key(&self) -> &str {
        self.shape.id_key.as_deref().unwrap_or("trace_id")
    }

    /// The id of an item's row in the data; `None` for traces, for cases of runs and for rows without an id.
    pub fn row_id(&self, item: &annotate::AnnotationItem) -> Option<String> {
        self.shape.id(item.body.get("row")?.as_object()?)
    }

    /// The id of an item as it is in the data, if it is a number.
    pub fn written_id(&self, item: &annotate::AnnotationItem) -> Option<Value> {
        let id = item.body.get("row")?.get(self.shape.id_key.as_deref().unwrap_or("id"))?;
        id.is_number().then(|| id.clone())
    }

    /// An item as an annotator sees it, with its schemes.
    pub async fn about(
        &self,
        store: &Store,
        project: ProjectId,
        item: &annotate::AnnotationItem,
        assignment: Option<AssignmentId>,
    ) -> Result<(Item, Vec<Scheme>), StoreError> {
        let turn = assignment.is_some_and(is_turned);
        let id = item.id.to_string();
        let subject = serde_json::from_value(item.body.clone()).unwrap_or(ItemSubject::Row(Map::new()));
        let (mut view, claims) = match subject {
            ItemSubject::Row(row) => (build_item(id, &row, &self.shape, &self.schemes, turn), Vec::new()),
            ItemSubject::Trace { id: trace, claims } => {
                let trace = TraceId::new(trace).ok();
                let content = match &trace {
                    Some(trace) => store.trace_content(project, trace).await?,
                    None => None,
                };
                let gone =
                    || Item { text: Some("(this trace has been erased)".to_owned()), ..Item::default() };
                let view = content.map_or_else(gone, |trace| item_of_trace(id.clone(), trace));
                (Item { id, ..view }, claims)
            }
            ItemSubject::Case { task, text, trace, given, claims } => {
                let trace = trace.map(|trace| *trace);
                (Item { id, task, text, trace, given, ..Item::default() }, claims)
            }
        };
        view.training = item.role == ItemRole::Training;
        view.keywords.clone_from(&self.shape.keywords);
        let mut schemes = with_steps(&self.schemes, &view);
        for scheme in &mut schemes {
            if let SchemeKind::Verify { claims: stated } = &mut scheme.kind {
                stated.clone_from(&claims);
            }
        }
        Ok((view, schemes))
    }
}

/// Whether the two sides of a comparison are swapped. The order is derived from the random assignment id, so it is
/// random but stays the same for the annotator.
pub fn is_turned(assignment: AssignmentId) -> bool {
    assignment.to_string().bytes().map(u32::from).sum::<u32>() % 2 == 1
}
