//! A program that answers: the request as JSON on its standard input, the reply as JSON on its standard output.

use std::time::Duration;

use serde::Deserialize;
use tokio::process::Command as Process;

use super::{BoxFuture, ErrorKind, Model, ModelError, Reply, Request};
use crate::program::{Broken, output};

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
        let [program, arguments @ ..] = self.words.as_slice() else {
            return Err(ModelError::new(ErrorKind::Rejected, "the command is empty"));
        };
        let unavailable = |detail: String| ModelError::new(ErrorKind::Unavailable, detail);
        let input = serde_json::to_vec(request).expect("a request is plain data");
        let mut process = Process::new(program);
        process.args(arguments);
        let out = output(process, Some(&input), self.timeout).await.map_err(|broken| {
            let kind = match broken {
                Broken::NotStarted(_) => ErrorKind::Rejected,
                Broken::Timeout(_) => ErrorKind::Timeout,
                Broken::TooLarge(_) => ErrorKind::NotUnderstood,
                Broken::Status { .. } | Broken::Lost(_) => ErrorKind::Unavailable,
            };
            ModelError::new(kind, format!("`{program}` {broken}"))
        })?;
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
