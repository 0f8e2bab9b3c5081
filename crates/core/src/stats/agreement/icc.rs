//! Intraclass correlation (Shrout and Fleiss 1979, McGraw and Wong 1996) of items that everybody rated.

use super::ratings::Ratings;
use crate::stats::basics::measure::Coefficient;
use crate::stats::basics::special::{beta, invert_cdf};
use crate::stats::basics::undefined::Undefined;

/// Who the raters are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Design {
    /// Each item has raters of its own: ICC(1,·).
    OneWay,
    /// The raters are a sample, and their levels count: ICC(2,·).
    Random,
    /// These raters and no others, whatever their levels: ICC(3,·).
    Fixed,
}

/// Whose reliability is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IccUnit {
    /// That of one rater.
    Single,
    /// That of the mean of all of them.
    Mean,
}

/// Degrees of freedom of the two variances whose ratio is F.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DegreesOfFreedom {
    pub numerator: f64,
    pub denominator: f64,
}

/// An intraclass correlation with its test against none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Icc {
    pub value: f64,
    pub interval: (f64, f64),
    pub f: f64,
    pub degrees: DegreesOfFreedom,
    pub p: f64,
    /// Items that everybody rated.
    pub n: usize,
}

impl Icc {
    pub fn coefficient(&self) -> Coefficient {
        Coefficient::new(self.value, Some(self.interval), self.n)
    }
}

pub fn icc(ratings: &Ratings, design: Design, unit: IccUnit) -> Result<Icc, Undefined> {
    let Squares { items, raters, rest, within, n, k } = Squares::new(ratings)?;
    let error = if design == Design::OneWay { within } else { rest };
    // How far apart the raters are as a whole counts against them only in this design.
    let levels = if design == Design::Random { (raters - rest) / n } else { 0.0 };
    let above = items - error;
    let of_single = items + (k - 1.0) * error + k * levels;
    let of_mean = items + levels;
    let all = if unit == IccUnit::Single { of_single } else { of_mean };
    if all.abs() <= 1e-12 * (items + error) {
        return Undefined::because("the items do not differ, so there is no variance between them");
    }
    let degrees = DegreesOfFreedom {
        numerator: n - 1.0,
        denominator: if design == Design::OneWay { n * (k - 1.0) } else { (n - 1.0) * (k - 1.0) },
    };
    let f = items / error;
    let (low, high) = match design {
        Design::OneWay | Design::Fixed => {
            let reach = |f: f64| (f - 1.0) / (f + k - 1.0);
            let swapped = DegreesOfFreedom { numerator: degrees.denominator, denominator: degrees.numerator };
            (reach(f / f_quantile(0.975, degrees)), reach(f * f_quantile(0.975, swapped)))
        }
        Design::Random => {
            let value = above / of_single;
            let ratio = raters / rest;
            let own = n * (1.0 + (k - 1.0) * value) - k * value;
            let between = degrees.numerator;
            let freedom = degrees.denominator * (k * value * ratio + own).powi(2)
                / (between * (k * value * ratio).powi(2) + own.powi(2));
            let quantile = |numerator: f64, denominator: f64| {
                f_quantile(0.975, DegreesOfFreedom { numerator, denominator })
            };
            let (up, down) = (quantile(between, freedom), quantile(freedom, between));
            let noise = k * raters + (k * n - k - n) * rest;
            (
                n * (items - up * rest) / (up * noise + n * items),
                n * (down * items - rest) / (noise + n * down * items),
            )
        }
    };
    let lifted =
        |value: f64| if unit == IccUnit::Mean { value * k / (1.0 + value * (k - 1.0)) } else { value };
    Ok(Icc {
        value: above / all,
        interval: (lifted(low), lifted(high)),
        f,
        degrees,
        p: f_tail(f, degrees),
        n: n as usize,
    })
}

/// Mean squares of a table without gaps.
struct Squares {
    items: f64,
    raters: f64,
    /// Of what neither items nor raters explain.
    rest: f64,
    /// Within items.
    within: f64,
    n: f64,
    k: f64,
}

impl Squares {
    fn new(ratings: &Ratings) -> Result<Self, Undefined> {
        let numbers = ratings.numbers()?;
        let k = ratings.n_raters();
        if k < 2 {
            return Undefined::because("there is only one rater");
        }
        let full: Vec<Vec<f64>> = ratings
            .by_item()
            .filter(|answers| answers.clone().count() == k)
            .map(|iterator| iterator.map(|index| numbers[index]).collect())
            .collect();
        let n = full.len();
        if n < 2 {
            return Undefined::because(format!("{n} items were rated by everybody; at least two are needed"));
        }
        let (n, k) = (n as f64, k as f64);
        let row_means: Vec<f64> = full.iter().map(|full| full.iter().sum::<f64>() / k).collect();
        let column = |at: usize| full.iter().map(|full| full[at]).sum::<f64>() / n;
        let column_means: Vec<f64> = (0..k as usize).map(column).collect();
        let grand = row_means.iter().sum::<f64>() / n;
        let squares = |means: &[f64]| means.iter().map(|mean| (mean - grand).powi(2)).sum::<f64>();
        let (mut within, mut rest) = (0.0, 0.0);
        for (row, row_mean) in full.iter().zip(&row_means) {
            for (value, column_mean) in row.iter().zip(&column_means) {
                within += (value - row_mean).powi(2);
                rest += (value - row_mean - column_mean + grand).powi(2);
            }
        }
        let (items, raters) = (k * squares(&row_means) / (n - 1.0), n * squares(&column_means) / (k - 1.0));
        if items + within <= 0.0 {
            return Undefined::because("all ratings are equal");
        }
        Ok(Self {
            items,
            raters,
            rest: rest / ((n - 1.0) * (k - 1.0)),
            within: within / (n * (k - 1.0)),
            n,
            k,
        })
    }
}

/// How much of Snedecor's distribution lies above `f`.
fn f_tail(f: f64, degrees: DegreesOfFreedom) -> f64 {
    let DegreesOfFreedom { numerator: above, denominator: below } = degrees;
    if f.is_infinite() { 0.0 } else { beta(below / 2.0, above / 2.0, below / (below + above * f)) }
}

fn f_quantile(share: f64, degrees: DegreesOfFreedom) -> f64 {
    let DegreesOfFreedom { numerator: above, denominator: below } = degrees;
    let x = invert_cdf(share, |value| beta(above / 2.0, below / 2.0, value));
    below * x / (above * (1.0 - x))
}

#[cfg(test)]
mod tests {
    use super::super::ratings::tests::ratings;
    use super::*;

    /// Shrout and Fleiss (1979), table 2: six targets, four judges.
    const SHROUT_FLEISS: &str = "9 6 8 7 10 6\n 2 1 4 1 5 2\n 5 3 6 2 6 4\n 8 2 8 6 9 7";

    #[test]
    fn icc_has_its_published_values() {
        let check = |design, unit, value: f64, interval: (f64, f64)| {
            let result = icc(&ratings(SHROUT_FLEISS), design, unit).unwrap();
            let near = |a: f64, b: f64| (a - b).abs() < 5e-4;
            assert!(
                near(result.value, value)
                    && near(result.interval.0, interval.0)
                    && near(result.interval.1, interval.1),
                "{design:?} {unit:?} {result:?}"
            );
        };
        // As psych::ICC prints them.
        check(Design::OneWay, IccUnit::Single, 0.165_7, (-0.132_9, 0.722_6));
        check(Design::Random, IccUnit::Single, 0.289_8, (0.018_8, 0.761_1));
        check(Design::Fixed, IccUnit::Single, 0.714_8, (0.342_5, 0.945_9));
        check(Design::OneWay, IccUnit::Mean, 0.442_8, (-0.884_4, 0.912_4));
        check(Design::Random, IccUnit::Mean, 0.620_1, (0.071_1, 0.927_2));
        check(Design::Fixed, IccUnit::Mean, 0.909_3, (0.675_7, 0.985_9));
        let result = icc(&ratings(SHROUT_FLEISS), Design::Fixed, IccUnit::Single).unwrap();
        assert!((result.f - 11.027_248).abs() < 1e-5 && (result.p - 0.000_134_6).abs() < 1e-6, "{result:?}");
    }

    #[test]
    fn icc_says_why_it_is_undefined() {
        let why =
            |lines: &str| icc(&ratings(lines), Design::Random, IccUnit::Single).unwrap_err().to_string();
        assert!(why("3 3 3\n 3 3 3").ends_with("all ratings are equal"));
        assert!(why("1 2 3").ends_with("only one rater"));
        assert!(why("1 2 .\n . 2 3").contains("rated by everybody"));
        let perfect = icc(&ratings("1 2 3\n 1 2 3"), Design::Random, IccUnit::Single).unwrap();
        assert_eq!((perfect.value, perfect.coefficient().interval), (1.0, None));
    }
}
