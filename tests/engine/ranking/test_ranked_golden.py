"""The order of results over pinned trees, kept as text and reviewed as such.

`TRISEEK_GOLDEN=update pytest tests/engine/test_ranked_golden.py` writes them anew. A question is a
line `? limit pattern` of the file of answers.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bench import corpora
from triseek.engine.engine import Engine
from triseek.engine.ranking.ranked import ranked
from triseek.model.search import PatternSpec, SearchRequest

GOLDEN = Path(__file__).parents[2] / "golden" / "ranked"


def planted(name):
    """The files of a tree that is kept as one text."""
    parts = (GOLDEN / f"{name}.tree").read_text().split("=== ")[1:]
    return dict(part.split("\n", 1) for part in parts)


def answered(engine, question):
    _, limit, pattern = question.split(" ", 2)
    request = SearchRequest(pattern=PatternSpec(patterns=(pattern,)))
    found = ranked(engine, request, limit=int(limit), scores={}, stop=lambda: False)
    said = [
        question,
        f"{found.search.totals.lines} lines in {found.search.totals.files_matched} files",
    ]
    for file in found.files:
        said.append(f"{file.path.decode()} ({file.kind.name.lower()}, {file.count})")
        for line in file.lines:
            sign = "*" if line.definition else " "
            said.append(f"{line.number:6}{sign} {line.text.decode()[:90].strip()}".rstrip())
    return "\n".join(said) + "\n\n"


def as_reviewed(engine, name):
    path = GOLDEN / f"{name}.answers"
    questions = [line for line in path.read_text().splitlines() if line.startswith("? ")]
    said = "".join(answered(engine, question) for question in questions)
    if os.environ.get("TRISEEK_GOLDEN") == "update":
        path.write_text(said)
    assert questions
    assert said == path.read_text()


def test_the_order_in_a_small_tree_of_many_languages(repo):
    as_reviewed(Engine(repo(planted("shop"))), "shop")


@pytest.mark.slow
def test_the_order_in_django():
    source = corpora.sources()["django"]
    place = corpora.cache() / f"django-{source['version']}"
    if not (place / ".complete").exists():
        pytest.skip("no Django here: python -m bench corpora django")
    [root] = (place / "tree").iterdir()
    as_reviewed(Engine(str(root)), "django")
