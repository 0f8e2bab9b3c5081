//! Words that are marked in the texts of items, listed in the task or in a file.

use serde_json::Value as Json;

use crate::diagnostic::Code;
use crate::dialect::context::Context;
use crate::dialect::fields::MappingReader;
use crate::dialect::rows;
use crate::source::{SourceNode, SourceSpan};
use crate::suite::{AnnotationTask, DataRow, Keyword, KeywordFile};

/// Most words of a task: the page looks for each of them in each text.
const MOST_KEYWORDS: usize = 500;

/// Most characters of a word, and of its label.
const MOST_CHARACTERS: usize = 100;

/// Most `*` in a word: the time of the search grows with each of them.
const MOST_STARS: usize = 2;

/// The words of the task, of its schemes, and of a file.
pub(super) fn read_keywords(
    fields: &MappingReader<'_>,
    schemes: &[SourceNode],
    annotation: &mut AnnotationTask,
) {
    let cx = fields.cx;
    let own = fields.get("keyword_highlights");
    let of_schemes = schemes.iter().filter_map(|scheme| scheme.get("keyword_highlights"));
    // A key without a value is reported with the other keys of its scheme.
    for list in own.into_iter().chain(of_schemes).filter(|list| !list.is_null()) {
        let nodes = cx.list(list, "keyword_highlights").unwrap_or_default();
        annotation.keywords.extend(nodes.iter().filter_map(|node| read_keyword(cx, node)));
        check_keyword_count(cx, annotation.keywords.len(), list.span);
    }
    if let Some(node) = fields.get("keyword_highlights_file") {
        annotation.keyword_file = read_keyword_file(cx, node);
        check_keyword_count(cx, annotation.list_keywords().count(), node.span);
    }
}

fn check_keyword_count(cx: &Context<'_>, n: usize, span: SourceSpan) {
    if MOST_KEYWORDS < n {
        cx.error(Code::BadValue, span, format!("there are {n} words to mark, more than {MOST_KEYWORDS}"));
    }
}

/// A word alone, or with a label.
fn read_keyword(cx: &Context<'_>, node: &SourceNode) -> Option<Keyword> {
    let keyword = match node.map() {
        None => Keyword { word: cx.scalar_text(node, "keyword_highlights")?, label: None },
        Some(_) => {
            let fields = MappingReader::new(cx, node, "keyword")?;
            let word = fields.name("word");
            if word.is_none() {
                fields.missing("word");
            }
            let label = fields.text("label");
            fields.finish();
            Keyword { word: word?, label }
        }
    };
    if let Some(fault) = find_keyword_fault(&keyword) {
        cx.error(Code::BadValue, cx.head(node), format!("a word to mark {fault}"));
        return None;
    }
    Some(keyword)
}

/// A table with the columns `word` or `keyword`, and `label`. Its other columns, such as the scheme and the colour, do
/// not change which words are marked.
fn read_keyword_file(cx: &Context<'_>, node: &SourceNode) -> Option<KeywordFile> {
    let path = cx.path(node, "keyword_highlights_file")?;
    let file = cx.find(&path, node.span)?;
    let rows: Vec<DataRow> = rows::rows_of(cx, file, node.span);
    let mut keywords = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let keyword = find_cell(row, &["word", "keyword"])
            .map(|word| Keyword { word, label: find_cell(row, &["label"]) });
        let fault = match &keyword {
            Some(keyword) => find_keyword_fault(keyword),
            None => Some("has no `word`".to_owned()),
        };
        if let Some(fault) = fault {
            cx.error(Code::BadRow, node.span, format!("row {} of `{path}` {fault}", at + 1));
            return None;
        }
        keywords.extend(keyword);
    }
    Some(KeywordFile { path, keywords })
}

/// The text of a column; upper and lower case of its name are equal.
fn find_cell(row: &DataRow, names: &[&str]) -> Option<String> {
    let is_named = |key: &str| names.iter().any(|name| key.trim().eq_ignore_ascii_case(name));
    let (_, value) = row.iter().find(|(key, _)| is_named(key))?;
    let text = match value {
        Json::String(text) => text.trim().to_owned(),
        Json::Number(number) => number.to_string(),
        _ => return None,
    };
    Some(text).filter(|text| !text.is_empty())
}

/// Why a word cannot be marked; `None` if it can be.
fn find_keyword_fault(keyword: &Keyword) -> Option<String> {
    let is_long = |text: &String| MOST_CHARACTERS < text.chars().count();
    if keyword.word.chars().all(|letter| letter == '*' || letter.is_whitespace()) {
        return Some("has no letters".to_owned());
    }
    if is_long(&keyword.word) || keyword.label.as_ref().is_some_and(is_long) {
        return Some(format!("or its label is longer than {MOST_CHARACTERS} characters"));
    }
    (MOST_STARS < keyword.word.matches('*').count()).then(|| format!("has more than {MOST_STARS} `*`"))
}
