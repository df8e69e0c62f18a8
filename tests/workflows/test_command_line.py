"""The language of `run_workflow_cli`: what it takes, and what it says of mistakes."""

from __future__ import annotations

import pytest

from triseek.workflows import command_line
from triseek.workflows.catalog.workflows import BY_ID
from triseek.workflows.command_line import Misunderstood, parse, parse_words

USAGE = "Usage: symbol_usage --query <value> [--limit <value>] [--context-lines <value>]"


def test_the_example_of_the_contract_is_read():
    workflow, values = parse(
        'symbol_usage --query "ProcessOrder lang:go" --limit 8 --context-lines 1'
    )

    assert workflow.id == "symbol_usage"
    assert values == {"query": "ProcessOrder lang:go", "limit": 8, "context_lines": 1}


@pytest.mark.parametrize(
    "flags",
    [
        "--query x --limit 5 --context-lines 1", "--query=x --limit=5 --context-lines=1",
        "--query x --limit=5 --context_lines 1", "--context_lines=1 --limit 5 --query 'x'",
        "\n--query\tx --limit '5'  --context-lines \"1\" ",
    ],
)  # fmt: skip
def test_spellings_of_flags_are_equal(flags):
    assert parse(f"symbol_usage {flags}")[1] == {"query": "x", "limit": 5, "context_lines": 1}


def test_defaults_are_filled_in_by_the_order_of_the_declaration():
    _, values = parse("impact_analysis --symbol x")

    assert list(values.items()) == [("symbol", "x"), ("repo", ""), ("limit", 15)]


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("", "command must not be empty"),
        ("  \n", "command must not be empty"),
        ("symbol_usage --query 'x", "invalid command: No closing quotation"),
        ("symbol_usage x", f"unexpected positional argument `x`. {USAGE}"),
        ("symbol_usage --query x y", f"unexpected positional argument `y`. {USAGE}"),
        ("symbol_usage -q x", f"unexpected positional argument `-q`. {USAGE}"),
        ("symbol_usage --x 1", f"unknown flag `--x`. {USAGE}"),
        ("symbol_usage --query x --query=y", f"duplicate flag `--query`. {USAGE}"),
        ("symbol_usage --context-lines 1 --context_lines 1", "duplicate flag `--context_lines`"),
        ("symbol_usage --query", f"missing value for `--query`. {USAGE}"),
        ("symbol_usage --query --limit", f"missing value for `--query`. {USAGE}"),
        ("symbol_usage --query x --limit abc", f"invalid integer for `--limit`: 'abc'. {USAGE}"),
        ("symbol_usage --query x --limit 1.0", "invalid integer for `--limit`: '1.0'"),
        (f"symbol_usage --query x --limit {'9' * 5000}", "invalid integer for `--limit`: '999"),
        ("symbol_usage --query x --limit 0", f"`--limit` must be >= 1: 0. {USAGE}"),
        ("symbol_usage --query x --limit -3", f"`--limit` must be >= 1: -3. {USAGE}"),
        ("symbol_usage --query x --limit 26", f"`--limit` must be <= 25: 26. {USAGE}"),
        ("symbol_usage --limit 3", f"missing required flags: --query. {USAGE}"),
        (
            "file_context_reader --repo r",
            "missing required flags: --path, --start-line, --end-line. Usage: ",
        ),
    ],
)
def test_a_mistake_is_named(command, message):
    with pytest.raises(Misunderstood) as caught:
        parse(command)

    said = str(caught.value)
    assert said.startswith(f"args validation failure: {message}")
    assert "\n" not in said
    assert len(said) < 700


def test_an_unknown_workflow_is_told_which_there_are():
    with pytest.raises(Misunderstood) as caught:
        parse("nothing --x 1")

    assert str(caught.value) == (
        "args validation failure: unknown workflow_id: nothing. "
        f"Available workflows: {', '.join(sorted(BY_ID))}"
    )


def test_a_value_that_begins_with_dashes_can_be_joined():
    assert parse_words(["symbol_usage", "--query=--flag"])[1]["query"] == "--flag"
    assert parse_words(["symbol_usage", "--query", "-f:test x"])[1]["query"] == "-f:test x"
    assert parse_words(["symbol_usage", "--query=a=b"])[1]["query"] == "a=b"


def test_every_example_of_the_catalog_is_a_command():
    for workflow in BY_ID.values():
        for example in workflow.examples:
            assert parse(example["args"]["command"])[0] is workflow


def test_usage_lines_name_every_argument_once():
    for workflow in BY_ID.values():
        usage = command_line.usage(workflow)
        for name in workflow.arguments:
            assert usage.count(f"--{name.replace('_', '-')} <value>") == 1
