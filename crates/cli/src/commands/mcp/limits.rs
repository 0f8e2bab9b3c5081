//! What a client may reach, spend and get: files of one folder, money up to a cap, results of a bounded size.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::Context;
use jurist_core::grade::Usd;
use jurist_engine::platform::find_real_path;
use serde_json::{Map, Value as Json};

/// Bytes of one result: what a client shows to its model without flooding it.
pub const MAX_OUTPUT: usize = 60_000;

/// What a run came to, and what it cost, if that is known.
#[derive(Debug)]
pub struct PaidResult<T> {
    pub value: T,
    pub cost: Option<Usd>,
}

/// The folder of the server and the money that its runs may spend.
#[derive(Debug)]
pub struct ServerLimits {
    /// Without links in its path; it is the current folder too.
    pub root: PathBuf,
    /// For all runs of this server together.
    pub max_cost: Option<Usd>,
    /// Locked by the run that spends, so that two runs never share one remainder.
    spent: Mutex<Usd>,
}

impl ServerLimits {
    pub fn new(root: PathBuf, max_cost: Option<Usd>) -> Self {
        Self { root, max_cost, spent: Mutex::default() }
    }

    /// A file inside of the folder, as a path from the folder.
    pub fn locate_file(&self, path: &str) -> anyhow::Result<PathBuf> {
        let path_in_root = self.root.join(path);
        let real = find_real_path(&path_in_root).with_context(|| format!("cannot read `{path}`"))?;
        let inside = real.strip_prefix(&self.root).ok().filter(|inside| *inside != Path::new("-"));
        match inside {
            Some(inside) => Ok(inside.to_owned()),
            None => anyhow::bail!(
                "`{path}` is outside of `{}`; this server reads files of that folder only (--root)",
                self.root.display()
            ),
        }
    }

    /// A file inside of the folder, or the name of something in the project's database, such as `latest`.
    pub fn locate_source(&self, name: &str) -> anyhow::Result<PathBuf> {
        let is_path = name.contains(['/', '\\', '.']) || name == "-" || self.root.join(name).exists();
        if is_path { self.locate_file(name) } else { Ok(PathBuf::from(name)) }
    }

    /// Runs something that may spend money: at most `requested`, and at most the remainder.
    ///
    /// If the run was interrupted, the amount spent is unknown, and all that it was allowed to spend is counted.
    pub fn spend<T>(
        &self,
        requested: Option<Usd>,
        run: impl FnOnce(Option<Usd>) -> anyhow::Result<PaidResult<T>>,
    ) -> anyhow::Result<T> {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        let left = self.max_cost.map(|cap| Usd::from_nanos(cap.nanos() - spent.nanos()));
        if let (Some(left), Some(cap)) = (left, self.max_cost) {
            anyhow::ensure!(
                0 < left.nanos(),
                "the budget of this server is used up: {cap} (--max-cost of `jurist mcp`)"
            );
        }
        let allowed = match (requested, left) {
            (Some(requested), Some(left)) => Some(requested.min(left)),
            (requested, left) => requested.or(left),
        };
        let (result, cost) = match run(allowed) {
            Ok(PaidResult { value, cost }) => (Ok(value), cost.or(allowed)),
            Err(error) => (Err(error), allowed),
        };
        *spent = spent.plus(cost.unwrap_or_default());
        result
    }
}

/// Limits on the size of a result.
#[derive(Debug, Clone, Copy)]
struct OutputLimits {
    /// Letters of one text.
    letters: usize,
    /// Entries of one list or map.
    entries: usize,
}

/// From generous to narrow; the first that fits is taken.
const OUTPUT_LIMITS: [OutputLimits; 6] = [
    OutputLimits { letters: 40_000, entries: 1_000 },
    OutputLimits { letters: 8_000, entries: 300 },
    OutputLimits { letters: 2_000, entries: 100 },
    OutputLimits { letters: 500, entries: 40 },
    OutputLimits { letters: 150, entries: 20 },
    OutputLimits { letters: 60, entries: 5 },
];

/// A result that is no larger than [`MAX_OUTPUT`]. `shortened` says whether something was cut. `None` if even the
/// narrowest limits leave too much.
pub fn fit_output(value: &Json) -> Option<Json> {
    for limits in OUTPUT_LIMITS {
        let mut n_cut = 0;
        let mut shortened = shorten_json(value, limits, &mut n_cut);
        if 0 < n_cut
            && let Json::Object(fields) = &mut shortened
        {
            let why = format!("{n_cut} texts or lists were cut; ask for less at a time");
            fields.insert("shortened".to_owned(), why.into());
        }
        if shortened.to_string().len() <= MAX_OUTPUT {
            return Some(shortened);
        }
    }
    None
}

fn shorten_json(value: &Json, limits: OutputLimits, n_cut: &mut usize) -> Json {
    match value {
        Json::String(text) => Json::String(shorten_text(text, limits.letters, n_cut)),
        Json::Array(items) => {
            *n_cut += usize::from(limits.entries < items.len());
            items.iter().take(limits.entries).map(|item| shorten_json(item, limits, n_cut)).collect()
        }
        Json::Object(fields) => {
            *n_cut += usize::from(limits.entries.max(30) < fields.len());
            let entries = fields.iter().take(limits.entries.max(30));
            entries
                .map(|(name, field)| (name.clone(), shorten_json(field, limits, n_cut)))
                .collect::<Map<String, Json>>()
                .into()
        }
        other => other.clone(),
    }
}

fn shorten_text(text: &str, letters: usize, n_cut: &mut usize) -> String {
    match text.char_indices().nth(letters) {
        Some((end, _)) => {
            *n_cut += 1;
            format!("{}… ({} more letters)", &text[..end], text[end..].chars().count())
        }
        None => text.to_owned(),
    }
}

/// A message no longer than a result may be.
pub fn fit_message(text: &str) -> String {
    shorten_text(text, MAX_OUTPUT / 4, &mut 0)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

    use serde_json::json;

    use super::*;

    #[test]
    fn results_of_any_size_fit() {
        let long = "ä".repeat(200_000);
        let many: Vec<Json> = (0..5_000).map(|n| json!({ "case": n, "answer": &long[..400] })).collect();
        for value in [json!({ "text": long }), json!({ "cases": many }), json!({ "one": { "cases": many } })]
        {
            let output = fit_output(&value).unwrap();
            assert!(output.to_string().len() <= MAX_OUTPUT);
            assert!(output["shortened"].is_string(), "{output:.200}");
        }
        let small = json!({ "cases": [1, 2], "text": "as it is" });
        assert_eq!(fit_output(&small), Some(small));
    }

    #[test]
    fn files_outside_of_the_folder_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("root");
        std::fs::create_dir(&root).unwrap();
        std::fs::write(root.join("suite.yaml"), "").unwrap();
        std::fs::write(folder.path().join("secret.yaml"), "").unwrap();
        std::os::unix::fs::symlink(folder.path().join("secret.yaml"), root.join("link.yaml")).unwrap();
        std::fs::write(root.join("-"), "").unwrap();
        let limits = ServerLimits::new(root.clone(), None);
        assert_eq!(limits.locate_file("suite.yaml").unwrap(), Path::new("suite.yaml"));
        assert_eq!(limits.locate_file("./suite.yaml").unwrap(), Path::new("suite.yaml"));
        let whole = root.join("suite.yaml").display().to_string();
        assert_eq!(limits.locate_file(&whole).unwrap(), Path::new("suite.yaml"));
        for path in ["../secret.yaml", "link.yaml", "/etc/passwd"] {
            let error = limits.locate_file(path).unwrap_err().to_string();
            assert!(error.contains("is outside of"), "{path}: {error}");
            assert!(limits.locate_source(path).is_err());
        }
        assert!(limits.locate_file("-").is_err(), "this would be standard input");
        assert!(limits.locate_source("missing.csv").is_err());
        assert_eq!(limits.locate_source("latest").unwrap(), Path::new("latest"));
    }

    #[test]
    fn runs_share_one_budget() {
        let limits = ServerLimits::new(PathBuf::new(), Some(Usd::from_nanos(100)));
        let spend = |requested: Option<i64>, cost: Option<i64>| {
            let requested = requested.map(Usd::from_nanos);
            limits.spend(requested, |allowed| {
                Ok(PaidResult { value: allowed.unwrap().nanos(), cost: cost.map(Usd::from_nanos) })
            })
        };
        assert_eq!(spend(Some(30), Some(10)).unwrap(), 30);
        assert_eq!(spend(Some(500), Some(20)).unwrap(), 90);
        // A run that broke off counts with all it was allowed to spend.
        assert!(limits.spend::<()>(Some(Usd::from_nanos(50)), |_| anyhow::bail!("broken")).is_err());
        assert_eq!(spend(None, Some(20)).unwrap(), 20);
        assert!(spend(None, Some(1)).unwrap_err().to_string().contains("used up"));
    }
}
