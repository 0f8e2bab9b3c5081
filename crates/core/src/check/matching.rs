//! When two values are the same, and how many of two lists can be paired.

use serde_json::Value;

/// How closely values must agree.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Closeness {
    pub(super) ignore_case: bool,
    /// Numbers may differ by so much.
    pub(super) tolerance: f64,
}

/// JSON by value: 1 is 1.0, and text stays text.
pub(super) fn is_same_value(a: &Value, b: &Value) -> bool {
    is_close(a, b, Closeness::default())
}

pub(super) fn is_close(a: &Value, b: &Value, how: Closeness) -> bool {
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => match (x.as_f64(), y.as_f64()) {
            // Whole numbers beyond what a double holds still differ.
            _ if how.tolerance == 0.0 && x.is_i64() && y.is_i64() => x == y,
            (Some(x), Some(y)) => (x - y).abs() <= how.tolerance,
            _ => x == y,
        },
        (Value::String(x), Value::String(y)) if how.ignore_case => x.to_lowercase() == y.to_lowercase(),
        (Value::Array(x), Value::Array(y)) => {
            x.len() == y.len() && x.iter().zip(y).all(|(x, y)| is_close(x, y, how))
        }
        (Value::Object(x), Value::Object(y)) => {
            x.len() == y.len() && x.iter().all(|(key, x)| y.get(key).is_some_and(|y| is_close(x, y, how)))
        }
        _ => a == b,
    }
}

/// The most pairs that fit, each element in one pair at most; the order of the lists does not matter.
pub(super) fn most_pairs(n_left: usize, n_right: usize, fits: impl Fn(usize, usize) -> bool) -> usize {
    let edges: Vec<Vec<usize>> =
        (0..n_left).map(|left| (0..n_right).filter(|&right| fits(left, right)).collect()).collect();
    let mut partner: Vec<Option<usize>> = vec![None; n_right];
    let mut n_pairs = 0;
    for start in 0..n_left {
        n_pairs += usize::from(augment(start, &edges, &mut partner));
    }
    n_pairs
}

/// Finds a free place on the right for `start`, moving others if need be; without recursion, for any length.
fn augment(start: usize, edges: &[Vec<usize>], partner: &mut [Option<usize>]) -> bool {
    let mut from: Vec<Option<usize>> = vec![None; partner.len()];
    let mut queue = std::collections::VecDeque::from([start]);
    while let Some(left) = queue.pop_front() {
        for &right in &edges[left] {
            if from[right].is_some() {
                continue;
            }
            from[right] = Some(left);
            match partner[right] {
                Some(next) => queue.push_back(next),
                None => {
                    let mut place = right;
                    loop {
                        let left = from[place].unwrap_or(start);
                        let before = partner.iter().position(|partner| *partner == Some(left));
                        partner[place] = Some(left);
                        match before.filter(|_| left != start) {
                            Some(before) => place = before,
                            None => return true,
                        }
                    }
                }
            }
        }
    }
    false
}
