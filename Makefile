# Needs Linux on x86-64, Python 3.10 to 3.13, a C++20 compiler and make. Everything else is installed from PyPI into virtual
# environments of this folder; `make clean` removes them.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.ONESHELL:
.DEFAULT_GOAL := help

PYTHON ?= python3
JOBS ?= $(shell nproc)
export CMAKE_BUILD_PARALLEL_LEVEL := $(JOBS)
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# What is installed has no bytecode until it is first imported. Tests start Python a thousand times, and take twice as long
# to import where an image of a container forbids to write any.
unexport PYTHONDONTWRITEBYTECODE

# The build runs in the environment itself, not in a throw-away one, so that a second `make` compiles only what changed.
BUILD_TOOLS := "scikit-build-core>=0.11" "pybind11>=3.0" "halide>=21,<22" cmake ninja
# An exact version of torch, because a looser one may resolve to a build with gigabytes of GPU libraries.
TORCH := torch==2.13.0
SOURCES := $(wildcard native/*/*.h native/*/*/*.h native/*/*.cpp native/*/*/*.cpp tests/native/*.cpp)
PACKAGES := native envs agents training evaluation

# What can go wrong in memory or is undefined shows in the C++ tests, which need neither Python nor Halide.
define NATIVE_TESTS
cmake -S . -B build/sanitize -G Ninja -DHALIDEGYM_PYTHON=OFF -DHALIDEGYM_TESTS=ON -DHALIDEGYM_SANITIZE=ON
cmake --build build/sanitize --parallel $(JOBS)
ctest --test-dir build/sanitize --parallel $(JOBS) --output-on-failure --no-tests=error
endef
# Tests wait for processes and threads more than they compute, and take from each other what is left.
PYTEST := pytest -q -n $(JOBS) --dist worksteal

.PHONY: help demo parity test test-all lint docs train-smoke wheel playthroughs format sanitize clean

help:  ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

.venv-demo/bin/pip .venv-test/bin/pip .venv-build/bin/pip:
	$(PYTHON) -m venv $(@D)/..

# Installing is always retried: pip and the compiler find out what changed.
.PHONY: install-demo install-test
install-demo: .venv-demo/bin/pip
	export PATH="$$PWD/.venv-demo/bin:$$PATH"
	pip install --quiet --no-compile $(BUILD_TOOLS)
	SKBUILD_BUILD_DIR=build/demo pip install --quiet --no-compile --no-build-isolation '.[bench]'

install-test: .venv-test/bin/pip
	export PATH="$$PWD/.venv-test/bin:$$PATH"
	pip install --quiet --no-compile $(BUILD_TOOLS) $(TORCH)
	SKBUILD_BUILD_DIR=build/test pip install --quiet --no-compile --no-build-isolation '.[train,bench,ray,dev]'

demo: install-demo  ## Schedule six pipelines in eleven ways, measure the results, and write a report
	.venv-demo/bin/halidegym demo

# Update stages, several outputs, Tuples, odd sizes, reductions, predicates. The plugin takes half of the time, and up to
# 8 GB, for bilateral_grid with a beam of 32.
FIXTURES := two_outputs tuple_of_types odd_sizes triangular scalar_sum several_updates
COMPARED := conv_layer mat_mul unsharp harris hist iir_blur bilateral_grid $(FIXTURES:%=tests/pipelines_for_tests.py:%)
TARGETS := --target x86-64-linux-avx-avx2-f16c-fma-sse41 --target host
parity: install-demo  ## Compare the search with the Adams2019 plugin in all settings (about an hour)
	export PATH="$$PWD/.venv-demo/bin:$$PATH"
	halidegym parity $(COMPARED) $(TARGETS) --parallelism 1,2,16,32 --beam 1,8,32
	halidegym parity $(COMPARED) $(TARGETS) --parallelism 16 --beam 8 --dropout 80 --seeds 0,1,2,3,4,5,6,7,8,9

test: install-test lint  ## Lint, then run the C++ tests with sanitizers, and the Python tests
	export PATH="$$PWD/.venv-test/bin:$$PATH"
	$(NATIVE_TESTS)
	$(PYTEST)

test-all: install-test lint  ## The same with the tests that take minutes each
	export PATH="$$PWD/.venv-test/bin:$$PATH"
	$(NATIVE_TESTS)
	$(PYTEST) -m ""

# What classes of pybind11 have, and no stub says: metaclasses, an __init__ that takes anything and refuses it, marks.
OF_PYBIND11 := 'metaclass differs$$|stub does not have \*args parameter "args"$$|__pybind11_(native_enum|module_local)_'
# mypy reads the packages where an import would find them, which is not where they lie here; stubtest reads the stub alone.
lint: install-test  ## Check formatting, style and types
	export PATH="$$PWD/.venv-test/bin:$$PATH"
	clang-format --dry-run -Werror $(SOURCES)
	ruff format --check .
	ruff check .
	mkdir -p build/typecheck/halidegym
	ln -sfn $(addprefix $(CURDIR)/,$(wildcard src/halidegym/*) $(PACKAGES)) build/typecheck/halidegym/
	MYPYPATH=build/typecheck mypy --cache-dir build/mypy -p halidegym
	mkdir -p build/stubs/halidegym/native
	touch build/stubs/halidegym/__init__.py build/stubs/halidegym/native/__init__.py
	ln -sfn $(CURDIR)/native/_core.pyi build/stubs/halidegym/native/
	if MYPYPATH=build/stubs stubtest halidegym.native._core --concise --mypy-config-file pyproject.toml 2>&1 |
		grep -vE $(OF_PYBIND11); then exit 1; fi

docs: install-test  ## Build the documentation site; warnings are errors
	.venv-test/bin/sphinx-build -W --keep-going -q -d build/docs/doctrees docs build/docs/html
	echo "build/docs/html/index.html"

SMOKE := runs/smoke
train-smoke: install-test  ## Collect plans, imitate them, improve on them, AggreVaTe, PPO and DQN, in small (six minutes)
	export PATH="$$PWD/.venv-test/bin:$$PATH"
	halidegym train data --config data-smoke --output $(SMOKE)/data
	halidegym train imitate --config imitate-smoke --data $(SMOKE)/data --output $(SMOKE)/imitate
	halidegym train expert --config expert-smoke --data $(SMOKE)/data \
		--policy $(SMOKE)/imitate/policy.npz --output $(SMOKE)/expert
	halidegym train aggrevate --config aggrevate-smoke --data $(SMOKE)/data \
		--policy $(SMOKE)/expert/policy.npz --output $(SMOKE)/aggrevate
	halidegym train ppo --config ppo-smoke --output $(SMOKE)/ppo
	halidegym train dqn --config dqn-smoke --output $(SMOKE)/dqn

wheel: .venv-build/bin/pip  ## Build a wheel in dist/, optimized for what runs often (needs GCC)
	HALIDEGYM_PROFILE=1 .venv-build/bin/pip wheel --no-deps --wheel-dir dist .

playthroughs: install-test  ## Write the golden playthroughs of the tests anew
	.venv-test/bin/halidegym playthroughs --output tests/playthroughs

format: install-test  ## Format all sources
	export PATH="$$PWD/.venv-test/bin:$$PATH"
	clang-format -i $(SOURCES)
	ruff check --fix --select I .
	ruff format .

sanitize: .venv-build/bin/pip  ## Run the C++ tests with the address and undefined-behaviour sanitizers
	export PATH="$$PWD/.venv-build/bin:$$PATH"
	pip install --quiet --no-compile cmake ninja
	$(NATIVE_TESTS)

clean:  ## Remove everything that was built or installed here
	rm -rf build dist .venv-demo .venv-test .venv-build .pytest_cache .ruff_cache .hypothesis
	find $(PACKAGES) src tests -name __pycache__ -exec rm -rf {} +
