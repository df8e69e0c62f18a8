"""The prebuilt workflows, one declaration each; their scripts are in the folder `scripts`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.workflows.catalog.capability import Argument, Capability

if TYPE_CHECKING:
    from collections.abc import Mapping

_REPO = "Exact name of a repository, as repo_discovery lists it; all repositories if it is empty."
_QUERY = "Words to look for, in Zoekt's query language: `lang:`, `r:` and `f:` narrow it."
_HITS = {"query": "string", "total_hits": "integer", "results": "list[object]"}


def _limit(default: int, what: str, most: int = 25) -> Argument:
    return Argument(
        type="integer", default=default, minimum=1, maximum=most, description=f"Most {what}."
    )


def _text(description: str) -> Argument:
    return Argument(type="string", required=True, description=description)


def _optional(description: str, default: str = "") -> Argument:
    return Argument(type="string", default=default, description=description)


def _workflow(
    name: str,
    command: str,
    arguments: Mapping[str, Argument],
    output: Mapping[str, str],
    *texts: str,
    constraints: tuple[str, ...] = (),
) -> Capability:
    """Return a workflow.

    Args:
        name: Its id.
        command: An example of its flags.
        arguments: As `Capability` has them.
        output: As `Capability` has it.
        texts: Summary, when to use it, description.
        constraints: As `Capability` has them.
    """
    summary, when_to_use, description = texts
    line = f"{name} {command}"
    return Capability(
        id=name,
        kind="workflow",
        summary=summary,
        when_to_use=when_to_use,
        description=description,
        example=f"run_workflow_cli(command='{line}')",
        arguments=arguments,
        examples=({"call": "run_workflow_cli", "args": {"command": line}},),
        constraints=constraints,
        output=output,
    )


WORKFLOWS: tuple[Capability, ...] = (
    _workflow(
        "repo_discovery", '--query "billing retry" --limit 5',
        {"query": _text(_QUERY), "limit": _limit(10, "repositories")},
        {**_HITS, "search_query": "string", "repositories": "list[string]"},
        "List the repositories that match a topic.",
        "First, while it is not known which repositories hold the code.",
        "Searches with `type:repo`, which lists each repository where the words occur once.",
        constraints=("All words of the query must occur in one file of the repository.",),
    ),
    _workflow(
        "symbol_definition", '--query "ProcessOrder lang:go"',
        {"query": _text("A name, and filters as `lang:go`."), "limit": _limit(10, "files")},
        _HITS,
        "Find where a class, function or type is defined.",
        "The name is known and its definition is wanted.",
        "Matches the name within the names of definitions only (`sym:`): exact names come first, "
        "each with its kind.",
        constraints=(
            "The first bare word is the name; put filters anywhere.",
            "Where a cluster's indexes lack symbols, the files that mention the name are parsed.",
        ),
    ),
    _workflow(
        "symbol_usage", '--query "ProcessOrder -f:test lang:go" --limit 8 --context-lines 1',
        {
            "query": _text(_QUERY),
            "limit": _limit(10, "files"),
            "context_lines": Argument(
                type="integer", default=2, minimum=0, maximum=3,
                description="Lines before and after each match.",
            ),
        },
        {**_HITS, "context_lines": "integer"},
        "Find where a symbol or an API is used.",
        "The definition is known, and its call sites and references are wanted.",
        "Searches contents and names of files, and shows each match with lines around it.",
        constraints=("Definitions match too; `symbol_definition` lists them alone.",),
    ),
    _workflow(
        "file_context_reader",
        "--repo github.com/org/payments --path src/service.py --start-line 40 --end-line 140",
        {
            "repo": _text("Exact name of the repository."),
            "path": _text("Path of the file in the repository."),
            "start_line": Argument(
                type="integer", required=True, description="First line, from 1."
            ),
            "end_line": Argument(type="integer", required=True, description="Last line."),
        },
        {
            "repo": "string", "path": "string", "start_line": "integer", "end_line": "integer",
            "content": "string",
        },
        "Read a range of lines of a file.",
        "A search has named the file, and the lines around a match are wanted.",
        "Returns the lines from `start_line` to `end_line`, both included.",
        constraints=("At most 1000 lines at once.", "`path` names a file, not a folder."),
    ),
    _workflow(
        "cross_repo_trace", "--symbol FeatureFlagClient --max-repos 6",
        {
            "symbol": _text("The name to trace."),
            "max_repos": _limit(8, "repositories", 50),
            "definitions_limit": _limit(2, "files with definitions in each repository"),
            "usages_limit": _limit(3, "files with usages in each repository"),
        },
        {
            "symbol": "string", "inspected_repos": "integer", "trace": "list[object]",
            "errors": "list[object]",
        },
        "Trace a symbol through all repositories: definitions and usages in each.",
        "A change crosses the borders of repositories.",
        "Inspects the repositories with the most matches first, several at once.",
        constraints=("A first overview; ask further workflows for one repository.",),
    ),
    _workflow(
        "outline", "--repo github.com/org/payments --path src/service.py",
        {"repo": _text("Exact name of the repository."), "path": _text("Path of the file.")},
        {"repo": "string", "path": "string", "symbols": "list[object]"},
        "List the definitions of a file: classes, functions, types, with their lines.",
        "Before reading a long file: it says which lines to read.",
        "Parses the file and lists its definitions by line, with what encloses each.",
        constraints=("Languages without a parser have no outline.",),
    ),
    _workflow(
        "impact_analysis", "--symbol ProcessOrder --limit 15",
        {
            "symbol": _text("Name of the function or type that is to change."),
            "repo": _optional(_REPO),
            "limit": _limit(15, "files"),
        },
        {
            "symbol": "string", "definitions": "list[object]", "callers": "list[object]",
            "total_hits": "integer", "results": "list[object]",
        },
        "List what a change of a symbol affects: its callers, grouped by function.",
        "Before a function or type is renamed, removed or changed.",
        "Finds the uses of the name in code by syntax trees, and names for each the function or "
        "class around it. Comments, strings and definitions are left out. Files of languages "
        "without a parser are listed apart, by their lines.",
        constraints=("By name: two symbols of one name are not told apart.",),
    ),
    _workflow(
        "test_finder", "--symbol ProcessOrder",
        {
            "symbol": _text("A name, or a file's name without its ending."),
            "repo": _optional(_REPO),
            "limit": _limit(10, "files"),
        },
        {"symbol": "string", "total_hits": "integer", "results": "list[object]"},
        "Find the tests of a symbol or file.",
        "To run or extend the tests of what is changed.",
        "Lists files that look like tests, by folder or name, and use the name or are named after "
        "it; those named after it come first. Names the tests around each use.",
    ),
    _workflow(
        "config_trace", "--name PAYMENT_TIMEOUT_S",
        {
            "name": _text("Name of a setting, variable, flag or service, taken literally."),
            "repo": _optional(_REPO),
            "limit": _limit(10, "files of each kind"),
        },
        {
            "name": "string", "spellings": "list[string]", "total_hits": "integer",
            "groups": "list[object]",
        },
        "Trace a setting or service name through code, configuration and documentation.",
        "To find where a setting is defined, read and documented.",
        "Searches the name in its usual spellings (snake, kebab, camel case) and groups the "
        "files into configuration, code, documentation and tests.",
    ),
    _workflow(
        "dependency_trace", "--module payments.client",
        {
            "module": _text("Module, package or header, as import lines write it."),
            "repo": _optional(_REPO),
            "limit": _limit(15, "files"),
        },
        {
            "module": "string", "total_hits": "integer", "repositories": "list[string]",
            "results": "list[object]",
        },
        "List the files that import a module or package.",
        "Before a module is moved or its interface is changed.",
        "Matches lines of imports of the usual languages: import, from, require, use, #include.",
        constraints=("An import that spans several lines is found by the line with the name.",),
    ),
    _workflow(
        "change_history", "--text ProcessOrder --repo github.com/org/payments",
        {
            "text": _text("A name or text, taken literally."),
            "repo": _text("Exact name of a repository on this machine."),
            "path": _optional("Only changes of this file."),
            "limit": _limit(10, "commits"),
        },
        {"text": "string", "repo": "string", "commits": "list[object]"},
        "List the commits that added or removed a text.",
        "To learn when and why a symbol came, changed or went.",
        "Asks git for the commits in which the number of occurrences changes (`git log -S`).",
        constraints=("Only for repositories on this machine.",),
    ),
    _workflow(
        "todo_scan", "--repo github.com/org/payments",
        {
            "repo": _optional(_REPO),
            "markers": _optional("Words to look for, separated by commas.", "TODO,FIXME,HACK,XXX"),
            "limit": _limit(15, "files"),
        },
        {"markers": "list[string]", "total_hits": "integer", "results": "list[object]"},
        "List the notes that developers left in code: TODO, FIXME, HACK.",
        "To see known gaps of a repository or of one area.",
        "Matches the markers as whole words, in upper case.",
    ),
    _workflow(
        "dead_code_candidates", "--repo github.com/org/payments --path src/service.py",
        {
            "repo": _text("Exact name of the repository."),
            "path": _text("Path of the file whose definitions are checked."),
            "limit": _limit(40, "definitions that are checked", 100),
        },
        {
            "repo": "string", "path": "string", "checked": "integer", "candidates": "list[object]",
        },
        "List definitions of a file that no code uses.",
        "To find code that may be removed.",
        "Outlines the file and searches uses of each name, in all repositories. Uses inside of "
        "the definition itself do not count; if only tests or texts name it, that is said.",
        constraints=(
            "Candidates only: reflection, templates and exported names are not understood.",
        ),
    ),
)  # fmt: skip
"""In the order in which the catalog lists them."""
BY_ID = {workflow.id: workflow for workflow in WORKFLOWS}
