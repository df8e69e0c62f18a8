"""The snapshot group: create, list, show, diff. Only create needs the daemon."""

from __future__ import annotations

import os
import re
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, cast

import typer

from triseek import paths
from triseek.errors import InvalidRequest
from triseek.ipc import ask
from triseek.model.plain_text import visible_line
from triseek.sessions.commands import printing
from triseek.sessions.commands.printing import counted
from triseek.sessions.commands.session import current
from triseek.sessions.requests import PinnedLines, SessionSnapshotRequest
from triseek.terminal import options, report_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from triseek.model.snapshot import FileSeen, SearchRun, SnapshotManifest
    from triseek.sessions.results import SnapshotAnswer
    from triseek.sessions.snapshot import Snapshots
    from triseek.sessions.snapshot_files import Snapshot

app = typer.Typer(
    help="Checkpoints of a session: what it read, searched and edited, and git's state beside it.",
    no_args_is_help=True,
)

Path = Annotated[
    str, typer.Argument(metavar="PATH", help="A folder of the repository; here if none.")
]
SnapshotId = Annotated[str, typer.Argument(metavar="ID", help="The snapshot.")]
_PIN = re.compile(r"(.+):(\d{1,9})(?:[-:](\d{1,9}))?")
_ONE_OF = {
    "added_files": "added file",
    "removed_files": "removed file",
    "changed_files": "changed file",
    "added_queries": "added search",
    "removed_queries": "removed search",
}
_SHOWN = 40
"""Files and searches that `show` prints; `--json` has all."""


@app.command()
def create(
    path: Path = ".",
    session: options.Session = "",
    source_harness: Annotated[
        str, typer.Option("--source-harness", metavar="NAME", help="The agent that did the work.")
    ] = "",
    source_model: Annotated[
        str, typer.Option("--source-model", metavar="NAME", help="Its model.")
    ] = "",
    pin: options.Pins = [],  # noqa: B006 - Typer copies it
    json: options.Json = False,
) -> int:
    """Keep how a session stands, and print the snapshot's id. No file's content is copied but pins.

    Examples: triseek snapshot create --session session_123 --source-harness claude_code . ·
    triseek snapshot create --pin src/auth/router.rs:40-80
    """
    reply = take(path, session, source_harness, source_model, pin)
    if not json:
        printing.arrow(f"snapshot {reply['snapshot_id']} created")
    return printing.answer(reply, reply["snapshot_id"], as_json=json)


def take(path: str, session: str, harness: str, model: str, pins: Sequence[str]) -> SnapshotAnswer:
    """Take a snapshot of an existing session.

    Raises:
        InvalidRequest: there is no such session, or lines to pin are not in the right form.
        RepoNotDetected: there is no such folder.
    """
    root = options.existing_folder(path)
    request = SessionSnapshotRequest(
        session_id=current(root, session)["session"]["session_id"],
        source_harness=harness,
        source_model=model,
        pinned_snippet_paths=tuple(_pin(text, path) for text in pins),
    )
    reply = ask.required("session_snapshot", {"target_root": root, **asdict(request)})
    return cast("SnapshotAnswer", reply)


@app.command("list")
def show_list(
    path: Path = ".",
    session: Annotated[
        str, typer.Option("--session", metavar="ID", help="Only this session's.")
    ] = "",
    everywhere: Annotated[
        bool, typer.Option("--all", help="Those of other repositories too.")
    ] = False,
    json: options.Json = False,
) -> int:
    """List the snapshots of this repository, newest first: its own, and imported ones of a clone.

    Examples: triseek snapshot list · triseek snapshot list --all --json
    """
    from triseek.sessions.snapshot import list_answer

    store = snapshots()
    manifests, damaged = store.all(session_id=session), store.damaged()
    if not everywhere:
        manifests = list(_of_here(manifests, options.existing_folder(path)))
    lines = [
        f"{item.snapshot_id}  {report_text.local_time(item.created_at)}  "
        f"{item.source_harness or '-':11}  {item.goal}"
        for item in manifests
    ]
    lines += [f"{item['snapshot_id']}  damaged: {item['reason']}" for item in damaged]
    text = "\n".join(map(visible_line, lines)) or "no snapshots here"
    return printing.answer(list_answer(manifests, damaged), text, as_json=json)


@app.command()
def show(
    snapshot: SnapshotId,
    json: options.Json = False,
) -> int:
    """Show what a snapshot captured. With --json: manifest, working set, log, pinned snippets, git.

    Example: triseek snapshot show snap_1746300000_session_123
    """
    content = snapshots().get(snapshot)
    document = {"snapshot": content.document()} if json else {}
    return printing.answer(document, "\n".join(map(visible_line, _summary(content))), as_json=json)


@app.command()
def diff(
    a: Annotated[str, typer.Argument(metavar="A", help="A snapshot.")],
    b: Annotated[str, typer.Argument(metavar="B", help="One to compare it with.")],
    json: options.Json = False,
) -> int:
    """Say which files and searches a second snapshot has that a first has not, and the other way.

    Example: triseek snapshot diff snap_a snap_b
    """
    from triseek.sessions.snapshot import diff as compared

    store = snapshots()
    reply = compared(store.get(a), store.get(b))
    lines = [f"{what:15}  {item}" for name, what in _ONE_OF.items() for item in reply.get(name, ())]
    text = "\n".join(map(visible_line, lines)) or "no difference"
    return printing.answer({"diff": reply}, text, as_json=json)


def snapshots() -> Snapshots:
    """Return the snapshots of this machine."""
    from triseek.sessions.snapshot import Snapshots

    return Snapshots(paths.snapshots())


def _of_here(manifests: Sequence[SnapshotManifest], path: str) -> Iterator[SnapshotManifest]:
    """Yield those of the repository around a folder, by its path or its history."""
    from triseek.engine.roots import project
    from triseek.files.tree import git

    root = project(path)
    identity = git.identity(root)
    for manifest in manifests:
        if manifest.repo_root == root or git.is_same(manifest.repo_identity, identity):
            yield manifest


def _pin(text: str, path: str) -> PinnedLines:
    """Parse lines to pin. The path is relative to the working folder, as on any command line."""
    match = _PIN.fullmatch(text)
    if match is None:
        raise InvalidRequest(
            f"--pin {text!r}: no lines", next_step="Write --pin src/auth/router.rs:40-80."
        )
    name, first, last = match.groups()
    full = os.path.abspath(name if os.path.lexists(name) else os.path.join(path, name))
    # The canonical path of its folder, as the root's; the daemon checks that it is inside.
    full = os.path.join(os.path.realpath(os.path.dirname(full)), os.path.basename(full))
    return PinnedLines(path=full, line_start=int(first), line_end=int(last or first))


def _summary(snapshot: Snapshot) -> Iterator[str]:
    manifest = snapshot.manifest
    by = manifest.source_harness or "-"
    yield f"snapshot  {manifest.snapshot_id}"
    yield f"session   {manifest.session_id} ({manifest.session_status})"
    yield f"goal      {manifest.goal or '-'}"
    yield f"repo      {manifest.repo_root}"
    yield f"commit    {manifest.repo_commit or '-'} ({manifest.repo_branch or 'no branch'})"
    yield f"created   {report_text.local_time(manifest.created_at)}"
    yield f"by        {by} {manifest.source_model or ''}".rstrip()
    yield f"log       {counted(len(snapshot.entries), 'entry', 'entries')}"
    yield f"briefing  {'yes' if snapshot.briefing is not None else 'no'}"
    yield from _first("dirty", manifest.repo_dirty_files)
    yield from _first("file", [_file(seen) for seen in snapshot.working_set.files_read])
    yield from _first("search", [_search(run) for run in snapshot.working_set.searches_run])
    for pin in snapshot.pins:
        yield f"pinned    {pin.path}:{pin.line_start}-{pin.line_end}"


def _first(what: str, lines: Sequence[str]) -> Iterator[str]:
    for line in lines[:_SHOWN]:
        yield f"{what:9} {line}"
    if len(lines) > _SHOWN:
        yield f"{what:9} … and {len(lines) - _SHOWN:,} more"


def _file(seen: FileSeen) -> str:
    lines = f":{seen.line_start}-{seen.line_end}" if seen.line_start else ""
    done = f"{counted(seen.reads, 'read')}, {counted(seen.edits, 'edit')}"
    return f"{seen.path}{lines} ({seen.sha[:12] or 'unknown'}, {done})"


def _search(run: SearchRun) -> str:
    matches = "" if run.matches is None else f" ({counted(run.matches, 'match', 'matches')})"
    return f"{run.search_id} {run.kind}: {run.query}{matches}"
