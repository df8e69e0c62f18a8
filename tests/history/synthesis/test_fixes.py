"""Failing checks that edits made pass."""

from __future__ import annotations

import pytest

from tests.history import outputs
from tests.history.recorded import Recorded
from tests.history.synthesis.derived import derived
from triseek.history.synthesis.fixes import failing_tests

RUST_OK = "running 1 test\ntest tests::discount ... ok\n\ntest result: ok. 1 passed; 0 failed;\n"
TOOLS = {
    "pytest": (
        "pytest -q", outputs.PYTEST_FAILED, outputs.PYTEST_PASSED,
        "Fixed tests/test_cart.py::test_discount in src/cart.x",
    ),
    "go test": (
        "go test ./...", outputs.GO_FAILED, "ok  \texample.com/shop/cart\t0.002s\n",
        "Fixed TestTotal in src/cart.x",
    ),
    "cargo test": ("cargo test", outputs.CARGO_PANIC, RUST_OK, "Fixed tests::discount in src/cart.x"),  # noqa: E501
    "cargo build": (
        "cargo build", outputs.CARGO_ERROR, "    Finished `dev` profile target(s) in 0.1s\n",
        "Fixed error[E0308]: mismatched types in src/cart.x",
    ),
    "tsc": (
        "npx tsc --noEmit", outputs.TSC, "",
        "Fixed error TS2322: Type 'string' is not assignable to type 'number'. in src/cart.x",
    ),
    "jest": (
        "npm test", outputs.JEST, "Tests:       2 passed, 2 total\n",
        "Fixed cart › gives a discount in src/cart.x",
    ),
    "maven": ("mvn test", outputs.MAVEN, "[INFO] BUILD SUCCESS\n", "Fixed cannot find symbol in src/cart.x"),  # noqa: E501
    "make": ("make", outputs.GCC, "gcc -c cart.c\n", "Fixed error: 'sum' undeclared (first use in this function) in src/cart.x"),  # noqa: E501
}  # fmt: skip


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("is_piped", [False, True], ids=["plain", "piped"])
def test_one_bugfix_names_the_test_and_the_file(database, tool, is_piped):
    command, failed, passed, title = TOOLS[tool]
    if is_piped:
        command = f"cd /work/shop && {command} 2>&1 | tail -40"
        passed = passed if tool != "make" else "1 passed\n"
    session = Recorded(database).prompt("fix it").run(command, failed, 0 if is_piped else 1)
    session.edit("src/cart.x", "a", "b").run(command, passed)
    (draft,) = derived(session, "fixed-check")
    assert (draft.type, draft.title) == ("bugfix", title)
    assert derived(session) == [draft]


def test_many_failures_are_one_bugfix_and_a_gotcha(database):
    session = Recorded(database).prompt("fix it")
    for text in "abc":
        session.run("pytest -q", outputs.PYTEST_FAILED, 1).edit("shop/cart.py", "x", text)
    session.run("pytest -q", outputs.PYTEST_PASSED)
    (draft,) = derived(session)
    assert draft.concepts == ("problem-solution", "gotcha")
    assert "pytest -q: failed ×3, then passed" in draft.facts
    assert "shop/cart.py +3/−3" in draft.facts


def test_without_edits_nothing_was_fixed(database):
    session = Recorded(database).prompt("x").run("pytest", outputs.PYTEST_FAILED, 1)
    session.run("pytest", outputs.PYTEST_PASSED)
    assert derived(session) == []


def test_a_wider_run_and_a_run_of_what_failed_count_and_another_does_not(database):
    for key, command, count in (
        ("wider", "pytest", 1),
        ("named", "pytest tests/test_cart.py", 1),
        ("other", "pytest tests/test_tax.py", 0),
    ):
        session = Recorded(database, key).prompt("x")
        session.run("pytest tests shop", outputs.PYTEST_FAILED, 1)
        session.edit("shop/cart.py", "a", "b").run(command, outputs.PYTEST_PASSED)
        assert len(derived(session, "fixed-check")) == count, key


def test_a_pipe_does_not_hide_a_failure(database):
    session = Recorded(database).prompt("x").run("pytest | tail", outputs.PYTEST_FAILED, 0)
    session.edit("a.py", "a", "b").run("pytest | tail", outputs.PYTEST_FAILED, 0)
    assert derived(session, "fixed-check") == []


def test_failing_tests_are_named_as_their_programs_do():
    assert failing_tests(outputs.PYTEST_FAILED) == ["tests/test_cart.py::test_discount"]
    assert failing_tests(outputs.GO_FAILED) == ["TestTotal"]
    assert failing_tests(outputs.CARGO_PANIC) == ["tests::discount"]
    assert failing_tests(outputs.JEST) == ["cart › gives a discount"]


UNDEFINED = "# shop\ncart_test.go:9:2: undefined: Discount\nFAIL\tshop [build failed]\nFAIL\n"
OK = "ok  \texample.com/shop/cart\t0.002s\n"


def changing(database, path: str = "cart_test.go") -> Recorded:
    return Recorded(database).prompt("add discounts").edit(path, "a", "b")


def test_code_that_is_not_finished_is_no_bug(database):
    session = changing(database).run("go test ./...", UNDEFINED, 1).edit("cart.go", "a", "b")
    assert derived(session.run("go test ./...", OK), "fixed-check") == []


def test_tests_that_are_adapted_to_a_change_are_no_bug(database):
    session = changing(database, "cart.go").run("go test ./...", outputs.GO_FAILED, 1)
    session.edit("cart_test.go", "15", "30").run("go test ./...", OK)
    assert derived(session, "fixed-check") == []


@pytest.mark.parametrize("committed", [False, True])
def test_what_breaks_behind_a_change_is_a_bug(database, committed):
    session = changing(database)
    if committed:  # then the code was finished, and does not compile
        session.run("git commit -m 'Add discounts'", "[main 1a2b3c4] Add discounts\n")
        session.prompt("the build fails")
    output = UNDEFINED if committed else outputs.GO_FAILED
    session.run("go test ./...", output, 1).edit("cart.go", "a", "b").run("go test ./...", OK)
    assert len(derived(session, "fixed-check")) == 1


def test_one_repair_is_told_once(database):
    session = Recorded(database).prompt("fix it").run("go test ./...", outputs.GO_FAILED, 1)
    session.run("go test ./cart", outputs.GO_FAILED, 1).edit("cart.go", "a", "b")
    session.run("go test ./cart", OK).run("go test ./...", OK)
    assert len(derived(session, "fixed-check")) == 1


def test_a_failure_behind_the_check_is_not_the_checks(database):
    session = Recorded(database).prompt("x").run("go build ./... && ship", "ship: refused\n", 1)
    session.edit("cart.go", "a", "b").run("go build ./...")
    assert derived(session, "fixed-check") == []


def test_a_command_that_was_refused_did_not_fail(database):
    refused = "The user doesn't want to proceed with this tool use. The tool use was rejected."
    session = Recorded(database).prompt("x").run("pytest", refused, 1)
    session.edit("cart.py", "a", "b").run("pytest", outputs.PYTEST_PASSED)
    assert derived(session, "fixed-check") == []


@pytest.mark.parametrize(
    "output",
    [
        "zsh:1: command not found: pytest\n",
        "E   ModuleNotFoundError: No module named 'respx'\nFAILED tests/test_cart.py::test_total\n",
        "open /home/ann/cache: operation not permitted\n",
    ],
)
def test_what_the_machine_lacks_is_no_bug(database, output):
    session = Recorded(database).prompt("fix the total").run("pytest", output, 1)
    session.edit("cart.py", "a", "b").run("pytest", outputs.PYTEST_PASSED)
    assert derived(session, "fixed-check") == []


def test_a_build_that_fails_is_a_bug_if_the_person_says_so(database):
    for prompt, count in (("the build is broken", 1), ("update the library", 0)):
        session = Recorded(database, prompt).prompt(prompt)
        session.run("go build ./...", UNDEFINED, 1).edit("cart.go", "a", "b")
        assert len(derived(session.run("go build ./..."), "fixed-check")) == count


def test_a_test_that_came_with_the_change_is_a_bug_if_the_person_says_so(database):
    written = "def test_discount():\n    assert total([]) == 15\n"
    failed = "FAILED tests/test_cart.py::test_discount\nE   AssertionError: assert 30 == 15\n"
    for prompt, count in (("totals are wrong", 1), ("add discounts", 0)):
        session = Recorded(database, prompt).prompt(prompt).write("tests/test_cart.py", written)
        session.run("pytest", failed, 1).edit("cart.py", "a", "b")
        session.run("pytest", outputs.PYTEST_PASSED)
        assert len(derived(session, "fixed-check")) == count


def test_only_code_that_stays_changed_mends(database):
    for key, after in (("back", "a\n"), ("layout", "  a\n"), ("mended", "b\n")):
        session = Recorded(database, key).prompt("fix it").run("pytest", outputs.PYTEST_FAILED, 1)
        session.edit("cart.py", "a\n", "print(1)\na\n").edit("cart.py", "print(1)\na\n", after)
        session.run("pytest", outputs.PYTEST_PASSED)
        assert len(derived(session, "fixed-check")) == (key == "mended")


def test_a_run_that_leaves_tests_out_shows_nothing(database):
    session = Recorded(database).prompt("fix it").run("pytest", outputs.PYTEST_FAILED, 1)
    session.edit("cart.py", "a", "b")
    session.run("pytest --deselect tests/test_cart.py", outputs.PYTEST_PASSED)
    assert derived(session, "fixed-check") == []


def test_files_are_named_where_a_program_names_no_tests():
    vitest = " ❯ src/cart.test.ts (5 tests | 2 failed) 91ms\n"
    assert failing_tests(vitest) == ["src/cart.test.ts"]
