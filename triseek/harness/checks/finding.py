"""What a check has found, and how it is mended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Level: TypeAlias = Literal["ok", "info", "warn", "fail"]
"""info: nothing is wrong. warn: works, and less well than it could. fail: does not work."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the doctor's."""

    level: Level
    what: str
    """What was looked at, in a word or two."""
    detail: str
    """What it is like, one line."""
    mend: str = ""
    """The command that mends it, or what to do where no command can; "" if nothing is wrong."""


def ok(what: str, detail: str) -> Finding:
    """It is as it should be."""
    return Finding("ok", what, detail)


def info(what: str, detail: str, mend: str = "") -> Finding:
    """It is worth knowing, and nothing is wrong."""
    return Finding("info", what, detail, mend)


def warn(what: str, detail: str, mend: str) -> Finding:
    """It works, and less well than it could."""
    return Finding("warn", what, detail, mend)


def fail(what: str, detail: str, mend: str) -> Finding:
    """It does not work."""
    return Finding("fail", what, detail, mend)
