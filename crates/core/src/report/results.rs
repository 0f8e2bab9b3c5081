//! Results of an annotation task as a picture.

use crate::chart::{Chart, MeasuredValue, Radar, RadarSeries};
use crate::task_results::{QuestionKind, QuestionResult, TaskResults};

/// Criteria around a circle, each from one end of its scale to the other; a shape for each group, or one for all.
pub fn results_radar(results: &TaskResults, title: &str) -> Chart {
    let is_axis = |question: &&QuestionResult| {
        question.kind == QuestionKind::Criterion && question.mean.is_some() && question.scale.is_some()
    };
    let axes: Vec<&QuestionResult> = results.questions.iter().filter(is_axis).collect();
    let measure = |questions: &[QuestionResult], axis: &QuestionResult| {
        let is_same =
            |question: &&QuestionResult| (&question.scheme, &question.name) == (&axis.scheme, &axis.name);
        let matching = questions.iter().find(is_same);
        let on_unit = |at: f64| axis.scale.map(|(low, high)| (at - low) / (high - low));
        let mean = matching.and_then(|question| on_unit(question.mean?));
        let interval = matching.and_then(|question| {
            let (low, high) = question.interval?;
            on_unit(low).zip(on_unit(high))
        });
        MeasuredValue::new(mean, interval).on_scale(axis.scale)
    };
    let shape = |name: &str, questions: &[QuestionResult]| RadarSeries {
        name: name.to_owned(),
        values: axes.iter().map(|axis| measure(questions, axis)).collect(),
    };
    let series = match results.groups.as_slice() {
        [] => vec![shape("everything", &results.questions)],
        groups => groups.iter().map(|group| shape(&group.value, &group.questions)).collect(),
    };
    let axes = axes.iter().map(|question| question.label.clone()).collect();
    Chart::Radar(Radar { title: title.to_owned(), axes, series, mark: None })
}
