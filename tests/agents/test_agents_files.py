"""1,000 files of all kinds, each resumed into twice: no other byte changes, the second time none.

`TRISEEK_AGENTS_FILES` says how many the slow test takes.
"""

from __future__ import annotations

import os
import random
import re
from typing import TYPE_CHECKING

import pytest

from tests.agents.agents_files import agents_file
from triseek.agents import project_files
from triseek.agents.install import managed_block
from triseek.agents.install.managed_block import BEGIN, END
from triseek.errors import ConfigWriteFailed, InvalidRequest

if TYPE_CHECKING:
    from pathlib import Path

FILES, FILES_SLOW = 150, int(os.environ.get("TRISEEK_AGENTS_FILES", "1000"))
PAYLOADS = (
    "# TriSeek Hydration Payload\n\n## Goal\n\nmend it\n",
    "# Another\n\n````text\n```\n" + END.decode() + "\n```\n````\nno line end",
    "é 漢字 \U0001f600\r\nmixed\rends\n\n\n" + BEGIN.decode() + "\n",
    "\udcff lone\n" + "x" * 20_000,
)
NAMES = ("AGENTS.md", "CLAUDE.md", "GEMINI.md", ".clinerules", "notes.txt")


def written(path: Path, payload: str) -> bool:
    return project_files.put(str(path), str(path.parent), payload).changed


def resumed_twice(folder: Path, count: int) -> None:
    chance = random.Random(66)
    replaced = appended = refused = number = 0
    while replaced + appended < count:
        number += 1
        path = folder / str(number) / chance.choice(NAMES)
        path.parent.mkdir()
        before = agents_file(chance)
        path.write_bytes(before)
        payload, other = chance.sample(PAYLOADS, 2)
        try:
            outside = managed_block.outside(before)
        except InvalidRequest:  # a fence that is not closed, and others behind it
            refused += 1
            with pytest.raises(ConfigWriteFailed, match="not one whole block"):
                written(path, payload)
            assert path.read_bytes() == before
            continue

        assert written(path, payload), number
        once = path.read_bytes()
        assert once == managed_block.put(before, payload)
        # What is outside is found without our own code: by what it was before.
        if outside == before:
            appended += 1
            assert once.startswith(before), number
            added = once[len(before) :]
            assert added.strip().startswith(BEGIN)
            assert added.strip().endswith(END)
        else:
            replaced += 1
            assert len(outside) < len(before)
            gone = len(before) - len(outside)
            marks = (found.start() for found in re.finditer(b"<!-- TRISEEK:BEGIN hyd", before))
            begin = next(at for at in marks if before[:at] + before[at + gone :] == outside)
            rest = len(outside) - begin
            assert once[:begin] == before[:begin], number
            assert once[len(once) - rest :] == before[len(before) - rest :], number

        stamp = path.stat()
        assert not written(path, payload), number
        assert path.read_bytes() == once
        assert (path.stat().st_mtime_ns, path.stat().st_ino) == (stamp.st_mtime_ns, stamp.st_ino)

        assert written(path, other)
        assert written(path, payload)
        assert path.read_bytes() == once, number
        assert [each.name for each in path.parent.iterdir()] == [path.name]
    print(f"\n{count} files: {appended} had no block, {replaced} had one; {refused} more refused")
    assert refused < count // 10
    assert min(appended, replaced) > count // 10


def test_resumed_into_twice_a_file_keeps_every_other_byte(tmp_path: Path) -> None:
    resumed_twice(tmp_path.resolve(), FILES)


@pytest.mark.slow
def test_a_thousand_files_keep_every_other_byte(tmp_path: Path) -> None:
    resumed_twice(tmp_path.resolve(), FILES_SLOW)


@pytest.mark.parametrize("fence", ["```", "~~~", "````text"])
def test_a_block_that_is_quoted_in_code_is_text(fence: str) -> None:
    quoted = f"{fence}\n{BEGIN.decode()}\nexample\n{END.decode()}\n{fence.rstrip('tex')}\n".encode()

    once = managed_block.put(quoted, "mine")
    assert once.startswith(quoted)
    assert managed_block.put(once, "mine") == once
    assert once.count(BEGIN) == 2


def test_below_a_fence_that_nobody_closed_it_is_still_found() -> None:
    text = b"```\ncode\n"
    for payload in ("plain", "```text\nsnippet\n```", "a\n````\nb"):
        once = managed_block.put(text, payload)
        assert once.startswith(text)
        assert managed_block.put(once, payload) == once
        assert managed_block.put(once, "x") == managed_block.put(text, "x")


def test_a_mark_at_the_very_beginning_may_follow_a_byte_order_mark() -> None:
    once = b"\xef\xbb\xbf" + managed_block.put(b"", "first")
    assert managed_block.put(once, "first") == once
    assert managed_block.put(once, "second").count(BEGIN) == 1


@pytest.mark.parametrize(
    "line",
    [
        b"<!-- TRISEEK:BEGIN hydration ", b"<!-- TRISEEK:BEGIN hydration\n", END + b"\n",
        b"<!-- TRISEEK:BEGIN hydration" + b" " * 99, b"```\n", b"`" * 99 + b" ", b"\xef\xbb\xbf \t",
    ],
)  # fmt: skip
def test_a_file_made_to_take_long_does_not(line: bytes) -> None:
    """A project's file comes from others; each of these was quadratic for some spelling."""
    text = (line * ((1 << 20) // len(line)))[: 1 << 20] + b"x"
    try:
        managed_block.put(text, "mine")
    except InvalidRequest:
        assert b"TRISEEK" in text


def test_utf_16_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path.resolve() / "AGENTS.md"
    path.write_bytes(before := "mine".encode("utf-16"))
    with pytest.raises(ConfigWriteFailed, match="UTF-16"):
        written(path, "payload")
    assert path.read_bytes() == before
