"""The outline of a small file of each language is as it was accepted, and says what is there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from triseek.engine.symbols import parsing
from triseek.engine.symbols.grammars import GRAMMARS, grammar_of

SOURCES = Path(__file__).parent / "sources"
SUFFIXES = sorted(path.stem for path in SOURCES.glob("*.source"))


def outlined(suffix):
    text = (SOURCES / f"{suffix}.source").read_bytes()
    grammar = grammar_of(f"a.{suffix}".encode(), text)
    return text, parsing.symbols(text, grammar, 5)[0]


def as_text(symbols):
    lines = []
    for one in symbols:
        parent = f" in {one.parent_kind} {one.parent}" if one.parent else ""
        lines.append(f"{one.line}-{one.end_line} {one.kind} {one.name}{parent}")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_outline_is_the_accepted_one(suffix):
    path = SOURCES / f"{suffix}.outline"
    printed = as_text(outlined(suffix)[1])
    if os.environ.get("TRISEEK_GOLDEN") == "update":
        path.write_text(printed, "utf-8")
    assert printed == path.read_text("utf-8")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_each_symbol_is_where_it_says(suffix):
    text, symbols = outlined(suffix)
    lines = text.split(b"\n")
    names = {(one.name, one.kind): one for one in symbols}
    assert len(symbols) > 1
    for one in symbols:
        assert text[one.begin : one.end] == one.name.encode()
        assert text.count(b"\n", 0, one.begin) + 1 == one.line <= one.end_line <= len(lines)
        outer = names.get((one.parent, one.parent_kind))
        if outer is not None and outer.line <= one.line <= outer.end_line:
            assert one.end_line <= outer.end_line


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_variables_of_functions_and_comments_define_nothing(suffix):
    names = {one.name for one in outlined(suffix)[1]}
    assert not names & {"hidden", "also", "deep", "comment", "no", "local"}


def test_each_grammar_has_a_sample():
    sampled = {
        grammar_of(f"a.{suffix}".encode(), (SOURCES / f"{suffix}.source").read_bytes())
        for suffix in SUFFIXES
    }
    assert sampled == set(GRAMMARS)


def test_the_language_of_a_script_is_that_of_its_interpreter():
    assert grammar_of(b"bin/run", b"#!/usr/bin/env python3\n").name == "python"
    assert grammar_of(b"bin/run", b"#!/bin/bash -e\n").name == "bash"
    assert grammar_of(b"bin/run", b"python\n") is None
    assert grammar_of(b"notes.txt", b"#!/bin/sh\n") is None
