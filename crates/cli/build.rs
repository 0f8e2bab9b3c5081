//! Lists the pages of the book, so that `jurist docs` and `jurist mcp` have them inside the binary, and sets the size of
//! the stack on Windows.

use std::fmt::Write;
use std::path::Path;

/// Bytes, as on Linux. On Windows the first thread has an eighth of it unless the program says more.
const MAIN_STACK: u32 = 8 << 20;

fn main() {
    let read_variable = |name: &str| std::env::var(name).unwrap_or_default();
    if read_variable("CARGO_CFG_TARGET_OS") == "windows" && read_variable("CARGO_CFG_TARGET_ENV") == "msvc" {
        println!("cargo::rustc-link-arg-bins=/STACK:{MAIN_STACK}");
    }
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let summary = docs.join("SUMMARY.md");
    println!("cargo::rerun-if-changed={}", summary.display());
    // A source package without the book has none.
    let summary = std::fs::read_to_string(summary).unwrap_or_default();
    let mut pages = String::from("&[\n");
    for line in summary.lines() {
        let link = line.trim().strip_prefix("- [").and_then(|line| line.strip_suffix(')')?.split_once("]("));
        let Some((title, name)) = link else { continue };
        let path = docs.join(name);
        // Pages of the project itself, such as the changelog, lie outside of the folder.
        if !name.starts_with("../") && path.is_file() {
            let path = path.display().to_string();
            let _ = writeln!(
                pages,
                "    BookPage {{ title: {title:?}, name: {name:?}, text: include_str!({path:?}) }},"
            );
        }
    }
    pages.push(']');
    let out = std::env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    std::fs::write(Path::new(&out).join("book_pages.rs"), pages).expect("the list of pages can be written");
}
