"""Cuts answers about sessions and snapshots to what an agent can afford.

Each list has a share of an answer, in tokens. Items without room are counted in `omitted`, which is
present only if there are any.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

from triseek.model import token_estimate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Answer = TypeVar("Answer", bound="Mapping[str, object]")
Item = TypeVar("Item")

LISTED, MANY, SOME, FEW = 6_000, 2_000, 1_200, 400
"""Tokens: for an answer that is one list; for a list among others."""
SHARES: Mapping[str, int] = {
    "sessions": LISTED,
    "snapshots": LISTED, "damaged": FEW,
    "action_log": MANY, "pinned_snippets": MANY,
    "files_read": SOME, "searches_run": SOME, "frecency_top_n": FEW,
    "dirty_files": FEW, "hunk_summary": FEW,
    "added_files": SOME, "removed_files": SOME, "changed_files": SOME,
    "added_searches": SOME, "removed_searches": SOME, "added_queries": SOME,
    "removed_queries": SOME,
    "stale_files": SOME, "searches": SOME,
}  # fmt: skip
"""Tokens of each list, in the order in which `omitted` counts what was cut."""
_WITH_LISTS = frozenset(("snapshot", "working_set", "git_state", "diff", "hydration_report"))
"""Fields whose own fields are cut."""


def cut(answer: Answer) -> Answer:
    """Return an answer with the first items of its lists; of a log, with the newest entries."""
    omitted: dict[str, int] = {}
    shown = _cut(answer, omitted)
    if omitted:
        shown["omitted"] = {name: omitted[name] for name in SHARES if name in omitted}
    return cast("Answer", shown)


def _cut(document: Mapping[str, Any], omitted: dict[str, int]) -> dict[str, object]:
    shown: dict[str, object] = {}
    for name, value in document.items():
        if name == "manifest":
            shown[name] = _manifest(value)
        elif name in _WITH_LISTS:
            shown[name] = _cut(value, omitted)
        elif name in SHARES:
            shown[name] = kept = _first(name, value)
            if len(kept) < len(value):
                omitted[name] = len(value) - len(kept)
        else:
            shown[name] = value
    return shown


def _first(name: str, items: Any) -> Any:  # noqa: ANN401 - a list, or an object of numbers
    share = SHARES[name]
    if name == "action_log":
        return _fitting(items[::-1], share)[::-1]
    if name == "hunk_summary":
        return dict(_fitting(list(items.items()), share))
    return _fitting([_manifest(item) for item in items] if name == "snapshots" else items, share)


def _manifest(manifest: Mapping[str, Any]) -> dict[str, object]:
    """Return a manifest with the first of its uncommitted files."""
    dirty = manifest["repo_dirty_files"]
    kept = _fitting(dirty, FEW)
    left = {"repo_dirty_files_omitted": len(dirty) - len(kept)} if len(kept) < len(dirty) else {}
    return {**manifest, "repo_dirty_files": kept, **left}


def _fitting(items: Sequence[Item], most: int) -> list[Item]:
    """Return the first items that have at most `most` tokens together, as JSON."""
    kept = []
    for item in items:
        most -= token_estimate.of_json(item)
        if most < 0:
            break
        kept.append(item)
    return kept
