//! Ready-made rubrics, as native files inside the program.

/// A rubric that any file can build on with `preset: name`.
#[derive(Debug)]
pub struct Preset {
    pub name: &'static str,
    /// What one would have written oneself.
    pub text: &'static str,
}

impl Preset {
    /// The first line of the file says what it is for.
    pub fn description(&self) -> &'static str {
        self.text.lines().find_map(|line| line.strip_prefix("description: ")).unwrap_or_default()
    }
}

macro_rules! presets {
    ($($name:literal)*) => {
        pub const ALL: &[Preset] = &[$(Preset { name: $name, text: include_str!(concat!("presets/", $name, ".yaml")) },)*];
    };
}

presets! {
    "helpfulness" "groundedness" "safety" "format-adherence" "conciseness"
    "coding-agent" "web-agent" "conversation" "answer_quality" "rag-triad"
}

pub fn find_preset(name: &str) -> Option<&'static Preset> {
    ALL.iter().find(|preset| preset.name == name)
}
