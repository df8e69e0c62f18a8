"""The shell commands of a log: how each ended last, and which of them are tests and checks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from triseek.model.session import LogEntry

_PREFIX = (
    r"(?:^|[;&|(]\s*)(?:\w+=\S*\s+)*(?:(?:time|nice|sudo|timeout \S+|env|npx|uv run|poetry run|"
)
_PREFIX += r"pdm run|hatch run|bundle exec|pipenv run)\s+)*(?:\S*/)?"
_CHECK = re.compile(
    _PREFIX + r"(?:"
    r"pytest|py\.test|tox|nox|rspec|phpunit|jest|vitest|mocha|ava|ctest|cypress|playwright test"
    r"|python[\d.]* -m (?:pytest|unittest|mypy|ruff|flake8)|(?:\S*/)?manage\.py test"
    r"|go (?:test|vet|build)|cargo (?:\+\S+ )?(?:test|nextest|check|build|clippy|bench)"
    r"|(?:npm|yarn|pnpm|bun|deno)(?: run)? (?:\S*:)?(?:test|lint|build|check|type-?check)\b\S*"
    r"|(?:make|just|task|rake|gradlew?|mvnw?|bazel|dotnet|mix|swift|sbt|ninja|meson)"
    r"\b[^;&|]*\b(?:tests?|check|lint|build|verify|ci|compile)\b\S*"
    r"|make(?=\s*(?:$|[;&|]))|mypy|pyright|ruff|flake8|pylint|eslint|tsc|rubocop|golangci-lint|shellcheck"
    r")(?=\s|$|[;&|)])"
)
"""Commands whose failure says that the work is not done."""
_LOOKS = re.compile(
    r"(?:\s*(?:cd|ls|ll|pwd|echo|printf|which|type|cat|head|tail|wc|tree|find|env|date|true|sleep"
    r"|stat|file|grep|rg|sed -n|jq|triseek"
    r"|git (?:status|diff|log|show|branch|rev-parse|ls-files|blame|remote|stash list)"
    r")\b[^;&|>]*(?:;|&&|\|\||\||$))+"
)
"""Commands that only look."""


@dataclass(slots=True)
class RunCommand:
    """A command in one folder, and how it ended last."""

    text: str
    folder: str = ""
    """Below the root; "" for the root."""
    entry_id: int = 0
    """The last run."""
    runs: int = 0
    exit_status: int | None = None
    failed: bool | None = None
    """None if it is not known how it ended."""

    @property
    def is_check(self) -> bool:
        """Whether it is a test, a build, a linter or the like."""
        return _CHECK.search(self.text) is not None

    @property
    def only_looks(self) -> bool:
        """Whether it only shows something."""
        return _LOOKS.fullmatch(self.text) is not None


class CommandRuns:
    """Gathers the commands of a log, entry by entry."""

    def __init__(self) -> None:
        self._by_text: dict[tuple[str, str], RunCommand] = {}
        self._by_call: dict[str, tuple[RunCommand, int]] = {}

    def add(self, entry: LogEntry) -> None:
        """Add a run, or the exit status of an earlier one; ignore what is not valid."""
        payload = entry.payload
        call = _text(payload, "call")
        if entry.kind == "command_status":
            ended = self._by_call.get(call)
            if ended is not None and ended[0].entry_id == ended[1]:  # it has not run again since
                _end(ended[0], payload)
            return
        text = " ".join(_text(payload, "command").split())
        if not text:
            return
        folder = _text(payload, "folder")
        run = self._by_text.pop((text, folder), None) or RunCommand(text, folder)
        self._by_text[text, folder] = run
        run.entry_id = entry.entry_id
        run.runs += 1
        _end(run, payload)
        if call:
            self._by_call[call] = run, entry.entry_id

    @property
    def newest_first(self) -> list[RunCommand]:
        """The commands, the one that ran last first."""
        return list(reversed(self._by_text.values()))


def _end(run: RunCommand, payload: Mapping[str, object]) -> None:
    status, failed = payload.get("exit_status"), payload.get("failed")
    run.exit_status = status if type(status) is int else None
    run.failed = failed if isinstance(failed, bool) else None


def _text(payload: Mapping[str, object], name: str) -> str:
    value = payload.get(name)
    return value if isinstance(value, str) else ""
