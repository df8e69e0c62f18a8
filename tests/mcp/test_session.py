"""An agent's lines as a session reads them."""

from __future__ import annotations

import pytest
from mcp_types import JSONRPCRequest

from tests.mcp.fuzzing import Expected, Fuzzer, expected_of
from triseek.mcp import session


@pytest.mark.parametrize("seed", range(300))
def test_a_line_is_read_as_its_slow_twin_reads_it(seed: int) -> None:
    fuzzer = Fuzzer(seed)
    for kind in (fuzzer.mutated, fuzzer.malformed, fuzzer.unheard):
        for line in kind():
            for data in filter(bytes.strip, line.data.split(b"\n")):
                assert_agreed(data, expected_of(data))


def assert_agreed(line: bytes, expected: Expected) -> None:
    read = outcome(line)
    if isinstance(read, session.Invalid):
        assert expected.is_answered
        assert expected.number == read.error.id
        assert expected.fits(read.error.model_dump())
    elif isinstance(read, JSONRPCRequest):
        assert expected.is_answered
        assert expected.number == read.id
    else:
        assert not expected.is_answered


def outcome(line: bytes) -> object:
    try:
        return session.parse(line)
    except session.Invalid as invalid:
        return invalid
