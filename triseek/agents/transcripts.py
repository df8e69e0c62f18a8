"""The base class of readers: what an agent keeps of its conversations on disk, and how to read it.

An agent's file has a subclass for its own format and sets `Agent.transcripts`. `history` decides
when a source is read and stores what it yields.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from triseek.agents.base import InstallPlace
    from triseek.model.conversation import Mark, Record


class TranscriptReader:
    """Reads the conversations of one agent. Stateless: threads may share it."""

    appends: ClassVar[bool] = True
    """Whether its files only grow, so that `Mark.offset` is an offset in bytes. Other sources are
    read as a whole, or know by themselves what is new, such as a database."""
    evidence: ClassVar[str] = ""
    """Where the format is known from: the version that wrote the fixtures, or a page; one line."""
    retention: ClassVar[str] = ""
    """What the agent deletes by itself, and when; one line for people."""

    def sources(self, here: InstallPlace) -> Iterator[str]:
        """Yield the absolute paths of the files and databases that hold conversations."""
        raise NotImplementedError

    def read(self, path: str, mark: Mark) -> Iterator[Record | Mark]:
        """Yield the records of a source from a mark on.

        A `Mark` means that all records before it are complete: what is read later goes on from
        there. At least one is yielded at the end. A record may be yielded again after that; its
        id is the same then. A line that is half written is left for the next time.

        Raises:
            OSError: The source cannot be read.
        """
        raise NotImplementedError

    def resume(self, conversation: str) -> Sequence[str]:
        """Return the command that reopens a conversation in the agent; empty if there is none."""
        del conversation
        return ()
