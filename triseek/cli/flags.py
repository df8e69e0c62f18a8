"""Every flag of `triseek search`, one row each, in the order help shows them.

The table is the single source: the parser (`cli.args`), help (`cli.help`), completion
(`cli.app`) and the reference page read it. Names, values, negations and what overrides what
are ripgrep 14.1's; where triseek cannot do what a flag of ripgrep's says, the row carries the
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

INPUT = "Input"
SEARCH = "Search"
FILTER = "Filter"
OUTPUT = "Output"
MODE = "Output modes"
OWN = "triseek's own"
OTHER = "Other"
CATEGORIES = (INPUT, SEARCH, FILTER, OUTPUT, MODE, OWN, OTHER)


class Flag(NamedTuple):
    """One row: how a flag is spelled and what typing it does to `LowArgs`."""

    category: str
    long: str
    short: str = ""
    value: str = ""
    """What the help calls the value; empty for a switch."""
    store: Store | None = None
    """Called with the value, for a flag that has one."""
    turn: Turn | None = None
    """Called with True for a switch, and with False for any flag's negation."""
    negation: str = ""
    aliases: tuple[str, ...] = ()
    help: str = ""
    refusal: str = ""
    """Why triseek does not have this flag, and what to use; empty when it has."""


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
    out, at = bytearray(), 0
    simple = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"0": b"\0", b"\\": b"\\"}
    while at < len(raw):
        step, piece = 1, raw[at : at + 1]
        follow = raw[at + 1 : at + 2]
        if piece == b"\\" and follow in simple:
            step, piece = 2, simple[follow]
        elif piece == b"\\" and follow == b"x" and _is_hex(raw[at + 2 : at + 4]):
            step, piece = 4, bytes([int(raw[at + 2 : at + 4], 16)])
        out += piece
        at += step
    return bytes(out)


def _is_hex(two: bytes) -> bool:
    return len(two) == 2 and all(byte in b"0123456789abcdefABCDEF" for byte in two)


def _switch(field: str, *, invert: bool = False) -> Turn:
    def turn(low: LowArgs, on: bool) -> None:
        setattr(low, field, on is not invert)

    return turn


def _choose(field: str, chosen: object, otherwise: object = None) -> Turn:
    def turn(low: LowArgs, on: bool) -> None:
        setattr(low, field, chosen if on else otherwise)

    return turn


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


def _tagged(field: str, tag: str) -> Store:
    def store(low: LowArgs, text: str) -> None:
        getattr(low, field).append((tag, utf8(text)))

    return store


def _ignored(_low: LowArgs, _on: bool) -> None:
    """Accepted for the sake of habits and scripts; has no meaning here."""


def _pattern_file(low: LowArgs, path: str) -> None:
    low.patterns.append(("file", path))  # a path may be any bytes


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
    _one_of("engine", ("auto", "index", "scan", "rg", "default"))(low, text)
    if text == "default":  # ripgrep's word for its own regex engine
        low.engine = "auto"


def _encoding(_low: LowArgs, text: str) -> None:
    if text.lower() != "auto":
        raise MalformedValue(
            f"triseek searches UTF-8, UTF-16 with a byte-order mark, and raw bytes; it cannot "
            f"read {text!r} (only auto is accepted)"
        )


def _sort(_low: LowArgs, text: str) -> None:
    if text not in ("path", "none"):
        raise MalformedValue(f"triseek always answers in path order; it cannot sort by {text!r}")


def _sortr(_low: LowArgs, text: str) -> None:
    if text != "none":
        raise MalformedValue(
            "triseek always answers in ascending path order; pipe through `sort -r`"
        )


def _hyperlink(_low: LowArgs, text: str) -> None:
    if text not in ("", "none"):
        raise MalformedValue("triseek writes no hyperlinks; only `none` is accepted")


def _size_limit(_low: LowArgs, text: str) -> None:
    size(text)


def _threads(_low: LowArgs, text: str) -> None:
    whole_number(text)


LINEAR = "look-around and backreferences are not linear time; rewrite the pattern, or run `rg -P`"

_COLORS_HELP = "Colour of an element, {path|line|column|match}:{fg|bg|style}:VALUE or …:none."

FLAGS: tuple[Flag, ...] = (
    # Input
    Flag(INPUT, "regexp", "e", value="PATTERN", store=_tagged("patterns", "text"),
         help="A pattern to search for; may be repeated, and may begin with a dash."),
    Flag(INPUT, "file", "f", value="PATTERNFILE", store=_pattern_file,
         help="Search for the patterns in this file, one a line; - is standard input."),
    Flag(INPUT, "pre", value="COMMAND", negation="no-pre", turn=_ignored,
         help="Search the output of a command for each file.",
         refusal="triseek runs no program per file; run the command yourself and pipe its output"),
    Flag(INPUT, "pre-glob", value="GLOB", store=_keep("ignored"),
         help="Accepted; without --pre it has no effect."),
    Flag(INPUT, "search-zip", "z", negation="no-search-zip", turn=_ignored,
         help="Search in compressed files.",
         refusal="triseek does not look into compressed files; run `rg -z`, or zcat and pipe"),
    # Search
    Flag(SEARCH, "case-sensitive", "s", turn=_choose("case", "sensitive"),
         help="Upper and lower case differ (the default)."),
    Flag(SEARCH, "crlf", negation="no-crlf", turn=_switch("crlf"),
         help="Treat CR LF as a line end, so that $ matches before it."),
    Flag(SEARCH, "dfa-size-limit", value="NUM", store=_size_limit,
         help="Accepted; triseek bounds its own memory."),
    Flag(SEARCH, "encoding", "E", value="ENCODING", store=_encoding, negation="no-encoding",
         turn=_ignored, help="Text encoding; only auto: UTF-8, and UTF-16 with a BOM."),
    Flag(SEARCH, "fixed-strings", "F", negation="no-fixed-strings", turn=_switch("fixed"),
         help="Patterns are plain text, not regular expressions."),
    Flag(SEARCH, "ignore-case", "i", turn=_choose("case", "insensitive"),
         help="Upper and lower case are the same."),
    Flag(SEARCH, "invert-match", "v", negation="no-invert-match", turn=_switch("invert"),
         help="Show the lines that do not match."),
    Flag(SEARCH, "line-regexp", "x", turn=_choose("boundary", "line"),
         help="Only matches that are a whole line."),
    Flag(SEARCH, "max-count", "m", value="NUM", store=_keep("max_count", whole_number),
         help="At most NUM matching lines per file."),
    Flag(SEARCH, "mmap", negation="no-mmap", turn=_choose("mmap", "always", "never"),
         help="Notice NUL bytes where rg notices them in a mapped file; triseek maps none."),
    Flag(SEARCH, "multiline", "U", negation="no-multiline", turn=_switch("multiline"),
         help="Matches may span lines."),
    Flag(SEARCH, "multiline-dotall", negation="no-multiline-dotall", turn=_switch("dotall"),
         help="With -U, a dot matches a line end too."),
    Flag(SEARCH, "no-unicode", negation="unicode", turn=_switch("unicode", invert=True),
         help="Classes, case and boundaries are ASCII's."),
    Flag(SEARCH, "no-pcre2-unicode", negation="pcre2-unicode",
         turn=_switch("unicode", invert=True), help="The same as --no-unicode."),
    Flag(SEARCH, "null-data", help="Lines end at NUL.",
         refusal="triseek's lines end at a line feed; run `rg --null-data`"),
    Flag(SEARCH, "pcre2", "P", negation="no-pcre2", turn=_ignored, help="Use PCRE2.",
         refusal=LINEAR),
    Flag(SEARCH, "auto-hybrid-regex", negation="no-auto-hybrid-regex", turn=_ignored,
         help="Accepted; there is one regex engine."),
    Flag(SEARCH, "regex-size-limit", value="NUM", store=_size_limit,
         help="Accepted; triseek bounds its own memory."),
    Flag(SEARCH, "smart-case", "S", turn=_choose("case", "smart"),
         help="Ignore case unless the pattern has an upper-case letter."),
    Flag(SEARCH, "stop-on-nonmatch", help="Stop at the first line that fails after a match.",
         refusal="use -m NUM to bound the lines per file"),
    Flag(SEARCH, "text", "a", negation="no-text", turn=_choose("binary", "text", "auto"),
         help="Search binary files as if they were text."),
    Flag(SEARCH, "threads", "j", value="NUM", store=_threads,
         help="Accepted; triseek chooses its own threads."),
    Flag(SEARCH, "word-regexp", "w", turn=_choose("boundary", "word"),
         help="Only matches with no word character on either side."),
    # Filter
    Flag(FILTER, "binary", negation="no-binary", turn=_choose("binary", "suppress", "auto"),
         help="Search binary files, and say that they match without showing them."),
    Flag(FILTER, "follow", "L", negation="no-follow", turn=_switch("follow"),
         help="Follow symbolic links."),
    Flag(FILTER, "glob", "g", value="GLOB", store=_collect("globs"),
         help="Search (or, with a leading !, do not search) files that match; the last wins."),
    Flag(FILTER, "glob-case-insensitive", negation="no-glob-case-insensitive",
         turn=_switch("glob_case_insensitive"), help="All globs ignore case."),
    Flag(FILTER, "hidden", ".", negation="no-hidden", turn=_switch("hidden"),
         help="Search hidden files and folders."),
    Flag(FILTER, "iglob", value="GLOB", store=_collect("iglobs"),
         help="Like --glob, ignoring case."),
    Flag(FILTER, "ignore-file", value="PATH", store=_collect("ignore_files", str),
         help="Another ignore file, of lowest precedence."),
    Flag(FILTER, "ignore-file-case-insensitive", negation="no-ignore-file-case-insensitive",
         turn=_ignored, help="Ignore rules ignore case.",
         refusal="triseek reads ignore files with their case; spell both cases in the file"),
    Flag(FILTER, "max-depth", "d", value="NUM", aliases=("maxdepth",),
         store=_keep("max_depth", whole_number), help="Descend at most NUM folders."),
    Flag(FILTER, "max-filesize", value="NUM+SUFFIX?", store=_keep("max_filesize", size),
         help="Skip files larger than this (suffixes K, M, G)."),
    Flag(FILTER, "no-ignore", negation="ignore", turn=_no_ignore,
         help="Respect no ignore file (--ignore-file still counts)."),
    Flag(FILTER, "no-ignore-dot", negation="ignore-dot", turn=_switch("no_ignore_dot"),
         help="Do not respect .ignore and .rgignore."),
    Flag(FILTER, "no-ignore-exclude", negation="ignore-exclude",
         turn=_switch("no_ignore_exclude"), help="Do not respect .git/info/exclude."),
    Flag(FILTER, "no-ignore-files", negation="ignore-files", turn=_switch("no_ignore_files"),
         help="Do not respect --ignore-file."),
    Flag(FILTER, "no-ignore-global", negation="ignore-global",
         turn=_switch("no_ignore_global"), help="Do not respect git's core.excludesFile."),
    Flag(FILTER, "no-ignore-parent", negation="ignore-parent",
         turn=_switch("no_ignore_parent"), help="Do not respect ignore files of parent folders."),
    Flag(FILTER, "no-ignore-vcs", negation="ignore-vcs", turn=_switch("no_ignore_vcs"),
         help="Do not respect .gitignore."),
    Flag(FILTER, "no-require-git", negation="require-git", turn=_switch("no_require_git"),
         help="Respect .gitignore outside a git repository too."),
    Flag(FILTER, "one-file-system", negation="no-one-file-system",
         turn=_switch("one_file_system"), help="Do not cross into other file systems."),
    Flag(FILTER, "type", "t", value="TYPE", store=_tagged("type_changes", "select"),
         help="Only files of this type (see --type-list)."),
    Flag(FILTER, "type-not", "T", value="TYPE", store=_tagged("type_changes", "negate"),
         help="No files of this type."),
    Flag(FILTER, "type-add", value="TYPESPEC", store=_tagged("type_changes", "add"),
         help="Add a glob to a type: NAME:GLOB, or NAME:include:OTHER,OTHER."),
    Flag(FILTER, "type-clear", value="TYPE", store=_tagged("type_changes", "clear"),
         help="Forget the globs of a type."),
    Flag(FILTER, "unrestricted", "u", turn=_unrestricted,
         help="Filter less: -u is --no-ignore, -uu adds --hidden, -uuu adds --binary."),
    # Output
    Flag(OUTPUT, "after-context", "A", value="NUM", store=_context("after"),
         help="Show NUM lines after each match."),
    Flag(OUTPUT, "before-context", "B", value="NUM", store=_context("before"),
         help="Show NUM lines before each match."),
    Flag(OUTPUT, "block-buffered", negation="no-block-buffered", turn=_ignored,
         help="Accepted; output is always written in blocks."),
    Flag(OUTPUT, "byte-offset", "b", negation="no-byte-offset", turn=_switch("byte_offset"),
         help="Show the byte offset of each line."),
    Flag(OUTPUT, "color", value="WHEN",
         store=_one_of("color", ("never", "auto", "always", "ansi")),
         help="Use colours: never, auto, always, ansi."),
    Flag(OUTPUT, "colors", value="COLOR_SPEC", store=_collect("colors"), help=_COLORS_HELP),
    Flag(OUTPUT, "column", negation="no-column", turn=_switch("column"),
         help="Show the column of the first match, in bytes from 1."),
    Flag(OUTPUT, "context", "C", value="NUM", store=_context("both"),
         help="Show NUM lines before and after each match."),
    Flag(OUTPUT, "context-separator", value="SEPARATOR", negation="no-context-separator",
         store=_keep("context_separator", unescape), turn=_choose("context_separator", None),
         help="Text between lines that do not touch (--)."),
    Flag(OUTPUT, "field-context-separator", value="SEPARATOR",
         store=_keep("field_context_separator", unescape),
         help="Text between the fields of a context line (-)."),
    Flag(OUTPUT, "field-match-separator", value="SEPARATOR",
         store=_keep("field_match_separator", unescape),
         help="Text between the fields of a matching line (:)."),
    Flag(OUTPUT, "heading", negation="no-heading", turn=_switch("heading"),
         help="Show the path above the matches of each file."),
    Flag(OUTPUT, "hostname-bin", value="COMMAND", store=_keep("ignored"), help="Find the host.",
         refusal="triseek writes no hyperlinks"),
    Flag(OUTPUT, "hyperlink-format", value="FORMAT", store=_hyperlink,
         help="Format of hyperlinks; only none."),
    Flag(OUTPUT, "include-zero", negation="no-include-zero", turn=_switch("include_zero"),
         help="With --count, show files without a match too."),
    Flag(OUTPUT, "line-buffered", negation="no-line-buffered", turn=_switch("line_buffered"),
         help="Write each result as soon as it is found."),
    Flag(OUTPUT, "line-number", "n", turn=_choose("line_number", True),
         help="Show line numbers."),
    Flag(OUTPUT, "no-line-number", "N", turn=_choose("line_number", False),
         help="Show no line numbers."),
    Flag(OUTPUT, "max-columns", "M", value="NUM", store=_keep("max_columns", whole_number),
         help="Leave out lines longer than NUM bytes."),
    Flag(OUTPUT, "max-columns-preview", negation="no-max-columns-preview",
         turn=_switch("max_columns_preview"), help="Show the beginning of such lines."),
    Flag(OUTPUT, "null", "0", turn=_switch("null"), help="Write a NUL after each path."),
    Flag(OUTPUT, "only-matching", "o", turn=_switch("only_matching"),
         help="Show only what matched, each on a line."),
    Flag(OUTPUT, "path-separator", value="SEPARATOR", store=_path_separator,
         help="One byte to show instead of / in paths."),
    Flag(OUTPUT, "passthru", aliases=("passthrough",), turn=_passthru,
         help="Show all lines, matching or not."),
    Flag(OUTPUT, "pretty", "p", turn=_pretty,
         help="The same as --color always --heading --line-number."),
    Flag(OUTPUT, "quiet", "q", turn=_switch("quiet"),
         help="Write nothing; the exit status says whether there was a match."),
    Flag(OUTPUT, "replace", "r", value="REPLACEMENT", store=_keep("replace"),
         help="Show matches replaced; $1 and $name are groups, $$ is a dollar."),
    Flag(OUTPUT, "sort", value="SORTBY", store=_sort,
         help="Order of files: path (always so), none is the same."),
    Flag(OUTPUT, "sort-files", negation="no-sort-files", turn=_ignored,
         help="The same as --sort path."),
    Flag(OUTPUT, "sortr", value="SORTBY", store=_sortr, help="Descending order; only none."),
    Flag(OUTPUT, "trim", negation="no-trim", turn=_switch("trim"),
         help="Remove white space at the beginning of lines."),
    Flag(OUTPUT, "vimgrep", turn=_switch("vimgrep"),
         help="Each match on a line of its own, with line and column."),
    Flag(OUTPUT, "with-filename", "H", turn=_choose("with_filename", True),
         help="Show the path with each line."),
    Flag(OUTPUT, "no-filename", "I", turn=_choose("with_filename", False),
         help="Never show the path."),
    # Output modes
    Flag(MODE, "count", "c", turn=_choose("mode", "count"),
         help="Show how many lines match, per file."),
    Flag(MODE, "count-matches", turn=_choose("mode", "count_matches"),
         help="Show how many matches there are, per file."),
    Flag(MODE, "files-with-matches", "l", turn=_choose("mode", "files"),
         help="Show the paths of files with a match."),
    Flag(MODE, "files-without-match", turn=_choose("mode", "files_without_match"),
         help="Show the paths of files without a match."),
    Flag(MODE, "json", negation="no-json", turn=_json,
         help="Write ripgrep's JSON Lines messages."),
    Flag(MODE, "files", turn=_choose("mode", "list"),
         help="Show the files that would be searched."),
    Flag(MODE, "type-list", turn=_choose("mode", "types"),
         help="Show all file types and their globs."),
    Flag(MODE, "stats", negation="no-stats", turn=_switch("stats"),
         help="End with statistics about the search."),
    # triseek's own
    Flag(OWN, "engine", value="ENGINE", store=_engine,
         help="The backend to use: auto, index, scan, rg."),
    Flag(OWN, "kind", value="KIND", store=_one_of("kind", ("auto", "literal", "regex", "path")),
         help="How to read PATTERN: literal is -F, path is find-files, regex (auto) the default."),
    Flag(OWN, "envelope", turn=_choose("mode", "envelope"),
         help="Write one JSON document: the result agents get."),
    Flag(OWN, "limit", value="NUM", store=_keep("limit", whole_number),
         help="At most NUM matching lines in all; totals stay exact."),
    Flag(OWN, "no-daemon", turn=_switch("no_daemon"),
         help="Search in this process: ask no daemon and start none."),
    # Other
    Flag(OTHER, "debug", turn=_ignored, help="Accepted; --envelope says which backend ran."),
    Flag(OTHER, "trace", turn=_ignored, help="Accepted, as --debug."),
    Flag(OTHER, "generate", value="KIND", store=_keep("ignored"), help="Generate completion.",
         refusal="use `triseek --show-completion`"),
    Flag(OTHER, "no-config", turn=_ignored, help="Accepted; there is no file of flags."),
    Flag(OTHER, "no-ignore-messages", negation="ignore-messages",
         turn=_switch("no_ignore_messages"), help="Say nothing about faults in ignore files."),
    Flag(OTHER, "no-messages", negation="messages", turn=_switch("no_messages"),
         help="Say nothing about files that cannot be read."),
    Flag(OTHER, "pcre2-version", help="Show the version of PCRE2.",
         refusal="there is no PCRE2 here"),
    Flag(OTHER, "help", "h", turn=_choose("mode", "help"), help="Show this help."),
    Flag(OTHER, "version", "V", turn=_choose("mode", "version"), help="Show triseek's version."),
)  # fmt: skip
