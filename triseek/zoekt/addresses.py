"""Addresses of hosts that run Zoekt, as users write them, with what each host needs to be asked."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from triseek.errors import InvalidRequest

HOSTS_MAX = 1_000
WEIGHT_MAX = 1e6
_NEXT = (
    "Set ZOEKT_API_URL or zoekt.api_url to the hosts' addresses, as "
    "http://localhost:6070,https://code.example."
)
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True, kw_only=True)
class HostAddress:
    """One host."""

    name: str
    """Host, port and path, as messages show it: without a user name and password."""
    url: str
    """The base of its endpoints, without a trailing slash, user name and password."""
    authorization: str = field(default="", repr=False)
    """The value of the `Authorization` header; "" for none."""
    weight: float = 1.0
    """Its share of the repositories that are placed, relative to the other hosts."""
    index: str = ""
    """Where it gets its index: a folder of this machine, or the URL of a zoekt-dynamic-indexserver;
    "" if that is not set."""

    @property
    def is_loopback(self) -> bool:
        """Whether it is this machine, by its name."""
        return is_loopback(self.url)


def is_loopback(url: str) -> bool:
    """Return whether the host of a URL is this machine, by its name."""
    return (urlsplit(url).hostname or "") in _LOOPBACK


def parse(text: str, authorization: str = "") -> tuple[HostAddress, ...]:
    """Return the hosts of a comma-separated list of URLs, each once.

    `http://user:password@host` sends HTTP Basic authorization to that host alone, and
    `http://host#weight=2&index=/srv/zoekt` places twice as many repositories on it, and says where
    its index is.

    Args:
        text: The URLs.
        authorization: The header's value for hosts without a user name in their URL.

    Raises:
        InvalidRequest: A URL is invalid; the message does not show its password.
    """
    addresses: dict[str, HostAddress] = {}
    for position, word in enumerate((part.strip() for part in text.split(",")), 1):
        if word:
            address = _address(word, position, authorization)
            addresses.setdefault(address.name, address)
    if not addresses:
        raise InvalidRequest("no host that runs Zoekt is set", next_step=_NEXT)
    if len(addresses) > HOSTS_MAX:
        raise InvalidRequest(f"zoekt.api_url has more than {HOSTS_MAX:,} hosts", next_step=_NEXT)
    return tuple(addresses.values())


def _address(word: str, position: int, authorization: str) -> HostAddress:
    place = f"address {position} of zoekt.api_url"
    if not (word.isascii() and word.isprintable()) or " " in word:
        raise InvalidRequest(f"{place} has characters that no URL has", next_step=_NEXT)
    try:
        parts = urlsplit(word)
        port = parts.port  # raises ValueError for one that is no port
    except ValueError:
        raise InvalidRequest(f"{place} is no URL", next_step=_NEXT) from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise InvalidRequest(f"{place} does not begin with http:// or https://", next_step=_NEXT)
    if parts.query:
        raise InvalidRequest(f"{place} has a query, which a base address has not", next_step=_NEXT)
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    name = (f"{host}:{port}" if port else host) + parts.path.rstrip("/")
    weight, index = _options(parts.fragment, place)
    return HostAddress(
        name=name,
        url=f"{parts.scheme}://{name}",
        authorization=_basic(parts) or authorization,
        weight=weight,
        index=index,
    )


def _basic(parts: SplitResult) -> str:
    if not parts.username and not parts.password:
        return ""
    pair = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
    return "Basic " + base64.b64encode(pair.encode()).decode("ascii")


def _options(fragment: str, place: str) -> tuple[float, str]:
    """Return the weight and the place of the index that a fragment names."""
    weight, index = 1.0, ""
    for label, value in parse_qsl(fragment, keep_blank_values=True) or [(fragment, "")]:
        if label == "weight":
            weight = _weight(value)
        elif label == "index" and value.startswith(("/", "http://", "https://")):
            index = value
        elif label:
            weight = 0.0
        if not weight:
            raise InvalidRequest(
                f"what follows # in {place} is neither weight= and a number above 0, nor index= "
                "and a folder or URL",
                next_step="Write http://host:6070#weight=2&index=/srv/zoekt, or leave it out.",
            )
    return weight, index


def _weight(text: str) -> float:
    """Return a weight; 0 for an invalid text."""
    try:
        weight = float(text)
    except ValueError:
        return 0.0
    return weight if 0 < weight <= WEIGHT_MAX else 0.0
