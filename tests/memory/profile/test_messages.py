from __future__ import annotations

import json

import pytest

from triseek.memory.profile.messages import PARSE_ERROR, RpcError, compact, parsed, result_line


@pytest.mark.parametrize(
    "line",
    [
        b"x", b"{", b"5", b"null", b'"text"', b"[]", b'[{"id":1,"method":"ping"}]', b"\xff",
        b"{}{}",
        b'{"id":NaN}', b'{"id":Infinity}', b'{"id":1e400}', b'{"id":1,"x":-Infinity}',
        b'{"id":true}', b'{"id":[1]}', b'{"id":{}}', b"[" * 100_000, b'{"a":' * 100_000,
        b'{"id":' + b"9" * 5_000 + b"}", None,
    ],
    ids=lambda line: repr(line)[:20],
)  # fmt: skip
def test_what_is_no_request_is_a_parse_error(line: bytes | None) -> None:
    with pytest.raises(RpcError) as raised:
        parsed(line)
    assert raised.value.code == PARSE_ERROR
    assert len(str(raised.value)) < 500
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("number", ["1", "-7", "1.5", "1e3", '"a"', '""', "null", "9" * 400])
def test_an_id_comes_back_as_it_was(number: str) -> None:
    message = parsed(b'{"id":%s,"method":"ping"}' % number.encode())
    assert message.has_id
    assert json.loads(result_line(message.id, {}))["id"] == json.loads(number)


def test_a_message_without_id_is_a_notification() -> None:
    assert not parsed(b'{"method":"ping"}').has_id
    assert parsed(b'{"method":"ping","id":null}').has_id


@pytest.mark.parametrize("params", [b"[]", b"1", b"null", b'"x"'])
def test_params_that_are_no_object_are_none(params: bytes) -> None:
    assert parsed(b'{"id":1,"method":"m","params":%s}' % params).params == {}


def test_lone_surrogates_are_replaced_and_pairs_are_kept() -> None:
    assert compact(["\ud800a", "\ud83d\ude00", "é"]) == '["\ufffda","\U0001f600","é"]'
    assert compact({"a": [1, None], "b": "x\ny"}) == '{"a":[1,null],"b":"x\\ny"}'
