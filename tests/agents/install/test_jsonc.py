"""The parser of JSON with comments."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings

from tests.agents.json_texts import containers
from triseek.agents.install import jsonc


@settings(derandomize=True, max_examples=100)
@given(containers("object", 3))
def test_what_is_read_is_what_other_parsers_read(text):
    try:
        told = json.loads(text)
    except ValueError:
        return
    assert jsonc.parse(text).value == told


def test_positions_are_those_in_the_text():
    text = '\ufeff// first\n{"a": [1, 2,], /* c */ "b": {}}\n'

    root = jsonc.parse(text)

    assert root.value == {"a": [1, 2], "b": {}}
    assert text[root.start : root.end] == '{"a": [1, 2,], /* c */ "b": {}}'
    member = root.member("a")
    assert text[member.start : member.end] == '"a": [1, 2,]'
    assert text[member.comma] == ","
    assert [part.node.value for part in member.node.parts] == [1, 2]


def test_the_last_of_two_members_takes_effect():
    root = jsonc.parse('{"a": 1, "a": 2}')

    assert root.member("a").node.value == root.value["a"] == 2


@pytest.mark.parametrize(
    ("text", "dialects"),
    [
        ('{"a": 1}', "jsonc commented json bare"),
        ('{"a": 1} // c', "jsonc commented"),
        ('{"a": 1,}', "jsonc"),
        ('\ufeff{"a": 1}', "jsonc json"),
        ('{"a": {"b": 1, "b": 2}}', "jsonc commented json"),
    ],
)
def test_an_agent_accepts_its_own_dialect(text, dialects):
    for dialect in ("jsonc", "commented", "json", "bare"):
        if dialect in dialects.split():
            jsonc.check(text, dialect)
        else:
            with pytest.raises(jsonc.MalformedJsonc):
                jsonc.check(text, dialect)


def test_comments_are_skipped_to_where_the_last_ends():
    text = "1 // a\n/* b */ ,"

    assert text[: jsonc.after_comments(text, 1)] == "1 // a\n/* b */"
    assert text[: jsonc.after_comments(text, 1, same_line=True)] == "1 // a"
