"""Which hooks Codex runs, from a program that talks as its app server does."""

from __future__ import annotations

import json

import pytest

from triseek.agents.doctor.codex_trust import trust

OURS = "'/bin/triseek' hook PreToolUse --harness codex"


def hook(command, status, **more):
    return {"command": command, "trustStatus": status, "enabled": True, "isManaged": False, **more}


def looked(host, programs, hooks):
    told = {"id": 1, "result": {"data": [{"cwd": "/x", "hooks": hooks}]}}
    line = json.dumps(told, separators=(",", ":"))
    # It answers, and ends when its input does.
    programs("codex", f"read a; read b; read c; cat <<'END'\n{line}\nEND\ncat >/dev/null\n")
    (said,) = trust(host())
    return said


@pytest.mark.parametrize(
    ("hooks", "level", "word"),
    [
        ([hook(OURS, "trusted")] * 2 + [hook("other", "untrusted")], "ok", "all 2 are approved"),
        ([hook(OURS, "trusted"), hook(OURS, "untrusted")], "warn", "1 of 2 wait"),
        ([hook(OURS, "modified")], "warn", "1 of 1 wait"),
        ([hook(OURS, "trusted", enabled=False)], "warn", "1 of 1 wait"),
        ([hook("other", "untrusted")], "info", "does not say"),
        ([1, None], "info", "does not say"),
    ],
)
def test_hooks_that_do_not_run_are_told_of(host, programs, hooks, level, word):
    said = looked(host, programs, hooks)

    assert said.level == level
    assert word in said.detail


@pytest.mark.parametrize("script", ["exit 3", "echo '{'", "read a; exit 0"])
def test_a_codex_that_cannot_say_is_no_failure(host, programs, script):
    programs("codex", script)

    (said,) = trust(host())

    assert said.level == "info"
