"""`triseek history search|show|resume`."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Annotated, Any

import typer

from triseek.errors import InvalidRequest
from triseek.history.commands.calling import call
from triseek.history.commands.importing import moment_ms
from triseek.model.plain_text import visible_line
from triseek.terminal import options, report_text, status

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Name = Annotated[
    str, typer.Argument(metavar="ID", help="The agent's id of it, or the beginning of that.")
]
OUTPUT_LINES = 12
"""Lines of an output that `show` prints; `--json` has all that is kept."""


def search(
    query: Annotated[list[str], typer.Argument(metavar="QUERY", help="Words that were said.")],
    by: Annotated[
        str, typer.Option(metavar="KIND", help="session (the default), message or observation.")
    ] = "session",
    agent: Annotated[str, typer.Option(metavar="AGENT", help="Only this agent's.")] = "",
    project: Annotated[
        str, typer.Option(metavar="NAME", help="Only this project's: its name or root folder.")
    ] = "",
    since: Annotated[str, typer.Option(metavar="WHEN", help="Not older: 2026-10-01, or 30d.")] = "",
    limit: Annotated[int, typer.Option(metavar="N", help="Results, at most 100.")] = 10,
    json: options.Json = False,
) -> int:
    """Find conversations by what was said in them, or observations by what was learned, best first.

    Exit status 1: nothing was found.

    Examples: triseek history search 'flaky retry test' ·
    triseek history search websocket timeout --by message --agent codex --since 30d ·
    triseek history search discount --by observation
    """
    if by == "observation":
        return _observations(" ".join(query), agent, project, since, limit, as_json=json)
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
    )
    text = "\n".join(_results(reply)) or "Nothing was found."
    print(report_text.as_json(reply) if json else report_text.readable(text))
    return status.FOUND if reply["results"] else status.NOTHING


def show(session: Name, json: options.Json = False) -> int:
    """Show a conversation: what was said, run and changed, in order.

    Examples: triseek history show 0f9c2d1a · triseek history show 0f9c2d1a --json
    """
    reply = call("show", {"session": session})
    text = "\n".join(_conversation(reply))
    print(report_text.as_json(reply) if json else report_text.readable(text))
    return status.FOUND


def resume(session: Name, json: options.Json = False) -> int:
    """Print the agent's own command that reopens a conversation.

    Example: triseek history resume 0f9c2d1a
    """
    reply = call("show", {"session": session})
    words, row = reply["resume"], reply["conversation"]
    if json:
        print(report_text.as_json({"conversation": row, "resume": words}))
        return status.FOUND if words else status.NOTHING
    if not words:
        raise InvalidRequest(
            f"{row['agent']} cannot reopen this conversation",
            next_step=f"Read it: `triseek history show {row['session'][:12]}`.",
        )
    folder = f"cd {shlex.quote(row['cwd'])} && " if row["cwd"] else ""
    print(report_text.readable(folder + shlex.join(words)))
    return status.FOUND


def _observations(
    query: str, agent: str, project: str, since: str, limit: int, *, as_json: bool
) -> int:
    """Search observations as `search_observations` does."""
    if agent:
        raise InvalidRequest(
            "observations are not searched by agent", next_step="Leave out --agent."
        )
    since_ms = moment_ms(since) if since else 0
    params = {"query": query, "project": project, "since_ms": since_ms, "limit": limit}
    reply = call("observations", {**params, "root": os.getcwd()})
    answer = reply["answer"]
    print(report_text.as_json(answer) if as_json else report_text.readable(reply["text"]))
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
