//! A program that answers: the request as JSON on its standard input, the reply as JSON on its standard output.

use std::process::Stdio;
use std::time::Duration;

use serde::Deserialize;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::Command as Process;

use super::{BoxFuture, ErrorKind, Model, ModelError, Reply, Request};

/// More than this is no reply.
const MAX_BYTES: u64 = 16 << 20;

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
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let read = async {
            let out = async { stdout.expect("it is piped").take(MAX_BYTES).read_to_end(&mut out).await };
            let err = async { stderr.expect("it is piped").take(MAX_BYTES).read_to_end(&mut err).await };
            tokio::join!(send, out, err)
        };
        let all = async {
            let (_, out, err) = read.await;
            out.and(err)?;
            child.wait().await
        };
        let status = tokio::time::timeout(self.timeout, all)
            .await
            .map_err(|_| ModelError::new(ErrorKind::Timeout, format!("`{program}` took too long")))?
            .map_err(|error| unavailable(format!("`{program}`: {error}")))?;
        if !status.success() {
            let said = String::from_utf8_lossy(&err);
            let said: String = said.trim().chars().take(300).collect();
            return Err(unavailable(format!("`{program}` ended with {status}: {said}")));
        }
        match serde_json::from_slice(&out) {
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
