# Every target first makes .venv, with all that the project's own pyproject.toml asks for.
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin
READY := $(VENV)/.ready
PAGES := tests/docs tests/test_readme.py

.PHONY: demo test slow check lint types docs examples bench format clean

demo: $(READY)  ## the sensitivity job on real input, then one rule read in both directions
	$(RUN)/dualad sens examples/robertson.py
	$(RUN)/python examples/custom_rule.py

test: $(READY)  ## all tests but the slow ones
	$(RUN)/python -m pytest -q -n auto

slow: $(READY)  ## the slow tests alone
	$(RUN)/python -m pytest -q -m slow -n auto

check: lint types docs examples  ## all that is no unit test

lint: $(READY)
	$(RUN)/ruff check
	$(RUN)/ruff format --check

types: $(READY)
	$(RUN)/mypy

docs: $(READY)  ## run every code block of the documentation, follow every link
	$(RUN)/python -m pytest -q $(PAGES)

examples: $(READY)
	$(RUN)/python -m pytest -q tests/test_examples.py

bench: $(READY)  ## what derivatives cost, beside the peers that are installed and the stored run
	$(RUN)/python -m benchmarks --compare

format: $(READY)
	$(RUN)/ruff check --fix
	$(RUN)/ruff format

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis

# The stamp is newer than pyproject.toml exactly when the environment is what that file asks for.
$(READY): pyproject.toml dualad/version.py
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'dualad needs Python 3.11 or newer: make PYTHON=...')"
	test -x $(RUN)/python || $(PYTHON) -m venv $(VENV)
	$(RUN)/python -m pip install --quiet --editable '.[dev]'
	touch $(READY)
