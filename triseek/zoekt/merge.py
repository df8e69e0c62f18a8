"""One answer from those of several hosts."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from triseek.model.code_search import CodeFile, Repository


def merged_files(answers: Iterable[tuple[CodeFile, ...]]) -> tuple[list[CodeFile], int, int]:
    """Return the files of all answers, best first, each once; and what the copies counted.

    The order is that of score, repository and path, whatever order the hosts answered in. Two files
    are copies if repository, path and version are equal; without a version, those and the checksum;
    without either, as pages of servers return them, those and the branches.

    Returns:
        The files, the number of copies that were dropped, and their matching lines.
    """
    files = [file for answer in answers for file in answer]
    files.sort(key=lambda file: (-file.score, file.repository, file.path, file.version, file.host))
    kept: dict[tuple[str, bytes, str | bytes | tuple[str, ...]], CodeFile] = {}
    copies = matches = 0
    for file in files:
        key = (file.repository, file.path, file.version or file.checksum or file.branches)
        if key in kept:
            copies += 1
            matches += file.match_count
        else:
            kept[key] = file
    return list(kept.values()), copies, matches


def capped(files: list[CodeFile], max_files: int, max_lines: int) -> list[CodeFile]:
    """Return the first files, with no more than `max_lines` matching lines over all of them.

    A file that matches by its name counts as a line. `match_count` stays what was counted.
    """
    kept = []
    for file in files[:max_files]:
        if max_lines <= 0:
            break
        if len(file.lines) > max_lines:
            file = dataclasses.replace(file, lines=file.lines[:max_lines])
        max_lines -= max(1, len(file.lines))
        kept.append(file)
    return kept


def merged_repositories(answers: Iterable[tuple[Repository, ...]]) -> list[Repository]:
    """Return the repositories of all answers by name, of copies the one indexed last."""
    kept: dict[str, Repository] = {}
    for answer in answers:
        for repository in answer:
            other = kept.get(repository.name)
            if other is None or _recency(repository) > _recency(other):
                kept[repository.name] = repository
    return [kept[name] for name in sorted(kept)]


def _recency(repository: Repository) -> tuple[float, str]:
    return repository.indexed_at, repository.host
