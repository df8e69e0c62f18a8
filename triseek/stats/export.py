"""Exports the index as tables: one row per file, per trigram, per language.

The formats are Arrow IPC, Parquet and JSON; `pyarrow.ipc.open_file`, `pandas.read_feather`,
`pandas.read_parquet` and DuckDB read the files.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from triseek import errors
from triseek.store import atomic, layout

if TYPE_CHECKING:
    from triseek.engine.engine import Engine
    from triseek.index.reader import IndexReader

FORMATS = ("arrow", "parquet", "json")
_NUMBERS = ("size", "mtime_ns", "inode", "xxh3", "lines")
_TEXT = pa.string()  # a column of no rows has no type to infer


def export_tables(engine: Engine, folder: str | Path, fmt: str) -> list[Path]:
    """Write the three tables of an engine's index to `folder`; return the files written.

    fmt: one of FORMATS.

    Raises:
        IndexUnavailable: there is no index.
        IndexCorrupt: the index is damaged; then nothing has been written.
        InvalidRequest: the folder cannot be written.
    """
    reader, out, written = engine.reader(), Path(folder), []
    reader.verify()
    try:
        out.mkdir(parents=True, exist_ok=True)
        for make in (files, trigrams, languages):
            path = out / f"{make.__name__}.{fmt}"
            atomic.write(path, _encoded(make(reader), fmt), mode=0o666)
            written.append(path)
    except OSError as error:
        raise errors.InvalidRequest(
            f"cannot write to {folder}: {error.strerror}", next_step="Give another --out folder."
        ) from error
    return written


def files(reader: IndexReader) -> pa.Table:
    """One row per live file: path, size, times, content hash, lines, blocks, language, why skipped.

    `path` is text with invalid bytes replaced; `path_bytes` is exact.
    """
    parts = []
    for view in reader.views:
        alive = np.flatnonzero(view.alive)
        table = view.segment.files
        paths = view.names.take(alive)
        language = table.strings("language")
        parts.append(
            pa.table(
                {
                    "path": pa.array([path.decode("utf-8", "replace") for path in paths], _TEXT),
                    "path_bytes": pa.array(paths, pa.binary()),
                    **{name: table.numbers(name)[alive] for name in _NUMBERS},
                    "blocks": np.diff(view.edges)[alive],
                    "language": pa.array([language[i] for i in alive.tolist()], _TEXT),
                    "skipped": pa.array(
                        [layout.SKIP_REASONS.get(i, "") for i in view.skip[alive].tolist()], _TEXT
                    ),
                }
            )
        )
    return pa.concat_tables(parts)


def trigrams(reader: IndexReader) -> pa.Table:
    """One row per trigram: its three bytes as a number and as text, and how many blocks have it.

    Blocks of files that were replaced since are counted until the segments are merged.
    """
    keys = np.concatenate([view.segment.trigrams for view in reader.views])
    counts = np.concatenate([view.segment.frequency for view in reader.views])
    distinct, inverse = np.unique(keys, return_inverse=True)
    total = np.zeros(len(distinct), np.int64)
    np.add.at(total, inverse, counts)
    text = [int(key).to_bytes(3, "big").decode("utf-8", "replace") for key in distinct]
    return pa.table({"trigram": distinct, "text": pa.array(text, _TEXT), "blocks": total})


def languages(reader: IndexReader) -> pa.Table:
    """One row per language: files, bytes, lines; most bytes first."""
    grouped = files(reader).group_by("language")
    table = grouped.aggregate([("path", "count"), ("size", "sum"), ("lines", "sum")])
    table = table.rename_columns(["language", "files", "bytes", "lines"])
    return table.sort_by([("bytes", "descending"), ("language", "ascending")])


def _encoded(table: pa.Table, fmt: str) -> bytes:
    if fmt == "json":
        shown = [name for name in table.column_names if name != "path_bytes"]  # bytes are no JSON
        return json.dumps(table.select(shown).to_pylist()).encode()
    sink = pa.BufferOutputStream()
    if fmt == "parquet":
        pq.write_table(table, sink)
    else:
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
    return bytes(sink.getvalue())
