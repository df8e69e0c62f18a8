"""A log from its end: every entry once, whatever stands between them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triseek.errors import InvalidRequest
from triseek.model.session import LogEntry
from triseek.sessions.action_log import NAME, ActionLog
from triseek.ui import timeline

if TYPE_CHECKING:
    from pathlib import Path

KINDS = ("read", "edit", "search")
LINES = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(KINDS), st.integers(0, 400)),
        st.sampled_from(["no entry", "{}", "", '{"schema_version": 2}', "x" * 900, "a\rb"]),
    ),
    max_size=40,
)


def anything(_kind: str) -> bool:
    return True


def entry(number: int, kind: str = "read", weight: int = 0) -> LogEntry:
    return LogEntry(
        entry_id=number, session_id="s", ts=1000 + number, kind=kind, payload={"x": "y" * weight}
    )


def written(folder: Path, lines: list) -> list[LogEntry]:
    """A log of these lines; the entries among them, newest first."""
    entries, held = [], b""
    for number, line in enumerate(lines, 1):
        if isinstance(line, str):
            held += line.encode() + b"\n"
            continue
        entries.append(entry(number, *line))
        # As our own logs are written, and as others might write JSON.
        signs = (",", ":") if number % 2 else (", ", ": ")
        held += json.dumps(entries[-1].document(), separators=signs).encode() + b"\n"
    (folder / NAME).write_bytes(held)
    return entries[::-1]


def all_older(folder: Path, wanted, limit: int) -> list[LogEntry]:
    """Page after page until there is nothing older."""
    found, before = [], None
    while before != 0:
        page = timeline.older(folder, before, wanted, limit)
        assert before is None or page.start < before
        assert len(page.entries) <= limit
        found += page.entries
        before = page.start
    return found


def all_newer(folder: Path, wanted, limit: int) -> list[LogEntry]:
    found, after = [], 0
    while (page := timeline.newer(folder, after, wanted, limit)).end > after:
        assert len(page.entries) <= limit
        found = page.entries + found
        after = page.end
    return found


@given(
    lines=LINES,
    limit=st.integers(1, 7),
    piece=st.sampled_from([1200, 3000, 1 << 19]),
    kind=st.sampled_from(KINDS),
)
def test_pages_hold_every_entry_once_in_order(
    tmp_path_factory: pytest.TempPathFactory, lines: list, limit: int, piece: int, kind: str
) -> None:
    folder = tmp_path_factory.mktemp("log")
    entries = written(folder, lines)
    of_kind = [each for each in entries if each.kind == kind]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(timeline, "PIECE", piece)

        assert all_older(folder, anything, limit) == entries
        assert all_older(folder, kind.__eq__, limit) == of_kind
        assert all_newer(folder, anything, limit) == entries
        assert all_newer(folder, kind.__eq__, limit) == of_kind


def test_a_rare_kind_is_looked_for_in_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timeline, "PIECE", 1200)
    monkeypatch.setattr(timeline, "PIECES_MAX", 2)
    written(tmp_path, [("edit", 0), *[("read", 300)] * 40])

    first = timeline.older(tmp_path, None, "edit".__eq__, 10)

    assert first.entries == []
    assert first.start > 0
    assert [each.entry_id for each in all_older(tmp_path, "edit".__eq__, 10)] == [1]


def test_a_torn_entry_is_told_when_it_is_whole(tmp_path: Path) -> None:
    written(tmp_path, [("read", 0)])
    line = json.dumps(entry(2).document()).encode() + b"\n"
    log = tmp_path / NAME
    with log.open("ab") as file:
        file.write(line[:20])

    page = timeline.older(tmp_path, None, anything, 10)
    assert [each.entry_id for each in page.entries] == [1]
    assert timeline.newer(tmp_path, page.end, anything, 10).entries == []
    with log.open("ab") as file:
        file.write(line[20:])

    later = timeline.newer(tmp_path, page.end, anything, 10)
    assert [each.entry_id for each in later.entries] == [2]
    assert later.end == log.stat().st_size


def test_what_is_appended_is_behind_the_last_place(tmp_path: Path) -> None:
    log = ActionLog(tmp_path)
    log.append(entry(1))
    end = timeline.older(tmp_path, None, anything, 10).end
    log.append(entry(2))
    log.append(entry(3))

    page = timeline.newer(tmp_path, end, anything, 10)

    assert [each.entry_id for each in page.entries] == [3, 2]


@pytest.mark.parametrize("place", [-5, 10**9])
def test_a_place_that_is_not_there_is_the_nearest_that_is(tmp_path: Path, place: int) -> None:
    entries = written(tmp_path, [("read", 0), ("edit", 0)])

    older = timeline.older(tmp_path, place, anything, 10)
    newer = timeline.newer(tmp_path, place, anything, 10)

    assert older.entries == (entries if place > 0 else [])
    assert newer.entries == (entries if place < 0 else [])


def test_a_log_that_is_not_there_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="cannot be read"):
        timeline.older(tmp_path, None, anything, 10)
