"""Hosts that run Zoekt, searched at once: one answer, with a report for each host."""

from __future__ import annotations

import asyncio
import threading
import time
from itertools import chain
from typing import TYPE_CHECKING, Self

from triseek.errors import BackendFailure, InvalidQuery, InvalidRequest
from triseek.model.code_search import CodeRequest, CodeResult
from triseek.model.plain_text import is_encodable, visible_line
from triseek.zoekt import addresses, merge, placement, plan, scope, symbol_gaps
from triseek.zoekt.failure import HostFailure
from triseek.zoekt.holdings import Holdings
from triseek.zoekt.host import ZoektHost
from triseek.zoekt.outcomes import (
    Outcome,
    failure_lines,
    partial_reasons,
    raise_if_all_failed,
    reports,
)
from triseek.zoekt.plan import Task
from triseek.zoekt.transport import ANSWER_BYTES, Transport

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Coroutine, Sequence
    from typing import Any

    from triseek.config import Settings
    from triseek.zoekt.addresses import HostAddress
    from triseek.zoekt.decode import HostAnswer
    from triseek.zoekt.host import Body

LIMIT_MAX, SECONDS_MAX = 1_000_000, 3_600.0
GRACE_S = 1.0
"""Seconds after the hosts' own time limit in which their answers may arrive."""
_LIST_SHARE = 0.5
"""Share of a search's time that the lists of repositories may take."""
_SUBSTITUTE_SHARE = 0.5
"""Share of a search's time that a host may take whose repositories others hold, too."""
_NOT_INDEXED = b"NOT-INDEXED: "


class Cluster:
    """A `CodeSource` over hosts that run Zoekt. Any thread may use it; `close` ends its thread.

    An answer is `partial` where a host could not be searched; it is an error only if none could.
    """

    name = "zoekt"

    def __init__(
        self,
        hosts: Sequence[HostAddress],
        *,
        seconds: float = 5.0,
        answer_bytes: int = ANSWER_BYTES,
    ) -> None:
        """Create a cluster; nothing is connected yet.

        Args:
            hosts: At least one.
            seconds: Time limit of what has none of its own: lists and files.
            answer_bytes: Cap on the bytes of one host's answer.
        """
        self.addresses = tuple(hosts)
        self._seconds = seconds
        self._transport = Transport(answer_bytes)
        self._hosts = {address.name: ZoektHost(address, self._transport) for address in hosts}
        self._holdings = Holdings()
        self._listing = threading.Lock()
        self._ownership: plan.Ownership | None = None

    @classmethod
    def of(cls, settings: Settings) -> Cluster:
        """Return the cluster of the settings `zoekt.*`.

        Raises:
            InvalidRequest: No host is set, or an address is invalid.
        """
        return cls(
            addresses.parse(settings.zoekt_api_url, settings.zoekt_authorization),
            seconds=settings.zoekt_timeout_s,
            answer_bytes=settings.zoekt_answer_mb << 20,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End all searches, connections and the thread."""
        self._transport.close()

    def search(self, request: CodeRequest) -> CodeResult:
        """Search all hosts; a query with `type:repo` lists repositories.

        Raises:
            InvalidQuery: The hosts do not understand the query; the message is theirs.
            InvalidRequest: A limit makes no sense.
            BackendFailure: No host answered; the message has a line for each.
            Cancelled: The cluster was closed.
        """
        _check(request)
        _check_text(request.query)
        if scope.lists_repositories(request.query):
            return self._listed(request.query, request.seconds)
        started = time.monotonic()
        until = started + request.seconds
        outcomes, ownership = self._search_first(request, until)
        lost = {name for o in outcomes if o.answer is None for name in o.task.repositories}
        failed = {outcome.host for outcome in outcomes if outcome.answer is None}
        tasks = plan.substitutes(request.query, ownership, failed, lost)
        if tasks:
            outcomes += self._search_round(tasks, request, until)
        result = self._result(outcomes, request, started)
        if not result.file_count and scope.names_symbols(request.query):
            lists = self.lists(seconds=max(0.05, until - time.monotonic()))
            result.partial += tuple(symbol_gaps.reasons(request.query, lists))
        return result

    def repositories(self, query: str = "") -> CodeResult:
        """Return all repositories, or those in which a query matches, by name.

        Raises:
            InvalidQuery, BackendFailure, Cancelled: As `search`.
        """
        return self._listed(query, self._seconds)

    def copies(self, query: str = "") -> CodeResult:
        """Return what `repositories` does, with an entry for each host that holds a copy.

        Raises:
            InvalidQuery, BackendFailure, Cancelled: As `search`.
        """
        return self._listed(query, self._seconds, each_copy=True)

    def read(self, repository: str, path: bytes) -> bytes:
        """Return the content of a file.

        Raises:
            InvalidRequest: There is no such repository or file, or its content is not indexed.
            BackendFailure: It could not be read.
            Cancelled: The cluster was closed.
        """
        until = time.monotonic() + self._seconds
        failures: list[Outcome] = []
        hosts = self._holders(repository, until, failures) if is_encodable(repository) else []
        for host in hosts:
            try:
                content = self._content(host, repository, path, until)
            except (HostFailure, InvalidQuery) as error:
                failures.append(Outcome(Task(host.name), None, error, 0.0))
                continue
            if content is not None:
                return content
        shown = visible_line(f"{repository}/{path.decode('utf-8', 'replace')}")
        if failures:
            raise BackendFailure(f"{shown} could not be read:\n{failure_lines(failures)}")
        raise InvalidRequest(
            f"{shown}: no such file",
            next_step="See `triseek cluster list`.",
            tool_step="Pass a repository and a path that a search returned.",
        )

    def lists(self, query: str = "", seconds: float | None = None) -> list[Outcome]:
        """Return what each host lists, in the order of the hosts.

        Raises:
            Cancelled: The cluster was closed.
        """
        return self._lists(self._hosts, query, self._seconds if seconds is None else seconds)

    def ready(self) -> dict[str, bool | HostFailure]:
        """Return for each host whether it has loaded its indexes, or why that is not known.

        Raises:
            Cancelled: The cluster was closed.
        """
        deadline = time.monotonic() + self._seconds

        async def ask(host: ZoektHost) -> bool | HostFailure:
            try:
                return await host.is_ready(deadline)
            except HostFailure as failure:
                return failure

        async def ask_all() -> list[bool | HostFailure]:
            return await asyncio.gather(*(ask(host) for host in self._hosts.values()))

        return dict(zip(self._hosts, self._transport.run(ask_all()), strict=True))

    def _lists(self, hosts: Collection[str], query: str, seconds: float) -> list[Outcome]:
        until = time.monotonic() + seconds

        async def ask(host: ZoektHost, task: Task) -> Body:
            return await host.list(task.query, until)

        tasks = [Task(host, query) for host in hosts]
        outcomes = self._round(tasks, ask, lambda host, body: host.decoded_list(body))
        if not query:
            for outcome in outcomes:
                self._keep(outcome)
        return outcomes

    def _search_first(
        self, request: CodeRequest, until: float
    ) -> tuple[list[Outcome], plan.Ownership]:
        """Return the outcomes of the first requests, and what the hosts hold."""
        if len(self._hosts) == 1:  # its repositories make no difference
            ownership = plan.Ownership(self.addresses, {})
            tasks = plan.first_tasks(request.query, ownership)
            return self._search_round(tasks, request, until), ownership
        was_cached = bool(self._holdings.fresh())
        ownership, failed = self._known_ownership(until)
        tasks = plan.first_tasks(request.query, ownership)
        if not tasks and was_cached:  # a repository may be new
            for host in self._hosts:
                self._holdings.drop(host)
            ownership, failed = self._known_ownership(until)
            tasks = plan.first_tasks(request.query, ownership)
        asked = [task for task in tasks if task.host not in failed]
        return [*failed.values(), *self._search_round(asked, request, until)], ownership

    def _known_ownership(self, until: float) -> tuple[plan.Ownership, dict[str, Outcome]]:
        """Return what the hosts hold, and the outcomes of hosts that need not be asked."""
        holdings, failed = self._known_holdings(until)
        ownership = self._ownership
        if ownership is None or ownership.holdings != holdings:
            ownership = self._ownership = plan.Ownership(self.addresses, holdings)
        return ownership, failed

    def _known_holdings(self, until: float) -> tuple[dict[str, frozenset[str]], dict[str, Outcome]]:
        """Return the repositories by host, and the outcomes of hosts that need not be asked."""
        with self._listing:  # of several searches, one asks for the lists
            wanted = self._holdings.wanted(self._hosts)
            share = max(0.0, (until - time.monotonic()) * _LIST_SHARE)
            outcomes = self._lists(wanted, "", share) if wanted else []
        failed = {
            outcome.host: outcome
            for outcome in outcomes
            if isinstance(outcome.failure, HostFailure)
            and outcome.failure.state in ("down", "loading")
        }
        return self._holdings.fresh(), failed

    def _search_round(
        self, tasks: Sequence[Task], request: CodeRequest, until: float
    ) -> list[Outcome]:
        async def ask(host: ZoektHost, task: Task) -> Body:
            seconds = max(0.05, until - time.monotonic())
            if task.has_substitutes:
                seconds *= _SUBSTITUTE_SHARE
            grace = 0.0 if task.has_substitutes else GRACE_S
            return await host.search(
                task.query, request, seconds, time.monotonic() + seconds + grace
            )

        return self._round(tasks, ask, lambda host, body: host.decoded_search(body, request))

    def _round(
        self,
        tasks: Sequence[Task],
        ask: Callable[[ZoektHost, Task], Coroutine[Any, Any, Body]],
        decode: Callable[[ZoektHost, Body], HostAnswer],
    ) -> list[Outcome]:
        """Send the tasks at once and decode the answers here, so that no transfer waits for it."""

        async def attempt(task: Task) -> tuple[Body | HostFailure | InvalidQuery, float]:
            started = time.monotonic()
            try:
                answer: Body | HostFailure | InvalidQuery = await ask(self._hosts[task.host], task)
            except (HostFailure, InvalidQuery) as error:
                answer = error
            return answer, (time.monotonic() - started) * 1e3

        async def attempt_all() -> list[tuple[Body | HostFailure | InvalidQuery, float]]:
            return await asyncio.gather(*(attempt(task) for task in tasks))

        outcomes = []
        for task, (reply, ms) in zip(tasks, self._transport.run(attempt_all()), strict=True):
            if isinstance(reply, Exception):
                outcomes.append(Outcome(task, None, reply, ms))
                continue
            try:
                answer = decode(self._hosts[task.host], reply)
            except HostFailure as failure:
                outcomes.append(Outcome(task, None, failure, ms))
            else:
                outcomes.append(Outcome(task, answer, None, ms, reply.detail))
        return outcomes

    def _keep(self, outcome: Outcome) -> None:
        """Keep the list of a host if it is complete."""
        if outcome.answer is not None and not outcome.answer.counts.crashes:
            self._holdings.put(outcome.host, outcome.answer.repositories)
            return
        self._holdings.drop(outcome.host)
        if isinstance(outcome.failure, HostFailure) and outcome.failure.state == "timeout":
            self._holdings.put_off(outcome.host)

    def _listed(self, query: str, seconds: float, *, each_copy: bool = False) -> CodeResult:
        _check_text(query)
        started = time.monotonic()
        outcomes = self.lists(query, seconds)
        raise_if_all_failed(outcomes, len(self._hosts))
        lists = [outcome.answer.repositories for outcome in outcomes if outcome.answer]
        copies = sorted(chain.from_iterable(lists), key=lambda copy: (copy.name, copy.host))
        return CodeResult(
            repositories=copies if each_copy else merge.merged_repositories(lists),
            partial=partial_reasons(outcomes),
            hosts=reports(outcomes, self._hosts),
            elapsed_ms=(time.monotonic() - started) * 1e3,
        )

    def _result(self, outcomes: list[Outcome], request: CodeRequest, started: float) -> CodeResult:
        raise_if_all_failed(outcomes, len(self._hosts))
        answers = [outcome.answer for outcome in outcomes if outcome.answer]
        files, copies, lines = merge.merged_files(answer.files for answer in answers)
        file_count = sum(answer.counts.files for answer in answers) - copies
        match_count = sum(answer.counts.matches for answer in answers) - lines
        return CodeResult(
            files=merge.capped(files, request.max_files, request.max_matches),
            file_count=max(file_count, len(files)),
            match_count=max(match_count, sum(file.match_count for file in files)),
            partial=partial_reasons(outcomes),
            hosts=reports(outcomes, self._hosts),
            elapsed_ms=(time.monotonic() - started) * 1e3,
        )

    def _holders(self, repository: str, until: float, failures: list[Outcome]) -> list[ZoektHost]:
        """Return the hosts that may hold a repository, the one to ask first before others."""
        if len(self._hosts) == 1:
            return list(self._hosts.values())
        holdings, failed = self._known_holdings(until)
        failures += failed.values()
        hosts = placement.ranked(repository, self.addresses)
        held = [a for a in hosts if repository in holdings.get(a.name, ())]
        unknown = [a for a in hosts if a.name not in holdings and a.name not in failed]
        return [self._hosts[address.name] for address in held + unknown]

    def _content(self, host: ZoektHost, repository: str, path: bytes, until: float) -> bytes | None:
        """Return the content of a file; None if the host does not have it.

        Raises:
            HostFailure: The host gave no answer.
            InvalidRequest: The host has the file, but not its content.
        """
        content = self._transport.run(host.read(repository, path, until))
        if content is None:
            request = CodeRequest(query="", max_files=1, max_matches=1, whole=True)
            query = scope.of_file(repository, path)
            seconds = max(0.05, until - time.monotonic())
            body = self._transport.run(host.search(query, request, seconds, until))
            if body.is_web:
                raise HostFailure("wrong", body.detail)
            files = host.decoded_search(body, request).files
            content = files[0].content if files else None
        if content is not None and content.startswith(_NOT_INDEXED) and len(content) < 200:
            why = visible_line(content.removeprefix(_NOT_INDEXED).decode("utf-8", "replace"))
            raise InvalidRequest(
                f"{visible_line(repository)}: the host has the file's name and not its content: "
                f"{why}",
                next_step="Read it where the repository is kept.",
            )
        return content


def _check(request: CodeRequest) -> None:
    if not request.query.strip():
        raise InvalidQuery("the query is empty", next_step="Pass a text to search for.")
    for name, least in (("max_files", 1), ("max_matches", 1), ("context_lines", 0)):
        if not least <= getattr(request, name) <= LIMIT_MAX:
            raise InvalidRequest(f"{name} must be a number from {least} to {LIMIT_MAX:,}")
    if not 0 < request.seconds <= SECONDS_MAX:
        raise InvalidRequest(f"seconds must be more than 0 and at most {SECONDS_MAX:,.0f}")


def _check_text(query: str) -> None:
    if not is_encodable(query):
        raise InvalidQuery("the query is not valid UTF-8", next_step="Correct the query.")
