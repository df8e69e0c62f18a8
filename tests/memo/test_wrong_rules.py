"""The stream notices a memo that is wrong in any one way: else it would prove nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.memo.judge import Fault
from tests.memo.stream import Stream
from tests.memo.wrong_rules import QUICK, RULES

if TYPE_CHECKING:
    from pathlib import Path

STREAMS = 6
EVENTS, MANY = 2_500, 15_000
"""Of a stream; what only matters around a kill shows seldom."""


def notices(name: str, folder: Path, events: int) -> bool:
    for seed in range(STREAMS):
        with pytest.MonkeyPatch.context() as patch:
            RULES[name](patch)
            stream = Stream(folder / str(seed), seed)
            try:
                stream.run(events)
            except Fault:
                return True
            finally:
                stream.close()
    return False


@pytest.mark.parametrize("name", QUICK)
def test_a_wrong_rule_is_noticed(name: str, tmp_path: Path) -> None:
    assert notices(name, tmp_path, EVENTS)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(RULES.keys() - set(QUICK)))
def test_every_wrong_rule_is_noticed(name: str, tmp_path: Path) -> None:
    assert notices(name, tmp_path, MANY)
