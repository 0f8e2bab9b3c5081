//! Names of judged cases as labels have them: the label of `i01 [row 1]` is for `i01`, because people label the rows of
//! a data file by id.

use std::collections::{BTreeMap, BTreeSet};

/// The judged cases whose labels have no number of a row, by their names in the run. A name that more than one row has
/// is not changed.
pub fn find_names_without_row(
    judged: &BTreeSet<String>,
    labelled: &BTreeSet<String>,
) -> BTreeMap<String, String> {
    let mut rows: BTreeMap<&str, Vec<&String>> = BTreeMap::new();
    for candidate in judged.difference(labelled) {
        if let Some(name) = without_row_number(candidate) {
            rows.entry(name).or_default().push(candidate);
        }
    }
    let only_row = |(name, rows): (&str, Vec<&String>)| match rows.as_slice() {
        [row] if labelled.contains(name) => Some(((*row).clone(), name.to_owned())),
        _ => None,
    };
    rows.into_iter().filter_map(only_row).collect()
}

/// `i01` of `i01 [row 1]`.
pub fn without_row_number(candidate: &str) -> Option<&str> {
    let (name, number) = candidate.strip_suffix(']')?.rsplit_once(" [row ")?;
    number.bytes().all(|digit| digit.is_ascii_digit()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_row_number_at_the_end_is_dropped() {
        assert_eq!(without_row_number("i01 [row 1]"), Some("i01"));
        assert_eq!(without_row_number("i01 [row 1] [prompt 2]"), None);
        assert_eq!(without_row_number("i01 [row x]"), None);
        assert_eq!(without_row_number("i01"), None);
    }

    #[test]
    fn a_row_has_the_name_of_its_label_if_no_other_row_has_it() {
        let names = |all: &[&str]| all.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<String>>();
        let judged = names(&["a [row 1]", "b [row 2]", "b [row 3]", "c [row 4]", "d"]);
        let renamed = find_names_without_row(&judged, &names(&["a", "b", "d"]));
        assert_eq!(renamed, BTreeMap::from([("a [row 1]".to_owned(), "a".to_owned())]));
    }
}
