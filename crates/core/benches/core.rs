//! `make bench`: how fast suites load and verdicts are reached.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use divan::{Bencher, black_box, counter::ItemsCount};
use jurist_core::dialect::{self, ProjectEnvironment, ReadError, VariableExpansion};
use jurist_core::grade::{Outcome, Value};
use jurist_core::rubric::{Criterion, CriterionKind, Draft, Rubric, Scale};
use jurist_core::score::{QuestionAnswer, QuoteStatus, compute_verdict};

fn main() {
    divan::main();
}

const N_CASES: usize = 1000;

/// A thousand cases with five criteria each, about 600 kB.
fn suite() -> String {
    let case = |at: usize| {
        let criteria: String = (0..5)
            .map(|n| format!("        - name: criterion-{n}\n          description: The answer has property {n} of case {at}.\n          weight: {}\n", n + 1))
            .collect();
        format!(
            "  - name: case {at}\n    prompt: What about number {at}?\n    response: Number {at} is fine.\n    rubric:\n      threshold: 0.8\n      criteria:\n{criteria}"
        )
    };
    "evals:\n".to_owned() + &(0..N_CASES).map(case).collect::<String>()
}

#[divan::bench]
fn load_1000_cases(bencher: Bencher<'_, '_>) {
    let text: Arc<str> = suite().into();
    let main = Path::new("/suite.yaml");
    let read = |path: &Path| if path == main { Ok(Arc::clone(&text)) } else { Err(ReadError::Missing) };
    let world = ProjectEnvironment {
        root: PathBuf::from("/"),
        read: &read,
        glob: &|_| Ok(Vec::new()),
        variable: &|_| None,
        variables: VariableExpansion::Filled,
        call: &dialect::refuse_scripts,
    };
    bencher.counter(ItemsCount::new(N_CASES)).bench_local(|| {
        let loaded = dialect::read_suite(main, None, &world);
        assert_eq!(loaded.suite.expect("the suite is in order").cases.len(), N_CASES);
    });
}

#[divan::bench]
fn verdict_of_5_criteria(bencher: Bencher<'_, '_>) {
    let criterion = |at: usize| {
        let mut criterion =
            Criterion::new(format!("c{at}"), "…", CriterionKind::Question(Scale::likert(1, 5)));
        criterion.weight = at as f64 + 1.0;
        criterion.required = at == 0;
        criterion
    };
    let rubric =
        Rubric::new(Draft { criteria: (0..5).map(criterion).collect(), ..Draft::default() }).expect("valid");
    let outcomes = [4.0, 3.0, 5.0, 2.0, 3.0]
        .map(|it| Outcome::Scored { value: Value::Number(it), unit: Some((it - 1.0) / 4.0) });
    let answers = outcomes.each_ref().map(|outcome| QuestionAnswer { outcome, quote: QuoteStatus::NotAsked });
    bencher
        .counter(ItemsCount::new(1_usize))
        .bench(|| compute_verdict(black_box(&rubric), black_box(&answers), 0.0));
}
