# Two commands to begin with: `make demo` and `make test`. They need Python 3.11 and make, nothing else.
PORT ?= 8000
SANDBOX_PORT ?= 8100
TENANTS ?= 3
MEMBERS ?= 200
SEED ?= 1
RESET ?=
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
STAMP := .venv/.installed
STACK := $(BIN)/python -m stack

.PHONY: demo manage test journeys promises durations contract soak contrary mutants check fix docs bench sandbox shell messages assets lock clean
.DEFAULT_GOAL := demo

# The recipes run one program each, which make starts without a shell between: it notices when make ends.
demo: $(STAMP)
	@$(BIN)/python -m demo run --port $(PORT) --sandbox-port $(SANDBOX_PORT) --reset=$(RESET)

# The site's commands on the database of the demo that runs: make manage ARGS="add_staff kato@example.com --role guard ..."
manage: $(STAMP)
	@$(BIN)/python -m demo manage -- $(ARGS)

test: $(STAMP)
	@$(STACK) test --kind test -- $(ARGS)

# The site as real processes and in a browser, the launcher, and the connection with the service.
journeys: $(STAMP)
	@$(STACK) test --kind journeys -- $(ARGS)

# The attacks that kill and stop real processes, on two sets of them, and the walks over all pages and addresses.
promises: $(STAMP)
	@$(STACK) test --kind promises -- $(ARGS)

# How long each file of tests takes, for the order in which they begin.
durations: $(STAMP)
	@$(STACK) test --kind test -- --keep-durations
	@$(STACK) test --kind journeys -- --keep-durations
	@$(STACK) test --kind promises -- --keep-durations

# Does a service keep to the specification? make contract BASE_URL=... CREDENTIALS=file.toml [OPERATIONS=file.toml]
contract: $(STAMP)
	@$(BIN)/python -m tests.contract --base-url "$(BASE_URL)" --credentials "$(CREDENTIALS)" --operations "$(OPERATIONS)" $(ARGS)

soak: export SOAK = 1
soak: $(STAMP)
	@$(STACK) test -- -m soak -s $(ARGS)
	$(if $(ARGS),,@$(MAKE) contrary mutants SOAK=)

# Every area of work once against the service that decides the other way wherever it may: journeys, attacks on real
# processes, pages. tests/guards/test_contrary.py holds that no area is forgotten.
CONTRARY := tests/journey \
	$(addprefix tests/promises/test_,alerts.py boards.py bulk_loses_and_doubles_nothing.py call_budget.py guest_codes.py \
		held_doors.py lockdown.py media.py unlock_at_most_once.py unlock_never_late.py webhooks.py) \
	$(addprefix tests/guard/test_,a_wrong_key.py alerts.py alerts_in_a_browser.py board.py holds.py intercom.py keys.py \
		overview.py pages_follow.py what_is_known_of_doors.py) \
	$(addprefix tests/manager/test_,area_access.py areas.py cameras.py cameras_in_a_browser.py changes.py \
		changes_browser.py clips.py devices.py evacuation.py evidence.py evidence_exports.py explain.py explain_past.py \
		faces.py floor_plans.py groups.py home.py imports.py lockdown.py lockdown_ends.py lockdown_on_record.py log.py \
		log_days.py log_record.py member_browser.py member_credentials.py members.py reports.py reviews.py rights.py \
		temporary_use.py viewing.py) \
	$(addprefix tests/receptionist/test_,building.py codes.py expected.py issuing.py roll_call.py today_in_a_browser.py \
		who_is_in.py) \
	tests/webhooks tests/imports/test_running.py tests/history/test_exports.py tests/sandbox/test_webhooks.py
contrary: export SERVICE = contrary
contrary: $(STAMP)
	@$(STACK) test -- -m "not soak" $(CONTRARY)

# Single changes that break a promise, each of which some quick test must notice. make mutants ARGS="--only nonce"
mutants: $(STAMP)
	@$(STACK) services --for-tests -- $(BIN)/python -m tests.mutants $(ARGS)

check: $(STAMP)
	@$(STACK) check

fix: $(STAMP)
	@$(STACK) fix

# What the site needs besides Python comes first, where a recipe does not make it: the browser's files, the translations.
bench: $(STAMP) assets
	@$(STACK) services -- $(BIN)/python -m bench $(ARGS)

# The service's development environment alone.
sandbox: $(STAMP)
	@$(STACK) sandbox --port $(SANDBOX_PORT) --tenants $(TENANTS) --members $(MEMBERS) --seed $(SEED)

# A Python shell of the site on a fresh database; anything else: .venv/bin/python -m stack services -- COMMAND
shell: $(STAMP) assets
	@$(STACK) services -- $(BIN)/python manage.py shell

# What is made from code, and the pictures of the guide and the README (some minutes): make docs PICTURES="add-member"
# With CONTACT also sheets of every page, for a person to look at: make docs PICTURES=none CONTACT="guard 390 dark ja", or
# CONTACT=all (half an hour).
docs: $(STAMP) assets
	@$(STACK) docs
	@$(BIN)/python docs/guide/take_pictures.py $(PICTURES)
	$(if $(CONTACT),@$(BIN)/python docs/guide/contact_sheet.py $(filter-out all,$(CONTACT)))

messages: $(STAMP)
	@$(STACK) messages

assets: $(STAMP)
	@$(STACK) assets

# The locks, from the .in files. They name no host.
LOCK := $(BIN)/uv pip compile -q --system-certs --generate-hashes --no-emit-index-url --no-emit-find-links \
	--no-header --no-annotate --python-version 3.11
lock: $(STAMP)
	@$(LOCK) requirements/base.in -o requirements/base.txt
	@$(LOCK) requirements/dev.in -c requirements/base.txt -o requirements/dev.txt
	@$(LOCK) requirements/installer.in -o requirements/installer.txt

# The virtual environment: by uv, which takes a tenth of pip's time. Where uv cannot (it does not read pip's settings,
# for instance those of a mirror), pip does the same from the same hashes.
$(STAMP): requirements/dev.txt requirements/installer.txt
	@echo "Installing into .venv (once)"
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info[:2] < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=...")'
	@test -x $(BIN)/python || "$(PYTHON)" -m venv .venv
	@command -v uv >/dev/null || $(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements/installer.txt
	@PATH="$$PATH:$(BIN)"; uv pip install -q --system-certs --python $(BIN)/python --require-hashes -r requirements/dev.txt 2>/dev/null || \
		$(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@touch $@

clean:
	@rm -rf .venv .run node_modules static/vendor staticfiles
