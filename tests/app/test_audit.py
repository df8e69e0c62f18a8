"""What an audit sums up, and that it stays within bounds whatever the logs hold."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triseek import paths
from triseek.app import audit
from triseek.app.audit import Audit
from triseek.errors import InvalidRequest
from triseek.model.session import LogEntry, Session
from triseek.sessions import files
from triseek.sessions.lifecycle import Sessions

SESSION = Session(session_id="mine", goal="g", repo_root="/repo", created_at=1, updated_at=9)


def entry(number, kind, at=None, **payload):
    ts = number if at is None else at
    return LogEntry(entry_id=number, session_id="mine", ts=ts, kind=kind, payload=payload)


def summed(*entries, since=0):
    audit = Audit("/repo", since)
    audit.take(SESSION, entries)
    return audit.report().document()


CLAUDE = {"harness": "claude_code", "conversation": "session/a/"}
CODEX = {"harness": "codex", "conversation": "session/b/explorer"}
WORK = [
    entry(1, "session_open", session=SESSION.document()),
    entry(2, "prompt", prompt="why?", **CLAUDE),
    entry(3, "read", path="a.py", sha="a" * 64, **CLAUDE),
    entry(4, "read", path="a.py", sha="a" * 64, **CODEX),
    entry(5, "edit", path="a.py", sha="b" * 64, **CODEX),
    entry(6, "read_denied", path="a.py", sha="b" * 64, tokens=120, **CODEX),
    entry(7, "read_denied", path="b.py", tokens=30, **CLAUDE),
    entry(8, "search", arguments={"query": "x"}, total_line_matches=3, result_paths=["a.py"],
          **CLAUDE),
    entry(9, "search", arguments={"query": "x"}, total_line_matches=0, result_paths=[], **CODEX),
    entry(10, "edit", path="a.py", sha="a" * 64, **CODEX),
    entry(11, "compact", source="auto", **CLAUDE),
    entry(12, "context_pack", tool="context_pack", **CODEX),
    entry(13, "read", outside=True, **CODEX),
]  # fmt: skip


def test_it_counts_by_agent_by_file_and_in_all():
    told = summed(*WORK)

    assert told["totals"] == {
        "entries": 13, "reads": 3, "edits": 2, "searches": 2, "refused": 2,
        "tokens_not_read": 150, "prompts": 1, "compactions": 1, "files_read": 1,
        "files_edited": 1,
    }  # fmt: skip
    by_name = {one["harness"]: one for one in told["harnesses"]}
    assert list(by_name) == ["claude_code", "codex"]
    assert by_name["codex"]["reads"] == 2
    assert by_name["codex"]["tokens_not_read"] == 120
    assert [(one["harness"], one["conversation"], one["entries"]) for one in told["conversations"]]\
        == [("claude_code", "session/a/", 5), ("codex", "session/b/explorer", 7)]  # fmt: skip
    assert told["files"][0] == {
        "path": "a.py", "reads": 2, "edits": 2, "refused": 1, "tokens_not_read": 120,
        "taken_back": True, "by": ["claude_code", "codex"], "first_at": 3, "last_at": 10,
    }  # fmt: skip
    assert told["searches"] == [
        {"query": "x", "kind": "literal", "times": 2, "matches": 0, "files": 0,
         "by": ["claude_code", "codex"], "first_at": 8, "last_at": 9},
    ]  # fmt: skip
    assert told["dead_ends"] == [
        {"what": "search", "query": "x", "kind": "literal", "entry_id": 9, "at": 9,
         "by": ["claude_code", "codex"]},
        {"what": "edit", "path": "a.py", "entry_id": 10, "at": 10, "by": ["claude_code", "codex"]},
    ]  # fmt: skip
    assert told["prompts"] == [
        {"entry_id": 2, "session_id": "mine", "at": 2, "harness": "claude_code", "prompt": "why?"}
    ]
    assert told["compactions"][0]["source"] == "auto"
    assert {one["kind"]: one["times"] for one in told["kinds"]}["context_pack"] == 1
    assert set(told["omitted"].values()) == {0}
    assert (told["first_at"], told["last_at"]) == (1, 13)


@pytest.mark.parametrize(
    ("then", "left"),
    [
        (entry(14, "read", at=126, path="a.py", **CODEX), 0),
        (entry(14, "read", at=127, path="a.py", **CODEX), 120),
        (entry(14, "read", at=126, path="a.py", **CLAUDE), 120),
        (entry(14, "edit", at=126, path="a.py", **CODEX), 120),
    ],
    ids=["soon", "later", "by another", "an edit"],
)
def test_what_is_read_soon_after_all_was_not_spared(then, left):
    told = summed(*WORK, then)

    assert told["totals"]["tokens_not_read"] == 30 + left
    assert told["files"][0]["tokens_not_read"] == left
    assert sum(one["tokens_not_read"] for one in told["conversations"]) == 30 + left
    assert told["totals"]["refused"] == 2


def test_the_parts_make_up_the_whole():
    told = summed(*WORK)
    for name in ("reads", "edits", "searches", "refused", "tokens_not_read", "prompts"):
        assert sum(one[name] for one in told["harnesses"]) == told["totals"][name]
        assert sum(one[name] for one in told["conversations"]) == told["totals"][name]
    assert sum(one["times"] for one in told["kinds"]) == told["totals"]["entries"] == 13


def test_only_what_was_done_since_counts():
    told = summed(*WORK, since=9)

    assert told["since"] == 9
    assert told["totals"]["entries"] == 5
    assert told["first_at"] == 9
    assert summed(*WORK, since=99)["sessions"] == []


def test_of_too_much_the_rest_is_only_counted(monkeypatch):
    for name in ("FILES_MAX", "SEARCHES_MAX", "CONVERSATIONS_MAX", "_HARNESSES_MAX", "_KINDS_MAX"):
        monkeypatch.setattr(audit, name, 3)
    log = []
    for number in range(1, 60, 3):
        who = {"harness": f"h{number}", "conversation": f"c{number}"}
        log.append(entry(number, "read", path=f"f{number}", **who))
        log.append(entry(number + 1, "search", arguments={"query": f"q{number}"}, **who))
        log.append(entry(number + 2, f"tool{number}", **who))
    told = summed(*log)

    assert told["totals"]["reads"] == 20
    for name in ("files", "searches", "conversations", "harnesses", "kinds"):
        assert len(told[name]) == 3, name
        assert told["omitted"][name] > 0, name
    assert told["omitted"]["files"] == 17
    assert sum(one["times"] for one in told["kinds"]) + told["omitted"]["kinds"] == 60


def test_of_prompts_the_latest_stay():
    told = summed(*(entry(number, "prompt", prompt=str(number)) for number in range(1, 700)))

    assert len(told["prompts"]) == audit.LATEST_MAX
    assert told["prompts"][-1]["prompt"] == "699"
    assert told["omitted"]["prompts"] == 699 - audit.LATEST_MAX


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=6,
)
FIELDS = ("path", "sha", "harness", "conversation", "arguments", "query", "tokens", "prompt",
          "source", "result_paths", "total_line_matches", "tool", "outside", "session")  # fmt: skip
KINDS = ("read", "edit", "read_denied", "search", "prompt", "compact", "memo_check", "x")


@given(
    st.lists(
        st.tuples(st.sampled_from(KINDS), st.dictionaries(st.sampled_from(FIELDS), VALUES)),
        max_size=30,
    )
)
def test_whatever_a_log_holds_it_is_summed_up(rows):
    told = summed(*(entry(n, kind, **payload) for n, (kind, payload) in enumerate(rows, 1)))

    json.dumps(told)
    assert told["totals"]["entries"] == len(rows)


# Where logs are


@pytest.fixture
def sessions(home, tmp_path):
    """Two sessions of one repository and one of another."""
    (tmp_path / "repo/.git").mkdir(parents=True)
    (tmp_path / "repo/src").mkdir()
    (tmp_path / "other").mkdir()
    found = Sessions(paths.sessions(), lambda: 1_777_000_000)
    for name, root in (("one", "repo"), ("two", "repo"), ("far", "other")):
        found.open(str((tmp_path / root).resolve()), name, name)
        found.record(name, "read", {"path": f"{name}.py", "harness": "codex"})
    return found


def test_all_sessions_of_the_project_around_a_folder_are_summed(sessions, tmp_path):
    told = audit.of_root(str(tmp_path / "repo/src")).report().document()

    assert told["root"] == str((tmp_path / "repo").resolve())
    assert [one["session_id"] for one in told["sessions"]] == ["one", "two"]
    assert sorted(one["path"] for one in told["files"]) == ["one.py", "two.py"]


def test_or_one_alone(sessions):
    told = audit.of_session("far").report().document()

    assert [one["session_id"] for one in told["sessions"]] == ["far"]
    with pytest.raises(InvalidRequest, match="unknown session_id `none`"):
        audit.of_session("none")
    with pytest.raises(InvalidRequest, match="is no id"):
        audit.of_session("../one")


@pytest.mark.parametrize("damage", ["", "{", '{"schema_version": 2}', None])
def test_a_reader_writes_nothing_whatever_it_finds(damage, sessions, tmp_path):
    folder = Path(paths.sessions())
    index = folder / files.INDEX
    index.unlink() if damage is None else index.write_text(damage)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    told = audit.of_root(str(tmp_path / "repo")).report().document()

    assert len(told["sessions"]) == 2
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    assert files.peek(tmp_path / "nowhere") == {}
    assert not (tmp_path / "nowhere").exists()
