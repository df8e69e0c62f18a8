"""Conditions of requests as SQL."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

Parameter: TypeAlias = "str | int | float | None"
_TYPES_AS_CONCEPTS = ("discovery", "change")
"""Types that the contract lists as concepts; nobody stores them as such."""


@dataclass(slots=True)
class Where:
    """Conditions that must all hold, and their parameters."""

    conditions: list[str] = field(default_factory=list)
    parameters: list[Parameter] = field(default_factory=list)

    def add(self, condition: str, *parameters: Parameter) -> None:
        """Add a condition."""
        self.conditions.append(condition)
        self.parameters += parameters

    @property
    def sql(self) -> str:
        """The conditions as one."""
        return " AND ".join(f"({condition})" for condition in self.conditions) or "1"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordFilter:
    """Which records are asked for; empty fields do not restrict."""

    project: str = ""
    """A project's name, or its root."""
    start_ms: int | None = None
    end_ms: int | None = None
    types: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    """Any of these, exactly."""
    files: tuple[str, ...] = ()
    """Any of these; paths in any spelling, or parts of paths."""

    def of_observations(self, now_ms: int, table: str = "o") -> Where:
        """Return the conditions for rows of `observations`, without the hidden ones."""
        where = self._common(table, table)
        where.add(visible(table), now_ms)
        if self.types:
            where.add(f"{table}.type IN ({_marks(self.types)})", *self.types)
        if self.concepts:
            as_types = [name for name in self.concepts if name in _TYPES_AS_CONCEPTS]
            where.add(
                f"EXISTS (SELECT 1 FROM json_each({_valid_list(f'{table}.concepts')})"  # noqa: S608
                f" WHERE value IN ({_marks(self.concepts)}))"
                f" OR {table}.type IN ({_marks(as_types)})",
                *self.concepts,
                *as_types,
            )
        if self.files:
            names_file, parameters = files_condition(self.files)
            named = f"SELECT f.observation_id FROM observation_files f WHERE {names_file}"  # noqa: S608
            where.add(f"{table}.id IN ({named})", *parameters)
        return where

    def of_summaries(self, table: str = "o") -> Where:
        """Return the conditions for rows of `session_summaries` beside their session `s`."""
        return self._common(table, "s")

    def of_prompts(self, table: str = "o") -> Where:
        """Return the conditions for rows of `user_prompts` beside their session `s`.

        What begins a sub-agent was written by an agent, and not by the user.
        """
        where = self._common(table, "s")
        where.add("NOT s.is_sub_agent")
        return where

    def _common(self, table: str, owner: str) -> Where:
        where = Where()
        if self.project:
            where.add(f"{owner}.project = ? OR {owner}.root = ?", self.project, self.project)
        if self.start_ms is not None:
            where.add(f"{table}.created_at_epoch >= ?", self.start_ms)
        if self.end_ms is not None:
            where.add(f"{table}.created_at_epoch <= ?", self.end_ms)
        return where


def visible(table: str) -> str:
    """Return the condition for observations that are shown; its parameter is the time now."""
    return (
        f"{table}.superseded_by IS NULL"
        f" AND ({table}.valid_until IS NULL OR {table}.valid_until > ?)"
    )


def files_condition(files: tuple[str, ...]) -> tuple[str, list[Parameter]]:
    """Return the condition for rows `f` of `observation_files` that name one of some files.

    A stored path may be absolute, or relative to its project. It is named by itself, by a part of
    it, and by an absolute path that ends in it.
    """
    conditions, parameters = [], list[Parameter]()
    for file in files:
        path = os.path.normpath(file)
        part = path.removeprefix("./") if path != "." else file
        conditions.append("f.path LIKE ? ESCAPE '\\'")
        parameters.append(f"%{escaped(part)}%")
        if os.path.isabs(path):  # noqa: PTH117 - text, of no file of this machine
            conditions.append("substr(?, -length(f.path) - 1) = '/' || f.path")
            parameters.append(path)
    return " OR ".join(conditions), parameters


def escaped(text: str) -> str:
    r"""Return a text as it stands for itself in LIKE with `ESCAPE '\'`."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _valid_list(column: str) -> str:
    return f"iif(json_valid({column}), {column}, '[]')"


def _marks(values: Sequence[str]) -> str:
    return ", ".join("?" * len(values))
