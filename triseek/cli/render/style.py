"""The style of the output, fully resolved, and ripgrep's colours (`--colors`) as ANSI sequences."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass

from triseek.errors import InvalidRequest

RESET = b"\x1b[0m"
NAMES = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
STYLES = ("bold", "intense", "underline")
"""Each may follow `no`."""
DEFAULTS = ("path:fg:magenta", "line:fg:green", "match:fg:red", "match:style:bold")


class Style:
    """Foreground, background and styles of one element."""

    fg = ""
    bg = ""
    bold = intense = underline = False

    def escape(self) -> bytes:
        """Return the sequence that turns the style on, whatever was on before."""
        out = "\x1b[0m"
        out += "\x1b[1m" if self.bold else ""
        out += "\x1b[4m" if self.underline else ""
        out += _color(self.fg, 30, 38, intense=self.intense)
        out += _color(self.bg, 40, 48, intense=self.intense)
        return out.encode()


def _color(value: str, base: int, extended: int, *, intense: bool) -> str:
    if not value:
        return ""
    if value in NAMES:
        number = NAMES.index(value)
        return f"\x1b[{extended};5;{number + 8}m" if intense else f"\x1b[{base + number}m"
    parts = value.split(",")
    return f"\x1b[{extended};{5 if len(parts) == 1 else 2};{';'.join(parts)}m"


class Palette:
    """The colours of the four elements: path, line, column and match."""

    def __init__(self, specs: list[str]) -> None:
        styles = {name: Style() for name in ("path", "line", "column", "match")}
        for spec in (*DEFAULTS, *specs):
            _apply(styles, spec)
        self.path_on = styles["path"].escape()
        self.line_on = styles["line"].escape()
        self.column_on = styles["column"].escape()
        self.match_on = styles["match"].escape()
        self.reset = RESET
        self.marks = any(vars(styles["match"]).values())
        """Whether matches are shown in colour, so that their places must be known."""

    def path(self, text: bytes) -> bytes:
        """Return a path in its colour."""
        return self.path_on + text + self.reset

    def unseen(self) -> Palette:
        """Return a copy without escapes: ripgrep's statistics do not count these as printed."""
        blank = copy(self)
        blank.path_on = blank.line_on = blank.column_on = blank.match_on = blank.reset = b""
        return blank


def _apply(styles: dict[str, Style], spec: str) -> None:
    kind, _, rest = spec.partition(":")
    attribute, colon, value = rest.partition(":")
    kind, attribute = kind.strip().lower(), attribute.strip().lower()
    style = value.strip().lower()
    if kind not in styles:
        raise InvalidRequest(
            f"--colors {spec!r}: {kind!r} is no element; give path, line, column or match"
        )
    if attribute == "none" and not colon:
        styles[kind] = Style()
    elif attribute in ("fg", "bg") and colon:
        setattr(styles[kind], attribute, _value(spec, value.strip()))
    elif attribute == "style" and style.removeprefix("no") in STYLES:
        setattr(styles[kind], style.removeprefix("no"), not style.startswith("no"))
    else:
        raise InvalidRequest(
            f"--colors {spec!r}: give {kind}:fg:COLOR, {kind}:bg:COLOR, {kind}:style:STYLE "
            f"or {kind}:none"
        )


def _value(spec: str, value: str) -> str:
    if value.lower() in NAMES:
        return value.lower()
    try:
        numbers = [int(part, 16 if part[:2].lower() == "0x" else 10) for part in value.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) not in (1, 3) or not all(0 <= number <= 255 for number in numbers):
        raise InvalidRequest(
            f"--colors {spec!r}: {value!r} is no colour; give {', '.join(NAMES)}, a number up to "
            "255, or three of them"
        )
    return ",".join(str(number) for number in numbers)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputStyle:
    """Output options as resolved by `cli.resolve`.

    A field that has the name of a field of `LowArgs` is a copy of it, unless `cli.resolve` sets it.
    """

    path: bool = True
    """Show paths."""
    heading: bool = False
    """Show the path once, above the rows of its file, instead of on every row."""
    line_number: bool = False
    column: bool = False
    byte_offset: bool = False
    only_matching: bool = False
    per_match: bool = False
    """One row per match (--vimgrep)."""
    trim: bool = False
    max_columns: int | None = None
    """Longest line shown, in bytes, its terminator included."""
    max_columns_preview: bool = False
    context_separator: bytes | None = b"--"
    """Between rows that are not adjacent; None: nothing, not even a line."""
    field_match_separator: bytes = b":"
    field_context_separator: bytes = b"-"
    file_separator: bytes | None = None
    """Between files; None: nothing."""
    path_terminator: bytes = b""
    """NUL for --null."""
    path_separator: bytes = b""
    """One byte shown instead of `/`."""
    line_end: bytes = b"\n"
    palette: Palette | None = None
    """Colours; None: no colours."""
    replacement: bytes | None = None
    context: bool = False
    """Lines of context were requested, so gaps are marked."""
    invert: bool = False
    """Rows are the lines that do not match, so matches are in the context."""
    stats: bool = False
    clip: int = 0
    """In triseek's own view on a terminal: most bytes shown of a line; 0: all."""

    def colored_path(self, path: bytes) -> bytes:
        """Return a path with the requested separators and colour."""
        shown = path.replace(b"/", self.path_separator) if self.path_separator else path
        return self.palette.path(shown) if self.palette else shown
