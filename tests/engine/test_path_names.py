"""All paths as one text, against looking at each."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from triseek.engine.path_names import PathNames

PATHS = st.lists(
    st.text("aAb/._\n", min_size=1, max_size=8).map(str.encode), max_size=12, unique=True
)


@given(PATHS, st.text("ab._/", min_size=1, max_size=3).map(str.encode))
def test_what_holds_a_word_is_what_a_look_at_each_finds(paths, word):
    assert list(PathNames(paths).holding(word)) == [path for path in paths if word in path.lower()]


@given(PATHS, st.text("ab._", min_size=1, max_size=3).map(str.encode))
def test_what_is_named_is_what_holds_the_word_in_its_last_component(paths, word):
    plain = [path for path in paths if b"\n" not in path]
    expected = [path for path in plain if word in path.lower().rpartition(b"/")[2]]

    assert list(PathNames(plain).named(word)) == expected


def test_an_ending_is_of_whole_components_and_of_the_exact_case_if_there_is_one():
    names = PathNames([b"a/Makefile", b"b/makefile", b"c/xmakefile"])

    assert names.ending(b"makefile") == [b"b/makefile"]
    assert names.ending(b"MAKEFILE") == [b"a/Makefile", b"b/makefile"]
    assert names.ending(b"b/makefile") == [b"b/makefile"]


def test_it_knows_its_paths():
    assert b"a" in PathNames([b"a"])
    assert b"b" not in PathNames([b"a"])
