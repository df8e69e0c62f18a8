"""The functions of `runtime.zoekt_tools`, and the ways to run scripts, as the catalog has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from triseek.workflows.catalog.capability import Argument, Capability

if TYPE_CHECKING:
    from collections.abc import Mapping

_QUERY = Argument(type="string", required=True, description="A query in Zoekt's language.")
_REPO = Argument(type="string", required=True, description="Exact name of the repository.")
_ONE_REPO = Argument(type="string", default="", description="Only this repository.")
_PATH = Argument(type="string", required=True, description="Path of the file.")
_SECONDS = Argument(
    type="integer", default=30, description="Time limit; bounded by the server's settings."
)
_SAMPLE = """\
import asyncio
from runtime.zoekt_tools import search

async def run(args):
    queries = [f"{name} lang:go" for name in args["names"]]
    answers = await asyncio.gather(*(asyncio.to_thread(search, q, 5, 0) for q in queries))
    return {q: [hit["filename"] for hit in hits] for q, hits in zip(queries, answers)}
"""


def _limit(default: int, what: str, most: int = 25) -> Argument:
    return Argument(
        type="integer", default=default, minimum=1, maximum=most, description=f"Most {what}."
    )


def _function(
    name: str,
    call: Mapping[str, Any],
    arguments: Mapping[str, Argument],
    output: Mapping[str, str],
    *texts: str,
    constraints: tuple[str, ...] = (),
) -> Capability:
    """Return a function for scripts; `texts` are summary, when to use it, description."""
    summary, when_to_use, description = texts
    words = ", ".join(f"{key}={value!r}" for key, value in call.items())
    return Capability(
        id=f"runtime.{name}",
        kind="runtime_tool",
        summary=summary,
        when_to_use=when_to_use,
        description=description,
        example=f"runtime.zoekt_tools.{name}({words})",
        arguments=arguments,
        examples=({"call": f"runtime.zoekt_tools.{name}", "args": dict(call)},),
        constraints=constraints,
        output=output,
    )


FUNCTIONS: tuple[Capability, ...] = (
    _function(
        "search", {"query": "payment retry lang:go", "limit": 8, "context_lines": 1},
        {
            "query": _QUERY,
            "limit": _limit(10, "files"),
            "context_lines": Argument(
                type="integer", default=2, minimum=0, maximum=3,
                description="Lines before and after each match.",
            ),
            "repo": _ONE_REPO,
        },
        {"results": "list[object]"},
        "Search contents and names of files.",
        "For any text, in any repository.",
        "Returns a list of {filename, repository, url, matches: [{line_number, text}]}.",
    ),
    _function(
        "search_symbols", {"query": "PaymentClient lang:go", "limit": 8},
        {"query": _QUERY, "limit": _limit(10, "files"), "repo": _ONE_REPO},
        {"results": "list[object]"},
        "Search the names of definitions.",
        "To find where something is defined.",
        "The first bare word of the query becomes `sym:`; the result is that of search, with exact "
        "names first. Each match has the `name` that it defines, and its `kind`.",
    ),
    _function(
        "fetch_content",
        {"repo": "github.com/org/repo", "path": "src/main.go", "start_line": 1, "end_line": 120},
        {
            "repo": _REPO,
            "path": _PATH,
            "start_line": Argument(type="integer", required=True, description="From 1."),
            "end_line": Argument(type="integer", required=True, description="Included."),
        },
        {"content": "string"},
        "Read a range of lines of a file.",
        "Once a file and its lines are known.",
        "Returns the lines as one text; it is empty behind the end of the file.",
        constraints=("At most 1000 lines at once.",),
    ),
    _function(
        "list_dir", {"repo": "github.com/org/repo", "path": "src", "depth": 2},
        {
            "repo": _REPO,
            "path": Argument(type="string", default="", description="A folder; the root if empty."),
            "depth": Argument(
                type="integer", default=2, minimum=1, maximum=20,
                description="Levels of folders below it.",
            ),
        },
        {"tree": "string"},
        "List a folder as a tree.",
        "To see how a repository is laid out.",
        "Returns a line for each file and folder, indented by two blanks a level. A last line "
        "says if files were left out.",
    ),
    _function(
        "list_repos", {}, {}, {"repos": "list[string]"},
        "List all repositories.",
        "To learn their exact names.",
        "Returns the names, sorted.",
    ),
    _function(
        "find_repos", {"query": "PaymentClient", "limit": 5},
        {"query": _QUERY, "limit": _limit(10, "repositories", 100)},
        {"repositories": "list[object]"},
        "List repositories by how often a query matches in them.",
        "To decide which repositories to look into.",
        "Returns a list of {repository, files, matches}, most matches first.",
    ),
    _function(
        "outline", {"repo": "github.com/org/repo", "path": "src/main.go"},
        {"repo": _REPO, "path": _PATH},
        {"symbols": "list[object]"},
        "List the definitions of a file.",
        "To learn which lines of a file to read.",
        "Returns a list of {name, kind, line, end_line, parent}.",
    ),
    _function(
        "usages", {"symbol": "ProcessOrder", "limit": 10},
        {
            "symbol": Argument(type="string", required=True, description="A whole name."),
            "repo": _ONE_REPO,
            "limit": _limit(10, "files"),
            "filters": Argument(
                type="string", default="", description="Terms that narrow the files: `-f:test`."
            ),
        },
        {"results": "list[object]"},
        "List uses of a name, without its definitions, comments and strings.",
        "To find the callers of a function.",
        "Returns the items of search; each match has `inside`, the definition around it. Files "
        "are `checked` by `syntax`, or by `lines` where there is no parser for their language; "
        "those come last.",
    ),
    _function(
        "git_log", {"repo": "github.com/org/repo", "text": "ProcessOrder"},
        {
            "repo": _REPO,
            "text": Argument(type="string", required=True, description="Taken literally."),
            "path": Argument(type="string", default="", description="Only changes of this file."),
            "limit": _limit(10, "commits", 100),
        },
        {"commits": "list[object]"},
        "List the commits that added or removed a text.",
        "To learn when and why something changed.",
        "Returns a list of {commit, date, author, subject}, newest first.",
        constraints=("Only for repositories on this machine.",),
    ),
    _function(
        "literal", {"text": 'a.b("x")'},
        {"text": Argument(type="string", required=True, description="Any text.")},
        {"query": "string"},
        "Quote a text so that a query takes it literally.",
        "Before a text with special characters becomes part of a query.",
        "Returns a term of Zoekt's language that matches exactly this text in contents.",
    ),
)  # fmt: skip
PATTERNS: tuple[Capability, ...] = (
    Capability(
        id="execution.run_workflow_cli",
        kind="execution_pattern",
        summary="Run a prebuilt workflow.",
        when_to_use="Whenever a workflow fits: it needs no code.",
        description="The command is the workflow's id and its flags: `id --flag value`. Flags may "
        "be written with `-` or `_`, and as `--flag=value`; quote values with blanks.",
        example="run_workflow_cli(command='repo_discovery --query auth')",
        arguments={
            "command": Argument(type="string", required=True, description="Id and flags."),
            "timeout_seconds": _SECONDS,
        },
        examples=(
            {
                "call": "run_workflow_cli",
                "args": {"command": 'symbol_definition --query "ProcessOrder lang:go"'},
            },
        ),
        constraints=("Exit code 2: the command was not understood.", "124: it took too long."),
        output={"success": "boolean", "exit_code": "integer", "result_json": "object|null"},
    ),
    Capability(
        id="execution.run_custom_workflow_code",
        kind="execution_pattern",
        summary="Run a script of your own over the functions of runtime.zoekt_tools.",
        when_to_use="Only if no workflow fits: loops, joins and filters over many searches.",
        description="The script defines `run(args)` or `async run(args)`; what it returns, as "
        "JSON, is the result. It runs in a box without files and network: only "
        "`runtime.zoekt_tools` reaches the code. `args` is passed as it is.",
        example="run_custom_workflow_code(code='...', args={\"names\": [\"ProcessOrder\"]})",
        arguments={
            "code": Argument(type="string", required=True, description="Python source."),
            "args": Argument(type="object", description="Passed to `run`."),
            "timeout_seconds": _SECONDS,
        },
        examples=(
            {
                "call": "run_custom_workflow_code",
                "args": {"code": _SAMPLE, "args": {"names": ["ProcessOrder", "CancelOrder"]}},
            },
        ),
        constraints=(
            "Imports: asyncio, json, re, math, other pure modules, runtime.zoekt_tools.",
            "No open, exec, eval, getattr, underscored attributes: the script is refused.",
            "The output is cut at the server's limits; return what is needed and print nothing.",
        ),
        output={
            "success": "boolean", "exit_code": "integer", "safety_rejections": "list[string]",
            "result_json": "object|null",
        },
    ),
)  # fmt: skip
"""In the order in which the catalog lists them."""
