# Everything runs in .venv; nothing is installed by hand. `make help` lists the targets.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.DEFAULT_GOAL := help
.PHONY: help demo test test-portable cover quick fuzz lint bench calibrate docs clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 15

$(VENV)/ok: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("assay needs Python 3.11 or newer, found %d.%d; set PYTHON=python3.11" % sys.version_info[:2] if sys.version_info < (3, 11) else 0)'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing assay into $(VENV) (first time only) ..."
	@$(PIP) -e .
	@touch $@

$(VENV)/dev: $(VENV)/ok
	@echo "Installing the development tools ..."
	@$(PIP) -e '.[dev]'
	@touch $@

demo: $(VENV)/ok ## report on the bundled wholesale customers table
	@$(BIN)/assay report examples/data/wholesale_customers.csv -o report.html

# two workers on two cores: BLAS threads of their own would only get in each other's way
test cover quick: export OPENBLAS_NUM_THREADS = 1

test: lint ## lint, types, import contracts, tests and doctests
	@$(BIN)/python -m pytest -q -n 2 --dist loadgroup -m 'not calibrate'

test-portable: $(VENV)/dev ## the tests of numbers on the code paths of other processors (an hour; see tests/portable.py)
	@$(BIN)/python tests/portable.py

cover: $(VENV)/dev ## the tests again, a third slower, with the lines they do not reach
	@$(BIN)/python -m pytest -q -n 2 --dist loadgroup --cov --cov-report=term -m 'not calibrate'

quick: $(VENV)/dev ## the tests without the slow simulations
	@$(BIN)/python -m pytest -q -n 2 --dist loadgroup -m 'not slow and not calibrate'

fuzz: $(VENV)/dev ## damaged files of every format for ten minutes (python -m tests.fuzz --help)
	@OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.fuzz --minutes 10

lint: $(VENV)/dev ## ruff, mypy and the import contracts
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

bench: $(VENV)/dev ## the benchmarks, beside their peers (half an hour; python -m benchmarks NAME runs one)
	@$(PIP) -e '.[bench]'
	@$(BIN)/python -m benchmarks

calibrate: $(VENV)/dev ## how often verdicts are wrong: docs/theory/calibration.md (an hour; can be stopped and resumed)
	@$(BIN)/python -m calibrate
	@$(BIN)/python -m pytest -q -n 2 --dist loadgroup -m calibrate

docs: $(VENV)/dev ## build docs/_build/index.html
	@$(PIP) -e '.[docs]'
	@$(BIN)/sphinx-build -W -q -b html docs docs/_build
	@echo "docs/_build/index.html"

clean: ## remove what the other targets made
	@rm -rf $(VENV) docs/_build .mypy_cache .ruff_cache .hypothesis .coverage report.html
