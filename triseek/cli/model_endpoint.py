"""An OpenAI-compatible `/chat/completions` endpoint that the user named: ask it one thing.

The only module that opens a connection to another machine, and only for `triseek brief` with a
mode that asks a model. Whatever goes wrong is a `BackendFailure` of one line, in which there is
never a key, nor what a server says to a wrong one.
"""

from __future__ import annotations

import ipaddress
import json
import socket
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from triseek import __version__
from triseek.errors import BackendFailure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from triseek.config import Settings

ANSWER_MAX = 1 << 20
"""Bytes of an answer; a briefing has 6,000, what a model thinks aloud some more."""
_PATH = "/chat/completions"
_SAID_MAX = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where to ask, and as whom."""

    url: str
    """Of its `/chat/completions`."""
    model: str
    key: str = field(repr=False)
    """"" for none."""
    timeout_s: float
    """For the whole of an answer; 0: as long as it takes."""
    nearby: bool
    """On this machine or a private network: no proxy is asked."""

    @property
    def place(self) -> str:
        """The address as a person is told it: without what follows a question mark."""
        parts = urlsplit(self.url)
        return urlunsplit((parts.scheme, parts.netloc, parts.path, "", ""))


def local(settings: Settings) -> Endpoint:
    """The endpoint of `local-model`.

    Raises:
        BackendFailure: None is configured, or it is not near.
    """
    _configured("local", settings.brief_local_url, settings.brief_local_model)
    host = urlsplit(settings.brief_local_url).hostname or ""
    if not _is_near(host):
        raise BackendFailure(
            f"{host} of brief.local_url is neither this machine nor in a private network "
            "(what is elsewhere is asked with --mode cloud-model)"
        )
    return Endpoint(
        url=_completions(settings.brief_local_url),
        model=settings.brief_local_model,
        key=settings.brief_local_key,
        timeout_s=settings.brief_timeout_s,
        nearby=True,
    )


def cloud(settings: Settings, environ: Mapping[str, str]) -> Endpoint:
    """The endpoint of `cloud-model`.

    Raises:
        BackendFailure: None is configured, or log and key would go there for all to read.
    """
    _configured("cloud", settings.brief_cloud_url, settings.brief_cloud_model)
    parts = urlsplit(settings.brief_cloud_url)
    looped = _is_near(parts.hostname or "", loopback=True)
    if parts.scheme != "https" and not looped:
        raise BackendFailure("brief.cloud_url is not https, and is another machine's")
    return Endpoint(
        url=_completions(settings.brief_cloud_url),
        model=settings.brief_cloud_model,
        key=settings.brief_cloud_key or _from_variable(settings.brief_cloud_key_env, environ),
        timeout_s=settings.brief_timeout_s,
        nearby=looped,
    )


def request(endpoint: Endpoint, messages: list[dict[str, str]]) -> bytes:
    """What is sent to ask for the next message; only fields that every such server knows."""
    body = {"model": endpoint.model, "messages": messages, "stream": False}
    return json.dumps(body).encode("ascii")


def ask(endpoint: Endpoint, body: bytes) -> str:
    """Send a request and return what the model says.

    Raises:
        BackendFailure: There is no answer, or none that makes sense.
    """
    import asyncio

    return _message(asyncio.run(_answer(endpoint, body)))


def _configured(mode: str, url: str, model: str) -> None:
    if not url or not model:
        missing = [f"brief.{mode}_{n}" for n, v in (("url", url), ("model", model)) if not v]
        raise BackendFailure(
            f"not configured ({' and '.join(missing)}: see `docs/guides/briefings.md`)"
        )


def _completions(url: str) -> str:
    """The address that is asked: people write it with or without its last part."""
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    return urlunsplit(parts._replace(path=path if path.endswith(_PATH) else path + _PATH))


def _from_variable(name: str, environ: Mapping[str, str]) -> str:
    key = environ.get(name, "").strip() if name else ""
    if name and not (key and key.isascii() and key.isprintable() and " " not in key):
        raise BackendFailure(f"the variable {name}, of brief.cloud_key_env, holds no key")
    return key


def _is_near(host: str, *, loopback: bool = False) -> bool:
    """Whether every address of a host is this machine's or a private network's.

    loopback: Only this machine's counts.
    """
    try:
        found = socket.getaddrinfo(host, None, proto=socket.IPPROTO_TCP)
    except (OSError, UnicodeError):
        if loopback:
            return False
        raise BackendFailure(f"{host} of brief.local_url has no address") from None
    addresses = [ipaddress.ip_address(one[4][0]) for one in found]
    plain = [getattr(one, "ipv4_mapped", None) or one for one in addresses]
    return all(one.is_loopback if loopback else not one.is_global for one in plain)


async def _answer(endpoint: Endpoint, body: bytes) -> bytes:
    """The whole body of an answer, within the time there is."""
    import asyncio

    import httpx2

    headers = {
        "content-type": "application/json",
        "accept": "application/json",
        "accept-encoding": "identity",  # nothing to unpack is nothing that unpacks to too much
        "user-agent": f"triseek/{__version__}",
    }
    if endpoint.key:
        headers["authorization"] = f"Bearer {endpoint.key}"
    try:
        async with (
            asyncio.timeout(endpoint.timeout_s or None),
            # A redirect would carry log and key to where the user has not sent them.
            httpx2.AsyncClient(
                timeout=None, follow_redirects=False, trust_env=not endpoint.nearby
            ) as client,
            client.stream("POST", endpoint.url, content=body, headers=headers) as response,
        ):
            held = b""
            async for piece in response.aiter_raw():
                held += piece
                if len(held) > ANSWER_MAX:
                    raise BackendFailure(f"its answer is longer than {ANSWER_MAX:,} bytes")
            _checked(response.status_code, held, endpoint.key)
            return held
    except TimeoutError:
        raise BackendFailure(f"no answer within {endpoint.timeout_s:g} s") from None
    except httpx2.ConnectError as error:
        why = _plain(str(error), endpoint.key) or "no connection"
        raise BackendFailure(f"cannot be reached: {why}") from None
    except httpx2.HTTPError as error:
        # What these say may quote a header, and one of them is the key's.
        raise BackendFailure(f"the connection failed ({type(error).__name__})") from None
    except (httpx2.InvalidURL, ValueError, OSError, ImportError) as error:
        raise BackendFailure(
            f"cannot be asked: a proxy or certificate of the environment ({type(error).__name__})"
        ) from None


def _checked(code: int, body: bytes, key: str) -> None:
    """Raise `BackendFailure` for an answer that is a refusal."""
    if 200 <= code < 300:
        return
    if code in (401, 403):
        said = "the key is refused" if key else "it wants a key"
    elif 300 <= code < 400:
        said = "it leads elsewhere, and no redirect is followed"
    elif code == 429:
        said = "asked too often, or the account is empty"
    else:
        said = _plain(_complaint(body), key)
    raise BackendFailure(f"it answers {code}{f': {said}' if said else ''}")


def _complaint(body: bytes) -> str:
    """What a server says went wrong, in one of the two ways they do."""
    told = _json(body)
    error = told.get("error") if isinstance(told, dict) else None
    said = error.get("message") if isinstance(error, dict) else error
    return said if isinstance(said, str) else ""


def _message(body: bytes) -> str:
    """The text of the first choice.

    Raises:
        BackendFailure: There is none.
    """
    match _json(body):
        case {"choices": [{"message": {"content": str(text)}}, *_]} if text.strip():
            return text
        case None:
            what = "a stream" if body.lstrip().startswith(b"data:") else "no JSON"
            raise BackendFailure(f"its answer is {what}")
        case _:
            raise BackendFailure("its answer holds no message")


def _json(body: bytes) -> Any:  # noqa: ANN401 - JSON
    """What a body says; None if it is no JSON."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _plain(text: str, key: str) -> str:
    """One short line, in which there is no key."""
    text = text.replace(key, "…") if key else text
    plain = "".join(char for char in " ".join(text.split()) if char.isprintable())
    return plain[:_SAID_MAX]
