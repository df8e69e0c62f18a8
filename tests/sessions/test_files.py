"""The index of the sessions is made anew from their logs if it is damaged."""

from __future__ import annotations

import json

import pytest

from triseek.sessions.files import INDEX
from triseek.sessions.lifecycle import Sessions


@pytest.fixture
def sessions(tmp_path):
    return Sessions(tmp_path / "sessions")


@pytest.mark.parametrize("damage", [b"", b"{", b'{"schema_version": 2}', b"[]", b"\xff"])
def test_a_damaged_index_is_set_aside_and_made_anew_from_the_logs(sessions, tmp_path, damage):
    sessions.open("/repo", "goal", "mine")
    sessions.close("mine", "resolved")
    index = tmp_path / "sessions" / INDEX
    index.write_bytes(damage)

    again = Sessions(tmp_path / "sessions")
    assert again.get("mine").document() == sessions.get("mine").document()
    assert index.with_name(INDEX + ".damaged").read_bytes() == damage
    again.save()
    assert json.loads(index.read_bytes())["sessions"][0]["session_id"] == "mine"
