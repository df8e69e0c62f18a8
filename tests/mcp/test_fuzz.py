"""Whatever a client sends: every line it is told is a message, and every request has its answer."""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from tests.mcp.fuzzing import TREE, Expected, Fuzzer
from tests.mcp.speaking import SERVE, Spoken, greeted, request

if TYPE_CHECKING:
    from collections.abc import Iterable

ROUND = 250
"""Lines between two moments at which everything has to be answered."""


def settled(server: Spoken, expected: Iterable[Expected], since: int) -> None:
    """Every line of a round has come to what it had to, and to nothing else."""
    answers: defaultdict[Any, list[dict[str, Any]]] = defaultdict(list)
    for message in server.messages[since:]:
        assert "method" not in message, message
        answers[message["id"]].append(message)
    wanted = sorted((one for one in expected if one.is_answered), key=lambda one: one.is_optional)
    for one in wanted:
        fitting = [answer for answer in answers[one.number] if is_fit(one, answer)]
        assert fitting or one.is_optional, (one, answers[one.number])
        if fitting:
            answers[one.number].remove(fitting[0])
    assert not [left for left in answers.values() if left]


def is_fit(expected: Expected, answer: dict[str, Any]) -> bool:
    with suppress(KeyError, TypeError):  # it is of another shape altogether
        return expected.fits(answer)
    return False


def fuzz(server: Spoken, seed: int, count: int) -> None:
    fuzzer = Fuzzer(seed)
    left = list(fuzzer.lines(count))
    while left:
        lines, left = left[:ROUND], left[ROUND:]
        since, mark = len(server.messages), f"mark {len(left)}"
        for chunk in fuzzer.chunks(b"".join(line.data for line in lines)):
            server.write(chunk)
        answered = [line.expected for line in lines if line.expected.is_answered]
        owed = [one.number for one in answered if not one.is_optional]
        waived = [one.number for one in answered if one.is_optional]
        while sum(one["id"] not in waived for one in server.messages[since:]) < len(owed):
            assert server.hear() is not None, server.said
        server.ask(request(mark, "ping"))
        settled(server, [*answered, Expected(mark)], since)
    assert server.close() == 0
    assert b"Traceback" not in server.said


@pytest.mark.parametrize("seed", range(2))
def test_some_hundred_messages(repo: Any, seed: int) -> None:
    with greeted([*SERVE, repo(TREE)]) as server:
        fuzz(server, seed, 400)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 14))
def test_ten_thousand_messages(repo: Any, seed: int) -> None:
    with greeted([*SERVE, repo(TREE)]) as server:
        fuzz(server, seed, 2_500)
