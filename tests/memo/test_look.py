"""A look at a file neither waits nor takes what is no text."""

from __future__ import annotations

import os

import pytest

from tests import sockets
from triseek.memo import look
from triseek.memo.look import MOST_BYTES
from triseek.model import spans, token_estimate
from triseek.model.hook_event import FileRead


def write(path, data):
    path.write_bytes(data)
    return str(path)


@pytest.mark.parametrize(
    ("data", "lines"),
    [(b"", 0), (b"\n", 1), (b"a", 1), (b"a\n", 1), (b"a\nb", 2), (b"a\n\n", 2), (b"a\r\nb\r\n", 2)],
)
def test_lines_are_counted_as_they_are_shown(tmp_path, data, lines):
    seen = look.look(write(tmp_path / "f", data))

    assert seen.lines == lines == len(seen.texts)
    assert seen.tokens == -(-len(data) * 2 // 7)


@pytest.mark.parametrize("data", [b"one\ntwo\nthree\n", b"one\r\ntwo\r\nthree\r\n", b"1\rx\n2\n3"])
def test_tokens_of_some_lines_are_those_of_their_bytes(tmp_path, data):
    seen = look.look(write(tmp_path / "f", data))
    second = data.split(b"\n")[1] + b"\n"

    assert seen.tokens_of(spans.of(2, 2)) == token_estimate.of_source(len(second))
    assert seen.tokens_of(seen.whole) == token_estimate.of_source(len(data))


def test_a_read_asks_for_the_lines_that_are_there(tmp_path):
    path = write(tmp_path / "f", b"1\n2\n3\n4\n5\n")
    seen = look.look(path)

    def asked(**how):
        return seen.requested(FileRead(path=path, **how))

    assert asked() == ((1, 5),)
    assert asked(first=2, last=3) == ((2, 3),)
    assert asked(first=4, last=99) == ((4, 5),)
    assert asked(first=-3, last=2) == ((1, 2),)
    assert asked(tail=2) == ((4, 5),)
    assert asked(tail=99) == ((1, 5),)
    assert asked(first=6) == asked(first=3, last=2) == asked(tail=0) == asked(tail=-1) == ()


def test_only_regular_files_of_text_are_looked_at(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    server = sockets.bound(tmp_path / "socket")
    (tmp_path / "folder").mkdir()
    write(tmp_path / "binary", b"a\0b")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    big = tmp_path / "big"
    with big.open("wb") as file:
        file.truncate(MOST_BYTES + 1)

    names = ("pipe", "socket", "folder", "binary", "big", "absent", "loop")
    assert [name for name in names if look.look(str(tmp_path / name))] == []
    assert [look.look(path) for path in ("/dev/zero", "/dev/tty", "/proc/self/status")] == [
        None
    ] * 3
    server.close()


def test_a_pipe_that_takes_the_place_of_a_file_does_not_block(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe")
    there = os.stat(write(tmp_path / "f", b"text\n"))
    with monkeypatch.context() as patched:
        patched.setattr(os, "stat", lambda *_, **__: there)
        seen = look.look(str(tmp_path / "pipe"))

    assert seen is None


def test_a_link_is_not_followed_unless_it_was_resolved(tmp_path):
    path = write(tmp_path / "f", b"text\n")
    link = tmp_path / "link"
    link.symlink_to(path)

    assert look.look(str(link)) is None
    assert look.look(look.real(str(link))).data == b"text\n"


@pytest.mark.parametrize("path", ["", "relative/f", "/nul\0byte", "\0"])
def test_what_is_no_absolute_path_is_none(path):
    assert look.real(path) is None


@pytest.mark.parametrize("path", ["/" + "x" * 100_000, "/\ud800", "/a/" * 20_000])
def test_paths_that_no_file_has_are_no_trouble(path):
    real = look.real(path)

    assert real is None or look.look(real) is None


def test_equal_bytes_have_one_digest_and_others_another(tmp_path):
    one, same, other = (
        look.look(write(tmp_path / name, data))
        for name, data in (("a", b"x\n"), ("b", b"x\n"), ("c", b"x"))
    )

    assert one.digest == same.digest != other.digest
