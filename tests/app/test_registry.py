"""The table of tools."""

from __future__ import annotations

import inspect

import pytest

from triseek.app.registry import TOOLS, chosen
from triseek.app.wings import TOOLSETS

each_verb = pytest.mark.parametrize("verb", TOOLS, ids=lambda verb: verb.name)


def test_the_tools_of_the_contract_are_listed_first_and_in_its_order():
    assert [verb.name for verb in TOOLS if verb.toolset == "search"][:3] == [
        "find_files", "search_content", "search_path_and_content"
    ]  # fmt: skip
    assert {"index_status", "reindex"} <= {verb.name for verb in TOOLS}


def test_the_memo_has_the_contracts_tools():
    assert [verb.name for verb in chosen(["memo"])] == ["memo_status", "memo_session", "memo_check"]
    assert all(verb.read_only for verb in chosen(["memo"]))


def test_sessions_have_the_contracts_tools():
    assert [verb.name for verb in chosen(["session"])] == [
        "session_open", "session_status", "session_list", "session_close", "session_snapshot",
        "session_handoff", "session_snapshot_list", "session_snapshot_get",
        "session_snapshot_diff", "session_resume",
    ]  # fmt: skip


def test_the_memory_has_the_contracts_tools_first():
    assert [verb.name for verb in chosen(["memory"])] == [
        "memory_remember", "memory_recall", "memory_recall_deep", "palace_create", "palace_list",
        "kg_assert", "kg_query", "memory_list", "memory_forget", "palace_info",
        "memory_update", "memory_restore", "kg_retract",
    ]  # fmt: skip


def test_a_toolset_is_chosen_by_name():
    assert chosen(TOOLSETS) == TOOLS
    assert chosen([]) == ()
    assert {verb.toolset for verb in chosen(["search"])} == {"search"}


@each_verb
def test_every_argument_is_described(verb):
    own = {name for name in verb.request.__dataclass_fields__ if not name.startswith("_")}
    source = "".join(inspect.getsource(kind) for kind in verb.request.__mro__[:-1])

    for name in own:
        declared = source.index(f"\n    {name}: ")
        assert source[declared:].split("\n")[2].lstrip().startswith(('"""', 'r"""')), name


@each_verb
def test_an_answer_takes_a_context_a_request_and_a_call(verb):
    names = [name.lstrip("_") for name in inspect.signature(verb.answer).parameters]

    assert names[:3] == ["context", "request", "call"]
    assert verb.title
    assert verb.kind in ("search", "context_pack", verb.name)
