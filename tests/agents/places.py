"""A home and a project to install into, and what is in them."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

from triseek.agents.base import InstallPlace
from triseek.agents.install import apply

if TYPE_CHECKING:
    from pathlib import Path

    from triseek.agents.base import Agent, Scope
    from triseek.agents.install.writing import FileChange

PROGRAM = "/opt/the tools'/bin/triseek"


@dataclass
class Place:
    """Where a test installs."""

    folder: Path
    here: InstallPlace

    def install(self, client: Agent, scope: Scope, *, dry_run: bool = False) -> list[FileChange]:
        owner = apply.owner_of(client.name, scope, self.here.cwd)
        return apply.install(client.plan(scope, self.here), owner, dry_run=dry_run)

    def uninstall(self, client: Agent, scope: Scope, *, dry_run: bool = False) -> list[FileChange]:
        owner = apply.owner_of(client.name, scope, self.here.cwd)
        return apply.uninstall(client.plan(scope, self.here), owner, dry_run=dry_run)

    def snapshot(self) -> dict[str, object]:
        """Everything in it: folders, links, files with their modes."""
        found: dict[str, object] = {}
        for folder, names, files in os.walk(self.folder):
            for name in names + files:
                path = os.path.join(folder, name)
                mode = stat.S_IMODE(os.lstat(path).st_mode)
                if os.path.islink(path):
                    found[path] = os.readlink(path)
                elif os.path.isdir(path):
                    found[path] = mode
                else:
                    with open(path, "rb") as file:
                        found[path] = (mode, file.read())
        return found


def place(folder: Path, **environ: str) -> Place:
    """An empty home and project below a folder."""
    for name in ("home", "project"):
        (folder / name).mkdir(parents=True)
    here = InstallPlace(
        PROGRAM, str(folder / "home"), str(folder / "project"), {"PATH": "", **environ}
    )
    return Place(folder, here)


def plant(path: str, content: bytes | None) -> None:
    """A file, or none."""
    if content is not None:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)
