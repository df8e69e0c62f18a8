"""File types are ripgrep's."""

import subprocess

import pytest

from tests import rg
from triseek.errors import InvalidQuery
from triseek.model.search import ScopeSpec
from triseek.query.globs.file_types import Types, default_types, definitions, language_of


@pytest.mark.rg
def test_the_table_is_what_rg_prints():
    command = [rg.program(), "--no-config", "--type-list"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    ours = "".join(f"{name}: {', '.join(globs)}\n" for name, globs in default_types().items())
    assert ours == printed


def taken(spec, *names):
    verdicts = Types(spec).decide(list(names))
    return [name for name in names if verdicts.get(name, True)]


def test_chosen_types_take_and_refused_types_leave_out():
    names = (b"a.rs", b"b.py", b"c")
    assert taken(ScopeSpec(types=("rust",)), *names) == [b"a.rs"]
    assert taken(ScopeSpec(types_not=("rust",)), *names) == [b"b.py", b"c"]
    assert taken(ScopeSpec(types=("all",)), *names) == [b"a.rs", b"b.py"]
    assert taken(ScopeSpec(types_not=("all",)), *names) == [b"c"]


def test_of_types_in_order_the_last_that_speaks_of_a_file_decides():
    names = (b"a.rs", b"b.py", b"c")

    def ordered(*order):
        return taken(ScopeSpec(types=("py",), types_not=("all",), type_order=order), *names)

    assert ordered(("negate", "all"), ("select", "py")) == [b"b.py"]
    assert ordered(("select", "py"), ("negate", "all")) == []
    assert ordered(("negate", "rust"), ("select", "all")) == [b"a.rs", b"b.py"]
    assert ordered(("select", "all"), ("negate", "rust"), ("select", "rust")) == [b"a.rs", b"b.py"]


def test_types_can_be_added_cleared_and_included():
    table = definitions([("add", "web:*.web"), ("add", "both:include:web,rust"), ("clear", "py")])
    assert table["web"] == ("*.web",)
    assert table["both"] == ("*.web", "*.rs")
    assert "py" not in table
    assert definitions([("clear", "rust"), ("add", "rust:*.x")])["rust"] == ("*.x",)


@pytest.mark.parametrize(
    "text", ["web", ":*.x", "web:", "a-b:*.x", "all:*.x", "web:include:gone", "web:other:rust"]
)
def test_a_definition_that_means_nothing_is_named(text):
    with pytest.raises(InvalidQuery, match="invalid type definition"):
        definitions([("add", text)])


def test_an_unknown_type_is_named_with_what_comes_close():
    with pytest.raises(InvalidQuery, match="unrecognized file type: pyton") as caught:
        Types(ScopeSpec(types=("pyton",)))
    assert "python" in caught.value.next_step


@pytest.mark.parametrize(
    ("name", "language"),
    [
        (b"a.py", "python"), (b"a.h", "c"), (b"a.cpp", "cpp"), (b"Makefile", "make"),
        (b"Cargo.lock", "toml"), (b"a.rs", "rust"), (b"a.md", "markdown"), (b"a.zzz", "zzz"),
        (b"LICENSE", ""), (b".bashrc", "sh"), (b".hidden", ""), (b"a.ts", "typescript"),
        (b"x.\xff", "\ufffd"),
    ],
)  # fmt: skip
def test_every_file_has_one_language(name, language):
    assert language_of(name) == language
