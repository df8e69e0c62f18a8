"""The differences that docs/reference/differences.md describes, each known by a narrow rule."""

from __future__ import annotations

import codecs
import os
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from tests.fuzz.case import BASE
from tests.fuzz.compare import masked
from tests.strategies_trees import IGNORE_NAMES

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.fuzz.case import Case
    from tests.fuzz.compare import Difference


class Documented(NamedTuple):
    heading: str
    """The heading in differences.md that describes it."""
    applies: Callable[[Difference], bool]


def heading_of(difference: Difference) -> str | None:
    """The heading that describes a difference, None if none does."""
    for rule in RULES:
        if rule.applies(difference):
            return rule.heading
    rest = tuple(aspect for aspect in difference.aspects if aspect != "stderr")
    if rest != difference.aspects and _INVALID_GLOBS.fullmatch(difference.theirs.err):
        return heading_of(difference._replace(aspects=rest))
    return None


def _brace(difference: Difference) -> bool:
    """ripgrep refuses a repetition, and triseek reads its brace as text."""
    refused = difference.theirs.status == 2 and b"error: repetition" in difference.theirs.err
    return refused and any("{" in pattern for pattern in difference.case.patterns)


INDEX_REFUSALS = (
    b"there is no index for",
    b"the index does not hold the files this",
    b"the index cannot tell what does not match",
)


def _index_refused(difference: Difference) -> bool:
    """`--engine index` was asked for what an index cannot answer, and says which."""
    refused = any(message in difference.ours.err for message in INDEX_REFUSALS)
    return difference.backend == "index" and difference.ours.status == 2 and refused


_DOTTED = re.compile(r"\./\.(/|$)")
_RULES_FILES = (b".gitignore", b".ignore", b".rgignore", b"exclude", b"ignore", b"rules")


def _dotted(difference: Difference) -> bool:
    """An operand begins with `./.`, and a glob in an ignore file holds a slash."""
    case = difference.case
    entries = [*case.tree.entries, *case.tree.edits]
    rules = (entry.data for entry in entries if os.path.basename(entry.path) in _RULES_FILES)
    slashed = any(b"/" in data for data in rules)
    # Other files are left out, and other files are shown.
    return slashed and any(map(_DOTTED.match, case.operands)) and _may_be_due_to_files(difference)


def _slash(difference: Difference) -> bool:
    """A glob is `/`, and an operand is absolute."""
    case = difference.case
    globs = {flag[0].partition("=")[2] or flag[0][2:] for flag in case.flags if "g" in flag[0]}
    absolute = any(operand.startswith(BASE) for operand in case.operands)
    return bool(globs & {"/", "!/"}) and absolute and _lists_other_files(difference)


_SUMMARY = re.compile(rb'\d[\d.]* (match|file|byte|second)[a-z ]*\n?|.*"type":"summary"\}\n?')


def _may_be_due_to_files(difference: Difference) -> bool:
    """What differs may be due to which files are searched."""
    # With -L a loop, or a link to nothing; with -q an operand that is no more asked about.
    complains = difference.case.has("-L", "--follow", "-q", "--quiet")
    allowed = {"stdout", "status", "stderr"} if complains else {"stdout", "status"}
    return allowed.issuperset(difference.aspects)


def _lists_other_files(difference: Difference, *, distinct: bool = False) -> bool:
    """One answer is the other without some lines; of equal lines `distinct` regards one alone."""
    if not _may_be_due_to_files(difference):
        return False
    statuses = {difference.ours.status, difference.theirs.status}
    if not difference.ours.out and not difference.theirs.out:  # -q
        return statuses == {0, 1} or difference.case.has("-L", "--follow")
    ours, theirs = _shown_lines(difference)
    if distinct:
        ours, theirs = Counter(set(ours)), Counter(set(theirs))
    return ours <= theirs or theirs <= ours


def _shown_lines(difference: Difference) -> tuple[Counter[bytes], Counter[bytes]]:
    """The lines of both answers without those of the statistics."""
    outs = (masked(difference.case, answer.out) for answer in (difference.ours, difference.theirs))
    ours, theirs = (
        Counter(
            line
            for line in out.replace(b"\0", b"\n").splitlines(keepends=True)  # -0
            if not _SUMMARY.fullmatch(line)
        )
        for out in outs
    )
    return ours, theirs


_STRAY_LINE = re.compile(rb"(?m)^[\x80-\xbf]")
_CONTINUATION = re.compile(rb"[\x80-\xbf]")
_LOOKS_BACK = re.compile(r"\\B|start-half")


def _stray_lines(difference: Difference) -> bool:
    """The pattern looks back over stray bytes at a line's beginning; no other line differs."""
    case = difference.case
    looks = case.has("-w", "--word-regexp") or any(map(_LOOKS_BACK.search, case.patterns))
    stray = any(map(_STRAY_LINE.search, [*case.tree.files().values(), case.stdin or b""]))
    if not looks or not stray or not {"stdout", "status"}.issuperset(difference.aspects):
        return False
    ours, theirs = _shown_lines(difference)
    shown = all(_CONTINUATION.search(line) for line in [*(ours - theirs), *(theirs - ours)])
    return shown or case.has(*_COUNTS_AND_LISTS)


_TEXT_START = re.compile(r"\\A|\(\?[a-z]*-[a-z]*m")
_PIECE_BYTES = 1 << 16


def _piece_starts(difference: Difference) -> bool:
    """The pattern asks for the beginning of the text, and a text is read in pieces."""
    case = difference.case
    asks = any(map(_TEXT_START.search, case.patterns))
    texts = [*case.tree.files().values(), case.stdin or b""]
    pieces = any(len(data) > _PIECE_BYTES or data[-1:] not in (b"", b"\n") for data in texts)
    return asks and pieces and difference.aspects == ("stdout",)


def _has_nul(case: Case) -> bool:
    return any(b"\0" in data for data in case.tree.files().values())


def _limited(case: Case) -> bool:
    return any(flag[0].startswith("-m") for flag in case.flags)


_COUNTS_AND_LISTS = ("-c", "--count", "--count-matches", "-l", "--files-without-match")


def _other_counts(difference: Difference) -> bool:
    """A count or a list, and --passthru with --crlf, -v and -m, or a NUL, or a NUL in context."""
    case = difference.case
    looks = case.has("--crlf") or (case.has("-v", "--invert-match") and _limited(case))
    passes = case.has("--passthru") and (looks or _has_nul(case))
    whole = case.has("-U", "--multiline", "--mmap") and _has_nul(case) and _has_context(case)
    counts = case.has(*_COUNTS_AND_LISTS)
    quiet = whole and case.has("-q", "--quiet")
    return (quiet or (counts and (passes or whole))) and _may_be_due_to_files(difference)


def _has_context(case: Case) -> bool:
    return any(flag[0][:2] in ("-A", "-B", "-C") for flag in case.flags)


def _separated_warning(difference: Difference) -> bool:
    """With -v, lines of context and a NUL ripgrep writes the separator again, and nothing else."""
    case = difference.case
    asked = case.has("-v", "--invert-match") and _has_context(case) and _has_nul(case)
    ours, theirs = _shown_lines(difference)
    more = theirs - ours
    return asked and difference.aspects == ("stdout",) and ours <= theirs and len(more) == 1


_MATCHED_LINES = re.compile(rb"\d+ matched lines")


def _inverted_nul(difference: Difference) -> bool:
    """With `-v` and a NUL the number of matching lines differs, and nothing else."""
    case = difference.case
    ours, theirs = (
        _MATCHED_LINES.sub(b"", masked(case, answer.out))
        for answer in (difference.ours, difference.theirs)
    )
    inverted = any(flag[0] in ("-v", "--invert-match") for flag in case.flags)
    return inverted and _has_nul(case) and difference.aspects == ("stdout",) and ours == theirs


def _panicked(difference: Difference) -> bool:
    """ripgrep ended by a mistake of its own."""
    return difference.theirs.status == 101 and b"panicked at" in difference.theirs.err


_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_REPLACEMENT = re.compile(rb"\xef(\xbf\xbd?)?")


def _cut_replacement(difference: Difference) -> bool:
    """With -U ripgrep drops bytes of the U+FFFD that stands for the end of a UTF-16 file."""
    case = difference.case
    texts = [*case.tree.files().values(), case.stdin or b""]
    cut = case.has("-U", "--multiline") and any(data[:2] in _UTF16_MARKS for data in texts)
    ours, theirs = (
        Counter(_REPLACEMENT.sub(b"", line) for line in lines.elements())
        for lines in _shown_lines(difference)
    )
    return cut and difference.aspects == ("stdout",) and ours == theirs


def _rules_above(difference: Difference) -> bool:
    """A glob with a slash stands in an ignore file above what was named."""
    case = difference.case
    files = case.tree.files()
    for operand in case.operands:
        path = os.fsencode(operand.removeprefix(BASE + "/"))
        if not operand.startswith(BASE):
            path = os.path.normpath(os.path.join(case.cwd, path))
        while path := os.path.dirname(path):
            names = [*IGNORE_NAMES, ".git/info/exclude"]
            rules = b"\n".join(files.get(path + b"/" + name.encode(), b"") for name in names)
            if any(b"/" in line.strip(b"!/\r ") for line in rules.split(b"\n")):
                # What one operand shows depends on those before it.
                return _lists_other_files(difference, distinct=len(case.operands) > 1)
    return False


_SEPARATORS = re.compile(rb"[:-]")


def _behind_inverted(difference: Difference) -> bool:
    """With `-v`, `-m` and lines of context ripgrep shows or counts a line more, or as a match."""
    flags = {flag[0] for flag in difference.case.flags}
    asked = "-v" in flags and _limited(difference.case)
    shows = any(flag[:2] in ("-A", "-C") for flag in flags)
    if asked and shows and difference.case.has("-c", "--count", "--count-matches"):
        return difference.aspects == ("stdout",)
    ours, theirs = (
        Counter(_SEPARATORS.sub(b"", line) for line in lines.elements())
        for lines in _shown_lines(difference)
    )
    return asked and shows and difference.aspects == ("stdout",) and ours <= theirs


_INVALID_GLOBS = re.compile(
    rb"(rg: .*: line \d+: (error parsing glob .*|stream did not contain valid UTF-8)\n)+",
    re.DOTALL,  # in the name of a folder
)


def _invalid_globs(difference: Difference) -> bool:
    """ripgrep names invalid globs in ignore files; answer and exit status are the same."""
    said = difference.theirs.err
    return difference.aspects == ("stderr",) and bool(_INVALID_GLOBS.fullmatch(said))


RULES = (
    Documented("A brace that repeats nothing", _brace),
    Documented("`--engine index`", _index_refused),
    Documented("Paths that begin with `././`", _dotted),
    Documented("Statistics", _inverted_nul),
    Documented("Counts and lists", _other_counts),
    Documented("Where a NUL is met", _separated_warning),
    Documented("`-v` with `-m` and lines of context", _behind_inverted),
    Documented("Lines that begin inside a character", _stray_lines),
    Documented("The glob `/`", _slash),
    Documented("Invalid globs in ignore files", _invalid_globs),
    Documented("The beginning of what was read", _piece_starts),
    Documented("Where ripgrep fails", _panicked),
    Documented("Where ripgrep fails", _cut_replacement),
    Documented("Ignore rules of a parent folder, seen from a folder below", _rules_above),
)
