"""Which session is meant, what is refused, and that no answer is longer than one can afford."""

from __future__ import annotations

import functools
import json
import os
import stat
from pathlib import Path

import pytest

from tests.conftest import plant
from tests.service.asked import Asked
from triseek import paths
from triseek.errors import (
    BackendFailure,
    Busy,
    DaemonUnreachable,
    InvalidQuery,
    InvalidRequest,
    TriseekError,
    VersionMismatch,
)
from triseek.ipc import address, client
from triseek.mcp import server
from triseek.model import tools
from triseek.service import envelopes, session_pages, session_tools
from triseek.service.desk import Call
from triseek.service.tools import chosen
from triseek.sessions import pack

BOUND = 10_000
"""Tokens above which clients warn."""
PIN = tools.PinnedLines(path="src/a.py", line_start=1, line_end=2)


@pytest.fixture
def asked(tmp_path, monkeypatch):
    asked = Asked(tmp_path)
    monkeypatch.setattr(client, "ask", asked.ask)
    yield asked
    asked.noting.close()


def opened(asked, session_id="mine", call=None):
    request = tools.SessionOpenRequest(goal="mend a", session_id=session_id)
    return session_tools.open_(asked.desk, request, call or asked.call)


def status(asked, session_id="", call=None):
    request = tools.SessionStatusRequest(session_id=session_id)
    told = session_tools.status(asked.desk, request, call or asked.call)
    return told["session"]["session_id"]


def snapshot(asked, **more):
    request = tools.SessionSnapshotRequest(**more)
    return session_tools.snapshot(asked.desk, request, asked.call)


def test_a_session_that_is_opened_is_current(asked):
    opened(asked, "one")
    opened(asked, "two", Call(connection="another"))

    assert status(asked) == "one"
    assert status(asked, "two") == "two"


def test_a_session_that_is_resumed_is_current(asked):
    opened(asked, "one")
    made = snapshot(asked)
    opened(asked, "two")
    request = tools.SessionResumeRequest(snapshot_id=made["snapshot_id"])
    session_tools.resume(asked.desk, request, asked.call)

    assert status(asked) == "one"


def test_without_a_current_one_the_open_session_is_meant(asked):
    opened(asked, "one", Call(connection="another"))

    assert status(asked) == "one"


def test_without_an_open_one_there_is_none(asked):
    with pytest.raises(InvalidRequest, match="no session is open"):
        status(asked)


def test_only_a_current_session_is_closed_without_its_name(asked):
    opened(asked, "one", Call(connection="another"))
    request = tools.SessionCloseRequest(status="resolved")
    with pytest.raises(InvalidQuery, match="which to close"):
        session_tools.close(asked.desk, request, asked.call)

    told = session_tools.close(asked.desk, request, Call(connection="another"))
    assert told["session"]["status"] == "resolved"


def test_a_session_that_ends_is_nobodys_current_one(asked):
    another = Call(connection="another")
    opened(asked, "one")
    opened(asked, "one", another)
    session_tools.handoff(asked.desk, tools.SessionHandoffRequest(), asked.call)

    assert asked.desk.session(asked.call) == asked.desk.session(another) == ""


@pytest.mark.parametrize("name", ["..", "../x", "a/b", "-" * 129, "a b", "é", ".hidden"])
def test_what_is_no_id_is_not_even_asked(asked, name):
    requests = [
        (session_tools.open_, tools.SessionOpenRequest(session_id=name)),
        (session_tools.status, tools.SessionStatusRequest(session_id=name)),
        (session_tools.close, tools.SessionCloseRequest(session_id=name, status="resolved")),
        (session_tools.snapshot, tools.SessionSnapshotRequest(session_id=name)),
        (session_tools.snapshots, tools.SessionSnapshotListRequest(session_id=name)),
        (session_tools.snapshot_shown, tools.SessionSnapshotGetRequest(snapshot_id=name)),
        (session_tools.resume, tools.SessionResumeRequest(snapshot_id=name)),
        (
            session_tools.difference,
            tools.SessionSnapshotDiffRequest(snapshot_a="a", snapshot_b=name),
        ),
    ]
    for ask, request in requests:
        with pytest.raises(InvalidRequest, match="is no id"):
            ask(asked.desk, request, asked.call)
    assert asked.asked == []


@pytest.mark.parametrize("name", ["", "  "])
def test_a_snapshot_has_to_be_named(asked, name):
    with pytest.raises(InvalidRequest, match="snapshot_id"):
        session_tools.snapshot_shown(
            asked.desk, tools.SessionSnapshotGetRequest(snapshot_id=name), asked.call
        )


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (VersionMismatch("the daemon is another's"), "VERSION_MISMATCH"),
        (Busy("many"), "BUSY"),
        (DaemonUnreachable("it does not answer"), "does not answer"),
    ],
)
def test_a_daemon_that_does_not_answer_is_a_failure(asked, error, said):
    asked.fails = lambda _: error
    with pytest.raises(BackendFailure, match=said):
        opened(asked)


def test_that_no_daemon_runs_is_said_in_the_contracts_words(asked):
    def absent(_):
        error = DaemonUnreachable("none runs")
        error.__cause__ = address.Absent("none runs")
        return error

    asked.fails = absent
    with pytest.raises(BackendFailure) as caught:
        opened(asked)
    assert str(caught.value) == (
        "TriSeek daemon is not running; session tools require `triseek daemon start`"
    )


def test_the_client_is_the_source_unless_another_is_named(asked):
    opened(asked)

    assert snapshot(asked)["manifest"]["source_harness"] == "claude_code"
    named = snapshot(asked, source_harness="Codex", source_model="m")["manifest"]
    assert (named["source_harness"], named["source_model"]) == ("codex", "m")


def test_lines_are_pinned(asked):
    opened(asked)
    made = snapshot(asked, pinned_snippet_paths=(PIN,))
    held = session_tools.snapshot_shown(
        asked.desk, tools.SessionSnapshotGetRequest(snapshot_id=made["snapshot_id"]), asked.call
    )

    [pinned] = held["snapshot"]["pinned_snippets"]
    assert (pinned["path"], pinned["line_end"]) == ("src/a.py", 2)
    assert pinned["text"] == "line 1 of a\nline 2 of a"


@pytest.mark.parametrize(
    "pin",
    [
        tools.PinnedLines(path="", line_start=1, line_end=1),
        tools.PinnedLines(path="a\0b", line_start=1, line_end=1),
        tools.PinnedLines(path="../elsewhere", line_start=1, line_end=1),
        tools.PinnedLines(path="src/a.py", line_start=0, line_end=1),
        tools.PinnedLines(path="src/a.py", line_start=3, line_end=2),
        tools.PinnedLines(path="src/none.py", line_start=1, line_end=1),
    ],
)
def test_what_cannot_be_pinned_is_refused(asked, pin):
    opened(asked)
    with pytest.raises((InvalidQuery, InvalidRequest)):
        snapshot(asked, pinned_snippet_paths=(pin,))


def test_no_more_is_pinned_than_is_allowed(asked):
    opened(asked)
    with pytest.raises(InvalidRequest, match="at most 200"):
        snapshot(asked, pinned_snippet_paths=(PIN,) * 201)


@pytest.mark.parametrize(
    "output",
    ["src/a.py", "x.tgz", "  ", "a\0.tcp", "/etc/passwd", "/tmp/x.tcp", "../x.tcp", "..tcp", ".tcp",
     "src/x.tcp", ".x.tcp", "~/x.tcp", "x.tcp/", "x.tcp\n", "x\u202e.tcp", "a\\b.tcp", "..",
     "x" * 200 + ".tcp"],
)  # fmt: skip
def test_an_output_that_is_no_packs_file_name_is_refused(asked, output, tmp_path):
    opened(asked)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InvalidRequest, match="output "):
        session_tools.handoff(asked.desk, tools.SessionHandoffRequest(output=output), asked.call)
    assert status(asked) == "mine"
    assert sorted(tmp_path.rglob("*")) == before


def test_a_handoff_writes_its_pack_into_the_exports_folder(asked, home):
    opened(asked)
    told = session_tools.handoff(
        asked.desk, tools.SessionHandoffRequest(output="x.tcp"), asked.call
    )

    written = home / "exports" / "x.tcp"
    assert told["pack"] == str(written)
    assert pack.unpack(written).snapshot.manifest.snapshot_id == told["snapshot_id"]
    assert stat.S_IMODE(written.stat().st_mode) == 0o600
    assert stat.S_IMODE(written.parent.stat().st_mode) == 0o700
    assert told["session"]["status"] == "resolved"


def test_a_handoff_overwrites_nothing_through_links(asked, home, tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("precious")
    exports = home / "exports"
    exports.mkdir(mode=0o700)
    (exports / "x.tcp").symlink_to(precious)
    (exports / f"x.tcp.{os.getpid()}.partial").symlink_to(precious)
    opened(asked)

    session_tools.handoff(asked.desk, tools.SessionHandoffRequest(output="x.tcp"), asked.call)

    assert precious.read_text() == "precious"
    assert not (exports / "x.tcp").is_symlink()
    assert [path.name for path in exports.iterdir()] == ["x.tcp"]


def test_an_exports_folder_that_is_a_link_is_not_written_to(asked, home, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (home / "exports").symlink_to(tmp_path / "elsewhere")
    opened(asked)

    with pytest.raises(TriseekError, match="is a link"):
        session_tools.handoff(asked.desk, tools.SessionHandoffRequest(output="x.tcp"), asked.call)
    assert not list((tmp_path / "elsewhere").iterdir())


def test_a_damaged_checkpoint_is_named_and_hides_no_other(asked, monkeypatch):
    """Taken in by an earlier version, or damaged since; the client reads what can be encoded."""
    opened(asked)
    taken = snapshot(asked)["snapshot_id"]
    there = Path(paths.snapshots())
    document = json.loads((there / taken / "manifest.json").read_bytes())
    strange = {**document, "snapshot_id": "strange", "goal": "\ud800", "repo_root": "/elsewhere"}
    plant(there, {"strange/manifest.json": json.dumps(strange)})
    plant(there, {"cut-off/manifest.json": json.dumps(document)[:-9]})
    anywhere = functools.partial(asked.worked.ask, target_root=None)
    monkeypatch.setattr(client, "ask", lambda verb, *_, **__: anywhere(verb))

    told = through_the_server(asked, "session_snapshot_list")

    assert {one["snapshot_id"] for one in told["snapshots"]} == {taken, "strange"}
    [damaged] = told["damaged"]
    assert damaged["snapshot_id"] == "cut-off"
    assert damaged["reason"]


# Bounds


def test_of_many_damaged_checkpoints_the_first_are_named_and_the_rest_counted(asked):
    opened(asked)
    taken = snapshot(asked)["snapshot_id"]
    for number in range(300):
        plant(Path(paths.snapshots()), {f"snap_{number:03}/manifest.json": "{"})

    told = through_the_server(asked, "session_snapshot_list")

    assert [one["snapshot_id"] for one in told["snapshots"]] == [taken]
    named = [one["snapshot_id"] for one in told["damaged"]]
    assert named == [f"snap_{number:03}" for number in range(len(named))]
    assert 0 < len(named) < 300
    assert told["omitted"] == {"damaged": 300 - len(named)}
    assert envelopes.cost(told["damaged"]) < BOUND


def through_the_server(asked, tool):
    """What a client is sent for a call without arguments, as JSON of UTF-8."""
    [verb] = [verb for verb in chosen(["session"]) if verb.name == tool]
    meant, envelope = server.Tools(asked.desk, [verb])._answer(verb, {}, asked.call)
    result = server._result(tool, meant, envelope)
    sent = json.loads(result.model_dump_json(by_alias=True).encode())
    assert not sent["isError"], sent
    assert sent["content"][0]["text"].startswith(f"{tool}: ")
    return sent["structuredContent"]


def entry(number, size=50):
    return {
        "schema_version": 1, "entry_id": number, "session_id": "mine", "ts": 1, "kind": "search",
        "payload": {"query": "x" * size},
    }  # fmt: skip


def manifest(**more):
    return {"snapshot_id": "snap_1", "session_id": "mine", "repo_dirty_files": [], **more}


def huge(size):
    paths = [f"src/some/folder/file_{number}.py" for number in range(size)]
    file = {"sha": "0" * 64, "line_start": 1, "line_end": 9, "last_read_at": 1}
    return {
        "snapshot": {
            "manifest": manifest(repo_dirty_files=paths),
            "working_set": {
                "schema_version": 1,
                "files_read": [{"path": path, **file} for path in paths],
                "searches_run": [
                    {
                        "search_id": f"search-{number}",
                        "query": "x" * 400,
                        "result_paths": paths[:20],
                    }
                    for number in range(size)
                ],
                "frecency_top_n": [[path, 1.0] for path in paths],
            },
            "action_log": [entry(number) for number in range(size)],
            "pinned_snippets": [{"path": path, "text": "y" * 2_000} for path in paths],
            "git_state": {"dirty_files": paths, "hunk_summary": dict.fromkeys(paths, 3)},
            "briefing": "z" * 6_000,
        }
    }


def test_of_a_huge_snapshot_the_newest_entries_are_shown_and_the_rest_counted():
    whole = huge(5_000)
    shown = session_pages.snapshot(whole)
    log, held = shown["snapshot"]["action_log"], whole["snapshot"]

    assert envelopes.cost(shown) < BOUND
    assert log == held["action_log"][-len(log) :]
    assert len(log) > 20
    assert len(log) + shown["omitted"]["action_log"] == 5_000
    for name in ("files_read", "searches_run", "frecency_top_n"):
        kept = shown["snapshot"]["working_set"][name]
        assert kept == held["working_set"][name][: len(kept)]
        assert len(kept) + shown["omitted"][name] == 5_000
    assert shown["snapshot"]["manifest"]["repo_dirty_files_omitted"] > 4_000


def test_a_small_snapshot_is_shown_as_it_is():
    whole = huge(2)

    assert session_pages.snapshot(whole) == whole


def test_one_thing_larger_than_its_share_leaves_the_rest():
    whole = huge(1)
    whole["snapshot"]["action_log"] = [entry(1), entry(2, size=100_000)]
    shown = session_pages.snapshot(whole)

    assert shown["snapshot"]["action_log"] == []
    assert shown["omitted"] == {"action_log": 2}
    assert shown["snapshot"]["working_set"] == whole["snapshot"]["working_set"]


def test_lists_are_bounded():
    sessions = [{"session_id": f"s{number}", "goal": "g" * 2_000} for number in range(1_000)]
    listed = session_pages.listed({"sessions": sessions}, "sessions")
    manifests = session_pages.manifests(
        {"snapshots": [manifest(repo_dirty_files=["a" * 80] * 400) for _ in range(500)]}
    )

    assert envelopes.cost(listed) < BOUND
    assert listed["sessions"] == sessions[: len(listed["sessions"])]
    assert listed["omitted"]["sessions"] + len(listed["sessions"]) == 1_000
    assert envelopes.cost(manifests) < BOUND
    assert manifests["omitted"]["snapshots"] > 400


def test_differences_and_resumes_are_bounded():
    paths = [f"src/some/folder/file_{number}.py" for number in range(2_000)]
    names = ("added_files", "removed_files", "changed_files", "added_searches", "removed_searches")
    diff = session_pages.difference({"diff": dict.fromkeys(names, paths)})
    resumed = session_pages.resumed(
        {
            "hydration_report": {"stale_files": [{"path": p, "reason": "changed"} for p in paths]},
            "searches": [{"query": "x" * 400, "result_paths": paths[:20]}] * 300,
        }
    )

    assert envelopes.cost(diff) < BOUND
    assert set(diff["omitted"]) == set(names)
    assert envelopes.cost(resumed) < BOUND
    assert set(resumed["omitted"]) == {"stale_files", "searches"}
