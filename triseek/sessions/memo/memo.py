# ruff: noqa: ARG002
"""The memo: what each context of each agent has been shown, and whether it must read it again."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from triseek.model.hook_event import Context, ToolUse


class Asked(NamedTuple):
    """Who asks a memo tool, as far as the call tells; "" is what is not known."""

    session: str = ""
    """Named by the call, in an argument or in `_meta`, else by TRISEEK_SESSION_ID."""
    agent: str = ""
    harness: str = ""
    """The client, named as contexts name it. A client that has no hooks must be named too, or it
    is answered for the most recent context of that root, which is another's."""
    call: str = ""
    """The agent's id of this use of the tool, as `asking` was told it."""


class Denial(NamedTuple):
    """A read that is not worth doing, and what to tell the agent."""

    path: str
    """The first file of the read, as the read names it."""
    tokens: int
    """Of all lines that would have been read."""
    seconds_ago: int
    """Since the oldest of them were shown."""
    reason: str
    """One line."""
    context_text: str
    """One line more, for agents that take additional context."""


class Memo:
    """Thread-safe; files are read outside the lock. No method raises for what an agent sends."""

    def __init__(self, folder: str | None, clock: Callable[[], float] = time.time) -> None:
        """Take up what was saved in this folder.

        Args:
            folder: Absolute; made when first written to, mode 0700. None: nothing outlives the
                process, and no content is kept for diffs.
            clock: Unix time in seconds.
        """

    def begin(self, root: str, context: Context) -> None:
        """A context is at work under this root; forgets nothing."""

    def observe(self, root: str, context: Context, use: ToolUse) -> None:
        """After a use of a tool: credit what its output verifiably showed, note what it edited.

        Its output counts as tokens that passed; do not tell `passed` of it.
        """

    def verdict(
        self,
        root: str,
        context: Context,
        use: ToolUse,
        in_view: Callable[[], frozenset[str] | None],
    ) -> Denial | None:
        """Before a use of a tool: why it is not needed; None lets it happen.

        Args:
            root: Of the repository, absolute.
            context: Whose use.
            use: Only one whose reads are all it does is ever denied.
            in_view: Asked at most once, and only if all else speaks for a denial: the ids of the
                uses whose outputs are still in the context; None where that cannot be told.
        """
        return None

    def forget(
        self, context: Context, *, whole_session: bool = False, compacted: bool = False
    ) -> None:
        """A context holds no more what it was shown; totals stay.

        Args:
            context: Which.
            whole_session: Every agent's context of its session as well.
            compacted: Count a compaction.
        """

    def end(self, context: Context) -> None:
        """Drop a session that ended, or the one context of a sub-agent."""

    def edited(self, path: str) -> None:
        """A file, by its absolute path, was or may have been written."""

    def passed(self, context: Context, tokens: int) -> None:
        """Something else came into a context: a prompt, the output of another tool."""

    def asking(
        self,
        context: Context,
        call: str,
        in_view: Callable[[], frozenset[str] | None] | None = None,
    ) -> None:
        """A context is about to use one of the memo's own tools, by the id `call`.

        Args:
            context: Which.
            call: The agent's id of the use, which `Asked.call` repeats.
            in_view: As of `verdict`, asked when the tool is; None where nothing can be told.
        """

    def check(self, root: str, path: str, who: Asked) -> dict[str, Any]:
        """The answer of `memo_check`: path, status, recommendation and what is known."""
        return {"path": path, "status": "unknown", "recommendation": "reread"}

    def status(self, root: str, files: Sequence[str], who: Asked) -> dict[str, Any]:
        """The answer of `memo_status`: session_id, and one result for each file."""
        return {"session_id": who.session or "default", "results": []}

    def session(self, root: str, who: Asked) -> dict[str, Any]:
        """The answer of `memo_session`: totals, and every file that is tracked."""
        return {
            "session_id": who.session or "default",
            "tracked_files": 0,
            "total_reads": 0,
            "redundant_reads_prevented": 0,
            "tokens_saved": 0,
            "compaction_count": 0,
            "files": [],
        }

    def save(self) -> None:
        """Write what is known, if it changed; cheap otherwise. To be called now and then.

        What cannot be written is logged, not raised.
        """

    def close(self) -> None:
        """Save for the last time."""
