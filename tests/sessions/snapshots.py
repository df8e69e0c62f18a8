"""A snapshot of a small repository, and packs of any content."""

from __future__ import annotations

import gzip
import io
import tarfile

from triseek.model.snapshot import FileSeen, GitState, SearchRun, WorkingSet
from triseek.sessions import snapshot
from triseek.sessions.lifecycle import Sessions
from triseek.sessions.requests import PinnedLines
from triseek.sessions.snapshot import Circumstances, Snapshots

ABOUT = Circumstances(
    GitState(
        commit="ab" * 20, branch="work", dirty_files=["src/a.py"], hunk_summary={"src/a.py": 3}
    ),
    "first", 42, 0, "claude_code", "claude-sonnet-4.5",
)  # fmt: skip
WORK = WorkingSet(
    files_read=[
        FileSeen(
            path="src/a.py", sha="a" * 64, line_start=1, line_end=9, last_read_at=1_700_000_000
        )
    ],
    searches_run=[
        SearchRun(
            search_id="search-0001", query="needle", kind="literal", result_paths=["src/a.py"]
        )
    ],
    frecency_top_n=[("src/a.py", 2.5)],
)
PINNED = (PinnedLines(path="src/a.py", line_start=2, line_end=3),)


class Kept:
    """Sessions and snapshots in one folder, with a repository beside it."""

    def __init__(self, folder):
        self.root = folder / "repo"
        (self.root / "src").mkdir(parents=True)
        (self.root / "src" / "a.py").write_text("one\ntwo é\nthree\nfour\n", encoding="utf-8")
        self.now = 1_777_803_396.0
        self.sessions = Sessions(folder / "state" / "sessions", lambda: self.now)
        self.snapshots = Snapshots(folder / "state" / "snapshots", lambda: self.now)
        self.session = self.sessions.open(str(self.root), "Debug retry backoff config", "mine")

    def create(self, work=WORK, wanted=PINNED, about=ABOUT):
        return self.snapshots.create(
            self.session, self.sessions.log("mine").newest(snapshot.LOG_MAX), work, wanted, about
        )  # fmt: skip


def packed(members):
    """A pack of (TarInfo or name, content) pairs."""
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as tar:
        for member, content in members:
            info = member if isinstance(member, tarfile.TarInfo) else tarfile.TarInfo(member)
            if info.isreg():
                info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return gzip.compress(held.getvalue(), 1)
