"""The memo's tools, and what they answer, as they are written down in `tests/golden/tools`."""

from __future__ import annotations

import json
import os
import re

import pytest

from tests.conftest import plant
from tests.e2e.agents import agent
from tests.e2e.hooking import Hooks
from tests.e2e.serving import daemon, environ
from tests.e2e.test_mcp_contract import GOLDEN, has
from triseek.model import token_estimate

ROUTER, PARSER, MANY = "src/auth/router.rs", "src/cli/parser.rs", "docs/many.md"
PARSER_TOKENS = 120
TREE = {
    ROUTER: ("x" * 59 + "\n") * 7,
    PARSER: ("y" * 59 + "\n") * 7,
    MANY: "".join(f"line {number} of many that are worth keeping\n" for number in range(90)),
}
EXAMPLES = {
    "memo_status": [{"files": [ROUTER]}, {"files": [PARSER, MANY, "never.rs"]}, {"files": []}],
    "memo_session": [{}],
    "memo_check": [
        {"path": PARSER}, {"path": MANY}, {"path": ROUTER}, {"path": "never.rs"}, {"path": ""},
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """After an agent has read three files, and two of them have changed since."""
    home = tmp_path_factory.mktemp("memo-contract-home")
    root = (tmp_path_factory.mktemp("memo-contract") / "repo").resolve()
    (root / ".git").mkdir(parents=True)
    plant(root, TREE)
    with daemon(home), agent(root, client="opencode", **environ(home)) as client:
        hooks = Hooks(home, root, "session-123")
        hooks.tell("SessionStart", source="startup")
        for name in (ROUTER, PARSER, MANY):
            hooks.read(name)
        assert hooks.read(PARSER) is not None
        (root / ROUTER).write_text("z" * 461 + "\n")
        (root / MANY).write_text(TREE[MANY].replace("line 7 ", "line seven "))
        client.root = root
        client.saved = saved_by(hooks.refusal, PARSER_TOKENS)
        yield client


def saved_by(refusal, tokens):
    """Tokens of a read that was refused, less those of the refusal: it has the path and a time."""
    text = refusal["permissionDecisionReason"] + refusal["additionalContext"]
    return max(0, tokens - token_estimate.of_source_text(text))


def test_the_examples_of_the_contract(server):
    status = server.call("memo_status", files=[ROUTER], meta={})
    check = server.call("memo_check", path=PARSER, meta={})
    example = {
        "path": PARSER, "status": "fresh", "recommendation": "skip_reread",
        "tokens_at_last_read": PARSER_TOKENS, "last_read_ago_seconds": 9,
    }  # fmt: skip

    assert status == {
        "session_id": "session-123",
        "results": [
            {
                "path": ROUTER, "status": "stale", "tokens": 120, "read_count": 1,
                "message": "Changed since last read (now ~132 tokens); re-read file.",
                "current_tokens": 132,
            }
        ],
    }  # fmt: skip
    assert has(check, example) == []
    assert {**check, "last_read_ago_seconds": 9} == example


def test_without_structured_content_the_text_says_the_same(server):
    [block] = server.result("memo_check", path=MANY, meta={}).content

    assert 'recommendation="reread_with_diff"' in block.text
    assert "+line seven of many" in block.text


@pytest.mark.parametrize("tool", EXAMPLES)
def test_a_tool_and_its_answers_are_what_is_written_down(server, tool):
    [listed] = [one for one in server.tools() if one.name == tool]
    answers = []
    for asked in EXAMPLES[tool]:
        result = server.result(tool, **asked, meta={})
        answers.append(
            {
                "arguments": asked,
                "is_error": result.is_error,
                "structured_content": masked(result.structured_content, server),
                "text": masked_text(result.content[0].text, server).splitlines(),
            }
        )
    shown = {
        "tool": listed.model_dump(mode="json", by_alias=True, exclude_none=True),
        "answers": answers,
    }
    text, path = json.dumps(shown, indent=2, ensure_ascii=False) + "\n", GOLDEN / f"{tool}.json"
    if os.environ.get("TRISEEK_GOLDEN") == "update":
        path.write_text(text, encoding="utf-8")

    assert path.read_text(encoding="utf-8") == text


SAVED = 24
"""What the golden files have for the tokens that one refusal saved."""


def masked(envelope, server):
    told = json.loads(json.dumps(envelope).replace(str(server.root), "/repo"))
    if "tokens_saved" in told:
        assert told["tokens_saved"] == server.saved
        told["tokens_saved"] = SAVED
    return {**told, "last_read_ago_seconds": 9} if "last_read_ago_seconds" in told else told


def masked_text(text, server):
    text = re.sub(r"ago_seconds=\d+", "ago_seconds=9", text.replace(str(server.root), "/repo"))
    return re.sub(rf"tokens_saved={server.saved}\b", f"tokens_saved={SAVED}", text)
