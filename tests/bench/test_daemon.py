"""The daemon's stage, with a real daemon on the tiny tree; and what must not be measured."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from bench import budgets, corpora, daemon_report, edits, overhead, report, run, updates
from bench.engines.registry import engines
from bench.engines.triseek_daemon import TriseekDaemon
from bench.engines.triseek_process import environment
from bench.model import Case, Faulty
from bench.profiles import QUICK
from bench.progress import Progress

pytestmark = [pytest.mark.rg, pytest.mark.long]
PLAN = replace(QUICK, rounds_max=2, rounds_min=1, edits=12, questions=12, groups=("families",))
CASE = Case(name="families/literal_high", patterns=("frequent_token",), fixed=True)
EDITED = Case(name="edited", patterns=(edits.MARK,), fixed=True)


@pytest.fixture(scope="module")
def results(tree, rg):
    wanted = run.Wanted(
        profile=PLAN,
        corpora=("tiny",),
        engines=("triseek", "triseek-daemon"),
        places={"tiny": tree},
        groups=(),
    )
    saved = []
    run.run(wanted, Progress(), saved.append)
    return saved[-1]


@pytest.fixture(scope="module")
def told(results):
    return results["corpora"][0]["daemon"]


@pytest.fixture
def corpus(tree, rg, tmp_path):
    """A copy that may be edited."""
    whole = corpora.find("tiny", {"tiny": tree}, rg)
    with updates.copied(whole, tmp_path) as copy:
        yield copy


@pytest.fixture
def daemon(corpus, tmp_path):
    (engine,) = engines(("triseek-daemon",), "tiny", tmp_path / "engines")
    engine.prepare(corpus)
    yield engine
    engine.close()


def test_the_daemon_takes_part_in_cases_sessions_and_the_update(results):
    (tiny,) = results["corpora"]

    asked = {case["name"]: case["engines"]["triseek-daemon"]["status"] for case in tiny["cases"]}
    assert set(asked.values()) == {"equal"}
    assert len(asked) == 13
    assert tiny["sessions"][0]["engines"]["triseek-daemon"]["queries"] == 20
    assert tiny["update"]["triseek-daemon"]["status"] == "equal"
    assert tiny["update"]["triseek-daemon"]["update"] is None
    assert tiny["resident_bytes"]["triseek-daemon"] > 20e6
    assert report.errors(results) == []


def test_overhead_is_the_command_less_the_search_less_an_interpreter(told):
    for case in told["overhead"]["cases"]:
        parts = [case[part]["median_ms"] for part in ("command", "inprocess", "python -c pass")]
        assert case["overhead_ms"] == pytest.approx(parts[0] - parts[1] - parts[2], abs=0.001)
        assert 0 < case["served"]["median_ms"] < case["command"]["median_ms"]
    assert told["overhead"]["small"]["cases"] == 13


def test_large_outputs_and_slow_searches_are_kept_apart():
    pipe = 64 << 10

    assert overhead._kind(pipe, 0.001) == "small"
    assert overhead._kind(pipe + 1, 0.001) == "large"
    assert overhead._kind(0, 0.2) == "slow"


def test_every_edit_is_seen_by_the_sync_and_by_the_search_after_it(told):
    edited = told["edits"]

    assert edited["sync"]["n"] == 12
    assert edited["searched"]["after sync"]["n"] == edited["searched"]["at once"]["n"] == 12
    assert (edited["stale"], edited["not_synced"]) == (0, 0)
    assert 0 < edited["sync_in_daemon"]["median_ms"] < edited["sync"]["median_ms"]


def test_memory_and_a_session_are_told(told):
    memory = told["memory"]

    assert memory["asked"]["peak"] >= memory["asked"]["rss"] > memory["asked"]["anonymous"] > 0
    assert set(told["session"]["engines"]) == {"triseek-daemon", "rg"}
    assert told["session"]["engines"]["rg"]["queries"] == 20


def test_the_page_shows_all_of_it(told):
    page = daemon_report.section(told)

    assert "Stale answers: 0 of 24. Not `synced`: 0 of 12." in page
    assert "after 12 mixed questions" in page
    assert page.count("families/") == 13
    assert daemon_report.section({}) == ""


def test_no_daemon_is_left_behind(results):
    mine = [
        path for path in Path("/proc").glob("[0-9]*/cmdline") if b"triseek-bench-" in _read(path)
    ]

    assert mine == []


def test_a_limit_is_told_to_the_command_and_gives_the_first_in_path_order(daemon):
    output = daemon.ask(replace(CASE, limit=3), keep=True).output

    paths = [line.split(b":")[0] for line in output.splitlines()]
    assert paths == [b"./kernel/file000.c"] * 2 + [b"./kernel/file001.c"]


def test_an_answer_that_is_not_the_daemons_is_not_measured(daemon, monkeypatch):
    declining = daemon.environment() | {"GIT_CONFIG_COUNT": "0"}  # not the daemon's own settings
    monkeypatch.setattr(daemon, "environment", lambda: declining)

    with pytest.raises(Faulty, match="environ"):
        daemon.ask(CASE, keep=True)


def test_a_command_that_asks_no_daemon_is_not_measured(daemon, monkeypatch):
    monkeypatch.setattr("bench.engines.triseek_daemon._LOGGED_SECONDS_MAX", 0.2)
    alone = daemon.environment() | {"TRISEEK_NO_DAEMON": "1"}
    monkeypatch.setattr(daemon, "environment", lambda: alone)

    with pytest.raises(Faulty, match="did not ask the daemon"):
        daemon.ask(CASE, keep=True)


def test_a_stale_answer_is_counted_and_is_an_error(daemon, corpus, monkeypatch):
    """A search that shows what was there one edit before."""
    asked = daemon.ask
    late = []

    def delayed(case, **words):
        late.append(asked(case, **words))
        return late[-2] if len(late) > 1 else late[-1]

    monkeypatch.setattr(daemon, "ask", delayed)

    found = edits.measure(daemon, corpus, 4)

    assert found["stale"] == 7
    assert "_1 */" in found["stale_first"][0]
    assert report.errors({"corpora": [_corpus(daemon={"status": "error", "note": "7 stale"})]}) == [
        "linux: the daemon: 7 stale"
    ]


def test_the_edited_file_is_put_back(daemon, corpus):
    chosen = updates.chosen(corpus)
    before = chosen.read_bytes()

    edits.measure(daemon, corpus, 3)

    assert chosen.read_bytes() == before
    assert daemon.ask(EDITED, keep=True).output == b""


def test_the_copy_shares_no_file_with_the_corpus(tree, corpus):
    """A file with two names is swept for before each answer, which would be what is measured."""
    name = "kernel/file000.c"

    assert os.stat(corpus.root / name).st_nlink == 1
    assert (corpus.root / name).stat().st_mtime == (tree / name).stat().st_mtime


def test_commands_measured_alone_leave_no_daemon_behind():
    assert environment("/nowhere")["TRISEEK_NO_DAEMON"] == "1"


def test_budgets_of_the_daemon_are_held_against_its_figures():
    daemon = {
        "overhead": {"small": {"median_ms": 24.0, "max_ms": 26.0}},
        "edits": {"sync": {"median_ms": 19.0}, "stale": 0},
        "memory": {"asked": {"rss": 351e6}},
    }

    found = budgets.outcomes([{"corpora": [_corpus()]}, {"corpora": [_corpus(daemon=daemon)]}])

    states = [outcome.state for outcome in found if outcome.state != "not measured"]
    assert states == ["met", "missed", "met", "met", "missed"]


def test_a_run_that_measured_first_is_the_one_that_counts():
    early, late = (
        _corpus(daemon={"edits": {"sync": {"median_ms": ms}, "stale": 0}}) for ms in (5.0, 50.0)
    )

    found = budgets.outcomes([{"corpora": [early]}, {"corpora": [late]}])

    assert next(o.measured for o in found if o.what.startswith("sync")) == "5 ms"


def test_it_says_how_it_is_asked():
    (engine,) = engines(("triseek-daemon",), "tiny", Path("/nowhere"))

    assert isinstance(engine, TriseekDaemon)
    assert engine.version().startswith("triseek ")
    assert "asked by" in engine.version()


def _corpus(**more):
    empty = {"builds": {}, "update": {}, "fresh_install": {}, "cases": [], "size_bytes": 1}
    return {"name": "linux", **empty, **more}


def _read(path):
    try:
        return path.read_bytes()
    except OSError:
        return b""
