"""`triseek history export|archive`: all that is kept, as JSON lines."""

from __future__ import annotations

import json
import os
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from triseek.errors import StateUnwritable
from triseek.history.commands.calling import open_history
from triseek.model.plain_text import encodable
from triseek.store import atomic
from triseek.terminal import options, report_text, status

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.history.service import History


def export(
    target: Annotated[
        str, typer.Argument(metavar="FILE", help="Where to; standard output if none.")
    ] = "",
) -> int:
    """Write all conversations that are kept as JSON lines, one conversation a line.

    Examples: triseek history export ~/history.jsonl · triseek history export | jq .conversation
    """
    with closing(open_history()) as history:
        lines = _lines(history)
        if not target:
            for line in lines:
                sys.stdout.write(line)
            return status.FOUND
        try:
            atomic.write_lines(os.path.abspath(target), lines)
        except OSError as error:
            raise _unwritable(target, error) from error
    return status.FOUND


def archive(
    target: Annotated[str, typer.Argument(metavar="FILE", help="Where to; replaced if it exists.")],
    json_: options.Json = False,
) -> int:
    """Write everything that is kept to one compressed file, to be restored by import --file.

    `export` writes conversations for other programs to read; an archive has observations, pins and
    summaries, too, and goes back into a history, on this machine or another.

    Example: triseek history archive ~/history.jsonl.gz
    """
    from triseek.history import archive as archiving

    path = Path(os.path.abspath(target))
    with closing(open_history()) as history:
        try:
            rows = archiving.write(history.database, path)
        except OSError as error:
            raise _unwritable(target, error) from error
    size = path.stat().st_size
    text = f"{rows:,} rows written to {target}, {report_text.human_size(size)}"
    document = report_text.as_json({"path": str(path), "rows": rows, "bytes": size})
    print(document if json_ else report_text.readable(text))
    return status.FOUND


def _unwritable(target: str, error: OSError) -> StateUnwritable:
    return StateUnwritable(
        f"cannot write {target}: {error.strerror}",
        next_step="Name a file in a folder that exists, which you may write and which has room.",
    )


def _lines(history: History) -> Iterator[str]:
    from triseek.history import operations

    with history.database.read() as connection:
        numbers = [row[0] for row in connection.execute("SELECT id FROM sessions ORDER BY id")]
    for number in numbers:
        with history.database.read() as connection:
            document = dict(operations.whole(connection, number))
        yield json.dumps(encodable(document), ensure_ascii=False) + "\n"
