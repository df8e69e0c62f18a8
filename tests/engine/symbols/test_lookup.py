"""Definitions, references and outlines in a small repository."""

from __future__ import annotations

import os

import pytest

from triseek.engine.engine import Engine
from triseek.engine.symbols import ctags, lookup
from triseek.engine.symbols.cache import SymbolCache
from triseek.engine.symbols.symbols import FILE_BYTES_MAX, Symbols
from triseek.errors import InvalidRequest

FILES = {
    "shop.py": 'class Shop:\n    def sell(self):\n        """Never sell."""\n        return 1\n',
    "use.py": "from shop import Shop\n\ndef main():\n    Shop().sell()  # sell\n    x = 'sell'\n",
    "other.go": "package other\n\nfunc sell() {}\n\nfunc sellAll() { sell() }\n",
    "notes.md": "To sell a Shop, sell.\n",
    "macro.c": "#define RUN(x) sell(x)\nint resell(void) { return sell(1); }\n",
}


@pytest.fixture
def engine(tmp_path):
    root = tmp_path / "repository"
    root.mkdir()
    for name, text in FILES.items():
        (root / name).write_text(text)
    return Engine(str(root))


@pytest.fixture
def symbols(tmp_path):
    with Symbols(SymbolCache(str(tmp_path / "cache"))) as made:
        yield made


def places(found):
    return [(place.path.decode(), place.line) for place in found.places]


def test_a_name_is_found_where_it_is_defined(symbols, engine):
    found = lookup.definitions(symbols, engine, "sell")
    assert sorted(places(found)) == [("other.go", 3), ("shop.py", 2)]
    assert found.partial == ()
    assert {place.symbol.name for place in found.places} == {"sell"}


def test_a_parent_narrows(symbols, engine):
    for name in ("Shop.sell", "Shop::sell", "shop.Shop#sell"):
        assert places(lookup.definitions(symbols, engine, name)) == [("shop.py", 2)]
    assert places(lookup.definitions(symbols, engine, "Till.sell")) == []


def test_parts_come_behind_the_exact_name(symbols, engine):
    found = lookup.definitions(symbols, engine, "sell", parts=True)
    names = [place.symbol.name for place in found.places]
    assert names == ["sell", "sell", "sellAll", "resell"]


def test_parts_are_found_where_nothing_has_the_name(symbols, engine):
    assert places(lookup.definitions(symbols, engine, "SELLA")) == [("other.go", 5)]
    assert places(lookup.definitions(symbols, engine, "nothing")) == []


def test_references_are_code_only(symbols, engine):
    found = lookup.references(symbols, engine, "sell")
    assert sorted(places(found)) == [
        ("macro.c", 1), ("macro.c", 2), ("other.go", 5), ("use.py", 4),
    ]  # fmt: skip
    around = {place.path: place.symbol and place.symbol.name for place in found.places}
    assert around[b"use.py"] == "main"
    assert found.unparsed == 1  # notes.md
    assert found.partial == ()


def test_a_limit_is_said(symbols, engine):
    found = lookup.references(symbols, engine, "sell", limit=2)
    assert len(found.places) == 2
    assert found.partial == ("There are more than 2 places.",)


def test_a_file_that_became_a_link_is_said(symbols, engine, tmp_path):
    (tmp_path / "secret.py").write_text("def sell(): pass\n")
    target = os.path.join(engine.root, "shop.py")

    def replaced(path, text):
        raise AssertionError

    os.unlink(target)
    os.symlink(tmp_path / "secret.py", target)
    results = dict(lookup._each(engine.root, [b"shop.py"], replaced))
    assert results[b"shop.py"].problem == "cannot be read"


def test_files_that_cannot_be_parsed_are_named_up_to_a_number(symbols, engine):
    large = b"x = 1\n" * (FILE_BYTES_MAX // 6) + b"def sell(): pass\n"
    for number in range(lookup.PROBLEMS_MAX + 2):
        with open(os.path.join(engine.root, f"large{number}.py"), "wb") as file:
            file.write(large)
    found = lookup.definitions(symbols, engine, "sell", seconds=30)
    assert sorted(places(found)) == [("other.go", 3), ("shop.py", 2)]
    assert len(found.partial) == lookup.PROBLEMS_MAX + 1
    assert found.partial[0].endswith(".py: it is larger than 2 MiB.")
    assert found.partial[-1] == "2 more files could not be parsed."


def test_utf_16_is_decoded_and_never_cut(symbols, engine):
    path = os.path.join(engine.root, "wide.py")
    with open(path, "wb") as file:
        file.write("def wide(): pass\n".encode("utf-16"))
    assert [one.name for one in lookup.outline(symbols, engine, "wide.py").symbols] == ["wide"]
    with open(path, "wb") as file:
        file.write(("x = 1\n" * (FILE_BYTES_MAX // 12 + 1) + "def wide(): pass\n").encode("utf-16"))
    assert "larger than" in lookup.outline(symbols, engine, "wide.py").problem


def test_without_a_parser_nothing_is_defined_and_that_is_said(symbols, engine, monkeypatch):
    monkeypatch.setattr("triseek.engine.symbols.grammars._is_installed", lambda _: False)
    monkeypatch.setattr(ctags, "program", lambda: "")
    assert not lookup.outline(symbols, engine, "shop.py").is_parsed
    found = lookup.definitions(symbols, engine, "sell")
    assert found.places == ()
    assert found.unparsed == len(FILES)


def test_time_that_is_over_is_said(symbols, engine):
    found = lookup.definitions(symbols, engine, "sell", seconds=0)
    assert found.places == ()
    assert found.partial


def test_an_outline_is_of_files_inside(symbols, engine):
    names = [symbol.name for symbol in lookup.outline(symbols, engine, "shop.py").symbols]
    assert names == ["Shop", "sell"]
    for path in ("../outside.py", "missing.py", "."):
        with pytest.raises(InvalidRequest):
            lookup.outline(symbols, engine, path)


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "a\0b", "x" * 300])
def test_what_can_be_no_name_is_refused(symbols, engine, name):
    with pytest.raises(InvalidRequest):
        lookup.definitions(symbols, engine, name)


@pytest.mark.skipif(not ctags.program(), reason="universal-ctags with its sandbox is not installed")
class TestCtags:
    TEXT = b"package Shop;\nsub sell {\n  return 1;\n}\nsub sell_all { }\n"

    def test_other_languages_are_parsed_by_it(self, symbols):
        listed = symbols.of_file(b"a.pl", self.TEXT)
        assert [one.name for one in listed] == ["Shop", "sell", "sell_all"]
        for one in listed:
            assert self.TEXT[one.begin : one.end] == one.name.encode()

    def test_options_of_the_tree_and_the_user_are_not_read(self, symbols, tmp_path, monkeypatch):
        (tmp_path / ".ctags.d").mkdir()
        (tmp_path / ".ctags.d" / "x.ctags").write_text("--languages=-Perl\n")
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("CTAGS", "--languages=-Perl")
        monkeypatch.chdir(tmp_path)
        assert len(symbols.of_file(b"a.pl", self.TEXT)) == 3

    @pytest.mark.parametrize("name", [b"-x.pl", b"--version.pl", b"dir/../a\nb.pl", b"\xff.pl"])
    def test_names_of_files_are_only_names(self, symbols, name):
        assert len(symbols.of_file(name, self.TEXT)) == 3

    def test_a_long_line_of_many_names_ends(self, symbols):
        text = b"".join(b"sub a%d {} " % number for number in range(60_000))
        symbols.file_symbols(b"a.pl", text)
        assert len(symbols.of_file(b"b.pl", self.TEXT)) == 3
