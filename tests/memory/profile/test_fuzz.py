"""Whatever a client sends: each request has one answer, and the memory is whole afterwards."""

from __future__ import annotations

import json
import os
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.mcp.speaking import call
from tests.memory.profile.fuzzing import Expected, Fuzzer, Line
from tests.memory.profile.serving import Client, serving

if TYPE_CHECKING:
    from collections.abc import Sequence

ROUND = 250
"""Lines between two moments at which everything has to be answered."""
GROWTH_MAX = 200 << 20
"""Bytes: lines of a megabyte and what is made of them."""


def settled(answers: Sequence[dict[str, Any]], lines: Sequence[Line]) -> None:
    """Each line of a round has come to what it had to, and to nothing else."""
    expected = Counter(_key(one.id) for _, one in lines if one.is_answered)
    assert Counter(_key(answer["id"]) for answer in answers) == expected
    refused = sum(one.code is not None for _, one in lines)
    assert sum(_code(answer) == -32700 for answer in answers) == refused
    for answer in answers:
        assert answer.keys() == {"jsonrpc", "id", "error" if "error" in answer else "result"}
        if "error" in answer:
            assert _code(answer) in (-32700, -32601, -32603)
            assert len(answer["error"]["message"]) < 1_000
            assert "a bug" not in answer["error"]["message"]
        elif "content" in answer["result"]:
            assert isinstance(json.loads(answer["result"]["content"][0]["text"]), dict)


def _key(number: object) -> str:
    """An id to compare: lone surrogates, which UTF-8 cannot hold, come back as U+FFFD."""
    return json.dumps(number).replace("\\ud800", "\\ufffd")


def _code(answer: dict[str, Any]) -> int | None:
    code: int | None = answer.get("error", {}).get("code")
    return code


def fuzz(client: Client, seed: int, count: int) -> int:
    """Send lines, and check all answers; return how many lines may have stored without one."""
    fuzzer = Fuzzer(seed)
    lines = list(fuzzer.lines(count))
    spoken = client.spoken
    for begin in range(0, count, ROUND):
        part = lines[begin : begin + ROUND]
        mark = f"mark {seed} {begin}"
        end = json.dumps(call(mark, "palace_list")).encode() + b"\n"
        since = len(spoken.messages)
        for chunk in fuzzer.chunks(b"".join(line.data for line in part) + end):
            spoken.write(chunk)
        spoken.answer(mark)
        settled(spoken.messages[since:], [*part, Line(end, Expected(mark))])
    return sum(not one.is_answered and b"memory_remember" in data for data, one in lines)


def fuzzed(home: Path, folder: Path, seeds: Sequence[int], count: int) -> None:
    """Fuzz a process, and check it, its folders and its database."""
    with serving("--palace", "shop") as client:
        client.result("palace_create", name="other")
        before = resident(client)
        unanswered = sum(fuzz(client, seed, count) for seed in seeds)
        assert resident(client) - before < GROWTH_MAX
        stored = _stored(client)
        names = client.result("palace_list")["palaces"]
        kept = {name: client.result("palace_info", palace=name)["drawer_count"] for name in names}
        assert client.spoken.close() == 0
        assert b"Traceback" not in client.spoken.said
    assert stored
    assert all(kept[name] >= number for name, number in stored.items())
    assert sum(kept.values()) - stored.total() <= unanswered
    assert {path.name for path in home.iterdir()} == {"memory"}
    assert list(folder.iterdir()) == []
    with closing(sqlite3.connect(home / "memory" / "memory.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []


def _stored(client: Client) -> Counter[str]:
    """The number of drawers that were acknowledged, by palace; none of them was forgotten."""
    stored: Counter[str] = Counter()
    for message in client.spoken.messages:
        blocks = message.get("result", {}).get("content")
        answer = json.loads(blocks[0]["text"]) if blocks else {}
        assert answer.get("status") != "deleted"
        if answer.get("status") == "stored":
            stored[answer["palace"]] += 1
    return stored


def resident(client: Client) -> int:
    """Bytes of memory that the process takes."""
    pages = Path(f"/proc/{client.spoken.process.pid}/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The empty folder in which the process works."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_three_hundred_messages(home: Path, folder: Path) -> None:
    fuzzed(home, folder, [1], 300)


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [range(10, 15), range(20, 25), range(30, 35), range(40, 45)])
def test_twenty_thousand_messages(home: Path, folder: Path, seeds: range) -> None:
    fuzzed(home, folder, seeds, 1_000)


@pytest.mark.long
def test_ten_megabytes_of_a_name_are_refused_in_one_line(home: Path, folder: Path) -> None:
    with serving("--palace", "shop") as client:
        client.result("palace_list")
        for name in ("x" * 10_000_000, "../" * 3_000_000):
            for tool, argument in (
                ("palace_create", "name"), ("memory_list", "palace"), ("memory_list", "room"),
                ("kg_query", "subject"), ("memory_forget", "drawer_id"),
            ):  # fmt: skip
                assert len(client.error(tool, **{argument: name})) < 500
            assert len(client.error(name)) < 500
        assert client.spoken.process.poll() is None
        assert client.result("palace_list") == {"palaces": ["shop"]}
    assert list(folder.iterdir()) == []


HOSTILE = (
    "../x", "", "/abs", "-rf", "a\x00b", "a\nb", "\x1b[2J", "\ud800", "a/b", "..", ".", "C:\\x",
    " a", "a ", "x" * 101, "\u202e",
)  # fmt: skip


def test_a_hostile_name_makes_no_palace(home: Path, folder: Path) -> None:
    with serving("--palace", "shop") as client:
        for name in HOSTILE:
            for tool, argument in (
                ("palace_create", "name"), ("memory_list", "palace"), ("palace_info", "palace"),
            ):  # fmt: skip
                message = client.error(tool, **{argument: name})
                assert message.startswith(f"{tool}: ")
                assert "\n" not in message
                assert len(message) < 500
            client.error("memory_remember", palace=name, text="a fact")
        client.result("palace_create", name="CON")  # a name in a database, not of a file
        assert client.result("palace_list") == {"palaces": ["CON", "shop"]}
    assert {path.name for path in home.iterdir()} == {"memory"}
    assert not {path.name for path in (home / "memory").iterdir()} & {"CON", "x", "a"}
    assert list(folder.iterdir()) == []
    assert not (home.parent / "x").exists()
