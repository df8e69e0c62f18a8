"""Commits: their type, their message, their reasons."""

from __future__ import annotations

import pytest

from tests.history.recorded import Recorded
from tests.history.synthesis.derived import derived, kinds

DOCUMENT = """git add -A && git commit -m "$(cat <<'EOF'
feat(cart): give discounts

Rates are fractions. We multiply instead of subtracting,
because a rate is no amount.

Refs: #12
Co-Authored-By: Somebody <x@y>
EOF
)\""""


@pytest.mark.parametrize(
    ("subject", "kind"),
    [
        ("fix: a", "bugfix"), ("feat(x)!: a", "feature"), ("refactor: a", "refactor"),
        ("perf: a", "refactor"), ("docs: a", "change"), ("chore: a", "change"), ("ci: a", "change"),
        ("Fix the parser", "bugfix"), ("Add a parser", "feature"), ("Rename a", "refactor"),
        ("Tidy", "change"), ("Fold the bridge", "refactor"), ("parser: add a rule", "feature"),
        ("lint: fix findings", "bugfix"), ("Add unit tests for a", "change"),
        ("Add a parser and tests", "feature"), ("Test that a is b", "change"),
    ],
)  # fmt: skip
def test_the_prefix_or_the_verb_gives_the_type(database, subject, kind):
    session = Recorded(database).prompt("x")
    session.run(f"git commit -m '{subject}'", f"[main 1a2b3c4] {subject}\n 1 file changed\n")
    assert kinds(session) == [(kind, subject)]


@pytest.mark.parametrize(
    ("subject", "kind"), [("Add a guide", "change"), ("feat: a guide", "feature")]
)
def test_documents_are_a_feature_only_if_the_author_says_so(database, subject, kind):
    session = Recorded(database).prompt("x").write("docs/guide.md", "a\n")
    session.run(f"git commit -m '{subject}'", f"[main 1a2b3c4] {subject}\n 1 file changed\n")
    assert kinds(session)[0] == (kind, subject)


def test_body_trailers_and_reasons(database):
    session = Recorded(database).prompt("x").edit("cart.py", "a", "b")
    session.run(
        DOCUMENT, "[main 1a2b3c4] feat(cart): give discounts\n 1 file changed, 1 insertion(+)\n"
    )
    commit = derived(session, "commit")[0]
    assert commit.type == "feature"
    assert commit.narrative.startswith("Rates are fractions.")
    assert "Refs: #12" in commit.facts
    assert "commit 1a2b3c4" in commit.facts
    assert "Somebody" not in str(commit.facts) + commit.narrative
    (decision,) = derived(session, "commit-decision")
    assert decision.type == "decision"
    assert decision.title == "We multiply instead of subtracting, because a rate is no amount."
    assert derived(session, "edits") == []


def test_a_commit_that_failed_is_none(database):
    session = Recorded(database).prompt("x")
    session.run("git commit -m 'fix: a'", "nothing to commit, working tree clean\n", 1)
    assert derived(session, "commit") == []


def test_an_amended_commit_takes_the_place_of_the_one_before(database):
    session = Recorded(database).prompt("x").run("git commit -qm 'fix: a'")
    session.run("git commit --amend -m 'fix: b'", "[main 2a2b3c4] fix: b\n")
    assert kinds(session) == [("bugfix", "fix: b")]


def test_several_messages_are_subject_and_body(database):
    session = Recorded(database).prompt("x").run('git commit -m "fix: a" -m "Say \\"why\\"."')
    assert derived(session, "commit")[0].narrative == 'Say "why".'
