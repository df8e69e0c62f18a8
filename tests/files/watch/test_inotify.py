"""What is read from the kernel and asked of it."""

from __future__ import annotations

import os
import struct
import sys

import pytest

from triseek.files.watch import inotify
from triseek.files.watch.inotify import Event, Inotify, WatchLimit

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="inotify")


@pytest.fixture
def instance():
    made = Inotify()
    yield made
    made.close()


def test_events_are_taken_apart_at_their_padding():
    data = struct.pack("=iIII8s", 7, inotify.CREATE, 0, 8, b"caf\xe9")
    data += struct.pack("=iIII", -1, inotify.OVERFLOW, 0, 0)
    data += struct.pack("=iIII16s", 8, inotify.MOVED_TO | inotify.ISDIR, 5, 16, b"two\nlines")
    assert list(inotify.events(data)) == [
        Event(7, inotify.CREATE, b"caf\xe9"),
        Event(-1, inotify.OVERFLOW, b""),
        Event(8, inotify.MOVED_TO | inotify.ISDIR, b"two\nlines"),
    ]
    assert list(inotify.events(b"")) == []


def test_the_same_folder_is_the_same_watch_and_no_folder_is_none(instance, tmp_path):
    folder = os.fsencode(tmp_path)
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path)
    assert instance.add(folder) == instance.add(folder + b"/.")
    for name in (b"/file", b"/link", b"/nothing", b"/file/below"):
        assert instance.add(folder + name) is None
    assert instance.add(folder + b"/link", follow=True) == instance.add(folder)
    assert instance.read() == b""


def test_a_path_too_long_is_said_and_not_passed_over(instance, tmp_path):
    """A folder there that is silently left out would hide its changes."""
    with pytest.raises(WatchLimit, match="too long"):
        instance.add(os.fsencode(tmp_path) + b"/x" * 3000)


def test_an_ended_watch_gives_what_was_queued_and_says_that_it_ended(instance, tmp_path):
    watch = instance.add(os.fsencode(tmp_path))
    os.mknod(tmp_path / "new")
    instance.remove(watch)
    instance.remove(watch)
    os.mknod(tmp_path / "later")
    assert list(inotify.events(instance.read())) == [
        Event(watch, inotify.CREATE, b"new"),
        Event(watch, inotify.IGNORED, b""),
    ]


def test_a_limit_that_cannot_be_read_is_none():
    assert inotify.limit("max_queued_events") > 0
    assert inotify.limit("no_such_limit") is None
