"""An entry of a log is a plain sentence, never JSON."""

from __future__ import annotations

import pytest

from tests.sessions.test_brief import entry
from triseek.sessions import wording


@pytest.mark.parametrize(
    ("kind", "payload", "words"),
    [
        ("session_open", {"session": {"goal": "Mend it"}}, "opened: Mend it"),
        ("session_open", {"session": {"goal": "Mend it", "by_itself": True}},
         "begun by a prompt: Mend it"),
        ("session_resume", {"snapshot_id": "snap_1"}, "resumed from snapshot snap_1"),
        ("session_handoff", {"snapshot_id": "snap_1", "to": "codex"},
         "handed off to codex as snapshot snap_1"),
        ("session_handoff", {"snapshot_id": "snap_1"}, "handed off as snapshot snap_1"),
        ("session_close", {"session": {"status": "resolved"}}, "closed as resolved"),
        ("command", {"command": "make x", "exit_status": 2, "failed": True, "folder": "a"},
         "make x in a: exit status 2"),
        ("command", {"command": "make"}, "make: how it ended is not known"),
        ("command_status", {"call": "1", "exit_status": 0}, "the command ended: exit status 0"),
        ("memo_status", {"tool": "memo_status", "arguments": {"files": ["a.py"], "n": 3}},
         'files ["a.py"], n 3'),
        ("session_snapshot", {"tool": "session_snapshot", "arguments": {}, "error": "X"}, "(X)"),
        ("reindex", {"tool": "reindex"}, ""),
    ],
)  # fmt: skip
def test_each_kind_is_a_sentence(kind, payload, words):
    assert wording.what(entry(1, kind, **payload)) == words
