r"""Lines that begin with stray continuation bytes, for which the line before matters.

Rust decodes the character before a position by stepping back over continuation bytes (0x80 to
0xBF). From stray ones at the beginning of a line it arrives at the preceding newline, and decodes a
newline instead of a broken character. `\B` and `\b{start-half}`, which is half of `-w`, hold there
in a longer text, but not when the line is searched alone.

ripgrep 15.1.0 searches a line alone in some searches and after the preceding lines in others:

- if a pattern has literals, it looks for these, and then at the line alone (not with `-U`);
- otherwise it continues from the end of the last matching line, and sees what follows it;
- with `--passthru` it searches every line alone;
- to show the matches of a line, it sees all that precedes the line;
- in each case it sees only its buffer. A last line without a newline is searched separately, and
  so are the first three bytes, which it reads to look for a byte-order mark, up to the last
  newline in them.

So whether a line matches may depend on the line before. This module and its callers handle that.
Not emulated are ripgrep's buffers (64 KiB) and the files that it maps (some of those named).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.query.pattern import with_pattern
from triseek.query.regex.syntax import Assertion, any_node
from triseek.query.trigrams import literals

if TYPE_CHECKING:
    from triseek.query.pattern import Pattern
    from triseek.query.regex.syntax import Node

FIRST_READ = 3
"""Bytes of a file in ripgrep's first read."""
NO_FIRST_READ = 0
"""`first_read` of a file that begins with a byte-order mark, which ripgrep then removes."""
MAPPED = -1
"""`first_read` of a file that ripgrep maps."""
_LOOKING_BACK = ("not_word", "word_start_half")
"""Assertions that fail after a broken character and may hold after a newline."""


def is_stray(line: bytes, begin: int = 0) -> bool:
    """Return whether the line that begins at `begin` starts with a continuation byte."""
    return 0x80 <= line[begin] < 0xC0 if begin < len(line) else False


def sees_back(line: bytes, offset: int, first_read: int = FIRST_READ) -> bool:
    """Return whether ripgrep sees preceding lines when it searches this one.

    Args:
        line: With its terminator.
        offset: Of the line in the text.
        first_read: Bytes of ripgrep's first read, or `MAPPED`.
    """
    if first_read == MAPPED:
        return offset > 0
    within_first = offset > 0 and offset + len(line) <= first_read
    return line.endswith(b"\n") and (offset > first_read or within_first)


@with_pattern
def looks_back(pattern: Pattern) -> bool:
    """Return whether the newline before a stray byte can affect the matches of a pattern."""
    return any_node(pattern.tree, _looks_back)


@with_pattern
def sees_line_before(pattern: Pattern) -> bool:
    """Return whether this also affects ripgrep's decision whether a line matches."""
    alone = literals.required(pattern.tree) and not pattern.spec.multiline
    return looks_back(pattern) and not alone


def _looks_back(node: Node) -> bool:
    return isinstance(node, Assertion) and node.unicode and node.kind in _LOOKING_BACK
