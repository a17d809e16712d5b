# `make run` builds everything and starts Portico with its embedded defaults; `make test` installs missing tools and runs
# every test. Repeated runs are fast and need no network.

SHELL := /usr/bin/env bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
CACHE := $(or $(PORTICO_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/portico)
TARGET := $(or $(CARGO_TARGET_DIR),$(CURDIR)/target)
SCRIPTS := $(addprefix scripts/,build fixture fuzz fuzz-api need places prerequisites slowest stage test-rust web with-postgres with-servers) \
	bench/peers/run .ci/run contracts/check contracts/forge
# Where the tests find a real Ethereum node, and the tool that reads one.
export PORTICO_ANVIL := $(CACHE)/tools/bin/anvil
export PORTICO_CAST := $(CACHE)/tools/bin/cast
# Copies a SQLite database continuously.
export PORTICO_LITESTREAM := $(CACHE)/tools/litestream/bin/litestream
# With examples, so that dependencies have the features that clippy has checked them with.
DOC := env RUSTDOCFLAGS="-D warnings" cargo doc --locked --quiet --workspace --no-deps --document-private-items --lib --bins --examples
.PHONY: help run build web openapi shots test check bench bench-peers fuzz kills faults rotate-race erase-race restore-drill crowds people simulate contracts-fuzz clean

help: ## Shows this
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

run: build ## Builds everything and starts Portico (ARGS="--listen 127.0.0.1:9000" for flags)
	@$(TARGET)/debug/portico serve $(ARGS)

build:
	@scripts/build

web: ## Builds the console alone, into web/dist
	@scripts/web build

openapi: build ## Writes the OpenAPI document from which the console is built, web/openapi.json
	@scripts/web document

test: ## Installs what is missing and runs every test
	@scripts/prerequisites test
	@scripts/stage --first
	@scripts/stage "install tools" scripts/need postgres schemathesis litestream web3 openapi-linters deny shellcheck foundry chromium
	@scripts/stage "format" cargo fmt --all --check
	@scripts/stage "shell scripts" shellcheck -x $(SCRIPTS)
	@scripts/stage "dependencies" scripts/need deny-check
	@scripts/stage "contracts" contracts/check
	@scripts/stage "build the console" scripts/web build
	@scripts/stage "lints" cargo clippy --locked --workspace --all-targets -- -D warnings
	@scripts/stage "links in code" $(DOC)
	@scripts/stage "build" cargo test --locked --workspace --no-run --quiet
	@scripts/stage "console" scripts/web check
	@PORTICO_POSTGRES_OPTIONS="-c fsync=off -c full_page_writes=off -c max_wal_size=8GB" scripts/stage "tests" scripts/test-rust all
	@scripts/stage "tour" scripts/tour check
	@scripts/stage "fuzz" scripts/fuzz
	@scripts/stage "browser" scripts/web browser
	@scripts/slowest
	@scripts/stage --summary

check: ## The two-minute loop: format, lints, unit tests, tests of the store on SQLite
	@scripts/prerequisites run
	@cargo fmt --all --check
	@cargo clippy --locked --workspace --all-targets -- -D warnings
	@scripts/test-rust quick

shots: build ## Screenshots of every page of the console, both themes, phone and desktop, in web/e2e/shots
	@scripts/need chromium
	@cd web && PORTICO_BIN=$(TARGET)/debug/portico npm run --silent shots

fuzz: build ## Fuzzes both engines with new requests, for SECONDS_EACH (default 600)
	@scripts/need postgres schemathesis
	@PORTICO_FUZZ_SECONDS=$${SECONDS_EACH:-600} scripts/fuzz

kills: ## Kills a busy server repeatedly (CYCLES, default 300)
	@PORTICO_KILL_CYCLES=$${CYCLES:-300} cargo test --locked --workspace --test http kills -- --nocapture

faults: ## Full disks, read-only files and stopped processes (SIGSTOP for 60 seconds), on both engines
	@scripts/need postgres
	@PORTICO_LONG=1 scripts/with-postgres cargo test --locked --workspace --test http faults:: -- --nocapture --test-threads 1

rotate-race: ## Two rotations at once under reads, on both engines (ROUNDS, default 200)
	@scripts/need postgres
	@PORTICO_ROTATE_ROUNDS=$${ROUNDS:-200} scripts/with-postgres cargo test --locked --workspace --test http two_rotations_at_once -- --nocapture

restore-drill: ## Restores backups made at random moments under load (ROUNDS, default 5, on both engines and both kinds of chain)
	@scripts/need foundry postgres
	@PORTICO_DRILL_ROUNDS=$${ROUNDS:-5} scripts/with-postgres cargo test --locked --workspace --test http recovery::drill -- --nocapture --test-threads 1

erase-race: ## Erases people in the middle of their own verifications, on both engines (RACES, default 1000)
	@scripts/need postgres
	@PORTICO_ERASE_RACES=$${RACES:-1000} scripts/with-postgres cargo test --locked --workspace --test app erase_race -- --nocapture

crowds: ## Crowds of silent and of slow clients (CLIENTS, default 10000)
	@PORTICO_CROWD=$${CLIENTS:-10000} cargo test --locked --workspace --test http crowds -- --nocapture --test-threads 1

people: ## Searches for leaked personal data of 1,000 people; rotates the keys of 10,000 under load
	@scripts/need foundry postgres
	@PORTICO_LONG=1 scripts/with-postgres cargo test --locked --workspace --test http -- --show-output canaries rotated_under_load

simulate: ## Simulates the writer with faults (SEEDS, default 10000), and the long runs against Anvil
	@scripts/need foundry postgres
	@PORTICO_SIM_SEEDS=$${SEEDS:-10000} PORTICO_LONG=1 scripts/with-postgres cargo test --locked --workspace --test chain -- --nocapture

contracts-fuzz: ## Fuzzes the contracts, 100,000 runs a property
	@contracts/check --long

bench: ## Benchmarks against a bare axum server, with a million listings, on both engines (ONLY=chain for one section)
	@scripts/need postgres wrk foundry
	@cargo build --locked --release -p portico -p portico-bench
	@PORTICO_POSTGRES_OPTIONS="-c shared_buffers=512MB -c max_wal_size=4GB" \
		scripts/with-postgres $(TARGET)/release/portico-bench run --binaries $(TARGET)/release

bench-peers: ## Benchmarks against PocketBase and Fastify, same rows, same durability
	@cargo build --locked --release -p portico -p portico-bench
	@$(TARGET)/release/portico-bench peers --binaries $(TARGET)/release

clean: ## Removes what was built
	@cargo clean
