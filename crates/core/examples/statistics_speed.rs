//! Times statistics on data that it writes first, so that others can be timed on the same.
//!
//! `statistics_speed FOLDER` writes the data; `statistics_speed FOLDER CASE` prints the median time of a case as a
//! line of JSON, with the result and the most memory that was in use. `describe FILE`, `agree FILE` and `rank FILE`
//! time what `jurist stats`, `agree` and `rank` compute of files of scripts/bench_commands.py.

#![allow(clippy::print_stdout, reason = "an example says what it did")]

use std::error::Error;
use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use jurist_core::grade::ShortGrade;
use jurist_core::rubric::Value;
use jurist_core::stats::agreement::{KappaWeights, Level, Ratings, alpha, cohen, measure_agreement};
use jurist_core::stats::basics::{Statistic, bootstrap};
use jurist_core::stats::ranking::{Pair, Preferred, estimate_strengths};
use jurist_core::stats::summaries::{ScoreEntry, ScoreField, ScoreTable, find_score_warnings};

/// Name, items, raters.
const RATED: [(&str, usize, usize); 3] =
    [("alpha_1000x5", 1_000, 5), ("alpha_1000000x3", 1_000_000, 3), ("kappa_1000000x2", 1_000_000, 2)];
const DRAWN: (&str, usize) = ("bootstrap_10000", 10_000);
const N_DRAWS: usize = 10_000;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [case, file] if ["describe", "agree", "rank"].contains(&case.as_str()) => time_file(case, file),
        [folder] => write(Path::new(folder)),
        [folder, case] => time(Path::new(folder), case),
        _ => Err("usage: statistics_speed FOLDER [CASE]".into()),
    }
}

/// SplitMix64.
fn chance(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut it = *state;
    it = (it ^ (it >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    it = (it ^ (it >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((it ^ (it >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

/// Ratings from 1 to 5 that agree two times out of three, one in twenty missing (as 0), item by item; and
/// differences of pairs.
fn write(folder: &Path) -> Result<(), Box<dyn Error>> {
    let mut state = 1;
    for (name, n_items, n_raters) in RATED {
        let mut ratings = Vec::with_capacity(n_items * n_raters);
        for _ in 0..n_items {
            let truth = 1.0 + (chance(&mut state) * 5.0).floor();
            for _ in 0..n_raters {
                let own = 1.0 + (chance(&mut state) * 5.0).floor();
                let said = if chance(&mut state) < 0.6 { truth } else { own };
                let is_missing = 2 < n_raters && chance(&mut state) < 0.05;
                ratings.push(if is_missing { 0 } else { said as u8 });
            }
        }
        fs::write(folder.join(name), ratings)?;
    }
    let differences = (0..DRAWN.1).map(|_| chance(&mut state) - chance(&mut state) * 0.9);
    let bytes: Vec<u8> = differences.flat_map(f64::to_le_bytes).collect();
    fs::write(folder.join(DRAWN.0), bytes)?;
    Ok(())
}

fn time(folder: &Path, case: &str) -> Result<(), Box<dyn Error>> {
    let bytes = fs::read(folder.join(case))?;
    let (seconds, result) = if let Some((name, _, n_raters)) = RATED.iter().find(|rated| rated.0 == case) {
        let cells: Vec<Option<f64>> =
            bytes.iter().map(|byte| (0 < *byte).then_some(f64::from(*byte))).collect();
        let names: Vec<String> = (1..=*n_raters).map(|n| n.to_string()).collect();
        let rating = |byte: u8| usize::from(byte) - 1;
        median(|| {
            if name.starts_with("kappa") {
                let pairs: Vec<(usize, usize)> =
                    black_box(&bytes).as_chunks().0.iter().map(|[a, b]| (rating(*a), rating(*b))).collect();
                return Ok(cohen(&pairs, 5, KappaWeights::Quadratic)?.value);
            }
            alpha(&Ratings::of_numbers(names.clone(), black_box(&cells))?, Level::Ordinal)
        })?
    } else {
        let values: Vec<f64> =
            bytes.as_chunks().0.iter().map(|chunk: &[u8; 8]| f64::from_le_bytes(*chunk)).collect();
        median(|| Ok(bootstrap(black_box(&values), Statistic::Mean, 0.05, N_DRAWS, 1)?.percentile.0))?
    };
    println!(r#"{{"case": "{case}", "seconds": {seconds}, "result": {result}, "peak_mb": {}}}"#, peak_mb());
    Ok(())
}

fn time_file(case: &str, file: &str) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let text = fs::read_to_string(file)?;
    let result = match case {
        "describe" => describe_lines(&text),
        "agree" => agree_table(&text)?,
        _ => rank_lines(&text)?,
    };
    println!("{case}: {:.2} s, {result}, {} MB", start.elapsed().as_secs_f64(), peak_mb());
    Ok(())
}

fn describe_lines(text: &str) -> f64 {
    let mut table = ScoreTable::default();
    for line in text.lines() {
        let Some(ShortGrade { candidate, criterion, value: Value::Number(unit), grader }) =
            ShortGrade::parse(line)
        else {
            continue;
        };
        let (case, candidate) = (&*candidate, &*candidate);
        let (criterion, grader, group) = (&*criterion, &*grader, &*criterion);
        table.push(&ScoreEntry { case, candidate, grader, criterion, file: "", group, unit });
    }
    black_box(find_score_warnings(&table));
    table.describe_by(ScoreField::Group)[0].1.estimate.mean
}

fn agree_table(text: &str) -> Result<f64, Box<dyn Error>> {
    let names: Vec<String> =
        text.lines().take(1).flat_map(|line| line.split(',').skip(1)).map(str::to_owned).collect();
    let cells: Vec<Option<f64>> = text
        .lines()
        .skip(1)
        .flat_map(|line| line.split(',').skip(1))
        .map(|text| text.trim().parse().ok())
        .collect();
    let found = measure_agreement(&Ratings::of_numbers(names, &cells)?, Level::Ordinal, 0);
    Ok(found.krippendorff_alpha.value().unwrap_or_default())
}

fn rank_lines(text: &str) -> Result<f64, Box<dyn Error>> {
    let names: Vec<String> = (0..60).map(|n| format!("p{n}")).collect();
    let mut pairs = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let row: serde_json::Value = serde_json::from_str(line)?;
        let place = |key: &str| row[key].as_str().and_then(|row| row[1..].parse::<usize>().ok()).unwrap_or(0);
        let won = place("winner") == place("first");
        let preferred = if won { Preferred::First } else { Preferred::Second };
        pairs.push(Pair::new(at, place("first"), place("second"), preferred));
    }
    Ok(estimate_strengths(&names, &pairs, 0.0)?.players[0].strength.value)
}

/// Of at least five runs, and as many as fit into a second.
fn median(
    mut work: impl FnMut() -> Result<f64, jurist_core::stats::basics::Undefined>,
) -> Result<(f64, f64), Box<dyn Error>> {
    let (mut times, mut result, begin) = (Vec::new(), 0.0, Instant::now());
    while times.len() < 5 || begin.elapsed().as_secs_f64() < 1.0 {
        let start = Instant::now();
        result = black_box(work()?);
        times.push(start.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    Ok((times[times.len() / 2], result))
}

/// What Linux saw this process use at most.
fn peak_mb() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kilobytes.map_or(0.0, |value| (value / 1024.0).round())
}
