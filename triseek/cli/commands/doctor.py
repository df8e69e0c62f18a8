"""`triseek doctor`: looks at everything that has to work, and says how to mend what does not."""

from __future__ import annotations

import os
import shutil
import sys
import time
from functools import partial
from typing import TYPE_CHECKING, Annotated, Self

import typer

from triseek.cli import report_text, status
from triseek.cli.commands.index import Json  # noqa: TC001 - Typer reads it
from triseek.errors import InvalidRequest, RepoNotDetected
from triseek.model.plain_text import visible_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from triseek.harness.base import Client, Here
    from triseek.harness.checks.clients import Agent
    from triseek.harness.checks.finding import Finding
    from triseek.harness.checks.host import Host
    from triseek.harness.doctor import Check
    from triseek.harness.ledger import Ledger
    from triseek.service.service import Service

ASKING_S = 10.0
"""Seconds that all clients together have to answer."""


def doctor(
    json: Json = False,
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
    from triseek.harness.doctor import tally
    from triseek.service.service import Service

    found: list[Finding] = []
    cwd = _folder()
    if not json:
        print("triseek doctor\n----", flush=True)
    with Service() as service:
        for finding in _examined(service, cwd, wait, ask_clients=not no_clients):
            found.append(finding)
            if not json:
                print(_line(finding), flush=True)
    counts = tally(found)
    if json:
        print(report_text.as_json(_document(found, counts)))
    else:
        told = ", ".join(f"{count} {level}" for level, count in counts.items())
        print(f"doctor checks complete: {told}")
    return status.NOTHING if strict and counts["fail"] + counts["warn"] else status.FOUND


def _examined(service: Service, cwd: str, wait_s: float, *, ask_clients: bool) -> Iterator[Finding]:
    """Everything there is to look at: this machine first, then the clients, all at once."""
    from dataclasses import replace

    from triseek.harness.checks import server
    from triseek.harness.checks.host import Host
    from triseek.harness.doctor import Check, examine, examine_together
    from triseek.ipc import client

    host = Host(cwd=cwd, program=own_program())
    yield from examine(_machine(host))
    # Asked once: the rest takes longer than a daemon that does not answer is left alone.
    host = replace(host, is_daemon_stuck=client.is_stuck())
    yield from examine(_beside_daemon(host, service))
    if ask_clients:
        yield from examine([Check("MCP server", partial(server.server, host))])
    until = time.monotonic() + wait_s
    asking = Host(cwd=host.cwd, program=host.program, until=until)
    with _Waiting() as waiting:
        # What is run has until then; its last words take a moment to be read.
        yield from examine_together(
            list(_clients(asking, ask=ask_clients)), until + 2.0, waiting.tell
        )


def _machine(host: Host) -> Iterator[Check]:
    """The checks of this machine up to its daemon, in the order in which they are to be mended."""
    from triseek.harness.checks import daemon, program, state
    from triseek.harness.doctor import Check

    yield Check("triseek", partial(program.program, host))
    yield Check("python", partial(program.python, host))
    yield Check("kernels", partial(program.kernels, host))
    yield Check("rg", partial(program.ripgrep, host))
    yield Check("state folder", partial(state.folder, host))
    yield Check("modes", partial(state.privacy, host))
    yield Check("settings", partial(state.settings, host))
    yield Check("daemon", partial(daemon.daemon, host))


def _beside_daemon(host: Host, service: Service) -> Iterator[Check]:
    """The checks that may ask the daemon themselves."""
    from triseek.harness.checks import hook, proof, repository, watching
    from triseek.harness.doctor import Check

    yield Check("hook", partial(hook.hook, host))
    yield Check("memo", partial(proof.memo, host))
    yield Check("index", lambda: repository.repository(host, service.engine(host.cwd)))
    yield Check("watch limits", lambda: watching.limits(host, service.engine(host.cwd)))


def _clients(host: Host, *, ask: bool) -> Iterator[Check]:
    from triseek.harness import ledger, registry
    from triseek.harness.base import Here
    from triseek.harness.checks import clients
    from triseek.harness.doctor import Check

    here = Here(host.program, os.path.expanduser("~"), host.cwd, host.environ)
    known = ledger.load()
    for agent in clients.AGENTS:
        client = registry.client(agent.name)
        yield Check(agent.title, partial(_client, host, agent, client, here, known, ask=ask))


def _client(
    host: Host, agent: Agent, client: Client | None, here: Here, known: Ledger, *, ask: bool
) -> Iterator[Finding]:
    """One client: its program, our settings in it, what it says of us."""
    from triseek.harness.checks import clients, codex_trust, installed

    found = list(installed.scopes(client, here, known)) if client else []
    yield from clients.program(host, agent, client.detect(here) if client else "")
    if client:
        yield from installed.settings(client, here, found)
    if ask:
        yield from clients.registration(host, agent, wanted=bool(found))
    if ask and found and agent.name == "codex":
        yield from codex_trust.trust(host)


def own_program() -> str:
    """The triseek that `install` would name; "" if there is none."""
    from triseek.cli.commands import install

    try:
        return install.program()
    except InvalidRequest:
        return ""


def _folder() -> str:
    """Where we are.

    Raises:
        RepoNotDetected: nowhere any more.
    """
    try:
        return os.getcwd()
    except OSError:
        raise RepoNotDetected("the folder this was called in is gone") from None


def _line(finding: Finding) -> str:
    line = f"{f'[{finding.level}]':6} {_plain(finding.what)} — {_plain(finding.detail)}"
    return f"{line}\n       → {_plain(finding.mend)}" if finding.mend else line


def _plain(text: str) -> str:
    """One line: paths, and what programs say, may hold anything."""
    return visible_line(text)


def _document(found: Sequence[Finding], counts: dict[str, int]) -> dict[str, object]:
    from dataclasses import asdict

    return {"checks": [asdict(finding) for finding in found], "summary": counts}


class _Waiting:
    """A line on a terminal's standard error that says who is waited for, and goes away."""

    def __enter__(self) -> Self:
        self._shown = sys.stderr.isatty()
        return self

    def tell(self, titles: Sequence[str]) -> None:
        """Say whom we wait for."""
        if self._shown:
            width = shutil.get_terminal_size().columns - 1
            print(f"\r\x1b[K{'asking ' + ', '.join(titles) + ' …':.{width}}", end="",
                  file=sys.stderr, flush=True)  # fmt: skip

    def __exit__(self, *_: object) -> None:
        if self._shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
