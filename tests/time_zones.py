"""The time zone of this process, for tests of times as texts."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest


@contextlib.contextmanager
def utc(patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Be in UTC for a while."""
    patch.setenv("TZ", "UTC")
    time.tzset()
    yield
    patch.undo()
    time.tzset()
