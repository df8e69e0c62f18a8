"""Which repository is indexed on which host, and by what."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from triseek.errors import InvalidRequest, RepoNotDetected
from triseek.files.tree import git
from triseek.files.tree.root import git_root
from triseek.model.plain_text import visible_line
from triseek.zoekt import placement
from triseek.zoekt.addresses import is_loopback
from triseek.zoekt.checkout import names_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from triseek.zoekt.addresses import HostAddress

DEFAULT_INDEX = "~/.zoekt"
"""Where Zoekt's programs write and read indexes if no folder is given."""
_UNSAFE = re.compile(r"""[\s$`;&|<>(){}*?!'"\\\x00-\x1f\x7f]""")
"""Characters that mean something to the shell that `ssh` starts on the host."""
_PLACEHOLDER = re.compile(r"\{(host|path|name|url)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexSource:
    """A repository of this machine that is to be indexed."""

    path: str
    """Its folder, canonical."""
    name: str
    """The name that it gets in the index."""
    url: str
    """The URL of its remote `origin`, without a password; "" if it has none."""
    is_git: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexJob:
    """A repository and one host that is to hold it."""

    source: IndexSource
    host: HostAddress
    argv: tuple[str, ...] = ()
    """The command to run here; empty if `post_url` is asked instead, or `problem` says why not."""
    post_url: str = ""
    """The URL of a zoekt-dynamic-indexserver, which clones `source.url` and indexes it."""
    repository_id: int = 0
    """The number, from 1, by which that server names it."""
    problem: str = ""
    """Why it cannot be indexed there."""

    @property
    def leaves_machine(self) -> bool:
        """Whether something is sent to another machine, as far as can be known."""
        if self.post_url:
            return not is_loopback(self.post_url)
        return bool(self.argv) and not self.host.is_loopback

    @property
    def action(self) -> str:
        """What is done, in one line."""
        if self.problem:
            return f"cannot: {self.problem}"
        if self.post_url:
            return f"POST {self.post_url} {self.source.url} as repository {self.repository_id}"
        return shlex.join(self.argv)


def index_source(path: str) -> IndexSource:
    """Return the repository around a folder; without git, the folder.

    Raises:
        RepoNotDetected: There is no such folder.
    """
    if not os.path.isdir(path):  # noqa: PTH112 - one rule for a folder, as in `terminal.options`
        raise RepoNotDetected(f"{path}: no such folder")
    top = git_root(path)
    folder = os.path.realpath(top or path)
    origin = (git.ask(folder, "remote", "get-url", "origin") or b"") if top else b""
    url = _without_password(origin.decode("utf-8", "replace").strip())
    name = names_of(folder)[0] if top else Path(folder).name
    return IndexSource(path=folder, name=name, url=url, is_git=bool(top))


def planned(
    sources: Sequence[IndexSource], hosts: Sequence[HostAddress], replicas: int, command: str
) -> list[IndexJob]:
    """Return the jobs that place each repository on its hosts by rendezvous hashing.

    Args:
        sources: The repositories.
        hosts: The hosts, with their weights.
        replicas: On how many hosts each is placed; all of them if there are fewer.
        command: The user's command for each job; "" for Zoekt's own ways.

    Raises:
        InvalidRequest: The command cannot be split into words.
    """
    return [
        _job(source, host, command)
        for source in sources
        for host in placement.ranked(source.name, hosts)[:replicas]
    ]


def _job(source: IndexSource, host: HostAddress, command: str) -> IndexJob:
    if command:
        argv = tuple(_filled(command, source, host))
        return IndexJob(source=source, host=host, argv=argv, problem=_unsafe(command, source))
    if host.index.startswith(("http://", "https://")):
        return _posted(source, host)
    if host.is_loopback:
        return _run_here(source, host)
    problem = f"no way to index on {host.name} is set"
    return IndexJob(source=source, host=host, problem=problem)


def _filled(command: str, source: IndexSource, host: HostAddress) -> Iterator[str]:
    """Yield the words of a command with its placeholders filled; no shell here reads them."""
    name = urlsplit(host.url).hostname or host.name  # ssh takes no port behind it
    values = {"host": name, "path": source.path, "name": source.name, "url": source.url}
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise InvalidRequest(
            f"zoekt.index_command cannot be split into words: {error}",
            next_step="Write it as in a shell, as `ssh {host} zoekt-git-index {url}`.",
        ) from None
    for word in words:
        yield _PLACEHOLDER.sub(lambda match: values[match[1]], word)


def _unsafe(command: str, source: IndexSource) -> str:
    """Return why a repository's values cannot stand in a command; "" if they can.

    Name and URL are what the repository's own configuration says, and `ssh` has a shell read them.
    """
    values = {"path": source.path, "name": source.name, "url": source.url}
    for label in _PLACEHOLDER.findall(command):
        value = values.get(label, "")
        if value.startswith("-") or _UNSAFE.search(value):
            return (
                f"its {label} begins with a dash, or has a blank or a character that a shell "
                f"reads: {visible_line(value)[:80]!r}"
            )
    return ""


def _posted(source: IndexSource, host: HostAddress) -> IndexJob:
    url = host.index if urlsplit(host.index).path.strip("/") else f"{host.index.rstrip('/')}/index"
    if not source.url:
        problem = "it has no remote origin that the host could clone"
        return IndexJob(source=source, host=host, problem=problem)
    digest = hashlib.blake2b(source.name.encode("utf-8", "surrogatepass"), digest_size=4).digest()
    number = int.from_bytes(digest, "big") or 1
    return IndexJob(source=source, host=host, post_url=url, repository_id=number)


def _run_here(source: IndexSource, host: HostAddress) -> IndexJob:
    program = "zoekt-git-index" if source.is_git else "zoekt-index"
    executable = shutil.which(program)
    if executable is None:
        problem = f"{program} is not on PATH"
        return IndexJob(source=source, host=host, problem=problem)
    folder = str(Path(host.index or DEFAULT_INDEX).expanduser())
    return IndexJob(source=source, host=host, argv=(executable, "-index", folder, source.path))


def _without_password(url: str) -> str:
    """Return a URL without the name and password of HTTP, which is not for others."""
    try:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or "@" not in parts.netloc:
            return url
    except ValueError:
        return ""
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
