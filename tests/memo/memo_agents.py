"""An agent that reads, and is shown what it reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from triseek.memo.memo import Asked, Memo
from triseek.model.hook_event import Context, FileRead, ToolUse

CODE = "".join(f"    value_{number} = compute({number})\n" for number in range(1, 401))


class Clock:
    now_s = 1_000_000.0

    def __call__(self):
        return self.now_s


@dataclass
class Agent:
    """One context: what it reads it is shown, and has in view."""

    memo: Memo
    root: str
    context: Context
    view: set[str] | None = field(default_factory=set)
    calls: int = 0

    def in_view(self):
        return None if self.view is None else frozenset(self.view)

    def use(self, *names, first=1, last=None, tail=None, **more):
        self.calls += 1
        reads = tuple(
            FileRead(path=str(Path(self.root, name)), first=first, last=last, tail=tail)
            for name in names
        )
        call = f"{self.context.session}{self.context.agent}-{self.calls}"
        return ToolUse(name="Read", **{"call": call, "reads": reads, "only_reads": True} | more)

    def asks(self, use):
        return self.memo.verdict(self.root, self.context, use, self.in_view)

    def shows(self, use, output):
        """The use happens, and this is what the agent sees of it."""
        done = ToolUse(
            name=use.name, call=use.call, reads=use.reads, only_reads=use.only_reads, output=output
        )
        if self.view is not None:
            self.view.add(use.call)
        self.memo.observe(self.root, self.context, done, self.in_view)

    def reads(self, *names, first=1, last=None, tail=None, output=None):
        """Try to read; what was denied is not shown."""
        use = self.use(*names, first=first, last=last, tail=tail)
        denial = self.asks(use)
        if denial is None:
            self.shows(use, self.text(*names, first=first, last=last, tail=tail) or output)
        return denial

    def text(self, *names, first=1, last=None, tail=None):
        shown = ""
        for name in names:
            lines = Path(self.root, name).read_text().splitlines(keepends=True)
            shown += "".join(lines[-tail:] if tail else lines[max(0, first - 1) : last])
        return shown

    def asked(self, **who):
        return Asked(**{"session": self.context.session, "agent": self.context.agent} | who)

    def check(self, name="a.py", **who):
        return self.memo.check(self.root, name, self.asked(**who))

    def status(self, name="a.py", **who):
        return self.memo.status(self.root, [name], self.asked(**who))["results"][0]

    def session(self, **who):
        return self.memo.session(self.root, self.asked(**who))
