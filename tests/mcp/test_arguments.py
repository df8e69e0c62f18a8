"""What an agent means is taken; what cannot be told is refused by name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triseek.errors import InvalidQuery
from triseek.mcp import arguments
from triseek.mcp.arguments import ITEMS_MAX, TEXT_MAX
from triseek.service.verbs import VERBS

VERB = {verb.name: verb for verb in VERBS}


def read(given_arguments, tool="search_content"):
    return arguments.read(VERB[tool], given_arguments)


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ({"limit": 20.0}, {"limit": 20}),
        ({"limit": "7"}, {"limit": 7}),
        ({"limit": " 7 "}, {"limit": 7}),
        ({"limit": "20.0"}, {"limit": 20}),
        ({"limit": -3}, {"limit": -3}),
        ({"max_results": 5}, {"limit": 5}),
        ({"head_limit": 5, "limit": 5}, {"limit": 5}),
        ({"limit": None}, {"limit": 20}),
        ({"-C": 2}, {"context": 2}),
        ({"-A": 1, "-B": 3}, {"context": 3}),
        ({"-n": True}, {}),
        ({"-i": True}, {"case": "insensitive"}),
        ({"case_sensitive": "false"}, {"case": "insensitive"}),
        ({"case": "ignore"}, {"case": "insensitive"}),
        ({"-w": "true"}, {"word": True}),
        ({"force_refresh": "false"}, {"force_refresh": False}),
        ({"regex": True}, {"mode": "regex"}),
        ({"regex": "true"}, {"mode": "regex"}),
        ({"regex": False}, {"mode": "literal"}),
        ({"output_mode": "files_with_matches"}, {"output_mode": "files"}),
        ({"include": "*.py"}, {"glob": "*.py"}),
        ({"glob": ["*.py", "*.c"]}, {"glob": "*.py *.c"}),
        ({"glob": '["*.py", "*.c"]'}, {"glob": "*.py *.c"}),
        ({"glob": "[ab]*.py"}, {"glob": "[ab]*.py"}),
        ({"type": ["py", "rust"]}, {"type": "py rust"}),
        ({"patterns": ["b", "c"]}, {"patterns": ("b", "c")}),
        ({"patterns": '["b", "c"]'}, {"patterns": ("b", "c")}),
        ({"patterns": '["b'}, {"patterns": ('["b',)}),
        ({"patterns": "b"}, {"patterns": ("b",)}),
    ],
    ids=str,
)
def test_what_is_meant_beyond_doubt_is_taken(asked, meant):
    assert read({"query": "a", **asked}) == read({"query": "a", **meant})


@pytest.mark.parametrize(
    ("tool", "asked", "meant"),
    [
        ("search_content", {"pattern": "a"}, {"query": "a"}),
        ("search_content", {"regex": "a.b"}, {"query": "a.b", "mode": "regex"}),
        ("search_content", {"patterns": ["a", "b"]}, {"query": "a", "patterns": ["b"]}),
        ("search_content", {"query": ["a", "b"]}, {"query": "a", "patterns": ["b"]}),
        ("search_path_and_content", {"glob": "*.c", "query": "a"},
         {"path_query": "*.c", "content_query": "a"}),
        ("search_path_and_content", {"include": ["*.c", "*.h"], "regex": "a|b"},
         {"path_query": "*.c *.h", "content_query": "a|b", "mode": "regex"}),
        ("find_files", {"pattern": "*.rs"}, {"query": "*.rs"}),
        ("find_files", {"query": ["router", "auth"]}, {"query": "router auth"}),
        ("index_status", None, {}),
    ],
    ids=str,
)  # fmt: skip
def test_other_tools_names_are_known(tool, asked, meant):
    assert read(asked, tool) == read(meant, tool)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({}, "query: Field required"),
        ({"query": None}, "query: Field required"),
        ({"query": 5}, "query: "),
        ({"query": {"a": 1}}, "query: "),
        ({"query": "a", "limit": 20.5}, "limit: "),
        ({"query": "a", "limit": True}, "limit: "),
        ({"query": "a", "limit": "--5"}, "limit: "),
        ({"query": "a", "limit": "²"}, "limit: "),
        ({"query": "a", "limit": "9" * 5_000}, "limit: "),
        ({"query": "a", "limit": [1]}, "limit: "),
        ({"query": "a", "limit": float("nan")}, "limit: "),
        ({"query": "a", "mode": "fuzzy"}, "mode: "),
        ({"query": "a", "force_refresh": "maybe"}, "force_refresh: "),
        ({"query": "a", "patterns": [1]}, "patterns.0: "),
        ({"query": "a", "patterns": {"a": 1}}, "patterns: "),
        ({"query": "a", "limt": 5}, "did you mean 'limit'?"),
        ({"query": "a", "x" * 500: 5}, "no argument 'xxx"),
        ({"query": "a", "__class__": 5}, "no argument '__class__'"),
        ({"query": "a", "limit": 1, "max_results": 2}, "limit and max_results are both limit"),
        ({"query": "a", "regex": "b"}, "query and regex are both query"),
        ({"query": "a", "-i": True, "case": "sensitive"}, "both case"),
        ({"query": "\ud800"}, "query holds half of a surrogate pair"),
        ({"query": "a", "patterns": ["\udfff"]}, "patterns holds half"),
        ({"query": "a" * (TEXT_MAX + 1)}, "65,537 characters"),
        ({"query": "a" * (1 << 20)}, "1,048,576 characters"),
        ({"query": "a", "patterns": ["a" * TEXT_MAX, "b"]}, "65,537 characters"),
        ({"query": "a", "patterns": ["a"] * (ITEMS_MAX + 1)}, "1,001 items"),
        ({"query": "a", "patterns": "[" * TEXT_MAX + "]"}, "65,537 characters"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_what_cannot_be_told_is_refused_by_name(asked, said):
    with pytest.raises(InvalidQuery) as error:
        read(asked)

    assert said in str(error.value)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 400


def test_a_tool_without_arguments_says_so():
    with pytest.raises(InvalidQuery, match="it has none"):
        read({"repo": "/"}, "index_status")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
NAMES = st.sampled_from(
    ["query", "limit", "patterns", "glob", "case", "regex", "-A", "-i", "path", "type", "context"]
) | st.text(max_size=12)


@pytest.mark.parametrize("tool", VERB)
@given(asked=st.dictionaries(NAMES, JSON, max_size=5))
def test_whatever_is_passed_there_is_a_request_or_one_clear_error(tool, asked):
    try:
        meant = read(asked, tool)
    except InvalidQuery as error:
        meant = error

    assert isinstance(meant, (VERB[tool].request, InvalidQuery))
    assert hash(meant)
    assert "\n" not in str(meant) or not isinstance(meant, InvalidQuery)
