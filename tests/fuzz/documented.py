"""The differences that docs/reference/differences.md describes, each known by a narrow rule."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.fuzz.compare import Difference


class Documented(NamedTuple):
    heading: str
    """The heading in differences.md that describes it."""
    applies: Callable[[Difference], bool]


def heading_of(difference: Difference) -> str | None:
    """The heading that describes a difference, None if none does."""
    for rule in RULES:
        if rule.applies(difference):
            return rule.heading
    return None


def _brace(difference: Difference) -> bool:
    """ripgrep refuses a repetition, and triseek reads its brace as text."""
    refused = difference.theirs.status == 2 and b"error: repetition" in difference.theirs.err
    return refused and any("{" in pattern for pattern in difference.case.patterns)


INDEX_REFUSALS = (
    b"there is no index for",
    b"the index does not hold the files this",
    b"the index cannot tell what does not match",
)


def _index_refused(difference: Difference) -> bool:
    """`--engine index` was asked for what an index cannot answer, and says which."""
    refused = any(message in difference.ours.err for message in INDEX_REFUSALS)
    return difference.road == "index" and difference.ours.status == 2 and refused


_DOTTED = re.compile(r"\./\.(/|$)")
_RULES_FILES = (b".gitignore", b".ignore", b".rgignore", b"exclude", b"ignore", b"rules")


def _dotted(difference: Difference) -> bool:
    """An operand begins with `./.`, and a glob in an ignore file holds a slash."""
    case = difference.case
    entries = [*case.tree.entries, *case.tree.edits]
    rules = (entry.data for entry in entries if os.path.basename(entry.path) in _RULES_FILES)
    slashed = any(b"/" in data for data in rules)
    return slashed and any(map(_DOTTED.match, case.operands))


RULES = (
    Documented("A brace that repeats nothing", _brace),
    Documented("`--engine index`", _index_refused),
    Documented("Paths that begin with `././`", _dotted),
)
