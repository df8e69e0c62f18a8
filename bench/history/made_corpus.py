"""Make transcripts in the format of Claude Code 2.1.330, for measurements of speed and memory.

They are made by a program, and marked so: what is in them says nothing about the quality of a
search. Rows have the fields and the order of rows that the real program writes; words follow
Zipf's law over the words of the standard library's sources, outputs are pieces of these sources.
"""

from __future__ import annotations

import json
import random
import re
import sysconfig
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

SEED = 20261127
TURNS = 12
"""Turns of a conversation."""
USES = 5
"""Uses of tools in a turn."""
_WORD = re.compile(r"[A-Za-z]{2,}")
_VERSION = "2.1.330"
_START_S = 1_760_000_000


class _Words:
    """Draws words and pieces of sources."""

    def __init__(self, random_source: random.Random) -> None:
        sources = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))
        self._texts = [path.read_text(encoding="utf-8", errors="replace") for path in sources]
        vocabulary = sorted({word for text in self._texts for word in _WORD.findall(text)})
        random_source.shuffle(vocabulary)
        self._vocabulary = vocabulary
        self._weights: list[float] = []
        total = 0.0
        for rank in range(len(vocabulary)):
            total += 1 / (rank + 2)
            self._weights.append(total)
        self._random = random_source

    def sentence(self, most: int) -> str:
        """Return up to `most` words."""
        count = self._random.randint(4, most)
        return " ".join(self._random.choices(self._vocabulary, cum_weights=self._weights, k=count))

    def piece(self, most: int) -> str:
        """Return up to `most` characters of a source, from a line's start."""
        text = self._random.choice(self._texts)
        start = text.find("\n", self._random.randrange(len(text))) + 1
        return text[start : start + self._random.randint(100, most)]


def make(folder: Path, size: int, *, words: int = 40, output: int = 6_000) -> int:
    """Write about `size` bytes of transcripts into a Claude Code configuration folder.

    Args:
        folder: The configuration folder; `projects/` below it is written.
        size: Bytes.
        words: The most words of a message.
        output: The most characters of a tool's output.

    Returns:
        The number of messages.
    """
    random_source = random.Random(SEED)
    drawn = _Words(random_source)
    written = messages = number = 0
    while written < size:
        project = folder / "projects" / f"-work-project-{number % 20}"
        project.mkdir(parents=True, exist_ok=True)
        session = str(uuid.UUID(int=random_source.getrandbits(128), version=4))
        with (project / f"{session}.jsonl").open("w", encoding="utf-8") as file:
            for row, is_message in _rows(session, number, drawn, random_source, words, output):
                line = json.dumps(row, separators=(",", ":"), ensure_ascii=False) + "\n"
                written += file.write(line)
                messages += is_message
        number += 1
    return messages


def _rows(
    session: str, number: int, drawn: _Words, random_source: random.Random, words: int, output: int
) -> Iterator[tuple[dict[str, Any], bool]]:
    """Yield the rows of a conversation, each with whether it is a message."""
    cwd = f"/work/project-{number % 20}"
    clock = _START_S + number * 7_000
    parent: str | None = None

    def row(kind: str, message: dict[str, Any], **more: str) -> dict[str, Any]:
        nonlocal parent, clock
        clock += 7
        name = str(uuid.UUID(int=random_source.getrandbits(128), version=4))
        fields = {
            "parentUuid": parent, "isSidechain": False, **more, "type": kind, "message": message,
            "uuid": name, "timestamp": _time(clock), "userType": "external", "cwd": cwd,
            "sessionId": session, "version": _VERSION, "gitBranch": "main",
        }  # fmt: skip
        parent = name
        return fields

    def answer(*blocks: dict[str, Any]) -> dict[str, Any]:
        identity = f"msg_{random_source.getrandbits(64):016x}"
        return {
            "id": identity, "type": "message", "role": "assistant", "model": "claude-made",
            "content": list(blocks), "stop_reason": None,
        }  # fmt: skip

    for turn in range(TURNS):
        prompt = {"role": "user", "content": drawn.sentence(words)}
        yield row("user", prompt, promptId=f"{session}-{turn}"), True
        for _ in range(USES):
            call = f"toolu_{random_source.getrandbits(64):016x}"
            yield row("assistant", answer({"type": "text", "text": drawn.sentence(words)})), True
            use, result = _use(call, cwd, drawn, random_source, output)
            yield row("assistant", answer(use)), False
            block = {"type": "tool_result", "tool_use_id": call, "content": result}
            yield row("user", {"role": "user", "content": [block]}), False
        yield row("assistant", answer({"type": "text", "text": drawn.sentence(words)})), True


def _use(
    call: str, cwd: str, drawn: _Words, random_source: random.Random, output: int
) -> tuple[dict[str, Any], str]:
    """Return a use of a tool, and its output."""
    path = f"{cwd}/{drawn.sentence(4).split()[0].lower()}.py"
    kind = random_source.randrange(3)
    if kind == 0:
        name, fields = "Read", {"file_path": path}
    elif kind == 1:
        name, fields = "Bash", {"command": f"python {path}", "description": drawn.sentence(6)}
    else:
        piece = drawn.piece(400)
        name, fields = "Edit", {"file_path": path, "old_string": piece, "new_string": piece[::-1]}
    shown = drawn.piece(output)
    return {"type": "tool_use", "id": call, "name": name, "input": fields}, shown


def _time(seconds: int) -> str:
    import datetime as dt

    moment = dt.datetime.fromtimestamp(seconds, tz=dt.UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
