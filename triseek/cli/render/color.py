"""ripgrep's colours: what `--colors` says, as ANSI escape sequences."""

from __future__ import annotations

from copy import copy

from triseek.errors import InvalidRequest

RESET = b"\x1b[0m"
NAMES = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
STYLES = {
    "bold": ("bold", True),
    "nobold": ("bold", False),
    "intense": ("intense", True),
    "nointense": ("intense", False),
    "underline": ("underline", True),
    "nounderline": ("underline", False),
}
DEFAULTS = ("path:fg:magenta", "line:fg:green", "match:fg:red", "match:style:bold")


class Style:
    """Foreground, background and styles of one element."""

    def __init__(self) -> None:
        self.fg = ""
        self.bg = ""
        self.bold = self.intense = self.underline = False

    @property
    def plain(self) -> bool:
        """Whether it says nothing at all."""
        return not (self.fg or self.bg or self.bold or self.intense or self.underline)

    def escape(self) -> bytes:
        """The sequence that turns it on, from whatever was on before."""
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
    """The four elements' colours."""

    def __init__(self, specs: list[str]) -> None:
        styles = {name: Style() for name in ("path", "line", "column", "match")}
        for spec in (*DEFAULTS, *specs):
            _apply(styles, spec)
        self.path_on = styles["path"].escape()
        self.line_on = styles["line"].escape()
        self.column_on = styles["column"].escape()
        self.match_on = styles["match"].escape()
        self.reset = RESET
        self.marks = not styles["match"].plain
        """Whether matches are shown in colour, so that their places must be known."""

    def path(self, text: bytes) -> bytes:
        """A path in its colour."""
        return self.path_on + text + self.reset

    def unseen(self) -> Palette:
        """The same without its escapes: for what ripgrep's statistics count as printed."""
        blank = copy(self)
        blank.path_on = blank.line_on = blank.column_on = blank.match_on = blank.reset = b""
        return blank


def _apply(styles: dict[str, Style], spec: str) -> None:
    kind, _, rest = spec.partition(":")
    attribute, colon, value = rest.partition(":")
    kind, attribute = kind.strip().lower(), attribute.strip().lower()
    if kind not in styles:
        raise InvalidRequest(
            f"--colors {spec!r}: {kind!r} is no element; give path, line, column or match"
        )
    if attribute == "none" and not colon:
        styles[kind] = Style()
    elif attribute in ("fg", "bg") and colon:
        setattr(styles[kind], attribute, _value(spec, value.strip()))
    elif attribute == "style" and value.strip().lower() in STYLES:
        field, on = STYLES[value.strip().lower()]
        setattr(styles[kind], field, on)
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
