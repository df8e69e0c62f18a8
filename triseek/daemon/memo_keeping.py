"""The daemon's memo: one for all roots, written down behind those who use it."""

from __future__ import annotations

import logging
import shutil
import threading

from triseek import paths
from triseek.sessions.memo.memo import Memo

logger = logging.getLogger(__name__)

SAVE_S = 5.0
"""How much may be forgotten if the daemon is killed. No hook waits for a disk: what is lost is a
reading that has to be done again."""


class MemoKeeping:
    """Owns the memo, and saves it on a timer and at the end."""

    def __init__(self, *, keep: bool = True) -> None:
        """Read what an earlier daemon wrote down; without `keep`, remove it and write nothing."""
        if not keep:
            shutil.rmtree(paths.memo(), ignore_errors=True)
        self.memo = Memo(paths.memo() if keep else None)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="triseek-memo", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def busy(self) -> bool:
        """Never: what is not saved yet is saved at the end."""
        return False

    def close(self) -> None:
        """Save, and save no more."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join(2.0)
        self.memo.close()

    def _run(self) -> None:
        while not self._ended.wait(SAVE_S):
            try:
                self.memo.save()
            except OSError as error:
                logger.warning("memo not saved", extra={"reason": str(error)})
            except Exception:
                logger.exception("memo not saved")
