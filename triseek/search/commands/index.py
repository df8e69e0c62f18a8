"""build, update, reindex, index-status, measure, check and warmup."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from triseek.terminal import options, report_text, status
from triseek.terminal.progress import progress_bars

if TYPE_CHECKING:
    from triseek.model.index import BuildReport


def build(path: options.Folder = ".", json: options.Json = False) -> int:
    """Build the index of a folder anew.

    Examples: triseek build · triseek build ~/src/linux --json
    """
    from triseek.engine.service import Service

    with Service() as service, progress_bars() as progress:
        engine = service.engine(options.existing_folder(path), exact=True)
        report = engine.build(progress=progress)
    return _tell_build(report, engine.root, as_json=json)


def update(path: options.Folder = ".", json: options.Json = False) -> int:
    """Bring the index up to date: read only what has changed.

    Example: triseek update
    """
    from triseek.engine.service import Service

    with Service() as service, progress_bars() as progress:
        engine = service.engine(options.existing_folder(path))
        report = engine.update(progress=progress)
    return _tell_build(report, engine.root, as_json=json)


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
    from dataclasses import asdict

    from triseek.engine.service import Service

    with Service() as service:
        found = service.engine(options.existing_folder(path)).status()
    watching = _watching(found.root) if found.present else _NOT_WATCHED
    if json:
        print(report_text.as_json({**asdict(found), **watching}))
    else:
        lines = [report_text.status_text(found), *_watching_lines(watching)]
        print(report_text.readable("\n".join(lines)))
    return status.FOUND if found.present else status.NOTHING


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
    from triseek.engine.service import Service
    from triseek.model.index import category_of
    from triseek.model.search import ScopeSpec

    with Service() as service:
        root = options.existing_folder(path)
        engine = service.engine(root)
        inside = os.path.relpath(root, engine.root)
        files = engine.list_files(ScopeSpec(allowlist=True), () if inside == "." else (inside,))
        sizes = _sizes(os.fsencode(engine.root), list(files))
    count, size = sum(sizes.files.values()), sum(sizes.bytes.values())
    document: dict[str, Any] = {
        "root": root,
        "files": count,
        "bytes": size,
        "category": category_of(count, size),
        "extensions": [
            {"extension": name, "files": files, "bytes": sizes.bytes[name]}
            for name, files in sizes.files.most_common(20)
        ],
    }
    print(report_text.as_json(document) if json else report_text.readable(_measured_text(document)))
    return status.FOUND


def check(path: options.Folder = ".", json: options.Json = False) -> int:
    """Walk every byte of the index and name the first that is not what was written.

    Exit status 2: the index is damaged; `triseek reindex` mends it.
    """
    from triseek.engine.service import Service

    with Service() as service, progress_bars() as progress:
        engine = service.engine(options.existing_folder(path))
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
    _tell_unkept()
    seconds = time.perf_counter() - started
    document = {"kernels": count, "seconds": round(seconds, 3)}
    print(report_text.as_json(document) if json else f"{count} kernels ready, {seconds:.1f} s")
    return status.FOUND


def _tell_unkept() -> None:
    """Say that the kernels just compiled are lost with this process, if they are."""
    from triseek.kernels import cache

    if not (cache.can_be_kept() or cache.is_kept()):
        why = cache.distrust()
        reason = f" ({why.strerror})" if why is not None else ""
        said = (
            f"triseek: compiled kernels cannot be kept in {cache.directory()}{reason}, so searches "
            "will use other backends; set TRISEEK_HOME to a folder of your own"
        )
        print(report_text.readable(said), file=sys.stderr)


def _tell_build(report: BuildReport, root: str, *, as_json: bool) -> int:
    _tell_unkept()
    if as_json:
        print(report_text.as_json(report_text.build_document(report)))
    else:
        print(report_text.readable(report_text.build_text(report, root)))
    return status.FOUND


class _Sizes:
    def __init__(self) -> None:
        from collections import Counter

        self.files: Counter[str] = Counter()
        self.bytes: Counter[str] = Counter()


def _sizes(root: bytes, paths: list[bytes]) -> _Sizes:
    """Files and bytes by extension."""
    sizes = _Sizes()
    for path in paths:
        name = os.path.splitext(path)[1].decode(errors="replace") or "(none)"
        try:
            size = os.lstat(os.path.join(root, path)).st_size
        except OSError:
            continue  # gone since it was listed
        sizes.files[name] += 1
        sizes.bytes[name] += size
    return sizes


def _measured_text(document: dict[str, Any]) -> str:
    lines = [
        "{root}: {files:,} files, {size}, {category}".format(
            **document, size=report_text.human_size(document["bytes"])
        )
    ]
    lines += [
        "  {extension:12} {files:>9,} files {size:>10}".format(
            **row, size=report_text.human_size(row["bytes"])
        )
        for row in document["extensions"]
    ]
    return "\n".join(lines)
