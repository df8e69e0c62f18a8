"""The patterns of a command: the first word, -e, and the lines of -f."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.errors import InvalidQuery, InvalidRequest

if TYPE_CHECKING:
    from triseek.cli.command_context import CommandContext
    from triseek.cli.low_args import LowArgs

STDIN = "-"
"""The name of standard input, as a path."""


def read_patterns(
    low: LowArgs, positional: list[str], context: CommandContext
) -> tuple[tuple[str, ...], bool]:
    """Return all patterns, without duplicates, and whether they used up standard input."""
    if not low.patterns:
        if not positional:
            raise InvalidQuery("no pattern given", next_step="Write triseek PATTERN [PATH…].")
        return (_utf8(positional.pop(0)),), False
    patterns: dict[str, None] = {}
    used_stdin = False
    for source, value in low.patterns:
        if source == "text":
            patterns[value] = None
        else:
            if value == STDIN and used_stdin:
                raise InvalidRequest("-f -: standard input has already been read")
            used_stdin = used_stdin or value == STDIN
            patterns.update(dict.fromkeys(_lines_of(value, context)))
    return tuple(patterns), used_stdin


def _utf8(pattern: str) -> str:
    try:
        pattern.encode()
    except UnicodeEncodeError:
        raise InvalidQuery(
            "the pattern is not valid UTF-8", next_step=r"Write bytes as (?-u:\xFF)."
        ) from None
    return pattern


def _lines_of(path: str, context: CommandContext) -> list[str]:
    try:
        if path == STDIN:
            raw = context.read_stdin()
        else:
            context.stat(path)  # a FIFO is not read on behalf of another process
            with open(context.at(path), "rb") as file:
                raw = file.read()
    except OSError as error:
        raise InvalidRequest(
            f"-f {path}: {error.strerror}",
            next_step="Name a file that can be read; text that begins with a dash needs -e.",
        ) from None
    lines = raw.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    patterns = []
    for number, line in enumerate(lines, start=1):
        try:
            patterns.append(line.removesuffix(b"\r").decode())
        except UnicodeDecodeError as error:
            raise InvalidQuery(
                f"-f {path}: line {number} is not valid UTF-8 at byte {error.start + 1}"
            ) from None
    return patterns
