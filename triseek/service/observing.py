"""What an agent's hook tells, acted on: the memo, the scores of files, the log of actions.

One call of a hook is one call of `Observer.hook`. What it returns is what the agent is told:
nothing, or that it has what it is about to read. Hooks come many times a second and from every
folder there is, so nothing here opens a root that has no index.
"""

from __future__ import annotations

import os
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from triseek.errors import TriseekError
from triseek.harness import answers, hooks, transcripts
from triseek.harness.payloads import tools
from triseek.harness.payloads.moments import plain
from triseek.model.hook_event import ToolUse
from triseek.service.roots import is_indexed, project, root_for
from triseek.sessions.actions import Action

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from triseek.model.hook_event import Context, FileRead, HookEvent
    from triseek.service.service import Service
    from triseek.sessions.actions import Sink
    from triseek.sessions.memo.memo import Denial, Memo

PROMPT_MAX = 2_000
"""Characters of a prompt that are noted."""
SEARCH_MAX = 500
MEMO_TOOLS = ("memo_check", "memo_status", "memo_session", "session_resume")
"""Our own tools whose answer hangs on whose context it goes to, by the ends of their names."""
_TOLD_ONCE = frozenset(("opencode", "pi", "gemini"))
"""Agents that tell of a compaction before it, and not after."""
_NOTHING = frozenset(("", "no matches found", "no files found", "no matches", "no files"))
"""What agents' searches say that find nothing."""
_EMPTIED = frozenset(("start", "end", "compact", "changed", "subagent"))
"""Moments after which somebody's context no longer holds what it held."""


class Observer:
    """Takes in hooks; safe to use from several threads."""

    def __init__(self, service: Service, memo: Memo, sink: Sink, *, refuse: bool = True) -> None:
        """Count uses of files in `service`'s roots, keep `memo`, send actions to `sink`.

        refuse: Whether an agent is ever refused a reading.
        """
        self._service = service
        self._memo = memo
        self._sink = sink
        self._refuse = refuse

    def hook(
        self,
        payload: bytes,
        event: str,
        harness: str,
        cwd: str,
        *,
        repo: str = "",
        session: str = "",
    ) -> str:
        """Take in one payload; what the hook is to write to its standard output.

        Args:
            payload: Standard input of the hook, unread.
            event: The agent's name of the moment, "" if the payload says it.
            harness: Whose hook it is, "" to tell by the payload.
            cwd: Where the hook ran, for a payload that names no folder.
            repo: The root that is meant, "" for that of the agent's working folder.
            session: Whose it is where the payload does not say.
        """
        told = hooks.read(payload, event=event, harness=harness, cwd=cwd)
        if told is None:
            return ""
        if session and not told.context.session:
            told = replace(told, context=replace(told.context, session=session))
        root = project(repo or told.cwd)
        if told.moment in _EMPTIED:
            self._forget(root, told)
        else:  # what is in view now counts, whatever the hook is about
            self._memo.begin(root, told.context, in_view=_evidence(told))
        if told.moment == "prompt":
            self._memo.passed(told.context, _tokens(told.prompt))
            self._note("prompt", root, told, prompt=told.prompt[:PROMPT_MAX])
        if told.use is None:
            return ""
        if told.moment == "before":
            return self._before(root, told, told.use)
        if told.moment == "after":
            self._after(root, told, told.use)
        return ""

    # Tools

    def _before(self, root: str, told: HookEvent, use: ToolUse) -> str:
        if use.call and use.name.endswith(MEMO_TOOLS):
            self._memo.asking(told.context, use.call, _evidence(told))
        if not use.reads or not self._can_be_told(told):
            return ""
        evidence = _evidence(told) or _nothing_told
        denial = self._memo.verdict(root, told.context, use, evidence)
        if denial is None:
            return ""
        self._note_denial(root, told, use, denial)
        return answers.deny(told.context.harness, told.event, denial.reason, denial.context_text)

    def _can_be_told(self, told: HookEvent) -> bool:
        """Whether this agent lets itself be refused: a refusal nobody hears is none to count."""
        return self._refuse and bool(answers.deny(told.context.harness, told.event, "?", ""))

    def _after(self, root: str, told: HookEvent, use: ToolUse) -> None:
        self._memo.observe(root, told.context, use, in_view=_evidence(told))
        if use.failed:
            return
        for read in use.reads:
            self._note("read", root, told, path=read.path, call=use.call, **_lines(read))
        for path in use.edits:
            self._note("edit", root, told, path=path, call=use.call)
        if use.search and not tools.is_ours(use.name):  # whose server tells of it, and more
            nothing = 0 if _showed_nothing(use) else None
            self._note(
                "search", root, told, query=use.search[:SEARCH_MAX], call=use.call,
                tool=use.name, files_with_matches=nothing,
            )  # fmt: skip
        self._count("read", (read.path for read in use.reads))
        self._count("edit", use.edits)

    # Contexts

    def _forget(self, root: str, told: HookEvent) -> None:
        """Somebody begins with an empty context, or goes on with another."""
        who = told.context
        begins = told.moment == "start" or plain(told.event) == "subagentstart"
        if told.moment == "end" or (told.moment == "subagent" and who.agent and not begins):
            self._memo.end(who)
        else:
            # Of an agent without a name it is not known which of the session's contexts it is.
            self._memo.forget(
                who,
                whole_session=told.moment == "start" or not who.agent,
                compacted=_is_first_of_compaction(told),
                emptied=_is_emptied(told),
            )
        if begins:
            self._memo.begin(root, who, in_view=_evidence(told))
        if _is_first_of_compaction(told):
            self._note("compact", root, told, source=told.source)
        self._end_epoch(told.cwd)

    def _end_epoch(self, folder: str) -> None:
        """What was answered there before may be in nobody's view any more."""
        here = os.path.realpath(folder)
        for engine in self._service.engines():
            if os.path.commonpath((here, engine.root)) in (here, engine.root):
                watch = engine.watched
                if watch is not None:
                    watch.journal.bump_epoch()

    # Scores and actions

    def _count(self, use: str, paths: Iterable[str]) -> None:
        """Count uses of files that lie in an indexed root."""
        for path in paths:
            folder, name = os.path.split(path)
            try:
                root = root_for(folder)
            except TriseekError:
                continue  # a file of no folder that is there
            if not is_indexed(root):
                continue
            engine = self._service.engine(root, exact=True)
            below = os.path.relpath(os.path.join(os.path.realpath(folder), name), engine.root)  # noqa: PTH118
            engine.touch("edit" if use == "edit" else "read", [os.fsencode(below)])

    def _note(self, kind: str, root: str, told: HookEvent, **more: Any) -> None:  # noqa: ANN401
        payload = {"harness": told.context.harness, "root": root, **more}
        self._sink(
            Action(
                at_s=time.time(),
                kind=kind,
                conversation=_conversation(told.context),
                payload={name: value for name, value in payload.items() if value not in ("", None)},
            )
        )

    def _note_denial(self, root: str, told: HookEvent, use: ToolUse, denial: Denial) -> None:
        for read, tokens in zip(use.reads, denial.spared, strict=True):
            self._note(
                "read_denied", root, told, path=read.path, call=use.call, tokens=tokens,
                **_lines(read),
            )  # fmt: skip


def _evidence(told: HookEvent) -> Callable[[], frozenset[str] | None] | None:
    """What the agent still has in view, found out only if it matters; None where nothing tells.

    The memo keeps it, so it holds no output.
    """
    use = told.use
    if use is not None:
        told = replace(told, use=ToolUse(name=use.name, call=use.call))
        if told.in_view is not None and told.moment == "after":
            told = replace(told, in_view=told.in_view | {use.call})
    if told.in_view is None and not told.transcript:
        return None
    asked = replace(told, prompt="")
    return lambda: transcripts.in_view(asked)


def _nothing_told() -> None:
    """An agent that gives no evidence is refused nothing."""


def _is_emptied(told: HookEvent) -> bool:
    """Whether the context holds next to nothing now; before a compaction it holds all it held."""
    if told.moment == "compact":
        return not plain(told.event).startswith("pre") or told.context.harness in _TOLD_ONCE
    if told.moment == "start":
        return told.source in ("startup", "clear", "compact")
    return plain(told.event) == "subagentstart" and bool(told.context.agent)


def _is_first_of_compaction(told: HookEvent) -> bool:
    """Agents tell of one compaction before it, after it and when they go on: it is counted once."""
    return told.moment == "compact" and "post" not in told.event.lower()


def _conversation(context: Context) -> str | None:
    """The context's name, as `mcp.conversations` has it."""
    return f"session/{context.session}/{context.agent}" if context.session else None


def _showed_nothing(use: ToolUse) -> bool:
    """Whether a search has surely found nothing, by what it showed."""
    return use.output is not None and use.output.strip().lower().rstrip(".") in _NOTHING


def _lines(read: FileRead) -> dict[str, Any]:
    """Which lines of a file: `lines` [first, last], last null for the end; or `tail`."""
    return {"tail": read.tail} if read.tail is not None else {"lines": [read.first, read.last]}


def _tokens(text: str) -> int:
    return -(-len(text.encode("utf-8", "replace")) * 2 // 7)
