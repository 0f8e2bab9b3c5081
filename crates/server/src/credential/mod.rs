//! Secrets of tokens, sessions and invitations, and the limit on attempts to sign in.

mod lock_out;
mod secret;

pub use lock_out::{LockOut, client_network, sign_in_key};
pub use secret::{AccessSecret, JOIN, SESSION, TOKEN, hash_secret};
