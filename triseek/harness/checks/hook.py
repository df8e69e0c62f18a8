"""The hook as agents run it: a process for each of their steps, that nobody may wait for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from triseek.harness.checks.finding import fail, ok, warn
from triseek.ipc import lock

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.harness.checks.finding import Finding
    from triseek.harness.checks.host import Host

TIMES = 5
SLOW_MS = 500.0
"""Agents wait for it before each tool. Most of what it takes is Python's own start."""
EVENT = "Notification"
"""One that tells of no file, and of no change of a context."""
ALONE = {"TRISEEK_NO_DAEMON": "1"}
"""A hook that finds no daemon starts one. To look at a machine shall not change it."""


def hook(host: Host) -> Iterator[Finding]:
    """Run it a few times with a payload that changes nothing; the median counts."""
    if not host.program:
        return  # the first check says so
    payload = json.dumps(
        {"session_id": "triseek-doctor", "hook_event_name": EVENT, "cwd": host.cwd}
    ).encode()
    words = [host.program, "hook", EVENT, "--harness", "claude-code"]
    more = ALONE if lock.is_free() or host.is_daemon_stuck else {}
    taken = []
    for _ in range(TIMES):
        ran = host.run(words, stdin=payload, limit_s=5.0, more=more)
        if ran.status is None:
            yield fail("hook", f"{host.program} hook: {ran.trouble}", "triseek daemon restart")
            return
        if ran.status or ran.out or ran.err:
            said = (ran.err or ran.out).strip().partition("\n")[0][:200] or "nothing"
            yield fail(
                "hook", f"has to be silent and succeed; status {ran.status}, it says: {said}",
                f"echo '{{}}' | {host.program} hook {EVENT}",
            )  # fmt: skip
            return
        taken.append(ran.ms)
    median = sorted(taken)[TIMES // 2]
    if median > SLOW_MS:
        yield warn("hook", f"takes {median:.0f} ms, and agents wait for it", "triseek daemon start")
    else:
        yield ok("hook", f"silent, {median:.0f} ms there and back")
