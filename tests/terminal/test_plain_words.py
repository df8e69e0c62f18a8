"""Commands are read without Typer as Typer reads them, from the same declarations."""

from __future__ import annotations

import random

import pytest

from tests.cli.typer_reading import typers_reading
from triseek.app import wings
from triseek.cluster.commands import searching as cluster_quick
from triseek.history.commands import quick
from triseek.memory.commands import quick as memory_quick
from triseek.search.commands import roots, symbols
from triseek.terminal.plain_words import read
from triseek.workflows.commands import quick as workflow_quick

PIECES = [
    "a", "b c", "-", "--", "--json", "--json=1", "--limit", "--limit=3", "7", "--limit=", "--plain",
    "--limit=-1", "--limit=101", "--limit=0", "--limit=1_0", "--limit=٣", "--limit=x", "--limit= 3",
    "--by", "--by=message", "--project", "--project=", "--since", "30d", "--before=3", "--after",
    "--png=x", "--tag", "--tag=b", "--as-of=x", "--as-of", "--as_of=x", "--deep",
    "--help", "-h", "--jso", "-x", "é", "\udcff", "", "--agent=a=b", "--agent", "--context=2",
    "-C", "-C2", "--repos", "--in=x", "--timeout", "--timeout=0", "--code", "--definition=a.b",
]  # fmt: skip


VERBS = {
    **{("history", name): command for name, command in quick.VERBS.items()},
    **{("memory", name): command for name, command in memory_quick.VERBS.items()},
    **{("memory", "kg", name): command for name, command in memory_quick.KG_VERBS.items()},
    **{("cluster", name): command for name, command in cluster_quick.VERBS.items()},
    **{("workflow", name): command for name, command in workflow_quick.VERBS.items()},
    ("roots", "search"): roots.search,
    ("symbols",): symbols.symbols,
}


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
@pytest.mark.parametrize("seed", range(60))
def test_what_is_read_without_typer_is_what_typer_reads(
    seed: int, verb: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    generator = random.Random(f"{seed} {verb[-1]}")
    words = generator.choices(PIECES, k=generator.randrange(6))

    values = read(VERBS[verb], words, options_first=verb == ("workflow", "run"))

    if values is not None:
        its = typers_reading(words, *verb) or {}
        lists = {name: list(value) for name, value in its.items() if isinstance(value, tuple)}
        # Typer makes None of an empty list when it calls the command.
        lists |= {name: None for name, value in lists.items() if not value and not values[name]}
        values |= {name: None for name in lists if not values[name]}
        assert {**its, **lists} == values, words


@pytest.mark.parametrize(
    ("verb", "words"),
    [
        (
            "search",
            "flaky retry --by message --agent codex --project=x --since 30d --limit 3 --json",
        ),
        ("show", "0f9c2d1a --json"),
        ("resume", "0f9c2d1a"),
        ("timeline", ""),
        ("timeline", "12 --before 3 --after=0"),
        ("stats", "--plain"),
        ("fix", "-- -x"),
        ("how", "pytest --limit 100"),
        ("blame", "a.py"),
        ("friction", "--since 90d"),
    ],
)
def test_usual_words_need_no_typer(verb: str, words: str) -> None:
    assert read(quick.VERBS[verb], words.split()) is not None


@pytest.mark.parametrize(
    ("verb", "words"),
    [("search", ""), ("show", "a b"), ("how", "x --limit 101"), ("search", "x --limit"),
     ("search", "x --nope"), ("search", "--help"), ("search", "x --limit=-1")],
)  # fmt: skip
def test_help_and_mistakes_are_left_to_typer(verb: str, words: str) -> None:
    assert read(quick.VERBS[verb], words.split()) is None


def test_the_table_of_wings_has_the_quick_verbs() -> None:
    assert wings.QUICK["history"] == (quick.__name__, tuple(quick.VERBS))
    module, verbs = wings.QUICK["memory"]
    assert (module, set(verbs)) == (memory_quick.__name__, {*memory_quick.VERBS, "kg"})
    assert wings.QUICK["cluster"] == (cluster_quick.__name__, tuple(cluster_quick.VERBS))
    assert wings.QUICK["workflow"][1] == tuple(workflow_quick.VERBS)
