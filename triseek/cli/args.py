"""Words as typed → `LowArgs`: what was said, before anything is looked up.

ripgrep's division (flags/lowargs.rs, flags/hiargs.rs): this half knows the flag table and
nothing else; `cli.resolve` gives the words their meaning in the world. Typer cannot see the
order of flags, and order decides (`-i -s`, `-t c -T c`); it also costs 200 ms to import.
"""

from __future__ import annotations

from triseek.cli.flags import FLAGS, Flag, Malformed
from triseek.errors import InvalidRequest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

FLAGS_HELP = "See `triseek search --help`."
SHORT = {flag.short: flag for flag in FLAGS if flag.short}
LONG = {name: flag for flag in FLAGS for name in (flag.long, *flag.aliases)}
NEGATED = {flag.negation: flag for flag in FLAGS if flag.negation}


class LowArgs:
    """What was typed. A plain class: `dataclasses` would double the start of the process."""

    def __init__(self) -> None:
        self.positional: list[str] = []
        self.patterns: list[tuple[str, str]] = []
        """("text", pattern) and ("file", path), in order."""
        self.mode = "standard"
        """standard, count, count_matches, files, files_without_match, json, envelope, list
        (--files), types, help or version; the last one typed."""
        # Search
        self.case = "sensitive"
        self.fixed = False
        self.boundary: str | None = None
        """word or line; the last one typed."""
        self.multiline = False
        self.dotall = False
        self.unicode = True
        self.crlf = False
        self.invert = False
        self.max_count: int | None = None
        self.limit: int | None = None
        self.engine = "auto"
        self.kind = "auto"
        self.binary = "auto"
        """auto, text (-a) or suppress (--binary)."""
        self.mmap = "auto"
        """auto, always (--mmap) or never (--no-mmap)."""
        # Filter
        self.globs: list[str] = []
        self.iglobs: list[str] = []
        self.glob_case_insensitive = False
        self.type_changes: list[tuple[str, str]] = []
        """(select | negate | add | clear, value), in order."""
        self.hidden = False
        self.no_ignore_dot = False
        self.no_ignore_exclude = False
        self.no_ignore_files = False
        self.no_ignore_global = False
        self.no_ignore_parent = False
        self.no_ignore_vcs = False
        self.no_require_git = False
        self.ignore_files: list[str] = []
        self.follow = False
        self.one_file_system = False
        self.max_depth: int | None = None
        self.max_filesize: int | None = None
        self.unrestricted = 0
        # Output
        self.before: int | None = None
        self.after: int | None = None
        self.both: int | None = None
        self.passthru = False
        self.byte_offset = False
        self.color = "auto"
        self.colors: list[str] = []
        self.column: bool | None = None
        self.context_separator: bytes | None = b"--"
        self.field_context_separator = b"-"
        self.field_match_separator = b":"
        self.heading: bool | None = None
        self.include_zero = False
        self.line_buffered = False
        self.line_number: bool | None = None
        self.max_columns: int | None = None
        """0 when typed as 0, which means no limit."""
        self.max_columns_preview = False
        self.null = False
        self.only_matching = False
        self.path_separator = b""
        self.quiet = False
        self.replace: str | None = None
        self.stats = False
        self.trim = False
        self.vimgrep = False
        self.with_filename: bool | None = None
        self.no_messages = False
        self.no_ignore_messages = False
        self.debug = False
        self.no_daemon = False
        """Heeded by `cli.fast` and `cli.remote`: to a search it means nothing."""
        self.ignored = ""
        """Where the values of flags without meaning end up."""


def parse(words: Sequence[str]) -> LowArgs:
    """Read the words after the program's name (and the verb's).

    Raises:
        InvalidRequest: an unknown, refused or malformed flag, by name.
    """
    low = LowArgs()
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word == "--":
            low.positional.extend(words[at:])
            break
        if word.startswith("--"):
            at += _long(low, word, words[at : at + 1])
        elif word.startswith("-") and word != "-":
            at += _cluster(low, word, words[at : at + 1])
        else:
            low.positional.append(word)
    return low


def _long(low: LowArgs, word: str, following: Sequence[str]) -> int:
    """Apply `--name`, `--name=value` or `--no-name`; return how many more words it took."""
    name, equals, value = word[2:].partition("=")
    flag = LONG.get(name)
    if flag is None:
        negated = NEGATED.get(name)
        if negated is None:
            raise _unknown_long(name)
        if equals:
            raise InvalidRequest(
                f"flag --{name} takes no value, got {value!r}", next_step=FLAGS_HELP
            )
        _turn(low, negated, f"--{name}", on=False)
        return 0
    if not flag.value:
        if equals:
            raise InvalidRequest(
                f"flag --{name} takes no value, got {value!r}", next_step=FLAGS_HELP
            )
        _turn(low, flag, f"--{name}", on=True)
        return 0
    if equals:
        _store(low, flag, f"--{name}", value)
        return 0
    _store(low, flag, f"--{name}", _next(f"--{name}", flag, following))
    return 1


def _cluster(low: LowArgs, word: str, following: Sequence[str]) -> int:
    """Apply `-i`, `-inC2`, `-C=2` or `-C 2`; return how many more words it took."""
    for place, letter in enumerate(word[1:], start=1):
        flag = SHORT.get(letter)
        if flag is None:
            raise _unknown_short(letter, word)
        if not flag.value:
            _turn(low, flag, f"-{letter}", on=True)
            continue
        value = word[place + 1 :]
        if value:
            _store(low, flag, f"-{letter}", value.removeprefix("="))
            return 0
        _store(low, flag, f"-{letter}", _next(f"-{letter}", flag, following))
        return 1
    return 0


def _next(spelled: str, flag: Flag, following: Sequence[str]) -> str:
    if flag.refusal:
        raise _refused(spelled, flag)
    if not following:
        raise InvalidRequest(
            f"flag {spelled} needs a value ({flag.value})",
            next_step=f"Write {spelled} {flag.value}; for text that begins with a dash -e TEXT.",
        )
    return following[0]


def _turn(low: LowArgs, flag: Flag, spelled: str, *, on: bool) -> None:
    if flag.refusal and on:
        raise _refused(spelled, flag)
    if flag.turn is None:
        raise AssertionError(f"{flag.long} has nothing to turn")
    try:
        flag.turn(low, on)
    except Malformed as error:
        raise InvalidRequest(f"flag {spelled}: {error}", next_step=FLAGS_HELP) from None


def _store(low: LowArgs, flag: Flag, spelled: str, value: str) -> None:
    if flag.refusal:
        raise _refused(spelled, flag)
    if flag.store is None:
        raise AssertionError(f"{flag.long} takes no value")
    try:
        flag.store(low, value)
    except Malformed as error:
        raise InvalidRequest(f"flag {spelled}: {error}", next_step=FLAGS_HELP) from None


def _refused(spelled: str, flag: Flag) -> InvalidRequest:
    name = spelled if spelled == f"--{flag.long}" else f"{spelled} (--{flag.long})"
    return InvalidRequest(f"ripgrep's {name} is not supported: {flag.refusal}", next_step="")


def _unknown_long(name: str) -> InvalidRequest:
    from difflib import get_close_matches

    near = get_close_matches(name, [*LONG, *NEGATED], n=1, cutoff=0.7)
    hint = f"Did you mean --{near[0]}? " if near else ""
    return InvalidRequest(
        f"unknown flag --{name}", next_step=f"{hint}{_dashed(f'--{name}')} {FLAGS_HELP}"
    )


def _unknown_short(letter: str, word: str) -> InvalidRequest:
    named = f"-{letter}" if word == f"-{letter}" else f"-{letter} in {word!r}"
    return InvalidRequest(f"unknown flag {named}", next_step=f"{_dashed(word)} {FLAGS_HELP}")


def _dashed(word: str) -> str:
    return f"To search for text that begins with a dash: triseek -e '{word}'."
