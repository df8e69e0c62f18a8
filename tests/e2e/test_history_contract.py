"""Every parameter of the history contract's nine tools, by an outside client over stdio.

The history is that of a real import: transcripts in Claude Code's format, read by `triseek history
import`, their observations derived by rule; some observations are written by `remember`. What is
expected is read from the database by SQL, or known from the transcripts.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import re
import sqlite3

import pytest

from tests.e2e.agents import agent
from tests.e2e.claude_transcripts import Transcript
from tests.e2e.serving import daemon, environ, triseek

pytestmark = pytest.mark.long
ROUTINE = 24
"""Conversations of the project shop, each with a prompt, a commit and a summary: one a day."""
BEST = 5
"""The one of them whose texts are shortest, and so match a single word best."""
OTHER = 3
LISTS = {
    "search_observations": {"query": "routine"},
    "search_sessions": {"query": "routine"},
    "search_user_prompts": {"query": "routine"},
    "find_by_concept": {"concept": "what-changed"},
    "find_by_file": {"filePath": "routine.py"},
    "find_by_type": {"type": "change"},
}
SEARCHES = tuple(LISTS)[:3]
FINDS = tuple(LISTS)[3:]
NOUNS = {
    "search_sessions": "session", "search_user_prompts": "user prompt", "find_by_file": "result",
}  # fmt: skip
each_list = pytest.mark.parametrize("tool", LISTS)
each_search = pytest.mark.parametrize("tool", SEARCHES)
DAY_MS = 86_400_000
FIRST = dt.datetime(2025, 9, 1, 10, tzinfo=dt.UTC)


def made(home, folders):
    """Write the transcripts of all conversations."""
    for number in range(1, ROUTINE + 1):
        text = "routine" if number == BEST else f"routine check of the tree, number {number}"
        start = FIRST + dt.timedelta(days=number - 1)
        routine(home, f"shop-{number:02}", folders["shop"], start, text)
    for number in range(1, OTHER + 1):
        start = FIRST + dt.timedelta(days=40 + number)
        routine(home, f"other-{number}", folders["other"], start, f"routine of other {number}")
    day = dt.datetime(2025, 10, 20, 10, tzinfo=dt.UTC)
    fixed = Transcript(home, "login", folders["shop"], day)
    fixed.prompt("the login token expires too early " + "please " * 40)
    failing = "E   AssertionError: token expired\nFAILED tests/test_login.py::test_expiry"
    fixed.run("pytest tests/test_login.py", failing, failed=True)
    fixed.edit("src/login.py", "ttl = 1", "ttl = 60")
    fixed.run("pytest tests/test_login.py", "1 passed in 0.1s")
    for _ in range(3):
        fixed.run("make check", "error: unused import os", failed=True)


def routine(home, session, folder, start, text):
    one = Transcript(home, session, folder, start)
    one.prompt(text).edit("src/routine.py", "a = 1", f"a = {len(text)}")
    subject = f"chore: {text}"
    one.run(f"git commit -am '{subject}'", f"[main 1a2b3c4] {subject}\n 1 file changed\n")


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    home = tmp_path_factory.mktemp("history-contract-home")
    source = tmp_path_factory.mktemp("history-contract").resolve()
    folders = {name: str(source / name) for name in ("shop", "other")}
    for folder in (source / "shop", source / "other"):
        (folder / ".git").mkdir(parents=True)
    made(home, folders)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "UTC")
        patch.delenv("CLAUDE_CONFIG_DIR", raising=False)
        triseek(home, "history", "import", "--all")
        with daemon(home), agent(
            folders["shop"], "--toolsets", "history,history-work", **environ(home)
        ) as client:  # fmt: skip
            client.folders, client.home = folders, home
            client.notes = [client.call("remember", **note) for note in NOTES]
            yield client


NOTES = (
    {"text": "Cache keys carry the tenant.", "type": "decision", "title": "Tenant in cache keys",
     "concepts": ["pattern"], "files": ["src/cache.py"]},
    {"text": "The gateway drops idle sockets.", "type": "discovery", "title": "Idle sockets",
     "concepts": ["gotcha"], "files": ["src/gateway.py", "src/50%_x.py"]},
    {"text": "camelCaseName is read by caller.", "type": "feature", "title": "Names",
     "concepts": ["gotcha", "how-it-works"], "files": ["src/50ab_x.py"]},
    {"text": "Idle sockets of other.", "type": "discovery", "title": "Elsewhere",
     "concepts": ["gotcha"], "project": "other"},
)  # fmt: skip


def rows(server, query, *values):
    with contextlib.closing(
        sqlite3.connect(f"file:{server.home}/history/history.db?mode=ro", uri=True)
    ) as connection:
        return connection.execute(query, values).fetchall()


KINDS = ("observations", "sessions", "prompts")


def listed(answer):
    """The records of a list, observations before sessions."""
    return [record for kind in KINDS for record in answer.get(kind, ())]


def days(answer):
    """The days on which records are, counted from the first conversation's, without repetition."""
    first = FIRST.timestamp() * 1000
    return sorted({int((record["time_ms"] - first) // DAY_MS) for record in listed(answer)})


def times(answer):
    """The times of a list's records; of two lists, those of the first."""
    kind = next(kind for kind in KINDS if kind in answer)
    return [record["time_ms"] for record in answer[kind]]


def error(server, tool, **asked):
    """The message of a call that has to fail, as an agent sees it."""
    result = server.result(tool, **asked)
    assert result.is_error, asked
    [block] = result.content
    assert block.text.startswith(f"{tool} error [")
    return block.text


# What all six lists take: project, dateRange, orderBy, limit, offset, format.


@each_list
def test_project_is_a_name_or_a_root(server, tool):
    here = server.call(tool, **LISTS[tool], project="shop", limit=100)
    other = server.call(tool, **LISTS[tool], project="other", limit=100)
    by_root = server.call(tool, **LISTS[tool], project=server.folders["other"], limit=100)
    both = server.call(tool, **LISTS[tool], limit=100)

    assert days(other) == days(by_root) == [41, 42, 43]
    assert days(here) == list(range(ROUTINE))
    assert days(both) == [*range(ROUTINE), 41, 42, 43]
    assert server.call(tool, **LISTS[tool], project="none")["total"] == 0


@each_list
@pytest.mark.parametrize(
    ("span", "expected"),
    [
        ({"start": "2025-09-03", "end": "2025-09-04"}, [2, 3]),  # the last day is a whole one
        ({"start": "2025-09-03T00:00:00Z", "end": "2025-09-04T00:00:00Z"}, [2]),
        ({"start": "2025-09-03T02:00:00+02:00", "end": "2025-09-04T23:00:00"}, [2, 3]),
        ({"start": 1_756_857_600_000, "end": 1_756_943_999_999}, [2]),
        ({"start": "1756857600000", "end": "1756943999999"}, [2]),
        ({"start": "Sep 3 2025", "end": "Sep 3 2025"}, [2]),
        ({"end": "2025-09-02"}, [0, 1]),
        ({"start": "2025-09-23", "end": "2025-10-01"}, [22, 23]),
        ({"start": "2025-10-12"}, [41, 42, 43]),
        ('{"start": "2025-09-03", "end": "2025-09-03"}', [2]),
    ],
)
def test_a_date_range_has_both_its_ends(server, tool, span, expected):
    answer = server.call(tool, **LISTS[tool], dateRange=span, limit=100)

    assert days(answer) == expected
    assert answer["timezone"] == "UTC+00:00"


@each_list
@pytest.mark.parametrize(
    ("span", "name"),
    [
        ({"start": "2025-09-04", "end": "2025-09-03"}, "start 2025-09-04 is after end"),
        ({"start": 2, "end": 1}, "UTC+00:00"),
        ({"start": "soon"}, "dateRange.start"),
        ({"end": "2025-13-01"}, "dateRange.end"),
        ({"begin": "2025-09-04"}, "dateRange.begin"),
        ("yesterday", "dateRange"),
    ],
)
def test_a_date_range_that_is_none_is_refused(server, tool, span, name):
    assert name in error(server, tool, **LISTS[tool], dateRange=span)


@each_list
def test_dates_say_their_zone(server, tool):
    text = server.text(tool, **LISTS[tool], dateRange={"start": "2025-09-03"})

    assert "dates are UTC+00:00" in text


@each_list
def test_order_by_date_goes_either_way(server, tool):
    newest = times(server.call(tool, **LISTS[tool], orderBy="date_desc", limit=100))
    oldest = times(server.call(tool, **LISTS[tool], orderBy="date_asc", limit=100))

    assert newest == sorted(newest, reverse=True)
    assert oldest == newest[::-1]
    assert len(oldest) == ROUTINE + OTHER


@each_search
def test_searches_are_ordered_by_relevance_unless_another_order_is_named(server, tool):
    usual = server.call(tool, **LISTS[tool])
    named = server.call(tool, **LISTS[tool], orderBy="relevance")

    assert listed(usual) == listed(named)
    assert days({"sessions": listed(usual)[:1]}) == [BEST - 1]
    scores = [record["score"] for record in listed(usual)]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == 1.0 > scores[-1]


@pytest.mark.parametrize("tool", FINDS)
def test_look_ups_are_ordered_by_date_unless_another_order_is_named(server, tool):
    newest = times(server.call(tool, **LISTS[tool], orderBy="date_desc"))

    assert times(server.call(tool, **LISTS[tool])) == newest
    assert times(server.call(tool, **LISTS[tool], orderBy="relevance")) == newest


@each_list
def test_limit_is_20_by_default_and_holds(server, tool):
    usual = server.call(tool, **LISTS[tool])
    few = server.call(tool, **LISTS[tool], limit=3)
    all_of_them = server.call(tool, **LISTS[tool], limit=100)

    assert (len(times(usual)), usual["next_offset"]) == (20, 20)
    assert (len(times(few)), few["next_offset"]) == (3, 3)
    assert len(times(all_of_them)) == ROUTINE + OTHER
    assert "next_offset" not in all_of_them
    assert times(server.call(tool, **LISTS[tool], limit="3")) == times(few)


@each_list
def test_offset_skips_results(server, tool):
    whole = server.call(tool, **LISTS[tool], limit=100)
    page = server.call(tool, **LISTS[tool], offset=4, limit=3)
    last = server.call(tool, **LISTS[tool], offset=25)

    assert times(page) == times(whole)[4:7]
    assert times(last) == times(whole)[25:]
    assert page["total"] == last["total"] == whole["total"]
    beyond = server.result(tool, **LISTS[tool], offset=1000)
    assert not beyond.is_error
    assert listed(beyond.structured_content) == []


@each_list
def test_format_is_index_by_default(server, tool):
    index = server.result(tool, **LISTS[tool], limit=2)
    named = server.result(tool, **LISTS[tool], limit=2, format="index")
    count = 4 if tool == "find_by_file" else 2

    assert index.content[0].text == named.content[0].text
    lines = index.content[0].text.splitlines()
    assert lines[0].startswith(f"Found {count} {NOUNS.get(tool, 'observation')}(s) ")
    assert re.fullmatch(r"1\. \S.*", lines[2])
    assert re.fullmatch(r"   Date: 2025-\d\d-\d\d 10:\d\d.*", lines[3])
    assert re.fullmatch(r"   Source: claude-mem://(observation|session|user-prompt)/\S+", lines[4])


@each_list
def test_format_full_has_all_details(server, tool):
    index = listed(server.call(tool, **LISTS[tool], limit=2))
    result = server.result(tool, **LISTS[tool], limit=2, format="full")
    full = listed(result.structured_content)
    text = result.content[0].text

    assert [record["uri"] for record in full] == [record["uri"] for record in index]
    assert text.startswith("## ")
    assert text.count("\n*Source: claude-mem://") == len(full)
    assert "Found" not in text.splitlines()[0]
    if tool != "search_user_prompts":
        assert "src/routine.py" in text
        assert all(record["files"] == ["src/routine.py"] for record in full)
        assert not any("files" in record for record in index)


def test_a_prompt_is_cut_in_the_index_and_whole_in_full(server):
    [cut] = listed(server.call("search_user_prompts", query="expires"))
    [whole] = listed(server.call("search_user_prompts", query="expires", format="full"))

    assert len(cut["text"]) == 160
    assert whole["text"].count("please") == 40


@each_list
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("limit", 0), ("limit", 101), ("limit", -1), ("limit", "abc"), ("limit", 2.5),
        ("offset", -1), ("offset", "x"), ("format", "x"), ("orderBy", "foo"), ("project", 7),
        ("order", "date_desc"),
    ],
)  # fmt: skip
def test_a_value_out_of_bounds_is_refused_by_its_name(server, tool, name, value):
    assert name in error(server, tool, **LISTS[tool], **{name: value})


@each_list
def test_the_required_argument_is_required(server, tool):
    [name] = LISTS[tool]

    assert name in error(server, tool)
    assert name in error(server, tool, **{name: ""})


@each_list
def test_the_schema_says_what_is_enforced(server, tool):
    [schema] = [one.input_schema for one in server.tools() if one.name == tool]
    fields = schema["properties"]

    assert schema["required"] == [*LISTS[tool]]
    assert {"project", "dateRange", "orderBy", "limit", "offset", "format"} <= fields.keys()
    assert (fields["limit"]["maximum"], fields["limit"]["default"]) == (100, 20)
    assert fields["orderBy"]["enum"] == ["relevance", "date_desc", "date_asc"]
    assert fields["format"]["enum"] == ["index", "full"]
    assert fields["format"]["default"] == "index"
    assert set(fields["dateRange"]["properties"]) == {"start", "end"}


# What single tools take.


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        ("idle sockets", {"Idle sockets", "Elsewhere"}),
        ('"idle" AND "gateway"', {"Idle sockets"}),
        ('"tenant" OR "gateway"', {"Tenant in cache keys", "Idle sockets"}),
        ('"sockets" NOT "gateway"', {"Elsewhere"}),
        ("\"'drops idle'\"", {"Idle sockets"}),
        ('title:"idle"', {"Idle sockets"}),
        ("tenan*", {"Tenant in cache keys"}),
        ("caseName", {"Names"}),
    ],
)
def test_query_has_the_syntax_that_is_documented(server, query, titles):
    answer = server.call("search_observations", query=query)

    assert {record["title"] for record in listed(answer)} == titles


@each_search
@pytest.mark.parametrize(
    "query", ["how-it-works", "src/auth/login.ts", "C++", "foo(bar)", '"unterminated', "AND", "!!!"]
)
def test_no_query_is_an_error(server, tool, query):
    assert not server.result(tool, query=query).is_error


@pytest.mark.parametrize(
    ("filters", "titles"),
    [
        ({"type": "decision"}, {"Tenant in cache keys"}),
        ({"type": ["decision", "feature"]}, {"Tenant in cache keys", "Names"}),
        ({"type": '["decision", "feature"]'}, {"Tenant in cache keys", "Names"}),
        ({"concepts": "how-it-works"}, {"Names"}),
        ({"concepts": ["how-it-works", "pattern"]}, {"Names", "Tenant in cache keys"}),
        ({"concepts": ["goth", "attern"]}, set()),
        ({"files": "src/cache.py"}, {"Tenant in cache keys"}),
        ({"files": ["gateway", "cache"]}, {"Tenant in cache keys", "Idle sockets"}),
        ({"files": "50%_x"}, {"Idle sockets"}),
        ({"concepts": "gotcha", "type": "feature"}, {"Names"}),
        ({"concepts": "gotcha", "project": "other"}, {"Elsewhere"}),
        ({"concepts": "gotcha", "files": "cache"}, set()),
    ],
)
def test_filters_of_observations_hold_together(server, filters, titles):
    query = "tenant OR sockets OR caller"

    answer = server.call("search_observations", query=query, **filters)

    assert {record["title"] for record in listed(answer)} == titles


@pytest.mark.parametrize("tool", ["search_observations", "find_by_type"])
@pytest.mark.parametrize("value", ["bogus", ["decision", "bogus"], 5])
def test_a_type_that_is_none_is_refused(server, tool, value):
    assert "type" in error(server, tool, **{**LISTS[tool], "type": value})


@pytest.mark.parametrize(
    ("concept", "titles"),
    [
        ("gotcha", ["Elsewhere", "Names", "Idle sockets", "make check: error: unused import os"]),
        ("pattern", ["Tenant in cache keys"]),
        ("gotch", []),
    ],
)
def test_a_concept_is_looked_up_whole(server, concept, titles):
    found = server.call("find_by_concept", concept=concept, orderBy="date_desc")

    assert [record["title"] for record in listed(found)] == titles


@pytest.mark.parametrize("spelling", ["src/login.py", "login.py", "./src/login.py", "ROOT"])
def test_a_file_is_looked_up_by_every_spelling(server, spelling):
    path = f"{server.folders['shop']}/src/login.py" if spelling == "ROOT" else spelling

    answer = server.call("find_by_file", filePath=path)

    assert [record["type"] for record in answer["observations"]] == ["bugfix"]
    assert [record["id"] for record in answer["sessions"]] == ["login"]


@pytest.mark.parametrize(
    ("type_", "count"), [("bugfix", 1), (["bugfix", "decision"], 2), ("refactor", 0)]
)
def test_one_type_or_several_are_looked_up(server, type_, count):
    assert server.call("find_by_type", type=type_)["total"] == count


def test_a_column_of_sessions_and_prompts_can_be_named(server):
    by_request = server.call("search_sessions", query="request:expires")
    by_other = server.call("search_sessions", query="learned:routine")
    prompts = server.call("search_user_prompts", query="prompt_text:expires")

    assert (by_request["total"], by_other["total"], prompts["total"]) == (1, 0, 1)


# The recent context.


def recent(server, **asked):
    return [one["id"] for one in server.call("get_recent_context", **asked)["sessions"]]


def test_the_recent_context_is_of_3_sessions_of_this_project(server):
    text = server.text("get_recent_context")

    assert recent(server) == ["shop-23", "shop-24", "login"]
    assert text.startswith("# Recent Session Context\n\nShowing last 3 session(s) for **shop**:")
    assert "**Summary (Prompt #1)**" in text
    assert "**Files Edited:** src/login.py" in text


def test_the_recent_context_takes_a_project_and_a_limit(server):
    assert recent(server, project="other") == ["other-1", "other-2", "other-3"]
    assert recent(server, project=server.folders["other"], limit=1) == ["other-3"]
    assert len(recent(server, limit=10)) == 10
    assert server.text("get_recent_context", project="none") == (
        '# Recent Session Context\n\nNo previous sessions found for project "none".'
    )


@pytest.mark.parametrize("limit", [0, 11, -1, "x"])
def test_the_recent_contexts_limit_is_enforced(server, limit):
    assert "limit" in error(server, "get_recent_context", limit=limit)


@pytest.mark.parametrize(
    ("status", "marks"),
    [
        ("active", ("**In Progress**", "**Observations (1):**", "Active - summary pending")),
        ("failed", ("**Failed**", "**Status:** failed - no summary available")),
        ("completed", ("**Completed**", "**Status:** completed - no summary available")),
    ],
)
def test_a_session_without_a_summary_says_how_it_stands(server, status, marks):
    with contextlib.closing(sqlite3.connect(f"{server.home}/history/history.db")) as connection:
        select = "SELECT id FROM sessions WHERE external_id = 'other-3'"
        kept = connection.execute(
            f"SELECT * FROM session_summaries WHERE session_id IN ({select})"
        ).fetchall()
        with connection:
            connection.execute(f"DELETE FROM session_summaries WHERE session_id IN ({select})")
            connection.execute("UPDATE sessions SET status = ? WHERE external_id = 'other-3'",
                               (status,))  # fmt: skip
        text = server.text("get_recent_context", project="other", limit=1)
        with connection:
            marks_of_row = ", ".join("?" * len(kept[0]))
            connection.executemany(f"INSERT INTO session_summaries VALUES ({marks_of_row})", kept)

    assert [mark for mark in marks if mark not in text] == []
    assert "**Request:** routine of other 3" in text


# Timelines.


@pytest.fixture(scope="module")
def order(server):
    """All records of the history, in the order of a timeline: (kind, id)."""
    found = rows(
        server,
        "SELECT created_at_epoch, 0, id, 'prompt' FROM messages WHERE role = 'user' UNION ALL"
        " SELECT created_at_epoch, 1, id, 'observation' FROM observations UNION ALL"
        " SELECT created_at_epoch, 2, id, 'session' FROM session_summaries",
    )
    return [(kind, id_) for _, _, id_, kind in sorted(found)]


def window(answer):
    return [(item["kind"], item["id"]) for item in answer["items"]]


def middle(order, kind="observation"):
    """The place of a record of a kind, with more than 10 records before it and after it."""
    return next(at for at, record in enumerate(order) if at > 30 and record[0] == kind)


@pytest.mark.parametrize(
    ("depths", "before", "after"),
    [
        ({"depth_before": 3, "depth_after": 2}, 3, 2),
        ({"depth_before": 0, "depth_after": 0}, 0, 0),
        ({"depth_before": 0}, 0, 10),
        ({"depth_after": 0}, 10, 0),
        ({}, 10, 10),
        ({"depth_before": 50, "depth_after": 50}, 50, 50),
    ],
)
def test_a_timeline_is_cut_around_its_anchor(server, order, depths, before, after):
    at = middle(order)

    answer = server.call("get_context_timeline", anchor=order[at][1], **depths)

    assert window(answer) == order[max(0, at - before) : at + after + 1]
    assert [item["is_anchor"] for item in answer["items"]].index(True) == min(at, before)
    by_query = server.call("get_timeline_by_query", query="expiry", **depths)
    best = next(at for at, item in enumerate(by_query["items"]) if item["is_anchor"])
    place = order.index(window(by_query)[best])
    assert window(by_query) == order[max(0, place - before) : place + after + 1]


@pytest.mark.parametrize(
    ("kind", "spelling"),
    [
        ("observation", "{}"), ("observation", "#{}"), ("observation", "obs:{}"),
        ("observation", "claude-mem://observation/{}"),
        ("session", "S{}"), ("session", "#S{}"), ("session", "claude-mem://session-summary/{}"),
        ("prompt", "claude-mem://user-prompt/{}"),
    ],
)  # fmt: skip
def test_an_anchor_is_found_by_every_spelling(server, order, kind, spelling):
    at = middle(order, kind)

    answer = server.call(
        "get_context_timeline", anchor=spelling.format(order[at][1]), depth_before=1, depth_after=1
    )

    assert window(answer) == order[at - 1 : at + 2]


@pytest.mark.parametrize(
    "spelling", ["2025-09-15T09:00:00Z", "2025-09-15", "Sep 15 2025", "1757926800000"]
)
def test_a_time_is_between_records(server, order, spelling):
    prompt = rows(
        server,
        "SELECT messages.id FROM messages JOIN sessions ON sessions.id = session_id"
        " WHERE role = 'user' AND sessions.external_id = 'shop-15'",
    )[0][0]
    at = order.index(("prompt", prompt))

    answer = server.call("get_context_timeline", anchor=spelling, depth_before=2, depth_after=2)

    assert window(answer) == order[at - 2 : at + 2]


@pytest.mark.parametrize(
    ("anchor", "message"),
    [
        ("Sxyz", "Invalid anchor: must be observation ID (number), session ID"),
        ("hello", "Invalid anchor"),
        ("", "Invalid anchor"),
        ("Sep 95 2025", "invalid timestamp"),
        ("claude-mem://observation/x", "no address"),
        (99999, "Observation #99999 not found"),
        ("S99999", "Session #99999 not found"),
    ],
)
def test_what_is_no_anchor_is_an_error(server, anchor, message):
    assert message in error(server, "get_context_timeline", anchor=anchor)


def test_an_anchor_is_required(server):
    assert "anchor" in error(server, "get_context_timeline")


def test_a_date_in_words_is_no_session(server):
    text = server.text("get_context_timeline", anchor="Sep 5 2020", depth_after=0)

    assert text.startswith("No context found around 2020-09-05 00:00")


@pytest.mark.parametrize("name", ["depth_before", "depth_after"])
@pytest.mark.parametrize("value", [51, -1, "x"])
@pytest.mark.parametrize(
    ("tool", "asked"),
    [("get_context_timeline", {"anchor": 1}), ("get_timeline_by_query", {"query": "routine"})],
)
def test_depths_are_enforced(server, tool, asked, name, value):
    assert name in error(server, tool, **asked, **{name: value})


def test_a_timeline_is_of_a_project(server):
    anchor = {"anchor": "2025-10-12", "depth_before": 50, "depth_after": 50}
    other = server.call("get_context_timeline", **anchor, project="other")
    both = server.call("get_context_timeline", **anchor)
    [[strange]] = rows(server, "SELECT max(id) FROM observations WHERE project = 'shop'")

    assert len(other["items"]) == 3 * OTHER + 1  # and what was remembered of it
    assert len(both["items"]) > len(other["items"])
    assert "is not of project 'other'" in error(
        server, "get_context_timeline", anchor=strange, project="other"
    )


def test_a_query_takes_the_best_match_and_not_the_newest(server):
    answer = server.call("get_timeline_by_query", query="routine", mode="auto")
    usual = server.call("get_timeline_by_query", query="routine")
    [best, *_] = listed(server.call("search_observations", query="routine"))

    assert answer == usual
    assert [item["id"] for item in answer["items"] if item["is_anchor"]] == [best["id"]]
    assert answer["anchor"] == f"Observation #{best['id']} - {best['title']}"
    assert server.text("get_timeline_by_query", query="routine").startswith(
        '# Timeline for query: "routine"\n**Anchor:** Observation #'
    )


def test_a_query_holds_to_its_project_in_both_modes(server):
    asked = {"query": "routine", "project": "other"}
    auto = server.call("get_timeline_by_query", **asked)
    matches = server.call("get_timeline_by_query", **asked, mode="interactive")["matches"]

    assert len(auto["items"]) == 3 * OTHER + 1
    assert {record["project"] for record in matches} == {"other"}
    assert len(matches) == OTHER


def test_the_interactive_mode_lists_5_matches_or_the_limit(server):
    asked = {"query": "routine", "mode": "interactive"}
    best = listed(server.call("search_observations", query="routine"))

    for limit, count in (({}, 5), ({"limit": 2}, 2), ({"limit": 20}, 20)):
        matches = server.call("get_timeline_by_query", **asked, **limit)["matches"]
        assert [record["id"] for record in matches] == [record["id"] for record in best[:count]]
    text = server.text("get_timeline_by_query", **asked, limit=2)
    assert "**Top 2 matches:**" in text
    assert f"   - ID: {best[0]['id']}" in text


@pytest.mark.parametrize(
    ("name", "value"),
    [("limit", 0), ("limit", 21), ("limit", "x"), ("mode", "manual"), ("query", "")],
)
def test_values_of_a_timeline_by_query_are_enforced(server, name, value):
    assert name in error(server, "get_timeline_by_query", **{"query": "routine", name: value})


def test_a_timeline_by_query_needs_a_query(server):
    assert "query" in error(server, "get_timeline_by_query")


def test_a_query_without_a_match_is_no_error(server):
    result = server.result("get_timeline_by_query", query="zebra")

    assert not result.is_error
    assert result.content[0].text == (
        'No observations found matching "zebra". Try a different search query.'
    )


def test_the_nine_tools_are_listed_by_their_names(server):
    names = {tool.name for tool in server.tools()}

    assert {
        *LISTS, "get_recent_context", "get_context_timeline", "get_timeline_by_query"
    } <= names  # fmt: skip


# Writing, beside the nine.


def test_forget_removes_a_record_from_every_file(server):
    kept = server.call("remember", text="The zanzibar port is 8443.", title="Zanzibar")
    newer = server.call("supersede", id=kept["id"], text="The zanzibar port is 8444.")
    ids = [kept["id"], f"claude-mem://observation/{newer['id']}"]
    [[before]] = rows(server, "SELECT count(*) FROM observations")

    counted = server.call("forget", ids=ids, dry_run=True)
    assert (counted["observations"], counted["dry_run"]) == (2, True)
    assert rows(server, "SELECT count(*) FROM observations") == [(before,)]
    result = server.result("forget", ids=ids)

    assert result.content[0].text == "forgotten: 2 observation(s)"
    assert rows(server, "SELECT count(*) FROM observations") == [(before - 2,)]
    assert server.call("get_observations", ids=[kept["id"]])["missing"] == [str(kept["id"])]
    files = [path for path in server.home.rglob("*") if path.is_file()]
    assert [path for path in files if b"anzibar" in path.read_bytes()] == []


@pytest.mark.parametrize(
    ("ids", "message"),
    [([], "ids"), ([99999], "not found"), (["Sxyz"], "no conversation"), (list(range(101)), "ids")],
)
def test_what_cannot_be_forgotten_is_named(server, ids, message):
    assert message in error(server, "forget", ids=ids)


# The toolset history-work.


def test_a_fix_is_what_was_edited_and_run(server):
    reply = server.call("history_fix", error="AssertionError: token expired")
    text = server.text("history_fix", error="AssertionError: token expired")

    assert reply["found"]
    assert text == reply["text"]
    assert "failed: pytest tests/test_login.py" in text
    assert "edited: src/login.py +1/−1" in text
    assert "passed: pytest tests/test_login.py" in text
    assert not server.call("history_fix", error="zebra crossing closed")["found"]


def test_a_command_is_shown_as_it_is_run(server):
    reply = server.call("history_how", command="pytest")

    assert "2 runs: 1 of 2 passed" in reply["text"]
    assert reply["answer"]["variants"][0]["conversation"]["external_id"] == "login"
    assert server.text("history_how", command="zebra") == "No conversation has run zebra."


@pytest.mark.parametrize("spelling", ["src/login.py", "login.py", "./src/login.py"])
def test_a_file_is_blamed_on_what_was_asked_for(server, spelling):
    text = server.text("history_blame", path=spelling)

    assert "src/login.py (+1/−1)" in text
    assert "defines: ttl" in text
    assert "asked: the login token expires too early" in text
    assert "claude-code login" in text


def test_friction_is_of_this_project_or_of_another(server):
    here = server.call("history_friction")
    other = server.call("history_friction", project="other")

    assert here["text"].startswith("×3 in 1 conversation")
    assert "unused import os" in here["text"]
    assert other["text"] == "No error came again."


@pytest.mark.parametrize(
    ("tool", "name"),
    [("history_fix", "error"), ("history_how", "command"), ("history_blame", "path")],
)
def test_what_history_work_is_asked_is_required(server, tool, name):
    for asked in ({}, {name: ""}, {name: " "}, {name: 5}):
        assert name in error(server, tool, **asked)


def test_history_work_is_off_until_it_is_named(server):
    with agent(server.folders["shop"], "--toolsets", "history", **environ(server.home)) as other:
        names = {tool.name for tool in other.tools()}

    assert "search_observations" in names
    assert not {name for name in names if name.startswith("history_")}
