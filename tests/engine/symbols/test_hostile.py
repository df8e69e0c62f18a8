"""Texts that crash parsers or keep them busy cost their own symbols and nothing else."""

from __future__ import annotations

import os
import random
import time

import pytest

from triseek.engine.symbols.cache import SymbolCache
from triseek.engine.symbols.child import START_S, Child, ChildFailed, ChildSlow
from triseek.engine.symbols.grammars import GRAMMARS
from triseek.engine.symbols.parser import GRACE_S, Parser
from triseek.engine.symbols.symbols import FILE_BYTES_MAX, Symbols
from triseek.errors import OutOfTime
from triseek.model import budget

GOOD = b"def good():\n    pass\n" * 100
PIECES = (
    b"( ) { } [ ] < > if class A = \n ' \" ` \0 $ # << EOF \\ , ; : fn def end\n @ /* */ // \xff "
    b'1 . ? do let % & * <?php ?> R" r#" """ ${ #{ \r \t 0x func import -> =>'
).split(b" ")


@pytest.fixture
def symbols(tmp_path):
    with Symbols(SymbolCache(str(tmp_path / "cache")), file_seconds=0.5) as made:
        yield made


@pytest.mark.parametrize(
    "piece", [b"(", b"[", b"{a", b"a.", b"!", b"if x:\n ", b"\0", b"\xff", b'"']
)
def test_a_megabyte_of_nesting_ends_in_time(symbols, piece):
    text = (piece * (1 << 20))[: 1 << 20]
    started = time.monotonic()
    symbols.file_symbols(b"a.py", text)
    assert time.monotonic() - started < 0.5 + GRACE_S + START_S + 1.5
    assert symbols.of_file(b"b.py", GOOD)[0].name == "good"


def test_a_text_that_takes_too_long_is_parsed_once(symbols):
    text = b"(" * (1 << 20)
    assert "not parsed" in symbols.file_symbols(b"a.py", text).problem
    started = time.monotonic()
    assert "not parsed" in symbols.file_symbols(b"a.py", text).problem
    assert time.monotonic() - started < 0.2


def test_random_tokens_in_each_grammar():
    rng = random.Random(20)
    parser = Parser()
    try:
        for grammar in GRAMMARS:
            for _ in range(4):
                text = b" ".join(rng.choices(PIECES, k=2_000)) + rng.randbytes(500)
                for symbol in parser.parse(text, grammar, 2.0).symbols:
                    name = text[symbol.begin : symbol.end].decode(errors="replace")
                    assert name == symbol.name
    finally:
        parser.close()


def test_a_file_beyond_the_limit_is_said(symbols):
    listed = symbols.file_symbols(b"a.py", b"x = 1\n" * (FILE_BYTES_MAX // 6 + 1))
    assert listed.symbols == ()
    assert "larger than 2 MiB" in listed.problem


def test_without_time_nothing_is_parsed(symbols):
    with budget.limited(-1), pytest.raises(OutOfTime):
        symbols.of_file(b"a.py", GOOD)


def test_a_killed_parser_is_started_again(symbols):
    symbols.of_file(b"a.py", GOOD)
    for child in symbols._parser._children:
        if child._process is not None:
            os.kill(child._process.pid, 9)
    assert len(symbols.of_file(b"a.py", GOOD + b"x = 1\n")) > 1


def test_no_module_of_the_working_folder_is_imported(symbols, tmp_path, monkeypatch):
    (tmp_path / "tree_sitter.py").write_text(f"open({str(tmp_path / 'canary')!r}, 'w')\n")
    (tmp_path / "triseek.py").write_text("raise SystemExit(3)\n")
    monkeypatch.chdir(tmp_path)
    assert symbols.of_file(b"a.py", GOOD)
    assert not (tmp_path / "canary").exists()


SHELL = "/bin/sh"


def ends_with_newline(answer):
    return answer.endswith(b"\n")


def test_a_silent_child_is_killed():
    child = Child((SHELL, "-c", "read x; exec sleep 60"), ends_with_newline)
    with pytest.raises(ChildSlow):
        child.ask(b"x\n", 0.3)
    assert child._process is None


def test_a_child_that_reads_nothing_does_not_block_the_writer():
    child = Child((SHELL, "-c", "exec sleep 60"), ends_with_newline)
    with pytest.raises(ChildSlow):
        child.ask(b"x" * (1 << 20), 0.3)


def test_an_endless_answer_is_cut(monkeypatch):
    monkeypatch.setattr("triseek.engine.symbols.child.REPLY_MAX", 1 << 20)
    child = Child((SHELL, "-c", "exec yes"), lambda _: False)
    with pytest.raises(ChildFailed):
        child.ask(b"x\n", 5)


def test_a_child_that_ends_is_started_again():
    child = Child((SHELL, "-c", "read x; echo $$"), ends_with_newline)
    first = child.ask(b"x\n", 5)
    child._process.wait()
    assert child.ask(b"x\n", 5) != first
    child.close()


def test_a_program_that_is_not_there_is_said():
    with pytest.raises(ChildFailed, match="nothing-here"):
        Child(("/nothing-here",), ends_with_newline).ask(b"", 1)
