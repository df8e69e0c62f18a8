"""Scores of kinds are those of Zoekt's default scorer."""

from __future__ import annotations

import pytest

from triseek.engine.symbols.kind_scores import kind_score


@pytest.mark.parametrize(
    ("kind", "language", "name", "path", "score"),
    [
        ("class", "", "A", b"a", 1000),
        ("struct", "Rust", "A", b"a.rs", 950),
        ("func", "Go", "open", b"a.go", 800),
        ("function", "Go", "Open", b"a.go", 850),
        ("function", "Go", "Open", b"a_test.go", 680),
        ("methodSpec", "Go", "open", b"a.go", 850),
        ("talias", "Go", "name", b"a.go", 900),
        ("member", "C", "size", b"a.c", 550),
        ("member", "C++", "size", b"a.cc", 400),
        ("typedef", "C", "size_t", b"a.h", 100),
        ("field", "Java", "size", b"a.java", 600),
        ("enumerator", "Java", "SMALL", b"a.java", 500),
        ("enumerator", "C", "SMALL", b"a.c", 100),
        ("singletonMethod", "Ruby", "open", b"a.rb", 600),
        ("variable", "Python", "x", b"a.py", 300),
        ("chapter", "Markdown", "Title", b"a.md", 400),
        ("unheard of", "Python", "x", b"a.py", 100),
    ],
)
def test_a_kind_has_its_score(kind, language, name, path, score):
    assert kind_score(kind, language, name, path) == pytest.approx(score)
