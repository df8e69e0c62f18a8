"""What is known of sessions and snapshots, cut to what an agent can afford.

Each list has a share of an answer, in tokens. Items without room are counted in `omitted`, which is
present only if there are any.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, TypeVar

from triseek.model import token_estimate
from triseek.sessions.operations import record

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from triseek.model.session import Session
    from triseek.model.snapshot import Pin, SnapshotManifest
    from triseek.sessions.hydration import Resumed
    from triseek.sessions.operations import HandedOff, TakenSnapshot
    from triseek.sessions.results import (
        HandoffAnswer,
        ResumeAnswer,
        SessionListAnswer,
        SnapshotAnswer,
        SnapshotDiffAnswer,
        SnapshotGetAnswer,
        SnapshotListAnswer,
    )
    from triseek.sessions.snapshot import Damaged
    from triseek.sessions.snapshot_files import Snapshot

Item = TypeVar("Item")

LISTED, MANY, SOME, FEW = 6_000, 2_000, 1_200, 400
"""Tokens: for an answer that is one list; for a list among others."""


def sessions(items: Sequence[Session]) -> SessionListAnswer:
    """Return the answer that is a list of sessions."""
    documents = [record(session) for session in items]
    kept = _first(documents, LISTED)
    answer: SessionListAnswer = {"sessions": kept}
    if left := _left({"sessions": (documents, kept)}):
        answer["omitted"] = left
    return answer


def taken(made: TakenSnapshot) -> SnapshotAnswer:
    """Return the answer about a snapshot that was made."""
    return {**made.document(), "manifest": _manifest(made.manifest)}


def handed_off(made: HandedOff) -> HandoffAnswer:
    """Return the answer about a snapshot that was made to hand work off."""
    return {**made.document(), "manifest": _manifest(made.taken.manifest)}


def manifests(items: Sequence[SnapshotManifest], damaged: Sequence[Damaged]) -> SnapshotListAnswer:
    """Return the answer that is a list of manifests."""
    documents = [_manifest(item) for item in items]
    reasons = [item.document() for item in damaged]
    kept, kept_reasons = _first(documents, LISTED), _first(reasons, FEW)
    answer: SnapshotListAnswer = {"snapshots": kept}
    if reasons:
        answer["damaged"] = kept_reasons
    if left := _left({"snapshots": (documents, kept), "damaged": (reasons, kept_reasons)}):
        answer["omitted"] = left
    return answer


def snapshot(content: Snapshot) -> SnapshotGetAnswer:
    """Return the content of a snapshot: the newest entries of its log, the first of the rest."""
    work, git = content.working_set, content.git

    def quoted(pin: Pin) -> object:
        return {**pin.document(), "text": content.snippets[pin.sha]}

    log = _first(content.entries[::-1], MANY, asdict)[::-1]
    pins = _first(content.pins, MANY, quoted)
    files = _first(work.files_read, SOME, asdict)
    searches = _first(work.searches_run, SOME, asdict)
    scores = _first(work.frecency_top_n, FEW)
    dirty = _first(git.dirty_files, FEW)
    hunks = _first(list(git.hunk_summary.items()), FEW)
    cut = content._replace(
        working_set=replace(work, files_read=files, searches_run=searches, frecency_top_n=scores),
        entries=tuple(log),
        pins=tuple(pins),
        git=replace(git, dirty_files=dirty, hunk_summary=dict(hunks)),
    )
    answer: SnapshotGetAnswer = {
        "snapshot": {**cut.document(), "manifest": _manifest(content.manifest)}
    }
    if left := _left(
        {
            "action_log": (content.entries, log),
            "pinned_snippets": (content.pins, pins),
            "files_read": (work.files_read, files),
            "searches_run": (work.searches_run, searches),
            "frecency_top_n": (work.frecency_top_n, scores),
            "dirty_files": (git.dirty_files, dirty),
            "hunk_summary": (git.hunk_summary, hunks),
        }
    ):
        answer["omitted"] = left
    return answer


def difference(diff: Mapping[str, Sequence[str]]) -> SnapshotDiffAnswer:
    """Return the differences between two snapshots."""
    kept = {name: _first(items, SOME) for name, items in diff.items()}
    answer: SnapshotDiffAnswer = {"diff": kept}
    if left := _left({name: (items, kept[name]) for name, items in diff.items()}):
        answer["omitted"] = left
    return answer


def resumed(outcome: Resumed) -> ResumeAnswer:
    """Return the answer of a resume; the payload has a budget of its own."""
    stale_files = outcome.report.stale_files
    stale = _first(stale_files, SOME, lambda file: file._asdict())
    searches = _first(outcome.searches, SOME, asdict)
    report = outcome.report._replace(stale_files=stale)
    answer = outcome._replace(report=report, searches=searches).document()
    if left := _left(
        {"stale_files": (stale_files, stale), "searches": (outcome.searches, searches)}
    ):
        answer["omitted"] = left
    return answer


def _manifest(manifest: SnapshotManifest) -> dict[str, Any]:
    """Return the document of a manifest with the first of its uncommitted files."""
    dirty = manifest.repo_dirty_files
    kept = _first(dirty, FEW)
    document = replace(manifest, repo_dirty_files=kept).document()
    if len(kept) < len(dirty):
        document["repo_dirty_files_omitted"] = len(dirty) - len(kept)
    return document


def _first(
    items: Sequence[Item], most: int, document: Callable[[Item], object] = lambda item: item
) -> list[Item]:
    """Return the first items, as many as there is room for.

    document: Returns an item as the JSON that the answer has of it.
    """
    kept = []
    for item in items:
        most -= token_estimate.of_json(document(item))
        if most < 0:
            break
        kept.append(item)
    return kept


def _left(
    lists: Mapping[str, tuple[Sequence[object] | Mapping[str, int], Sequence[object]]],
) -> dict[str, int]:
    """Return the number of items that were left out of each list that was cut.

    lists: All of its items and those that were kept, by name.
    """
    return {
        name: len(items) - len(kept) for name, (items, kept) in lists.items()
        if len(kept) < len(items)
    }  # fmt: skip
