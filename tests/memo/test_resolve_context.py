"""Who calls a memo tool, from fields that anybody may have sent."""

from __future__ import annotations

import pytest

from triseek.errors import InvalidRequest
from triseek.memo.resolve_context import NAME_MAX, Asked


def test_fields_that_are_missing_or_null_are_empty():
    fields = {"session": "s1", "agent": None, "harness": "codex", "target_root": 5}

    assert Asked.read(fields) == Asked(session="s1", harness="codex")
    assert Asked.read({}) == Asked()


@pytest.mark.parametrize("name", Asked._fields)
@pytest.mark.parametrize("value", [5, 0, False, [], {}, "x" * (NAME_MAX + 1)])
def test_other_values_are_refused(name, value):
    with pytest.raises(InvalidRequest, match=f"{name} has to be a text of at most 500 characters"):
        Asked.read({name: value})
