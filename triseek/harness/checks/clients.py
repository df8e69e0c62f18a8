"""A coding agent: is it there, and what does it say of us itself."""

from __future__ import annotations

import json
import math
import os
from typing import TYPE_CHECKING, NamedTuple

from triseek.harness.checks.finding import fail, info, ok, warn
from triseek.harness.checks.listings import SERVER, question

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.harness.checks.finding import Finding
    from triseek.harness.checks.host import Host
    from triseek.harness.checks.listings import Listed, Question

QUIET = {
    "NO_COLOR": "1",
    "DISABLE_AUTOUPDATER": "1",
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "PI_OFFLINE": "1",
    "TRISEEK_MCP_DISABLE_STARTUP_SYNC": "1",
    "TRISEEK_NO_DAEMON": "1",
}
"""A client that is asked shall update nothing, and a server that it tries build and start
nothing."""
LIMIT_S = 10.0
"""For its version; for its answer it has as long as all of them."""


class Agent(NamedTuple):
    """A client that we install into."""

    name: str
    """As `triseek install` has it."""
    title: str
    programs: tuple[str, ...]
    """What it is called on PATH."""
    quick: bool = False
    """Whether it answers within a second or two. The others are asked if we are installed."""


AGENTS = (
    Agent("claude-code", "Claude Code", ("claude",), quick=True),
    Agent("codex", "Codex", ("codex",), quick=True),
    Agent("opencode", "OpenCode", ("opencode",)),
    Agent("pi", "Pi", ("pi",)),
    Agent("cursor", "Cursor", ("cursor-agent", "cursor")),
    Agent("cline", "Cline", ("cline",)),
    Agent("gemini", "Gemini CLI", ("gemini",)),
    Agent("vscode", "VS Code", ("code",)),
    Agent("zed", "Zed", ("zed", "zeditor")),
)


def present(host: Host, agent: Agent) -> str:
    """The path of its program; "" if it is not on PATH."""
    return next(filter(None, map(host.which, agent.programs)), "")


def program(host: Host, agent: Agent, detected: str = "") -> Iterator[Finding]:
    """Its program, and which version that is.

    Args:
        host: where to look.
        agent: which.
        detected: where else it was seen, as by a folder of its settings.
    """
    path = present(host, agent)
    if path:
        yield ok(agent.title, f"{version(host, path) or 'of unknown version'} at {path}")
    elif detected:
        yield info(agent.title, f"no program on PATH; its settings are in {detected}")
    else:
        yield info(agent.title, f"{' or '.join(agent.programs)} is not on PATH")


def registration(host: Host, agent: Agent, *, wanted: bool) -> Iterator[Finding]:
    """What it says of our server, if it can be asked.

    Args:
        host: where to look.
        agent: whom to ask.
        wanted: whether its settings hold something of ours, so that it has to know us.
    """
    path = present(host, agent)
    asked = question(agent.name, version(host, path)) if path else None
    if asked is not None and (wanted or agent.quick):
        yield from _asked(host, agent, path, asked, wanted=wanted)
    elif path and not wanted:
        yield info(agent.title, "triseek is not installed in it", install(agent))


def version(host: Host, path: str) -> str:
    """Its version: from its npm package where it is one, since asking takes seconds; else asked."""
    folder = os.path.dirname(os.path.realpath(path))  # noqa: PTH120
    for _ in range(3):
        found = _packaged(folder)
        if found:
            return found
        folder = os.path.dirname(folder)  # noqa: PTH120
    ran = host.run([path, "--version"], limit_s=LIMIT_S, more=QUIET)
    return ran.out.strip().partition("\n")[0][:80] if ran.status == 0 else ""


def _packaged(folder: str) -> str:
    try:
        with open(os.path.join(folder, "package.json"), "rb") as file:  # noqa: PTH118, PTH123
            told = json.loads(file.read(1 << 20))
    except (OSError, ValueError, RecursionError):
        return ""
    found = told.get("version") if isinstance(told, dict) and "name" in told else ""
    return found if isinstance(found, str) else ""


def _asked(
    host: Host, agent: Agent, path: str, asked: Question, *, wanted: bool
) -> Iterator[Finding]:
    ran = host.run([path, *asked.words[1:]], stdin=asked.stdin, limit_s=math.inf, more=QUIET)
    words = " ".join(asked.words)
    if ran.status is None:
        yield info(agent.title, f"`{words}`: {ran.trouble}", words)
        return
    listed = asked.read(ran)
    gone = list(stale(host, agent.title, listed.program, install(agent)))
    if not any(finding.level == "fail" for finding in gone):
        yield _listed(agent, listed, words, wanted=wanted)
    yield from gone


def _listed(agent: Agent, listed: Listed, asked: str, *, wanted: bool) -> Finding:
    """One line of what the client said."""
    note = f": {listed.note}" if listed.note else ""
    if listed.state == "connected":
        return ok(agent.title, f"lists {SERVER}, connected{note}")
    if listed.state == "known":
        return ok(agent.title, f"lists {SERVER}{note}")
    if listed.state == "absent":
        if wanted:
            detail = f"does not list {SERVER}, though its settings are there{note}"
            return fail(agent.title, detail, install(agent))
        return info(agent.title, f"does not list {SERVER}{note}", install(agent))
    if listed.state == "failed":
        return fail(agent.title, f"cannot start {SERVER}{note}", install(agent))
    if listed.state == "waiting":
        return warn(agent.title, f"waits for you to allow {SERVER}{note}", agent.programs[0])
    if listed.state == "off":
        return warn(agent.title, f"has {SERVER} switched off{note}", agent.programs[0])
    return warn(agent.title, f"`{asked}` gave an answer that is not understood{note}", asked)


def stale(host: Host, title: str, named: str, mend: str) -> Iterator[Finding]:
    """Whether a program that a client's settings name is there, and is the one it should be."""
    if not named:
        return
    path = named if os.path.isabs(named) else host.which(named)  # noqa: PTH117
    if not path or not os.access(path, os.X_OK):
        yield fail(title, f"is to start {named}, which is not there", mend)
    elif host.program and not os.path.samefile(path, host.program):  # noqa: PTH121
        yield info(title, f"starts another triseek, {path}", mend)


def install(agent: Agent) -> str:
    """The command that mends most of it."""
    return f"triseek install {agent.name}"
