//! Criteria as the assertions of promptfoo, which code of a test may read.

use serde_json::{Map, Value};

use super::{Criterion, CriterionKind, Polarity};
use crate::catalogue::GradingMethod;

/// Describes criteria as promptfoo writes assertions.
pub fn describe_assertions(criteria: &[Criterion]) -> Vec<Value> {
    let describe = |criterion: &Criterion| {
        let of_method = |method: &GradingMethod| (method.entry.name, method.params.clone());
        let (name, mut assertion) = match &criterion.ask {
            CriterionKind::Check(method) | CriterionKind::Recipe(method) => of_method(method),
            CriterionKind::Group(group) => {
                let inner = describe_assertions(&group.criteria);
                ("assert-set", Map::from_iter([("assert".to_owned(), Value::Array(inner))]))
            }
            CriterionKind::Question(_) | CriterionKind::Tree(_) => {
                let value = Value::from(criterion.description.as_str());
                ("llm-rubric", Map::from_iter([("value".to_owned(), value)]))
            }
        };
        let is_negated = criterion.polarity == Polarity::Negated;
        assertion.insert("type".to_owned(), format!("{}{name}", if is_negated { "not-" } else { "" }).into());
        assertion.insert("metric".to_owned(), criterion.id.as_str().into());
        assertion.insert("weight".to_owned(), criterion.weight.into());
        Value::Object(assertion)
    };
    criteria.iter().map(describe).collect()
}
