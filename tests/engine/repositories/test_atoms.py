"""Where a text may match is never less than where it matches."""

from __future__ import annotations

import pytest

from triseek.engine.repositories.atoms import atom
from triseek.query.zoekt import syntax


@pytest.mark.parametrize("text", [b"a Task and a TASK", "a Ta\u017f\u212a".encode(), b"nothing"])
def test_places_include_every_match(text):
    wanted = atom(syntax.Substring("task", False, "content"))
    places = wanted.places(text)
    assert places is None or set(places) >= {begin for begin, _ in wanted.spans(text)}
    assert (places is None) == ("\u017f".encode() in text)


def test_there_are_no_places_of_what_holds_no_text():
    assert atom(syntax.Regexp("x*", True, "content")).places(b"xx") is None
