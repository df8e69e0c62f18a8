"""reindex: bring a root's index up to date, or build it anew."""

from __future__ import annotations

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
    return update.update(root, index_dir, progress=progress)
