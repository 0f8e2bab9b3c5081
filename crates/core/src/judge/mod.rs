//! Prompts for judges, and the reading of their replies.
//!
//! Everything here is a value: prompts are rendered and replies are read without a call.
//! The candidate is data: it is fenced, and no text of it is ever taken for an answer.

mod contest;
mod decodings;
mod line_objects;
mod reply_schema;
mod material;
mod objects;
mod author_reply_shape;
mod planted_verdicts;
mod preview;
mod prompt;
mod recipe;
mod record;
mod reply;

pub use contest::{Contest, Round, position_bias};
pub use preview::{Preview, preview};
pub use prompt::{JudgePrompt, JudgePromptError, JudgeQuestion, Prompter};
pub use recipe::{Recipe, RecipeAction, RecipeResult};
pub use record::RecordKeys;
pub use reply::{JudgeAnswer, JudgeReply, JudgeReplyError};
pub use reply_schema::{AnswerSchema, InReplyOrder, ReplySchema};

#[cfg(test)]
mod tests;
