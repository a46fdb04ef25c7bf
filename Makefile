# The only place for commands. `make` alone lists them.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# A Python path of the user's other projects must not reach into ours.
unexport PYTHONHOME PYTHONPATH

# Where Python may not keep what it has compiled, each of the thousands of processes that tests start compiles all anew.
unexport PYTHONDONTWRITEBYTECODE

BIN := .venv/bin
PYTEST = $(BIN)/python -m pytest $(ARGS)
UV := uv==0.13.8

# An empty tier is no failure (pytest's exit code 5), but it is no success to be silent about.
or_empty = || { code=$$?; [ $$code = 5 ] && echo "make $@: there are no such tests yet"; }

.PHONY: help
help: ## list the commands
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile
	@echo 'ARGS="…" goes to nemutator (run) or to pytest (test, e2e, drill).'

.PHONY: run
# Whoever tries it has minutes: a day takes two of them, so that seasons come and go, and a leak is told of after a minute
# and a half of readings, which come early and often.
run: venv-run ## start everything on this machine; ARGS="--data-dir …"
	@export NEMUTATOR_BRAIN_SEASON_DAY_S=$${NEMUTATOR_BRAIN_SEASON_DAY_S:-120} \
		NEMUTATOR_BRAIN_AGEING_AFTER_S=$${NEMUTATOR_BRAIN_AGEING_AFTER_S:-90} \
		NEMUTATOR_OBSERVE_WINDOW_AGE_S=$${NEMUTATOR_OBSERVE_WINDOW_AGE_S:-10} \
		NEMUTATOR_OBSERVE_WINDOW_EVERY_S=$${NEMUTATOR_OBSERVE_WINDOW_EVERY_S:-20}; \
	exec $(BIN)/nemutator up --sample scripts/sample $(ARGS)

# The whole suite on two CPUs or more; what ARGS picks out is faster without workers. The rules of the
# house are left to `make check`: each worker would parse the whole tree once more. Tests of the other
# tiers would be left out as well, but each worker would import them first. One worker more than there are
# CPUs: with two on two CPUs their load was 1.3, and the suite took 264 s; with three 236 s, on slower ones.
WORKERS = $$(n=$$(($$(nproc) + 1)); echo $$((n < 4 ? n : 4)))
OTHER_TIERS := --ignore=tests/house --ignore=tests/e2e --ignore=tests/drill
.PHONY: test
test: venv-dev ## fast tests: no root, no network; 4 minutes
	@scripts/tested test $(PYTEST) $(if $(ARGS),,$(OTHER_TIERS) --numprocesses=$(WORKERS))

CHECKS := check-style check-types check-imports check-c check-house

# Side by side, and all of them: who broke two things reads of both.
.PHONY: check
check: venv-dev ## formatting, types, directions of imports, house rules
	@$(MAKE) --no-print-directory --jobs --output-sync --keep-going $(CHECKS)

.PHONY: $(CHECKS)
check-style:
	@echo '— ruff';          $(BIN)/ruff check --quiet
	@echo '— ruff format';   $(BIN)/ruff format --check --quiet || \
	    { echo 'make fmt mends these:'; $(BIN)/ruff format --check; }
check-types:
	@echo '— mypy';          $(BIN)/mypy --no-error-summary
check-imports:
	@echo '— import-linter'; $(BIN)/lint-imports --no-logo
check-c:
	@echo '— C format';      scripts/c-format
check-house:
	@echo '— house rules';   $(BIN)/python -m pytest -q tests/house

# Six groups that take nothing of each other, and of whose time much is spent waiting: the whole
# installation on a cluster; single parts on another one; what happens by the clock, such as seasons, on a third
# one; those with a browser; those with a machine of their own; and the programs of this machine.
WHOLE := tests/e2e/first_light
CLOCKS := $(addprefix tests/e2e/,test_up_seasons.py test_up_deaths.py test_windows.py \
    $(patsubst %,testbed/test_%.py,forecast_scalers neighbour_labels node_marks oversell packing seasons))
PARTS := tests/e2e/testbed tests/contract/credentials tests/contract/kube
PAGE := $(sort $(wildcard tests/e2e/test_page*.py)) tests/e2e/test_flamegraph.py
MACHINE := tests/e2e/machine
E2E := e2e-whole e2e-parts e2e-clocks e2e-page e2e-machine e2e-programs

.PHONY: e2e
e2e: venv-dev ## tests on real parts: Kubernetes, Vault, Chromium, the kernel; builds the testbed first
	@$(BIN)/python -m tests.testbed build || \
	    echo 'make e2e: goes on; tests that need what is missing are skipped' >&2
	@$(if $(ARGS),$(PYTEST) -m e2e $(or_empty),\
	    $(MAKE) --no-print-directory --jobs --output-sync --keep-going $(E2E))

# Tests run make, too, whose output nothing may hold back.
LONGEST := --durations=15 --durations-min=5
.PHONY: $(E2E)
e2e-whole:
	@echo '— nemutator in a cluster'; env -u MAKEFLAGS scripts/tested $@ $(PYTEST) -m e2e $(LONGEST) $(WHOLE)
e2e-parts:
	@echo '— Kubernetes and Vault'; env -u MAKEFLAGS scripts/tested $@ $(PYTEST) -m e2e $(LONGEST) $(PARTS) $(addprefix --ignore=,$(CLOCKS))
e2e-clocks:
	@echo '— seasons, and what else takes its time'; env -u MAKEFLAGS scripts/tested $@ $(PYTEST) -m e2e $(LONGEST) $(CLOCKS)
e2e-page:
	@echo '— the page'; env -u MAKEFLAGS scripts/tested $@ $(PYTEST) -m e2e $(LONGEST) $(PAGE)
e2e-machine:
	@echo '— the other machine'; env -u MAKEFLAGS scripts/tested $@ $(PYTEST) -m e2e $(LONGEST) $(MACHINE)
e2e-programs:
	@echo '— programs and kernel of this machine'; \
	    env -u MAKEFLAGS scripts/tested $@ $(PYTEST) -m e2e $(LONGEST) $(addprefix --ignore=,$(WHOLE) $(PARTS) $(CLOCKS) $(PAGE) $(MACHINE))

PROPERTIES := hypothesis and not e2e and not drill

.PHONY: drill
drill: venv-dev ## fuzz, other Pythons, and faults (these alone: FAULTS="--seed 11"); never in CI
	@$(if $(FAULTS),,$(BIN)/python -m tests.testbed build --drills || \
	    echo 'make drill: goes on; drills that need what is missing are skipped' >&2)
	@$(if $(FAULTS),,$(PYTEST) -m drill $(or_empty))
	@$(if $(FAULTS)$(ARGS),,$(PYTEST) -m '$(PROPERTIES)' --hypothesis-profile=search --timeout=3600 --numprocesses=auto)
	@$(if $(ARGS),,$(BIN)/python -m tests.drill $(FAULTS))

.PHONY: bench
bench: venv-dev ## compare with a real peer: NAME=…; ends with one line of JSON
	@$(BIN)/python -m tests.bench.frame $(NAME)

.PHONY: testbed
testbed: venv-dev ## build the real parts once, into ~/.cache/nemutator: 20 minutes, 15 GB free
	@$(BIN)/python -m tests.testbed build $(ARGS)

.PHONY: testbed-shell
testbed-shell: venv-dev ## a shell beside a real control plane, node and Vault
	@exec $(BIN)/python -m tests.testbed shell $(ARGS)

.PHONY: testbed-down
testbed-down: venv-dev ## end every testbed of yours, and clean what killed ones have left
	@$(BIN)/python -m tests.testbed down

.PHONY: fmt
fmt: venv-dev ## format the sources and write the generated tables
	@$(BIN)/ruff check --fix-only --quiet && $(BIN)/ruff format --quiet
	@scripts/c-format --fix
	@$(BIN)/python -m scripts.reference
	@$(BIN)/python -m scripts.open_api
	@$(BIN)/python -m scripts.crds
	@$(BIN)/python -m scripts.dashboards
	@$(BIN)/python -m scripts.chart
	@$(BIN)/python -m scripts.installed

.PHONY: docs
docs: ## build the site of docs/ into .build/site; a link that leads nowhere is a failure
	@scripts/site

.PHONY: images
images: ## build both images by docker, podman or buildah; REGISTRY=… ENGINE=… PUSH=yes TRACES=yes
	@ENGINE="$(ENGINE)" PUSH="$(PUSH)" TRACES="$(TRACES)" scripts/images "$(REGISTRY)"

.PHONY: sbom
sbom: venv-dev ## write what the images are made of into .build/sbom, as CycloneDX
	@$(BIN)/python -m scripts.sbom

.PHONY: lock
lock: ## maintainers: resolve requirements/*.txt anew
	@scripts/lock $(UV)

.PHONY: clean
clean: ## remove what is built: .venv, caches; never data
	@rm -rf .venv .build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis dist
	@find agent common controller scripts tests -name __pycache__ -prune -exec rm -rf {} +

.PHONY: venv-run venv-dev
venv-run venv-dev: venv-%:
	@scripts/venv $*
