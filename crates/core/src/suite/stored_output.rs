//! Outputs that cases store for later cases, which name them as `{{ outputs.NAME }}`.

use std::collections::BTreeSet;
use std::convert::Infallible;

use serde_json::Value;

use super::{Case, CaseTarget, DataRow};
use crate::template;

/// What begins the name of a stored output between braces.
pub const OUTPUT_PREFIX: &str = "outputs.";

/// The field of a row that holds the stored outputs. Rows are stored with the judge input, so that a unit that is graded
/// again has the outputs that it was made with. The name is none that a column of a data file would have.
pub(super) const STORED_OUTPUTS: &str = "$outputs";

/// Whether an output can be stored under this name.
pub fn is_output_name(name: &str) -> bool {
    name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-".contains(letter))
}

/// The row with these outputs added to those that it has.
pub(super) fn with_stored_outputs(mut row: DataRow, outputs: DataRow) -> DataRow {
    let stored = row.entry(STORED_OUTPUTS).or_insert_with(|| Value::Object(DataRow::new()));
    if let Value::Object(stored) = stored {
        stored.extend(outputs);
    }
    row
}

/// The variables of a case as programs get them. Of one name, a stored output counts before a variable of the file, and
/// that before a field of the row.
pub fn case_variables(mut row: DataRow, vars: DataRow) -> DataRow {
    let outputs = row.remove(STORED_OUTPUTS);
    row.extend(vars);
    if let Some(Value::Object(outputs)) = outputs {
        row.extend(outputs);
    }
    row
}

impl Case {
    /// Names of the stored outputs that its texts, its rubric and the requests to its targets name.
    pub fn used_outputs(&self) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        let Ok(()) = self.without_data().try_for_each_template(&mut |text: &mut String| {
            collect_output_names(text, &mut names);
            Ok::<(), Infallible>(())
        });
        self.templates().into_iter().for_each(|text| collect_output_names(text, &mut names));
        names.extend(self.targets.iter().flat_map(CaseTarget::used_outputs));
        names
    }
}

impl CaseTarget {
    /// Names of the stored outputs that the request to it names.
    pub fn used_outputs(&self) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        let Ok(()) = self.clone().try_for_each_request_text(&mut |text: &mut String| {
            template::replace(text, |placeholder| {
                names.extend(without_filter(placeholder).strip_prefix(OUTPUT_PREFIX).map(str::to_owned));
                None
            });
            Ok::<(), Infallible>(())
        });
        names
    }
}

/// Whether a text has the name of a stored output between braces.
pub fn names_stored_output(text: &str) -> bool {
    let mut names = BTreeSet::new();
    collect_output_names(text, &mut names);
    !names.is_empty()
}

fn collect_output_names(text: &str, names: &mut BTreeSet<String>) {
    template::replace(text, |name| {
        names.extend(name.strip_prefix(OUTPUT_PREFIX).map(str::to_owned));
        None
    });
}

/// The name in a placeholder of a request, which a filter may follow.
pub(crate) fn without_filter(placeholder: &str) -> &str {
    placeholder.split_once('|').map_or(placeholder, |(name, _)| name.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::fill;

    fn row(text: &str) -> DataRow {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn stored_outputs_fill_in_what_no_field_can_be_mistaken_for() {
        let outputs = row(r#"{"first": "Oslo {{ row.a }}"}"#);
        let both = with_stored_outputs(row(r#"{"outputs": {"first": "a field"}, "a": 1}"#), outputs.clone());
        let text = "{{ outputs.first }}, {{ row.outputs.first }}, {{ row.a }}";
        assert_eq!(fill(text, Some(&both)).unwrap(), "Oslo {{ row.a }}, a field, 1");
        assert_eq!(
            fill("{{ outputs.other }}", Some(&both)).unwrap_err().to_string(),
            "no output is stored as `other`"
        );
        // Braces that name nothing are text where there is no row.
        let alone = with_stored_outputs(DataRow::new(), outputs);
        assert_eq!(fill("{{ outputs.first }} {{ x }}", Some(&alone)).unwrap(), "Oslo {{ row.a }} {{ x }}");
        assert_eq!(case_variables(alone, DataRow::new()), row(r#"{"first": "Oslo {{ row.a }}"}"#));
        let vars = row(r#"{"first": "of the file", "a": 2}"#);
        assert_eq!(
            case_variables(both, vars),
            row(r#"{"outputs": {"first": "a field"}, "first": "Oslo {{ row.a }}", "a": 2}"#)
        );
    }

    #[test]
    fn before_the_outputs_are_there_their_names_stay() {
        for row in [None, Some(row(r#"{"a": 1}"#))] {
            assert_eq!(fill("{{ outputs.first }}", row.as_ref()).unwrap(), "{{ outputs.first }}");
        }
    }

    #[test]
    fn a_name_of_an_output_is_a_word() {
        for (name, is_right) in
            [("first", true), ("first-2", true), ("_x", true), ("2", false), ("a.b", false), ("", false)]
        {
            assert_eq!(is_output_name(name), is_right, "{name}");
        }
    }
}
