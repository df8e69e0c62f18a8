"""How long a search for an agent may take."""

from __future__ import annotations

import pytest

from triseek.errors import Cancelled, OutOfTime
from triseek.model import budget
from triseek.model.call import Call
from triseek.search import time_limit


def test_a_search_stops_with_the_time_or_with_whoever_waits(monkeypatch):
    assert time_limit.until_deadline(Call())() is False
    monkeypatch.setattr(time_limit, "DEADLINE_S", -1.0)
    assert time_limit.until_deadline(Call())() is True
    with pytest.raises(Cancelled):
        time_limit.until_deadline(Call(cancelled=lambda: True))()


def test_whatever_asks_for_the_budget_is_stopped_likewise(monkeypatch):
    with time_limit.limited(Call()):
        budget.check()
    with pytest.raises(Cancelled), time_limit.limited(Call(cancelled=lambda: True)):
        budget.check()
    monkeypatch.setattr(time_limit, "DEADLINE_S", -100.0)
    with pytest.raises(OutOfTime), time_limit.limited(Call()):
        budget.check()
