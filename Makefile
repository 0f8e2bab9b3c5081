# Two commands are all one needs: `make demo` and `make test`. Both install what is missing.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: help setup demo test bench bless deny

NEXTEST_VERSION := 0.9.143

help: ## what there is
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 10

setup:
	@command -v cc >/dev/null || (apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev)
	@command -v cargo >/dev/null || { echo "Rust is missing: install it with rustup, then run make again" >&2; exit 1; }

demo: setup ## check and score the examples
	cargo build --release --quiet --bin jurist
	@scripts/demo

test: setup ## everything that must pass
	@cargo nextest --version >/dev/null 2>&1 || cargo install --locked cargo-nextest --version $(NEXTEST_VERSION)
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	cargo nextest run --workspace --locked
	cargo test --workspace --locked --doc
	@scripts/check-reports

bench: setup ## how fast it is
	cargo bench --workspace --locked
	@cargo build --release --quiet --locked --bin jurist --examples
	@scripts/start-time
	target/release/examples/checks_per_second > target/checks_per_second.jsonl
	@scripts/bench-peers target/checks_per_second.jsonl
	@scripts/bench-judges
	@scripts/bench-evals

bless: ## accept new snapshots and generated files; review the difference
	JURIST_BLESS=1 cargo nextest run --workspace

deny: ## licences and advisories, with cargo-deny
	cargo deny check
