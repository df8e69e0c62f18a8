"""Random edit histories of a tree, with every answer compared after every step.

What an index says with its sweep must be what reading the tree says, and what `re` over the
lines of the listed files says, whatever was written, moved, ignored, updated or rebuilt before.
"""

import os
import shutil
import tempfile
import time

import numpy as np
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.engine import answers
from tests.index.contents import contents
from tests.oracle import search as oracle
from triseek.files.tree.walk import walk
from triseek.index import merge, update
from triseek.index.build import build, survey
from triseek.index.update import Changed
from triseek.model.index import no_progress
from triseek.model.search import ScopeSpec
from triseek.store.check import check

FOLDERS = st.sampled_from(["", "s", "s/d", "t", ".github", "build", "a.c"])
NAMES = st.sampled_from(["a", "a.c", "b.log", ".hid", "build", "foo", "z\udcff"])
TEXTS = st.sampled_from(
    ["foo\n", "bar\n", "foo bar\nbaz", "x" * 40_000 + "\nfoo\n", "", "bar\0\n", "\ufefffoo\n"]
)
RULES = st.sampled_from(
    ["*.log\n", "build/\n", "/s/d/a\n", "!.github\n", "!.hid\n", "s\n", "!b.log\n", "#\n", "*\n"]
)
RULE_FILES = st.sampled_from([".gitignore", ".ignore", ".rgignore"])
QUESTIONS = [
    ("foo", {}),
    ("ba[rz]", {}),
    ("foo", {"scope": ScopeSpec(globs=("*.log",))}),
    ("foo", {"scope": ScopeSpec(allowlist=True)}),
]
ACROSS_LINES = [r"bar\nbaz", r"(?s)x\s*foo.*\n", r"foo\s+\S"]


class History(RuleBasedStateMachine):
    @initialize(git=st.booleans())
    def begin(self, git):
        self.home = tempfile.mkdtemp()
        self.root, self.index = f"{self.home}/root", f"{self.home}/index"
        os.mkdir(self.root)
        if git:
            os.mkdir(f"{self.root}/.git")
        self.rebuild(settled=False)

    def teardown(self):
        shutil.rmtree(self.home, ignore_errors=True)

    def at(self, folder, name=""):
        return os.path.normpath(f"{self.root}/{folder}/{name}")

    @rule(folder=FOLDERS, name=NAMES, text=TEXTS)
    def write(self, folder, name, text):
        path = self.at(folder, name)
        if self.make(os.path.dirname(path)) and not os.path.isdir(path):
            self.put(path, text)

    @rule(folder=FOLDERS, name=NAMES, text=TEXTS)
    def append(self, folder, name, text):
        if os.path.isfile(self.at(folder, name)):
            self.put(self.at(folder, name), text, "ab")

    @rule(folder=FOLDERS, name=NAMES)
    def edit_behind_the_clocks_back(self, folder, name):
        path = self.at(folder, name)
        if os.path.isfile(path):
            stat = os.stat(path)
            with open(path, "r+b") as file:
                swapped = file.read().replace(b"foo", b"bar") or b"foo"
                file.seek(0)
                file.write(swapped)
            os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))

    @rule(folder=FOLDERS, name=NAMES)
    def delete(self, folder, name):
        if os.path.lexists(self.at(folder, name)):
            answers.remove(self.at(folder, name))

    @rule(folder=FOLDERS)
    def delete_folder(self, folder):
        if folder and os.path.lexists(self.at(folder)):
            answers.remove(self.at(folder))

    @rule(source=FOLDERS, name=NAMES, into=FOLDERS, new=NAMES)
    def rename(self, source, name, into, new):
        old, path = self.at(source, name), self.at(into, new)
        inside = (path + "/").startswith(old + "/")
        free = not os.path.lexists(path) or os.path.isfile(old) == os.path.isfile(path)
        movable = os.path.lexists(old) and not inside and free and not os.path.isdir(path)
        if movable and self.make(os.path.dirname(path)):
            os.rename(old, path)

    @rule(source=FOLDERS, into=FOLDERS)
    def rename_folder(self, source, into):
        old, path = self.at(source), self.at(into)
        apart = not (path + "/").startswith(old + "/")
        movable = source and into and apart and os.path.isdir(old) and not os.path.lexists(path)
        if movable and self.make(os.path.dirname(path)):
            os.rename(old, path)

    @rule(folder=FOLDERS, name=NAMES)
    def swap_kind(self, folder, name):
        path = self.at(folder, name)
        if os.path.isdir(path):
            answers.remove(path)
            self.put(path, "foo\n")
        elif os.path.isfile(path):
            os.unlink(path)
            os.mkdir(path)
            self.put(f"{path}/foo", "foo bar\n")

    @rule(folder=FOLDERS, name=NAMES)
    def link(self, folder, name):
        path = self.at(folder, name)
        if self.make(os.path.dirname(path)) and not os.path.lexists(path):
            os.symlink("foo", path)

    @rule(folder=FOLDERS, name=RULE_FILES, text=RULES)
    def ignore(self, folder, name, text):
        if self.make(self.at(folder)):
            self.put(self.at(folder, name), text)

    @rule(name=RULE_FILES, text=RULES)
    def ignore_above(self, name, text):
        self.put(f"{self.home}/{name}", text)

    @rule(folder=FOLDERS, name=RULE_FILES)
    def no_more_ignore(self, folder, name):
        if os.path.isfile(self.at(folder, name)):
            os.unlink(self.at(folder, name))

    @rule(folder=st.sampled_from(["", "s"]))
    def toggle_git(self, folder):
        path = self.at(folder, ".git")
        if os.path.isdir(path):
            shutil.rmtree(path)
        elif self.make(self.at(folder)):
            os.makedirs(f"{path}/info")

    @precondition(lambda self: os.path.isdir(f"{self.root}/.git"))
    @rule(text=RULES)
    def exclude(self, text):
        os.makedirs(f"{self.root}/.git/info", exist_ok=True)
        self.put(f"{self.root}/.git/info/exclude", text)

    @rule(settled=st.booleans())
    def update(self, settled):
        self.settle(settled)
        update.update(self.root, self.index)
        self.compare_with_a_fresh_build()

    @rule(settled=st.booleans(), with_tree=st.booleans())
    def commit_what_a_look_found(self, settled, with_tree):
        """As a watcher does, who knows what changed: no walk, and often no tables of the tree."""
        self.settle(settled)
        scanned_ns = time.time_ns()
        diff, reader = self.indexed.tree_diff(), self.indexed.reader
        changed = Changed(
            dead=[np.flatnonzero(mask) for mask in diff.masks],
            paths=diff.scan,
            allowlisted=diff.allowlisted,
            tree=survey(self.root, no_progress)[1] if with_tree else None,
            scanned_ns=scanned_ns,
            removed=diff.removed,
        )
        if not changed.is_empty:
            update.commit_changed(self.root, reader, changed)

    @rule(chosen=st.sets(st.integers(0, 5), min_size=1))
    def merge(self, chosen):
        self.indexed.list_files(ScopeSpec())
        reader = self.indexed.reader
        which = sorted({i % len(reader.views) for i in chosen})
        before = contents(self.index)
        new = merge.merge(self.index, reader, which)
        assert contents(self.index) == before
        assert len(new.segments) == len(reader.views) - len(which) + 1
        assert check(self.index, no_progress)

    @rule()
    def merge_what_is_due(self):
        merge.merge_due(self.index)

    def compare_with_a_fresh_build(self):
        fresh = f"{self.home}/fresh"
        build(self.root, fresh)
        assert contents(self.index) == contents(fresh)

    @rule(settled=st.booleans())
    def rebuild(self, settled):
        self.settle(settled)
        build(self.root, self.index)
        self.reopen()

    @rule()
    def reopen(self):
        self.indexed, self.scan = answers.both(self.root, self.index)

    @invariant()
    def every_backend_says_the_same(self):
        for pattern, fields in QUESTIONS:
            found = answers.ask(self.indexed, pattern, **fields)
            assert found == answers.ask(self.scan, pattern, **fields), (pattern, fields)
            scope = fields.get("scope", ScopeSpec())
            assert lines(found) == self.oracle(pattern, scope)
            assert self.indexed.list_files(scope)[0] == walk(self.root, scope).paths
        for pattern in ACROSS_LINES:
            found = answers.ask(self.indexed, pattern, multiline=True)
            assert found == answers.ask(self.scan, pattern, multiline=True), pattern

    def oracle(self, pattern, scope):
        files = {}
        for path in walk(self.root, scope).paths:
            with open(os.fsencode(self.root) + b"/" + path, "rb") as file:
                files[path] = file.read().removeprefix(b"\xef\xbb\xbf")
        return [tuple(line) for line in oracle.search(files, pattern.encode())]

    def settle(self, settled):
        """Wait until nothing that was written is racy any more, or do not."""
        if settled:
            time.sleep(2 * answers.TICK_S)

    def make(self, folder):
        """Make a folder if nothing else stands in its way."""
        try:
            os.makedirs(folder, exist_ok=True)
        except OSError:
            return False
        return True

    def put(self, path, text, mode="wb"):
        with open(path, mode) as file:
            file.write(text.encode())


def lines(found):
    return [
        (path, number, offset, line) for path, _, rows in found for number, offset, line, _ in rows
    ]
