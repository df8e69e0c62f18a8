"""A recorded workday, told to the memo again: its hooks, its files and its transcripts.

What is denied is taken out of the rest of the day: the model would not have been shown it.
"""

from __future__ import annotations

import json
import lzma
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.memo.truth import View, lines_of, request_of
from triseek.agents import hooks
from triseek.app.hook_handler import HookHandler
from triseek.engine.roots import project
from triseek.engine.service import Service
from triseek.memo.memo import Asked, Memo
from triseek.model import token_estimate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from triseek.model.hook_event import Context, FileRead, HookEvent

STREAMS = Path(__file__).parent / "streams"
ASKED_OF = 6
"""Files of which `memo_check` is asked before each use of a tool: those last read."""
LEAST_TOKENS = 50
"""What is smaller is not worth a denial."""


@dataclass
class Counts:
    """Of one stream. Tokens are bytes / 3.5."""

    events: int = 0
    reads: int = 0
    """Uses of a tool that only show lines of files."""
    tokens: int = 0
    redundant: int = 0
    """Of these, those whose every line the model had before it."""
    redundant_tokens: int = 0
    denied: int = 0
    denied_tokens: int = 0
    let_through: int = 0
    """Redundant, and asked for again after a denial: never twice in a row."""
    small: int = 0
    """Redundant, and smaller than is worth a denial."""
    wrong: int = 0
    """Denied, though the model had not all lines before it."""
    asked: int = 0
    fresh: int = 0
    false_fresh: int = 0
    faults: list[str] = field(default_factory=list)


def streams(folder: Path = STREAMS) -> list[Path]:
    """The recorded workdays."""
    return sorted(folder.glob("*.json.xz"))


def load(path: Path) -> dict[str, Any]:
    """A stream as it was written by `packed`."""
    stream: dict[str, Any] = json.loads(lzma.decompress(path.read_bytes()))
    return stream


def packed(stream: Mapping[str, Any]) -> bytes:
    """A stream as it is kept.

    client, version, source, project: what it is of.
    texts: outputs of tools, as the model was sent them.
    requests: by number, the outputs in it: ids of uses, and places in `texts`.
    steps: each call of a hook: `at_s`, `event`, `payload`; `files` that were changed by then, and
    what was `written` to transcripts.
    """
    return lzma.compress(json.dumps(stream).encode())


def replay(path: Path) -> dict[str, Any]:
    """Replay one; what it is of, and its counts."""
    stream = load(path)
    with tempfile.TemporaryDirectory(prefix="triseek-bench-") as scratch:
        day = Day(stream, Path(scratch).resolve())
        with day.service:
            for step in stream["steps"]:
                day.step(step)
        day.memo.close()
    about = {name: stream[name] for name in ("client", "version", "source", "project")}
    return {"stream": path.name, **about, **asdict(day.counts)}


class Place:
    """Where a stream takes place again: its files and its transcripts."""

    def __init__(self, folder: Path) -> None:
        """In `folder`, which is there."""
        self.tree = folder / "repo"
        self._home = folder / "home"
        self.tree.mkdir()

    def write(self, step: Mapping[str, Any]) -> None:
        """What had been written by a step."""
        for name, text in step["files"].items():
            path = self.tree / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        for name, text in step["written"].items():
            path = Path(self.here(name))
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("a") as file:
                file.write(self.here(text))

    def here(self, text: str) -> str:
        """A text of the stream, with the names that its folders have here."""
        return text.replace("@TREE@", str(self.tree)).replace("@HOME@", str(self._home))


class Day:
    """A replay, as far as it has come."""

    def __init__(self, stream: Mapping[str, Any], folder: Path) -> None:
        self.counts = Counts()
        self._stream = stream
        self._place = Place(folder)
        (self._place.tree / ".git").mkdir()
        self._now_s = 0.0
        self.memo = Memo(str(folder / "memo"), lambda: self._now_s)
        self.service = Service()
        self._hook_handler = HookHandler(self.service, self.memo, lambda _: None)
        self._denied: set[str] = set()
        self._last_denied: dict[Context, set[str]] = {}
        self._read: dict[str, list[str]] = {}
        self._asks = 0

    def step(self, step: Mapping[str, Any]) -> None:
        """One call of a hook, and what had been written by then."""
        self._now_s = step["at_s"]
        self._place.write(step)
        payload = self._place.here(step["payload"])
        told = self._told(payload, step["event"])
        if told is None or (told.use and told.use.call in self._denied):
            return
        self.counts.events += 1
        view = self._view(told)
        if view is not None and told.moment == "before":
            self._ask(payload, step["event"], told, view)
        answer = self._hook(payload, step["event"])
        if view is not None and told.moment == "before":
            self._judge(told, view, denied=bool(answer))

    def _told(self, payload: str, event: str) -> HookEvent | None:
        client = self._stream["client"]
        return hooks.read(payload.encode(), event=event, harness=client, cwd=str(self._place.tree))

    def _hook(self, payload: str, event: str) -> str:
        client = self._stream["client"]
        return self._hook_handler.hook(payload.encode(), event, client, str(self._place.tree))

    def _view(self, told: HookEvent) -> View | None:
        """What the model had before it when it asked for this use of a tool."""
        number = request_of(told.use.call) if told.use else ""
        if number not in self._stream["requests"]:
            return None
        texts: Sequence[str] = self._stream["texts"]
        sent = self._stream["requests"][number]
        return View(texts[int(at)] for call, at in sent.items() if call not in self._denied)

    def _judge(self, told: HookEvent, view: View, *, denied: bool) -> None:
        use = told.use
        if use is None or not use.reads or not use.only_reads:
            return
        wanted = [line for read in use.reads for line in self._lines(read)]
        tokens = token_estimate.of_source_text("\n".join(wanted))
        counts, paths = self.counts, {read.path for read in use.reads}
        counts.reads += 1
        counts.tokens += tokens
        has = all(view.holds(self._lines(read)) for read in use.reads)
        again = bool(paths & self._last_denied.get(told.context, set()))
        if has:
            counts.redundant += 1
            counts.redundant_tokens += tokens
            counts.let_through += again and not denied
            counts.small += tokens < LEAST_TOKENS and not denied and not again
        if denied:
            self._denied.add(use.call)
            counts.denied += 1
            counts.denied_tokens += tokens
            if not has:
                counts.wrong += 1
                counts.faults.append(f"denied {use.call}: {sorted(paths)}")
        held = self._last_denied.setdefault(told.context, set())
        held.update(paths) if denied else held.difference_update(paths)
        known = self._read.setdefault(told.context.session, [])
        known += [path for path in paths if path not in known]

    def _lines(self, read: FileRead) -> list[str]:
        try:
            text = Path(read.path).read_text()
        except OSError:
            return []
        return lines_of(text, read.first, read.last, read.tail)

    def _ask(self, payload: str, event: str, told: HookEvent, view: View) -> None:
        """Ask the memo's tool of files, as the agent could have done instead."""
        for path in self._read.get(told.context.session, [])[-ASKED_OF:]:
            self._asks += 1
            call = f"ask_{self._asks}"
            name = "triseek_memo_check" if told.context.harness == "opencode" else _MEMO_CHECK
            asked = {"tool_name": name, "tool_use_id": call, "tool_input": {"path": path}}
            self._hook(json.dumps(json.loads(payload) | asked), event)
            root = project(str(self._place.tree))
            told_back = self.memo.check(root, path, Asked(call=call, harness=told.context.harness))
            self.counts.asked += 1
            if told_back["status"] != "fresh":
                continue
            self.counts.fresh += 1
            if not view.holds(lines_of(Path(path).read_text())):
                self.counts.false_fresh += 1
                self.counts.faults.append(f"fresh before {told.use and told.use.call}: {path}")


_MEMO_CHECK = "mcp__triseek__memo_check"
