"""The road that needs nothing."""

from __future__ import annotations

from tests.contracts.backend import BackendContract
from triseek.engine.backends.scan import Scan


class TestScan(BackendContract):
    @classmethod
    def make(cls, root):
        return Scan(root)
