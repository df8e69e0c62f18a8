"""Scripts of agents, from the call to the answer: how they end, what they may, what is said."""

from __future__ import annotations

import math

import pytest

from triseek.errors import BackendFailure, InvalidRequest
from triseek.model.code_search import CodeResult, HostReport
from triseek.workflows import limits
from triseek.workflows.context import symbols_of
from triseek.workflows.execution import Limits
from triseek.workflows.running import Workflows

long = pytest.mark.long
IMPORTS = (
    "import runtime.zoekt_tools as zt\ndef run(args):\n    return zt.list_repos()\n",
    "from runtime.zoekt_tools import list_repos\ndef run(args):\n    return list_repos()\n",
    "from runtime import zoekt_tools\ndef run(args):\n    return zoekt_tools.list_repos()\n",
    "import runtime.zoekt_tools\ndef run(args):\n    return runtime.zoekt_tools.list_repos()\n",
)
LEGACY = """\
import argparse, json
def parse_args(argv=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("--args-json", required=True)
    return parser.parse_args(argv)
def main():
    print("__RESULT_JSON__=" + json.dumps(json.loads(parse_args().args_json)))
    return 0
if __name__ == "__main__":
    raise SystemExit(main())
"""
SEVERAL = """\
import asyncio, re, math, collections
from dataclasses import dataclass
from runtime.zoekt_tools import search

@dataclass
class Row:
    name: str
    hits: int

async def run(args):
    pattern = re.compile(r"^\\w+$")
    names = [name for name in args["names"] if pattern.match(name)]
    answers = await asyncio.gather(*(asyncio.to_thread(search, name, 5, 0) for name in names))
    rows = [Row(name, len(hits)) for name, hits in zip(names, answers)]
    return {f"{row.name}": row.hits + math.floor(0.5) for row in rows}
"""


@pytest.fixture
def run(workflows):
    """Run a script; return its result and its markdown."""

    def run_one(code: str, args=None, seconds: float = 10):
        finished = workflows.run_code(code, args or {}, seconds)
        return finished.result, finished.markdown

    return run_one


@long
@pytest.mark.parametrize("code", IMPORTS)
def test_the_spellings_of_imports_are_accepted(run, code):
    result, markdown = run(code)

    assert result.result_json == ["checkout", "payments", "web"], markdown
    assert result.calls[0].startswith("list_repos()")


@long
def test_many_searches_are_joined_by_one_script(run):
    result, markdown = run(SEVERAL, {"names": ["ProcessOrder", "PaymentService", "a b"]})

    assert result.result_json == {"ProcessOrder": 4, "PaymentService": 2}, markdown
    assert sum(call.startswith("search(") for call in result.calls) == 2
    assert "### Result JSON\n```json\n{\n  " in markdown


@long
@pytest.mark.parametrize(
    ("code", "code_of_exit", "payload", "said"),
    [
        ("def run(args):\n    return None\n", 0, None, "- Output status: `missing_payload`"),
        ("def run(args):\n    return [1]\n", 0, [1], "- Output status: `parsed`"),
        ("def run(args):\n    return 3\n", 3, None, "- Process status: `failure`"),
        ("def run(args):\n    print('noise')\n    return {'a': 1}\n", 0, {"a": 1}, "### Stdout"),
        ("import sys\ndef run(args):\n    sys.exit(3)\n", 3, None, "- Exit code: `3`"),
        ("def run(args):\n    1 / 0\n", 1, None, "ZeroDivisionError"),
        ("def run(args):\n    return float('nan')\n", 1, None, "- Process status: `failure`"),
        ("def run(args):\n    print('x' * 40000)\n    return 1.5\n", 0, 1.5, "\n[stdout trunc"),
        (
            "def run(args):\n    print('__RESULT_JSON__=1')\n    return {'last': 1}\n",
            0, {"last": 1}, "- Output status: `parsed`",
        ),
        ("import os\ndef run(args):\n    pass\n", 1, None, "  - banned_import: os"),
        ("def go(args):\n    pass\n", 1, None, "  - missing_required_entrypoint: run(args)"),
        (LEGACY, 0, {"x": [1]}, "- Output status: `parsed`"),
    ],
)  # fmt: skip
def test_how_scripts_end(run, code, code_of_exit, payload, said):
    result, markdown = run(code, {"x": [1]})

    assert (result.exit_code, result.result_json) == (code_of_exit, payload), markdown
    assert said in markdown
    assert markdown.startswith("## Custom Workflow Code Execution\n\n- Process status: `")


@long
def test_a_script_ends_at_its_time_limit(run):
    result, markdown = run("def run(args):\n    while True:\n        pass\n", seconds=1)

    assert result.exit_code == 124
    assert result.timing_ms < 8_000
    assert "execution timed out" in markdown


@long
def test_an_error_of_a_function_is_raised_in_the_script(run):
    result, _ = run(
        "from runtime.zoekt_tools import search, ZoektRuntimeError\n"
        "def run(args):\n"
        "    try:\n"
        "        search('a or')\n"
        "    except ZoektRuntimeError as error:\n"
        "        return str(error)\n"
    )

    assert "query:" in result.result_json


@pytest.mark.parametrize(
    ("code", "args", "said"),
    [
        ("", {}, "code must not be empty"),
        (" \n", {}, "code must not be empty"),
        ("x" * 300_000, {}, "code has 300,000 characters, 262,144 are allowed"),
        ("def run(args): pass", {"a": math.nan}, "args must be a JSON object, without NaN"),
        ("def run(args): pass", {"a": {1}}, "args must be a JSON object"),
        ("def run(args): pass", {"a": "x" * (1 << 20)}, "args has 1,048,585 characters as JSON"),
    ],
)
def test_a_call_that_cannot_be_run_ends_with_2(workflows, code, args, said):
    finished = workflows.run_code(code, args)

    assert finished.result.exit_code == 2
    assert finished.result.stderr.startswith(f"args validation failure: {said}")
    assert f"### Stderr\n```text\nargs validation failure: {said}" in finished.markdown


def test_deep_arguments_are_refused(workflows):
    deep: dict[str, object] = {}
    for _ in range(100_000):
        deep = {"a": deep}
    try:
        assert workflows.run_code("def run(args): pass", deep).result.exit_code == 2
    finally:
        while deep:  # pieces: Python would end such a tree by recursion
            deep = deep.pop("a")


def test_a_wrong_command_has_the_title_of_the_contract(workflows):
    finished = workflows.run_command("nothing")

    assert finished.markdown.startswith("## Workflow CLI Execution\n\n- Process status: `failure`")
    assert "- Exit code: `2`" in finished.markdown


class Down:
    """A cluster that does not answer, or only in part."""

    name = "zoekt"

    def __init__(self, result=None) -> None:
        self.result = result

    def search(self, request):
        if self.result is None:
            raise BackendFailure("no host answered: http://localhost:1 (refused)")
        return self.result


@long
def test_a_cluster_that_is_down_is_told_with_exit_code_1(home):
    finished = Workflows(Down, symbols_of, {}).run_command("symbol_usage --query x")

    assert finished.result.exit_code == 1
    assert (
        "symbol_usage failed: no host answered: http://localhost:1 (refused)" in finished.markdown
    )


@long
def test_status_lines_name_the_hosts_of_a_part_of_the_cluster(home):
    result = CodeResult(
        hosts=(HostReport(host="http://a", state="ok"), HostReport(host="http://b", state="down")),
        partial=("http://b: refused",),
    )
    finished = Workflows(lambda: Down(result), symbols_of, {}).run_command("symbol_usage --query x")

    assert (
        "`\n- Hosts: `http://a` ok, `http://b` down\n- Note: http://b: refused\n\nFound `0` matches"
    ) in finished.markdown


@long
@pytest.mark.parametrize(
    ("command", "note"),
    [
        (
            "symbol_usage --query ProcessOrder --limit 2",
            "files are shown for 'ProcessOrder'; `--limit` shows more",
        ),
        (
            "cross_repo_trace --symbol ProcessOrder --usages-limit 2",
            "`--definitions-limit` or `--usages-limit` shows more",
        ),
        ("dead_code_candidates --repo checkout --path order/process.go", ""),
    ],
)
def test_what_a_limit_leaves_out_is_one_line_where_more_can_be_asked_for(workflows, command, note):
    lines = workflows.run_command(command).markdown.splitlines()
    notes = [line for line in lines if line.startswith("- Note: ")]

    assert len(notes) == bool(note)
    assert all(line.endswith(note) for line in notes)


def test_a_source_that_cannot_be_opened_is_told(home):
    def fail():
        raise InvalidRequest("zoekt.api_url: 'x' is no address", next_step="Correct it.")

    finished = Workflows(fail, symbols_of, {}).run_command("symbol_usage --query x")

    assert finished.result.exit_code == 70
    assert finished.result.stderr == "zoekt.api_url: 'x' is no address. Correct it."


def test_a_wrong_setting_is_told(home, source):
    environ = {"EXECUTION_TIMEOUT_MAX": "soon"}
    finished = Workflows(lambda: source, symbols_of, environ).run_command(
        "outline --repo a --path b"
    )

    assert finished.result.exit_code == 70
    assert "EXECUTION_TIMEOUT_MAX: 'soon' is not a whole number from 1" in finished.markdown


@pytest.mark.parametrize(
    ("asked", "seconds"), [(0, 30), (-5, 30), (1, 1), (30, 30), (120, 120), (10**9, 120)]
)
def test_time_limits_are_clamped(home, asked, seconds):
    assert limits.read({}).limits(asked) == Limits(seconds=seconds)


@pytest.mark.parametrize(
    ("environ", "seconds", "stdout"),
    [
        ({"EXECUTION_TIMEOUT_DEFAULT": "5", "EXECUTION_STDOUT_MAX_BYTES": "100"}, 5, 100),
        ({"TRISEEK_WORKFLOWS_TIMEOUT_DEFAULT": "7"}, 7, 32_768),
        (
            {"TRISEEK_WORKFLOWS_TIMEOUT_DEFAULT": "7", "EXECUTION_TIMEOUT_DEFAULT": "5"},
            7, 32_768,
        ),
        ({"EXECUTION_TIMEOUT_DEFAULT": "500", "EXECUTION_TIMEOUT_MAX": "60"}, 60, 32_768),
        ({"EXECUTION_TIMEOUT_DEFAULT": " ", "EXECUTION_STDOUT_MAX_BYTES": "9" * 11}, 30, 16 << 20),
    ],
)  # fmt: skip
def test_the_variables_of_the_contract_set_the_limits(home, environ, seconds, stdout):
    chosen = limits.read(environ).limits(0)

    assert (chosen.seconds, chosen.stdout_bytes) == (seconds, stdout)


def test_the_file_sets_the_limits_below_the_variables(home):
    (home / "config.toml").write_text("[workflows]\ntimeout_default = 9\ntimeout_max = 10\n")

    assert limits.read({}).limits(0).seconds == 9
    assert limits.read({"EXECUTION_TIMEOUT_DEFAULT": "8"}).limits(0).seconds == 8
    assert limits.read({}).limits(99).seconds == 10
