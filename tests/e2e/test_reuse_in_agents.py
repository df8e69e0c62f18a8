"""Real agents that search again are told that they have the answer only if they have it.

The agents and their models are those of `test_memo_in_agents`. Every request that carries such an
answer is looked at: the earlier one has to stand in it, as a whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.agents import claude, codex, opencode, pi
from tests.agents.script import Call, Turn
from tests.e2e.test_memo_in_agents import AGENTS, NESTED, Scene, scene

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import ModuleType

pytestmark = pytest.mark.slow

REUSED = "same answer as before to "
A, B = "value_a_", "value_b_"
"""Each is in one file, more often than an answer shows."""
ALL = {
    A: "120 matches in 1 file\na.py (20 of 120)\n1:value_a_1 ",
    B: "120 matches in 1 file\nb.py (20 of 120)\n1:value_b_1 ",
}
"""How the answer to each begins."""


def watched(agent: ModuleType, programs: Path, folder: Path) -> Iterator[Scene]:
    """An agent in a tree that is indexed and watched."""
    with scene(agent, programs, folder) as played:
        assert played.living.run("build", played.place.tree).status == 0
        played.living.ask("preload_root", target_root=str(played.place.tree), exact=True)
        played.living.wait_watched(played.place.tree)
        yield played
        for request in played.model.requests:
            assert "toolUseId" not in str(request.messages), "the model is shown our argument"


@pytest.fixture(params=AGENTS, ids=lambda agent: agent.NAME)
def playing(request: Any, programs: Path, tmp_path: Path) -> Iterator[Scene]:
    yield from watched(request.param, programs, tmp_path)


@pytest.fixture
def with_claude(programs: Path, tmp_path: Path) -> Iterator[Scene]:
    yield from watched(claude, programs, tmp_path)


@pytest.fixture
def with_codex(programs: Path, tmp_path: Path) -> Iterator[Scene]:
    yield from watched(codex, programs, tmp_path)


@pytest.fixture
def with_opencode(programs: Path, tmp_path: Path) -> Iterator[Scene]:
    yield from watched(opencode, programs, tmp_path)


def search(playing: Scene, query: str, **more: Any) -> list[Turn]:
    turns: list[Turn] = playing.agent.ours("search_content", query=query, **more)
    return turns


def do(playing: Scene, session: Any, *steps: list[Turn]) -> list[bool]:
    """Have the agent do these; whether each was answered by what it has."""
    turns = [turn for step in steps for turn in step]
    session.say(playing.script(*turns))
    return answered(playing, f"m{playing._marks}", *steps)


def answered(playing: Scene, mark: str, *steps: list[Turn]) -> list[bool]:
    requests, at, told = playing.model.of(mark), 0, []
    for step in steps:
        at += len(step)
        told.append(is_reused(requests[at]))
    assert len(requests) == at + 1
    return told


def is_reused(request: Any) -> bool:
    """Whether the newest result is that the answer is known; it has to be in the request."""
    query = next((query for query in ALL if f'{REUSED}"{query}"' in request.last), None)
    if query is None:
        assert REUSED not in request.last
        return False
    results = [one.text for one in request.messages if one.role == "result"]
    whole = [text for text in results if ALL[query] in text and "truncated…" not in text]
    assert whole, results
    return True


def test_a_search_made_again_is_answered_by_what_is_in_view(playing: Scene) -> None:
    with playing.session() as session:
        first = do(playing, session, search(playing, A), search(playing, A), search(playing, B))
        later = do(
            playing,
            session,
            search(playing, A),
            search(playing, A, limit=21),
            search(playing, B, force_refresh=True),
            search(playing, B),
        )

    assert first == [False, True, False]
    assert later == [True, False, False, True]


def test_what_changed_is_searched_again(playing: Scene) -> None:
    a, b = playing.place.tree / "a.py", playing.place.tree / "b.py"
    with playing.session() as session:
        do(playing, session, search(playing, A))
        b.write_text(b.read_text() + "# another line\n")
        elsewhere = do(playing, session, search(playing, A))
        a.write_text(a.read_text() + "value_a_121 = 121\n")
        changed = do(playing, session, search(playing, A))
        text = playing.model.of(f"m{playing._marks}")[-1].last

    assert elsewhere == [True]
    assert changed == [False]
    assert "121 matches in 1 file" in text


def test_a_compaction_takes_answers_away(playing: Scene) -> None:
    with playing.session() as session:
        before = do(playing, session, search(playing, A), search(playing, A))
        session.compact()
        after = do(playing, session, search(playing, A), search(playing, A))

    assert before == [False, True]
    assert after == [False, True]


def test_a_new_conversation_has_no_answers(playing: Scene) -> None:
    with playing.session() as session:
        do(playing, session, search(playing, A))
        session.clear()
        told = do(playing, session, search(playing, A), search(playing, A))

    assert told == [False, True]


@pytest.mark.parametrize("playing", NESTED, indirect=True, ids=lambda agent: agent.NAME)
def test_a_sub_agent_and_its_agent_have_answers_of_their_own(playing: Scene) -> None:
    of_sub = [search(playing, A), search(playing, A), search(playing, B)]
    sub = playing.script(*[turn for step in of_sub for turn in step])
    with playing.session() as session:
        told = do(
            playing,
            session,
            search(playing, A),
            playing.agent.delegate(sub),
            search(playing, A),
            search(playing, B),
        )

    assert answered(playing, "m1", *of_sub) == [False, True, False]
    assert told == [False, False, True, False]


def test_claude_that_is_not_shown_an_answer_gets_it_again(with_claude: Scene) -> None:
    with claude.session(
        with_claude.place, with_claude.model.url, MAX_MCP_OUTPUT_TOKENS="50"
    ) as session:
        told = do(with_claude, session, search(with_claude, A), search(with_claude, A))

    assert "exceeds maximum allowed tokens" in with_claude.model.of("m1")[-1].last
    assert told == [False, False]


def test_claude_going_back_has_only_what_is_in_view(with_claude: Scene) -> None:
    with with_claude.session() as session:
        do(with_claude, session, [with_claude.agent.shell("echo")])
        before = session.message
        do(with_claude, session, search(with_claude, A))
    with with_claude.session("--resume", session.name, "--resume-session-at", before) as session:
        told = do(with_claude, session, search(with_claude, A), search(with_claude, A))

    assert told == [False, True]


def test_codex_that_is_shown_a_part_gets_it_again(with_codex: Scene) -> None:
    config = with_codex.place.home / ".codex" / "config.toml"
    config.write_text(f"tool_output_token_limit = 100\n{config.read_text()}")
    with with_codex.session() as session:
        told = do(with_codex, session, search(with_codex, A), search(with_codex, A))

    assert "truncated…" in with_codex.model.of("m1")[-1].last
    assert told == [False, False]


def test_codex_script_gets_the_answer_itself(with_codex: Scene) -> None:
    script = f'text(JSON.stringify(await tools.mcp__triseek__search_content({{query: "{A}"}})))'
    step = [Turn((Call("exec", script),))]
    with with_codex.session(codex.SCRIPTING) as session:
        told = do(with_codex, session, step, step)

    assert told == [False, False]
    assert all("120 matches in 1 file" in one.last for one in with_codex.model.of("m1")[1:])


def test_codex_reverted_or_forked_has_only_what_is_in_view(with_codex: Scene) -> None:
    with with_codex.session() as session:
        thread = session.thread
        do(with_codex, session, search(with_codex, A))
        do(with_codex, session, search(with_codex, B))
        thread.revert(thread.turns[-1])
        reverted = do(with_codex, session, search(with_codex, B))
        do(with_codex, session.program.fork(thread.name), search(with_codex, B))

    assert reverted == [False]


def test_opencode_reverted_has_only_what_is_in_view(with_opencode: Scene) -> None:
    with with_opencode.session() as session:
        do(with_opencode, session, [with_opencode.agent.shell("echo")])
        session.say(with_opencode.script(*search(with_opencode, A)))
        session.revert(session.message)
        told = do(with_opencode, session, search(with_opencode, A), search(with_opencode, A))
        do(with_opencode, session.fork(), search(with_opencode, A))

    assert told == [False, True]


def test_pi_forked_has_only_what_is_in_view(programs: Path, tmp_path: Path) -> None:
    for played in watched(pi, programs, tmp_path):
        with played.session() as session:
            do(played, session, [played.agent.shell("echo")])
            do(played, session, search(played, A))
            point = session.ask("get_fork_messages")["messages"][-1]["entryId"]
            session.ask("fork", entryId=point)
            told = do(played, session, search(played, A), search(played, A))

        assert told == [False, True]
