//! A program that answers: the request as JSON on its standard input, the reply as JSON on its standard output.

use std::time::Duration;

use serde::Deserialize;
use tokio::process::Command as Process;

use super::{BoxFuture, LanguageModel, ModelError, ModelErrorKind, ModelReply, Request};
use crate::platform;
use crate::program::{ProgramError, run_program};

/// Runs once per request.
#[derive(Debug)]
pub struct CommandModel {
    words: Vec<String>,
    timeout: Duration,
}

/// A reply, or what went wrong in the program's own words.
#[derive(Deserialize)]
#[serde(untagged)]
enum CommandReply {
    Reply(ModelReply),
    Error { error: String },
}

impl CommandModel {
    pub fn new(words: Vec<String>, timeout: Duration) -> Self {
        Self { words, timeout }
    }

    async fn run(&self, request: &Request) -> Result<ModelReply, ModelError> {
        let [program, arguments @ ..] = self.words.as_slice() else {
            return Err(ModelError::new(ModelErrorKind::Rejected, "the command is empty"));
        };
        let unavailable = |detail: String| ModelError::new(ModelErrorKind::Unavailable, detail);
        let input = serde_json::to_vec(request).expect("a request is plain data");
        let mut process = Process::from(platform::build_program_command(program));
        process.args(arguments);
        let out = run_program(process, Some(&input), self.timeout).await.map_err(|broken| {
            let kind = match broken {
                ProgramError::NotStarted(_) => ModelErrorKind::Rejected,
                ProgramError::Timeout(_) => ModelErrorKind::Timeout,
                ProgramError::TooLarge(_) => ModelErrorKind::NotUnderstood,
                ProgramError::Status { .. } | ProgramError::Lost(_) => ModelErrorKind::Unavailable,
            };
            ModelError::new(kind, format!("`{program}` {broken}"))
        })?;
        match serde_json::from_slice(&out) {
            Ok(CommandReply::Reply(reply)) => Ok(reply),
            Ok(CommandReply::Error { error }) => Err(unavailable(error)),
            Err(_) => Err(ModelError::new(
                ModelErrorKind::NotUnderstood,
                format!("`{program}` must answer with JSON such as {{\"text\": \"…\"}}"),
            )),
        }
    }
}

impl LanguageModel for CommandModel {
    fn complete<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<ModelReply, ModelError>> {
        Box::pin(self.run(request))
    }
}
