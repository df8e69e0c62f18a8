"""What `triseek install` has put into a client's settings: is it still there, and still right."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from triseek.harness import apply, ledger
from triseek.harness.checks.finding import fail, info, ok, warn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from triseek.harness.base import Client, Here, Scope
    from triseek.harness.checks.finding import Finding
    from triseek.harness.ledger import Ledger


class Installed(NamedTuple):
    """A scope of a client that has our settings."""

    scope: Scope
    program: str
    """The triseek that they name."""
    lacking: tuple[str, ...]
    """Files that do not say what this version would write."""


def scopes(client: Client, here: Here, known: Ledger | None = None) -> Iterator[Installed]:
    """Where it has our settings: by the ledger, or because they stand there in full.

    Settings of another triseek's count as right if they are what this version writes.
    """
    known = ledger.load() if known is None else known
    for scope in client.scopes:
        records = _records(known, apply.owner_of(client.name, scope, here.cwd))
        named = next(_programs(records), here.program)
        lacking = apply.lacking(client.plan(scope, replace(here, program=named)))
        if records or not lacking:
            yield Installed(scope, named, tuple(lacking))


def settings(client: Client, here: Here, found: Iterable[Installed]) -> Iterator[Finding]:
    """Say how the settings of each scope are."""
    for one in found:
        what = f"{client.title} settings"
        mend = f"triseek install {client.name}"
        if one.scope != client.scopes[0]:
            mend += f" --scope {one.scope}"
        if not os.access(one.program, os.X_OK):
            yield fail(what, f"scope {one.scope}: they name {one.program}, which is gone", mend)
        elif one.lacking:
            files = ", ".join(one.lacking)
            yield warn(what, f"scope {one.scope}: not as this version writes them: {files}", mend)
        elif here.program and not os.path.samefile(one.program, here.program):  # noqa: PTH121
            yield info(what, f"scope {one.scope}: of another triseek, {one.program}", mend)
        else:
            yield ok(what, f"scope {one.scope}: all that was installed is in place")


def _records(known: Ledger, owner: str) -> list[dict[str, Any]]:
    return [record for kept in known.files.values() for record in kept.of(owner)]


def _programs(records: Iterable[dict[str, Any]]) -> Iterator[str]:
    """The programs that the servers in a ledger's records start."""
    for record in records:
        value = record.get("value")
        named = value.get("command") if isinstance(value, dict) else None
        if isinstance(named, list):
            named = named[0] if named else None
        if isinstance(named, dict):  # Zed had it so
            named = named.get("path")
        if isinstance(named, str) and named:
            yield named
