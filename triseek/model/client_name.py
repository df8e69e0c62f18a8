"""Names that MCP clients give themselves. Light to import: an agent's pipe does."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def is_named(client: str, names: Iterable[str]) -> bool:
    """Return whether a client's name begins with one of `names`, as whole words, in any case.

    names: In lower case.
    """
    lower = client.lower()
    return any(
        lower.startswith(name) and not lower[len(name) : len(name) + 1].isalnum() for name in names
    )
