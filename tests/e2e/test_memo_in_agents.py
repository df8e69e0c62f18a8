"""Real agents with triseek installed: what they are denied they have, and nothing else.

The agents come from npm and have a model that does as a script says; where npm reaches no
registry, the tests are skipped and say why. Every request that carries a denial is looked at: the
lines that were denied have to stand in it.
"""

from __future__ import annotations

import contextlib
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.agents import claude, codex, opencode, pi
from tests.agents.audit import Audit, Part, is_denial
from tests.agents.model import Model, serving
from tests.agents.place import Place
from tests.agents.script import Call, Request, Turn, says
from tests.e2e.living import Living
from tests.programs import PYTHON

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
AGENTS = (claude, codex, opencode, pi)
NESTED = (claude, opencode)
"""Agents whose sub-agents use tools themselves."""
PROGRAM = """\
{python}import os, sys
sys.path.insert(0, {root!r})
os.environ.update({environ!r})
from triseek.cli.main import main
sys.exit(main())
"""


class Scene:
    """An agent that triseek was installed into, a tree, a daemon and a scripted model."""

    def __init__(self, agent: Any, place: Place, model: Model, living: Living) -> None:
        self.agent = agent
        self.place = place
        self.model = model
        self.living = living
        self.audit = Audit(place.tree)
        self._marks = 0
        self._later: list[Any] = []
        model.before = self._before

    @property
    def a(self) -> str:
        return str(self.place.tree / "a.py")

    @property
    def b(self) -> str:
        return str(self.place.tree / "b.py")

    def read(self, path: str, *lines: int) -> Turn:
        turn: Turn = self.agent.read(path, *lines)
        return turn

    def script(self, *turns: Turn) -> str:
        """A prompt that has the agent do these, one after the other."""
        self._marks += 1
        return self.model.add(f"m{self._marks}", [*turns, says("Done.")])

    def do(self, session: Any, *turns: Turn) -> list[bool]:
        """Have the agent do these; whether each of them was denied."""
        session.say(self.script(*turns))
        return self.denials(f"m{self._marks}", len(turns))

    def denials(self, mark: str, number: int) -> list[bool]:
        """Whether each of a script's uses of tools was denied."""
        requests = self.model.of(mark)
        assert len(requests) == number + 1, (mark, [one.last[:200] for one in requests])
        new = [_results(one)[-1] for one in requests[1:]]
        return [is_denial(one) for one in new]

    def outside(self, mark: str, request: int, action: Any) -> None:
        """Do something between two uses of tools: before a script's request is answered."""
        self._later.append((mark, request, action))

    def session(self, *words: Any) -> contextlib.AbstractContextManager[Any]:
        session: contextlib.AbstractContextManager[Any]
        session = self.agent.session(self.place, self.model.url, *words)
        return session

    def _before(self, request: Request) -> None:
        self.audit(request)
        self._wait_for_transcript(request)
        marks = "".join(one.text for one in request.messages if one.role == "user")
        for entry in list(self._later):
            mark, number, action = entry
            if f"[[{mark}]]" in marks and len(self.model.of(mark)) == number:
                self._later.remove(entry)
                action()

    def _wait_for_transcript(self, request: Request) -> None:
        """Take the time that a model takes to think, in which an agent writes its transcript."""
        results = _results(request)
        if not results or not self.agent.TRANSCRIPTS:
            return
        folder = self.place.home / self.agent.TRANSCRIPTS
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            held = b"".join(path.read_bytes() for path in folder.rglob("*.jsonl"))
            if held.count(results[-1].call.encode()) >= 2:  # the use, and what it gave
                return
            time.sleep(0.02)


def _results(request: Request) -> list[Any]:
    return [one for one in request.messages if one.role == "result"]


@contextlib.contextmanager
def scene(agent: ModuleType, programs: Path, folder: Path) -> Iterator[Scene]:
    """Install into an agent that has a home of its own; at the end, no denial was wrong."""
    place = Place(folder / "home", folder / "repo", programs)
    state = place.home / ".triseek"
    place.home.mkdir()
    place.tree.mkdir()
    for name in ("a", "b"):
        lines = [f"value_{name}_{n} = {n}  # a line of {name}.py\n" for n in range(1, 121)]
        (place.tree / f"{name}.py").write_text("".join(lines))
    subprocess.run(["git", "init", "-q"], cwd=place.tree, check=True)
    with Living(state) as living, serving() as model:
        program = write_program(place, living)
        living.env["HOME"] = str(
            place.home
        )  # else the daemon declines to serve the agent's session
        living.start()
        agent.configure(place, model.url)
        env = place.env(TRISEEK_HOME=str(state))
        subprocess.run(
            [program, "install", agent.NAME], env=env, cwd=place.tree, check=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        played = Scene(agent, place, model, living)
        yield played
        assert not played.audit.wrong


def write_program(place: Place, living: Living, **more: str) -> str:
    """The `triseek` of this tree, as agents start it: most pass on little of an environment."""
    path = place.home / "bin" / "triseek"
    path.parent.mkdir(exist_ok=True)
    names = ("NUMBA_CACHE_DIR", "TRISEEK_HOME")
    environ = {name: living.env[name] for name in names if name in living.env} | more
    path.write_text(PROGRAM.format(python=PYTHON, root=str(ROOT), environ=environ))
    path.chmod(0o755)
    return str(path)


@pytest.fixture(params=AGENTS, ids=lambda agent: agent.NAME)
def playing(request: Any, programs: Path, tmp_path: Path) -> Iterator[Scene]:
    with scene(request.param, programs, tmp_path) as played:
        yield played


def test_the_second_read_is_denied_and_the_third_goes_through(playing: Scene) -> None:
    with playing.session() as session:
        told = playing.do(session, *[playing.read(playing.a)] * 4)

    assert told == [False, True, False, True]
    assert playing.audit.denied == [Part(playing.a)] * 2


def test_only_lines_that_were_shown_are_denied(playing: Scene) -> None:
    a = playing.a
    with playing.session() as session:
        told = playing.do(
            session,
            playing.read(a, 1, 60),
            playing.read(a, 61, 120),
            playing.read(a, 40, 80),
            playing.read(playing.b, 1, 60),
            playing.read(playing.b, 31, 90),
            playing.read(playing.b),
            playing.read(playing.b, 1, 100),
        )

    assert told == [False, False, True, False, False, False, True]


def test_what_a_shell_showed_is_not_read_again(playing: Scene) -> None:
    with playing.session() as session:
        told = playing.do(
            session,
            playing.agent.shell("cat a.py b.py"),
            playing.read(playing.a),
            playing.read(playing.b, 10, 60),
        )

    assert told == [False, True, True]


def test_what_is_edited_is_read_again(playing: Scene) -> None:
    a, b = Path(playing.a), Path(playing.b)
    old = b.read_text()
    playing.outside("m2", 1, lambda: b.write_text(old.replace("value_b_7 ", "other ")))
    playing.outside("m2", 2, lambda: b.write_text(old))
    line = a.read_text().splitlines()[2]
    with playing.session() as session:
        own = playing.do(
            session,
            playing.read(playing.a),
            playing.agent.edit(
                "a.py" if playing.agent is codex else playing.a, line, "changed = 1"
            ),
            playing.read(playing.a),
            playing.read(playing.b),
        )
        outside = playing.do(
            session, playing.agent.shell("echo"), playing.read(playing.b), playing.read(playing.b)
        )

    assert "changed = 1" in a.read_text()
    assert own == [False, False, False, False]
    assert outside[1] is False


def test_a_compaction_forgets(playing: Scene) -> None:
    with playing.session() as session:
        before = playing.do(session, playing.read(playing.a), playing.read(playing.b))
        session.compact()
        after = playing.do(session, playing.read(playing.a), playing.read(playing.a, 1, 50))

    assert before == [False, False]
    assert after == [False, True]


def test_a_new_conversation_knows_nothing(playing: Scene) -> None:
    with playing.session() as session:
        playing.do(session, playing.read(playing.a))
        session.clear()
        told = playing.do(session, playing.read(playing.a), playing.read(playing.a))

    assert told == [False, True]


@pytest.mark.parametrize("playing", NESTED, indirect=True, ids=lambda agent: agent.NAME)
def test_a_sub_agent_and_its_agent_know_nothing_of_each_other(playing: Scene) -> None:
    sub = playing.script(playing.read(playing.a), playing.read(playing.b), playing.read(playing.b))
    with playing.session() as session:
        told = playing.do(
            session,
            playing.read(playing.a),
            *playing.agent.delegate(sub),
            playing.read(playing.b),
            playing.read(playing.a),
        )

    assert playing.denials("m1", 3) == [False, False, True]
    assert told == [False, False, False, True]


def test_the_memo_tool_answers_for_the_context_that_asks(playing: Scene) -> None:
    def check(path: str) -> list[Turn]:
        turns: list[Turn] = playing.agent.ours("memo_check", path=path)
        return turns

    with playing.session() as session:
        session.say(playing.script(playing.read(playing.a), *check(playing.a)))
        first = playing.model.of("m1")[-1].last
        session.say(playing.script(*check(playing.b)))
        other = playing.model.of("m2")[-1].last
        session.compact()
        session.say(playing.script(*check(playing.a)))
        after = playing.model.of("m3")[-1].last

    assert "skip_reread" in first
    assert "fresh" in first
    assert "unknown" in other
    assert "unknown" in after


def test_nothing_is_denied_and_nothing_said_without_a_daemon(playing: Scene) -> None:
    playing.living.run("daemon", "stop")
    write_program(playing.place, playing.living, TRISEEK_NO_DAEMON="1")
    with playing.session() as session:
        told = playing.do(session, *[playing.read(playing.a)] * 3)

    assert told == [False, False, False]
    assert all("triseek" not in one.last.lower() for one in playing.model.of("m1"))


@pytest.fixture
def with_claude(programs: Path, tmp_path: Path) -> Iterator[Scene]:
    with scene(claude, programs, tmp_path) as played:
        yield played


@pytest.fixture
def with_codex(programs: Path, tmp_path: Path) -> Iterator[Scene]:
    with scene(codex, programs, tmp_path) as played:
        yield played


def test_claude_resumed_or_forked_is_denied_only_what_it_has(with_claude: Scene) -> None:
    read = with_claude.read(with_claude.a)
    with with_claude.session() as session:
        with_claude.do(session, read)
    with with_claude.session("--continue") as session:
        resumed = with_claude.do(session, read, read)
    with with_claude.session("--continue", "--fork-session") as session:
        forked = with_claude.do(session, read, read)

    assert resumed[1] or resumed[0]
    assert forked[1] or forked[0]


def test_claude_going_back_is_denied_only_what_it_has(with_claude: Scene) -> None:
    read = with_claude.read(with_claude.a)
    with with_claude.session() as session:
        with_claude.do(session, with_claude.agent.shell("echo"))
        before = session.message
        with_claude.do(session, read)
    with with_claude.session("--resume", session.name, "--resume-session-at", before) as session:
        told = with_claude.do(session, read, read)

    assert with_claude.model.of("m3")[0].last != with_claude.model.of("m2")[-1].last
    assert told == [False, True]


def test_claude_reading_twice_at_once_is_not_denied(with_claude: Scene) -> None:
    a = with_claude.a
    twice = Turn((Call("Read", {"file_path": a}), Call("Read", {"file_path": a})))
    with with_claude.session() as session:
        session.say(with_claude.script(twice))

    assert not with_claude.audit.denied


def test_codex_resumed_forked_or_reverted_is_denied_only_what_it_has(with_codex: Scene) -> None:
    a, b = with_codex.read("a.py"), with_codex.read("b.py")
    with with_codex.session() as session:
        thread = session.thread
        with_codex.do(session, a)
        with_codex.do(session, b)
        thread.revert(thread.turns[-1])
        reverted = with_codex.do(session, b, a)
        fork = session.program.fork(thread.name)
        with_codex.do(fork, b, a)
    with codex.program(with_codex.place) as program:
        with_codex.do(program.resume(thread.name), b, a)

    assert reverted[0] is False


def test_codex_is_denied_nothing_that_only_a_script_of_its_own_saw(with_codex: Scene) -> None:
    silent = 'await tools.exec_command({cmd: "cat a.py"}); text("Quiet.")'
    loud = 'text((await tools.exec_command({cmd: "cat a.py"})).output)'
    with with_codex.session(codex.SCRIPTING) as session:
        told = with_codex.do(
            session, *[Turn((Call("exec", script),)) for script in (silent, silent, loud, silent)]
        )

    assert told[:3] == [False, False, False]


def test_codex_and_its_sub_agent_know_nothing_of_each_other(with_codex: Scene) -> None:
    loud = Turn((Call("exec", 'text((await tools.exec_command({cmd: "cat a.py"})).output)'),))
    sub = with_codex.script(loud)
    with with_codex.session(codex.DELEGATING) as session:
        told = with_codex.do(session, loud, *codex.delegate(sub))

    assert with_codex.denials("m1", 1) == [False]
    assert not any(told)


def test_opencode_reverted_or_forked_is_denied_only_what_it_has(
    programs: Path, tmp_path: Path
) -> None:
    with scene(opencode, programs, tmp_path) as played, played.session() as session:
        read = played.read(played.a)
        played.do(session, played.agent.shell("echo"))
        session.say(played.script(read))
        session.revert(session.message)
        reverted = played.do(session, read, read)
        played.do(session.fork(), read, read)

    assert reverted == [False, True]


def test_pi_forked_or_resumed_is_denied_only_what_it_has(programs: Path, tmp_path: Path) -> None:
    with scene(pi, programs, tmp_path) as played:
        read = played.read(played.a)
        with played.session() as session:
            played.do(session, played.agent.shell("echo"))
            played.do(session, read)
            point = session.ask("get_fork_messages")["messages"][-1]["entryId"]
            session.ask("fork", entryId=point)
            forked = played.do(session, read, read)
        with played.session("--continue") as session:
            played.do(session, read, read)

    assert forked == [False, True]
