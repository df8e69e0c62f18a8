"""Answers to an agent's first requests that are made in advance are those of a session."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests import prepared_answers
from tests.mcp.speaking import CLIENT, ENVELOPE, MODERN, hello, notice, request
from triseek.app.registry import chosen
from triseek.mcp import prepared
from triseek.mcp.prepared import PreparedAnswers


def line(message: object) -> bytes:
    return json.dumps(message).encode()


def greeting(client: str = "test", version: str = "2025-11-25") -> dict[str, Any]:
    message = hello(1, version)
    message["params"]["clientInfo"] = {**CLIENT, "name": client}
    return message


def established(toolsets: str = "default", client: str = "test") -> PreparedAnswers:
    answers = PreparedAnswers(toolsets)
    assert answers(line(greeting(client)))
    return answers


def names(answer: bytes | None) -> list[str]:
    assert answer
    return [tool["name"] for tool in json.loads(answer)["result"]["tools"]]


def test_the_file_is_what_a_session_says() -> None:
    if os.environ.get("TRISEEK_GOLDEN") == "update":
        Path(prepared.ANSWERS).write_text(prepared_answers.text(), "utf-8")
    assert Path(prepared.ANSWERS).read_text("utf-8") == prepared_answers.text()


@pytest.mark.parametrize(
    ("client", "version"),
    [
        *(("codex-mcp-client", version) for version in (*prepared_answers.VERSIONS, MODERN)),
        *(("x", version) for version in ("1999-01-01", "", "newest")),
        *((client, "2025-11-25") for client in ("claude-code", "Claude Code", "opencode", "pi")),
    ],
)
def test_each_version_and_client_is_answered_as_by_a_session(client: str, version: str) -> None:
    _check(client, version, "default")


@pytest.mark.parametrize("toolsets", ["history", "default,history"])
def test_agents_that_are_offered_the_history_are_told_of_resources(toolsets: str) -> None:
    for client in ("test", "claude-code"):
        _check(client, "2025-11-25", toolsets)

    answer = PreparedAnswers(toolsets)(line(greeting()))
    assert "resources" in json.loads(answer or b"")["result"]["capabilities"]


@pytest.mark.parametrize("toolsets", ["memory", "default,memory", "history,memory"])
def test_agents_that_are_offered_the_memory_are_told_of_it(toolsets: str) -> None:
    _check("codex-mcp-client", "2025-11-25", toolsets)

    answer = PreparedAnswers(toolsets)(line(greeting())) or b""
    assert b"memory_recall" in answer
    assert prepared.ABOUT.encode() not in answer


def _check(client: str, version: str, toolsets: str) -> None:
    answers = PreparedAnswers(toolsets)

    replies = [
        answers(line(greeting(client, version))),
        answers(line(request('a\u00e4"', "tools/list", {}))),
    ]

    assert [json.loads(reply or b"")["result"] for reply in replies] == prepared_answers.replies(
        version, client, chosen(toolsets.split(","))
    )
    assert [json.loads(reply or b"")["id"] for reply in replies] == [1, 'a\u00e4"']
    assert not any(b"\n" in (reply or b"") for reply in replies)


@pytest.mark.parametrize("toolsets", ["search", "session,memo", "memo default", "session, search"])
def test_the_tools_of_the_chosen_toolsets_are_listed_in_their_order(toolsets: str) -> None:
    listed = established(toolsets)(line(request(2, "tools/list")))

    assert names(listed) == [tool.name for tool in chosen(toolsets.replace(",", " ").split())]


def test_the_list_may_be_asked_for_again_and_other_lines_are_the_sessions() -> None:
    answers = established()

    replies = [
        answers(line(message))
        for message in (
            notice("notifications/initialized"), request(2, "tools/list"), request(3, "ping"),
            request(4, "tools/list", {"_meta": {"progressToken": 7}}),
        )
    ]  # fmt: skip

    assert [reply is not None for reply in replies] == [False, True, False, True]
    assert names(replies[3]) == [tool.name for tool in chosen(["default"])]


@pytest.mark.parametrize(
    "first",
    [
        request(1, "ping"),
        request(1, "tools/list"),
        request(1, "server/discover", {"_meta": ENVELOPE}),
        {**greeting(), "id": None},
        {**greeting(), "id": True},
        {**greeting(), "id": 1.5},
        {**greeting(), "id": 2**70},
        {**greeting(), "jsonrpc": "1.0"},
        {**greeting(), "more": 1},
        {key: value for key, value in greeting().items() if key != "id"},
        request(1, "initialize"),
        request(1, "initialize", {**greeting()["params"], "_meta": ENVELOPE}),
        request(1, "initialize", {**greeting()["params"], "capabilities": []}),
        request(1, "initialize", {**greeting()["params"], "capabilities": {"roots": 1}}),
        request(1, "initialize", {**greeting()["params"], "protocolVersion": 1}),
        request(1, "initialize", {**greeting()["params"], "clientInfo": {"name": "x"}}),
        [greeting()],
        "initialize",
    ],
    ids=str,
)
def test_with_another_first_message_the_session_answers_all(first: object) -> None:
    answers = PreparedAnswers("default")

    assert answers(line(first)) is None
    assert answers(line(greeting())) is None
    assert answers(line(request(2, "tools/list"))) is None


@pytest.mark.parametrize(
    "data",
    [
        b"", b"{", line(greeting()) + b"}", b"\xef\xbb\xbf" + line(greeting()), b"\xff",
        line(greeting()).replace(b'"test"', b'"\\ud800"'),
        line(greeting()).replace(b'"1"', b"NaN"),
        b"[" * 60_000,
        line(greeting()).replace(b'"test"', b'"' + b"x" * prepared.LINE_MAX + b'"'),
    ],
    ids=range(9),
)  # fmt: skip
def test_a_line_that_is_no_plain_message_is_the_sessions(data: bytes) -> None:
    answers = PreparedAnswers("default")

    assert answers(data) is None
    assert answers(line(request(2, "tools/list"))) is None


@pytest.mark.parametrize(
    "asked",
    [
        request(2, "tools/list", {"cursor": "next"}),
        request(2, "tools/list", {"cursor": None}),
        request(2, "tools/list", {"_meta": ENVELOPE}),
        request(2, "tools/list", {"_meta": []}),
        {**request(2, "tools/list"), "params": None},
        notice("tools/list"),
    ],
    ids=str,
)
def test_an_unusual_listing_is_the_sessions(asked: object) -> None:
    assert established()(line(asked)) is None


def test_an_unknown_toolset_is_the_sessions() -> None:
    assert PreparedAnswers("search,later")(line(greeting())) is None
    assert PreparedAnswers("")(line(greeting())) is None


def test_without_the_file_the_session_answers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(prepared, "ANSWERS", str(tmp_path / "none"))

    assert PreparedAnswers("default")(line(greeting())) is None


@pytest.mark.parametrize(("setting", "has_schemas"), [("full", True), ("auto", False), ("", False)])
def test_the_variable_of_the_setting_counts(
    monkeypatch: pytest.MonkeyPatch, setting: str, has_schemas: bool
) -> None:
    monkeypatch.setenv(prepared.STRUCTURED, setting)

    listed = established(client="codex-mcp-client")(line(request(2, "tools/list")))

    assert (b"outputSchema" in (listed or b"")) is has_schemas


def test_a_setting_that_is_wrong_or_in_the_file_is_the_sessions(
    monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text('[log]\nlevel = "info"\n')
    assert PreparedAnswers("default")(line(greeting()))
    (home / "config.toml").write_text('[mcp]\nstructured = "full"\n')
    assert PreparedAnswers("default")(line(greeting())) is None

    (home / "config.toml").unlink()
    monkeypatch.setenv(prepared.STRUCTURED, "yes")
    assert PreparedAnswers("default")(line(greeting())) is None


@pytest.mark.parametrize("name", prepared.CLUSTER_VARIABLES)
def test_with_a_cluster_the_session_answers(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "http://localhost:6070")
    assert PreparedAnswers("default")(line(greeting())) is None


def test_with_a_cluster_in_the_file_the_session_answers(home: Path) -> None:
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text('[zoekt]\napi_url = "http://localhost:6070"\n')
    assert PreparedAnswers("default")(line(greeting())) is None
