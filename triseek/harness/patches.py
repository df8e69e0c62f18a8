"""Which files a patch touches: Codex's own form, and unified diffs."""

from __future__ import annotations

import re

_CODEX = re.compile(
    r"^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+?)\s*$", re.MULTILINE
)
_UNIFIED = re.compile(r"^(?:---|\+\+\+) (?:[ab]/)?([^\t\n]+?)\s*$", re.MULTILINE)
_FILES_MAX = 1000


def patched(patch: str) -> tuple[str, ...]:
    """The paths a patch names, in order and each once, as they are written there."""
    form = _CODEX if "*** Begin Patch" in patch else _UNIFIED
    found = dict.fromkeys(match[1] for match in form.finditer(patch))
    found.pop("/dev/null", None)
    return tuple(found)[:_FILES_MAX]
