"""build, update, reindex, index-status, measure, check and warmup."""

from __future__ import annotations

import os
import sys
from collections import Counter
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from triseek.terminal import options, report_text, status
from triseek.terminal.report_text import progress_bars

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.engine.engine import Engine
    from triseek.model.index import BuildReport


@contextmanager
def _engine(path: str, *, exact: bool = False) -> Iterator[Engine]:
    """The engine of the root of a folder; with `exact`, the folder itself is the root."""
    from triseek.engine.service import Service

    with Service() as service:
        yield service.engine(options.existing_folder(path), exact=exact)


def build(path: options.Folder = ".", json: options.Json = False) -> int:
    """Build the index of a folder anew.

    Examples: triseek build · triseek build ~/src/linux --json
    """
    with _engine(path, exact=True) as engine, progress_bars() as progress:
        report = engine.build(progress=progress)
    return _report_build(report, engine.root, as_json=json)


def update(path: options.Folder = ".", json: options.Json = False) -> int:
    """Bring the index up to date: read only what has changed.

    Example: triseek update
    """
    with _engine(path) as engine, progress_bars() as progress:
        report = engine.update(progress=progress)
    return _report_build(report, engine.root, as_json=json)


def reindex(
    path: options.Folder = ".",
    mode: Annotated[
        str, typer.Option("--mode", help="full: read everything; incremental: what changed.")
    ] = "full",
    json: options.Json = False,
) -> int:
    """Build the index again, whatever state it is in.

    Examples: triseek reindex · triseek reindex --mode incremental
    """
    if mode == "incremental":
        return update(path, json)
    if mode != "full":
        raise typer.BadParameter("give full or incremental", param_hint="--mode")
    return build(path, json)


def index_status(path: options.Folder = ".", json: options.Json = False) -> int:
    """Show what the index holds and whether it is up to date.

    Exit status 1: there is no index.
    """
    with _engine(path) as engine:
        index = engine.status()
    watching = _watching(index.root) if index.present else _NOT_WATCHED
    if json:
        print(report_text.as_json({**asdict(index), **watching}))
    else:
        lines = [report_text.status_text(index), *_watching_lines(watching)]
        print(report_text.readable("\n".join(lines)))
    return status.FOUND if index.present else status.NOTHING


_NOT_WATCHED = {"watched": False, "trouble": "", "fix": ""}


def _watching(root: str) -> dict[str, Any]:
    """Whether the daemon watches a root, and if it cannot, why and what to do; asks for 2 s."""
    from triseek import errors
    from triseek.ipc import ask

    try:
        reply = ask.if_running("status", timeout_s=2.0) or {}
    except errors.TriseekError:
        return _NOT_WATCHED
    for each in reply.get("roots", ()):
        if each.get("target_root") == root:
            return {name: each.get(name, value) for name, value in _NOT_WATCHED.items()}
    return _NOT_WATCHED


def _watching_lines(watching: dict[str, Any]) -> list[str]:
    if watching["watched"]:
        return ["  watched by the daemon"]
    if not watching["trouble"]:
        return []
    fix = f"; to fix it: {watching['fix']}" if watching["fix"] else ""
    return [f"  not watched, so each answer takes a sweep: {watching['trouble']}{fix}"]


def measure(path: options.Folder = ".", json: options.Json = False) -> int:
    """Show how large a tree is: files and bytes, by extension. Reads no file.

    Example: triseek measure ~/src/linux
    """
    from triseek.model.index import category_of
    from triseek.model.search import ScopeSpec

    root = options.existing_folder(path)
    counts: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    with _engine(path) as engine:
        inside = os.path.relpath(root, engine.root)
        files = engine.list_files(ScopeSpec(allowlist=True), () if inside == "." else (inside,))
        for file in files:
            try:
                size = os.lstat(os.path.join(os.fsencode(engine.root), file)).st_size
            except OSError:
                continue  # gone since it was listed
            name = os.path.splitext(file)[1].decode(errors="replace") or "(none)"
            counts[name] += 1
            sizes[name] += size
    document: dict[str, Any] = {
        "root": root,
        "files": counts.total(),
        "bytes": sizes.total(),
        "category": category_of(counts.total(), sizes.total()),
        "extensions": [
            {"extension": name, "files": count, "bytes": sizes[name]}
            for name, count in counts.most_common(20)
        ],
    }
    print(report_text.as_json(document) if json else report_text.readable(_measured_text(document)))
    return status.FOUND


def check(path: options.Folder = ".", json: options.Json = False) -> int:
    """Walk every byte of the index and name the first that is not what was written.

    Exit status 2: the index is damaged; `triseek reindex` mends it.
    """
    with _engine(path) as engine, progress_bars() as progress:
        size = engine.check(progress=progress)
    document = {"root": engine.root, "sound": True, "bytes": size}
    checked = f"{engine.root}: the index is sound, {report_text.human_size(size)} checked"
    print(report_text.as_json(document) if json else report_text.readable(checked))
    return status.FOUND


def warmup(json: options.Json = False) -> int:
    """Compile the kernels now, so that no search has to use another backend meanwhile."""
    import time

    from triseek.kernels.jit import warm

    started = time.perf_counter()
    with progress_bars() as progress:
        count = warm(progress=progress)
    _warn_if_not_kept()
    seconds = time.perf_counter() - started
    document = {"kernels": count, "seconds": round(seconds, 3)}
    print(report_text.as_json(document) if json else f"{count} kernels ready, {seconds:.1f} s")
    return status.FOUND


def _warn_if_not_kept() -> None:
    """Say that the kernels just compiled are lost with this process, if they are."""
    from triseek.kernels import cache

    if not (cache.can_be_kept() or cache.is_kept()):
        why = cache.distrust()
        reason = f" ({why.strerror})" if why is not None else ""
        warning = (
            f"triseek: compiled kernels cannot be kept in {cache.directory()}{reason}, so searches "
            "will use other backends; set TRISEEK_HOME to a folder of your own"
        )
        print(report_text.readable(warning), file=sys.stderr)


def _report_build(report: BuildReport, root: str, *, as_json: bool) -> int:
    _warn_if_not_kept()
    if as_json:
        print(report_text.as_json(asdict(report)))
    else:
        print(report_text.readable(report_text.build_text(report, root)))
    return status.FOUND


def _measured_text(document: dict[str, Any]) -> str:
    size = report_text.human_size(document["bytes"])
    head = f"{document['root']}: {document['files']:,} files, {size}, {document['category']}"
    rows = [
        f"  {row['extension']:12} {row['files']:>9,} files"
        f" {report_text.human_size(row['bytes']):>10}"
        for row in document["extensions"]
    ]
    return "\n".join([head, *rows])
