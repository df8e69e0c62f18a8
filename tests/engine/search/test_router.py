"""The routing table, row by row."""

from __future__ import annotations

from typing import get_args

import pytest

from triseek.engine.search.query import Query
from triseek.engine.search.router import REASONS, SMALL_BYTES, Reason, RepoState, choose
from triseek.model.search import PatternSpec, SearchRequest

READY = {"problem": "", "kernels_ready": True, "rg_available": True, "bytes": SMALL_BYTES + 1}
COLD = READY | {"one_shot": True, "bytes": SMALL_BYTES}

TABLE = [
    # pattern, request, state, backend, reason
    ("needle", {}, READY, "indexed", "indexed_default"),
    ("nee+dle", {}, READY, "indexed", "indexed_default"),
    ("needle", {}, COLD, "ripgrep", "small_repo"),
    ("needle", {}, COLD | {"bytes": SMALL_BYTES + 1}, "indexed", "indexed_default"),
    ("needle", {}, COLD | {"rg_available": False}, "indexed", "indexed_default"),
    ("ab", {}, READY, "indexed", "short_pattern"),
    ("ab", {"before": 1}, READY, "ripgrep", "short_pattern"),
    (r"\w+", {}, READY, "indexed", "weak_regex"),
    (r"\w+", {}, READY | {"kernels_decide": False}, "ripgrep", "weak_regex"),
    (r"\w+", {"after": 2}, READY, "ripgrep", "weak_regex"),
    (r"\w+", {"after": 2}, READY | {"rg_available": False}, "indexed", "weak_regex"),
    (
        "re+turn",
        {"after": 1},
        READY | {"candidate_share": 0.9},
        "ripgrep",
        "low_selectivity",
    ),
    ("re+turn", {"after": 1}, READY | {"candidate_share": 0.1}, "indexed", "indexed_default"),
    ("re+turn", {}, READY | {"candidate_share": 0.9}, "indexed", "indexed_default"),
    ("needle", {}, {"rg_available": True}, "ripgrep", "no_index"),
    ("needle", {}, {}, "direct_scan", "no_index"),
    ("needle", {}, READY | {"kernels_ready": False}, "ripgrep", "kernels_cold"),
    (
        "needle",
        {},
        READY | {"kernels_ready": False, "kernels_keepable": False},
        "ripgrep",
        "kernels_unkept",
    ),
    ("needle", {}, READY | {"index_covers": False}, "ripgrep", "filter_scan"),
    ("needle", {}, READY | {"only_files_named": True}, "direct_scan", "filter_scan"),
    ("needle", {"invert": True}, READY, "ripgrep", "reads_everything"),
    ("needle", {"passthru": True}, READY, "ripgrep", "reads_everything"),
    ("needle", {"mode": "files_without_match"}, READY, "ripgrep", "reads_everything"),
    ("needle", {}, READY | {"problem": "index_corrupt"}, "ripgrep", "index_corrupt"),
    ("needle", {}, READY | {"problem": "index_too_new"}, "ripgrep", "index_too_new"),
    ("needle", {}, READY | {"problem": "index_syncing"}, "ripgrep", "index_syncing"),
    ("needle", {}, {"problem": "state_unreadable"}, "direct_scan", "state_unreadable"),
    ("needle", {"engine": "scan"}, READY, "direct_scan", "explicit_engine_override"),
    ("needle", {"engine": "rg"}, {}, "ripgrep", "explicit_engine_override"),
    ("needle", {"engine": "index"}, {}, "indexed", "explicit_engine_override"),
]


@pytest.mark.parametrize(("pattern", "fields", "state", "backend", "reason"), TABLE)
def test_the_first_reason_that_applies_decides(pattern, fields, state, backend, reason):
    spec = PatternSpec(patterns=(pattern,))
    request = SearchRequest(pattern=spec, **fields)

    route = choose(Query.of("/", request), RepoState(**state))

    assert (route.backend, route.reason) == (backend, reason)


def test_every_reason_has_a_sentence_and_a_row_in_the_table():
    assert set(REASONS) == set(get_args(Reason)) == {row[4] for row in TABLE}
    assert all(sentence.endswith(".") for sentence in REASONS.values())
