"""Checks of a coding agent: its program, our settings in it, and what it reports about us."""

from __future__ import annotations

import math
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from triseek.agents.base import NAME
from triseek.agents.doctor.checks import fail, info, ok, warn
from triseek.agents.doctor.host import QUIET
from triseek.agents.install import apply, installed_server, ledger
from triseek.agents.install.hook_entries import is_ours
from triseek.agents.payloads.fields import Fields, fields_of, parsed
from triseek.model.hook_event import PROBE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from triseek.agents.base import Agent, Distrust, InstallPlace, Scope
    from triseek.agents.doctor.checks import Finding
    from triseek.agents.doctor.host import DoctorHost
    from triseek.agents.install.ledger import Ledger
    from triseek.agents.listing import Listed, Question

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


class Installed(NamedTuple):
    """A scope of an agent that has our settings."""

    scope: Scope
    program: str
    """The triseek program that the settings name."""
    lacking: tuple[str, ...]
    """Files that lack what this version would write."""


def scopes(
    agent: Agent, here: InstallPlace, install_ledger: Ledger | None = None
) -> Iterator[Installed]:
    """Yield the scopes with our settings: by the ledger, or because all entries are in the files.

    Settings that name another triseek, or toolsets, are correct if they are what this version
    writes.
    """
    installs = install_ledger or ledger.load()
    for scope in agent.scopes:
        edits = installed_server.edits_of(agent.name, scope, here.cwd, installs)
        words = installed_server.words_of(edits)
        program = words[0] if words else here.program
        as_chosen = replace(here, program=program, toolsets=installed_server.toolsets_of(words))
        lacking = apply.lacking(agent.plan(scope, as_chosen))
        if edits or not lacking:
            yield Installed(scope, program, tuple(lacking))


def settings(agent: Agent, here: InstallPlace, installed: Iterable[Installed]) -> Iterator[Finding]:
    """Check the settings of each scope."""
    for entry in installed:
        what = f"{agent.title} settings"
        mend = install(agent)
        if entry.scope != agent.scopes[0]:
            mend += f" --scope {entry.scope}"
        if not os.access(entry.program, os.X_OK):
            yield fail(what, f"scope {entry.scope}: they name {entry.program}, which is gone", mend)
        elif entry.lacking:
            files = ", ".join(entry.lacking)
            yield warn(what, f"scope {entry.scope}: not as this version writes them: {files}", mend)
        elif here.program and not os.path.samefile(entry.program, here.program):  # noqa: PTH121
            yield info(what, f"scope {entry.scope}: of another triseek, {entry.program}", mend)
        else:
            yield ok(what, f"scope {entry.scope}: all that was installed is in place")


def distrust(agent: Agent, here: InstallPlace, installed: Iterable[Installed]) -> Distrust | None:
    """Return why an agent ignores our settings, if they are in the project only; else None."""
    scopes = {entry.scope for entry in installed}
    return agent.distrusts(here) if scopes == {"project"} else None


def registration(
    host: DoctorHost, agent: Agent, *, is_installed: bool, distrust: Distrust | None = None
) -> Iterator[Finding]:
    """Check what an agent reports about our server, if it can be asked.

    Args:
        host: the machine to look at.
        agent: the agent to ask.
        is_installed: whether its settings contain our entries, so that it has to list our server.
        distrust: why it ignores these settings, if it does.
    """
    path = present(host, agent)
    if path and distrust is not None:
        yield warn(agent.title, distrust.reason, distrust.remedy)
        return
    question = agent.question(version(host, path)) if path else None
    if question is not None and (is_installed or agent.answers_quickly):
        yield from _answer(host, agent, path, question, is_installed=is_installed)
    elif path and not is_installed:
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
            package = fields_of(parsed(file.read(1 << 20)))
    except OSError:
        return ""
    return package.text("version") if "name" in package else ""


def _answer(
    host: DoctorHost, agent: Agent, path: str, question: Question, *, is_installed: bool
) -> Iterator[Finding]:
    ran = host.run([path, *question.words[1:]], stdin=question.stdin, limit_s=math.inf, more=QUIET)
    words = " ".join(question.words)
    if ran.status is None:
        yield info(agent.title, f"`{words}`: {ran.trouble}", words)
        return
    listed = question.read(ran)
    findings = list(stale(host, agent.title, listed.program, install(agent)))
    if not any(finding.level == "fail" for finding in findings):
        yield _listed(agent, listed, words, is_installed=is_installed)
    yield from findings


def _listed(agent: Agent, listed: Listed, command: str, *, is_installed: bool) -> Finding:
    """Return the finding for an agent's answer."""
    note = f": {listed.note}" if listed.note else ""
    if listed.state == "connected":
        return ok(agent.title, f"lists {NAME}, connected{note}")
    if listed.state == "known":
        return ok(agent.title, f"lists {NAME}{note}")
    if listed.state == "absent" and is_installed:
        detail = f"does not list {NAME}, though its settings are there{note}"
        return fail(agent.title, detail, install(agent))
    if listed.state == "absent":
        return info(agent.title, f"does not list {NAME}{note}", install(agent))
    if listed.state == "failed":
        return fail(agent.title, f"cannot start {NAME}{note}", install(agent))
    if listed.state == "waiting":
        return warn(agent.title, f"waits for you to allow {NAME}{note}", agent.programs[0])
    if listed.state == "off":
        return warn(agent.title, f"has {NAME} switched off{note}", agent.programs[0])
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


def trust(host: DoctorHost) -> Iterator[Finding]:
    """Check whether Codex runs our hooks: it runs only hooks that the person has approved.

    Only Codex's app server knows which hooks are approved in their current form.
    """
    what = "Codex hooks"
    path = host.which("codex")
    if not path:
        return
    messages: list[dict[str, Any]] = [
        {
            "id": 0,
            "method": "initialize",
            "params": {"clientInfo": {"name": PROBE, "version": "1"}},
        },
        {"method": "initialized"},
        {"id": 1, "method": "hooks/list", "params": {"cwds": [host.cwd]}},
    ]
    _, replies = host.call([path, "app-server"], messages, limit_s=5.0)
    entries = replies.get(1, Fields()).objects("data")
    hooks = [hook for entry in entries for hook in entry.objects("hooks")]
    states = [_is_run(hook) for hook in hooks if is_ours(hook)]
    if not states:
        yield info(what, "it does not say which it trusts", "codex   # and type /hooks")
    elif all(states):
        yield ok(what, f"all {len(states)} are approved")
    else:
        waiting = states.count(False)
        yield warn(
            what, f"{waiting} of {len(states)} wait for your approval, and do not run",
            "codex   # and type /hooks",
        )  # fmt: skip


def _is_run(hook: Fields) -> bool:
    """Whether Codex runs a hook."""
    trusted = hook.get("trustStatus") in ("trusted", "managed") or hook.get("isManaged")
    return bool(trusted) and hook.get("enabled") is not False
