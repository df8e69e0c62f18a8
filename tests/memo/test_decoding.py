"""JSON is decoded into the type that it was written from, or refused."""

from __future__ import annotations

from typing import NotRequired, TypedDict

import pytest

from triseek.memo.decoding import decode


class Inner(TypedDict):
    at_s: float
    flag: NotRequired[bool]


class Outer(TypedDict):
    name: str
    pair: tuple[int, str]
    many: tuple[tuple[int, int], ...]
    inner: list[Inner]
    free: object
    last: int | None


BODY = {
    "name": "n", "pair": [1, "x"], "many": [[1, 2], [3, 4]], "inner": [{"at_s": 1, "flag": True}],
    "free": [{"any": None}], "last": None,
}  # fmt: skip


def test_lists_become_tuples_and_other_keys_are_ignored():
    assert decode(Outer, {**BODY, "other": 1}) == {
        **BODY, "pair": (1, "x"), "many": ((1, 2), (3, 4)), "inner": [{"at_s": 1.0, "flag": True}],
    }  # fmt: skip
    assert type(decode(float, 1)) is float
    assert decode(Inner, {"at_s": 0.5}) == {"at_s": 0.5}
    assert decode(Outer, {**BODY, "last": 3})["last"] == 3


@pytest.mark.parametrize(
    "damage",
    [
        {"name": None}, {"name": 1}, {"pair": [1]}, {"pair": [1, "x", 2]}, {"pair": "1x"},
        {"pair": [-1, "x"]}, {"pair": [True, "x"]}, {"many": [[1]]}, {"many": {}}, {"inner": [5]},
        {"inner": [{}]}, {"inner": [{"at_s": "1"}]}, {"inner": [{"at_s": float("inf")}]},
        {"inner": [{"at_s": 1, "flag": 1}]}, {"inner": [{"at_s": True}]}, {"last": 1.5},
    ],
    ids=str,
)  # fmt: skip
def test_anything_else_is_refused(damage):
    with pytest.raises((TypeError, ValueError)):
        decode(Outer, {**BODY, **damage})


def test_a_missing_key_is_refused():
    with pytest.raises(ValueError, match="name is missing"):
        decode(Outer, {name: value for name, value in BODY.items() if name != "name"})
