"""What it takes to install into an agent: the edits to its files, and how to tell that it is there.

A client's plan is a list of edits. Each names a file and puts one thing of ours into its text:

- `entries.JsonMember`: a member of an object in a JSON file, as `mcpServers.triseek`;
- `entries.JsonDefault`: a member that must be there whatever it says, as `version`;
- `hook_entries.HookItem`: an item of a list of hooks;
- `toml_edits.TomlTable`: a table of a TOML file;
- `slash_command.OwnFile`: a whole file of our own, known by a marker in it.

`apply` turns plans into bytes, all of them or none, and undoes them by the ledger. A client needs
to know neither: it declares.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Scope: TypeAlias = Literal["user", "project", "local"]
"""user: everywhere; project: here, for everybody who has the tree; local: here, for oneself."""
NAME = "triseek"
"""Our name in every config."""


class Refused(Exception):
    """An edit cannot be made; one line says why, without the file's name."""


@dataclass(frozen=True, slots=True)
class Here:
    """Where an install happens; nothing but this is asked for folders and variables."""

    program: str
    """What starts triseek: absolute."""
    home: str
    """The person's home folder."""
    cwd: str
    """The project's folder, for the scopes that have one: absolute."""
    environ: Mapping[str, str]

    def in_home(self, *names: str) -> str:
        """A path below the home folder."""
        return os.path.join(self.home, *names)  # noqa: PTH118

    def in_project(self, *names: str) -> str:
        """A path below the project's folder."""
        return os.path.join(self.cwd, *names)  # noqa: PTH118

    def folder(self, variable: str, *otherwise: str) -> str:
        """The folder that a variable names, or one below the home folder."""
        named = self.environ.get(variable)
        return os.path.join(self.cwd, named) if named else self.in_home(*otherwise)  # noqa: PTH118

    def found(self, *programs: str, folders: Sequence[str] = ()) -> str:
        """The first of the programs that is on PATH, or of the folders that is there; or ""."""
        there = (shutil.which(name, path=self.environ.get("PATH", "")) for name in programs)
        first = next((path for path in there if path), "")
        return first or next((name for name in folders if os.path.isdir(name)), "")  # noqa: PTH112


@dataclass(slots=True)
class Traces:
    """What edits to one file have left to be undone, kept in the ledger.

    Keys are paths of names in the file, as JSON: `["mcpServers","triseek"]`.
    """

    made: list[str] = field(default_factory=list)
    """Containers that were not there."""
    hollow: dict[str, str] = field(default_factory=dict)
    """What stood between the brackets of containers that were empty."""
    replaced: dict[str, str] = field(default_factory=dict)
    """The text of values that were there before ours."""


class Edit(Protocol):
    """One thing of ours in one file. Texts have a file's own line ends; None: there is no file."""

    @property
    def path(self) -> str:
        """The file, absolute; may be a link, and may not be there."""

    def stands(self, text: str | None) -> bool:
        """Whether the text already says exactly this. Broken texts say nothing."""

    def apply(self, text: str | None, traces: Traces) -> str:
        """The text with our thing in it.

        Raises:
            Refused: the text cannot be understood, or something foreign stands in our place.
        """

    def remove(self, text: str | None, traces: Traces) -> str | None:
        """The text without it, whatever else has changed in it; None: nothing is left.

        Raises:
            Refused: the text cannot be understood.
        """

    def record(self) -> dict[str, Any]:
        """What `apply.edit_of` makes the edit of again."""


class Client(Protocol):
    """An agent, or an editor with one."""

    @property
    def name(self) -> str:
        """As in `triseek install NAME`."""

    @property
    def title(self) -> str:
        """As its makers write it."""

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """What `--scope` may say; the first is taken when it says nothing."""

    def detect(self, here: Here) -> str:
        """The program or the folder by which it is known to be here; "" if it is not."""

    def plan(self, scope: Scope, here: Here) -> list[Edit]:
        """Everything we put into its files, in order."""

    def advice(self, scope: Scope, here: Here) -> list[str]:
        """What the person has to do after an install, a sentence each."""
