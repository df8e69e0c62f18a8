"""The same workflows over local indexes and over the real Zoekt: golden answers, equal ones.

Two differences are named: scores of Zoekt order files in another way, and its items have URLs.
Apart from these the markdown is the same, line for line.
"""

from __future__ import annotations

import os
import re
import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests import zoekt_programs
from triseek.workflows.context import symbols_of
from triseek.workflows.running import Workflows
from triseek.zoekt import addresses
from triseek.zoekt.cluster import Cluster

pytestmark = pytest.mark.long

GOLDEN = Path(__file__).parents[1] / "golden" / "workflows"
COMMANDS = {
    "repo_discovery": "repo_discovery --query ProcessOrder",
    "symbol_definition": "symbol_definition --query 'lang:go ProcessOrder'",
    "symbol_usage": "symbol_usage --query 'ProcessOrder -f:_test lang:go' --limit 8",
    "file_context_reader": "file_context_reader --repo checkout --path order/process.go"
    " --start-line 9 --end-line 12",
    "cross_repo_trace": "cross_repo_trace --symbol ProcessOrder --max-repos 6",
    "impact_analysis": "impact_analysis --symbol ProcessOrder",
    "test_finder": "test_finder --symbol PaymentService",
    "config_trace": "config_trace --name PAYMENT_TIMEOUT_S",
    "dependency_trace": "dependency_trace --module src.service",
    "todo_scan": "todo_scan",
    "outline": "outline --repo payments --path src/service.py",
    "dead_code_candidates": "dead_code_candidates --repo checkout --path order/process.go",
}


@pytest.fixture(scope="module")
def zoekt(roots, tmp_path_factory):
    """Return the URL of the real Zoekt that serves the repositories."""
    indexes = tmp_path_factory.mktemp("indexes")
    ctags = shutil.which("universal-ctags") or shutil.which("ctags")
    if ctags is None:
        pytest.skip("universal-ctags is not installed, by which Zoekt finds symbols")
    try:
        with pytest.MonkeyPatch.context() as variables:
            variables.setenv("CTAGS_COMMAND", ctags)
            for root in roots:
                zoekt_programs.index(Path(root.folder), indexes, "-require_ctags")
    except zoekt_programs.Unreachable as reason:
        pytest.skip(str(reason))
    with zoekt_programs.serving(indexes) as url:
        yield url


@pytest.fixture
def over_zoekt(zoekt, home):
    cluster = Cluster(addresses.parse(zoekt))
    yield Workflows(lambda: cluster, symbols_of, {})
    cluster.close()


def payload(workflows: Workflows, command: str) -> Any:
    """The result, with files by name instead of by score, and without URLs."""
    finished = workflows.run_command(command)
    assert finished.result.success, finished.markdown
    return by_name(finished.result.result_json)


def by_name(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: by_name(item) for name, item in value.items() if name != "url"}
    if isinstance(value, list):
        items = [by_name(item) for item in value]
        is_sorted = not items or not isinstance(items[0], dict) or "line" in items[0]
        return items if is_sorted else sorted(items, key=str)
    return value


def answer(workflows: Workflows, name: str) -> str:
    """The markdown without what is of this run and this machine."""
    finished = workflows.run_command(COMMANDS[name])
    assert finished.result.success, finished.markdown
    return re.sub(r"(?m)^- (Timing|Tier).*\n", "", finished.markdown) + "\n"


def in_order(text: str) -> str:
    """An answer with the items of each numbered list by their text, and without URLs."""
    kept = re.sub(r"(?m)^ +(https?|file)://.*\n", "", text)
    return "\n".join(_sorted(kept.splitlines()))


def _sorted(lines: list[str]) -> list[str]:
    """Sort the items of the outermost lists, each with the lines below it, and the lists in them.

    An item is at the left margin of the lines; what is in it stands further right.
    """
    ordered: list[str] = []
    while lines:
        head = re.match(r"( *)\d+\. ", lines[0])
        if head is None:
            ordered.append(lines.pop(0))
            continue
        items: list[list[str]] = []
        while lines and (item := re.match(rf"{head[1]}\d+\. (.*)", lines[0])):
            lines.pop(0)
            below = []
            while lines and lines[0].startswith(f"{head[1]}  "):
                below.append(lines.pop(0))
            items.append([f"{head[1]}- {item[1]}", *_sorted(below)])
        ordered += [line for item in sorted(items) for line in item]
    return ordered


@pytest.mark.parametrize("name", COMMANDS)
def test_the_answer_over_local_indexes_is_the_golden_one(name, workflows):
    text = answer(workflows, name)
    file = GOLDEN / f"{name}.md"
    if os.environ.get("TRISEEK_GOLDEN") == "update":
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, "utf-8")

    assert text == file.read_text("utf-8")


@pytest.mark.parametrize("name", COMMANDS)
def test_the_answer_over_the_real_zoekt_is_the_golden_one(name, over_zoekt):
    golden = (GOLDEN / f"{name}.md").read_text("utf-8")

    assert in_order(answer(over_zoekt, name)) == in_order(golden)


def test_answers_are_compared_by_their_items():
    text = "### A\n1. `b`\n   - L2: `x`\n   http://h/b\n2. `a`\n   - L1: `y`\nend"

    assert in_order(text) == "### A\n- `a`\n   - L1: `y`\n- `b`\n   - L2: `x`\nend"
    assert in_order(text.replace("L1", "L3")) != in_order(text)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_real_zoekt_gives_the_same_answer(name, workflows, over_zoekt):
    assert payload(over_zoekt, COMMANDS[name]) == payload(workflows, COMMANDS[name])


def test_two_hosts_of_which_one_is_down_answer_in_part(zoekt, home):
    gone = f"http://127.0.0.1:{zoekt_programs.free_port()}"
    cluster = Cluster(addresses.parse(f"{zoekt},{gone}"))
    try:
        finished = Workflows(lambda: cluster, symbols_of, {}).run_command(COMMANDS["symbol_usage"])
    finally:
        cluster.close()

    assert finished.result.success, finished.markdown
    assert "`checkout/order/process.go`" in finished.markdown
    assert re.search(r"(?m)^- Hosts: .*` ok, .*` down$", finished.markdown)
    assert re.search(r"(?m)^- Note: ", finished.markdown)


def test_definitions_are_found_in_indexes_without_symbols(roots, tmp_path, home):
    try:
        for root in roots:
            zoekt_programs.index(Path(root.folder), tmp_path, "-disable_ctags")
    except zoekt_programs.Unreachable as reason:
        pytest.skip(str(reason))
    with (
        zoekt_programs.serving(tmp_path) as url,
        closing(Cluster(addresses.parse(url))) as cluster,
    ):
        over_it = Workflows(lambda: cluster, symbols_of, {})
        golden = (GOLDEN / "symbol_definition.md").read_text("utf-8")
        text = answer(over_it, "symbol_definition")
        assert in_order(re.sub(r"(?m)^- Note: .*\n", "", text)) == in_order(golden)
        assert "\n- Note: files without symbols in the index were parsed: 60 at most\n" in text
        assert "No matches found." in over_it.run_command("symbol_definition --query zz").markdown


def test_commits_are_not_known_of_repositories_elsewhere(over_zoekt):
    finished = over_zoekt.run_command("change_history --repo web --text render")

    assert finished.result.exit_code == 1
    assert "web is not on this machine" in finished.markdown
