"""Every flag of `triseek search`, one row each, in the order help shows them.

The table is the single source: the parser (`cli.args`), help (`cli.search_help`), completion
(`cli.command_tree`) and the reference page read it. Names, values, negations and what overrides
what are ripgrep 14.1's; where triseek cannot do what a flag of ripgrep's says, the row carries the
sentence that refuses it. Light to import: a search without a daemon reads the table.
"""

from __future__ import annotations

from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from triseek.cli.low_args import LowArgs

    Store: TypeAlias = Callable[[LowArgs, str], None]
    Turn: TypeAlias = Callable[[LowArgs, bool], None]


class Flag(NamedTuple):
    """One row: how a flag is spelled and what typing it does to `LowArgs`."""

    long: str
    short: str
    help: str
    value: str = ""
    """What the help calls the value; empty for a switch."""
    store: Store | None = None
    """Called with the value, for a flag that has one."""
    turn: Turn | None = None
    """Called with True for a switch, and with False for any flag's negation; None: no effect."""
    undo: bool = False
    """Whether there is a flag for the opposite."""
    aliases: tuple[str, ...] = ()
    refusal: str = ""
    """Why triseek does not have this flag, and what to use; empty when it has."""

    @property
    def negation(self) -> str:
        """The flag for the opposite: `no-hidden` for `hidden`, `ignore` for `no-ignore`."""
        if not self.undo:
            return ""
        return self.long[3:] if self.long.startswith("no-") else f"no-{self.long}"


class MalformedValue(Exception):
    """The value of a flag cannot be understood; the parser adds which flag it was."""


def whole_number(text: str) -> int:
    """A decimal number of no sign, as ripgrep reads one."""
    digits = text.removeprefix("+")
    if not (digits.isascii() and digits.isdigit()):
        raise MalformedValue(f"value is not a valid number: {text!r}")
    return int(digits)


_DIGITS_MAX = 4000
"""Python converts no more digits to a number."""


def size(text: str) -> int:
    """A number of bytes with an optional suffix K, M or G."""
    factor = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(text[-1:], 0)
    digits = text[:-1] if factor else text
    if not (digits.isascii() and digits.isdigit()):
        raise MalformedValue(f"invalid size {text!r}: give a number, or a number and K, M or G")
    if len(digits) > _DIGITS_MAX or int(digits) * (factor or 1) >= 1 << 64:
        raise MalformedValue(f"invalid size {text!r}: give at most {(1 << 64) - 1} bytes")
    return int(digits) * (factor or 1)


def utf8(text: str) -> str:
    """The text itself, if it can be said in UTF-8 at all."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise MalformedValue("value is not valid UTF-8") from None
    return text


def unescape(text: str) -> bytes:
    r"""A separator as typed: `\n \r \t \0 \\ \xHH` are what they say, all else is itself."""
    raw = utf8(text).encode()
    if b"\\" not in raw:
        return raw
    import re

    simple = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"0": b"\0", b"\\": b"\\"}
    return re.sub(
        rb"\\(?:([nrt0\\])|x([0-9a-fA-F]{2}))",
        lambda escape: simple[escape[1]] if escape[1] else bytes.fromhex(escape[2].decode()),
        raw,
    )


def _set(field: str, on: object, off: object = None) -> Turn:
    def turn(low: LowArgs, is_on: bool) -> None:
        setattr(low, field, on if is_on else off)

    return turn


def _switch(long: str, short: str, meaning: str, field: str = "") -> Flag:
    """Return a flag that sets a field, by default that of its name, to True, and can be undone."""
    turn = _set(field or long.replace("-", "_"), True, False)
    return Flag(long, short, meaning, turn=turn, undo=True)


def _choice(long: str, short: str, field: str, value: object, meaning: str) -> Flag:
    """Return a flag that sets a field to one of its values."""
    return Flag(long, short, meaning, turn=_set(field, value))


def _keep(field: str, read: Callable[[str], object] = utf8) -> Store:
    def store(low: LowArgs, text: str) -> None:
        setattr(low, field, read(text))

    return store


def _collect(field: str, read: Callable[[str], object] = utf8) -> Store:
    def store(low: LowArgs, text: str) -> None:
        getattr(low, field).append(read(text))

    return store


def _one_of(field: str, choices: tuple[str, ...]) -> Store:
    def store(low: LowArgs, text: str) -> None:
        if text not in choices:
            raise MalformedValue(
                f"choice {text!r} is unrecognized: give one of {', '.join(choices)}"
            )
        setattr(low, field, text)

    return store


def _tagged(field: str, tag: str, read: Callable[[str], str] = utf8) -> Store:
    def store(low: LowArgs, text: str) -> None:
        getattr(low, field).append((tag, read(text)))

    return store


def _check(read: Callable[[str], object]) -> Store:
    """Return a function that checks a value that has no meaning here."""

    def store(_low: LowArgs, text: str) -> None:
        read(text)

    return store


def _only(accepted: tuple[str, ...], complaint: str) -> Store:
    """Return a function that accepts values that ask for nothing. complaint: may show the text."""

    def store(_low: LowArgs, text: str) -> None:
        if text not in accepted:
            raise MalformedValue(complaint.format(text))

    return store


def _context(side: str) -> Store:
    def store(low: LowArgs, text: str) -> None:
        if low.passthru:
            low.passthru, low.before, low.after, low.both = False, None, None, None
        setattr(low, side, whole_number(text))

    return store


def _passthru(low: LowArgs, on: bool) -> None:
    low.passthru = on
    low.before = low.after = low.both = None


def _json(low: LowArgs, on: bool) -> None:
    if on:
        low.mode = "json"
    elif low.mode == "json":
        low.mode = "standard"


def _no_ignore(low: LowArgs, on: bool) -> None:
    low.no_ignore_dot = low.no_ignore_exclude = low.no_ignore_global = on
    low.no_ignore_parent = low.no_ignore_vcs = on


def _unrestricted(low: LowArgs, on: bool) -> None:
    low.unrestricted += 1
    if low.unrestricted == 1:
        _no_ignore(low, on)
    elif low.unrestricted == 2:
        low.hidden = True
    elif low.unrestricted == 3:
        low.binary = "suppress"
    else:
        raise MalformedValue("flag can only be repeated up to 3 times")


def _pretty(low: LowArgs, _on: bool) -> None:
    low.color = "always"
    low.heading = low.line_number = True


def _path_separator(low: LowArgs, text: str) -> None:
    raw = unescape(text)
    if len(raw) > 1:
        raise MalformedValue(f"a path separator is one byte, this has {len(raw)}: {text!r}")
    low.path_separator = raw


def _engine(low: LowArgs, text: str) -> None:
    if text == "pcre2":
        raise MalformedValue(f"no PCRE2 here: {LINEAR}")
    _one_of("engine", ("auto", "index", "scan", "rg", "zoekt", "default"))(low, text)
    if text == "default":  # ripgrep's word for its own regex engine
        low.engine = "auto"


def _encoding(_low: LowArgs, text: str) -> None:
    if text.lower() != "auto":
        raise MalformedValue(
            f"triseek searches UTF-8, UTF-16 with a byte-order mark, and raw bytes; it cannot "
            f"read {text!r} (only auto is accepted)"
        )


LINEAR = "look-around and backreferences are not linear time; rewrite the pattern, or run `rg -P`"

SECTIONS: dict[str, tuple[Flag, ...]] = {
    "Input": (
        Flag("regexp", "e", "A pattern to search for; may be repeated, and may begin with a dash.",
             "PATTERN", _tagged("patterns", "text")),
        Flag("file", "f", "Search for the patterns in this file, one a line; - is standard input.",
             "PATTERNFILE", _tagged("patterns", "file", str)),
        Flag("pre", "", "Search the output of a command for each file.", "COMMAND", undo=True,
             refusal="triseek runs no program per file; "
             "run the command yourself and pipe its output"),
        Flag("pre-glob", "", "Accepted; without --pre it has no effect.", "GLOB", _check(utf8)),
        Flag("search-zip", "z", "Search in compressed files.", undo=True,
             refusal="triseek does not look into compressed files; run `rg -z`, or zcat and pipe"),
    ),
    "Search": (
        _choice("case-sensitive", "s", "case", "sensitive",
                "Upper and lower case differ (the default)."),
        _switch("crlf", "", "Treat CR LF as a line end, so that $ matches before it."),
        Flag("dfa-size-limit", "", "Accepted; triseek bounds its own memory.", "NUM", _check(size)),
        Flag("encoding", "E", "Text encoding; only auto: UTF-8, and UTF-16 with a BOM.", "ENCODING",
             _encoding, undo=True),
        _switch("fixed-strings", "F", "Patterns are plain text, not regular expressions.",
                field="fixed"),
        _choice("ignore-case", "i", "case", "insensitive", "Upper and lower case are the same."),
        _switch("invert-match", "v", "Show the lines that do not match.", field="invert"),
        _choice("line-regexp", "x", "boundary", "line", "Only matches that are a whole line."),
        Flag("max-count", "m", "At most NUM matching lines per file.", "NUM",
             _keep("max_count", whole_number)),
        Flag("mmap", "",
             "Notice NUL bytes where rg notices them in a mapped file; triseek maps none.",
             turn=_set("mmap", "always", "never"), undo=True),
        _switch("multiline", "U", "Matches may span lines."),
        _switch("multiline-dotall", "", "With -U, a dot matches a line end too.", field="dotall"),
        Flag("no-unicode", "", "Classes, case and boundaries are ASCII's.",
             turn=_set("unicode", False, True), undo=True),
        Flag("no-pcre2-unicode", "", "The same as --no-unicode.", turn=_set("unicode", False, True),
             undo=True),
        Flag("null-data", "", "Lines end at NUL.",
             refusal="triseek's lines end at a line feed; run `rg --null-data`"),
        Flag("pcre2", "P", "Use PCRE2.", undo=True, refusal=LINEAR),
        Flag("auto-hybrid-regex", "", "Accepted; there is one regex engine.", undo=True),
        Flag("regex-size-limit", "", "Accepted; triseek bounds its own memory.", "NUM",
             _check(size)),
        _choice("smart-case", "S", "case", "smart",
                "Ignore case unless the pattern has an upper-case letter."),
        Flag("stop-on-nonmatch", "", "Stop at the first line that fails after a match.",
             refusal="use -m NUM to bound the lines per file"),
        Flag("text", "a", "Search binary files as if they were text.",
             turn=_set("binary", "text", "auto"), undo=True),
        Flag("threads", "j", "Accepted; triseek chooses its own threads.", "NUM",
             _check(whole_number)),
        _choice("word-regexp", "w", "boundary", "word",
                "Only matches with no word character on either side."),
    ),
    "Filter": (
        Flag("binary", "", "Search binary files, and say that they match without showing them.",
             turn=_set("binary", "suppress", "auto"), undo=True),
        _switch("follow", "L", "Follow symbolic links."),
        Flag("glob", "g",
             "Search (or, with a leading !, do not search) files that match; the last wins.",
             "GLOB", _collect("globs")),
        _switch("glob-case-insensitive", "", "All globs ignore case."),
        _switch("hidden", ".", "Search hidden files and folders."),
        Flag("iglob", "", "Like --glob, ignoring case.", "GLOB", _collect("iglobs")),
        Flag("ignore-file", "", "Another ignore file, of lowest precedence.", "PATH",
             _collect("ignore_files", str)),
        Flag("ignore-file-case-insensitive", "", "Ignore rules ignore case.", undo=True,
             refusal="triseek reads ignore files with their case; spell both cases in the file"),
        Flag("max-depth", "d", "Descend at most NUM folders.", "NUM",
             _keep("max_depth", whole_number), aliases=("maxdepth",)),
        Flag("max-filesize", "", "Skip files larger than this (suffixes K, M, G).", "NUM+SUFFIX?",
             _keep("max_filesize", size)),
        Flag("no-ignore", "", "Respect no ignore file (--ignore-file still counts).",
             turn=_no_ignore, undo=True),
        _switch("no-ignore-dot", "", "Do not respect .ignore and .rgignore."),
        _switch("no-ignore-exclude", "", "Do not respect .git/info/exclude."),
        _switch("no-ignore-files", "", "Do not respect --ignore-file."),
        _switch("no-ignore-global", "", "Do not respect git's core.excludesFile."),
        _switch("no-ignore-parent", "", "Do not respect ignore files of parent folders."),
        _switch("no-ignore-vcs", "", "Do not respect .gitignore."),
        _switch("no-require-git", "", "Respect .gitignore outside a git repository too."),
        _switch("one-file-system", "", "Do not cross into other file systems."),
        Flag("type", "t", "Only files of this type (see --type-list).", "TYPE",
             _tagged("type_changes", "select")),
        Flag("type-not", "T", "No files of this type.", "TYPE", _tagged("type_changes", "negate")),
        Flag("type-add", "", "Add a glob to a type: NAME:GLOB, or NAME:include:OTHER,OTHER.",
             "TYPESPEC", _tagged("type_changes", "add")),
        Flag("type-clear", "", "Forget the globs of a type.", "TYPE",
             _tagged("type_changes", "clear")),
        Flag("unrestricted", "u",
             "Filter less: -u is --no-ignore, -uu adds --hidden, -uuu adds --binary.",
             turn=_unrestricted),
    ),
    "Output": (
        Flag("after-context", "A", "Show NUM lines after each match.", "NUM", _context("after")),
        Flag("before-context", "B", "Show NUM lines before each match.", "NUM", _context("before")),
        Flag("block-buffered", "", "Accepted; output is always written in blocks.", undo=True),
        _switch("byte-offset", "b", "Show the byte offset of each line."),
        Flag("color", "", "Use colours: never, auto, always, ansi.", "WHEN",
             _one_of("color", ("never", "auto", "always", "ansi"))),
        Flag("colors", "",
             "Colour of an element, {path|line|column|match}:{fg|bg|style}:VALUE or …:none.",
             "COLOR_SPEC", _collect("colors")),
        _switch("column", "", "Show the column of the first match, in bytes from 1."),
        Flag("context", "C", "Show NUM lines before and after each match.", "NUM",
             _context("both")),
        Flag("context-separator", "", "Text between lines that do not touch (--).", "SEPARATOR",
             _keep("context_separator", unescape), turn=_set("context_separator", None), undo=True),
        Flag("field-context-separator", "", "Text between the fields of a context line (-).",
             "SEPARATOR", _keep("field_context_separator", unescape)),
        Flag("field-match-separator", "", "Text between the fields of a matching line (:).",
             "SEPARATOR", _keep("field_match_separator", unescape)),
        _switch("heading", "", "Show the path above the matches of each file."),
        Flag("hostname-bin", "", "Find the host.", "COMMAND",
             refusal="triseek writes no hyperlinks"),
        Flag("hyperlink-format", "", "Format of hyperlinks; only none.", "FORMAT",
             _only(("", "none"), "triseek writes no hyperlinks; only `none` is accepted")),
        _switch("include-zero", "", "With --count, show files without a match too."),
        _switch("line-buffered", "", "Write each result as soon as it is found."),
        _choice("line-number", "n", "line_number", True, "Show line numbers."),
        _choice("no-line-number", "N", "line_number", False, "Show no line numbers."),
        Flag("max-columns", "M", "Leave out lines longer than NUM bytes.", "NUM",
             _keep("max_columns", whole_number)),
        _switch("max-columns-preview", "", "Show the beginning of such lines."),
        _choice("null", "0", "null", True, "Write a NUL after each path."),
        _choice("only-matching", "o", "only_matching", True,
                "Show only what matched, each on a line."),
        Flag("path-separator", "", "One byte to show instead of / in paths.", "SEPARATOR",
             _path_separator),
        Flag("passthru", "", "Show all lines, matching or not.", turn=_passthru,
             aliases=("passthrough",)),
        Flag("pretty", "p", "The same as --color always --heading --line-number.", turn=_pretty),
        _choice("quiet", "q", "quiet", True,
                "Write nothing; the exit status says whether there was a match."),
        Flag("replace", "r", "Show matches replaced; $1 and $name are groups, $$ is a dollar.",
             "REPLACEMENT", _keep("replace")),
        Flag("sort", "", "Order of files: path (always so), none is the same.", "SORTBY",
             _only(("path", "none"),
                   "triseek always answers in path order; it cannot sort by {!r}")),
        Flag("sort-files", "", "The same as --sort path.", undo=True),
        Flag("sortr", "", "Descending order; only none.", "SORTBY",
             _only(("none",),
                   "triseek always answers in ascending path order; pipe through `sort -r`")),
        _switch("trim", "", "Remove white space at the beginning of lines."),
        _choice("vimgrep", "", "vimgrep", True,
                "Each match on a line of its own, with line and column."),
        _choice("with-filename", "H", "with_filename", True, "Show the path with each line."),
        _choice("no-filename", "I", "with_filename", False, "Never show the path."),
    ),
    "Output modes": (
        _choice("count", "c", "mode", "count", "Show how many lines match, per file."),
        _choice("count-matches", "", "mode", "count_matches",
                "Show how many matches there are, per file."),
        _choice("files-with-matches", "l", "mode", "files",
                "Show the paths of files with a match."),
        _choice("files-without-match", "", "mode", "files_without_match",
                "Show the paths of files without a match."),
        Flag("json", "", "Write ripgrep's JSON Lines messages.", turn=_json, undo=True),
        _choice("files", "", "mode", "list", "Show the files that would be searched."),
        _choice("type-list", "", "mode", "types", "Show all file types and their globs."),
        _switch("stats", "", "End with statistics about the search."),
    ),
    "triseek's own": (
        Flag("engine", "", "The backend to use: auto, index, scan, rg, zoekt.", "ENGINE", _engine,
             aliases=("backend",)),
        Flag("repo", "", "With --backend zoekt: the repository's name on the cluster.", "NAME",
             _keep("repository")),
        Flag("kind", "",
             "How to read PATTERN: literal is -F, path is find-files, regex (auto) the default.",
             "KIND", _one_of("kind", ("auto", "literal", "regex", "path"))),
        _choice("envelope", "", "mode", "envelope",
                "Write one JSON document: the result agents get."),
        Flag("limit", "", "At most NUM matching lines in all; totals stay exact.", "NUM",
             _keep("limit", whole_number)),
        Flag("no-daemon", "", "Search in this process: ask no daemon and start none."),
    ),
    "Other": (
        Flag("debug", "", "Accepted; --envelope says which backend ran."),
        Flag("trace", "", "Accepted, as --debug."),
        Flag("generate", "", "Generate completion.", "KIND",
             refusal="use `triseek --show-completion`"),
        Flag("no-config", "", "Accepted; there is no file of flags."),
        _switch("no-ignore-messages", "", "Say nothing about faults in ignore files."),
        _switch("no-messages", "", "Say nothing about files that cannot be read."),
        Flag("pcre2-version", "", "Show the version of PCRE2.", refusal="there is no PCRE2 here"),
        _choice("help", "h", "mode", "help", "Show this help."),
        _choice("version", "V", "mode", "version", "Show triseek's version."),
    ),
}  # fmt: skip
"""The flags by the sections of the help."""
FLAGS = tuple(flag for flags in SECTIONS.values() for flag in flags)
