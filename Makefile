# Needed: Go, Node.js with npm, and for demo and tests what scripts/test-deps.sh installs or asks for.
# `make` prints what there is to make.

GO ?= go
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# The program needs no C, so neither does building it; and it becomes the same static file everywhere.
# For the race detector: make test CGO_ENABLED=1 TESTFLAGS=-race
export CGO_ENABLED ?= 0

# Arguments of `./relqps demo`, e.g. make demo ARGS='--addr 127.0.0.1:9090'.
ARGS ?=
# Further arguments of `go test`, e.g. make test TESTFLAGS='-run Version -v'.
TESTFLAGS ?=
# The packages. Go leaves folders named testdata out of ./..., so the one that is a package is named.
PKGS ?= ./... ./internal/testdata
# Which benchmarks `make bench` runs, and how often.
BENCH ?= .
BENCHFLAGS ?= -benchmem
# How long `make fuzz` gives each target, and which targets.
FUZZTIME ?= 30s
FUZZ ?= .
# Arguments of the calibration, e.g. make calibrate CALIBRATE='-scale 0.05'.
CALIBRATE ?=
# Arguments of the screenshot program, e.g. make screenshots SHOTS='-widths 390 /charts'.
SHOTS ?=

# Under CI a test whose component is missing fails; nothing is taken from Go's cache of test results.
ifdef CI
override TESTFLAGS += -count=1
endif

.PHONY: help
help: ## print this list
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: bundle generate ## build ./relqps
	$(GO) build -ldflags='-s -w' -o relqps .

.PHONY: demo
demo: build ## run relqps with a private Postgres and sample data on http://127.0.0.1:8080
	@scripts/test-deps.sh postgresql || true
	./relqps demo $(ARGS)

.PHONY: test
test: test-deps bundle generate test-script ## run all tests
	$(GO) test -timeout 20m $(TESTFLAGS) $(PKGS)

.PHONY: check
check: bundle lint typecheck ## what CI runs: format, vet, lint, generated code, types, then all tests
	$(MAKE) --no-print-directory test

.PHONY: bench
bench: test-deps bundle generate ## measure parsing, ingest, pages, API and start against Postgres
	$(GO) test -run '^$$' -bench '$(BENCH)' -skip Scale $(BENCHFLAGS) -timeout 60m -p 1 $(PKGS)

.PHONY: bench-scale
bench-scale: test-deps bundle generate ## the benchmarks with millions of values (takes long, needs disk)
	@grep -rqE '^func Benchmark\w*Scale' --include='*_test.go' . || { echo 'no benchmark has Scale in its name' >&2; exit 1; }
	$(GO) test -run '^$$' -bench Scale $(BENCHFLAGS) -timeout 4h -p 1 $(PKGS)

.PHONY: calibrate
calibrate: ## measure the error rates of change detection and the coverage of intervals (some minutes)
	$(GO) run ./internal/stats/calibrate $(CALIBRATE)

.PHONY: screenshots
screenshots: build ## photograph the pages of the demo into screenshots/
	@scripts/test-deps.sh postgresql chromium fonts-dejavu-core
	$(GO) run ./internal/screenshot $(SHOTS)

.PHONY: fuzz
fuzz: ## fuzz every reader for FUZZTIME each (default 30s)
	@scripts/fuzz.sh '$(FUZZTIME)' '$(FUZZ)'

.PHONY: generate
generate: ## generate code from templates, when stale
	@scripts/generate.sh

.PHONY: bundle
bundle: ## bundle the page script and the style sheet, when stale
	@scripts/bundle.sh

.PHONY: lint
lint: ## format, vet, staticcheck, templates and their generated code
	@unformatted=$$(find . \( -name .git -o -name node_modules -o -name .cache \) -prune -o -name '*.go' -print0 | xargs -0 gofmt -l); \
	if [ -n "$$unformatted" ]; then printf 'not formatted with gofmt:\n%s\n' "$$unformatted" >&2; exit 1; fi
	$(GO) vet $(PKGS)
	$(GO) tool staticcheck $(PKGS)
	$(GO) tool templ fmt -fail .
	$(GO) tool templ generate -check
	$(GO) test -count=1 ./internal/arch

.PHONY: typecheck
typecheck: ## type check of the page script
	@scripts/bundle.sh packages
	npm --prefix web/assets run --silent check

.PHONY: test-script
test-script: ## unit tests of the page script
	@scripts/bundle.sh packages
	npm --prefix web/assets run --silent test

.PHONY: test-deps
test-deps: ## install the programs that tests use, where that is possible
	@scripts/test-deps.sh || [ -z "$${CI:-}" ]

.PHONY: clean
clean: ## remove what was built; databases and installed packages stay
	rm -rf relqps bin screenshots .cache/*.sha256 web/assets/node_modules
	find web/static/dist -mindepth 1 ! -name .gitkeep -delete
