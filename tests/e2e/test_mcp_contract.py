"""Every example of the contract, by the SDK's client, on a server and a daemon that are processes.

What each tool is, and what it answers, is written down in `tests/golden/tools`, one file a tool;
`make golden` writes them anew.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import plant
from tests.e2e.agents import agent
from tests.e2e.serving import daemon, environ, ready
from tests.test_errors import OF_THE_COMMAND_LINE
from triseek.engine.roots import index_dir
from triseek.index.build import build
from triseek.index.update import RACY_NS
from triseek.mcp.instructions import INSTRUCTIONS

GOLDEN = Path(__file__).parents[1] / "golden" / "tools"
LIST_TOKENS = 5_000
TREE = {
    "src/auth/router.rs": (
        "use std::io;\n\npub fn route(path: &str) -> Result<Route, Error> {\n"
        '    panic!("auth panic");\n}\n'
    ),
    "src/cli/parser.rs": "pub fn parse_arguments(args: &[String]) -> Config {\n    todo!()\n}\n",
    "src/config.rs": "pub struct Config;\npub fn load() -> Result<Config, Error> {\n}\n",
    "tests/many.txt": "".join(f"line {number} of many\n" for number in range(150)),
    "long.txt": "x" * 500 + "needle" + "y" * 500 + "\nneedle needle needle\n",
    "README.md": "Parse arguments, route.\n",
}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("contract-home")


@pytest.fixture(scope="module")
def root(tmp_path_factory, home):
    return indexed(tmp_path_factory.mktemp("contract"), home)


@pytest.fixture(scope="module")
def server(root, home):
    with serving(root, home) as client:
        yield client


@pytest.fixture
def new_server(tmp_path):
    """A server and a daemon that have answered nothing yet: scores by use order equal results."""
    home = tmp_path / "home"
    home.mkdir()
    with serving(indexed(tmp_path, home), home) as client:
        yield client


def indexed(folder, home):
    root = (folder / "repo").resolve()
    root.mkdir()
    plant(root, TREE)
    time.sleep(1.5 * RACY_NS / 1e9)  # files that are racy count as dirty until they are read again
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRISEEK_HOME", str(home))
        build(str(root), index_dir(str(root)))
    return root


@contextlib.contextmanager
def serving(root, home):
    with daemon(home), agent(root, **environ(home)) as client:
        ready(client)
        yield client


def has(told, example):
    """What of an example is not in an answer, or of another kind; additive fields may be there."""
    if isinstance(example, dict):
        assert isinstance(told, dict)
        return [
            f"{name}.{more}" if more else name
            for name, value in example.items()
            for more in ([""] if name not in told else has(told[name], value))
        ]
    if isinstance(example, list):
        assert isinstance(told, list)
        return [f"[]{more}" for one in told for more in (has(one, example[0]) if example else [])]
    return [] if type(told) is type(example) else [f" is {told!r}"]


def without(told, *additive):
    """An answer without fields that the contract does not have."""
    if isinstance(told, dict):
        return {name: without(v, *additive) for name, v in told.items() if name not in additive}
    return [without(one, *additive) for one in told] if isinstance(told, list) else told


def test_find_files(server, root):
    told = server.call("find_files", query="router auth", limit=20, force_refresh=False)
    example = {
        "version": "1", "repo_root": str(root), "strategy": "triseek_indexed",
        "fallback_used": False,
        "results": [{"path": "src/auth/router.rs", "reason": "path_match"}],
        "truncated": False,
    }  # fmt: skip

    assert {name: told[name] for name in example} == example


def test_search_content(server, root):
    told = server.call(
        "search_content", query="parse_arguments", mode="literal", limit=20, force_refresh=False
    )
    example = {
        "version": "1", "repo_root": str(root), "strategy": "triseek_indexed",
        "fallback_used": False,
        "results": [
            {
                "path": "src/cli/parser.rs",
                "matches": [
                    {
                        "line": 1, "column": 8,
                        "preview": "pub fn parse_arguments(args: &[String]) -> Config {",
                    }
                ],
                "reason": "content_match",
            }
        ],
        "truncated": False,
    }  # fmt: skip

    assert without({name: told[name] for name in example}, "definition") == example


def test_search_path_and_content(new_server):
    told = new_server.call(
        "search_path_and_content", path_query="src/**/*.rs", content_query="Result<",
        mode="literal", limit=20, force_refresh=False,
    )  # fmt: skip

    assert [result["path"] for result in told["results"]] == ["src/auth/router.rs", "src/config.rs"]


@pytest.mark.parametrize(
    ("tool", "asked", "counts"),
    [
        ("search_content", {"query": "Result<"}, (2, 2)),
        ("search_path_and_content", {"path_query": "src/**", "content_query": "fn"}, (3, 3)),
        ("find_files", {"query": "src rs"}, (3, 0)),
    ],
)
def test_the_same_search_again_is_the_reuse_envelope(new_server, tmp_path, tool, asked, counts):
    root = tmp_path.resolve() / "repo"
    first = new_server.call(tool, **asked)
    told = new_server.call(tool, **asked)

    assert told == {
        "version": "1", "repo_root": str(root), "strategy": "triseek_indexed",
        "fallback_used": False, "cache": "hit", "search_id": first["search_id"],
        "prior_search_id": first["search_id"], "reuse_status": "fresh_duplicate",
        "reuse_reason": "unchanged", "generation": told["generation"],
        "context_epoch": told["context_epoch"], "files_with_matches": counts[0],
        "total_line_matches": counts[1], "results": [], "results_omitted": True,
        "truncated": False,
    }  # fmt: skip
    assert type(told["generation"]) is int
    assert type(told["context_epoch"]) is int
    assert re.fullmatch(r"search-\d{4}", told["search_id"])
    forced = new_server.call(tool, **asked, force_refresh=True)
    assert (forced["results"], forced["cache"]) == (first["results"], "miss")


def test_who_does_not_say_which_context_it_is_gets_every_answer(server):
    for meta in ({}, {"sessionId": "me"}, {"triseek/context": "another"}):
        told = server.call("find_files", query="src rs config", meta=meta)

        assert told["results"] == [{"path": "src/config.rs", "reason": "path_match"}]
    assert server.call("find_files", query="src rs config", meta={"triseek/context": "another"})[
        "results_omitted"
    ]


def test_every_search_has_the_fields_of_a_success(server):
    for tool, asked in (
        ("find_files", {"query": "config"}),
        ("search_content", {"query": "Config"}),
        ("search_path_and_content", {"path_query": "*.rs", "content_query": "Config"}),
    ):
        told = server.call(tool, **asked)

        assert {
            "version", "repo_root", "strategy", "fallback_used", "cache", "routing_reason",
            "results", "search_id", "truncated",
        } <= set(told)  # fmt: skip
        assert told["cache"] == "miss"


def test_context_pack(server, root):
    told = server.call(
        "context_pack", goal="fix auth panic for service accounts", intent="bugfix",
        budget_tokens=1200, max_files=4, changed_files=[],
    )  # fmt: skip
    example = {
        "version": "1", "repo_root": "/repo", "intent": "bugfix",
        "goal": "fix auth panic for service accounts", "budget_tokens": 1200, "max_files": 4,
        "estimated_tokens": 180,
        "items": [
            {
                "path": "src/auth/router.rs", "score": 28.0,
                "reasons": ["content_match", "path_match"],
                "snippets": [{"line": 42, "column": 5, "preview": 'panic!("auth panic");'}],
            }
        ],
        "suggested_next_steps": [
            "Start with the highest-ranked source file and its snippets."
        ],
        "truncated": False,
    }  # fmt: skip

    assert has(told, example) == []
    assert told["repo_root"] == str(root)
    assert {name: told[name] for name in ("intent", "goal", "budget_tokens", "max_files")} == {
        name: example[name] for name in ("intent", "goal", "budget_tokens", "max_files")
    }
    first = told["items"][0]
    assert first["path"] == "src/auth/router.rs"
    assert {"content_match", "path_match"} <= set(first["reasons"])
    assert (4, 5) in {(snippet["line"], snippet["column"]) for snippet in first["snippets"]}
    assert told["suggested_next_steps"][0] == example["suggested_next_steps"][0]
    assert 0 < told["estimated_tokens"] <= 1200
    assert len(told["items"]) <= 4


def test_index_status(server):
    example = {
        "version": "1", "repo_root": "/repo", "index_present": True, "index_fresh": True,
        "indexed_files": 28132, "index_bytes": 91256489, "last_updated": "2025-11-08T12:14:30Z",
        "repo_category": "large", "routing_hint": "indexed_default",
    }  # fmt: skip
    told = server.call("index_status")

    assert has(told, example) == []
    assert (told["index_present"], told["index_fresh"], told["indexed_files"]) == (True, True, 6)
    assert told["index_bytes"] > 0
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", told["last_updated"])
    assert (told["repo_category"], told["routing_hint"]) == ("small", "indexed_default")


def test_reindex(server, root):
    told = server.call("reindex", mode="incremental")

    assert {**told, "elapsed_ms": 412} == {
        "version": "1", "repo_root": str(root), "completed": True, "mode": "incremental",
        "rebuilt_full": False, "elapsed_ms": 412, "indexed_files": 6,
    }  # fmt: skip
    assert told["elapsed_ms"] > 0


@pytest.mark.parametrize(
    ("tool", "asked"),
    [
        ("search_content", {}), ("search_content", {"query": ""}), ("find_files", {"query": " "}),
        ("search_content", {"query": "(", "mode": "regex"}),
        ("search_content", {"query": "x", "mode": "fuzzy"}),
        ("search_content", {"query": "x", "no_such": 1}),
        ("search_path_and_content", {"path_query": "", "content_query": "x"}),
        ("reindex", {"mode": "sideways"}),
        ("search_content", {"query": "x", "path": "../.."}),
        ("search_content", {"query": "x\0"}),
        ("search_content", {"query": "x" * (1 << 20)}),
        ("search_content", {"query": r"a\nb", "mode": "regex"}),
        ("search_content", {"query": r"a\x00", "mode": "regex"}),
        ("search_content", {"query": "x", "type": "pyhton"}),
    ],
    ids=lambda value: str(value)[:40],
)  # fmt: skip
def test_a_mistake_is_an_answer_with_the_contracts_error(server, tool, asked):
    result = server.result(tool, **asked)
    error = result.structured_content["error"]

    assert result.is_error is True
    assert set(result.structured_content) == {"version", "error"}
    assert set(error) == {"code", "message", "retryable", "suggested_action"}
    assert (error["code"], error["retryable"]) == ("INVALID_QUERY", False)
    assert error["suggested_action"]
    assert not OF_THE_COMMAND_LINE.search(error["suggested_action"])
    assert result.content[0].text == (
        f"{tool} error [INVALID_QUERY]: {error['message']}. Suggested: {error['suggested_action']}"
    )


def test_twenty_results_unless_asked_and_never_more_than_a_hundred(server):
    def lines(**asked):
        told = server.call("search_content", query="of many", **asked)
        return len(told["results"][0]["matches"]), told["truncated"], told["total_line_matches"]

    assert lines() == (20, True, 150)
    assert lines(limit=100) == lines(limit=5_000) == (100, True, 150)
    assert lines(limit=50, offset=100) == (50, False, 150)


def test_previews_are_cut_and_a_line_is_told_once(server):
    told = server.call("search_content", query="needle")
    [result] = told["results"]

    assert [match["line"] for match in result["matches"]] == [1, 2]
    assert [len(match["preview"]) for match in result["matches"]] == [200, 20]
    assert all("needle" in match["preview"] for match in result["matches"])


def test_no_answer_comes_near_to_what_clients_warn_of(server):
    result = server.result("search_content", query="e", limit=100, context=10)

    assert len(json.dumps(result.structured_content)) / 4 < 10_000


def test_the_list_of_tools_is_small_and_the_rule_is_told(server):
    listed = [tool.model_dump(mode="json", by_alias=True, exclude_none=True)
              for tool in server.tools()]  # fmt: skip

    assert -(-len(json.dumps({"tools": listed}, separators=(",", ":"))) // 4) <= LIST_TOKENS
    assert server.told.instructions == INSTRUCTIONS
    assert server.told.server_info.name == "triseek"
    assert all(tool["description"] and tool["outputSchema"] for tool in listed)


def test_a_client_without_a_handshake_is_told_the_same(root, home):
    """2026-07-28: `server/discover`, and whatever a request needs in the request."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    }
    asked = [
        {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": meta}},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call",
         "params": {"_meta": meta, "name": "find_files", "arguments": {"query": "router"}}},
    ]  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "triseek", "mcp", "serve"],
        cwd=root, env={**os.environ, **environ(home)}, timeout=120, check=True,
        input="".join(json.dumps(message) + "\n" for message in asked).encode(),
        capture_output=True,
    )  # fmt: skip
    told = {answer["id"]: answer["result"] for answer in map(json.loads, done.stdout.splitlines())}

    assert told[1]["instructions"] == INSTRUCTIONS
    assert told[2]["structuredContent"]["results"][0]["path"] == "src/auth/router.rs"


EXAMPLES = {
    "find_files": [
        {"query": "router auth"}, {"query": "*.rs", "limit": 2}, {"query": "nowhere"},
        {"query": ""},
    ],
    "search_content": [
        {"query": "parse_arguments"}, {"query": r"fn \w+\(", "mode": "regex", "limit": 2},
        {"query": "CONFIG"}, {"query": "panic", "context": 1},
        {"query": "Config", "output_mode": "count"}, {"query": "(", "mode": "regex"},
    ],
    "search_path_and_content": [
        {"path_query": "src/**/*.rs", "content_query": "Result<"},
        {"path_query": "*.md", "content_query": "Config"},
    ],
    "context_pack": [
        {"goal": "fix auth panic for service accounts"},
        {"goal": "load the config", "intent": "review", "changed_files": ["src/config.rs"]},
        {"goal": " "}, {"goal": "x", "intent": "poetry"},
    ],
    "index_status": [{}],
    "reindex": [{"mode": "incremental"}, {"mode": "full"}],
}  # fmt: skip
VOLATILE = {
    "repo_root": "/repo", "search_id": "search-0001", "prior_search_id": "search-0001",
    "generation": 42, "context_epoch": 0, "elapsed_ms": 412, "index_bytes": 91256489,
    "last_updated": "2025-11-08T12:14:30Z",
}  # fmt: skip


def masked(envelope):
    return {
        name: VOLATILE.get(name, value) if value is not None else None
        for name, value in envelope.items()
    }


def masked_text(text):
    text = re.sub(r"in [\d,]+ ms", "in 412 ms", text)
    text = re.sub(r"[\d.]+ MB", "91.3 MB", text)
    return re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "2025-11-08T12:14:30Z", text)


@pytest.mark.parametrize("tool", EXAMPLES)
def test_a_tool_and_its_answers_are_what_is_written_down(new_server, tool):
    [listed] = [one for one in new_server.tools() if one.name == tool]
    answers = []
    for asked in EXAMPLES[tool]:
        result = new_server.result(tool, **asked, meta={})
        answers.append(
            {
                "arguments": asked,
                "is_error": result.is_error,
                "structured_content": masked(result.structured_content),
                "text": masked_text(result.content[0].text).splitlines(),
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


def test_every_search_tool_is_written_down(server):
    assert set(EXAMPLES) <= {tool.name for tool in server.tools()}
    assert {path.stem for path in GOLDEN.glob("*.json")} >= set(EXAMPLES)
