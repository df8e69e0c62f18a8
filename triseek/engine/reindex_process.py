"""Reindex in a subprocess: its memory is freed when it ends, and a crash loses only the build.

    python -m triseek.engine.reindex_process ROOT MODE

writes one line of JSON per progress step, then one with the report or the error.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Literal, NamedTuple, TypedDict

from triseek import errors
from triseek.ipc import children
from triseek.model.index import no_progress

if TYPE_CHECKING:
    from collections.abc import Callable

    from triseek.model.index import Progress, Stage

STEP_S = 0.1
"""Minimum time between progress messages of one stage."""
_POLL_S = 0.2


class ReindexReport(NamedTuple):
    """The result of the reindex subprocess."""

    rebuilt_full: bool
    files_indexed: int
    generation: int


class ProgressMessage(TypedDict):
    """One line of the subprocess: a progress step."""

    stage: Stage
    done: int
    total: int


class ReportMessage(TypedDict):
    """The last line of the subprocess if it succeeded."""

    report: dict[str, int]
    """The fields of a `ReindexReport`."""


class ErrorMessage(TypedDict):
    """The last line of the subprocess if it failed."""

    error: dict[str, str]
    """The arguments of `errors.named`."""


def reindex(
    root: str,
    mode: Literal["incremental", "full"],
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
            return ReindexReport(**message["report"])
        if "error" in message:
            raise errors.named(**message["error"])
        progress(message["stage"], message["done"], message["total"])
    raise errors.BackendFailure(f"the indexing process ended with {child.wait()}")


def main(root: str, mode: str) -> None:
    """Run the reindex in the subprocess and print its messages."""
    from triseek.engine.reindex import reindex as run
    from triseek.engine.roots import index_dir

    try:
        report = run(root, index_dir(root), "full" if mode == "full" else "incremental", _Steps())
    except errors.TriseekError as error:
        _print({"error": {"code": error.code, "message": str(error), "next_step": error.next_step}})
    else:
        _print(
            {
                "report": {
                    "rebuilt_full": report.rebuilt_full,
                    "files_indexed": report.files_indexed,
                    "generation": report.generation,
                }
            }
        )


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


def _print(message: ProgressMessage | ReportMessage | ErrorMessage) -> None:
    print(json.dumps(message), flush=True)  # noqa: T201 - its one channel


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
