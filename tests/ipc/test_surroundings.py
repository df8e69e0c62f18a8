"""What a process says of itself to the daemon."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from triseek import __version__
from triseek.ipc import surroundings, wire


def test_the_place_is_this_process(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    value = 'ä"\udcff'
    monkeypatch.setenv("A", value)
    for name in [name for name in os.environ if name.startswith("GIT_CONFIG")]:
        monkeypatch.delenv(name)
    place = json.loads("{" + surroundings.place(("A",)) + "}")
    status = os.stat(".")

    assert place["cwd"] == str(tmp_path)
    assert place["cwd_id"] == [status.st_dev, status.st_ino]
    assert place["user"][:2] == [os.geteuid(), os.getegid()]
    assert place["environ"] == {"A": value}
    assert place["space"] == surroundings.space()


def test_a_place_has_the_chosen_variables(monkeypatch):
    monkeypatch.setenv("HOME", "/h")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "0")
    monkeypatch.setenv("OTHER", "1")
    place = json.loads("{" + surroundings.place(("HOME", "NOT_SET")) + "}")

    assert place["environ"] == {"HOME": "/h", "GIT_CONFIG_COUNT": "0"}


def test_a_working_folder_that_is_gone_is_no_place(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    with pytest.raises(OSError, match="No such file"):
        surroundings.place()


def test_a_request_has_the_version_of_its_client():
    payload = surroundings.request("text", f'"words":[{surroundings.quoted("a")}]')

    assert json.loads(payload) == {
        "protocol": wire.PROTOCOL, "version": __version__, "verb": "text",
        "params": {"words": ["a"]},
    }  # fmt: skip


@pytest.mark.parametrize(("columns", "width"), [("123", 123), ("0", None), ("x", None), ("", None)])
def test_the_width_is_what_the_environment_or_the_terminal_says(columns, width):
    measured = surroundings.width({"COLUMNS": columns})

    assert measured == width or (width is None and measured > 0)


@pytest.mark.parametrize(
    ("environ", "is_plain"),
    [({}, True), ({"TERM": "dumb"}, True), ({"TERM": "xterm"}, False),
     ({"TERM": "xterm", "NO_COLOR": ""}, True)],
)  # fmt: skip
def test_colour_is_left_out_where_the_environment_asks_for_it(environ, is_plain):
    assert surroundings.plain(environ) is is_plain


def test_a_pipe_can_be_searched_and_a_device_cannot():
    code = "from triseek.ipc import surroundings; print(surroundings.stdin_readable())"
    for source, expected in ((subprocess.PIPE, "True"), (subprocess.DEVNULL, "False")):
        done = subprocess.Popen(
            [sys.executable, "-c", code], stdin=source, stdout=subprocess.PIPE, text=True
        )
        assert done.communicate()[0].strip() == expected
