//! Has the web pages built before they are put into a binary.
//!
//! Only where they are put into it, which a debug build does not: it reads `web/dist` when it runs.
//! Without Node the server says that it has no pages; nothing else depends on them.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What pages are made of.
const SOURCES: [&str; 6] =
    ["src", "public", "index.html", "package-lock.json", "tsconfig.json", "vite.config.ts"];

fn main() {
    let web = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo says it")).join("../../web");
    println!("cargo::rerun-if-changed=build.rs");
    // What is not there when the server is compiled would not be looked for when it runs.
    let _ = fs::create_dir_all(web.join("dist"));
    // Fuzzers have no use for pages.
    if env::var("PROFILE").is_ok_and(|it| it == "debug") || env::var_os("CARGO_CFG_FUZZING").is_some() {
        return;
    }
    for source in SOURCES {
        println!("cargo::rerun-if-changed={}", web.join(source).display());
    }
    if let Err(why) = build(&web) {
        println!("cargo::warning=the web pages are not built, so they are as they were or absent: {why}");
    }
}

fn build(web: &Path) -> Result<(), String> {
    if !web.join("node_modules/.package-lock.json").exists() {
        npm(web, &["install", "--no-save", "--no-audit", "--no-fund"])?;
    }
    npm(web, &["run", "build"])
}

fn npm(web: &Path, args: &[&str]) -> Result<(), String> {
    let command = format!("npm {}", args.join(" "));
    let ran = Command::new("npm").args(args).current_dir(web).output();
    let ran = ran.map_err(|error| format!("`{command}` cannot be started: {error}"))?;
    if ran.status.success() {
        return Ok(());
    }
    let said = [ran.stdout, ran.stderr].map(|it| String::from_utf8_lossy(&it).trim().to_owned());
    Err(format!("`{command}` failed: {}", said.join(" ").replace('\n', " ")))
}
