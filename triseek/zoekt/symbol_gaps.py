"""Which repositories a host has indexed without symbols, where `sym:` matches nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.zoekt import scope

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from triseek.zoekt.outcomes import Outcome


def reasons(query: str, lists: Sequence[Outcome]) -> Iterator[str]:
    """Yield a sentence for each host with repositories that a query may be about, without symbols.

    Args:
        query: A query with `sym:`.
        lists: What each host lists. That of a server without JSON interface does not tell.
    """
    for outcome in lists:
        if outcome.answer is None or outcome.detail:
            continue
        held = {entry.name: entry.has_symbols for entry in outcome.answer.repositories}
        concerned = scope.relevant(query, held)
        lacking = sum(not held[name] for name in concerned)
        if lacking:
            yield (
                f"{outcome.host} has no symbols of {lacking:,} of {len(concerned):,} repositories, "
                "so that sym: matches nothing there: zoekt-git-index needs universal-ctags."
            )
