"""Secrets of every kind are removed from what surrounds them, and nothing else is."""

from __future__ import annotations

import json
import random
import uuid

import pytest

from tests.secret_values import SECRETS
from triseek import redaction
from triseek.redaction import holds_secret, redact, redact_json

PLACES = (
    "use {} for the calls", "{}", "curl -H 'X: {}' https://example.org", '{{"a": "{}"}}',
    "first\n  value: {}\nlast", "export A={}", "`{}`",
)  # fmt: skip


def test_there_is_a_test_for_every_kind():
    assert set(SECRETS) == set(redaction._KINDS)


@pytest.mark.parametrize("kind", SECRETS)
@pytest.mark.parametrize("place", PLACES)
def test_a_secret_is_replaced_and_what_surrounds_it_is_not(kind, place):
    chance = random.Random(f"{kind} {place}")
    for _ in range(5):
        secret = SECRETS[kind](chance)
        mark = f"[redacted: {kind}]" + "\n" * secret.count("\n")
        assert redact(place.format(secret)) == place.format(mark)
        assert holds_secret(secret)


@pytest.mark.parametrize("kind", SECRETS)
@pytest.mark.parametrize("levels", [1, 2])
def test_a_secret_in_json_is_removed_and_leaves_json(kind, levels):
    secret = SECRETS[kind](random.Random(kind))
    text = f'first\n{secret}\nlast, password="hunter2xyz9" and "api_key": "AbC123xyz789" end'
    for _ in range(levels):
        text = json.dumps({"a": text})
    redacted = redact(text)
    for _ in range(levels):
        redacted = json.loads(redacted)["a"]
    end = 'last, password="[redacted: value]" and "api_key": "[redacted: value]" end'
    mark = f"first\n[redacted: {kind}]"
    assert redacted == f"{mark}\n{end}"


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ('password = "hunter2xyz9"', 'password = "[redacted: value]"'),
        ("DB_PASSWORD: tr0ub4dor&3", "DB_PASSWORD: [redacted: value]"),
        ('"access_token": "AbC123xyz789"', '"access_token": "[redacted: value]"'),
        ("mysql --password=S3cr3t-pass99 db", "mysql --password=[redacted: value] db"),
        ("mysql --password S3cr3t-pass99 db", "mysql --password [redacted: value] db"),
        ("config['api_key'] = 'q1w2e3r4t5'", "config['api_key'] = '[redacted: value]'"),
        ("SECRET_KEY = b'django-9x!k2'", "SECRET_KEY = b'[redacted: value]'"),
        ("token := `ab12cd34ef`", "token := `[redacted: value]`"),
        ("postgres://u:p4ss@h/db", "postgres://u:[redacted: password]@h/db"),
        ("authorization: Bearer abc123456", "authorization: Bearer [redacted: authorization]"),
        (
            "-H 'Authorization: Basic dXNlcjpw'",
            "-H 'Authorization: Basic [redacted: authorization]'",
        ),
    ],
)
def test_a_value_of_a_name_that_says_so_is_removed(text, redacted):
    assert redact(text) == redacted
    assert redact(redacted) == redacted


@pytest.mark.parametrize(
    "text",
    [
        f"commit {'3f786850e387550fdab836ed7e6dc881de23001b'}",
        f"sha256:{'e3b0c442' * 8}", f"uuid {uuid.UUID(int=7 << 90)}", "md5 d41d8cd98f00b204e980",
        "token = tokenizer.next()", "api_key=os.environ['X1abcdefgh']", "password: str = None",
        "def test_token_2(): pass", "secretName: my-secret-name", "max_tokens: 4096000000",
        "password = 'changeme123'", "api_key: ${API_KEY_2}", "token: <your token 1>",
        "password=xxxxxxxx1", "if token == other.token2[0]:", "https://example.org:8080/a@b",
        "the password is long", "sk-learn is a library", "a key-value store", "eyJ is a prefix",
        "git checkout -b token-refresh-2", "see https://u@example.org", "passwords.txt:12345678",
    ],
)  # fmt: skip
def test_what_is_no_secret_stays(text):
    assert redact(text) == text
    assert not holds_secret(text)


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("a <private>b</private> c", "a [private] c"),
        ("a <PRIVATE reason='x'>b\nb</Private > c", "a [private]\n c"),
        ("a <private>never closed", "a [private]"),
        (r"a \u003cprivate\u003eb\u003c/private\u003e c", "a [private] c"),
        ("<private>b</private><private>c</private>", "[private][private]"),
        ("a <privateer> b", "a <privateer> b"),
    ],
)
def test_private_passages_are_removed(text, redacted):
    assert redact(text) == redacted


def test_texts_of_a_document_are_redacted():
    document = {"a": ["x", {"password": "p"}, 1, None], "b": ("token: ab12cd34ef",)}

    assert redact_json(document) == {
        "a": ["x", {"password": "p"}, 1, None], "b": ["token: [redacted: value]"],
    }  # fmt: skip


def test_the_name_of_a_member_counts():
    document = {"api_key": "ab12cd34ef", "token": "tokenizer", "sha": "ab12cd34ef", "password": 12}

    assert redact_json(document) == {**document, "api_key": "[redacted: value]"}
