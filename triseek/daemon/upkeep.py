"""Background work: a keeper for every root that is asked about, and an end for idle ones."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING, Any

from triseek.daemon.chores import Chores
from triseek.daemon.keeper import Keeper, to_be_indexed
from triseek.daemon.memory import give_back, share_arenas
from triseek.errors import TriseekError
from triseek.service.service import Service

if TYPE_CHECKING:
    from triseek.config import Settings
    from triseek.engine.engine import Engine

logger = logging.getLogger(__name__)

ROUND_S = 5.0
JOIN_S = 2.0
"""How long the end waits for keepers, all together."""
IDLE_S = 3_600.0
"""A root nobody asked about for so long is let go of."""


class Upkeep:
    """Owns the service that requests are served by, and keeps what it has open."""

    def __init__(self, settings: Settings) -> None:
        share_arenas()
        self.chores = Chores()
        self.service = Service(is_cold=lambda: not self.is_warm, opened=self.opened)
        self._settings = settings
        self._keepers: dict[str, Keeper] = {}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._tidied = 0.0
        self._threads = [
            threading.Thread(target=self.chores.warm_up, name="triseek-warm", daemon=True),
            threading.Thread(target=self._rounds, name="triseek-upkeep", daemon=True),
        ]

    @property
    def is_warm(self) -> bool:
        """Whether the kernels are loaded."""
        return self.chores.warm.is_set()

    def start(self) -> None:
        """Begin; requests may be served meanwhile."""
        for thread in self._threads:
            thread.start()

    def busy(self) -> bool:
        """Whether something is under way that another process would have to begin anew."""
        return self.chores.busy

    def opened(self, engine: Engine) -> None:
        """Keep a root from now on."""
        target = engine.root if engine.has_index() else self._to_build(engine)
        if target is not None and target != engine.root:
            self._keep_other(target)
            return
        with self._lock:
            if self._stop.is_set() or engine.root in self._keepers:
                return
            keeper = Keeper(
                engine,
                self.chores,
                may_build=target is not None,
                folders_max=self._settings.max_folders,
            )
            self._keepers[engine.root] = keeper
        keeper.start()

    def _to_build(self, engine: Engine) -> str | None:
        return to_be_indexed(engine.root) if self._settings.auto_index else None

    def _keep_other(self, root: str) -> None:
        """Keep the repository a searched folder lies in."""
        try:
            self.service.engine(root, exact=True)
        except TriseekError as error:
            logger.warning("upkeep failed", extra={"root": root, "reason": str(error)})

    def keeper(self, root: str) -> Keeper | None:
        """Who keeps a root."""
        with self._lock:
            return self._keepers.get(root)

    def states(self) -> list[dict[str, Any]]:
        """What is kept, and how, for `status`."""
        with self._lock:
            keepers = list(self._keepers.values())
        return [state_of(keeper) for keeper in keepers]

    def _rounds(self) -> None:
        while not self._stop.wait(ROUND_S):
            for engine in self._surplus():
                self._let_go(engine)
            self._tidy()

    def _tidy(self) -> None:
        """Give back what requests since the last time have left behind."""
        engines = self.service.engines()
        used = max((engine.used for engine in engines), default=0.0)
        if self._tidied < used:
            self._tidied = time.monotonic()
            give_back(engines)

    def _surplus(self) -> list[Engine]:
        """Roots nobody asks about, and those asked about longest ago where there are too many."""
        engines = sorted(self.service.engines(), key=lambda engine: engine.used)
        many = max(0, len(engines) - self._settings.max_roots)
        now = time.monotonic()
        return engines[:many] + [e for e in engines[many:] if now - e.used > IDLE_S]

    def _let_go(self, engine: Engine) -> None:
        with self._lock:
            keeper = self._keepers.pop(engine.root, None)
        if keeper is not None:
            keeper.stop()
        self.service.drop(engine)
        logger.info("let go", extra={"root": engine.root})

    def close(self) -> None:
        """Stop everything."""
        self._stop.set()
        self.chores.close()
        with self._lock:
            keepers = list(self._keepers.values())
        for keeper in keepers:
            keeper.stop()
        until = time.monotonic() + JOIN_S
        for keeper in keepers:
            keeper.join(max(0.0, until - time.monotonic()))
        self.service.close()


def state_of(keeper: Keeper) -> dict[str, Any]:
    """One root, for `status`: fields as in the protocol's page."""
    engine, watch = keeper.engine, keeper.engine.watched
    trouble = engine.trouble or (keeper.trouble if watch is None else None)
    if trouble is not None:
        watch = None
    clock = watch.journal.clock if watch else None
    return {
        "target_root": engine.root,
        "index_dir": engine.index_dir,
        "index_available": engine.has_index(),
        "watched": watch is not None,
        "trouble": trouble.reason if trouble else "",
        "fix": trouble.fix if trouble else "",
        "generation": clock.generation if clock else None,
        "context_epoch": clock.epoch if clock else None,
        "clock": str(clock) if clock else None,
    }
