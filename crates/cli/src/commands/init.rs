use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;

use super::Ended;
use crate::render;

/// Write a small suite with comments, to start from
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  jurist init                 writes suite.yaml
  jurist init evals/faq.yaml

A file that exists is never overwritten.")]
pub struct Args {
    #[arg(value_name = "FILE", default_value = "suite.yaml")]
    file: PathBuf,
}

pub const SUITE: &str = include_str!("init.yaml");

pub fn run(args: &Args) -> anyhow::Result<Ended> {
    let path = args.file.display();
    if let Some(folder) = args.file.parent() {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot create `{}`", folder.display()))?;
    }
    let mut file = match OpenOptions::new().write(true).create_new(true).open(&args.file) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            anyhow::bail!("`{path}` exists already; name another file, or move it away")
        }
        Err(error) => return Err(error).with_context(|| format!("cannot write `{path}`")),
    };
    file.write_all(SUITE.as_bytes()).with_context(|| format!("cannot write `{path}`"))?;
    render::summary(&format!("wrote {path}; try `jurist check {path}`"));
    Ok(Ended::Passed)
}
