"""reindex in a process of its own: its memory goes with it, and a crash costs a build, no session.

    python -m triseek.service.apart ROOT MODE

writes a line of JSON for each step, and a last one with the report or the error.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from triseek import errors
from triseek.ipc import children
from triseek.model.index import no_progress

if TYPE_CHECKING:
    from collections.abc import Callable

    from triseek.model.index import Progress, Stage

STEP_S = 0.1
"""Steps are told no more often."""
_POLL_S = 0.2


@dataclass(frozen=True, slots=True)
class Report:
    """What the other process did."""

    rebuilt_full: bool
    files_indexed: int
    generation: int


def reindex(
    root: str,
    mode: Literal["incremental", "full"],
    progress: Progress = no_progress,
    cancelled: Callable[[], bool] = lambda: False,
) -> Report:
    """Bring an index up to date, or build it anew.

    When it is cancelled, the other process is ended; what it wrote aside is swept up by the next.

    Raises:
        TriseekError: what went wrong there, or that it ended without a word.
    """
    child = children.start(
        [sys.executable, "-m", "triseek.service.apart", root, mode],
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


def _followed(child: subprocess.Popen[bytes], progress: Progress) -> Report:
    assert child.stdout is not None  # noqa: S101 - it was asked for
    for line in child.stdout:
        told = json.loads(line)
        if "report" in told:
            return Report(**told["report"])
        if "error" in told:
            raise errors.named(**told["error"])
        progress(told["stage"], told["done"], told["total"])
    raise errors.BackendFailure(f"the indexing process ended with {child.wait()}")


def main(root: str, mode: str) -> None:
    """The other process."""
    from triseek.engine.reindex import reindex as run
    from triseek.service.roots import index_dir

    try:
        made = run(root, index_dir(root), "full" if mode == "full" else "incremental", _Steps())
    except errors.TriseekError as error:
        told = {"code": error.code, "message": str(error), "next_step": error.next_step}
        _say({"error": told})
    else:
        _say({"report": asdict(Report(made.rebuilt_full, made.files_indexed, made.generation))})


class _Steps:
    """Tells steps, not too often."""

    def __init__(self) -> None:
        self._told_at = 0.0
        self._stage: Stage | None = None

    def __call__(self, stage: Stage, done: int, total: int) -> None:
        now = time.monotonic()
        if stage != self._stage or now - self._told_at >= STEP_S:
            self._stage, self._told_at = stage, now
            _say({"stage": stage, "done": done, "total": total})


def _say(document: dict[str, Any]) -> None:
    print(json.dumps(document), flush=True)  # noqa: T201 - its one channel


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
