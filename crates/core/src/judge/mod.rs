//! What a judge is asked, and what its reply says.
//!
//! Everything here is a value: prompts are rendered and replies are read without calling anybody.
//! What is graded is data: it is fenced, and nothing that stands in it is ever taken for an answer.

mod contest;
mod form;
mod material;
mod objects;
mod own_shape;
mod planted;
mod preview;
mod prompt;
mod recipe;
mod record;
mod reply;

pub use contest::{Contest, Round, position_bias};
pub use form::{Form, InReplyOrder, Item};
pub use preview::{Preview, preview};
pub use prompt::{Asked, BadTemplate, Prompt, Prompter};
pub use recipe::{Judged, Next, Recipe};
pub use record::Keys;
pub use reply::{Answer, Malformed, Reply};

#[cfg(test)]
mod tests;
