"""The 13 families as an agent would ask them, and what has to be answered."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from bench import command
from bench.engines.ripgrep import flags
from triseek.engine.service import Service
from triseek.model.search import ScopeSpec

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bench.model import Case


class Question(NamedTuple):
    """A case in the words of a tool."""

    case: Case
    tool: str
    arguments: dict[str, Any]

    @property
    def name(self) -> str:
        """The name of its case, as progress shows it."""
        return self.case.name


class Counted(NamedTuple):
    """How much matches."""

    files: int
    lines: int


def question(case: Case) -> Question:
    """The call an agent would make, forced to be executed each time."""
    arguments: dict[str, Any] = {"force_refresh": True}
    if case.mode == "paths":
        glob = case.globs[0] if len(case.globs) == 1 else "**"
        words = case.globs[0].strip("*") if len(case.globs) > 1 else glob
        return Question(case, "find_files", {**arguments, "query": words})
    arguments["mode"] = "literal" if case.fixed else "regex"
    if case.globs:
        arguments |= {"path_query": " ".join(case.globs), "content_query": case.patterns[0]}
        return Question(case, "search_path_and_content", arguments)
    return Question(case, "search_content", {**arguments, "query": case.patterns[0]})


def beyond(root: Path, rg: str) -> list[str]:
    """The well-known hidden files that the tools search and plain rg does not."""
    listed = command.run([rg, "--no-config", "--files"], cwd=root, keep=True).output.splitlines()
    with Service() as service:
        ours = service.engine(str(root), exact=True).list_files(ScopeSpec(allowlist=True))
        return sorted(path.decode() for path in set(ours) - set(listed))


def counted(case: Case, root: Path, rg: str, more: Sequence[str]) -> Counted:
    """What rg counts, in its own files and in those it is shown beside them."""
    total = _counted([rg, "--no-config", "--json", *_flags(case)], root)
    if not more:
        return total
    here = _counted([rg, "--no-config", "--json", *_flags(case)[:-1], *more], root)
    return Counted(total.files + here.files, total.lines + here.lines)


def _flags(case: Case) -> list[str]:
    kept = [flag for flag in flags(case) if flag not in ("-c", "-n", "--no-heading")]
    return [flag for flag in kept if flag not in ("--color", "never")]


def _counted(argv: list[str], root: Path) -> Counted:
    output = command.run(argv, cwd=root, keep=True).output
    last = output.rstrip(b"\n").rpartition(b"\n")[2]
    stats = json.loads(last)["data"]["stats"]
    return Counted(stats["searches_with_match"], stats["matched_lines"])
