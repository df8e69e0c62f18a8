"""The memo put to the proof: a read, and the same read again, told by the hook."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triseek import config
from triseek.errors import InvalidRequest
from triseek.harness.checks.finding import info, ok, warn
from triseek.ipc import lock

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.harness.checks.finding import Finding
    from triseek.harness.checks.host import Host, Ran

_LINES = 60
_CALLS = ("triseek-doctor-1", "triseek-doctor-2")
_LIMIT_S = 5.0


def memo(host: Host) -> Iterator[Finding]:
    """Read a file of our own twice, in a session of our own, which is ended afterwards.

    The second read has to be refused. Told in the words of Pi's extension, which says itself what
    is in view; no agent is asked.
    """
    no_daemon = lock.is_free() or host.is_daemon_stuck or host.environ.get("TRISEEK_NO_DAEMON")
    if not host.program or no_daemon:
        return  # other checks say so
    if not _may_refuse():
        yield info("memo", "refuses nothing, by the setting memo.refuse")
        return
    with tempfile.TemporaryDirectory() as folder:
        file = Path(os.path.realpath(folder), "read-me.txt")
        text = "".join(
            f"line {number} of a file that the doctor reads\n" for number in range(_LINES)
        )
        file.write_text(text, encoding="utf-8")
        ran = _read_twice(host, file, text)
    _tell(host, "SessionEnd", str(file.parent))
    if '"deny"' in ran.out:
        yield ok("memo", f"a read that would show nothing new is refused, after {ran.ms:.0f} ms")
    else:
        said = ran.trouble or ran.out.strip()[:200] or "nothing"
        yield warn(
            "memo", f"does not know a read again; the hook said {said}", "triseek daemon restart"
        )


def _may_refuse() -> bool:
    try:
        return config.read().memo_refuse
    except InvalidRequest:
        return True  # the check of settings says what is wrong with them


def _read_twice(host: Host, file: Path, text: str) -> Ran:
    """Returns what was said to the second read."""
    folder, first, second = str(file.parent), *_CALLS
    read = {"tool_name": "read", "tool_input": {"path": str(file)}}
    _tell(host, "PreToolUse", folder, **read, tool_use_id=first, in_view=[])
    _tell(
        host, "PostToolUse", folder, **read, tool_use_id=first, tool_response=text, in_view=[first]
    )
    return _tell(host, "PreToolUse", folder, **read, tool_use_id=second, in_view=[first])


def _tell(host: Host, event: str, folder: str, **more: Any) -> Ran:  # noqa: ANN401 - JSON
    payload = {
        "session_id": f"triseek-doctor-{os.getpid()}",
        "hook_event_name": event,
        "cwd": folder,
        **more,
    }
    words = [host.program, "hook", event, "--harness", "pi"]
    return host.run(words, stdin=json.dumps(payload).encode(), limit_s=_LIMIT_S)
