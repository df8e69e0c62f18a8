"""The same requests get answers of the same shape from Zoekt's server and from ours.

`TRISEEK_GOLDEN=update` records what the real server answers, for machines that cannot build it.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from tests.compat.asked import ASKED
from tests.compat.shapes import Answer, ask, differences

pytestmark = pytest.mark.long

RECORDED = Path(__file__).parents[1] / "golden" / "zoekt" / "compat.jsonl"
"""An answer of the real server a line, in the order of `ASKED`."""


def test_answers_are_shaped_as_those_of_the_real_server(theirs: str, ours: str) -> None:
    answers = [ask(theirs, request) for request in ASKED]
    if os.environ.get("TRISEEK_GOLDEN") == "update":
        RECORDED.write_text("".join(map(_line, answers)), encoding="utf-8")

    assert len(ASKED) >= 100
    assert _different(answers, ours) == []


def test_answers_are_shaped_as_recorded_ones(ours: str) -> None:
    lines = RECORDED.read_text(encoding="utf-8").splitlines()
    answers = [
        Answer(status, kind, body.encode("utf-8", "surrogateescape"))
        for status, kind, body in map(json.loads, lines)
    ]

    assert len(answers) == len(ASKED)
    assert _different(answers, ours) == []


def _different(answers: list[Answer], ours: str) -> list[str]:
    return [
        f"{request.method} {request.path} {request.body or ''}: {difference}"
        for request, answer in zip(ASKED, answers, strict=True)
        for difference in differences(answer, ask(ours, request), values=not request.differs)
    ]


def _line(answer: Answer) -> str:
    body = answer.body.decode("utf-8", "surrogateescape")
    body = re.sub('"Source":"[^"]*"', '"Source":""', body)  # folders of this machine
    return json.dumps([answer.status, answer.content_type, body]) + "\n"
