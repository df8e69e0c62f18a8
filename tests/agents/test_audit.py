"""What looks for wrong denials finds them, and a scripted model answers as it is told."""

from __future__ import annotations

import json
import urllib.request

import pytest

from tests.agents.audit import Audit, Part
from tests.agents.model import serving
from tests.agents.script import Message, Request, says, uses

TEXT = "".join(f"line {number}\n" for number in range(1, 21))
SHOWN = "".join(f"{number}\tline {number}\n" for number in range(1, 21))


def request(shown, denied):
    return Request(
        path="/v1/messages",
        tools=("Read",),
        body={},
        messages=(
            Message(role="call", text=json.dumps({"file_path": "a.py"}), call="1"),
            Message(role="result", text=shown, call="1"),
            Message(role="call", text=json.dumps(denied), call="2"),
            Message(role="result", text="TriSeek memo: a.py is unchanged", call="2"),
        ),
    )


@pytest.mark.parametrize(
    ("shown", "denied", "wrong"),
    [
        (SHOWN, {"file_path": "a.py"}, 0),
        (TEXT, {"cmd": "cat a.py"}, 0),
        (SHOWN[:60], {"path": "a.py", "offset": 2, "limit": 3}, 0),
        (SHOWN[:60], {"filePath": "a.py"}, 1),
        ("", {"command": "sed -n '3,4p' a.py"}, 1),
        (TEXT.replace("line 7\n", "line seven\n"), {"cmd": "cat a.py"}, 1),
        (SHOWN, {"file_path": "a.py", "offset": 30}, 1),
        (SHOWN, {"cmd": "cat a.py | sort"}, 1),
    ],
)
def test_a_denial_of_what_is_not_in_the_request_is_wrong(tmp_path, shown, denied, wrong):
    (tmp_path / "a.py").write_text(TEXT)
    audit = Audit(tmp_path)

    audit(request(shown, denied))

    assert len(audit.wrong) == wrong
    if denied == {"cmd": "cat a.py"}:
        assert audit.denied == [Part("a.py")]


def test_a_model_answers_by_the_mark_and_keeps_what_it_was_sent():
    def ask(model, text):
        asked = {"messages": [{"role": "user", "content": text}], "tools": [{"name": "Read"}]}
        sent = urllib.request.Request(f"{model.url}/v1/messages", json.dumps(asked).encode())
        with urllib.request.urlopen(sent, timeout=60) as answer:
            return json.loads(answer.read())["content"][0]

    with serving() as model:
        prompt = model.add("one", [uses("Read", file_path="a"), says("Done.")])
        other = model.add("two", [says("Other.")])

        assert ask(model, prompt)["input"] == {"file_path": "a"}
        assert ask(model, f"{prompt} {other}")["text"] == "Other."
        assert ask(model, prompt)["text"] == "Done."
        assert ask(model, "Write a detailed summary of the conversation.")["text"] == model.summary

    assert [one.mark for one in model.requests] == ["one", "two", "one", "summary"]
    assert [one.number for one in model.requests] == [1, 2, 3, 4]
