"""The command line for rg: what each field of a request becomes, and what no value can become."""

from __future__ import annotations

import os

import pytest

from triseek.engine.search.backends.ripgrep_flags import arguments
from triseek.model.search import PatternSpec, ScopeSpec, SearchRequest


def flags(pattern=("needle",), spec=None, scope=None, **fields):
    request = SearchRequest(
        pattern=PatternSpec(patterns=pattern, **(spec or {})),
        scope=ScopeSpec(**(scope or {})),
        **fields,
    )
    return arguments(request, ["./src"], ordered=False)


def test_values_are_never_options_of_their_own():
    args = flags(("--pre=rm", "-e"), scope={"globs": ("--files",), "iglobs": ("-x",)})

    assert args[-2:] == ["--", "./src"]
    assert "--glob=--files" in args
    assert "--iglob=-x" in args
    assert [arg for arg in args if arg.startswith("--regexp=")] == [
        "--regexp=--pre=rm",
        "--regexp=-e",
    ]
    assert args[0] == "--no-config"


def test_without_a_pattern_no_path_is_taken_for_one():
    assert f"--file={os.devnull}" in flags(())


@pytest.mark.parametrize(
    ("spec", "wanted", "unwanted"),
    [
        ({"word": True}, "--word-regexp", "--line-regexp"),
        ({"word": True, "line": True}, "--line-regexp", "--word-regexp"),
        ({"multiline": True}, "--multiline", "--multiline-dotall"),
        ({"dotall": True}, "--case-sensitive", "--multiline-dotall"),
        ({"unicode": False}, "--no-unicode", "--crlf"),
        ({"case": "smart", "fixed": True}, "--smart-case", "--ignore-case"),
    ],
)
def test_flags_of_patterns(spec, wanted, unwanted):
    args = flags(spec=spec)
    assert wanted in args
    assert unwanted not in args


@pytest.mark.parametrize(
    ("mode", "flag", "stats"),
    [
        ("count", "--count", True),
        ("count_matches", "--count-matches", True),
        ("files", "--files-with-matches", False),
        ("files_without_match", "--files-without-match", False),
    ],
)
def test_flags_of_modes(mode, flag, stats):
    args = flags(mode=mode)
    assert flag in args
    assert ("--stats" in args) == stats


def test_flags_of_scopes():
    args = flags(scope={"hidden": True, "text": True, "binary": True, "max_depth": 2})
    assert {"--hidden", "--text", "--max-depth=2"} <= set(args)
    assert "--binary" not in args


def test_passthru_takes_the_place_of_context():
    assert not any("context=" in arg for arg in flags(passthru=True, before=1, after=1))
    assert {"--before-context=1", "--after-context=2"} <= set(flags(before=1, after=2))
