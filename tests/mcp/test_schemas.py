"""What clients are told of the tools is true, and small."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator

from triseek.app import arguments
from triseek.app.registry import TOOLS, chosen
from triseek.app.wings import DEFAULT, TOOLSETS
from triseek.mcp import schemas
from triseek.mcp.tool_handlers import ToolHandlers, _listed
from triseek.model import token_estimate
from triseek.sessions import hydration

VERB = {verb.name: verb for verb in TOOLS}
WRITING = {
    "reindex", "session_open", "session_close", "session_snapshot", "session_handoff",
    "session_resume", "remember", "supersede", "pin", "forget",
    "memory_remember", "palace_create", "kg_assert", "memory_forget", "memory_update",
    "memory_restore", "kg_retract",
}  # fmt: skip
each_verb = pytest.mark.parametrize("verb", TOOLS, ids=lambda verb: verb.name)
LIST_TOKENS = 5_000
"""What the list of default tools may take at most."""
HISTORY_TOKENS = 1_800
"""What names, descriptions and arguments of the tools of history and history-work may take at most,
together."""


def listed(toolsets=TOOLSETS):
    tools = [_listed(verb, False, frozenset(toolsets)) for verb in chosen(toolsets)]
    return [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools]


def test_the_list_of_tools_costs_an_agent_little():
    assert token_estimate.of_json({"tools": listed([DEFAULT])}) < LIST_TOKENS


@pytest.mark.parametrize("tool", ["context_pack", "session_resume"])
def test_an_argument_on_the_memory_is_listed_only_where_the_memory_is_offered(tool):
    usual = schemas.input_schema(VERB[tool], [DEFAULT])["properties"]
    more = schemas.input_schema(VERB[tool], [DEFAULT, "memory"])["properties"]

    assert more.keys() - usual.keys() == {"memory"}


@pytest.mark.parametrize("tool", ["search_content", "search_path_and_content"])
def test_the_backend_is_listed_only_where_a_cluster_is_configured(tool):
    for has_cluster, more in ((False, set()), (True, {"backend"})):
        tools = ToolHandlers(None, chosen([DEFAULT]), has_cluster=has_cluster)
        usual = schemas.input_schema(VERB[tool], [DEFAULT])["properties"]
        listed = _listed(VERB[tool], False, tools._toolsets).input_schema["properties"]
        assert listed.keys() - usual.keys() == more


@pytest.mark.parametrize(
    ("toolsets", "most"), [(("history", "history-work"), HISTORY_TOKENS), (("memory",), 1_800)]
)
def test_the_arguments_of_many_tools_cost_little(toolsets, most):
    tools = chosen(toolsets)
    cost = sum(
        token_estimate.of_json(
            {"name": tool.name, "description": schemas.description(tool),
             "inputSchema": schemas.input_schema(tool)}
        )
        for tool in tools
    )  # fmt: skip

    assert 0 < cost <= most
    assert all(len(schemas.description(tool)) <= 160 for tool in tools)


def test_bounds_of_the_memory_tools_are_told():
    recall = schemas.input_schema(VERB["memory_recall"])["properties"]
    listed = schemas.input_schema(VERB["memory_list"])["properties"]

    assert recall["top_k"] == {"type": "integer", "default": 10, "minimum": 1, "maximum": 100}
    assert (listed["limit"]["default"], listed["limit"]["maximum"]) == (50, 500)


@each_verb
def test_schemas_are_schemas_and_their_examples_are_read(verb):
    schema = schemas.input_schema(verb)

    Draft202012Validator.check_schema(schema)
    Draft202012Validator.check_schema(schemas.output_schema(verb))
    assert schema["type"] == "object"
    # An argument that is none is refused by its name in any case.
    assert schema.get("additionalProperties") is (
        None if verb.toolset in ("history", "history-work") else False
    )


@each_verb
def test_every_argument_of_a_schema_is_one_the_tool_has(verb):
    schema = schemas.input_schema(verb)
    own = {name for name in verb.request.__dataclass_fields__ if not name.startswith("_")}

    assert set(schema.get("properties", {})) == own
    assert set(schema.get("required", ())) <= own


@each_verb
def test_a_description_says_what_the_tool_is_for_in_few_words(verb):
    said = schemas.description(verb)

    assert 40 < len(said) < 700
    assert said[0].isupper()


@pytest.mark.parametrize(
    ("tool", "word"),
    [
        ("session_open", "start of a task"), ("session_handoff", "resolved"),
        ("session_resume", "Go on"), ("session_snapshot", "compaction"),
        ("memo_check", "read again"), ("memo_status", "before reading"),
        ("find_files", "rg --files"), ("find_files", "find"), ("search_content", "grep"),
        ("search_content", "rg"), ("reindex", "rarely"),
    ],
)  # fmt: skip
def test_descriptions_name_what_they_are_to_be_used_instead_of(tool, word):
    assert word in schemas.description(VERB[tool]).replace("Rarely", "rarely")


@pytest.mark.parametrize(
    "tool",
    [
        "search_content", "find_files", "search_path_and_content", "memo_status", "memo_check",
        *(name for name in VERB if name.startswith("session_")),
    ],
)  # fmt: skip
def test_an_example_in_a_description_is_a_call_that_is_understood(tool):
    said = schemas.description(VERB[tool]).replace("\\w", "\\\\w")
    decoder, end, calls = json.JSONDecoder(), 0, []
    while (at := said.find("{", end)) >= 0:
        call, end = decoder.raw_decode(said, at)
        calls.append(call)
    for call in calls:
        arguments.read(VERB[tool], call)
    assert calls


def test_an_argument_shared_by_tools_is_described_once():
    first = schemas.input_schema(VERB["search_content"])["properties"]
    second = schemas.input_schema(VERB["search_path_and_content"])["properties"]

    assert all("description" in body for body in first.values())
    assert first["limit"] == {
        **second["limit"],
        "description": "Most lines listed (files, with output_mode files or count).",
    }
    assert [name for name in first if name in ("query", "glob", "path")] == list(first)[:3]


def test_bounds_are_told():
    limit = schemas.input_schema(VERB["find_files"])["properties"]["limit"]

    assert (limit["minimum"], limit["maximum"], limit["default"]) == (1, 100, 20)


def test_an_argument_that_is_an_object_is_told_without_references():
    schema = schemas.input_schema(VERB["session_snapshot"])
    [pinned] = [body for name, body in schema["properties"].items() if name.startswith("pinned")]

    assert "$ref" not in json.dumps(schema)
    assert pinned["items"] == {
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "line_start": {"type": "integer"},
            "line_end": {"type": "integer"},
        },
        "required": ["path", "line_start", "line_end"],
    }


def test_a_resumes_budget_is_that_of_its_payload():
    budget = schemas.input_schema(VERB["session_resume"])["properties"]["budget_tokens"]

    assert (budget["minimum"], budget["maximum"], budget["default"]) == (
        hydration.BUDGET_MIN, hydration.BUDGET_MAX, hydration.BUDGET
    )  # fmt: skip


def test_a_tool_that_does_something_more_each_time_says_so():
    told = {tool["name"]: tool["annotations"] for tool in listed()}

    assert {name for name, hints in told.items() if not hints["idempotentHint"]} == {
        "session_open", "session_snapshot", "session_handoff", "memory_remember", "kg_assert"
    }  # fmt: skip


def test_the_tools_that_change_nothing_say_so():
    told = {tool["name"]: tool["annotations"] for tool in listed()}

    assert {name for name, hints in told.items() if not hints["readOnlyHint"]} == WRITING
    assert not any(hints["openWorldHint"] for hints in told.values())
    assert [name for name, hints in told.items() if hints["destructiveHint"]] == [
        "forget", "memory_forget"
    ]  # fmt: skip


def test_every_verb_is_of_a_toolset_and_has_a_name_of_its_own():
    assert {verb.toolset for verb in TOOLS} <= set(TOOLSETS)
    assert len(VERB) == len(TOOLS)
