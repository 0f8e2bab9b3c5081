//! A fuzzer for one target: the one that this binary is named after.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    jurist_fuzz_targets::run_target(env!("CARGO_BIN_NAME"), input);
});
