//! Errors that end a command, with the page of the book that helps.

use jurist_engine::agent::RunSetupError;
use jurist_engine::model::resolve::Unresolved;
use jurist_engine::model::{ModelError, ModelErrorKind};
use jurist_engine::permission::NotPermitted;
use jurist_engine::trust::{NotTrusted, UntrustedRate};
use jurist_server::NotServed;
use jurist_store::StoreError;

use crate::connection::remote::NoAnswer;
use crate::render::{print_error, print_page};

/// An error that ends a command or a part of it, and the page of the book that helps.
pub fn print_failure(error: &anyhow::Error) {
    print_error(&format!("{error:#}"));
    if let Some(page) = find_page_for_error(error) {
        print_page(page);
    }
}

/// The page about programs in files and about settings that need trust.
pub const PERMISSIONS: &str = "files";

/// The page that helps with an error, by its kind; `None` if no page says more than the error itself.
pub fn find_page_for_error(error: &anyhow::Error) -> Option<&'static str> {
    let of_kind = [
        error.downcast_ref::<StoreError>().and_then(find_store_page),
        error.downcast_ref::<ModelError>().and_then(find_model_page),
        error.downcast_ref::<Unresolved>().and_then(find_judge_page),
        error.downcast_ref::<RunSetupError>().and_then(find_setup_page),
        error.is::<NotTrusted>().then_some(PERMISSIONS),
        error.is::<UntrustedRate>().then_some(PERMISSIONS),
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
    use crate::book::{DEFERRED_CASES, find_book_page};

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
}
