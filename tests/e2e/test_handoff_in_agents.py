"""After a hand-over, the agent that is started in the repository has the block before its model.

The agents come from npm and have a model that does as a script says; where npm reaches no
registry, the tests are skipped and say why. The work is done by one agent, with triseek installed,
and is told to the daemon by its hooks; what the next one sends to its model is looked at.
"""

from __future__ import annotations

import json
import re

import pytest

from tests.agents import claude, cline, codex, gemini, opencode, pi
from tests.agents.model import serving
from tests.agents.place import Place, run
from tests.agents.script import says
from tests.e2e.test_handoff_cli import Machine, git
from tests.e2e.test_memo_in_agents import scene

pytestmark = pytest.mark.slow

GOAL = "Make value_a_7 seven times as large"
RULE = "Rules of this tree: never say perhaps."


def shown(playing, mark):
    """All that the model was sent with the first request of a script."""
    return json.dumps(playing.model.of(mark)[0].body, ensure_ascii=False)


def handed(playing, machine, target, source):
    told = machine.document("handoff", target, "--from", source, cwd=playing.place.tree)
    return str(told["snapshot_id"])


def machine_of(playing):
    machine = Machine(playing.living.home)
    machine.env["HOME"] = str(playing.place.home)
    return machine


@pytest.fixture(params=[(claude, codex), (codex, claude)], ids=["to-codex", "to-claude"])
def pair(request, programs, tmp_path):
    giver, receiver = request.param
    with scene(giver, programs, tmp_path) as played:
        yield played, receiver


def test_the_work_of_one_agent_stands_before_the_model_of_the_other(pair):
    """The whole way: work, `triseek handoff`, and the other agent started in the same tree."""
    playing, receiver = pair
    machine = machine_of(playing)
    tree = playing.place.tree
    machine.document("session", "open", GOAL, cwd=tree)
    with playing.session() as session:
        playing.do(session, playing.read(playing.a, 1, 60))
    target = receiver.NAME.partition("-")[0]
    snap = handed(playing, machine, target, playing.agent.NAME)

    receiver.configure(playing.place, playing.model.url)
    program = str(playing.place.home / "bin" / "triseek")
    run([program, "install", receiver.NAME], tree, playing.place.env())
    playing.agent = receiver
    with playing.session() as session:
        session.say(playing.script(says("Seen.")))

    sent = shown(playing, "m2")
    assert snap in sent
    assert GOAL in sent
    assert "a.py" in sent[sent.index(snap) :]


def test_the_slash_commands_are_the_commands(programs, tmp_path):
    """`/triseek handoff codex` in Claude Code, and `$triseek resume` in Codex, as on the page."""
    with scene(claude, programs, tmp_path) as playing:
        machine, tree = machine_of(playing), playing.place.tree
        machine.document("session", "open", GOAL, cwd=tree)
        program = str(playing.place.home / "bin" / "triseek")
        with playing.session() as session:
            playing.model.add("give", [claude.shell(f"{program} handoff codex --from claude-code")])
            session.say("/triseek handoff codex [[give]]")
        asked, answered = playing.model.of("give")[:2]
        assert "`triseek handoff <target> --from claude-code`" in asked.seen
        assert "briefing.md written" in answered.last
        snap = re.search(r"\$triseek resume (snap_\w+)", answered.last)[1]

        codex.configure(playing.place, playing.model.url)
        run([program, "install", "codex"], tree, playing.place.env())
        with codex.session(playing.place, playing.model.url) as session:
            resume = f"{program} resume {snap} --for codex"
            playing.model.add("take", [codex.shell(resume)])
            session.say(f"$triseek resume {snap} [[take]]")
        asked, answered = playing.model.of("take")[:2]
        assert "`triseek resume <snapshot_id> --for codex`" in asked.seen
        assert "AGENTS.md updated with hydration payload" in answered.last
        assert snap in (tree / "AGENTS.md").read_text()


TARGETS = {
    "claude": claude, "cline": cline, "codex": codex, "gemini": gemini, "opencode": opencode,
    "pi": pi,
}  # fmt: skip
READS = {
    "claude": {"AGENTS.md", "CLAUDE.md"},
    "cline": {"AGENTS.md", ".clinerules"},
    "codex": {"AGENTS.md", "AGENTS.override.md"},
    "gemini": {"GEMINI.md"},
    "opencode": {"AGENTS.md", "CLAUDE.md"},
    "pi": {"AGENTS.md", "CLAUDE.md", "AGENTS.override.md"},
}
"""What each reads where it is the only one there."""
NAMES = ("", "AGENTS.md", "CLAUDE.md", "AGENTS.override.md")
CASES = [(target, there) for target in TARGETS for there in NAMES]


@pytest.mark.parametrize(
    ("target", "there"), [*CASES, ("cline", ".clinerules"), ("gemini", "GEMINI.md")]
)
def test_the_block_is_read_and_no_rule_is_hidden(programs, tmp_path, target, there):
    """Whatever instructions were read before are read still, with the block beside them."""
    agent = TARGETS[target]
    with Machine(tmp_path / "state") as machine, serving() as model:
        place = Place(tmp_path / "home", tmp_path / "repo", programs)
        for folder in (place.home, place.tree):
            folder.mkdir()
        git(place.tree, "init", "-q")
        (place.tree / "a.py").write_text("a = 1\n")
        if there:
            (place.tree / there).write_text(f"# Rules\n\n{RULE}\n")
        git(place.tree, "add", ".")
        git(place.tree, "commit", "-qm", "Begin")
        before = sent_by(agent, place, model, "m1")
        machine.env["HOME"] = str(place.home)
        machine.document("session", "open", GOAL, cwd=place.tree)
        notes = [{"kind": "read", "payload": {"path": "a.py"}}]
        machine.ask("session_note", target_root=str(place.tree), notes=notes)
        snap = machine.document("handoff", target, cwd=place.tree)["snapshot_id"]
        after = sent_by(agent, place, model, "m2")

    assert (RULE in before) == (there in READS[target])
    assert GOAL not in before
    assert snap in after
    assert GOAL in after
    assert RULE in after or RULE not in before


def sent_by(agent, place, model, mark):
    """What an agent that is started in the tree sends to its model."""
    prompt = model.add(mark, [says("Seen.")])
    if agent is gemini:
        gemini.configure(place)
        gemini.ask(place, model.url, prompt)
    elif agent is cline:
        cline.configure(place, model.url)
        cline.ask(place, prompt)
    elif agent is codex:
        if mark == "m1":
            codex.configure(place, model.url)
        with codex.program(place) as program:
            program.start(str(place.tree)).say(prompt)
    else:
        agent.configure(place, model.url)
        with agent.session(place, model.url) as session:
            session.say(prompt)
    return json.dumps(model.of(mark)[0].body, ensure_ascii=False)
