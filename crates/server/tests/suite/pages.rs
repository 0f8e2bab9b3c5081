//! The web pages, or that there are none.

use std::path::Path;

use jurist_server::ServerSettings;
use reqwest::{Method, StatusCode};
use serde_json::Value as Json;

use crate::place::{served, with_accounts};

#[test]
fn any_address_is_a_page_but_those_of_programs() {
    served(&with_accounts(), |place| async move {
        for path in ["/", "/sign-in", "/p/default/traces/a.b%2Fc", "/join", "/apiary"] {
            let answer = place.ask(Method::GET, path, &[], Json::Null).await;
            assert_eq!(answer.status, StatusCode::OK, "{path}");
            assert!(answer.headers["content-type"].to_str().unwrap().starts_with("text/html"), "{path}");
            let index = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/dist/index.html");
            let expected = if Path::new(index).exists() { "id=\"root\"" } else { "not in this build" };
            assert!(answer.text.contains(expected), "{}", answer.text);
            let policy = answer.headers["content-security-policy"].to_str().unwrap();
            assert!(policy.contains("default-src 'self'"), "{policy}");
        }
        for path in ["/api/v1/nothing", "/api", "/v1/nothing", "/assets/never-was.js"] {
            let answer = place.ask(Method::GET, path, &[], Json::Null).await;
            assert_eq!(answer.status, StatusCode::NOT_FOUND, "{path}");
            assert_eq!(answer.headers["content-type"], "application/problem+json", "{path}");
        }
        let answer = place.ask(Method::POST, "/sign-in", &[], Json::Null).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND);
    });
}

#[test]
fn no_address_leads_out_of_the_pages() {
    served(&ServerSettings::default(), |place| async move {
        for path in ["/..%2f..%2fCargo.toml", "/assets/..%2f..%2f..%2fCargo.toml", "/%2e%2e/Cargo.toml"] {
            let answer = place.ask(Method::GET, path, &[], Json::Null).await;
            assert!(!answer.text.contains("[workspace]"), "{path}");
        }
    });
}

#[test]
fn the_book_is_served_under_docs() {
    served(&ServerSettings::default(), |place| async move {
        let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
        let answer = client.get(format!("{}/docs", place.url)).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::PERMANENT_REDIRECT);
        assert_eq!(answer.headers()["location"], "/docs/");
        let index = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/dist-book/index.html");
        let answer = place.ask(Method::GET, "/docs/", &[], Json::Null).await;
        assert_eq!(answer.status, StatusCode::OK);
        if !Path::new(index).exists() {
            eprintln!("SKIPPED the pages of the book: web/dist-book is missing, `make docs` builds it");
            assert!(answer.text.contains("not in this build"), "{}", answer.text);
            return;
        }
        assert!(answer.text.contains("<h1"), "{}", answer.text);
        let answer = place.ask(Method::GET, "/docs/quickstart.html", &[], Json::Null).await;
        assert_eq!(answer.status, StatusCode::OK);
        assert_eq!(answer.headers["cache-control"], "no-cache");
        for path in ["/docs/never-was.html", "/docs/index.html.gz", "/docs/..%2findex.html"] {
            let answer = place.ask(Method::GET, path, &[], Json::Null).await;
            assert_eq!(answer.status, StatusCode::NOT_FOUND, "{path}");
            assert!(answer.text.contains("<a href=/docs/>"), "{path}: {}", answer.text);
        }
    });
}
