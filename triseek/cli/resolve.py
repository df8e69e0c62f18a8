"""`LowArgs` + the world → `Plan`: what the words mean here and now.

The world is the working folder, standard input and output, the environment and the pattern
files named by -f. Everything after this step is decided; ripgrep's `HiArgs` is the model.
"""

from __future__ import annotations

import stat
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from triseek.cli.patterns import STDIN, read_patterns
from triseek.cli.render.color import Palette
from triseek.cli.render.look import Look
from triseek.errors import InvalidRequest
from triseek.model.search import PatternSpec, ScopeSpec, SearchRequest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from triseek.cli.args import LowArgs
    from triseek.cli.world import World
    from triseek.model.search import EngineChoice, Mode, PastNul, TypeChange, TypeChoice

Kind: TypeAlias = Literal["tree", "file", "stdin", "missing"]


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
    named_mapped: bool = False
    """Whether ripgrep would map the files that are named."""
    messages: bool = True
    eager: bool = False
    footer: bool = False
    """End with a line about totals, road and time: on a terminal only."""


def resolve(low: LowArgs, world: World) -> Plan:
    """Give the words their meaning.

    Raises:
        InvalidQuery: a pattern is missing or is no text.
        InvalidRequest: flags that make no sense, alone or together.
        NeedsClient: a file is named that only the process that was started may open.
    """
    searches = low.mode != "list"
    positional = list(low.positional)
    patterns, used_stdin = read_patterns(low, positional, world) if searches else ((), False)
    for path in low.ignore_files:
        with suppress(OSError, ValueError):  # who reads it says what is wrong
            world.stat(path)
    operands = _operands(positional, world, searches=searches, used_stdin=used_stdin)
    shows = _shows(low)
    look, footer = _look(low, world, operands, shows)
    return Plan(
        shows=shows,
        operands=operands,
        request=replace(
            _request(low, patterns, look, shows, totals=footer),
            opening="regular" if world.is_remote else "any",
        ),
        look=look,
        quiet=low.quiet,
        stats=low.stats or shows == "json",
        include_zero=low.include_zero,
        named_mapped=_named_mapped(low, operands),
        messages=not low.no_messages,
        eager=low.line_buffered or world.terminal,
        footer=footer,
    )


def as_explicit(request: SearchRequest, *, mapped: bool) -> SearchRequest:
    """The request for a file that was named: no rule hides it.

    No index is asked for it: it may hold another text than the file, and saves nothing.
    """
    scope = ScopeSpec(hidden=True, no_ignore=True, text=request.scope.text)
    engine = "scan" if request.engine == "index" else request.engine
    return replace(request, scope=scope, engine=engine, mapped=mapped)


MAPPED_MAX = 10
"""ripgrep maps files when at most so many are named, and nothing else."""


def _named_mapped(low: LowArgs, operands: tuple[Operand, ...]) -> bool:
    if low.mmap != "auto":
        return low.mmap == "always"
    return len(operands) <= MAPPED_MAX and all(operand.kind == "file" for operand in operands)


# Operands


def _operands(
    typed: list[str], world: World, *, searches: bool, used_stdin: bool
) -> tuple[Operand, ...]:
    if typed:
        if used_stdin and STDIN in typed:
            raise InvalidRequest("standard input cannot be both patterns (-f -) and text (-)")
        return tuple(_operand(each, world) for each in typed)
    if searches and world.stdin_readable and not used_stdin:
        return (Operand("", "stdin"),)
    return (Operand("", "tree"),)


def _operand(typed: str, world: World) -> Operand:
    if typed == STDIN:
        return Operand(typed, "stdin")
    try:
        mode = world.stat(typed).st_mode
    except OSError as error:
        return Operand(typed, "missing", f"{error.strerror} (os error {error.errno})")
    except ValueError:  # an embedded NUL
        return Operand(typed, "missing", "not a path")
    return Operand(typed, "tree" if stat.S_ISDIR(mode) else "file")


def _one_file(operands: tuple[Operand, ...]) -> bool:
    return len(operands) == 1 and operands[0].kind in ("file", "stdin")


# Output


def _shows(low: LowArgs) -> str:
    """The mode, as ripgrep bends it: with `-v` lines are counted, and with `-o` matches."""
    if low.mode == "count_matches" and low.invert:
        return "count"
    if low.mode == "count" and low.only_matching and not low.invert:
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
        palette=_palette(low, world),
        replacement=None if low.replace is None else low.replace.encode(),
        context=context,
        invert=low.invert,
        stats=low.stats,
        clip=_clip(low, world, view=view),
    ), view and not low.stats


def _palette(low: LowArgs, world: World) -> Palette | None:
    """The colours; also read where nobody will see them, so that a mistake in them is found."""
    palette = Palette(low.colors)
    return palette if _colored(low, world) else None


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
    low: LowArgs, patterns: tuple[str, ...], look: Look, shows: str, *, totals: bool
) -> SearchRequest:
    """The search itself; `totals` are shown in the end, and have to be right behind a limit too."""
    before, after = _context(low)
    rows = shows in ("standard", "json")
    return SearchRequest(
        pattern=_pattern_spec(low, patterns),
        scope=_scope(low),
        mode=_mode(low, shows),
        invert=low.invert,
        before=before if rows else 0,
        # Lines that match behind the last of -m are counted among those owed to it.
        after=after if rows or low.max_count is not None else 0,
        passthru=low.passthru and rows,
        max_count=low.max_count,
        limit=low.limit,
        count_all=totals or low.stats or shows in ("json", "envelope"),
        line_numbers=look.line_number or shows == "envelope",
        engine=_engine(low),
        mapped=low.mmap == "always",
        past_nul=_past_nul(low, shows),
    )


def _past_nul(low: LowArgs, shows: str) -> PastNul:
    """A search stops at the first row that is not shown, as ripgrep's; not where it only counts."""
    if shows == "json" or (low.stats and (low.quiet or shows != "standard")):
        return "all"
    return "first" if low.stats else "none"


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
    if low.quiet and not (low.stats or shows in ("json", "files_without_match")):
        return "files"
    if low.stats and shows in ("count", "count_matches", "files"):
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
    types = type_choice(low)
    return ScopeSpec(
        globs=tuple(low.globs),
        iglobs=tuple(low.iglobs),
        glob_case_insensitive=low.glob_case_insensitive,
        types=types.chosen,
        types_not=types.refused,
        type_order=types.order,
        type_changes=types.changes,
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
        text=low.binary == "text",
        binary=low.binary == "suppress",
    )


class TypeFlags(NamedTuple):
    """What the flags about file types come to."""

    chosen: tuple[str, ...]
    refused: tuple[str, ...]
    order: tuple[TypeChoice, ...]
    changes: tuple[TypeChange, ...]


def type_choice(low: LowArgs) -> TypeFlags:
    """Types wanted and not wanted, and the changes to their definitions.

    The last word on a file counts, as in ripgrep: `-T py -t py` takes Python files, while
    `-t py -T py` takes nothing; and `-T all -t py` takes Python files.
    """
    chosen: dict[str, None] = {}
    refused: dict[str, None] = {}
    order: list[TypeChoice] = []
    changes: list[TypeChange] = []
    redefined = any(action in ("add", "clear") for action, _ in low.type_changes)

    def meant(name: str) -> Iterable[str]:
        """Return the types a flag names: `all` means those defined before it, as in ripgrep."""
        if name != "all" or not redefined:
            return (name,)
        from triseek.query.filetypes import definitions

        return definitions(changes)

    for action, value in low.type_changes:
        if action == "add":
            changes.append(("add", value))
        elif action == "clear":
            changes.append(("clear", value))
        elif action == "select":
            order += [("select", name) for name in meant(value)]
            chosen[value] = None
            refused.pop(value, None)
        else:
            order += [("negate", name) for name in meant(value)]
            refused[value] = None
    return TypeFlags(tuple(chosen), tuple(refused), tuple(order), tuple(changes))
