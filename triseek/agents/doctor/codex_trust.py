"""Check whether Codex runs our hooks: it runs only hooks that the person has approved."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from triseek.agents.doctor.checks import info, ok, warn
from triseek.agents.doctor.clients import QUIET
from triseek.agents.install.hook_entries import is_ours

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.agents.doctor.checks import Finding
    from triseek.agents.doctor.host import DoctorHost

TITLE = "Codex hooks"
_ASKED = b'"id":1'
_LIMIT_S = 5.0


def trust(host: DoctorHost) -> Iterator[Finding]:
    """Ask Codex's app server, which alone knows which hooks are trusted in their current form."""
    path = host.which("codex")
    if not path:
        return
    words = [path, "app-server"]
    ran = host.run(words, stdin=_questions(host.cwd), held=_ASKED, limit_s=_LIMIT_S, more=QUIET)
    states = list(_states(ran.out))
    if not states:
        yield info(TITLE, "it does not say which it trusts", "codex   # and type /hooks")
    elif all(states):
        yield ok(TITLE, f"all {len(states)} are approved")
    else:
        waiting = states.count(False)
        yield warn(
            TITLE, f"{waiting} of {len(states)} wait for your approval, and do not run",
            "codex   # and type /hooks",
        )  # fmt: skip


def _questions(cwd: str) -> bytes:
    messages: list[dict[str, Any]] = [
        {
            "id": 0,
            "method": "initialize",
            "params": {"clientInfo": {"name": "triseek-doctor", "version": "1"}},
        },
        {"method": "initialized"},
        {"id": 1, "method": "hooks/list", "params": {"cwds": [cwd]}},
    ]
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


def _states(out: str) -> Iterator[bool]:
    """Yield for each hook of ours whether Codex runs it."""
    for line in out.splitlines():
        try:
            message = json.loads(line)
            data = message["result"]["data"] if message.get("id") == 1 else ()
            for hook in (hook for entry in data for hook in entry["hooks"] if is_ours(hook)):
                trusted = hook.get("trustStatus") in ("trusted", "managed") or hook.get("isManaged")
                yield bool(trusted) and hook.get("enabled") is not False
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            continue
