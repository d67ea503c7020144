# Plimsoll: the targets a person and CI run. `make help` lists them.
SHELL := bash
.DEFAULT_GOAL := help

# ENGINE=built builds PostgreSQL 18 with our patches (and stock beside it);
# ENGINE=system uses an installed PostgreSQL 15-18 and says what is lost.
ENGINE ?= built
ifeq ($(ENGINE),system)
export PLIMSOLL_ENGINE ?= system
endif

# A Go between 1.21 and ours fetches the toolchain that go.mod asks for.
export GOTOOLCHAIN ?= auto

# The report's users at the report's pace: an operation each in 20 minutes.
DEMO_USERS    ?= 30000
DEMO_THINK    ?= 20m
DEMO_RAMP     ?= 30s
DEMO_DURATION ?= 2m
DEMO_FLAGS    ?=

# What `plimsoll version` and every result say about the program.
CLI    = plimsoll/cmd/plimsoll/cli
STAMP  = -X $(CLI).commit=$(shell git rev-parse HEAD 2>/dev/null) -X $(CLI).modified=$(shell git diff --quiet HEAD 2>/dev/null || echo true)

include engine/engine.mk

.PHONY: help setup build demo demo-run test test-full lint format clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## install what is missing on this machine (says what and why)
	@setup/install $(if $(filter system,$(ENGINE)),server,engine) go

build: setup engine ## the engine and the binary bin/plimsoll
	@$(MAKE) --no-print-directory bin/plimsoll

.PHONY: bin/plimsoll
bin/plimsoll:
	@go build -trimpath -ldflags '$(STAMP)' -o $@ ./cmd/plimsoll

demo: build ## from nothing to 30,000 users: cluster, ERP base, live dashboard, Apdex, audit, HTML report
	@$(MAKE) --no-print-directory demo-run

demo-run: bin/plimsoll
	bin/plimsoll up
	bin/plimsoll fill --if-empty
	bin/plimsoll run --ui --users $(DEMO_USERS) --think $(DEMO_THINK) --ramp $(DEMO_RAMP) --duration $(DEMO_DURATION) $(DEMO_FLAGS)

test: ## set everything up and pass the tests (what CI runs)
	@setup/install $(if $(filter system,$(ENGINE)),server,engine) go test
	@$(MAKE) --no-print-directory engine bin/plimsoll
	@test/run

test-full: ## make test, then the slow suites: PostgreSQL's own, long fuzz, soak
	@$(MAKE) --no-print-directory test
	@test/fuzz
	@test/schemathesis
	@$(MAKE) --no-print-directory engine-test-full

lint: ## format check, go vet, staticcheck
	@test/lint

format: ## gofmt all Go files
	gofmt -w $$(git ls-files '*.go')

clean: ## remove what was built in this folder (the engine's cache stays: engine/build clean)
	rm -rf bin build
