"""Check that a path is inside a root, and open files so that nothing outside of it is read.

Agents and the page name paths, and a path is hostile until it is checked: it may lead out of the
root by `..`, by a symbolic link in any component, or name a device, a FIFO or a socket. All code
that takes such a path checks it and opens the file here.

A path is resolved one component at a time, each looked up relative to the descriptor of the folder
before it. The kernel never follows a link for us: folders are opened with O_NOFOLLOW, and links are
read and followed by hand. So the file that is checked is the file that is opened, even if somebody
replaces a component with a link in between. A path outside of the root is refused with the same
message whether or not it exists.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Literal, NamedTuple

from triseek.errors import InvalidRequest, RepoNotDetected
from triseek.files import access, mounts

if TYPE_CHECKING:
    from typing import Self

LINKS_MAX = 40
"""Symbolic links followed in one path, as in Linux."""
STEPS_MAX = 1 << 16
"""Components looked up for one path, those of its links included."""

_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_SHOWN_MAX = 200
"""Characters of a path that an error shows."""


class PathRefused(InvalidRequest):
    """A path that may not be read: outside of the root, or neither a regular file nor a folder."""


class PathOutside(PathRefused):
    """A path that leads out of the root."""


class Inside(NamedTuple):
    """A path that is inside a root."""

    named: str
    """Relative to the root, links not resolved; "." for the root."""
    real: str
    """Relative to the root, links resolved; "." for the root."""
    kind: Literal["file", "folder", "missing"]
    """What exists there now: a regular file, a folder, or nothing."""


def locate(root: str, path: str) -> Inside:
    """Check that a path is inside a root, and say what exists there. Opens nothing for reading.

    Args:
        root: An existing folder, absolute, links resolved.
        path: Relative to the root, or absolute, through any path that leads to the root.

    Raises:
        PathOutside: It leads out of the root.
        PathRefused: It is a device, a FIFO or a socket, lies in a virtual file system such as
            /proc, or cannot be looked up.
        RepoNotDetected: There is no such root.
    """
    with _Lookup(root, path) as lookup:
        lookup.run()
        return Inside(lookup.named, lookup.real, lookup.kind)


def open_file(root: str, path: str) -> int:
    """Open a regular file inside a root for reading and return its descriptor.

    Opening never blocks. If a FIFO replaces the file after the check, it is refused.

    Raises:
        PathOutside, PathRefused, RepoNotDetected: As for `locate`.
        PathRefused: There is no such file, it is a folder, or it cannot be opened.
    """
    with _Lookup(root, path) as lookup:
        lookup.run()
        return lookup.open()


class _Lookup:
    """The resolution of one path, component by component; closes its descriptors on exit."""

    def __init__(self, root: str, path: str) -> None:
        self._root, self._path = root, path
        self._top = self._here = -1
        self._names: list[bytes] | None = []
        """Components below the root that are resolved already; None while outside of the root."""
        self._last = b""
        """Name of the file in the folder `_here`; empty if the path is a folder."""
        self._todo: list[bytes] = []
        """Components that remain to be looked up, the next one last."""
        self.kind: Literal["file", "folder", "missing"] = "folder"
        self.named = "."

    def __enter__(self) -> Self:
        try:
            self._top = os.open(self._root, _FOLDER & ~os.O_NOFOLLOW)
            self._here = os.dup(self._top)
        except OSError as error:
            self.__exit__()
            raise RepoNotDetected(f"cannot search {self._root!r}: {error.strerror}") from error
        return self

    def __exit__(self, *_: object) -> None:
        for descriptor in (self._top, self._here):
            if descriptor >= 0:
                os.close(descriptor)

    @property
    def real(self) -> str:
        """The path relative to the root, links resolved."""
        names = [*(self._names or ()), *filter(None, [self._last])]
        return os.fsdecode(b"/".join(names)) if names else "."

    def run(self) -> None:
        """Resolve the path to its end."""
        self._begin()
        steps = links = 0
        try:
            while self._todo:
                steps += 1
                if steps > STEPS_MAX:
                    raise self._refused("has too many components")
                links += self._step(self._todo.pop())
                if links > LINKS_MAX:
                    raise self._refused("leads through too many links")
            if self._names is None:
                raise self._outside()
        except OSError as error:
            if self._names is None:
                raise self._outside() from error
            raise self._refused(f"cannot be read: {error.strerror or error}") from error
        if self.kind == "missing":
            return
        if self.named == "":  # an absolute path that does not begin with the root's
            self.named = self.real

    def open(self) -> int:
        """Open the file that `run` resolved."""
        if self.kind == "missing":
            raise self._refused("does not exist")
        if self.kind == "folder":
            raise self._refused("is a folder, not a file")
        try:
            return access.open_regular(self._last, directory=self._here, follow=False)
        except OSError as error:
            raise self._refused(f"cannot be read: {error.strerror or error}") from error

    def _begin(self) -> None:
        """Choose by the path's text where to begin and which components to look up."""
        try:
            root, path = os.fsencode(self._root), os.fsencode(self._path)
        except UnicodeEncodeError:
            raise self._refused("is not a path") from None
        if not path.strip() or b"\0" in path:
            raise self._refused("holds a NUL character" if b"\0" in path else "is empty")
        lexical = os.path.normpath(os.path.join(root, path))  # noqa: PTH118
        inner = access.relative_to(root, lexical)
        if inner is not None:
            self.named = os.fsdecode(inner) or "."
            self._todo = _parts(inner)
        elif path.startswith(b"/"):
            self.named = ""
            self._todo = _parts(os.path.normpath(path))
            self._go_to_slash()
        else:
            raise self._outside()

    def _step(self, name: bytes) -> int:
        """Look up one component and return the number of links followed (0 or 1)."""
        if name == b"..":
            self._go_up()
            return 0
        try:
            status = os.stat(name, dir_fd=self._here, follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError):
            if self._names is None:
                raise
            self._end_missing(name)
            return 0
        if stat.S_ISLNK(status.st_mode):
            self._follow(os.readlink(name, dir_fd=self._here))
            return 1
        if stat.S_ISDIR(status.st_mode):
            self._enter(name)
            return 0
        if self._names is None:
            raise self._outside()
        self._end_at(name, status)
        return 0

    def _enter(self, name: bytes) -> None:
        """Enter a folder."""
        self._move(os.open(name, _FOLDER, dir_fd=self._here))
        if self._names is not None:
            self._names.append(name)
            if not self._todo:
                self._check_file_system(os.fstat(self._here))
        elif self._is_root():
            self._names = []

    def _end_at(self, name: bytes, status: os.stat_result) -> None:
        """End the path at an entry that is not a folder."""
        if self._todo:  # a file has nothing below it
            self._end_missing(name)
            return
        if not stat.S_ISREG(status.st_mode):
            kind = access.kind_of(status.st_mode)
            raise self._refused(f"is {kind}, not a regular file or a folder")
        self._check_file_system(status)
        self._last, self.kind = name, "file"

    def _end_missing(self, name: bytes) -> None:
        """End the path at a component that does not exist, resolving the rest by its text."""
        rest = os.path.normpath(b"/".join([*(self._names or ()), name, *reversed(self._todo)]))
        if rest == b".." or rest.startswith(b"../"):
            raise self._outside()
        self._names, self._todo, self.kind = rest.split(b"/"), [], "missing"
        self.named = self.named or self.real

    def _follow(self, target: bytes) -> None:
        """Continue at the target of a link."""
        inner = access.relative_to(os.fsencode(self._root), target)
        self._todo += _parts(target if inner is None else inner)
        if inner is not None:  # an absolute path that begins with the root's
            self._restart()
        elif target.startswith(b"/"):
            self._go_to_slash()

    def _go_up(self) -> None:
        """Follow a `..` in a link's target."""
        if self._names is None:
            self._move(os.open("..", _FOLDER, dir_fd=self._here))
            if self._is_root():
                self._names = []
        elif not self._names:
            raise self._outside()
        else:
            # Not through the folder's own `..`: the folder may have been moved out of the root.
            self._todo += self._names[-2::-1]
            self._restart()

    def _restart(self) -> None:
        """Continue at the root."""
        self._names = []
        self._move(os.dup(self._top))

    def _go_to_slash(self) -> None:
        """Continue at `/`, which is outside unless it is the root."""
        self._move(os.open("/", _FOLDER))
        self._names = [] if self._is_root() else None

    def _move(self, descriptor: int) -> None:
        os.close(self._here)
        self._here = descriptor

    def _is_root(self) -> bool:
        return os.path.samestat(os.fstat(self._here), os.fstat(self._top))

    def _check_file_system(self, status: os.stat_result) -> None:
        """Refuse files of a virtual file system, unless the root is in the same file system."""
        if status.st_dev == os.fstat(self._top).st_dev:
            return
        kind = mounts.virtual_kind(status.st_dev)
        if kind:
            raise self._refused(f"is in a {kind} file system, which holds no files to read")

    def _refused(self, why: str) -> PathRefused:
        return PathRefused(
            f"{self._shown} {why}", next_step="Name a regular file or a folder inside the root."
        )

    def _outside(self) -> PathOutside:
        return PathOutside(
            f"{self._shown} is outside of {self._root!r}",
            next_step="Name a path inside it; one server answers for one root.",
        )

    @property
    def _shown(self) -> str:
        path = self._path
        if not path.strip():
            return "the path"
        return repr(path if len(path) <= _SHOWN_MAX else path[: _SHOWN_MAX - 1] + "…")


def _parts(path: bytes) -> list[bytes]:
    """Return the components of a path, the last one first."""
    return [part for part in reversed(path.split(b"/")) if part not in (b"", b".")]
