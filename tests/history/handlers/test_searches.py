"""The searches and look-ups: the contract's parameters, their bounds and what they find."""

from __future__ import annotations

import pytest

from tests.history.rows import NOON

SEARCHES = ("search_observations", "search_sessions", "search_user_prompts")
LISTS = {
    **{name: {"query": "fix"} for name in SEARCHES},
    "find_by_concept": {"concept": "gotcha"},
    "find_by_file": {"filePath": "a.py"},
    "find_by_type": {"type": "bugfix"},
}
each_list = pytest.mark.parametrize("tool", LISTS)
DAY = 86_400_000


def corpus(history):
    session = history.rows.session("first")
    one = history.rows.observation(session, "error handling in the parser", narrative="a bug")
    two = history.rows.observation(session, "error of a fix", narrative="handling comes later")
    three = history.rows.observation(session, "authentication", narrative="the exact phrase")
    four = history.rows.observation(session, "camelCaseName", narrative="exact other phrase")
    return one, two, three, four


def test_vector_1_the_documented_queries_find_what_they_say(history):
    one, two, three, four = corpus(history)

    for query, ids in {
        "error handling": {one, two},
        '"error" AND "handling"': {one, two},
        '"bug" OR "fix"': {one, two},
        '"handling" NOT "bug"': {two},
        "\"'exact phrase'\"": {three},
        'title:"authentication"': {three},
        "caseName": {four},
    }.items():
        assert set(history.ids("search_observations", query=query)) == ids, query


@pytest.mark.parametrize(
    "query",
    ["how-it-works", "src/auth/login.ts", "C++", "foo(bar)", '"unterminated', "AND", "!!!", "don't",
     "nosuch:x", "NEAR(", "\0", "a" * 60_000],
)  # fmt: skip
@pytest.mark.parametrize("tool", SEARCHES)
def test_vector_1_no_query_is_an_error(history, tool, query):
    corpus(history)

    assert history.ask(tool, query=query)["total"] == 0


def test_rows_with_some_of_the_words_are_shown_if_none_has_all(history):
    one, *_ = corpus(history)

    assert history.ids("search_observations", query="parser zebra") == [one]
    assert "0 exact; showing 1 partial matches" in history.text(
        "search_observations", query="parser zebra"
    )
    assert "0 exact" not in history.text("search_observations", query="parser error")


@each_list
@pytest.mark.parametrize(
    ("name", "value"),
    [("limit", 0), ("limit", 101), ("limit", -1), ("limit", "abc"), ("limit", True),
     ("limit", 10**30), ("offset", -1), ("offset", 10**30), ("format", "x"), ("orderBy", "foo"),
     ("dateRange", 5), ("project", 7)],
)  # fmt: skip
def test_vector_2_a_value_out_of_bounds_is_refused_by_name(history, tool, name, value):
    assert name in history.error(tool, **LISTS[tool], **{name: value})


@pytest.mark.parametrize("tool", ["search_observations", "find_by_type"])
def test_vector_2_a_type_that_is_none_is_refused(history, tool):
    assert "type" in history.error(tool, **{**LISTS[tool], "type": "bogus"})


@each_list
def test_vector_2_a_missing_argument_is_named(history, tool):
    [name] = LISTS[tool]

    assert name in history.error(tool)
    assert name in history.error(tool, **{name: ""})


@each_list
def test_vector_2_at_most_20_are_listed_by_default_and_pages_go_on(history, tool):
    session = history.rows.session()
    for at in range(45):
        history.rows.observation(
            session, f"fix {at}", NOON + at, type="bugfix", concepts=("gotcha",), read=("/x/a.py",)
        )
        history.rows.summary(session, f"fix {at}", NOON + at)
        history.rows.prompt(session, f"fix {at}", NOON + at, at)

    kind = "sessions" if tool == "search_sessions" else "observations"
    kind = "prompts" if tool == "search_user_prompts" else kind
    seen, offset = [], 0
    while offset is not None:
        page = history.ask(tool, **LISTS[tool], offset=offset)
        assert len(page[kind]) <= 20
        seen += [record["time_ms"] for record in page[kind]]
        offset = page.get("next_offset")
    assert sorted(seen) == list(range(NOON, NOON + 45))
    assert page["total"] == (46 if tool == "find_by_file" else 45)


def test_pages_are_named_in_the_text(history):
    session = history.rows.session()
    for at in range(3):
        history.rows.observation(session, f"fix {at}", NOON + at)

    first = history.text("search_observations", query="fix", limit=2)
    last = history.text("search_observations", query="fix", limit=2, offset=2)
    beyond = history.text("search_observations", query="fix", offset=9)
    assert first.endswith("2 of 3; next page: offset 2")
    assert last.endswith("1 of 3; this is the last page")
    assert beyond.startswith('No observations found matching "fix" from offset 9 on')


@pytest.mark.parametrize(
    ("start", "end", "kept"),
    [
        ("2025-10-21", "2025-10-21", {1, 2}),
        ("2025-10-21T12:00:00Z", "", {1, 2, 3}),
        ("", "2025-10-21T12:00:00+00:00", {0, 1}),
        (NOON, NOON, {1}),
        (str(NOON), float(NOON + 1), {1}),
        ("Oct 21 2025", "2025-10-21T23:59:59.999Z", {1, 2}),
        ("", "2025-10-20", {0}),
    ],
)
def test_vector_3_date_ranges(history, start, end, kept):
    session = history.rows.session()
    times = (NOON - DAY, NOON, NOON + 11 * 3_600_000, NOON + DAY)
    ids = [history.rows.observation(session, "fix", time_ms) for time_ms in times]

    shown = history.ids("search_observations", query="fix", dateRange={"start": start, "end": end})

    assert set(shown) == {ids[at] for at in kept}


def test_vector_3_a_bad_range_is_an_error_and_the_zone_is_stated(history):
    ask = {"query": "fix"}
    assert "start" in history.error(
        "search_sessions", **ask, dateRange={"start": "2025-10-22", "end": "2025-10-21"}
    )
    assert "UTC+00:00" in history.error("search_sessions", **ask, dateRange={"start": 2, "end": 1})
    assert "dateRange.start" in history.error(
        "search_user_prompts", **ask, dateRange={"start": "soon"}
    )
    assert "dateRange.end" in history.error("search_sessions", **ask, dateRange={"end": 1e300})
    assert "begin" in history.error("search_sessions", **ask, dateRange={"begin": 1})
    assert "dates are UTC+00:00" in history.text(
        "search_sessions", **ask, dateRange='{"start": "2025-10-22"}'
    )


def test_vector_4_wildcards_in_paths_stand_for_themselves(history):
    session = history.rows.session()
    exact = history.rows.observation(session, "fix", read=("/w/50%_x.py",))
    history.rows.observation(session, "fix", read=("/w/50ab_x.py",))
    history.rows.observation(session, "fix", read=("/w/50%ax.py",))

    assert history.ids("search_observations", query="fix", files="50%_x") == [exact]
    assert history.ids("find_by_file", filePath="50%_x") == [exact]
    assert history.ids("find_by_file", filePath="\\") == []


@pytest.mark.parametrize(
    "path",
    ["/work/shop/src/login.ts", "src/login.ts", "./src/login.ts", "login.ts", "src//login.ts"],
)
def test_vector_4_a_file_is_found_by_every_spelling_with_its_sessions(history, path):
    first = history.rows.session("first")
    summarized = history.rows.session("second")
    history.rows.session("third")
    absolute = history.rows.observation(first, "one", NOON, read=("/work/shop/src/login.ts",))
    relative = history.rows.observation(summarized, "two", NOON + 1, modified=("src/login.ts",))
    history.rows.observation(summarized, "three", NOON + 2, modified=("src/logout.ts",))
    history.rows.summary(summarized, "Fix the login")

    answer = history.ask("find_by_file", filePath=path)

    assert [record["id"] for record in answer["observations"]] == [relative, absolute]
    assert [record["id"] for record in answer["sessions"]] == ["second", "first"]
    assert answer["sessions"][0]["request"] == "Fix the login"
    assert answer["total"] == 4


def test_filters_hold_together(history):
    session = history.rows.session()
    other = history.rows.session(project="other")
    kept = history.rows.observation(
        session, "fix", type="bugfix", concepts=("gotcha", "how-it-works"), read=("/a.py",)
    )
    history.rows.observation(session, "fix", type="feature", concepts=("gotcha",), read=("/a.py",))
    history.rows.observation(session, "fix", type="bugfix", concepts=("gotc",), read=("/a.py",))
    history.rows.observation(session, "fix", type="bugfix", concepts=("gotcha",), read=("/b.py",))
    history.rows.observation(
        other, "fix", type="bugfix", concepts=("gotcha",), read=("/a.py",), project="other"
    )
    filters = {"concepts": ["gotcha", "x"], "files": ["a.py"], "project": "shop"}

    assert history.ids("search_observations", query="fix", type="bugfix", **filters) == [kept]
    assert len(history.ids("search_observations", query="fix", type='["bugfix", "feature"]')) == 5


def test_a_concept_that_is_a_type_finds_the_type_and_a_damaged_list_is_none(history):
    session = history.rows.session()
    typed = history.rows.observation(session, "one", type="discovery")
    with history.database.write() as connection:
        connection.execute("UPDATE observations SET concepts = '[broken', facts = '{'")
    tagged = history.rows.observation(session, "two", type="change", concepts=("gotcha",))

    assert history.ids("find_by_concept", concept="discovery") == [typed]
    assert history.ids("find_by_concept", concept="gotcha") == [tagged]
    assert history.ids("search_observations", query="one", format="full") == [typed]


def test_relevance_is_the_order_of_searches_and_date_that_of_look_ups(history):
    session = history.rows.session()
    best = history.rows.observation(session, "token", NOON)
    newest = history.rows.observation(session, "x", NOON + 2, narrative="a token among others here")
    middle = history.rows.observation(session, "y", NOON + 1, narrative="a token among others here")

    assert history.ids("search_observations", query="token") == [best, newest, middle]
    assert history.ids("search_observations", query="token", orderBy="date_asc") == [
        best, middle, newest
    ]  # fmt: skip
    assert history.ids("find_by_type", type="discovery") == [newest, middle, best]
    assert history.ids("find_by_type", type="discovery", orderBy="relevance") == [
        newest, middle, best
    ]  # fmt: skip
    scores = [r["score"] for r in history.ask("search_observations", query="token")["observations"]]
    assert scores[0] == 1.0
    assert scores == sorted(scores, reverse=True)


def test_equal_rows_are_in_the_order_of_time_then_id(history):
    session = history.rows.session()
    ids = [history.rows.observation(session, "same", NOON) for _ in range(5)]

    assert history.ids("search_observations", query="same") == ids[::-1]
    assert history.ids("find_by_type", type="discovery", orderBy="date_asc") == ids


def test_superseded_and_expired_rows_are_hidden(history):
    session = history.rows.session()
    old = history.rows.observation(session, "fix")
    new = history.rows.observation(session, "fix", superseded_by=None)
    history.rows.observation(session, "fix", valid_until=1)
    with history.database.write() as connection:
        connection.execute("UPDATE observations SET superseded_by = ? WHERE id = ?", (new, old))

    assert history.ids("search_observations", query="fix") == [new]
    assert history.ids("find_by_type", type="discovery") == [new]
    assert history.ids("get_observations", ids=[old]) == [old]
    assert f"Superseded by: #{new}" in history.text("get_observations", ids=[old])


def test_chinese_is_found_in_prompts_summaries_and_observations(history):
    session = history.rows.session()
    history.rows.prompt(session, "请优化数据库索引")
    history.rows.summary(session, "优化数据库")
    history.rows.observation(session, "数据库很慢")

    for tool in SEARCHES:
        assert history.ask(tool, query="数据库")["total"] == 1, tool


@pytest.mark.parametrize(
    "query", ["title:caseName", "title : 登录", '{title facts}:"登录"', "title:登* NOT facts:x"]
)
def test_parts_of_names_and_chinese_are_found_in_their_column(history, query):
    id_ = history.rows.observation(history.rows.session(), "camelCaseName 修复了登录错误")
    answer = history.ask("search_observations", query=query)
    assert [record["id"] for record in answer["observations"]] == [id_]
    assert "partial" not in answer


def test_prompts_and_sessions_show_the_agents_ids(history):
    session = history.rows.session("abc")
    summary = history.rows.summary(session, "Fix login", learned="tokens expire")
    history.rows.prompt(session, "please fix " + "x " * 200, number=3)

    assert f"| S{summary}\n   Source: claude-mem://session/abc" in history.text(
        "search_sessions", query="learned:tokens"
    )
    [prompt] = history.ask("search_user_prompts", query="fix")["prompts"]
    assert len(prompt["text"]) == 160
    [whole] = history.ask("search_user_prompts", query="fix", format="full")["prompts"]
    assert len(whole["text"]) > 400
    assert prompt["number"] == 3


@each_list
def test_nothing_found_is_said_and_is_no_error(history, tool):
    answer = history.ask(tool, **LISTS[tool])

    assert answer["total"] == 0
    assert history.text(tool, **LISTS[tool]).startswith("No ")


def test_a_project_is_named_by_its_name_or_its_root(history):
    session = history.rows.session(root="/work/shop")
    ours = history.rows.observation(session, "fix", root="/work/shop")
    history.rows.observation(history.rows.session(), "fix", root="/old/shop")

    assert history.ids("search_observations", query="fix", project="/work/shop") == [ours]
    assert len(history.ids("search_observations", query="fix", project="shop")) == 2


def test_what_an_agent_asks_a_sub_agent_is_not_said_by_the_user(history):
    history.rows.prompt(history.rows.session(is_sub_agent=1), "look for the discount")
    ours = history.rows.prompt(history.rows.session(), "mend the discount")

    prompts = history.ask("search_user_prompts", query="discount")
    assert ([prompt["id"] for prompt in prompts["prompts"]], prompts["total"]) == ([ours], 1)
