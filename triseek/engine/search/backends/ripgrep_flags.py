"""Convert a request to ripgrep's command line.

Values from the user are passed as `--flag=value`, patterns as `--regexp=`, paths after `--`. So rg
never reads a value as an option, whatever it begins with.
"""

from __future__ import annotations

import os
from dataclasses import fields
from typing import TYPE_CHECKING

from triseek.model.search import ScopeSpec
from triseek.query.globs.file_types import globs_of_types
from triseek.query.regex.parse import patterns_for_ripgrep

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from triseek.model.search import PatternSpec, SearchRequest

_CASES = {"sensitive": "--case-sensitive", "insensitive": "--ignore-case", "smart": "--smart-case"}

_SCOPE_SWITCHES = [
    each.name for each in fields(ScopeSpec) if each.default is False and each.name != "allowlist"
]
"""Fields of `ScopeSpec` that ripgrep spells the same, with hyphens."""

_MODES = {
    "count": "--count",
    "count_matches": "--count-matches",
    "files": "--files-with-matches",
    "files_without_match": "--files-without-match",
}


def arguments(request: SearchRequest, paths: Iterable[str], *, ordered: bool) -> list[str]:
    """Return the arguments for rg, without the program name.

    `paths` are folders as rg should print them: absolute, or with `./` in front. `ordered` makes
    rg sort, which makes it single-threaded.
    """
    spec = request.pattern
    return [
        *("--no-config", "--color=never", "--no-ignore-messages"),
        "--mmap" if request.mapped else "--no-mmap",
        *("--with-filename", "--null", "--no-context-separator"),
        *(["--sort=path"] if ordered else []),
        *_output_flags(request),
        *_pattern_flags(spec),
        *_scope_flags(request.scope),
        *(f"--regexp={pattern}" for pattern in patterns_for_ripgrep(spec)),
        # Without any pattern, rg would use the first path as one.
        *([] if spec.patterns else [f"--file={os.devnull}"]),
        "--",
        *paths,
    ]


def _output_flags(request: SearchRequest) -> Iterator[str]:
    if request.mode == "lines":
        yield from ("--heading", "--byte-offset")
        yield "--line-number" if request.line_numbers else "--no-line-number"
        if request.passthru:
            yield "--passthru"
        else:
            yield from (f"--before-context={request.before}", f"--after-context={request.after}")
    else:
        yield _MODES[request.mode]
        yield f"--after-context={request.after}"
    if request.mode not in ("files", "files_without_match"):
        yield "--stats"  # in those two modes it would make rg read on after a file is decided
    if request.invert:
        yield "--invert-match"
    if request.max_count is not None:
        yield f"--max-count={request.max_count}"


def _pattern_flags(spec: PatternSpec) -> Iterator[str]:
    yield _CASES[spec.case]
    if spec.fixed:
        yield "--fixed-strings"
    if spec.line:
        yield "--line-regexp"
    elif spec.word:
        yield "--word-regexp"
    if spec.multiline:
        yield "--multiline"
        if spec.dotall:
            yield "--multiline-dotall"
    if not spec.unicode:
        yield "--no-unicode"
    if spec.crlf:
        yield "--crlf"


def _scope_flags(scope: ScopeSpec) -> Iterator[str]:
    for name in _SCOPE_SWITCHES:
        if getattr(scope, name) and not (name == "binary" and scope.text):
            yield "--" + name.replace("_", "-")
    yield from (f"--glob={glob}" for glob in scope.globs)
    yield from (f"--iglob={glob}" for glob in scope.iglobs)
    yield from _type_flags(scope)
    yield from (f"--ignore-file={path}" for path in scope.ignore_files)
    if scope.max_depth is not None:
        yield f"--max-depth={scope.max_depth}"
    if scope.max_filesize is not None:
        yield f"--max-filesize={scope.max_filesize}"


def _type_flags(scope: ScopeSpec) -> Iterator[str]:
    """Yield types as globs of our own table: rg versions define the same name differently."""
    for number, (takes, globs) in enumerate(globs_of_types(scope)):
        name = f"triseek{number}"
        yield from (f"--type-add={name}:{glob}" for glob in globs)
        if globs:
            yield f"--type={name}" if takes else f"--type-not={name}"
