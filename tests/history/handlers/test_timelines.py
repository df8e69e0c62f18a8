"""Timelines and the recent context."""

from __future__ import annotations

import pytest

from tests.history.rows import MINUTE, NOON


def mixed(history, count=30):
    """Write items of all kinds, a minute apart; return their kinds and ids in that order."""
    session = history.rows.session("abc")
    items = []
    for at in range(count):
        time_ms = NOON + at * MINUTE
        if at % 3 == 0:
            items.append(("prompt", history.rows.prompt(session, f"prompt {at}", time_ms, at)))
        elif at % 3 == 1:
            items.append(("observation", history.rows.observation(session, f"obs {at}", time_ms)))
        else:
            items.append(("session", history.rows.summary(session, f"summary {at}", time_ms)))
    return items


def window(history, **raw):
    answer = history.ask("get_context_timeline", **raw)
    return [(item["kind"], item["id"]) for item in answer["items"]]


def test_vector_6_a_timeline_is_a_slice_of_all_kinds(history):
    items = mixed(history)
    kind, id_ = items[16]
    assert kind == "observation"

    assert window(history, anchor=id_, depth_before=3, depth_after=2) == items[13:19]
    assert window(history, anchor=id_, depth_before=0, depth_after=0) == [items[16]]
    assert window(history, anchor=id_) == items[6:27]
    assert window(history, anchor=id_, depth_before=50, depth_after=50) == items


def test_vector_6_anchors_of_every_spelling(history):
    items = mixed(history)
    observation, summary, prompt = items[16][1], items[14][1], items[15][1]
    ends = {"depth_before": 1, "depth_after": 1}

    for spelling in (
        observation, str(observation), f"#{observation}", f"obs:{observation}",
        f"claude-mem://observation/{observation}", f" {observation} ",
    ):  # fmt: skip
        assert window(history, anchor=spelling, **ends) == items[15:18], spelling
    for spelling in (
        f"S{summary}", f"#S{summary}", f"claude-mem://session-summary/{summary}",
        f"claude-mem://session/S{summary}",
    ):  # fmt: skip
        assert window(history, anchor=spelling, **ends) == items[13:16], spelling
    assert window(history, anchor=f"claude-mem://user-prompt/{prompt}", **ends) == items[14:17]
    assert window(history, anchor="claude-mem://session/abc", **ends) == items[28:30]


@pytest.mark.parametrize(
    ("spelling", "at"),
    [
        ("2025-10-21T12:10:30Z", 11),
        ("2025-10-21 12:10:30", 11),
        (NOON + 10 * MINUTE + 30_000, 11),
        (str(NOON + 10 * MINUTE), 10),
        ("2025-10-21", 0),
        ("Oct 21 2025 12:05", 5),
        ("Tue, 21 Oct 2025 12:05:00 GMT", 5),
    ],
)
def test_vector_6_a_time_is_between_items(history, spelling, at):
    items = mixed(history)

    shown = window(history, anchor=spelling, depth_before=2, depth_after=2)

    assert shown == items[max(0, at - 2) : at + 2]


def test_vector_6_what_is_no_anchor_is_an_error(history):
    mixed(history)

    for spelling in (
        "Sxyz",
        "",
        "hello",
        "#",
        "S",
        "claude-mem://observation/x",
        "claude-mem://x/1",
    ):
        assert history.error("get_context_timeline", anchor=spelling), spelling
    assert "session ID" in history.error("get_context_timeline", anchor="Sxyz")
    assert "Observation #999 not found" in history.error("get_context_timeline", anchor=999)
    assert "Session #999 not found" in history.error("get_context_timeline", anchor="S999")
    assert "invalid timestamp" in history.error("get_context_timeline", anchor="Sep 95 2025")
    assert "No context found around 2025-09-05 00:00" in history.text(
        "get_context_timeline", anchor="Sep 5 2025", depth_after=0
    )
    assert "anchor" in history.error("get_context_timeline")
    for name in ("depth_before", "depth_after"):
        for value in (51, -1, "x"):
            assert name in history.error("get_context_timeline", anchor=1, **{name: value})


def test_vector_6_prompts_alone_are_a_timeline(history):
    session = history.rows.session()
    ids = [history.rows.prompt(session, f"prompt {at}", NOON + at) for at in range(3)]

    shown = window(history, anchor="2025-10-21")

    assert shown == [("prompt", id_) for id_ in ids]


def test_records_of_one_millisecond_have_an_order(history):
    session = history.rows.session()
    summary = history.rows.summary(session, "s")
    two = [history.rows.observation(session, "o") for _ in range(2)]
    prompt = history.rows.prompt(session, "p")
    order = [
        ("prompt", prompt), ("observation", two[0]), ("observation", two[1]), ("session", summary)
    ]  # fmt: skip

    assert window(history, anchor=two[0]) == order
    assert window(history, anchor=two[1], depth_before=1, depth_after=1) == order[1:]
    assert window(history, anchor=f"S{summary}", depth_before=1) == order[2:]


def test_what_an_agent_asks_a_sub_agent_is_not_on_the_users_timeline(history):
    session, helper = history.rows.session(), history.rows.session(is_sub_agent=1)
    prompt = history.rows.prompt(session, "asked by the user", NOON)
    history.rows.prompt(helper, "asked by an agent", NOON + 1)
    done = history.rows.observation(helper, "done by it", NOON + 2)
    summary = history.rows.summary(helper, "asked by an agent", NOON + 3)

    assert window(history, anchor=done) == [("prompt", prompt), ("observation", done)]
    assert ("session", summary) in window(history, anchor=f"S{summary}")  # who names it, gets it


def test_the_project_holds_for_the_anchor_and_the_items(history):
    ours, other = history.rows.session(), history.rows.session(project="other")
    kept = history.rows.observation(ours, "kept", NOON)
    hidden = history.rows.observation(other, "other", NOON + 1, project="other")
    history.rows.prompt(other, "other", NOON + 2)

    assert window(history, anchor=kept, project="shop") == [("observation", kept)]
    assert "is not of project 'shop'" in history.error(
        "get_context_timeline", anchor=hidden, project="shop"
    )


def test_vector_7_auto_takes_the_best_match_and_not_the_newest(history):
    session = history.rows.session()
    best = history.rows.observation(session, "authentication bug", NOON)
    history.rows.observation(session, "x", NOON + 1, narrative="authentication was a bug once, too")
    other = history.rows.session(project="other")
    elsewhere = history.rows.observation(other, "authentication bug", NOON + 2, project="other")

    for project, anchor in (("shop", best), ("other", elsewhere)):
        answer = history.ask("get_timeline_by_query", query="authentication bug", project=project)
        assert [i["id"] for i in answer["items"] if i["is_anchor"]] == [anchor]
        assert answer["anchor"] == f"Observation #{anchor} - authentication bug"


def test_vector_7_interactive_lists_matches(history):
    session = history.rows.session()
    for at in range(9):
        history.rows.observation(session, f"auth {at}", NOON + at)
    other = history.rows.session(project="other")
    history.rows.observation(other, "auth", project="other")
    ask = {"query": "auth", "mode": "interactive"}

    assert len(history.ask("get_timeline_by_query", **ask)["matches"]) == 5
    assert (
        len(history.ask("get_timeline_by_query", **ask, limit=20, project="shop")["matches"]) == 9
    )
    assert len(history.ask("get_timeline_by_query", **ask, project="other")["matches"]) == 1
    assert "No observations found" in history.text("get_timeline_by_query", query="zebra")
    assert "No observations found" in history.text(
        "get_timeline_by_query", **{**ask, "query": "zz"}
    )
    for name, value in (("limit", 21), ("limit", 0), ("mode", "x"), ("depth_after", 51)):
        assert name in history.error("get_timeline_by_query", query="auth", **{name: value})
    assert "query" in history.error("get_timeline_by_query")


def test_the_alias_takes_an_anchor_or_a_query(history):
    session = history.rows.session()
    one = history.rows.observation(session, "auth")

    assert history.ask("timeline", anchor=one)["items"][0]["id"] == one
    assert history.ask("timeline", query="auth")["items"][0]["id"] == one
    assert "anchor, query" in history.error("timeline")
    assert "anchor, query" in history.error("timeline", anchor=one, query="auth")
    assert "Observation #0 not found" in history.error("timeline", anchor=0)


def test_vector_8_the_recent_context_has_a_branch_for_each_state(history):
    done = history.rows.session("done", started_at_epoch=NOON)
    history.rows.prompt(done, "begin", NOON)
    history.rows.summary(done, "Old", NOON)
    history.rows.summary(done, "Add login", NOON + 1, completed="login", prompt_number=3)
    history.rows.observation(done, "one", read=("/a.py",), modified=("/b.py",))
    active = history.rows.session("active", started_at_epoch=NOON + 1, status="active")
    history.rows.prompt(active, "go on", NOON + 1)
    failed = history.rows.session("failed", started_at_epoch=NOON + 2, status="failed")
    history.rows.prompt(failed, "break it", NOON + 2)
    history.rows.session("empty", started_at_epoch=NOON + 3)
    sub = history.rows.session("sub", started_at_epoch=NOON + 4, is_sub_agent=1)
    history.rows.prompt(sub, "look", NOON + 4)

    sessions = history.ask("get_recent_context", project="shop")["sessions"]
    text = history.text("get_recent_context", project="shop")

    assert [(session["id"], session["status"]) for session in sessions] == [
        ("done", "summary"), ("active", "active"), ("failed", "failed")
    ]  # fmt: skip
    assert sessions[0]["request"] == "Add login"
    assert (sessions[0]["files_read"], sessions[0]["files_edited"]) == (["/a.py"], ["/b.py"])
    assert "**Summary (Prompt #3)**" in text
    assert "*No observations yet*\n**Status:** Active - summary pending" in text
    assert "**Status:** failed - no summary available" in text
    assert [s["id"] for s in history.ask("get_recent_context", limit=1)["sessions"]] == ["failed"]


def test_vector_8_no_session_and_the_bounds(history):
    assert history.text("get_recent_context") == (
        '# Recent Session Context\n\nNo previous sessions found for project "shop".'
    )
    for value in (11, 0, "x"):
        assert "limit" in history.error("get_recent_context", limit=value)


def test_the_project_of_the_folder_is_its_root_before_its_name(history):
    elsewhere = history.rows.session("elsewhere", root="/other/shop")
    history.rows.prompt(elsewhere, "x")
    here = history.rows.session("here", root=str(history.root))
    history.rows.prompt(here, "x")
    imported = history.rows.session("imported", root="")
    history.rows.prompt(imported, "x")

    sessions = history.ask("get_recent_context")["sessions"]

    assert {session["id"] for session in sessions} == {"here", "imported"}
