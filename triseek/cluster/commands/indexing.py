"""`triseek cluster index`: place repositories on hosts, and have them indexed there."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from triseek.errors import InvalidRequest
from triseek.model.plain_text import visible_line
from triseek.terminal import options, report_text, status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triseek.cluster.index_jobs import IndexJob
    from triseek.cluster.index_run import IndexOutcome

_NO_WAY = (
    "Set zoekt.index_command, or write #index=FOLDER or #index=URL behind the host in "
    "zoekt.api_url: see docs/guides/many-repositories.md."
)


def index(
    path: Annotated[
        list[str] | None, typer.Argument(metavar="PATH…", help="Repositories; that here if none.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what goes where, and do nothing.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Send to other machines without asking.")
    ] = False,
    json: options.Json = False,
) -> int:
    """Place repositories on the hosts, and have each indexed where it belongs.

    Each repository goes to zoekt.replicas hosts, always the same ones. A host of this machine is
    indexed by zoekt-git-index or zoekt-index; another one by zoekt.index_command, or by the
    zoekt-dynamic-indexserver that its address names.

    Examples: triseek cluster index --dry-run ~/src/* · triseek cluster index --yes ~/src/api
    """
    from triseek import config
    from triseek.cluster import index_jobs
    from triseek.zoekt import addresses

    settings = config.read()
    hosts = addresses.parse(settings.zoekt_api_url, settings.zoekt_authorization)
    sources = list(dict.fromkeys(index_jobs.index_source(folder) for folder in path or ["."]))
    command = settings.zoekt_index_command
    jobs = index_jobs.planned(sources, hosts, settings.zoekt_replicas, command)
    if any(job.problem for job in jobs):
        print(_NO_WAY, file=sys.stderr)
    if dry_run:
        _print([_document(job) for job in jobs], [_line(job) for job in jobs], as_json=json)
        return status.FOUND if not any(job.problem for job in jobs) else status.ERROR
    if not (yes or _is_agreed(jobs)):
        print("nothing was sent", file=sys.stderr)
        return status.NOTHING
    outcomes = _carried_out(jobs)
    documents = [
        {**_document(o.job), "problem": o.problem, "seconds": round(o.seconds, 2)} for o in outcomes
    ]
    _print(documents, list(map(_result, outcomes)), as_json=json)
    return status.FOUND if not any(outcome.problem for outcome in outcomes) else status.ERROR


def _carried_out(jobs: Sequence[IndexJob]) -> list[IndexOutcome]:
    """Carry the jobs out, one after the other, with a line for each on standard error."""
    from triseek.cluster.index_run import carry_out

    outcomes = []
    for number, job in enumerate(jobs, 1):
        print(f"[{number}/{len(jobs)}] {_line(job)}", file=sys.stderr, flush=True)
        outcomes.append(carry_out(job, job.host.authorization))
    return outcomes


def _is_agreed(jobs: Sequence[IndexJob]) -> bool:
    """Return whether the user agrees to what leaves this machine.

    Raises:
        InvalidRequest: Nobody can be asked.
    """
    leaving = [job for job in jobs if job.leaves_machine]
    if not leaving:
        return True
    for job in leaving:
        print(_line(job), file=sys.stderr)
    if not sys.stdin.isatty():
        raise InvalidRequest(
            f"{len(leaving):,} repositories would be sent to other machines",
            next_step="Pass --yes to agree, or --dry-run to see what goes where.",
        )
    return typer.confirm("Send this to other machines?", err=True)


def _line(job: IndexJob) -> str:
    return visible_line(f"{job.source.name} -> {job.host.name}: {job.action}")


def _result(outcome: IndexOutcome) -> str:
    end = f"failed: {outcome.problem}" if outcome.problem else f"indexed, {outcome.seconds:.1f} s"
    return visible_line(f"{outcome.job.source.name} -> {outcome.job.host.name}: {end}")


def _document(job: IndexJob) -> dict[str, Any]:
    return {
        "repository": job.source.name,
        "path": job.source.path,
        "host": job.host.name,
        "action": job.action,
        "leaves_machine": job.leaves_machine,
    }


def _print(documents: list[dict[str, Any]], lines: Sequence[str], *, as_json: bool) -> None:
    print(report_text.either({"repositories": documents}, lines, is_json=as_json))
