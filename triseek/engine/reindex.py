"""reindex: update or rebuild a root's index."""

from __future__ import annotations

import dataclasses
import time
from typing import TYPE_CHECKING, Literal

from triseek import errors
from triseek.store import lock

if TYPE_CHECKING:
    from triseek.model.index import BuildReport, Progress


def reindex(
    root: str, index_dir: str | None, mode: Literal["full", "incremental"], progress: Progress
) -> BuildReport:
    """Write the next generation of an index; compile the kernels first if they are not compiled.

    Raises:
        StateUnwritable: there is no state folder to write to, or its disk is full.
        Busy: another process is writing this index.
    """
    if index_dir is None:
        raise errors.StateUnwritable("there is no state folder to keep an index in")
    from triseek.kernels import cache
    from triseek.kernels.jit import warm

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
        merges = merge.merge_due(index_dir, progress=progress)
    except errors.Busy:  # the other writer merges too; the update itself is done
        return report
    except errors.IndexCorrupt:  # an update reads no posting list; only a merge finds a damaged one
        return build.build(root, index_dir, progress=progress)
    if not merges:
        return report
    took = report.elapsed_ms + (time.perf_counter() - started) * 1e3
    return dataclasses.replace(report, generation=merges[-1].generation, elapsed_ms=took)
