"""What has become of the files of something that was noted earlier."""

from __future__ import annotations

from enum import StrEnum


class Freshness(StrEnum):
    """What has become of the files of an observation or a memory."""

    FRESH = "FRESH"
    """The text is there as it was left, or the file has not been modified since."""
    MOVED = "MOVED"
    """The text, what it defines, or a file of that name is elsewhere now."""
    STALE = "STALE"
    """The file has changed."""
    GONE = "GONE"
    """The file does not exist any more, or nothing that the text defined."""
