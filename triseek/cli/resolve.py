"""`LowArgs` + the world → `Plan`: what the words mean here and now.

The world is the working folder, standard input and output, the environment and the pattern
files named by -f. Everything after this step is decided; ripgrep's `HiArgs` is the model.
"""

from __future__ import annotations

import os
import stat
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from triseek.cli.render.color import Palette
from triseek.cli.render.look import Look
from triseek.errors import InvalidQuery, InvalidRequest
from triseek.model.search import PatternSpec, ScopeSpec, SearchRequest

if TYPE_CHECKING:
    from triseek.cli.args import LowArgs
    from triseek.model.search import EngineChoice, Mode

Kind: TypeAlias = Literal["tree", "file", "stdin", "missing"]
STDIN = "-"


class Operand(NamedTuple):
    """One thing to search, as it was typed."""

    typed: str
    """Empty for the working folder nobody named."""
    kind: Kind
    fault: str = ""
    """Why a missing one is missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A search, decided."""

    shows: str
    """standard, count, count_matches, files, files_without_match, json, envelope or list."""
    operands: tuple[Operand, ...]
    request: SearchRequest
    look: Look
    quiet: bool = False
    stats: bool = False
    include_zero: bool = False
    binary: str = "auto"
    """auto, text or suppress, as in `LowArgs`."""
    messages: bool = True
    eager: bool = False
    footer: bool = False
    """End with a line about totals, road and time: on a terminal only."""


class World(NamedTuple):
    """What the decision depends on besides the words; a test can make one up."""

    terminal: bool
    """Standard output is a terminal."""
    width: int
    """Its columns."""
    plain: bool
    """The environment asks for no colour."""
    stdin_readable: bool
    """Standard input is a file, a pipe or a socket: something to search."""

    @classmethod
    def here(cls) -> World:
        """The world this process is in."""
        return cls(
            terminal=sys.stdout.isatty(),
            width=_width(),
            plain="NO_COLOR" in os.environ or os.environ.get("TERM", "dumb") == "dumb",
            stdin_readable=_stdin_readable(),
        )


def resolve(low: LowArgs, world: World) -> Plan:
    """Give the words their meaning.

    Raises:
        InvalidQuery: a pattern is missing or is no text.
        InvalidRequest: flags that make no sense, alone or together.
    """
    searches = low.mode != "list"
    positional = list(low.positional)
    patterns, used_stdin = _patterns(low, positional) if searches else ((), False)
    operands = _operands(positional, world, searches=searches, used_stdin=used_stdin)
    shows = _shows(low)
    look, footer = _look(low, world, operands, shows)
    return Plan(
        shows=shows,
        operands=operands,
        request=_request(low, patterns, look, shows),
        look=look,
        quiet=low.quiet,
        stats=low.stats or shows == "json",
        include_zero=low.include_zero,
        binary=low.binary,
        messages=not low.no_messages,
        eager=low.line_buffered or world.terminal,
        footer=footer,
    )


def as_explicit(request: SearchRequest) -> SearchRequest:
    """The request for a file that was named: no rule hides it, and binary is no obstacle."""
    scope = ScopeSpec(hidden=True, no_ignore=True, text=True)
    return replace(request, scope=scope)


# Patterns


def _patterns(low: LowArgs, positional: list[str]) -> tuple[tuple[str, ...], bool]:
    """All patterns, none twice, and whether reading them used up standard input."""
    if not low.patterns:
        if not positional:
            raise InvalidQuery("no pattern given", next_step="Write triseek PATTERN [PATH…].")
        return (_utf8(positional.pop(0)),), False
    found: dict[str, None] = {}
    used_stdin = False
    for source, value in low.patterns:
        if source == "text":
            found[value] = None
        else:
            if value == STDIN and used_stdin:
                raise InvalidRequest("-f -: standard input has already been read")
            used_stdin = used_stdin or value == STDIN
            found.update(dict.fromkeys(_read_patterns(value)))
    return tuple(found), used_stdin


def _utf8(pattern: str) -> str:
    try:
        pattern.encode()
    except UnicodeEncodeError:
        raise InvalidQuery(
            "the pattern is not valid UTF-8", next_step=r"Write bytes as (?-u:\xFF)."
        ) from None
    return pattern


def _read_patterns(path: str) -> list[str]:
    try:
        if path == STDIN:
            raw = sys.stdin.buffer.read()
        else:
            with open(path, "rb") as file:
                raw = file.read()
    except OSError as error:
        raise InvalidRequest(
            f"-f {path}: {error.strerror}", next_step="Name a file that can be read."
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


# Operands


def _operands(
    typed: list[str], world: World, *, searches: bool, used_stdin: bool
) -> tuple[Operand, ...]:
    if typed:
        if used_stdin and STDIN in typed:
            raise InvalidRequest("standard input cannot be both patterns (-f -) and text (-)")
        return tuple(_operand(each, searches=searches) for each in typed)
    if searches and world.stdin_readable and not used_stdin:
        return (Operand("", "stdin"),)
    return (Operand("", "tree"),)


def _operand(typed: str, *, searches: bool) -> Operand:
    if typed == STDIN and searches:
        return Operand(typed, "stdin")
    try:
        mode = os.stat(typed).st_mode
    except OSError as error:
        return Operand(typed, "missing", f"{error.strerror} (os error {error.errno})")
    except ValueError:  # an embedded NUL
        return Operand(typed, "missing", "not a path")
    return Operand(typed, "tree" if stat.S_ISDIR(mode) else "file")


def _one_file(operands: tuple[Operand, ...]) -> bool:
    return len(operands) == 1 and operands[0].kind in ("file", "stdin")


def _stdin_readable() -> bool:
    try:
        mode = os.fstat(0).st_mode
    except OSError:
        return False
    return stat.S_ISREG(mode) or stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _width() -> int:
    columns = os.environ.get("COLUMNS", "")
    if columns.isdigit() and int(columns):
        return int(columns)
    try:
        return os.get_terminal_size(1).columns or 80
    except OSError:
        return 80


# Output


def _shows(low: LowArgs) -> str:
    if low.mode == "count_matches" and low.invert:
        return "count"
    if low.mode == "count" and low.only_matching:
        return "count_matches"
    return low.mode


def _look(
    low: LowArgs, world: World, operands: tuple[Operand, ...], shows: str
) -> tuple[Look, bool]:
    view = world.terminal and shows == "standard" and not low.quiet
    heading = not low.vimgrep and (world.terminal if low.heading is None else low.heading)
    column = low.vimgrep if low.column is None else low.column
    context = _context(low) != (0, 0)
    return Look(
        path=_with_filename(low, operands),
        heading=heading and shows == "standard",
        line_number=_line_number(low, world, operands, shows, column=column),
        column=column,
        byte_offset=low.byte_offset,
        only_matching=low.only_matching,
        per_match=low.vimgrep,
        trim=low.trim,
        max_columns=low.max_columns or None,
        max_columns_preview=low.max_columns_preview,
        context_separator=low.context_separator,
        match_separator=low.field_match_separator,
        field_context_separator=low.field_context_separator,
        file_separator=b"" if heading else low.context_separator if context else None,
        path_terminator=b"\0" if low.null else b"",
        path_separator=low.path_separator,
        line_end=b"\r\n" if low.crlf and shows != "list" else b"\n",
        palette=Palette(low.colors) if _colored(low, world) else _checked(low),
        replacement=None if low.replace is None else low.replace.encode(),
        context=context,
        invert=low.invert,
        multiline=low.multiline,
        stats=low.stats,
        clip=_clip(low, world, view=view),
    ), view and not low.stats


def _checked(low: LowArgs) -> None:
    """Colours nobody will see are still read, so that a mistake in them is found."""
    if low.colors:
        Palette(low.colors)


def _colored(low: LowArgs, world: World) -> bool:
    if low.color == "auto":
        return world.terminal and not world.plain
    return low.color != "never"


def _clip(low: LowArgs, world: World, *, view: bool) -> int:
    """On a terminal a line takes at most a few rows, unless a flag says how lines look."""
    asked = low.max_columns is not None or low.only_matching or low.vimgrep or low.passthru
    return 0 if asked or not view else max(240, 3 * world.width)


def _with_filename(low: LowArgs, operands: tuple[Operand, ...]) -> bool:
    if low.with_filename is not None:
        return low.with_filename
    return low.vimgrep or not _one_file(operands)


def _line_number(
    low: LowArgs, world: World, operands: tuple[Operand, ...], shows: str, *, column: bool
) -> bool:
    if low.line_number is not None:
        return low.line_number
    if low.quiet or shows not in ("standard", "json"):
        return False
    only_stdin = len(operands) == 1 and operands[0].kind == "stdin"
    return shows == "json" or (world.terminal and not only_stdin) or column or low.vimgrep


def _context(low: LowArgs) -> tuple[int, int]:
    """Lines before and after; -A and -B win over -C wherever they stand."""
    both = low.both or 0
    before = both if low.before is None else low.before
    after = both if low.after is None else low.after
    return before, after


# The request


def _request(
    low: LowArgs, patterns: tuple[str, ...], look: Look, shows: str
) -> SearchRequest:
    before, after = _context(low)
    rows = shows in ("standard", "json")
    return SearchRequest(
        pattern=_pattern_spec(low, patterns),
        scope=_scope(low),
        mode=_mode(low, shows),
        invert=low.invert,
        before=before if rows else 0,
        after=after if rows else 0,
        passthru=low.passthru and rows,
        max_count=low.max_count,
        limit=low.limit,
        line_numbers=look.line_number or shows == "envelope",
        engine=_engine(low),
    )


def _pattern_spec(low: LowArgs, patterns: tuple[str, ...]) -> PatternSpec:
    return PatternSpec(
        patterns=patterns,
        fixed=low.kind == "literal" or low.fixed,
        case=low.case,  # type: ignore[arg-type]
        word=low.boundary == "word",
        line=low.boundary == "line",
        multiline=low.multiline,
        dotall=low.dotall and low.multiline,
        unicode=low.unicode,
        crlf=low.crlf,
    )


def _mode(low: LowArgs, shows: str) -> Mode:
    """What the engine must find; statistics need the rows of what is only counted."""
    if low.quiet and not (low.stats or shows == "json"):
        return "files"
    if low.stats and shows in ("count", "count_matches"):
        return "lines"
    modes: dict[str, Mode] = {
        "count": "count",
        "count_matches": "count_matches",
        "files": "files",
        "files_without_match": "files_without_match",
    }
    return modes.get(shows, "lines")


def _engine(low: LowArgs) -> EngineChoice:
    return low.engine  # type: ignore[return-value]


def _scope(low: LowArgs) -> ScopeSpec:
    selects, changes = _types(low)
    return ScopeSpec(
        globs=tuple(low.globs),
        iglobs=tuple(low.iglobs),
        glob_case_insensitive=low.glob_case_insensitive,
        types=tuple(name for name, wanted in selects.items() if wanted),
        types_not=tuple(name for name, wanted in selects.items() if not wanted),
        type_changes=changes,
        hidden=low.hidden,
        no_ignore=False,
        no_ignore_vcs=low.no_ignore_vcs,
        no_ignore_parent=low.no_ignore_parent,
        no_ignore_dot=low.no_ignore_dot,
        no_ignore_exclude=low.no_ignore_exclude or low.no_ignore_vcs,
        no_ignore_global=low.no_ignore_global or low.no_ignore_vcs,
        no_ignore_files=low.no_ignore_files,
        no_require_git=low.no_require_git,
        ignore_files=() if low.no_ignore_files else tuple(low.ignore_files),
        follow=low.follow,
        one_file_system=low.one_file_system,
        max_depth=low.max_depth,
        max_filesize=low.max_filesize,
        text=low.binary != "auto",
    )


def _types(low: LowArgs) -> tuple[dict[str, bool], tuple[tuple[Literal["add", "clear"], str], ...]]:
    """Types wanted and not, the last word on each; and the changes to their definitions."""
    selects: dict[str, bool] = {}
    changes: list[tuple[Literal["add", "clear"], str]] = []
    for action, value in low.type_changes:
        if action == "add":
            changes.append(("add", value))
        elif action == "clear":
            changes.append(("clear", value))
        else:
            selects.pop(value, None)
            selects[value] = action == "select"
    return selects, tuple(changes)
