//! Krippendorff's α: how much less raters disagree than chance would.
//!
//! Items rated once say nothing and are left out. Everything is counted by distinct answer,
//! so that time grows with the number of ratings and never with its square.

use super::ratings::{Level, Ratings, same_pairs_of};
use super::weighted_rows::{RowStatistic, rows_interval};
use crate::stats::basics::measure::Coefficient;
use crate::stats::basics::undefined::Undefined;

/// 1 for perfect agreement, 0 for what chance would do.
///
/// ```
/// use jurist_core::stats::agreement::{Level, Ratings, alpha};
///
/// let raters = vec!["ann".to_owned(), "ben".to_owned()];
/// let cells = [1.0, 1.0, 2.0, 3.0, 3.0, 3.0, 5.0, 5.0].map(Some);
/// let ratings = Ratings::of_numbers(raters, &cells).unwrap();
/// assert!((alpha(&ratings, Level::Ordinal).unwrap() - 0.9103).abs() < 1e-4);
/// ```
pub fn alpha(ratings: &Ratings, level: Level) -> Result<f64, Undefined> {
    let alike = ratings.group_identical_items();
    let counts = pairable(ratings, &alike);
    let n: f64 = counts.iter().sum();
    if n <= 0.0 {
        ratings.ensure_comparable()?;
    }
    ratings.ensure_two_rated_items()?;
    if counts.iter().filter(|count| 0.0 < **count).count() < 2 {
        return Undefined::because("all ratings are equal, so expected disagreement is zero");
    }
    let (observed, expected) = match level {
        Level::Nominal => nominal(ratings, &alike, &counts),
        Level::Ordinal => squared_disagreement(ratings, &alike, &counts, &middle_ranks(&counts)),
        Level::Interval => squared_disagreement(ratings, &alike, &counts, ratings.numbers()?),
        Level::Ratio => ratio(ratings, &counts)?,
    };
    Ok(1.0 - observed * (n - 1.0) / expected)
}

pub fn alpha_with_interval(ratings: &Ratings, level: Level, seed: u64) -> Result<Coefficient, Undefined> {
    let value = alpha(ratings, level)?;
    Ok(rows_interval(ratings, value, seed, RowStatistic::Alpha(level)))
}

/// How often each answer was given to an item that was rated twice or more.
fn pairable(ratings: &Ratings, alike: &[(usize, f64)]) -> Vec<f64> {
    let mut counts = vec![0.0; ratings.n_answers()];
    for (item, times) in alike {
        let answers = ratings.answers_of_item(*item);
        if 2 <= answers.clone().count() {
            answers.for_each(|answer| counts[answer] += times);
        }
    }
    counts
}

/// The disagreement of pairs within items, and that of all pairs.
fn nominal(ratings: &Ratings, alike: &[(usize, f64)], counts: &[f64]) -> (f64, f64) {
    let mut here = vec![0.0; counts.len()];
    let mut observed = 0.0;
    for (item, times) in alike {
        let (m, same) = same_pairs_of(ratings.answers_of_item(*item), &mut here);
        if 2.0 <= m {
            observed += times * (m - 2.0 * same / (m - 1.0));
        }
    }
    let n: f64 = counts.iter().sum();
    (observed, counts.iter().map(|count| count * (n - count)).sum())
}

/// The ordinal distance of two answers is that of their middle ranks, so that ordinal α is interval α of these.
pub(crate) fn middle_ranks(counts: &[f64]) -> Vec<f64> {
    let mut under = 0.0;
    let mut rank = |n: &f64| {
        under += n;
        under - n / 2.0
    };
    counts.iter().map(&mut rank).collect()
}

fn squared_disagreement(
    ratings: &Ratings,
    alike: &[(usize, f64)],
    counts: &[f64],
    places: &[f64],
) -> (f64, f64) {
    let mut observed = 0.0;
    for (item, times) in alike {
        let answers = ratings.answers_of_item(*item);
        let (m, sum) = answers.clone().fold((0.0, 0.0), |(m, sum), index| (m + 1.0, sum + places[index]));
        if 2.0 <= m {
            let middle = sum / m;
            let squares: f64 = answers.map(|index| (places[index] - middle).powi(2)).sum();
            observed += times * 2.0 * m * squares / (m - 1.0);
        }
    }
    let n: f64 = counts.iter().sum();
    let middle = counts.iter().zip(places).map(|(n, value)| n * value).sum::<f64>() / n;
    let squares: f64 = counts.iter().zip(places).map(|(n, value)| n * (value - middle).powi(2)).sum();
    (observed, 2.0 * n * squares)
}

fn ratio(ratings: &Ratings, counts: &[f64]) -> Result<(f64, f64), Undefined> {
    let numbers = ratings.numbers()?;
    if numbers.first().is_some_and(|number| *number < 0.0) {
        return Undefined::because("ratios need ratings that are not negative");
    }
    let distance = |a: usize, b: usize| {
        let sum = numbers[a] + numbers[b];
        if 0.0 < sum { ((numbers[a] - numbers[b]) / sum).powi(2) } else { 0.0 }
    };
    let mut observed = 0.0;
    for answers in ratings.by_item() {
        let m = answers.clone().count();
        for (at, a) in answers.clone().enumerate().filter(|_| 2 <= m) {
            observed +=
                answers.clone().skip(at + 1).map(|b| 2.0 * distance(a, b)).sum::<f64>() / (m - 1) as f64;
        }
    }
    let used: Vec<usize> = (0..counts.len()).filter(|index| 0.0 < counts[*index]).collect();
    let mut expected = 0.0;
    for (at, a) in used.iter().enumerate() {
        expected +=
            used[at + 1..].iter().map(|b| 2.0 * counts[*a] * counts[*b] * distance(*a, *b)).sum::<f64>();
    }
    Ok((observed, expected))
}

#[cfg(test)]
mod tests {
    use super::super::ratings::tests::ratings;
    use super::*;

    fn check(lines: &str, level: Level, expected: f64) {
        let result = alpha(&ratings(lines), level).unwrap();
        assert!((result - expected).abs() < 1e-9, "{level:?}: {result}, not {expected}");
    }

    /// Krippendorff (2011), section D.
    const FOUR_OBSERVERS: &str = "1 2 3 3 2 1 4 1 2 . . .
        1 2 3 3 2 2 4 1 2 5 . 3
        . 3 3 3 2 3 4 2 2 5 1 .
        1 2 3 3 2 4 4 1 2 5 1 .";

    #[test]
    fn alpha_has_its_published_values() {
        check(FOUR_OBSERVERS, Level::Nominal, 0.743_421_052_631_578_9);
        check(FOUR_OBSERVERS, Level::Ordinal, 0.815_387_503_754_881_4);
        check(FOUR_OBSERVERS, Level::Interval, 0.849_107_142_857_143);
        let ratio = alpha(&ratings(FOUR_OBSERVERS), Level::Ratio).unwrap();
        assert!((ratio - 0.797).abs() < 5e-4, "published with three digits: {ratio}");
        check("0 1 0 0 0 0 0 0 1 0\n 1 1 1 0 0 1 0 0 0 0", Level::Nominal, 0.095_238_095_238_095_3);
    }

    /// The example that tutorials print calls squared differences "ordinal"; on skewed ratings
    /// it says 0.83 where raters hardly agree about what is rare.
    #[test]
    fn squared_differences_are_not_ordinal() {
        fn of_the_tutorial(lines: &str) -> f64 {
            let ratings = ratings(lines);
            let numbers = ratings.numbers().unwrap();
            let mean_square = |values: &[f64]| {
                let pairs = values.iter().enumerate();
                let squares = pairs.flat_map(|(at, a)| values[at + 1..].iter().map(move |b| (a - b).powi(2)));
                let all: Vec<f64> = squares.collect();
                (all.iter().sum::<f64>(), all.len() as f64)
            };
            let items: Vec<Vec<f64>> =
                ratings.by_item().map(|iterator| iterator.map(|index| numbers[index]).collect()).collect();
            let (within, n_within) = items
                .iter()
                .map(|item| mean_square(item))
                .fold((0.0, 0.0), |(sum, n), (squares, pairs)| (sum + squares, n + pairs));
            let (all, n_all) = mean_square(&items.concat());
            1.0 - (within / n_within) / (all / n_all)
        }
        let skewed = "5 5 5 4 5 1 5 5 4 5\n 5 5 4 5 5 2 5 5 5 5";
        check(skewed, Level::Ordinal, 0.394_778_067_885_117_5);
        check(skewed, Level::Interval, 0.834_782_608_695_652_1);
        assert!((of_the_tutorial(skewed) - 0.834_782_608_695_652_1).abs() < 1e-12);
        // With an unequal number of ratings it is not even interval α.
        let gaps = "1 2 3 4\n 1 3 3 .\n 2 2 3 5";
        let interval = alpha(&ratings(gaps), Level::Interval).unwrap();
        assert!(0.01 < (of_the_tutorial(gaps) - interval).abs());
    }

    #[test]
    fn alpha_says_why_it_is_undefined() {
        let why = |lines: &str, level| alpha(&ratings(lines), level).unwrap_err().to_string();
        assert!(why("1 2 3", Level::Nominal).ends_with("there is only one rater"));
        assert!(why("1 2 . .\n . . 3 4", Level::Nominal).ends_with("no item was rated twice"));
        assert!(why("2 2 2\n 2 2 2", Level::Interval).contains("all ratings are equal"));
        assert!(why("2 2 3\n 2 2 .", Level::Interval).contains("all ratings are equal"));
        assert!(why(". .\n . .", Level::Ordinal).ends_with("nothing was rated"));
        assert!(why("1\n 2", Level::Nominal).contains("only one item"));
        assert!(why("-1 2\n 1 2", Level::Ratio).contains("not negative"));
        let two = || vec!["a".to_owned(), "b".to_owned()];
        let labels = Ratings::of_labels(two(), &["x", "y", "x", "x"].map(Some), &[]).unwrap();
        assert!(alpha(&labels, Level::Interval).is_err() && alpha(&labels, Level::Ordinal).is_ok());
    }

    #[test]
    fn intervals_are_repeatable_and_hold_the_value() {
        let some = ratings(FOUR_OBSERVERS);
        let result = alpha_with_interval(&some, Level::Ordinal, 7).unwrap();
        let (low, high) = result.interval.unwrap();
        assert!(low < result.value && result.value < high && high <= 1.0 && result.n == 11, "{result:?}");
        assert_eq!(result, alpha_with_interval(&some, Level::Ordinal, 7).unwrap());
        assert_eq!(alpha_with_interval(&ratings("1 2\n 1 2"), Level::Ordinal, 7).unwrap().interval, None);
    }

    #[test]
    fn items_rated_alike_may_be_counted_together() {
        // Nine kinds of items and sometimes a gap, in 900 items: counted; with another answer in each: not.
        let line = |step: usize| -> String {
            (0..900)
                .map(|n| if n % (41 + step) == 0 { ". ".to_owned() } else { format!("{} ", n / step % 3) })
                .collect()
        };
        let many = ratings(&[line(1), line(2), line(1)].join("\n"));
        let few: Vec<usize> = (0..100).collect();
        for level in [Level::Nominal, Level::Ordinal, Level::Interval] {
            let tenfold: Vec<usize> = few.iter().cycle().take(1_000).copied().collect();
            let (counted, single) = (many.of_items(&tenfold), many.of_items(&few));
            assert!(
                counted.group_identical_items().len() < 100 && single.group_identical_items().len() == 100
            );
            let (n, ten) = (alpha(&single, level).unwrap(), alpha(&counted, level).unwrap());
            // Ten times the same items differ only in what n − 1 makes of n.
            let all: f64 = pairable(&single, &single.group_identical_items()).iter().sum();
            let expected = 1.0 - (1.0 - n) * (10.0 * all - 1.0) / (10.0 * (all - 1.0));
            assert!((ten - expected).abs() < 1e-9, "{level:?} {ten} {expected}");
        }
    }
}
