"""Languages of files by Zoekt's names, which are GitHub Linguist's.

A file's name decides where it can, then an editor's modeline, then the interpreter of its first
line. Where an ending belongs to several languages, a look at the content decides; Zoekt uses a
trained classifier there, so that a few files get another name than here.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

HEAD_BYTES = 16_384
"""Most bytes of a file's start that are looked at."""
_NUL_BYTES = 8000
_MODELINE_LINES, _MODELINE_BYTES = 5, 1_024
_TABLE = "languages.txt"

_BINARY = "-"
"""The name in the table for endings of files that have no language, whatever they contain."""
_EMACS_MARK = b"-*-"
_EMACS_MODE = re.compile(rb"\s*(?:mode\s*:\s*)?([A-Za-z0-9_+#.-]+)\s*", re.IGNORECASE)
"""One of the parts between two marks, which `;` separates."""
_VIM_MODE = re.compile(
    rb"(?:\A|[ \t])(?:vi|vim|ex)(?:[<=>]?\d+)?:.*?(?:ft|filetype|syntax)=(\w+)", re.IGNORECASE
)
_MODELINE_SIGNS = (b"-*-", b"ft=", b"filetype=", b"syntax=")
"""Each of the two expressions matches only where one of these is."""
_SHEBANG = re.compile(rb"#![ \t]*(\S+)(?:[ \t]+(.*))?")
_VERSION = re.compile(r"[\d.]+\Z")

_CPP = re.compile(
    rb"""^[ \t\r\f\v]*(?:\#\s*include\s*<(?:cstdint|string|vector|map|list|array|bitset|queue|stack|
            forward_list|unordered_map|unordered_set|i?o?stringstream|[io]?stream|iostream|memory)>
        |template\s*<|try|catch\s*\(|(?:class|using\s+namespace|namespace)\s+\w+
        |(?:private|public|protected):)
    |std::\w+""",
    re.MULTILINE | re.VERBOSE,
)
_OBJECTIVE_C = re.compile(
    rb"^[^\S\n]*(?:@(?:interface|class|protocol|property|end|synchronized|selector|implementation)\b"
    rb"|\#import\s+.+\.h[\">])",
    re.MULTILINE,
)
_CONTENT: dict[str, tuple[tuple[re.Pattern[bytes], str], ...]] = {
    "h": ((_OBJECTIVE_C, "Objective-C"), (_CPP, "C++")),
    "c": ((_OBJECTIVE_C, "Objective-C"), (_CPP, "C++")),
    "m": (
        (_OBJECTIVE_C, "Objective-C"),
        (re.compile(rb"^[^\S\n]*%|^[^\S\n]*function\b", re.MULTILINE), "MATLAB"),
        (re.compile(rb"^[^\S\n]*:- module\b", re.MULTILINE), "Mercury"),
        (re.compile(rb"\(\*"), "Mathematica"),
    ),
    "pl": (
        (re.compile(rb"^[^#]*:-", re.MULTILINE), "Prolog"),
        (re.compile(rb"^[^\S\n]*use\s+v6\b", re.MULTILINE), "Raku"),
    ),
    "v": (
        (re.compile(rb"^[ \t]*(?:Require|Theorem|Lemma|Proof|Qed)\b", re.MULTILINE), "Rocq Prover"),
        (re.compile(rb"^(?:fn|import|pub)\s|^module\s+\w+\s*$", re.MULTILINE), "V"),
    ),
    "d": (
        (re.compile(rb"^[\w./\\ -]+\s*:(?:\s|\\)", re.MULTILINE), "Makefile"),
        (re.compile(rb"^[^\S\n]*(?:provider|probe)\s|^#pragma\s+D\b", re.MULTILINE), "DTrace"),
    ),
    "l": (
        (re.compile(rb"^\(def(?:un|macro)\s", re.MULTILINE), "Common Lisp"),
        (re.compile(rb"^\.(?:[A-Za-z]{2}|\\\")", re.MULTILINE), "Roff"),
    ),
    "properties": (
        (re.compile(rb"^[^#!;\n][^=\n]*=", re.MULTILINE), "INI"),
        (re.compile(rb"^[^#!;\n][^:\n]*:", re.MULTILINE), "Java Properties"),
    ),
    "s": ((re.compile(rb"\(SB\)"), "Motorola 68K Assembly"),),
    "cls": ((re.compile(rb"^[^\S\n]*[\\%]", re.MULTILINE), "TeX"),),
    "hh": ((re.compile(rb"<\?hh"), "Hack"), (re.compile(rb""), "C++")),
    "asc": ((re.compile(rb"^(?:----[- ]BEGIN|ssh-)", re.MULTILINE), "Public Key"),
            (re.compile(rb"^[=-]+(?:\s|$)", re.MULTILINE), "AsciiDoc")),
    "pp": ((re.compile(rb"^[^\S\n]*(?:unit|program|begin|uses)\b", re.MULTILINE), "Pascal"),),
}  # fmt: skip
"""What content says about endings of several languages; else the table's language holds."""


class _Tables(NamedTuple):
    endings: dict[str, str]
    names: dict[str, str]
    interpreters: dict[str, str]
    aliases: dict[str, str]


@cache
def _tables() -> _Tables:
    """Read the table; the first line with an entry has it."""
    tables = _Tables({}, {}, {}, {})
    names: list[str] = []
    for line in Path(__file__).with_name(_TABLE).read_text("ascii").splitlines():
        if line.startswith("#"):
            continue
        name, *cells = (cell.strip() for cell in line.split("|"))
        names.append(name)
        for column, cell in zip(tables, cells, strict=False):
            for entry in filter(None, cell.split(",")):
                key = entry.lower() if column is tables.endings else entry
                column.setdefault(_alias_key(key) if column is tables.aliases else key, name)
        tables.aliases.update((_alias_key(name), name) for name in names if name != _BINARY)
    return tables


def _alias_key(name: str) -> str:
    return name.partition(",")[0].replace(" ", "_").lower()


def canonical_name(name: str) -> str:
    """Return the canonical name of a language; "" if there is no such language."""
    return _tables().aliases.get(_alias_key(name), "")


def language_of(path: bytes, head: bytes) -> str:
    """Return the language of a file.

    Args:
        path: The file's path; only its last part counts.
        head: The start of its content; more than `HEAD_BYTES` is not looked at.

    Returns:
        The canonical name; "" if no language is known for it.
    """
    language, ending = _by_name(path)
    if ending is None or not head:
        return language
    head = head[:HEAD_BYTES]
    if b"\0" in head[:_NUL_BYTES]:
        return ""
    declared = _by_modeline(head) or _by_interpreter(head, _tables())
    possible = _possible(ending, language)
    if declared and (possible is None or declared in possible):
        return declared
    return _by_content(ending, head) or language


def languages_by_name(path: bytes) -> frozenset[str] | None:
    """Return the languages that a file of this name can have; None if only its content tells.

    "" stands for no language.
    """
    language, ending = _by_name(path)
    return frozenset((language,)) if ending is None else _possible(ending, language)


def _by_name(path: bytes) -> tuple[str, str | None]:
    """Return the language that a name suggests, and its ending; None if the name decides."""
    tables = _tables()
    name = path.rpartition(b"/")[2].decode("utf-8", "replace")
    if name in tables.names:
        return tables.names[name], None
    if tables.endings.get(_last_ending(name)) == _BINARY:
        return "", None
    ending, language = _by_ending(name, tables)
    return language, None if language and ending not in _CONTENT else ending


def _possible(ending: str, language: str) -> frozenset[str] | None:
    """Return the languages of an ending that belongs to several; None if it belongs to none."""
    if not language:
        return None
    return frozenset((language, "", *(other for _, other in _CONTENT[ending])))


def _last_ending(name: str) -> str:
    return name.rpartition(".")[2].lower() if "." in name else ""


def _by_ending(name: str, tables: _Tables) -> tuple[str, str]:
    """Return the longest ending of a name that has a language, and the language."""
    at = name.find(".")
    while at >= 0:
        ending = name[at + 1 :].lower()
        if ending in tables.endings:
            return ending, tables.endings[ending]
        at = name.find(".", at + 1)
    return "", ""


def _by_modeline(head: bytes) -> str:
    if not any(map(head.__contains__, _MODELINE_SIGNS)):
        return ""  # as almost always; the expressions take twenty times as long
    for line in head.splitlines()[:_MODELINE_LINES]:
        match = _emacs_mode(line) or _VIM_MODE.search(line, 0, _MODELINE_BYTES)
        if match:
            language = canonical_name(match[1].decode("ascii"))
            if language:
                return language
    return ""


def _emacs_mode(line: bytes) -> re.Match[bytes] | None:
    _, _, rest = line.partition(_EMACS_MARK)
    parts, mark, _ = rest.partition(_EMACS_MARK)
    matches = map(_EMACS_MODE.fullmatch, parts.split(b";")) if mark else ()
    return next(filter(None, matches), None)


def _by_interpreter(head: bytes, tables: _Tables) -> str:
    match = _SHEBANG.match(head)
    if match is None:
        return ""
    program = match[1].rpartition(b"/")[2]
    if program == b"env":
        words = [word for word in (match[2] or b"").split() if not word.startswith(b"-")]
        words = [word for word in words if b"=" not in word]
        program = words[0].rpartition(b"/")[2] if words else b""
    name = program.decode("ascii", "replace")
    return tables.interpreters.get(name) or tables.interpreters.get(_VERSION.sub("", name), "")


def _by_content(ending: str, head: bytes) -> str:
    for pattern, language in _CONTENT.get(ending, ()):
        if pattern.search(head):
            return language
    return ""
