//! The web pages and the book: built by `web/`, embedded in this program.
//!
//! A debug build reads them from `web/dist` and `web/dist-book` at each request, so that a change of Rust code does not
//! wait for them; other builds embed them. A file with a packed form is embedded in that form alone, which is
//! 4 MB less in the program, and is unpacked for the rare client that does not take it.

use std::collections::BTreeSet;
use std::io::Read as _;

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use flate2::read::GzDecoder;
use rust_embed::{Embed, EmbeddedFile};

use crate::error::{ApiError, not_modified};

#[derive(Embed)]
#[folder = "../../web/dist"]
#[allow_missing = true]
#[exclude = "assets/*.js"]
#[exclude = "assets/*.css"]
struct Pages;

#[derive(Embed)]
#[folder = "../../web/dist-book"]
#[allow_missing = true]
#[exclude = "*.html"]
#[exclude = "*.json"]
#[exclude = "*.css"]
#[exclude = "*.js"]
#[exclude = "*.svg"]
#[exclude = "*.txt"]
struct Book;

/// Where names change with the content, so that a browser never asks twice.
const ASSETS: &str = "assets/";

const INDEX: &str = "index.html";

/// Where the book is served.
const BOOK: &str = "docs";

/// The page of a build without Node.
const MISSING: &str = "<!doctype html><meta charset=utf-8><title>Jurist</title>\
    <h1>The pages are not in this build</h1>\
    <p>The API works; see <code>/api/v1</code>. To have the pages, install Node.js 20 or newer and run \
    <code>make web</code>, then build again.";
const MISSING_BOOK: &str = "<!doctype html><meta charset=utf-8><title>Jurist</title>\
    <h1>The book is not in this build</h1>\
    <p>Its pages are in the folder <code>docs</code> of the sources. To have them here, install Node.js 20 or newer and \
    run <code>make docs</code>, then build again.";

/// A reader may follow an old link to the book.
const NO_BOOK_PAGE: &str = "<!doctype html><html lang=en><meta charset=utf-8>\
    <meta name=viewport content=\"width=device-width\"><meta name=color-scheme content=\"light dark\">\
    <title>Page not found · Jurist</title><link rel=stylesheet href=/docs/assets/book.css>\
    <main><h1>Page not found</h1><p>The book has no page at this address. It may have been renamed.\
    <p><a href=/docs/>Contents and search of the book</a>";

/// A file of the pages; any other address is the one page, which reads it itself.
pub async fn serve_page(request: Request) -> Result<Response, ApiError> {
    let path = request.uri().path().trim_start_matches('/');
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    let is_other = ["api", "v1"].contains(&path.split('/').next().unwrap_or_default());
    let unknown = || ApiError::Unknown("no endpoint at this address; /docs/api.html lists them".to_owned());
    if !is_read || is_other {
        return Err(unknown());
    }
    // Links of the book are relative, so its first page is in a folder.
    if path == BOOK {
        return Ok(Redirect::permanent("/docs/").into_response());
    }
    if let Some(name) = path.strip_prefix("docs/") {
        let missing = || unknown().with_body("text/html; charset=utf-8", |_| NO_BOOK_PAGE.into());
        return Ok(serve_book_page(name, request.headers()).unwrap_or_else(missing));
    }
    let name = if path.ends_with(".gz") || !has_file::<Pages>(path) { INDEX } else { path };
    if name == INDEX && path.starts_with(ASSETS) {
        return Err(unknown());
    }
    let keep = if name.starts_with(ASSETS) { "public, max-age=31536000, immutable" } else { "no-cache" };
    Ok(match build_page_response::<Pages>(name, request.headers(), keep) {
        Some(file) => file,
        None => Html(MISSING).into_response(),
    })
}

/// A page of the book; the name of a folder means its first page.
fn serve_book_page(name: &str, headers: &HeaderMap) -> Option<Response> {
    if !has_file::<Book>(INDEX) {
        return Some(Html(MISSING_BOOK).into_response());
    }
    let is_folder = name.is_empty() || name.ends_with('/');
    let name = if is_folder { format!("{name}{INDEX}") } else { name.to_owned() };
    build_page_response::<Book>(&name, headers, "no-cache").filter(|_| !name.ends_with(".gz"))
}

fn build_page_response<Files: Embed>(
    name: &str,
    headers: &HeaderMap,
    keep: &'static str,
) -> Option<Response> {
    let (takes_packed, packed) = (takes_packed(headers), Files::get(&packed_name(name)));
    let is_sent_packed = takes_packed && packed.is_some();
    let file = match (packed, takes_packed) {
        (Some(packed), true) => packed,
        (packed, _) => Files::get(name).or_else(|| unpack_file(packed?))?,
    };
    let tag = page_etag(&file, is_sent_packed);
    let had = headers.get(header::IF_NONE_MATCH).and_then(|header| header.to_str().ok()).unwrap_or_default();
    if had.split(',').any(|part| part.trim().trim_start_matches("W/") == tag) {
        return Some(not_modified(tag));
    }
    let mut response = file.data.into_response();
    let all = response.headers_mut();
    all.insert(header::CONTENT_TYPE, HeaderValue::from_static(page_content_type(name)));
    all.insert(header::CACHE_CONTROL, HeaderValue::from_static(keep));
    all.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    all.insert(header::ETAG, tag);
    if is_sent_packed {
        all.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    Some(response)
}

fn packed_name(name: &str) -> String {
    format!("{name}.gz")
}

fn has_file<Files: Embed>(name: &str) -> bool {
    Files::get(name).is_some() || Files::get(&packed_name(name)).is_some()
}

/// `None` for a file that is no gzip, which only a broken build of the pages writes.
fn unpack_file(packed: EmbeddedFile) -> Option<EmbeddedFile> {
    let mut data = Vec::new();
    GzDecoder::new(&*packed.data).read_to_end(&mut data).ok()?;
    Some(EmbeddedFile { data: data.into(), metadata: packed.metadata })
}

/// Files of the web pages and the book that the server can serve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EmbeddedPages {
    /// `false` in a debug build, which reads them from the source tree.
    pub are_inside: bool,
    pub web_files: usize,
    pub web_bytes: usize,
    pub book_pages: usize,
    pub book_bytes: usize,
}

/// Which pages this program has, for `jurist --version --verbose`.
pub(crate) fn measure_pages() -> EmbeddedPages {
    EmbeddedPages {
        are_inside: !cfg!(debug_assertions),
        web_files: list_page_names::<Pages>().len(),
        web_bytes: count_page_bytes::<Pages>(),
        book_pages: list_page_names::<Book>().iter().filter(|name| name.ends_with(".html")).count(),
        book_bytes: count_page_bytes::<Book>(),
    }
}

/// A file and its packed form are one.
fn list_page_names<Files: Embed>() -> BTreeSet<String> {
    Files::iter().map(|name| name.strip_suffix(".gz").unwrap_or(&name).to_owned()).collect()
}

fn count_page_bytes<Files: Embed>() -> usize {
    Files::iter().filter_map(|name| Files::get(&name)).map(|file| file.data.len()).sum()
}

fn takes_packed(headers: &HeaderMap) -> bool {
    let all =
        headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|header_value| header_value.to_str().ok());
    all.flat_map(|text| text.split(',')).any(|text| {
        let (name, weight) = text.split_once(';').unwrap_or((text, ""));
        name.trim() == "gzip" && !matches!(weight.trim(), "q=0" | "q=0.0" | "q=0.00" | "q=0.000")
    })
}

/// The two forms of a file differ in their tags, since a cache may keep both.
fn page_etag(file: &EmbeddedFile, is_packed: bool) -> HeaderValue {
    let hash: String =
        file.metadata.sha256_hash()[..16].iter().map(|sha256_hash| format!("{sha256_hash:02x}")).collect();
    let form = if is_packed { "-gz" } else { "" };
    HeaderValue::from_str(&format!("\"{hash}{form}\"")).expect("digits in quotes are a header")
}

/// Content types of the files that the build of the pages writes; there are no others.
fn page_content_type(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" => "application/json",
        "png" => "image/png",
        "svg" => "image/svg+xml",
        "woff2" => "font/woff2",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file that is left out for its packed form, and has none, would be missing from the program.
    fn check_files<Files: Embed>(folder: &str) {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web").join(folder);
        let mut to_visit = vec![folder.clone()];
        while let Some(path) = to_visit.pop() {
            if path.is_dir() {
                to_visit.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
                continue;
            }
            let Ok(written) = std::fs::read(&path) else { continue };
            let name = path.strip_prefix(&folder).unwrap().to_str().unwrap().to_owned();
            if name.ends_with(".gz") {
                continue;
            }
            let get = |headers: &HeaderMap| build_page_response::<Files>(&name, headers, "no-cache");
            let plain = get(&HeaderMap::new()).unwrap_or_else(|| panic!("{name} is not embedded"));
            assert!(!plain.headers().contains_key(header::CONTENT_ENCODING), "{name}");
            let body =
                futures_util::FutureExt::now_or_never(axum::body::to_bytes(plain.into_body(), usize::MAX));
            assert_eq!(body.unwrap().unwrap().len(), written.len(), "{name}");
            let takes_gzip =
                HeaderMap::from_iter([(header::ACCEPT_ENCODING, HeaderValue::from_static("gzip"))]);
            assert!(get(&takes_gzip).is_some(), "{name}");
        }
    }

    #[test]
    fn every_file_of_the_pages_and_the_book_is_embedded_in_one_form() {
        check_files::<Pages>("dist");
        check_files::<Book>("dist-book");
        let both_forms =
            |names: Vec<String>| names.iter().filter(|name| names.contains(&packed_name(name))).count();
        // The first page stays in both forms: its existence says that the pages were built.
        assert!(both_forms(Pages::iter().map(String::from).collect()) <= 1);
        assert_eq!(both_forms(Book::iter().map(String::from).collect()), 0);
    }
}
