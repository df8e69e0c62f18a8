"""Trace a symbol through all repositories."""

import asyncio

from runtime.zoekt_tools import find_repos, list_repos, search, search_symbols


async def run(args):
    """Return definitions and usages of a symbol in each of the repositories with most matches."""
    try:
        symbol = args["symbol"].strip()
        names = await asyncio.to_thread(_repositories, symbol, args["max_repos"])
        entries = await asyncio.gather(*(_inspect(symbol, name, args) for name in names))
        return {
            "symbol": symbol,
            "inspected_repos": len(names),
            "trace": [
                entry for entry in entries
                if entry.get("definition_hits") or entry.get("usage_hits")
            ],
            "errors": [entry for entry in entries if "error" in entry],
        }  # fmt: skip
    except Exception as error:
        print(f"cross_repo_trace failed: {error}")
        return 1


def _repositories(symbol, most):
    """Return the repositories to inspect: by matches, then others if there are too few."""
    names = [entry["repository"] for entry in find_repos(symbol, most)]
    if len(names) < most:
        names += [name for name in list_repos() if name not in names]
    return names[:most]


async def _inspect(symbol, name, args):
    try:
        definitions, usages = await asyncio.gather(
            asyncio.to_thread(search_symbols, symbol, args["definitions_limit"], name),
            asyncio.to_thread(search, symbol, args["usages_limit"], 1, name),
        )
    except Exception as error:
        return {"repo": name, "error": str(error)}
    return {
        "repo": name,
        "definition_hits": len(definitions),
        "usage_hits": len(usages),
        "definitions": definitions,
        "usages": usages,
    }
