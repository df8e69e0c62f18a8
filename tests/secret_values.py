"""Makes secrets of every kind that redaction knows, at random."""

from __future__ import annotations

import base64
import json
import string

LETTERS = string.ascii_letters
DIGITS = string.digits
HEX = "0123456789abcdef"
URL = LETTERS + DIGITS + "-_"


def some(chance, alphabet, count):
    """Characters of an alphabet, the first and last of which are alphanumeric."""
    ends = [char for char in alphabet if char.isalnum()]
    inner = "".join(chance.choices(alphabet, k=count - 2))
    return chance.choice(ends) + inner + chance.choice(ends)


def jwt(chance):
    def part(document):
        return base64.urlsafe_b64encode(json.dumps(document).encode()).decode().rstrip("=")

    head, body = part({"alg": "HS256"}), part({"sub": some(chance, DIGITS, 10)})
    return f"{head}.{body}.{some(chance, URL, 43)}"


def key_block(chance):
    body = "\n".join(some(chance, LETTERS + DIGITS + "+/", 64) for _ in range(4))
    return f"-----BEGIN OPENSSH PRIVATE KEY-----\n{body}\n-----END OPENSSH PRIVATE KEY-----"


ALNUM = LETTERS + DIGITS
SECRETS = {
    "private-key": key_block,
    "age-key": lambda c: "AGE-SECRET-KEY-1" + some(c, string.ascii_uppercase + DIGITS, 58),
    "aws-key": lambda c: "AKIA" + some(c, string.ascii_uppercase + "234567", 16),
    "github-token": lambda c: c.choice(["ghp_", "gho_", "ghs_"]) + some(c, ALNUM, 36),
    "gitlab-token": lambda c: "glpat-" + some(c, URL, 20),
    "slack-token": lambda c: f"xoxb-{some(c, DIGITS, 12)}-{some(c, ALNUM, 24)}",
    "slack-webhook": lambda c: (
        f"https://hooks.slack.com/services/T{some(c, ALNUM, 8)}"
        f"/B{some(c, ALNUM, 8)}/{some(c, ALNUM, 24)}"
    ),
    "discord-webhook": lambda c: (
        f"https://discord.com/api/webhooks/{some(c, DIGITS, 18)}/{some(c, URL, 68)}"
    ),
    "discord-token": lambda c: (
        f"{base64.b64encode(('1' + some(c, DIGITS, 17)).encode()).decode()}.{some(c, URL, 6)}"
        f".{some(c, URL, 38)}"
    ),
    "google-key": lambda c: "AIza" + some(c, URL, 35),
    "google-oauth": lambda c: "ya29." + some(c, URL, 60),
    "stripe-key": lambda c: "sk_live_" + some(c, ALNUM, 24),
    "anthropic-key": lambda c: "sk-ant-api03-" + some(c, URL, 93),
    "openai-key": lambda c: "sk-proj-" + some(c, URL, 48),
    "npm-token": lambda c: "npm_" + some(c, ALNUM, 36),
    "pypi-token": lambda c: "pypi-AgEIcHlwaS5vcmc" + some(c, URL, 80),
    "crates-token": lambda c: "cio" + some(c, ALNUM, 32),
    "rubygems-token": lambda c: "rubygems_" + some(c, HEX, 48),
    "docker-token": lambda c: "dckr_pat_" + some(c, URL, 27),
    "huggingface-token": lambda c: "hf_" + some(c, ALNUM, 34),
    "sendgrid-key": lambda c: f"SG.{some(c, URL, 22)}.{some(c, URL, 43)}",
    "mailgun-key": lambda c: "key-" + some(c, HEX, 32),
    "twilio-key": lambda c: "SK" + some(c, HEX, 32),
    "telegram-token": lambda c: f"{some(c, '123456789', 9)}:AA{some(c, URL, 33)}",
    "shopify-token": lambda c: "shpat_" + some(c, HEX, 32),
    "digitalocean-token": lambda c: "dop_v1_" + some(c, HEX, 64),
    "databricks-token": lambda c: "dapi" + some(c, HEX, 32),
    "vault-token": lambda c: "hvs." + some(c, URL, 90),
    "linear-key": lambda c: "lin_api_" + some(c, ALNUM, 40),
    "grafana-token": lambda c: "glsa_" + some(c, ALNUM, 32) + "_" + some(c, HEX, 8),
    "azure-key": lambda c: "AccountKey=" + some(c, ALNUM + "+/", 86) + "==",
    "jwt": jwt,
}
"""Kind → what makes one at random."""
