//! Counts of traces by the values that lists are filtered by.

use crate::db::Db;
use crate::filter::SelectQuery;
use crate::traces::{TraceListFilter, TraceOrder};
use crate::{ProjectId, Store, StoreError};

/// The newest traces that match are counted, up to this number: a count reads every row, and a longer scan would delay
/// the page for a number that no reader needs.
pub const MOST_COUNTED_TRACES: usize = 10_000;

/// A property by which traces are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceFacet {
    Agent,
    State,
    Failed,
    /// Whether the newest verdict has a score.
    Scored,
}

/// Number of traces with one value of a property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FacetCount {
    /// Absent for traces without it.
    pub value: Option<String>,
    pub n: u64,
}

impl Store {
    /// How many traces have each value, the most frequent first. The filter's own condition on that property is
    /// ignored, so that the counts show what another choice would find.
    pub async fn count_traces(
        &self,
        project: ProjectId,
        filter: &TraceListFilter,
        facet: TraceFacet,
    ) -> Result<Vec<FacetCount>, StoreError> {
        let rows = facet.select(&self.db, project, filter).fetch(&self.db).await?;
        rows.iter().map(|row| Ok(FacetCount { value: row.get("value")?, n: row.count("n")? })).collect()
    }
}

impl TraceFacet {
    pub const ALL: [Self; 4] = [Self::Agent, Self::State, Self::Failed, Self::Scored];

    pub(crate) fn select(self, db: &Db, project: ProjectId, filter: &TraceListFilter) -> SelectQuery {
        let mut filter = TraceListFilter { order: TraceOrder::default(), ..filter.clone() };
        let value = match self {
            Self::Agent => {
                filter.agent = None;
                "agent"
            }
            Self::State => {
                filter.state = None;
                "state"
            }
            Self::Failed => {
                filter.is_failed = None;
                "CASE WHEN is_failed = 1 THEN 'true' ELSE 'false' END"
            }
            Self::Scored => {
                filter.is_scored = None;
                "CASE WHEN score IS NULL THEN 'false' ELSE 'true' END"
            }
        };
        let (matching, args) = filter.select(db, project, None, MOST_COUNTED_TRACES - 1).into_parts();
        let sql = format!(
            "SELECT value, COUNT(*) AS n FROM (SELECT {value} AS value FROM ({matching}) AS matching) AS counted
                GROUP BY value ORDER BY n DESC, value"
        );
        SelectQuery::new(&sql, args)
    }
}

/// Whether the counts of a property reach the limit, so that there may be more traces.
pub fn is_count_limited(counts: &[FacetCount]) -> bool {
    let n_counted: u64 = counts.iter().map(|count| count.n).sum();
    MOST_COUNTED_TRACES as u64 <= n_counted
}
