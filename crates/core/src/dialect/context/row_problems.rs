//! Problems of the rows of a file of tests. A table of a thousand rows may have one problem a thousand times.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::{Code, Diagnostic};
use crate::quantity::plural;

/// Problems of one file, each once with the lines of the rows that have it.
#[derive(Default)]
pub(super) struct RowProblems {
    problems: BTreeMap<ProblemKey, RowProblem>,
}

type ProblemKey = (Code, String);

struct RowProblem {
    diagnostic: Diagnostic,
    lines: BTreeSet<u32>,
}

/// Different problems of one file that are kept here; in a broken file, each row may have another one.
const MAX_PROBLEMS: usize = 1000;

/// Lines that are listed.
const MAX_LINES: usize = 5;

impl RowProblems {
    /// Adds a problem of the row on `line`. Gives it back if the file has too many different ones.
    pub(super) fn add(&mut self, diagnostic: Diagnostic, line: u32) -> Option<Diagnostic> {
        let key = (diagnostic.code, diagnostic.message.clone());
        if let Some(problem) = self.problems.get_mut(&key) {
            problem.lines.insert(line);
        } else if MAX_PROBLEMS <= self.problems.len() {
            return Some(diagnostic);
        } else {
            self.problems.insert(key, RowProblem { diagnostic, lines: BTreeSet::from([line]) });
        }
        None
    }

    /// Each problem at its first row, with the number of rows that have it.
    pub(super) fn into_diagnostics(self) -> impl Iterator<Item = Diagnostic> {
        self.problems.into_values().map(|RowProblem { diagnostic, lines }| {
            if lines.len() == 1 {
                return diagnostic;
            }
            let mut listed: Vec<String> = lines.iter().take(MAX_LINES).map(u32::to_string).collect();
            match lines.len().saturating_sub(MAX_LINES) {
                0 => {}
                n_others => listed.push(format!("{n_others} more")),
            }
            let last = listed.pop().unwrap_or_default();
            diagnostic.note(format!(
                "{} of this file have this problem: lines {} and {last}",
                plural(lines.len(), "row"),
                listed.join(", ")
            ))
        })
    }
}
