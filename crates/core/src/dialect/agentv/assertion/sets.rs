//! Sets of assertions, and how they combine their members.

use super::AssertionReader;
use crate::diagnostic::{Code, Diagnostic};
use crate::dialect::fields::{MappingReader, suggest_absent_name};
use crate::dialect::lower::Spot;
use crate::rubric::{Aggregation, Criterion, CriterionKind, Group, Scale};
use crate::source::SourceNode;

impl AssertionReader<'_> {
    pub(super) fn set(&mut self, fields: &MappingReader<'_>, spot: &mut Spot) -> Option<CriterionKind> {
        let list = fields.any(&["assert", "assertions", "evaluators"]);
        let Some(items) = list.and_then(|node| self.cx.list(node, "assert")) else {
            fields.missing("assert");
            return None;
        };
        fields.ignores(&["config"]);
        // A set with a threshold passes by its score, and so does a test around it.
        let outside = self.rules.gates;
        self.rules.gates &= !(self.is_promptfoo() && fields.has("threshold"));
        self.depth += 1;
        let (mut criteria, spots) = self.list(&items.iter().collect::<Vec<_>>());
        self.depth -= 1;
        self.rules.gates = outside;
        if let Some(node) = fields.get("aggregator") {
            self.apply_aggregator(node, &mut criteria);
        }
        spot.children = spots;
        let key = ["assert", "assertions", "evaluators"]
            .into_iter()
            .find(|text| fields.has(text))
            .unwrap_or("assert");
        spot.keys.push(("criteria", fields.key_span(key)));
        Some(CriterionKind::Group(Group { criteria, aggregation: Aggregation::WeightedAverage }))
    }

    /// How a set of AgentV combines its members; their own weights do not count then.
    fn apply_aggregator(&mut self, node: &SourceNode, criteria: &mut [Criterion]) {
        let cx = self.cx;
        let Some(fields) = MappingReader::new(cx, node, "aggregator") else { return };
        let kind = fields.need("type").and_then(|node| cx.plain_text(node, "type"));
        match kind.as_deref().map(|kind| kind.replace('-', "_")).as_deref() {
            None => {}
            Some("weighted_average") => {
                let weights = fields.map("weights").unwrap_or_default();
                for entry in weights.iter().filter(|entry| !criteria.iter().any(|own| own.id == entry.key)) {
                    let known = criteria.iter().map(|criterion| criterion.id.as_str());
                    let message = format!("no member of this set is called `{}`", entry.key);
                    let diagnostic = Diagnostic::error(Code::UnknownName, entry.key_span, message);
                    cx.report(suggest_absent_name(diagnostic, entry, weights, known, "members"));
                }
                for criterion in &mut *criteria {
                    let own = weights.iter().find(|entry| entry.key == criterion.id);
                    let own = own.and_then(|entry| cx.number_in(&entry.value, "weights", 0.0..=f64::MAX));
                    criterion.weight = own.unwrap_or(1.0);
                }
            }
            Some("threshold") => {
                self.set_threshold =
                    fields.need("threshold").and_then(|node| cx.number_in(node, "threshold", 0.0..=1.0));
                criteria.iter_mut().for_each(|criterion| criterion.weight = 1.0);
                // The share of members that pass is their mean, if each of them passes or fails.
                if let Some(other) = criteria.iter().find(|criterion| !is_yes_or_no(criterion)) {
                    let message = format!(
                        "the aggregator `threshold` counts members that pass, and `{}` has a score",
                        other.id
                    );
                    cx.report(
                        Diagnostic::error(Code::Unsupported, cx.head(node), message)
                            .help("use `weighted_average`, or members that are met or not met"),
                    );
                }
            }
            Some(other) => {
                let message = format!("the aggregator `{other}` is not supported");
                cx.report(
                    Diagnostic::error(Code::Unsupported, cx.head(node), message)
                        .note("AgentV lets a program or a model combine the members; here they are combined by weight")
                        .help("use `weighted_average` with `weights`, or `threshold`"),
                );
                fields.knows(&["path", "cwd", "prompt", "model", "command"]);
                return;
            }
        }
        fields.finish();
    }
}

/// Checks that hold or do not hold.
const YES_OR_NO: [&str; 23] = [
    "equals",
    "contains",
    "icontains",
    "contains-any",
    "contains-all",
    "icontains-any",
    "icontains-all",
    "starts-with",
    "ends-with",
    "regex",
    "is-json",
    "contains-json",
    "is-xml",
    "contains-xml",
    "is-sql",
    "contains-sql",
    "is-refusal",
    "latency",
    "cost",
    "word-count",
    "perplexity",
    "guardrails",
    "moderation",
];

fn is_yes_or_no(criterion: &Criterion) -> bool {
    match &criterion.ask {
        CriterionKind::Question(Scale::Binary) => true,
        CriterionKind::Check(method) => YES_OR_NO.contains(&method.entry.name),
        _ => false,
    }
}
