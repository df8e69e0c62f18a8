"""`triseek history search|show|resume`."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Annotated, Any

from triseek.errors import InvalidRequest
from triseek.history.commands.calling import call
from triseek.history.consent import NOTHING_KEPT
from triseek.model.plain_text import visible_line
from triseek.terminal import report_text, status
from triseek.terminal.moments import moment_ms
from triseek.terminal.plain_words import Argument, Json, Option

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from triseek.terminal.command_context import CommandContext

Name = Annotated[str, Argument("ID", "The agent's id of it, or the beginning of that.")]
_RECORD = re.compile(r"#\d+|#?[Pp]\d+|claude-mem://(?:observation|user-prompt)/.*")
"""What names a single record, and no conversation."""
OUTPUT_LINES = 12
"""Lines of an output that `show` prints; `--json` has all that is kept."""


def search(
    context: CommandContext,
    query: Annotated[list[str], Argument("QUERY", "Words that were said.")],
    by: Annotated[
        str, Option("KIND", "session (the default), message or observation.")
    ] = "session",
    agent: Annotated[str, Option("AGENT", "Only this agent's.")] = "",
    project: Annotated[str, Option("NAME", "Only this project's: its name or root folder.")] = "",
    since: Annotated[str, Option("WHEN", "Not older: 2026-10-01, or 30d.")] = "",
    limit: Annotated[int, Option("N", "Results, at most 100.")] = 10,
    json: Json = False,
) -> int:
    """Find conversations by what was said in them, or observations by what was learned, best first.

    Exit status 1: nothing was found.

    Examples: triseek history search 'flaky retry test' ·
    triseek history search websocket timeout --by message --agent codex --since 30d ·
    triseek history search discount --by observation
    """
    if by == "observation":
        return _observations(context, " ".join(query), agent, project, since, limit, as_json=json)
    reply = call(
        "search",
        {
            "query": " ".join(query),
            "by": by,
            "agent": agent,
            "project": project,
            "since_ms": moment_ms(since) if since else 0,
            "limit": limit,
        },
        context,
    )
    nothing = "Nothing was found." if reply["is_kept"] else NOTHING_KEPT
    text = "\n".join(_results(reply)) or nothing
    context.print(report_text.as_json(reply) if json else report_text.readable(text))
    return status.FOUND if reply["results"] else status.NOTHING


def show(
    context: CommandContext,
    session: Annotated[
        str,
        Argument(
            "ID",
            "The agent's id of it, or the beginning of that; '#12': observation 12; "
            "S4: the conversation of summary 4; P5: prompt 5; claude-mem://….",
        ),
    ],
    json: Json = False,
) -> int:
    """Show a conversation: what was said, run and changed, in order. Or an observation in full.

    Examples: triseek history show 0f9c2d1a · triseek history show 0f9c2d1a --json ·
    triseek history show claude-mem://observation/12
    """
    if _RECORD.fullmatch(session):
        record = call("record", {"id": session, "root": context.folder()}, context)
        answer = record["answer"]
        context.print(report_text.as_json(answer) if json else report_text.readable(record["text"]))
        return status.NOTHING if answer["missing"] else status.FOUND
    reply = call("show", {"session": session}, context)
    text = "\n".join(_conversation(reply))
    context.print(report_text.as_json(reply) if json else report_text.readable(text))
    return status.FOUND


def resume(context: CommandContext, session: Name, json: Json = False) -> int:
    """Print the agent's own command that reopens a conversation.

    Example: triseek history resume 0f9c2d1a
    """
    reply = call("show", {"session": session}, context)
    words, row = reply["resume"], reply["conversation"]
    if json:
        context.print(report_text.as_json({"conversation": row, "resume": words}))
        return status.FOUND if words else status.NOTHING
    if not words:
        raise InvalidRequest(
            f"{row['agent']} cannot reopen this conversation",
            next_step=f"Read it: `triseek history show {row['session'][:12]}`.",
        )
    folder = f"cd {shlex.quote(row['cwd'])} && " if row["cwd"] else ""
    context.print(report_text.readable(folder + shlex.join(words)))
    return status.FOUND


def _observations(
    context: CommandContext,
    query: str,
    agent: str,
    project: str,
    since: str,
    limit: int,
    *,
    as_json: bool,
) -> int:
    """Search observations as `search_observations` does."""
    params = {
        "query": query, "agent": agent, "project": project,
        "since_ms": moment_ms(since) if since else 0, "limit": limit, "root": context.folder(),
    }  # fmt: skip
    reply = call("observations", params, context)
    answer = reply["answer"]
    text = reply["text"]
    if answer["observations"]:
        if answer["total"] > len(answer["observations"]):
            text += f"\n\n({answer['total']:,} in all; --limit shows more)"
        text += f"\n\nOne of them in full: triseek history show {answer['observations'][0]['uri']}"
    context.print(report_text.as_json(answer) if as_json else report_text.readable(text))
    return status.FOUND if answer["observations"] else status.NOTHING


def _results(reply: Mapping[str, Any]) -> Iterator[str]:
    for number, found in enumerate(reply["results"], 1):
        row = found["conversation"]
        title = visible_line(row["title"]) or "(no title)"
        yield f"{number:2}. {_when(row['started_ms'])}  {row['agent']}  {row['project']}  {title}"
        yield f"    {found['role']}: {visible_line(found['excerpt'])}"
        also = f"  (also in {found['copies']:,} forks of it)" if found["copies"] > 1 else ""
        also = "  (also in a fork of it)" if found["copies"] == 1 else also
        yield f"    triseek history show {visible_line(row['session'])}{also}"
    if reply["total"] > len(reply["results"]):
        yield f"({reply['total']:,} in all; --limit shows more)"


def _conversation(reply: Mapping[str, Any]) -> Iterator[str]:
    row = reply["conversation"]
    yield f"{row['agent']} {visible_line(row['session'])}  {visible_line(row['title'])}"
    yield f"{_when(row['started_ms'])}  {visible_line(row['cwd'])}  {visible_line(row['branch'])}"
    for entry in reply["entries"]:
        yield ""
        if entry["kind"] != "tool":
            yield f"[{_when(entry['time_ms'])}] {entry['kind']}:"
            yield entry["text"]
            continue
        ended = "" if entry["exit_status"] is None else f" (exit {entry['exit_status']})"
        failed = " (failed)" if entry["failed"] and not ended else ""
        yield f"[{_when(entry['time_ms'])}] $ {entry['text']}{ended}{failed}"
        lines = entry["output"].splitlines()
        yield from (f"    {line}" for line in lines[:OUTPUT_LINES])
        if len(lines) > OUTPUT_LINES:
            yield f"    … {len(lines) - OUTPUT_LINES:,} more lines (--json)"


def _when(time_ms: int) -> str:
    return report_text.local_time(time_ms / 1000) if time_ms else "(no time)"
