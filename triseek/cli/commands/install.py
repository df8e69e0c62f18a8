"""install and uninstall: put triseek into an agent's configuration, and take it out again."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from triseek.cli import report_text, status
from triseek.errors import ClientNotInstalled, InvalidRequest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triseek.harness.base import Client, Here, Scope
    from triseek.harness.writing import Change

CLIENTS = "claude-code, codex, opencode, pi, cursor, cline, gemini, vscode or zed."
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
Json = Annotated[bool, typer.Option("--json", help="Write a JSON document.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would change, write nothing.")]


def install(name: Name, scope: Where = "", dry_run: DryRun = False, json: Json = False) -> int:
    """Put triseek into an agent's configuration: its server, its hooks, its slash command.

    All files are edited, or none; what is not triseek's keeps its bytes. Doing it again changes
    nothing. What was there is kept until `triseek uninstall`.

    Examples: triseek install claude-code · triseek install codex --dry-run ·
    triseek install claude-code --scope project
    """
    from triseek.harness import apply

    client, here = _client(name), _here()
    chosen = _scope(client, scope)
    if not client.detect(here):
        raise ClientNotInstalled(f"{client.title} is not installed here")
    owner = apply.owner_of(client.name, chosen, here.cwd)
    changes = apply.install(client.plan(chosen, here), owner, dry_run=dry_run)
    advice = client.advice(chosen, here) if changes else []
    _tell("install", client, chosen, changes, advice, dry_run=dry_run, as_json=json)
    return status.FOUND


def uninstall(name: Name, scope: Where = "", dry_run: DryRun = False, json: Json = False) -> int:
    """Take triseek out of an agent's configuration: exactly what install put there.

    A file that nobody has touched since becomes what it was, byte for byte.

    Example: triseek uninstall claude-code
    """
    from triseek.harness import apply

    client, here = _client(name), _here()
    chosen = _scope(client, scope)
    owner = apply.owner_of(client.name, chosen, here.cwd)
    changes = apply.uninstall(client.plan(chosen, here), owner, dry_run=dry_run)
    advice = [f"Restart {client.title}."] if changes else _elsewhere(client, chosen, here)
    _tell("uninstall", client, chosen, changes, advice, dry_run=dry_run, as_json=json)
    return status.FOUND


def program() -> str:
    """What starts this triseek, absolute: the console script that runs, or that of this Python.

    Raises:
        InvalidRequest: there is none.
    """
    started = sys.argv[0]
    names = ("triseek", "triseek.exe")
    if os.path.basename(started) in names:
        found = shutil.which(started)
        if found:
            return os.path.abspath(found)
    beside = (os.path.join(os.path.dirname(sys.executable), name) for name in names)
    found = next((path for path in beside if os.access(path, os.X_OK)), shutil.which("triseek"))
    if found is None:
        raise InvalidRequest(
            "there is no triseek program to name in the configuration",
            next_step="Install the package, so that `triseek` is on PATH.",
        )
    return os.path.abspath(found)


def _here() -> Here:
    from triseek.harness.base import Here

    return Here(program(), os.path.expanduser("~"), os.getcwd(), dict(os.environ))


def _client(name: str) -> Client:
    from triseek.harness import registry

    client = registry.client(name)
    if client is None:
        known = ", ".join(one.name for one in registry.CLIENTS)
        raise InvalidRequest(f"unknown client {name!r}", next_step=f"Give one of {known}.")
    return client


def _scope(client: Client, scope: str) -> Scope:
    chosen = scope or client.scopes[0]
    if chosen not in client.scopes:
        raise InvalidRequest(
            f"{client.title} has no scope {scope!r}",
            next_step=f"Give --scope {' or '.join(client.scopes)}.",
        )
    return chosen


def _elsewhere(client: Client, scope: str, here: Here) -> list[str]:
    """Where it is installed, for somebody who has named another scope."""
    from triseek.harness import apply

    others = [other for other in client.scopes if other != scope]
    found = [other for other in others if not apply.lacking(client.plan(other, here))]
    return [f"It is installed for another scope: pass --scope {other}." for other in found]


def _tell(
    verb: str,
    client: Client,
    scope: str,
    changes: Sequence[Change],
    advice: Sequence[str],
    *,
    dry_run: bool,
    as_json: bool,
) -> None:
    if as_json:
        document: dict[str, Any] = {
            "action": verb,
            "client": client.name,
            "scope": scope,
            "dry_run": dry_run,
            "changes": [_as_document(change, dry_run=dry_run) for change in changes],
            "next": [*advice],
        }
        print(report_text.as_json(document))
        return
    if dry_run:
        print(report_text.readable("\n".join(_diff(change) for change in changes)), end="")
        return
    done = "is installed" if verb == "install" else "is uninstalled"
    if not changes:
        done = "was installed already" if verb == "install" else "was not installed"
    print(f"{client.title}: triseek {done} (scope {scope}){':' if changes else ''}")
    for change in changes:
        print(report_text.readable(f"  {_kind(change)} {change.path}"))
    for sentence in advice:
        print(report_text.readable(f"- {sentence}"))


def _as_document(change: Change, *, dry_run: bool) -> dict[str, str]:
    told = {"path": report_text.readable(change.path), "change": _kind(change)}
    return {**told, "diff": report_text.readable(_diff(change))} if dry_run else told


def _kind(change: Change) -> str:
    if change.before is None:
        return "created"
    return "removed" if change.after is None else "changed"


def _diff(change: Change) -> str:
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
