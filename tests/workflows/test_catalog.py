"""The catalog: what is in it, which words find what, and its pages."""

from __future__ import annotations

import json
from inspect import signature

import pytest

from triseek.workflows.catalog import pages
from triseek.workflows.catalog.capability import unknown
from triseek.workflows.catalog.functions import FUNCTIONS
from triseek.workflows.catalog.search import CAPABILITIES, read, search
from triseek.workflows.catalog.workflows import BY_ID, WORKFLOWS
from triseek.workflows.running import SCRIPTS

CONTRACT = (
    "repo_discovery", "symbol_definition", "symbol_usage", "file_context_reader",
    "cross_repo_trace", "runtime.search", "runtime.search_symbols", "runtime.fetch_content",
    "runtime.list_dir", "runtime.list_repos", "execution.run_workflow_cli",
    "execution.run_custom_workflow_code",
)  # fmt: skip
LEGEND = """\
### Capability Types
- `workflow`: prebuilt analysis flows invoked with `run_workflow_cli`.
- `runtime_tool`: Python helpers available in custom code as `runtime.zoekt_tools.*`.
- `execution_pattern`: guidance capabilities for execution interfaces (prefix `execution.*`).
"""


def ids(query: str, limit: int = 8) -> list[str]:
    return [capability.id for capability in search(query, limit)]


def test_all_of_the_contract_is_there_and_every_workflow_has_its_script():
    assert {capability.id for capability in CAPABILITIES}.issuperset(CONTRACT)
    scripts = {path.stem for path in SCRIPTS.glob("*.py")} - {"__init__"}
    assert scripts == set(BY_ID)


def test_the_functions_of_the_catalog_are_those_that_scripts_can_call(tools):
    functions = tools.functions()

    assert {f"runtime.{name}" for name in functions} == {each.id for each in FUNCTIONS}
    for capability in FUNCTIONS:
        parameters = signature(functions[capability.id.removeprefix("runtime.")]).parameters
        assert list(parameters) == list(capability.arguments)
        for name, argument in capability.arguments.items():
            default = parameters[name].default
            assert argument.required == (default is parameters[name].empty)
            assert argument.required or argument.default == default


def test_defaults_of_the_contract():
    def defaults(name):
        return {
            key: each.default for key, each in BY_ID[name].arguments.items() if not each.required
        }

    assert defaults("repo_discovery") == {"limit": 10}
    assert defaults("symbol_usage") == {"limit": 10, "context_lines": 2}
    assert defaults("cross_repo_trace") == {
        "max_repos": 8, "definitions_limit": 2, "usages_limit": 3,
    }  # fmt: skip
    assert not defaults("file_context_reader")


@pytest.mark.parametrize("name", [capability.id for capability in CAPABILITIES])
def test_the_exact_id_comes_first(name):
    assert ids(name)[0] == name
    assert ids(f" {name.upper()} ")[0] == name
    assert read(name).id == name


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("where is a class defined", "symbol_definition"),
        ("find call sites of a function", "symbol_usage"),
        ("callers of a function before a rename", "impact_analysis"),
        ("which repositories hold the code", "repo_discovery"),
        ("read lines of a file", "file_context_reader"),
        ("trace symbol across repositories", "cross_repo_trace"),
        ("find the tests of a symbol", "test_finder"),
        ("setting name in configuration and docs", "config_trace"),
        ("who imports this package", "dependency_trace"),
        ("commit history when was it changed", "change_history"),
        ("FIXME notes", "todo_scan"),
        ("unused code", "dead_code_candidates"),
        ("definitions of a file with lines", "outline"),
    ],
)
def test_plain_questions_find_the_workflow_for_them(query, first):
    assert first in ids(query, 3)


def test_an_empty_query_lists_all_up_to_the_limit():
    assert len(ids("", 50)) == len(CAPABILITIES) >= 12
    assert ids("", 3) == [workflow.id for workflow in WORKFLOWS[:3]]
    assert ids("!!! ", 1000) == [capability.id for capability in CAPABILITIES]
    assert len(ids("symbol", 0)) == len(ids("symbol", -5)) == 1


def test_the_page_of_hits_is_that_of_the_contract():
    hit = BY_ID["symbol_definition"]

    assert pages.hits("symbol", [hit]) == (
        f"## Capability Search Results\n\n- Query: `symbol`\n- Hits: `1`\n\n{LEGEND}\n"
        f"### 1. `symbol_definition`\n- Kind: `workflow`\n- Summary: {hit.summary}\n"
        f"- When to use: {hit.when_to_use}\n- Required args: `query`\n- Example: `{hit.example}`"
    )
    assert "- Required args: `(none)`\n" in pages.hits("", search("runtime.list_repos", 1))


def test_without_hits_there_are_tips():
    page = pages.hits("zzzz`q", [])

    assert "- Query: ``zzzz`q``\n- Hits: `0`\n" in page
    assert "\nNo capabilities matched.\n\nTry a broader query:\n- " in page
    assert page.count("\n- ", page.index("Try")) == 3
    assert ids("zzzzq") == []


def test_the_page_of_a_capability_is_that_of_the_contract():
    page = pages.document(BY_ID["symbol_usage"])
    head, _, rest = page.partition("### Arg Schema\n```json\n")
    schema, _, rest = rest.partition("\n```\n\n### Examples\n```json\n")
    examples, _, rest = rest.partition("\n```\n\n### Constraints\n")
    constraints, _, shape = rest.partition("\n\n### Expected Output Shape\n```json\n")

    assert head == (
        f"## Capability: `symbol_usage`\n\n- Kind: `workflow`\n\n{LEGEND}\n"
        f"### Description\n{BY_ID['symbol_usage'].description}\n\n"
    )
    document = json.loads(schema)
    assert list(document) == sorted(document)
    assert document["limit"]["default"] == 10
    assert document["query"]["required"] is True
    assert schema == json.dumps(document, indent=2, sort_keys=True)
    assert json.loads(examples)[0]["call"] == "run_workflow_cli"
    assert all(line.startswith("- ") for line in constraints.split("\n"))
    assert json.loads(shape.removesuffix("\n```"))["total_hits"] == "integer"
    assert page.isascii()


def test_an_unknown_id_is_a_page_of_kind_error():
    page = pages.document(unknown("x`y"))

    assert page.startswith("## Capability: ``x`y``\n\n- Kind: `error`\n")
    assert "### Description\nunknown capability_id: x`y\n" in page
    assert "### Constraints\n- (none)\n" in page
    assert page.endswith('```json\n{\n  "error": "string"\n}\n```')
    assert read("x") is None
