//! Agreement between a judge and people.

use std::collections::BTreeMap;

use serde::Serialize;

use super::alpha::alpha_with_interval;
use super::measure_agreement::{PairMeasures, gwet_ac, pair_measures};
use super::ratings::{Level, Ratings};
use crate::quantity::plural;
use crate::stats::basics::correlation::{Correlation, kendall, pearson, spearman};
use crate::stats::basics::measure::{
    Coefficient, CoefficientResult, mean_difference_with_interval, mean_distance, share_with_interval,
};
use crate::stats::basics::undefined::Undefined;

/// By how much a judge may agree less with people than they with each other, and still be as good as one of them.
const MARGIN: f64 = 0.05;

/// Fewest items for a conclusion; Calderon and others (2025) ask for as many.
const FEWEST: usize = 30;

/// A judge compared with people who rated the same items.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Alignment {
    pub judge: String,
    pub humans: Vec<String>,
    /// Items that the judge and at least one person rated.
    pub n_items: usize,
    /// Of these, where as many people say one thing as another: no consensus to agree with.
    pub n_split: usize,
    /// With what most people say.
    pub with_consensus: PairMeasures,
    pub krippendorff_alpha: CoefficientResult,
    pub gwet_ac: CoefficientResult,
    /// With the mean of what people say, where answers are numbers.
    pub with_mean: MeanMeasures,
    pub confusion: ConfusionMatrix,
    pub answers: Vec<AnswerRates>,
    pub one_more_person: OneMorePerson,
    /// The worst first.
    pub disagreements: Vec<Disagreement>,
    /// How alike the judge's answer is to those of people, for each item that they rated.
    #[serde(skip)]
    pub by_item: BTreeMap<String, f64>,
}

/// A judge's numbers compared with people's mean.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MeanMeasures {
    /// The mean difference; above zero, the judge is the kinder.
    pub bias: CoefficientResult,
    pub mean_absolute_error: CoefficientResult,
    pub pearson: CoefficientResult,
    pub spearman: CoefficientResult,
    pub kendall: CoefficientResult,
}

/// How often the judge says what (columns) when most people say what (rows).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConfusionMatrix {
    pub labels: Vec<String>,
    pub counts: Vec<Vec<usize>>,
}

/// How well a judge finds one answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AnswerRates {
    pub label: String,
    /// Of what people call so, the share that the judge does.
    pub sensitivity: CoefficientResult,
    /// Of what people call otherwise, the share that the judge does.
    pub specificity: CoefficientResult,
    /// Of what the judge calls so, the share that people do.
    pub precision: CoefficientResult,
}

/// Whether the judge agrees with people as they do with each other, on items that two or more of them rated.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OneMorePerson {
    /// Items that the judge and two or more people rated.
    pub n_items: usize,
    /// How alike the judge's answer is to a person's, on average.
    pub judge: CoefficientResult,
    /// How alike two people's answers are.
    pub people: CoefficientResult,
    pub difference: CoefficientResult,
    pub standing: HumanParity,
}

impl OneMorePerson {
    /// Conclusion as a sentence.
    pub fn sentence(&self) -> String {
        let unsure = "It is undecided whether the judge is as good as one more person";
        match (self.standing, self.difference.interval()) {
            // Within the margin and yet shown to be less: as good as one of them, and not as well as they do.
            (HumanParity::AsGood, Some((low, high))) if high < 0.0 => format!(
                "The judge agrees with people slightly less than people agree with each other (by {:.3} to {:.3}); a difference of up to {MARGIN} counts as equivalent.",
                -high, -low
            ),
            (HumanParity::AsGood, _) => {
                "The judge agrees with people as well as people agree with each other.".to_owned()
            }
            (HumanParity::Worse, _) => {
                "The judge agrees with people less than people agree with each other.".to_owned()
            }
            (HumanParity::CannotTell, Some((low, high))) if FEWEST <= self.n_items => format!(
                "{unsure}: its agreement may be lower by up to {:.3}{}; equivalent means at most {MARGIN} lower. More candidates would decide it.",
                -low,
                if 0.0 < high { format!(", or higher by up to {high:.3}") } else { String::new() }
            ),
            (HumanParity::CannotTell, _) if self.n_items == 0 => {
                "Only one person graded each candidate, so the judge cannot be compared with one more person."
                    .to_owned()
            }
            (HumanParity::CannotTell, _) => format!(
                "{unsure} from {} with two human grades; at least {FEWEST} are needed.",
                plural(self.n_items, "candidate")
            ),
        }
    }
}

/// What the interval of the difference allows to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HumanParity {
    /// At most a little worse, whatever the items happened to be.
    AsGood,
    Worse,
    CannotTell,
}

/// An item that the judge sees otherwise.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Disagreement {
    pub item: String,
    pub judge: String,
    pub humans: Vec<String>,
    /// From 0 for the same as everybody to 1 for the other end of the scale from everybody.
    pub distance: f64,
}

pub fn align(
    ratings: &Ratings,
    judge: usize,
    humans: &[usize],
    level: Level,
    seed: u64,
) -> Result<Alignment, Undefined> {
    let items: Vec<AlignedItem> =
        (0..ratings.n_items()).filter_map(|n| AlignedItem::new(ratings, n, judge, humans)).collect();
    if items.is_empty() {
        return Undefined::because("no item was rated by the judge and by a person");
    }
    let compared = ratings
        .by_others(&["consensus", "judge"], items.iter().flat_map(|item| [item.consensus, Some(item.judge)]));
    let confusion = build_confusion_matrix(&compared);
    Ok(Alignment {
        judge: ratings.raters()[judge].clone(),
        humans: humans.iter().map(|index| ratings.raters()[*index].clone()).collect(),
        n_items: items.len(),
        n_split: items.iter().filter(|item| item.consensus.is_none()).count(),
        with_consensus: pair_measures(&compared, 0, 1, Some(seed)),
        krippendorff_alpha: alpha_with_interval(&compared, level, seed).into(),
        gwet_ac: gwet_ac(&compared, level, seed).into(),
        with_mean: with_mean(ratings, &items),
        answers: (0..confusion.labels.len()).map(|n| compute_answer_rates(&confusion, n)).collect(),
        confusion,
        one_more_person: one_more_person(ratings, &items, level),
        disagreements: disagreements(ratings, &items, level),
        by_item: items.iter().map(|item| (ratings.item(item.item), item.likeness(ratings, level))).collect(),
    })
}

/// An item that the judge and at least one person rated.
struct AlignedItem {
    item: usize,
    judge: usize,
    humans: Vec<usize>,
    /// What most people say; `None` where they are split.
    consensus: Option<usize>,
}

impl AlignedItem {
    fn new(ratings: &Ratings, item: usize, judge: usize, humans: &[usize]) -> Option<Self> {
        let judge = ratings.get(item, judge)?;
        let humans: Vec<usize> = humans.iter().filter_map(|human| ratings.get(item, *human)).collect();
        let votes = |answer: usize| humans.iter().filter(|human| **human == answer).count();
        let most = humans.iter().map(|human| votes(*human)).max()?;
        let winners: Vec<usize> = humans.iter().copied().filter(|human| votes(*human) == most).collect();
        let first = winners[0];
        let consensus = winners.iter().all(|winner| *winner == first).then_some(first);
        Some(Self { item, judge, humans, consensus })
    }

    /// How alike the judge's answer is to a person's, on average.
    fn likeness(&self, ratings: &Ratings, level: Level) -> f64 {
        let sum: f64 = self.humans.iter().map(|human| ratings.likeness(self.judge, *human, level)).sum();
        sum / self.humans.len() as f64
    }

    /// How alike the answers of two people are, on average; `None` if only one rated.
    fn likeness_of_people(&self, ratings: &Ratings, level: Level) -> Option<f64> {
        let n = self.humans.len();
        let rest = |at: usize| self.humans[at + 1..].iter();
        let pairs = (0..n).flat_map(|at| rest(at).map(move |rest| (self.humans[at], *rest)));
        let sum: f64 = pairs.map(|(a, b)| ratings.likeness(a, b, level)).sum();
        (2 <= n).then(|| sum / (n * (n - 1) / 2) as f64)
    }
}

fn with_mean(ratings: &Ratings, items: &[AlignedItem]) -> MeanMeasures {
    let pairs = ratings.numbers().map(|numbers| {
        let mean = |aligned_item: &AlignedItem| {
            aligned_item.humans.iter().map(|index| numbers[*index]).sum::<f64>()
                / aligned_item.humans.len() as f64
        };
        items.iter().map(|item| (numbers[item.judge], mean(item))).unzip::<f64, f64, Vec<_>, Vec<_>>()
    });
    let differences = |size: fn(f64) -> f64, mean: fn(&[f64], f64) -> Result<Coefficient, Undefined>| {
        let (judge, people) = pairs.as_ref().map_err(Clone::clone)?;
        let all: Vec<f64> = judge.iter().zip(people).map(|(a, b)| size(a - b)).collect();
        mean(&all, ratings.span()?)
    };
    let correlated = |correlation: fn(&[f64], &[f64]) -> Result<Correlation, Undefined>| {
        let (judge, people) = pairs.as_ref().map_err(Clone::clone)?;
        Ok(correlation(judge, people)?.coefficient())
    };
    MeanMeasures {
        bias: differences(|value| value, mean_difference_with_interval).into(),
        mean_absolute_error: differences(f64::abs, mean_distance).into(),
        pearson: correlated(pearson).into(),
        spearman: correlated(spearman).into(),
        kendall: correlated(kendall).into(),
    }
}

fn build_confusion_matrix(compared: &Ratings) -> ConfusionMatrix {
    let n = compared.n_answers();
    let mut counts = vec![vec![0; n]; n];
    for (human, judge) in compared.pairs(0, 1) {
        counts[human][judge] += 1;
    }
    ConfusionMatrix { labels: compared.labels(), counts }
}

fn compute_answer_rates(confusion: &ConfusionMatrix, at: usize) -> AnswerRates {
    let human: usize = confusion.counts[at].iter().sum();
    let judge: usize = confusion.counts.iter().map(|count| count[at]).sum();
    let all: usize = confusion.counts.iter().flatten().sum();
    let both = confusion.counts[at][at];
    let rate = |n: usize, of: usize| CoefficientResult::from(share_with_interval(n as f64, of));
    AnswerRates {
        label: confusion.labels[at].clone(),
        sensitivity: rate(both, human),
        specificity: rate(all + both - human - judge, all - human),
        precision: rate(both, judge),
    }
}

fn one_more_person(ratings: &Ratings, items: &[AlignedItem], level: Level) -> OneMorePerson {
    let (judge, people): (Vec<f64>, Vec<f64>) = items
        .iter()
        .filter_map(|item| Some((item.likeness(ratings, level), item.likeness_of_people(ratings, level)?)))
        .unzip();
    let differences: Vec<f64> = judge.iter().zip(&people).map(|(a, b)| a - b).collect();
    let difference = CoefficientResult::from(mean_difference_with_interval(&differences, 1.0));
    // Without an interval, the difference is the same on every item.
    let interval = difference.interval().or(difference.value().map(|value| (value, value)));
    let standing = match interval.filter(|_| FEWEST <= differences.len()) {
        Some((low, _)) if -MARGIN <= low => HumanParity::AsGood,
        Some((_, high)) if high < 0.0 => HumanParity::Worse,
        _ => HumanParity::CannotTell,
    };
    let of = |values: &[f64]| CoefficientResult::from(share_with_interval(values.iter().sum(), values.len()));
    OneMorePerson { n_items: differences.len(), judge: of(&judge), people: of(&people), difference, standing }
}

fn disagreements(ratings: &Ratings, items: &[AlignedItem], level: Level) -> Vec<Disagreement> {
    let mut all: Vec<Disagreement> = items
        .iter()
        .map(|aligned_item| Disagreement {
            item: ratings.item(aligned_item.item),
            judge: ratings.label(aligned_item.judge),
            humans: aligned_item.humans.iter().map(|human| ratings.label(*human)).collect(),
            distance: 1.0 - aligned_item.likeness(ratings, level),
        })
        .filter(|disagreement| 0.0 < disagreement.distance)
        .collect();
    all.sort_by(|a, b| b.distance.total_cmp(&a.distance));
    all
}

#[cfg(test)]
mod tests {
    use super::super::ratings::tests::ratings;
    use super::*;

    fn aligned(lines: &str, level: Level) -> Alignment {
        let some = ratings(lines);
        align(&some, 0, &(1..some.n_raters()).collect::<Vec<_>>(), level, 1).unwrap()
    }

    #[test]
    fn a_judge_is_held_against_what_most_people_say() {
        let result = aligned("1 0 1 1 0 1 .\n 1 0 0 1 0 1 1\n 1 0 0 0 0 1 1\n 1 1 0 . 0 1 1", Level::Nominal);
        assert_eq!((result.n_items, result.n_split), (6, 1));
        assert_eq!(result.confusion.counts, [[2, 1], [0, 2]]);
        let value = |coefficient: &CoefficientResult| coefficient.value().unwrap();
        let ones = &result.answers[1];
        assert!((value(&ones.sensitivity) - 1.0).abs() < 1e-12);
        assert!((value(&ones.specificity) - 2.0 / 3.0).abs() < 1e-12);
        assert!((value(&ones.precision) - 2.0 / 3.0).abs() < 1e-12);
        assert!((value(&result.with_consensus.percent) - 0.8).abs() < 1e-12);
        assert_eq!(result.disagreements[0].item, "3");
        assert_eq!(result.disagreements.len(), 3);
    }

    #[test]
    fn bias_and_error_are_in_the_units_of_the_scale() {
        let result = aligned("3 4 5 2 4\n 2 4 4 1 3\n 3 4 3 1 4", Level::Ordinal);
        assert!((result.with_mean.bias.value().unwrap() - 0.7).abs() < 1e-12);
        assert!((result.with_mean.mean_absolute_error.value().unwrap() - 0.7).abs() < 1e-12);
        assert_eq!((result.disagreements[0].item.as_str(), result.disagreements[0].distance), ("3", 0.375));
        assert!(0.7 < result.with_mean.spearman.value().unwrap());
    }

    #[test]
    fn a_judge_may_be_as_good_as_one_more_person_or_worse() {
        let line = |f: &dyn Fn(usize) -> usize| (0..60).map(|n| format!("{} ", f(n))).collect::<String>();
        let people = [line(&|it| it % 4), line(&|it| if it % 9 == 0 { 3 } else { it % 4 })].join("\n");
        let standing =
            |judge: String| aligned(&format!("{judge}\n{people}"), Level::Ordinal).one_more_person.standing;
        assert_eq!(standing(line(&|it| it % 4)), HumanParity::AsGood);
        assert_eq!(standing(line(&|it| it / 4 % 4)), HumanParity::Worse);
        let same = line(&|it| it % 4);
        let everybody = aligned(&[same.as_str(); 3].join("\n"), Level::Ordinal);
        // Of 60 candidates without a difference, a twentieth less cannot be ruled out; of 80 it can.
        assert_eq!(everybody.one_more_person.standing, HumanParity::CannotTell);
        let many = (0..80).map(|n| format!("{} ", n % 4)).collect::<String>();
        let everybody = aligned(&[many.as_str(); 3].join("\n"), Level::Ordinal);
        assert_eq!(everybody.one_more_person.standing, HumanParity::AsGood);
        let few = aligned("1 2 3\n 1 3 3\n 2 2 3", Level::Ordinal);
        assert_eq!(few.one_more_person.standing, HumanParity::CannotTell);
        assert!(few.one_more_person.sentence().contains("from 3 candidates with two human grades"));
        let unsure = aligned(
            &format!("{}\n{people}", line(&|it| if it % 5 == 0 { 3 } else { it % 4 })),
            Level::Ordinal,
        );
        let sentence = unsure.one_more_person.sentence();
        assert!(
            sentence.contains("More candidates would decide it") && !sentence.contains("two human grades"),
            "{sentence}"
        );
        let alone = aligned("1 2 3\n 1 3 3", Level::Ordinal);
        assert!(matches!(alone.one_more_person.people, CoefficientResult::Undefined { .. }));
        assert!(alone.one_more_person.sentence().starts_with("Only one person graded each candidate"));
        assert!((alone.by_item["2"] - 0.5).abs() < 1e-12 && (alone.by_item["3"] - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_judge_who_met_nobody_is_not_aligned() {
        assert!(align(&ratings("1 2 .\n . . 3"), 0, &[1], Level::Ordinal, 1).is_err());
    }
}
