"""reindex: bring a root's index up to date, or build it anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from triseek import errors

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
    from triseek.kernels.warm import warm

    warm(progress)
    from triseek.index import build, update

    if mode == "full":
        return build.build(root, index_dir, progress=progress)
    return update.update(root, index_dir, progress=progress)
