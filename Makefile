# Every target sets up .venv by itself when needed, so any of them may be the first command of a fresh clone.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
EXAMPLE := data/samples/fallen-gpu

# What the user may say on the command line reaches recipes through the environment: paths may hold spaces.
export LOGS OUT STORE Q ARGS

.PHONY: help setup report sql reviews samples example test lint format golden docs bench clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY) ## Install the pinned packages into .venv

report: $(READY) ## Write the review: make report LOGS=folder [OUT=reports/<name of LOGS>] [ARGS="--week 2026-W41"]
	@test -n "$$LOGS" || { echo 'error: no logs were given'; echo '  now: write for example make report LOGS=$(EXAMPLE)'; exit 2; } >&2
	@if test -e "$$LOGS"; then set -- "$$LOGS"; else set -- $$LOGS; fi; \
	out="$${OUT:-reports/$$(basename "$$(realpath -m -- "$$1")")}"; \
	$(BIN)/goodput report "$$@" --out "$$out" $$ARGS

sql: $(READY) ## Ask a ledger: make sql STORE=reports/fallen-gpu Q="from marts.period"
	@$(BIN)/goodput sql --store "$$STORE" "$$Q" $$ARGS

reviews: $(READY) ## Write the review of every story in data/samples
	@for story in data/samples/*/; do $(BIN)/goodput report "$$story" --out "reports/$$(basename "$$story")"; echo; done

samples: $(READY) ## Simulate the stories of data/samples that are simulated
	@$(BIN)/python docs/samples.py

example: $(READY) ## Draw the review that the README shows
	@$(BIN)/python docs/example.py $(EXAMPLE) reports/example

test: $(READY) lint ## Check layout and types, and run the tests
	@$(BIN)/python -m pytest -q -n auto --dist loadscope --no-loadscope-reorder

lint: $(READY) ## Check layout and types only
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy

format: $(READY) ## Lay out the code as `make lint` wants it
	@$(BIN)/ruff check --fix --quiet . || true
	@$(BIN)/ruff format --quiet .

golden: $(READY) ## Rewrite the expectations of the tests; read `git diff` afterwards
	@$(BIN)/python -m tests.golden

docs: $(READY) ## Rewrite the generated pages of docs/, and the tables and transcripts of the README
	@$(BIN)/python docs/generate.py
	@$(BIN)/python docs/transcript.py

bench: $(READY) ## Measure reading and classification
	@for bench in bench/*.py; do $(BIN)/python "$$bench"; done

clean: ## Remove what can be made again, reports included (the example stays)
	@rm -rf .venv build dist ./*.egg-info .pytest_cache .mypy_cache .ruff_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
	@find reports -mindepth 1 -maxdepth 1 ! -name example ! -name README.md -exec rm -rf {} +

$(READY): pyproject.toml requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "error: Python 3.11 or later is needed\n  now: make PYTHON=python3.12 …")'
	@test -x $(BIN)/python || { echo 'setting up .venv (once)'; $(PYTHON) -m venv .venv; }
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -r requirements.lock
	@# Without build isolation: the pinned setuptools is there, and nothing else is fetched.
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@
