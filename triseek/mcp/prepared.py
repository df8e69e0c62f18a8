"""Answers to an agent's first requests, `initialize` and `tools/list`, before its session is there.

Some agents ask their model soon after they have started their servers, and leave out the tools of
those that have not answered. A session may need seconds: the SDK is imported, a daemon is started.
Its answers to these two requests depend only on the declarations of the tools and on few settings,
so they are made in advance: `make golden` writes `ANSWERS`, and a test compares it with what a
session says. Whatever is unusual is left to the session: another first request, unusual
parameters, a setting in a file, a toolset that `ANSWERS` does not have.

The pipe imports this module, so it imports nothing heavy, `json` included.
"""

from __future__ import annotations

import os

from triseek import __version__, paths
from triseek.app import wings
from triseek.ipc.surroundings import quoted
from triseek.model.client_name import is_named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    Entries: TypeAlias = "dict[tuple[str, ...], str]"

ANSWERS = os.path.join(os.path.dirname(__file__), "prepared.tsv")  # noqa: PTH118, PTH120
"""A file of lines, each of fields between tabs, the last one without tabs:

    versions    versions of the protocol, the latest last
    default     the toolsets that `default` stands for
    lean        how the clients' names begin that get the lean form
    initialize  the result
    about       toolset  what the instructions say of it in addition, as JSON without the quotes
    tools       form  toolset  the tools, as JSON without the brackets
    with memory form  toolset  likewise where the toolset memory is offered, if that differs

Versions, toolsets and names are separated by commas.
"""
VERSION, PROTOCOL, ABOUT = "@VERSION@", "@PROTOCOL@", "@ABOUT@"
"""Stand in `ANSWERS` for the version of triseek, the version of the protocol, and what the
instructions say of the chosen toolsets in addition."""
WITH_RESOURCES = "history"
"""The toolset with which resources are offered."""
WITH_ARGUMENTS = "memory"
"""The toolset with which tools of others have further arguments."""
CAPABILITIES = '"capabilities":{'
RESOURCES = '"resources":{"subscribe":false,"listChanged":false},'
"""What the result of `initialize` then says in addition, after `CAPABILITIES`."""
LINE_MAX = 1 << 16
"""Bytes of a line above which the session answers."""
CLUSTER_VARIABLES = ("ZOEKT_API_URL", "TRISEEK_ZOEKT_API_URL")
"""Where one is set, a session lists further arguments."""
CLUSTER_KEY, STRUCTURED_KEY = b"api_url", b"structured"
"""Last parts of the names of settings in the file: `zoekt.api_url` and `mcp.structured`."""
STRUCTURED = "TRISEEK_MCP_STRUCTURED"
"""The setting `mcp.structured` as a variable."""
ENVELOPE = "io.modelcontextprotocol/"
"""How keys of `_meta` begin in versions of the protocol that have no `initialize`."""
_ID_MAX = 2**53
_MEMBERS = frozenset(("jsonrpc", "id", "method", "params"))


class PreparedAnswers:
    """Answers the lines of one agent that can be answered without its session."""

    def __init__(self, toolsets: str) -> None:
        """Offer the tools of comma-separated `toolsets`."""
        self._toolsets = toolsets.replace(",", " ").split()
        self._is_first = True
        self._tools: str | None = None
        """The listed tools, as JSON; None if the session answers."""

    def __call__(self, line: bytes) -> bytes | None:
        """Return the answer to the agent's next line; None if the session has to answer it.

        Only if the first line is answered, later ones may be: it is the `initialize` of a session.
        """
        is_first, self._is_first = self._is_first, False
        if not is_first and self._tools is None:
            return None
        request = _request(line)
        if is_first:
            result = self._initialize(request)
        else:
            result = f'{{"tools":[{self._tools}]}}' if _is_listing(request) else ""
        return _answer(request["id"], result) if result else None

    def _initialize(self, request: dict[str, Any]) -> str:
        """Return the result of `initialize`, and keep the list of tools; "" if it is unusual."""
        params: dict[str, Any] = request.get("params") or {}
        if request.get("method") != "initialize" or not _is_greeting(params):
            return ""
        if any(map(os.environ.get, CLUSTER_VARIABLES)) or _may_be_in_file(CLUSTER_KEY):
            return ""
        entries = _entries()
        form = _form(params["clientInfo"]["name"], entries) if entries else ""
        chosen = self._chosen(entries)
        lists = [entries.get(("tools", form, name)) for name in chosen]
        if WITH_ARGUMENTS in chosen:
            more = (entries.get((f"with {WITH_ARGUMENTS}", form, name)) for name in chosen)
            lists = [own or usual for own, usual in zip(more, lists, strict=True)]
        if not lists or None in lists:
            return ""
        self._tools = ",".join(filter(None, lists))
        offered, versions = params["protocolVersion"], entries["versions",].split(",")
        version = offered if offered in versions else versions[-1]
        result = entries["initialize",]
        if WITH_RESOURCES in self._toolsets:
            result = result.replace(CAPABILITIES, CAPABILITIES + RESOURCES, 1)
        about = "".join(entries.get(("about", name), "") for name in chosen)
        result = result.replace(ABOUT, about)
        return result.replace(VERSION, __version__).replace(PROTOCOL, version)

    def _chosen(self, entries: Entries) -> list[str]:
        """Return the toolsets to list, in their order; names that are not known are among them."""
        names = set(self._toolsets)
        if wings.DEFAULT in names:
            names = names - {wings.DEFAULT} | set(entries.get(("default",), "").split(","))
        return sorted(names, key=lambda name: (*wings.TOOLSETS, name).index(name))


def _entries() -> Entries:
    """Return the last fields of the lines of `ANSWERS` by the others; empty if there is no file."""
    try:
        with open(ANSWERS, encoding="utf-8", newline="\n") as file:  # noqa: PTH123
            lines = file.read().split("\n")
    except OSError:
        return {}
    rows = (line.split("\t") for line in lines if line)
    return {tuple(fields): last for *fields, last in rows}


def _form(client: str, entries: Entries) -> str:
    """Return the form of results that a client gets, `lean` or `full`; "" if not known here."""
    setting = os.environ.get(STRUCTURED) or "auto"
    if setting == "full":
        return "full"
    if setting != "auto" or _may_be_in_file(STRUCTURED_KEY):
        return ""
    return "lean" if is_named(client, entries["lean",].split(",")) else "full"


def _may_be_in_file(key: bytes) -> bool:
    """Return whether the file of settings may set a key; it is not parsed here."""
    try:
        with open(paths.config_file(), "rb") as file:  # noqa: PTH123
            return key in file.read()
    except FileNotFoundError:
        return False
    except OSError:
        return True


def _answer(number: str | int, result: str) -> bytes:
    name = quoted(number) if isinstance(number, str) else number
    return f'{{"jsonrpc":"2.0","id":{name},"result":{result}}}'.encode()


def _request(line: bytes) -> dict[str, Any]:
    """Return a request of JSON-RPC; empty if the line is another message, or an unusual one."""
    # A half of a surrogate pair is refused by the session's parser, and accepted by this one.
    if len(line) > LINE_MAX or b"\\ud" in line.lower():
        return {}
    try:
        from _json import make_scanner
    except ImportError:  # an interpreter without the C module
        return {}
    try:
        text = line.decode().strip(" \t\r")
        message, end = make_scanner(_Json())(text, 0)  # type: ignore[arg-type]
    except (ValueError, StopIteration, RecursionError):
        return {}
    if end != len(text) or not isinstance(message, dict) or not _MEMBERS.issuperset(message):
        return {}
    number = message.get("id")
    is_named = isinstance(number, str) or (type(number) is int and abs(number) < _ID_MAX)
    return message if message.get("jsonrpc") == "2.0" and is_named else {}


def _refuse(text: str) -> None:
    raise ValueError(text)


class _Json:
    """What a scanner asks of a `json.JSONDecoder`: to read strictly, and no NaN."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = staticmethod(_refuse)


def _is_greeting(params: object) -> bool:
    """Whether these are usual parameters of `initialize`."""
    if not isinstance(params, dict):
        return False
    client, capabilities = params.get("clientInfo"), params.get("capabilities")
    return (
        isinstance(params.get("protocolVersion"), str)
        and isinstance(capabilities, dict)
        and all(isinstance(value, dict) for value in capabilities.values())
        and isinstance(client, dict)
        and all(isinstance(client.get(name), str) for name in ("name", "version"))
        and not params.keys() - {"protocolVersion", "capabilities", "clientInfo"}
    )


def _is_listing(request: dict[str, Any]) -> bool:
    """Whether this is `tools/list` with usual parameters: without a cursor."""
    params = request.get("params", {})
    if request.get("method") != "tools/list" or not isinstance(params, dict):
        return False
    meta = params.get("_meta", {})
    return (
        not params.keys() - {"_meta"}
        and isinstance(meta, dict)
        and not any(name.startswith(ENVELOPE) for name in meta)
        and isinstance(meta.get("progressToken", ""), (str, int))
    )
