# Every target installs what it needs where it can (Debian, as root); .ci/need says plainly what to do where it can't.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

GO ?= go
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

# Flags of `sluice demo`, for instance DEMO_FLAGS=--once.
DEMO_FLAGS ?=
# Flags of `go test`, for instance TEST_FLAGS='-race -run Portal' and TEST_PACKAGES=./proxy/...
TEST_FLAGS ?= -count=1 -timeout=30m
# The longest package comes first, and the others run beside it.
TEST_PACKAGES ?= ./tests ./...
# Packages that `make race` runs with the race detector.
RACE_PACKAGES ?= ./engines/... ./proxy/... ./catalog/... ./lru/... ./socket/...
# Versions of Postgres that `make versions` runs with as home; "installed" is this machine's own.
VERSIONS ?= installed 16.14 17.10 18.4
# Flags of the run of real clients, for instance INTEROP_FLAGS='-only psycopg,django', or -write for docs/clients.md.
INTEROP_FLAGS ?=
# How long the comparison of random sequences of messages goes on, and its seed.
FUZZ_SECONDS ?= 60
FUZZ_SEED ?= 1
# How long generated statements are asked (oracle, leaks), and their seed.
SECONDS ?= 60
SEED ?= 1
# Flags of the benchmarks.
BENCH_FLAGS ?=

COMPILER := gcc:gcc g++:g++
SERVER := initdb:postgresql psql:postgresql-client
# What tests that need it are skipped without.
OTHERS := mariadbd:mariadb-server openssl:openssl
# Where the tests against servers from package registries are, and what these need of Debian.
REAL_PACKAGES ?= ./internal/trinotest ./engines/... ./tests
REGISTRIES := mvn:maven node:nodejs npm:npm

.PHONY: help
help: ## Show this list
	@echo "Usage: make TARGET"
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build bin/sluice
	@.ci/need $(COMPILER)
	$(GO) build -buildvcs=auto -trimpath -o bin/sluice ./cmd/sluice

.PHONY: demo
demo: build ## Guided tour on real data, then serve until Ctrl-C (DEMO_FLAGS=--once: only the tour)
	@.ci/need $(SERVER)
	@bin/sluice demo $(DEMO_FLAGS)

.PHONY: test
test: ## Run all tests (TEST_FLAGS, TEST_PACKAGES)
	@.ci/need $(COMPILER) $(SERVER)
	@.ci/need $(OTHERS) || echo "Tests that need it are skipped."
	$(GO) test $(TEST_FLAGS) $(TEST_PACKAGES)

.PHONY: race
race: ## Look for data races where goroutines share something (RACE_PACKAGES)
	@.ci/need $(COMPILER) $(SERVER)
	$(GO) test -race -count=1 -timeout=30m $(RACE_PACKAGES)

.PHONY: versions
versions: ## Run wire scripts and home's tests on each Postgres version (VERSIONS)
	@.ci/need $(COMPILER) $(SERVER) node:nodejs npm:npm
	@.ci/versions $(GO) $(VERSIONS)

.PHONY: interop
interop: build ## Run real clients against the proxy, and then real servers (INTEROP_FLAGS: only clients)
	@.ci/need $(COMPILER) $(SERVER)
	$(GO) run ./interop $(INTEROP_FLAGS)
	@[ -n "$(INTEROP_FLAGS)" ] || $(MAKE) --no-print-directory real

.PHONY: real
real: ## Run tests against servers from package registries (REAL_PACKAGES)
	@.ci/need $(COMPILER) $(SERVER)
	@.ci/need $(REGISTRIES) || echo "Tests that need it are skipped."
	@python3 -c 'import venv, ensurepip' 2>/dev/null || .ci/need python3-has-no-venv:python3-venv || true
	@.ci/real $(GO) $(REAL_PACKAGES)

.PHONY: fuzz
fuzz: ## Compare random messages with Postgres' answers (FUZZ_SECONDS, FUZZ_SEED)
	@.ci/need $(COMPILER) $(SERVER)
	$(GO) test -count=1 -timeout=0 ./tests -run '^TestSequences$$' -v -sequence.seconds $(FUZZ_SECONDS) -sequence.seed $(FUZZ_SEED)

.PHONY: oracle
oracle: ## Compare generated statements with Postgres' answers, on every route (SECONDS, SEED)
	@.ci/need $(COMPILER) $(SERVER)
	$(GO) test -count=1 -timeout=0 ./tests -run '^TestOracleGenerated$$' -v -oracle.seconds $(SECONDS) -oracle.seed $(SEED)

.PHONY: leaks
leaks: ## Ask generated statements as a governed role, and look for what it may not see (SECONDS, SEED)
	@.ci/need $(COMPILER) $(SERVER)
	$(GO) test -count=1 -timeout=0 ./tests -run '^TestLeaksGenerated$$' -v -leaks.seconds $(SECONDS) -leaks.seed $(SEED)

.PHONY: bench
bench: build ## Measure against Postgres and PgBouncer, print one table (BENCH_FLAGS)
	@.ci/need $(COMPILER) $(SERVER) pgbench:postgresql pgbouncer:pgbouncer
	$(GO) run ./bench $(BENCH_FLAGS)

.PHONY: lint
lint: ## Check format, vet, staticcheck, imports and sizes
	@.ci/need $(COMPILER)
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); \
	  if [ -n "$$unformatted" ]; then echo "Not formatted (run gofmt -w on them):"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...
	$(GO) test -count=1 ./internal/archtest
