"""`triseek symbols`, for real: outlines, definitions, references, and what is refused."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.cli.running import triseek

FILES = {
    "src/shop.py": "class Shop:\n    LIMIT = 1\n\n    def sell(self):\n        return 1\n",
    "src/use.py": "from shop import Shop\n\n\ndef main():\n    Shop().sell()  # sell\n",
    "notes.unknown": "sell\n",
}


@pytest.fixture
def tree(repo):
    return Path(repo(FILES))


def test_an_outline_is_nested(tree):
    outcome = triseek(["symbols", "src/shop.py"], tree)
    assert outcome.status == 0
    assert outcome.out.decode().splitlines() == [
        "class Shop  1-5",
        "  field LIMIT  2",
        "  method sell  4-5",
    ]


def test_an_outline_as_json_has_the_fields_of_a_symbol(tree):
    document = json.loads(triseek(["symbols", "src/shop.py", "--json"], tree).out)
    assert document["partial"] == []
    assert document["symbols"][2] == {
        "name": "sell", "kind": "method", "line": 4, "end_line": 5, "begin": 35, "end": 39,
        "parent": "Shop", "parent_kind": "class",
    }  # fmt: skip


def test_definitions_and_references(tree):
    outcome = triseek(["symbols", "--definition", "Shop.sell"], tree)
    assert (outcome.status, outcome.out) == (0, b"src/shop.py:4:9: def sell(self):\n")
    outcome = triseek(["symbols", "--references", "sell"], tree)
    first, *rest = outcome.out.decode().splitlines()
    assert first == "src/use.py:5:12: Shop().sell()  # sell"
    assert rest == ["1 more file in languages without a parser"]


def test_a_folder_limits_the_search(tree):
    (tree / "other").mkdir()
    (tree / "other" / "a.py").write_text("def sell(): pass\n")
    outcome = triseek(["symbols", "other", "--definition", "sell", "--json"], tree)
    document = json.loads(outcome.out)
    assert [place["path"] for place in document["places"]] == ["a.py"]


def test_nothing_is_status_one(tree):
    assert triseek(["symbols", "--definition", "nothing_so"], tree).status == 1
    assert triseek(["symbols", "notes.unknown"], tree).status == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "a file, --definition NAME or --references NAME is missing"),
        (["--definition", "a", "--references", "b"], "exclude each other"),
        (["missing.py"], "missing.py: no such file"),
        (["src"], "src: no such file"),
        (["--definition", "  "], "a name has 1 to 256 characters"),
        (["missing", "--definition", "x"], "missing: no such folder"),
    ],
)
def test_what_makes_no_sense_is_refused(tree, words, message):
    outcome = triseek(["symbols", *words], tree)
    assert outcome.status == 2
    assert message in outcome.err
    assert len(outcome.err.splitlines()) == 1


def test_a_fifo_and_a_binary_file_do_not_block(tree):
    os.mkfifo(tree / "pipe.py")
    (tree / "binary.py").write_bytes(b"\0\1\2")
    assert triseek(["symbols", "pipe.py"], tree).status == 2
    outcome = triseek(["symbols", "binary.py"], tree)
    assert outcome.status == 2
    assert "binary" in outcome.err


@pytest.mark.parametrize("words", [("--definition", "sell"), ("--references", "nothing_so")])
def test_what_was_not_searched_is_not_called_absent(tree, words, monkeypatch):
    monkeypatch.setattr("triseek.search.commands.symbols.SECONDS", 0.0)
    outcome = triseek(["symbols", *words], tree)
    assert outcome.status == 2
    assert b"no such name" not in outcome.out
    assert outcome.out.startswith((b"The search for the name: stopped", b"The time was over"))
    document = json.loads(triseek(["symbols", *words, "--json"], tree).out)
    assert (document["places"], bool(document["partial"])) == ([], True)
