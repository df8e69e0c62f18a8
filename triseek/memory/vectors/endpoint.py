"""Vectors of an OpenAI-compatible endpoint that the user named: Ollama, llama.cpp, vLLM and such.

It is asked only if the settings say so, and only on this machine unless they say that it may be
another. Every failure is a `BackendFailure` of one line, which never holds the key.
"""

from __future__ import annotations

import contextlib
import http.client
import ipaddress
import json
import math
import socket
import threading
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np

from triseek.errors import BackendFailure, InvalidRequest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triseek.config import Settings

BATCH_S = 30.0
"""Seconds for the answer to a batch."""
QUERY_S = 5.0
"""Seconds for the answer to one text: somebody waits for it."""
DOWN_S = 30.0
"""Seconds for which an endpoint that failed is not asked again: recall goes on without it."""
BATCH = 32
"""Texts of one request."""
CHARACTERS_MAX = 8_000
"""Of a text that are sent: about 2,000 tokens, which small models can take."""
DIMENSION_MAX = 8_192
_ANSWER_MAX = 64 << 20
_PATH = "/embeddings"


class Endpoint:
    """The vectors of one model at one address."""

    def __init__(self, url: str, model: str, key: str = "", *, remote: bool = False) -> None:
        """Ask nothing yet.

        Args:
            url: The address, with or without `/embeddings` at its end.
            model: The model's name there.
            key: What it is shown as a bearer token; "" for nothing.
            remote: Whether it may be another machine.
        """
        whole = urlsplit(url.rstrip("/").removesuffix(_PATH) + _PATH)
        # A name and password are not sent, and must not stand in messages.
        self._url = whole._replace(netloc=whole.netloc.rpartition("@")[2])
        self._model, self._key, self._remote = model, key, remote
        self._dimension = 0
        self._down_until = 0.0

    @classmethod
    def of(cls, settings: Settings) -> Endpoint:
        """Return the endpoint of the settings. Raises InvalidRequest if they are not complete."""
        for name, value in (
            ("memory.endpoint_url", settings.memory_endpoint_url),
            ("memory.endpoint_model", settings.memory_endpoint_model),
        ):
            if not value:
                raise InvalidRequest(
                    f"the embedder endpoint needs {name}",
                    next_step="Set it in config.toml, or set memory.embedder to another.",
                )
        return cls(
            settings.memory_endpoint_url, settings.memory_endpoint_model,
            settings.memory_endpoint_key, remote=settings.memory_endpoint_remote,
        )  # fmt: skip

    @property
    def name(self) -> str:
        """`endpoint` and the model."""
        return f"endpoint:{self._model}"

    @property
    def version(self) -> str:
        """Always the same: an endpoint does not say when its model changes."""
        return "1"

    @property
    def dimension(self) -> int:
        """Numbers of a vector. Asks for one if none was asked for yet, and may raise as `embed`."""
        if not self._dimension:
            self.embed(["dimension"])
        return self._dimension

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return the vectors of some texts: float32[texts, dimension], each of length 1 or 0.

        Raises:
            BackendFailure: It does not answer, or not with vectors.
        """
        if time.monotonic() < self._down_until:
            raise BackendFailure(f"the endpoint {self._place} did not answer a moment ago")
        try:
            batches = [self._batch(texts[at : at + BATCH]) for at in range(0, len(texts), BATCH)]
        except BackendFailure:
            self._down_until = time.monotonic() + DOWN_S
            raise
        return np.concatenate(batches) if batches else np.zeros((0, self._dimension), np.float32)

    def release(self) -> None:
        """Do nothing: the model is another process's."""

    @property
    def _place(self) -> str:
        return self._url._replace(query="", fragment="").geturl()

    def _batch(self, texts: Sequence[str]) -> np.ndarray:
        clean = [text[:CHARACTERS_MAX].encode("utf-8", "replace").decode() for text in texts]
        body = json.dumps({"model": self._model, "input": clean}).encode()
        answer = self._ask(body, BATCH_S if len(texts) > 1 else QUERY_S)
        try:
            vectors = _vectors(json.loads(answer), len(texts))
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            raise self._unusable() from None
        if self._dimension not in (0, vectors.shape[1]):
            raise self._unusable()
        self._dimension = vectors.shape[1]
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors / np.where(lengths > 0, lengths, 1)

    def _unusable(self) -> BackendFailure:
        return BackendFailure(
            f"the endpoint {self._place} does not answer with a vector for each text"
        )

    def _ask(self, body: bytes, timeout_s: float) -> bytes:
        """Return the body of the answer to a request, all of it within a time."""
        host = self._url.hostname or ""
        is_secure = self._url.scheme == "https"
        port = self._url.port or (443 if is_secure else 80)
        address = self._address(host, port)
        kind = http.client.HTTPSConnection if is_secure else http.client.HTTPConnection
        # HTTPS checks the name; else the address that was checked is the one that is asked.
        line = kind(host if is_secure else address, port, timeout=timeout_s)
        headers = {"Content-Type": "application/json", "Host": self._url.netloc}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        target = self._url._replace(scheme="", netloc="").geturl()
        end = threading.Timer(timeout_s, _hang_up, [line])  # the socket's time-out is for each read
        end.daemon = True
        end.start()
        try:
            line.request("POST", target, body, headers)
            with contextlib.closing(line.getresponse()) as response:
                data = b""
                while len(data) <= _ANSWER_MAX and (piece := response.read1(1 << 20)):
                    data += piece
        except TimeoutError:
            raise BackendFailure(
                f"the endpoint {self._place} did not answer within {timeout_s:g} s"
            ) from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            # The message might quote a header, and one header holds the key.
            raise BackendFailure(
                f"the endpoint {self._place} cannot be asked ({type(error).__name__})"
            ) from None
        finally:
            end.cancel()
            line.close()
        if len(data) > _ANSWER_MAX:
            raise BackendFailure(f"the answer of {self._place} is too long")
        if response.status != 200:  # a redirect would carry texts and key elsewhere
            raise BackendFailure(f"the endpoint {self._place} answers {response.status}")
        return data

    def _address(self, host: str, port: int) -> str:
        """Return an address of a host. Raises BackendFailure if it may not be asked."""
        try:
            infos = socket.getaddrinfo(host, port, proto=socket.IPPROTO_TCP)
            addresses = [ipaddress.ip_address(str(info[4][0])) for info in infos]
        except (OSError, UnicodeError, ValueError):
            raise BackendFailure(f"{host} of memory.endpoint_url has no address") from None
        if not self._remote and not all(address.is_loopback for address in addresses):
            raise BackendFailure(
                f"{host} of memory.endpoint_url is not this machine",
                next_step="Set memory.endpoint_remote if it may see the text of memories.",
            )
        is_near = all(address.is_loopback or address.is_private for address in addresses)
        if not is_near and self._url.scheme != "https":
            raise BackendFailure("memory.endpoint_url is not https, and not in a private network")
        return str(addresses[0])


def _hang_up(line: http.client.HTTPConnection) -> None:
    with contextlib.suppress(OSError, AttributeError):  # it may be closed by now
        line.sock.shutdown(socket.SHUT_RDWR)


def _vectors(answer: Any, count: int) -> np.ndarray:  # noqa: ANN401 - whatever JSON can say
    """Return the vectors of an answer, in the order of the texts: float32[count, dimension].

    Raises ValueError, KeyError, TypeError or OverflowError if it does not hold them.
    """
    rows = {int(row["index"]): _vector(row["embedding"]) for row in answer["data"]}
    vectors = np.array([rows[at] for at in range(count)], np.float32)
    if vectors.ndim != 2:
        raise ValueError("vectors of different sizes")
    return vectors


def _vector(numbers: Any) -> list[float]:  # noqa: ANN401 - whatever JSON can say
    """Return the numbers of a vector. Raises ValueError if it is none."""
    if not isinstance(numbers, list) or not 1 <= len(numbers) <= DIMENSION_MAX:
        raise ValueError("not a vector")
    values = [float(number) for number in numbers]
    if not all(math.isfinite(value) and abs(value) < 1e15 for value in values):
        raise ValueError("not a vector")
    return values
