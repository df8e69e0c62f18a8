"""What readers of transcripts in JSON lines share: the loop, conversations, parents and folders."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from triseek.agents import jsonl
from triseek.agents.payloads.fields import fields_of, parsed
from triseek.agents.transcript_values import compact, time_ms
from triseek.model.conversation import Conversation, Mark, Unreadable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from triseek.agents.payloads.fields import Fields
    from triseek.model.conversation import Record

MARK_BYTES = 1 << 20
"""Bytes after which a mark is yielded, so that a read that is interrupted can go on from there."""
_DEPTH = 8
"""Folders below the first one that are searched."""


class RowReading:
    """One read of a file: makes records of its rows.

    `hold` and `release` keep the mark before rows whose records are not complete yet: they are read
    again the next time.
    """

    def __init__(self, mark: Mark) -> None:
        self._held: Mark | None = None
        self._before = mark

    def records(self, start: int, row: Fields) -> Iterator[Record]:
        """Yield the records of the row that begins at an offset."""
        raise NotImplementedError

    def rest(self) -> Iterator[Record]:
        """Yield at the end of the file what waited for further rows."""
        return iter(())

    def state(self) -> dict[str, str]:
        """Return what is needed to go on after the newest row."""
        raise NotImplementedError

    def hold(self) -> None:
        """Keep the mark before the current row, unless one is held already."""
        self._held = self._held or self._before

    def release(self) -> None:
        """Let the mark advance again."""
        self._held = None

    def run(self, rows: Iterable[jsonl.Row], offset: int) -> Iterator[Record | Mark]:
        """Yield records and marks of rows; `offset` is where they begin."""
        marked = offset
        for row in rows:
            if isinstance(row.value, Unreadable):
                yield row.value
            else:
                yield from self.records(row.start, row.value)
            self._before = Mark(offset=row.end, state=self.state())
            mark = self._held or self._before
            if mark.offset - marked >= MARK_BYTES:
                marked = mark.offset
                yield mark
        yield from self.rest()
        yield self._held or self._before


class Conversations:
    """The conversations of a file, as far as its rows say.

    Only the newest one is kept in the state of a mark, and without its title: text is not stored
    before it is redacted.
    """

    _KEPT = ("id", "parent", "cwd", "branch", "model")

    def __init__(self, state: dict[str, str]) -> None:
        self._known: dict[str, Conversation] = {}
        kept = fields_of(parsed(state.get("conversation", "")))
        texts = {name: kept.text(name) for name in self._KEPT}
        self.newest = Conversation(
            **texts,
            is_sub_agent=kept.get("is_sub_agent") is True,
            started_ms=time_ms(kept.get("started_ms")),
        )
        if self.newest.id:
            self._known[self.newest.id] = self.newest
        self._stated = Conversation(id="")
        self._state: dict[str, str] = {}

    def update(self, conversation: Conversation) -> Iterator[Conversation]:
        """Yield the conversation if this says something new of it.

        The first cwd, branch, parent and time are kept, and the last title and model.
        """
        known = self._known.get(conversation.id)
        if known is None:
            new = conversation
        else:
            new = replace(
                known,
                parent=known.parent or conversation.parent,
                is_sub_agent=known.is_sub_agent or conversation.is_sub_agent,
                cwd=known.cwd or conversation.cwd,
                branch=known.branch or conversation.branch,
                title=conversation.title or known.title,
                model=conversation.model or known.model,
                started_ms=known.started_ms or conversation.started_ms,
            )
        self.newest = self._known[conversation.id] = new
        if new != known:
            yield new

    def state(self) -> dict[str, str]:
        """Return the newest one for the state of a mark."""
        if self.newest is not self._stated:
            kept = {name: getattr(self.newest, name) for name in self._KEPT}
            kept["is_sub_agent"] = self.newest.is_sub_agent
            kept["started_ms"] = self.newest.started_ms
            self._stated, self._state = self.newest, {"conversation": compact(kept)}
        return self._state if self.newest.id else {}


class Ancestry:
    """Maps ids of rows to those of the records before them, for formats with parents.

    A read that begins inside of a file knows the newest row from its mark. For any other row, the
    file is read from its start, once.
    """

    def __init__(
        self,
        path: str,
        mark: Mark,
        link: Callable[[Fields], tuple[str, str, str]],
        *,
        without: tuple[bytes, ...] = (),
    ) -> None:
        """Take the file, where the read begins, and a function from a row to its ids.

        link: Returns a row's id, its parent's, and its last record's; "" for what it has not.
        without: Beginnings of lines that have no id.
        """
        self._path = path
        self._start = mark.offset
        self._link = link
        self._without = without
        self._records: dict[str, str] = {}
        self._newest = mark.state.get("row", "")
        self._is_whole = mark.offset == 0
        if self._newest:
            self._records[self._newest] = mark.state.get("record", "")

    def record_at(self, row_id: str) -> str:
        """Return the last record at or before a row, on its branch; "" if there is none."""
        if row_id and row_id not in self._records and not self._is_whole:
            self._is_whole = True
            for row in jsonl.rows(self._path, without=self._without):
                if row.start >= self._start:
                    break
                if not isinstance(row.value, Unreadable):
                    self._add(row.value)
        return self._records.get(row_id, "")

    def add(self, row: Fields) -> None:
        """Note a row that was read."""
        self._newest = self._add(row) or self._newest

    def _add(self, row: Fields) -> str:
        row_id, parent, record = self._link(row)
        if row_id and row_id not in self._records:
            self._records[row_id] = record or self.record_at(parent)
        return row_id

    def state(self) -> dict[str, str]:
        """Return the newest row for the state of a mark."""
        newest = self._newest
        return {"row": newest, "record": self._records.get(newest, "")} if newest else {}


def known_path(values: Fields, cwd: str, *names: str) -> str:
    """Return the first text as an absolute path; "" if it is relative to an unknown folder."""
    path = values.path(cwd, *names)
    return path if os.path.isabs(path) else ""  # noqa: PTH117


def files_below(folder: str, *suffixes: str, depth: int = _DEPTH) -> Iterator[str]:
    """Yield the regular files below a folder whose names end so, sorted; links are not followed."""
    try:
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in found:
        try:
            if entry.is_dir(follow_symlinks=False):
                if depth:
                    yield from files_below(entry.path, *suffixes, depth=depth - 1)
            elif entry.name.endswith(suffixes) and entry.is_file(follow_symlinks=False):
                yield entry.path
        except OSError:
            continue
