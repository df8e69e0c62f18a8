"""Flags fill in what `LowArgs` has, and nothing else."""

from __future__ import annotations

import pytest

from triseek.cli.flags import FLAGS, Flag
from triseek.cli.low_args import LowArgs

VALUES = {
    "color": "never", "encoding": "auto", "engine": "scan", "kind": "path", "sort": "path",
    "sortr": "none", "hyperlink-format": "none", "path-separator": "/",
}  # fmt: skip


@pytest.mark.parametrize(
    "flag", [flag for flag in FLAGS if not flag.refusal], ids=lambda flag: flag.long
)
def test_a_flag_changes_only_fields_that_are_there(flag: Flag) -> None:
    low, fields = LowArgs(), vars(LowArgs())

    if flag.store:
        flag.store(low, VALUES.get(flag.long, "1"))
    if flag.turn:
        for on in (False, True):
            flag.turn(low, on)

    assert vars(low).keys() == fields.keys()
    for name, value in vars(low).items():
        if isinstance(fields[name], list):
            assert isinstance(value, list)


def test_two_commands_share_nothing() -> None:
    one = LowArgs()
    one.globs.append("*.c")

    assert LowArgs().globs == []
