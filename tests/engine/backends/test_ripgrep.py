"""The road through ripgrep."""

from __future__ import annotations

import pytest

from tests.contracts.backend import BackendContract
from triseek.engine.backends.ripgrep import Ripgrep, find_rg

pytestmark = [
    pytest.mark.rg,
    pytest.mark.skipif(find_rg() is None, reason="rg is not on PATH"),
]


class TestRipgrep(BackendContract):
    @classmethod
    def make(cls, root):
        return Ripgrep(root)


class TestRipgrepAskedInOrder(BackendContract):
    """As when an answer is too large to be held and sorted."""

    @classmethod
    def make(cls, root):
        return Ripgrep(root, held_bytes=-1)
