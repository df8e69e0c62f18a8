"""Plans become bytes: all edits are worked out first, then all files are written, or none.

An uninstall puts a file back as it was if nobody has touched it since; else it takes out our edits
one by one, in reverse. The ledger is written before the files: a crash in between leaves entries
that the next install or uninstall finds by what they are.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triseek.errors import ConfigWriteFailed
from triseek.harness import ledger as ledgers
from triseek.harness import writing
from triseek.harness.base import Refused, Traces
from triseek.harness.entries import JsonDefault, JsonMember
from triseek.harness.hook_entries import HookItem
from triseek.harness.ledger import Kept, Ledger
from triseek.harness.slash_command import OwnFile
from triseek.harness.toml_edits import TomlTable
from triseek.harness.writing import Change

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triseek.harness.base import Edit


@dataclass(slots=True)
class _Step:
    """What becomes of one file, and of what the ledger says of it."""

    change: Change
    kept: Kept | None
    base: bytes | None
    """The file without us, to be kept while there is something of ours in it."""


def edit_of(record: dict[str, Any]) -> Edit | None:
    """The edit that a record in the ledger is of; None for one of a later version."""
    path, keys = str(record.get("path")), tuple(record.get("keys", ()))
    dialect = record.get("dialect", "jsonc")
    match record.get("kind"):
        case "member":
            return JsonMember(path, keys, record.get("value"), dialect)
        case "default":
            return JsonDefault(path, keys, record.get("value"), dialect)
        case "hook":
            return HookItem(path, keys, record.get("item", {}), dialect)
        case "toml":
            return TomlTable(path, keys, record.get("value", {}))
        case "file":
            return OwnFile(path, str(record.get("text")))
    return None


def install(edits: Sequence[Edit], owner: str, *, dry_run: bool = False) -> list[Change]:
    """Bring what an owner has in its files to what the edits say.

    Files that an older plan of the owner had, and this one has not, are cleaned of it.

    Args:
        edits: the whole plan.
        owner: client, scope and folder; see `owner_of`.
        dry_run: write nothing.

    Returns:
        The files that change, or would.

    Raises:
        ConfigWriteFailed: a file cannot be edited; nothing is changed.
        Busy: another install is under way.
        StateUnwritable: the ledger or a backup cannot be written; nothing is changed.
    """
    return _run(edits, owner, _installed, dry_run=dry_run)


def uninstall(edits: Sequence[Edit], owner: str, *, dry_run: bool = False) -> list[Change]:
    """Take out of all files what `install` put there for an owner.

    Args:
        edits: the plan; its entries are removed even where the ledger does not know them.
        owner: as it was installed for.
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
    """The files that do not say what a plan wants them to say, or cannot be read."""
    missing = []
    for edit in edits:
        try:
            text = _text(writing.read(writing.target_of(edit.path)))
        except Refused:
            text = None
        if not edit.stands(text):
            missing.append(edit.path)
    return list(dict.fromkeys(missing))


def owner_of(client: str, scope: str, cwd: str) -> str:
    """Whose edits they are: of a client, and of a folder for all scopes but user."""
    return f"{client}:{scope}" + ("" if scope == "user" else f":{cwd}")


def _run(edits: Sequence[Edit], owner: str, work: Any, *, dry_run: bool) -> list[Change]:  # noqa: ANN401 - one of the two below
    if dry_run:
        steps = _steps(edits, owner, ledgers.load(), work)
        return [step.change for step in steps if step.change.before != step.change.after]
    with ledgers.alone():
        ledger = ledgers.load()
        steps = _steps(edits, owner, ledger, work)
        changes = [step.change for step in steps if step.change.before != step.change.after]
        _carry_out(steps, changes, ledger)
    return changes


def _steps(edits: Sequence[Edit], owner: str, ledger: Ledger, work: Any) -> list[_Step]:  # noqa: ANN401 - see _run
    """Work out every file; nothing is written."""
    by_file: dict[str, list[Edit]] = {
        path: [] for path, kept in ledger.files.items() if kept.of(owner)
    }
    for edit in edits:
        with _naming(edit.path):
            by_file.setdefault(writing.target_of(edit.path), []).append(edit)
    steps = []
    for target, wanted in by_file.items():
        with _naming(wanted[0].path if wanted else target):
            step = work(target, wanted, owner, ledger.files.get(target))
            if step.change.before != step.change.after:
                writing.check(step.change)
            steps.append(step)
    return steps


def _installed(target: str, wanted: list[Edit], owner: str, kept: Kept | None) -> _Step:
    now = writing.read(target)
    text = _text(now)
    records = [{**edit.record(), "owner": owner} for edit in wanted]
    same = [_bare(entry) for entry in records] == (kept.of(owner) if kept else [])
    if all(edit.stands(text) for edit in wanted) and (same or kept is None):
        return _Step(Change(target, now, now), kept, None)
    base = _base(now, kept)
    others = kept.of_others(owner) if kept else []
    entries = [*others, *records]
    after, traces = _folded(base, entries)
    change = Change(target, now, after, private=not _is_shared(target, owner))
    return _Step(change, _kept(base, after, entries, traces), base)


def _uninstalled(target: str, wanted: list[Edit], owner: str, kept: Kept | None) -> _Step:
    now = writing.read(target)
    if kept is not None and _is_known(now, kept):
        base, others = ledgers.kept(kept.backup), kept.of_others(owner)
        after, traces = _folded(base, others)
        return _Step(Change(target, now, after), _kept(base, after, others, traces), base)
    traces = kept.traces if kept else Traces()
    mine = [edit for entry in (kept.of(owner) if kept else []) if (edit := edit_of(entry))]
    mine += [edit for edit in wanted if edit not in mine]
    text = _text(now)
    for edit in reversed(mine):
        text = edit.remove(text, traces)
    if text is None and now is not None and kept is not None and kept.existed:
        text = ""
    after = _bytes(text)
    others = kept.of_others(owner) if kept else []
    if not others or kept is None:
        return _Step(Change(target, now, after), None, None)
    base = _bytes(_cleaned(text, others, traces))
    return _Step(Change(target, now, after), _kept(base, after, others, traces), base)


def _is_shared(target: str, owner: str) -> bool:
    """Whether a file is a project's, for others too, and not below somebody's home folder."""
    cwd = owner.split(":", 2)[2:]
    return bool(cwd) and Path(target).is_relative_to(os.path.realpath(cwd[0]))


def _is_known(now: bytes | None, kept: Kept) -> bool:
    """Whether a file is as we wrote it, or not written yet, and can be put back as it was."""
    if ledgers.digest(now) not in (kept.after, kept.before):
        return False
    return not kept.existed or ledgers.digest(ledgers.kept(kept.backup)) == kept.before


def _base(now: bytes | None, kept: Kept | None) -> bytes | None:
    """A file's bytes without anything of ours."""
    if kept is None:
        return now
    if _is_known(now, kept):
        return ledgers.kept(kept.backup)
    return _bytes(_cleaned(_text(now), kept.entries, kept.traces))


def _cleaned(text: str | None, entries: list[dict[str, Any]], traces: Traces) -> str | None:
    for entry in reversed(entries):
        edit = edit_of(entry)
        text = edit.remove(text, traces) if edit else text
    return text


def _folded(base: bytes | None, entries: list[dict[str, Any]]) -> tuple[bytes | None, Traces]:
    """A file of ours: the base and all entries, and what that leaves to be undone."""
    text, traces = _text(base), Traces()
    for entry in entries:
        edit = edit_of(entry)
        if edit is None:
            continue
        text = edit.apply(text, traces)
        if not edit.stands(text):
            raise Refused("it cannot be edited as it is written")
    return _bytes(text), traces


def _kept(
    base: bytes | None, after: bytes | None, entries: list[dict[str, Any]], traces: Traces
) -> Kept | None:
    if not entries:
        return None
    existed = base is not None
    return Kept(existed, "", ledgers.digest(base), ledgers.digest(after), entries, traces)


def _carry_out(steps: list[_Step], changes: list[Change], ledger: Ledger) -> None:
    """Write the backups, the ledger and the files; take all back if one cannot be written."""
    old, stale = ledgers.load(), []
    for step in steps:
        target, was = step.change.path, ledger.files.get(step.change.path)
        if step.kept is was:
            continue
        if step.kept is None:
            stale.append(ledger.files.pop(target).backup if was else "")
            continue
        if step.base is not None:
            step.kept.backup = ledgers.keep(target, step.base)
        ledger.files[target] = step.kept
        new = [] if step.change.after is None else writing.missing_folders(target)
        ledger.folders += [folder for folder in new if folder not in ledger.folders]
    if ledger != old:
        ledgers.save(ledger)
    done: list[Change] = []
    try:
        for change in changes:
            with _naming(change.path):
                writing.make(change)
            done.append(change)
    except BaseException:
        for change in reversed(done):
            writing.undo(change)
        _sweep(ledger)
        ledgers.save(old)
        raise
    for name in stale:
        ledgers.forget(name)
    if _sweep(ledger):
        ledgers.save(ledger)


def _sweep(ledger: Ledger) -> bool:
    """Remove the folders that we made and that are empty; whether any went."""
    inner_first = sorted(ledger.folders, key=len, reverse=True)
    gone = {folder for folder in inner_first if writing.remove_if_empty(folder)}
    ledger.folders = [folder for folder in ledger.folders if folder not in gone]
    return bool(gone)


def _bare(record: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name != "owner"}


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


class _naming:  # noqa: N801 - reads as a function
    """Turns a refusal into the error that names the file."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        """Nothing to do."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Refused):
            raise ConfigWriteFailed(f"{self._path}: {error}") from None
