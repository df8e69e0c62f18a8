"""Which session is meant, what is refused, and that no answer is longer than one can afford."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from tests.app.asked import Asked
from tests.conftest import plant
from triseek import paths
from triseek.app.dispatch import Local
from triseek.app.registry import chosen
from triseek.engine.service import Service
from triseek.engine.tool_host import ToolHost
from triseek.errors import (
    BackendFailure,
    Busy,
    InvalidQuery,
    InvalidRequest,
    StateUnwritable,
    TriseekError,
)
from triseek.mcp import tool_handlers
from triseek.model import token_estimate
from triseek.model.call import Call
from triseek.sessions import handlers, pack, requests

BOUND = 10_000
"""Tokens above which clients warn."""
PIN = requests.PinnedLines(path="src/a.py", line_start=1, line_end=2)


@pytest.fixture
def asked(tmp_path):
    return Asked(tmp_path)


def opened(asked, session_id="mine", call=None):
    request = requests.SessionOpenRequest(goal="mend a", session_id=session_id)
    return handlers.open_(asked.context.session, request, call or asked.call)


def status(asked, session_id="", call=None):
    request = requests.SessionStatusRequest(session_id=session_id)
    told = handlers.status(asked.context.session, request, call or asked.call)
    return told["session"]["session_id"]


def snapshot(asked, **more):
    request = requests.SessionSnapshotRequest(**more)
    return handlers.snapshot(asked.context.session, request, asked.call)


def test_a_session_that_is_opened_is_current(asked):
    opened(asked, "one")
    opened(asked, "two", Call(connection="another"))

    assert status(asked) == "one"
    assert status(asked, "two") == "two"


def test_a_session_that_is_resumed_is_current(asked):
    opened(asked, "one")
    made = snapshot(asked)
    opened(asked, "two")
    request = requests.SessionResumeRequest(snapshot_id=made["snapshot_id"])
    handlers.resume(asked.context.session, request, asked.call)

    assert status(asked) == "one"


def test_without_a_current_one_the_open_session_is_meant(asked):
    opened(asked, "one", Call(connection="another"))

    assert status(asked) == "one"


def test_without_an_open_one_there_is_none(asked):
    with pytest.raises(InvalidRequest, match="no session is open"):
        status(asked)


def test_only_a_current_session_is_closed_without_its_name(asked):
    opened(asked, "one", Call(connection="another"))
    request = requests.SessionCloseRequest(status="resolved")
    with pytest.raises(InvalidQuery, match="which to close"):
        handlers.close(asked.context.session, request, asked.call)

    told = handlers.close(asked.context.session, request, Call(connection="another"))
    assert told["session"]["status"] == "resolved"


def test_a_session_that_ends_is_nobodys_current_one(asked):
    another = Call(connection="another")
    opened(asked, "one")
    opened(asked, "one", another)
    handlers.handoff(asked.context.session, requests.SessionHandoffRequest(), asked.call)

    assert asked.context.session.current("stdio") == asked.context.session.current("another") == ""


@pytest.mark.parametrize("name", ["..", "../x", "a/b", "-" * 129, "a b", "é", ".hidden"])
def test_what_is_no_id_is_not_even_asked(asked, name):
    asked_for = [
        (handlers.open_, requests.SessionOpenRequest(session_id=name)),
        (handlers.status, requests.SessionStatusRequest(session_id=name)),
        (handlers.close, requests.SessionCloseRequest(session_id=name, status="resolved")),
        (handlers.snapshot, requests.SessionSnapshotRequest(session_id=name)),
        (handlers.snapshots, requests.SessionSnapshotListRequest(session_id=name)),
        (handlers.snapshot_shown, requests.SessionSnapshotGetRequest(snapshot_id=name)),
        (handlers.resume, requests.SessionResumeRequest(snapshot_id=name)),
        (
            handlers.difference,
            requests.SessionSnapshotDiffRequest(snapshot_a="a", snapshot_b=name),
        ),
    ]
    for ask, request in asked_for:
        with pytest.raises(InvalidRequest, match="is no id"):
            ask(without_daemon(asked), request, asked.call)


@pytest.mark.parametrize("name", ["", "  "])
def test_a_snapshot_has_to_be_named(asked, name):
    with pytest.raises(InvalidRequest, match="snapshot_id"):
        handlers.snapshot_shown(
            asked.context.session, requests.SessionSnapshotGetRequest(snapshot_id=name), asked.call
        )


@pytest.mark.parametrize("error", [StateUnwritable("a full disk"), Busy("many")])
def test_what_fails_in_the_daemon_is_a_failure_of_the_backend(asked, monkeypatch, error):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(asked.worked.keeping.sessions, "open", fail)
    [tool] = [tool for tool in chosen(["session"]) if tool.name == "session_open"]
    answered = Local(asked.context)(tool, {}, asked.call)

    assert isinstance(answered.error, BackendFailure)
    assert f"({error.code}): {error}" in str(answered.error)
    assert answered.envelope["error"]["code"] == "BACKEND_FAILURE"
    assert answered.envelope["error"]["retryable"] is True


def without_daemon(asked):
    return handlers.SessionContext(ToolHost(service=Service(), root=asked.root))


def test_that_no_daemon_runs_is_said_in_the_contracts_words(asked):
    with pytest.raises(BackendFailure) as caught:
        handlers.open_(without_daemon(asked), requests.SessionOpenRequest(), asked.call)
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
    held = handlers.snapshot_shown(
        asked.context.session,
        requests.SessionSnapshotGetRequest(snapshot_id=made["snapshot_id"]),
        asked.call,
    )

    [pinned] = held["snapshot"]["pinned_snippets"]
    assert (pinned["path"], pinned["line_end"]) == ("src/a.py", 2)
    assert pinned["text"] == "line 1 of a\nline 2 of a"


@pytest.mark.parametrize(
    "pin",
    [
        requests.PinnedLines(path="", line_start=1, line_end=1),
        requests.PinnedLines(path="a\0b", line_start=1, line_end=1),
        requests.PinnedLines(path="../elsewhere", line_start=1, line_end=1),
        requests.PinnedLines(path="src/a.py", line_start=0, line_end=1),
        requests.PinnedLines(path="src/a.py", line_start=3, line_end=2),
        requests.PinnedLines(path="src/none.py", line_start=1, line_end=1),
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
        handlers.handoff(
            asked.context.session, requests.SessionHandoffRequest(output=output), asked.call
        )
    assert status(asked) == "mine"
    assert sorted(tmp_path.rglob("*")) == before


def test_a_handoff_writes_its_pack_into_the_exports_folder(asked, home):
    opened(asked)
    told = handlers.handoff(
        asked.context.session, requests.SessionHandoffRequest(output="x.tcp"), asked.call
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

    handlers.handoff(
        asked.context.session, requests.SessionHandoffRequest(output="x.tcp"), asked.call
    )

    assert precious.read_text() == "precious"
    assert not (exports / "x.tcp").is_symlink()
    assert [path.name for path in exports.iterdir()] == ["x.tcp"]


def test_an_exports_folder_that_is_a_link_is_not_written_to(asked, home, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (home / "exports").symlink_to(tmp_path / "elsewhere")
    opened(asked)

    with pytest.raises(TriseekError, match="is a link"):
        handlers.handoff(
            asked.context.session, requests.SessionHandoffRequest(output="x.tcp"), asked.call
        )
    assert not list((tmp_path / "elsewhere").iterdir())


def test_a_damaged_checkpoint_is_named_and_hides_no_other(asked):
    """Taken in by an earlier version, or damaged since; the client reads what can be encoded."""
    opened(asked)
    taken = snapshot(asked)["snapshot_id"]
    there = Path(paths.snapshots())
    document = json.loads((there / taken / "manifest.json").read_bytes())
    strange = {**document, "snapshot_id": "strange", "goal": "\ud800", "repo_root": "/elsewhere"}
    plant(there, {"strange/manifest.json": json.dumps(strange)})
    plant(there, {"cut-off/manifest.json": json.dumps(document)[:-9]})

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
    assert token_estimate.of_json(told["damaged"]) < BOUND


def through_the_server(asked, tool):
    """What a client is sent for a call without arguments, as JSON of UTF-8."""
    [verb] = [verb for verb in chosen(["session"]) if verb.name == tool]
    answered = Local(asked.context)(verb, {}, asked.call)
    result = tool_handlers.result(verb, answered.arguments, answered.envelope)
    sent = json.loads(result.model_dump_json(by_alias=True).encode())
    assert not sent["isError"], sent
    assert sent["content"][0]["text"].startswith(f"{tool}: ")
    return sent["structuredContent"]


@pytest.mark.parametrize(
    "request_",
    [
        requests.SessionOpenRequest(goal="x" * 20_001),
        requests.SessionSnapshotRequest(source_harness="x" * 501),
        requests.SessionSnapshotRequest(source_model="x" * 501),
    ],
)
def test_long_texts_are_refused(asked, request_):
    opened(asked)
    handler = handlers.open_ if hasattr(request_, "goal") else handlers.snapshot
    with pytest.raises(InvalidRequest, match="has to be a text of at most"):
        handler(asked.context.session, request_, asked.call)


@pytest.mark.parametrize(
    ("budget", "who", "said"),
    [
        (0, {}, "budget_tokens"),
        (-1, {}, "budget_tokens"),
        (3_000, {"session": "x" * 501}, "session"),
    ],
)
def test_a_resume_with_invalid_arguments_is_refused(asked, budget, who, said):
    opened(asked)
    snapshot_id = snapshot(asked)["snapshot_id"]
    request = requests.SessionResumeRequest(snapshot_id=snapshot_id, budget_tokens=budget)
    with pytest.raises(InvalidRequest, match=said):
        handlers.resume(asked.context.session, request, Call(who=who))


@pytest.fixture
def context():
    return handlers.SessionContext(ToolHost(service=Service(), root="/repo"))


def test_a_session_is_current_until_it_is_left_or_another_is(context):
    assert context.current("one") == ""
    context.work_on("first", "one")
    context.work_on("first", "two")
    context.work_on("second", "two")
    assert (context.current("one"), context.current("two")) == ("first", "second")
    context.leave("first")
    assert (context.current("one"), context.current("two")) == ("", "second")


def test_current_sessions_are_not_kept_for_ever(context):
    for number in range(handlers.CONNECTIONS_MAX + 5):
        context.work_on(f"s{number}", str(number))

    assert context.current("0") == ""
    assert context.current("6") == "s6"
