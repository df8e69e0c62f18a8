"""The daemon's memo: one for all roots, written down behind those who use it."""

from __future__ import annotations

import shutil

from triseek import paths
from triseek.daemon.saving import Saving
from triseek.sessions.memo.memo import Memo

SAVE_S = 5.0
"""How much may be forgotten if the daemon is killed. No hook waits for a disk: what is lost is a
reading that has to be done again."""
FINISH_S = 0.8
"""How long the end waits for one that is being written."""


class MemoKeeping:
    """Owns the memo, and saves it on a timer and at the end."""

    def __init__(self, *, keep: bool = True) -> None:
        """Read what an earlier daemon wrote down; without `keep`, remove it and write nothing."""
        if not keep:
            shutil.rmtree(paths.memo(), ignore_errors=True)
        self.memo = Memo(paths.memo() if keep else None)
        self._saving = Saving("memo", self.memo.save, SAVE_S)

    def start(self) -> None:
        """Begin."""
        self._saving.start()

    def busy(self) -> bool:
        """Never: what is not saved yet is saved at the end."""
        return False

    def close(self) -> None:
        """Save, and save no more."""
        self._saving.stop(FINISH_S)
        self.memo.close()
