# Two commands are all one needs: `make demo` and `make test`. They install what is missing.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: help setup postgres chromium cargo-deny web docs pictures demo tour wheel test test-long mutants soak bench bless deny dist

NEXTEST_VERSION := 0.9.143
DENY_VERSION := 0.20.2

help: ## what there is
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 10

setup:
	@command -v cc >/dev/null || (apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev)
	@command -v cargo >/dev/null || { echo "Rust is missing: install it with rustup, then run make again" >&2; exit 1; }

# Tests start a server of their own, so the programs are enough. Without them, those tests say that they were skipped.
postgres:
	@command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 \
		|| (apt-get update && apt-get install -y --no-install-recommends postgresql) \
		|| echo "PostgreSQL is missing: tests will run on SQLite alone" >&2

# Tests of the pages run in it.
chromium:
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null \
		|| (apt-get update && apt-get install -y --no-install-recommends chromium) \
		|| echo "Chromium is missing: the pages will not be tried in a browser" >&2

# Unoptimised: it takes a third of the time to build, and three seconds to run.
cargo-deny:
	@cargo deny --version >/dev/null 2>&1 || cargo install --locked --debug cargo-deny --version $(DENY_VERSION)

web: ## build the web pages, which a debug build reads and a release build carries
	@scripts/build-web

docs: ## build the book from docs/, as web pages in web/dist-book
	@scripts/build-book

pictures: setup web ## the pictures of the README and the book, from the pages of the demo
	@scripts/build-demo
	@scripts/pictures

demo: setup ## a server with a small invented project, to look at; needs no key
	@scripts/build-demo
	@scripts/demo

tour: setup web ## what the command does, on the examples
	cargo build --release --quiet --bin jurist
	@scripts/tour

wheel: setup web ## the Python package as a wheel, in target/wheels
	@scripts/build-wheel

test: setup postgres chromium cargo-deny web docs ## everything that must pass
	@cargo nextest --version >/dev/null 2>&1 || cargo install --locked cargo-nextest --version $(NEXTEST_VERSION)
	@scripts/test

test-long: setup ## property tests with new seeds (JURIST_FUZZ_SEED=SEED tries one again), fuzzing, simulation
	@scripts/test-long

mutants: setup web ## mutation testing of scores, money, plans, judges' replies and access; PARTS="score money" for some
	@scripts/mutants $(PARTS)

soak: setup web ## an hour of steady load with kills; MINUTES=N for another time
	cargo build --release --quiet --locked --bin jurist
	@scripts/soak --minutes $(or $(MINUTES),60)

bench: setup postgres web ## how fast it is
	cargo bench --workspace --locked
	@cargo build --release --quiet --locked --bin jurist --examples
	@scripts/start-time
	target/release/examples/checks_per_second > target/checks_per_second.jsonl
	@scripts/bench-peers target/checks_per_second.jsonl
	@scripts/bench-stats
	@scripts/bench-judges
	@scripts/bench-evals
	@scripts/bench-memory
	@scripts/bench-ingest
	cargo run --release --quiet --locked -p jurist-store --features testing --example store_bench
	cargo run --release --quiet --locked -p jurist-store --features testing --example assign_bench
	cargo run --release --quiet --locked -p jurist-server --example estimates_bench
	cargo run --release --quiet --locked -p jurist-server --example pages_bench

bless: ## accept new snapshots and generated files; review the difference
	JURIST_BLESS=1 cargo nextest run --workspace
	@! command -v npm >/dev/null || (cd web && npm run --silent types)

deny: setup cargo-deny ## licences, sources, bans and advisories; fetches the database of RustSec from GitHub
	cargo deny check -D warnings

dist: setup web docs ## packages for this machine: archive, Debian, npm, wheel, container; JURIST_TARGET names another
	@scripts/dist
