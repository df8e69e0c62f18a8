"""What Codex 0.169.0 wrote is read message for message, and what older versions wrote."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

from tests.agents.transcript_reads import FIXTURES, Read, place, read, reader_of
from triseek.model.conversation import Edit, Mark

HOME = FIXTURES / "codex"
THREAD = "00000000-0000-4000-8000-000000000009"
META = {
    "timestamp": "2026-07-01T10:00:00Z",
    "type": "session_meta",
    "payload": {"id": THREAD, "cwd": "/w", "git": {"branch": "main"}},
}


@pytest.fixture(scope="module")
def files() -> list[str]:
    return [*reader_of("codex").sources(place(HOME, CODEX_HOME=str(HOME)))]


@pytest.fixture(scope="module")
def whole(files) -> Read:
    """All recorded threads."""
    found = Read()
    for path in files:
        again = read("codex", path)
        found.add([*again.conversations.values(), *again.messages.values(), *again.events.values()])
    return found


def thread_of(whole: Read, text: str) -> str:
    return next(one.conversation for one in whole.messages.values() if one.text == text)


def item(**payload: object) -> dict[str, object]:
    return {"timestamp": "2026-07-01T10:00:01Z", "type": "response_item", "payload": payload}


def event(**payload: object) -> dict[str, object]:
    return {"timestamp": "2026-07-01T10:00:02Z", "type": "event_msg", "payload": payload}


def of_rows(folder: Path, *rows: object) -> Read:
    path = folder / f"rollout-2026-07-01T10-00-00-{THREAD}.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))
    return read("codex", path)


def test_a_thread_is_read_message_for_message(whole):
    thread = thread_of(whole, "Do as told. [[first]]")

    assert whole.said(thread) == [
        ("user", "Do as told. [[first]]"),
        ("assistant", "All was done."),
        ("summary", "<summary>Some files were read. Nothing else is known.</summary>"),
        ("user", "Do as told. [[undone]]"),
        ("assistant", "To be undone."),
        ("user", "Do as told. [[second]]"),
        ("assistant", "After the revert."),
    ]
    conversation = whole.conversations[thread]
    assert (conversation.cwd, conversation.branch) == ("/work/repo", "main")
    assert (conversation.model, conversation.parent) == ("gpt-5.5", "")


def test_a_thread_is_read_tool_for_tool(whole):
    [cat, fails, patch, refused] = whole.used(thread_of(whole, "Do as told. [[first]]"))

    assert (cat.name, cat.command, cat.exit_status, cat.failed) == (
        "exec_command", "cat b.py", 0, False,
    )  # fmt: skip
    assert (cat.reads, cat.output) == (("/work/repo/b.py",), "b_1 = 1\nb_2 = 2\nb_3 = 3\n")
    assert (fails.exit_status, fails.failed, fails.output) == (3, True, "no\n")
    assert (patch.name, patch.failed) == ("apply_patch", False)
    assert sorted(patch.edits, key=lambda edit: edit.path) == [
        Edit(path="/work/repo/e.py", after="e = 1\n"),
        Edit(
            path="/work/repo/moved.py",
            before="b_1 = 1\nb_2 = 2\nb_3 = 3\n",
            after="b_1 = 1\nb_2 = 22\nb_3 = 3\n",
        ),
    ]
    assert refused.failed is True
    assert cat.time_ms < cat.ended_ms < fails.time_ms


def test_a_fork_names_its_parent(whole):
    fork = whole.conversations[thread_of(whole, "Do as told. [[third]]")]
    assert fork.parent == thread_of(whole, "Do as told. [[first]]")
    assert not fork.is_sub_agent
    assert whole.said(fork.id) == [("user", "Do as told. [[third]]"), ("assistant", "Forked.")]


def test_a_sub_agent_names_its_parent(whole):
    sub = whole.conversations[thread_of(whole, "Seen.")]
    assert sub.is_sub_agent
    assert sub.parent == thread_of(whole, "Do as told. [[fifth]]")


def test_commands_of_a_script_are_uses_of_their_own(whole):
    [script, inner] = whole.used(thread_of(whole, "Do as told. [[fourth]]"))

    assert (script.name, script.command, inner.command) == ("exec", "", "cat src/a.py")
    assert "tools.exec_command" in script.input
    assert (inner.exit_status, inner.reads) == (0, ("/work/repo/src/a.py",))
    assert inner.output in script.output + "\n"


def test_a_thread_of_codex_exec_goes_on_when_it_is_resumed(whole):
    thread = thread_of(whole, "Do as told. [[exec]]")
    assert [text for _, text in whole.said(thread)] == [
        "Do as told. [[exec]]", "Executed.", "Do as told. [[resumed]]", "Resumed.",
    ]  # fmt: skip


def test_a_compressed_rollout_is_read_as_the_plain_one(files, tmp_path):
    for path in files:
        data = Path(path).read_bytes()
        packed = tmp_path / f"{Path(path).name}.zst"
        packed.write_bytes(pa.compress(data, codec="zstd", asbytes=True))
        plain = read("codex", path)

        assert read("codex", packed).records() == plain.records()
        [mark] = plain.marks
        parts = [*reader_of("codex").read(str(packed), mark)]
        assert parts[-1] == mark
        end = Mark(offset=len(data), state=mark.state)
        assert [*reader_of("codex").read(str(packed), end)] == [end]


def test_a_damaged_compressed_rollout_cannot_be_read(tmp_path):
    path = tmp_path / "rollout.jsonl.zst"
    path.write_bytes(b"nothing of the kind" * 100)
    with pytest.raises(OSError, match="ZSTD"):
        read("codex", path)


def test_older_rollouts_say_it_in_other_rows(tmp_path):
    shell = {"command": ["bash", "-lc", "cat a"], "workdir": "/w/sub"}
    output = {"output": "x\n", "metadata": {"exit_code": 1, "duration_seconds": 0.1}}
    change = {"type": "update", "unified_diff": "@@ -1 +1 @@\n-a\n+b\n", "move_path": None}
    found = of_rows(
        tmp_path,
        META,
        item(type="message", role="user", content=[{"text": "<environment_context>x"}]),
        item(type="message", role="user", content=[{"text": "# AGENTS.md instructions for /w"}]),
        item(type="message", role="user", content=[{"type": "input_text", "text": "Go"}]),
        item(type="reasoning", summary=[{"text": "Hm."}]),
        item(type="function_call", name="shell", arguments=json.dumps(shell), call_id="c1"),
        item(type="function_call_output", call_id="c1", output=json.dumps(output)),
        item(type="custom_tool_call", name="apply_patch", input="no patch", call_id="c2"),
        event(type="patch_apply_end", call_id="c2", success=True, changes={"/w/a": change}),
        item(type="local_shell_call", call_id="c3", action={"command": ["ls", "-l"]}),
        event(type="exec_command_end", call_id="c3", command=["ls", "-l"], exit_code=0),
        item(type="message", role="assistant", content=[{"type": "output_text", "text": "So."}]),
        {"type": "compacted", "payload": {"message": "What was done."}},
    )
    assert found.said(THREAD) == [
        ("user", "Go"), ("assistant", "So."), ("summary", "What was done."),
    ]  # fmt: skip
    [shell_use, patch, local] = found.events.values()
    assert (shell_use.command, shell_use.exit_status, shell_use.output) == ("cat a", 1, "x\n")
    assert patch.edits == (Edit(path="/w/a", before="a\n", after="b\n"),)
    assert (local.command, local.exit_status) == ("ls -l", 0)


def test_what_an_editor_puts_before_a_prompt_is_left_out(tmp_path):
    editor = "# Context from my IDE setup:\n\n## Open tabs:\n- a.py: a.py\n"
    texts = [f"{editor}\n## My request for Codex:\nGo", editor, "Quote '## My request for Codex:'"]
    rows = [item(type="message", role="user", content=[{"text": text}]) for text in texts]
    found = of_rows(tmp_path, META, *rows)
    assert [text for _, text in found.said(THREAD)] == ["Go", editor, texts[2]]


def test_an_old_fork_that_repeats_its_parent_keeps_its_own_id(tmp_path):
    other = {"type": "session_meta", "payload": {"id": "other", "cwd": "/elsewhere"}}
    found = of_rows(tmp_path, META, other)
    assert list(found.conversations) == [THREAD]
    assert found.conversations[THREAD].cwd == "/w"


def test_a_thread_without_its_first_row_is_named_by_its_file(tmp_path):
    found = of_rows(tmp_path, item(type="message", role="assistant", content=[{"text": "So."}]))
    assert found.said(THREAD) == [("assistant", "So.")]
    assert THREAD in found.conversations


def test_arguments_are_texts_that_can_be_encoded(tmp_path):
    values = '{"cmd":"echo \\ud800"}'
    found = of_rows(
        tmp_path, META, item(type="function_call", name="shell", arguments=values, call_id="c")
    )
    [event] = found.events.values()
    assert event.command == "echo \N{REPLACEMENT CHARACTER}"
    assert event.input.encode()


def test_a_thread_is_reopened_by_its_id():
    assert reader_of("codex").resume("t") == ("codex", "resume", "t")
