"""Flip any byte, cut or remove any file: the right answer or `IndexCorrupt`, never another."""

import os
import random
import time

import pytest

from tests.engine import answers
from tests.store import corruption
from triseek import errors
from triseek.engine.freshness import checked
from triseek.index.build import build
from triseek.index.reader import IndexReader
from triseek.index.update import update
from triseek.model.index import no_progress
from triseek.store import layout
from triseek.store.check import check

FILES = {
    "a.c": "int needle;\n" * 40 + "other\n",
    "b/c.txt": "needle\nline\n",
    "b/d": "nothing\n" * 3000 + "needle",
    "bin": b"needle\0",
    "utf16": b"\xff\xfe" + "needle\n".encode("utf-16-le"),
    ".gitignore": "*.o\n",
    "x.o": "needle\n",
}


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A root, an index of two segments with dead files, and its right answers."""
    folder = tmp_path_factory.mktemp("corruption")
    root, index_dir = str(folder / "root"), str(folder / "index")
    os.makedirs(f"{root}/.git")
    answers.write(root, FILES)
    with pytest.MonkeyPatch.context() as patch:
        answers.shorten_racy_times(patch)
        rest()
        build(root, index_dir)
        answers.write(root, {"b/c.txt": "needle\nline\nneedle\n", "new": "needle in new\n"})
        update(root, index_dir)
        rest()
        now = time.time_ns()
        checked.remember(IndexReader.open(index_dir), checked.Checked(now, now))
    assert "checked.json" in corruption.files_of(index_dir)
    assert any(name.startswith("dead") for name in os.listdir(segments(index_dir)[-1]))
    right = corruption.answers(root, index_dir)
    assert [len(found) for found in right] == [5, 5, 1, 0, 6]
    return root, index_dir, right


def segments(index_dir):
    folder = os.path.join(index_dir, layout.SEGMENTS)
    return sorted(os.path.join(folder, name) for name in os.listdir(folder))


def rest():
    """What has been written is not racy any more."""
    time.sleep(2 * answers.TICK_S)


def is_unused(index_dir, name):
    """An older segment's tables of folders and ignore files are not read again."""
    stems = ("directories.arrow", "watched.arrow", "excluded.arrow")
    older = os.path.basename(segments(index_dir)[0])
    return name.endswith(stems) and older in name


def is_right(found, sound_answers):
    return found == sound_answers or found in ("IndexCorrupt", "FormatTooNew")


def test_every_byte_of_the_small_files_matters_or_does_not(sound, tmp_path):
    """Every 29th byte of files up to 4 KiB here; all bytes, of all files, are the slow test's."""
    root, index_dir, right = sound
    broken = corruption.copy(index_dir, tmp_path / "broken")
    for name in corruption.files_of(index_dir):
        path = broken / name
        size = path.stat().st_size
        step = 29 if size < 4096 else size // 60
        for at in range(len(name) % step, size, step):
            corruption.flip(path, at, 1 << (at % 8))
            found = corruption.outcome(corruption.answers, root, broken)
            assert is_right(found, right), (name, at)
            corruption.flip(path, at, 1 << (at % 8))
    assert corruption.answers(root, broken) == right


@pytest.mark.parametrize("length", [0, 100, 128, -8, -1])
def test_a_file_cut_short_is_corrupt(sound, tmp_path, length):
    root, index_dir, right = sound
    for name in corruption.files_of(index_dir):
        broken = corruption.copy(index_dir, tmp_path / "broken")
        size = (broken / name).stat().st_size
        os.truncate(broken / name, max(0, min(size, length if length >= 0 else size + length)))
        found = corruption.outcome(corruption.answers, root, broken)
        assert is_right(found, right), name


def test_a_file_that_is_gone_is_noticed(sound, tmp_path):
    root, index_dir, right = sound
    for name in corruption.files_of(index_dir):
        broken = corruption.copy(index_dir, tmp_path / "broken")
        (broken / name).unlink()
        found = corruption.outcome(corruption.answers, root, broken)
        if name == layout.CURRENT:
            assert found == "IndexUnavailable"
        elif name == "checked.json" or is_unused(index_dir, name):
            assert found == right
        else:
            assert found == "IndexCorrupt", name


def test_a_flipped_byte_in_what_remembers_the_last_look_changes_no_swept_answer(sound, tmp_path):
    """A number that says "all is settled" too late would hide an edit: it carries a checksum."""
    root, index_dir, _ = sound
    broken = corruption.copy(index_dir, tmp_path / "broken")
    path = broken / "checked.json"
    path.write_text('{"files_ns": 1e999, "folders_ns": 1, "xxh3": "0"}')
    right = corruption.swept_answers(root, broken)
    path.write_text(
        '{"files_ns": 9000000000000000000, "folders_ns": 9000000000000000000, "xxh3": "0"}'
    )
    assert corruption.swept_answers(root, broken) == right
    path.write_text("[1]")
    assert corruption.swept_answers(root, broken) == right


def test_check_names_the_broken_file(sound, tmp_path):
    _, index_dir, _ = sound
    total = check(index_dir, no_progress)
    assert total >= sum(
        os.path.getsize(os.path.join(index_dir, name))
        for name in corruption.files_of(index_dir)
        if name != "checked.json"
    )
    for name in corruption.files_of(index_dir):
        if name in ("checked.json", layout.CURRENT):
            continue
        broken = corruption.copy(index_dir, tmp_path / "broken")
        size = (broken / name).stat().st_size
        corruption.flip(broken / name, size // 2, 0x40)
        with pytest.raises(errors.IndexCorrupt) as caught:
            check(broken, no_progress)
        assert os.path.dirname(name) in str(caught.value)


def test_a_corrupt_index_is_replaced_by_the_next_update(sound, tmp_path):
    root, index_dir, right = sound
    for name in corruption.files_of(index_dir):
        broken = corruption.copy(index_dir, tmp_path / "broken")
        size = (broken / name).stat().st_size
        corruption.flip(broken / name, size // 2, 0x40)
        rebuilt = update(root, broken).rebuilt_full
        found = corruption.outcome(corruption.swept_answers, root, broken)
        if "postings" in name:
            # Not read by an update; `check` finds it, and a search that needs it.
            assert is_right(found, right[:-1])
            continue
        assert rebuilt or name == "checked.json" or is_unused(index_dir, name), name
        assert found == right[:-1]


@pytest.mark.slow
def test_thousands_of_random_faults_give_no_wrong_answer(sound, tmp_path):
    """TRISEEK_FAULTS: how many; TRISEEK_SEED: where the dice begin."""
    root, index_dir, right = sound
    rng = random.Random(int(os.environ.get("TRISEEK_SEED", "1")))
    names = corruption.files_of(index_dir)
    tally = {}
    for number in range(int(os.environ.get("TRISEEK_FAULTS", "2000"))):
        name = names[number % len(names)]
        broken = corruption.copy(index_dir, tmp_path / "broken")
        what = corruption.damage(rng, broken / name)
        found = corruption.outcome(corruption.answers, root, broken)
        gone = name == layout.CURRENT and found == "IndexUnavailable"
        assert is_right(found, right) or gone, (name, what)
        tally[str(found)[:14]] = tally.get(str(found)[:14], 0) + 1
        swept = corruption.outcome(corruption.swept_answers, root, broken)
        assert is_right(swept, right[:-1]) or gone, (name, what)
    print(tally)


@pytest.mark.slow
def test_every_byte_of_every_file(sound, tmp_path):
    root, index_dir, right = sound
    broken = corruption.copy(index_dir, tmp_path / "broken")
    for name in corruption.files_of(index_dir):
        for at in range((broken / name).stat().st_size):
            corruption.flip(broken / name, at, 1 << (at % 8))
            found = corruption.outcome(corruption.answers, root, broken)
            corruption.flip(broken / name, at, 1 << (at % 8))
            assert is_right(found, right), (name, at)


def test_a_reader_keeps_its_generation_while_writers_go_on(sound, tmp_path):
    root, index_dir, _ = sound
    mine = corruption.copy(index_dir, tmp_path / "mine")
    reader = IndexReader.open(mine)
    before = [view.names.all() for view in reader.views]
    build(root, mine)
    assert [view.names.all() for view in reader.views] == before
    reader.views[0].segment.postings.verify_all()
    assert IndexReader.open(mine).generation == reader.generation + 1
