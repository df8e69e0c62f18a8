"""brief: write a snapshot's briefing, from its log or with a model that the user has named."""

from __future__ import annotations

import os
import re
import stat
import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from triseek.errors import BackendFailure, InvalidRequest
from triseek.sessions.commands import printing
from triseek.terminal import options, report_text, status

if TYPE_CHECKING:
    from triseek.sessions.snapshot_files import Snapshot


class Mode(StrEnum):
    """Who writes the briefing."""

    NO_INFERENCE = "no-inference"
    LOCAL_MODEL = "local-model"
    CLOUD_MODEL = "cloud-model"


def brief(
    snapshot: Annotated[str, typer.Argument(metavar="SNAPSHOT", help="Its id.")],
    mode: Annotated[
        Mode,
        typer.Option(
            "--mode",
            help="no-inference: from the log alone. local-model, cloud-model: by the endpoint in "
            "your settings; without one, or if it fails, from the log alone.",
        ),
    ] = Mode.NO_INFERENCE,
    print_it: Annotated[
        bool, typer.Option("--print", help="Write the briefing to standard output, too.")
    ] = False,
    send_snippets: Annotated[
        bool | None,
        typer.Option(
            "--send-snippets/--no-send-snippets",
            help="Whether a model gets the text of pinned snippets; else as the settings say.",
        ),
    ] = None,
    json: options.Json = False,
) -> int:
    """Write briefing.md of a snapshot: goal, facts, what was ruled out, and what is next.

    Nothing leaves this machine unless a model of another one is asked for; what is sent where is
    said before.

    Examples: triseek brief snap_1746300000_session_123 · triseek brief snap_a --mode local-model
    """
    from triseek import paths
    from triseek.sessions.snapshot import Snapshots

    snapshots = Snapshots(paths.snapshots())
    content = snapshots.get(snapshot)
    text, why = None, None
    if mode is not Mode.NO_INFERENCE:
        try:
            text = _by_model(content, mode, send_snippets)
        except BackendFailure as error:
            why = error.message
            _say(f"{mode.value}: {why}; the briefing is made from the log alone")
    path = snapshots.write_briefing(snapshot, text)
    written = path.read_text(encoding="utf-8")
    if json:
        reply = {
            "schema_version": 1,
            "snapshot_id": snapshot,
            "path": str(path),
            "mode": mode.value,
            "written_by": Mode.NO_INFERENCE.value if text is None else mode.value,
            "fell_back_because": why,
            "bytes": len(written.encode()),
            "briefing": written,
        }
        print(report_text.as_json(reply))
        return status.FOUND
    printing.arrow("briefing.md written")
    sys.stdout.buffer.write(report_text.readable(written if print_it else f"{path}\n").encode())
    return status.FOUND


def _by_model(content: Snapshot, mode: Mode, send_snippets: bool | None) -> str:
    """Return a briefing by a model; ask a second time if the first answer is no briefing.

    Raises:
        BackendFailure: No model is configured, it fails, or neither answer is a briefing.
        InvalidRequest: The settings are invalid.
    """
    from triseek import config
    from triseek.cli import model_endpoint
    from triseek.sessions import brief as briefs
    from triseek.sessions import brief_prompt

    settings = config.read()
    is_local = mode is Mode.LOCAL_MODEL
    endpoint = model_endpoint.local(settings) if is_local else model_endpoint.cloud(settings)
    _warn_of_readers()
    snippets = settings.brief_send_snippets if send_snippets is None else send_snippets
    messages = brief_prompt.messages(content, snippets=snippets)
    what, problem = _contents(content, snippets=snippets), ""
    for _ in range(2):
        body = model_endpoint.request(endpoint, messages)
        _say(f"sending {len(body):,} bytes to {endpoint.place}, model {endpoint.model} ({what})")
        answer = model_endpoint.ask(endpoint, body)
        try:
            text = briefs.tidied(answer, content)
            briefs.validate(text, (entry.entry_id for entry in content.entries))
        except InvalidRequest as error:
            problem = error.message
        else:
            return text
        messages = brief_prompt.again(messages, answer, problem)
        what = f"the same, and why its answer is no briefing: {problem}"
    raise BackendFailure(f"neither answer is a briefing ({problem})")


def _contents(content: Snapshot, *, snippets: bool) -> str:
    bodies = "pinned snippets" if snippets and content.pins else "no contents of files"
    return f"goal, prompts, paths, searches of {content.manifest.snapshot_id}; {bodies}"


def _warn_of_readers() -> None:
    """Warn if the settings hold a key and other users may read them."""
    from triseek import paths

    name = paths.config_file()
    try:
        with open(name, encoding="utf-8") as file:
            mode = os.fstat(file.fileno()).st_mode
            holds_key = re.search(r"^\s*(brief\.)?(local|cloud)_key\s*=", file.read(), re.MULTILINE)
    except (OSError, ValueError):
        return
    if holds_key and mode & (stat.S_IRGRP | stat.S_IROTH):
        _say(f"other users may read {name}, which holds a key: `chmod 600` it")


def _say(message: str) -> None:
    print(report_text.readable(f"triseek: {message}"), file=sys.stderr, flush=True)
