# Python packages are installed into .venv, which each target makes if it needs it, and cargo-deny into target/tools. Builds are in .venv, target,
# dist and bench/server/target. Only Chromium and Java, which some tests
# use, are packages of Debian: they are installed if make runs as root, and those tests are skipped otherwise.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMPS := $(VENV)/stamps
PIP    := -m pip install --quiet --disable-pip-version-check
# A new wheel has the same version as the one before, so pip must be forced.
REINSTALL := $(PIP) --force-reinstall --no-deps
# The files that the wheel is built from.
SOURCES := $(shell find src python -type f -not -name '*.pyc') .cargo/config.toml build.rs Cargo.toml Cargo.lock pyproject.toml README.md LICENSE

# The parts of `lint`: what takes no time first, then the longest.
LINTS := lint-ruff lint-rust lint-pyright lint-stubs lint-mypy lint-public lint-workflows

.PHONY: demo simulate mutants test test-core test-python test-suite test-oldest test-pythons test-wheel test-engines java browser docs \
	lint $(LINTS) format bench bench-store bench-instructions fuzz soak soak-cursor soak-once soak-fix audit pictures \
	wheel sdist release-check reproducible clean
.DELETE_ON_ERROR:

## demo: the main job, end to end, against the embedded stub server
demo: $(STAMPS)/installed
	@$(BIN)/python -m docplatform demo

## test: the lints, the docs, the core, and the suite on one Python
test: $(STAMPS)/installed $(STAMPS)/docs $(STAMPS)/oldest browser
	+@$(BESIDE) $(LINTS) docs test-oldest
	+@$(MAKE) --no-print-directory test-core test-suite

# These take one core each. Each prints its output in one piece, and the first failure ends the rest.
BESIDE := $(MAKE) --no-print-directory -j2 --output-sync=target beside=yes
# Elsewhere, one after the other: `pip` must not run twice in one environment, nor tests beside what compiles.
ifndef beside
.NOTPARALLEL:
endif

# The profile of the tests' wheel, because the dependencies are built already in it, with the checks of a debug build.
# Many wait for disks and other processes: three to a core.
CORE_TEST = $(addprefix CARGO_PROFILE_LIGHT_,DEBUG_ASSERTIONS=true OVERFLOW_CHECKS=true INCREMENTAL=true) \
	RUST_TEST_THREADS=$$((3 * $$(nproc))) cargo test --locked --no-default-features --profile light

## test-core: the Rust core, built without Python; CORE="--test core throttle" chooses some
test-core:
	$(CORE_TEST) --quiet $(CORE)

## test-python: a wheel that was built quickly; test-wheel takes the one that users have
test-python: test-oldest test-suite

SUITE := -m pytest -n 4 --dist worksteal
# So that pytest keeps the tests' modules as it has rewritten them.
test-suite test-wheel test-python-3.%: export PYTHONDONTWRITEBYTECODE :=

test-suite: $(STAMPS)/installed $(STAMPS)/docs browser
	$(BIN)/python $(SUITE) $(PYTEST)

test-oldest: $(STAMPS)/installed $(STAMPS)/dev $(STAMPS)/oldest
	PYTHONPATH=$(abspath $(VENV)/oldest) $(BIN)/python -m pytest -q -W ignore::DeprecationWarning tests/tables/test_pandas.py

# The minor versions of CPython 3 that the wheel is for.
MINORS := 11 12 13 14

## test-pythons: the suite on every other CPython from 3.11 to 3.14 that is on this machine, each in an environment of its own
test-pythons: $(addprefix test-python-3.,$(MINORS))

# pyenv's `python3.12` needs PYENV_VERSION; other Pythons ignore it.
test-python-3.%: $(STAMPS)/installed $(STAMPS)/dev browser
	@if $(BIN)/python -c 'import sys; sys.exit(sys.version_info[1] != $*)'; then \
		echo "make test-python tests CPython 3.$*"; \
	elif python=$$(PYENV_VERSION=3.$* python3.$* -c 'import sys; print(sys.executable)' 2>/dev/null); then \
		set -eux; env=$(VENV)/python3.$*; \
		test -x $$env/bin/python || $$python -m venv $$env; \
		$$env/bin/python $(PIP) -r requirements/dev.txt -r requirements/build.txt; \
		$$env/bin/python $(REINSTALL) $(VENV)/wheel/*.whl; \
		$$env/bin/python $(SUITE) -m "not one_python" $(PYTEST); \
	else \
		echo "no CPython 3.$* on this machine"; \
	fi

ENGINES := $(VENV)/engines

## test-engines: what real engines read of a dataset, in a folder and in an S3 server of this machine
test-engines: $(STAMPS)/engines java
	$(ENGINES)/bin/python -m pytest --confcutdir=tests/engines tests/engines $(PYTEST)

# Installs a Debian package, if this user may.
debian = { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && apt-get update -qq \
	&& DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends $(1) >/dev/null; }

## java: installs Debian's Java 17, for Spark, or says that it cannot
java:
	@command -v java >/dev/null || test -n "$$JAVA_HOME" || $(call debian,openjdk-17-jre-headless) \
		|| echo "make java: no Java, and it cannot be installed here; the tests of Spark are skipped"

BROWSERS := chromium chromium-browser google-chrome chrome

## browser: installs Debian's Chromium, for the tests of the report's page, or says that it cannot
browser:
	@command -v $(BROWSERS) >/dev/null || $(call debian,chromium) \
		|| echo "make browser: no Chromium, and it cannot be installed here; tests/report/test_browser.py is skipped"

## pictures: draws every picture of the documentation into docs/pictures, and screenshots to look at into target/pictures
pictures: $(STAMPS)/installed $(STAMPS)/docs browser
	PYTHONPATH=tests $(BIN)/python docs/draw.py sources
	$(MAKE) docs
	PYTHONPATH=tests $(BIN)/python docs/draw.py site
	PYTHONPATH=tests $(BIN)/python -m report.pictures target/pictures

## docs: builds the documentation site in target/site; a warning, a broken link or a search without a hit is an error
docs: $(STAMPS)/installed $(STAMPS)/docs
	$(BIN)/python docs/build.py prepare
	@# Without --quiet: MkDocs counts no warnings with it, and `strict` does nothing.
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -W error -m mkdocs build
	$(BIN)/python docs/build.py finish

WORKFLOWS := $(wildcard .github/workflows/*.yml) examples/docs-agent.yml examples/fix-weekly.yml

## lint: formats, lints, types, stubs, workflows
lint: $(STAMPS)/installed $(STAMPS)/dev
	+@$(BESIDE) $(LINTS)

lint-rust:
	cargo fmt --check
	rustfmt --check --edition 2024 fuzz/main.rs
	cargo clippy --locked --no-default-features --all-targets --quiet -- -D warnings
	cargo clippy --locked --lib --quiet -- -D warnings

lint-pyright: $(STAMPS)/installed $(STAMPS)/dev
	PATH="$(abspath $(BIN)):$$PATH" pyright --warnings

lint-stubs: $(STAMPS)/installed $(STAMPS)/dev
	$(BIN)/python -m mypy.stubtest --mypy-config-file tests/stubtest.ini docplatform

lint-mypy: $(STAMPS)/installed $(STAMPS)/dev
	$(BIN)/mypy

lint-public: $(STAMPS)/installed $(STAMPS)/dev
	PATH="$(abspath $(BIN)):$$PATH" pyright --verifytypes docplatform --ignoreexternal

lint-ruff: $(STAMPS)/dev
	$(BIN)/ruff format --check --quiet
	$(BIN)/ruff check --quiet

lint-workflows: $(STAMPS)/dev
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-workflows $(WORKFLOWS)
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-actions action.yml
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.gitlab-ci examples/docs-agent.gitlab-ci.yml
	$(BIN)/zizmor --quiet --offline $(WORKFLOWS) action.yml

format: $(STAMPS)/dev
	cargo fmt
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

# Coverage for libFuzzer with a stable compiler: the flags of `cargo fuzz` without the sanitizers, which need nightly.
FUZZ_FLAGS := --cfg fuzzing -Cpasses=sancov-module $(addprefix -Cllvm-args=-sanitizer-coverage-, \
	level=4 inline-8bit-counters pc-table trace-compares)
FUZZ_HOST = $(shell rustc --print host-tuple)
FUZZ_DIR := target/fuzz
FUZZ_SECONDS ?= 60
FUZZ_CASES ?= 5000
FUZZ_SEED ?= $(shell date +%s)

## fuzz: looks for FUZZ_SECONDS (60) for an answer that breaks the client, kept in target/fuzz, then tries the properties
fuzz:
	@mkdir -p $(FUZZ_DIR)/found
	@# With the locked versions of the release.
	cp Cargo.lock fuzz/Cargo.lock
	RUSTFLAGS="$(FUZZ_FLAGS)" CARGO_TARGET_DIR=$(FUZZ_DIR) \
		cargo build --manifest-path fuzz/Cargo.toml --release --quiet --target $(FUZZ_HOST)
	$(FUZZ_DIR)/$(FUZZ_HOST)/release/answer $(FUZZ_DIR)/found fuzz/corpus -dict=fuzz/answer.dict \
		-artifact_prefix=$(FUZZ_DIR)/ -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=1024 -print_final_stats=1
	@echo "properties: $(FUZZ_CASES) cases, seed $(FUZZ_SEED)"
	PROPTEST_CASES=$(FUZZ_CASES) PROPTEST_RNG_SEED=$(FUZZ_SEED) \
		$(CORE_TEST) --quiet --test core any::

SOAK_SECONDS ?= 300

## soak: both faces for SOAK_SECONDS (300) against a server that breaks at random, then an account; SEED= repeats one
soak: $(STAMPS)/installed
	$(BIN)/python -m soak --seconds $(SOAK_SECONDS) $(if $(SEED),--seed $(SEED))

## soak-cursor: a cursor export over three slices, killed with SIGKILL at 200 random instants; SEED= repeats one
soak-cursor: $(STAMPS)/installed
	$(BIN)/python -m soak.cursor $(if $(SEED),--seed $(SEED))

## soak-once: 2,000 runs of a pipeline step in up to three processes, killed and answered at random; SEED= repeats one
soak-once: $(STAMPS)/installed
	$(BIN)/python -m soak.pipeline $(if $(SEED),--seed $(SEED))

## soak-fix: `docplatform fix --run 5`, killed with SIGKILL at 30 random instants and run again; SEED= repeats one
soak-fix: $(STAMPS)/installed $(STAMPS)/dev
	$(BIN)/python -m soak.fix $(if $(SEED),--seed $(SEED))

SIMULATION := CARGO_PROFILE_SIMULATION_INCREMENTAL=true cargo rustc --locked --no-default-features --quiet --profile simulation --test simulation
# SQLite compiles a statement once, not once a use: tests/rust/simulation/statements.rs. Linkers of macOS have no `--wrap`.
ifeq ($(shell uname),Linux)
export SIMULATION_FLAGS := --cfg keeps_statements -Clink-arg=-Wl,--wrap=sqlite3_prepare_v3,--wrap=sqlite3_finalize
endif

## simulate: the whole client in SEEDS (10,000) simulated worlds from FROM (0); SEED= tells the first lines and the last LINES (20) of one, less the parts in WITHOUT=
simulate: export SEEDS ?= 10000
simulate: export RUST_BACKTRACE ?= 0
# The memory of one world is the next one's.
simulate: export MALLOC_TRIM_THRESHOLD_ ?= 1073741824
simulate: export MALLOC_MMAP_THRESHOLD_ ?= 1073741824
simulate:
	@program=$$($(SIMULATION) --message-format=json-render-diagnostics -- $(SIMULATION_FLAGS) \
		| sed -n 's/.*"executable":"\([^"]*\)".*/\1/p') && test -n "$$program" \
	&& "$$program" --ignored --exact simulate --nocapture

## mutants: plants bugs in the core, looks whether the simulation finds each, and writes mutants.md; MUTANTS= chooses some by parts of their names
mutants:
	$(PYTHON) tests/rust/simulation/mutants.py $(MUTANTS)

CARGO_DENY := 0.20.2
TOOLS := $(abspath target/tools)

## audit: the locked versions against published advisories, and against deny.toml; needs the network
audit: $(TOOLS)/cargo-deny-$(CARGO_DENY)/bin/cargo-deny $(STAMPS)/audit
	$< check
	$(BIN)/pip-audit --strict --no-deps --disable-pip $(addprefix -r ,$(wildcard requirements/*.txt))

$(TOOLS)/cargo-deny-$(CARGO_DENY)/bin/cargo-deny:
	cargo install cargo-deny --version $(CARGO_DENY) --locked --quiet --root $(TOOLS)/cargo-deny-$(CARGO_DENY)

BENCH_ENV := $(VENV)/bench

## bench: compares the release wheel with other clients; some minutes, on a machine that does nothing else
## bench-store: a store of ten million rows: its size, and how quickly it opens and serves a cached range
## bench-instructions: instructions a page under callgrind, which are the same however busy the machine is
bench: BENCHMARK = run.py
bench-store: BENCHMARK = store.py
bench-instructions: BENCHMARK = instructions.py
bench bench-store bench-instructions: $(STAMPS)/bench
	cargo build --release --locked --quiet --manifest-path bench/server/Cargo.toml
	$(BENCH_ENV)/bin/python bench/$(BENCHMARK) $(BENCH)

$(STAMPS)/bench: $(SOURCES) requirements/bench.txt $(STAMPS)/build
	$(PYTHON) -m venv $(BENCH_ENV)
	rm -rf $(BENCH_ENV)/wheel
	@# With the names of functions, for the profile; the code is that of `make wheel`.
	CARGO_PROFILE_RELEASE_STRIP=none $(BUILD_RELEASE) --quiet --out $(BENCH_ENV)/wheel
	$(BENCH_ENV)/bin/python $(PIP) -r requirements/bench.txt
	$(BENCH_ENV)/bin/python $(REINSTALL) $(BENCH_ENV)/wheel/*.whl
	@touch $@

CARGO_HOME ?= $(HOME)/.cargo
# The same sources give the same bytes: the only time is the last commit's, and the extension names no path of this machine.
SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || echo 1767225600)
BUILD_RELEASE = SOURCE_DATE_EPOCH=$(SOURCE_DATE_EPOCH) RUSTFLAGS="$$RUSTFLAGS --remap-path-prefix=$(CARGO_HOME)=cargo" \
	$(abspath $(BIN))/maturin build --release --locked --compression-level 9

# An index shows the README alone: with absolute links, and the index's command to install.
RELEASED_README = $(BIN)/python -m release.readme env

## wheel: the release wheel, in dist
wheel: $(STAMPS)/build
	rm -f dist/*.whl
	$(RELEASED_README) $(BUILD_RELEASE) --out dist

## sdist: the source distribution, in dist
sdist: $(STAMPS)/build
	rm -f dist/*.tar.gz
	$(RELEASED_README) $(BIN)/maturin sdist --out dist

TOOLS_ENV := $(VENV)/release
# Pythons on which the wheel is tried, each in an environment of its own.
PYTHONS ?= $(PYTHON)

## release-check: checks that dist can be published; some minutes, because pip builds the source distribution, too
release-check: wheel sdist $(STAMPS)/release
	$(TOOLS_ENV)/bin/python -m release.check $(PYTHONS)

## reproducible: a second build, from the source distribution in another folder, is the same byte for byte, but for the folder's name in the list of crates
reproducible: wheel sdist
	again=$$(mktemp -d) && trap 'rm -rf "$$again"' EXIT \
	&& tar -xzf dist/*.tar.gz -C "$$again" --strip-components 1 \
	&& (cd "$$again" && $(BUILD_RELEASE) --quiet --out dist) \
	&& $(BIN)/python -m release.compare dist/*.whl "$$again"/dist/*.whl

SUITE_ENV := $(VENV)/suite
WHEEL ?= dist/*.whl

## test-wheel: the suite against the release wheel of `make wheel`, or WHEEL=, in an environment of its own
test-wheel: $(STAMPS)/suite browser
	$(SUITE_ENV)/bin/python $(REINSTALL) $(WHEEL)
	$(SUITE_ENV)/bin/python $(SUITE) $(PYTEST)

clean:
	rm -rf $(VENV) target dist bench/server/target

$(VENV)/pyvenv.cfg:
	$(PYTHON) -m venv $(VENV)

$(STAMPS)/build: requirements/build.txt | $(VENV)/pyvenv.cfg
	$(BIN)/python $(PIP) -r requirements/build.txt
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/dev: requirements/dev.txt | $(VENV)/pyvenv.cfg
	$(BIN)/python $(PIP) -r requirements/dev.txt
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/docs: requirements/docs.txt $(STAMPS)/dev | $(VENV)/pyvenv.cfg
	$(BIN)/python $(PIP) -r requirements/docs.txt
	@mkdir -p $(STAMPS) && touch $@

# The oldest supported pandas, in a folder that PYTHONPATH puts before the newest.
$(STAMPS)/oldest: requirements/oldest.txt | $(VENV)/pyvenv.cfg
	rm -rf $(VENV)/oldest
	$(BIN)/python $(PIP) --no-deps --target $(VENV)/oldest -r $<
	@mkdir -p $(STAMPS) && touch $@

# An environment of its own, because Spark takes half a gigabyte and needs an older pandas.
$(ENGINES)/stamp: requirements/engines.txt
	$(PYTHON) -m venv --clear $(ENGINES)
	$(ENGINES)/bin/python $(PIP) -r $<
	@touch $@

$(STAMPS)/engines: $(STAMPS)/installed $(ENGINES)/stamp
	$(ENGINES)/bin/python $(REINSTALL) $(VENV)/wheel/*.whl
	@touch $@

$(STAMPS)/audit: requirements/audit.txt | $(VENV)/pyvenv.cfg
	$(BIN)/python $(PIP) -r requirements/audit.txt
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/release: requirements/release.txt | $(VENV)/pyvenv.cfg
	$(PYTHON) -m venv --clear $(TOOLS_ENV)
	$(TOOLS_ENV)/bin/python $(PIP) -r requirements/release.txt
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/suite: requirements/dev.txt requirements/build.txt | $(VENV)/pyvenv.cfg
	$(PYTHON) -m venv --clear $(SUITE_ENV)
	$(SUITE_ENV)/bin/python $(PIP) $(addprefix -r ,$^)
	@mkdir -p $(STAMPS) && touch $@

# The quick profile; `make wheel` is the slow, small one.
$(STAMPS)/installed: $(SOURCES) $(STAMPS)/build
	rm -rf $(VENV)/wheel
	$(BIN)/maturin build --profile light --locked --quiet --out $(VENV)/wheel
	$(BIN)/python $(REINSTALL) $(VENV)/wheel/*.whl
	@mkdir -p $(STAMPS) && touch $@
