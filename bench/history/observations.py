"""How often observations that rules derive are true, by rows that were read and labelled by hand.

The transcripts are of people's work with agents, in public repositories; who has clones of these
names them. `transcripts.tsv` lists them, `labels.tsv` has the verdict for each row of the types
that are judged. Neither has text of others: a row is named by a hash of what identifies it, its
type and its title, so a row that is worded anew has no label.
"""

from __future__ import annotations

import csv
import hashlib
import sqlite3
import subprocess
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypedDict

from bench.history.searchers import Own
from bench.model import Faulty

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from bench.progress import Progress

FOLDER = Path(__file__).parent
TUNING = frozenset(
    (
        "EntityProcess/agentv", "PackmindHub/context-evaluator", "SWORDIntel/claude-backups",
        "agurod42/torre-swipe", "codyborders/pup-mcp", "entireio/cli", "entireio/entire-sem",
        "entireio/external-agents", "entireio/git-sync", "rommeld/leeson",
    )
)  # fmt: skip
"""Repositories whose rows the rules were mended by; those of the others are reported."""
_JUDGED = (
    "SELECT s.external_id, so.path, o.row_hash, o.rule, o.title,"
    " CASE WHEN o.is_dead_end THEN 'dead end' ELSE o.type END"
    " FROM observations o JOIN sessions s ON s.id = o.session_id"
    " JOIN sources so ON so.id = s.source_id"
    " WHERE o.origin = 'rule' AND (o.type IN ('bugfix', 'feature') OR o.is_dead_end) ORDER BY o.id"
)


class Transcript(NamedTuple):
    """A transcript in a repository."""

    repository: str
    commit: str
    path: str
    agent: str

    @property
    def key(self) -> str:
        """The name of the file that it is imported from."""
        return hashlib.sha256(self.path.encode()).hexdigest()[:12]


class Label(NamedTuple):
    """The verdict on a row; `fault` says why it is not true, in a word."""

    repository: str
    commit: str
    path: str
    row: str
    type: str
    rule: str
    verdict: str
    fault: str


class Row(NamedTuple):
    """A row that the rules derive now."""

    repository: str
    path: str
    name: str
    type: str
    rule: str
    title: str


class Precision(TypedDict):
    """What the rules derive of the transcripts, by `half type verdict`."""

    transcripts: int
    repositories: int
    rows: dict[str, int]
    """Verdict: yes, no, or unlabelled."""
    faults: dict[str, int]
    """`half fault`: the rows that are not true, by why."""


def transcripts() -> list[Transcript]:
    """Return the transcripts that the labelled rows come from."""
    return [Transcript(*fields) for fields in _table("transcripts.tsv")]


def labels() -> list[Label]:
    """Return all labels."""
    return [Label(*fields) for fields in _table("labels.tsv")]


def measure(clones: Mapping[str, Path], progress: Progress) -> Precision:
    """Import the transcripts of all repositories and compare what is derived with the labels.

    clones: By repository, a clone that has the commit.

    Raises:
        Faulty: A repository has no clone here, or a clone lacks a transcript.
    """
    verdicts = {(one.repository, one.path, one.row): one for one in labels()}
    rows: Counter[str] = Counter()
    faults: Counter[str] = Counter()
    by_repository: dict[str, list[Transcript]] = {}
    for transcript in transcripts():
        by_repository.setdefault(transcript.repository, []).append(transcript)
    missing = sorted(by_repository.keys() - clones.keys())
    if missing:
        raise Faulty(f"name a clone of {', '.join(missing)}: --git OWNER/NAME=CLONE")
    for repository, listed in by_repository.items():
        progress.say(f"{repository}: {len(listed)} transcripts")
        half = "tuning" if repository in TUNING else "reported"
        for row in derived(listed, clones[repository]):
            label = verdicts.get((repository, row.path, row.name))
            rows[f"{half}\t{row.type}\t{label.verdict if label else 'unlabelled'}"] += 1
            if label and label.fault:
                faults[f"{half}\t{label.fault}"] += 1
    return {
        "transcripts": sum(map(len, by_repository.values())), "repositories": len(by_repository),
        "rows": dict(rows), "faults": dict(faults),
    }  # fmt: skip


def derived(listed: Iterable[Transcript], clone: Path) -> Iterator[Row]:
    """Import transcripts of one repository by the real import; yield the rows to judge."""
    with tempfile.TemporaryDirectory(prefix="triseek-bench-") as scratch:
        own = Own(Path(scratch).resolve())
        paths = {}
        for transcript in listed:
            place = _place(own.home, transcript)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(_content(transcript, clone))
            paths[str(place)] = transcript
        own.bring_in("claude-code", "codex", may_skip=True)
        database = sqlite3.connect(own.state / "history" / "history.db")
        with database:
            for _, path, row_hash, rule, title, kind in database.execute(_JUDGED):
                one = paths[path]
                name = row_name(row_hash, kind, title)
                yield Row(one.repository, one.path, name, kind, rule, title)
        database.close()


def row_name(row_hash: str, kind: str, title: str) -> str:
    """Return what a label names a row by."""
    return hashlib.sha256(f"{row_hash}\n{kind}\n{title}".encode()).hexdigest()[:16]


def _place(home: Path, transcript: Transcript) -> Path:
    """Return where the agent would keep a transcript."""
    if transcript.agent == "codex":
        name = f"rollout-2026-01-01T00-00-00-{transcript.key}.jsonl"
        return home / ".codex" / "sessions" / "2026" / "01" / "01" / name
    return home / ".claude" / "projects" / "-made" / f"{transcript.key}.jsonl"


def _content(transcript: Transcript, clone: Path) -> bytes:
    name = f"{transcript.commit}:{transcript.path}"
    ended = subprocess.run(
        ["git", "-C", str(clone), "show", name], capture_output=True, check=False
    )
    if ended.returncode:
        raise Faulty(f"{clone} has no {name}")
    return ended.stdout


def _table(name: str) -> Iterator[list[str]]:
    with (FOLDER / name).open(encoding="utf-8", newline="") as file:
        yield from csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
