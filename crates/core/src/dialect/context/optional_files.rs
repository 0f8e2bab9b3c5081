//! Files that need not exist, and settings that a suite can do without.

use std::path::PathBuf;

use super::{Context, remove_dots};
use crate::diagnostic::{DiagnosticSeverity, Diagnostics};
use crate::source::{FileId, SourceNode, SourceSpan};
use crate::syntax;

impl Context<'_> {
    /// Reads what a suite can do without. If there are errors, nothing is read: they become warnings with `note`.
    pub(in crate::dialect) fn read_dispensable<T>(
        &self,
        note: &str,
        read: impl FnOnce() -> Option<T>,
    ) -> Option<T> {
        let (before, n_errors) = (self.found.take(), self.n_errors.get());
        let value = read();
        let reported = self.found.replace(before);
        self.n_errors.set(n_errors);
        let has_failed = reported.has_errors();
        for mut diagnostic in reported.into_sorted() {
            if diagnostic.severity == DiagnosticSeverity::Error {
                diagnostic.severity = DiagnosticSeverity::Warning;
                diagnostic = diagnostic.note(note);
            }
            self.found.borrow_mut().push(diagnostic);
        }
        value.filter(|_| !has_failed)
    }

    /// Like [`Self::parse`], for a file that may be something else; nothing is reported.
    pub(in crate::dialect) fn parse_quietly(&self, file: FileId) -> Option<SourceNode> {
        let mut found = Diagnostics::default();
        let node = syntax::parse_document(&self.sources.borrow(), file, &mut found);
        node.filter(|_| !found.has_errors())
    }

    /// Every file of this name in the folders above a file, nearest first.
    pub(in crate::dialect) fn find_above(
        &self,
        reference: &str,
        from: FileId,
    ) -> impl Iterator<Item = FileId> {
        let path = self.path_of(from);
        let folders = path.ancestors().skip(1).take_while(|ancestor| ancestor.starts_with(&self.world.root));
        let paths: Vec<PathBuf> = folders.map(|folder| remove_dots(&folder.join(reference))).collect();
        paths.into_iter().filter_map(move |path| {
            let known = self.sources.borrow().find(&path);
            known.or_else(|| Some(self.sources.borrow_mut().add(&path, (self.world.read)(&path).ok()?)))
        })
    }

    /// Like [`Self::find`], for a file that need not exist.
    pub(in crate::dialect) fn find_optional(&self, reference: &str, from: FileId) -> Option<FileId> {
        self.find_above(reference, from).next()
    }

    /// The way from the folder of a file to a file that may be in it or in a folder above.
    pub(in crate::dialect) fn find_way_up(&self, reference: &str, span: SourceSpan) -> Option<String> {
        let from = self.path_of(span.file);
        let (mut folder, mut way) = (from.parent()?, String::new());
        loop {
            if (self.world.read)(&remove_dots(&folder.join(reference))).is_ok() {
                return Some(way + reference);
            }
            if folder == self.world.root || !folder.starts_with(&self.world.root) {
                return None;
            }
            folder = folder.parent()?;
            way.push_str("../");
        }
    }
}
