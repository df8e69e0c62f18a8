"""URLs of repositories and of their files, from the templates that repositories have for them."""

from __future__ import annotations

import re
from urllib.parse import quote

TEMPLATE_MAX = 4_096
_ACTION = re.compile(r"\{\{\s*(.*?)\s*\}\}")
_ADDRESS = re.compile(r"(https?://)(?:[^/?#]*@)?(.*)")
_WORD = re.compile(r'"((?:[^"\\]|\\.)*)"|\.(Version|Path|Branch)|(\S+)')


def expanded(template: str, path: str, version: str, branch: str) -> str:
    """Return the URL of a file; "" if Zoekt writes no template of this form.

    Those are `{{.Version}}`, `{{.Path}}` and `{{.Branch}}` within a text, and
    `{{URLJoinPath "https://…" .Version .Path}}`.
    """
    if not template or len(template) > TEMPLATE_MAX:
        return ""
    values = {"Version": version, "Path": path, "Branch": branch}
    pieces, end = [], 0
    for action in _ACTION.finditer(template):
        value = _value(action[1], values)
        if value is None:
            return ""
        pieces += [template[end : action.start()], value]
        end = action.end()
    url = "".join(pieces) + template[end:]
    return web_url(url)


def web_url(url: str) -> str:
    """Return a URL as it can be shown, without user name and password; "" if it is none.

    Zoekt keeps those of the remote that it has indexed.
    """
    address = _ADDRESS.fullmatch(url)
    return f"{address[1]}{address[2]}" if address and url.isprintable() else ""


def _value(action: str, values: dict[str, str]) -> str | None:
    words = list(_WORD.finditer(action))
    if len(words) == 1 and words[0][2]:
        return quote(values[words[0][2]], safe="/:@+,;=~")
    if len(words) < 2 or words[0][3] != "URLJoinPath" or any(word[3] for word in words[1:]):
        return None
    parts = [word[1] if word[1] is not None else values[word[2]] for word in words[1:]]
    joined = [parts[0].rstrip("/"), *(quote(p.strip("/"), safe="/:@,;=~") for p in parts[1:])]
    return "/".join(part for part in joined if part)
