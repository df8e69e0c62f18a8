"""Any value of any argument is answered: with the tool's result, or with one clear line."""

from __future__ import annotations

import itertools
import json
import uuid
from typing import TYPE_CHECKING, Any

import pytest

from tests.memory.handlers.conftest import TOOLS
from tests.result_schemas import check
from triseek.app.dispatch import Local, text
from triseek.app.tool_context import ToolContext
from triseek.engine.service import Service
from triseek.engine.tool_host import ToolHost
from triseek.model.call import Call

if TYPE_CHECKING:
    from pathlib import Path

    from triseek.memory.service import Memory

STRANGE: tuple[Any, ...] = (
    "", " ", "\0", "\x1b[2J", "../x", "x" * 200_000, "\ud800", "e\u0301\u202e", "'; DROP TABLE x",
    '"a" AND (', "NEAR(a b)", "*", "0", "1e400", "nan", "-1", "2025-13-01", "9" * 30,
    0, -1, 1, 2**31, 2**63, -(2**63), 10**40, 0.5, -0.0, 1e308, True, False, None,
    [], {}, [None], [[]], ["x"] * 5_000, {"a": {"b": []}}, ["\ud800"], str(uuid.uuid4()),
)  # fmt: skip
USUAL = {
    "text": "a text", "query": "text", "name": "made", "subject": "a", "predicate": "b",
    "object": "c", "drawer_id": str(uuid.uuid4()),
}  # fmt: skip
ARGUMENTS = [
    (tool.name, name) for tool in TOOLS.values() for name in tool.request.__dataclass_fields__
]


@pytest.mark.parametrize(("tool", "name"), ARGUMENTS, ids=".".join)
def test_every_value_is_answered(memory: Memory, tmp_path: Path, tool: str, name: str) -> None:
    memory.create("here")
    root = tmp_path / "shop"
    root.mkdir()
    own = TOOLS[tool].request.__dataclass_fields__
    usual = {key: value for key, value in USUAL.items() if key in own}
    with Service() as service:
        host = ToolHost(service=service, root=str(root), services={"memory": memory})
        call = Local(ToolContext(host))
        for value in STRANGE:
            answered = call(TOOLS[tool], {**usual, name: value}, Call())
            shown = text(TOOLS[tool], answered.arguments, answered.envelope)
            check(tool, json.loads(json.dumps(answered.envelope)))
            if "error" in answered.envelope:
                assert answered.envelope["error"]["code"] == "INVALID_QUERY", (value, shown)
                assert "\n" not in shown
                assert len(shown) < 1_000
    palaces = memory.palaces()
    assert "here" in palaces
    assert not set(itertools.chain(*palaces)) & set("/\0\x1b\ud800\n")
    assert [path.name for path in tmp_path.iterdir()] in (["memory", "shop"], ["shop", "memory"])
