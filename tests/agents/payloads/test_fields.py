"""Fields of a payload may have any type."""

from __future__ import annotations

import pytest

from triseek.agents.payloads.fields import Fields, absolute_only, shown, words


def test_the_first_valid_value_counts():
    payload = Fields(
        {"a": 7, "b": "", "c": "text", "d": {"e": "inner"}, "f": [], "g": True, "h": "/abs"}
    )

    assert payload.text("a", "b", "c") == "text"
    assert payload.text("a", "x") == ""
    assert payload.word("b", "g", "a") == "7"
    assert payload.inner("a", "d").text("e") == "inner"
    assert payload.inner("a") == Fields()
    assert payload.folder("/cwd", "c", "h") == "/abs"
    assert payload.folder("/cwd", "c") == "/cwd"
    assert payload.path("/cwd", "a", "c") == "/cwd/text"
    assert payload.path("/cwd", "x") == ""


@pytest.mark.parametrize("value", ["a\0b", "x" * 600, 1 << 70, None, 1.5])
def test_what_cannot_be_an_id_is_none(value):
    assert Fields({"id": value}).word("id") == ""


@pytest.mark.parametrize(
    ("value", "line"),
    [(7, 7), ("8", 8), (7.0, 7), (7.5, None), (True, None), (-1, None), (1 << 40, None),
     ("x", None)],
)  # fmt: skip
def test_a_line_is_a_number_in_any_form(value, line):
    assert Fields({"line": value}).line("line") == line


@pytest.mark.parametrize("path", ["relative", "/a\0b", "/" + "x" * 5000, "/\ud800", 7])
def test_what_cannot_be_an_absolute_path_is_none(path):
    assert absolute_only(path) == ""


def test_ids_are_a_list_of_texts():
    assert words(["a", "b"]) == {"a", "b"}
    assert words(["a", 1]) is None
    assert words("a") is None


@pytest.mark.parametrize(
    ("response", "text"),
    [
        ("plain", "plain"),
        ({"stdout": "out", "stderr": "err"}, "out\nerr"),
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "a\nb"),
        ({"content": [{"type": "image"}]}, None),
        ({"llmContent": "x"}, "x"),
        (7, None),
    ],
)
def test_a_result_is_read_in_each_shape(response, text):
    assert shown(response) == text
