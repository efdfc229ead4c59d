# `make demo` and `make test` are the two commands; `make help` tells the rest.

CARGO ?= cargo
TARGET := $(or $(CARGO_TARGET_DIR),target)
QLESS := $(TARGET)/release/qless

# What `qless version` tells of its origin.
export QLESS_COMMIT := $(shell git rev-parse --short=12 HEAD 2>/dev/null)

# The server's program, found or installed when a recipe needs it.
WITH_REDIS = server=$$(scripts/redis.sh) && REDIS_SERVER="$$server" QLESS_REDIS_SERVER="$$server"

.PHONY: help demo test bench build install tools redis

help:
	@echo 'make demo     play a night of an operator on a private Redis, half a minute'
	@echo 'make test     format, clippy, all tests'
	@echo 'make bench    what each call costs a server, and each command this machine'
	@echo 'make build    the binary: $(QLESS)'
	@echo 'make install  the binary, into the directory of `cargo install`'
	@echo 'make redis    make sure of a redis-server; the others do so themselves'

demo: build
	@$(WITH_REDIS) scripts/demo.sh "$(QLESS)"

test: tools
	$(CARGO) fmt --check
	$(CARGO) clippy --locked --all-targets -- -D warnings
	@$(WITH_REDIS) $(CARGO) test --locked

bench:
	@$(WITH_REDIS) $(CARGO) bench --locked --bench cost

build:
	$(CARGO) build --release --locked --target-dir "$(TARGET)"

install:
	$(CARGO) install --locked --path .

redis:
	@scripts/redis.sh

# What `cargo fmt` and `cargo clippy` need, where Rust was installed without.
tools:
	@$(CARGO) fmt --version >/dev/null 2>&1 || rustup component add rustfmt
	@$(CARGO) clippy --version >/dev/null 2>&1 || rustup component add clippy
