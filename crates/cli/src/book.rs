//! The pages of the book, which are inside the program: `jurist docs` prints them, and `jurist mcp` serves them.

use jurist_core::diagnostic::closest;
use jurist_engine::agent::RunSetupError;
use jurist_engine::model::resolve::Unresolved;
use jurist_engine::model::{ModelError, ModelErrorKind};
use jurist_engine::permission::NotPermitted;
use jurist_engine::trust::NotTrusted;
use jurist_server::NotServed;
use jurist_store::StoreError;

use crate::connection::remote::NoAnswer;

/// A page of the book.
#[derive(Debug)]
pub struct BookPage {
    pub title: &'static str,
    /// Its path in the folder `docs`.
    pub name: &'static str,
    pub text: &'static str,
}

/// As `docs/SUMMARY.md` lists them.
pub const BOOK_PAGES: &[BookPage] = include!(concat!(env!("OUT_DIR"), "/book_pages.rs"));

impl BookPage {
    /// The name that people type: `how-to/ci`, or `how-to` for the first page of a folder.
    pub fn short_name(&self) -> &'static str {
        let name = self.name.strip_suffix(".md").unwrap_or(self.name);
        match name.strip_suffix("README") {
            Some("") => "welcome",
            Some(folder) => folder.trim_end_matches('/'),
            None => name,
        }
    }
}

/// A page by its name, with or without `.md`; of a page in a folder, the last part is enough where no other has it.
pub fn find_book_page(name: &str) -> Result<&'static BookPage, String> {
    let wanted = name.strip_suffix(".md").unwrap_or(name).trim_matches('/').to_lowercase();
    if let Some(page) = BOOK_PAGES.iter().find(|page| page.short_name() == wanted) {
        return Ok(page);
    }
    let is_last_part = |page: &&BookPage| page.short_name().rsplit('/').next() == Some(wanted.as_str());
    let found: Vec<&BookPage> = BOOK_PAGES.iter().filter(is_last_part).collect();
    match found.as_slice() {
        [page] => Ok(page),
        [] => {
            let names: Vec<&str> = BOOK_PAGES.iter().map(BookPage::short_name).collect();
            let hint = closest(&wanted, &names).map(|meant| format!("; did you mean `{meant}`?"));
            Err(format!(
                "the book has no page `{name}`{}; `jurist docs` lists the pages",
                hint.unwrap_or_default()
            ))
        }
        several => {
            let names: Vec<&str> = several.iter().map(|page| page.short_name()).collect();
            Err(format!("the book has several pages `{name}`: {}", names.join(", ")))
        }
    }
}

/// Names a page, after help and errors.
pub fn read_more(page: &str) -> String {
    format!("Read more: jurist docs {page}")
}

/// The page about cases that were not graded, with what to do for each reason.
pub const DEFERRED_CASES: &str = "runs";

/// The page about programs that a file names and about settings that need trust.
pub const PERMISSIONS: &str = "files";

/// The page that helps with an error, by its kind; `None` if no page says more than the error itself.
pub fn find_page_for_error(error: &anyhow::Error) -> Option<&'static str> {
    let of_kind = [
        error.downcast_ref::<StoreError>().and_then(find_store_page),
        error.downcast_ref::<ModelError>().and_then(find_model_page),
        error.downcast_ref::<Unresolved>().and_then(find_judge_page),
        error.downcast_ref::<RunSetupError>().and_then(find_setup_page),
        error.is::<NotTrusted>().then_some(PERMISSIONS),
        error.is::<NotPermitted>().then_some(PERMISSIONS),
        error.is::<NoAnswer>().then_some("server"),
        error.downcast_ref::<NotServed>().map(|error| match error {
            NotServed::TokenRequired(_) => "mcp",
            NotServed::Address { .. } | NotServed::OpenToOthers(_) => "server",
        }),
    ];
    of_kind.into_iter().flatten().next()
}

fn find_store_page(error: &StoreError) -> Option<&'static str> {
    match error {
        StoreError::Unknown { what: "run", .. } => Some("runs"),
        StoreError::BadUrl(_) | StoreError::Unreachable { .. } | StoreError::ReadOnly(_) => Some("store"),
        StoreError::Newer { .. } | StoreError::Emptied(_) | StoreError::DamagedFile(_) => {
            Some("how-to/backup")
        }
        _ => None,
    }
}

fn find_model_page(error: &ModelError) -> Option<&'static str> {
    let is_about_settings =
        matches!(error.kind, ModelErrorKind::NoKey | ModelErrorKind::Auth | ModelErrorKind::OverBudget);
    is_about_settings.then_some("judges")
}

fn find_setup_page(error: &RunSetupError) -> Option<&'static str> {
    match error {
        RunSetupError::NotPermitted(_) => Some(PERMISSIONS),
        RunSetupError::NoModel(unresolved) => find_judge_page(unresolved),
        RunSetupError::Target(_) | RunSetupError::UnknownServer { .. } | RunSetupError::Workspace { .. } => {
            None
        }
    }
}

fn find_judge_page(error: &Unresolved) -> Option<&'static str> {
    match error {
        Unresolved::NoClient(_) | Unresolved::NoCertificates { .. } => Some("settings"),
        Unresolved::Private(_) => None,
        _ => Some("judges"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_pages_that_exist() {
        let newer = StoreError::Newer { place: "jurist.db".to_owned(), found: 99, known: 1 };
        let no_run = StoreError::Unknown { what: "run", id: "x".to_owned(), hint: String::new() };
        let no_case = StoreError::Unknown { what: "case", id: "x".to_owned(), hint: String::new() };
        let no_key = ModelError::new(ModelErrorKind::NoKey, "a key is missing");
        let cases: [(anyhow::Error, Option<&str>); 8] = [
            (newer.into(), Some("how-to/backup")),
            (StoreError::BadUrl("x:".to_owned()).into(), Some("store")),
            (no_run.into(), Some("runs")),
            (no_case.into(), None),
            (anyhow::Error::new(no_key).context("gpt does not answer"), Some("judges")),
            (Unresolved::NoName.into(), Some("judges")),
            (anyhow::anyhow!("refused").context(NoAnswer("http://127.0.0.1:1".to_owned())), Some("server")),
            (anyhow::anyhow!("the run has no case `x`"), None),
        ];
        for (error, page) in cases {
            assert_eq!(find_page_for_error(&error), page, "{error:#}");
            assert!(page.is_none_or(|page| find_book_page(page).is_ok()), "{page:?}");
        }
        for page in [PERMISSIONS, "settings", "mcp", DEFERRED_CASES] {
            assert!(find_book_page(page).is_ok(), "{page}");
        }
    }

    #[test]
    fn a_page_is_found_by_its_name_or_the_last_part_of_it() {
        for (name, title) in [
            ("runs", "Runs"),
            ("runs.md", "Runs"),
            ("how-to/ci", "GitHub and GitLab"),
            ("gate-an-agent", "Gate a tool agent in CI"),
            ("how-to", "All guides"),
            ("welcome", "Welcome"),
        ] {
            assert_eq!(find_book_page(name).map(|page| page.title), Ok(title), "{name}");
        }
        assert!(find_book_page("rnus").unwrap_err().contains("did you mean `runs`?"));
        assert!(find_book_page("../Cargo").is_err());
    }

    #[test]
    fn comments_for_the_check_of_the_book_are_no_part_of_its_pages_and_those_in_code_are() {
        for page in BOOK_PAGES {
            assert!(!page.text.lines().any(|line| line == "-->"), "{}", page.name);
        }
        let page = find_book_page("how-to/ci").expect("it is there");
        assert!(page.text.contains("\n<!-- jurist-comment"));
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<&str> = BOOK_PAGES.iter().map(BookPage::short_name).collect();
        let n = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), n);
    }
}
