# The verbs of the project. Each says what it does, and sets up what it needs; what is done is not done again.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:

# PATH parts at a colon, and the shell reads the others itself.
ifneq ($(strip $(foreach each," $$ ` \ :,$(findstring $(each),$(CURDIR)))),)
  $(error $(CURDIR): a folder whose name holds none of " $$ ` \ : would be right: move the clone)
endif

# .venv keeps the interpreter that it was made with, until another one is named: then it is made anew.
made_with := $(realpath .venv/bin/python)
ifeq ($(origin PYTHON),undefined)
  PYTHON := $(or $(made_with),python3)
else ifneq ($(made_with),$(shell $(PYTHON) -c 'import os, sys; print(os.path.realpath(sys.executable))'))
  .venv/tools.installed: another-interpreter
endif
export PYTHON
# Most containers forbid Python to keep what it compiles: each of the tests' thousand processes would compile anew.
unexport PYTHONDONTWRITEBYTECODE
# ninja has its own jobs, and complains of make's, which a recipe does not hand on.
in_venv := MAKEFLAGS= PATH="$(CURDIR)/.venv/bin:$$PATH"
cpp_files := find agents bench deploy envs tests transport tunnel \( -name '*.cc' -o -name '*.hh' \) -print0

.PHONY: another-interpreter help train test quick bench docs oldest setup build check tidy cpp-tests cpp-tests-build fuzz fuzz-cpp fuzz-python format system-packages test-packages network

help:
	@echo 'make train   set up, then train on the synthetic and calibrated emulators'
	@echo 'make test    set up, then all tests: C++ under ASan and UBSan, compiled with clang if there is one; linters, Python'
	@echo 'make quick   before every commit: linters, types, and the Python tests that take no time; after make setup'
	@echo 'make setup   system packages (as root on Debian), .venv, C++ build, the command .venv/bin/ccgym'
	@echo 'make build   compile what has changed'
	@echo 'make check   ruff, mypy, clang-format'
	@echo 'make tidy    clang-tidy over the C++, with the checks of .clang-tidy; takes minutes'
	@echo 'make format  bring every file into form'
	@echo 'make oldest  the core of the tests with the oldest packages and tools that setup.cfg claims; takes minutes'
	@echo 'make docs    the documentation, build/site/index.html'
	@echo 'make bench   what ccgym costs on this machine, beside yardsticks'
	@echo 'make fuzz    throw odd bytes at every parser in C++, then in Python, FUZZ_SECONDS=600 each; needs clang'

train: setup
	.venv/bin/ccgym train --emulators synthetic,calibrated

# A recipe that names MAKE itself is carried out even by `make -n`.
plain_make := $(MAKE)

# The C++ tests are compiled with what the set-up, which waits for packages and the disk, leaves of the processors. The
# Python tests that start programs, runs in real time above all, wait for most of their time: three at a time take a
# processor or less. Beside them linters and C++ tests run, then the Python tests that compute, a process for each core;
# all of these give way. One of the first kind waits for the QUIC programs, built in the background: with the share of
# those that compute, or it would wait for their end. What is in one file stays in one process. A test whose program
# hangs fails after 15 minutes; should it not end even then, what it does is printed a minute later, and all of these
# tests end after 50, five times what they take.
one_file_one_process := --dist loadfile --no-loadscope-reorder
share_cores := --numprocesses logical --maxprocesses 4 $(one_file_one_process)
ends_what_hangs := --timeout 900 -o faulthandler_timeout=960
test:
	@$(MAKE) --no-print-directory --jobs 4 setup test-packages cpp-tests-build
	@mkdir -p build
	@nice -n 15 .venv/bin/ccgym schemes install quic-cubic &>build/quic.log & quic=$$!; \
	  timeout 3000 .venv/bin/pytest $(ends_what_hangs) --numprocesses 3 $(one_file_one_process) -m programs \
	    &>build/programs.log & programs=$$!; \
	  trap 'kill $$quic $$programs 2>/dev/null || true' EXIT; \
	  result=0; \
	  nice -n 15 $(plain_make) --no-print-directory --jobs 2 --keep-going check cpp-tests || result=1; \
	  echo '==> Python tests that compute'; \
	  nice -n 15 .venv/bin/pytest $(share_cores) -m 'not programs' || result=1; \
	  wait $$programs || result=1; \
	  echo '==> Python tests that start programs'; \
	  cat build/programs.log; \
	  exit $$result

# What a developer runs before every commit.
quick: check
	@echo '==> Python tests but the slow ones'
	@.venv/bin/pytest $(share_cores) --quiet -m 'not slow'

# On a quiet machine; as root, for its network namespaces and mahimahi.
bench: setup
	.venv/bin/ccgym bench

# In a copy of the project. The newest packages are those of `make test`.
oldest_tests := envs/gym/test_path_env.py envs/gym/test_vector_env.py envs/gym/test_parallel_env.py \
  envs/gym/test_registration.py envs/specs/test_emulator_spec.py training/runs/test_tracking.py \
  rl/test_learning.py deploy/test_sb3_models.py cli/making/test_train_and_oracle.py \
  envs/host/test_progress_bar.py evaluation/test_dataset.py::test_bad_input_is_one_line
oldest: .venv/packages.installed
	@.venv/bin/python etc/oldest_packages.py
	@echo '==> C++ core, endpoint programs, Python binding with the oldest tools'
	@cd build/oldest && MAKEFLAGS= PATH="$$PWD/.venv/bin:$$PATH" python -m pip --disable-pip-version-check install \
	  --quiet --no-build-isolation --no-deps --editable .
	@cd build/oldest && .venv/bin/python -m pytest $(share_cores) $(oldest_tests:%=tests/%)

docs: build .venv/ccgym.installed
	@NO_MKDOCS_2_WARNING=1 .venv/bin/mkdocs build --strict
	@echo '==> build/site/index.html'

setup: build .venv/ccgym.installed network

build: .venv/tools.installed
	@echo '==> C++ core, endpoint programs, Python binding'
	@$(in_venv) python setup.py --quiet build_ext --inplace

# The build's own tools are in .venv: an isolated build would fetch them twice, and CMake would remember the paths of
# copies that are gone afterwards. An editable installation remembers which folders had an __init__.py.
.venv/ccgym.installed: .venv/packages.installed $(wildcard */__init__.py */*/__init__.py) | build
	@echo '==> the command .venv/bin/ccgym'
	@$(in_venv) python -m pip --disable-pip-version-check install --quiet --no-build-isolation --no-deps --editable .
	@touch $@

.venv/tools.installed: setup.cfg etc/make_venv.py | system-packages
	@$(PYTHON) etc/make_venv.py tools
	@touch $@

.venv/packages.installed: .venv/tools.installed
	@$(PYTHON) etc/make_venv.py
	@touch $@

cpp-tests: cpp-tests-build
	@echo '==> C++ tests under ASan and UBSan'
	@$(in_venv) ctest --test-dir build/tests --output-on-failure --parallel 2

cpp-tests-build: .venv/tools.installed test-packages
	@echo '==> C++ tests: the compiler'
	@$(in_venv) CXX=$$(etc/clang.sh) cmake -S . -B build/tests -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCCGYM_TESTS=ON
	@$(in_venv) nice -n 15 cmake --build build/tests --target cpp_tests

# A finding is a file crash-*, and a failure.
FUZZ_SECONDS ?= 600
fuzz: fuzz-cpp fuzz-python

# Keeps the smallest corpus that reaches what it has reached.
fuzz_targets := tunnel_datagram endpoint_datagram policy_file remy_table event_log scheme_name
fuzz-cpp: .venv/packages.installed
	@echo '==> fuzzing, $(FUZZ_SECONDS) s each'
	@$(in_venv) CXX=clang++ cmake -S . -B build/fuzz -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCCGYM_FUZZ=ON
	@$(in_venv) cmake --build build/fuzz --target $(fuzz_targets:%=fuzz_%)
	@for target in $(fuzz_targets); do \
	  corpus=tests/cpp/fuzz/corpus/$$target; \
	  mkdir -p build/fuzz/$$target; \
	  build/fuzz/fuzz_$$target -max_total_time=$(FUZZ_SECONDS) -max_len=2000 -print_final_stats=1 \
	    build/fuzz/$$target $$corpus; \
	  build/fuzz/fuzz_$$target -merge=1 $$corpus build/fuzz/$$target; \
	done

# Keeps what it has reached in build/fuzz; a finding, once it is mended, goes into the corpus by hand.
fuzz_parsers := $(notdir $(wildcard tests/fuzz/corpus/*))
fuzz-python: build
	@$(in_venv) python -m pip --disable-pip-version-check install --quiet 'atheris>=3'
	@echo '==> fuzzing in Python, $(FUZZ_SECONDS) s each'
	@for parser in $(fuzz_parsers); do \
	  mkdir -p build/fuzz/$$parser; \
	  .venv/bin/python tests/fuzz/fuzz_parser.py $$parser -max_total_time=$(FUZZ_SECONDS) -max_len=6000 \
	    -print_final_stats=1 -artifact_prefix=build/fuzz/ build/fuzz/$$parser tests/fuzz/corpus/$$parser; \
	done

check: setup
	@echo '==> ruff'
	@.venv/bin/ruff check .
	@.venv/bin/ruff format --check .
	@echo '==> mypy'
	@.venv/bin/mypy
	@echo '==> clang-format'
	@$(cpp_files) | xargs -0 .venv/bin/clang-format --dry-run -Werror

tidy: build  # clang knows neither gcc's -mtune-ctrl nor its precompiled headers
	@mkdir -p build/tidy
	@sed 's/ \\"-mtune-ctrl=[^ ]*//; s/ -Winvalid-pch -include [^ ]*//' build/release/compile_commands.json >build/tidy/compile_commands.json
	@find transport agents envs deploy tunnel -name '*.cc' -print0 | \
	  xargs -0 -P "$$(nproc)" -n 4 clang-tidy --quiet -p build/tidy

format: .venv/packages.installed
	.venv/bin/ruff check --fix .
	.venv/bin/ruff format .
	$(cpp_files) | xargs -0 .venv/bin/clang-format -i

another-interpreter: ;

system-packages:
	@etc/install-system-packages.sh

test-packages: | system-packages
	@etc/install-system-packages.sh --tests

network: | system-packages
	@etc/prepare-network.sh
