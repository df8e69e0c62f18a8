"""Translation of a root's paths to the form that rules match: relative, or as they were typed.

ripgrep matches `-g`, `--ignore-file` and git's global excludes against each path as it was typed:
`../lib/a.c` for `rg PATTERN ../lib`. From an absolute path the working folder is removed. An engine
has paths relative to its root; a `RulePrefix` translates them.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from triseek.model.search import ScopeSpec
    from triseek.query.globs.gitignore import RuleSet


class RulePrefix(NamedTuple):
    """Replacement of a folder of the root in the paths that rules match."""

    folder: bytes
    """Relative to the root, empty or ending in `/`. Only paths below it are translated."""
    lead: bytes
    """Replacement of the folder, empty or ending in `/`."""
    here: bytes = b""
    """The absolute working folder, removed from translated paths that begin with it."""

    @classmethod
    def of(cls, spec: ScopeSpec) -> Self:
        """Return the translation for a scope's globs."""
        return cls(os.fsencode(spec.operand), os.fsencode(spec.typed), os.fsencode(spec.here))

    @property
    def changes(self) -> bool:
        """Whether any path is changed."""
        return self.folder != self.lead

    @property
    def cuts(self) -> bool:
        """Whether the working folder may be removed from a path, possibly including its name."""
        return self.lead[:1] == b"/" and bool(self.here)

    def path(self, path: bytes) -> bytes:
        """Return the translation of a path of the root."""
        return self._cut(self.lead + path[len(self.folder) :])

    def touches(self, rules: RuleSet, folder: bytes, names: Sequence[bytes], blob: bytes) -> bool:
        """Return whether any rule may match one of the names; `blob` is `wrap(names)`."""
        if len(folder) < len(self.folder):
            return False
        return self.cuts or rules.touches(self.lead + folder[len(self.folder) :], names, blob)

    def decide(
        self, rules: RuleSet, folder: bytes, names: Sequence[bytes], *, dirs: bool
    ) -> dict[bytes, bool]:
        """Return matching name → whether the deciding rule is negated, for names in a folder.

        `folder` is in the root, empty or ending in `/`. Rules match nothing above `self.folder`.
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
            # The working folder itself and, as in ripgrep, any name that begins with its name.
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


AS_IT_IS = RulePrefix(b"", b"")
"""Paths relative to the root, as if ripgrep had been started there with no operand."""
