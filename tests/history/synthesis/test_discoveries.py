"""Errors met again, places explored, figures measured, and how much is kept."""

from __future__ import annotations

import pytest

from tests.history import outputs
from tests.history.recorded import Recorded
from tests.history.synthesis.derived import derived, kinds
from triseek.history.synthesis.measured import values_of
from triseek.history.synthesis.rules import PROMPT_MAX

REFUSED = "npm ERR! connect ECONNREFUSED 127.0.0.1:4873\n"


def test_an_error_that_a_command_resolved(database):
    session = Recorded(database).prompt("x")
    session.run("npm run deploy", REFUSED, 1).run(
        "npm run deploy", REFUSED.replace("4873", "4874"), 1
    )
    session.run("docker compose up -d").run("npm run deploy", "done")
    (draft,) = derived(session)
    assert (draft.type, draft.concepts) == ("discovery", ("gotcha",))
    assert draft.title == "npm run deploy: npm ERR! connect ECONNREFUSED 127.0.0.1:4874"
    assert "then ran: docker compose up -d" in draft.facts
    assert draft.evidence.is_resolved


def test_an_error_that_stayed(database):
    session = Recorded(database).prompt("x").run("npm run deploy", REFUSED, 1)
    assert derived(session) == []
    (draft,) = derived(session.run("npm run deploy", REFUSED, 1))
    assert draft.facts[-1] == "not resolved in this session"
    assert draft.evidence.is_resolved is False


def test_an_error_that_edits_fixed_is_told_once(database):
    session = Recorded(database).prompt("x")
    for _ in range(3):
        session.run("pytest", outputs.PYTEST_FAILED, 1).edit("a.py", "a", "b")
    session.run("pytest", outputs.PYTEST_PASSED)
    assert [draft.rule for draft in derived(session)] == ["fixed-check"]


def test_reads_and_searches_before_the_first_edit(database):
    session = Recorded(database).prompt("Where are discounts?").read("shop/cart.py")
    session.run("rg -n discount shop", "shop/cart.py:1:x").read("shop/price.py").read(
        "shop/cart.py"
    )
    session.edit("README.md", "a", "b").read("docs/a.md")
    draft = derived(session, "explored")[0]
    assert draft.title == "Explored shop (2 files)"
    assert draft.subtitle == "Where are discounts?"
    assert draft.facts == (
        "read ×2: shop/cart.py", "read ×1: shop/price.py", "searched: discount",
    )  # fmt: skip


@pytest.mark.parametrize("paths", [["a/x", "b/y", "c/z"], ["a/x", "a/y"]])
def test_scattered_or_few_reads_say_nothing(database, paths):
    session = Recorded(database).prompt("x")
    for path in paths:
        session.read(path)
    assert derived(session) == []


def test_figures_of_a_benchmark(database):
    session = Recorded(database).prompt("x")
    session.run(
        "python bench/run.py", "search p50: 12.5 ms\nindex size  30 MB\nBenchmarkSum   8.2 ns/op\n"
    )
    session.run("pytest", "call: 12 ms\n").run("cat notes", "size: 12 MB\n")
    ((kind, title),) = kinds(session)
    assert kind == "discovery"
    assert title.startswith("Measured python bench/run.py: search p50=12.5 ms, index size=30 MB")
    assert title.endswith("BenchmarkSum=8.2 ns/op")


def test_lines_without_a_unit_are_no_figures():
    assert values_of("line 12\nversion: 1.2.3\ntotal: 12 items\n") == {}


def test_a_prompt_has_a_bounded_number_of_rows_and_commits_stay(database):
    session = Recorded(database).prompt("x")
    for number in range(20):
        session.run(f"npm install p{number}", "ok")
    session.run("git commit -m 'feat: many'", "[main 1a2b3c4] feat: many\n")
    drafts = derived(session)
    assert len(drafts) == PROMPT_MAX
    assert ("feature", "feat: many") in kinds(session)


def test_hostile_events_do_no_harm(database):
    session = Recorded(database).prompt(
        "\ud800".encode("utf-8", "replace").decode() + "\0" * 10_000
    )
    for text in (
        "(" * 30_000,
        "\0",
        "git commit -m '" + "x" * 30_000,
        "'",
        "a" * 70_000,
        "<<A\n" * 900,
    ):
        session.run(text, text * 3, 1).run(text, text * 3, 0)
    for path in ("/", "a" * 5_000, "../../x", "a\nb.py", "\x1b[31m.py"):
        session.edit(path, "x" * 200_000, "y\n" * 100_000).read(path)
    session.tool("TodoWrite", todos={"a": 1}).tool("Grep", pattern=["x"]).tool(
        "x", plan=[1, {"status": []}]
    )
    for draft in derived(session):
        assert all(text.isprintable() for text in (draft.title, *draft.facts))
        assert len(draft.title) <= 160


@pytest.mark.parametrize(
    "line",
    [
        "Finished in 119.06s", "succeeded in 0ms:",
        "Command did not complete within its 120s limit",
        "aborted by user after 170.7s", "Preview (first 2KB):", "head -20  0.00s user 0.00s system",
        "remote: Receiving objects: 57.6 KiB", "Updating files: 0% (1/900)", "Wall time 32m04s",
    ],
)  # fmt: skip
def test_sentences_and_progress_are_no_figures(line):
    assert values_of(f"{line}\nPeak heap: 5.4 GiB\n") == {"Peak heap": "5.4 GiB"}
