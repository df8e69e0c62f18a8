"""Resolve `LowArgs` and the command context to a `CommandPlan`.

The context is the working folder, standard input and output, the environment and the pattern
files named by -f. After this step nothing is left to decide; ripgrep's `HiArgs` is the model.
"""

from __future__ import annotations

import stat
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, TypeVar

from triseek.cli.patterns import STDIN, read_patterns
from triseek.cli.render.style import OutputStyle, Palette
from triseek.errors import InvalidRequest
from triseek.model.search import PatternSpec, ScopeSpec, SearchRequest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from triseek.cli.command_context import CommandContext
    from triseek.cli.low_args import LowArgs
    from triseek.model.search import Mode, PastNul, TypeChange, TypeChoice

Spec = TypeVar("Spec", OutputStyle, PatternSpec, ScopeSpec, SearchRequest)
Kind: TypeAlias = Literal["tree", "file", "stdin", "missing"]


class Operand(NamedTuple):
    """One thing to search, as it was typed."""

    typed: str
    """Empty if no operand was typed."""
    kind: Kind
    fault: str = ""
    """Why an operand of kind `missing` cannot be searched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandPlan:
    """A search with all its options resolved."""

    shows: str
    """standard, count, count_matches, files, files_without_match, json, envelope or list."""
    operands: tuple[Operand, ...]
    request: SearchRequest
    look: OutputStyle
    quiet: bool = False
    stats: bool = False
    include_zero: bool = False
    named_mapped: bool = False
    """Whether ripgrep would map the files that are named."""
    messages: bool = True
    eager: bool = False
    footer: bool = False
    """End with a line about totals, backend and time: on a terminal only."""


def resolve(low: LowArgs, context: CommandContext) -> CommandPlan:
    """Resolve the arguments to a plan.

    Raises:
        InvalidQuery: A pattern is missing or is not text.
        InvalidRequest: Flags are invalid, alone or together.
        NeedsClient: Only the process that the user started may open a named file.
    """
    searches = low.mode != "list"
    positional = list(low.positional)
    patterns, used_stdin = read_patterns(low, positional, context) if searches else ((), False)
    for path in low.ignore_files:
        with suppress(OSError, ValueError):  # reported when the file is read
            context.stat(path)
    operands = _operands(positional, context, searches=searches, used_stdin=used_stdin)
    shows = _shows(low)
    look, footer = _look(low, context, operands, shows)
    return CommandPlan(
        shows=shows,
        operands=operands,
        request=replace(
            _request(low, patterns, look, shows, totals=footer),
            opening="regular" if context.is_remote else "any",
        ),
        look=look,
        quiet=low.quiet,
        stats=low.stats or shows == "json",
        include_zero=low.include_zero,
        named_mapped=_named_mapped(low, operands),
        messages=not low.no_messages,
        eager=low.line_buffered or context.terminal,
        footer=footer,
    )


def as_explicit(request: SearchRequest, *, mapped: bool) -> SearchRequest:
    """Return the request for a named file: no ignore rule hides it.

    The index is not used: it may hold another text than the file, and saves nothing.
    """
    scope = ScopeSpec(hidden=True, no_ignore=True, text=request.scope.text)
    engine = "scan" if request.engine == "index" else request.engine
    return replace(request, scope=scope, engine=engine, mapped=mapped)


MAPPED_MAX = 10
"""ripgrep maps files if at most so many are named, and no folder."""


def _named_mapped(low: LowArgs, operands: tuple[Operand, ...]) -> bool:
    if low.mmap != "auto":
        return low.mmap == "always"
    return len(operands) <= MAPPED_MAX and all(operand.kind == "file" for operand in operands)


# Operands


def _operands(
    typed: list[str], context: CommandContext, *, searches: bool, used_stdin: bool
) -> tuple[Operand, ...]:
    if typed:
        if used_stdin and STDIN in typed:
            raise InvalidRequest("standard input cannot be both patterns (-f -) and text (-)")
        return tuple(_operand(path, context) for path in typed)
    if searches and context.stdin_readable and not used_stdin:
        return (Operand("", "stdin"),)
    return (Operand("", "tree"),)


def _operand(typed: str, context: CommandContext) -> Operand:
    if typed == STDIN:
        return Operand(typed, "stdin")
    try:
        mode = context.stat(typed).st_mode
    except OSError as error:
        return Operand(typed, "missing", f"{error.strerror} (os error {error.errno})")
    except ValueError:  # an embedded NUL
        return Operand(typed, "missing", "not a path")
    return Operand(typed, "tree" if stat.S_ISDIR(mode) else "file")


def _one_file(operands: tuple[Operand, ...]) -> bool:
    return len(operands) == 1 and operands[0].kind in ("file", "stdin")


# Output


def _shows(low: LowArgs) -> str:
    """Return the mode, adjusted as in ripgrep: `-v` counts lines, and `-o` counts matches."""
    if low.mode == "count_matches" and low.invert:
        return "count"
    if low.mode == "count" and low.only_matching and not low.invert:
        return "count_matches"
    return low.mode


def _look(
    low: LowArgs, context: CommandContext, operands: tuple[Operand, ...], shows: str
) -> tuple[OutputStyle, bool]:
    view = context.terminal and shows == "standard" and not low.quiet
    heading = not low.vimgrep and (context.terminal if low.heading is None else low.heading)
    column = low.vimgrep if low.column is None else low.column
    has_context = _context(low) != (0, 0)
    look = replace(
        _copied(OutputStyle, low),
        path=_with_filename(low, operands),
        heading=heading and shows == "standard",
        line_number=_line_number(low, context, operands, shows, column=column),
        column=column,
        per_match=low.vimgrep,
        max_columns=low.max_columns or None,
        file_separator=b"" if heading else low.context_separator if has_context else None,
        path_terminator=b"\0" if low.null else b"",
        line_end=b"\r\n" if low.crlf and shows != "list" else b"\n",
        palette=_palette(low, context),
        replacement=None if low.replace is None else low.replace.encode(),
        context=has_context,
        clip=_clip(low, context, view=view),
    )
    return look, view and not low.stats


def _palette(low: LowArgs, context: CommandContext) -> Palette | None:
    """Return the colours; they are parsed even if not shown, so that mistakes are reported."""
    palette = Palette(low.colors)
    return palette if _colored(low, context) else None


def _colored(low: LowArgs, context: CommandContext) -> bool:
    if low.color == "auto":
        return context.terminal and not context.plain
    return low.color != "never"


def _clip(low: LowArgs, context: CommandContext, *, view: bool) -> int:
    """Limit a line on a terminal to a few rows; 0, no limit, if a flag says how lines look."""
    is_styled = low.max_columns is not None or low.only_matching or low.vimgrep or low.passthru
    return 0 if is_styled or not view else max(240, 3 * context.width)


def _with_filename(low: LowArgs, operands: tuple[Operand, ...]) -> bool:
    if low.with_filename is not None:
        return low.with_filename
    return low.vimgrep or not _one_file(operands)


def _line_number(
    low: LowArgs,
    context: CommandContext,
    operands: tuple[Operand, ...],
    shows: str,
    *,
    column: bool,
) -> bool:
    if low.line_number is not None:
        return low.line_number
    if low.quiet or shows not in ("standard", "json"):
        return False
    only_stdin = len(operands) == 1 and operands[0].kind == "stdin"
    return shows == "json" or (context.terminal and not only_stdin) or column or low.vimgrep


def _context(low: LowArgs) -> tuple[int, int]:
    """Return the lines of context before and after; -A and -B override -C in any order."""
    both = low.both or 0
    before = both if low.before is None else low.before
    after = both if low.after is None else low.after
    return before, after


# The request


def _request(
    low: LowArgs, patterns: tuple[str, ...], look: OutputStyle, shows: str, *, totals: bool
) -> SearchRequest:
    """Return the request; `totals` are shown at the end, and must count what a limit cuts off."""
    before, after = _context(low)
    rows = shows in ("standard", "json")
    return replace(
        _copied(SearchRequest, low, pattern=_pattern_spec(low, patterns)),
        scope=_scope(low),
        mode=_mode(low, shows),
        before=before if rows else 0,
        # Lines that match after the last of -m are counted among its lines of context.
        after=after if rows or low.max_count is not None else 0,
        passthru=low.passthru and rows,
        count_all=totals or low.stats or shows in ("json", "envelope"),
        line_numbers=look.line_number or shows == "envelope",
        mapped=low.mmap == "always",
        past_nul=_past_nul(low, shows),
    )


def _past_nul(low: LowArgs, shows: str) -> PastNul:
    """Return which rows behind a NUL to find: ripgrep stops at the first, unless it only counts."""
    if shows == "json" or (low.stats and (low.quiet or shows != "standard")):
        return "all"
    return "first" if low.stats else "none"


def _pattern_spec(low: LowArgs, patterns: tuple[str, ...]) -> PatternSpec:
    return replace(
        _copied(PatternSpec, low, patterns=patterns),
        fixed=low.kind == "literal" or low.fixed,
        word=low.boundary == "word",
        line=low.boundary == "line",
        dotall=low.dotall and low.multiline,
    )


def _mode(low: LowArgs, shows: str) -> Mode:
    """Return the engine's mode; statistics need the rows even if they are only counted."""
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


def _scope(low: LowArgs) -> ScopeSpec:
    types = type_choice(low)
    return replace(
        _copied(ScopeSpec, low),
        globs=tuple(low.globs),
        iglobs=tuple(low.iglobs),
        types=types.chosen,
        types_not=types.refused,
        type_order=types.order,
        type_changes=types.changes,
        no_ignore_exclude=low.no_ignore_exclude or low.no_ignore_vcs,
        no_ignore_global=low.no_ignore_global or low.no_ignore_vcs,
        ignore_files=() if low.no_ignore_files else tuple(low.ignore_files),
        text=low.binary == "text",
        binary=low.binary == "suppress",
    )


def _copied(kind: type[Spec], low: LowArgs, **required: object) -> Spec:
    """Return an object whose fields are the arguments of the same names, as typed.

    A plain switch so needs no line here; fields that mean something else are set afterwards.
    """
    typed = vars(low)
    copies = {each.name: typed[each.name] for each in fields(kind) if each.name in typed}
    return kind(**copies | required)


class TypeFlags(NamedTuple):
    """Combined result of the flags about file types."""

    chosen: tuple[str, ...]
    refused: tuple[str, ...]
    order: tuple[TypeChoice, ...]
    changes: tuple[TypeChange, ...]


def type_choice(low: LowArgs) -> TypeFlags:
    """Return the types selected and negated, and the changes to their definitions.

    The last flag about a file counts, as in ripgrep: `-T py -t py` takes Python files, while
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
        from triseek.query.globs.file_types import definitions

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
