"""What came of the requests to several hosts, as reports, reasons and errors."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, NamedTuple

from triseek.errors import BackendFailure, InvalidQuery
from triseek.model.code_search import HostReport
from triseek.model.plain_text import visible_line
from triseek.zoekt.decode import HostAnswer
from triseek.zoekt.failure import HostFailure

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from triseek.zoekt.decode import AnswerCounts
    from triseek.zoekt.plan import Task

_DETAIL_MAX = 400
_IDLE = "not asked: others hold its repositories too, or the query matches none of them"


class Outcome(NamedTuple):
    """The answer to one request to one host, or why there is none."""

    task: Task
    answer: HostAnswer | None
    failure: HostFailure | InvalidQuery | None
    ms: float
    detail: str = ""

    @property
    def host(self) -> str:
        """The host's name."""
        return self.task.host


def reports(outcomes: Sequence[Outcome], hosts: Collection[str]) -> tuple[HostReport, ...]:
    """Return a report for each host, in their order, those that were not asked included."""
    by_host: dict[str, HostReport] = {}
    for outcome in outcomes:
        report, first = _report(outcome), by_host.get(outcome.host)
        if first is not None:
            report = dataclasses.replace(
                first if first.state != "ok" else report,
                ms=max(first.ms, report.ms),
                files=first.files + report.files,
                crashes=max(first.crashes, report.crashes),
            )
        by_host[outcome.host] = report
    return tuple(
        by_host.get(host) or HostReport(host=host, state="ok", detail=_IDLE) for host in hosts
    )


def raise_if_all_failed(outcomes: Sequence[Outcome], host_count: int) -> None:
    """Raise the error of an answer to which no host contributed.

    A host that was not asked, since the query matches none of its repositories, did not fail.

    Raises:
        InvalidQuery: There is no answer, and a host does not understand the query.
        BackendFailure: All `host_count` hosts failed.
    """
    if any(outcome.answer is not None for outcome in outcomes):
        return
    for outcome in outcomes:
        if isinstance(outcome.failure, InvalidQuery):
            raise outcome.failure
    if len({outcome.host for outcome in outcomes}) < host_count:
        return
    head = f"none of the {host_count} hosts answered:\n" if host_count > 1 else ""
    raise BackendFailure(
        head + failure_lines(outcomes),
        next_step="See `triseek cluster status`.",
        tool_step="Call it again; if the error persists, search without the cluster.",
    )


def failure_lines(outcomes: Sequence[Outcome]) -> str:
    """Return a line for each host that says why it failed."""
    details = {outcome.host: _report(outcome).detail for outcome in outcomes}
    return ";\n".join(f"{host}: {detail}" for host, detail in details.items())


def partial_reasons(outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    """Return why an answer may be incomplete, a sentence each."""
    searched = {n for o in outcomes if o.answer is not None for n in o.task.repositories}
    reasons: list[str] = []
    for outcome in outcomes:
        if outcome.answer is not None:
            reasons += _left_out(outcome.host, outcome.answer.counts)
            continue
        own = outcome.task.repositories
        if not own or own - searched:
            reasons.append(f"{outcome.host} was not searched: {_report(outcome).detail}.")
    return tuple(reasons)


def _left_out(host: str, counts: AnswerCounts) -> Iterator[str]:
    if counts.crashes:
        yield f"{host} still loads its indexes, or could not search {counts.crashes:,} of them."
    if counts.shards_skipped:
        yield (
            f"{host} left out {counts.shards_skipped:,} of its indexes: the time was over, or it "
            "had enough matches."
        )
    elif counts.files_skipped:
        yield f"{host} left out {counts.files_skipped:,} files: it had enough matches."


def _report(outcome: Outcome) -> HostReport:
    failure, answer = outcome.failure, outcome.answer or HostAnswer()
    if failure is not None:
        state = failure.state if isinstance(failure, HostFailure) else "error"
        detail = visible_line(str(failure))[:_DETAIL_MAX]
        return HostReport(host=outcome.host, state=state, ms=outcome.ms, detail=detail)
    return HostReport(
        host=outcome.host,
        state="ok",
        ms=outcome.ms,
        files=len(answer.files),
        crashes=answer.counts.crashes,
        detail=outcome.detail,
    )
