"""One line a file: counts, or just the path."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.cli.render.found import Counts

if TYPE_CHECKING:
    from collections.abc import Callable

    from triseek.cli.render.found import Found
    from triseek.cli.render.look import Look
    from triseek.cli.render.output import Output
    from triseek.engine.backends.base import Batch


class CountLines:
    """-c and --count-matches: `path:count`."""

    def __init__(self, look: Look, out: Output, *, zero: bool = False) -> None:
        self.counts = Counts()
        self._look = look
        self._out = out
        self._zero = zero
        """Count matches in lines that have none: ripgrep says 0."""

    @property
    def is_plain(self) -> bool:
        """Files stand for themselves."""
        return True

    def file(self, found: Found) -> None:
        """Write how often a file matched."""
        self._out.write(self._line(found.path, found.hits))
        self.counts.files_matched += found.hits > 0

    def batch(self, batch: Batch, shown: Callable[[bytes], bytes]) -> None:
        """Write that of many files."""
        counts = batch.counts.tolist()
        lines = [self._line(shown(path), n) for path, n in zip(batch.paths, counts, strict=True)]
        self._out.write(b"".join(lines))
        self.counts.files_matched += int((batch.counts > 0).sum())

    def _line(self, path: bytes, hits: int) -> bytes:
        look = self._look
        named = b""
        if look.path:
            named = look.colored_path(path) + (look.path_terminator or b":")
        return named + b"%d" % (0 if self._zero else hits) + look.line_end


class PathLines:
    """-l, --files-without-match and --files: the path."""

    def __init__(self, look: Look, out: Output) -> None:
        self.counts = Counts()
        self._look = look
        self._out = out

    @property
    def is_plain(self) -> bool:
        """Files stand for themselves."""
        return True

    def file(self, found: Found) -> None:
        """Write the path of a file."""
        self.counts.files_matched += found.hits > 0
        self.paths([found.path])

    def batch(self, batch: Batch, shown: Callable[[bytes], bytes]) -> None:
        """Write the paths of many files."""
        self.counts.files_matched += int((batch.counts > 0).sum())
        self.paths(list(map(shown, batch.paths)))

    def paths(self, paths: list[bytes]) -> None:
        """Write paths."""
        look = self._look
        end = look.path_terminator or look.line_end
        if look.palette or look.path_separator:
            paths = list(map(look.colored_path, paths))
        if paths:
            self._out.write(end.join(paths) + end)


class Silence:
    """-q: nothing at all."""

    def __init__(self) -> None:
        self.counts = Counts()

    def file(self, found: Found) -> None:
        """Remember that there was something."""
        self.counts.files_matched += found.hits > 0
