r"""Lines that begin inside a character: what stands before them may be the line end before.

Rust decodes what stands before a place by stepping back over continuation bytes (0x80 to 0xBF).
Behind stray ones at the beginning of a line it arrives at the newline before them, and what
stands there is a newline, no broken character: `\B` and `\b{start-half}`, which is half of `-w`,
hold there in a text that they do not hold in when the line is looked at alone.

ripgrep 14.1.0 looks at a line alone in some searches and behind the lines before it in others:

- where a pattern has literals it looks for these, and then at the line alone (not with `-U`);
- else it searches on from the end of the line that matched last, and sees what comes after it;
- with `--passthru` it looks at every line alone;
- where it shows a line's matches it sees all that stands before;
- and all that only in what it holds of the file. A last line that no newline ends comes by
  itself; and so do the first three bytes, which it reads to look for a byte-order mark, as far
  as there is a newline among them.

So whether a line matches may depend on the line before. This file and its callers know of it;
what nobody emulates are ripgrep's buffers (64 KiB) and files it maps (some that are named).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.query import literals
from triseek.query.fold import fold
from triseek.query.keeping import with_pattern
from triseek.query.syntax import Look

if TYPE_CHECKING:
    from triseek.query.pattern import Pattern
    from triseek.query.syntax import Node

FIRST_READ = 3
"""Bytes that ripgrep reads of a file first."""
NO_FIRST_READ = 0
"""Of one that begins with a byte-order mark, which it has then taken off."""
MAPPED = -1
"""Of one that it maps."""
_LOOKING_BACK = ("not_word", "word_start_half")
"""What does not hold behind a broken character and may hold behind a newline."""


def is_stray(line: bytes, begin: int = 0) -> bool:
    """Return whether the line that begins there begins with a continuation byte."""
    return 0x80 <= line[begin] < 0xC0 if begin < len(line) else False


def sees_back(line: bytes, offset: int, first_read: int = FIRST_READ) -> bool:
    """Return whether a line (with its terminator) at an offset of a text has others in sight."""
    if first_read == MAPPED:
        return offset > 0
    within_first = offset > 0 and offset + len(line) <= first_read
    return line.endswith(b"\n") and (offset > first_read or within_first)


@with_pattern
def looks_back(pattern: Pattern) -> bool:
    """Return whether the end of the line before a stray byte means anything to a pattern."""
    return fold(pattern.tree, _looks_back)


@with_pattern
def sees_line_before(pattern: Pattern) -> bool:
    """Return whether ripgrep sees it, too, when it asks whether a line matches."""
    alone = literals.required(pattern.tree) and not pattern.spec.multiline
    return looks_back(pattern) and not alone


def _looks_back(node: Node, below: list[bool]) -> bool:
    return any(below) or (isinstance(node, Look) and node.unicode and node.kind in _LOOKING_BACK)
