"""Update or rebuild an index, in this process or in a subprocess.

The memory of a subprocess is freed when it ends, and a crash loses only the build.

    python -m triseek.engine.reindex_process ROOT MODE

writes one line of JSON per progress step, then one with the report or the error.
"""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, TypedDict

from triseek import errors
from triseek.ipc import children
from triseek.model.index import no_progress
from triseek.store import lock

if TYPE_CHECKING:
    from collections.abc import Callable

    from triseek.model.index import BuildReport, Progress, Stage

STEP_S = 0.1
"""Minimum time between progress messages of one stage."""
_POLL_S = 0.2

Mode: TypeAlias = Literal["full", "incremental"]


class ReindexReport(NamedTuple):
    """The result of the reindex subprocess."""

    rebuilt_full: bool
    files_indexed: int
    generation: int


class Message(TypedDict, total=False):
    """One line of the subprocess: a progress step, or at last the report or the error."""

    stage: Stage
    done: int
    total: int
    report: ReindexReport
    error: dict[str, str]
    """The arguments of `errors.named`."""


def reindex(
    root: str,
    mode: Mode,
    progress: Progress = no_progress,
    cancelled: Callable[[], bool] = lambda: False,
) -> ReindexReport:
    """Update or rebuild an index in a subprocess.

    If `cancelled()` becomes True, the subprocess is terminated; the next run removes its
    unfinished files.

    Raises:
        TriseekError: The error of the subprocess, or that it ended without a report.
    """
    child = children.start(
        [sys.executable, "-m", "triseek.engine.reindex_process", root, mode],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "TRISEEK_NO_DAEMON": "1"},
    )
    done = threading.Event()
    watcher = threading.Thread(target=_end_if, args=(child, done, cancelled), daemon=True)
    watcher.start()
    try:
        return _followed(child, progress)
    finally:
        done.set()
        watcher.join()
        child.kill()
        child.communicate()


def _end_if(
    child: subprocess.Popen[bytes], done: threading.Event, cancelled: Callable[[], bool]
) -> None:
    while not done.wait(_POLL_S):
        if cancelled():
            child.send_signal(signal.SIGTERM)
            return


def _followed(child: subprocess.Popen[bytes], progress: Progress) -> ReindexReport:
    assert child.stdout is not None  # noqa: S101 - it was asked for
    for line in child.stdout:
        message = json.loads(line)
        if "report" in message:
            return ReindexReport(*message["report"])
        if "error" in message:
            raise errors.named(**message["error"])
        progress(message["stage"], message["done"], message["total"])
    raise errors.BackendFailure(f"the indexing process ended with {child.wait()}")


def write_index(root: str, index_dir: str | None, mode: Mode, progress: Progress) -> BuildReport:
    """Write the next generation of an index; compile the kernels first if they are not compiled.

    Raises:
        StateUnwritable: there is no state folder to write to, or its disk is full.
        Busy: another process is writing this index.
    """
    if index_dir is None:
        raise errors.StateUnwritable("there is no state folder to keep an index in")
    from triseek.engine import leftovers
    from triseek.kernels import cache
    from triseek.kernels.jit import warm

    leftovers.clean()  # first, as the disk may be full of them
    if not cache.is_ready():
        # Errors that would end the build are raised before half a minute of compiling, not after.
        with lock.writer(index_dir):
            pass
    warm(progress)
    from triseek.index import build, update

    if mode == "full":
        return build.build(root, index_dir, progress=progress)
    report = update.update(root, index_dir, progress=progress)
    return report if report.rebuilt_full else _merged(root, index_dir, report, progress)


def _merged(root: str, index_dir: str, report: BuildReport, progress: Progress) -> BuildReport:
    """Run the merges that are due after an update, including the largest one.

    Without a daemon no other process runs them. The cost is bounded: all segments are merged only
    once a quarter of the text is new, and reading that much took longer than the merge does.
    """
    from triseek.index import build, merge

    started = time.perf_counter()
    try:
        merged = merge.merge_due(index_dir, progress=progress)
    except errors.Busy:  # the other writer merges too; the update itself is done
        return report
    except errors.IndexCorrupt:  # an update reads no posting list; only a merge finds a damaged one
        return build.build(root, index_dir, progress=progress)
    if merged is None:
        return report
    took = report.elapsed_ms + (time.perf_counter() - started) * 1e3
    return dataclasses.replace(report, generation=merged.generation, elapsed_ms=took)


def main(root: str, mode: str) -> None:
    """Run the reindex in the subprocess and print its messages."""
    from triseek.engine.roots import index_dir

    try:
        report = write_index(
            root, index_dir(root), "full" if mode == "full" else "incremental", _Steps()
        )
    except errors.TriseekError as error:
        steps = {"next_step": error.next_step, "tool_step": error.tool_step}
        _print({"error": {"code": error.code, "message": str(error), **steps}})
    else:
        done = ReindexReport(report.rebuilt_full, report.files_indexed, report.generation)
        _print({"report": done})


class _Steps:
    """Progress callback that prints steps, at most one per `STEP_S` within a stage."""

    def __init__(self) -> None:
        self._printed_at = 0.0
        self._stage: Stage | None = None

    def __call__(self, stage: Stage, done: int, total: int) -> None:
        now = time.monotonic()
        if stage != self._stage or now - self._printed_at >= STEP_S:
            self._stage, self._printed_at = stage, now
            _print({"stage": stage, "done": done, "total": total})


def _print(message: Message) -> None:
    print(json.dumps(message), flush=True)  # noqa: T201 - its one channel


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
