"""What the verbs on the memo answer and refuse."""

from __future__ import annotations

import os

import pytest

from triseek.daemon.verbs import ITEMS_MAX, MEMO_VERBS, NAME_MAX, bound
from triseek.errors import InvalidRequest
from triseek.memo.memo import Memo
from triseek.model.hook_event import Context, FileRead, ToolUse

TEXT = "".join(f"line {number} of a file that is worth it\n" for number in range(40))
WHO = Context(harness="claude-code", session="s1")


@pytest.fixture
def root(tmp_path):
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    (tmp_path / "repo" / "a.py").write_text(TEXT)
    return os.path.realpath(tmp_path / "repo")


@pytest.fixture
def memo(root):
    memo = Memo(None)
    memo.begin(root, WHO)
    memo.observe(
        root, WHO,
        ToolUse(name="Read", call="c1", reads=(FileRead(path=f"{root}/a.py"),), only_reads=True,
                output=TEXT),
    )  # fmt: skip
    return memo


def ask(memo, verb, **params):
    return bound(memo, MEMO_VERBS)[verb](params, None)


def test_a_file_is_answered_for_by_the_name_it_was_asked_for(memo, root):
    told = ask(memo, "memo_check", target_root=root, path="./a.py")

    assert (told["path"], told["status"]) == ("./a.py", "fresh")
    assert told["recommendation"] == "skip_reread"


def test_a_folder_of_the_repository_will_do_for_its_root(memo, root):
    os.mkdir(f"{root}/src")

    assert ask(memo, "memo_check", target_root=f"{root}/src", path="../a.py")["status"] == "fresh"


def test_results_come_in_the_order_of_the_question(memo, root):
    told = ask(memo, "memo_status", target_root=root, files=["b.py", f"{root}/a.py", "a.py"])

    assert told["session_id"] == "s1"
    assert [(one["path"], one["status"]) for one in told["results"]] == [
        ("b.py", "unknown"), (f"{root}/a.py", "fresh"), ("a.py", "fresh")
    ]  # fmt: skip


def test_another_session_by_name_has_nothing(memo, root):
    told = ask(memo, "memo_check", target_root=root, path="a.py", session="s2")

    assert (told["status"], told["recommendation"]) == ("unknown", "reread")


def test_a_session_is_told_of(memo, root):
    told = ask(memo, "memo_session", target_root=root)

    assert (told["session_id"], told["tracked_files"], told["total_reads"]) == ("s1", 1, 1)
    assert [file["path"] for file in told["files"]] == [f"{root}/a.py"]


@pytest.mark.parametrize("whose", [{}, {"target_root": "repo"}])
def test_what_is_erased_is_not_known(memo, root, whose):
    params = {"target_root": root} if whose else {}

    assert ask(memo, "memo_forget", **params)["forgotten"] == 1
    assert ask(memo, "memo_check", target_root=root, path="a.py")["status"] == "unknown"
    assert ask(memo, "memo_forget", **params)["forgotten"] == 0


@pytest.mark.parametrize(
    ("verb", "params"),
    [
        ("memo_check", {"path": "a"}),
        ("memo_check", {"target_root": "relative", "path": "a"}),
        ("memo_check", {"target_root": "/\0", "path": "a"}),
        ("memo_check", {"target_root": "/"}),
        ("memo_check", {"target_root": "/", "path": ""}),
        ("memo_check", {"target_root": "/", "path": "a\0"}),
        ("memo_check", {"target_root": "/", "path": 7}),
        ("memo_check", {"target_root": "/", "path": "a", "session": 7}),
        ("memo_check", {"target_root": "/", "path": "a", "call": "x" * (NAME_MAX + 1)}),
        ("memo_status", {"target_root": "/"}),
        ("memo_status", {"target_root": "/", "files": "a"}),
        ("memo_status", {"target_root": "/", "files": [["a"]]}),
        ("memo_status", {"target_root": "/", "files": ["a"] * (ITEMS_MAX + 1)}),
        ("memo_session", {"target_root": None, "agent": None}),
    ],
)
def test_nonsense_is_refused(memo, verb, params):
    with pytest.raises(InvalidRequest):
        ask(memo, verb, **params)
