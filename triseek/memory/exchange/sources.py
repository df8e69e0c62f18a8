"""Recognizes what a path holds that can be imported."""

from __future__ import annotations

import contextlib
import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal

from triseek.agents import jsonl
from triseek.errors import InvalidRequest
from triseek.memory.exchange import json_lines, mcp_memory, own_format, trusty_memory
from triseek.memory.exchange.records import PalaceRecord
from triseek.model.conversation import Unreadable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from triseek.memory.exchange.records import Record

_KNOWN = (
    "Pass an export of `triseek memory export`, the memory.jsonl of the MCP memory server,"
    " or the folder of a trusty-memory store."
)


@dataclass(frozen=True, slots=True)
class Source:
    """Something that can be imported."""

    kind: Literal["export", "mcp-memory", "trusty-memory"]
    names_palaces: bool
    """Whether it says to which palaces its records belong."""
    records: Callable[[str], Iterator[Record]]
    """Yields its records, once. Takes the palace for those that belong to none.

    Raises OSError if the source cannot be read."""


@contextlib.contextmanager
def opened(path: str, stdin: BinaryIO) -> Iterator[Source]:
    """Open what a path holds.

    Args:
        path: A file or a folder; - for standard input.
        stdin: Standard input.

    Raises:
        InvalidRequest: It is nothing that can be imported.
        FormatTooNew: It is an export of a later version.
        OSError: It cannot be read.
    """
    if path == "-":
        yield _of_file(stdin, "standard input")
        return
    real = Path(path).expanduser().resolve()
    if real.is_dir():
        yield _of_folder(real, path)
        return
    if real.name in (trusty_memory.PALACE, trusty_memory.DATABASE):
        yield _of_folder(real.parent, path)
        return
    with jsonl.opened(str(real)) as file:
        yield _of_file(file, path)


def _of_folder(folder: Path, path: str) -> Source:
    palaces = trusty_memory.palaces_below(folder)
    if not palaces:
        raise InvalidRequest(f"{path}: no palace of trusty-memory in it", next_step=_KNOWN)
    return Source(
        "trusty-memory", True,
        lambda _palace: itertools.chain.from_iterable(map(_readable, palaces)),
    )  # fmt: skip


def _readable(folder: Path) -> Iterator[Record]:
    """Yield the records of a palace; one that cannot be read does not stop the others."""
    try:
        yield from trusty_memory.records(folder)
    except OSError as error:
        where = f"palace {folder.name}"
        yield Unreadable(where=where, reason=error.strerror or str(error))


def _of_file(file: BinaryIO, path: str) -> Source:
    lines = json_lines.objects(file)
    where, first = next(lines, ("", None))
    if first is None:
        raise InvalidRequest(f"{path}: it is empty", next_step=_KNOWN)
    if isinstance(first, Unreadable):
        raise InvalidRequest(f"{path}: {first.where} is {first.reason}", next_step=_KNOWN)
    if own_format.is_header(first):
        own_format.check_version(first)
        return Source("export", True, lambda _palace: own_format.records(lines))
    if mcp_memory.is_store(first):
        every = itertools.chain(((where, first),), lines)

        def records(palace: str) -> Iterator[Record]:
            yield PalaceRecord(where="the store", name=palace)
            yield from mcp_memory.records(every, palace)

        return Source("mcp-memory", False, records)
    raise InvalidRequest(f"{path}: not a file that can be imported", next_step=_KNOWN)
