"""sub_tokens: what SQLite's tokenizer does not find."""

from __future__ import annotations

import pytest

from triseek.recall.sub_tokens import observation_sub, parts, sub_tokens


@pytest.mark.parametrize(
    ("word", "pieces"),
    [
        ("camelCaseName", ["camel", "Case", "Name"]),
        ("HTTPServer2", ["HTTP", "Server", "2"]),
        ("word", []),
        ("Word", []),
        ("WORD", []),
        ("数据库", ["数据", "据库"]),
        ("库", ["库"]),
        ("用SQLite的", ["用", "SQ", "Lite", "的"]),
        ("größe", []),
        ("데이터", ["데이", "이터"]),
    ],
)
def test_the_parts_of_a_word(word, pieces):
    assert parts(word) == pieces


def test_a_word_that_sqlite_finds_is_not_kept_again():
    assert sub_tokens(["snake_case and plain words, 42"]) == ""
    assert sub_tokens(["camelCase camelCase"]) == "camel Case"


def test_paths_are_kept_as_no_other_column_has_them():
    sub = observation_sub(("a title", "", "", ""), (), (), ("/src/loginForm.ts",))

    assert sub.split() == ["src", "loginForm", "ts", "login", "Form"]


def test_a_huge_text_has_a_bounded_number_of_tokens():
    assert len(sub_tokens([f"aB{at}" for at in range(500_000)]).split()) <= 200_000
