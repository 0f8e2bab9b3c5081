//! Messages about fields of records: fields that nothing uses, and fields that a record has twice.

use std::collections::BTreeSet;

use jurist_core::candidate::{RecordFields, closest_field};

use crate::render;

/// More names than this are not typing errors: they are values, and a longer list does not help.
const MAX_REPORTED: usize = 100;

/// Says what deserves a word, once per run.
#[derive(Debug, Default)]
pub(super) struct FieldNotices {
    /// Names that a rubric's texts or a recipe's parameters use.
    used: BTreeSet<String>,
    reported: SeenFields,
}

/// A sentence about fields of records.
pub(super) struct FieldNotice {
    pub(super) is_warning: bool,
    pub(super) text: String,
}

/// What deserves a word in some records.
#[derive(Debug, Default)]
pub(super) struct SeenFields {
    unused: BTreeSet<String>,
    overruled: BTreeSet<OverruledName>,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct OverruledName {
    used: String,
    unused: String,
}

impl FieldNotices {
    pub(super) fn new(used: BTreeSet<String>) -> Self {
        Self { used, ..Self::default() }
    }

    /// Adds the fields of a record that no notice has named yet to `new_fields`.
    pub(super) fn note_fields(&self, fields: &RecordFields<'_>, new_fields: &mut SeenFields) {
        for name in &fields.unknown {
            let is_known = [&self.used, &self.reported.unused, &new_fields.unused]
                .iter()
                .any(|names| names.contains(*name));
            if !is_known && self.reported.unused.len() < MAX_REPORTED {
                new_fields.unused.insert((*name).to_owned());
            }
        }
        for pair in &fields.overruled {
            let pair = OverruledName { used: pair.used.to_owned(), unused: pair.unused.to_owned() };
            if !self.reported.overruled.contains(&pair) {
                new_fields.overruled.insert(pair);
            }
        }
    }

    /// Prints notices about these fields; each field is reported once.
    pub(super) fn say(&mut self, new_fields: SeenFields) {
        for notice in self.take_messages(new_fields) {
            if notice.is_warning {
                render::print_warning(&notice.text);
            } else {
                render::print_note(&notice.text);
            }
        }
    }

    /// The messages about these fields. Each message is returned once.
    pub(super) fn take_messages(&mut self, new_fields: SeenFields) -> Vec<FieldNotice> {
        let mut notices = Vec::new();
        let mut warn = |text: String| notices.push(FieldNotice { is_warning: true, text });
        for pair in new_fields.overruled {
            if !self.reported.overruled.contains(&pair) {
                let OverruledName { used, unused } = &pair;
                warn(format!("`{used}` and `{unused}` differ in these records; `{used}` is used"));
                self.reported.overruled.insert(pair);
            }
        }
        let mut plain = Vec::new();
        for name in new_fields
            .unused
            .into_iter()
            .filter(|name| !self.reported.unused.contains(name))
            .collect::<Vec<_>>()
        {
            match closest_field(&name) {
                Some(meant) => {
                    warn(format!(
                        "nothing uses the field `{name}` of these records; did you mean `{meant}`?"
                    ));
                }
                None => plain.push(format!("`{name}`")),
            }
            self.reported.unused.insert(name);
        }
        if !plain.is_empty() {
            let fields = if plain.len() == 1 { "field" } else { "fields" };
            let text = format!("nothing uses the {fields} {} of these records", plain.join(", "));
            notices.push(FieldNotice { is_warning: false, text });
        }
        notices
    }
}

impl SeenFields {
    pub(super) fn is_empty(&self) -> bool {
        self.unused.is_empty() && self.overruled.is_empty()
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.unused.extend(other.unused);
        self.overruled.extend(other.overruled);
    }
}
