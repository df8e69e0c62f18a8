"""Which host is asked for which repositories.

A repository that several hosts hold is searched on one of them: the first by rendezvous hashing
that has not failed. Hosts whose list is not known are asked for all they hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from triseek.zoekt import placement, scope

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from triseek.zoekt.addresses import HostAddress

NAMES_MAX = 256
"""Most repositories that a query names to leave them out; above, copies of files are dropped from
the answers."""


class Task(NamedTuple):
    """A query for one host."""

    host: str
    query: str = ""
    repositories: frozenset[str] = frozenset()
    """What only this task searches; empty if that is not known."""
    has_substitutes: bool = False
    """Whether other hosts hold all of them."""


class Ownership:
    """Which hosts hold each repository, best first. It does not depend on queries."""

    def __init__(
        self, addresses: Sequence[HostAddress], holdings: Mapping[str, frozenset[str]]
    ) -> None:
        """Rank the holders of each repository.

        Args:
            addresses: All hosts.
            holdings: The repositories of each host, by its name, as far as they are known.
        """
        self.addresses = addresses
        self.holdings = holdings
        holders: dict[str, list[HostAddress]] = {}
        for address in addresses:
            for name in holdings.get(address.name, ()):
                holders.setdefault(name, []).append(address)
        self.owners = {
            name: placement.ranked(name, hosts) if len(hosts) > 1 else hosts
            for name, hosts in holders.items()
        }
        """By repository: the hosts that hold it."""
        self.repositories = frozenset(self.owners)
        self.replicated = frozenset(name for name, hosts in self.owners.items() if len(hosts) > 1)
        owned: dict[str, set[str]] = {address.name: set() for address in addresses}
        for name, hosts in self.owners.items():
            owned[hosts[0].name].add(name)
        self.owned = {host: frozenset(names) for host, names in owned.items()}
        """By host: the repositories for which it is asked."""


def first_tasks(query: str, ownership: Ownership) -> list[Task]:
    """Return the tasks that search all repositories in which a query can match."""
    relevant = scope.relevant(query, ownership.repositories)
    tasks = []
    for address in ownership.addresses:
        held = ownership.holdings.get(address.name)
        if held is None:
            tasks.append(Task(address.name, query))
            continue
        own = ownership.owned[address.name] & relevant
        if not own:
            continue
        others = (held & relevant) - own
        narrowed = scope.without(query, others) if 0 < len(others) <= NAMES_MAX else query
        tasks.append(Task(address.name, narrowed, own, own <= ownership.replicated))
    return tasks


def substitutes(
    query: str, ownership: Ownership, failed: Collection[str], lost: Collection[str]
) -> list[Task]:
    """Return tasks that search repositories of failed hosts on others.

    Args:
        query: The query.
        ownership: What the hosts hold.
        failed: The names of the hosts that failed.
        lost: The repositories that they were to search.
    """
    shares: dict[str, set[str]] = {}
    for name in lost:
        alive = (address.name for address in ownership.owners[name] if address.name not in failed)
        if host := next(alive, None):
            shares.setdefault(host, set()).add(name)
    return [
        Task(
            host,
            scope.only(query, names) if len(names) <= NAMES_MAX else query,
            frozenset(names),
        )
        for host, names in sorted(shares.items())
    ]
