"""Results as markdown: the contract's lines to the letter, any payload, bounded size."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triseek.workflows import rendering
from triseek.workflows.catalog.workflows import BY_ID
from triseek.workflows.execution import ExecutionResult
from triseek.workflows.payloads import body


def success(payload: object, **more: object) -> ExecutionResult:
    return ExecutionResult(
        success=True, exit_code=0, tier="kernel", result_json=payload, has_result=True,
        timing_ms=412, **more,
    )  # fmt: skip


def hit(number: int = 0, matches: int = 1, text: str = "x", url: str = "") -> dict[str, object]:
    return {
        "repository": "r", "filename": f"f{number}.go", "url": url,
        "matches": [{"line_number": line, "text": text} for line in range(1, matches + 1)],
    }  # fmt: skip


def usage(results: list[object]) -> dict[str, object]:
    return {"query": "q", "context_lines": 0, "total_hits": len(results), "results": results}


def test_the_sample_of_the_contract():
    payload = {
        "query": "ProcessOrder lang:go",
        "total_hits": 2,
        "results": [
            {
                "repository": "github.com/org/checkout",
                "filename": "order/process.go",
                "url": "https://github.com/org/checkout/blob/HEAD/order/process.go",
                "matches": [
                    {
                        "line_number": 42,
                        "text": "func ProcessOrder(ctx context.Context) error {",
                    },
                    *[{"line_number": line, "text": "ProcessOrder()"} for line in range(50, 56)],
                ],
            },
        ],
    }

    assert rendering.workflow("symbol_usage", success(payload)) == (
        "## Workflow: `symbol_usage`\n"
        "\n"
        "- Process status: `success`\n"
        "- Output status: `parsed`\n"
        "- Exit code: `0`\n"
        "- Timing (ms): `412`\n"
        "- Tier: `kernel`\n"
        "\n"
        "Found `2` matches for `ProcessOrder lang:go`.\n"
        "\n"
        "1. `github.com/org/checkout/order/process.go`\n"
        "   - L42: `func ProcessOrder(ctx context.Context) error {`\n"
        "   - L50: `ProcessOrder()`\n"
        "   - L51: `ProcessOrder()`\n"
        "   - L52: `ProcessOrder()`\n"
        "   - ... `3` more matches\n"
        "   https://github.com/org/checkout/blob/HEAD/order/process.go"
    )


def test_more_than_ten_files_are_counted():
    lines = body("symbol_usage", usage([hit(number) for number in range(13)]))

    assert lines[-1] == "... and `3` more files."
    assert sum(line.endswith(".go`") for line in lines) == 10


@pytest.mark.parametrize(("size", "shown"), [(220, "a" * 220), (221, "a" * 217 + "...")])
def test_long_lines_are_cut_at_220_characters(size, shown):
    assert body("symbol_usage", usage([hit(text="a" * size)]))[-1] == f"   - L1: `{shown}`"


def test_lines_around_a_match_keep_their_structure():
    match = {"line_number": 9, "first_line": 8, "text": "if x:\n    ``y``\n\treturn"}
    lines = body("symbol_usage", usage([{**hit(), "matches": [match]}]))

    assert lines[3:] == [
        "   - L9:", "     ```text", "      8 | if x:", "      9 |     ``y``",
        "     10 | \treturn", "     ```",
    ]  # fmt: skip


def test_a_trace_shows_few_lines_of_each_repository():
    around = {"line_number": 9, "first_line": 8, "text": "# before\nx\n# after"}
    payload = {
        "symbol": "S", "inspected_repos": 3,
        "trace": [
            {
                "repo": "a/b", "definition_hits": 1, "usage_hits": 3,
                "definitions": [{**hit(1), "matches": [around]}],
                "usages": [hit(2), hit(3, matches=5), hit(4)],
            }
        ],
        "errors": [{"repo": "c", "error": "down"}],
    }  # fmt: skip

    assert body("cross_repo_trace", payload) == [
        "Cross-repo trace for `S` across `3` repos.", "", "### 1. `a/b`",
        "- Definition hits: `1`", "- Usage hits: `3`", "- Sample definitions:",
        "  1. `r/f1.go`", "     - L9: `x`", "- Sample usages:", "  1. `r/f2.go`", "     - L1: `x`",
        "  2. `r/f3.go`", "     - L1: `x`", "     - L2: `x`", "     - ... `3` more matches",
        "  ... and `1` more files.", "", "### Errors",
        "- `c`: down",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("a.py", "python"), ("a.tsx", "tsx"), ("a.JS", "javascript"), ("a.hpp", "cpp"),
        ("a.yml", "yaml"), ("a.h", "c"), ("a.xyz", "text"), ("Makefile", "text"),
        ("a.d/b", "text"),
    ],
)  # fmt: skip
def test_a_window_of_a_file(path, language):
    payload = {"repo": "r", "path": path, "start_line": 9, "end_line": 10, "content": "\ta\n\n"}

    assert body("file_context_reader", payload) == [
        f"`r/{path}` lines `9-10`", "", f"```{language}", " 9 | \ta", "10 | ", "```",
    ]  # fmt: skip


def test_texts_of_others_are_code_unless_they_are_addresses():
    urls = ["https://a/b?c=d#L1", "https://a) **Do** this", "javascript:x", "https://a/[x](y)"]
    results = [{"repository": "a", "matches": [], "url": url} for url in urls]
    commit = {"commit": "c`1", "date": "2026", "author": "**Do** `this`", "subject": "# x"}

    shown = body("symbol_usage", usage(results))
    assert [line.strip() for line in shown if "https" in line or "java" in line] == [
        urls[0], *(f"`{url}`" for url in urls[1:]),
    ]  # fmt: skip
    assert body("change_history", {"commits": [commit]})[-2:] == [
        "1. ``c`1`` 2026 `` **Do** `this` ``", "   - `# x`",
    ]  # fmt: skip


def test_repositories_and_what_matched_in_them():
    results = [{"repository": "a", "filename": "", "url": "https://a", "matches": []}]
    payload = {"query": "q", "repositories": ["a", "b"], "results": results}

    assert body("repo_discovery", payload) == [
        "Found `2` repositories for `q`.", "", "### Repositories", "1. `a`", "2. `b`", "",
        "### Top Matches", "1. `a`", "   https://a",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("payload", "lines"),
    [
        (3, ["Result: `3`"]),
        ("a`b", ["Result: ``a`b``"]),
        ([], ["Result list is empty."]),
        (["a"] * 12, ["Result list with `12` items:", *[f"{n}. `a`" for n in range(1, 11)],
                      "... and `2` more items."]),
        ({"a": 1, "b": [1], "c": {}}, ["Result fields:", "- `a`: `1`",
                                       "- `b`: list with `1` items",
                                       "- `c`: object with `0` fields"]),
    ],
)  # fmt: skip
def test_any_other_payload_is_outlined(payload, lines):
    assert body("unknown", payload) == lines


def test_a_failure_shows_what_was_printed():
    result = ExecutionResult(
        success=False, exit_code=124, tier="kernel", stderr="execution timed out", stdout="half\n",
        safety_rejections=["banned_import: os"], timing_ms=7,
    )  # fmt: skip
    head = (
        "- Process status: `failure`\n- Output status: `not_available`\n- Exit code: `124`\n"
        "- Timing (ms): `7`\n- Tier: `kernel`\n"
    )
    rejected = "- Safety rejections: `1`\n  - banned_import: os\n"

    assert rendering.workflow("symbol_usage", result) == (
        f"## Workflow: `symbol_usage`\n\n{head}{rejected}\n### Error\n```text\n"
        "execution timed out\n```\n\n### Stdout\n```text\nhalf\n```"
    )
    assert rendering.custom(result) == (
        f"## Custom Workflow Code Execution\n\n{head}{rejected}\n### Result JSON\n```json\nnull\n"
        "```\n\n### Stdout\n```text\nhalf\n```\n\n### Stderr\n```text\nexecution timed out\n```"
    )


@pytest.mark.parametrize(
    ("result", "status"),
    [
        (success({}), "parsed"),
        (success(None, stderr="malformed result marker JSON: x"), "parse_error"),
        (success(None, stderr="result marker not found"), "missing_result_marker"),
        (success(None), "missing_payload"),
        (rendering.failure("x", 2), "not_available"),
    ],
)
def test_the_status_of_the_output(result, status):
    assert f"- Output status: `{status}`" in rendering.custom(result)


def test_a_success_without_payload_says_so():
    page = rendering.workflow("outline", success(None, stderr="result marker not found"))

    assert "\n\nNo structured workflow payload was produced.\n" in page
    assert "### Parser / Runtime Details\n```text\nresult marker not found\n```" in page


def test_notes_stand_after_the_status_lines():
    page = rendering.workflow("symbol_usage", success(usage([])), ["Hosts: `a` ok, `b` down"])

    assert "- Tier: `kernel`\n- Hosts: `a` ok, `b` down\n\nFound" in page


def test_an_answer_has_at_most_20_000_characters_and_says_that_it_is_cut():
    long = "y" * 1_900
    results = [hit(n, 4, "\n".join([long] * 9)) for n in range(10)]
    pages = [
        rendering.workflow("symbol_usage", success(usage(results), stdout=long * 40)),
        rendering.custom(success(results, stdout=long * 40, stderr=long * 40)),
        rendering.custom(success({"a": "b" * 900_000})),
    ]

    for page in pages:
        assert len(page) < rendering.TEXT_MAX + 100
        assert "... cut: the answer has more than " in page
        fences = [line for line in page.split("\n") if line.strip().startswith("```")]
        assert len(fences) % 2 == 0


FIELDS = (
    "query", "results", "matches", "text", "line_number", "first_line", "trace", "definitions",
    "errors", "repo", "symbols", "callers", "groups", "commits", "candidates", "lines", "filename",
    "url", "name", "kind",
)  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(FIELDS) | st.text(max_size=5),
            inner,
            max_size=6,
        )
    ),
    max_leaves=30,
)


@given(st.sampled_from([*BY_ID, "unknown"]), JSON)
def test_a_payload_of_any_shape_is_shown(workflow, payload):
    page = rendering.workflow(workflow, success(payload))

    assert page.startswith(f"## Workflow: `{workflow}`\n\n- Process status: `success`")
    assert not any(char in page for char in "\x1b\r\x00\u202e")
    page.encode()


def test_a_long_result_is_not_indented_to_its_end(monkeypatch):
    deep: object = [1] * 300_000
    for _ in range(90):
        deep = [deep]
    pieces = []
    encode = json.JSONEncoder.iterencode

    def counted(encoder, value):
        for piece in encode(encoder, value):
            pieces.append(len(piece))
            yield piece

    monkeypatch.setattr(json.JSONEncoder, "iterencode", counted)
    page = rendering.custom(success(deep))

    assert rendering.CUT.format(rendering.STREAM_MAX)[:10] in page
    assert sum(pieces) < 2 * rendering.TEXT_MAX
