# Plimsoll: the targets a person and CI run. `make help` lists them.
SHELL := bash
.DEFAULT_GOAL := help

# ENGINE=built builds PostgreSQL 18 with our patches; ENGINE=stock fetches it unpatched and compiled, and
# ENGINE=system uses an installed PostgreSQL 15-18: both say what is lost.
ENGINE ?= built
ifneq ($(ENGINE),built)
export PLIMSOLL_ENGINE ?= $(ENGINE)
export PLIMSOLL_TEST_ENGINE ?= $(ENGINE)
endif
ENGINE_NEEDS = $(or $(filter stock,$(ENGINE)),$(if $(filter system,$(ENGINE)),server,engine))

# A Go between 1.21 and ours fetches the toolchain that go.mod asks for.
export GOTOOLCHAIN ?= auto

# The report's users at the report's pace: an operation each in 20 minutes. Without a build the demo is short, too.
DEMO_USERS    ?= 30000
DEMO_THINK    ?= 20m
DEMO_RAMP     ?= $(if $(filter built,$(ENGINE)),20s,10s)
DEMO_DURATION ?= $(if $(filter built,$(ENGINE)),1m,20s)
DEMO_FLAGS    ?=

# What `plimsoll version` and every result say about the program.
CLI    = plimsoll/cmd/plimsoll/cli
STAMP  = -X $(CLI).commit=$(shell git rev-parse HEAD 2>/dev/null) \
	-X $(CLI).modified=$(shell git diff --quiet HEAD 2>/dev/null || echo true)

include engine/engine.mk

.PHONY: help setup build demo demo-run test test-full confusion lint arrows pictures format clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## install what is missing on this machine (says what and why)
	@setup/install $(ENGINE_NEEDS) go

# What is asked for by name runs on ours alone: stock PostgreSQL is built when `make engine` or `make test` needs it.
build: FLAVOUR = plimsoll

build: setup ## the engine and the binary bin/plimsoll
	@$(MAKE) --no-print-directory -j2 engine bin/plimsoll FLAVOUR=$(FLAVOUR)

.PHONY: bin/plimsoll
bin/plimsoll:
	@go build -trimpath -ldflags '$(STAMP)' -o $@ ./cmd/plimsoll

TIMES = build/demo.times
TIMED = setup/timed $(TIMES)

demo: ## from nothing to 30,000 users: cluster, ERP base, live dashboard, Apdex, audit, HTML report
	@rm -f $(TIMES)
	@$(TIMED) "what the machine lacked" $(MAKE) --no-print-directory setup
	@$(TIMED) "PostgreSQL and the program" $(MAKE) --no-print-directory build
	@$(MAKE) --no-print-directory demo-run
	@$(TIMED)

demo-run: bin/plimsoll
	@$(TIMED) "start a cluster" bin/plimsoll up
	@$(TIMED) "fill the base" bin/plimsoll fill --if-empty
	@$(TIMED) "load, audit, report" bin/plimsoll run --ui --users $(DEMO_USERS) --think $(DEMO_THINK) \
		--ramp $(DEMO_RAMP) --duration $(DEMO_DURATION) $(DEMO_FLAGS)

test: ## set everything up and pass the tests (what CI runs)
	@setup/install $(ENGINE_NEEDS) go test
	@$(MAKE) --no-print-directory engine bin/plimsoll
	@test/run

# RESUME=yes leaves out what has passed at this commit; SUITES="fuzz matrix" runs some.
test-full: ## make test, then the slow suites: PostgreSQL's own, long fuzz, soak
	@test/full $(if $(RESUME),--resume) $(SUITES)

# REPEAT=5 is what the figures in docs/bench rest on; ONLY=healthy,hot-row plants some; CONFUSION_FLAGS="--set new".
confusion: bin/plimsoll ## plant faults in a server under load, and count which of them `plimsoll diagnose` names
	@bin/plimsoll prove --confusion --repeat $(or $(REPEAT),1) $(if $(ONLY),--only $(ONLY)) $(CONFUSION_FLAGS)

lint: ## golangci-lint (.golangci.yml), who may import whom (test/arrows/rules.txt), documents
	@test/lint

# AT=COMMIT draws an older commit; FORMAT is text, mermaid or dot.
arrows: ## draw the import graph of lab and erp, with counts of rooms, arrows and climbing arrows
	@go run ./test/arrows draw $(if $(AT),--at $(AT)) $(if $(FORMAT),--format $(FORMAT)) lab erp

pictures: bin/plimsoll ## take the screenshots in docs/images again, from a real run in Chromium; two minutes
	@go run ./test/pictures bin/plimsoll docs/images

format: ## gofmt all Go files
	gofmt -w $$(git ls-files '*.go')

clean: ## remove what was built in this folder (the engine's cache stays: engine/build clean)
	rm -rf bin build
