"""Compares two answers of the interface: the same repositories, files and lines."""

from __future__ import annotations

from typing import Any

SHOWN = 5
"""Differences that are recorded of one query."""


def counted(document: dict[str, Any]) -> int:
    """Return how many files, or repositories, an answer counts."""
    if "List" in document:
        return len(document["List"]["Repos"])
    return int(document["Result"]["FileCount"])


def differences(theirs: dict[str, Any], ours: dict[str, Any]) -> list[str]:
    """Return what only one of two answers has; the first is Zoekt's.

    An answer in which Zoekt stopped at a limit of its own is not compared.
    """
    if "List" in theirs:
        names = [
            {entry["Repository"]["Name"] for entry in document["List"]["Repos"]}
            for document in (theirs, ours)
        ]
        return _listed(names[0], names[1])
    result = theirs["Result"]
    if result["FilesSkipped"] or result["ShardsSkipped"]:
        return ["Zoekt stopped at a limit; not compared"]
    return _listed(_lines(result), _lines(ours["Result"]))


def _lines(result: dict[str, Any]) -> set[str]:
    return {
        f"{file['Repository']}/{file['FileName']}:{line}"
        for file in result["Files"] or ()
        for chunk in file["ChunkMatches"]
        for line in (
            {each["Start"]["LineNumber"] for each in chunk["Ranges"]}
            if not chunk["FileName"]
            else {0}
        )
    }


def _listed(theirs: set[str], ours: set[str]) -> list[str]:
    sides = (("zoekt", sorted(theirs - ours)), ("triseek", sorted(ours - theirs)))
    lines = [f"only {name}: {each}" for name, only in sides for each in only[:SHOWN]]
    lines += [
        f"only {name}: {len(only) - SHOWN:,} more" for name, only in sides if len(only) > SHOWN
    ]
    return lines
