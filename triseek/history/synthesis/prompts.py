"""What a prompt asks for, as far as words tell: to mend something, to rework it, to commit it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from triseek.history.synthesis.session_events import SessionView

PROMPT_MAX, PROMPT_END = 2_000, 400
"""Characters of a prompt that is no plan, and those at its end that are examined."""
PLAN_HEAD = 160
"""Characters of a plan that are examined: its title."""
_PROBLEM = re.compile(
    r"\b(?:bugs?|fix(?:e[sd])?|broken|breaks|errors?|fail(?:s|ed|ing|ures?)?|crash\w*|wrong"
    r"|issues?|missing|(?:is|are|does|do|did|was|has|have)(?:n[o']t| not)|severity"
    r"|not (?:being|working))\b",
    re.IGNORECASE,
)
_REWORK = re.compile(
    r"\b(?:refactor\w*|simplif\w+|migrate|clean(?:[ -]?up)?|dedup\w*|extract|consolidate|split"
    r"|rename|reorgani[sz]e|comments?|feedback)\b",
    re.IGNORECASE,
)
_COMMIT = re.compile(r"\b(?:commits?|PR|pull request|rebase|squash)\b")


def reports_problem(view: SessionView, number: int) -> bool:
    """Return whether a prompt, or the title of a plan, says that something does not work."""
    return _PROBLEM.search(_asked(view, number)) is not None


def asks_rework(view: SessionView, number: int) -> bool:
    """Return whether a prompt asks to rework what is there, or to answer a review."""
    return _REWORK.search(_asked(view, number)) is not None


def asks_commit(view: SessionView, number: int) -> bool:
    """Return whether a prompt asks for commits: edits are then taken back to be made apart."""
    return _COMMIT.search(_asked(view, number)) is not None


def _asked(view: SessionView, number: int) -> str:
    """Return the words of a prompt that say what it is about."""
    text = next((said.text for said in view.prompts if said.prompt == number), "")
    return text[-PROMPT_END:] if len(text) < PROMPT_MAX else text[:PLAN_HEAD]
