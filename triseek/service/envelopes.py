"""The documents that answer agents: the same few fields in every one, and results within bounds."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from triseek.errors import TriseekError
    from triseek.model.results import AnswerHead, Routed
    from triseek.model.search import BackendName, Route

VERSION = "1"
STRATEGIES: Mapping[BackendName, str] = {
    "indexed": "triseek_indexed",
    "direct_scan": "triseek_direct_scan",
    "ripgrep": "ripgrep_fallback",
}
PREVIEW_MAX = 200
"""Characters of a line shown; a longer one is cut."""


def head(root: str) -> AnswerHead:
    """What every envelope begins with."""
    return {"version": VERSION, "repo_root": printable(root)}


def routed(route: Route, *, force_refreshed: bool = False) -> Routed:
    """Which backend answered, and why."""
    fallback = route.backend != "indexed"
    told: Routed = {
        "strategy": STRATEGIES[route.backend],
        "fallback_used": fallback,
        "routing_reason": route.reason,
        "cache": "bypass" if fallback else "miss",
    }
    if force_refreshed:
        told["force_refreshed"] = True
    if route.fell_back:
        told["fell_back"] = route.fell_back
    return told


CODES: Mapping[str, str] = {
    "INVALID_REQUEST": "INVALID_QUERY",
    "INDEX_CORRUPT": "INDEX_UNAVAILABLE",
    "FORMAT_TOO_NEW": "INDEX_UNAVAILABLE",
}
"""What agents are told of errors whose codes are not among the contract's eight; all others are
`BACKEND_FAILURE`."""
CONTRACT = frozenset(
    (
        "INDEX_UNAVAILABLE", "INDEX_STALE", "INVALID_QUERY", "REPO_NOT_DETECTED",
        "BACKEND_FAILURE", "FALLBACK_FAILURE", "CONFIG_WRITE_FAILED", "CLIENT_NOT_INSTALLED",
    )
)  # fmt: skip
STEPS: Mapping[str, str] = {
    "INVALID_QUERY": "Correct the argument, or use mode `literal`.",
    "INDEX_UNAVAILABLE": "Call the `reindex` tool or run `triseek build <PATH>`",
    "BACKEND_FAILURE": "Retry the query; if the error persists, run `triseek daemon logs`.",
    "FALLBACK_FAILURE": "Install ripgrep, or call the `reindex` tool.",
    "REPO_NOT_DETECTED": "Start the server with `--repo PATH` of an existing folder.",
}
"""What an agent can do; what an error itself says is meant for people at a command line."""


def failure(error: TriseekError) -> dict[str, Any]:
    """An error as the contract has it."""
    code = error.code if error.code in CONTRACT else CODES.get(error.code, "BACKEND_FAILURE")
    step = STEPS.get(code) or error.next_step
    if code == "INVALID_QUERY" and error.next_step != type(error).next_step:
        step = error.next_step  # which knows this very query
    return {
        "version": VERSION,
        "error": {
            "code": code,
            "message": str(error),
            "retryable": error.retryable,
            "suggested_action": step,
        },
    }


def preview(line: bytes, column: int = 1) -> str:
    """A line as an agent sees it: no line end, at most `PREVIEW_MAX` characters.

    column: 1-based byte of what was found; a long line is cut around it, so that it is seen.
    """
    line = line.rstrip(b"\r\n")
    text = line.decode(errors="replace")
    if len(text) <= PREVIEW_MAX:
        return text
    at = len(line[: max(0, column - 1)].decode(errors="replace"))
    begin = 0 if at < PREVIEW_MAX * 3 // 4 else at - PREVIEW_MAX // 4
    room = PREVIEW_MAX - (1 if begin else 0)
    lead = "…" if begin else ""
    if len(text) - begin <= room:
        return lead + text[begin:]
    return lead + text[begin : begin + room - 1] + "…"


def shown(path: bytes) -> str:
    """A path as JSON can say it; bytes that are not UTF-8 become replacement characters."""
    return path.decode(errors="replace")


def printable(text: str) -> str:
    """A path that came as text, likewise."""
    return text.encode("utf-8", "surrogateescape").decode(errors="replace")


def tokens(text: str) -> int:
    """Tokens a text takes, estimated as a quarter of its characters, rounded up."""
    return -(-len(text) // 4)


def cost(document: object) -> int:
    """Tokens of a document as it is sent."""
    return tokens(json.dumps(document, ensure_ascii=False, separators=(",", ":")))
