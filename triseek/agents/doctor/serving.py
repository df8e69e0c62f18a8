"""Checks of what serves agents: the daemon, the hook, the MCP server, and the memo."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triseek import __version__, config, errors, paths
from triseek.agents.doctor.checks import fail, info, ok, warn
from triseek.agents.payloads.fields import Fields
from triseek.ipc import address, client, lock, spawn
from triseek.model.hook_event import PROBE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.agents.doctor.checks import Finding
    from triseek.agents.doctor.host import DoctorHost
    from triseek.agents.listing import Ran

PATIENCE_S = 3.0
_START = "triseek daemon start"
TIMES = 5
SLOW_MS = 500.0
"""Agents wait for the hook before each tool. Most of its time is Python's own start."""
EVENT = "Notification"
"""An event that reports no file and no change of a context."""
ALONE = {"TRISEEK_NO_DAEMON": "1"}
"""A hook starts a daemon if there is none, but a check must not change the machine."""


def daemon(_host: DoctorHost) -> Iterator[Finding]:
    """Ask the daemon for its status."""
    try:
        status = client.ask("status", timeout_s=PATIENCE_S)
    except errors.DaemonUnreachable as error:
        yield _unreached(error)
    except errors.TriseekError as error:
        yield fail("daemon", f"answers with an error: {error}", "triseek daemon restart")
    else:
        yield _running(status)


def _running(status: dict[str, Any]) -> Finding:
    who = f"process {status.get('pid')}"
    if status.get("version") != __version__:
        return warn(
            "daemon", f"{who} is version {status.get('version')}, and this is {__version__}",
            "triseek daemon restart",
        )  # fmt: skip
    return ok("daemon", f"runs ({who}), and is reached from here")


def _unreached(error: errors.DaemonUnreachable) -> Finding:
    """Return the finding for the cause: no daemon, no answer, or no permission to connect."""
    cause = error.__cause__
    if isinstance(cause, address.Absent):
        return _absent()
    if isinstance(cause, address.Forbidden):
        if isinstance(cause.__cause__, PermissionError):
            socket = os.path.join(paths.daemon(), address.SOCKET)  # noqa: PTH118
            return warn(
                "daemon", "may not be reached from here: a sandbox, or another user's rights",
                f"allow the socket {socket} in the sandbox",
            )  # fmt: skip
        return fail("daemon", str(error), "triseek daemon status")
    return fail(
        "daemon", f"process {lock.holder()} does not answer: {error}",
        "triseek daemon restart --force",
    )  # fmt: skip


def _absent() -> Finding:
    if not lock.is_free():
        return fail(
            "daemon", f"process {lock.holder()} holds its lock, and does not listen",
            "triseek daemon restart --force",
        )  # fmt: skip
    veto = spawn.veto()
    if veto:
        return warn("daemon", f"none runs, and none starts by itself: {veto}", _START)
    return warn("daemon", "none runs; the memo needs one, and the next search starts it", _START)


def hook(host: DoctorHost) -> Iterator[Finding]:
    """Run the hook a few times with a payload that changes nothing, and check the median time."""
    if not host.program:
        return  # the first check reports it
    payload = json.dumps({"session_id": PROBE, "hook_event_name": EVENT, "cwd": host.cwd}).encode()
    words = [host.program, "hook", EVENT, "--harness", "claude-code"]
    more = ALONE if lock.is_free() or host.is_daemon_stuck else {}
    times_ms = []
    for _ in range(TIMES):
        ran = host.run(words, stdin=payload, limit_s=5.0, more=more)
        if ran.status is None:
            yield fail("hook", f"{host.program} hook: {ran.trouble}", "triseek daemon restart")
            return
        if ran.status or ran.out or ran.err:
            message = (ran.err or ran.out).strip().partition("\n")[0][:200] or "nothing"
            yield fail(
                "hook", f"has to be silent and succeed; status {ran.status}, it says: {message}",
                f"echo '{{}}' | {host.program} hook {EVENT}",
            )  # fmt: skip
            return
        times_ms.append(ran.ms)
    median = sorted(times_ms)[TIMES // 2]
    if median > SLOW_MS:
        yield warn("hook", f"takes {median:.0f} ms, and agents wait for it", "triseek daemon start")
    else:
        yield ok("hook", f"silent, {median:.0f} ms there and back")


_MESSAGES = (
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": PROBE, "version": "1"},
        },
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": "tools", "method": "tools/list"},
    {"jsonrpc": "2.0", "id": "ping", "method": "ping"},
)
"""The server may answer the first two requests before its session is there, but not the last."""
_SERVER_LIMIT_S = 20.0
"""Agents wait longer than that; on an idle machine the server takes one second."""


def server(host: DoctorHost) -> Iterator[Finding]:
    """Start the MCP server, ask for its tools, and let it end."""
    if not host.program:
        return  # the first check reports it
    words = [host.program, "mcp", "serve"]
    ran, replies = host.call(words, _MESSAGES, limit_s=_SERVER_LIMIT_S)
    tools = len(replies.get("tools", Fields()).objects("tools"))
    if tools and "ping" in replies:
        yield ok("MCP server", f"answers with {tools} tools, {ran.ms:.0f} ms from start to end")
    else:
        message = ran.trouble or f"status {ran.status}, {ran.out.strip()[:200] or 'not a word'}"
        yield fail("MCP server", f"does not answer: {message}", f"{host.program} mcp serve")


_LINES = 60
_CALLS = (f"{PROBE}-1", f"{PROBE}-2")
_MEMO_LIMIT_S = 5.0


def memo(host: DoctorHost) -> Iterator[Finding]:
    """Report two reads of a test file, in a session of its own, which is ended afterwards.

    The second read must be refused. The payloads are those of Pi's extension, which states itself
    what is in view; no agent is run.
    """
    no_daemon = lock.is_free() or host.is_daemon_stuck or host.environ.get("TRISEEK_NO_DAEMON")
    if not host.program or no_daemon:
        return  # other checks report it
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
        reply = ran.trouble or ran.out.strip()[:200] or "nothing"
        yield warn(
            "memo", f"does not know a read again; the hook said {reply}", "triseek daemon restart"
        )


def _may_refuse() -> bool:
    try:
        return config.read().memo_refuse
    except errors.InvalidRequest:
        return True  # the check of settings reports what is wrong with them


def _read_twice(host: DoctorHost, file: Path, text: str) -> Ran:
    """Report the two reads, and return the result of the hook for the second."""
    folder, first, second = str(file.parent), *_CALLS
    read = {"tool_name": "read", "tool_input": {"path": str(file)}}
    _tell(host, "PreToolUse", folder, **read, tool_use_id=first, in_view=[])
    _tell(
        host, "PostToolUse", folder, **read, tool_use_id=first, tool_response=text, in_view=[first]
    )
    return _tell(host, "PreToolUse", folder, **read, tool_use_id=second, in_view=[first])


def _tell(host: DoctorHost, event: str, folder: str, **more: Any) -> Ran:  # noqa: ANN401 - JSON
    payload = {
        "session_id": f"{PROBE}-{os.getpid()}",
        "hook_event_name": event,
        "cwd": folder,
        **more,
    }
    words = [host.program, "hook", event, "--harness", "pi"]
    return host.run(words, stdin=json.dumps(payload).encode(), limit_s=_MEMO_LIMIT_S)
