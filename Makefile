# Needs Python 3.11 or newer and make; everything else goes into .venv.
PYTHON ?= python3
VENV := .venv
ifeq ($(OS),Windows_NT)
BIN := $(VENV)/Scripts
else
BIN := $(VENV)/bin
endif
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help venv demo pictures docs test lint check bench lock clean

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1	\2/p' $(MAKEFILE_LIST)

venv: $(VENV)/dev ## the environment for work on Agent Gate itself

demo: $(VENV)/package ## the whole gate once, against the bundled sample agent (about a minute)
	$(BIN)/python -m gate demo

pictures: $(VENV)/dev ## the pictures of the README and docs/, from the demo's agent; needs Chromium
	$(BIN)/python docs/images/make.py

docs: $(VENV)/docs ## the documentation as a site, in build/site; ends at a link that leads nowhere
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

test: $(VENV)/dev ## the tests, on all cores; GATE_TESTS=all: those too that need more than Python
	$(BIN)/python -m pytest -n auto -rs

lint: $(VENV)/lint ## style, types, action, workflows, Dockerfile
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-actions action.yml native/action.yml
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml examples/*.yml
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.gitlab-ci examples/elsewhere/gitlab-ci.yml
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.dependabot .github/dependabot.yml
	$(BIN)/zizmor --offline --no-progress --quiet . examples/*.yml
	$(BIN)/hadolint Dockerfile

check: lint test ## what CI runs

bench: $(VENV)/dev ## speed, side by side with other tools (benchmarks/README.md)
	$(BIN)/python benchmarks/run.py

lock: $(VENV)/created ## requirements.lock anew; needs python3.13, the image's Python
	python3.13 -m venv $(VENV)/lock
	$(VENV)/lock/bin/python -m pip install --quiet --disable-pip-version-check pip-tools
	sed -n '/^# /p' requirements.lock > $(VENV)/requirements.lock
	$(VENV)/lock/bin/pip-compile --quiet --upgrade --strip-extras --generate-hashes --no-header \
		--extra inspect --no-annotate --no-emit-index-url --no-emit-find-links --no-emit-trusted-host \
		--output-file $(VENV)/lock/requirements.txt pyproject.toml
	cat $(VENV)/lock/requirements.txt >> $(VENV)/requirements.lock
	mv $(VENV)/requirements.lock requirements.lock

clean: ## removes the environment and the caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist

# The file that a rule makes is its time stamp: pip runs again when the dependencies change.
# --no-compile: Python compiles what is used, which is a small part of what the tests install.
$(VENV)/created:
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'Agent Gate needs Python 3.11 or newer: make PYTHON=python3.13')"
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/package: pyproject.toml $(VENV)/created
	$(PIP) -e .
	touch $@

$(VENV)/dev: pyproject.toml $(VENV)/created
	$(PIP) --no-compile -e ".[dev]"
	touch $@ $(VENV)/package

$(VENV)/docs: pyproject.toml $(VENV)/created
	$(PIP) --no-compile -e ".[docs]"
	touch $@ $(VENV)/package

$(VENV)/lint: $(VENV)/dev
	$(PIP) --no-compile -e ".[dev,lint]"
	touch $@
