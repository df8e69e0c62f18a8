"""`-r`: matches shown replaced, with `$1` and `$name` for groups.

Where a match is, the pattern says; what its groups hold, RE2 says, asked for the same match at
the same place. Should RE2 not read the pattern as ripgrep does, or not find the same match,
the replacement is refused by name rather than shown wrong.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from triseek.errors import InvalidRequest

if TYPE_CHECKING:
    from triseek.model.search import PatternSpec

REFERENCE = re.compile(rb"\$(?:(\$)|([0-9A-Za-z_]+)|\{([^}]*)\})")
"""`$$`, `$name` or `${name}`; the name is the longest run of letters, digits and `_`."""


class Replacer:
    """Replaces the matches of one pattern."""

    def __init__(self, replacement: bytes, spec: PatternSpec) -> None:
        self._pieces = _pieces(replacement)
        self._groups = _needs_groups(self._pieces) and not spec.fixed
        self._regex = _compiled(spec) if self._groups else None
        if self._regex is not None and not any(
            _key(self._regex, name) is not None for _, name in self._pieces if name is not None
        ):
            self._regex = None  # the pattern has none of the groups, so all of them are empty
        self._ascii_alone = spec.unicode and _differs_beyond_ascii(spec)
        """Whether RE2 reads the pattern as ripgrep does in lines of ASCII alone."""

    def replaced(
        self, line: bytes, spans: list[tuple[int, int]]
    ) -> tuple[bytes, list[tuple[int, int]]]:
        """The line with each span replaced, and where the replacements are in it."""
        made, places, at = bytearray(), [], 0
        for begin, end in spans:
            made += line[at:begin]
            start = len(made)
            made += self._expanded(line, begin, end)
            places.append((start, len(made)))
            at = end
        made += line[at:]
        return bytes(made), places

    def _expanded(self, line: bytes, begin: int, end: int) -> bytes:
        match = self._match(line, begin, end) if self._regex else None
        return b"".join(
            piece if name is None else _group(match, name, line[begin:end])
            for piece, name in self._pieces
        )

    def _match(self, line: bytes, begin: int, end: int) -> Any:  # noqa: ANN401 - re2 has no types
        regex = self._regex
        match = regex.match(line, begin) if regex else None
        if self._ascii_alone and not line.isascii():
            match = None
        if match is None or match.end() != end:
            raise InvalidRequest(
                "-r (--replace): the groups of this pattern cannot be told exactly here",
                next_step="Use $0 (the whole match), or run `rg -r`.",
            )
        return match


def _pieces(replacement: bytes) -> list[tuple[bytes, str | None]]:
    """Literal pieces and group names, in order."""
    pieces: list[tuple[bytes, str | None]] = []
    at = 0
    for reference in REFERENCE.finditer(replacement):
        pieces.append((replacement[at : reference.start()], None))
        if reference[1]:
            pieces.append((b"$", None))
        else:
            name = reference[2] if reference[2] is not None else reference[3]
            pieces.append((b"", name.decode()))
        at = reference.end()
    return [*pieces, (replacement[at:], None)]


def _needs_groups(pieces: list[tuple[bytes, str | None]]) -> bool:
    return any(name is not None and name != "0" for _, name in pieces)


def _group(match: Any, name: str, whole: bytes) -> bytes:  # noqa: ANN401 - re2 has no types
    """What a group holds; nothing for one that is not there, as ripgrep has it."""
    if name.isdigit() and int(name) == 0:
        return whole
    if match is None:
        return b""
    key = _key(match.re, name)
    return b"" if key is None else match.group(key) or b""


def _key(regex: Any, name: str) -> int | None:  # noqa: ANN401 - re2 has no types
    """Return the number of the group with this number or name; None if there is none."""
    if name.isdigit():
        number = int(name)
        return number if 0 < number <= regex.groups else None
    known = regex.groupindex
    number = known.get(name, known.get(name.encode()))
    return None if number is None else int(number)


def _compiled(spec: PatternSpec) -> Any:  # noqa: ANN401 - re2 has no types
    import re2

    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = not _folds(spec)
    options.never_nl = not spec.multiline
    each = [f"(?:{pattern})" for pattern in spec.patterns]
    body = each[0] if len(each) == 1 else "|".join(each)
    flags = "ms" if spec.multiline and spec.dotall else "m"
    try:
        return re2.compile(f"(?{flags}:{body})".encode(), options)
    except re2.error as error:
        raise InvalidRequest(
            "-r (--replace): the groups of this pattern cannot be told here",
            next_step="Use $0 (the whole match), or run `rg -r`.",
        ) from error


_UNICODE_CLASS = re.compile(r"\\[wWdDsSbB<>]|\[\[:|\(\?[a-z-]*i")


def _differs_beyond_ascii(spec: PatternSpec) -> bool:
    r"""Return whether a pattern holds `\w` and the like, which are ASCII's to RE2."""
    return _folds(spec) or any(_UNICODE_CLASS.search(pattern) for pattern in spec.patterns)


def _folds(spec: PatternSpec) -> bool:
    if spec.case == "smart":
        return not any(char.isupper() for pattern in spec.patterns for char in pattern)
    return spec.case == "insensitive"
