//! Names of the trials of one case.

/// Names one of several trials of a case.
pub fn name_trial(case: &str, trial: u32, n_trials: u32) -> String {
    format!("{case} [trial {trial} of {n_trials}]")
}

/// The name that all trials share, from the name of one of them. Only for results of versions that did not store it.
pub fn cut_trial_name(name: &str) -> &str {
    let cut = || {
        let (case, end) = name.strip_suffix(']')?.rsplit_once(" [trial ")?;
        let (trial, n_trials) = end.split_once(" of ")?;
        let is_number = |text: &str| text.parse::<u32>().is_ok();
        (is_number(trial) && is_number(n_trials)).then_some(case)
    };
    cut().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_a_trial_is_cut_from_its_name() {
        for case in ["refund", "refund [row 2]", "a [trial 1 of 2] b", ""] {
            assert_eq!(cut_trial_name(&name_trial(case, 3, 10)), case);
        }
        for name in ["refund", "refund [trial by fire]", "refund [trial 1 of 2] twice", "[trial 1 of 2]"] {
            assert_eq!(cut_trial_name(name), name);
        }
    }
}
