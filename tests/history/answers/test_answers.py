"""fix, how, blame and friction over several conversations."""

from __future__ import annotations

import pytest

from tests.history import outputs
from tests.history.recorded import Recorded
from triseek.history.answers import texts
from triseek.history.answers.blame import blame
from triseek.history.answers.fix import fix
from triseek.history.answers.friction import friction
from triseek.history.answers.how import how
from triseek.history.synthesis.synthesize import synthesize_pending
from triseek.model.freshness import Freshness

REFUSED = "npm ERR! connect ECONNREFUSED 127.0.0.1:4873\n"
NEW = "def total(items, rate):\n    return sum(items) * rate\n"


@pytest.fixture
def root(tmp_path):
    (tmp_path / "tree/shop").mkdir(parents=True)
    (tmp_path / "tree/shop/cart.py").write_text(NEW)
    (tmp_path / "tree/package.json").write_text("{}")
    return str(tmp_path / "tree")


@pytest.fixture
def history(database, root):
    first = Recorded(database, "one", root=root, at=10**15).prompt("Make discounts work. Please.")
    first.run("pytest -q 2>&1 | tail -30", outputs.PYTEST_FAILED)
    first.edit("shop/cart.py", NEW.replace(" * rate", ""), NEW)
    first.run("pytest -q 2>&1 | tail -30", outputs.PYTEST_PASSED)
    first.run("git commit -am 'fix: apply the rate'", "[main 1a2b3c4] fix: apply the rate\n")
    second = Recorded(database, "two", root=root, at=2 * 10**15).prompt("Deploy it")
    second.run("npm run deploy", REFUSED, 1).run("npm run deploy", REFUSED.replace("4873", "1"), 1)
    second.run("docker compose up -d", "started").run("CI=1 npm run deploy", "done")
    third = Recorded(database, "three", root=root, at=3 * 10**15).prompt("Deploy again")
    third.run("npm run deploy", REFUSED, 1)
    list(synthesize_pending(database))
    return database


def test_fix_says_what_was_edited_and_what_passed(history):
    answer = fix(history, outputs.PYTEST_FAILED)
    assert answer.is_exact
    (newest,) = answer.fixes
    assert newest.conversation.external_id == "one"
    assert newest.conversation.agent == "claude"
    assert newest.resolution is not None
    assert [(file.path, file.added, file.removed) for file in newest.resolution.files] == [
        ("shop/cart.py", 1, 1)
    ]
    assert newest.resolution.passes
    assert newest.resolution.freshness is Freshness.FRESH


def test_fix_says_what_was_run_and_puts_solved_ones_first(history):
    answer = fix(history, "connect ECONNREFUSED 10.1.2.3:80")
    assert [fix.conversation.external_id for fix in answer.fixes] == ["two", "three"]
    solved, unsolved = answer.fixes
    assert solved.resolution is not None
    assert solved.resolution.commands == ("docker compose up -d",)
    assert unsolved.resolution is None


def test_fix_finds_the_same_error_on_another_machine_and_similar_ones(history):
    elsewhere = outputs.PYTEST_FAILED.replace("/work/shop", "/home/me").replace("30", "31")
    assert fix(history, elsewhere).is_exact
    similar = fix(history, "deploy fails: ECONNREFUSED, cannot connect")
    assert not similar.is_exact
    assert {fix.conversation.external_id for fix in similar.fixes} == {"two", "three"}


def test_forks_of_a_conversation_are_one(history, root):
    for name, at in (("again", 2 * 10**15), ("and again", 2 * 10**15)):
        fork = Recorded(history, name, root=root, at=at).prompt("Deploy it")
        fork.run("npm run deploy", REFUSED, 1).run("npm run deploy", REFUSED, 1)
        fork.run("docker compose up -d", "started").run("CI=1 npm run deploy", "done")
    list(synthesize_pending(history))
    fixes = fix(history, REFUSED).fixes
    assert [one.resolution is not None for one in fixes] == [True, False]
    (error,) = friction(history, "shop")
    assert (error.count, error.sessions) == (3, 2)
    later = Recorded(history, "later", root=root, at=9 * 10**15).prompt("Deploy it")
    later.run("npm run deploy", REFUSED, 1)
    with history.write() as connection:  # as Codex copies what a sub-agent starts with
        connection.execute(
            "UPDATE sessions SET parent_external_id = 'two' WHERE id = ?", (later.id,)
        )
    list(synthesize_pending(history))
    (error,) = friction(history, "shop")
    assert (error.count, error.sessions) == (3, 2)


def test_fix_takes_errors_that_contain_the_words_before_similar_ones(history, root):
    talk = Recorded(history, "four", root=root, at=10**15).prompt("Build it")
    talk.run("go build", "zsh:1: command not found: go\n", 127).run("go build", "ok")
    talk.run("jq .", "zsh:1: command not found: jq\n", 127).run("jq .", "{}")
    list(synthesize_pending(history))
    (only,) = fix(history, "command not found: go").fixes
    assert only.error == "zsh:N: command not found: go"


@pytest.mark.parametrize("text", ["", " ", "\0", "zebra crossing", "x" * 500_000, "12 34", "'\"%_"])
def test_fix_of_nothing_known_is_empty(history, text):
    assert fix(history, text).fixes == ()
    assert texts.fix_text(fix(history, text)).startswith("No conversation has met")


def test_a_fix_of_another_project_is_left_out(history):
    assert fix(history, REFUSED, project="other").fixes == ()
    assert fix(history, REFUSED, project="shop").occurrences == 2


def test_how_counts_runs_and_their_outcomes(history):
    answer = how(history, "npm")
    (variant,) = answer.variants
    assert (variant.text, variant.runs, variant.passed, variant.failed) == (
        "npm run deploy",
        4,
        1,
        3,
    )
    assert variant.conversation.external_id == "three"
    assert variant.freshness is Freshness.FRESH
    assert variant.median_ms == 1000
    assert how(history, "npm run deploy").variants == answer.variants
    assert how(history, "np").variants == ()


def test_how_counts_clones_of_a_project_together_and_names_projects(history, root):
    for name, project, folder in (("a", "shop", "/else/shop"), ("b", "bank", "/else/bank")):
        talk = Recorded(history, name, root=folder, at=10**15).prompt("Deploy")
        talk.run("npm run deploy", "done")
        with history.write() as connection:
            connection.execute("UPDATE sessions SET project = ? WHERE id = ?", (project, talk.id))
    list(synthesize_pending(history))
    answer = how(history, "npm")
    assert [variant.runs for variant in answer.variants] == [5, 1]
    text = texts.how_text(answer)
    assert "5 runs in shop: " in text
    assert "1 run in bank: " in text


def test_how_shows_what_was_typed_and_trusts_no_hidden_status(history):
    (variant,) = how(history, "uv run pytest").variants
    assert variant.as_typed == "pytest -q 2>&1 | tail -30"
    assert (variant.passed, variant.failed) == (1, 1)


@pytest.mark.parametrize("spelling", ["shop/cart.py", "./shop/cart.py", "cart.py", "absolute"])
def test_blame_names_the_prompt_and_the_commit(history, root, spelling):
    path = f"{root}/shop/cart.py" if spelling == "absolute" else spelling
    (change,) = blame(history, path)
    assert change.conversation.title == "Title of one"
    assert change.prompt == "Make discounts work."
    assert change.reason == "fix: apply the rate"
    assert (change.added, change.removed, change.symbols) == (1, 1, ("total",))
    assert change.freshness is Freshness.FRESH


@pytest.mark.parametrize("path", ["", "%", "_art.py", "/", "none.py", "\0", "x" * 10_000])
def test_blame_of_what_nobody_changed_is_empty(history, path):
    assert blame(history, path) == ()


def test_friction_lists_what_comes_again_with_its_last_fix(history):
    (error,) = friction(history, "shop")
    assert (error.error, error.count, error.sessions) == ("npm ERR! connect ECONNREFUSED N:N", 3, 2)
    assert error.conversation.external_id == "three"
    assert error.fix is not None
    assert error.fix.conversation.external_id == "two"
    assert friction(history, "other") == ()
    assert friction(history, since_ms=25 * 10**14) == ()
    assert fix(history, error.error).is_exact


def test_texts_are_lines_that_name_the_conversation(history):
    shown = [
        texts.fix_text(fix(history, REFUSED)), texts.how_text(how(history, "npm")),
        texts.blame_text("cart.py", blame(history, "cart.py")), texts.friction_text(friction(history)),  # noqa: E501
    ]  # fmt: skip
    for text in shown:
        assert "claude" in text
        assert "Title of" in text
        assert all(line.isprintable() and len(line) < 400 for line in text.split("\n"))


def test_answers_of_an_empty_history(database):
    assert fix(database, "Error: x").fixes == ()
    assert how(database, "make").variants == ()
    assert blame(database, "a.py") == ()
    assert friction(database) == ()


@pytest.mark.parametrize("command", ["cat", "grep", "git status"])
def test_how_of_a_command_that_only_looks_says_so(database, command):
    assert "only looks" in texts.how_text(how(database, command))
    assert texts.how_text(how(database, "catapult")) == "No conversation has run catapult."
