//! Named ways to grade, with the parameters each one takes.
//!
//! One table feeds the loader's checks, the help texts and the schema.

mod check_name;
mod tables;

use serde_json::{Map, Value};

pub use self::check_name::{
    BoundsCheckName, CallCheckName, CheckName, ExternalCheckName, JsonCheckName, OverlapCheckName,
    ProviderCheckName, SimilarityCheckName, SpanCheckName, TextCheckName,
};
pub use self::tables::{CHECKS, RECIPES};
use crate::source::Tree;
use crate::template;

/// A named way to grade and the parameters it takes.
#[derive(Debug)]
pub struct CatalogueEntry {
    /// Which code decides it; `None` for a recipe, which a judge carries out.
    pub check: Option<CheckName>,
    pub name: &'static str,
    pub help: &'static str,
    pub looks_at: GradedPart,
    pub params: &'static [Param],
}

/// The part of a candidate that a way to grade looks at. Without it there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GradedPart {
    /// The final response; of a trace without one, the last assistant message.
    Response,
    /// What the agent did.
    Trace,
    /// What the run took; where nothing measured it, the trace's own figures.
    Measurements,
    /// All of it.
    Candidate,
}

impl GradedPart {
    pub fn describe(self) -> &'static str {
        match self {
            Self::Response => "the final response",
            Self::Trace => "the trace",
            Self::Measurements => "what the run measured",
            Self::Candidate => "the whole candidate",
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Param {
    pub name: &'static str,
    /// Another spelling that files use.
    pub alias: Option<&'static str>,
    pub kind: ParamKind,
    pub required: bool,
}

/// What a parameter may be.
#[derive(Debug, Clone, Copy)]
pub enum ParamKind {
    /// A text, or a number or `true`/`false` that is kept as text.
    Text,
    /// One text, or a list of them.
    TextOrTexts,
    /// A pattern that the regex engine of the same check takes: the linear-time one unless `engine` says otherwise.
    Pattern,
    Bool,
    Number,
    /// 0 to 1.
    Fraction,
    /// A number of 0 or more.
    Amount,
    /// A whole number of 0 or more.
    Count,
    OneOf(&'static [&'static str]),
    Map,
    /// A list of anything, with at least one entry.
    List,
    /// A mapping with these keys.
    Shape(&'static [Param]),
    /// A list of mappings with these keys, at least one.
    Each(&'static [Param]),
    /// A mapping with these keys, or something simpler.
    OrShape(&'static ParamKind, &'static [Param]),
    /// Letters that steer a pattern, as JavaScript writes them.
    Flags,
    Any,
}

/// A use of an entry, its parameters checked.
#[derive(Debug, Clone)]
pub struct GradingMethod {
    pub entry: &'static CatalogueEntry,
    pub params: Map<String, Value>,
}

impl PartialEq for GradingMethod {
    fn eq(&self, other: &Self) -> bool {
        self.entry.name == other.entry.name && self.params == other.params
    }
}

impl GradingMethod {
    /// Native spelling: the parameters next to `type`.
    pub fn to_tree(&self) -> Tree {
        self.params
            .iter()
            .fold(Tree::map().with("type", self.entry.name), |tree, (key, value)| tree.with(key, value))
    }

    /// As it is carried out: with braces where its file escaped them.
    pub fn without_escapes(&self) -> Self {
        let mut method = self.clone();
        method.for_each_text(&mut |text| *text = template::resolve_escapes(text));
        method
    }

    /// Calls `change` with every text among the parameters.
    pub fn for_each_text(&mut self, change: &mut impl FnMut(&mut String)) {
        for value in self.params.values_mut() {
            let mut change_text = |text: &mut String| {
                change(text);
                Ok::<(), std::convert::Infallible>(())
            };
            let Ok(()) = template::try_for_each_text(value, &mut change_text);
        }
    }
}

impl CatalogueEntry {
    /// Settles what a parameter's spelling decides: Potato's `substring` is looked for whatever its case, while `value`
    /// of the other tools tells upper from lower case. `case_sensitive` next to it decides.
    pub fn settle_spelling(&self, is_written: impl Fn(&str) -> bool, params: &mut Map<String, Value>) {
        if self.name == "contains" && is_written("substring") {
            params.entry("case_sensitive").or_insert(Value::Bool(false));
        }
    }
}

pub fn find_catalogue_entry(
    entries: &'static [CatalogueEntry],
    name: &str,
) -> Option<&'static CatalogueEntry> {
    entries.iter().find(|entry| entry.name == name)
}
