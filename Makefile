# make sweep   set everything up and run the main job; ARGS="..." for another one
# make test    set everything up and run the tests
# make soak    the tests that kill, then a sweep under a hundred kills (SOAK_SEED=, SOAK_KILLS=, SOAK_RUNS= change those)
# make bench   measure what runs, sweeps, planning, ... cost; PARTS="..." for some of it
# make bench-check  the same, and fail if a ratio is worse than tests/bench/baseline.json by more than a quarter
# make pictures  run what README shows, and make its pictures and its table anew
PYTHON ?= python3
VENV   ?= .venv
ARGS   ?= +latency=0.002,0.005
BIN    := $(VENV)/bin

# Where it is set, every process would compile Ray and MLflow anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: sweep test lint types check soak bench bench-check pictures wheel clean

sweep: $(VENV)/.runs
	$(BIN)/python -m sweep $(ARGS)

test: $(VENV)/.tests
	$(BIN)/python -m pytest -m 'not soak' --numprocesses 2 --dist loadfile --no-loadscope-reorder

lint: $(VENV)/.tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/.tests
	$(BIN)/mypy

check: lint types test

soak: $(VENV)/.tests
	$(BIN)/python -m pytest -m soak
	$(BIN)/python -m tests.soak

bench: $(VENV)/.tests
	$(BIN)/python -m tests.bench $(PARTS)

bench-check: $(VENV)/.tests
	$(BIN)/python -m tests.bench --check $(PARTS)

pictures: $(VENV)/.tests
	$(BIN)/python -m tests.pictures

wheel: $(VENV)/.tests
	$(BIN)/python -m build --outdir dist .

clean:
	rm -rf $(VENV) build dist

$(VENV)/.runs: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; name it: make PYTHON=python3.12 ..."; exit 1; }
	test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable .
	@touch $@

$(VENV)/.tests: $(VENV)/.runs
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@
