"""How rules see the paths of a root: relative to their own folder, or as they were typed.

ripgrep compares `-g`, `--ignore-file` and git's global excludes with each path as it was typed:
`../lib/a.c` for `rg PATTERN ../lib`. Of an absolute path the working folder is taken off. An engine
knows paths relative to its root; a `Seen` translates.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from triseek.model.search import ScopeSpec
    from triseek.query.globs import RuleSet


class Seen(NamedTuple):
    """What stands in the place of a folder of the root in the paths that rules see."""

    folder: bytes
    """Relative to the root, empty or ending in `/`. Only paths below it are translated."""
    lead: bytes
    """What is seen in its place, empty or ending in `/`."""
    here: bytes = b""
    """Taken off where a path that is seen begins with it: the working folder, absolute."""

    @classmethod
    def of(cls, spec: ScopeSpec) -> Self:
        """How a scope's globs see the paths of the root."""
        return cls(os.fsencode(spec.operand), os.fsencode(spec.typed), os.fsencode(spec.here))

    @property
    def changes(self) -> bool:
        """Whether any path is seen as another."""
        return self.folder != self.lead

    @property
    def cuts(self) -> bool:
        """Whether some path may lose the working folder in front, and with it its very name."""
        return self.lead[:1] == b"/" and bool(self.here)

    def path(self, path: bytes) -> bytes:
        """A path of the root as it is seen."""
        return self._cut(self.lead + path[len(self.folder) :])

    def touches(self, rules: RuleSet, folder: bytes, names: Sequence[bytes], blob: bytes) -> bool:
        """Whether any rule may match one of the names; `blob` is `wrap(names)`."""
        if len(folder) < len(self.folder):
            return False
        return self.cuts or rules.touches(self.lead + folder[len(self.folder) :], names, blob)

    def decide(
        self, rules: RuleSet, folder: bytes, names: Sequence[bytes], *, dirs: bool
    ) -> dict[bytes, bool]:
        """Which of the names in a folder of the root match, and if the deciding rule is negated.

        `folder` is empty or ends in `/`. No rule sees what lies above this translation's folder.
        """
        if len(folder) < len(self.folder):
            return {}
        seen = self.lead + folder[len(self.folder) :]
        if not self.cuts:
            return rules.decide(seen, names, dirs=dirs)
        if seen.startswith(self.here):
            return rules.decide(self._cut(seen), names, dirs=dirs)
        decided = rules.decide(seen, names, dirs=dirs)
        for name in names:
            # The working folder itself, and to ripgrep also a name that its name begins.
            if (seen + name).startswith(self.here):
                alone = self._cut(seen + name)
                decided.pop(name, None)
                decided.update(
                    (name, negated) for negated in rules.decide(b"", [alone], dirs=dirs).values()
                )
        return decided

    def _cut(self, seen: bytes) -> bytes:
        if self.cuts and seen.startswith(self.here):
            return seen[len(self.here) :].removeprefix(b"/")
        return seen


AS_IT_IS = Seen(b"", b"")
"""Paths relative to the root, as if ripgrep had been started there with no operand."""
