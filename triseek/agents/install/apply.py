"""Applies plans to files: all edits are computed first, then all files are written, or none.

An uninstall restores a file from its backup if nobody has changed it since; else it removes our
edits one by one, in reverse order. The ledger is written before the files: a crash in between
leaves entries that the next install or uninstall recognizes by their content.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from triseek.agents.base import Refused, Traces
from triseek.agents.install import ledger as ledgers
from triseek.agents.install import writing
from triseek.agents.install.ledger import InstalledFile, Ledger, OwnedEdit
from triseek.agents.install.writing import FileChange
from triseek.errors import ConfigWriteFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from triseek.agents.base import Edit


@dataclass(slots=True)
class _Step:
    """The change to one file and to its ledger entry."""

    change: FileChange
    kept: InstalledFile | None
    base: bytes | None
    """The file without our entries, kept as a backup while it has entries of ours."""


_Work: TypeAlias = "Callable[[str, list[Edit], str, InstalledFile], _Step]"
"""Computes the step of a file from its edits, their owner and its ledger entry."""


def install(edits: Sequence[Edit], owner: str, *, dry_run: bool = False) -> list[FileChange]:
    """Make an owner's entries in its files match the edits.

    The owner's entries are removed from files that only an older plan of it had.

    Args:
        edits: the whole plan.
        owner: agent, scope and folder; see `owner_of`.
        dry_run: write nothing.

    Returns:
        The files that change, or would.

    Raises:
        ConfigWriteFailed: a file cannot be edited; nothing is changed.
        Busy: another install is under way.
        StateUnwritable: the ledger or a backup cannot be written; nothing is changed.
    """
    return _run(edits, owner, _installed, dry_run=dry_run)


def uninstall(edits: Sequence[Edit], owner: str, *, dry_run: bool = False) -> list[FileChange]:
    """Remove from all files what `install` put there for an owner.

    Args:
        edits: the plan; its entries are removed even where the ledger does not list them.
        owner: the owner it was installed for.
        dry_run: write nothing.

    Returns:
        The files that change, or would.

    Raises:
        ConfigWriteFailed: a file cannot be edited; nothing is changed.
        Busy: another install is under way.
        StateUnwritable: the ledger cannot be written; nothing is changed.
    """
    return _run(edits, owner, _uninstalled, dry_run=dry_run)


def lacking(edits: Sequence[Edit]) -> list[str]:
    """Return the files that lack an entry of a plan, or cannot be read."""
    missing = []
    for edit in edits:
        try:
            stands = edit.stands(_text(writing.read(writing.target_of(edit.path))))
        except Refused:
            stands = False
        if not stands:
            missing.append(edit.path)
    return list(dict.fromkeys(missing))


def owner_of(client: str, scope: str, cwd: str) -> str:
    """Return the owner of edits: an agent and a scope, with the folder unless the scope is user."""
    return f"{client}:{scope}" + ("" if scope == "user" else f":{cwd}")


def _run(edits: Sequence[Edit], owner: str, work: _Work, *, dry_run: bool) -> list[FileChange]:
    with contextlib.nullcontext() if dry_run else ledgers.alone():
        ledger = ledgers.load()
        steps = _steps(edits, owner, ledger, work)
        changes = [step.change for step in steps if step.change.before != step.change.after]
        if not dry_run:
            _carry_out(steps, changes, ledger)
    return changes


def _steps(edits: Sequence[Edit], owner: str, ledger: Ledger, work: _Work) -> list[_Step]:
    """Compute the step of every file; nothing is written."""
    by_file: dict[str, list[Edit]] = {
        path: [] for path, file in ledger.files.items() if file.of(owner)
    }
    for edit in edits:
        with _naming(edit.path):
            by_file.setdefault(writing.target_of(edit.path), []).append(edit)
    steps = []
    for target, planned in by_file.items():
        with _naming(planned[0].path if planned else target):
            step = work(target, planned, owner, ledger.files.get(target, InstalledFile()))
            if step.change.before != step.change.after:
                writing.check(step.change)
            steps.append(step)
    return steps


def _installed(target: str, planned: list[Edit], owner: str, file: InstalledFile) -> _Step:
    now = writing.read(target)
    text = _text(now)
    is_recorded = planned == file.of(owner) or not file.entries
    if is_recorded and all(edit.stands(text) for edit in planned):
        return _Step(FileChange(target, now, now), file if file.entries else None, None)
    entries = [*file.of_others(owner), *(OwnedEdit(owner, edit) for edit in planned)]
    if _is_known(now, file):
        base = ledgers.kept(file.backup)
    else:
        base = _bytes(_cleaned(text, [entry.edit for entry in file.entries], file.traces))
    after, traces = _folded(base, entries)
    change = FileChange(target, now, after, private=not _is_shared(target, owner))
    return _step(change, base, entries, traces)


def _uninstalled(target: str, planned: list[Edit], owner: str, file: InstalledFile) -> _Step:
    now = writing.read(target)
    mine, others = file.of(owner), file.of_others(owner)
    if _is_known(now, file):
        base = ledgers.kept(file.backup)
        after, traces = _folded(base, others)
    else:
        traces = file.traces
        mine += [edit for edit in planned if edit not in mine]
        text = _cleaned(_text(now), mine, traces)
        if text is None and now is not None and file.existed:
            text = ""
        after = _bytes(text)
        base = _bytes(_cleaned(text, [entry.edit for entry in others], traces))
    return _step(FileChange(target, now, after), base, others, traces)


def _is_shared(target: str, owner: str) -> bool:
    """Whether a file is in the owner's project folder, so shared, and not in a home folder."""
    cwd = owner.split(":", 2)[2:]
    return bool(cwd) and Path(target).is_relative_to(os.path.realpath(cwd[0]))


def _is_known(now: bytes | None, file: InstalledFile) -> bool:
    """Whether a file is as we wrote it, or not written yet, and can be restored as it was."""
    if ledgers.digest(now) not in (file.after, file.before):
        return False
    return not file.existed or ledgers.digest(ledgers.kept(file.backup)) == file.before


def _cleaned(text: str | None, edits: list[Edit], traces: Traces) -> str | None:
    for edit in reversed(edits):
        text = edit.remove(text, traces)
    return text


def _folded(base: bytes | None, entries: list[OwnedEdit]) -> tuple[bytes | None, Traces]:
    """Return the base with all entries added, and the traces for undoing them."""
    text, traces = _text(base), Traces()
    for _, edit in entries:
        text = edit.apply(text, traces)
        if not edit.stands(text):
            raise Refused("it cannot be edited as it is written")
    return _bytes(text), traces


def _step(
    change: FileChange, base: bytes | None, entries: list[OwnedEdit], traces: Traces
) -> _Step:
    before, after = ledgers.digest(base), ledgers.digest(change.after)
    kept = InstalledFile(base is not None, "", before, after, entries, traces)
    return _Step(change, kept if entries else None, base)


def _carry_out(steps: list[_Step], changes: list[FileChange], ledger: Ledger) -> None:
    """Write the backups, the ledger and the files; undo all if a file cannot be written."""
    old, stale = ledgers.load(), []
    for step in steps:
        target = step.change.path
        if step.kept is ledger.files.get(target):
            continue
        if step.kept is None:
            stale.append(ledger.files.pop(target).backup)
            continue
        if step.base is not None:
            step.kept.backup = ledgers.keep(target, step.base)
        ledger.files[target] = step.kept
        new = [] if step.change.after is None else writing.missing_folders(target)
        ledger.folders += [folder for folder in new if folder not in ledger.folders]
    if ledger != old:
        ledgers.save(ledger)
    with contextlib.ExitStack() as undo:  # in reverse order, unless all files are written
        undo.callback(ledgers.save, old)
        undo.callback(_sweep, ledger)
        for change in changes:
            with _naming(change.path):
                writing.make(change)
            undo.callback(writing.undo, change)
        undo.pop_all()
    for name in stale:
        ledgers.forget(name)
    if _sweep(ledger):
        ledgers.save(ledger)


def _sweep(ledger: Ledger) -> bool:
    """Remove the folders that we made and that are empty; return whether any was removed."""
    inner_first = sorted(ledger.folders, key=len, reverse=True)
    removed = {folder for folder in inner_first if writing.remove_if_empty(folder)}
    ledger.folders = [folder for folder in ledger.folders if folder not in removed]
    return bool(removed)


def _text(data: bytes | None) -> str | None:
    try:
        return None if data is None else data.decode()
    except UnicodeDecodeError:
        raise Refused("it is not UTF-8 text") from None


def _bytes(text: str | None) -> bytes | None:
    try:
        return None if text is None else text.encode()
    except UnicodeEncodeError:
        raise Refused("a path in it cannot be written as UTF-8") from None


@contextlib.contextmanager
def _naming(path: str) -> Iterator[None]:
    """Turn `Refused` into the error that names the file."""
    try:
        yield
    except Refused as error:
        raise ConfigWriteFailed(f"{path}: {error}") from None
