import pytest

from triseek.recall import words


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("The cats went home", ["cat", "go", "home"]),
        ("Mary's snake_case and 3rd", ["mari", "snake", "case", "3rd"]),
        ("I don't", []),
        ("Straße", ["straße"]),
        ("検索する", ["検索", "索す", "する"]),
        ("字", ["字"]),
        ("x" * 65 + " y", ["y"]),
        ("", []),
    ],
)
def test_terms_of_a_text(text, terms):
    assert words.terms(text) == terms


def test_spans_are_where_the_words_stand():
    text = "İstanbul: the Cats ran"
    assert [(term, text[a:b]) for term, a, b in words.spans(text, {"cat", "run"})] == [
        ("cat", "Cats"),
        ("run", "ran"),
    ]


def test_spans_are_of_whole_words_in_order():
    text = "catcat cat_2 2cat cats cat"
    assert [a for _, a, _ in words.spans(text, {"cat"})] == [7, 18, 23]
    text = "検索検索"
    assert [(term, a, b) for term, a, b in words.spans(text, {"検索"})] == [
        ("検索", 0, 4),
        ("検索", 0, 4),
    ]


def test_a_lone_surrogate_is_no_trouble():
    assert words.terms("\ud800 word") == ["word"]


def test_words_are_where_their_stems_begin_otherwise():
    text = "Dying skies; the oing, skis tied"
    wanted = {term: word for word in ("dying", "skies", "oing", "skis", "tied")
              for term in words.terms(word)}  # fmt: skip
    places = words.spans(text, wanted)
    assert [text[begin:end].lower() for _, begin, end in places] == [
        "dying", "skies", "oing", "skis", "tied",
    ]  # fmt: skip
