"""The state of each host of a cluster: whether it is up, and what it holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from triseek.zoekt.failure import HostFailure

if TYPE_CHECKING:
    from triseek.model.code_search import HostState
    from triseek.zoekt.cluster import Cluster
    from triseek.zoekt.outcomes import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class HostStatus:
    """One host."""

    host: str
    state: HostState
    ms: float
    """Milliseconds in which it listed its repositories."""
    repositories: int = 0
    files: int = 0
    content_bytes: int = 0
    index_bytes: int = 0
    formats: tuple[str, ...] = ()
    """Versions of the index format of its repositories, as `16.12`."""
    detail: str = ""

    @property
    def ratio(self) -> float:
        """Bytes of index for each byte of text; 0 if there is no text."""
        return self.index_bytes / self.content_bytes if self.content_bytes else 0.0


def host_statuses(cluster: Cluster) -> list[HostStatus]:
    """Return the state of each host, in the order of the settings.

    Raises:
        Cancelled: The cluster was closed.
    """
    ready = cluster.ready()
    return [_status(outcome, ready[outcome.host]) for outcome in cluster.lists()]


def _status(outcome: Outcome, ready: bool | HostFailure) -> HostStatus:
    if outcome.answer is None:
        failure = outcome.failure
        state = failure.state if isinstance(failure, HostFailure) else "error"
        return HostStatus(host=outcome.host, state=state, ms=outcome.ms, detail=str(failure))
    held, crashes = outcome.answer.repositories, outcome.answer.counts.crashes
    is_loading = ready is False or crashes > 0
    detail = "it still loads its indexes, or some are damaged" if is_loading else outcome.detail
    return HostStatus(
        host=outcome.host,
        state="loading" if is_loading else "ok",
        ms=outcome.ms,
        repositories=len(held),
        files=sum(repository.files for repository in held),
        content_bytes=sum(repository.content_bytes for repository in held),
        index_bytes=sum(repository.index_bytes for repository in held),
        formats=outcome.answer.formats,
        detail=detail,
    )
