//! The pages of the book, which are inside the program: `jurist docs` prints them, and `jurist mcp` serves them.

use std::io::Read as _;
use std::sync::LazyLock;

use flate2::read::GzDecoder;
use jurist_core::diagnostic::closest;

/// A page of the book.
#[derive(Debug)]
pub struct BookPage {
    pub title: &'static str,
    /// Its path in the folder `docs`.
    pub name: &'static str,
    /// Where its text is in those of all pages.
    start: usize,
    end: usize,
}

/// As `docs/SUMMARY.md` lists them.
pub const BOOK_PAGES: &[BookPage] = include!(concat!(env!("OUT_DIR"), "/book_pages.rs"));

/// The texts of all pages, which are packed in the program: 0.3 MB instead of 0.9.
static BOOK_TEXTS: LazyLock<String> = LazyLock::new(|| {
    let packed: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/book_texts.gz"));
    let mut texts = String::new();
    GzDecoder::new(packed).read_to_string(&mut texts).expect("the build packs texts");
    texts
});

impl BookPage {
    pub fn text(&self) -> &'static str {
        &BOOK_TEXTS[self.start..self.end]
    }

    /// The name that a user types: `how-to/ci`, or `how-to` for the first page of a folder.
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
    let pages: Vec<&BookPage> = BOOK_PAGES.iter().filter(is_last_part).collect();
    match pages.as_slice() {
        [page] => Ok(page),
        [] => {
            let names: Vec<&str> = BOOK_PAGES.iter().map(BookPage::short_name).collect();
            let hint = closest(&wanted, &names).map(|meant| format!("; did you mean `{meant}`?"));
            Err(format!(
                "the book has no page `{name}`{}; `jurist docs` lists the pages",
                hint.unwrap_or_default()
            ))
        }
        pages => {
            let names: Vec<&str> = pages.iter().map(|page| page.short_name()).collect();
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

#[cfg(test)]
mod tests {
    use super::*;

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
            assert!(!page.text().lines().any(|line| line == "-->"), "{}", page.name);
        }
        let page = find_book_page("how-to/ci").expect("it is there");
        assert!(page.text().contains("\n<!-- jurist-comment"));
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
