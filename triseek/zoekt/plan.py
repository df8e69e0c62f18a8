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
    query: str
    repositories: frozenset[str]
    """What only this task searches."""
    has_substitutes: bool
    """Whether other hosts hold all of them."""


def first_tasks(
    query: str, addresses: Sequence[HostAddress], holdings: Mapping[str, Collection[str]]
) -> list[Task]:
    """Return the tasks that search all repositories in which a query can match.

    Args:
        query: The query.
        addresses: The hosts.
        holdings: The repositories of each host, by its name, as far as they are known.
    """
    relevant, owners = _owners(query, addresses, holdings)
    tasks = []
    for address in addresses:
        if address.name not in holdings:
            tasks.append(Task(address.name, query, frozenset(), has_substitutes=False))
            continue
        held = relevant[address.name]
        own = frozenset(name for name in held if owners[name][0].name == address.name)
        if not own:
            continue
        others = held - own
        narrowed = scope.without(query, others) if 0 < len(others) <= NAMES_MAX else query
        has_substitutes = all(len(owners[name]) > 1 for name in own)
        tasks.append(Task(address.name, narrowed, own, has_substitutes))
    return tasks


def substitutes(
    query: str,
    addresses: Sequence[HostAddress],
    holdings: Mapping[str, Collection[str]],
    failed: Collection[str],
    lost: Collection[str],
) -> list[Task]:
    """Return tasks that search repositories of failed hosts on others.

    Args:
        query: The query.
        addresses: All hosts.
        holdings: As in `first_tasks`.
        failed: The names of the hosts that failed.
        lost: The repositories that they were to search.
    """
    alive = [address for address in addresses if address.name not in failed]
    _, owners = _owners(query, alive, holdings)
    shares: dict[str, set[str]] = {}
    for name in lost:
        if owners.get(name):
            shares.setdefault(owners[name][0].name, set()).add(name)
    return [
        Task(
            host,
            scope.only(query, names) if len(names) <= NAMES_MAX else query,
            frozenset(names),
            has_substitutes=False,
        )
        for host, names in sorted(shares.items())
    ]


def _owners(
    query: str, addresses: Sequence[HostAddress], holdings: Mapping[str, Collection[str]]
) -> tuple[dict[str, frozenset[str]], dict[str, list[HostAddress]]]:
    """Return what of each host's repositories can match, and the hosts of each, best first."""
    relevant: dict[str, frozenset[str]] = {}
    holders: dict[str, list[HostAddress]] = {}
    for address in addresses:
        names = holdings.get(address.name, ())
        relevant[address.name] = scope.relevant(query, names)
        for name in relevant[address.name]:
            holders.setdefault(name, []).append(address)
    owners = {
        name: placement.ranked(name, hosts) if len(hosts) > 1 else hosts
        for name, hosts in holders.items()
    }
    return relevant, owners
