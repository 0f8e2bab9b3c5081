//! The command as processes of its own, before a model that answers.

use std::path::Path;
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::server::Server;

pub const KEY: &str = "sk-test-4f9a8b7c6d5e4f3a2b1c";

pub fn jurist(folder: &Path, model: &Server, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_jurist"));
    command
        .args(args)
        .current_dir(folder)
        .env_clear()
        .env("OPENAI_API_KEY", KEY)
        .env("OPENAI_BASE_URL", format!("{}/v1", model.url))
        .env("JURIST_JUDGE", "openai/gpt-5-mini")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    command
}

/// A server on a free port of this machine.
pub fn server(folder: &Path, model: &Server, more: &[&str]) -> Command {
    jurist(folder, model, &[&["serve", "--address", "127.0.0.1:0"][..], more].concat())
}

/// One that listens, and its address.
pub async fn listening(command: &mut Command) -> (Child, String) {
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first = lines.next_line().await.unwrap().unwrap();
    let url = first.split_whitespace().last().unwrap().to_owned();
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    (child, url)
}
