"""audit: what agents read, edited and searched, by whom, how often, and what was refused."""

from __future__ import annotations

import datetime as dt
import json as jsons
import os
import re
import sys
import time
from typing import Annotated

import typer

from triseek.errors import InvalidRequest, StateUnwritable
from triseek.model.plain_text import json_text, visible
from triseek.terminal import options, status

_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 7 * 86_400}
_AGO = re.compile(r"(\d{1,9})([smhdw])")


def audit(
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="A folder of the repository; here if none.")
    ] = "",
    session: Annotated[
        str, typer.Option("--session", metavar="ID", help="One session, instead of all.")
    ] = "",
    snapshot: Annotated[
        str, typer.Option("--snapshot", metavar="ID", help="The log that a snapshot took along.")
    ] = "",
    since: Annotated[
        str,
        typer.Option(
            "--since",
            metavar="WHEN",
            help="Only what was done since: 30m, 12h, 7d, 2w, or a date as 2026-11-22 or "
            "2026-11-22T09:30.",
        ),
    ] = "",
    json: options.Json = False,
    html: Annotated[
        str,
        typer.Option(
            "--html",
            metavar="FILE",
            help="Write one page of HTML to a file; - for standard output.",
        ),
    ] = "",
) -> int:
    """Sum up what was done: files read and edited, searches, prompts, dead ends, reads refused.

    By agent and by file, of all sessions of a repository. Nothing is written but with --html.
    Exit status 1: nothing was done.

    Examples: triseek audit · triseek audit ~/src/app --since 7d · triseek audit --session session_1
    --json · triseek audit --snapshot snap_1746300000_session_123 --html report.html
    """
    if sum(map(bool, (session, snapshot, path))) > 1 or (json and html):
        raise InvalidRequest(
            "PATH, --session and --snapshot exclude each other, and so do --json and --html",
            next_step="Give one of them.",
        )
    from triseek.app import audit as audits

    since_s = _moment(since, time.time())
    if session:
        summed = audits.of_session(session, since_s)
    elif snapshot:
        summed = audits.of_snapshot(snapshot, since_s)
    else:
        summed = audits.of_root(options.existing_folder(path or os.curdir), since_s)
    report = summed.report()
    if html:
        from triseek.cli.render import audit_html

        _put(html, audit_html.page(report).encode("utf-8", "replace"))
    elif json:
        _out(json_text(jsons.dumps(report.document(), indent=2)) + "\n")
    else:
        from triseek.cli.render import audit_text

        _out(audit_text.text(report))
    return status.FOUND if report.totals.entries else status.NOTHING


def _moment(text: str, now_s: float) -> int:
    """Parse a past moment as people write it; return Unix seconds, 0 for an empty text.

    Raises:
        InvalidRequest: The text is not a moment.
    """
    ago = _AGO.fullmatch(text)
    if ago is not None:
        return max(1, int(now_s) - int(ago[1]) * _UNITS[ago[2]])
    try:
        return max(1, int(dt.datetime.fromisoformat(text).timestamp())) if text else 0
    except (ValueError, OverflowError, OSError):
        raise InvalidRequest(
            f"--since: {text[:40]!r} is not a time",
            next_step="Write 30m, 12h, 7d or 2w, or a date as 2026-11-22 or 2026-11-22T09:30.",
        ) from None


def _put(name: str, page: bytes) -> None:
    """Write a page to a file atomically; "-" is standard output."""
    from triseek.store import atomic

    if name == "-":
        sys.stdout.buffer.write(page)
        return
    try:
        atomic.write(os.path.abspath(name), page, mode=0o666)
    except OSError as error:
        raise StateUnwritable(
            f"cannot write {name}: {error.strerror}", next_step="Name a file that may be written."
        ) from error
    _out(f"{os.path.abspath(name)}\n")


def _out(text: str) -> None:
    sys.stdout.buffer.write(visible(text).encode())
