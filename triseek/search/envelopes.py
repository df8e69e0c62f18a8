"""What all answers to agents share: a few fields, pages within limits, and a limit of time."""

from __future__ import annotations

import contextlib
import time
from bisect import bisect_right
from typing import TYPE_CHECKING, Any, TypeVar

from triseek.errors import BackendFailure, Cancelled
from triseek.model import budget, token_estimate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from triseek.errors import TriseekError
    from triseek.model.call import Call
    from triseek.model.search import BackendName, Route
    from triseek.search.results import AnswerHead, MatchLine, Routed, SearchResult

Answer = TypeVar("Answer")

VERSION = "1"
STRATEGIES: Mapping[BackendName, str] = {
    "indexed": "triseek_indexed",
    "direct_scan": "triseek_direct_scan",
    "ripgrep": "ripgrep_fallback",
    "zoekt": "zoekt",
}
PREVIEW_MAX = 200
"""Most characters of a line that are shown; a longer one is cut."""
BUDGET = 8_000
"""Tokens of an answer if no budget was set; clients warn at 10,000."""
BUDGET_MIN = 200
BUDGET_MAX = 20_000
"""Some clients refuse answers of 25,000 tokens."""
DEADLINE_S = 20.0
"""After this time a search returns what it has found; clients give up on tools after that."""
GRACE_S = 4.0
"""Additional time for building the answer."""


def head(root: str) -> AnswerHead:
    """Return the fields that every envelope begins with."""
    return {"version": VERSION, "repo_root": printable(root)}


def routed(route: Route, *, force_refreshed: bool = False) -> Routed:
    """Return the fields that say which backend answered, and why."""
    fallback = route.backend != "indexed"
    fields: Routed = {
        "strategy": STRATEGIES[route.backend],
        "fallback_used": fallback,
        "routing_reason": route.reason,
        "cache": "bypass" if fallback else "miss",
    }
    if force_refreshed:
        fields["force_refreshed"] = True
    if route.fell_back:
        fields["fell_back"] = route.fell_back
    return fields


CODES: Mapping[str, str] = {
    "INVALID_REQUEST": "INVALID_QUERY",
    "INDEX_CORRUPT": "INDEX_UNAVAILABLE",
    "FORMAT_TOO_NEW": "INDEX_UNAVAILABLE",
}
"""The codes that agents get for errors whose codes are not among the contract's eight; all others
become `BACKEND_FAILURE`."""
CONTRACT = frozenset(
    (
        "INDEX_UNAVAILABLE", "INDEX_STALE", "INVALID_QUERY", "REPO_NOT_DETECTED",
        "BACKEND_FAILURE", "FALLBACK_FAILURE", "CONFIG_WRITE_FAILED", "CLIENT_NOT_INSTALLED",
    )
)  # fmt: skip


def failure(error: TriseekError) -> dict[str, Any]:
    """Return an error as the contract defines it."""
    code = error.code if error.code in CONTRACT else CODES.get(error.code, "BACKEND_FAILURE")
    return {
        "version": VERSION,
        "error": {
            "code": code,
            "message": str(error),
            "retryable": error.retryable,
            "suggested_action": error.tool_step or error.next_step or BackendFailure.tool_step,
        },
    }


def preview(line: bytes, column: int = 1) -> str:
    """Return a line as an agent sees it: no line end, at most `PREVIEW_MAX` characters.

    column: 1-based byte of the match; a long line is cut around it, so that it is visible.
    """
    line = line.rstrip(b"\r\n")
    text = line.decode(errors="replace")
    if len(text) <= PREVIEW_MAX:
        return text
    at = len(line[: max(0, column - 1)].decode(errors="replace"))
    begin = 0 if at < PREVIEW_MAX * 3 // 4 else at - PREVIEW_MAX // 4
    rest = ("…" if begin else "") + text[begin:]
    return rest if len(rest) <= PREVIEW_MAX else rest[: PREVIEW_MAX - 1] + "…"


def shown(path: bytes) -> str:
    """Return a path as text for JSON; bytes that are not UTF-8 become replacement characters."""
    return path.decode(errors="replace")


def printable(text: str) -> str:
    """Return a path that came as text, converted likewise."""
    return text.encode("utf-8", "surrogateescape").decode(errors="replace")


def fit_page(page: Callable[[int], Answer], count: int, most_tokens: int) -> Answer:
    """Return the longest page that fits a budget of tokens.

    Args:
        page: Returns the envelope with the first so many of its results.
        count: Number of results.
        most_tokens: 0 or less: the default. One result is kept whatever it costs.
    """
    most = min(max(most_tokens, BUDGET_MIN), BUDGET_MAX) if most_tokens > 0 else BUDGET
    whole = page(count)
    if count <= 1 or token_estimate.of_json(whole) <= most:
        return whole
    longer = range(2, count)
    fitting = bisect_right(longer, most, key=lambda size: token_estimate.of_json(page(size)))
    return page(1 + fitting)


def count_listed(results: Sequence[SearchResult]) -> int:
    """Return how many results count towards a limit: matching lines, or files if none are shown."""
    return sum(
        count_matching(result["matches"]) if "matches" in result else 1 for result in results
    )


def count_matching(lines: Sequence[MatchLine]) -> int:
    """Return how many lines of a result match; the others are context."""
    return sum("context" not in line for line in lines)


@contextlib.contextmanager
def limited(call: Call) -> Iterator[Callable[[], bool]]:
    """Limit the time of a call, with its grace, in its thread and those it hands work to.

    Yields a test whether to stop because the time without the grace is up.

    Raises, wherever `model.budget.check` or the test is called:
        OutOfTime: time is up, and the grace with it.
        Cancelled: nobody waits for the answer any more.
    """
    until = time.monotonic() + DEADLINE_S

    def check() -> None:
        if call.cancelled():
            raise Cancelled("cancelled")

    def stop() -> bool:
        check()
        return time.monotonic() > until

    with budget.limited(DEADLINE_S + GRACE_S, check):
        yield stop
