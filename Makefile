# Everything runs in .venv; nothing is installed by hand. `make help` lists the targets.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation
# requirements/ has every package that is fetched, with the hashes of its files; dev, docs and bench add to core
FETCH := $(PIP) --require-hashes -r requirements

.DEFAULT_GOAL := help
.PHONY: help demo test test-portable test-peers test-lowest cover quick fuzz lint stub lock bench calibrate docs clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 15

$(VENV)/ok: pyproject.toml requirements/build.txt requirements/core.txt
	@$(PYTHON) -c 'import sys; sys.exit("assay needs Python 3.11 or newer, found %d.%d; set PYTHON=python3.11" % sys.version_info[:2] if sys.version_info < (3, 11) else 0)'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing assay into $(VENV) (first time only) ..."
	@$(FETCH)/build.txt -r requirements/core.txt
	@$(PIP) -e .
	@touch $@

$(VENV)/dev: $(VENV)/ok requirements/dev.txt
	@echo "Installing the development tools ..."
	@$(FETCH)/dev.txt
	@touch $@

demo: $(VENV)/ok ## report on the bundled wholesale customers table
	@$(BIN)/assay demo -o report.html

# two workers on two cores: threads of their own, of BLAS or of scikit-learn's trees, would only wait for each other
test cover quick test-lowest: export OPENBLAS_NUM_THREADS = 1
test cover quick test-lowest: export OMP_NUM_THREADS = 1

# tests start commands by the hundred: what was compiled of the sources is kept, whatever the environment says
unexport PYTHONDONTWRITEBYTECODE

test: lint ## lint, types, import contracts, tests and doctests
	@$(BIN)/python -m pytest -q -n 2 -m 'not calibrate'

test-portable: $(VENV)/dev ## the tests of numbers on the code paths of other processors (an hour; see tests/portable.py)
	@$(BIN)/python tests/portable.py

test-peers: $(VENV)/dev ## scikit-learn's own tests against assay's models, a table at the end (see tests/peers)
	@OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.peers

# the oldest versions pyproject.toml allows, among packages of the time when the newest of them came out
$(VENV)-lowest/ok: pyproject.toml $(VENV)/dev
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(VENV)-lowest
	@$(BIN)/uv pip install --quiet --python $(VENV)-lowest --resolution lowest-direct --exclude-newer 2025-12-01 -r pyproject.toml --extra test
	@$(BIN)/uv pip install --quiet --python $(VENV)-lowest --no-deps -e .
	@touch $@

# PySpark 4.0 leaves sockets open
test-lowest: $(VENV)-lowest/ok ## the quick tests with the oldest version of every dependency that pyproject.toml allows
	@$(VENV)-lowest/bin/assay --help > /dev/null
	@$(VENV)-lowest/bin/python -m pytest -q -n 2 -m 'not slow and not calibrate' -W ignore::ResourceWarning

cover: $(VENV)/dev ## the tests again, a third slower, with the lines they do not reach
	@$(BIN)/python -m pytest -q -n 2 --cov --cov-report=term -m 'not calibrate'

quick: $(VENV)/dev ## the tests without the slow simulations
	@$(BIN)/python -m pytest -q -n 2 -m 'not slow and not calibrate'

fuzz: $(VENV)/dev ## damaged files of every format for ten minutes (python -m tests.fuzz --help)
	@OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.fuzz --minutes 10

lint: $(VENV)/dev ## ruff, mypy, the import contracts and the rule of place
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python -m tools.place

stub: $(VENV)/dev ## the public names for type checkers, from src/assay/public.py
	@$(BIN)/python -m tools.public

# one answer for all of it, on every system and Python from 3.11; then the lists, each without what those before it have
COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --fork-strategy fewest --no-header --no-annotate
HASHED := $(COMPILE) --generate-hashes -c $(VENV)/pins.txt
without = $$(sed -n 's/^\([a-z0-9-]*\)==.*/--no-emit-package \1/p' $(patsubst %,requirements/%.txt,$(1)))

lock: $(VENV)/dev ## pin what pyproject.toml asks for, with hashes (UPGRADE=--upgrade takes the newest versions)
	@cat requirements/*.txt > $(VENV)/pins.txt
	@$(COMPILE) $(UPGRADE) pyproject.toml --all-extras --group build -o $(VENV)/pins.txt
	@$(HASHED) --group build -o requirements/build.txt
	@$(HASHED) $(call without,build) pyproject.toml -o requirements/core.txt
	@$(HASHED) $(call without,build core) pyproject.toml --extra dev -o requirements/dev.txt
	@$(HASHED) $(call without,build core dev) pyproject.toml --extra docs -o requirements/docs.txt
	@$(HASHED) $(call without,build core dev) pyproject.toml --extra bench -o requirements/bench.txt

bench: $(VENV)/dev ## the benchmarks, beside their peers (half an hour; python -m benchmarks NAME runs one)
	@$(FETCH)/bench.txt
	@$(BIN)/python -m benchmarks

calibrate: $(VENV)/dev ## how often verdicts are wrong: docs/theory/calibration.md (an hour; can be stopped and resumed)
	@$(BIN)/python -m calibrate
	@$(BIN)/python -m pytest -q -n 2 -m calibrate

docs: $(VENV)/dev ## build docs/_build/index.html
	@$(FETCH)/docs.txt
	@$(BIN)/sphinx-build -W -q -b html docs docs/_build
	@echo "docs/_build/index.html"

clean: ## remove what the other targets made
	@rm -rf $(VENV) $(VENV)-lowest docs/_build .mypy_cache .ruff_cache .hypothesis .coverage report.html
