//! A slider: one whole number between two ends.

use crate::diagnostic::{Code, Diagnostic};
use crate::dialect::fields::MappingReader;
use crate::suite::TaskSchemeKind;

/// Most points that an annotator can choose from with a handle.
const MOST_POINTS: i64 = 101;

pub(super) fn read_slider_scheme(fields: &MappingReader<'_>) -> Option<TaskSchemeKind> {
    let cx = fields.cx;
    let number = |keys: &[&'static str]| {
        fields.any(keys).and_then(|node| cx.integer(node, keys[0], -1_000_000..=1_000_000))
    };
    let (min, max) =
        (number(&["min_value", "min"]).unwrap_or(0), number(&["max_value", "max"]).unwrap_or(100));
    let step = fields.integer("step", 1..=1_000_000).unwrap_or(1);
    if max <= min || (max - min) / step + 1 < 2 {
        let message = format!("a slider from {min} to {max} in steps of {step} has nothing to choose from");
        cx.error(Code::Scale, fields.start(), message);
        return None;
    }
    if MOST_POINTS < (max - min) / step + 1 {
        let message = format!("a slider from {min} to {max} in steps of {step} has too many points");
        cx.report(
            Diagnostic::error(Code::Unsupported, fields.start(), message)
                .help(format!("give it at most {MOST_POINTS} points, such as 0 to 100, or a larger `step`")),
        );
        return None;
    }
    let start = number(&["starting_value", "default_value"]);
    if let Some(start) = start.filter(|start| !(min..=max).contains(start) || (start - min) % step != 0) {
        let message =
            format!("the handle cannot start at {start}: it is not one of {min} to {max} in steps of {step}");
        let key = if fields.has("starting_value") { "starting_value" } else { "default_value" };
        cx.error(Code::Scale, fields.span(key), message);
    }
    let (min_label, max_label) = (fields.text("min_label"), fields.text("max_label"));
    fields.knows(&["show_labels", "show_value"]);
    fields.ignores(&["labels"]);
    Some(TaskSchemeKind::Slider {
        min,
        max,
        step: u32::try_from(step).unwrap_or(1),
        start,
        min_label,
        max_label,
    })
}
