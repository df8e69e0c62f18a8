"""Errors of many tools are recognized, and recognized again."""

from __future__ import annotations

import time

import pytest

from tests.history import outputs
from triseek.history.errors import KEY_MAX, LINE_MAX, NO_ERROR, error_of, normalized

ROOT = "/work/shop"

CASES = {
    "pytest": (outputs.PYTEST_FAILED, "AssertionError: assert N == N @ tests/test_cart.py"),
    "python": (
        outputs.TRACEBACK,
        "json.decoder.JSONDecodeError: Expecting value: line N column N (char N) @ shop/load.py",
    ),
    "go test": (outputs.GO_FAILED, "total = N, want N @ cart_test.go TestTotal"),
    "go build": (outputs.GO_BUILD, "undefined: discount @ cart.go"),
    "cargo build": (outputs.CARGO_ERROR, "error[E0308]: mismatched types @ src/cart.rs"),
    "cargo test": (
        outputs.CARGO_PANIC, "panicked: assertion `left == right` failed @ src/cart.rs",
    ),
    "tsc": (
        outputs.TSC,
        "error TS2322: Type 'string' is not assignable to type 'number'. @ src/cart.ts",
    ),
    "node": (outputs.NODE, "TypeError: items.total is not a function @ src/cart.js"),
    "jest": (
        outputs.JEST,
        outputs.JEST_KEY,
    ),
    "maven": (outputs.MAVEN, "cannot find symbol @ src/main/java/Cart.java"),
    "java": (outputs.JAVA, "java.lang.IllegalStateException: no items @ shop.Cart.total"),
    "gcc": (outputs.GCC, "error: 'sum' undeclared (first use in this function) @ cart.c"),
    "shell": ("bash: line 1: cargo: command not found\n", "bash: line N: cargo: command not found"),
    "make": (
        "make: *** No rule to make target 'tset'.  Stop.\n",
        "make: *** No rule to make target 'tset'. Stop.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("tool", CASES)
def test_an_error_has_a_readable_key(tool):
    output, key = CASES[tool]
    assert error_of(output, 1, ROOT).key == key


@pytest.mark.parametrize("tool", CASES)
def test_the_same_error_elsewhere_and_later_has_the_same_key(tool):
    output, _ = CASES[tool]
    moved = output.replace(ROOT, "/home/me/other").replace("0.0", "1.7").replace(":14", ":99")
    assert error_of(moved, 2, "/home/me/other").key == error_of(output, 1, ROOT).key


@pytest.mark.parametrize("tool", CASES)
def test_a_command_that_passes_has_no_error(tool):
    assert error_of(CASES[tool][0], 0, ROOT) == NO_ERROR


def test_with_an_unknown_status_only_certain_forms_count():
    assert error_of("grep: error handling is in main.c", None) == NO_ERROR
    assert error_of(outputs.CARGO_ERROR, None).key


def test_different_errors_have_different_keys():
    keys = {error_of(output, 1, ROOT).key for output, _ in CASES.values()}
    assert len(keys) == len(CASES)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("took 1.25s at 2026-01-02T03:04:05Z", "took N at N"),
        ("id 123e4567-e89b-12d3-a456-426614174000 at 0xdeadbeef", "id N at N"),
        ("commit 1a2b3c4d5e", "commit N"),
        ("/work/shop/a.py and /opt/x/y.py", "a.py and …/y.py"),
        ("/tmp/tmpab12cd/file", "…/file"),
        ("E0308 TS2322 utf8", "E0308 TS2322 utf8"),
    ],
)
def test_what_varies_is_taken_out(text, expected):
    assert normalized(text, ROOT) == expected


@pytest.mark.parametrize(
    "output",
    [
        "\n" * 200_000, " " * 200_000, "/" * 200_000, "\x1b[" * 100_000, "●\n" * 60_000,
        "at " * 60_000, "a.b." * 50_000, "Error: x\n" * 30_000, "Caused by: " * 20_000,
        'File "' * 30_000, "E  " * 60_000, "[ERROR] " * 30_000, "error" * 40_000, "\0" * 200_000,
        "Traceback (most recent call last):\n" * 8_000, "0 errors " * 30_000, "--> \n" * 40_000,
    ],
)  # fmt: skip
def test_hostile_outputs_take_no_time(output):
    begun = time.process_time()
    error = error_of(output, 1, ROOT)
    assert time.process_time() - begun < 1.0
    assert len(error.key) <= KEY_MAX
    assert len(error.line) <= LINE_MAX


def test_a_test_that_only_ran_is_no_error():
    output = (
        "=== RUN   TestInvalidName\n--- PASS: TestInvalidName (0.00s)\nok  \tshop\t0.1s\nFAIL\n"
    )
    assert error_of(output, 1, ROOT) == NO_ERROR


def test_lines_that_name_their_task_are_read_without_it():
    plain = "cmd/strategy/auto.go:12:3: undefined: total\n"
    error = error_of(f"[lint:go] $ golangci-lint run\n[lint:go] {plain}", 1, ROOT)
    assert error == error_of(plain, 1, ROOT)
    assert error.key == "undefined: total @ cmd/strategy/auto.go"


@pytest.mark.parametrize(
    "output",
    [
        "", "Exit code 1", "FAIL\n", "---\n", "A\n", "}\n", "[lint:go] ERROR task failed\n",
        "[test:e2e] $ go test ./...\n",
        "<tool_use_error>Sibling tool call errored</tool_use_error>",
        "<tool_use_error>Cancelled: parallel tool call Bash(ls) errored</tool_use_error>",
    ],
)  # fmt: skip
def test_what_says_nothing_of_an_error_does_not_make_errors_equal(output):
    assert error_of(output, 1, ROOT) == NO_ERROR
    said = error_of(f"Exit code 2\n{output}\nno space left on device", 2, ROOT)
    assert said.line == "no space left on device"
