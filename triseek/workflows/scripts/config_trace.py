"""Trace a setting or service name through code, configuration and documentation."""

import asyncio
import re

from runtime.zoekt_tools import literal, search

CONFIG = (
    r"[.](ya?ml|toml|json|ini|cfg|conf|env|properties|tf|tfvars|xml|plist)$"
    r"|(^|/)([.]env|Dockerfile|Makefile|[.]github/)"
)
DOCS = r"[.](md|rst|adoc|txt)$|(^|/)docs?/"
TESTS = (
    r"(^|/)(tests?|specs?|__tests__|testing|testdata|fixtures?|__fixtures__)/"
    r"|(^|[/_.-])(test|spec)s?[_.-]|[_.-](test|spec)s?[.]"
)


async def run(args):
    """Return the files that mention a name in any spelling, by kind."""
    try:
        name, repo, limit = args["name"].strip(), args["repo"], args["limit"]
        spellings = _spellings(name)
        terms = [await asyncio.to_thread(literal, spelling) for spelling in spellings]
        term = f"({' or '.join(terms)})" if len(terms) > 1 else terms[0]
        kinds = {
            "Configuration": f"f:{CONFIG} -f:{DOCS} -f:{TESTS}",
            "Code": f"-f:{CONFIG} -f:{DOCS} -f:{TESTS}",
            "Documentation": f"f:{DOCS} -f:{TESTS}",
            "Tests": f"f:{TESTS}",
        }
        searches = (
            asyncio.to_thread(search, f"{term} {filters}", limit, 0, repo)
            for filters in kinds.values()
        )
        answers = await asyncio.gather(*searches)
        groups = [
            {"kind": kind, "results": results}
            for kind, results in zip(kinds, answers, strict=True)
            if results
        ]
        return {
            "name": name,
            "spellings": spellings,
            "total_hits": sum(len(group["results"]) for group in groups),
            "groups": groups,
        }
    except Exception as error:
        print(f"config_trace failed: {error}")
        return 1


def _spellings(name):
    """Return a name as written, and in the spellings that other kinds of files use."""
    words = [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+", name)]
    if len(words) < 2:
        return [name]
    joined = [separator.join(words) for separator in ("_", "-", ".")]
    camel = words[0] + "".join(word.capitalize() for word in words[1:])
    spellings = [name, *joined, joined[0].upper(), camel, camel[0].upper() + camel[1:]]
    return list(dict.fromkeys(spellings))
