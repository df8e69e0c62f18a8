"""An answer is reused only if it would be given again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triseek.engine.freshness.journal import Journal
from triseek.search.reuse import reusable


def always(_path):
    return True


def never(_path):
    return False


def since(*batches):
    journal = Journal()
    clock = journal.watching_began()
    for batch in batches:
        journal.note(batch)
    return journal.since(clock)


def test_nothing_happened_so_the_answer_holds():
    assert reusable(since(), matched=set(), in_scope=always) == (True, "unchanged", b"")


def test_what_the_journal_does_not_know_is_not_fresh():
    journal = Journal()
    clock = journal.watching_began()
    journal.bump_epoch()

    found = reusable(journal.since(clock), matched=set(), in_scope=never)

    assert found == (False, "context_invalidated", b"")


@pytest.mark.parametrize("what", ["created", "modified", "removed"])
def test_a_change_of_a_matched_path_speaks_against_a_question_about_contents(what):
    found = reusable(since({b"a.c": what}), matched={b"a.c"}, in_scope=never, may_match=never)

    assert found == (False, "changed_matched_path", b"a.c")


def test_an_edit_does_not_matter_to_a_question_about_paths():
    edit = since({b"a.c": "modified"})

    assert reusable(edit, matched={b"a.c"}, in_scope=always, contents=False).fresh
    assert not reusable(edit, matched=set(), in_scope=always).fresh


@pytest.mark.parametrize("what", ["created", "removed"])
def test_a_file_that_came_or_went_matters_to_a_question_about_paths(what):
    found = reusable(
        since({b"b.c": what}), matched=set(), in_scope=always, may_match=never, contents=False
    )

    assert found == (False, "changed_search_scope", b"b.c")


def test_a_change_outside_the_scope_does_not_matter():
    change = since({b"x.py": "created"}, {b"y.py": "removed"})

    found = reusable(change, matched={b"a.c"}, in_scope=lambda path: path.endswith(b".c"))

    assert found == (True, "changed_elsewhere", b"")


def test_an_edit_that_cannot_match_keeps_the_answer():
    change = since({b"x.c": "modified", b"y.c": "removed"})

    assert reusable(change, matched={b"a.c"}, in_scope=always, may_match=never).fresh
    assert not reusable(change, matched={b"a.c"}, in_scope=always, may_match=always).fresh


@pytest.mark.parametrize("rule", [b".gitignore", b"a/.ignore", b".rgignore", b".git/info/exclude"])
@pytest.mark.parametrize("contents", [True, False])
def test_an_edited_rule_matters_to_every_question(rule, contents):
    found = reusable(
        since({rule: "modified"}), matched=set(), in_scope=never, may_match=never, contents=contents
    )

    assert found == (False, "changed_rules", rule)


def test_a_folder_stands_for_all_below_it():
    found = reusable(since({b"d/": "removed"}), matched={b"d/a.c"}, in_scope=never, may_match=never)

    assert found == (False, "changed_search_scope", b"d/")


def test_a_batch_of_everything_speaks_against_every_answer():
    change = since({b"%d" % number: "modified" for number in range(50_000)})

    found = reusable(change, matched=set(), in_scope=never, may_match=never, contents=False)

    assert found == (False, "changed_everything", b"")


CONTENTS = st.sampled_from([None, b"", b"needle", b"hay", b"needle hay"])
EDITS = st.lists(st.tuples(st.sampled_from([b"a.c", b"b.c", b"c.py"]), CONTENTS), max_size=6)


def happened(before, after):
    if before is None:
        return "created"
    return "removed" if after is None else "modified"


@given(EDITS, EDITS, st.booleans())
def test_a_reused_answer_is_the_answer_of_now(history, later, contents):
    """Trees of three files; the question is needle in *.c, or the paths of *.c."""
    tree: dict[bytes, bytes] = {}
    journal = Journal()
    journal.watching_began()

    def play(edits):
        for path, content in edits:
            before = tree.get(path)
            if before == content:
                continue
            journal.note({path: happened(before, content)})
            tree.pop(path, None)
            if content is not None:
                tree[path] = content

    def in_scope(path):
        return path.endswith(b".c")

    def answer():
        return {p for p in tree if in_scope(p) and (not contents or b"needle" in tree[p])}

    play(history)
    clock, told = journal.clock, answer()
    play(later)

    found = reusable(
        journal.since(clock), matched=told, in_scope=in_scope,
        may_match=lambda path: b"needle" in tree.get(path, b""), contents=contents,
    )  # fmt: skip

    if found.fresh:
        assert answer() == told
