"""The few files to start a task from: what is asked, and what is answered."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal, TypeAlias, get_args

from triseek.model.project_memory import ProjectMemory  # noqa: TC001 - schemas read the types

Intent: TypeAlias = Literal["bugfix", "review"]
Reason: TypeAlias = Literal[
    "changed_file",
    "config_like",
    "content_match",
    "definition",
    "fixture_like",
    "frequently_used",
    "named_in_goal",
    "path_match",
    "source_adjacent",
    "test_adjacent",
]
"""Why a file is in a pack; docs/concepts/context-pack.md says what each word means."""

INTENTS: tuple[Intent, ...] = get_args(Intent)
REASONS: tuple[Reason, ...] = get_args(Reason)
BUDGET_TOKENS = 1200
BUDGET_TOKENS_MAX = 4000
FILES = 4
FILES_MAX = 12
SNIPPETS_MAX = 3
"""Lines shown of one file, at most."""
PREVIEW_CHARACTERS = 180
"""Of a line, at most; a longer one ends in an ellipsis."""
GOAL_CHARACTERS = 500
"""Of the goal, in the answer; all of it is read, up to a limit of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextPackRequest:
    """Choose a small, bounded starting set for a task: ranked files, telling lines, next steps.

    Use when a bug fix or a review begins, instead of several greps. A trailhead, not a dump.
    Example: {"goal": "fix auth panic for service accounts", "intent": "bugfix"}.
    """

    __pydantic_config__: ClassVar = {"use_attribute_docstrings": True, "extra": "forbid"}

    goal: str
    """In words: a sentence, an error message, a stack trace, names of symbols or files."""
    intent: str = "bugfix"
    """`bugfix`: sources to mend come first. `review`: changed files, then their tests."""
    budget_tokens: int = BUDGET_TOKENS
    """Of all items together, see `ContextPack.estimated_tokens`; 1 to 4000, else cut to that."""
    max_files: int = FILES
    """1 to 12, else cut to that."""
    changed_files: tuple[str, ...] = ()
    """Relative to the root or absolute; beside what git says is not committed."""
    memory: bool = False
    """Add, within the budget, what was remembered of this project."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snippet:
    """A line worth seeing."""

    line: int
    """From 1."""
    column: int
    """Byte where the first match begins, from 1."""
    preview: str
    """The line without its end and what surrounds it, or as much as is shown of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PackItem:
    """A file worth opening."""

    path: str
    """Below the root, as JSON can say it: bytes that are no UTF-8 are replacement characters."""
    score: float
    """One decimal; compares within one pack only."""
    reasons: tuple[Reason, ...]
    """Sorted."""
    snippets: tuple[Snippet, ...] = ()
    """Best line first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextPack:
    """A small ranked start for a task, within a budget."""

    version: str = "1"
    repo_root: str
    intent: Intent
    goal: str
    """On one line and clipped."""
    budget_tokens: int
    max_files: int
    estimated_tokens: int
    """The items' JSON, compact and with its commas: characters / 4, rounded up item by item."""
    items: tuple[PackItem, ...]
    """Best first."""
    suggested_next_steps: tuple[str, ...]
    truncated: bool
    """Whether a file that matched, or a line of a file shown, was left out for want of room."""

    def envelope(self) -> dict[str, Any]:
        """The answer as agents get it, ready for JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextPackWithMemory(ContextPack):
    """A context pack to which the memory of the project was added."""

    memory: ProjectMemory
    """What the project's palace has on the goal; a part of the budget and of the estimate."""
