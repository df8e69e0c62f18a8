"""Requests that Zoekt's server and ours are asked, and trees to ask about."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

TREES: Mapping[str, Mapping[str, bytes]] = {
    "alpha": {
        "main.go": b'package main\n\nimport "fmt"\n\n// h\xc3\xa9llo <b>world</b> & more\n'
        b'func main() {\n\tfmt.Println("needle one", "needle two")\n\thelper()\n}\n\n'
        b"func helper() { // needle\n}\n",
        "tool.py": b'def needle():\r\n    return "x"\r\nno_end = needle',
        "latin.txt": b"\x80\xfe needle bad \xe9\n",
        "needle_name.txt": b"plain\n",
        "deep/er/folder.go": b"package er\n\nvar Common = 1\n",
        "quo'te & amp.txt": b"needle in an odd name\n",
    },
    "beta": {
        "copy.py": b'def needle():\r\n    return "x"\r\nno_end = needle',
        "many.c": b"".join(b"int v%d; /* common */\n" % number for number in range(30)),
        "wide.txt": "日本語 needle 日本語 needle\n".encode(),
    },
}


class Asked(NamedTuple):
    """A request."""

    method: str
    path: str
    body: str | None = None
    differs: str = ""
    """Why values differ, if only the shapes of the answers are equal."""


def write(folder: Path) -> list[Path]:
    """Write the trees; return them."""
    for name, files in TREES.items():
        for path, content in files.items():
            file = folder / name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
    return [folder / name for name in TREES]


def _search(query: str, differs: str = "", **options: object) -> Asked:
    body = json.dumps({"Q": query, "Opts": options} if options else {"Q": query})
    return Asked("POST", "/api/search", body, differs)


def _raw(body: str, path: str = "/api/search", differs: str = "") -> Asked:
    return Asked("POST", path, body, differs)


def _get(path: str, differs: str = "") -> Asked:
    return Asked("GET", path, None, differs)


ASKED = (
    # Searches.
    _search("needle"),
    _search("needle", NumContextLines=1),
    _search("needle", NumContextLines=3, ChunkMatches=True),
    _search("needle", ChunkMatches=True),
    _search("needle", Whole=True, MaxDocDisplayCount=10),
    _search("needle f:tool", MaxDocDisplayCount=2),
    _search("needle", "which files come first", MaxDocDisplayCount=1),
    _search("needle", MaxDocDisplayCount=-1),
    _search("common r:beta", MaxMatchDisplayCount=3),
    _search(
        "common r:beta",
        "Zoekt leaves out the last line end of a chunk that it cuts",
        MaxMatchDisplayCount=3,
        ChunkMatches=True,
        NumContextLines=1,
    ),
    _search("common", ChunkMatches=True, NumContextLines=2),
    _search("common"),
    _search("nothinghere"),
    _search("needle or common"),
    _search("needle -f:go"),
    _search("needle f:py"),
    _search("f:needle_name"),
    _search("f:needle_name", ChunkMatches=True),
    _search("f:go -common", ChunkMatches=True),
    _search("r:alpha needle"),
    _search("r:zzz needle"),
    _search("needle case:yes"),
    _search("Common"),
    _search("nee.le"),
    _search("(needle|common)"),
    _search('"needle one"'),
    _search("wor[lm]d"),
    _search("lang:go needle"),
    _search("lang:python needle"),
    _search("lang:nosuch needle"),
    _search("日本語"),
    _search("日本語", ChunkMatches=True),
    _search("héllo", NumContextLines=1),
    _search("type:filename needle"),
    _search("type:repo needle"),
    _search("type:repo needle r:beta"),
    _search("type:repo nothinghere"),
    _search("archived:no needle"),
    _search("public:yes needle"),
    _search("b:nosuch needle"),
    _search("meta.x:y needle"),
    _search("-needle"),
    _search('file:""'),
    _search("-lang:go needle"),
    _search(r"\{\n\tfmt"),
    _search("needle$"),
    _search("c:needle f:needle_name"),
    _search("needle", Unknown=1, Trace=True, DebugScore=False),
    _search("needle", "which file of a repository is looked at first", ShardRepoMaxMatchCount=1),
    _search("needle", TotalMaxMatchCount=100000, ShardMaxMatchCount=10000),
    _search("needle", MaxWallTime=2_000_000_000),
    _search("needle", "scores, and so the order", UseBM25Scoring=True),
    _search("x", EstimateDocCount=True),
    _raw('{"q":"plain","opts":{"maxdocdisplaycount":1}}'),
    _raw('{"Q":"plain"} trailing'),
    _raw('{"Q":"plain","Opts":null}'),
    _raw('{"Q":"needle","RepoIDs":null}'),
    _raw('{"Q":"needle","RepoIDs":[1]}'),
    # Requests that are refused.
    _raw(""),
    _raw("{}"),
    _raw("null"),
    _raw("[]"),
    _raw('"x"'),
    _raw("5"),
    _raw("true"),
    _raw('{"Q":"x"'),
    _raw('{"Q":"x'),
    _raw("{Q}"),
    _raw("nope"),
    _raw('{"Q" 5}'),
    _raw('{"Q":"x",}'),
    _raw('{"Q":5}'),
    _raw('{"Q":["x"]}'),
    _raw('{"Q":"x","Opts":5}'),
    _raw('{"Q":"x","Opts":[]}'),
    _raw('{"Q":"x","Opts":{"MaxDocDisplayCount":"5"}}'),
    _raw('{"Q":"x","Opts":{"MaxDocDisplayCount":1.5}}'),
    _raw('{"Q":"x","Opts":{"MaxDocDisplayCount":1e3}}'),
    _raw('{"Q":"x","Opts":{"MaxDocDisplayCount":99999999999999999999}}'),
    _raw('{"Q":"x","Opts":{"Whole":1}}'),
    _raw('{"Q":"x","Opts":{"MaxWallTime":"1s"}}'),
    _raw('{"Q":"x","Opts":{"SpanContext":{"a":1}}}'),
    _raw('{"Q":"x","Opts":{"MaxDocDisplayCount":null,"SpanContext":{"a":"b"}}}'),
    _raw('{"Q":"x","RepoIDs":[0]}'),
    _raw('{"Q":"x","RepoIDs":[-1]}'),
    _raw('{"Q":"x","RepoIDs":5}'),
    _raw('{"Q":"("}'),
    _raw('{"Q":"case:foo x"}'),
    _raw('{"Q":"abc or"}'),
    Asked("GET", "/api/search"),
    Asked("PUT", "/api/search", "{}"),
    Asked("DELETE", "/api/list"),
    # Lists.
    _raw("{}", "/api/list"),
    _raw('{"Q":"r:beta"}', "/api/list"),
    _raw('{"Q":"common"}', "/api/list"),
    _raw('{"Q":"nothinghere"}', "/api/list"),
    _raw('{"Q":"-r:alpha"}', "/api/list"),
    _raw('{"Q":"archived:no"}', "/api/list"),
    _raw('{"Q":"needle or r:zzz"}', "/api/list"),
    _raw('{"Q":"r:zzz"}', "/api/list"),
    _raw('{"Opts":{"Field":2}}', "/api/list"),
    _raw('{"Opts":{"Field":1}}', "/api/list"),
    _raw('{"Opts":{"Field":7}}', "/api/list"),
    _raw('{"Opts":{"Field":"x"}}', "/api/list"),
    _raw('{"Q":"("}', "/api/list"),
    _raw("", "/api/list"),
    # Pages.
    _get("/search?q=needle&format=json"),
    _get("/search?q=needle+f:main&format=json&ctx=1&num=3"),
    _get("/search?q=needle&format=json&num=-4"),
    _get("/search?q=common&format=json&ctx=2"),
    _get("/search?q=f:needle_name&format=json"),
    _get("/search?q=nothinghere&format=json"),
    _get("/search?q=needle+-f:py+or+common&format=json"),
    _get("/search?q=Common+case:yes&format=json"),
    _get("/search?q=sym:needle&format=json"),
    _search("sym:helper"),
    _search("sym:helper", ChunkMatches=True),
    _get("/search?q=c:need.e+lang:go&format=json", "the query is shown as it was typed"),
    _get("/search?q=%E6%97%A5%E6%9C%AC&format=json"),
    _get("/search?q=r:alpha&format=json"),
    _get("/search?q=r:a&format=json&num=1&order=revname"),
    _get("/search?q=type:repo+common&format=json"),
    _get("/search?q=r:zzz&format=json"),
    _get("/search?format=json"),
    _get("/search?q=(&format=json"),
    _get("/search?q=needle&format=json&ctx=11"),
    _get("/search?q=needle&format=json&ctx=x"),
    _get("/search?q=r:a&format=json&order=zz"),
    _get("/print?r=alpha&f=main.go&format=raw"),
    _get("/print?r=alpha&f=deep/er/folder.go&format=raw"),
    _get("/print?r=alpha&f=latin.txt&format=raw"),
    _get("/print?r=alpha&f=quo%27te+%26+amp.txt&format=raw"),
    _get("/print?r=alpha&f=nope&format=raw"),
    _get("/print?r=nope&f=main.go&format=raw"),
    _get("/print?r=alph&f=main.go&format=raw"),
    _get("/print?r=alpha&f=main.go&b=nosuch&format=raw"),
    _get("/print"),
    _get("/healthz", "which file is shown first"),
    Asked("POST", "/api/nosuch", "{}"),
)
