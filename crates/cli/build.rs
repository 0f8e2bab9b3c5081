//! Lists and packs the pages of the book, so that `jurist docs` and `jurist mcp` have them inside the binary, packs the
//! font of pictures, and sets the size of the stack on Windows.

use std::fmt::Write;
use std::io::Write as _;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

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
    let (mut pages, mut texts) = (String::from("&[\n"), String::new());
    for line in summary.lines() {
        let link = line.trim().strip_prefix("- [").and_then(|line| line.strip_suffix(')')?.split_once("]("));
        let Some((title, name)) = link else { continue };
        let path = docs.join(name);
        // Pages of the project itself, such as the changelog, lie outside of the folder.
        if !name.starts_with("../") && path.is_file() {
            println!("cargo::rerun-if-changed={}", path.display());
            let start = texts.len();
            texts +=
                &without_comments(&std::fs::read_to_string(path).expect("a page of the book can be read"));
            let end = texts.len();
            let _ = writeln!(
                pages,
                "    BookPage {{ title: {title:?}, name: {name:?}, start: {start}, end: {end} }},"
            );
        }
    }
    pages.push(']');
    write_output("book_pages.rs", pages.as_bytes());
    write_output("book_texts.gz", &pack_bytes(texts.as_bytes()));
    write_output("font.gz", &pack_bytes(dejavu::sans::regular()));
}

fn pack_bytes(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(bytes).expect("memory can be written");
    packed.finish().expect("memory can be written")
}

fn write_output(name: &str, bytes: &[u8]) {
    let out = std::env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    std::fs::write(Path::new(&out).join(name), bytes).expect("the folder of a build can be written");
}

/// The text of a page for readers. Comments outside of code have what `scripts/check-book` needs to run its commands.
fn without_comments(page: &str) -> String {
    let mut text = String::new();
    let (mut is_code, mut is_comment, mut was_comment) = (false, false, false);
    for line in page.lines() {
        is_comment |= !is_code && line.starts_with("<!--");
        if is_comment {
            is_comment = !line.contains("-->");
            was_comment = true;
            continue;
        }
        is_code ^= line.trim_start().starts_with("```");
        // The empty line behind a comment goes with it.
        if !(was_comment && line.is_empty()) {
            text.push_str(line);
            text.push('\n');
        }
        was_comment = false;
    }
    text
}
