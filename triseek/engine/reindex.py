"""reindex: bring a root's index up to date, or build it anew."""

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
    """Write the next generation of an index; kernels are compiled first where they are not.

    Raises:
        StateUnwritable: there is no state folder to write to, or its disk is full.
        Busy: another process is writing this index.
    """
    if index_dir is None:
        raise errors.StateUnwritable("there is no state folder to keep an index in")
    from triseek.kernels import cache
    from triseek.kernels.warm import warm

    if not cache.is_ready():
        # What would end the build anyway is said before half a minute of compiling, not after.
        with lock.writer(index_dir):
            pass
    warm(progress)
    from triseek.index import build, update

    if mode == "full":
        return build.build(root, index_dir, progress=progress)
    report = update.update(root, index_dir, progress=progress)
    return report if report.rebuilt_full else _merged(root, index_dir, report, progress)


def _merged(root: str, index_dir: str, report: BuildReport, progress: Progress) -> BuildReport:
    """Merge what is due behind an update, the largest merge too.

    Without a daemon nobody else would. It is paid for: all segments are merged only once a
    quarter of the text is new, and to read that much took longer than merging does.
    """
    from triseek.index import build, merge

    started = time.perf_counter()
    try:
        merges = merge.merge_due(index_dir, progress=progress)
    except errors.Busy:  # whoever writes now merges too; the update itself is done
        return report
    except errors.IndexCorrupt:  # an update reads no list, so only a merge finds a damaged one
        return build.build(root, index_dir, progress=progress)
    if not merges:
        return report
    took = report.elapsed_ms + (time.perf_counter() - started) * 1e3
    return dataclasses.replace(report, generation=merges[-1].generation, elapsed_ms=took)
