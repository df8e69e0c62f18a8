"""The referee: knows what each context has in view and what the files hold; asks nobody else."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tests.memo.agents import Refusal
from tests.memo.tree import lines_of, rendered
from tests.memo.uses import overlaps, shown, would_show

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.memo.agents import Agent
    from tests.memo.uses import Line, Use

SOON = 120.0
"""Seconds within which a read is the refused one after all."""
FRESH_FOR = 600.0
"""Seconds for which a context counts as at work."""


class Fault(AssertionError):
    """The memo was wrong."""


@dataclass
class Count:
    """What a stream came to."""

    events: int = 0
    reads: int = 0
    redundant: int = 0
    provable: int = 0
    """Redundant reads of clients that can be refused and tell what is in view."""
    denied: int = 0
    moved: int = 0
    """Of these, such as stand in view under another number."""
    checks: int = 0
    fresh: int = 0
    truly_fresh: int = 0
    diffs: int = 0
    primed: int = 0
    """Answers that know a file by a resume only."""
    skipped: int = 0
    """Of these, such as say that it need not be read."""
    saved: int = 0
    spared: int = 0

    def __str__(self) -> str:
        caught = self.denied / max(1, self.redundant)
        return (
            f"{self.events} events, {self.reads} reads, {self.redundant} redundant "
            f"({self.provable} provably), {self.denied} denied ({caught:.0%}; {self.moved} moved), "
            f"{self.checks} checks, {self.fresh} fresh of {self.truly_fresh}, {self.diffs} diffs, "
            f"{self.primed} primed ({self.skipped} to skip), "
            f"{self.saved} tokens said to be saved of {self.spared} (those still at work)"
        )


@dataclass
class Judge:
    """Counts, and raises `Fault` at the first wrong answer."""

    count: Count = field(default_factory=Count)
    resumed: dict[str, tuple[str, dict[str, bytes]]] = field(default_factory=dict)
    """By root: the snapshot that was resumed last, and what its files held."""

    def fault(self, agent: Agent, what: str) -> None:
        who = f"{agent.client.name} {agent.session} {agent.name or 'main'}"
        raise Fault(f"{what}\n  in {who}\n  " + "\n  ".join(agent.journal))

    # What is so

    def has(self, agent: Agent, lines: Iterable[Line]) -> bool:
        """Whether every one of these lines stands in the context's view, as it is now."""
        return all(
            agent.view.holds(line.path, line.number, line.text)
            or agent.view.holds(os.path.realpath(line.path), line.number, line.text)
            for line in lines
        )

    def has_texts(self, agent: Agent, lines: list[Line]) -> bool:
        """The same, but that lines may stand under another number."""
        return all(
            agent.view.holds_texts(path, [line.text for line in lines if line.path == path])
            for path in {line.path for line in lines}
        )

    def is_redundant(self, agent: Agent, use: Use) -> bool:
        """Whether it shows nothing that tools have not shown, and is in view."""
        lines = would_show(use, agent.tree)
        of_tools = replace(agent, view=agent.view.of_tools)
        return self.is_plain(agent, use) and bool(lines) and self.has(of_tools, lines)

    def is_plain(self, agent: Agent, use: Use) -> bool:
        """Whether nothing else is lost: some shells stay where a command has gone."""
        stays = not agent.keeps_folder or use.moves_to in ("", agent.cwd)
        return use.is_plain and stays

    # Reads

    def attempted(self, agent: Agent, use: Use, *, is_denied: bool, now: float) -> None:
        """A read was asked for, and denied or let through."""
        if use.tool not in ("read", "shell"):
            if is_denied:
                self.fault(agent, f"denied, but no read: {use}")
            return
        count = self.count
        count.reads += 1
        is_redundant = self.is_redundant(agent, use)
        count.redundant += is_redundant
        count.provable += is_redundant and agent.client.is_told
        if is_denied:
            self._denied(agent, use, is_redundant=is_redundant, now=now)
        if not use.is_plain and use.trapped[0] != "nothing":
            agent.refused.pop(os.path.realpath(use.trapped[1]), None)
        for path, numbers in overlaps(use, agent.tree):
            if is_denied:
                agent.refused.setdefault(path, set()).update(numbers)
            elif agent.refused.get(path, set()) & numbers:
                del agent.refused[path]

    def _denied(self, agent: Agent, use: Use, *, is_redundant: bool, now: float) -> None:
        lines = would_show(use, agent.tree)
        if not self.is_plain(agent, use):
            self.fault(agent, f"denied, but it does more than to read: {use.command!r}")
        if not agent.client.is_told:
            self.fault(agent, f"denied without evidence: {use}")
        if not lines:
            self.fault(agent, f"denied, but it would have shown nothing that is in view: {use}")
        plain = replace(agent, view=agent.view.of_tools)
        if not self.has(plain, lines) and not self.has_texts(plain, lines):
            self.fault(agent, f"denied what only a payload has shown, if at all: {use}")
        if not is_redundant:
            if not self.has_texts(agent, lines):
                self.fault(
                    agent, f"denied what is not in view: {use}\n{self._missing(agent, lines)}"
                )
            self.count.moved += 1
        for path, numbers in overlaps(use, agent.tree):
            if agent.refused.get(path, set()) & numbers:
                self.fault(agent, f"denied twice in a row: {use}")
        self.count.denied += 1
        text = agent.client.result(use, shown(use, agent.tree)).text
        most = -(-len(text.encode(errors="replace")) * 2 // 7)
        files = [portion.path for portion in use.portions]
        agent.refusals.append(Refusal(lines, files, now, most))

    def _missing(self, agent: Agent, lines: list[Line]) -> str:
        missing = [line for line in lines if not self.has(agent, [line])]
        return "\n".join(f"    not in view: {line}" for line in missing[:3])

    def was_shown(self, agent: Agent, lines: Iterable[Line], refused: int, now: float) -> None:
        """A read went through: what was refused shortly before was not spared.

        refused: how many refusals there were when it was asked for.
        """
        recent = [one for one in agent.refusals[agent.compacted : refused] if now - one.at <= SOON]
        if recent:
            again = {(line.path, line.number, line.text) for line in lines}
            for refusal in recent:
                refusal.shown_again |= again

    # Answers of the memo's tools

    def answered(self, agent: Agent, path: str, answer: dict[str, Any]) -> None:
        """`memo_check` or one result of `memo_status` was told to this agent."""
        whole = self._whole(agent, path)
        status = answer["status"]
        self.count.checks += 1
        if status not in ("fresh", "stale", "unknown"):
            self.fault(agent, f"no status: {answer}")
        if (answer.get("recommendation") == "skip_reread") > (status == "fresh"):
            self.fault(agent, f"skips what is not fresh: {answer}")
        is_true = whole is not None and self.has(agent, whole)
        self.count.truly_fresh += is_true
        if answer.get("primed"):
            self._primed(agent, path, answer, is_true=is_true)
        elif status == "fresh":
            self.count.fresh += 1
            if not is_true and not (whole and self.has_texts(agent, whole)):
                missing = "the file is gone" if whole is None else self._missing(agent, whole)
                self.fault(agent, f"false fresh for {path}: {answer}\n{missing}")
        if answer.get("diff"):
            self._is_diff(agent, path, str(answer["diff"]))
        for first, last in re.findall(r"(\d+)-(\d+)", str(answer.get("lines", ""))):
            part = [line for line in whole or () if int(first) <= line.number <= int(last)]
            if not self.has(agent, part) and not self.has_texts(agent, part):
                self.fault(agent, f"says that lines are known which are not: {answer}")

    def _primed(self, agent: Agent, path: str, answer: dict[str, Any], *, is_true: bool) -> None:
        """An answer that knows the file by a resume only."""
        self.count.primed += 1
        snapshot, held = self.resumed.get(agent.tree.root, ("", {}))
        before = held.get(os.path.realpath(path))
        if before is None or answer["snapshot_id"] != snapshot:
            self.fault(agent, f"primed, but not by the latest resume: {answer}")
        is_same = agent.tree.read(path) == before
        if answer["status"] != ("fresh" if is_same else "stale"):
            self.fault(agent, f"unchanged since the snapshot: {is_same}, but: {answer}")
        if answer["recommendation"] == "skip_reread":
            self.count.skipped += 1
            if not is_true:
                missing = self._missing(agent, self._whole(agent, path) or [])
                self.fault(agent, f"skips what is not in view: {path} {answer}\n{missing}")

    def unread(self, agent: Agent, answer: dict[str, Any]) -> None:
        """The primed files of `memo_session`."""
        for file in answer.get("primed_files", ()):
            more = {"snapshot_id": answer["snapshot_id"], "recommendation": "reread"}
            self._primed(agent, file["path"], {**file, **more}, is_true=False)

    def _whole(self, agent: Agent, path: str) -> list[Line] | None:
        from tests.memo.uses import Portion, Use

        if not os.path.isfile(path):
            return None
        return shown(Use("read", (Portion(path),)), agent.tree).lines

    def _is_diff(self, agent: Agent, path: str, diff: str) -> None:
        """What it takes away is in view, and what it leads to is what the file holds."""
        self.count.diffs += 1
        path = os.path.realpath(path)
        now = [rendered(line) for line in lines_of(agent.tree.read(path) or b"")]
        new = old = 0
        for line in diff.split("\n"):
            if match := re.match(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@", line):
                old, new = int(match[1]), int(match[2])
                continue
            if not new and not old:
                continue
            text = line[1:].rstrip("\r")
            if line[:1] in ("+", " "):
                if now[new - 1 : new] != [text]:
                    self.fault(agent, f"a diff that does not lead to {path}, line {new}:\n{diff}")
                new += 1
            if line[:1] in ("-", " "):
                if not agent.view.holds(path, old, text) and not agent.view.holds_texts(
                    path, [text]
                ):
                    self.fault(agent, f"a diff from what is not in view, line {old}:\n{diff}")
                old += 1

    def summed(self, agents: Iterable[Agent], answer: dict[str, Any], asker: Agent) -> None:
        """`memo_session` was told; `agents` are all whose totals may be in it."""
        refusals = [refusal for agent in agents for refusal in agent.refusals]
        spared = sum(refusal.spared() for refusal in refusals)
        prevented = sum(refusal.stands() for refusal in refusals)
        if answer["tokens_saved"] > spared:
            self.fault(asker, f"{answer['tokens_saved']} tokens saved, but {spared} were spared")
        if answer["redundant_reads_prevented"] > prevented:
            said = answer["redundant_reads_prevented"]
            self.fault(asker, f"{said} reads prevented, but {prevented} were")
