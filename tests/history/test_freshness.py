"""What an observation says is compared with the working tree."""

from __future__ import annotations

import json
import os

import pytest

from triseek.history.freshness import freshness_of, mark_of
from triseek.model.freshness import Freshness

TEXT = "def total(items):\n    return sum(items) * rate\n"
LATER = 10**15


def state(root, *marks, at=0, **more):
    return freshness_of(str(root), json.dumps({"files": list(marks)}), at, **more)


@pytest.fixture
def mark():
    return mark_of("shop/cart.py", "modified", TEXT, ("total",))


@pytest.fixture
def file(tmp_path):
    (tmp_path / "shop").mkdir()
    path = tmp_path / "shop/cart.py"
    path.write_text("import x\n\n\n" + TEXT + "\n\ndef other():\n    pass\n")
    return path


def test_text_that_is_still_there_is_fresh_wherever_it_stands(tmp_path, file, mark):
    assert state(tmp_path, mark) is Freshness.FRESH
    file.write_bytes(("# more\n" * 9 + TEXT).replace("\n", "\r\n").encode())
    assert state(tmp_path, mark) is Freshness.FRESH


def test_a_part_of_a_line_is_found(tmp_path, file):
    assert state(tmp_path, mark_of("shop/cart.py", "modified", "(items) * rate")) is Freshness.FRESH


def test_an_edited_file_is_stale(tmp_path, file, mark):
    file.write_text(TEXT.replace("rate", "tax"))
    assert state(tmp_path, mark) is Freshness.STALE


def test_a_renamed_symbol_is_gone_and_one_in_another_file_has_moved(tmp_path, file, mark):
    file.write_text(TEXT.replace("total", "sum_up"))
    assert state(tmp_path, mark) is Freshness.GONE
    (tmp_path / "shop/price.py").write_text("x = 1\ndef total(items, rate):\n    return 1\n")
    assert state(tmp_path, mark) is Freshness.MOVED


def test_a_renamed_file_has_moved_and_a_deleted_one_is_gone(tmp_path, file, mark):
    file.rename(tmp_path / "shop/basket.py")
    assert state(tmp_path, mark) is Freshness.MOVED
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "shop/basket.py").rename(tmp_path / "elsewhere/cart.py")
    assert state(tmp_path, mark) is Freshness.GONE
    locate = {"cart.py": ["elsewhere/cart.py"]}.get
    assert state(tmp_path, mark, locate=lambda name: locate(name, [])) is Freshness.MOVED


def test_without_a_mark_the_time_counts(tmp_path, file):
    read = {"path": "shop/cart.py", "role": "read"}
    now_ms = file.stat().st_mtime_ns // 10**6
    assert state(tmp_path, read, at=now_ms) is Freshness.FRESH
    assert state(tmp_path, read, at=now_ms - 1) is Freshness.STALE
    file.unlink()
    assert state(tmp_path, read, at=now_ms) is Freshness.GONE


def test_several_files_are_as_good_as_the_worst(tmp_path, file, mark):
    gone = mark_of("shop/none.py", "modified", "nothing of the kind")
    assert state(tmp_path, mark, gone) is Freshness.STALE
    assert state(tmp_path, gone, gone) is Freshness.GONE


@pytest.mark.parametrize(
    "evidence",
    [
        "", "{", "[]", "null", '{"files": 1}', '{"files": [1, null, {}]}', "[" * 100_000,
        '{"files": [{"path": 1}]}', '{"files": [{"path": ""}]}',
        '{"files": [{"path": "../../etc/passwd"}]}', '{"files": [{"path": "/etc/passwd"}]}',
    ],
)  # fmt: skip
def test_evidence_that_names_no_file_of_the_root_is_unknown(tmp_path, evidence):
    assert freshness_of(str(tmp_path), evidence, LATER) is None
    assert freshness_of("", evidence, LATER) is None


def test_hostile_marks_and_files_do_no_harm(tmp_path, file):
    for fields in (
        {"sha": 1}, {"sha": "x", "size": -1, "anchor": "a", "at": 0}, {"sha": "x", "anchor": ""},
        {"sha": "x", "size": 10**30, "anchor": "import", "at": 10**30, "symbols": 3},
        {"sha": "x", "size": True, "anchor": "a", "at": 0},
    ):  # fmt: skip
        assert isinstance(state(tmp_path, {"path": "shop/cart.py", **fields}), Freshness)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/etc/passwd")
    mark = {"sha": "x", "size": 4, "anchor": "root", "at": 0}
    assert state(tmp_path, {"path": "pipe", **mark}) is Freshness.GONE
    assert state(tmp_path, {"path": "link", **mark}) is None
    assert state(tmp_path / "none", {"path": "a", **mark}) is Freshness.GONE
