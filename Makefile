# `make check` is all that CI does. VENV and PYTHON may be set: make check VENV=/elsewhere PYTHON=python3.13

VENV ?= .venv
PYTHON ?= python3
BIN := $(VENV)/bin
READY := $(VENV)/.dsh-lake-ready

.DEFAULT_GOAL := help
.PHONY: help check test bench clean

help: ## say what there is
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-6s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

check: $(READY) ## lint, types, layers and tests, in a virtual environment made here if there is none
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m pytest -n auto --dist worksteal

test: $(READY) ## the tests alone; T="tests/frames -k torn" to choose
	$(BIN)/python -m pytest $(T)

bench: $(READY) ## the speed table of the README, measured here
	$(BIN)/python tests/bench/scan.py

clean: ## remove what the recipes made
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +

$(READY): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@
