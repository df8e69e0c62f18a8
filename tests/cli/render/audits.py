"""Audits of logs made up, hostile ones too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.app.audit import Audit
from triseek.model.session import LogEntry, Session

if TYPE_CHECKING:
    from triseek.app.audit import AuditReport

EVIL = "</td></table><script>alert(1)</script><img src=http://evil.example/x onerror=alert(1)>"
HOSTILE = "\x1b]0;owned\x07\x1b[2J\rline\nnext\x9b31m\u202egpj.\x00"


class Log:
    """A log of one session, a second between two entries."""

    def __init__(self, goal: str = "Fix the retry", root: str = "/repo") -> None:
        self.session = Session(
            session_id="mine", goal=goal, repo_root=root, created_at=1, updated_at=9
        )
        self.entries: list[LogEntry] = []
        self.note("session_open", session=self.session.document())
        self.note("search", arguments={"query": "jitter"}, total_line_matches=0)
        self.note("read", path="retry.py", sha="a" * 64)
        self.note("edit", path="retry.py", sha="b" * 64)

    def note(self, kind: str, **payload: object) -> None:
        number = len(self.entries) + 1
        self.entries.append(
            LogEntry(
                entry_id=number,
                session_id="mine",
                ts=1_777_803_400 + number,
                kind=kind,
                payload=payload,
            )
        )

    def report(self) -> AuditReport:
        audit = Audit(self.session.repo_root)
        audit.take(self.session, self.entries)
        return audit.report()


def hostile() -> Log:
    """A log in which every text is an attempt on whoever shows it."""
    log = Log(EVIL + HOSTILE)
    for text in (HOSTILE, EVIL, "\ud800", "\u202e'\"&"):
        log.note("prompt", prompt=text, harness=text, conversation=text)
        log.note("read", path=f"a/{text.replace('/', '_')}", harness=text)
        log.note("search", arguments={"query": text, "mode": text}, total_line_matches=0)
        log.note("compact", source=text, harness=text)
        log.note(text, tool=text)
    return log
