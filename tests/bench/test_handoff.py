"""The evaluation of handoffs: what counts as held, what sessions are made of, what is played."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from bench.__main__ import main
from bench.handoff import (
    branches,
    changes,
    conversations,
    histories,
    imports,
    metrics,
    report,
    run,
    workdays,
)
from bench.handoff.arms import ARMS, BUDGETS, PARTS
from bench.handoff.metrics import Asked, Needs
from bench.handoff.stage import half_of, state
from bench.memo.replay import streams
from bench.model import Faulty
from bench.progress import Progress
from tests.bench.histories import History
from triseek.engine.service import Service
from triseek.memo.memo import Memo
from triseek.model.session import LogEntry
from triseek.sessions import hydration

DOCS = Path(__file__).parents[2] / "docs" / "benchmarks"
TREE = frozenset(("src/a.py", "src/b.py", "src/c.py", "tests/test_a.py", "README.md"))
WANTED = Needs(
    files=frozenset(("src/a.py", "src/b.py", "tests/test_a.py", "README.md")),
    edited=frozenset(("src/a.py",)),
    asked=(
        Asked("find_me", ("src/a.py", "src/c.py"), nothing=False),
        Asked("not_there", (), nothing=True),
    ),
    dead_queries=frozenset(("not_there",)),
    dead_files=frozenset(("src/b.py",)),
)


def held(text, wanted=WANTED):
    return metrics.held(text, wanted, TREE)


# What is held


def test_files_are_held_by_their_whole_path_alone():
    told = held("See `src/a.py`:10-20, a/README.md (edited) and test_a.py, xsrc/b.py, src/c.py.\n")

    assert told.files == 2 / 4
    assert told.edited == 1
    assert told.precision == 2 / 3
    assert told.per_1000 == pytest.approx(2 * 1_000 / told.tokens)


def test_a_text_that_says_nothing_holds_nothing():
    told = held("")

    assert told == (0, 0, 0, None, 0, 0, 0, None)


def test_a_text_that_names_everything_is_found_out_by_its_precision():
    everything = [f"src/{number}.py" for number in range(996)]
    text = "\n".join([*everything, *TREE])

    told = metrics.held(text, WANTED, TREE | set(everything))

    assert told.files == 1
    assert told.precision == pytest.approx(4 / 1_001)
    assert told.searches == told.dead_ends == 0


@pytest.mark.parametrize(
    ("line", "share"),
    [
        ("- literal: `find_me` -> `src/c.py`, `src/x.py`", 1 / 2),
        ("- `find_me` is in `src/b.py`", 0),  # a wrong answer
        ("- literal: `find_me` -> nothing", 0),
        ("src/a.py and src/c.py\nfind_me", 0),  # not said of it
        ("- `find_me_too` -> `src/a.py`", 0),
        ("- `not_there` (literal) finds nothing", 1 / 2),
        ("- not_there", 0),
    ],
)
def test_a_search_is_held_if_a_line_has_it_and_a_right_answer(line, share):
    assert held(line).searches == share


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("- `not_there` (literal) finds nothing", 1 / 2),
        ("- An edit of `src/b.py` was taken back\n- literal: `not_there` -> nothing", 1),
        ("## Ruled out\n\n- `not_there`\n- `src/b.py`\n", 1),
        ("## Ruled out\n\n- (none)\n\n## Files\n\n- `src/b.py`\n- `not_there`", 0),
    ],
)
def test_a_dead_end_is_held_if_the_text_says_that_it_is_one(text, share):
    assert held(text).dead_ends == share


def test_where_nothing_was_needed_there_is_no_share_of_it():
    nothing = Needs(frozenset(), frozenset(), (), frozenset(), frozenset())

    told = held("src/a.py", nothing)

    assert (told.files, told.searches, told.answers, told.dead_ends) == (None,) * 4
    assert told.precision == 0


# What is needed


def entry(kind, **payload):
    return LogEntry(entry_id=1, session_id="s", ts=0, kind=kind, payload=payload)


def test_needed_is_what_is_used_after_the_cut_and_was_there_at_it():
    before = [entry("read", path="src/a.py", sha="1")]
    after = [
        entry("read", path="src/b.py", sha="2"),
        entry("edit", path="src/a.py", sha="3"),
        entry("edit", path="src/new.py", sha="4"),
        entry("read", outside=True),
        entry("prompt", prompt="src/c.py"),
    ]

    wanted = metrics.needs(before, after, TREE)

    assert wanted.files == {"src/a.py", "src/b.py"}
    assert wanted.edited == {"src/a.py"}
    assert wanted.met == {"src/a.py"}


def test_a_dead_end_was_met_before_and_is_met_again():
    def search(query, *paths):
        count = {"total_line_matches": len(paths)}
        return entry("search", arguments={"query": query}, result_paths=list(paths), **count)

    before = [
        *(search(query) for query in ("again", "once", "opening", "found")),
        search("found", "src/a.py"),
        entry("read", path="src/b.py", sha="1"),
        entry("edit", path="src/b.py", sha="2"),
        entry("edit", path="src/b.py", sha="1"),
        entry("edit", path="src/c.py", sha="3"),
    ]
    after = [
        *(search(query) for query in ("again", "new", "found")),
        entry("edit", path="src/b.py", sha="2"),
        entry("edit", path="src/c.py", sha="3"),
    ]
    openings = [Asked("opening", (), nothing=True), Asked("once", ("src/a.py",), nothing=False)]

    wanted = metrics.needs(before, after, TREE, openings)

    assert wanted.dead_queries == {"again", "opening"}
    assert wanted.dead_files == {"src/b.py"}


# Sessions out of histories


class Branches(History):
    def branch(self, title, commits):
        self.git("checkout", "-q", "-b", "work")
        for number, files in enumerate(commits):
            self.commit(f"step {number}", files)
        self.git("checkout", "-q", "main")
        body = f"Merge pull request #1 from ann/work\n\n{title}"
        self.git("merge", "-q", "--no-ff", "-m", body, "work")
        self.git("branch", "-q", "-D", "work")


POOL = "from app.clock import wall_clock\n\ndef close_pool(pool):\n    return {}\n"
STEPS = (
    {"app/pool.py": POOL.format("pool.close_pool_now()")},
    {"app/pool.py": POOL.format("wall_clock(pool)"), "app/clock.py": "def wall_clock(a):\n    a\n"},
    {"app/pool.py": POOL.format("pool.close_pool_now()")},
    {"tests/test_pool.py": "from app.pool import close_pool\n\nclose_pool(1)\n"},
    {"app/pool.py": POOL.format("pool.drain_pool()"), "README.md": "drain_pool\n"},
)


@pytest.fixture
def history(tmp_path):
    found = Branches(tmp_path / "history")
    found.commit("first", {
        "app/pool.py": POOL.format("None"), "app/clock.py": "def wall_clock():\n    return 0\n",
        "tests/test_pool.py": "", "README.md": "A pool\n",
    })  # fmt: skip
    found.branch("Drain the socket pool", STEPS)
    found.git("tag", "v1")
    return found


def test_a_branch_of_one_author_is_a_session(history):
    (found,) = branches.branches(history.folder, "v1")

    assert (found.goal, found.author, len(found.commits)) == ("Drain the socket pool", "Ann", 5)
    (series,) = branches.sessions("app", [found], short=3, long=3)
    assert series.kind == "branch"
    assert series.name == f"app-branch-{found.merge[:12]}"


def several(text):
    return {f"app/{name}.py": f"{text}\n" for name in "xyz"}


@pytest.mark.parametrize(
    ("title", "steps"),
    [
        ("Release of the pool", [several(number) for number in range(5)]),
        ("Too few commits of it", [several(number) for number in range(3)]),
        ("One file only again and again", [{"app/x.py": f"{n}\n"} for n in range(5)]),
    ],
)
def test_other_branches_are_none(history, title, steps):
    history.branch(title, steps)

    assert len(branches.branches(history.folder, "main")) == 1


def test_long_sessions_take_no_branch_of_a_short_one():
    found = [branches.Branch(f"{n:040}", "Ann", "a goal", "base", ("c",)) for n in range(7)]

    series = branches.sessions("app", found, short=2, long=2)

    assert [len(one.legs) for one in series] == [1, 1, 4]
    assert [leg.merge[-1] for leg in series[2].legs] == ["5", "4", "3", "2"]


def test_a_folder_without_the_tag_is_told_of(history):
    with pytest.raises(Faulty, match="git log"):
        branches.branches(history.folder, "v9")


@pytest.mark.parametrize(
    ("subject", "body", "goal"),
    [
        ("Merge pull request #7 from ann/pool", "\nDrain the pool\n", "Drain the pool"),
        ("Merge pull request #7 from ann/drain-the-pool", "", "drain the pool"),
        ("Merge branch 'drain_pool'", "* drain_pool:\n  x", "drain pool"),
    ],
)
def test_a_merge_tells_its_goal(subject, body, goal):
    assert branches.goal_of(subject, body) == goal


def test_what_was_done_for_a_commit_comes_from_its_lines(history):
    (found,) = branches.branches(history.folder, "v1")
    files = frozenset(("app/pool.py", "app/clock.py", "tests/test_pool.py", "README.md"))

    done = changes.work(history.folder, found.commits[1], files, "seed")

    assert done == changes.work(history.folder, found.commits[1], files, "seed")
    assert done.edited == ("app/clock.py", "app/pool.py")
    assert {path for path, _, _ in done.read} == {"app/clock.py", "app/pool.py"}
    assert set(done.asked) == {"wall_clock", "close_pool_now"}
    assert done.checked == ("close_pool_now",)


@pytest.mark.parametrize(
    ("path", "line", "found"),
    [
        ("tests/test_pool.py", "from app.pool import close_pool", ["app/pool.py"]),
        ("app/pool.py", "from . import clock", ["app/clock.py"]),
        ("app/pool.py", "import os", []),
        ("web/a.js", "const b = require('./b');", ["web/b.js"]),
        ("src/ops/run.rs", "use crate::util::toml::read;", ["src/util/toml.rs"]),
        ("README.md", "import app.pool", []),
    ],
)
def test_imports_are_found_by_their_names(path, line, found):
    files = {"app/pool.py", "app/clock.py", "web/b.js", "src/util/toml.rs"}

    assert imports.used(path, [line], files) == found


def test_who_begins_searches_for_the_words_of_the_goal():
    assert changes.openings("Drain the socket pool") == ["socket", "Drain", "socket pool"]
    assert changes.openings("a b") == []


def test_sessions_are_cut_between_commits():
    assert histories.points(4) == {1: [0.3], 2: [0.5], 3: [0.7]}
    assert histories.points(10) == {3: [0.3], 5: [0.5], 7: [0.7]}


# Played


@pytest.fixture
def played(history, tmp_path):
    (found,) = branches.branches(history.folder, "v1")
    (series,) = branches.sessions("app", [found], 1, 0)
    with state() as folder, Service() as service:
        tree = histories.checkout(history.folder, folder / "app")
        yield histories.play(series, tree, service, tmp_path / "session")


def test_a_played_branch_is_recorded_as_it_was_done(played):
    first, middle, last = played.cuts

    assert [cut.share for cut in played.cuts] == [0.3, 0.5, 0.7]
    assert {seen.path for seen in first.snapshot.working_set.files_read} >= {"app/pool.py"}
    assert first.snapshot.git.dirty_files == ["app/clock.py", "app/pool.py"]
    assert "+    return wall_clock(pool)" in first.diff
    assert first.needs.edited == {"app/pool.py", "tests/test_pool.py", "README.md"}
    # The third commit takes back what the second had done to a file that the last one edits.
    assert "app/pool.py" in middle.needs.dead_files
    assert last.needs.edited == {"app/pool.py", "README.md"}
    assert last.opened == 3


def test_zero_hits_that_are_asked_again_are_dead_ends(played):
    for cut in played.cuts:
        assert "socket pool" in cut.needs.dead_queries


def test_arms_keep_to_the_budget_and_the_payload_rules_out_dead_ends(played):
    told = run.measured(played)

    assert told["faults"] == []
    for cut in told["cuts"]:
        payload = metrics.Held(*cut["arms"]["payload"][1])
        diff = metrics.Held(*cut["arms"]["git diff"][1])
        empty = metrics.Held(*cut["arms"]["empty start"][1])
        assert payload.dead_ends == 1
        assert diff.dead_ends == empty.files == 0
        assert payload.files >= diff.files > 0


def test_each_part_left_out_is_missing_from_the_text(played):
    cut = played.cuts[1]
    whole = ARMS["payload"](cut, 3_000)
    signs = {
        "no working set": "^## (?:Working Set|Edits)", "no searches": "^## Searches",
        "no git state": "^- .*uncommitted",
    }  # fmt: skip

    assert signs.keys() == PARTS.keys()
    for name, sign in signs.items():
        assert re.search(sign, whole, re.MULTILINE)
        assert not re.search(sign, PARTS[name](cut, 3_000), re.MULTILINE)


def test_a_payload_that_is_empty_or_too_long_is_a_fault():
    assert list(run.faults("payload", ["", "", ""])) == ["payload: is empty"] * 3
    assert list(run.faults("git diff", ["", "", ""])) == []
    assert list(run.faults("payload", ["x" * 4_001, "x" * 4_001, "x"])) == [
        "payload: 4001 bytes, of a budget of 1000 tokens"
    ]


def test_a_run_is_repeated_to_the_last_digit(history, tmp_path, monkeypatch):
    monkeypatch.setattr(histories, "half_of", lambda _: "reported")
    project = histories.Project("app", "", "v1", 1, 0)
    clones = {"app": history.folder}

    first, second = (run.run("reported", [project], clones, [], Progress()) for _ in range(2))

    assert first["sessions"] == second["sessions"]
    assert first["sessions_digest"] == second["sessions_digest"]
    assert "Drain" not in str(first)
    page = report.write(first, {"cpu": "a", "cores": 2}, tmp_path / "record", tmp_path)
    assert "payload, 1,000" in page.read_text()
    page.write_text("Words of people.\n\n" + page.read_text())
    report.write(second, {"cpu": "a", "cores": 2}, tmp_path / "record", tmp_path)
    assert page.read_text().startswith("Words of people.")


def test_halves_are_drawn_by_name():
    halves = [half_of(f"app-branch-{number}") for number in range(200)]

    assert 60 < halves.count("reported") < 140


def test_a_workday_is_played_through_the_hooks(tmp_path):
    path = min(streams(), key=lambda path: path.stat().st_size)
    with state(), Service() as service:
        played = workdays.play(path, service, tmp_path / "day")

    told = run.measured(played)
    assert (played.kind, told["faults"]) == ("workday", [])
    assert played.group.startswith("pi ")
    assert [cut["share"] for cut in told["cuts"]] == [0.3, 0.5, 0.7]
    for cut in played.cuts:
        assert cut.needs.edited <= cut.needs.files <= cut.files
        assert cut.needs.files
    assert played.cuts[2].snapshot.git.dirty_files
    assert report.text({
        "half": "reported", "seed": "s", "sessions_digest": "d", "budgets": list(BUDGETS),
        "fields": list(metrics.Held._fields), "sessions": [told],
        "conversations": [CARRIED],
    })  # fmt: skip


CARRIED = {
    "name": "x", "prompts": 3, "subjects": 3, "instructions": 4,
    "carried": [[tokens, 1.0, True, True, True] for tokens in (200, 400, 900, 1_200)],
}  # fmt: skip


def test_a_conversation_is_carried(tmp_path):
    [one] = [each for each in conversations.conversations() if each.name == "csv-import"]
    with state(), Service() as service:
        by_budget = conversations.play(one, service, tmp_path)
    default = by_budget[-1]
    assert (default.instructions, default.follows, default.pinned) == (1.0, True, True)
    assert all(each.counts for each in by_budget)
    texts = [words for _, words in one.instructions]
    assert "- dates are dd.mm.yyyy" in texts
    assert not any("Umsatzanzeige" in words for words in texts)


def test_what_a_text_lacks_is_not_carried():
    [one] = [each for each in conversations.conversations() if each.name == "short-fix"]
    text = "> Add a regression test.\n\nLeft out: 1 decision."
    found = conversations.carried(one, text, "pin")
    assert (found.instructions, found.pinned, found.counts) == (0.5, False, True)
    [fault, *_] = conversations.faults([{**CARRIED, "carried": [[1, 0.5, True, True, False]] * 4}])
    assert "not counted" in fault


def test_the_quick_run_needs_nothing_from_outside(monkeypatch, capsys):
    smallest = sorted(streams(), key=lambda path: path.stat().st_size)[:2]
    monkeypatch.setattr("bench.memo.replay.streams", lambda: smallest)

    assert main(["handoff", "--quick"]) == 0
    assert "2 sessions of" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "fault"),
    [("", "payload: is empty"), ("src/pluggy/_hooks.py\n" * 2_000, "payload: 42000 bytes")],
)
def test_a_run_fails_by_a_payload_that_says_nothing_or_everything(text, fault, monkeypatch, capsys):
    """The payload is spoilt here to see that the run tells."""
    smallest = sorted(streams(), key=lambda path: path.stat().st_size)[:1]
    monkeypatch.setattr("bench.memo.replay.streams", lambda: smallest)
    monkeypatch.setattr(hydration, "payload", lambda *_: hydration.Payload(text, {}))

    assert main(["handoff", "--quick"]) == 1
    assert fault in capsys.readouterr().err


def test_the_payload_is_the_one_that_a_resume_gives(history, tmp_path):
    """Sessions are not handed over by the daemon here, so what it adds must be nothing."""
    from triseek.app.resume import Resuming
    from triseek.sessions.checkpoints import Checkpoints
    from triseek.sessions.lifecycle import Sessions
    from triseek.sessions.snapshot import Snapshots

    (found,) = branches.branches(history.folder, "v1")
    branch = found._replace(commits=found.commits[:4])
    (series,) = branches.sessions("app", [branch], 1, 0)
    with state() as folder, Service() as service:
        tree = histories.checkout(history.folder, folder / "app")
        played = histories.play(series, tree, service, tmp_path / "session")
        cut = played.cuts[-1]
        # The tree as it is at the last cut, before the commit that follows it.
        branches.git(tree, "restore", f"--source={branch.commits[2]}", "--worktree", "--", ".")
        sessions = Sessions(tmp_path / "session" / "sessions")
        snapshots = Snapshots(tmp_path / "session" / "snapshots")
        memo = Memo(None)
        resuming = Resuming(
            service, sessions, snapshots, Checkpoints(service, sessions, snapshots), memo
        )
        name = cut.snapshot.manifest.snapshot_id
        told = resuming.resume(name, str(tree), {}, 3_000)

    assert told.payload_markdown == ARMS["payload"](cut, 3_000)


def test_the_page_is_what_the_record_says():
    results, described = (
        json.loads((report.RECORD / name).read_text()) for name in ("results.json", "machine.json")
    )
    page = (DOCS / report.PAGE).read_text()

    assert page == report.generated(page.partition(report.MARK)[0], results, described)
    assert results["faults"] == []
