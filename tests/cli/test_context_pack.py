"""`triseek context-pack`: the same files as the engine gives, for people and for programs."""

from __future__ import annotations

import json

import pytest

from tests.cli.running import triseek
from tests.conftest import plant
from triseek.engine.context_pack.pack import context_pack
from triseek.engine.engine import Engine
from triseek.model.context_pack import ContextPackRequest

GOAL = "retry delay is too long"


@pytest.fixture
def shop(tmp_path):
    plant(
        tmp_path,
        {
            "src/retry.py": "def retry_delay(attempt):\n    return 2**attempt\n",
            "src/pool.py": "def close():\n    pass\n",
            "tests/test_retry.py": "def test_retry_delay():\n    assert retry_delay(1) == 2\n",
        },
    )
    return tmp_path


def test_json_is_the_envelope(shop):
    outcome = triseek(["context-pack", "--goal", GOAL, "--max-files", "1", "--json"], shop)

    request = ContextPackRequest(goal=GOAL, max_files=1)
    expected = context_pack(Engine(str(shop)), request).envelope()
    assert outcome.status == 0
    assert json.loads(outcome.out) == json.loads(json.dumps(expected))


def test_people_get_the_files_their_lines_and_what_to_do_next(shop):
    outcome = triseek(["context-pack", "--goal", GOAL, "--max-files", "1"], shop)

    lines = outcome.out.decode().splitlines()
    assert lines[0].startswith("src/retry.py (content_match, definition, path_match")
    assert lines[1] == "1:def retry_delay(attempt):"
    assert lines[-1] == "[truncated: more matched — raise budget_tokens or max_files]"


def test_nothing_found_is_status_1(shop):
    outcome = triseek(["context-pack", "--goal", "zygomorphic"], shop)

    assert outcome.status == 1
    assert b"no strong candidates" in outcome.out


def test_changed_files_count_from_where_they_were_typed(shop):
    words = ["context-pack", "..", "--goal", "close", "--intent", "review", "--json"]

    outcome = triseek([*words, "--changed-file", "retry.py"], shop / "src")

    assert json.loads(outcome.out)["items"][0]["path"] == "src/retry.py"
