"""context_pack: which files a task starts from, and what no input may do to it."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.engine.frecency_contents import top
from triseek.engine.context_pack import terms
from triseek.engine.context_pack.pack import context_pack, next_steps
from triseek.engine.engine import Engine
from triseek.engine.frecency import Frecency
from triseek.engine.freshness import sweep
from triseek.errors import InvalidQuery
from triseek.files.containment import PathOutside, PathRefused
from triseek.model.context_pack import (
    PREVIEW_CHARACTERS,
    REASONS,
    SNIPPETS_MAX,
    ContextPackRequest,
    PackItem,
)

SHOP: dict[str | bytes, bytes | str] = {
    "src/auth/router.py": (
        "from src.auth.accounts import ServiceAccount\n\n\n"
        "def route_login(request):\n"
        "    account = ServiceAccount.of(request)\n"
        "    if account.is_service:\n"
        '        raise RuntimeError("auth panic: service account without a tenant")\n'
        "    return account\n"
    ),
    "src/auth/accounts.py": (
        "class ServiceAccount:\n    @classmethod\n    def of(cls, request):\n        return cls()\n"
    ),
    "src/net/retry.py": (
        "BACKOFF_MAX = 30\n\n\n"
        "def retry_delay(attempt, config):\n"
        "    return min(config.backoff_base * 2**attempt, BACKOFF_MAX)\n"
    ),
    "src/net/pool.py": "class Pool:\n    def close(self):\n        self.sockets.clear()\n",
    "src/util/text.py": "def update(text, value):\n    return text + value\n",
    "config/retry.toml": "[retry]\nbackoff_base = 2\nattempts = 5\n",
    "tests/auth/test_router.py": (
        "def test_service_account_login_does_not_panic():\n"
        "    assert route_login(service_account())\n"
    ),
    "tests/net/test_retry.py": "def test_retry_delay_doubles():\n    assert retry_delay(1) == 4\n",
    "tests/fixtures/accounts.json": '{"service": "account"}\n',
    "docs/auth.md": "# Auth\n\nService accounts log in without a tenant; auth never panics.\n",
    "CHANGELOG.md": "- auth: service account panic, retry backoff, pool, update, everything\n",
}


@pytest.fixture(params=["index", "no index"])
def shop(request, repo, tmp_path):
    root = repo(SHOP)
    if request.param == "no index":
        return Engine(root)
    engine = Engine(root, index_dir=str(tmp_path / "index"))
    engine.build()
    return engine


def paths(engine, goal="fix auth panic for service accounts", **fields):
    pack = context_pack(engine, ContextPackRequest(goal=goal, **fields))
    return [item.path for item in pack.items]


# The scenarios every version must get right


def test_a_panic_is_found_where_it_is_raised(shop):
    pack = context_pack(shop, ContextPackRequest(goal="fix auth panic for service accounts"))

    first = pack.items[0]
    assert first.path == "src/auth/router.py"
    assert first.snippets[0].line == 7
    assert first.snippets[0].preview.startswith('raise RuntimeError("auth panic')
    assert {"content_match", "path_match"} <= set(first.reasons)
    assert "CHANGELOG.md" not in [item.path for item in pack.items[:2]]


def test_a_review_begins_with_what_changed_and_then_its_test(shop):
    found = paths(shop, "review the pool", intent="review", changed_files=("src/net/retry.py",))

    assert found[:2] == ["src/net/retry.py", "tests/net/test_retry.py"]


def test_a_setting_is_found_in_code_and_configuration(shop):
    found = paths(shop, "retry backoff base is ignored")

    assert found[0] == "src/net/retry.py"
    assert "config/retry.toml" in found


def test_a_vague_goal_misleads_nobody(shop):
    pack = context_pack(shop, ContextPackRequest(goal="please fix it and make it work"))

    assert pack.items == ()
    assert not pack.truncated
    assert "names nothing" in pack.suggested_next_steps[0]


def test_a_tiny_tree_costs_little(repo):
    pack = context_pack(Engine(repo({"a.py": "x = 1\n"})), ContextPackRequest(goal="x in a.py"))

    assert [item.path for item in pack.items] == ["a.py"]
    assert pack.estimated_tokens < 60
    assert not pack.truncated


# What is known beside the words


def test_a_trace_leads_to_its_file_and_line(shop):
    goal = 'Traceback:\n  File "/srv/app/src/net/pool.py", line 3, in close\nAttributeError: x'
    pack = context_pack(shop, ContextPackRequest(goal=goal))

    assert pack.items[0].path == "src/net/pool.py"
    assert pack.items[0].snippets[0].line == 3
    assert "named_in_goal" in pack.items[0].reasons


def test_a_definition_is_told_from_a_use(shop):
    pack = context_pack(shop, ContextPackRequest(goal="what does retry_delay do"))

    assert pack.items[0].snippets[0].preview == "def retry_delay(attempt, config):"
    assert "definition" in pack.items[0].reasons


def test_a_well_matching_test_brings_its_source_along(repo):
    tree = {f"src/x{n}.py": "pass\n" for n in range(9)}
    tree["src/clock.py"] = "def now():\n    return 0\n"
    tree["tests/test_clock.py"] = "def test_leap_seconds_are_smeared():\n    smear(leap, seconds)\n"
    pack = context_pack(Engine(repo(tree)), ContextPackRequest(goal="leap seconds are smeared"))

    reasons = {item.path: item.reasons for item in pack.items}
    assert "source_adjacent" in reasons["src/clock.py"]


def test_uncommitted_work_counts(repo):
    root = repo({"a.py": "alpha = 1\n", "b.py": "alpha = 1\n"})
    me = ["-c", "user.name=n", "-c", "user.email=e"]
    for words in (["init", "-q"], ["add", "."], [*me, "commit", "-qm", "first"]):
        subprocess.run(["git", "-C", root, *words], check=True)
    with open(f"{root}/b.py", "a") as file:
        file.write("# edited\n")

    pack = context_pack(Engine(root), ContextPackRequest(goal="alpha"))

    assert [(item.path, "changed_file" in item.reasons) for item in pack.items] == [
        ("b.py", True),
        ("a.py", False),
    ]


def test_what_is_used_often_wins_among_equals(repo, tmp_path):
    root, index = repo({"a.py": "alpha = 1\n", "b.py": "alpha = 1\n"}), str(tmp_path / "index")
    engine = Engine(root, index_dir=index)
    engine.build()
    with Frecency(index) as frecency:
        frecency.claim()
        for _ in range(5):
            frecency.touch("select", [b"b.py"])

    pack = context_pack(engine, ContextPackRequest(goal="alpha"))

    assert pack.items[0].path == "b.py"
    assert "frequently_used" in pack.items[0].reasons


def test_its_own_searches_do_not_count_as_use(repo, tmp_path):
    engine = Engine(repo(SHOP), index_dir=str(tmp_path / "index"))
    engine.build()
    frecency = engine.frecency
    frecency.own()

    paths(engine)

    assert top(frecency, 10) == []
    frecency.close()


def test_a_file_written_since_the_index_is_found(repo, tmp_path):
    engine = Engine(repo(SHOP), index_dir=str(tmp_path / "index"))
    engine.build()
    with open(f"{engine.root}/src/late.py", "w") as file:
        file.write("def zygomorphic():\n    pass\n")
    os.remove(f"{engine.root}/src/net/pool.py")

    assert paths(engine, "zygomorphic") == ["src/late.py"]
    assert "src/net/pool.py" not in paths(engine, "pool sockets clear")


# The envelope


def test_the_envelope_is_the_contracts(shop):
    document = context_pack(shop, ContextPackRequest(goal="retry backoff")).envelope()

    assert list(document) == [
        "version", "repo_root", "intent", "goal", "budget_tokens", "max_files",
        "estimated_tokens", "items", "suggested_next_steps", "truncated",
    ]  # fmt: skip
    assert list(document["items"][0]) == ["path", "score", "reasons", "snippets"]
    assert list(document["items"][0]["snippets"][0]) == ["line", "column", "preview"]
    assert document["suggested_next_steps"][0] == (
        "Start with the highest-ranked source file and its snippets."
    )


@pytest.mark.parametrize(
    ("given", "meant"), [((0, 0), (1, 1)), ((-5, -5), (1, 1)), ((10**9, 10**9), (4000, 12))]
)
def test_numbers_out_of_range_are_cut_to_it(shop, given, meant):
    request = ContextPackRequest(goal="retry", budget_tokens=given[0], max_files=given[1])

    pack = context_pack(shop, request)

    assert (pack.budget_tokens, pack.max_files) == meant


@pytest.mark.parametrize("goal", ["", "  \n\t "])
def test_a_blank_goal_is_refused(shop, goal):
    with pytest.raises(InvalidQuery, match="goal is empty"):
        context_pack(shop, ContextPackRequest(goal=goal))


def test_an_unknown_intent_is_refused(shop):
    with pytest.raises(InvalidQuery, match="no intent 'poem'"):
        context_pack(shop, ContextPackRequest(goal="x", intent="poem"))


def test_truncated_is_exact(repo):
    engine = Engine(repo({f"f{n}.py": "alpha = 1\n" for n in range(3)}))
    request = ContextPackRequest(goal="alpha", max_files=3)

    assert not context_pack(engine, request).truncated
    assert context_pack(engine, replace(request, max_files=2)).truncated
    assert context_pack(engine, replace(request, budget_tokens=40)).truncated


def test_the_same_request_has_the_same_answer_with_and_without_an_index(repo, tmp_path):
    root = repo(SHOP)
    indexed = Engine(root, index_dir=str(tmp_path / "index"))
    indexed.build()
    request = ContextPackRequest(goal="service account retry", max_files=12, budget_tokens=4000)

    assert context_pack(indexed, request) == context_pack(Engine(root), request)


# What comes from outside


@pytest.mark.parametrize(
    "path", ["../etc/passwd", "/etc/passwd", "src/../../x", "..", "a\0b", "\ud800"]
)
def test_a_changed_file_outside_of_the_root_is_refused(shop, path):
    with pytest.raises(PathRefused):
        paths(shop, changed_files=("src/net/pool.py", path))


def test_changed_files_may_be_spelt_freely_and_need_not_exist(shop):
    spelt = (f"{shop.root}/src/net/pool.py", "./src//net/pool.py", " src/gone.py ", "", "src/net")

    found = paths(shop, "nothing like it", changed_files=spelt)

    assert found == ["src/net/pool.py"]


def test_a_link_out_of_the_tree_is_not_read(shop, tmp_path):
    secret = tmp_path / "secret.py"
    secret.write_text("zygomorphic = 1\n")
    os.symlink(secret, f"{shop.root}/src/link.py")

    assert paths(shop, "zygomorphic link.py") == []
    with pytest.raises(PathOutside):
        paths(shop, "zygomorphic link.py", changed_files=("src/link.py",))


def test_a_pipe_in_a_files_place_is_not_waited_for(shop):
    os.remove(f"{shop.root}/src/net/pool.py")
    os.mkfifo(f"{shop.root}/src/net/pool.py")

    assert "src/net/pool.py" not in paths(shop, "pool")
    with pytest.raises(PathRefused, match="a FIFO"):
        paths(shop, "pool", changed_files=("src/net/pool.py",))


def test_names_that_are_not_utf_8_can_be_shown(repo):
    engine = Engine(repo({b"caf\xe9.py": "zygomorphic = 1\n"}))

    assert paths(engine, "zygomorphic") == ["caf\ufffd.py"]


@pytest.mark.parametrize(
    "goal",
    [
        "retry " * 200_000,
        "retry\x00\x1b[31m\x07 backoff",
        "\ud800 retry",
        "((((([[[[ retry \\",
        "ретрай 再試行 retry",
        "a b c d retry",
    ],
    ids=["a megabyte", "controls", "half a surrogate", "regex", "other scripts", "short words"],
)
def test_a_hostile_goal_is_only_a_goal(shop, goal):
    pack = context_pack(shop, ContextPackRequest(goal=goal))

    assert pack.items[0].path in {"src/net/retry.py", "config/retry.toml"}
    assert len(pack.goal) <= 500
    assert pack.goal.isprintable()


def test_lines_are_shown_without_what_a_terminal_would_obey(repo):
    engine = Engine(repo({"a.py": "\talpha = '\x1b]0;x\x07'\r\n" + "x" * 9000 + " alpha\n"}))

    (item,) = context_pack(engine, ContextPackRequest(goal="alpha")).items

    assert [snippet.column for snippet in item.snippets] == [2]
    assert item.snippets[0].preview == "alpha = '\ufffd]0;x\ufffd'"


def test_a_line_too_long_is_cut_around_its_match(repo):
    engine = Engine(repo({"a.py": "x" * 350 + " alpha " + "y" * 30 + "\n"}))

    (item,) = context_pack(engine, ContextPackRequest(goal="alpha")).items

    assert len(item.snippets[0].preview) <= PREVIEW_CHARACTERS
    assert " alpha " in item.snippets[0].preview


def test_who_stops_it_gets_what_was_found_till_then(shop):
    asked = iter([False, True])

    pack = context_pack(shop, ContextPackRequest(goal="auth panic"), stop=lambda: next(asked, True))

    assert pack.truncated
    assert pack.items == ()


WORDS = st.sampled_from(
    [
        "auth",
        "panic",
        "ServiceAccount",
        "retry_delay",
        "the",
        "'close'",
        "pool.py:3",
        "update",
        "\n",
    ]
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.one_of(st.lists(WORDS, min_size=1, max_size=8).map(" ".join), st.text(min_size=1)),
    st.integers(1, 1500),
    st.integers(1, 12),
    st.sampled_from(["bugfix", "review"]),
)
def test_no_answer_breaks_a_promise(shop, goal, budget, most, intent):
    if not goal.strip():
        return
    request = ContextPackRequest(goal=goal, intent=intent, budget_tokens=budget, max_files=most)

    pack = context_pack(shop, request)

    assert pack.estimated_tokens <= budget
    assert len(pack.items) <= most
    scores = [item.score for item in pack.items]
    assert scores == sorted(scores, reverse=True)
    assert len(pack.suggested_next_steps) >= 2
    for item in pack.items:
        assert item.path in SHOP
        assert list(item.reasons) == sorted(set(item.reasons) & set(REASONS))
        assert len(item.snippets) <= SNIPPETS_MAX
        for snippet in item.snippets:
            text = SHOP[item.path].splitlines()[snippet.line - 1]
            assert text.strip() == snippet.preview
    assert pack == context_pack(shop, request)


@pytest.mark.parametrize(
    "goal", ["ServiceAccount", "auth close pool the", "update ServiceAccount", "fix auth panic"]
)
def test_what_was_just_written_makes_no_difference_once_it_has_rested(
    repo, tmp_path, monkeypatch, goal
):
    """Until then all are read, for an edit could hide behind their times."""
    engine = Engine(repo(SHOP), index_dir=str(tmp_path / "index"))
    engine.build()
    request = ContextPackRequest(goal=goal)
    monkeypatch.setattr(sweep, "RACY_NS", 10**18)
    while_racy = context_pack(engine, request)
    assert engine.indexed().tree_diff().count == len(SHOP)
    monkeypatch.setattr(sweep, "RACY_NS", 0)
    assert engine.indexed().tree_diff().count == 0

    assert context_pack(engine, request) == while_racy


GOAL = terms.read("retry fails after a timeout")


def plain_item(*reasons):
    return PackItem(path="src/retry.py", score=1.0, reasons=reasons, snippets=())


def steps(intent, items, *, goal=GOAL, strongest="retry", test=""):
    return " ".join(next_steps(intent, goal, items, strongest=strongest, test=test))


def test_a_fix_starts_with_the_first_file_and_its_test():
    text = steps("bugfix", [plain_item()], test="tests/test_retry.py")

    assert "Start with the highest-ranked source file" in text
    assert "Read tests/test_retry.py for what src/retry.py is expected to do" in text
    assert "search_content for 'retry'" in text


def test_without_a_test_it_says_how_to_look_for_one():
    assert "No test of src/retry.py was found by its name" in steps("bugfix", [plain_item()])


@pytest.mark.parametrize(
    ("reasons", "expected"),
    [(("changed_file",), "Read the changed_file items first"), ((), "No changed file is known")],
)
def test_a_review_starts_with_what_changed(reasons, expected):
    assert steps("review", [plain_item(*reasons)]).startswith(expected)


def test_without_items_it_says_what_to_ask_for():
    assert "another spelling of 'retry'" in steps("bugfix", [])
    assert "The goal names nothing" in steps("bugfix", [], goal=terms.read("the"), strongest="")


def test_a_long_word_is_cut():
    assert "x" * 61 not in steps("bugfix", [plain_item()], strongest="x" * 200)
