//! Variables of the environment in the settings of targets.

use serde_json::Value as Json;

use super::context::Context;
use crate::source::SourceSpan;
use crate::suite::CaseTarget;

/// Settings in which variables are filled in when a suite is read: the model and the address. Programs get theirs when
/// they are started.
const FILLED_SETTINGS: [&str; 4] = ["model", "deployment", "base_url", "endpoint"];

/// Fills in `{{ env.X }}` in these settings.
pub(super) fn expand_target_settings(cx: &Context<'_>, target: &mut CaseTarget, span: SourceSpan) {
    for key in FILLED_SETTINGS {
        if let Some(Json::String(text)) = target.config.get_mut(key) {
            *text = cx.expand(text, span);
        }
    }
}

/// Reports variables in these settings that are not set, also where a suite is converted, which keeps them.
pub(super) fn require_target_variables(cx: &Context<'_>, target: &CaseTarget, span: SourceSpan) {
    for text in FILLED_SETTINGS.iter().filter_map(|key| target.config.get(*key)?.as_str()) {
        cx.expand_path(text, span);
    }
}
