"""A followed tree: what events tell is what the tree says, whatever was done to it."""

from __future__ import annotations

import mmap
import os
import random
import shutil
import subprocess
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
import xxhash

from tests.engine import answers
from tests.engine.conftest import WORDS
from triseek.engine.engine import Engine
from triseek.engine.freshness import racy_files
from triseek.engine.freshness.sweep import Sweeper
from triseek.files.tree.walk import walk
from triseek.index.build import DEFAULT_SCOPE, build
from triseek.index.update import update
from triseek.model.search import PatternSpec, SearchRequest


def diff_of(engine):
    """What is dirty; a mount somewhere on a busy machine may cost a sweep once, not twice."""
    diff = engine.indexed().tree_diff()
    if diff.freshness != "synced":
        diff = engine.indexed().tree_diff()
    assert diff.freshness == "synced"
    return diff


def seen(engine, diff):
    """Path and digest of everything a search with that diff looks at; scanned files as on disk."""
    told = {}
    for view, mask in zip(engine.reader().views, diff.masks, strict=True):
        kept = np.flatnonzero(view.alive & ~mask)
        digests = view.segment.files.numbers("xxh3")[kept].tolist()
        told.update(zip(view.names.take(kept), digests, strict=True))
    assert not set(told) & set(diff.scan)
    return told | {path: digest(engine, path) for path in diff.scan}


def digest(engine, path):
    with open(os.path.join(os.fsencode(engine.root), path), "rb") as file:
        return xxhash.xxh3_64_intdigest(file.read())


def truth(engine):
    return {path: digest(engine, path) for path in walk(engine.root, DEFAULT_SCOPE).paths}


def find(engine, pattern):
    search = engine.search(SearchRequest(pattern=PatternSpec(patterns=(pattern,))))
    found = {path for batch in search for path in batch.paths}
    return found, search


class Vandal:
    """Does things to a tree, by chance."""

    def __init__(self, root, seed, *, rules=True):
        self.root, self.chance = root, random.Random(seed)
        self.names = ["a", "b", "new", "x.log", "build", ".hidden", *([".ignore"] if rules else [])]
        self.deeds = [
            "write", "write", "rename_over", "delete", "create", "create", "make_folders",
            "move_folder", "remove_folder", "link_edit", "swap", "chmod", "symlink",
            *(["rules"] if rules else []),
        ]  # fmt: skip
        self.outside = root + ".outside"
        os.makedirs(self.outside, exist_ok=True)

    def files(self):
        return [os.path.join(at, name) for at, _, names in os.walk(self.root) for name in names
                if "/.git/" not in at + "/" and not os.path.islink(f"{at}/{name}")]  # fmt: skip

    def folders(self):
        return [at for at, _, _ in os.walk(self.root) if "/.git" not in at]

    def text(self):
        return f"{self.chance.choice(WORDS)} {self.chance.random()}\n"

    def fresh(self):
        return os.path.join(self.chance.choice(self.folders()), self.chance.choice(self.names))

    def do(self):
        getattr(self, self.chance.choice(self.deeds))()

    def write(self):
        path = self.chance.choice(self.files())
        with open(path, self.chance.choice(("w", "a")), encoding="utf-8") as file:
            file.write(self.text())

    def rename_over(self):
        path = self.chance.choice(self.files())
        with open(path + "~", "w", encoding="utf-8") as file:
            file.write(self.text())
        os.replace(path + "~", path)

    def delete(self):
        files = self.files()
        if len(files) > 5:
            os.unlink(self.chance.choice(files))

    def create(self):
        path = self.fresh()
        if not os.path.isdir(path) and not os.path.islink(path):
            with open(path, "w", encoding="utf-8") as file:
                file.write("" if os.path.basename(path) == ".ignore" else self.text())

    def make_folders(self):
        path = self.fresh()
        if not os.path.lexists(path):
            os.makedirs(path + "/deep/er")
            for name in ("", "deep/", "deep/er/"):
                with open(f"{path}/{name}file.txt", "w", encoding="utf-8") as file:
                    file.write(self.text())

    def move_folder(self):
        folders = [path for path in self.folders() if path != self.root]
        if not folders:
            return
        source, target = self.chance.choice(folders), self.fresh()
        if not os.path.lexists(target) and not f"{target}/".startswith(source + "/"):
            os.rename(source, target)
            if self.chance.random() < 0.3:
                os.makedirs(source)
                with open(f"{source}/again.txt", "w", encoding="utf-8") as file:
                    file.write(self.text())

    def remove_folder(self):
        folders = [path for path in self.folders() if path != self.root]
        if len(folders) > 6:
            shutil.rmtree(self.chance.choice(folders))

    def rules(self):
        path = os.path.join(self.chance.choice(self.folders()), ".gitignore")
        if self.chance.random() < 0.3 and os.path.exists(path):
            os.unlink(path)
            return
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.chance.choice(("*.log\n", "a\n", "deep/\n", "!x.log\n", "f1.txt\n")))

    def link_edit(self):
        """Edit a file through another name of it, which nobody watches."""
        path = self.chance.choice(self.files())
        other = f"{self.outside}/{self.chance.random()}"
        os.link(path, other)
        with open(path, "a", encoding="utf-8") as file:
            file.write(self.text())

    def swap(self):
        one, other = self.chance.sample(self.files(), 2)
        os.rename(one, one + ".tmp")
        os.rename(other, one)
        os.rename(one + ".tmp", other)

    def chmod(self):
        os.chmod(self.chance.choice(self.files()), 0o600)

    def symlink(self):
        path = self.fresh()
        if not os.path.lexists(path):
            os.symlink(self.chance.choice(self.folders()), path)


HISTORIES = int(os.environ.get("TRISEEK_HISTORIES", "8"))


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_whatever_is_done_to_a_tree_the_next_look_knows_it(followed, seed):
    vandal = Vandal(followed.root, seed)
    for step in range(60):
        for _ in range(vandal.chance.choice((1, 1, 3))):
            vandal.do()
        assert seen(followed, followed.indexed().tree_diff()) == truth(followed), (seed, step)


@pytest.mark.parametrize("seed", range(100, 100 + HISTORIES))
def test_what_is_taken_in_is_what_the_tree_holds(followed, seed, monkeypatch):
    """By the process that watches, and by one that opens the index and sweeps."""
    answers.shorten_racy_times(monkeypatch)
    vandal, indexed = Vandal(followed.root, seed, rules=seed % 2 == 0), followed.indexed()
    taken_in = 0
    for step in range(40):
        for _ in range(vandal.chance.choice((1, 1, 3))):
            vandal.do()
        if step % 4 == 0:
            time.sleep(answers.TICK_S)
            if indexed.absorb(files_max=50) is not None:
                taken_in += 1
            else:
                update(followed.root, followed.index_dir)
            if vandal.chance.random() < 0.5:
                indexed.catch_up()
                indexed.merge(lambda: False)
            indexed.catch_up()
        assert seen(followed, indexed.tree_diff()) == truth(followed), (seed, step)
        other = Engine(followed.root, index_dir=followed.index_dir)
        assert seen(other, other.indexed().tree_diff()) == truth(other), (seed, step)
    assert taken_in > (5 if seed % 2 else 0)


def test_a_file_with_another_name_is_seen_to_be_edited_through_it(tmp_path):
    root, index_dir = str(tmp_path / "root"), str(tmp_path / "index")
    answers.write(root, {"a.txt": "alpha\n", "b.txt": "beta\n"})
    os.link(f"{root}/a.txt", tmp_path / "elsewhere")
    build(root, index_dir)
    engine = Engine(root, index_dir=index_dir)
    engine.watch(str(tmp_path / "cookies"))
    assert diff_of(engine).count in (0, 2)  # 2: racy still

    (tmp_path / "elsewhere").write_text("needle\n")

    assert find(engine, "needle")[0] == {b"a.txt"}
    engine.unwatch()


def test_the_old_generation_answers_until_the_new_one_is_followed(followed):
    answers.write(followed.root, {"top.txt": "novel\n"})
    before = followed.reader().generation
    update(followed.root, followed.index_dir)
    answers.write(followed.root, {"new.txt": "novel\n"})

    found, search = find(followed, "novel")

    assert found == {b"top.txt", b"new.txt"}
    assert search.totals.generation in (before, before + 1)
    followed.indexed().catch_up()
    found, search = find(followed, "novel")
    assert found == {b"top.txt", b"new.txt"}
    assert (search.totals.generation, search.totals.freshness) == (before + 1, "synced")


def test_what_a_change_of_generation_falls_together_with_is_told_once(followed):
    journal = followed.watched.journal
    diff_of(followed)
    clock = journal.clock
    answers.write(followed.root, {"d0/s0/f0.txt": "novel\n"})
    os.unlink(f"{followed.root}/d1/s1/f1.txt")
    update(followed.root, followed.index_dir)
    answers.write(followed.root, {"d2/s0/brand.txt": "new\n"})

    followed.indexed().catch_up()
    diff_of(followed)

    told = [change for batch in journal.since(clock).batches for change in batch.changes.items()]
    assert sorted(told) == [
        (b"d0/s0/f0.txt", "modified"), (b"d1/s1/f1.txt", "removed"), (b"d2/s0/brand.txt", "created")
    ]  # fmt: skip


def change_generation(engine, meanwhile):
    """Have a new generation take over; `meanwhile` runs behind each look of the old one."""
    look = engine.indexed()._state.followed.now

    def now():
        diff = look()
        meanwhile()
        return diff

    engine.indexed()._state.followed.now = now
    update(engine.root, engine.index_dir)  # nothing changed, but a generation it is
    answers.write(engine.root, {"d1/s1/f1.txt": "novel\n"})
    update(engine.root, engine.index_dir)
    engine.indexed().catch_up()


@pytest.mark.parametrize("pause_s", [0, 0.2])  # its event is read before the new one looks, or not
def test_what_happens_in_the_middle_of_a_change_of_generation_is_told(followed, pause_s):
    journal = followed.watched.journal
    diff_of(followed)
    clock = journal.clock
    deeds = [
        lambda: answers.write(followed.root, {"d0/s0/late.txt": "novel\n"}),
        lambda: os.unlink(f"{followed.root}/d1/s0/f0.txt"),
    ]

    def meanwhile():
        if deeds:
            deeds.pop()()
            time.sleep(pause_s)

    change_generation(followed, meanwhile)
    assert not deeds
    diff_of(followed)

    told = {path: what for batch in journal.since(clock).batches
            for path, what in batch.changes.items()}  # fmt: skip
    assert told == {
        b"d0/s0/late.txt": "created", b"d1/s0/f0.txt": "removed", b"d1/s1/f1.txt": "modified"
    }  # fmt: skip


def test_a_tree_that_never_rests_while_generations_change_makes_clocks_unknown(followed):
    journal = followed.watched.journal
    diff_of(followed)
    clock = journal.clock
    change_generation(
        followed, lambda: answers.write(followed.root, {"d0/s0/late.txt": f"{time.monotonic()}\n"})
    )

    assert journal.since(clock)[:2] == ("unknown", "events_lost")
    assert b"d0/s0/late.txt" in seen(followed, diff_of(followed))


def test_a_file_that_goes_just_before_the_look_is_told_as_removed(followed):
    """Its event is read behind the look, which finds it gone already."""
    journal = followed.watched.journal
    diff_of(followed)
    clock = journal.clock
    sweeper = followed.indexed()._state.followed._sweeper
    look = sweeper.look

    def late(place, *, rules):
        sweeper.look = look
        os.unlink(f"{followed.root}/d0/s0/f0.txt")
        return look(place, rules=rules)

    sweeper.look = late
    answers.write(followed.root, {"d0/s0/new.txt": "novel\n"})
    os.unlink(f"{followed.root}/d0/s0/f1.txt")
    diff_of(followed)
    diff_of(followed)

    told = {path: what for batch in journal.since(clock).batches
            for path, what in batch.changes.items()}  # fmt: skip
    assert told == {
        b"d0/s0/new.txt": "created", b"d0/s0/f0.txt": "removed", b"d0/s0/f1.txt": "removed"
    }  # fmt: skip


def test_every_edit_by_another_name_is_told(tmp_path):
    root, index_dir = str(tmp_path / "root"), str(tmp_path / "index")
    answers.write(root, {"a.txt": "alpha\n", "b.txt": "beta\n"})
    os.link(f"{root}/a.txt", tmp_path / "elsewhere")
    build(root, index_dir)
    engine = Engine(root, index_dir=index_dir)
    engine.watch(str(tmp_path / "cookies"))
    for text in ("needle\n", "needles\n"):
        diff_of(engine)
        clock = engine.watched.journal.clock
        (tmp_path / "elsewhere").write_text(text)
        diff_of(engine)

        told = {path for batch in engine.watched.journal.since(clock).batches
                for path in batch.changes}  # fmt: skip
        assert b"a.txt" in told
    engine.unwatch()


def test_a_git_command_that_only_looks_changes_no_generation(tmp_path):
    root, index_dir = str(tmp_path / "root"), str(tmp_path / "index")
    answers.write(root, {"a.txt": "alpha\n"})
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", root]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], check=True)
    build(root, index_dir)
    engine = Engine(root, index_dir=index_dir)
    watch = engine.watch(str(tmp_path / "cookies"))
    diff_of(engine)
    clock = watch.journal.clock
    os.utime(f"{root}/.git/index", ns=(1, 1))

    subprocess.run([*git, "status"], check=True, capture_output=True)
    diff_of(engine)

    assert watch.journal.since(clock).kind == "unchanged"
    engine.unwatch()


def test_a_second_edit_does_not_hide_the_first(followed):
    for name in ("d0/s0/f0.txt", "d1/s0/f0.txt"):
        answers.write(followed.root, {name: "novel\n"})
        assert name.encode() in find(followed, "novel")[0]

    assert find(followed, "novel")[0] == {b"d0/s0/f0.txt", b"d1/s0/f0.txt"}


def test_a_tree_indexed_as_soon_as_it_was_made_is_read_again_once(followed, monkeypatch):
    count = []
    told = racy_files.is_as_indexed
    monkeypatch.setattr(racy_files, "is_as_indexed", lambda *of: count.append(of) or told(*of))
    time.sleep(2.1)  # what was racy rests

    for number in range(4):
        answers.write(followed.root, {"top.txt": f"edited {number}\n"})
        assert seen(followed, diff_of(followed)) == truth(followed)

    assert len({path for _, path, *_ in count}) <= len(count) <= len(truth(followed))


def test_events_that_were_lost_cost_a_sweep_and_no_answer(followed, monkeypatch):
    diff_of(followed)
    journal, tracker = followed.watched.journal, followed.watched._tracker
    clock = journal.clock
    taken = tracker.watcher.take
    nothing = {"files": set(), "folders": set(), "trees": set()}
    monkeypatch.setattr(tracker.watcher, "take", lambda: replace(taken(), **nothing, lost=True))
    answers.write(followed.root, {"new/n.txt": "novel\n"})

    assert find(followed, "novel")[0] == {b"new/n.txt"}
    monkeypatch.undo()
    answers.write(followed.root, {"new/m.txt": "novel\n"})
    assert find(followed, "novel")[0] == {b"new/n.txt", b"new/m.txt"}
    assert journal.since(clock).kind == "unknown"


def test_a_root_that_was_moved_away_is_followed_no_more(followed, tmp_path):
    os.rename(followed.root, tmp_path / "moved")
    os.makedirs(followed.root)
    answers.write(followed.root, {"new.txt": "novel\n"})

    found, search = find(followed, "novel")

    assert (found, search.totals.freshness) == ({b"new.txt"}, "swept")
    assert followed.watched is None


@pytest.mark.parametrize("watched", ["once", "again", "never"])
def test_a_root_exchanged_for_another_and_back_is_searched_as_it_is(followed, tmp_path, watched):
    cookies = os.fsdecode(followed.watched._tracker.watcher._cookies.folder)
    if watched == "never":
        followed.unwatch()
    first, _ = find(followed, "needle")
    answers.write(tmp_path / "other", {"d0/s0/f3.txt": "alpha\n", "new.txt": "needle\n"})
    assert len(first) > 1
    for _ in range(2):
        for out, into, expected in (("first", "other", {b"new.txt"}), ("other", "first", first)):
            os.rename(followed.root, tmp_path / out)
            os.rename(tmp_path / into, followed.root)

            assert find(followed, "needle")[0] == expected
            if watched == "again":
                followed.unwatch()
                followed.watch(cookies)
                diff_of(followed)
                assert find(followed, "needle")[0] == expected


def test_searches_from_many_threads_see_what_each_has_written(followed):
    wrong = []

    def edit(number):
        for step in range(40):
            word = f"word_{number}_{step}"
            answers.write(followed.root, {f"d0/own{number}.txt": word + "\n"})
            found, _ = find(followed, word)
            if found != {f"d0/own{number}.txt".encode()}:
                wrong.append((word, found))

    threads = [threading.Thread(target=edit, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(5):
        update(followed.root, followed.index_dir)
        followed.indexed().catch_up()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_reconciling_finds_nothing_that_was_missed(followed):
    answers.write(followed.root, {"new/n.txt": "novel\n", "top.txt": "other\n"})

    assert followed.indexed().reconcile()
    assert seen(followed, diff_of(followed)) == truth(followed)


def test_an_edit_while_it_reconciles_was_not_missed(followed, monkeypatch):
    sweep = Sweeper.sweep

    def edited_before(sweeper):
        answers.write(followed.root, {"new/n.txt": "novel\n", "top.txt": "other\n"})
        os.remove(f"{followed.root}/d0/s0/f0.txt")
        return sweep(sweeper)

    monkeypatch.setattr(Sweeper, "sweep", edited_before)

    assert followed.indexed().reconcile()
    monkeypatch.undo()
    assert seen(followed, diff_of(followed)) == truth(followed)


def test_reconciling_finds_what_made_no_event(followed, monkeypatch):
    answers.shorten_racy_times(monkeypatch)
    with open(f"{followed.root}/top.txt", "r+b") as file:
        view = mmap.mmap(file.fileno(), 0)
    with view:
        time.sleep(answers.TICK_S)
        update(followed.root, followed.index_dir)
        followed.indexed().catch_up()
        assert diff_of(followed).scan == []
        view[:6] = b"gadget"
        view.flush()

        assert not followed.indexed().reconcile()
    assert seen(followed, diff_of(followed)) == truth(followed)
