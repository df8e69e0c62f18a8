"""What a `Frecency` holds, for tests that look inside."""

from __future__ import annotations


def top(frecency, count):
    """Return the files with the highest scores and their scores; ties are ordered by name."""
    ranked = sorted((-score, path) for path, score in frecency._scores().items())
    return [(path, -score) for score, path in ranked[:count]]
