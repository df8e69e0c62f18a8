"""Sessions and snapshots as the page shows them, with a daemon and without one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.ui.opened import Opened
from triseek import paths
from triseek.ipc import client
from triseek.sessions.files import INDEX
from triseek.sessions.lifecycle import Sessions

if TYPE_CHECKING:
    from tests.app.worked import Worked


@pytest.fixture
def page(worked: Worked) -> Opened:
    return Opened(worked.root)


def test_sessions_come_from_the_daemon(worked: Worked, page: Opened) -> None:
    worked.ask("session_open", goal="first", session_id="one")
    worked.ask("session_open", goal="second", session_id="two")
    worked.ask("session_close", session_id="one", status="abandoned")

    told = page.told("sessions")

    assert told["daemon"] is True
    assert {each["session_id"]: each["status"] for each in told["sessions"]} == {
        "one": "abandoned", "two": "open",
    }  # fmt: skip


def test_without_a_daemon_they_are_those_written_last(opened: Opened) -> None:
    written = Sessions(paths.sessions())
    written.open(opened.root, "mine", "one")
    written.open("/somewhere/else", "another's", "two")

    told = opened.told("sessions")

    assert told["daemon"] is False
    assert [each["session_id"] for each in told["sessions"]] == ["one"]
    assert opened.told("sessions/one")["action_log_size"] == 1
    assert opened.told("sessions/one/log")["entries"][0]["kind"] == "session_open"


def test_looking_sets_nothing_aside(opened: Opened) -> None:
    Sessions(paths.sessions()).open(opened.root, "mine", "one")
    index = Path(paths.sessions(), INDEX)
    index.write_text("damaged")

    told = opened.told("sessions")

    assert [each["goal"] for each in told["sessions"]] == ["mine"]  # its log tells of it
    assert index.read_text() == "damaged"
    assert [path.name for path in index.parent.iterdir()].count(INDEX) == 1


def test_a_state_folder_that_is_empty_has_no_sessions(opened: Opened) -> None:
    assert opened.told("sessions") == {"daemon": False, "sessions": []}
    assert opened.told("snapshots") == {"snapshots": [], "damaged": []}


def test_a_log_is_filtered_by_what_people_call_things(worked: Worked, page: Opened) -> None:
    worked.ask("session_open", session_id="one")
    worked.read("src/a.py")
    worked.act("prompt", prompt="Do it", harness="opencode")
    worked.act("edit", path=os.path.join(worked.root, "src/b.py"))
    worked.act("reindex", tool="reindex", arguments={})

    def kinds(**given: str) -> list[str]:
        return [each["kind"] for each in page.told("sessions/one/log", **given)["entries"]]

    assert kinds() == ["reindex", "edit", "prompt", "read", "session_open"]
    assert kinds(group="prompts") == ["prompt"]
    assert kinds(group="reads") == ["read"]
    assert kinds(group="edits") == ["edit"]
    assert kinds(group="compactions") == []
    assert kinds(group="other") == ["reindex", "session_open"]


def test_a_log_is_paged_and_followed(worked: Worked, page: Opened) -> None:
    worked.ask("session_open", session_id="one")
    for number in range(5):
        worked.act("prompt", prompt=str(number))
    first = page.told("sessions/one/log", limit=4)
    second = page.told("sessions/one/log", limit=4, before=first["before"])
    worked.act("prompt", prompt="new")

    newer = page.told("sessions/one/log", after=first["after"])

    prompts = [each["payload"].get("prompt") for each in first["entries"] + second["entries"]]
    assert prompts == ["4", "3", "2", "1", "0", None]
    assert second["before"] == 0
    assert [each["payload"]["prompt"] for each in newer["entries"]] == ["new"]


def test_a_snapshot_is_told_with_all_but_its_log(worked: Worked, page: Opened) -> None:
    worked.ask("session_open", goal="the goal", session_id="one")
    worked.read("src/a.py")
    pins = [{"path": "src/b.py", "line_start": 1, "line_end": 2}]
    made = worked.ask("session_snapshot", source_harness="codex", pinned_snippet_paths=pins)
    worked.keeping.snapshots.write_briefing(made["snapshot_id"])

    (manifest,) = page.told("snapshots")["snapshots"]
    told = page.told(f"snapshots/{made['snapshot_id']}")

    assert manifest == told["manifest"] == made["manifest"]
    assert [each["path"] for each in told["working_set"]["files_read"]] == ["src/a.py"]
    assert told["pinned_snippets"][0]["text"] == "one\ntwo"
    assert told["briefing"].startswith("## Goal")
    assert told["action_log_size"] == 2
    assert "action_log" not in told
    assert page.told("sessions/one")["snapshots"] == [manifest]


def test_two_snapshots_are_compared_by_files_and_by_what_was_asked(
    worked: Worked, page: Opened
) -> None:
    worked.ask("session_open", session_id="one")
    worked.read("src/a.py")
    a = worked.ask("session_snapshot")["snapshot_id"]
    worked.read("src/b.py")
    worked.act("search", tool="search_content", arguments={"query": "needle"}, search_id="s-1",
               files_with_matches=0, result_paths=[])  # fmt: skip
    b = worked.ask("session_snapshot")["snapshot_id"]

    told = page.told("snapshots/diff", a=a, b=b)

    assert told["diff"]["added_files"] == ["src/b.py"]
    (added,) = told["diff"]["added_searches"]
    assert told["searches"][added]["query"] == "needle"
    assert (told["a"]["snapshot_id"], told["b"]["snapshot_id"]) == (a, b)


def test_snapshots_of_other_repositories_are_shown_where_they_are_asked_for(
    worked: Worked, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    opened = Opened(str(elsewhere))
    worked.ask("session_open", session_id="one")
    made = worked.ask("session_snapshot")["snapshot_id"]

    assert opened.told("snapshots")["snapshots"] == []
    assert [each["snapshot_id"] for each in opened.told("snapshots", all=1)["snapshots"]] == [made]


@pytest.mark.parametrize(
    "question",
    [
        "sessions/none", "sessions/none/log", "sessions/..", "sessions/%2e%2e/log",
        "sessions/..%2f..%2fetc/log", "snapshots/none", "snapshots/..%2f..%2fetc", "snapshots/.x",
        "snapshots/diff?a=none&b=none", "snapshots/diff", "snapshots/diff?a=../x&b=../y",
        "sessions/one/log?before=-1", "sessions/one/log?limit=x", "sessions/one/log?group=all",
        "sessions/one/log?after=" + "9" * 40,
    ],
)  # fmt: skip
def test_what_is_not_there_or_makes_no_sense_is_one_clear_line(
    worked: Worked, page: Opened, question: str
) -> None:
    worked.ask("session_open", session_id="one")

    answer = page.client.get(f"/api/{question}", headers=page.known)

    assert answer.status_code in (400, 404)
    if answer.status_code == 400:
        assert "\n" not in answer.json()["error"]["message"]


def test_a_damaged_snapshot_is_left_out_of_the_list_and_said_by_name(
    worked: Worked, page: Opened
) -> None:
    worked.ask("session_open", session_id="one")
    made = worked.ask("session_snapshot")
    Path(made["snapshot_dir"], "working_set.json").write_text("{")

    assert made["snapshot_id"] in page.refused(f"snapshots/{made['snapshot_id']}")["message"]


def test_the_status_says_what_is_known_without_a_daemon(opened: Opened) -> None:
    about = opened.told("about")
    told = opened.told("status")

    assert about["root"] == opened.root
    assert about["daemon"] is False
    assert told["index"]["index_present"] is False
    assert told["daemon"]["running"] is False
    assert told["daemon"]["reason"]


def test_the_status_says_what_the_daemon_says(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = {"target_root": opened.root, "watched": True, "generation": 7, "dirty": 0}
    told = {"warm": True, "roots": [root], "root": root}
    monkeypatch.setattr(client, "ask", lambda verb, params, timeout_s=0.0: told)

    assert opened.told("about")["watched"] is True
    assert opened.told("status")["daemon"] == {"running": True, **told}
