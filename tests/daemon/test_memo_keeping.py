"""The memo outlives the daemon, unless nothing is to be kept."""

from __future__ import annotations

from pathlib import Path

from tests.daemon.test_memo_calls import TEXT, WHO
from triseek import paths
from triseek.daemon.memo_keeping import MemoKeeping
from triseek.model.hook_event import FileRead, ToolUse
from triseek.sessions.memo.memo import Asked


def kept(tmp_path, *, keep):
    file = tmp_path / "a.py"
    file.write_text(TEXT)
    keeping = MemoKeeping(keep=keep)
    keeping.start()
    use = ToolUse(name="Read", call="c1", reads=(FileRead(path=str(file)),), output=TEXT)
    keeping.memo.observe(str(tmp_path), WHO, use)
    keeping.close()
    again = MemoKeeping(keep=keep)
    told = again.memo.session(str(tmp_path), Asked(session="s1"))
    again.close()
    return told["total_reads"]


def test_what_is_known_outlives_the_daemon(tmp_path):
    assert kept(tmp_path, keep=True) == 1
    assert Path(paths.memo()).stat().st_mode & 0o777 == 0o700


def test_nothing_is_kept_that_is_not_to_be(tmp_path):
    kept(tmp_path, keep=True)

    assert kept(tmp_path, keep=False) == 0
    assert not Path(paths.memo()).exists()


def test_it_is_never_a_reason_to_stay():
    assert MemoKeeping().busy() is False
