"""A whole run on the tiny tree, with the engines that need nothing but rg and git."""

import json
from dataclasses import replace

import pytest

from bench import budgets, compare, figures, record, report, run, searches
from bench.__main__ import main
from bench.engines.base import program_path
from bench.engines.registry import engines
from bench.model import Case, Faulty, Reply
from bench.profiles import QUICK
from bench.progress import Progress

pytestmark = pytest.mark.rg
PLAN = replace(QUICK, rounds_max=2, rounds_min=1)
CASE = Case(name="families/literal_high", patterns=("frequent_token",), fixed=True)


@pytest.fixture(scope="module")
def results(tree, rg):
    named = tuple(name for name in ("rg", "git-grep") if program_path(name.split("-")[0]))
    wanted = run.Wanted(
        profile=PLAN, corpora=("tiny",), engines=named, places={"tiny": tree}, groups=()
    )
    saved = []
    assert run.run(wanted, Progress(), saved.append) is saved[-1]
    return saved[-1]


def test_a_run_records_every_case_with_its_answer_and_times(results, tmp_path):
    (corpus,) = results["corpora"]
    high = next(case for case in corpus["cases"] if case["name"] == "families/literal_high")

    assert corpus["files"] == 302
    assert high["engines"]["rg"]["n"] >= 1
    assert high["request"]["patterns"][0] in {"first", "frequent_token", "line"}
    assert high["answer"]["lines"] in {300, 601}
    assert report.errors(results) == []
    assert record.read(_written(results, tmp_path))[0] == json.loads(json.dumps(results))


def test_every_question_of_a_session_is_asked(results):
    (session,) = results["corpora"][0]["sessions"]

    entry = session["engines"]["rg"]
    assert entry["queries"] == session["length"] == 20
    assert entry["total_ms"] == pytest.approx(20 * entry["per_query_ms"], rel=0.01)


def test_the_corpus_is_left_as_it_was(results, tree):
    """The changed file is changed in a copy."""
    assert results["corpora"][0]["update"]["rg"]["status"] == "equal"
    assert not [path for path in tree.rglob("*") if b"TRISEEK_BENCH" in _content(path)]
    assert not list(tree.rglob("*.triseek-bench"))


def test_a_report_is_written_with_every_figure(results, tmp_path):
    pytest.importorskip("matplotlib")
    folder = _written(results, tmp_path)

    assert main(["report", str(folder), "--out", str(tmp_path / "docs")]) == 0

    page = (tmp_path / "docs" / "results.md").read_text()
    assert "literal_high `" in page
    assert "0 met, 0 missed" in page
    assert compare.compared(results, results, "rg").count("1.00") >= 13


def _written(results, tmp_path):
    record.write(tmp_path, results, run.machine.describe())
    return tmp_path


class Liar:
    """An engine that drops a line."""

    name = "liar"
    rule = "exact"
    repeat_max = 1

    def __init__(self, honest):
        self.honest = honest
        self.asked = 0

    def refuses(self, case):
        return ""

    def ask(self, case, *, repeat=1, keep=False):
        self.asked += 1
        reply = self.honest.ask(case, repeat=repeat, keep=keep)
        return Reply(reply.seconds, reply.output.split(b"\n", 1)[1] if keep else b"")

    def read(self, case, reply):
        return self.honest.read(case, reply)


@pytest.fixture
def honest(tree, tmp_path, rg):
    (engine,) = engines(("rg",), "tiny", tmp_path)
    engine.root = tree
    return engine


def test_a_wrong_answer_is_an_error_and_is_not_timed(honest):
    liar = Liar(honest)

    told = searches.measure(CASE, [honest, liar], frozenset(), PLAN)

    assert told["engines"]["rg"]["rg_ratio"] == 1
    assert told["engines"]["liar"]["status"] == "error"
    assert "median_ms" not in told["engines"]["liar"]
    assert liar.asked == 1


class Quitter(Liar):
    """An engine that fails at its third question."""

    name = "quitter"

    def ask(self, case, *, repeat=1, keep=False):
        self.asked += 1
        if self.asked == 3:
            raise Faulty("gone")
        return self.honest.ask(case, repeat=repeat, keep=keep)


def test_an_engine_that_fails_while_timed_is_an_error_and_the_others_go_on(honest):
    told = searches.measure(CASE, [honest, Quitter(honest)], frozenset(), PLAN)

    assert told["engines"]["quitter"] == {"status": "error", "note": "gone"}
    assert told["engines"]["rg"]["n"] == 2


def test_a_pinned_corpus_with_another_count_stops_the_run(honest):
    with pytest.raises(Faulty, match="ripgrep found"):
        searches.measure(replace(CASE, expect=1), [honest], frozenset(), PLAN)


def test_few_samples_are_not_dressed_up():
    told = figures.reduced([0.003, 0.001, 0.002])

    assert (told["median_ms"], told["min_ms"], told["p95_ms"], told["n"]) == (2, 1, 3, 3)


def test_a_budget_is_met_only_when_every_case_meets_it():
    def case(name, ratio):
        return {"name": name, "engines": {"triseek": {"median_ms": 1.0, "rg_ratio": ratio}}}

    cases = [case("engine/kmalloc", 16.0), case("engine/file_operations", 14.0)]
    corpus = {"name": "linux", "cases": cases, "builds": {}, "update": {}, "size_bytes": 1}

    found = {o.case: o.state for o in budgets.outcomes([{"corpora": [corpus]}]) if o.case}

    assert found == {"engine/kmalloc": "met", "engine/file_operations": "missed"}


def test_an_absent_engine_is_said_to_be_absent(tmp_path):
    (engine,) = engines(("csearch",), "tiny", tmp_path)
    engine.settings = engine.settings | {"program": "no-such-program"}

    assert "no-such-program" in engine.missing()
    assert engine.missing().endswith("not found on PATH")


def test_an_unknown_corpus_is_one_clear_line(capsys, rg):
    assert main(["run", "--quick", "--corpus", "nowhere"]) == 2
    assert "no corpus named 'nowhere'" in capsys.readouterr().err


def _content(path):
    return path.read_bytes() if path.is_file() else b""
