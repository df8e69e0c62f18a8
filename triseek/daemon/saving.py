"""What is known is written down now and then, behind those who use it."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

from triseek.errors import TriseekError

if TYPE_CHECKING:
    from collections.abc import Callable

logger = logging.getLogger(__name__)


class Saving:
    """Calls `save` on a timer, in a thread of its own."""

    def __init__(self, what: str, save: Callable[[], None], every_s: float) -> None:
        """Not begun yet.

        Args:
            what: In the log and the thread's name.
            save: What it raises is logged; it is called again all the same.
            every_s: Seconds in between.
        """
        self._what, self._save, self._every_s = what, save, every_s
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"triseek-{what}", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self, within_s: float) -> None:
        """Call it no more. within_s: how long to wait for a call that is under way."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join(within_s)

    def now(self) -> None:
        """Call it at once, in this thread."""
        try:
            self._save()
        except (OSError, TriseekError) as error:
            logger.warning("%s not saved", self._what, extra={"reason": str(error)})
        except Exception:
            logger.exception("%s not saved", self._what)

    def _run(self) -> None:
        while not self._ended.wait(self._every_s):
            self.now()
