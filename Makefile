.DEFAULT_GOAL := help
PY ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN := PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m
# State of the targets below stays out of the user's own ~/.triseek.
export TRISEEK_HOME ?= $(CURDIR)/$(VENV)/triseek

help:  ## List the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-14s %s\n", $$1, $$2}'

$(VENV)/.ready: pyproject.toml constraints.txt
	@echo "Setting up $(VENV): numba and pyarrow take a minute to install."
	$(PY) -m venv $(VENV)
	@# From Python 3.13 on it ignores all that is in it, and what the demo and the tests search is.
	@rm -f $(VENV)/.gitignore
	@# The script that an older pip writes takes 10 ms longer to start.
	$(BIN)/python -m pip install -q --disable-pip-version-check 'pip>=25.2'
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

demo: $(VENV)/.ready  ## Index a real tree (this environment's site-packages) and search it
	@$(BIN)/python bench/demo.py

check: lint types imports test test-long  ## Everything a change must pass

format: $(VENV)/.ready  ## Rewrite the code in its one format
	$(BIN)/ruff check --fix-only . && $(BIN)/ruff format .

lint: $(VENV)/.ready  ## Style and mistakes
	$(BIN)/ruff format --check . && $(BIN)/ruff check .

types: $(VENV)/.ready  ## Types, strictly
	$(BIN)/mypy

imports: $(VENV)/.ready  ## The floors hold
	$(BIN)/lint-imports

# Processes that share the tests, a file at a time, in the order of the folders: by default files of
# few tests come last, and some of those take longest.
JOBS ?= 2
XDIST := --dist loadfile --no-loadscope-reorder
test: $(VENV)/.ready  ## Unit, golden, property, parity and contract tests: minutes (JOBS=2)
	$(RUN) pytest -m "not slow and not long" -n $(JOBS) $(XDIST)

test-long: $(VENV)/.ready  ## Daemons, agents and crashes as processes, a small share of each (JOBS=2)
	$(RUN) pytest -m "long and not slow" -n $(JOBS) $(XDIST)

explore: $(VENV)/.ready  ## Both with new random examples, which may find what nobody has seen
	TRISEEK_EXPLORE=1 $(RUN) pytest -m "not slow" -n $(JOBS) $(XDIST)

test-root: $(VENV)/.ready  ## Those that only root can set up: files of other users, full disks
	$(RUN) pytest -m "root and not slow"

test-nojit: $(VENV)/.ready  ## The kernels as plain Python: coverage and debuggers see inside
	NUMBA_DISABLE_JIT=1 $(RUN) pytest tests/kernels

test-all: $(VENV)/.ready  ## With the slow ones: full fuzz counts, crash loops, parity on real trees
	$(RUN) pytest

prove: $(VENV)/.ready  ## The proofs at full count: reads, load, kills, memory, branch switch, MCP, memo, sessions, history
	$(RUN) pytest -q -s -m slow -o faulthandler_timeout=1800 tests/e2e/test_read_your_writes.py \
	    tests/e2e/test_daemon_load.py tests/e2e/test_daemon_kill.py tests/e2e/test_daemon_memory.py \
	    tests/e2e/test_branch_switch.py tests/e2e/test_killed_clients.py tests/e2e/test_daemon_places.py \
	    tests/e2e/test_hostile_patterns.py tests/mcp/test_fuzz.py tests/mcp/test_http.py \
	    tests/mcp/test_fuzz_http.py tests/e2e/test_mcp_clients.py tests/memo \
	    tests/sessions tests/agents/test_agents_files.py tests/e2e/test_million_entries.py \
	    tests/e2e/test_session_daemon_kill.py tests/e2e/test_two_harnesses.py \
	    tests/e2e/test_session_servers.py tests/e2e/test_agent_sessions.py tests/e2e/test_wide_roots.py \
	    tests/e2e/test_state_size.py tests/search tests/history tests/e2e/test_history_writers.py \
	    tests/e2e/test_history_daemon_kill.py

HISTORY_PROOFS := writers=tests/e2e/test_history_writers.py kills=tests/history/test_kills.py \
    daemon-kills=tests/e2e/test_history_daemon_kill.py trouble=tests/history/test_trouble.py \
    hostile=tests/history/test_hostile_transcripts.py secrets=tests/e2e/test_history_secrets.py \
    transcripts-in-agents=tests/e2e/test_transcripts_in_agents.py \
    context-in-agents=tests/e2e/test_history_context_in_agents.py
MEMORY_PROOFS := writers=tests/e2e/test_memory_writers.py kills=tests/memory/test_kills.py \
    dreams=tests/memory/dreaming audit=tests/memory/audit trouble=tests/memory/test_trouble.py \
    contract=tests/e2e/test_memory_profile_contract.py fuzz=tests/memory/profile/test_fuzz.py \
    clients=tests/e2e/test_memory_profile_clients.py toolset=tests/e2e/test_memory_toolset.py \
    agents=tests/e2e/test_memory_in_agents.py
ZOEKT_PROOFS := regexps=tests/zoekt_parity/test_dialect_parity.py queries=tests/zoekt_parity/test_query_parity.py \
    results=tests/zoekt_parity/test_results_parity.py languages=tests/zoekt_parity/test_languages_parity.py
prove-history: PROOFS = $(HISTORY_PROOFS)
prove-history: .prove  ## The proofs of the history at full count, a line for each at the end; agents by npm
prove-memory: PROOFS = $(MEMORY_PROOFS)
prove-memory: .prove  ## Those of the memory, likewise
prove-zoekt: PROOFS = $(ZOEKT_PROOFS)
prove-zoekt: .prove  ## Queries and results compared with a real Zoekt, which Go builds
BOX_PROOFS := attacks=tests/workflows/box/test_attacks.py resources=tests/workflows/box/test_resources.py \
    runner=tests/workflows/box/test_runner.py ordinary-user=tests/workflows/box/test_ordinary_user.py
prove-box: PROOFS = $(BOX_PROOFS)
prove-box: .prove  ## Those of the box that runs agents' scripts: more than 600 attacks in each of three ways
WORKFLOW_PROOFS := workflows=tests/workflows agents=tests/e2e/test_workflows_in_agents.py \
    servers=tests/mcp/test_workflow_server.py
prove-workflows: PROOFS = $(WORKFLOW_PROOFS)
prove-workflows: .prove  ## Workflows and their servers, with real agents and the MCP Inspector
.prove: $(VENV)/.ready
	@lines=; failed=0; for proof in $(PROOFS); do \
	    if $(RUN) pytest -q -s -rs -o faulthandler_timeout=1800 "$${proof#*=}"; \
	    then result=held; else result=FAILED; failed=1; fi; \
	    lines="$$lines$$(printf '%-22s %s' "$${proof%%=*}" $$result)\n"; \
	done; printf "\n$$lines"; exit $$failed

MINUTES := 10
SEED :=
FIRST :=
CASE :=
COUNT :=
PROCESSES :=
fuzz: $(VENV)/.ready  ## Compare random searches with ripgrep: MINUTES= or COUNT=, PROCESSES=, SEED=, FIRST=, CASE=
	$(RUN) tests.fuzz $(if $(COUNT),--count $(COUNT),--minutes $(MINUTES)) $(if $(SEED),--seed $(SEED)) \
	    $(if $(FIRST),--first $(FIRST)) $(if $(CASE),--case $(CASE)) \
	    $(if $(PROCESSES),--processes $(PROCESSES))

BACKENDS := scan auto
ripgrep-tests: $(VENV)/.ready  ## ripgrep's own integration tests run through triseek (cargo; BACKENDS=scan auto index daemon)
	$(RUN) tests.ripgrep_own $(BACKENDS)

faults: $(VENV)/.ready  ## Fail system calls of watching at random, COUNT= of them (10,000) from SEED= on, and compare every answer
	$(RUN) tests.engine.faulty_histories $(if $(COUNT),--count $(COUNT)) $(if $(SEED),--seed $(SEED))

clients: $(VENV)/.ready  ## Real agents (npm) use the server and the memo, take work over, and are installed into; no account is needed
	$(RUN) pytest -q -rs -m slow tests/e2e/test_mcp_clients.py tests/e2e/test_memo_in_agents.py \
	    tests/e2e/test_handoff_in_agents.py tests/e2e/test_shown_in_agents.py \
	    tests/e2e/test_install_clients.py tests/e2e/test_plugins.py tests/e2e/test_plugin_behaviour.py \
	    tests/e2e/test_doctor.py tests/e2e/test_first_request.py tests/e2e/test_reuse_in_agents.py \
	    tests/agents/test_listing.py tests/e2e/test_memory_profile_clients.py

browser: $(VENV)/.ready  ## Get Chromium, in which the tests look at the page of `triseek ui`
	$(RUN) tests.ui.chromium

golden: $(VENV)/.ready  ## Accept what golden tests now print; read the diff before committing it
	TRISEEK_GOLDEN=update $(RUN) pytest tests/query/trigrams/test_formula.py tests/cli tests/test_docs.py \
	    tests/engine/ranking/test_ranked_golden.py tests/e2e/test_mcp_contract.py tests/e2e/test_memo_contract.py \
	    tests/e2e/test_session_contract.py \
	    tests/e2e/test_handoff_cli.py \
	    tests/agents/test_hook_protocol.py tests/mcp/test_prepared.py

REV :=
house: $(VENV)/.ready  ## Figures of the source code: lines, untyped dicts, names (REV= another revision)
	$(RUN) tests.house $(REV)

cover: $(VENV)/.ready  ## Coverage, branches too
	NUMBA_DISABLE_JIT=1 $(BIN)/coverage run -m pytest -m "not slow" && $(BIN)/coverage report

bench-quick: $(VENV)/.ready  ## A small measured run: minutes
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[bench]'
	$(RUN) bench run --quick

bench: $(VENV)/.ready  ## Measure against rg, csearch, rgx and Zoekt on the Linux tree; answers are compared first
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[bench]'
	$(RUN) bench run && $(RUN) bench report

CORPUS :=
bench-daemon: $(VENV)/.ready  ## Measure the daemon beside rg and rgx on the Linux tree (or CORPUS=folder); minutes
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[bench]'
	$(RUN) bench run --daemon $(if $(CORPUS),--corpus-path linux=$(CORPUS)) && $(RUN) bench report

build: $(VENV)/.ready  ## Wheel and sdist
	$(BIN)/python -m pip install -q --disable-pip-version-check build && $(RUN) build

clean:  ## What can be rebuilt
	rm -rf dist .coverage* .pytest_cache .mypy_cache .ruff_cache .import_linter_cache

.PHONY: .prove help demo check format lint types imports test explore test-root test-nojit test-all prove prove-history prove-memory prove-zoekt prove-box prove-workflows ripgrep-tests fuzz faults clients browser golden house cover bench bench-daemon bench-quick build clean
