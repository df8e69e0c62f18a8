"""What is in view, by transcripts in the form that Claude Code 2.1.330 and Codex 0.169.0 write."""

from __future__ import annotations

import json
import os

import pytest

from triseek.agents.hooks import in_view
from triseek.agents.payloads.fields import READ_MAX
from triseek.model.hook_event import Context, HookEvent, ToolUse


class Conversation:
    """Writes Claude Code's rows."""

    def __init__(self) -> None:
        self.rows: list[dict] = []
        self.leaf: str | None = None
        self.requests: list[tuple[str, int]] = []

    def row(self, kind, parent="leaf", **fields):
        uuid = f"u{len(self.rows)}"
        parent = self.leaf if parent == "leaf" else parent
        self.rows.append({"type": kind, "uuid": uuid, "parentUuid": parent, **fields})
        self.leaf = uuid
        return uuid

    def prompt(self, prompt_id, **fields):
        return self.row("user", promptId=prompt_id, message={"content": "Look."}, **fields)

    def read(self, call, content="1\tx", **fields):
        self.asks(call)
        self.shows(call, content, **fields)

    def asks(self, call, **fields):
        blocks = [{"type": "tool_use", "id": call, "name": "Read", "input": {}}]
        message = {"id": fields.pop("message", f"m{len(self.rows)}"), "content": blocks}
        return self.row("assistant", message=message, **fields)

    def shows(self, call, content="1\tx", **fields):
        blocks = [{"type": "tool_result", "tool_use_id": call, "content": content}]
        return self.row("user", message={"content": blocks}, **fields)

    def request(self, keep, tail, base=True):
        name = f"r{len(self.requests)}"
        noted = {"type": "api-request", "id": name, "keep": keep, "tail": ["h"] * tail}
        if base and self.requests:
            noted["base"] = self.requests[-1][0]
        self.requests.append((name, keep + tail))
        self.rows.append(noted)

    def compact(self):
        self.row("system", parent=None, subtype="compact_boundary")
        self.row("user", isCompactSummary=True, message={"content": "It was about x."})

    def save(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in self.rows))
        return str(path)


def asked(path, prompt="p1", call="", agent="", harness="claude-code", **fields):
    return HookEvent(
        moment="before", context=Context(harness=harness, session="s", agent=agent), cwd="/w",
        transcript=str(path), prompt_id=prompt, use=ToolUse(name="Read", call=call), **fields,
    )  # fmt: skip


@pytest.fixture
def talk():
    made = Conversation()
    made.prompt("p1")
    made.read("a")
    made.read("b")
    return made


def test_what_was_shown_is_in_view(talk, tmp_path):
    assert in_view(asked(talk.save(tmp_path / "s.jsonl"))) == {"a", "b"}


def test_uses_asked_for_at_once_are_all_in_view(talk, tmp_path):
    first, second = talk.asks("c", message="m"), talk.asks("d", message="m")
    talk.shows("d", parent=second)
    talk.shows("c", parent=first)
    talk.asks("e")

    assert in_view(asked(talk.save(tmp_path / "s.jsonl"))) == {"a", "b", "c", "d"}


def test_compaction_takes_everything_away(talk, tmp_path):
    talk.compact()
    talk.prompt("p2")
    talk.read("c")

    assert in_view(asked(talk.save(tmp_path / "s.jsonl"), "p2")) == {"c"}


def test_messages_that_a_compaction_keeps_do_not_bring_the_others_back(talk, tmp_path):
    kept = talk.leaf
    talk.compact()
    talk.prompt("p2", parent=kept)
    talk.read("c")

    assert in_view(asked(talk.save(tmp_path / "s.jsonl"), "p2")) == {"c"}


def test_a_branch_that_was_left_is_not_in_view(talk, tmp_path):
    back = talk.leaf
    talk.prompt("p2")
    talk.read("c")
    talk.prompt("p3", parent=back)
    talk.read("d")

    assert in_view(asked(talk.save(tmp_path / "s.jsonl"), "p3")) == {"a", "b", "d"}


def test_a_branch_whose_first_row_is_not_written_yet_is_no_evidence(talk, tmp_path):
    path = talk.save(tmp_path / "s.jsonl")

    assert in_view(asked(path, "p2")) is None
    assert in_view(asked(path, "")) is None


def test_the_use_itself_shows_where_the_agent_is(talk, tmp_path):
    talk.asks("now")

    assert in_view(asked(talk.save(tmp_path / "s.jsonl"), "", call="now")) == {"a", "b"}


@pytest.mark.parametrize(
    "content",
    [
        "<persisted-output>\nOutput too large",
        "[Old tool result content cleared]",
        [{"type": "text", "text": "<persisted-output>\nOutput too large"}],
    ],
)
def test_an_output_that_was_cut_or_cleared_is_not_in_view(content, talk, tmp_path):
    talk.read("c", content)

    assert in_view(asked(talk.save(tmp_path / "s.jsonl"))) == {"a", "b"}


def test_an_output_that_was_replaced_later_is_not_in_view(talk, tmp_path):
    replaced = [{"kind": "tool-result", "toolUseId": "a", "replacement": "<persisted-output>"}]
    talk.rows.append({"type": "content-replacement", "replacements": replaced})

    assert in_view(asked(talk.save(tmp_path / "s.jsonl"))) == {"b"}


def test_requests_that_send_all_again_take_nothing_away(tmp_path):
    talk = Conversation()
    talk.prompt("p1")
    talk.request(0, 1, base=False)
    talk.read("a")
    talk.request(1, 2)
    talk.read("b")
    talk.request(3, 2)

    assert in_view(asked(talk.save(tmp_path / "s.jsonl"))) == {"a", "b"}


def test_a_request_that_does_not_send_all_again_has_lost_something(tmp_path):
    talk = Conversation()
    talk.prompt("p1")
    talk.request(0, 1, base=False)
    talk.read("a")
    talk.request(1, 2)
    talk.read("b")
    talk.request(2, 3)
    talk.read("c")

    assert in_view(asked(talk.save(tmp_path / "s.jsonl"))) == {"c"}


def test_a_sub_agent_has_a_transcript_of_its_own(talk, tmp_path):
    inner = Conversation()
    inner.prompt("p1", isSidechain=True)
    inner.read("x", isSidechain=True)
    inner.save(tmp_path / "s" / "subagents" / "agent-a1.jsonl")
    path = talk.save(tmp_path / "s.jsonl")

    assert in_view(asked(path, "p9", agent="a1")) == {"x"}
    assert in_view(asked(path, "p1")) == {"a", "b"}
    assert in_view(asked(path, "p1", agent="a2")) is None
    assert in_view(asked(path, "p1", agent="../../s")) is None


def test_rows_of_sub_agents_in_the_sessions_own_file_are_not_its_way(talk, tmp_path):
    leaf = talk.leaf
    talk.asks("side", isSidechain=True, parent=None)
    talk.shows("side", isSidechain=True)
    talk.asks("now", parent=leaf)

    assert in_view(asked(talk.save(tmp_path / "s.jsonl"))) == {"a", "b"}


def test_half_a_row_and_strange_rows_are_passed_over(talk, tmp_path):
    path = talk.save(tmp_path / "s.jsonl")
    with open(path, "a") as file:
        file.write('7\n[]\n{"uuid": 7}\n{"uuid": "z", "message": 7, "parentUuid": []}\n')
    assert in_view(asked(path)) is None  # a last row without a parent leads nowhere

    with open(talk.save(tmp_path / "s.jsonl"), "a") as file:
        file.write('7\n[]\n{"type": "user", "message": {"content": [7, {"type": "tool_result')
    assert in_view(asked(path)) == {"a", "b"}


def test_rows_that_name_each_other_end(tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_text('{"uuid":"x","parentUuid":"y"}\n{"uuid":"y","parentUuid":"x"}\n')

    assert in_view(asked(path)) is None


def test_what_is_no_transcript_is_no_evidence(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "empty").touch()
    for path in ("pipe", "empty", "none", "."):
        assert in_view(asked(tmp_path / path)) is None
    assert in_view(asked("")) is None
    assert in_view(asked("/a\0b")) is None
    assert in_view(asked(tmp_path / "empty", harness="gemini")) is None


def test_an_agent_that_tells_itself_is_believed(tmp_path):
    event = asked("", harness="opencode", in_view=frozenset("ab"))

    assert in_view(event) == {"a", "b"}


def rollout(path, *items):
    path.write_text(
        "".join(json.dumps({"type": kind, "payload": inner}) + "\n" for kind, inner in items)
    )
    return path


def turn(name):
    return ("turn_context", {"turn_id": name})


def output(call, kind="function_call_output"):
    return ("response_item", {"type": kind, "call_id": call, "output": "x"})


BACK = ("event_msg", {"type": "thread_rolled_back", "num_turns": 1})
COMPACTED = ("compacted", {"message": "", "replacement_history": [{"call_id": "a"}]})


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ([turn("t"), output("a"), output("b", "custom_tool_call_output")], {"a", "b"}),
        ([turn("t"), output("a"), COMPACTED, output("b")], {"b"}),
        ([turn("q"), output("a"), BACK, turn("t"), output("b")], {"b"}),
        ([turn("q"), output("a")], None),
        ([turn("t"), ("event_msg", {"type": "x", "call_id": "a"}), ("response_item", 7)], set()),
    ],
)
def test_what_is_in_view_of_codex(items, expected, tmp_path):
    path = rollout(tmp_path / "r.jsonl", *items)

    assert in_view(asked(path, "t", harness="codex")) == expected
    assert in_view(asked(path, "", harness="codex")) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1:x\n2:y", {"a"}), ("1:x…7 tokens truncated…9:z", set()), ("1:x…2 chars truncated…", set())],
)
def test_what_codex_cut_out_of_a_servers_answer_is_not_in_view(text, expected, tmp_path):
    blocks = [{"type": "input_text", "text": part} for part in ("Wall time: 1 s\nOutput:", text)]
    item = {"type": "function_call_output", "call_id": "a", "output": blocks}
    path = rollout(tmp_path / "r.jsonl", turn("t"), ("response_item", item))

    assert in_view(asked(path, "t", harness="codex")) == expected


def test_a_long_turn_of_codex_is_known_by_the_use_itself(tmp_path):
    asks = ("response_item", {"type": "function_call", "call_id": "now"})
    path = rollout(tmp_path / "r.jsonl", output("a"), asks)

    assert in_view(asked(path, "t", call="now", harness="codex")) == {"a"}
    assert in_view(asked(path, "t", call="other", harness="codex")) is None


def test_only_the_end_of_a_long_transcript_is_read(talk, tmp_path):
    for number in range(READ_MAX // 100_000 + 1):
        talk.read(f"c{number}", "x" * 100_000)
    seen = in_view(asked(talk.save(tmp_path / "s.jsonl"), "p1", call=f"c{number}"))

    assert f"c{number}" in seen
    assert seen.isdisjoint({"a", "b"})
