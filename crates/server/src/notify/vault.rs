//! Encryption of secrets in the database.
//!
//! The key is `JURIST_SECRET` in the environment of servers and workers. Without it the stored secrets cannot be read.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jurist_store::ProjectId;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hmac;

use crate::job::Environment;

/// The variable that holds the key.
const VARIABLE: &str = "JURIST_SECRET";

/// Minimum length of the key, against guessing.
const SHORTEST: usize = 24;

pub struct Vault(hmac::Key);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoSecret {
    #[error(
        "{VARIABLE} is not set: set it to the same {SHORTEST} or more random characters on servers and workers"
    )]
    Unset,
    #[error("{VARIABLE} has fewer than {SHORTEST} characters")]
    Short,
    #[error("this was encrypted with another {VARIABLE}; set the webhook again")]
    Other,
}

impl Vault {
    pub fn open(environment: &Environment) -> Result<Self, NoSecret> {
        let secret = environment.get(VARIABLE).ok_or(NoSecret::Unset)?;
        if secret.len() < SHORTEST {
            return Err(NoSecret::Short);
        }
        Ok(Self(hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes())))
    }

    /// Signing key of a project's webhook; derived each time and stored nowhere.
    pub fn signing_key(&self, project: ProjectId, key: u32) -> [u8; 32] {
        self.derive(&format!("webhook {project} {key}"))
    }

    /// Encrypts a text for one project.
    pub fn seal(&self, project: ProjectId, text: &str) -> String {
        let nonce: [u8; NONCE_LEN] = jurist_store::random();
        let mut bytes = text.as_bytes().to_vec();
        let sealed = self.cipher().seal_in_place_append_tag(
            Nonce::assume_unique_for_key(nonce),
            Aad::from(project.to_string()),
            &mut bytes,
        );
        sealed.expect("a short text can be sealed");
        STANDARD.encode([&nonce[..], &bytes].concat())
    }

    pub fn unseal(&self, project: ProjectId, sealed: &str) -> Result<String, NoSecret> {
        let opened = || {
            let bytes = STANDARD.decode(sealed).ok()?;
            let (nonce, rest) = bytes.split_at_checked(NONCE_LEN)?;
            let (nonce, mut rest) = (Nonce::try_assume_unique_for_key(nonce).ok()?, rest.to_vec());
            let text = self.cipher().open_in_place(nonce, Aad::from(project.to_string()), &mut rest).ok()?;
            String::from_utf8(text.to_vec()).ok()
        };
        opened().ok_or(NoSecret::Other)
    }

    fn cipher(&self) -> LessSafeKey {
        let key = UnboundKey::new(&CHACHA20_POLY1305, &self.derive("seal"));
        LessSafeKey::new(key.expect("the key has the length of the cipher's"))
    }

    fn derive(&self, label: &str) -> [u8; 32] {
        let tag = hmac::sign(&self.0, label.as_bytes());
        tag.as_ref().try_into().expect("SHA-256 has 32 bytes")
    }
}

impl std::fmt::Debug for Vault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Vault")
    }
}

#[cfg(test)]
mod tests {
    use jurist_core::grade::Time;

    use super::*;

    fn vault(secret: &str) -> Vault {
        Vault::open(&Environment::new([(VARIABLE.to_owned(), secret.to_owned())])).unwrap()
    }

    #[test]
    fn what_is_sealed_opens_with_the_same_key_for_the_same_project_only() {
        let (one, other) = (ProjectId::at(Time::from_micros(0)), ProjectId::at(Time::from_micros(0)));
        let (ours, theirs) = (vault("correct horse battery staple"), vault("another horse battery staple"));
        let sealed = ours.seal(one, "https://hooks.example.org/T0/secret");
        assert!(
            !sealed.contains("secret") && sealed != ours.seal(one, "https://hooks.example.org/T0/secret")
        );
        assert_eq!(ours.unseal(one, &sealed).unwrap(), "https://hooks.example.org/T0/secret");
        for broken in [ours.unseal(other, &sealed), theirs.unseal(one, &sealed), ours.unseal(one, "x")] {
            assert_eq!(broken, Err(NoSecret::Other));
        }
        assert_eq!(ours.signing_key(one, 1), vault("correct horse battery staple").signing_key(one, 1));
        assert_ne!(ours.signing_key(one, 1), ours.signing_key(one, 2));
        assert_ne!(ours.signing_key(one, 1), ours.signing_key(other, 1));
    }

    #[test]
    fn a_key_that_can_be_guessed_is_none() {
        let open = |secret: &str| Vault::open(&Environment::new([(VARIABLE.to_owned(), secret.to_owned())]));
        assert_eq!(open("").unwrap_err(), NoSecret::Unset);
        assert_eq!(open("hunter2").unwrap_err(), NoSecret::Short);
    }
}
