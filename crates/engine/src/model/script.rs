//! Replies written down beforehand, for tests and for trying parsers.

use std::sync::Mutex;

use super::{BoxFuture, LanguageModel, ModelError, ModelErrorKind, ModelReply, Request};

/// Gives its replies one after the other, and the last one again and again.
#[derive(Debug)]
pub struct Script {
    replies: Vec<String>,
    next: Mutex<usize>,
}

impl Script {
    pub fn new(replies: Vec<String>) -> Self {
        Self { replies, next: Mutex::new(0) }
    }
}

impl LanguageModel for Script {
    fn complete<'a>(&'a self, _: &'a Request) -> BoxFuture<'a, Result<ModelReply, ModelError>> {
        let mut next = self.next.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let reply = self.replies.get(*next).or(self.replies.last()).cloned();
        *next += 1;
        let reply = reply
            .map(|text| ModelReply { text, ..ModelReply::default() })
            .ok_or_else(|| ModelError::new(ModelErrorKind::NotRecorded, "the script has no replies"));
        Box::pin(std::future::ready(reply))
    }
}
