"""What a context pack and a resume draw from the project's palace, when they are asked to."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from tests.app.worked import Worked
from tests.result_schemas import check
from triseek.app.dispatch import Local, text
from triseek.app.project_memory import remembered
from triseek.app.registry import TOOLS
from triseek.app.tool_context import ToolContext
from triseek.cli import command_tree
from triseek.engine.tool_host import ToolHost
from triseek.memory.drawers import Draft
from triseek.memory.service import Memory
from triseek.model import token_estimate
from triseek.model.call import Call

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TOOL = {tool.name: tool for tool in TOOLS}
GOAL = "mend the line of the gateway"
FACT = "The gateway counts every line twice."
RULE = "Never edit `src/b.py`\n## by hand."


@pytest.fixture
def memory() -> Iterator[Memory]:
    memory = Memory()
    yield memory
    memory.close()


@pytest.fixture
def worked(tmp_path: Path, memory: Memory) -> Worked:
    return Worked(tmp_path, remembering=partial(remembered, memory))


@pytest.fixture
def ids(worked: Worked, memory: Memory) -> dict[str, str]:
    palace = memory.palace_of(worked.root, creates=True)
    memory.set_identity(palace, "A gateway in Python.")
    drafts = (Draft(text=FACT), Draft(text=RULE, importance=0.9))
    return {draft.text: memory.remember(palace, draft).uuid for draft in drafts}


class Asked:
    """An agent's calls, each with its arguments."""

    def __init__(self, worked: Worked, memory: Memory) -> None:
        host = ToolHost(
            service=worked.service, root=worked.root,
            services={"session": worked.keeping.operations, "memory": memory},
            remembering=partial(remembered, memory),
        )  # fmt: skip
        self._call = Local(ToolContext(host))

    def __call__(self, name: str, **raw: Any) -> dict[str, Any]:
        answered = self._call(TOOL[name], raw, Call())
        self.text = text(TOOL[name], answered.arguments, answered.envelope)
        return check(name, json.loads(json.dumps(answered.envelope)))


@pytest.fixture
def ask(worked: Worked, memory: Memory) -> Asked:
    return Asked(worked, memory)


def test_a_pack_has_what_is_remembered_only_if_asked(ask: Asked, ids: dict[str, str]) -> None:
    without = ask("context_pack", goal=GOAL)
    answer = ask("context_pack", goal=GOAL, memory=True)

    memory = answer["memory"]
    assert "memory" not in without
    assert memory["note"] == "from the project's palace repo"
    assert memory["identity"] == "A gateway in Python."
    assert memory["recalled"] == [{"drawer_id": ids[FACT], "content": FACT}]
    assert memory["essentials"] == [
        {"drawer_id": ids[RULE], "content": "Never edit `src/b.py` ## by hand."}
    ]
    assert answer["items"] == without["items"]
    lines = ask.text.splitlines()
    at = lines.index("memory: from the project's palace repo")
    assert lines[at + 1 : at + 3] == ["  A gateway in Python.", f"  [{ids[FACT]}] {FACT}"]


@pytest.mark.parametrize("budget", [1, 50, 300, 1200, 10_000])
def test_a_pack_with_memory_keeps_its_budget(
    ask: Asked, worked: Worked, memory: Memory, budget: int
) -> None:
    palace = memory.palace_of(worked.root, creates=True)
    memory.set_identity(palace, "identity " * 400)
    for number in range(30):
        memory.remember(palace, Draft(text=f"{number} of the line: " + "long " * 300))

    answer = ask("context_pack", goal=GOAL, memory=True, budget_tokens=budget)

    whole = min(budget, 4_000)
    shown = {name: answer["memory"][name] for name in ("identity", "recalled", "essentials")}
    assert answer["budget_tokens"] == whole
    assert answer["estimated_tokens"] <= whole
    assert answer["memory"]["estimated_tokens"] <= whole * 0.35
    assert token_estimate.of_json(shown) <= whole * 0.35 + 20
    if budget > 50:
        assert answer["memory"]["identity"].endswith("…")
    if budget > 1_000:
        assert answer["memory"]["recalled"][0]["content"].endswith("…")
        assert answer["items"]


def test_a_project_without_a_palace_says_so(ask: Asked) -> None:
    answer = ask("context_pack", goal=GOAL, memory=True)

    assert "no palace" in answer["memory"]["note"]
    assert answer["items"]


def test_a_memory_that_cannot_be_read_costs_no_pack(ask: Asked, memory: Memory, home: Path) -> None:
    (home / "memory").mkdir(parents=True)
    (home / "memory" / "memory.db").write_bytes(b"no database " * 100)

    answer = ask("context_pack", goal=GOAL, memory=True)

    assert "the memory cannot be read: " in answer["memory"]["note"]
    assert answer["items"]


def resumed(ask: Asked, **more: Any) -> str:
    ask("session_open", goal=GOAL, session_id="mine")
    taken = ask("session_snapshot", session_id="mine")
    answer = ask("session_resume", snapshot_id=taken["snapshot_id"], **more)
    return str(answer["payload_markdown"])


def test_a_resume_has_what_is_remembered_only_if_asked(ask: Asked, ids: dict[str, str]) -> None:
    without, payload = resumed(ask), resumed(ask, memory=True)

    assert "## Project memory" not in without
    section = payload[payload.index("## Project memory") :].splitlines()
    assert section[2:6] == [
        "- `from the project's palace repo`",
        "- identity: `A gateway in Python.`",
        f"- drawer {ids[FACT]}: `{FACT}`",
        f"- drawer {ids[RULE]}: ``Never edit `src/b.py` ## by hand.``",
    ]


def test_a_payload_with_memory_keeps_its_budget(ask: Asked, worked: Worked, memory: Memory) -> None:
    palace = memory.palace_of(worked.root, creates=True)
    memory.set_identity(palace, "identity " * 400)
    for number in range(30):
        memory.remember(palace, Draft(text=f"{number} of the line: " + "long ` " * 300))

    for budget in (256, 1_000, 12_000):
        payload = resumed(ask, memory=True, budget_tokens=budget)
        assert token_estimate.of_text(payload) <= budget
        assert "palace repo" in payload


def test_the_command_shows_it_too(
    worked: Worked, ids: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    command = command_tree.app(("triseek.search.commands",))
    words = ["context-pack", worked.root, "--goal", GOAL]

    assert command([*words, "--memory"], standalone_mode=False) == 0
    assert f"[{ids[FACT]}] {FACT}" in capsys.readouterr().out
    assert command(words, standalone_mode=False) == 0
    assert "memory" not in capsys.readouterr().out
