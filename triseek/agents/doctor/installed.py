"""Check whether what `triseek install` wrote to an agent's settings is there and up to date."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from triseek.agents.doctor.checks import fail, info, ok, warn
from triseek.agents.install import apply, ledger
from triseek.agents.install.entries import JsonMember, mcp_words
from triseek.agents.install.toml_edits import TomlTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from triseek.agents.base import Agent, Edit, InstallPlace, Scope
    from triseek.agents.doctor.checks import Finding
    from triseek.agents.install.ledger import Ledger


class Installed(NamedTuple):
    """A scope of an agent that has our settings."""

    scope: Scope
    program: str
    """The triseek program that the settings name."""
    lacking: tuple[str, ...]
    """Files that lack what this version would write."""


def scopes(
    client: Agent, here: InstallPlace, install_ledger: Ledger | None = None
) -> Iterator[Installed]:
    """Yield the scopes with our settings: by the ledger, or because all entries are in the files.

    Settings that name another triseek are correct if they are what this version writes.
    """
    files = (install_ledger or ledger.load()).files.values()
    for scope in client.scopes:
        owner = apply.owner_of(client.name, scope, here.cwd)
        edits = [edit for file in files for edit in file.of(owner)]
        program = _program(edits) or here.program
        lacking = apply.lacking(client.plan(scope, replace(here, program=program)))
        if edits or not lacking:
            yield Installed(scope, program, tuple(lacking))


def settings(client: Agent, here: InstallPlace, found: Iterable[Installed]) -> Iterator[Finding]:
    """Check the settings of each scope."""
    for entry in found:
        what = f"{client.title} settings"
        mend = f"triseek install {client.name}"
        if entry.scope != client.scopes[0]:
            mend += f" --scope {entry.scope}"
        if not os.access(entry.program, os.X_OK):
            yield fail(what, f"scope {entry.scope}: they name {entry.program}, which is gone", mend)
        elif entry.lacking:
            files = ", ".join(entry.lacking)
            yield warn(what, f"scope {entry.scope}: not as this version writes them: {files}", mend)
        elif here.program and not os.path.samefile(entry.program, here.program):  # noqa: PTH121
            yield info(what, f"scope {entry.scope}: of another triseek, {entry.program}", mend)
        else:
            yield ok(what, f"scope {entry.scope}: all that was installed is in place")


def _program(edits: Iterable[Edit]) -> str:
    """Return the program that the first server among the edits starts; "" if there is none."""
    servers = (edit.value for edit in edits if isinstance(edit, (JsonMember, TomlTable)))
    return next((words[0] for server in servers if (words := mcp_words(server)) and words[0]), "")
