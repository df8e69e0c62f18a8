"""List definitions of a file whose names occur nowhere else."""

import asyncio

from runtime.zoekt_tools import outline, usages

ENTRY_POINTS = frozenset(("main", "init", "constructor", "setUp", "tearDown", "run"))


async def run(args):
    """Return the definitions of a file without any reference, in all repositories."""
    try:
        repo, path = args["repo"], args["path"]
        symbols = {}
        for symbol in await asyncio.to_thread(outline, repo, path):
            if not _is_called_by_name(symbol["name"]):
                symbols.setdefault(symbol["name"], symbol)
        checked = list(symbols.values())[: args["limit"]]
        answers = await asyncio.gather(
            *(asyncio.to_thread(usages, symbol["name"], "", 1) for symbol in checked)
        )
        candidates = [
            symbol for symbol, results in zip(checked, answers, strict=True) if not results
        ]
        return {"repo": repo, "path": path, "checked": len(checked), "candidates": candidates}
    except Exception as error:
        print(f"dead_code_candidates failed: {error}")
        return 1


def _is_called_by_name(name):
    """Whether a language or a test runner calls a definition of this name by itself."""
    return name in ENTRY_POINTS or name.startswith(("__", "test_", "Test")) or len(name) < 3
