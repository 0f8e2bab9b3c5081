//! Who rated what how, with gaps. Every agreement, alignment and consensus starts from here.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

use serde::Serialize;

use crate::rubric::Value;
use crate::stats::basics::undefined::{Undefined, ensure_size};

/// Why a single item says nothing about agreement beyond chance.
pub(crate) const ONE_ITEM: &str = "there is only one item; agreement by chance needs several";

/// Squares of larger numbers are no numbers any more.
const MOST_RATING: f64 = 1e150;

/// More levels than this are no scale that anybody was shown.
const MOST_LEVELS: f64 = 100.0;

/// The value of a cell without an answer.
const GAP: u32 = u32::MAX;

/// What the distance between two answers means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Only equal or not.
    Nominal,
    /// In an order.
    Ordinal,
    /// Differences count.
    Interval,
    /// Differences count by their share; zero is none.
    Ratio,
}

/// Items by raters. An answer is an index in the sorted list of distinct answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Ratings {
    raters: Vec<String>,
    /// Empty where their names are not needed.
    items: Vec<String>,
    answers: DistinctAnswers,
    /// Item by item, one for each rater.
    cells: Vec<u32>,
}

#[derive(Debug, Clone, PartialEq)]
enum DistinctAnswers {
    Numbers(Vec<f64>),
    Labels(Vec<String>),
}

impl Ratings {
    /// `cells` go item by item, one for each rater.
    pub fn of_numbers(raters: Vec<String>, cells: &[Option<f64>]) -> Result<Self, Undefined> {
        ensure_full_table(raters.len(), cells.len())?;
        if let Some(odd) = cells.iter().flatten().find(|cell| !cell.is_finite()) {
            return Undefined::because(format!("{odd} is not a rating"));
        }
        if let Some(odd) = cells.iter().flatten().find(|cell| MOST_RATING < cell.abs()) {
            return Undefined::because(format!("{odd:e} is too large for a rating"));
        }
        let mut places: HashMap<u64, u32, BuildHasherDefault<BitSpreadHasher>> = HashMap::default();
        // Most ratings are small whole numbers, which need no search.
        let mut small = [GAP; 256];
        let mut numbers = Vec::new();
        let mut coded = Vec::with_capacity(cells.len());
        for cell in cells {
            let Some(number) = cell else {
                coded.push(GAP);
                continue;
            };
            // Zero has two signs and is one answer.
            let number = number + 0.0;
            let whole = number as u8;
            let place = if f64::from(whole).to_bits() == number.to_bits() {
                &mut small[usize::from(whole)]
            } else {
                places.entry(number.to_bits()).or_insert(GAP)
            };
            if *place == GAP {
                *place = numbers.len() as u32;
                numbers.push(number);
            }
            coded.push(*place);
        }
        let order = sort_answer_codes(&mut coded, &numbers, f64::total_cmp);
        let answers = DistinctAnswers::Numbers(order.into_iter().map(|index| numbers[index]).collect());
        Ok(Self { raters, items: Vec::new(), answers, cells: coded })
    }

    /// Labels in the order of `scale`, which may hold some that no rater gave; without one, by the alphabet.
    pub fn of_labels(raters: Vec<String>, cells: &[Option<&str>], scale: &[&str]) -> Result<Self, Undefined> {
        ensure_full_table(raters.len(), cells.len())?;
        let labels: Vec<&str> = if scale.is_empty() {
            cells.iter().flatten().copied().collect::<BTreeSet<_>>().into_iter().collect()
        } else {
            scale.to_vec()
        };
        let places: BTreeMap<&str, u32> =
            labels.iter().enumerate().map(|(at, text)| (*text, at as u32)).collect();
        let mut coded = Vec::with_capacity(cells.len());
        for cell in cells {
            coded.push(match cell.map(|cell| places.get(cell).ok_or(cell)) {
                None => GAP,
                Some(Ok(place)) => *place,
                Some(Err(label)) => return Undefined::because(format!("`{label}` is not on the scale")),
            });
        }
        let answers = DistinctAnswers::Labels(labels.into_iter().map(str::to_owned).collect());
        Ok(Self { raters, items: Vec::new(), answers, cells: coded })
    }

    /// Answers on any scale: numbers if all of them are (a boolean is 0 or 1), otherwise labels.
    pub fn of_values(raters: Vec<String>, cells: &[Option<Value>]) -> Result<Self, Undefined> {
        let number = |value: &Value| match value {
            Value::Bool(value) => Some(f64::from(u8::from(*value))),
            Value::Number(value) => Some(*value),
            Value::Text(_) => None,
        };
        if cells.iter().flatten().all(|cell| number(cell).is_some()) {
            let numbers: Vec<Option<f64>> = cells.iter().map(|cell| cell.as_ref().and_then(number)).collect();
            return Self::of_numbers(raters, &numbers);
        }
        let labels: Vec<Option<String>> =
            cells.iter().map(|cell| cell.as_ref().map(ToString::to_string)).collect();
        let labels: Vec<Option<&str>> = labels.iter().map(Option::as_deref).collect();
        Self::of_labels(raters, &labels, &[])
    }

    /// One answer after the other, as (rater, item, answer); of two by one rater on one item the first counts.
    pub fn of_entries<'a>(
        entries: impl IntoIterator<Item = (&'a str, &'a str, Value)>,
    ) -> Result<Self, Undefined> {
        let (mut raters, mut items) = (Names::default(), Names::default());
        let placed: Vec<(usize, usize, Value)> = entries
            .into_iter()
            .map(|(rater, item, value)| (raters.place(rater), items.place(item), value))
            .collect();
        ensure_size("raters times items", raters.names.len().saturating_mul(items.names.len()))?;
        let mut cells = vec![None; raters.names.len() * items.names.len()];
        for (rater, item, value) in placed {
            cells[item * raters.names.len() + rater].get_or_insert(value);
        }
        Ok(Self { items: items.names, ..Self::of_values(raters.names, &cells)? })
    }

    /// The same with all levels of a scale of whole numbers, also those that no rater used. Between ends that are
    /// not whole there are no levels to add.
    pub fn on_scale(&self, low: f64, high: f64) -> Result<Self, Undefined> {
        let numbers = self.numbers()?;
        if let Some(odd) = numbers.iter().find(|number| !(low..=high).contains(*number)) {
            return Undefined::because(format!("`{odd}` is not on the scale from {low} to {high}"));
        }
        let is_whole = low.fract() == 0.0 && high.fract() == 0.0 && high - low <= MOST_LEVELS;
        let levels = if is_whole { (high - low) as usize + 1 } else { 0 };
        let mut all: Vec<f64> = (0..levels).map(|n| low + n as f64).chain(numbers.iter().copied()).collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        let place = |value: &f64| all.partition_point(|other| other < value) as u32;
        let places: Vec<u32> = numbers.iter().map(place).collect();
        let cells =
            self.cells.iter().map(|cell| if *cell == GAP { GAP } else { places[*cell as usize] }).collect();
        Ok(Self { answers: DistinctAnswers::Numbers(all), cells, ..self.clone() })
    }

    /// From the lowest to the highest answer that is known; a declared scale has more of them than were given.
    pub(crate) fn span(&self) -> Result<f64, Undefined> {
        let numbers = self.numbers()?;
        let low = numbers.iter().copied().fold(f64::INFINITY, f64::min);
        let high = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Ok((high - low).max(0.0))
    }

    pub fn n_items(&self) -> usize {
        self.cells.len() / self.raters.len().max(1)
    }

    /// How many answers were given.
    pub fn n_ratings(&self) -> usize {
        self.cells.iter().filter(|cell| **cell != GAP).count()
    }

    pub fn n_raters(&self) -> usize {
        self.raters.len()
    }

    /// How many answers there are to choose from.
    pub fn n_answers(&self) -> usize {
        match &self.answers {
            DistinctAnswers::Numbers(it) => it.len(),
            DistinctAnswers::Labels(it) => it.len(),
        }
    }

    pub fn raters(&self) -> &[String] {
        &self.raters
    }

    pub fn rater(&self, name: &str) -> Option<usize> {
        self.raters.iter().position(|rater| rater == name)
    }

    /// Its name, or its number from 1.
    pub fn item(&self, at: usize) -> String {
        self.items.get(at).cloned().unwrap_or_else(|| (at + 1).to_string())
    }

    /// A rater's answer about an item, as an index in the list of answers.
    pub fn get(&self, item: usize, rater: usize) -> Option<usize> {
        let cell = self.cells[item * self.raters.len() + rater];
        (cell != GAP).then_some(cell as usize)
    }

    pub fn label(&self, answer: usize) -> String {
        match &self.answers {
            DistinctAnswers::Numbers(it) => it[answer].to_string(),
            DistinctAnswers::Labels(it) => it[answer].clone(),
        }
    }

    pub fn labels(&self) -> Vec<String> {
        (0..self.n_answers()).map(|n| self.label(n)).collect()
    }

    /// The answers as numbers, in their order.
    pub fn numbers(&self) -> Result<&[f64], Undefined> {
        match &self.answers {
            DistinctAnswers::Numbers(it) => Ok(it),
            DistinctAnswers::Labels(_) => Undefined::because("the answers are labels and not numbers"),
        }
    }

    /// All answers about each item.
    pub(crate) fn by_item(
        &self,
    ) -> impl Iterator<Item = impl Iterator<Item = usize> + Clone + '_> + Clone + '_ {
        let rows = self.cells.chunks(self.raters.len().max(1));
        rows.map(|row| row.iter().filter(|n| **n != GAP).map(|n| *n as usize))
    }

    /// All answers about one item.
    pub(crate) fn answers_of_item(&self, item: usize) -> impl Iterator<Item = usize> + Clone + '_ {
        let n = self.raters.len();
        self.cells[item * n..(item + 1) * n].iter().filter(|cell| **cell != GAP).map(|cell| *cell as usize)
    }

    /// Items that everybody rated alike, as one of them and how many they are. A million items of three ratings
    /// from 1 to 5 are 216 at most; where that saves little, items are not grouped.
    pub(crate) fn group_identical_items(&self) -> Vec<(usize, f64)> {
        let (n, n_items, base) = (self.raters.len(), self.n_items(), self.n_answers() + 1);
        let n_kinds = u32::try_from(n)
            .ok()
            .and_then(|n_raters| base.checked_pow(n_raters))
            .filter(|n| *n <= n_items / 4);
        let Some(n_kinds) = n_kinds else { return (0..n_items).map(|n| (n, 1.0)).collect() };
        let mut kinds = vec![(0_usize, 0_u32); n_kinds];
        for (item, row) in self.cells.chunks_exact(n).enumerate() {
            // A gap is the last digit there is.
            let kind = row.iter().fold(0, |kind, n| kind * base + (*n as usize).min(base - 1));
            kinds[kind] = (item, kinds[kind].1 + 1);
        }
        kinds.into_iter().filter(|(_, n)| 0 < *n).map(|(item, n)| (item, f64::from(n))).collect()
    }

    /// Of each item that was rated twice or more, the share of pairs of ratings that are the same.
    pub(crate) fn same_pairs(&self) -> impl Iterator<Item = f64> + '_ {
        let mut here = vec![0.0; self.n_answers()];
        self.by_item().filter_map(move |answers| {
            let (m, same) = same_pairs_of(answers, &mut here);
            (2.0 <= m).then(|| 2.0 * same / (m * (m - 1.0)))
        })
    }

    /// The answers of two raters about the items that both rated.
    pub(crate) fn pairs(&self, a: usize, b: usize) -> Vec<(usize, usize)> {
        (0..self.n_items()).filter_map(|n| self.get(n, a).zip(self.get(n, b))).collect()
    }

    /// Becomes these items of a sample without names, each as often as it is named. Done thousands of times, it keeps
    /// what it has.
    pub(crate) fn draw(&mut self, from: &Self, items: &[usize]) {
        let n = from.raters.len();
        self.cells.clear();
        for item in items {
            self.cells.extend_from_slice(&from.cells[item * n..(item + 1) * n]);
        }
    }

    /// These items, each as often as it is named.
    pub(crate) fn of_items(&self, items: &[usize]) -> Self {
        let names = if self.items.is_empty() {
            Vec::new()
        } else {
            items.iter().map(|item| self.item(*item)).collect()
        };
        let mut selected = Self { items: names, cells: Vec::new(), ..self.without_item_names() };
        selected.draw(self, items);
        selected
    }

    /// The same without the names of the items.
    pub(crate) fn without_item_names(&self) -> Self {
        Self { items: Vec::new(), ..self.clone() }
    }

    /// The ratings of these raters alone.
    pub fn of_raters(&self, raters: &[usize]) -> Self {
        let n = self.raters.len().max(1);
        let cells = self.cells.chunks(n).flat_map(|row| raters.iter().map(|index| row[*index])).collect();
        let names = raters.iter().map(|index| self.raters[*index].clone()).collect();
        Self { raters: names, items: self.items.clone(), answers: self.answers.clone(), cells }
    }

    /// Other raters of the same items on the same scale; `cells` go item by item, one for each rater.
    pub(crate) fn by_others(&self, raters: &[&str], cells: impl Iterator<Item = Option<usize>>) -> Self {
        Self {
            raters: raters.iter().map(|rater| (*rater).to_owned()).collect(),
            items: self.items.clone(),
            answers: self.answers.clone(),
            cells: cells.map(|cell| cell.map_or(GAP, |n| n as u32)).collect(),
        }
    }

    /// How alike two answers are: 1 for the same, 0 for the ends of the scale, or for different labels.
    pub(crate) fn likeness(&self, a: usize, b: usize, level: Level) -> f64 {
        let apart = |a: f64, b: f64, width: f64| 1.0 - (a - b).abs() / width;
        match (&self.answers, level) {
            _ if a == b => 1.0,
            (_, Level::Nominal) => 0.0,
            (DistinctAnswers::Numbers(it), _) => apart(it[a], it[b], it[it.len() - 1] - it[0]),
            (DistinctAnswers::Labels(it), _) => apart(a as f64, b as f64, it.len() as f64 - 1.0),
        }
    }

    /// Two raters share an item, and there is something to disagree about.
    pub(crate) fn ensure_comparable(&self) -> Result<(), Undefined> {
        if self.by_item().all(|iterator| iterator.count() == 0) {
            return Undefined::because("nothing was rated");
        }
        if self.raters.len() < 2 {
            return Undefined::because("there is only one rater");
        }
        if self.by_item().all(|iterator| iterator.count() < 2) {
            return Undefined::because("no item was rated twice");
        }
        Ok(())
    }

    /// Chance agreement is estimated from the ratings of other items, so one item is not enough.
    pub(crate) fn ensure_two_rated_items(&self) -> Result<(), Undefined> {
        let rated = self.by_item().filter(|answers| 0 < answers.clone().count());
        if rated.take(2).count() == 1 { Undefined::because(ONE_ITEM) } else { Ok(()) }
    }
}

/// How many ratings an item has, and how many pairs of them are the same. `here` has a place for each answer and is
/// all zero, before and after.
pub(crate) fn same_pairs_of(answers: impl Iterator<Item = usize> + Clone, here: &mut [f64]) -> (f64, f64) {
    let (mut m, mut same) = (0.0, 0.0);
    for answer in answers.clone() {
        same += here[answer];
        here[answer] += 1.0;
        m += 1.0;
    }
    for answer in answers {
        here[answer] = 0.0;
    }
    (m, same)
}

/// That cells fill a table of items by raters.
fn ensure_full_table(n_raters: usize, n_cells: usize) -> Result<(), Undefined> {
    if n_raters == 0 {
        return Undefined::because("there is no rater");
    }
    if !n_cells.is_multiple_of(n_raters) {
        return Undefined::because("the raters did not get the same number of items");
    }
    Ok(())
}

/// Renames codes so that they follow the order of their answers; returns that order.
fn sort_answer_codes<T>(
    cells: &mut [u32],
    coded: &[T],
    compare: impl Fn(&T, &T) -> std::cmp::Ordering,
) -> Vec<usize> {
    let mut order: Vec<usize> = (0..coded.len()).collect();
    order.sort_by(|a, b| compare(&coded[*a], &coded[*b]));
    let mut places = vec![0; coded.len()];
    for (place, at) in order.iter().enumerate() {
        places[*at] = place as u32;
    }
    for cell in cells.iter_mut().filter(|cell| **cell != GAP) {
        *cell = places[*cell as usize];
    }
    order
}

/// Names in the order in which they came.
#[derive(Default)]
struct Names {
    names: Vec<String>,
    places: HashMap<String, usize>,
}

impl Names {
    fn place(&mut self, name: &str) -> usize {
        if let Some(place) = self.places.get(name) {
            return *place;
        }
        self.places.insert(name.to_owned(), self.names.len());
        self.names.push(name.to_owned());
        self.names.len() - 1
    }
}

/// Spreads the bits of a number; the standard hasher would take most of the time on millions of ratings.
#[derive(Default)]
struct BitSpreadHasher {
    state: u64,
}

impl Hasher for BitSpreadHasher {
    fn finish(&self) -> u64 {
        self.state
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, word: u64) {
        let wide = u128::from(self.state ^ word) * 0x9e37_79b9_7f4a_7c15;
        self.state = (wide >> 64) as u64 ^ wide as u64;
    }
}

#[cfg(test)]
pub(in crate::stats) mod tests {
    use super::*;

    /// Raters as lines of numbers, with a dot for a gap.
    pub(in crate::stats) fn ratings(lines: &str) -> Ratings {
        let rows: Vec<Vec<Option<f64>>> = lines
            .lines()
            .map(|line| line.split_whitespace().map(|word| word.parse().ok()).collect())
            .filter(|it: &Vec<_>| !it.is_empty())
            .collect();
        let cells: Vec<Option<f64>> =
            (0..rows[0].len()).flat_map(|item| rows.iter().map(move |row| row[item])).collect();
        Ratings::of_numbers((1..=rows.len()).map(|n| format!("r{n}")).collect(), &cells).unwrap()
    }

    #[test]
    fn answers_stand_in_their_order_and_gaps_stay_gaps() {
        let some = ratings("3 1 .\n 10 3 1");
        assert_eq!(some.numbers().unwrap(), [1.0, 3.0, 10.0]);
        assert_eq!((some.get(0, 0), some.get(2, 0), some.get(0, 1)), (Some(1), None, Some(2)));
        assert_eq!(some.pairs(0, 1), [(1, 2), (0, 1)]);
        assert_eq!(some.of_raters(&[1]).n_items(), 3);
        assert_eq!(some.of_items(&[2, 2]).get(1, 1), Some(0));
    }

    #[test]
    fn entries_may_come_in_any_order_and_the_first_counts() {
        let number = Value::Number;
        let some = Ratings::of_entries([
            ("b", "y", number(2.0)),
            ("a", "x", number(1.0)),
            ("b", "y", number(5.0)),
            ("b", "x", Value::Bool(true)),
        ])
        .unwrap();
        assert_eq!(some.raters(), ["b", "a"]);
        assert_eq!((some.item(1), some.get(1, 0), some.get(1, 1)), ("x".into(), Some(0), Some(0)));
        let mixed = Ratings::of_entries([("a", "x", number(1.0)), ("b", "x", Value::Text("no".into()))]);
        assert_eq!(mixed.unwrap().labels(), ["1", "no"]);
    }

    #[test]
    fn what_is_no_table_of_ratings_is_refused() {
        let two = || vec!["a".to_owned(), "b".to_owned()];
        assert!(Ratings::of_numbers(two(), &[Some(1.0)]).is_err());
        assert!(Ratings::of_numbers(two(), &[Some(1.0), Some(f64::NAN)]).is_err());
        assert!(Ratings::of_numbers(Vec::new(), &[]).is_err());
        assert!(Ratings::of_labels(two(), &[Some("x"), Some("z")], &["x", "y"]).is_err());
    }
}
