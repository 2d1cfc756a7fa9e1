# Every target does its own set-up, in .venv beside this file; nothing else on the machine is touched.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.ready
# what is compiled when the package is installed
NATIVE := .hooks/compile.py $(wildcard tracer/*/*.pyx tracer/*/*.pxd)
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.DEFAULT_GOAL := help
.PHONY: help setup demo test lint types imports fmt docs bench bench-decode bench-import bench-index fuzz clean

help: ## List the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

$(STAMP): pyproject.toml constraints.txt $(NATIVE)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --quiet --constraint constraints.txt torch==2.13.0
	$(BIN)/pip install --quiet --quiet --constraint constraints.txt --editable '.[dry,site,dev]'
	@touch $@

setup: $(STAMP) ## Make the virtual environment

demo: $(STAMP) ## Run the main job with no GPU and say where the page is
	$(BIN)/ktrace gemm_a8w8_blockscale --shape 128,1536,7168 --target gfx942 --out ktrace-site
	$(BIN)/ktrace site build ktrace-site
	@echo
	@echo "The page of the call, and the index of all pages:"
	@echo "    $(CURDIR)/ktrace-site/site/index.html"
	@echo "Open that file in a browser, or serve the site and open the address that it prints:"
	@echo "    $(BIN)/ktrace site serve ktrace-site"

test: lint types imports ## Lint, type-check, check the import contract, and run the tests
	$(BIN)/python -m pytest

lint: $(STAMP) ## Check style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	PATH="$(CURDIR)/$(BIN):$$PATH" cython-lint --max-line-length 120 $(filter %.pyx %.pxd,$(NATIVE))

types: $(STAMP) ## Check types
	$(BIN)/mypy

imports: $(STAMP) ## Check that imports point one way
	$(BIN)/lint-imports

fmt: $(STAMP) ## Format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(STAMP) ## Build the project's own documentation
	$(BIN)/mkdocs build --strict

bench: $(STAMP) ## Whole-process time and memory of the main job, against named rivals in the same run
	$(BIN)/python -m tests.bench.bench_main

bench-decode: $(STAMP) ## Names a second against the demangler and a plain split
	$(BIN)/python -m tests.bench.bench_decode

bench-import: $(STAMP) ## Trace import against TraceLens (RIVAL=path of a checkout)
	$(BIN)/python -m tests.bench.bench_import

bench-index: $(STAMP) ## Index build time, memory and answers a second
	$(BIN)/python -m tests.bench.bench_index

fuzz: $(STAMP) ## A million random and mutated names
	$(BIN)/python -m tests.fuzz.fuzz_names

clean: ## Remove what the targets made
	rm -rf $(VENV) ktrace-site site build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache tracer/*/*.so
