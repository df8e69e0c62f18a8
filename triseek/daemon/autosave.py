"""Save state periodically in a background thread."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

from triseek.errors import TriseekError

if TYPE_CHECKING:
    from collections.abc import Callable

logger = logging.getLogger(__name__)


class Autosave:
    """Calls `save` periodically in its own thread."""

    def __init__(self, what: str, save: Callable[[], None], every_s: float) -> None:
        """Create the thread without starting it.

        Args:
            what: A name for log messages and the thread.
            save: The function to call. Its exceptions are logged and do not stop the calls.
            every_s: Seconds between calls.
        """
        self._what, self._save, self._every_s = what, save, every_s
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"triseek-{what}", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self, within_s: float) -> None:
        """Stop the calls. within_s: the longest wait, in seconds, for a call that is running."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join(within_s)

    def now(self) -> None:
        """Call `save` at once, in the calling thread."""
        try:
            self._save()
        except (OSError, TriseekError) as error:
            logger.warning("%s not saved", self._what, extra={"reason": str(error)})
        except Exception:
            logger.exception("%s not saved", self._what)

    def _run(self) -> None:
        while not self._ended.wait(self._every_s):
            self.now()
