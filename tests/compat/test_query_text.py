"""A query is shown as Zoekt shows it; recorded from the real server's answers."""

from __future__ import annotations

import pytest

from triseek.compat.query_text import is_about_repositories, shown
from triseek.query.zoekt.parse import parse


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("needle", 'substr:"needle"'),
        ("Needle", 'case_substr:"Needle"'),
        ("f:needle_name", 'file_substr:"needle_name"'),
        ("c:x", 'content_substr:"x"'),
        ("a b or -c", '(or (and substr:"a" substr:"b") (not substr:"c"))'),
        ("r:x lang:go a", '(and repo:x lang:Go substr:"a")'),
        ("b:main a", '(and branch:"main" substr:"a")'),
        ("type:repo a", '(type:repo substr:"a")'),
        ("sym:a", 'sym:substr:"a"'),
        ("archived:no a", '(and rawConfig:RcNoArchived substr:"a")'),
        ('f:""', "TRUE"),
    ],
)
def test_a_query_is_shown_as_zoekt_shows_it(query: str, text: str) -> None:
    assert shown(parse(query)) == text


@pytest.mark.parametrize(
    ("query", "is_so"),
    [
        ("r:a", True),
        ("r:a -r:b or r:c", True),
        ("type:repo x", True),
        ("r:a x", False),
        ("x", False),
        ("type:filename r:a", True),
    ],
)
def test_queries_about_repositories_are_told_apart(query: str, is_so: bool) -> None:
    assert is_about_repositories(parse(query)) is is_so
