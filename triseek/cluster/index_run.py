"""Carry out the jobs that index repositories."""

from __future__ import annotations

import json
import subprocess
import time
from typing import TYPE_CHECKING, NamedTuple

from triseek.ipc import children
from triseek.model.plain_text import visible_line
from triseek.zoekt.failure import HostFailure

if TYPE_CHECKING:
    from triseek.cluster.index_jobs import IndexJob

INDEXING_S = 3600.0
"""Seconds that indexing one repository may take; Zoekt's own server has the same limit."""
_SHOWN = 400
_OUTPUT_TAIL = 8_192


class IndexOutcome(NamedTuple):
    """How a job ended."""

    job: IndexJob
    problem: str
    """Why it failed, in one line; "" if it did not."""
    seconds: float


def carry_out(job: IndexJob, authorization: str = "") -> IndexOutcome:
    """Index one repository on one host, and wait for it.

    Args:
        job: What to do; one with a problem fails at once.
        authorization: The header for the server that indexes, if it is asked by HTTP.
    """
    started = time.monotonic()
    if job.problem:
        problem = job.problem
    elif job.post_url:
        problem = _post(job, authorization)
    else:
        problem = _run(job)
    return IndexOutcome(job, visible_line(problem)[:_SHOWN], time.monotonic() - started)


def _run(job: IndexJob) -> str:
    try:
        done = children.run(
            job.argv, timeout=INDEXING_S, stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT
        )
    except subprocess.TimeoutExpired:
        return f"{job.argv[0]} did not end within {INDEXING_S:,.0f} s"
    except OSError as error:
        return f"{job.argv[0]} cannot be run: {error.strerror}"
    if done.returncode == 0:
        return ""
    output = done.stdout[-_OUTPUT_TAIL:].decode("utf-8", "replace").strip()
    last = output.splitlines()[-1] if output else "it says nothing"
    return f"{job.argv[0]} ended with status {done.returncode}: {last}"


def _post(job: IndexJob, authorization: str) -> str:
    """Ask a zoekt-dynamic-indexserver; return why it failed, or ""."""
    from triseek.zoekt.addresses import HostAddress
    from triseek.zoekt.transport import Transport

    address = HostAddress(name=job.host.name, url=job.post_url, authorization=authorization)
    body = json.dumps({"CloneURL": job.source.url, "RepoID": job.repository_id}).encode("ascii")
    transport = Transport()
    try:
        reply = transport.run(
            transport.send(
                address, "POST", "", deadline=time.monotonic() + INDEXING_S, content=body,
                headers={"content-type": "application/json"},
            )
        )  # fmt: skip
    except HostFailure as failure:
        return str(failure)
    finally:
        transport.close()
    if reply.status == 200 and _is_success(reply.body):
        return ""
    return f"the server answers HTTP {reply.status}: {reply.body[:_SHOWN].decode(errors='replace')}"


def _is_success(body: bytes) -> bool:
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return False
    return isinstance(document, dict) and document.get("Success") is True
