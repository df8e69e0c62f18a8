"""What clients answer, as they answered: taken from the programs, at the versions of
`tests/e2e/mcp_clients.py`."""

from __future__ import annotations

import pytest

from triseek.agents.listing import Listed, Ran
from triseek.agents.pi import listed_commands
from triseek.agents.registry import AGENTS, by_name

ASKED = [agent.name for agent in AGENTS if agent.question("9.0.0")]

CLAUDE = """triseek:
  Scope: User config (available in all your projects)
  Status: {status}
{more}  Type: stdio
  Command: /bin/triseek
  Args: mcp serve
  Environment:

To remove this server, run: claude mcp remove triseek -s user
"""
CODEX = """{
  "name": "triseek",
  "enabled": %s,
  "disabled_reason": null,
  "transport": {
    "type": "stdio",
    "command": "/bin/triseek",
    "args": ["mcp", "serve"],
    "env": null,
    "env_vars": [],
    "cwd": null
  },
  "enabled_tools": null
}"""
OPENCODE = (
    "\x1b[0m\n\x1b[90m┌\x1b[39m  MCP Servers\n\x1b[90m│\x1b[39m\n"
    "\x1b[34m●\x1b[39m  {mark} {name} \x1b[90m{state}\n"
    "\x1b[90m│\x1b[39m      \x1b[90m{below}\n"
    "\x1b[90m│\x1b[39m\n\x1b[90m└\x1b[39m  1 server(s)\n\n"
)
GEMINI = "Configured MCP servers:\n\n{} triseek: /bin/triseek mcp serve (stdio) - {}\n"
UNTRUSTED = "Warning: MCP servers are configured but disabled because this folder is untrusted.\n"
PI = """{
  "servers": [
    {
      "name": "triseek",
      "scope": "global",
      "source": "/home/me/.pi/agent/mcp.json",
      "enabled": true,
      "exposure": "codemode",
      "transport": "/bin/triseek mcp serve",
      "state": "%s",
      "tools": []%s
    }
  ],
  "errors": []
}"""
PI_IGNORED = "mcp.json is ignored because the project is not trusted."


def read(client, ran):
    return by_name(client).question("9.0.0").read(ran)


def answered(out="", status=0, err=""):
    return Ran(status, out, err, 1.0)


@pytest.mark.parametrize(
    ("client", "ran", "listed"),
    [
        (
            "claude-code",
            answered(CLAUDE.format(status="✔ Connected", more="")),
            Listed("connected", "/bin/triseek", "User config (available in all your projects)"),
        ),
        (
            "claude-code",
            answered(
                CLAUDE.format(status="✘ Failed to connect", more="  Issue: ENOENT: no such file\n")
            ),
            Listed("failed", "/bin/triseek", "ENOENT: no such file"),
        ),
        (
            "claude-code",
            answered(CLAUDE.format(status="⏸ Pending approval (run `claude` to approve)", more="")),
            Listed("waiting", "/bin/triseek", "User config (available in all your projects)"),
        ),
        (
            "claude-code",
            answered(status=1, out='No MCP server named "triseek". Configured servers: x'),
            Listed("absent"),
        ),
        ("claude-code", answered(status=1, err="segmentation fault"), Listed("unclear")),
        ("codex", answered(CODEX % "true"), Listed("known", "/bin/triseek")),
        ("codex", answered("WARNING: a word\n" + CODEX % "true"), Listed("known", "/bin/triseek")),
        ("codex", answered(CODEX % "false"), Listed("off", "/bin/triseek")),
        (
            "codex",
            answered(status=1, err="Error: No MCP server named 'triseek' found."),
            Listed("absent"),
        ),
        ("codex", answered("{"), Listed("unclear")),
        ("codex", answered("[" * 100_000), Listed("unclear")),
        (
            "opencode",
            answered(
                OPENCODE.format(
                    mark="✓", name="triseek", state="connected", below="/bin/triseek mcp serve"
                )
            ),
            Listed("connected", "/bin/triseek"),
        ),
        (
            "opencode",
            answered(
                OPENCODE.format(
                    mark="✗", name="triseek", state="failed", below="spawn /bin/triseek ENOENT"
                )
            ),
            Listed("failed", "", "failed: spawn /bin/triseek ENOENT"),
        ),
        (
            "opencode",
            answered(
                OPENCODE.format(
                    mark="○", name="triseek", state="disabled", below="/bin/triseek mcp serve"
                )
            ),
            Listed("off", "/bin/triseek"),
        ),
        (
            "opencode",
            answered(
                OPENCODE.format(
                    mark="✓", name="triseek", state="connected", below="/my bin/triseek mcp serve"
                )
            ),
            Listed("connected", "/my bin/triseek"),
        ),
        (
            "opencode",
            answered(OPENCODE.format(mark="✓", name="other", state="connected", below="triseek")),
            Listed("absent"),
        ),
        (
            "opencode",
            answered("┌  MCP Servers\n│\n▲  No MCP servers configured\n"),
            Listed("absent"),
        ),
        ("opencode", answered("", 1), Listed("unclear")),
        (
            "gemini",
            answered(GEMINI.format("✓", "Connected")),
            Listed("connected", "/bin/triseek", "Connected"),
        ),
        (
            "gemini",
            answered(GEMINI.format("✗", "Disconnected")),
            Listed("failed", "/bin/triseek", "Disconnected"),
        ),
        (
            "gemini",
            answered(UNTRUSTED + GEMINI.format("○", "Disabled")),
            Listed("waiting", "/bin/triseek", "this folder is not trusted"),
        ),
        ("gemini", answered("No MCP servers configured.\n"), Listed("absent")),
        (
            "cline",
            answered('[{"name":"triseek","transportType":"stdio","disabled":false,"path":"/x"}]'),
            Listed("known"),
        ),
        ("cline", answered('[{"name":"triseek","disabled":true}]'), Listed("off")),
        ("cline", answered("[]"), Listed("absent")),
        ("pi", answered(PI % ("connected", "")), Listed("connected", "/bin/triseek")),
        (
            "pi",
            answered((PI % ("connected", "")).replace("/bin/", "/my bin/")),
            Listed("connected", "/my bin/triseek"),
        ),
        (
            "gemini",
            answered(GEMINI.format("✓", "Connected").replace("/bin/", "/my bin/")),
            Listed("connected", "/my bin/triseek", "Connected"),
        ),
        (
            "pi",
            answered(PI % ("failed", ', "error": "spawn /bin/triseek ENOENT"'), status=1),
            Listed("failed", "/bin/triseek", "spawn /bin/triseek ENOENT"),
        ),
        (
            "pi",
            answered(f'{{"servers": [], "errors": [], "note": "{PI_IGNORED}"}}'),
            Listed("absent", "", PI_IGNORED),
        ),
        ("pi", answered(status=1, err="No API key\nmore"), Listed("unclear", "", "No API key")),
    ],
)
def test_an_answer_is_understood(client, ran, listed):
    assert read(client, ran) == listed


@pytest.mark.parametrize("client", ASKED)
@pytest.mark.parametrize("out", ["", "null", "[1]", "{}", '{"servers": 1}', "\0", "\x1b[31m: : -"])
@pytest.mark.parametrize("status", [0, 1])
def test_no_answer_is_taken_for_one_that_knows_us(client, out, status):
    assert read(client, answered(out, status)).state in ("absent", "unclear")


def test_an_old_pi_is_asked_what_its_extensions_gave_it():
    command = '{{"name":"{}","source":"extension","sourceInfo":{{"path":"/x/index.ts"}}}}'
    line = '{{"id":"1","type":"response","data":{{"commands":[{}]}}}}\n'

    ours = listed_commands(answered(line.format(command.format("triseek"))))
    theirs = listed_commands(answered(line.format(command.format("llama"))))

    assert (ours.state, theirs.state) == ("connected", "absent")
    assert listed_commands(answered("", 1, "no model")).state == "unclear"


@pytest.mark.parametrize(
    ("version", "words"),
    [
        ("0.74.2", ("--mode", "rpc")),
        ("1.5.2", ("mcp", "list")),
        ("12.0.0", ("mcp", "list")),
        ("", None),
        ("pi 1.5", None),
    ],
)
def test_words_that_an_old_pi_takes_for_a_prompt_are_not_given_to_it(version, words):
    asked = by_name("pi").question(version)

    assert (asked and asked.words[1:3]) == words
