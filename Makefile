# `make check` is all that CI does. VENV and PYTHON may be set: make check VENV=/elsewhere PYTHON=python3.13

VENV ?= .venv
PYTHON ?= python3
BIN := $(VENV)/bin
OLDEST := .venv-oldest
# Every library at its work, without what only tries more of the same.
OLDEST_TESTS := $(addprefix tests/,architecture baseline canonical export frames prices query records reports scan sources)
READY := $(VENV)/.dsh-lake-ready

.DEFAULT_GOAL := help
.PHONY: help check test oldest bench clean

help: ## say what there is
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-7s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

check: $(READY) ## lint, types, layers and tests, in a virtual environment made here if there is none
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m pytest -n auto --dist worksteal

test: $(READY) ## the tests alone; T="tests/frames -k torn" to choose
	$(BIN)/python -m pytest $(T)

oldest: ## tests with the lower bounds of pyproject.toml, in .venv-oldest; T chooses, as for test
	test -x $(OLDEST)/bin/python || $(PYTHON) -m venv $(OLDEST)
	$(PYTHON) tests/oldest.py > $(OLDEST)/constraints.txt
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check -c $(OLDEST)/constraints.txt -e '.[dev]'
	$(OLDEST)/bin/python -m pytest -n auto --dist worksteal $(or $(T),$(OLDEST_TESTS))

bench: $(READY) ## the speed table of the README, measured here
	$(BIN)/python tests/bench/scan.py

clean: ## remove what the recipes made
	rm -rf .venv $(OLDEST) build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +

$(READY): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@
