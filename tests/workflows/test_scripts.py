"""The prebuilt workflows over local repositories, in the box."""

from __future__ import annotations

import subprocess

import pytest

from tests.workflows import trees
from triseek.engine.repositories.local import LocalRepositories
from triseek.engine.repositories.roots import Root
from triseek.engine.service import Service
from triseek.workflows.context import symbols_of
from triseek.workflows.running import Workflows

pytestmark = pytest.mark.long

READ = "file_context_reader --repo web --path"


@pytest.fixture
def run(workflows):
    """Run a command; return its result and its markdown."""

    def run_one(command: str):
        finished = workflows.run_command(command)
        assert finished.result.success, finished.markdown
        assert finished.result.tier in ("kernel", "bubblewrap", "process")
        return finished.result.result_json, finished.markdown

    return run_one


def body(markdown: str) -> str:
    """The answer without its status lines, which hold a time."""
    return markdown.partition("\n\n")[2].partition("\n\n")[2]


def test_definitions_are_found_wherever_the_filters_stand(run):
    for query in (
        "lang:go ProcessOrder",
        "ProcessOrder lang:go",
        "sym:ProcessOrder -f:_test lang:go",
    ):
        payload, _ = run(f'symbol_definition --query "{query}"')
        first = payload["results"][0]
        assert (first["repository"], first["filename"]) == ("checkout", "order/process.go")
        assert first["matches"] == [
            {
                "line_number": 10, "text": "func ProcessOrder(ctx context.Context) error {",
                "name": "ProcessOrder", "kind": "function",
            },
        ]  # fmt: skip


def test_outline_lists_definitions_with_lines(run):
    payload, markdown = run("outline --repo payments --path src/service.py")

    names = {(each["name"], each["line"], each["parent"]) for each in payload["symbols"]}
    assert {("PaymentService", 4, ""), ("charge", 7, "PaymentService")} <= names
    assert "- L4-8: `PaymentService` (class)\n" in markdown
    assert "`charge` (method) in `PaymentService`" in markdown


def test_impact_names_the_callers_and_no_definition(run):
    payload, markdown = run("impact_analysis --symbol ProcessOrder")
    callers = {(each["path"], each["inside"]): each["lines"] for each in payload["callers"]}

    assert callers[("main.go", "main")] == [4, 5]
    assert callers[("order/process_test.go", "TestProcessOrder")] == [4]
    assert {each["checked"] for each in payload["callers"]} == {"syntax"}
    # What a comment says is no use, neither is the definition.
    assert {each["path"] for each in payload["callers"]} == {"main.go", "order/process_test.go"}
    assert [hit["filename"] for hit in payload["definitions"]] == ["order/process.go"]
    assert "1. `checkout/main.go`\n   - L4, 5 in `main`: `order.ProcessOrder(nil)`\n" in markdown


def test_tests_named_after_the_symbol_come_first(run):
    payload, _ = run("test_finder --symbol ProcessOrder")
    assert [hit["filename"] for hit in payload["results"]] == ["order/process_test.go"]
    payload, _ = run("test_finder --symbol PaymentService --repo payments")
    assert [hit["filename"] for hit in payload["results"]] == ["tests/test_service.py"]


def test_a_setting_is_traced_through_all_kinds_of_files(run):
    payload, markdown = run("config_trace --name PAYMENT_TIMEOUT_S")
    groups = {
        group["kind"]: [hit["filename"] for hit in group["results"]] for group in payload["groups"]
    }

    assert groups == {
        "Configuration": ["deploy/values.yaml"],
        "Code": ["order/process.go"],
        "Documentation": ["docs/settings.md"],
    }
    assert "### Configuration\n1. `checkout/deploy/values.yaml`\n" in markdown


def test_importers_of_a_module_are_listed(run):
    assert run("dependency_trace --module payments/client")[0]["repositories"] == ["checkout"]
    payload, _ = run("dependency_trace --module src.service")
    assert [hit["filename"] for hit in payload["results"]] == ["tests/test_service.py"]
    assert run("dependency_trace --module json")[0]["total_hits"] == 1


def test_notes_of_developers_are_listed(run):
    payload, _ = run("todo_scan")
    assert {hit["filename"] for hit in payload["results"]} == {
        "order/process.go", "src/service.py",
    }  # fmt: skip
    assert run("todo_scan --markers HACK")[0]["results"] == []
    assert run("todo_scan --repo payments")[0]["total_hits"] == 1


def test_unused_definitions_are_candidates(run):
    payload, markdown = run("dead_code_candidates --repo checkout --path order/process.go")

    names = {each["name"] for each in payload["candidates"]}
    assert "unused" in names
    assert names.isdisjoint({"timeout", "ProcessOrder"})
    assert "- L17: `unused` (function)" in markdown


def test_what_only_tests_texts_or_itself_use_is_a_candidate(tmp_path, home):
    files = {
        "lib.py": (
            "def used(): ...\n\n\ndef tested(): ...\n\n\ndef named(): ...\n\n\n"
            "def again(n):\n    # again\n    return again(n - 1)\n\n\ndef called(): return used()\n"
        ),
        "main.py": "import lib\n\nlib.called()  # again\nHANDLER = 'named'\n",
        "CHANGES.md": "`tested` is new.\n",
        "tests/test_lib.py": "from lib import tested\n\n\ndef test_it():\n    tested()\n",
    }
    for path, content in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(content)
    with Service() as service:
        source = LocalRepositories(service, [Root(name="own", folder=str(tmp_path.resolve()))])
        workflows = Workflows(lambda: source, symbols_of, {})
        finished = workflows.run_command("dead_code_candidates --repo own --path lib.py")

    assert finished.result.success, finished.markdown
    assert finished.result.result_json["checked"] == 5
    listed = finished.markdown.partition("definitions.\n\n")[2].splitlines()
    assert listed == [
        "- L4: `tested` (function): only tests use it, `own/tests/test_lib.py:1`",
        "- L7: `named` (function): only text names it, `own/main.py:4`",
        "- L10: `again` (function): only text names it, `own/main.py:3`",
    ]


def test_tests_are_named_by_what_is_around_the_use(run):
    payload, markdown = run("test_finder --symbol PaymentService --repo payments")

    assert payload["results"][0]["checked"] == "syntax"
    assert "   - L5 in `test_charge`: `assert PaymentService().charge(1)`" in markdown
    # By the file's name alone: nothing uses `service` as a name of code.
    payload, _ = run("test_finder --symbol process")
    assert [hit["filename"] for hit in payload["results"]] == ["order/process_test.go"]


def test_a_qualified_name_is_narrowed_to_its_parent(run):
    payload, markdown = run("impact_analysis --symbol PaymentService.charge")

    assert [match["parent"] for hit in payload["definitions"] for match in hit["matches"]] == [
        "PaymentService"
    ]
    assert "(method of `PaymentService`): `def charge(self, order):`" in markdown
    places = {
        (each["path"], each["inside"]) for each in payload["callers"] if each["checked"] == "syntax"
    }
    assert places == {("src/service.py", "retry_payment"), ("tests/test_service.py", "test_charge")}
    assert markdown.index("### Callers") < markdown.index("\n\n### Mentions, in files that are not")
    assert "   - L3 in `Settings`: ``" in markdown


def test_the_commits_of_a_text_are_listed(tmp_path, home, run):
    folder = tmp_path / "repo"
    folder.mkdir()

    def git(*words):
        subprocess.run(
            ["git", "-c", "user.name=A", "-c", "user.email=a@b", *words],
            cwd=folder, check=True, capture_output=True,
        )  # fmt: skip

    git("init", "-q")
    for number, text in enumerate(("needle\n", "needle\nmore\n", "more\n")):
        (folder / "a.txt").write_text(text)
        git("add", "-A")
        git("commit", "-q", "-m", f"change {number}")
    root = trees.Root(name="repo", folder=str(folder.resolve()))
    with Service() as service:
        source = LocalRepositories(service, [root])
        workflows = Workflows(lambda: source, symbols_of, {})
        finished = workflows.run_command("change_history --text needle --repo repo")

    commits = finished.result.result_json["commits"]
    assert [commit["subject"] for commit in commits] == ["change 2", "change 0"]
    assert commits[0]["author"] == "A"
    assert "Found `2` commits for `needle`." in finished.markdown


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (
            "repo_discovery --query zzzz",
            "Found `0` repositories for `zzzz`.\n\nNo repositories found.",
        ),
        ("symbol_usage --query zzzz", "Found `0` matches for `zzzz`.\n\nNo matches found."),
        ("symbol_definition --query zzzz", "Found `0` matches for `zzzz`.\n\nNo matches found."),
        ("impact_analysis --symbol zzzz", "No references found."),
        ("test_finder --symbol zzzz", "No tests found."),
        ("config_trace --name zzzz", "No matches found."),
        ("dependency_trace --module zzzz", "No matches found."),
        ("todo_scan --markers ZZZZ", "No matches found."),
        (
            "cross_repo_trace --symbol zzzz",
            "Cross-repo trace for `zzzz` across `3` repos.\n\nNo trace results found.",
        ),
        (
            "file_context_reader --repo web --path index.ts --start-line 90 --end-line 99",
            "`web/index.ts` lines `90-99`\n\nNo content returned for the requested range.",
        ),
    ],
)
def test_empty_results_say_so(run, command, said):
    assert said in body(run(command)[1])


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (
            "file_context_reader --repo web --path nope --start-line 1 --end-line 2",
            "file not found or unreadable",
        ),
        (
            "file_context_reader --repo web --path index.ts --start-line 0 --end-line 2",
            "start_line and end_line must be positive integers",
        ),
        (
            "file_context_reader --repo web --path index.ts --start-line 3 --end-line 2",
            "end_line must be >= start_line",
        ),
        (
            "file_context_reader --repo web --path index.ts --start-line 1 --end-line 1001",
            "requested line window 1001 exceeds max 1000; narrow range and retry",
        ),
        ("symbol_usage --query 'a or or b'", "query: "),
        ("symbol_usage --query '  '", "query must not be empty"),
        ("symbol_definition --query lang:go", "the query names no symbol"),
        ("change_history --repo web --text x", "git cannot list the commits"),
        ("change_history --repo nope --text x", "repository not found: nope"),
        ("outline --repo web --path ../x", "file not found or unreadable"),
        ("todo_scan --markers 'a b'", "markers are words, separated by commas"),
    ],
)
def test_a_failure_is_one_readable_line(workflows, command, said):
    finished = workflows.run_command(command)

    name = command.split()[0]
    assert finished.result.exit_code == 1
    assert finished.result.stdout.strip().startswith(f"{name} failed: ")
    assert said in finished.result.stdout
    assert finished.result.stdout.strip().count("\n") == 0
    assert finished.result.stderr == ""
    assert f"### Stdout\n```text\n{name} failed: " in finished.markdown
