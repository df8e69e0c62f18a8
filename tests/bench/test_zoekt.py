"""The measurement beside Zoekt: how answers are compared, and what its page says."""

from __future__ import annotations

import json
from typing import Any

from bench.progress import Progress
from bench.zoekt import answers, report
from bench.zoekt.measure import Run


def _answer(files: dict[str, list[int]], skipped: int = 0) -> dict[str, Any]:
    return {
        "Result": {
            "FileCount": len(files),
            "FilesSkipped": skipped,
            "ShardsSkipped": 0,
            "Files": [
                {
                    "Repository": "r",
                    "FileName": name,
                    "ChunkMatches": [
                        {
                            "FileName": not lines,
                            "Ranges": [{"Start": {"LineNumber": line}} for line in lines or [1]],
                        }
                    ],
                }
                for name, lines in files.items()
            ]
            or None,
        }
    }


def test_answers_with_the_same_lines_are_equal() -> None:
    files = {"b": [3, 3, 9], "a": []}
    turned = dict(reversed(files.items()))

    assert answers.differences(_answer(files), _answer(turned)) == []
    assert answers.differences(_answer({}), _answer({})) == []
    assert answers.counted(_answer(files)) == 2


def test_a_line_that_only_one_has_is_named() -> None:
    different = answers.differences(_answer({"a": [1, 2]}), _answer({"a": [1], "b": []}))

    assert different == ["only zoekt: r/a:2", "only triseek: r/b:0"]


def test_an_answer_that_zoekt_cut_is_not_compared() -> None:
    assert answers.differences(_answer({"a": [1]}, skipped=1), _answer({})) == [report.LIMIT]


def _timed(zoekt_ms: float, triseek_ms: float, different: list[str]) -> Any:
    return {
        "family": "word", "query": "a|b", "options": "capped", "zoekt_ms": zoekt_ms,
        "triseek_ms": triseek_ms, "zoekt_cpu_ms": 1.0, "triseek_cpu_ms": 1.0, "zoekt_files": 1,
        "triseek_files": 2, "zoekt_bytes": 1, "triseek_bytes": 1, "different": different,
        "rounds": 1, "load": 0.5,
    }  # fmt: skip


def test_the_budget_allows_three_milliseconds_where_zoekt_is_fast() -> None:
    assert report.within(_timed(9.0, 12.0, []))
    assert not report.within(_timed(9.0, 12.1, []))
    assert report.within(_timed(10.0, 10.0, []))
    assert not report.within(_timed(10.0, 10.1, []))


def test_the_page_says_what_was_missed_and_what_differed(tmp_path: Any) -> None:
    indexed = [
        {"engine": engine, "tree": "t", "seconds": 1.0, "cpu_seconds": 1.0, "peak_rss_bytes": 1,
         "index_bytes": size, "load": 0.5}
        for engine, size in (("zoekt", 1000), ("triseek", 101))
    ]  # fmt: skip
    document = {
        "machine": {"cpu": "C", "cores": 2, "python": "3"},
        "settings": [
            {
                "name": "s",
                "trees": [{"name": "t", "version": "1", "files": 3, "bytes": 400}],
                "indexed": indexed,
                "timed": [_timed(1.0, 9.0, ["only zoekt: x"]), _timed(1.0, 1.0, [])],
            }
        ],
    }

    page = report.page(document)

    assert "0.101 of Zoekt's size (budget 0.1: **missed**)" in page
    assert "1 of 2 within the budget" in page
    assert "only zoekt: x" in page
    assert r"`a\|b`" in page
    assert report.has_differences(document)
    file = tmp_path / "zoekt.json"
    file.write_text(json.dumps(document))
    assert Run(file, tmp_path, Progress()).settings == document["settings"], "a run goes on there"
