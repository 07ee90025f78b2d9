# Every command of the project. On a fresh machine (Python 3.11+, a C compiler, a package index) each one sets up .venv first.
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
TENSORC := $(PY) -m tensorc
CLANG ?= clang
TORCH := torch==2.11.0
TENSORFLOW := tensorflow-cpu==2.21.0
# The tool whose decisions the tests hold ours against; without its own pins of the frameworks.
REFERENCE := rextio==0.1.8 rextio-torch==0.1.3 rextio-tensorflow==0.1.3
# The conformance cases count on numpy 1's rule that float32 × int64 scalar is float32; Python 3.13 has no numpy 1.
NUMPY := 'numpy<2; python_version < "3.13"' 'numpy; python_version >= "3.13"'

C_SOURCES := $(wildcard compiler/*.[ch] compiler/*.def)
RT_SOURCES := $(shell find runtime -name '*.[ch]' -o -name '*.inc' -o -name '*.def')
OWN_C := $(shell find compiler runtime \( -name '*.[ch]' -o -name '*.inc' \) -not -path '*/third_party/*')
OWN_PY := setup.py python/tensorc bench
WARNINGS := -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wundef -Wstrict-prototypes -Wmissing-prototypes
PYTHON_INCLUDE = $$($(PY) -c 'import sysconfig; print(sysconfig.get_path("include"))')

.PHONY: demo test slow fuzz fuzz-graphs samples check format bench asan build docs clean

# LANE=tensorflow shows the other framework.
LANE := torch
WORKLOADS := examples/$(LANE)_workloads.py
demo: $(VENV)/build.stamp $(VENV)/$(LANE).stamp
	$(TENSORC) check $(WORKLOADS)
	$(TENSORC) build examples
	$(TENSORC) bench $(WORKLOADS):score --args $(WORKLOADS):arguments --rows 1,16,128
	$(TENSORC) bench $(WORKLOADS):$(if $(filter torch,$(LANE)),mlp,chain) --args $(WORKLOADS):arguments --rows 512

# Groups of tests go to processes in order, the recipes last: they start the frameworks' threads, which no forked test survives.
JOBS := $(shell n=$$(nproc); echo $$((n < 4 ? n : 4)))
test: $(VENV)/build.stamp $(VENV)/torch.stamp $(VENV)/tensorflow.stamp
	$(PY) -m pytest -n $(JOBS) --dist loadscope --no-loadscope-reorder

# The same tests with more calls: sweeps that take the better part of an hour.
slow: $(VENV)/build.stamp $(VENV)/torch.stamp $(VENV)/tensorflow.stamp
	SLOW=1 $(PY) -m pytest -n $(JOBS) --dist loadscope --no-loadscope-reorder

# Random programs against Python, to the bit: make fuzz PROGRAMS=20000 SEED=0
PROGRAMS := 2000
SEED := 0
fuzz: $(VENV)/build.stamp $(VENV)/torch.stamp
	$(PY) tests/fuzz.py --programs $(PROGRAMS) --seed $(SEED)

# Random programs of tensor operations through tensorc.compile: make fuzz-graphs GRAPHS=5000 SEED=0
GRAPHS := 500
fuzz-graphs: $(VENV)/build.stamp $(VENV)/torch.stamp
	$(PY) tests/fuzz_graphs.py --graphs $(GRAPHS) --seed $(SEED)

# torch's own test inputs of every operator that graphs know, against eager, to the bit
samples: $(VENV)/build.stamp $(VENV)/torch.stamp
	$(PY) tests/samples.py

bench: $(VENV)/build.stamp $(VENV)/torch.stamp $(VENV)/tensorflow.stamp
	$(PY) bench/run.py
	$(PY) bench/models.py
	$(PY) bench/sweep.py

build: $(VENV)/build.stamp

# The pages that are generated from the tables.
docs: $(VENV)/build.stamp
	$(PY) tools/docs.py

# Format, lint, types, and warnings as errors under gcc and, where there is one, clang.
check: $(VENV)/build.stamp $(VENV)/check.stamp
	$(VENV)/bin/clang-format --dry-run --Werror $(OWN_C)
	$(VENV)/bin/ruff check $(OWN_PY) tests tools
	$(VENV)/bin/ruff format --check --line-length 120 $(OWN_PY)
	$(VENV)/bin/mypy
	@for cc in gcc $(CLANG); do \
	  if ! command -v $$cc >/dev/null; then echo "warnings: no $$cc here, skipped"; continue; fi; \
	  echo "warnings: $$cc"; \
	  for file in compiler/*.c; do \
	    $$cc -std=c11 -O1 $(WARNINGS) -Werror -I$(PYTHON_INCLUDE) -c $$file -o /dev/null || exit 1; done; \
	  $$cc -std=c11 -O1 $(WARNINGS) -Werror -Iruntime -I$(PYTHON_INCLUDE) -c runtime/tensorc_rt.c -o /dev/null || exit 1; \
	  TENSORC_CACHE_DIR=build/cache CFLAGS="$(WARNINGS) -Werror" $(TENSORC) build -q --cc $$cc examples || exit 1; \
	done

format: $(VENV)/check.stamp
	$(VENV)/bin/clang-format -i $(OWN_C)
	$(VENV)/bin/ruff check --fix $(OWN_PY)
	$(VENV)/bin/ruff format --line-length 120 $(OWN_PY)

# The compiler, the runtime and the generated modules under the address and undefined-behaviour sanitizers. torch's C shim
# frees with `delete` what its C callers have to allocate, hence alloc_dealloc_mismatch.
ASAN_TESTS ?= tests
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -g -O1
asan: $(VENV)/build.stamp
	CFLAGS="$(SANITIZE)" LDFLAGS="$(SANITIZE)" $(PY) setup.py -q build --build-lib build/asan --build-temp build/asan-objects
	CFLAGS="$(SANITIZE)" LDFLAGS="$(SANITIZE)" TENSORC_CACHE_DIR=build/cache PYTHONPATH=build/asan PYTHONMALLOC=malloc \
	  ASAN_OPTIONS=detect_leaks=0:alloc_dealloc_mismatch=0 LD_PRELOAD="$$($${CC:-cc} -print-file-name=libasan.so) $$($${CC:-cc} -print-file-name=libubsan.so)" \
	  $(PY) -m pytest $(ASAN_TESTS)

clean:
	rm -rf build dist python/tensorc/rt python/tensorc/*.so python/*.egg-info examples/.tensorc examples/dist
	rm -f $(VENV)/build.stamp

# ── set-up: a .venv that is there is kept ────────────────────────────────────────────────────────────────────────────
$(PY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "tensorc needs Python 3.11 or newer: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)

PIP := $(PY) -m pip install -q --disable-pip-version-check

$(VENV)/deps.stamp: $(PY)
	$(PIP) "setuptools>=70.1,<82" packaging filelock $(NUMPY) pytest pytest-xdist hypothesis expecttest jaxtyping jsonschema
	$(PIP) --no-deps $(REFERENCE)
	@touch $@

$(VENV)/torch.stamp: $(VENV)/deps.stamp
	$(PIP) $(TORCH) $(NUMPY)
	@touch $@

$(VENV)/tensorflow.stamp: $(VENV)/deps.stamp
	$(PIP) $(TENSORFLOW) $(NUMPY)
	@touch $@

$(VENV)/install.stamp: $(VENV)/deps.stamp pyproject.toml setup.py
	$(PY) -m pip install -q --disable-pip-version-check --no-build-isolation -e .
	@touch $@

# Editing C needs no new installation: only what changed is compiled, in place.
$(VENV)/build.stamp: $(VENV)/install.stamp $(C_SOURCES) $(RT_SOURCES)
	$(PY) setup.py -q build_ext --inplace
	@touch $@

$(VENV)/check.stamp: $(VENV)/deps.stamp
	$(PY) -m pip install -q --disable-pip-version-check ruff mypy clang-format
	@touch $@
