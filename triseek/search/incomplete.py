"""What an agent can do after a search that did not come to its end in time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.files.tree.index_policy import is_home_or_above

if TYPE_CHECKING:
    from triseek.search.context import SearchContext

NARROW = "narrow it with `path`, or begin the glob with a folder (src/**)"


def way_on(context: SearchContext) -> str:
    """Return what to do next, in one clause.

    Raises:
        RepoNotDetected: The root does not exist any more.
    """
    engine = context.engine
    if engine.has_index():
        return NARROW
    if context.host.is_building(context.host.root):
        return f"{NARROW}, or ask again when the index is built"
    if is_home_or_above(engine.root):
        return f"{NARROW}, or start in the repository you mean: this folder has no index"
    return f"{NARROW}, or call `reindex`: this folder has no index"
