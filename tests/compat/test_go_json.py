"""JSON is read and written as Go's `encoding/json` does."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triseek.compat.go_json import Unreadable, encode, text_of
from triseek.compat.options import CONTEXT_MAX, UNLIMITED, list_arguments, search_arguments

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
NAMES = st.sampled_from(
    ["Q", "q", "Opts", "RepoIDs", "MaxDocDisplayCount", "maxwalltime", "Whole", "SpanContext", "x"]
)
NEAR = st.recursive(
    JSON, lambda inner: st.dictionaries(NAMES, inner, min_size=1) | st.lists(inner), max_leaves=20
)


def test_fields_are_matched_without_case_and_the_last_one_counts() -> None:
    arguments = search_arguments(b'{"Q":"a","q":"b","OPTS":{"whole":true},"opts":{"WHOLE":null}}')

    assert arguments.query == "b"
    assert arguments.options.whole


def test_a_null_leaves_a_value_and_takes_back_a_pointer() -> None:
    arguments = search_arguments(b'{"Q":"a","Q":null,"Opts":{"Whole":true},"Opts":null}')

    assert arguments.query == "a"
    assert not arguments.options.whole


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "EOF"),
        (b"  \n", "EOF"),
        (b"{", "unexpected EOF"),
        (b"[" * 200_000, "exceeded max depth"),
        (b'{"Q":NaN}', "invalid character 'N' looking for beginning of value"),
        (b'{"Q":"\x01"}', "invalid character '\\x01' in string literal"),
        (b"nul", "unexpected EOF"),
        (b"nup", "invalid character 'p' in literal null (expecting 'l')"),
        (b'{"Q":""}', "missing query"),
    ],
)
def test_what_is_no_request_is_refused_in_one_line(body: bytes, message: str) -> None:
    with pytest.raises(Unreadable, match=r"^[^\n]*$") as refusal:
        search_arguments(body)

    assert str(refusal.value) == message


def test_a_long_number_is_refused_and_shown_in_part() -> None:
    with pytest.raises(Unreadable) as refusal:
        search_arguments(b'{"Q":"x","Opts":{"Whole":' + b"9" * 100_000 + b"}}")

    assert len(str(refusal.value)) < 200


def test_halves_of_surrogate_pairs_and_bad_bytes_are_replaced() -> None:
    assert search_arguments(rb'{"Q":"\ud800x\ud83d\ude00"}').query == "\ufffdx\U0001f600"
    assert search_arguments(b'{"Q":"\xffx"}').query == "\ufffdx"


@given(NEAR)
def test_any_document_is_read_or_refused(document: Any) -> None:
    body = json.dumps(document).encode()
    for read in (search_arguments, list_arguments):
        with contextlib.suppress(Unreadable):
            read(body)


@given(st.binary())
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    for read in (search_arguments, list_arguments):
        with contextlib.suppress(Unreadable):
            read(body)


@given(st.integers(-(1 << 63), (1 << 63) - 1))
def test_every_limit_is_one_that_can_be_asked_for(limit: int) -> None:
    names = ("MaxDocDisplayCount", "MaxMatchDisplayCount", "MaxWallTime", "NumContextLines")
    body = json.dumps({"Q": "x", "Opts": dict.fromkeys(names, limit)}).encode()

    options = search_arguments(body).options
    request = options.request("x")

    assert 0 < request.max_files <= UNLIMITED
    assert 0 < request.max_matches <= UNLIMITED
    assert 0 < request.seconds <= 3600
    assert 0 <= options.context_lines <= CONTEXT_MAX


@given(st.text())
def test_what_is_written_is_safe_in_html_and_read_again(text: str) -> None:
    body = encode({"Text": text})

    assert not set(body) & set(b"<>&")
    assert json.loads(body)["Text"] == text.encode("utf-8", "replace").decode()


@pytest.mark.parametrize(
    ("raw", "text"),
    [(b"a\xffb", "a\ufffdb"), (b"\xe2\x82", "\ufffd\ufffd"), ("é\udcff", "é\ufffd")],
)
def test_each_byte_that_is_no_utf8_is_one_character(raw: bytes | str, text: str) -> None:
    assert text_of(raw) == text
