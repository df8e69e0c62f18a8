"""bench programmatic: what results show is read, facts come from elsewhere."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from bench import record
from bench.model import Faulty
from bench.programmatic import definitions, steps, tasks, trees
from bench.programmatic.shell import Shell
from bench.programmatic.steps import Answer, Step, best
from bench.programmatic.tasks import Fact, Task

DOCS = Path(record.__file__).parents[1] / "docs" / "benchmarks"
FOLDERS = {"github.com/org/shop": "shop"}
PYTHON = "import os\n\n\ndef pay_order(order):\n    return order\n\n\npay_order(1)\n"
needs_ctags = pytest.mark.skipif(shutil.which("ctags") is None, reason="ctags is not installed")


def task(*facts, uses=()):
    return Task(
        "usages", "pay_order", "shop", 2, True, tuple(facts),
        (definitions.Definition("shop/a.py", 4, 5),), frozenset(uses),
    )  # fmt: skip


def answer(policy, *places, text="x"):
    return Answer("grep", policy, [Step("shell", {}, text, 0.0, frozenset(places))])


def test_what_rg_prints_is_read():
    assert steps.of_rg("./shop/a.py:4:def f(): x:1:\nb.py:9:y\n") == {
        ("shop/a.py", 0), ("shop/a.py", 4), ("b.py", 0), ("b.py", 9),
    }  # fmt: skip
    assert ("shop/a.py", 0) in steps.of_rg("shop/a.py:12\n")
    assert steps.of_rg("shop/a.py\n") == {("shop/a.py", 0)}


def test_what_a_digest_shows_is_read():
    text = "3 matches in 2 files\nshop/a.py (1 of 2)\n4,8:pay_order\nb.py\n"
    assert {("shop/a.py", 4), ("shop/a.py", 8), ("b.py", 0)} <= steps.of_digest(text)
    assert ("b.py", 4) not in steps.of_digest(text)


@pytest.mark.parametrize(
    ("line", "numbers"),
    [
        ("   - L4: `def pay_order(order):`", {4}),
        ("   - L4-5: `def pay_order(order):`", {4, 5}),
        ("   - L7, 8: `main`: `x: L99`", {7, 8}),
        ("   - L7, 8, ...: top level", {7, 8}),
        ("   - L142, 162", {142, 162}),
        ("     12 | x = 1", {12}),
        ("   - ... `6` more matches", set()),
        ("- Note: 3 of 24 files are shown for 'x'", set()),
    ],
)
def test_what_a_workflow_shows_is_read(line, numbers):
    text = f"### Code\n1. `github.com/org/shop/a.py`\n{line}"
    assert steps.of_markdown(text, "", FOLDERS) == {("shop/a.py", 0)} | {
        ("shop/a.py", number) for number in numbers
    }
    assert steps.of_markdown(f"1. `a.py`\n{line}", "shop", FOLDERS) == (
        steps.of_markdown(text, "", FOLDERS)
    )


def test_a_file_on_one_line_is_read():
    assert steps.of_markdown("  2. `a.py`: L719, 3", "shop", {}) == {
        ("shop/a.py", 0), ("shop/a.py", 719), ("shop/a.py", 3),
    }  # fmt: skip


def test_what_a_script_returns_is_read():
    document = {"read": ["a.py:4-5,9 x: 1", "github.com/org/shop/b.py:"], "none": None}
    text = f"### Result JSON\n```json\n{json.dumps(document, indent=2)}\n```\n"
    assert steps.of_script(text, "shop", FOLDERS) == {
        ("shop/a.py", 0), ("shop/a.py", 4), ("shop/a.py", 5), ("shop/a.py", 9), ("shop/b.py", 0),
    }  # fmt: skip


def test_missing_facts_lower_the_recall_and_are_named():
    facts = [
        Fact("definition", frozenset({("a", 1)})),
        Fact("use", frozenset({("b", 2), ("b", 3)})),
    ]
    asked = task(*facts, uses={("b", 2), ("b", 3)})

    assert answer("x", ("a", 1), ("b", 3)).missing(asked) == []
    assert answer("x", ("b", 3)).recall(asked) == 0.5
    assert answer("x", ("b", 9), ("a", 0)).missing(asked) == facts
    assert answer("x", ("b", 3)).share_of_uses(asked) == 0.5


def test_the_better_policy_shows_more_or_costs_less():
    asked = task(Fact("use", frozenset({("a", 1)})))
    short, long = answer("short", ("a", 1)), answer("long", ("a", 1), text="x" * 900)

    assert best(asked, [long, short]) is short
    assert best(asked, [answer("nothing"), long]) is long


def test_arguments_and_results_are_counted():
    step = Step("shell", {"command": "rg x"}, "12345", 0.0, frozenset())
    assert step.tokens == 5 + 2


@needs_ctags
def test_definitions_and_their_extents_are_those_of_ctags(tmp_path):
    (tmp_path / "a.py").write_text(PYTHON)
    (tmp_path / "b.rs").write_text("impl X {\n    pub fn go(\n        a: u8,\n    ) {\n    }\n}\n")

    found = definitions.of_folder(tmp_path)

    assert found["pay_order"] == [definitions.Definition("a.py", 4, 5)]
    assert found["go"] == [definitions.Definition("b.rs", 2, 0)]
    assert definitions.extent(tmp_path, found["go"][0]) == 5
    assert definitions.extent(tmp_path, found["pay_order"][0]) == 5


@needs_ctags
@pytest.mark.rg
def test_facts_of_a_usage_are_all_lines_with_the_name(tmp_path, rg):
    (tmp_path / "shop").mkdir()
    body = "def pay_order(order):\n" + "    x = 1\n" * 5
    (tmp_path / "shop" / "a.py").write_text(f"{body}\npay_order(1)\nrepay_order(2)\n")
    sources = tasks.Sources(tmp_path, ["shop"], rg)

    made = tasks._usages(sources, "pay_order", "shop", sources.lines("pay_order", "shop"))

    assert {fact.group: set(fact.places) for fact in made.facts} == {
        "definition": {("shop/a.py", 1)}, "extent": {("shop/a.py", 6)}, "use": {("shop/a.py", 8)},
    }  # fmt: skip
    with pytest.raises(Faulty, match="too few names"):
        tasks.drawn(sources)


@needs_ctags
@pytest.mark.rg
def test_a_traced_name_is_in_several_repositories(tmp_path, rg):
    for name, text in (("shop", PYTHON), ("web", "pay_order(2)\n"), ("bank", "x\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.py").write_text(text)
    sources = tasks.Sources(tmp_path, ["shop", "web", "bank"], rg)

    made = tasks._trace(sources, "pay_order", "", sources.lines("pay_order", ""))

    assert [(fact.group, set(fact.places)) for fact in made.facts] == [
        ("definition", {("shop/a.py", 4)}), ("repository", {("shop/a.py", 0)}),
        ("repository", {("web/a.py", 0)}),
    ]  # fmt: skip


@needs_ctags
@pytest.mark.rg
def test_a_variable_is_read_where_it_is_quoted(tmp_path, rg):
    (tmp_path / "shop" / "docs").mkdir(parents=True)
    (tmp_path / "shop" / "a.py").write_text('x = os.environ["PAY_S"]\n# PAY_S\n')
    (tmp_path / "shop" / "docs" / "a.md").write_text("PAY_S and MY_PAY_S\n")
    sources = tasks.Sources(tmp_path, ["shop"], rg)

    made = tasks._config(sources, "PAY_S", "shop", sources.lines("PAY_S", "shop"))

    assert {(fact.group, *next(iter(fact.places))) for fact in made.facts} == {
        ("read", "shop/a.py", 1), ("code", "shop/a.py", 0),
        ("documentation", "shop/docs/a.md", 0),
    }  # fmt: skip


@pytest.mark.rg
def test_a_shell_reads_a_definition_to_its_end(tmp_path, monkeypatch, rg):
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "a.py").write_text("def pay_order():\n" + "    x\n" * 50 + "pay_order()\n")
    monkeypatch.setenv("PATH", f"{Path(rg).parent}:/usr/bin:/bin")
    facts = [
        Fact("extent", frozenset({("shop/a.py", 51)})),
        Fact("use", frozenset({("shop/a.py", 52)})),
    ]
    asked = task(*facts)._replace(definitions=(definitions.Definition("shop/a.py", 1, 51),))

    answers = {each.policy: each for each in Shell(tmp_path).answers(asked)}

    assert [each.recall(asked) for each in answers.values()] == [1.0, 1.0]
    commands = [step.arguments["command"] for step in answers["all lines"].steps]
    assert commands == [
        "rg -n -w pay_order shop | head -250", "sed -n 1,40p shop/a.py", "sed -n 41,80p shop/a.py",
    ]  # fmt: skip


def test_a_clone_is_made_once_and_has_its_address(tmp_path, monkeypatch):
    origin = tmp_path / "origin"
    origin.mkdir()
    (origin / "a.py").write_text("x\n")
    (origin / "big.bin").write_text("y\n")
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "x"], ["tag", "v1"]):
        subprocess.run([*git, *words], cwd=origin, check=True)
    source = {"url": "https://github.com/org/shop", "version": "v1", "without": ["/big.bin"]}
    monkeypatch.setattr(trees, "sources", lambda: {"shop": source})

    for _ in range(2):
        [made] = trees.prepared(tmp_path / "trees", {"shop": str(origin)})
        assert made.full_name == "github.com/org/shop"
        files = {path.name for path in (tmp_path / "trees" / "shop").iterdir()}
        assert files == {".git", "a.py"}
        shutil.rmtree(origin, ignore_errors=True)
