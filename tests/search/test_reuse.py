"""An answer is left out only if a search made now would give it again."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil

import pytest

from tests.app.contexts import (
    bare_context,
    find,
    indexed,
    is_hit,
    lines,
    paths,
    search,
    search_in,
)
from tests.engine import answers
from triseek.engine.engine import Engine
from triseek.errors import Busy

pytestmark = pytest.mark.long

TREE = {
    "src/a.py": "needle = 1\nother = 2\n",
    "src/b.py": "def plain(): pass\n",
    "lib/c.py": "use(needle)\n",
    "lib/deep/d.txt": "a needle here\nand needle there\n",
    "README.md": "nothing\n",
    ".gitignore": "*.log\n",
    ".git/HEAD": "ref: refs/heads/main\n",
}


@pytest.fixture
def root(repo, daemon):
    root = indexed(repo, TREE)
    daemon.watch(root)
    return root


@pytest.fixture
def context(root, daemon):
    return daemon.context(root)


def write(root, name, text):
    answers.write(root, {name: text})


def test_the_same_question_again_is_answered_with_the_contracts_envelope(context):
    first = search(context, "needle", "me")
    again = search(context, "needle", "me")

    assert first["cache"] == "miss"
    assert list(again) == [
        "version", "repo_root", "strategy", "fallback_used", "cache", "search_id",
        "prior_search_id", "reuse_status", "reuse_reason", "generation", "context_epoch",
        "files_with_matches", "total_line_matches", "results", "results_omitted", "truncated",
    ]  # fmt: skip
    assert again == {
        "version": "1",
        "repo_root": context.root,
        "strategy": "triseek_indexed",
        "fallback_used": False,
        "cache": "hit",
        "search_id": "search-0001",
        "prior_search_id": "search-0001",
        "reuse_status": "fresh_duplicate",
        "reuse_reason": "unchanged",
        "generation": first["generation"],
        "context_epoch": first["context_epoch"],
        "files_with_matches": 3,
        "total_line_matches": 4,
        "results": [],
        "results_omitted": True,
        "truncated": False,
    }


@pytest.mark.parametrize("who", [None, "another"])
def test_who_has_not_seen_an_answer_gets_it(context, who):
    search(context, "needle", "me")

    assert not is_hit(search(context, "needle", who))


def test_an_answer_to_nobody_known_is_not_remembered(context):
    search(context, "needle")

    assert not is_hit(search(context, "needle", "me"))


@pytest.mark.parametrize(
    "other",
    [
        {"limit": 3}, {"offset": 1}, {"mode": "regex"}, {"case": "smart"}, {"word": True},
        {"context": 1}, {"glob": "*.py"}, {"type": "py"}, {"path": "src"}, {"multiline": True},
        {"output_mode": "files"}, {"patterns": ("plain",)}, {"token_budget": 500},
    ],
    ids=str,
)  # fmt: skip
def test_another_question_is_another_answer(context, other):
    search(context, "needle", "me")

    assert not is_hit(search(context, "needle", "me", **other))


def test_asked_by_force_it_is_searched_and_remembered_anew(context):
    first = search(context, "needle", "me")
    forced = search(context, "needle", "me", force_refresh=True)
    again = search(context, "needle", "me")

    assert (forced["results"], forced["force_refreshed"]) == (first["results"], True)
    assert (again["search_id"], is_hit(again)) == (forced["search_id"], True)


CHANGES = {
    "an edit of a match": lambda root: write(root, "src/a.py", "gone\n"),
    "an edit that keeps the match": lambda root: write(root, "src/a.py", "x\nneedle = 1\n"),
    "a file edited to match": lambda root: write(root, "src/b.py", "needle\n"),
    "a new file that matches": lambda root: write(root, "new/e.py", "needle\n"),
    "a match removed": lambda root: os.unlink(f"{root}/lib/c.py"),
    "a match renamed": lambda root: os.rename(f"{root}/lib/c.py", f"{root}/lib/z.py"),
    "a folder renamed": lambda root: os.rename(f"{root}/lib", f"{root}/moved"),
    "a folder removed": lambda root: shutil.rmtree(f"{root}/lib"),
    "a file listed no more": lambda root: write(root, ".gitignore", "lib/\n"),
    "a folder's own rules": lambda root: write(root, "lib/.ignore", "deep\n"),
    "a file made binary": lambda root: write(root, "src/a.py", "needle\0\n"),
    "a file made unreadable by a folder": lambda root: (
        os.unlink(f"{root}/src/a.py"), os.mkdir(f"{root}/src/a.py")
    ),
    "a file swapped for a link": lambda root: (
        os.unlink(f"{root}/src/a.py"), os.symlink("b.py", f"{root}/src/a.py")
    ),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_changes_the_answer_is_never_called_unchanged(context, root, change):
    search(context, "needle", "me")
    change(root)
    again = search(context, "needle", "me")

    assert not is_hit(again)
    assert lines(again) == lines(search(bare_context(root), "needle"))


@pytest.mark.parametrize(
    "change",
    [
        lambda root: write(root, "src/b.py", "def other(): pass\n"),
        lambda root: write(root, "src/new.py", "nothing of it\n"),
        lambda root: os.unlink(f"{root}/README.md"),
        lambda root: write(root, "noise.log", "needle\n"),
    ],
    ids=["an edit elsewhere", "a new file", "a file removed", "an ignored file"],
)
def test_what_does_not_bear_on_the_answer_leaves_it_alone(context, root, change):
    search(context, "needle", "me")
    change(root)

    assert is_hit(search(context, "needle", "me"))


def test_git_status_leaves_every_answer_alone(context, root):
    search(context, "needle", "me")
    write(root, ".git/index", "x")
    write(root, ".git/objects/ab/cdef", "x")

    assert is_hit(search(context, "needle", "me"))


def test_an_edit_through_a_name_outside_of_the_root_is_seen(repo, daemon, tmp_path):
    """Of which no event tells."""
    root = indexed(repo, TREE)
    os.link(f"{root}/src/a.py", tmp_path / "outside.py")
    root = indexed(repo, {})
    daemon.watch(root)
    context = daemon.context(root)
    search(context, "needle", "me")
    for text in ("needle\nneedle\n", "needle\n\nneedle\nneedle\n"):
        with open(tmp_path / "outside.py", "w", encoding="utf-8") as file:
            file.write(text)
        again = search(context, "needle", "me")

        assert not is_hit(again)
        assert lines(again) == lines(search(bare_context(root), "needle"))


def test_files_are_found_again_after_an_edit_and_not_after_one_came(context, root):
    find(context, "src py", "me")
    write(root, "src/a.py", "edited\n")
    assert is_hit(find(context, "src py", "me"))

    write(root, "src/new.txt", "is not asked for\n")
    assert is_hit(find(context, "src py", "me"))

    write(root, "src/new.py", "is\n")
    assert paths(find(context, "src py", "me")) == paths(find(bare_context(root), "src py"))


def test_too_many_paths_to_remember_are_reused_only_where_nothing_in_scope_changed(
    context, root, monkeypatch
):
    monkeypatch.setattr("triseek.engine.ranking.ranked.MATCHED_MAX", 1)
    search_in(context, "lib/** src/**", "needle", "me", limit=1)
    write(root, "README.md", "out of scope\n")
    assert is_hit(search_in(context, "lib/** src/**", "needle", "me", limit=1))

    write(root, "lib/c.py", "a match that was not shown, and is none now\n")
    assert not is_hit(search_in(context, "lib/** src/**", "needle", "me", limit=1))


@pytest.mark.parametrize(
    "ask",
    [
        lambda context: search(context, "needle", "me", glob="*.log"),
        lambda context: search(context, "needle", "me", glob="*.py *.log"),
        lambda context: search(context, "needle", "me", type="log"),
        lambda context: find(context, "*.log", "me"),
    ],
    ids=["glob", "globs", "type", "files"],
)
def test_what_may_be_ignored_is_searched_again_since_nobody_tells_of_it(context, root, ask):
    """A glob asks for ignored files too, a type for hidden ones."""
    before = ask(context)
    write(root, "ignored.log", "needle\n")
    after = ask(context)

    assert not is_hit(after)
    assert before["files_with_matches"] <= after["files_with_matches"]


def test_nothing_is_reused_while_no_daemon_runs(context, daemon):
    search(context, "needle", "me")
    daemon.stop()

    assert not is_hit(search(context, "needle", "me"))


def test_nothing_is_reused_across_a_restart(context, root, daemon):
    search(context, "needle", "me")
    daemon.stop()
    daemon.start()
    daemon.watch(root)

    assert not is_hit(search(context, "needle", "me"))
    assert is_hit(search(context, "needle", "me"))


def test_nothing_is_reused_while_nobody_watches(context, root, daemon):
    search(context, "needle", "me")
    daemon.engine(root).unwatch()

    assert not is_hit(search(context, "needle", "me"))
    assert not is_hit(search(context, "needle", "me"))


def test_nothing_is_reused_after_events_were_lost(context, root, daemon):
    search(context, "needle", "me")
    daemon.engine(root).watched.journal.lose()

    assert not is_hit(search(context, "needle", "me"))


def test_nothing_is_reused_when_a_context_began_anew(context, root, daemon):
    search(context, "needle", "me")
    daemon.engine(root).watched.journal.bump_epoch()

    assert not is_hit(search(context, "needle", "me"))


def test_an_answer_from_the_tree_itself_is_not_remembered(repo, daemon):
    root = os.path.realpath(repo(TREE))
    context = daemon.context(root)
    first = search(context, "needle", "me")

    assert first["fallback_used"] is True
    assert first["cache"] == "bypass"
    assert not is_hit(search(context, "needle", "me"))


def test_an_answer_cut_short_by_time_is_not_remembered(context, monkeypatch):
    search(context, "needle", "somebody else")  # reads the pattern, which takes time too
    monkeypatch.setattr("triseek.search.envelopes.DEADLINE_S", -1.0)
    monkeypatch.setattr("triseek.search.envelopes.GRACE_S", 1_000.0)
    first = search(context, "needle", "me")
    monkeypatch.undo()

    assert "incomplete" in first


QUESTIONS = {
    "lines": lambda context, who: search(context, "needle", who),
    "a short page": lambda context, who: search(context, "needle", who, limit=2),
    "regex": lambda context, who: search(
        context, r"ne+dle\b", who, mode="regex", case="insensitive"
    ),
    "files": lambda context, who: search(context, "needle", who, output_mode="files", path="src"),
    "count": lambda context, who: search(context, "needle", who, output_mode="count", type="py"),
    "glob": lambda context, who: search_in(context, "lib/**", "needle", who, context=1),
    "nothing": lambda context, who: search(context, "absent", who),
    "paths": lambda context, who: find(context, "src", who),
    "path glob": lambda context, who: find(context, "**/*.py", who, limit=3),
}
WORDS = ["needle\n", "NEEDLE x\n", "plain\n", "absent\n", "a\nneedle\n", "needle\0\n", ""]
NAMES = ["src/a.py", "src/b.py", "src/n/e.py", "lib/c.py", "lib/deep/d.txt", "x.py", "src/w.txt"]
RULES = ["*.log\n", "deep/\n", "*.py\n!a.py\n", "x.py\n"]


def told(answer):
    """What of an answer has to be as a search made now would have it."""
    kept = ("results", "files_with_matches", "total_line_matches", "truncated", "next_offset")
    return {name: answer[name] for name in kept if name in answer}


def step(chance, root, daemon):
    """Something happens; what."""
    kind = chance.choice(
        ["write"] * 6 + ["remove"] * 2 + ["rename", "rename folder", "rules", "nothing", "nothing"]
        + ["update", "lose", "restart", "unwatch"]
    )  # fmt: skip
    name, other = f"{root}/{chance.choice(NAMES)}", f"{root}/{chance.choice(NAMES)}"
    match kind:
        case "write":
            text = chance.choice(WORDS)
            write(root, chance.choice(NAMES), text)
        case "remove" if os.path.exists(name):
            os.unlink(name)
        case "rename" if os.path.exists(name) and os.path.isdir(os.path.dirname(other)):
            os.rename(name, other)
        case "rename folder" if os.path.isdir(f"{root}/lib"):
            shutil.rmtree(f"{root}/moved", ignore_errors=True)
            os.rename(f"{root}/lib", f"{root}/moved")
        case "rules":
            write(root, chance.choice([".gitignore", "src/.ignore"]), chance.choice(RULES))
        case "update":
            with contextlib.suppress(Busy):  # the daemon is doing it itself
                daemon.engine(root).update()
            daemon.ask("reload", {"target_root": root})
        case "lose":
            watch = daemon.engine(root).watched
            if watch is not None:
                watch.journal.lose()
        case "restart":
            restart(root, daemon)
        case "unwatch":
            daemon.engine(root).unwatch()
    return kind


def restart(root, daemon):
    daemon.stop()
    daemon.start()
    daemon.watch(root)


@pytest.mark.parametrize("seed", range(3))
def test_whatever_happens_a_reused_answer_is_the_one_a_search_made_now_gives(
    context, root, daemon, seed, monkeypatch
):
    # Only an index has scores by use, which order equal results: without them both order alike.
    monkeypatch.setattr(Engine, "_known_frecency", lambda _engine: None)
    chance, bare = random.Random(seed), bare_context(root)
    had: dict[str, dict] = {}
    hits = 0
    for _ in range(60):
        what = [step(chance, root, daemon) for _ in range(chance.choice((1, 1, 2)))]
        for name in chance.sample(sorted(QUESTIONS), 3):
            answer = QUESTIONS[name](context, "me")
            now = told(QUESTIONS[name](bare, None))
            if is_hit(answer):
                hits += 1
                assert had[name] == now, (what, name)
            else:
                had[name] = told(answer)
                assert had[name] == now, (what, name, json.dumps(answer)[:800])
        if "unwatch" in what:
            restart(root, daemon)

    assert hits > 5
