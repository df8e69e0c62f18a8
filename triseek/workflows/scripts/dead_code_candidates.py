"""List definitions of a file that no code uses."""

import asyncio
import re

from runtime.zoekt_tools import outline, search, usages

ENTRY_POINTS = frozenset(("main", "init", "constructor", "setUp", "tearDown", "run"))
TESTS = (
    r"f:(^|/)(tests?|specs?|__tests__|testing|testdata)/|(^|[/_.-])(test|spec)s?[_.-]"
    r"|[_.-](test|spec)s?[.]|Tests?[.]"
)


async def run(args):
    """Return the definitions of a file without any use, in all repositories."""
    try:
        repo, path = args["repo"], args["path"]
        symbols = {}
        for symbol in await asyncio.to_thread(outline, repo, path):
            if not _is_called_by_name(symbol["name"]):
                symbols.setdefault(symbol["name"], []).append(symbol)
        checked = list(symbols.values())[: args["limit"]]
        notes = await asyncio.gather(
            *(asyncio.to_thread(_without_uses, same, repo, path) for same in checked)
        )
        candidates = [
            same[0] | note for same, note in zip(checked, notes, strict=True) if note is not None
        ]
        return {"repo": repo, "path": path, "checked": len(checked), "candidates": candidates}
    except Exception as error:
        print(f"dead_code_candidates failed: {error}")
        return 1


def _is_called_by_name(name):
    """Whether a language or a test runner calls a definition of this name by itself."""
    return name in ENTRY_POINTS or name.startswith(("__", "test_", "Test")) or len(name) < 3


def _without_uses(same, repo, path):
    """Return what names the definitions of one name though no code uses them; None if some does."""
    name = same[0]["name"]
    here = f'f:"^{_quoted(path)}$"'
    for hit in usages(name, repo, 1, here):
        if not all(_is_within(same, match["line_number"]) for match in hit["matches"]):
            return None
    elsewhere = f'-(r:"^{_quoted(repo)}$" {here})'
    texts = []
    for hit in usages(name, "", 1, f"{elsewhere} -{TESTS}"):
        if hit["checked"] == "syntax":
            return None
        texts.append(hit)
    for hit in usages(name, "", 1, f"{elsewhere} {TESTS}"):
        if hit["checked"] == "syntax":
            return _note("only tests use it", hit)
        texts.append(hit)
    texts = texts or search(rf'content:"\\b{_quoted(name)}\\b" case:yes {elsewhere}', 1, 0)
    return _note("only text names it", texts[0]) if texts else {"note": "", "example": ""}


def _note(note, hit):
    """Return what is said of a candidate, and a place that shows it."""
    place = f"{hit['repository']}/{hit['filename']}:{hit['matches'][0]['line_number']}"
    return {"note": note, "example": place}


def _is_within(same, line):
    """Whether a line belongs to one of the definitions, which use themselves there."""
    return any(symbol["line"] <= line <= symbol["end_line"] for symbol in same)


def _quoted(text):
    """Return a literal text as a pattern between quotes in a query."""
    pattern = re.sub(r"([\\.+*?()|\[\]{}^$])", r"\\\1", text)
    return pattern.replace("\\", "\\\\").replace('"', '\\"')
