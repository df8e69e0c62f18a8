"""Lines are read as far as they are complete, and what is no object is named and skipped."""

from __future__ import annotations

import json
import os

import pytest

from triseek.agents import jsonl
from triseek.model.conversation import Unreadable


def values(path, offset=0):
    return [(row.end, row.value) for row in jsonl.rows(str(path), offset)]


def test_each_line_has_the_offset_after_it(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"a":1}\n\n  \r\n{"b":2}\r\n')

    assert values(path) == [(8, {"a": 1}), (22, {"b": 2})]
    assert values(path, 8) == [(22, {"b": 2})]


def test_a_line_that_is_half_written_waits(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"a":1}\n{"b":')
    assert values(path) == [(8, {"a": 1})]

    path.write_bytes(b'{"a":1}\n{"b":2}\n')
    assert values(path, 8) == [(16, {"b": 2})]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"[1]", "not a JSON object"),
        (b'"text"', "not a JSON object"),
        (b"{'a': 1}", "not valid JSON"),
        (b"{" * 100_000, "not valid JSON"),
        (b"[" * 100_000, "JSON nested too deeply"),
        (b'{"a":' + b"9" * 5000 + b"}", "not valid JSON"),
    ],
)
def test_a_line_that_is_no_object_is_named_and_the_next_is_read(tmp_path, line, reason):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"a":1}\n' + line + b'\n{"b":2}\n')

    (_, first), (_, bad), (end, last) = values(path)

    assert (first, last) == ({"a": 1}, {"b": 2})
    assert bad == Unreadable(where="byte 8", reason=reason)
    assert end == path.stat().st_size


def test_a_line_that_is_too_long_is_skipped(tmp_path, monkeypatch):
    monkeypatch.setattr(jsonl, "LINE_MAX", 1 << 20)
    path = tmp_path / "a.jsonl"
    long = json.dumps({"a": "x" * (3 << 20)}).encode()
    path.write_bytes(long + b'\n{"b":2}\n' + long)

    assert values(path) == [
        (len(long) + 1, Unreadable(where="byte 0", reason="line longer than 1 MiB")),
        (len(long) + 9, {"b": 2}),
    ]


def test_a_line_of_the_longest_length_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(jsonl, "LINE_MAX", 64)
    path = tmp_path / "a.jsonl"
    line = json.dumps({"a": "x" * 54}).encode() + b"\n"
    assert len(line) == 64
    path.write_bytes(line)

    assert values(path) == [(64, {"a": "x" * 54})]


def test_every_text_can_be_encoded(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"a":"\xff","\\uD800":["\\udfff\\ud83d\\ude00"]}\n')

    [(_, value)] = values(path)

    assert value == {"a": "\ufffd", "\ufffd": ["\ufffd\N{GRINNING FACE}"]}
    json.dumps(value, ensure_ascii=False).encode()


def test_only_regular_files_are_read(tmp_path):
    (tmp_path / "file").write_bytes(b"{}\n")
    (tmp_path / "link").symlink_to("file")
    os.mkfifo(tmp_path / "pipe")
    for path in ("link", "pipe", "none", ".", "a\0b"):
        with pytest.raises(OSError, match=r"link|regular|No such|directory|path"):
            list(jsonl.rows(str(tmp_path / path)))
    with pytest.raises(OSError, match="not a regular file"):
        list(jsonl.rows("/dev/zero"))


def test_a_whole_file_is_a_document(tmp_path):
    path = tmp_path / "a.json"
    path.write_bytes(b'\xef\xbb\xbf[1,\n"\xff"]')
    assert jsonl.document(str(path)) == [1, "\ufffd"]
    assert jsonl.document(str(path), 4) == Unreadable(where="file", reason="larger than 0 MiB")
    path.write_bytes(b"[1,")
    assert jsonl.document(str(path)) == Unreadable(where="file", reason="not valid JSON")


def test_unwanted_lines_are_not_parsed(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"type":"x"\n{"a":1}\n{"type":"xy"}\n{"b":2}\n')

    found = [(row.end, row.value) for row in jsonl.rows(str(path), without=(b'{"type":"x',))]

    assert found == [(20, {"a": 1}), (42, {"b": 2})]
