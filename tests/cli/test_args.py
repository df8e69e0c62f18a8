"""Words as typed become `LowArgs`, in ripgrep's grammar."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from triseek.cli.args import LONG, NEGATED, SHORT, parse
from triseek.cli.flags import FLAGS
from triseek.errors import InvalidRequest


@pytest.mark.parametrize(
    ("words", "field", "expected"),
    [
        (["-i", "-s"], "case", "sensitive"),
        (["-s", "-S", "-i"], "case", "insensitive"),
        (["-iS"], "case", "smart"),
        (["-w", "-x"], "boundary", "line"),
        (["-x", "-w"], "boundary", "word"),
        (["-C2"], "both", 2),
        (["-C=2"], "both", 2),
        (["-C", "2"], "both", 2),
        (["--context=2"], "both", 2),
        (["-inC2"], "both", 2),
        (["-C1", "--passthru"], "both", None),
        (["--passthru", "-A1"], "passthru", False),
        (["-c", "-l"], "mode", "files"),
        (["--json", "--no-json"], "mode", "standard"),
        (["-l", "--no-json"], "mode", "files"),
        (["-a", "--no-text"], "binary", "auto"),
        (["-uuu"], "binary", "suppress"),
        (["-uu"], "hidden", True),
        (["-u", "--ignore-vcs"], "no_ignore_vcs", False),
        (["-n", "-N"], "line_number", False),
        (["-H", "--no-filename"], "with_filename", False),
        (["-p"], "color", "always"),
        (["--no-unicode", "--unicode"], "unicode", True),
        (["--context-separator", r"\x41\n"], "context_separator", b"A\n"),
        (["--no-context-separator"], "context_separator", None),
        (["-e", "-x", "-e", "--"], "patterns", [("text", "-x"), ("text", "--")]),
        (["-fa", "-eb"], "patterns", [("file", "a"), ("text", "b")]),
        (["-g", "a", "-g!b"], "globs", ["a", "!b"]),
        (["-tc", "-Tpy", "--type-add=x:*.x"], "type_changes",
         [("select", "c"), ("negate", "py"), ("add", "x:*.x")]),
        (["--max-filesize", "2K"], "max_filesize", 2048),
        (["--engine", "default"], "engine", "auto"),
        (["--", "-i", "--files"], "positional", ["-i", "--files"]),
        (["a", "-i", "b", "-"], "positional", ["a", "b", "-"]),
        (["-M0"], "max_columns", 0),
        (["--stats", "--no-stats"], "stats", False),
    ],
)  # fmt: skip
def test_words_mean_what_they_mean_to_ripgrep(
    words: list[str], field: str, expected: object
) -> None:
    assert getattr(parse(words), field) == expected


@pytest.mark.parametrize("flag", FLAGS, ids=lambda flag: flag.long)
def test_every_flag_can_be_typed_or_is_refused_by_name(flag: object) -> None:
    values = {"NUM": "1", "NUM+SUFFIX?": "1K", "WHEN": "never", "ENGINE": "scan", "KIND": "literal"}
    values |= {"COLOR_SPEC": "path:none", "SORTBY": "none", "ENCODING": "auto", "FORMAT": "none"}
    value = [values.get(flag.value, "x")] if flag.value else []
    if flag.refusal:
        with pytest.raises(InvalidRequest, match=f"--{flag.long}.* is not supported"):
            parse([f"--{flag.long}", *value])
    else:
        parse([f"--{flag.long}", *value])
        if flag.short:
            parse([f"-{flag.short}", *value])
    if flag.negation:
        parse([f"--{flag.negation}"])


def test_no_two_flags_are_spelled_the_same() -> None:
    longs = [name for flag in FLAGS for name in (flag.long, *flag.aliases, flag.negation) if name]

    assert len(longs) == len(set(longs))
    assert len(SHORT) == sum(bool(flag.short) for flag in FLAGS)


@pytest.mark.rg
@pytest.mark.usefixtures("needs_rg")
def test_every_flag_that_rg_lists_is_in_the_table() -> None:
    listing = subprocess.run(
        [shutil.which("rg") or "rg", "--help"], capture_output=True, text=True, check=True
    ).stdout
    heads = [line for line in listing.splitlines() if re.match(r" {4}-", line)]
    if not re.search(r"^ripgrep 14\.", listing, re.MULTILINE):
        pytest.skip("the help of another version has another form")

    assert len(heads) > 90
    for head in heads:
        for name in re.findall(r"--([a-z0-9-]+)", head):
            assert name in LONG or name in NEGATED
        for letter in re.findall(r"^ {4}-(\S),? ", head):
            assert letter in SHORT


def test_a_flag_does_not_take_what_is_not_utf8() -> None:
    with pytest.raises(InvalidRequest, match="not valid UTF-8"):
        parse(["-g", "\udcff"])
