//! A program that answers: the request as JSON on its standard input, the reply as JSON on its standard output.

use std::process::Stdio;
use std::time::Duration;

use serde::Deserialize;
use tokio::io::AsyncWriteExt;
use tokio::process::Command as Process;

use super::{BoxFuture, ErrorKind, Model, ModelError, Reply, Request};

/// Runs once per request.
#[derive(Debug)]
pub struct Command {
    words: Vec<String>,
    timeout: Duration,
}

/// A reply, or what went wrong in the program's own words.
#[derive(Deserialize)]
#[serde(untagged)]
enum Said {
    Reply(Reply),
    Error { error: String },
}

impl Command {
    pub fn new(words: Vec<String>, timeout: Duration) -> Self {
        Self { words, timeout }
    }

    async fn run(&self, request: &Request) -> Result<Reply, ModelError> {
        let unavailable = |detail: String| ModelError::new(ErrorKind::Unavailable, detail);
        let [program, arguments @ ..] = self.words.as_slice() else {
            return Err(ModelError::new(ErrorKind::Rejected, "the command is empty"));
        };
        let mut child = Process::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| {
                ModelError::new(ErrorKind::Rejected, format!("cannot start `{program}`: {error}"))
            })?;
        let input = serde_json::to_vec(request).expect("a request is plain data");
        let mut stdin = child.stdin.take();
        let send = async move {
            // A program that does not read its input may still answer.
            if let Some(stdin) = &mut stdin {
                let _ = stdin.write_all(&input).await;
            }
        };
        let both = async { tokio::join!(send, child.wait_with_output()).1 };
        let output = tokio::time::timeout(self.timeout, both)
            .await
            .map_err(|_| ModelError::new(ErrorKind::Timeout, format!("`{program}` took too long")))?
            .map_err(|error| unavailable(format!("`{program}`: {error}")))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            let said: String = said.trim().chars().take(300).collect();
            return Err(unavailable(format!("`{program}` ended with {}: {said}", output.status)));
        }
        match serde_json::from_slice(&output.stdout) {
            Ok(Said::Reply(reply)) => Ok(reply),
            Ok(Said::Error { error }) => Err(unavailable(error)),
            Err(_) => Err(ModelError::new(
                ErrorKind::NotUnderstood,
                format!("`{program}` must answer with JSON such as {{\"text\": \"…\"}}"),
            )),
        }
    }
}

impl Model for Command {
    fn complete<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Reply, ModelError>> {
        Box::pin(self.run(request))
    }
}
