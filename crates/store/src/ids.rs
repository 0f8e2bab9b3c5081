//! Ids: a prefix for the kind of object, and a UUIDv7, so that ids sort by creation time.
//!
//! This is the only source of random numbers in the crate; the time is an argument.

use std::fmt;
use std::str::FromStr;

use jurist_core::grade::Time;
use uuid::Uuid;

/// Why a text is not an id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not an id such as `{prefix}0190c4d27e1b7a3c9f50b8e6d1a24c7e`")]
pub struct BadId {
    text: String,
    prefix: &'static str,
}

/// Bytes from the operating system's random number generator.
pub fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    #[cfg(feature = "testing")]
    if crate::testing::fill_from_seed(&mut bytes) {
        return bytes;
    }
    getrandom::fill(&mut bytes).expect("the operating system gives random bytes");
    bytes
}

fn uuid_v7(time: Time, random: [u8; 10]) -> Uuid {
    let millis = u64::try_from(time.micros() / 1000).unwrap_or(0);
    uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid()
}

fn parse_prefixed_uuid(text: &str, prefix: &'static str) -> Result<Uuid, BadId> {
    let uuid = text
        .strip_prefix(prefix)
        .filter(|rest| rest.len() == 32 && !rest.bytes().any(|byte| byte.is_ascii_uppercase()))
        .and_then(|rest| Uuid::parse_str(rest).ok());
    uuid.ok_or_else(|| BadId { text: text.to_owned(), prefix })
}

macro_rules! text_form {
    ($name:ident) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }

        impl From<&$name> for crate::db::Arg {
            fn from(id: &$name) -> Self {
                Self::from(id.to_string())
            }
        }

        impl From<$name> for crate::db::Arg {
            fn from(id: $name) -> Self {
                Self::from(&id)
            }
        }

        impl From<Option<$name>> for crate::db::Arg {
            fn from(id: Option<$name>) -> Self {
                Self::Text(id.map(|id| id.to_string()))
            }
        }
    };
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(Uuid);

        impl $name {
            pub const PREFIX: &'static str = $prefix;

            pub fn new(time: Time, random: [u8; 10]) -> Self {
                Self(uuid_v7(time, random))
            }

            /// A new id.
            pub fn at(time: Time) -> Self {
                Self::new(time, random())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}{}", Self::PREFIX, self.0.simple())
            }
        }

        impl FromStr for $name {
            type Err = BadId;

            fn from_str(text: &str) -> Result<Self, BadId> {
                parse_prefixed_uuid(text, Self::PREFIX).map(Self)
            }
        }

        text_form!($name);
    )*};
}

ids! {
    ProjectId = "prj_";
    AccountId = "acc_";
    TokenId = "tok_";
    AgentId = "agt_";
    RubricId = "rub_";
    JobId = "job_";
    ReservationId = "rsv_";
    MonitorId = "mon_";
    MonitorVersionId = "monv_";
    DecisionEventId = "dec_";
    RescoreId = "rsc_";
    ContestId = "con_";
    SeriesId = "ser_";
    DatasetId = "dst_";
    TaskId = "ant_";
    ItemId = "itm_";
    AssignmentId = "asg_";
    AnnotationId = "ann_";
    AdjudicationId = "adj_";
    LabelId = "lab_";
    AlertId = "alr_";
    AuditId = "aud_";
    ExchangeId = "exc_";
}

/// `rubv_`, the region it was made in, and a UUIDv7.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RubricVersionId {
    region: Region,
    uuid: Uuid,
}

/// Region of a server: up to eight lower-case letters and digits, such as `eu`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Region(String);

impl Region {
    pub fn new(text: &str) -> Option<Self> {
        let is_right = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        ((1..=8).contains(&text.len()) && text.bytes().all(is_right)).then(|| Self(text.to_owned()))
    }
}

impl Default for Region {
    fn default() -> Self {
        Self("local".to_owned())
    }
}

impl RubricVersionId {
    const PREFIX: &'static str = "rubv_local_";

    pub fn new(region: Region, time: Time, random: [u8; 10]) -> Self {
        Self { region, uuid: uuid_v7(time, random) }
    }
}

impl fmt::Display for RubricVersionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rubv_{}_{}", self.region.0, self.uuid.simple())
    }
}

impl FromStr for RubricVersionId {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        let bad = || BadId { text: text.to_owned(), prefix: Self::PREFIX };
        let (region, uuid) =
            text.strip_prefix("rubv_").and_then(|rest| rest.split_once('_')).ok_or_else(bad)?;
        let region = Region::new(region).ok_or_else(bad)?;
        Ok(Self { region, uuid: parse_prefixed_uuid(uuid, "").map_err(|_| bad())? })
    }
}

text_form!(RubricVersionId);

/// Id of a trace as its sender chose it; ids made by the store begin with `trc_`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TraceId(String);

/// Why a text cannot name a trace.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a trace id has 1 to {} bytes and no control characters", TraceId::MAX)]
pub struct BadTraceId;

impl TraceId {
    pub const MAX: usize = 256;

    pub fn new(text: impl Into<String>) -> Result<Self, BadTraceId> {
        let text = text.into();
        let is_right = (1..=Self::MAX).contains(&text.len()) && !text.chars().any(char::is_control);
        if is_right { Ok(Self(text)) } else { Err(BadTraceId) }
    }

    /// A new id with the prefix `trc_`.
    pub fn at(time: Time) -> Self {
        Self(format!("trc_{}", uuid_v7(time, random()).simple()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for TraceId {
    type Err = BadTraceId;

    fn from_str(text: &str) -> Result<Self, BadTraceId> {
        Self::new(text)
    }
}

text_form!(TraceId);

/// `grd_` or `vrd_` and a hash of the fields that identify a grade or verdict, so that work done twice counts once.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GradeId(String);

impl GradeId {
    pub(crate) fn of(prefix: &str, parts: &[&str]) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
        }
        Self(format!("{prefix}{}", &hasher.finalize().to_hex()[..32]))
    }
}

impl fmt::Display for GradeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for GradeId {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        let is_right = parse_prefixed_uuid(text, "grd_").or_else(|_| parse_prefixed_uuid(text, "vrd_"));
        is_right.map(|_| Self(text.to_owned())).map_err(|_| BadId { text: text.to_owned(), prefix: "grd_" })
    }
}

text_form!(GradeId);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_by_time_and_read_back() {
        let early = ProjectId::new(Time::from_micros(1_000_000), [255; 10]);
        let late = ProjectId::new(Time::from_micros(2_000_000), [0; 10]);
        assert!(early.to_string() < late.to_string());
        assert_eq!(early.to_string().parse(), Ok(early));
        assert!(early.to_string().parse::<AccountId>().is_err());
        let version = RubricVersionId::new(Region::new("eu").unwrap(), Time::from_micros(5), [7; 10]);
        assert!(version.to_string().starts_with("rubv_eu_"));
        assert_eq!(version.to_string().parse(), Ok(version));
        assert!("rubv_EU_0190c4d27e1b7a3c9f50b8e6d1a24c7e".parse::<RubricVersionId>().is_err());
    }

    #[test]
    fn names_from_outside_are_kept_as_given() {
        assert_eq!(TraceId::new("Run #7 / é").unwrap().as_str(), "Run #7 / é");
        assert!(
            TraceId::new("").is_err()
                && TraceId::new("a\0b").is_err()
                && TraceId::new("x".repeat(257)).is_err()
        );
    }

    #[test]
    fn parts_of_a_hash_do_not_run_together() {
        assert_ne!(GradeId::of("grd_", &["ab", "c"]), GradeId::of("grd_", &["a", "bc"]));
    }
}
