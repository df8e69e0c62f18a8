"""`triseek doctor`: check everything that has to work, and say how to mend what does not."""

from __future__ import annotations

import os
import shutil
import sys
import time
from functools import partial
from typing import TYPE_CHECKING, Annotated, Self

import typer

from triseek.errors import InvalidRequest, RepoNotDetected
from triseek.model.plain_text import visible_line
from triseek.terminal import options, report_text, status

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
    cwd = _folder()
    if not json:
        print("triseek doctor\n----", flush=True)
    with Service() as service:
        for finding in _examined(service, cwd, wait, ask_clients=not no_clients):
            findings.append(finding)
            if not json:
                print(_line(finding), flush=True)
    counts = tally(findings)
    if json:
        print(report_text.as_json(_document(findings, counts)))
    else:
        summary = ", ".join(f"{count} {level}" for level, count in counts.items())
        print(f"doctor checks complete: {summary}")
    return status.NOTHING if strict and counts["fail"] + counts["warn"] else status.FOUND


def _examined(service: Service, cwd: str, wait_s: float, *, ask_clients: bool) -> Iterator[Finding]:
    """Run all checks: those of this machine first, then those of the clients, all at once."""
    from dataclasses import replace

    from triseek.agents.doctor import serving
    from triseek.agents.doctor.checks import Check, examine, examine_together
    from triseek.agents.doctor.host import DoctorHost
    from triseek.ipc import client

    host = DoctorHost(cwd=cwd, program=own_program())
    yield from examine(_machine(host))
    # Checked once: the rest takes longer than the time for which a stuck daemon is not asked again.
    host = replace(host, is_daemon_stuck=client.is_stuck())
    yield from examine(_beside_daemon(host, service))
    if ask_clients:
        yield from examine([Check("MCP server", partial(serving.server, host))])
    until = time.monotonic() + wait_s
    asking = DoctorHost(cwd=host.cwd, program=host.program, until=until)
    with _Waiting() as waiting:
        # The programs have until then; reading their last output takes a moment more.
        yield from examine_together(
            list(_clients(asking, ask=ask_clients)), until + 2.0, waiting.tell
        )


def _machine(host: DoctorHost) -> Iterator[Check]:
    """The checks of this machine up to its daemon, in the order in which they are to be mended."""
    from triseek.agents.doctor import daemon, program, state
    from triseek.agents.doctor.checks import Check

    yield Check("triseek", partial(program.program, host))
    yield Check("python", partial(program.python, host))
    yield Check("kernels", partial(program.kernels, host))
    yield Check("rg", partial(program.ripgrep, host))
    yield Check("state folder", partial(state.folder, host))
    yield Check("modes", partial(state.privacy, host))
    yield Check("settings", partial(state.settings, host))
    yield Check("daemon", partial(daemon.daemon, host))


def _beside_daemon(host: DoctorHost, service: Service) -> Iterator[Check]:
    """The checks that may ask the daemon themselves."""
    from triseek.agents.doctor import repository, serving, watching
    from triseek.agents.doctor.checks import Check

    yield Check("hook", partial(serving.hook, host))
    yield Check("memo", partial(serving.memo, host))
    yield Check("index", lambda: repository.repository(host, service.engine(host.cwd)))
    yield Check("watch limits", lambda: watching.limits(host, service.engine(host.cwd)))


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
    from triseek.agents.doctor import clients, codex_trust, installed

    scopes = list(installed.scopes(agent, here, installs))
    yield from clients.program(host, agent, agent.detect(here))
    yield from installed.settings(agent, here, scopes)
    if ask:
        yield from clients.registration(host, agent, wanted=bool(scopes))
    if ask and scopes and agent.name == "codex":
        yield from codex_trust.trust(host)


def own_program() -> str:
    """Return the path of triseek that `install` would name; "" if there is none."""
    from triseek.cli.commands import install

    try:
        return install.program()
    except InvalidRequest:
        return ""


def _folder() -> str:
    """Return the working folder.

    Raises:
        RepoNotDetected: It does not exist any more.
    """
    try:
        return os.getcwd()
    except OSError:
        raise RepoNotDetected("the folder this was called in is gone") from None


def _line(finding: Finding) -> str:
    line = f"{f'[{finding.level}]':6} {visible_line(finding.what)} — {visible_line(finding.detail)}"
    return f"{line}\n       → {visible_line(finding.mend)}" if finding.mend else line


def _document(findings: Sequence[Finding], counts: dict[str, int]) -> dict[str, object]:
    from dataclasses import asdict

    return {"checks": [asdict(finding) for finding in findings], "summary": counts}


class _Waiting:
    """A temporary line on standard error, on a terminal only, that names who is waited for."""

    def __enter__(self) -> Self:
        self._shown = sys.stderr.isatty()
        return self

    def tell(self, titles: Sequence[str]) -> None:
        """Show the names of those that are waited for."""
        if self._shown:
            width = shutil.get_terminal_size().columns - 1
            print(f"\r\x1b[K{'asking ' + ', '.join(titles) + ' …':.{width}}", end="",
                  file=sys.stderr, flush=True)  # fmt: skip

    def __exit__(self, *_: object) -> None:
        if self._shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
