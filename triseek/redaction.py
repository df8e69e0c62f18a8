"""Remove secrets and private passages from a text before it is written anywhere.

Whatever agents and people say passes through here before it reaches a log, a snapshot, a pack or a
stored content: prompts, commands and their output, lines of files. Recognized are

- passages between `<private>` and `</private>`, the tags in any case and with attributes;
- tokens and keys by their form, as their issuers document it;
- values that are hard to guess and assigned to a name such as `password` or `api_key`.

Digests, commit ids and UUIDs are hard to guess, too, and are no secrets: they are left alone unless
such a name stands before them.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import Any, TypeAlias

import re2

Match: TypeAlias = Any
"""Of re2, which has no types: like `re.Match[bytes]`, but groups have names in bytes."""

PRIVATE = "[private]"
"""What takes the place of a private passage."""
VALUE_MIN = 8
"""Shorter values of names such as `password` are not removed."""
BITS_MIN = 2.5
"""Entropy of a value's characters, in bits each, above which it is hard to guess."""


def _compiled(pattern: str) -> Any:  # noqa: ANN401 - re2 has no types
    """Return a pattern for UTF-8 bytes, in which lone surrogates may be encoded, too."""
    return re2.compile(pattern.encode("ascii"))


_OPEN = r"(?:<|\\u003c)"
_CLOSE = r"(?:>|\\u003e)"
_PASSAGE = _compiled(
    rf"(?is){_OPEN}private\b[^<>]{{0,200}}?{_CLOSE}.*?(?:{_OPEN}/private\s*{_CLOSE}|\z)"
)

_BASE64URL = r"[A-Za-z0-9_-]"
_KINDS = {
    "private-key": (
        r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"
        r"(?s:.*?)(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|\z)"
    ),
    "age-key": r"\bAGE-SECRET-KEY-1[0-9A-Z]{58}\b",
    "aws-key": r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b",
    "github-token": r"\b(?:gh[pousr]_[A-Za-z0-9]{20,251}|github_pat_[A-Za-z0-9_]{20,255})\b",
    "gitlab-token": rf"\bgl(?:pat|dt|rt|ptt|oas|cbt|ft|soat)-{_BASE64URL}{{20,200}}",
    "slack-token": r"\bx(?:ox[abeoprs]|app)-[A-Za-z0-9-]{10,250}",
    "slack-webhook": r"https://hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_-]{20,}",
    "discord-webhook": rf"https://(?:\w+\.)?discord(?:app)?\.com/api/webhooks/\d+/{_BASE64URL}{{60,}}",
    "discord-token": (
        rf"\b(?:[MNO][DTjz][AEIMQUYcgk][w-z0-5]){{5,6}}[A-Za-z0-9]{{0,3}}"
        rf"\.{_BASE64URL}{{6}}\.{_BASE64URL}{{27,45}}"
    ),
    "google-key": rf"\bAIza{_BASE64URL}{{35}}",
    "google-oauth": (
        rf"\b(?:ya29\.{_BASE64URL}{{20,}}|GOCSPX-{_BASE64URL}{{28}}|1//0{_BASE64URL}{{30,}})"
    ),
    "stripe-key": r"\b(?:[sr]k_(?:live|test)_[A-Za-z0-9]{16,250}|whsec_[A-Za-z0-9+/=]{24,})",
    "anthropic-key": rf"\bsk-ant-{_BASE64URL}{{20,250}}",
    "openai-key": rf"\bsk-(?:proj-|svcacct-|admin-|or-v1-)?{_BASE64URL}{{20,250}}",
    "npm-token": r"\bnpm_[A-Za-z0-9]{36}\b",
    "pypi-token": rf"\bpypi-{_BASE64URL}{{50,}}",
    "crates-token": r"\bcio[A-Za-z0-9]{32}\b",
    "rubygems-token": r"\brubygems_[0-9a-f]{48}\b",
    "docker-token": rf"\bdckr_(?:pat|oat)_{_BASE64URL}{{20,}}",
    "huggingface-token": r"\b(?:hf|api_org)_[A-Za-z0-9]{30,}\b",
    "sendgrid-key": rf"\bSG\.{_BASE64URL}{{16,32}}\.{_BASE64URL}{{32,64}}",
    "mailgun-key": r"\bkey-[0-9a-f]{32}\b",
    "twilio-key": r"\b(?:SK|AC)[0-9a-f]{32}\b",
    "telegram-token": rf"\b\d{{8,10}}:AA{_BASE64URL}{{33}}",
    "shopify-token": r"\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}\b",
    "digitalocean-token": r"\bdo[opr]_v1_[0-9a-f]{64}\b",
    "databricks-token": r"\bdapi[0-9a-f]{32}(?:-\d)?\b",
    "vault-token": rf"\bhv[sbr]\.{_BASE64URL}{{24,}}",
    "linear-key": r"\blin_(?:api|oauth)_[A-Za-z0-9]{32,}\b",
    "grafana-token": r"\bgl(?:sa|c)_[A-Za-z0-9+/_=]{30,}",
    "azure-key": r"\bAccountKey=[A-Za-z0-9+/]{64,}={0,2}",
    "jwt": rf"\beyJ{_BASE64URL}{{8,}}\.eyJ{_BASE64URL}{{8,}}\.{_BASE64URL}{{8,}}",
}
"""Kind of secret → pattern. The longer of two kinds that begin alike comes first."""
_WORD = r"\b"
_START = r"(?:\b|\\[nrt])"
"""Before a token: in JSON the end of a line is a letter, too."""
_TOKENS = _compiled(
    "|".join(
        f"(?P<{kind.replace('-', '_')}>{_START}{form.removeprefix(_WORD)})"
        if form.startswith(_WORD)
        else f"(?P<{kind.replace('-', '_')}>{form})"
        for kind, form in _KINDS.items()
    )
)

_IN_ADDRESS = _compiled(
    r"(?P<before>\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@'\"]*:)(?P<value>[^\s/@'\"]+)(?P<after>@)"
)
"""The password in `https://name:password@host`."""
_IN_HEADER = _compiled(
    r"(?i)(?P<before>\bauthorization\\*['\"]?\s*[:=]\s*\\*['\"]?(?:bearer|basic|token|apikey)\s+)"
    r"(?P<value>[^\s'\"`,;\[\\]{8,})"
)
_NAME = (
    r"[\w.-]*(?:secret|passw(?:or)?d|passwd|passphrase|pwd|token|api[_.-]?key|access[_.-]?key"
    r"|account[_.-]?key|auth[_.-]?key|private[_.-]?key|encryption[_.-]?key|credentials?"
    r"|client[_.-]?secret|signing[_.-]?key|license[_.-]?key)[\w.-]*"
)
_ASSIGNED = _compiled(
    rf"(?i)(?P<before>\b{_NAME}\\*['\"]?\]?\s*(?::=|=>|==?|:)\s*[bfru]?\\*['\"`]?"
    rf"|--?{_NAME}[ =]\\*['\"]?)"
    rf"(?P<value>[^\s'\"`,;(){{}}<>\[\]]{{{VALUE_MIN},}})(?P<after>[(\[]?)"
)
"""A value after a name such as `api_key`; what looks like a call or an expression is none. In JSON,
and in JSON that a text of it holds, quotes are escaped."""
_MEMBER = _compiled(rf"(?i){_NAME}")
_PLACEHOLDER = re.compile(
    r"\$|^%|\*{3}|x{4,}|\.{3}|example|placeholder|changeme|change[_-]me|your[_-]|redacted|dummy"
    r"|^(?:none|null|true|false|undefined|process\.env|os\.environ|env\.|self\.|this\.)",
    re.IGNORECASE,
)


def redact(text: str) -> str:
    """Return a text without private passages and secrets.

    Each is replaced by `[private]` or `[redacted: KIND]`. What stands around it stays as it is, and
    the number of lines does not change.
    """
    data = _PASSAGE.sub(lambda match: PRIVATE.encode() + _line_ends(match), _encoded(text))
    data = _TOKENS.sub(_token, data)
    data = _IN_ADDRESS.sub(lambda match: match[b"before"] + _mark("password") + b"@", data)
    data = _IN_HEADER.sub(lambda match: match[b"before"] + _mark("authorization"), data)
    data = _ASSIGNED.sub(_assigned, data)
    return str(data, "utf-8", "surrogatepass")


def redact_json(document: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return a JSON document whose texts are redacted; names of members stay as they are."""
    if isinstance(document, str):
        return redact(document)
    if isinstance(document, dict):
        return {name: _member(name, value) for name, value in document.items()}
    if isinstance(document, list | tuple):
        return [redact_json(value) for value in document]
    return document


def _member(name: str, value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, str) and _is_secret(value) and _MEMBER.fullmatch(_encoded(name)):
        return _mark("value").decode()
    return redact_json(value)


def holds_secret(text: str) -> bool:
    """Return whether `redact` would change a text."""
    return redact(text) != text


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _token(match: Match) -> bytes:
    whole: bytes = match[0]
    escape = whole[:2] if whole.startswith(b"\\") else b""
    return escape + _mark(_kind(match)) + _line_ends(match)


def _kind(match: Match) -> str:
    return str(match.lastgroup, "ascii").replace("_", "-")


def _line_ends(match: Match) -> bytes:
    return b"\n" * int(match[0].count(b"\n"))


def _mark(kind: str) -> bytes:
    return f"[redacted: {kind}]".encode()


def _assigned(match: Match) -> bytes:
    """Return an assignment, without its value if that is hard to guess and no expression."""
    whole: bytes = match[0]
    value: bytes = match[b"value"]
    secret = value.rstrip(b"\\")  # of the quote after it
    if match[b"after"] or not _is_secret(secret.decode("utf-8", "surrogatepass")):
        return whole
    return whole.removesuffix(value) + _mark("value") + value[len(secret) :]


def _is_secret(value: str) -> bool:
    """Return whether the value of a name such as `password` is hard to guess, and no placeholder.

    Such a value is no word or name, but mixes kinds of characters at random.
    """
    if len(value) < VALUE_MIN or _PLACEHOLDER.search(value):
        return False
    kinds = sum(
        any(test(char) for char in value)
        for test in (str.islower, str.isupper, str.isdigit, _is_sign)
    )
    return kinds > 1 and any(map(str.isdigit, value)) and _entropy(value) >= BITS_MIN


def _is_sign(char: str) -> bool:
    return char in "!@#$%^&*+/=?~|"


def _entropy(value: str) -> float:
    """Return the entropy of a text's characters, in bits for each."""
    counts = Counter(value).values()
    return -sum(count / len(value) * math.log2(count / len(value)) for count in counts)
