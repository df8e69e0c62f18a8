"""What an agent's tools do, as a table, and events made from their arguments by it."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from triseek.agents.patches import edits_of_patch
from triseek.agents.payloads import exit_status
from triseek.agents.payloads.fields import Fields, absolute
from triseek.agents.transcript_values import arguments
from triseek.model.conversation import Edit, ToolEvent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_PATHS = ("path", "filePath", "file_path")
_NO_FIELDS: Mapping[str, tuple[str, str]] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """The names of an agent's tools, and of their arguments."""

    shells: frozenset[str] = frozenset()
    """Tools that run a command."""
    command: tuple[str, ...] = ("command",)
    """Arguments with the command: a text, or a list of them."""
    reads: frozenset[str] = frozenset()
    """Tools that read files."""
    edits: Mapping[str, tuple[str, str]] = field(default_factory=lambda: _NO_FIELDS)
    """Tools that change a file → the arguments with the old text and the new one."""
    patches: frozenset[str] = frozenset()
    """Tools that apply a patch."""
    patch: tuple[str, ...] = ("input", "patch", "patchText")
    """Arguments with the patch."""
    paths: tuple[str, ...] = _PATHS
    """Arguments with the path."""
    several: tuple[str, ...] = ()
    """Arguments with a list of paths, or of objects that have one."""
    items: str = "edits"
    """The argument with a list of edits of one file."""

    def event(
        self,
        conversation: str,
        use: str,
        name: str,
        values: object,
        cwd: str,
    ) -> ToolEvent:
        """Return the event of a use that begins.

        Args:
            conversation: Its conversation's id.
            use: Its id.
            name: The tool.
            values: The arguments, of any type; a text is a patch.
            cwd: The folder from which paths are relative.
        """
        given = Fields(values) if isinstance(values, dict) else Fields()
        if isinstance(values, str):
            given = Fields({self.patch[0]: values})
        command = self._command(given) if name in self.shells else ""
        edits = tuple(self._edits(name, given, cwd))
        held = self.command if command else self._held(name) if edits else ()
        return ToolEvent(
            conversation=conversation,
            id=use,
            name=name,
            input=arguments(given, held),
            command=command,
            reads=tuple(dict.fromkeys(self._paths(given, cwd))) if name in self.reads else (),
            edits=edits,
        )

    def _command(self, given: Fields) -> str:
        for name in self.command:
            value = given.get(name)
            parts = value if isinstance(value, list) else [value]
            texts = [text for text in map(_command_text, parts) if text]
            if texts:
                return "\n".join(texts)
        return ""

    def _held(self, name: str) -> tuple[str, ...]:
        return (*self.patch, *self.edits.get(name, ()), self.items)

    def _paths(self, given: Fields, cwd: str) -> Iterator[str]:
        for name in self.several:
            value = given.get(name)
            for item in value if isinstance(value, list) else ():
                text = item if isinstance(item, str) else None
                fields = Fields(item) if isinstance(item, dict) else Fields()
                if path := _place(text or fields.text(*self.paths), cwd):
                    yield path
        if path := _place(given.text(*self.paths), cwd):
            yield path

    def _edits(self, name: str, given: Fields, cwd: str) -> Iterator[Edit]:
        if name in self.patches:
            yield from edits_of_patch(given.text(*self.patch), cwd)
        elif name in self.edits and (path := _place(given.text(*self.paths), cwd)):
            old, new = self.edits[name]
            for part in given.objects(self.items) or [given]:
                yield Edit(path=path, before=part.text(old), after=part.text(new))


def exit_status_of(values: Fields, *names: str) -> int | None:
    """Return the first exit status among fields; None if there is none, or no system has it."""
    status = exit_status.of_field(values, *names)
    return status if status is not None and 0 <= status < exit_status.STATUS_MAX else None


def _place(path: str, cwd: str) -> str:
    """Return a path made absolute; "" if it cannot be, because the folder is unknown."""
    full = absolute(path, cwd)
    return full if os.path.isabs(full) else ""  # noqa: PTH117


def _command_text(value: object) -> str:
    """Return a command: a text, or an object with a program and its arguments."""
    if isinstance(value, str):
        return value
    given = Fields(value) if isinstance(value, dict) else Fields()
    words = given.get("args")
    rest = [word for word in words if isinstance(word, str)] if isinstance(words, list) else []
    return " ".join([given.text("command"), *rest]).strip()
