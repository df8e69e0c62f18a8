"""`triseek doctor`: check everything that has to work, and say how to mend what does not."""

from __future__ import annotations

import os
import shutil
import sys
import time
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from triseek.errors import InvalidRequest, RepoNotDetected
from triseek.model.plain_text import counted, visible_line
from triseek.terminal import options, report_text, status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from triseek.agents.base import Agent, InstallPlace
    from triseek.agents.doctor.checks import Check, Finding
    from triseek.agents.doctor.host import DoctorHost
    from triseek.agents.install.ledger import Ledger
    from triseek.engine.service import Service

ASKING_S = 10.0
"""Seconds that all clients together have to answer."""


def doctor(
    json: options.Json = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 if anything failed or warned.")
    ] = False,
    no_clients: Annotated[
        bool, typer.Option("--no-clients", help="Run none of the agents, and no MCP server.")
    ] = False,
    wait: Annotated[
        float,
        typer.Option(
            "--wait", metavar="SECONDS", min=0, help="How long agents have to answer: 10."
        ),
    ] = ASKING_S,
) -> int:
    """Look at everything that has to work, and say how to mend what does not.

    Lines are ok, info, warn or fail. The agents that are installed are run, for ten seconds at
    most, to ask whether they know triseek. With many of them, or no time, --wait gives them more.

    Examples: triseek doctor · triseek doctor --strict --no-clients
    """
    from triseek.agents.doctor.checks import tally
    from triseek.engine.service import Service

    findings: list[Finding] = []
    try:
        cwd = os.getcwd()
    except OSError:
        raise RepoNotDetected("the folder this was called in is gone") from None
    if not json:
        print("triseek doctor\n----", flush=True)
    with Service() as service:
        for finding in _examined(service, cwd, wait, ask_clients=not no_clients):
            findings.append(finding)
            if not json:
                print(_line(finding), flush=True)
    counts = tally(findings)
    if json:
        checks = [asdict(finding) for finding in findings]
        print(report_text.as_json({"checks": checks, "summary": counts}))
    else:
        summary = ", ".join(f"{count} {level}" for level, count in counts.items())
        print(f"doctor checks complete: {summary}")
    return status.NOTHING if strict and counts["fail"] + counts["warn"] else status.FOUND


def _box() -> Iterator[Finding]:
    """Where scripts that agents write would run."""
    from triseek.agents.doctor.checks import info, ok
    from triseek.workflows.box import tiers

    for tier, is_there, detail in tiers.report():
        if is_there and tier in {"kernel", "bubblewrap"}:
            yield ok("box", f"scripts of agents run in the tier {tier}: {detail}")
            return
    lacks = tiers.missing(tiers.boundaries())
    detail = f"{lacks}: scripts of agents are refused, unless workflows.weakest_tier is process"
    yield info("box", detail, "install bubblewrap where it may make namespaces")


def _hosts() -> Iterator[Finding]:
    """Whether the hosts that run Zoekt answer, if any are set."""
    from triseek import config
    from triseek.agents.doctor.checks import ok, warn
    from triseek.zoekt.cluster import Cluster
    from triseek.zoekt.host_status import host_statuses

    settings = config.read()
    if not settings.zoekt_api_url:
        return
    with Cluster.of(settings) as cluster:
        for host in host_statuses(cluster):
            if host.state == "ok" and not host.detail:
                held = counted(host.repositories, "repository", "repositories")
                yield ok("zoekt", f"{host.host} has {held}")
            else:
                yield warn("zoekt", f"{host.host}: {host.detail}", "triseek cluster status")


def _examined(service: Service, cwd: str, wait_s: float, *, ask_clients: bool) -> Iterator[Finding]:
    """Run all checks: those of this machine first, then those of the clients, all at once."""
    from triseek.agents.doctor import installation, repository, serving, state_folder
    from triseek.agents.doctor.checks import Check, examine, examine_together
    from triseek.agents.doctor.host import DoctorHost
    from triseek.cli.commands import install
    from triseek.ipc import client

    try:
        own = install.program()
    except InvalidRequest:
        own = ""  # a finding of its own
    host = DoctorHost(cwd=cwd, program=own)
    of_machine = {  # in the order in which they are to be mended
        "triseek": installation.program,
        "python": installation.python,
        "kernels": installation.kernels,
        "rg": installation.ripgrep,
        "state folder": state_folder.folder,
        "modes": state_folder.privacy,
        "settings": state_folder.settings,
        "daemon": serving.daemon,
    }
    yield from examine(Check(title, partial(look, host)) for title, look in of_machine.items())
    # Checked once: the rest takes longer than the time for which a stuck daemon is not asked again.
    host = replace(host, is_daemon_stuck=client.is_stuck())
    asking_daemon = [
        Check("box", _box),
        Check("zoekt", _hosts),
        Check("hook", partial(serving.hook, host)),
        Check("memo", partial(serving.memo, host)),
        Check("index", lambda: repository.repository(host, service.engine(host.cwd))),
        Check("watch limits", lambda: repository.limits(host, service.engine(host.cwd))),
    ]
    if ask_clients:
        asking_daemon.append(Check("MCP server", partial(serving.server, host)))
    yield from examine(asking_daemon)
    yield from examine([Check("history", partial(_history, host)), Check("memory", _memory)])
    until = time.monotonic() + wait_s
    asking = DoctorHost(cwd=host.cwd, program=host.program, until=until)
    with _waiting() as tell:
        # The programs have until then; reading their last output takes a moment more.
        yield from examine_together(list(_clients(asking, ask=ask_clients)), until + 2.0, tell)


def _history(host: DoctorHost) -> Iterator[Finding]:
    """Check what agents keep of conversations."""
    from triseek.agents.base import InstallPlace
    from triseek.history import doctor as history_checks
    from triseek.history.service import History

    here = InstallPlace(host.program, os.path.expanduser("~"), host.cwd, host.environ)
    history = History()
    try:
        yield from history_checks.conversations(history, here)
    finally:
        history.close()


def _memory() -> Iterator[Finding]:
    """Check the database of the memory."""
    from triseek.memory import doctor as memory_checks
    from triseek.memory.service import Memory

    memory = Memory()
    try:
        yield from memory_checks.database(memory)
    finally:
        memory.close()


def _clients(host: DoctorHost, *, ask: bool) -> Iterator[Check]:
    from triseek.agents import registry
    from triseek.agents.base import InstallPlace
    from triseek.agents.doctor.checks import Check
    from triseek.agents.install import ledger

    here = InstallPlace(host.program, os.path.expanduser("~"), host.cwd, host.environ)
    installs = ledger.load()
    for agent in registry.AGENTS:
        yield Check(agent.title, partial(_client, host, agent, here, installs, ask=ask))


def _client(
    host: DoctorHost, agent: Agent, here: InstallPlace, installs: Ledger, *, ask: bool
) -> Iterator[Finding]:
    """Check one client: its program, our settings in it, what it reports about triseek."""
    from triseek.agents.doctor import clients

    scopes = list(clients.scopes(agent, here, installs))
    yield from clients.program(host, agent, agent.detect(here))
    yield from clients.settings(agent, here, scopes)
    distrust = clients.distrust(agent, here, scopes)
    if ask:
        yield from clients.registration(host, agent, is_installed=bool(scopes), distrust=distrust)
    if ask and scopes and not distrust and agent.name == "codex":
        yield from clients.trust(host)


def _line(finding: Finding) -> str:
    line = f"{f'[{finding.level}]':6} {visible_line(finding.what)} — {visible_line(finding.detail)}"
    return f"{line}\n       → {visible_line(finding.mend)}" if finding.mend else line


@contextmanager
def _waiting() -> Iterator[Callable[[Sequence[str]], None]]:
    """Yield a function that names who is waited for, on standard error if that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda _titles: None
        return

    def tell(titles: Sequence[str]) -> None:
        width = shutil.get_terminal_size().columns - 1
        text = f"asking {', '.join(titles)} …"
        print(f"\r\x1b[K{text:.{width}}", end="", file=sys.stderr, flush=True)

    try:
        yield tell
    finally:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
