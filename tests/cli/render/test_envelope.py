"""`--envelope`: the document that agents get."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.cli.running import triseek

if TYPE_CHECKING:
    from pathlib import Path


def test_the_envelope_is_the_documented_one(tree: Path) -> None:
    outcome = triseek(["--envelope", "--limit", "3", "needle", "a"], tree)

    document = json.loads(outcome.out)
    assert list(document)[:9] == [
        "version", "repo_root", "strategy", "fallback_used", "cache", "routing_reason",
        "files_with_matches", "total_line_matches", "results",
    ]  # fmt: skip
    assert document["truncated"] is True
    assert document["total_line_matches"] == 4
    shown = [
        (each["path"], match["line"]) for each in document["results"] for match in each["matches"]
    ]
    assert shown == [("a/b.txt", 1), ("a/b.txt", 3), ("a/c/d.py", 1)]
    assert document["results"][0]["matches"][0] == {
        "line": 1, "column": 2, "preview": "\tneedle indented",
    }  # fmt: skip


def test_a_match_of_several_lines_is_where_it_begins(tree: Path) -> None:
    outcome = triseek(["--envelope", "-U", r"bar\nend", "multi.txt"], tree)

    (result,) = json.loads(outcome.out)["results"]
    assert result["matches"] == [{"line": 5, "column": 1, "preview": "bar"}]
