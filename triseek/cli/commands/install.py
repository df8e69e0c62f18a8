"""install and uninstall: put triseek into an agent's configuration, and take it out again."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from triseek.agents.registry import AGENTS
from triseek.errors import ClientNotInstalled, InvalidRequest
from triseek.terminal import options, report_text, status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triseek.agents.base import Agent, InstallPlace, Scope
    from triseek.agents.install.writing import FileChange

_NAMES = [agent.name for agent in AGENTS]
CLIENTS = f"{', '.join(_NAMES[:-1])} or {_NAMES[-1]}."
Name = Annotated[str, typer.Argument(metavar="CLIENT", help=CLIENTS)]
Where = Annotated[
    str,
    typer.Option(
        "--scope",
        metavar="SCOPE",
        help="user: everywhere (the default); project: this folder, for everybody who has it; "
        "local: this folder, for you.",
    ),
]
Toolsets = Annotated[
    str,
    typer.Option(
        "--toolsets",
        metavar="NAMES",
        help="The tools that the agent is offered, separated by commas, as `default,history`; "
        "without this option those that are installed stay.",
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would change, write nothing.")]


def install(
    name: Name,
    scope: Where = "",
    toolsets: Toolsets = "",
    dry_run: DryRun = False,
    json: options.Json = False,
) -> int:
    """Put triseek into an agent's configuration: its server, its hooks, its slash command.

    All files are edited, or none; what is not triseek's keeps its bytes. Doing it again changes
    nothing. What was there is kept until `triseek uninstall`.

    Examples: triseek install claude-code · triseek install codex --dry-run ·
    triseek install claude-code --scope project ·
    triseek install claude-code --toolsets default,history
    """
    chosen = _toolsets(toolsets)
    return _edit("install", name, scope, chosen, dry_run=dry_run, as_json=json)


def uninstall(
    name: Name, scope: Where = "", dry_run: DryRun = False, json: options.Json = False
) -> int:
    """Take triseek out of an agent's configuration: exactly what install put there.

    A file that nobody has touched since becomes what it was, byte for byte.

    Example: triseek uninstall claude-code
    """
    return _edit("uninstall", name, scope, None, dry_run=dry_run, as_json=json)


def _edit(
    verb: str, name: str, scope: str, toolsets: str | None, *, dry_run: bool, as_json: bool
) -> int:
    from triseek.agents.base import InstallPlace
    from triseek.agents.install import apply

    client = _client(name)
    here = InstallPlace(program(), os.path.expanduser("~"), os.getcwd(), dict(os.environ))
    chosen = _scope(client, scope)
    here = _with_toolsets(here, client, chosen, toolsets)
    if verb == "install" and not client.detect(here):
        raise ClientNotInstalled(f"{client.title} is not installed here")
    owner = apply.owner_of(client.name, chosen, here.cwd)
    plan = client.plan(chosen, here)
    if verb == "install":
        changes = apply.install(plan, owner, dry_run=dry_run)
        advice = client.advice(chosen) if changes else []
    else:
        changes = apply.uninstall(plan, owner, dry_run=dry_run)
        advice = [f"Restart {client.title}."] if changes else _elsewhere(client, chosen, here)
    if as_json:
        document = {
            "action": verb,
            "client": client.name,
            "scope": chosen,
            "dry_run": dry_run,
            "changes": [_as_document(change, dry_run=dry_run) for change in changes],
            "next": [*advice],
        }
        print(report_text.as_json(document))
    elif dry_run:
        print(report_text.readable("\n".join(_diff(change) for change in changes)), end="")
    else:
        done = f"is {verb}ed"
        if not changes:
            done = "was installed already" if verb == "install" else "was not installed"
        _tell(f"{client.title}: triseek {done} (scope {chosen})", changes, advice)
    return status.FOUND


def _tell(headline: str, changes: Sequence[FileChange], advice: Sequence[str]) -> None:
    print(headline + ":" * bool(changes))
    for change in changes:
        print(report_text.readable(f"  {_kind(change)} {change.path}"))
    for sentence in advice:
        print(report_text.readable(f"- {sentence}"))


def program() -> str:
    """Return the absolute path of the console script: the one that runs, or this Python's.

    Raises:
        InvalidRequest: There is no such script.
    """
    started = sys.argv[0]
    names = ("triseek", "triseek.exe")
    if os.path.basename(started) in names:
        script = shutil.which(started)
        if script:
            return os.path.abspath(script)
    beside = (os.path.join(os.path.dirname(sys.executable), name) for name in names)
    script = next((path for path in beside if os.access(path, os.X_OK)), shutil.which("triseek"))
    if script is None:
        raise InvalidRequest(
            "there is no triseek program to name in the configuration",
            next_step="Install the package, so that `triseek` is on PATH.",
        )
    return os.path.abspath(script)


def _client(name: str) -> Agent:
    from triseek.agents import registry

    client = registry.by_name(name)
    if client is None:
        names = ", ".join(_NAMES)
        raise InvalidRequest(f"unknown client {name!r}", next_step=f"Give one of {names}.")
    return client


def _scope(client: Agent, scope: str) -> Scope:
    chosen = scope or client.scopes[0]
    if chosen not in client.scopes:
        raise InvalidRequest(
            f"{client.title} has no scope {scope!r}",
            next_step=f"Give --scope {' or '.join(client.scopes)}.",
        )
    return chosen


def _toolsets(text: str) -> str | None:
    """Return the toolsets as the server takes them, "" for the default; None if none are named.

    Raises:
        InvalidRequest: There is no such toolset.
    """
    from triseek.app import wings
    from triseek.mcp import hosting

    if not text:
        return None
    names = list(dict.fromkeys(hosting.known_toolsets(text)))
    return "" if names == [wings.DEFAULT] else ",".join(names)


def _with_toolsets(
    here: InstallPlace, client: Agent, scope: Scope, toolsets: str | None
) -> InstallPlace:
    """Return the place with these toolsets; for None, with those that are installed there."""
    from triseek.agents.install import installed_server
    from triseek.app import wings

    if toolsets is None:
        edits = installed_server.edits_of(client.name, scope, here.cwd)
        toolsets = installed_server.toolsets_of(installed_server.words_of(edits))
        if wings.unknown_toolsets(toolsets):  # another version has them
            toolsets = ""
    return replace(here, toolsets=toolsets)


def _elsewhere(client: Agent, scope: Scope, here: InstallPlace) -> list[str]:
    """Return advice that names the other scopes for which triseek is installed."""
    from triseek.agents.install import apply

    others = [other for other in client.scopes if other != scope]
    installed = [
        other
        for other in others
        if not apply.lacking(client.plan(other, _with_toolsets(here, client, other, None)))
    ]
    return [f"It is installed for another scope: pass --scope {other}." for other in installed]


def _as_document(change: FileChange, *, dry_run: bool) -> dict[str, str]:
    document = {"path": report_text.readable(change.path), "change": _kind(change)}
    return {**document, "diff": report_text.readable(_diff(change))} if dry_run else document


def _kind(change: FileChange) -> str:
    if change.before is None:
        return "created"
    return "removed" if change.after is None else "changed"


def _diff(change: FileChange) -> str:
    import difflib

    lines = difflib.unified_diff(
        _lines(change.before),
        _lines(change.after),
        "/dev/null" if change.before is None else change.path,
        "/dev/null" if change.after is None else change.path,
    )
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def _lines(data: bytes | None) -> list[str]:
    return (data or b"").decode("utf-8", "replace").splitlines(keepends=True)
