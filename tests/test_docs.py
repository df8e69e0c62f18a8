"""The generated pages say what the code says; `make golden` writes them anew."""

from __future__ import annotations

import dataclasses
import inspect
import json
import math
import os
import re
from pathlib import Path
from typing import Any, get_args

import pytest
import typer

from tests import flags_page, tools_page
from triseek import config, errors, logs
from triseek.app.registry import chosen
from triseek.cli import command_tree
from triseek.daemon import verbs as daemon_verbs
from triseek.daemon.server import ANY_VERSION, Limits
from triseek.engine.search.router import REASONS
from triseek.ipc import wire
from triseek.model.session import DEPTH_MAX, SCHEMA_VERSION, LogEntry
from triseek.model.snapshot import (
    PATH_MAX,
    TEXT_MAX,
    FileSeen,
    GitState,
    Pin,
    SearchRun,
    SnapshotManifest,
    Trigger,
    WorkingSet,
)
from triseek.search.envelopes import CONTRACT
from triseek.sessions import pack, signing, snapshot, snapshot_files
from triseek.store import layout

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
GOLDEN = ROOT / "tests/golden/tools"


def cli_page() -> str:
    return (
        "# Command line\n\n"
        "`triseek PATTERN [PATH…]` and `triseek search PATTERN [PATH…]` are the same; a first\n"
        "word that is a verb is that verb, so `triseek search build` searches for build.\n\n"
        "## Searching\n\nThe flags are ripgrep's, with ripgrep's meaning; later ones win.\n\n"
        + flags_page.reference().strip()
        + "\n\n## Other verbs\n\n"
        + "\n\n".join(verb_section(name, verb) for name, verb in verbs())
        + "\n"
    )


def verbs() -> list[tuple[str, Any]]:
    """Every verb that Typer owns, groups taken apart. Typer carries a click of its own."""
    tree = typer.main.get_command(command_tree.app())
    return [(name, verb) for name, verb in below("", tree) if name != "search"]


def below(path: str, verb: Any) -> list[tuple[str, Any]]:
    inner = getattr(verb, "commands", {})
    every = [below(f"{path} {name}".strip(), inner[name]) for name in sorted(inner)]
    return [found for one in every for found in one] if inner else [(path, verb)]


def verb_section(name: str, verb: Any) -> str:
    rows = [
        f"| `{', '.join(option.opts)}` | {option.help or ''} |"
        for option in verb.params
        if option.param_type_name == "option"
    ]
    table = "\n\n| Option | Meaning |\n|---|---|\n" + "\n".join(rows) if rows else ""
    return f"### `triseek {name}`\n\n{inspect.cleandoc(verb.help or '')}{table}"


def routing_page() -> str:
    rows = "\n".join(f"| `{reason}` | {sentence} |" for reason, sentence in REASONS.items())
    return (
        "# Routing\n\n"
        "Three backends lead to the same answer: the **index**, a parallel **scan**, and **rg**.\n"
        "One of these reasons decides; `--envelope` and the terminal's last line name it. A "
        "backend\nthat fails is replaced by another, and `fell_back` says why.\n\n"
        "| reason | when |\n|---|---|\n" + rows + "\n\n"
        "`--engine index`, `scan`, `rg` or `zoekt` (or `--backend`) names a backend, and then no "
        "other is\ntried.\n\n" + ZOEKT
    )


ZOEKT = """\
## The backend `zoekt`

Where `zoekt.api_url` names hosts that run Zoekt, `triseek search --backend zoekt` has them say
which files may match; an agent passes `backend: "zoekt"`. It is never chosen by itself. The lines
are read here, so they are those of the other backends for every pattern and option. An answer by
it has `strategy: zoekt`.

- The repository is the one that the cluster lists under git's setting `zoekt.name`, the address
  of a remote (`github.com/org/repo`) or the folder's name; `--repo NAME` names another. If the
  cluster has none of these, that is an error: `triseek cluster search` searches all of it.
- What differs from the indexed commit is read here whether or not the cluster names it: files
  that were edited, added, renamed, staged or ignored, other branches, and files that git stores
  in another form (line ends, LFS). So an edit is seen at once. Without git, files count that
  changed after the index was begun.
- What Zoekt does not index (too large, binary, too many trigrams) is read here, too.
- Is the indexed commit not in the clone, or did a host reach a limit, `incomplete` says so.
- `-v`, `--passthru` and `--files-without-match` read every file, and are refused.
"""


def format_page() -> str:
    title, rest = (inspect.getdoc(layout) or "").split("\n", 1)
    source = inspect.getsource(layout)
    tables = source[source.index("\nFORMAT = ") + 1 :].rstrip()
    return (
        f"# On-disk format\n\n{title}\n\n```text{rest.rstrip()}\n```\n\n"
        "The tables' columns, the flags and the reasons, as the code has them:\n\n"
        f"```python\n{tables}\n```\n"
    )


def errors_page() -> str:
    found = [kind for _, kind in inspect.getmembers(errors, inspect.isclass)]
    rows = sorted(
        f"| `{kind.code}` | {(kind.__doc__ or '').splitlines()[0]} "
        f"| {'yes' if kind.retryable else 'no'} | {kind.next_step or '–'} |"
        for kind in found
        if kind is not errors.TriseekError
    )
    return (
        "# Errors\n\n"
        "Every error is one line on stderr that names what is wrong, and the next step.\n\n"
        "| code | what it means | may work later | next step |\n|---|---|---|---|\n"
        + "\n".join(rows)
        + "\n\nExit statuses: 0 found or done, 1 nothing found, 2 an error, 70 a bug in triseek\n"
        "(the traceback's place is printed), 130 interrupted.\n"
    )


def configuration_page() -> str:
    defaults = config.Settings()
    rows = "\n".join(
        f"| `{key.name}` | `{_toml(getattr(defaults, key.field))}` | {key.meaning} "
        f"| `{key.variable}` |"
        for key in config.KEYS
    )
    return (
        "# Configuration\n\n"
        "Settings stand in `config.toml` in the state folder (`TRISEEK_HOME`, else `~/.triseek`):\n"
        "`daemon.autostart` is `autostart` under `[daemon]`. A variable wins over the file, a\n"
        "flag over both. An unknown key or a wrong value is an error that names it.\n\n"
        "| setting | default | meaning | variable |\n|---|---|---|---|\n" + rows + "\n\n"
        "```toml\n[daemon]\nautostart = false\nidle_exit_s = 600\n```\n\n"
        "Other variables:\n\n"
        "| variable | meaning |\n|---|---|\n"
        "| `TRISEEK_HOME` | The state folder. |\n"
        "| `TRISEEK_NO_DAEMON` | Not empty: no daemon starts by itself. |\n"
        "| `CI` | The same: a build machine wants no process left behind. |\n"
        "| `TRISEEK_SESSION_ID` | The session that hooks and memo tools speak of, where the agent"
        " does not name one. |\n"
        "| `TRISEEK_REPO_ROOT` | The root of `mcp serve`, without `--repo`. |\n"
        "| `TRISEEK_MCP_DISABLE_STARTUP_SYNC` | Set: without a daemon, `mcp serve` and `ui` leave"
        " the index as it is. |\n"
        "| `TRISEEK_DAEMON_TRANSPORT` | `tcp`: a loopback port and a token, as on Windows. |\n"
        "| `TRISEEK_MCP_TOKEN` | The bearer token of `mcp serve --http`, 16 characters or more. |\n"
        "| `TRISEEK_MCP_TOKEN_FILE` | A file that holds it. |\n"
        "| `TRISEEK_ZOEKT_TOKEN` | The token of `serve --zoekt-compat`, 16 characters or more. |\n"
        "| `TRISEEK_ZOEKT_TOKEN_FILE` | A file that holds it. |\n"
        "| `ZOEKT_API_URL` | As `zoekt.api_url`, whose own variable wins. |\n"
        "| `EXECUTION_TIMEOUT_DEFAULT`, `EXECUTION_TIMEOUT_MAX` | As `workflows.timeout_default`"
        " and `workflows.timeout_max`, whose own variables win. |\n"
        "| `EXECUTION_STDOUT_MAX_BYTES`, `EXECUTION_STDERR_MAX_BYTES` | As"
        " `workflows.stdout_max_bytes` and `workflows.stderr_max_bytes`. |\n"
        "| `MCP_SSE_PORT`, `MCP_STREAMABLE_HTTP_PORT` | The ports of `workflows serve`, without its"
        " options. |\n"
        "| `TRISEEK_WORKFLOWS_TOKEN` | The bearer token of `workflows serve`, as that of"
        " `mcp serve --http`. |\n"
        "| `TRISEEK_WORKFLOWS_TOKEN_FILE` | A file that holds it. |\n"
        "| `TRISEEK_MEMORY_TOKEN` | The same for `memory serve --http`. |\n"
        "| `TRISEEK_MEMORY_TOKEN_FILE` | A file that holds it. |\n"
    )


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else f"{value:g}"


PAGES = {
    "reference/cli.md": cli_page,
    "concepts/routing.md": routing_page,
    "reference/on-disk-format.md": format_page,
    "reference/errors.md": errors_page,
    "reference/configuration.md": configuration_page,
    "reference/tools.md": tools_page.page,
}


@pytest.mark.parametrize("name", PAGES)
def test_a_generated_page_says_what_the_code_says(name):
    page, path = PAGES[name](), DOCS / name
    if os.environ.get("TRISEEK_GOLDEN") == "update":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page, encoding="utf-8")

    assert path.read_text(encoding="utf-8") == page


@pytest.mark.parametrize(
    "page",
    sorted([ROOT / "README.md", ROOT / "AGENTS.md", *DOCS.rglob("*.md")]),
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_every_link_to_a_file_leads_somewhere(page):
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8"))
    missing = [
        link for link in links if not link.startswith("http") and not (page.parent / link).exists()
    ]

    assert missing == []


def test_the_readme_says_what_a_hook_was_measured_to_take():
    measured = re.findall(
        r"(?:One agent|eight): ([\d.]+) beyond the interpreter at the median",
        (DOCS / "benchmarks/hooks.md").read_text(encoding="utf-8"),
    )
    [said] = re.findall(
        r"A hook takes (\d+) ms more than starting a bare Python \(\[measured\]",
        (ROOT / "README.md").read_text(encoding="utf-8"),
    )

    assert len(measured) == 3  # the last one is of one agent beside the history
    assert int(said) == math.ceil(max(map(float, measured)))


def fields_of(document: Any, lead: str = "") -> set[str]:
    if isinstance(document, list):
        return {name for one in document for name in fields_of(one, lead)}
    if not isinstance(document, dict):
        return set()
    own = {lead + name for name in document}
    return own | fields_of(document.get("results", []), "") | fields_of(
        document.get("matches", []), "matches[]."
    )  # fmt: skip


def test_the_tools_page_names_every_field_that_is_ever_answered():
    known = {name for table in tools_page.FIELDS for name in table} | {"error"}
    known |= {name for table in tools_page.MEMO_FIELDS for name in table}
    known |= {name for table in tools_page.SESSIONS_FIELDS for name in table}
    known |= {f"matches[].{name}" for name in ("line", "column", "preview")}
    answered = set()
    for name in (
        "find_files",
        "search_content",
        "search_path_and_content",
        "index_status",
        "reindex",
        "memo_status",
        "memo_session",
        "memo_check",
        *(verb.name for verb in chosen(["session"])),
    ):
        written = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
        for answer in written["answers"]:
            answered |= fields_of(answer["structured_content"])

    assert answered - known == set()
    assert len(answered) > 30


def test_every_code_of_an_error_is_explained():
    assert set(tools_page.RAISED) == CONTRACT


def test_the_protocols_page_names_every_verb_and_limit():
    page = (DOCS / "reference/protocol.md").read_text(encoding="utf-8")
    limits = Limits()
    json_verbs = [verb.__name__ for verb in (*daemon_verbs.MEMO_VERBS, *daemon_verbs.SESSION_VERBS)]
    verbs = ("text", *ANY_VERSION, *json_verbs)
    said = [f"| `{verb}` |" for verb in verbs] + [
        f"protocol {wire.PROTOCOL}",
        f"| a request | {limits.frame >> 20} MiB |",
        f"| a piece of output | {wire.PIECE_LIMIT >> 10} KiB |",
        f"| a JSON answer, as far as our client takes it | {wire.ANSWER_LIMIT >> 20} MiB |",
        f"| connections | {limits.connections}, and {limits.spare} more",
        f"| silence on an open connection | {limits.idle_s:g} s |",
        f"| silence within a frame | {limits.gap_s:g} s |",
        f"| a whole frame | {limits.whole_s:g} s |",
        f"| requests under way when the daemon ends | {limits.drain_s:g} s |",
        f"{logs.SIZE // 1_000_000} MB, {logs.KEPT} older",
    ]

    assert [line for line in said if line not in page] == []


def test_the_pack_formats_page_says_what_the_code_says():
    page = (DOCS / "reference/pack-format.md").read_text(encoding="utf-8")
    limits = {**snapshot_files.LIMITS, **pack.LIMITS}
    sizes = {
        name: f"{most >> 20} MiB" if most >> 20 else f"{most >> 10} KiB"
        for name, most in limits.items()
    }
    said = [
        f"| the pack | {pack.PACKED_MAX >> 20} MiB |",
        f"| unpacked, headers included | {pack.TOTAL_MAX >> 20} MiB |",
        f"| files and folders | {pack.MEMBERS_MAX:,} |",
        f"| a pinned snippet | {snapshot_files.SNIPPET_MAX >> 10} KiB |",
        f"| commas and brackets in a document | {snapshot_files.VALUES_MAX:,} |",
        (
            f"{snapshot.LOG_MAX >> 20} MiB of log, {snapshot.PINS_MAX} pins of "
            f"{snapshot.PIN_LINES_MAX:,} lines or {snapshot.PIN_BYTES_MAX >> 10} KiB, "
            f"{snapshot.DIRTY_MAX:,} uncommitted files"
        ),
        f"the newest {snapshot.LOG_MAX >> 20} MiB of the session's log",
        f"at most {DEPTH_MAX} lists or objects deep",
        f"at most {TEXT_MAX:,} characters, a path {PATH_MAX:,}",
        f"`schema_version` {SCHEMA_VERSION}",
        "`triseek pack 1`",
    ]
    for name, size in sizes.items():
        row = next(line for line in page.splitlines() if line.startswith("|") and size in line
                   and f"`{name}`" in line)  # fmt: skip
        assert row.rstrip("| ").removesuffix(" each").endswith(size)

    assert [text for text in said if text not in page] == []
    assert signing._DOMAIN == b"triseek pack 1\n"
    # Every field a reader knows is on the page.
    kinds = (SnapshotManifest, FileSeen, SearchRun, WorkingSet, Pin, GitState, LogEntry)
    fields = {field.name for kind in kinds for field in dataclasses.fields(kind)}
    assert [name for name in sorted(fields) if not re.search(rf"\b{name}\b", page)] == []
    for trigger in get_args(Trigger):
        assert f"`{trigger}`" in page
    assert f"the newest {snapshot.LOG_MAX >> 20} MiB" in (DOCS / "concepts/sessions.md").read_text(
        encoding="utf-8"
    )
