"""`triseek frecency-select`: say that files were chosen, so that they come first later."""

from __future__ import annotations

import os
import time
from typing import Annotated

import typer

from triseek.errors import Busy, DaemonUnreachable, InvalidRequest, VersionMismatch
from triseek.terminal import options, report_text, status

OWNER_WAIT_S = 1.0
"""How long another process that is just saving its own select is waited for."""
ANSWER_S = 5.0
"""How long the daemon is waited for."""
_PAUSE_S = 0.02


def select(
    paths: Annotated[list[str], typer.Argument(metavar="PATH…", help="The files chosen.")],
    json: options.Json = False,
) -> int:
    """Count files as chosen, which brings them forward where results are ranked.

    Example: triseek find-files router | fzf | xargs -r triseek frecency-select
    """
    counts = {root: record(root, chosen) for root, chosen in by_root(paths).items()}
    total = sum(counts.values())
    rows = [{"root": root, "recorded": count} for root, count in counts.items()]
    document = {"recorded": total, "roots": rows}
    files = "file" if total == 1 else "files"
    print(report_text.as_json(document) if json else f"{total} {files} counted as chosen")
    return status.FOUND


def by_root(paths: list[str]) -> dict[str, list[bytes]]:
    """Paths below their roots: of each, the root that a search from here would have.

    Raises:
        InvalidRequest: one of them is no file; then none is counted.
    """
    from triseek.engine.roots import is_indexed, root_for

    paths_by_root: dict[str, list[bytes]] = {}
    here = os.path.realpath(".")
    for path in paths:
        if not os.path.isfile(path):
            raise InvalidRequest(f"{path}: no such file", next_step="Pass the paths of files.")
        # The file's own name stays, though it be a link: that is how results name it.
        folder = os.path.realpath(os.path.dirname(path) or ".")
        root = root_for(folder)
        if not is_indexed(root) and os.path.commonpath((here, folder)) == here:
            root = here
        below = os.path.relpath(os.path.join(folder, os.path.basename(path)), root)
        paths_by_root.setdefault(root, []).append(os.fsencode(below))
    return paths_by_root


def record(root: str, paths: list[bytes]) -> int:
    """Count files of one root as selected, by the daemon if one runs; how many were counted.

    Raises: what `record_here` raises, and what the daemon says is wrong.
    """
    from triseek.ipc import ask

    # The daemon owns the scores of the roots it serves.
    params = {"target_root": root, "paths": [os.fsdecode(path) for path in paths]}
    try:
        reply = ask.if_running("frecency_select", params, ANSWER_S)
    except (DaemonUnreachable, VersionMismatch):
        reply = None
    return record_here(root, paths) if reply is None else int(reply["recorded"])


def record_here(root: str, paths: list[bytes]) -> int:
    """Count files of one root as selected, under the owner's lock; how many were counted.

    Raises:
        Busy: another process owns the scores and does not let go of them.
        StateUnwritable: they cannot be written.
    """
    from triseek.engine.frecency import Frecency
    from triseek.engine.roots import index_dir

    frecency = Frecency(index_dir(root))
    deadline = time.monotonic() + OWNER_WAIT_S
    while not frecency.owned:
        try:
            frecency.own()
        except Busy:
            if time.monotonic() > deadline:
                raise
            time.sleep(_PAUSE_S)
    with frecency:
        return frecency.touch("select", paths)
