//! Random secrets, which are shown once and stored as a hash.

/// Prefix of an API token.
pub const TOKEN: &str = "jrk_";
/// Prefix of an invitation.
pub const JOIN: &str = "jrj_";
/// Prefix of a session's secret.
pub const SESSION: &str = "jrs_";

/// A secret. It implements neither `Debug` nor `Display`, so that it is not printed by accident.
pub struct AccessSecret(String);

impl AccessSecret {
    pub fn new(prefix: &str) -> Self {
        let random: [u8; 32] = jurist_store::random();
        let hex: String = random.iter().map(|random| format!("{random:02x}")).collect();
        Self(format!("{prefix}{hex}"))
    }

    pub fn text(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for AccessSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// The hash that is stored in place of a secret. A secret has 256 random bits and cannot be guessed, so a fast hash
/// is enough.
pub fn hash_secret(secret: &str) -> String {
    blake3::hash(secret.as_bytes()).to_hex().to_string()
}
