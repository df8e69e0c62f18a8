"""Requests are decoded by the types of a record, and only a client with our view is served."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

from triseek.daemon import client_environment
from triseek.daemon.client_environment import ClientEnvironment, MalformedRequest
from triseek.ipc import surroundings


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample(ClientEnvironment):
    """A request with a parameter of each type."""

    text: str
    words: list[str]
    number: int
    flag: bool
    document: dict[str, Any]
    data: bytes | None


SAMPLE = {
    "text": "a", "words": ["b", ""], "number": 3, "flag": False, "document": {"c": [None]},
    "data": "\0\udcff",
}  # fmt: skip


@pytest.fixture
def place(home):
    return json.loads("{" + surroundings.place() + "}")


def test_a_record_has_the_parameters_with_their_types(place):
    sample = client_environment.read(Sample, {**place, **SAMPLE, "unknown": 1})

    assert (sample.cwd, sample.user, sample.environ) == (
        place["cwd"], place["user"], place["environ"],
    )  # fmt: skip
    assert (sample.text, sample.words, sample.number, sample.flag) == ("a", ["b", ""], 3, False)
    assert sample.document == {"c": [None]}
    assert sample.data == b"\0\xff"


def test_only_an_optional_parameter_may_be_null(place):
    assert client_environment.read(Sample, {**place, **SAMPLE, "data": None}).data is None
    for name in set(SAMPLE) - {"data"}:
        with pytest.raises(MalformedRequest):
            client_environment.read(Sample, {**place, **SAMPLE, name: None})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("text", 1), ("text", "\0"), ("text", "\ud800"), ("words", "a"), ("words", [1]),
        ("words", ["a"] * 100_001), ("number", True), ("number", "1"), ("number", 1.0),
        ("flag", 0), ("document", []), ("data", b"x"), ("data", "\ud800"), ("cwd", "relative"),
        ("cwd", ""), ("cwd_id", 1), ("cwd_id", [True]), ("environ", []), ("environ", {"A": 1}),
        ("environ", {"A": "\0"}), ("environ", {"\ud800": ""}),
    ],
    ids=lambda value: repr(value)[:30],
)  # fmt: skip
def test_a_parameter_of_another_type_is_malformed(place, name, value):
    with pytest.raises(MalformedRequest):
        client_environment.read(Sample, {**place, **SAMPLE, name: value})


def test_this_process_sees_what_it_sees(place):
    client = client_environment.read(ClientEnvironment, place)

    assert client_environment.is_shared(client)
    assert client_environment.has_our_rules(client)


@pytest.mark.parametrize(
    ("name", "value"),
    [("cwd_id", [1, 1]), ("root_id", []), ("space", "mnt:[1]"), ("user", [4711, 4711]),
     ("cwd", "/no/such/folder")],
)  # fmt: skip
def test_a_client_elsewhere_shares_no_files(place, name, value):
    client = client_environment.read(ClientEnvironment, {**place, name: value})

    assert not client_environment.is_shared(client)


@pytest.mark.parametrize(
    "changed", [{"HOME": "/other"}, {"GIT_CONFIG_GLOBAL": "/x"}, {"RIPGREP_CONFIG_PATH": "rc"}]
)
def test_other_variables_of_git_and_rg_are_other_rules(place, changed):
    environ = {**place["environ"], **changed}
    client = client_environment.read(ClientEnvironment, {**place, "environ": environ})

    assert not client_environment.has_our_rules(client)


def test_variables_that_no_rule_depends_on_may_differ(place):
    environ = {**place["environ"], "EDITOR": "ed"}
    client = client_environment.read(ClientEnvironment, {**place, "environ": environ})

    assert client_environment.has_our_rules(client)
