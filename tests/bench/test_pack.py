"""The evaluation of context packs: the rule that makes tasks, the peers, the figures."""

from __future__ import annotations

import pytest

from bench import corpora
from bench.model import Faulty
from bench.pack import metrics, rankers, report, tasks
from bench.pack.run import Project, projects, run
from bench.progress import Progress
from tests.bench.histories import History

TREE = {
    "src/retry.py": "def retry_delay(attempt):\n    return 2**attempt\n",
    "src/pool.py": "class SocketPool:\n    def close(self):\n        pass\n",
    "src/clock.py": "def now():\n    return 0\n",
    "tests/test_pool.py": "def test_close_of_socket_pool():\n    SocketPool().close()\n",
    "README.md": "socket pool, retry delay, clock\n",
}


@pytest.fixture
def history(tmp_path):
    found = History(tmp_path / "history")
    found.commit("first", TREE)
    found.git("tag", "v1")
    return found


@pytest.fixture
def tree(tmp_path):
    root = tmp_path / "tree"
    for name, text in TREE.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_a_commit_that_modifies_sources_of_the_tree_is_a_task(history, tree):
    history.commit("The retry delay doubles too soon", {"src/retry.py": "x\n", "README.md": "x\n"})
    history.commit("Close each socket of a pool", {"src/pool.py": "y\n", "src/clock.py": "y\n"})

    found = tasks.tasks(history.folder, "v1", tree, most=10)

    assert found == [
        ("The retry delay doubles too soon", {"src/retry.py"}),
        ("Close each socket of a pool", {"src/pool.py", "src/clock.py"}),
    ]
    assert tasks.tasks(history.folder, "v1", tree, most=1) == found[:1]


@pytest.mark.parametrize(
    ("subject", "files"),
    [
        ("Only tests of the socket pool", {"tests/test_pool.py": "x\n"}),
        ("A module that is entirely new", {"src/new.py": "x\n", "src/pool.py": "x\n"}),
        ("Bump version to two point zero", {"src/pool.py": "x\n"}),
        ("Apply suggestions from code review", {"src/pool.py": "x\n"}),
        ("Improve src/pool.py a good deal", {"src/pool.py": "x\n"}),
        ("Too few words", {"src/pool.py": "x\n"}),
        ("Docs: speak of pools and sockets", {"README.md": "x\n"}),
    ],
)
def test_other_commits_are_none(history, tree, subject, files):
    history.commit(subject, files)

    assert tasks.tasks(history.folder, "v1", tree, most=10) == []


def test_a_history_without_the_base_is_refused(history, tree):
    with pytest.raises(Faulty, match="no history after v9"):
        tasks.tasks(history.folder, "v9", tree, most=10)


def test_the_digest_knows_tasks_apart():
    one = tasks.Task("goal", frozenset({"a.py", "b.py"}))

    assert tasks.digest([one]) == tasks.digest([tasks.Task("goal", frozenset({"b.py", "a.py"}))])
    assert tasks.digest([one]) != tasks.digest([tasks.Task("goal", frozenset({"a.py"}))])


def test_bm25_is_the_formula(tree, rg):
    """One term, by hand: idf x tf x (k1 + 1) / (tf + k1) orders by tf and length."""
    (tree / "often.py").write_text("zeta zeta zeta\n")
    (tree / "once.py").write_text("zeta other words\n")

    ranked = rankers.Bm25(tree, rg, sources_only=False).rank("Zeta")

    assert ranked == ["often.py", "once.py"]


def test_bm25_of_sources_sees_nothing_else(tree, rg):
    goal = "close of socket pool"

    assert rankers.Bm25(tree, rg, sources_only=True).rank(goal) == ["src/pool.py"]
    assert "tests/test_pool.py" in rankers.Bm25(tree, rg, sources_only=False).rank(goal)


def test_rg_counts_lines_of_the_longest_word(tree, rg):
    (tree / "src/clock.py").write_text("retry_DELAYED\nDELAYED\n")

    assert rankers.Ripgrep(tree, rg).rank("is delayed") == ["src/clock.py"]


@pytest.mark.parametrize(
    ("ranked", "rank"), [(["a", "b"], 1), (["c", "b", "a"], 2), (["c"], 0), ([], 0)]
)
def test_the_rank_is_that_of_the_first_changed_file(ranked, rank):
    assert metrics.rank_of({"a", "b"}, ranked) == rank


def test_figures_of_ranks():
    assert [metrics.METRICS["hit@4"](rank) for rank in (0, 1, 4, 5)] == [0, 1, 1, 0]
    assert metrics.METRICS["MRR"](4) == 0.25
    assert metrics.METRICS["MRR"](0) == 0


def test_an_interval_holds_its_mean_and_is_the_same_each_time():
    found = metrics.interval([0.0, 1.0] * 50)

    assert found.low < found.mean == 0.5 < found.high
    assert 0.38 < found.low < 0.43  # 0.5 - 1.96 x 0.05
    assert found == metrics.interval([0.0, 1.0] * 50)
    assert metrics.interval([1.0] * 9) == (1, 1, 1)


def test_the_halves_share_no_project():
    tuning, reported = projects("tuning"), projects("reported")

    assert len(reported) >= 4
    assert not {each.name for each in tuning} & {each.name for each in reported}
    assert not {each.git for each in tuning} & {each.git for each in reported}


def test_a_whole_run_finds_what_was_changed(history, tree, rg, monkeypatch, tmp_path):
    history.commit("The retry delay doubles too soon", {"src/retry.py": "x\n"})
    history.commit("Close each socket of a pool", {"src/pool.py": "y\n"})
    project = Project("shop", "reported", "", "v1", {"kind": "sdist"}, 10)
    monkeypatch.setattr("bench.pack.run.projects", lambda half: [project])
    monkeypatch.setattr(corpora, "fetch", lambda name, source: (tree, "1"))

    results = run("reported", {"shop": history.folder}, rg, Progress())

    (measured,) = results["projects"]
    assert measured["rankers"]["context_pack"]["ranks"] == [1, 1]
    page = report.write(results, {"cpu": "x", "cores": 2}, tmp_path / "record", tmp_path)
    assert "| context_pack | 1.000 (1.000 to 1.000) |" in page.read_text()
    assert "retry delay" not in (tmp_path / "record" / "results.json").read_text()
