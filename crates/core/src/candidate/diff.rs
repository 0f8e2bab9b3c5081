//! Unified diffs, file by file and hunk by hunk.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What happened to one file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FileChange {
    /// Path of the file; for a deleted file, the path before.
    pub path: String,
    /// Old path, if the file was moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_path: Option<String>,
    /// Kind of change.
    pub kind: ChangeKind,
    /// Number of added lines.
    pub added: u32,
    /// Number of removed lines.
    pub removed: u32,
    /// Changed regions of the file; empty if the format does not contain them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hunks: Vec<Hunk>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    #[default]
    Modified,
    Added,
    Removed,
    Renamed,
}

/// A stretch of changed lines; each keeps its first character: blank, `+` or `-`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Hunk {
    /// First line of the region in the old file, from 1; 0 for a new file.
    pub old_start: u32,
    /// First line of the region in the new file, from 1; 0 for a removed file.
    pub new_start: u32,
    /// Lines of the region, each with its first character: a space, `+` or `-`.
    pub lines: Vec<String>,
}

/// Reads a unified diff, with or without git's headers; what is not part of one is passed over.
pub fn parse_unified_diff(text: &str) -> Vec<FileChange> {
    let mut files: Vec<FileChange> = Vec::new();
    let mut lines = text.lines().peekable();
    let (mut old_left, mut new_left) = (0_u32, 0_u32);
    while let Some(line) = lines.next() {
        if 0 < old_left + new_left {
            add_hunk_line(line, &mut files, &mut old_left, &mut new_left);
        } else if let Some(paths) = line.strip_prefix("diff --git ") {
            let path = paths.rsplit_once(" b/").map_or(paths, |(_, path)| path);
            files.push(FileChange { path: path.to_owned(), ..FileChange::default() });
        } else if let Some(old) = line.strip_prefix("--- ")
            && let Some(new) = lines.peek().and_then(|line| line.strip_prefix("+++ "))
        {
            apply_file_paths(&mut files, parse_diff_path(old), parse_diff_path(new));
            lines.next();
        } else if let Some(header) = line.strip_prefix("@@ -") {
            if let (Some((old, new)), Some(file)) = (parse_hunk_ranges(header), files.last_mut()) {
                (old_left, new_left) = (old.n_lines, new.n_lines);
                file.hunks.push(Hunk { old_start: old.start, new_start: new.start, lines: Vec::new() });
            }
        } else if let Some(file) = files.last_mut() {
            apply_git_header(line, file);
        }
    }
    files
}

fn add_hunk_line(line: &str, files: &mut [FileChange], old_left: &mut u32, new_left: &mut u32) {
    let Some(file) = files.last_mut() else { return };
    match line.as_bytes().first() {
        Some(b'+') => {
            *new_left = new_left.saturating_sub(1);
            file.added += 1;
        }
        Some(b'-') => {
            *old_left = old_left.saturating_sub(1);
            file.removed += 1;
        }
        // "\ No newline at end of file" counts for neither side.
        Some(b'\\') => return,
        _ => {
            *old_left = old_left.saturating_sub(1);
            *new_left = new_left.saturating_sub(1);
        }
    }
    if let Some(hunk) = file.hunks.last_mut() {
        hunk.lines.push(line.to_owned());
    }
}

/// The path of a `---` or `+++` line; `None` for a file that is not there.
fn parse_diff_path(text: &str) -> Option<String> {
    let path = text.split('\t').next().unwrap_or_default().trim();
    let path = path.strip_prefix("a/").or_else(|| path.strip_prefix("b/")).unwrap_or(path);
    (path != "/dev/null").then(|| path.to_owned())
}

/// Git has named the file already; a plain diff names it here.
fn apply_file_paths(files: &mut Vec<FileChange>, old: Option<String>, new: Option<String>) {
    let path = new.clone().or_else(|| old.clone()).unwrap_or_default();
    let is_new_file = files.last().is_none_or(|file| file.path != path || !file.hunks.is_empty());
    if is_new_file {
        files.push(FileChange { path, ..FileChange::default() });
    }
    let Some(file) = files.last_mut() else { return };
    match (old, new) {
        (None, _) => file.kind = ChangeKind::Added,
        (_, None) => file.kind = ChangeKind::Removed,
        (Some(old), Some(new)) if old != new => {
            file.kind = ChangeKind::Renamed;
            file.old_path = Some(old);
        }
        _ => {}
    }
}

fn apply_git_header(line: &str, file: &mut FileChange) {
    if line.starts_with("new file") {
        file.kind = ChangeKind::Added;
    } else if line.starts_with("deleted file") {
        file.kind = ChangeKind::Removed;
    } else if let Some(old) = line.strip_prefix("rename from ") {
        file.kind = ChangeKind::Renamed;
        file.old_path = Some(old.to_owned());
    }
}

/// One side of a hunk.
struct HunkRange {
    start: u32,
    n_lines: u32,
}

/// `12,3 +14,4 @@ …`: both sides.
fn parse_hunk_ranges(header: &str) -> Option<(HunkRange, HunkRange)> {
    let (old, rest) = header.split_once(" +")?;
    let new = rest.split(" @@").next()?;
    let range = |text: &str| -> Option<HunkRange> {
        Some(match text.split_once(',') {
            Some((start, n_lines)) => {
                HunkRange { start: start.parse().ok()?, n_lines: n_lines.parse().ok()? }
            }
            None => HunkRange { start: text.parse().ok()?, n_lines: 1 },
        })
    };
    Some((range(old)?, range(new)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_hunks_are_counted() {
        let text = "\
diff --git a/src/a.rs b/src/a.rs
index 1..2 100644
--- a/src/a.rs
+++ b/src/a.rs
@@ -1,3 +1,4 @@ fn main
 one
-two
+2
+2.5
 three
diff --git a/old.txt b/new.txt
similarity index 100%
rename from old.txt
rename to new.txt
diff --git a/gone b/gone
deleted file mode 100644
--- a/gone
+++ /dev/null
@@ -1 +0,0 @@
--- a line that looks like a header
\\ No newline at end of file
--- /dev/null
+++ b/fresh
@@ -0,0 +1 @@
+++ also looks like one
";
        let files = parse_unified_diff(text);
        let read: Vec<(&str, ChangeKind, u32, u32)> =
            files.iter().map(|file| (file.path.as_str(), file.kind, file.added, file.removed)).collect();
        assert_eq!(
            read,
            [
                ("src/a.rs", ChangeKind::Modified, 2, 1),
                ("new.txt", ChangeKind::Renamed, 0, 0),
                ("gone", ChangeKind::Removed, 0, 1),
                ("fresh", ChangeKind::Added, 1, 0),
            ]
        );
        assert_eq!(files[0].hunks[0].lines.len(), 5);
    }
}
