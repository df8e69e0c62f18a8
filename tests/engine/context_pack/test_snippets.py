"""Lines as they are shown."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from triseek.engine.context_pack import candidates, terms
from triseek.engine.context_pack.candidates import Files
from triseek.engine.context_pack.snippets import preview, snippets
from triseek.model.context_pack import PREVIEW_CHARACTERS


@given(st.binary(max_size=900), st.integers(0, 900))
def test_any_line_fits_and_obeys_nobody(line, at):
    shown = preview(line, min(at, len(line)))

    assert len(shown) <= PREVIEW_CHARACTERS
    assert all(char.isprintable() or char in "\t " or ord(char) >= 0xA0 for char in shown)


def test_a_cut_line_shows_its_match():
    assert "needle" in preview(b"x" * 5_000 + b" needle " + b"y" * 5_000, 5_001)


def shown(repo, text: str, goal: str, line: int = 0):
    root, read = repo({"a.py": text}), terms.read(goal)
    weights = [term.weight for term in read.terms]
    (found,) = candidates.read([b"a.py"], Files(root), read, weights, lambda: False)
    found.line = line
    return [(each.line, each.column, each.preview) for each in snippets(found, [1.0] * 16)]


def test_imports_come_after_what_is_done_with_them(repo):
    text = "import alpha\n\n\nx = alpha\n"

    assert shown(repo, text, "alpha") == [(4, 5, "x = alpha"), (1, 8, "import alpha")]


def test_the_same_line_is_shown_once_and_at_most_three_are(repo):
    text = "alpha = 1\n" * 5 + "".join(f"alpha = {n}\n" for n in range(2, 9))

    assert [number for number, _, _ in shown(repo, text, "alpha")] == [1, 6, 7]


def test_a_line_that_the_goal_names_comes_first(repo):
    assert shown(repo, "alpha\n\n    beta\n", "alpha", line=3)[0] == (3, 5, "beta")
    assert shown(repo, "alpha\n", "alpha", line=99) == [(1, 1, "alpha")]
