"""Send one request to an OpenAI-compatible `/chat/completions` endpoint that the user named.

This is the only module that opens a connection to another machine, and only for `triseek brief`
with a mode that asks a model. Every failure is a `BackendFailure` of one line, which never holds a
key, nor a server's reply to a wrong key.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import os
import socket
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from triseek import __version__
from triseek.errors import BackendFailure

if TYPE_CHECKING:
    from triseek.config import Settings

ANSWER_MAX = 1 << 20
"""Most bytes of an answer; a briefing has 6,000, a model's visible reasoning some more."""
_PATH = "/chat/completions"
_SAID_MAX = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """An endpoint to ask, and the key to ask it with."""

    url: str
    """The URL of its `/chat/completions`."""
    model: str
    key: str = field(repr=False)
    """"" for none."""
    timeout_s: float
    """Seconds for the whole of an answer; 0: no limit."""
    nearby: bool
    """On this machine or a private network: no proxy is used."""

    @property
    def place(self) -> str:
        """The address as shown to people: without what follows a question mark."""
        return urlsplit(self.url)._replace(query="", fragment="").geturl()


def local(settings: Settings) -> Endpoint:
    """Return the endpoint of `local-model`.

    Raises:
        BackendFailure: None is configured, or it is neither here nor in a private network.
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


def cloud(settings: Settings) -> Endpoint:
    """Return the endpoint of `cloud-model`.

    Raises:
        BackendFailure: None is configured, or log and key would be sent unencrypted.
    """
    _configured("cloud", settings.brief_cloud_url, settings.brief_cloud_model)
    parts = urlsplit(settings.brief_cloud_url)
    is_loopback = _is_near(parts.hostname or "", loopback=True)
    if parts.scheme != "https" and not is_loopback:
        raise BackendFailure("brief.cloud_url is not https, and is another machine's")
    return Endpoint(
        url=_completions(settings.brief_cloud_url),
        model=settings.brief_cloud_model,
        key=settings.brief_cloud_key or _from_variable(settings.brief_cloud_key_env),
        timeout_s=settings.brief_timeout_s,
        nearby=is_loopback,
    )


def request(endpoint: Endpoint, messages: list[dict[str, str]]) -> bytes:
    """Return a request for the next message, with only the fields that every server knows."""
    body = {"model": endpoint.model, "messages": messages, "stream": False}
    return json.dumps(body).encode("ascii")


def ask(endpoint: Endpoint, body: bytes) -> str:
    """Send a request and return the model's message.

    Raises:
        BackendFailure: There is no answer, or it holds no message.
    """
    return _message(asyncio.run(_answer(endpoint, body)))


def _configured(mode: str, url: str, model: str) -> None:
    if not url or not model:
        missing = [f"brief.{mode}_{n}" for n, v in (("url", url), ("model", model)) if not v]
        raise BackendFailure(
            f"not configured ({' and '.join(missing)}: see `docs/guides/briefings.md`)"
        )


def _completions(url: str) -> str:
    """Return the URL to request: people write it with or without its last part."""
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    return parts._replace(path=path.removesuffix(_PATH) + _PATH).geturl()


def _from_variable(name: str) -> str:
    key = os.environ.get(name, "").strip() if name else ""
    if name and not (key and key.isascii() and key.isprintable() and " " not in key):
        raise BackendFailure(f"the variable {name}, of brief.cloud_key_env, holds no key")
    return key


def _is_near(host: str, *, loopback: bool = False) -> bool:
    """Return whether every address of a host is this machine's or a private network's.

    loopback: Accept only this machine's addresses.
    """
    try:
        infos = socket.getaddrinfo(host, None, proto=socket.IPPROTO_TCP)
    except (OSError, UnicodeError):
        if loopback:
            return False
        raise BackendFailure(f"{host} of brief.local_url has no address") from None
    addresses = [ipaddress.ip_address(info[4][0]) for info in infos]
    plain = [getattr(info, "ipv4_mapped", None) or info for info in addresses]
    return all(info.is_loopback if loopback else not info.is_global for info in plain)


async def _answer(endpoint: Endpoint, body: bytes) -> bytes:
    """Return the whole body of an answer, within the endpoint's time-out."""
    import httpx2

    headers = {
        "content-type": "application/json",
        "accept": "application/json",
        "accept-encoding": "identity",  # a body that is not compressed cannot unpack to too much
        "user-agent": f"triseek/{__version__}",
    }
    if endpoint.key:
        headers["authorization"] = f"Bearer {endpoint.key}"
    try:
        async with (
            asyncio.timeout(endpoint.timeout_s or None),
            # A redirect would carry log and key to an address that the user did not name.
            httpx2.AsyncClient(
                timeout=None, follow_redirects=False, trust_env=not endpoint.nearby
            ) as client,
            client.stream("POST", endpoint.url, content=body, headers=headers) as response,
        ):
            data = b""
            async for piece in response.aiter_raw():
                data += piece
                if len(data) > ANSWER_MAX:
                    raise BackendFailure(f"its answer is longer than {ANSWER_MAX:,} bytes")
            _checked(response.status_code, data, endpoint.key)
            return data
    except TimeoutError:
        raise BackendFailure(f"no answer within {endpoint.timeout_s:g} s") from None
    except httpx2.ConnectError as error:
        why = _plain(str(error), endpoint.key) or "no connection"
        raise BackendFailure(f"cannot be reached: {why}") from None
    except httpx2.HTTPError as error:
        # The message of these may quote a header, and one header holds the key.
        raise BackendFailure(f"the connection failed ({type(error).__name__})") from None
    except (httpx2.InvalidURL, ValueError, OSError, ImportError) as error:
        raise BackendFailure(
            f"cannot be asked: a proxy or certificate of the environment ({type(error).__name__})"
        ) from None


def _checked(code: int, body: bytes, key: str) -> None:
    """Raise `BackendFailure` unless the status code is 2xx."""
    if 200 <= code < 300:
        return
    if code in (401, 403):
        reason = "the key is refused" if key else "it wants a key"
    elif 300 <= code < 400:
        reason = "it leads elsewhere, and no redirect is followed"
    elif code == 429:
        reason = "asked too often, or the account is empty"
    else:
        reason = _plain(_complaint(body), key)
    raise BackendFailure(f"it answers {code}{f': {reason}' if reason else ''}")


def _complaint(body: bytes) -> str:
    """Return a server's error message, which has one of two forms; "" if there is none."""
    match _json(body):
        case {"error": {"message": str(text)}} | {"error": str(text)}:
            return text
    return ""


def _message(body: bytes) -> str:
    """Return the text of the first choice.

    Raises:
        BackendFailure: The body holds no such text.
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
    """Return the value of a body; None if it is not JSON."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _plain(text: str, key: str) -> str:
    """Return a text as one short line, without the key."""
    text = text.replace(key, "…") if key else text
    plain = "".join(char for char in " ".join(text.split()) if char.isprintable())
    return plain[:_SAID_MAX]
