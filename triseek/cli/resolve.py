"""Resolve `LowArgs` and the command context to a `CommandPlan`.

The context is the working folder, standard input and output, the environment and the pattern
files named by -f. After this step nothing is left to decide; ripgrep's `HiArgs` is the model.
"""

from __future__ import annotations

import stat
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, TypeVar, cast

from triseek.cli.render.style import OutputStyle, Palette
from triseek.errors import InvalidQuery, InvalidRequest
from triseek.model.search import PatternSpec, ScopeSpec, SearchRequest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from triseek.cli.low_args import LowArgs
    from triseek.model.search import Mode, PastNul, TypeChange, TypeChoice
    from triseek.terminal.command_context import CommandContext

Spec = TypeVar("Spec", OutputStyle, PatternSpec, ScopeSpec, SearchRequest)
STDIN = "-"
"""The name of standard input, as a path."""
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
    engine = "scan" if request.engine in ("index", "zoekt") else request.engine
    return replace(request, scope=scope, engine=engine, mapped=mapped)


MAPPED_MAX = 10
"""ripgrep maps files if at most so many are named, and no folder."""


def _named_mapped(low: LowArgs, operands: tuple[Operand, ...]) -> bool:
    if low.mmap != "auto":
        return low.mmap == "always"
    return len(operands) <= MAPPED_MAX and all(operand.kind == "file" for operand in operands)


# Patterns


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
    palette = Palette(low.colors)  # also if it is not used, so that mistakes are reported
    colored = low.color != "never"
    if low.color == "auto":
        colored = context.terminal and not context.plain
    only = operands[0].kind if len(operands) == 1 else ""
    one_file = only in ("file", "stdin")
    look = replace(
        _copied(OutputStyle, low),
        path=low.with_filename if low.with_filename is not None else low.vimgrep or not one_file,
        heading=heading and shows == "standard",
        line_number=_line_number(low, context, shows, only_stdin=only == "stdin"),
        column=column,
        per_match=low.vimgrep,
        max_columns=low.max_columns or None,
        file_separator=b"" if heading else low.context_separator if has_context else None,
        path_terminator=b"\0" if low.null else b"",
        line_end=b"\r\n" if low.crlf and shows != "list" else b"\n",
        palette=palette if colored else None,
        replacement=None if low.replace is None else low.replace.encode(),
        context=has_context,
        clip=_clip(low, context, view=view),
    )
    return look, view and not low.stats


def _clip(low: LowArgs, context: CommandContext, *, view: bool) -> int:
    """Limit a line on a terminal to a few rows; 0, no limit, if a flag says how lines look."""
    is_styled = low.max_columns is not None or low.only_matching or low.vimgrep or low.passthru
    return 0 if is_styled or not view else max(240, 3 * context.width)


def _line_number(low: LowArgs, context: CommandContext, shows: str, *, only_stdin: bool) -> bool:
    if low.line_number is not None:
        return low.line_number
    if low.quiet or shows not in ("standard", "json"):
        return False
    in_view = context.terminal and not only_stdin
    return shows == "json" or in_view or bool(low.column) or low.vimgrep


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
    if shows in ("count", "count_matches", "files", "files_without_match"):
        return cast("Mode", shows)
    return "lines"


def _scope(low: LowArgs) -> ScopeSpec:
    return replace(
        _copied(ScopeSpec, low, **type_choice(low)._asdict()),
        globs=tuple(low.globs),
        iglobs=tuple(low.iglobs),
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
    """Combined result of the flags about file types, by fields of `ScopeSpec`."""

    types: tuple[str, ...]
    types_not: tuple[str, ...]
    type_order: tuple[TypeChoice, ...]
    type_changes: tuple[TypeChange, ...]


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
