//! What is to be expected of k trials of a task, from more trials of it.

use serde::Serialize;

use crate::stats::basics::special::ln_gamma;
use crate::stats::basics::undefined::Undefined;

/// How often a task was tried and how often it passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskTrials {
    pub n: usize,
    pub passed: usize,
}

/// Means over tasks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PassK {
    /// At least one of k passes (pass@k).
    pub any: f64,
    /// All k pass (pass^k).
    pub all: f64,
    /// Tasks with at least k trials; the others say nothing of k.
    pub n_tasks: usize,
}

pub fn pass_k(tasks: &[TaskTrials], k: usize) -> Result<PassK, Undefined> {
    if let Some(bad) = tasks.iter().find(|task| task.n < task.passed) {
        return Undefined::because(format!("{} of {} trials is more than all", bad.passed, bad.n));
    }
    let enough: Vec<&TaskTrials> = tasks.iter().filter(|task| k <= task.n).collect();
    if k == 0 || enough.is_empty() {
        return Undefined::because(format!("no task has {k} trials"));
    }
    let n_tasks = enough.len();
    // The share of all ways to take k of n that takes only from these.
    let only = |these: usize, n: usize| {
        let ways = |n: usize| {
            let (n, k) = (n as f64, k as f64);
            ln_gamma(n + 1.0) - ln_gamma(k + 1.0) - ln_gamma(n - k + 1.0)
        };
        if these < k { 0.0 } else { (ways(these) - ways(n)).exp() }
    };
    let mean = |of: &dyn Fn(&TaskTrials) -> f64| {
        enough.iter().map(|task_trials| of(task_trials)).sum::<f64>() / n_tasks as f64
    };
    Ok(PassK {
        any: mean(&|it| 1.0 - only(it.n - it.passed, it.n)),
        all: mean(&|it| only(it.passed, it.n)),
        n_tasks,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_are_taken_in_every_way() {
        let tasks = [(10, 3), (10, 0), (10, 10), (4, 2)].map(|(n, passed)| TaskTrials { n, passed });
        for (k, any, all) in
            [(1, 0.45, 0.45), (2, 0.591_666_666_667, 0.308_333_333_333), (4, 0.708_333_333_333, 0.25)]
        {
            let result = pass_k(&tasks, k).unwrap();
            assert!((result.any - any).abs() < 1e-11 && (result.all - all).abs() < 1e-11, "{result:?}");
        }
        assert_eq!(pass_k(&tasks, 5).unwrap().n_tasks, 3);
        assert!(pass_k(&tasks, 11).unwrap_err().to_string().contains("no task has 11 trials"));
        assert!(pass_k(&[], 1).is_err());
    }
}
