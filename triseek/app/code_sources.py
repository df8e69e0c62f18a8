"""Which source of code answers queries over repositories: local indexes, a cluster, or both."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from triseek.engine.repositories.local import LocalRepositories
from triseek.engine.repositories.roots import Root, indexed_roots, named
from triseek.engine.roots import project
from triseek.files.tree.root import git_root
from triseek.zoekt.configured import cluster, is_configured
from triseek.zoekt.joined import Joined
from triseek.zoekt.overlay import Overlaid

if TYPE_CHECKING:
    from triseek.config import Settings
    from triseek.engine.service import Service
    from triseek.model.code_search import CodeSource


def code_source(settings: Settings, service: Service, root: str) -> CodeSource:
    """Return what queries over repositories search, for who works in a folder.

    Without a cluster (`zoekt.api_url`) these are all indexed roots and the folder's own. With one,
    it is the cluster, over which the folder's working tree is laid; with `zoekt.with_local` too,
    the roots here that the cluster does not have are added.

    Raises:
        InvalidRequest: An address of the cluster is invalid.
        BackendFailure: With `zoekt.with_local`: no host answered.
    """
    if not is_configured(settings):
        return LocalRepositories(service, _roots(root))
    hosts, top = cluster(settings), git_root(root) or root
    own = next(iter(named((top,))), Root(name="", folder=top))

    def local(name: str, only: frozenset[bytes] | None) -> CodeSource:
        return LocalRepositories(service, (replace(own, name=name),), only=only)

    overlaid = Overlaid(hosts, local, top)
    if not settings.zoekt_with_local:
        return overlaid
    on_hosts = {each.name for each in hosts.repositories().repositories}
    others = tuple(each for each in _roots(root) if each.name not in on_hosts)
    return Joined(overlaid, LocalRepositories(service, others)) if others else overlaid


def _roots(root: str) -> tuple[Root, ...]:
    """Return the indexed roots, and that of a folder though it may not be indexed.

    A folder that only holds indexed roots, such as a home folder, is none itself: all of it would
    be read, and each file found twice.
    """
    roots = indexed_roots().roots
    own = project(root)
    inner = own.rstrip("/") + "/"
    is_parent = any(each.folder.startswith(inner) for each in roots) and not git_root(own)
    if is_parent or any(each.folder == own for each in roots):
        return roots
    return named((*(each.folder for each in roots), own))
