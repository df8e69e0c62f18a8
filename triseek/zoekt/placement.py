"""Which hosts a repository belongs to: weighted rendezvous hashing.

Each pair of repository and host has a score from a hash; a repository belongs to the hosts with the
highest scores. A host that is added or removed moves only its own repositories. (D. Thaler and
C. Ravishankar, 1998; the weights as in J. Resch, "New Hashing Algorithms for Data Storage", 2015.)
"""

from __future__ import annotations

import hashlib
import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from triseek.zoekt.addresses import HostAddress


def ranked(repository: str, addresses: Iterable[HostAddress]) -> list[HostAddress]:
    """Return hosts by descending score for a repository, by name and version of no other thing."""
    return sorted(addresses, key=lambda address: (-_score(repository, address), address.url))


def _score(repository: str, address: HostAddress) -> float:
    """Return a number above 0, larger on average for a host of larger weight."""
    text = f"{repository}\0{address.url}".encode("utf-8", "surrogatepass")
    digest = hashlib.blake2b(text, digest_size=8).digest()
    share = (int.from_bytes(digest, "big") >> 11) + 0.5  # 53 bits, never 0 nor 1
    return address.weight / -math.log(share / (1 << 53))
