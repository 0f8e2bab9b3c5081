//! Packs the JSON Schemas of `schemas/`, which `jurist schema` prints, so that the program has 0.05 MB of them instead
//! of 0.4.

use std::io::Write as _;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .expect("the folder of schemas can be read")
        .map(|entry| entry.expect("the folder of schemas can be read").file_name())
        .filter_map(|name| Some(name.to_str()?.strip_suffix(".schema.json")?.to_owned()))
        .collect();
    names.sort_unstable();
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    // A name and a text by turns, each with a zero byte behind it, which neither contains.
    for name in names {
        let text = std::fs::read_to_string(folder.join(format!("{name}.schema.json")));
        let text = text.expect("a schema can be read");
        write!(packed, "{name}\0{text}\0").expect("memory can be written");
    }
    let packed = packed.finish().expect("memory can be written");
    let out = std::env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    std::fs::write(Path::new(&out).join("schemas.gz"), packed).expect("the schemas can be written");
}
