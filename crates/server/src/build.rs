//! Facts about this build of the program: `jurist --version --verbose` prints them.

use crate::pages::{self, EmbeddedPages};

/// Facts from the build script. A text is empty where the fact is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuildFacts {
    pub commit: &'static str,
    /// Of cargo, such as `dist`.
    pub profile: &'static str,
    pub optimisation: &'static str,
    pub target: &'static str,
    pub pages: EmbeddedPages,
}

pub fn read_build_facts() -> BuildFacts {
    BuildFacts {
        commit: env!("JURIST_BUILD_COMMIT"),
        profile: env!("JURIST_BUILD_PROFILE"),
        optimisation: env!("JURIST_BUILD_OPTIMISATION"),
        target: env!("JURIST_BUILD_TARGET"),
        pages: pages::measure_pages(),
    }
}
