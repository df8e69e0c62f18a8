"""Transcripts that nobody should have written: an import skips them, says so, and stays small."""

from __future__ import annotations

import contextlib
import json
import os
import random
import resource
from typing import TYPE_CHECKING, Any

import pytest

from tests.agents.transcripts import ODD
from tests.history.made_transcripts import MAKERS, claude_code, claude_rows
from triseek import paths
from triseek.agents.base import InstallPlace
from triseek.history import operations
from triseek.history.importing import sources
from triseek.history.service import History

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from triseek.history.importing.run import AgentReport

GROWTH_KB = 120_000


def plain(field: str) -> str:
    return "/work/repo" if field in ("cwd", "path") else f"the-{field}"


@pytest.fixture
def history(home: Path) -> Iterator[History]:
    assert paths.history().startswith(str(home))
    with contextlib.closing(History()) as history:
        yield history


def imported(history: History, home: Path, agent: str = "claude-code") -> AgentReport:
    chosen = [each for each in sources.importable() if each.name == agent]
    place = InstallPlace("", str(home), str(home), {})
    return history.import_conversations(chosen, place).agents[agent]


def is_usable(history: History) -> None:
    """Everything that reads the database still answers."""
    assert history.database.check() == []
    operations.stats(history)
    with history.database.read() as connection:
        for [number] in connection.execute("SELECT id FROM sessions").fetchall():
            json.dumps(operations.whole(connection, number)).encode()
    operations.search(history, "the-prompt", by="message")


def test_files_that_are_no_files_are_left_out(history: History, home: Path) -> None:
    outside = home / "outside.jsonl"
    outside.write_text(json.dumps(claude_rows("outside", 0, plain)[0]) + "\n")
    folder = claude_code(home, "true", plain).parent
    os.mkfifo(folder / "pipe.jsonl")
    (folder / "link.jsonl").symlink_to(outside)
    (folder / "zero.jsonl").symlink_to("/dev/zero")
    (folder / "linked").symlink_to(home)
    (folder / "circle").symlink_to(folder)
    with contextlib.suppress(PermissionError):
        os.mknod(folder / "device.jsonl", 0o600 | 0o020000, os.makedev(1, 5))  # /dev/zero
    (folder / "folder.jsonl").mkdir()
    report = imported(history, home)
    assert (report.sources, report.read) == (1, 1)
    is_usable(history)


def test_a_file_that_becomes_a_pipe_does_not_block(history: History, home: Path) -> None:
    path = claude_code(home, "changing", plain)
    [agent] = [agent for agent in sources.importable() if agent.name == "claude-code"]
    reader = agent.transcripts
    assert reader is not None
    [source] = sources.find([agent], InstallPlace("", str(home), str(home), {}))
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(OSError, match="not a regular file"):
        list(reader.read(source.path, sources.begin(source, None)))


def test_a_line_of_a_gigabyte_is_skipped_in_little_memory(history: History, home: Path) -> None:
    path = claude_code(home, "large", plain)
    with path.open("r+b") as file:
        end = file.seek(0, os.SEEK_END)
        file.write(b'{"type": "user", "text": "')
        file.truncate(end + (1 << 30))  # NULs, which take no space
        file.seek(0, os.SEEK_END)
        file.write(b'"}\n')
        for row in claude_rows("large", 1, plain):
            file.write(json.dumps(row).encode() + b"\n")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    report = imported(history, home)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < GROWTH_KB
    assert [line.rpartition(": ")[2] for line in report.skipped] == ["line longer than 32 MiB"]
    assert report.messages == 4


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(b"[" * 200_000, id="deep"),
        pytest.param(b'{"a":' * 100_000 + b"1" + b"}" * 100_000, id="nested"),
        pytest.param(b"[" + b"[]," * 8_000_000 + b"[]]", id="many-values"),
        pytest.param(b'{"type":"user","x":[' + b"{}," * 8_000_000 + b"{}]}", id="many-objects"),
        pytest.param(b"1" * 100_000, id="long-number"),
        pytest.param(b'{"type": "user", "n": 1' + b"0" * 5_000 + b"}", id="large-number"),
    ],
)
def test_json_that_grows_when_it_is_parsed_is_skipped(
    line: bytes, history: History, home: Path
) -> None:
    path = claude_code(home, "grows", plain)
    with path.open("ab") as file:
        file.write(line + b"\n")
        for row in claude_rows("grows", 1, plain):
            file.write(json.dumps(row).encode() + b"\n")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    report = imported(history, home)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < GROWTH_KB
    assert len(report.skipped) == 1
    assert report.messages == 4
    is_usable(history)


@pytest.mark.parametrize("agent", [name for name in MAKERS if name != "opencode"])
def test_wrong_types_in_every_field(agent: str, history: History, home: Path) -> None:
    """Each field in turn has each odd value, in a file of its own."""
    chance = random.Random(6)
    path = MAKERS[agent](home, "odd", plain)
    text = path.read_text()
    rows = (
        [json.loads(text)]
        if path.suffix == ".json"
        else list(map(json.loads, text.split("\n")[:-1]))
    )
    for number in range(60):
        changed = [_mutated(row, chance) for row in rows]
        copy = path.with_name(path.name.replace("odd", f"odd{number}"))
        with contextlib.suppress(UnicodeEncodeError):
            copy.write_text("\n".join(map(json.dumps, changed)) + ("\n" if len(rows) > 1 else ""))
    report = imported(history, home, agent)
    assert report.sources >= 60
    is_usable(history)
    assert imported(history, home, agent).read == 0


def _mutated(value: Any, chance: random.Random, rate: float = 0.06) -> Any:
    if chance.random() < rate:
        return chance.choice(ODD)
    if isinstance(value, dict):
        return {name: _mutated(item, chance, rate) for name, item in value.items()}
    if isinstance(value, list):
        return [_mutated(item, chance, rate) for item in value]
    return value


@pytest.mark.parametrize(
    "time",
    [
        "9999-12-31T23:59:59.999Z", "0001-01-01T00:00:00Z", "-1", "1e400", 1e308, -1e308,
        (1 << 63) + 1, 99_999_999_999_999, -5, "2026-13-45T99:99:99Z", "2026-10-01" * 50,
    ],
)  # fmt: skip
def test_times_beyond_range(time: Any, history: History, home: Path) -> None:
    path = claude_code(home, "times", plain)
    with path.open("a") as file:
        for row in claude_rows("times", 1, plain):
            file.write(json.dumps({**row, "timestamp": time}) + "\n")
    assert imported(history, home).messages == 4
    is_usable(history)


def test_bytes_that_are_no_text(history: History, home: Path) -> None:
    path = claude_code(home, "bytes", plain)
    rows = [json.dumps(row).encode() for row in claude_rows("bytes", 1, plain)]
    with path.open("ab") as file:
        file.write(b"\0" * 5_000 + b"\n")
        file.write(b"\xff\xfe\x00garbage\n\xc3\n" + os.urandom(300).replace(b"\n", b"") + b"\n")
        for row in rows:
            file.write(row.replace(b"the-", b"the-\xff\xc0 \\u0000\\ud800 ") + b"\n")
    report = imported(history, home)
    assert report.messages == 4
    assert 3 <= len(report.skipped) <= 4
    is_usable(history)
    assert operations.search(history, "prompt", by="message")["results"]
