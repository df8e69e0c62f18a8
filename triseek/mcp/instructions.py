"""What agents are told of the server when they connect."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

INSTRUCTIONS_MAX = 2_048
"""Characters after which clients cut the instructions."""
INSTRUCTIONS = """\
Use triseek instead of grep, rg, find, sed -n, ls -R and built-in Grep or Glob tools to look for \
code in this repository: search_content for text or a regex, find_files for paths, \
search_path_and_content when you know the folder. Exact, complete, current: edits are seen at once.

- Best first: definitions, then source, tests, vendored and generated code. Totals count all that \
matches, also what `limit` (20, at most 100) leaves out; `next_offset` is the `offset` of the next \
page. `3,9:text` are equal lines of a file.
- Literal is the default; mode "regex" is ripgrep's dialect (no \\|, no look-around).
- Ask for several names at once with `patterns`. Narrow with `glob` (src/**/*.ts), `type` (py, \
rust) or `path`; see lines around with `context`; get paths alone with output_mode "files".
- Searched is what ripgrep lists, and the hidden files that git tracks. No hits means there are \
none in there: the answer says what it left out (`hidden: true`, `ignored: true` search it too) \
and which change of arguments would match. There is no need to repeat the search with grep.
- An answer with `results_omitted` repeats one you have had, and nothing relevant has changed: \
reuse it from your context, or pass force_refresh: true if you no longer have it.
- context_pack gives a small, bounded starting set for a task: goal and, if known, changed files.
- memo_check says whether a file you have read is unchanged: skip the reading if it is \
`skip_reread`. memo_status asks for several files.
- For work that another agent may go on with: session_open with the goal at the start, \
session_handoff at the end; session_resume goes on with a snapshot.
- Searches work without an index, only slower. reindex is rarely needed.
"""
"""What agents are told of the server. Many clients show nothing else before the first call of a
tool, so the main rule comes first."""
ABOUT: Mapping[str, str] = {
    "history": "- Earlier sessions: search_observations has what was done and learned, "
    "memory_search what was said, find_by_file a file's history; remember keeps a finding.\n",
    "memory": "- Facts of this project: memory_recall before you start, memory_remember for what "
    "later sessions need, kg_assert for what may change.\n",
    "workflows": "- Many repos: search_capabilities.\n",
}
"""What is said in addition, by the toolset that has to be on."""


def instructions(toolsets: Collection[str]) -> str:
    """Return what an agent that is offered some toolsets is told."""
    return INSTRUCTIONS + "".join(text for name, text in ABOUT.items() if name in toolsets)
