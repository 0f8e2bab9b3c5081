//! Settings files that the user trusts.
//!
//! A repository may come from a stranger, and its `.jurist/config.yaml` could send environment variables anywhere. So
//! the user confirms once that they have read the file. The list is a folder of the user with one file per trusted
//! file. Its name is the hash of path and text, so that trust ends when either changes.

use std::io;
use std::path::{Path, PathBuf};

use jurist_core::dialect::{ProjectSettings, RateLimitSettings, SettingsFile};
use jurist_core::money::{Currency, Rates};

use crate::call::VendorRateLimits;
use crate::environment::home_folder;
use crate::load;
use crate::platform::find_real_path;

/// The user's list of trusted settings files.
#[derive(Debug, Clone)]
pub struct TrustList {
    folder: PathBuf,
}

/// A file of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustedFile {
    pub path: PathBuf,
    /// Whether the file exists and is unchanged since it was trusted.
    pub is_current: bool,
}

/// An entry of the list: a file that holds the path of the trusted file.
struct TrustEntry {
    entry: PathBuf,
    path: PathBuf,
}

/// Settings that the user has not trusted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{file}` sets {keys}, by which it could send secrets of your environment elsewhere, and is not trusted; \
     read it, then `jurist trust {folder}` allows this until the file changes, or pass --trust-settings"
)]
pub struct NotTrusted {
    file: String,
    keys: String,
    folder: String,
}

/// An exchange rate that would make a cap larger, in settings that the user has not trusted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{file}` sets the exchange rate of {currency}, by which a cap could become larger, and is not trusted; \
     read it, then `jurist trust {folder}` allows this until the file changes, or set the rate with --rate"
)]
pub struct UntrustedRate {
    file: String,
    currency: Currency,
    folder: String,
}

/// A key of settings that acts in part if the user has not trusted them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RestrictedKey {
    Prices,
    Rates,
    Concurrency,
}

impl RestrictedKey {
    pub fn name(self) -> &'static str {
        match self {
            Self::Prices => "prices",
            Self::Rates => "rates",
            Self::Concurrency => "limits.concurrency",
        }
    }

    /// What it does without trust.
    pub fn describe_effect(self) -> &'static str {
        match self {
            Self::Prices => "only raises known prices",
            Self::Rates => "only lowers built-in rates",
            Self::Concurrency => "only lowers the usual number of calls",
        }
    }
}

/// Whether files are trusted that are not on the user's list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrustRule {
    ListedFiles,
    /// The user said so for this command, with `--trust-settings`.
    AllFiles,
}

impl TrustRule {
    /// By whether the user passed `--trust-settings`.
    pub fn from_flag(trusts_settings: bool) -> Self {
        if trusts_settings { Self::AllFiles } else { Self::ListedFiles }
    }
}

/// The settings with the answer to whether their file is trusted: every command, server and worker decides it here.
/// Settings that were not passed through this function count as not trusted.
///
/// Without trust, exchange rates make no cap larger, and limits make no run faster.
#[must_use]
pub fn decide_trust(settings: ProjectSettings, rule: TrustRule) -> ProjectSettings {
    let is_listed = |file: &SettingsFile| TrustList::of_user().is_some_and(|list| list.contains(file));
    let is_file_trusted = rule == TrustRule::AllFiles || settings.file.as_ref().is_some_and(is_listed);
    let settings = ProjectSettings { is_file_trusted, ..settings };
    if settings.may_lower_prices() {
        return settings;
    }
    let (rates, limits) = (settings.rates.only_lowered(), restrict_limits(settings.limits));
    ProjectSettings { rates, limits, ..settings }
}

/// The limits of an untrusted file: no more calls at a time than without it.
#[must_use]
pub fn restrict_limits(limits: RateLimitSettings) -> RateLimitSettings {
    let most = u32::try_from(VendorRateLimits::default().concurrency).unwrap_or(u32::MAX);
    RateLimitSettings { concurrency: limits.concurrency.map(|concurrency| concurrency.min(most)), ..limits }
}

/// Keys of these settings that act fully only if their file is trusted.
pub fn list_restricted_keys(settings: &ProjectSettings) -> Vec<RestrictedKey> {
    let keys = [
        (RestrictedKey::Prices, !settings.prices.is_empty()),
        (RestrictedKey::Rates, settings.rates.only_lowered() != settings.rates),
        (RestrictedKey::Concurrency, restrict_limits(settings.limits) != settings.limits),
    ];
    keys.into_iter().filter(|(_, is_restricted)| *is_restricted).map(|(key, _)| key).collect()
}

/// The exchange rates of settings whose trust is not decided yet, for a cap in this currency. Fails if the rate of the
/// file would not be used.
pub fn find_trusted_rates(settings: ProjectSettings, currency: Currency) -> Result<Rates, UntrustedRate> {
    let stated = settings.rates.of(currency);
    let settings = decide_trust(settings, TrustRule::ListedFiles);
    match &settings.file {
        Some(file) if settings.rates.of(currency) != stated => {
            let ShownPaths { file, folder } = ShownPaths::of(file);
            Err(UntrustedRate { file, currency, folder })
        }
        _ => Ok(settings.rates),
    }
}

/// Fails if settings need trust and their file has none, by [`decide_trust`].
pub fn require_trust(settings: &ProjectSettings) -> Result<(), NotTrusted> {
    let keys = settings.keys_that_need_trust();
    let Some(file) = settings.file.as_ref().filter(|_| !keys.is_empty()) else { return Ok(()) };
    if settings.is_file_trusted {
        return Ok(());
    }
    let keys: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
    let ShownPaths { file, folder } = ShownPaths::of(file);
    Err(NotTrusted { file, keys: keys.join(", "), folder })
}

/// A settings file and the folder that `jurist trust` takes, relative to the current folder where that is shorter.
struct ShownPaths {
    file: String,
    folder: String,
}

impl ShownPaths {
    fn of(file: &SettingsFile) -> Self {
        let here = std::path::absolute(".").unwrap_or_default();
        let display = |path: &Path| match path.strip_prefix(&here).unwrap_or(path) {
            short if short.as_os_str().is_empty() => ".".to_owned(),
            short => short.display().to_string(),
        };
        let folder = file.path.parent().and_then(Path::parent).unwrap_or(&file.path);
        Self { file: display(&file.path), folder: display(folder) }
    }
}

impl TrustList {
    /// In `$XDG_STATE_HOME/jurist`, otherwise `~/.local/state/jurist`. `None` without a home directory.
    pub fn of_user() -> Option<Self> {
        let state = load::variable("XDG_STATE_HOME").map(PathBuf::from);
        let home = || home_folder().map(|home| home.join(".local/state"));
        Some(Self { folder: state.or_else(home)?.join("jurist/trusted") })
    }

    pub fn contains(&self, file: &SettingsFile) -> bool {
        self.entry(file).is_file()
    }

    /// Adds a file with its current text; replaces an earlier entry for the same path.
    pub fn add(&self, file: &SettingsFile) -> io::Result<()> {
        self.remove(&file.path)?;
        std::fs::create_dir_all(&self.folder)?;
        std::fs::write(self.entry(file), real_path(&file.path).as_os_str().as_encoded_bytes())
    }

    /// Removes a file from the list; `false` if it was not on it.
    pub fn remove(&self, path: &Path) -> io::Result<bool> {
        let path = real_path(path);
        let mut is_removed = false;
        for trusted in self.entries()? {
            if trusted.path == path {
                std::fs::remove_file(trusted.entry)?;
                is_removed = true;
            }
        }
        Ok(is_removed)
    }

    /// All files, by path.
    pub fn files(&self) -> io::Result<Vec<TrustedFile>> {
        let mut files: Vec<TrustedFile> = Vec::new();
        for TrustEntry { entry, path } in self.entries()? {
            let text = load::read_text_file(&path).ok();
            let is_current =
                text.is_some_and(|text| self.entry(&SettingsFile { path: path.clone(), text }) == entry);
            files.push(TrustedFile { path, is_current });
        }
        files.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(files)
    }

    fn entries(&self) -> io::Result<Vec<TrustEntry>> {
        let entries = match std::fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let read = |entry: io::Result<std::fs::DirEntry>| {
            let entry = entry?.path();
            let path = PathBuf::from(std::fs::read_to_string(&entry)?);
            Ok(TrustEntry { entry, path })
        };
        entries.map(read).collect()
    }

    fn entry(&self, file: &SettingsFile) -> PathBuf {
        let mut hasher = blake3::Hasher::new();
        hasher.update(real_path(&file.path).as_os_str().as_encoded_bytes());
        // A path cannot contain NUL, so the boundary between path and text is unambiguous.
        hasher.update(b"\0");
        hasher.update(file.text.as_bytes());
        self.folder.join(hasher.finalize().to_hex().as_str())
    }
}

/// The canonical path of a file.
fn real_path(path: &Path) -> PathBuf {
    find_real_path(path).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_and_limits_that_nobody_trusts_only_make_caps_smaller_and_runs_slower() {
        let of = |code: &str| code.parse::<Currency>().unwrap();
        let file = SettingsFile { path: "/nowhere/.jurist/config.yaml".into(), text: "rates: {}".into() };
        let stated = |concurrency: u32| ProjectSettings {
            rates: Rates::new([(of("EUR"), 900.0), (of("JPY"), 0.0066)]),
            limits: RateLimitSettings { concurrency: Some(concurrency), ..RateLimitSettings::default() },
            file: Some(file.clone()),
            ..ProjectSettings::default()
        };
        for (concurrency, expected) in [(4, 4), (500, 32)] {
            let decided = decide_trust(stated(concurrency), TrustRule::ListedFiles);
            assert_eq!(decided.limits.concurrency, Some(expected));
            assert_eq!((decided.rates.of(of("EUR")), decided.rates.of(of("JPY"))), (Some(1.1), None));
        }
        let trusted = decide_trust(stated(500), TrustRule::AllFiles);
        assert_eq!((trusted.limits, trusted.rates), (stated(500).limits, stated(500).rates));
        // Settings without a file are those of a program that the user wrote.
        let own = ProjectSettings { file: None, ..stated(500) };
        assert_eq!(decide_trust(own.clone(), TrustRule::ListedFiles), own);
        assert_eq!(list_restricted_keys(&stated(500)), [RestrictedKey::Rates, RestrictedKey::Concurrency]);
        assert_eq!(list_restricted_keys(&stated(4)), [RestrictedKey::Rates]);
    }
}
