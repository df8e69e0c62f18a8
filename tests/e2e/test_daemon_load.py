"""Sixteen clients at once, while files change and the index is updated and merged: no wrong answer.

`TRISEEK_LOAD` says how many requests each client makes in the slow test.
"""

from __future__ import annotations

import os
import time

import pytest

from tests.e2e.living import Living
from tests.e2e.load import Load

pytestmark = pytest.mark.long

REQUESTS = 15
REQUESTS_SLOW = int(os.environ.get("TRISEEK_LOAD", "500"))


@pytest.fixture
def living(tmp_path):
    with Living(tmp_path / "state") as living:
        yield living


def under_load(living, folder, requests, files, pause=0.02):
    load = Load(living, folder, files, pause)
    living.start()
    living.wait_watched(load.root)
    began = time.perf_counter()
    with load.editing(), load.clients(4, threads=4, requests=requests, by_process=0.02) as wait:
        told = wait()
        seconds = time.perf_counter() - began
        status = living.ask("status", target_root=str(load.root))
    print(f"\n{told}; {load.deeds} deeds, {load.written}; {seconds:.0f} s; {status['root']}")
    assert told.errors == []
    assert told.wrong == [], told.wrong[:3]
    assert told.asked == 16 * requests
    assert told.checked_edits > requests
    assert load.deeds > 100
    failures = [line for line in living.log() if line["level"] in ("error", "critical")]
    assert failures == []
    return load


def test_many_clients_get_right_answers_while_files_change(living, tmp_path):
    under_load(living, tmp_path, REQUESTS, 400)


@pytest.mark.slow
def test_of_eight_thousand_answers_amid_edits_and_merges_none_is_wrong(living, tmp_path):
    load = under_load(living, tmp_path, REQUESTS_SLOW, 3_000)
    assert load.written["merges"] > 0
    assert load.written["processes"] > 0
