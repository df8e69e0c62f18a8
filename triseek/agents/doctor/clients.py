"""Checks of a coding agent: whether it is installed, and what it reports about our server."""

from __future__ import annotations

import json
import math
import os
from typing import TYPE_CHECKING

from triseek.agents.doctor.checks import fail, info, ok, warn
from triseek.agents.listing import SERVER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.agents.base import Agent
    from triseek.agents.doctor.checks import Finding
    from triseek.agents.doctor.host import DoctorHost
    from triseek.agents.listing import Listed, Question

QUIET = {
    "NO_COLOR": "1",
    "DISABLE_AUTOUPDATER": "1",
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "PI_OFFLINE": "1",
    "TRISEEK_MCP_DISABLE_STARTUP_SYNC": "1",
    "TRISEEK_NO_DAEMON": "1",
}
"""Variables for programs that the doctor runs: an agent must not update anything, and a server that
it tries must not build or start anything."""
LIMIT_S = 10.0
"""Seconds for a version query; an agent's answer is limited only by the doctor's own time limit."""


def present(host: DoctorHost, agent: Agent) -> str:
    """Return the path of an agent's program; "" if it is not on PATH."""
    return next(filter(None, map(host.which, agent.programs)), "")


def program(host: DoctorHost, agent: Agent, detected: str = "") -> Iterator[Finding]:
    """Check for an agent's program and its version.

    Args:
        host: the machine to look at.
        agent: the agent to look for.
        detected: another place where it was detected, such as its settings folder.
    """
    path = present(host, agent)
    if path:
        yield ok(agent.title, f"{version(host, path) or 'of unknown version'} at {path}")
    elif detected:
        yield info(agent.title, f"no program on PATH; its settings are in {detected}")
    else:
        yield info(agent.title, f"{' or '.join(agent.programs)} is not on PATH")


def registration(host: DoctorHost, agent: Agent, *, wanted: bool) -> Iterator[Finding]:
    """Check what an agent reports about our server, if it can be asked.

    Args:
        host: the machine to look at.
        agent: the agent to ask.
        wanted: whether its settings contain entries of ours, so that it has to list our server.
    """
    path = present(host, agent)
    question = agent.question(version(host, path)) if path else None
    if question is not None and (wanted or agent.answers_quickly):
        yield from _asked(host, agent, path, question, wanted=wanted)
    elif path and not wanted:
        yield info(agent.title, "triseek is not installed in it", install(agent))


def version(host: DoctorHost, path: str) -> str:
    """Return a program's version: from its npm package, if any, since running it takes seconds."""
    folder = os.path.dirname(os.path.realpath(path))  # noqa: PTH120
    for _ in range(3):
        packaged = _packaged(folder)
        if packaged:
            return packaged
        folder = os.path.dirname(folder)  # noqa: PTH120
    ran = host.run([path, "--version"], limit_s=LIMIT_S, more=QUIET)
    return ran.out.strip().partition("\n")[0][:80] if ran.status == 0 else ""


def _packaged(folder: str) -> str:
    try:
        with open(os.path.join(folder, "package.json"), "rb") as file:  # noqa: PTH118, PTH123
            document = json.loads(file.read(1 << 20))
    except (OSError, ValueError, RecursionError):
        return ""
    value = document.get("version") if isinstance(document, dict) and "name" in document else ""
    return value if isinstance(value, str) else ""


def _asked(
    host: DoctorHost, agent: Agent, path: str, question: Question, *, wanted: bool
) -> Iterator[Finding]:
    ran = host.run([path, *question.words[1:]], stdin=question.stdin, limit_s=math.inf, more=QUIET)
    words = " ".join(question.words)
    if ran.status is None:
        yield info(agent.title, f"`{words}`: {ran.trouble}", words)
        return
    listed = question.read(ran)
    findings = list(stale(host, agent.title, listed.program, install(agent)))
    if not any(finding.level == "fail" for finding in findings):
        yield _listed(agent, listed, words, wanted=wanted)
    yield from findings


def _listed(agent: Agent, listed: Listed, command: str, *, wanted: bool) -> Finding:
    """Return the finding for an agent's answer."""
    note = f": {listed.note}" if listed.note else ""
    if listed.state == "connected":
        return ok(agent.title, f"lists {SERVER}, connected{note}")
    if listed.state == "known":
        return ok(agent.title, f"lists {SERVER}{note}")
    if listed.state == "absent" and wanted:
        detail = f"does not list {SERVER}, though its settings are there{note}"
        return fail(agent.title, detail, install(agent))
    if listed.state == "absent":
        return info(agent.title, f"does not list {SERVER}{note}", install(agent))
    if listed.state == "failed":
        return fail(agent.title, f"cannot start {SERVER}{note}", install(agent))
    if listed.state == "waiting":
        return warn(agent.title, f"waits for you to allow {SERVER}{note}", agent.programs[0])
    if listed.state == "off":
        return warn(agent.title, f"has {SERVER} switched off{note}", agent.programs[0])
    return warn(agent.title, f"`{command}` gave an answer that is not understood{note}", command)


def stale(host: DoctorHost, title: str, named: str, mend: str) -> Iterator[Finding]:
    """Check that a program named in an agent's settings exists and is the expected triseek."""
    if not named:
        return
    path = named if os.path.isabs(named) else host.which(named)  # noqa: PTH117
    if not path or not os.access(path, os.X_OK):
        yield fail(title, f"is to start {named}, which is not there", mend)
    elif host.program and not os.path.samefile(path, host.program):  # noqa: PTH121
        yield info(title, f"starts another triseek, {path}", mend)


def install(agent: Agent) -> str:
    """Return the command that fixes most problems."""
    return f"triseek install {agent.name}"
