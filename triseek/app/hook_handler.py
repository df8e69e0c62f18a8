"""Handles the hooks of agents: updates the memo, the scores of files and the log of actions.

One call of a hook is one call of `HookHandler.hook`. It returns the answer for the agent: nothing,
or that it already has what it is about to read. Hooks come many times a second and from any folder,
so nothing here opens a root that has no index.
"""

from __future__ import annotations

import os
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from triseek.agents import hooks, registry
from triseek.agents.hook_protocol import plain
from triseek.agents.install.hook_entries import ANNOUNCED
from triseek.agents.payloads import tools
from triseek.app.unended_commands import UnendedCommands
from triseek.engine.roots import is_indexed, project, root_for
from triseek.errors import TriseekError
from triseek.memo.memo import Memo
from triseek.model import token_estimate
from triseek.model.hook_event import PROBE, ToolUse
from triseek.model.origin import Origin
from triseek.model.plain_text import encodable
from triseek.redaction import redact
from triseek.sessions.recording import OWN_TOOL, Action

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from triseek.engine.service import Service
    from triseek.model.hook_event import Context, FileRead, HookEvent, Moment
    from triseek.sessions.recording import Sink

    Opening: TypeAlias = Callable[[str, HookEvent, Moment], str]

PROMPT_MAX, SEARCH_MAX, COMMAND_MAX = 8_000, 500, 1_000
"""Maximum recorded characters of a prompt, a search and a command."""
ASKING_TOOLS = (*ANNOUNCED, "session_resume")
"""Our tools whose answer depends on the context that receives it, by the ends of their names."""
_NOTHING = frozenset(("", "no matches found", "no files found", "no matches", "no files"))
"""What the search tools of agents print if they find nothing."""
_EMPTIED = frozenset(("start", "end", "compact", "changed", "subagent"))
"""Moments after which a context no longer holds what it held."""


class HookHandler:
    """Handles hooks. Thread-safe."""

    def __init__(
        self,
        service: Service | None,
        memo: Memo,
        sink: Sink,
        *,
        refuse: bool = True,
        opening: Opening | None = None,
    ) -> None:
        """Count uses of files in `service`'s roots, update `memo`, send actions to `sink`.

        service: None to count none.
        refuse: Whether an agent is ever refused a read.
        opening: Returns what an event is answered: what a new conversation in a root is shown, at
            the moment at which its agent takes it. None to show nothing.
        """
        self._opening = opening
        self._service = service
        self._memo = memo
        self._sink = sink
        self._refuse = refuse
        self._unended = UnendedCommands()
        self._for_probes = self
        if service is not None:  # probes of the doctor have a memo of their own, and leave no trace
            self._for_probes = HookHandler(None, Memo(None), lambda _action: None, refuse=refuse)

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
        """Handle one payload; return what the hook is to write to its standard output.

        Args:
            payload: Standard input of the hook, unparsed.
            event: The agent's name of the moment, "" if the payload has it.
            harness: The agent, "" to recognize it by the payload.
            cwd: Where the hook ran, for a payload that names no folder.
            repo: The root to use, "" for that of the agent's working folder.
            session: The session, if the payload has none.
        """
        hook_event = hooks.read(payload, event=event, harness=harness, cwd=cwd)
        if hook_event is None:
            return ""
        if session and not hook_event.context.session:
            hook_event = replace(hook_event, context=replace(hook_event.context, session=session))
        is_probe = hook_event.context.session.startswith(PROBE)
        handler = self._for_probes if is_probe else self
        return handler._handle(hook_event, project(repo or hook_event.cwd))  # noqa: SLF001

    def _handle(self, hook_event: HookEvent, root: str) -> str:
        if hook_event.moment in _EMPTIED:
            self._forget(root, hook_event)
        else:  # what is in view now matters for every hook
            self._memo.begin(root, hook_event.context, in_view=_evidence(hook_event))
        self._note_ended(root, hook_event)
        if hook_event.moment == "prompt":
            self._memo.passed(hook_event.context, token_estimate.of_source_text(hook_event.prompt))
            if not hook_event.parent:  # a sub-agent's is its agent's, and no person's
                prompt = _kept(hook_event.prompt, PROMPT_MAX)
                self._note("prompt", root, hook_event, prompt=prompt)
        use = hook_event.use
        if use is not None and hook_event.moment == "before":
            return self._before(root, hook_event, use)
        if use is not None and hook_event.moment == "after":
            self._after(root, hook_event, use)
        return self._start_context(root, hook_event)

    def _start_context(self, root: str, event: HookEvent) -> str:
        if self._opening is None or event.moment not in ("start", "prompt"):
            return ""
        agent = registry.by_name(event.context.harness)
        if agent is None or not agent.start_context("?"):
            return ""
        text = self._opening(root, event, agent.context_moment)
        return agent.start_context(text) if text else ""

    # Tools

    def _before(self, root: str, event: HookEvent, use: ToolUse) -> str:
        if use.call and not use.of_script and use.name.endswith(ASKING_TOOLS):
            self._memo.asking(event.context, use.call, _evidence(event))
        # An agent that ignores refusals must not be counted as refused.
        accepts_refusals = hooks.refusal(event.context.harness, event.event, "?", "")
        if not (use.reads and self._refuse and accepts_refusals):
            return ""
        # None of the reads of an agent that gives no evidence is refused.
        evidence = _evidence(event) or (lambda: None)
        denial = self._memo.verdict(root, event.context, use, evidence)
        if denial is None:
            return ""
        for read, tokens in zip(use.reads, denial.spared, strict=True):
            self._note_read("read_denied", root, event, use, read, tokens)
        return hooks.refusal(event.context.harness, event.event, denial.reason, denial.context_text)

    def _after(self, root: str, event: HookEvent, use: ToolUse) -> None:
        self._memo.observe(root, event.context, use, in_view=_evidence(event))
        self._note_command(root, event, use)
        if tools.is_ours(use.name):
            self._note(OWN_TOOL, root, event)
        if use.failed:
            return
        for read in use.reads:
            self._note_read("read", root, event, use, read)
        for path in use.edits:
            self._note("edit", root, event, path=path, call=use.call)
        if use.search and not tools.is_ours(use.name):  # our server reports those, in more detail
            nothing = 0 if _showed_nothing(use) else None
            self._note(
                "search", root, event, query=_kept(use.search, SEARCH_MAX), call=use.call,
                tool=use.name, files_with_matches=nothing,
            )  # fmt: skip
        self._count("read", (read.path for read in use.reads))
        self._count("edit", use.edits)

    # Commands

    def _note_command(self, root: str, event: HookEvent, use: ToolUse) -> None:
        """Record a command, unless the reads or the search that it is say all of it."""
        run = use.command
        if run is None or use.only_reads or (use.search and not use.edits_unknown):
            return
        below = os.path.relpath(run.cwd, root) if run.cwd else "."
        self._note(
            "command", root, event, command=_kept(run.text, COMMAND_MAX), call=use.call,
            exit_status=run.exit_status, failed=run.failed,
            folder="" if below == "." or below.startswith("..") else below,
        )  # fmt: skip
        if run.failed is None and use.call:
            self._unended.add(event.context, use.call)

    def _note_ended(self, root: str, event: HookEvent) -> None:
        """Record the exit statuses that the agent's record has by now, and its hooks had not."""
        calls = self._unended.of(event.context)
        statuses = hooks.exit_statuses(event, calls) if calls else {}
        for call, status in statuses.items():
            self._note(
                "command_status", root, event, call=call, exit_status=status, failed=status != 0
            )
        self._unended.looked(event.context, statuses)

    # Contexts

    def _forget(self, root: str, event: HookEvent) -> None:
        """Update the memo for a context that begins, ends, or lost what it held."""
        who = event.context
        begins = event.moment == "start" or plain(event.event) == "subagentstart"
        if event.moment == "end" or (event.moment == "subagent" and who.agent and not begins):
            self._memo.end(who)
        else:
            # An agent without a name may be any of the session's contexts.
            self._memo.forget(
                who,
                whole_session=event.moment == "start" or not who.agent,
                compacted=_is_first_of_compaction(event),
                emptied=_is_emptied(event),
            )
        if begins:
            self._memo.begin(root, who, in_view=_evidence(event))
        if _is_first_of_compaction(event):
            self._note("compact", root, event, source=event.source)
        self._end_epoch(event.cwd)

    def _end_epoch(self, folder: str) -> None:
        """Begin a new epoch: earlier answers there may be in no context any more."""
        here = os.path.realpath(folder)
        for engine in self._service.engines() if self._service is not None else ():
            if os.path.commonpath((here, engine.root)) in (here, engine.root):
                watch = engine.watched
                if watch is not None:
                    watch.journal.bump_epoch()

    # Scores and actions

    def _count(self, use: str, paths: Iterable[str]) -> None:
        """Count uses of files that lie in an indexed root."""
        if self._service is None:
            return
        for path in paths:
            folder, name = os.path.split(path)
            try:
                root = root_for(folder)
            except TriseekError:
                continue  # the file's folder does not exist
            if not is_indexed(root):
                continue
            engine = self._service.engine(root, exact=True)
            below = os.path.relpath(os.path.join(os.path.realpath(folder), name), engine.root)  # noqa: PTH118
            engine.touch("edit" if use == "edit" else "read", [os.fsencode(below)])

    def _note(self, kind: str, root: str, event: HookEvent, **more: Any) -> None:  # noqa: ANN401
        payload = {"harness": event.context.harness, "root": root, **more}
        self._sink(
            Action(
                at_s=time.time(),
                kind=kind,
                conversation=_conversation(event.context),
                payload={name: value for name, value in payload.items() if value not in ("", None)},
                origin=Origin(
                    harness=event.context.harness,
                    session=event.context.session,
                    parent=event.parent,
                    call=event.use.call if event.use is not None else "",
                ),
            )
        )

    def _note_read(
        self, kind: str, root: str, event: HookEvent, use: ToolUse, read: FileRead,
        tokens: int | None = None,
    ) -> None:  # fmt: skip
        """Record a read, with its `lines` [first, last], last null for the end; or its `tail`."""
        lines = [read.first, read.last] if read.tail is None else None
        self._note(
            kind, root, event, path=read.path, call=use.call, tokens=tokens, tail=read.tail,
            lines=lines,
        )  # fmt: skip


def _evidence(event: HookEvent) -> Callable[[], frozenset[str] | None] | None:
    """Return a function that queries what the agent still has in view; None if there is none.

    The memo keeps it, so it holds no output.
    """
    use = event.use
    if use is not None:
        event = replace(event, use=ToolUse(name=use.name, call=use.call))
        if event.in_view is not None and event.moment == "after":
            event = replace(event, in_view=event.in_view | {use.call})
    if event.in_view is None and not event.transcript:
        return None
    query_event = replace(event, prompt="")
    return lambda: hooks.in_view(query_event)


def _is_emptied(event: HookEvent) -> bool:
    """Whether the context holds next to nothing now; before a compaction it holds all it held."""
    if event.moment == "compact":
        agent = registry.by_name(event.context.harness)
        if agent is not None and agent.tells_compaction_once:
            return True  # before the compaction, and not after it
        return not plain(event.event).startswith("pre")
    if event.moment == "start":
        return event.source in ("startup", "clear", "compact")
    return plain(event.event) == "subagentstart" and bool(event.context.agent)


def _is_first_of_compaction(event: HookEvent) -> bool:
    """Whether to count it: agents report a compaction before, after and when they go on."""
    return event.moment == "compact" and "post" not in event.event.lower()


def _kept(text: str, most: int) -> str:
    """Return a text as it may be written: without secrets, and without lone surrogates."""
    return redact(encodable(text))[:most]


def _conversation(context: Context) -> str | None:
    """Return the context's name, in the form of `mcp.conversations`."""
    return f"session/{context.session}/{context.agent}" if context.session else None


def _showed_nothing(use: ToolUse) -> bool:
    """Whether a search has certainly found nothing, by what it showed."""
    return use.output is not None and use.output.strip().lower().rstrip(".") in _NOTHING
