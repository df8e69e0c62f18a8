"""Queries for definitions, with the parsers of `engine.symbols`."""

from __future__ import annotations

import pytest

from triseek.engine.repositories.local import LocalRepositories
from triseek.engine.repositories.roots import named
from triseek.engine.service import Service
from triseek.engine.symbols.cache import SymbolCache
from triseek.engine.symbols.symbols import Symbols
from triseek.model.code_search import CodeRequest

FILES = {
    "use.py": "from define import Cart\nprint(Cart().total_price())\n",
    "define.py": "class Cart:\n    def total_price(self):\n        return 1\n\n\nCART = Cart()\n",
    "cart.go": "package cart\n\nfunc CartTotal() int {\n\treturn 1\n}\n",
    "cart.txt": "class Cart:\n",
}


@pytest.fixture
def search(tree):
    with Service() as service, Symbols(SymbolCache()) as symbols:
        source = LocalRepositories(service, named([tree("one", FILES)]), symbols)
        yield lambda query: source.search(CodeRequest(query=query, seconds=60))


def test_only_definitions_match_and_say_what_they_are(search):
    result = search("sym:^Cart$")
    assert result.partial == ()
    (file,) = result.files
    (line,) = file.lines
    assert (file.path, line.number, line.spans) == (b"define.py", 1, ((6, 10),))
    assert (line.symbol.name, line.symbol.kind) == ("Cart", "class")


def test_a_part_of_a_name_in_any_case(search):
    found = {(f.path, line.number) for f in search("sym:cart").files for line in f.lines}
    assert {(b"define.py", 1), (b"cart.go", 3)} <= found
    assert not {path for path, _ in found} & {b"use.py", b"cart.txt"}


def test_definitions_with_other_conditions(search):
    assert [file.path for file in search("sym:total lang:go").files] == [b"cart.go"]
    assert [file.path for file in search("cart -sym:cart").files] == [b"cart.txt", b"use.py"]
    assert search("sym:print").files == []
