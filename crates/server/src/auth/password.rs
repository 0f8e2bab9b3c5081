//! Passwords, as argon2id with the parameters that OWASP names.

use argon2::{Algorithm, Argon2, Params, PasswordHasher, PasswordVerifier, Version};

use jurist_engine::background::run_on_blocking_thread;
use tokio::sync::Semaphore;

use crate::error::ApiError;

/// Minimum length of a password, against guessing.
const SHORTEST: usize = 10;
/// Maximum length of a password, so that hashing cannot be used to overload the server.
const LONGEST: usize = 1024;

fn argon2() -> Argon2<'static> {
    let params = Params::new(19 * 1024, 2, 1, None).expect("the numbers are in range");
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
}

/// Concurrent password hashes. Each takes 19 MiB and one core, so more of them would only slow each other down.
static AT_WORK: Semaphore = Semaphore::const_new(4);

/// Runs on a blocking thread, so that other requests are not delayed.
async fn run_password_task<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let _turn = AT_WORK.acquire().await.ok()?;
    run_on_blocking_thread(work).await.ok()
}

/// The hash that is stored in place of a password.
pub async fn hash_password(password: String) -> Result<String, ApiError> {
    if !(SHORTEST..=LONGEST).contains(&password.chars().count()) {
        return Err(ApiError::Bad(format!("a password has {SHORTEST} to {LONGEST} characters")));
    }
    let hash = run_password_task(move || {
        argon2().hash_password(password.as_bytes()).map(|password_hash| password_hash.to_string())
    });
    hash.await.and_then(Result::ok).ok_or(ApiError::Broken)
}

/// Whether the password is correct. Without an account it takes equally long, so that the time does not reveal
/// whether an account exists.
pub async fn verify_password(password: String, hash: Option<String>) -> bool {
    run_password_task(move || match hash {
        Some(hash) => argon2::PasswordHash::new(&hash)
            .is_ok_and(|hash| argon2().verify_password(password.as_bytes(), &hash).is_ok()),
        None => {
            let _ = argon2().hash_password(password.as_bytes());
            false
        }
    })
    .await
    .unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_hash_costs_what_owasp_recommends() {
        let hash = hash_password("correct horse".to_owned()).await.unwrap();
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hash}");
        assert!(verify_password("correct horse".to_owned(), Some(hash.clone())).await);
        assert!(!verify_password("wrong horse".to_owned(), Some(hash)).await);
    }
}
