# `make run` builds everything and starts Portico on its embedded defaults; `make test` installs what the
# tests need, only if it is missing, and runs every test. Both work again quickly, and without network.

SHELL := /usr/bin/env bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
# Where the tests find a real Ethereum node, and the tool that reads one.
export PORTICO_ANVIL := $(CURDIR)/target/tools/bin/anvil
export PORTICO_CAST := $(CURDIR)/target/tools/bin/cast
.PHONY: help run build web shots test check bench bench-peers fuzz kills people simulate contracts-fuzz clean

help: ## Shows this
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

run: build ## Builds everything and starts Portico (ARGS="--listen 127.0.0.1:9000" for flags)
	@target/debug/portico serve $(ARGS)

# Twice: the first binary writes the document from which the console is built, the second one carries it.
build:
	@cargo build --locked -p portico
	@scripts/web build
	@cargo build --locked -p portico

web: ## Builds the console alone, into web/dist
	@cargo build --locked -p portico
	@scripts/web build

test: ## Installs what is missing and runs every test
	@rm -f target/stages.txt
	@scripts/stage "install tools" scripts/need postgres schemathesis deny shellcheck foundry chromium
	@scripts/stage "format" cargo fmt --all --check
	@scripts/stage "shell scripts" shellcheck scripts/need scripts/stage scripts/web scripts/with-postgres scripts/fuzz-api bench/run bench/peers/run .ci/run contracts/check contracts/forge
	@scripts/stage "dependencies" scripts/need deny-check
	@scripts/stage "contracts" contracts/check
	@scripts/stage "lints" cargo clippy --locked --workspace --all-targets -- -D warnings
	@scripts/stage "build" cargo build --locked -p portico
	@scripts/stage "console" scripts/web check
	@scripts/stage "build with the console" cargo build --locked -p portico
	@PORTICO_POSTGRES_OPTIONS="-c fsync=off" scripts/stage "tests" scripts/with-postgres cargo test --locked --workspace
	@scripts/stage "fuzz on SQLite" scripts/fuzz-api sqlite
	@scripts/stage "fuzz on PostgreSQL" scripts/with-postgres scripts/fuzz-api postgres
	@scripts/stage "browser" scripts/web browser
	@scripts/stage --summary

shots: build ## Pictures of every page of the console, both themes, phone and desktop, in web/e2e/shots
	@scripts/need chromium
	@cd web && PORTICO_BIN=$(CURDIR)/target/debug/portico npm run --silent shots

fuzz: build ## Fuzzes both engines with new requests, for SECONDS_EACH (default 600)
	@scripts/need postgres schemathesis
	@PORTICO_FUZZ_SECONDS=$${SECONDS_EACH:-600} scripts/fuzz-api sqlite
	@PORTICO_FUZZ_SECONDS=$${SECONDS_EACH:-600} scripts/with-postgres scripts/fuzz-api postgres

kills: ## Kills a busy server again and again (CYCLES, default 100)
	@PORTICO_KILL_CYCLES=$${CYCLES:-100} cargo test --locked -p portico --test http kills -- --nocapture

people: ## Sends 1,000 people through every door and looks for traces; rotates the keys of 10,000 while they are read
	@scripts/need foundry postgres
	@PORTICO_LONG=1 scripts/with-postgres cargo test --locked -p portico --test http -- --show-output canaries rotated_under_load

simulate: ## Simulates the writer with faults (SEEDS, default 10000), and the long runs against Anvil
	@scripts/need foundry postgres
	@PORTICO_SIM_SEEDS=$${SEEDS:-10000} PORTICO_LONG=1 scripts/with-postgres cargo test --locked -p portico-chain --test chain -- --nocapture

contracts-fuzz: ## Fuzzes the contracts, 100,000 runs a property
	@contracts/check --long

bench: ## Measures beside a bare axum server, with a million listings, on both engines
	@scripts/need postgres wrk foundry
	@cargo build --locked --release -p portico -p portico-bench
	@PORTICO_POSTGRES_OPTIONS="-c shared_buffers=512MB -c max_wal_size=4GB" scripts/with-postgres bench/run

bench-peers: ## Measures beside PocketBase and Fastify, same rows, same durability
	@cargo build --locked --release -p portico -p portico-bench
	@bench/run peers

clean: ## Removes what was built
	@cargo clean
