//! The web pages and the book: built by `web/`, embedded in this program.
//!
//! A debug build reads them from `web/dist` and `web/dist-book` at each request, so that a change of Rust code does not
//! wait for them; other builds embed them.

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use rust_embed::{Embed, EmbeddedFile};

use crate::error::{ApiError, not_modified};

#[derive(Embed)]
#[folder = "../../web/dist"]
#[allow_missing = true]
struct Pages;

#[derive(Embed)]
#[folder = "../../web/dist-book"]
#[allow_missing = true]
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

/// A file of the pages; any other address is the one page, which reads it itself.
pub async fn serve_page(request: Request) -> Result<Response, ApiError> {
    let path = request.uri().path().trim_start_matches('/');
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    let is_other = ["api", "v1"].contains(&path.split('/').next().unwrap_or_default());
    let unknown = || ApiError::Unknown("there is nothing here".to_owned());
    if !is_read || is_other {
        return Err(unknown());
    }
    // Links of the book are relative, so its first page is in a folder.
    if path == BOOK {
        return Ok(Redirect::permanent("/docs/").into_response());
    }
    if let Some(name) = path.strip_prefix("docs/") {
        return serve_book_page(name, request.headers()).ok_or_else(unknown);
    }
    let name = if path.ends_with(".gz") || Pages::get(path).is_none() { INDEX } else { path };
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
    if Book::get(INDEX).is_none() {
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
    let packed = takes_packed(headers).then(|| Files::get(&format!("{name}.gz"))).flatten();
    let encoding = packed.is_some().then(|| HeaderValue::from_static("gzip"));
    let file = match packed {
        Some(packed) => packed,
        None => Files::get(name)?,
    };
    let tag = page_etag(&file);
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
    encoding.map(|header_value| all.insert(header::CONTENT_ENCODING, header_value));
    Some(response)
}

fn takes_packed(headers: &HeaderMap) -> bool {
    let all =
        headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|header_value| header_value.to_str().ok());
    all.flat_map(|text| text.split(',')).any(|text| {
        let (name, weight) = text.split_once(';').unwrap_or((text, ""));
        name.trim() == "gzip" && !matches!(weight.trim(), "q=0" | "q=0.0" | "q=0.00" | "q=0.000")
    })
}

fn page_etag(file: &EmbeddedFile) -> HeaderValue {
    let hash: String =
        file.metadata.sha256_hash()[..16].iter().map(|sha256_hash| format!("{sha256_hash:02x}")).collect();
    HeaderValue::from_str(&format!("\"{hash}\"")).expect("digits in quotes are a header")
}

/// Of what the build of the pages writes; nothing else is there.
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
