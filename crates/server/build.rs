//! Says whether the web pages that a release build carries are there and up to date, and tells the server's sources
//! what `jurist --version --verbose` prints about the build.
//!
//! It looks at files and nothing else: a build fetches no packages and starts no program. `make web` builds the pages.
//! A debug build carries none, it reads `web/dist` when it runs. Without pages the server says so; nothing else
//! depends on them.

use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{env, fs, io};

fn main() {
    let web = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../../web");
    println!("cargo::rerun-if-changed=build.rs");
    describe_build();
    // A folder that is absent when the server is compiled would not be looked for when it runs.
    let _ = fs::create_dir_all(web.join("dist"));
    let _ = fs::create_dir_all(web.join("dist-book"));
    // Fuzzers have no use for pages.
    if env::var("PROFILE").is_ok_and(|profile| profile == "debug")
        || env::var_os("CARGO_CFG_FUZZING").is_some()
    {
        return;
    }
    println!("cargo::rerun-if-changed={}", web.join("dist").display());
    println!("cargo::rerun-if-changed={}", web.join("dist-book").display());
    match pages_fault(&web) {
        Ok(None) => {}
        Ok(Some(fault)) => println!("cargo::warning={fault}; `make web` builds them"),
        Err(error) => println!("cargo::warning=cannot tell whether the web pages are up to date: {error}"),
    }
}

/// Passes on what only a build script knows. The commit comes from whoever builds a release: asking git for it would
/// start a program.
fn describe_build() {
    println!("cargo::rerun-if-env-changed=JURIST_COMMIT");
    let read_variable = |name: &str| env::var(name).unwrap_or_default();
    // Only the folder names the profile: `PROFILE` is `release` for every profile that inherits it. The last folders
    // of the path are PROFILE/build/PACKAGE/out.
    let out = PathBuf::from(read_variable("OUT_DIR"));
    let profile = out.ancestors().nth(3).and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    println!("cargo::rustc-env=JURIST_BUILD_PROFILE={profile}");
    println!("cargo::rustc-env=JURIST_BUILD_OPTIMISATION={}", read_variable("OPT_LEVEL"));
    println!("cargo::rustc-env=JURIST_BUILD_TARGET={}", read_variable("TARGET"));
    let commit: String =
        read_variable("JURIST_COMMIT").chars().filter(char::is_ascii_alphanumeric).take(64).collect();
    println!("cargo::rustc-env=JURIST_BUILD_COMMIT={commit}");
}

/// What is wrong with the pages in `web/dist`.
fn pages_fault(web: &Path) -> io::Result<Option<&'static str>> {
    let index = web.join("dist/index.html");
    if !index.exists() {
        return Ok(Some("the web pages are absent, so this server will have none"));
    }
    let built = fs::metadata(index)?.modified()?;
    // The one list of what pages are made of; `scripts/build-web` reads it too.
    for input in fs::read_to_string(web.join("build-inputs.txt"))?.lines() {
        let input = web.join(input);
        println!("cargo::rerun-if-changed={}", input.display());
        if built < last_change(&input)? {
            return Ok(Some("the web pages are older than their sources, so this server will have old ones"));
        }
    }
    Ok(None)
}

/// When a file, or the last of a folder's files, was changed. A folder changes when a file in it goes.
fn last_change(path: &Path) -> io::Result<SystemTime> {
    let metadata = fs::metadata(path)?;
    let mut last = metadata.modified()?;
    if metadata.is_dir() {
        for entry in fs::read_dir(path)? {
            last = last.max(last_change(&entry?.path())?);
        }
    }
    Ok(last)
}
